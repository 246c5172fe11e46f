//! The result of a match, in numbers and as text. Nothing depends on the order in which games ended.

use std::collections::HashSet;
use std::fmt::Write;

use runtime::counted::counted;
use shared::game::{MoveNumber, Side};
use shared::gate::{GateScore, Interval};

use super::finished::{Ending, FinishedGame};
use super::match_game::MatchGame;

/// The result of a match, seen from the first player.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchResult {
    /// Its games as White and as Black.
    pub by_side: [GateScore; 2],
    /// Pairs by the half points that it won in them, 0 to 4.
    pub pairs: [u32; 5],
    ply_count: u64,
    /// Games that differ from all before them in a move.
    distinct_count: usize,
    /// Games by how the rules ended them.
    endings: Vec<(&'static str, u32)>,
    ply_limit_count: u32,
    /// Games lost for a reason, of the first and of the second player.
    forfeits: [Vec<(usize, String)>; 2],
}

impl MatchResult {
    /// Counts games, which must be in their order.
    #[must_use]
    pub fn new<G: MatchGame>(games: &[FinishedGame<G>]) -> Self {
        let endings = G::ENDINGS.iter().map(|ending| (*ending, 0)).collect();
        let mut result = Self { endings, ..Self::default() };
        for game in games {
            result.count(game);
        }
        let numbers = |game: &FinishedGame<G>| game.moves.iter().map(|mv| mv.number()).collect::<Vec<u16>>();
        result.distinct_count = games.iter().map(numbers).collect::<HashSet<_>>().len();
        for pair in games.chunk_by(|a, b| a.planned.pair_index() == b.planned.pair_index()) {
            if let [first, second] = pair {
                result.pairs[first.half_points() + second.half_points()] += 1;
            }
        }
        result
    }

    /// Returns all games together.
    #[must_use]
    pub fn score(&self) -> GateScore {
        let [white, black] = self.by_side;
        GateScore {
            wins: white.wins + black.wins,
            draws: white.draws + black.draws,
            losses: white.losses + black.losses,
        }
    }

    fn count<G: MatchGame>(&mut self, game: &FinishedGame<G>) {
        let first_side = game.planned.first_side;
        let score = &mut self.by_side[first_side.index()];
        match game.half_points() {
            2 => score.wins += 1,
            1 => score.draws += 1,
            _ => score.losses += 1,
        }
        self.ply_count += game.moves.len() as u64;
        match &game.ending {
            Ending::Rules(ending) => {
                self.endings.iter_mut().filter(|(known, _)| known == ending).for_each(|(_, count)| *count += 1);
            }
            Ending::PlyLimit => self.ply_limit_count += 1,
            Ending::Forfeit(side, reason) => {
                let forfeits = &mut self.forfeits[usize::from(*side != first_side)];
                forfeits.push((game.planned.index + 1, reason.clone()));
            }
        }
    }

    /// Returns the report for the terminal.
    #[must_use]
    pub fn report(&self, names: &[String; 2]) -> String {
        let score = self.score();
        let count = score.game_count();
        let mut text = format!("A  {}\nB  {}\n", names[0], names[1]);
        if count == 0 {
            text.push_str("no game was finished: nothing is known of who is stronger\n");
            return text;
        }
        let points = f64::from(score.wins) + f64::from(score.draws) / 2.0;
        let _ = writeln!(text, "score of A   {points} of {count} ({:.3}): {}", score.score(), tally(&score));
        for (side, score) in [Side::White, Side::Black].iter().zip(&self.by_side) {
            let _ = writeln!(text, "A as {side:?}   {}", tally(score));
        }
        let [lost, worse, even, better, won] = self.pairs;
        let _ =
            writeln!(text, "pairs        2-0: {won}, 1.5-0.5: {better}, 1-1: {even}, 0.5-1.5: {worse}, 0-2: {lost}");
        let mean_plies = self.ply_count as f64 / f64::from(count);
        let _ = writeln!(text, "plies a game {mean_plies:.1}");
        let _ = writeln!(text, "distinct     {} of {}", self.distinct_count, counted(count, "game", "games"));
        let [of_a, of_b] = self.forfeits.each_ref().map(Vec::len);
        let by_rules = self.endings.iter().map(|(ending, count)| format!("{ending}: {count}, ")).collect::<String>();
        let limit = self.ply_limit_count;
        let _ = writeln!(text, "endings      {by_rules}ply limit: {limit}, forfeits of A: {of_a}, of B: {of_b}");
        for (name, forfeits) in ["A", "B"].iter().zip(&self.forfeits) {
            for (number, reason) in forfeits {
                let _ = writeln!(text, "  game {number} lost by {name}: {reason}");
            }
        }
        let Interval { low, high } = score.elo_interval();
        let _ = writeln!(text, "Elo of A over B   {:+.0} ({low:+.0} to {high:+.0}, 95 %)", score.elo_difference());
        text
    }
}

fn tally(score: &GateScore) -> String {
    format!("{} won, {} drawn, {} lost", score.wins, score.draws, score.losses)
}

#[cfg(test)]
mod tests {
    use shared::game::dama::Dama;

    use super::*;

    #[test]
    fn a_match_without_a_finished_game_has_no_score() {
        let report = MatchResult::new::<Dama>(&[]).report(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(report, "A  a\nB  b\nno game was finished: nothing is known of who is stronger\n");
    }
}
