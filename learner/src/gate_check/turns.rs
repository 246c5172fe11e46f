//! Which plies of a game are searched again: of every other game the one at which it turned, the rest at random. Nobody can
//! know them before.
//!
//! Whoever falsifies only a few plies of a game falsifies those that decide it, and there the value that the network itself
//! gives the position falls.

use rand::Rng;
use rand::seq::SliceRandom;
use shared::encoding::Encoding;
use shared::game::{Game, Outcome};

use super::GateCheckError;
use super::ply_search::BatchEvaluator;
use super::sample::SampledPly;

/// Draws about `count` plies of these games, as evenly as possible.
pub(super) fn draw_plies<E: Encoding>(
    encoding: &E,
    games: Vec<Vec<SampledPly<E>>>,
    count: usize,
    evaluator: &mut impl BatchEvaluator<E>,
    random: &mut impl Rng,
) -> Result<Vec<SampledPly<E>>, GateCheckError> {
    let of_each = count.div_ceil(games.len().max(1));
    let mut drawn = Vec::with_capacity(count);
    for (index, mut plies) in games.into_iter().enumerate() {
        plies.shuffle(random);
        if index.is_multiple_of(2) {
            let falls = value_falls(encoding, &plies, evaluator)?;
            let turn = (0..plies.len()).max_by(|one, other| falls[*one].total_cmp(&falls[*other]));
            plies.swap(0, turn.unwrap_or(0));
        }
        drawn.extend(plies.into_iter().take(of_each));
    }
    drawn.truncate(count);
    Ok(drawn)
}

/// Returns by how much each ply lowered what its own network gives the side that played it.
fn value_falls<E: Encoding>(
    encoding: &E,
    plies: &[SampledPly<E>],
    evaluator: &mut impl BatchEvaluator<E>,
) -> Result<Vec<f32>, GateCheckError> {
    let game = encoding.game();
    let mut moves = Vec::new();
    let mut ends = Vec::with_capacity(plies.len());
    for ply in plies {
        let mut after = ply.position.clone();
        game.play(&mut after, ply.played);
        moves.clear();
        game.legal_moves(&ply.position, &mut moves);
        evaluator.add(ply.network_id, &ply.position, &moves)?;
        let side = game.side_to_move(&ply.position);
        let end = game.outcome(&after).map(|outcome| match outcome {
            Outcome::Draw => 0.0,
            Outcome::Win(winner) if winner == side => 1.0,
            Outcome::Win(_) => -1.0,
        });
        if end.is_none() {
            moves.clear();
            game.legal_moves(&after, &mut moves);
            evaluator.add(ply.network_id, &after, &moves)?;
        }
        ends.push(end);
    }
    let mut values = evaluator.evaluate()?.into_iter().map(|(_, value)| value);
    let mut next = || values.next().unwrap_or_default();
    Ok(ends.into_iter().map(|end| next().get() - end.unwrap_or_else(|| next().flipped().get())).collect())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::encoding::{Mv, Pos};
    use shared::game::Value;
    use shared::game::tictactoe::TicTacToe;
    use shared::ids::NetworkId;
    use shared::search::SearchSettings;

    use super::*;

    /// Values the side to move by how many marks are on the board, so that the value falls at one ply alone.
    struct FallsAt {
        ply: u32,
        asked: Vec<u32>,
    }

    impl BatchEvaluator<TicTacToeEncoding> for FallsAt {
        fn add(
            &mut self,
            _: NetworkId,
            position: &Pos<TicTacToeEncoding>,
            _: &[Mv<TicTacToeEncoding>],
        ) -> Result<(), GateCheckError> {
            self.asked.push(TicTacToe.ply(position));
            Ok(())
        }

        fn evaluate(&mut self) -> Result<Vec<(Vec<f32>, Value)>, GateCheckError> {
            // The ply gives the game away, and the answer takes it.
            let value = |ply: u32| match ply.checked_sub(self.ply) {
                Some(1) => Value::new(0.9),
                Some(2) => Value::new(-0.9),
                _ => Value::DRAW,
            };
            Ok(self.asked.drain(..).map(|ply| (vec![], value(ply))).collect())
        }
    }

    fn game() -> Vec<SampledPly<TicTacToeEncoding>> {
        let mut position = TicTacToe.initial_position();
        let mut plies = Vec::new();
        for text in ["b2", "a1", "c3", "a3", "a2", "c2", "b3", "b1", "c1"] {
            let played = TicTacToe.parse_move(&position, text).expect("legal");
            let search = SearchSettings::default().for_match(8);
            plies.push(SampledPly { position, network_id: NetworkId::FIRST, search, played });
            TicTacToe.play(&mut position, played);
        }
        plies
    }

    fn drawn(game_count: usize, count: usize, turn: u32) -> Vec<u32> {
        let games = (0..game_count).map(|_| game()).collect();
        let (mut answers, mut random) = (FallsAt { ply: turn, asked: vec![] }, Pcg64::seed_from_u64(7));
        let encoding = TicTacToeEncoding::new(TicTacToe);
        let plies = draw_plies(&encoding, games, count, &mut answers, &mut random).expect("answered");
        plies.iter().map(|ply| TicTacToe.ply(&ply.position)).collect()
    }

    #[test]
    fn of_every_other_game_the_ply_at_which_it_turned_is_drawn() {
        for turn in 0..7 {
            let plies = drawn(8, 8, turn);
            assert_eq!(plies.len(), 8);
            assert!(plies.iter().step_by(2).all(|ply| *ply == turn), "{plies:?} of games that turn at {turn}");
        }
    }

    #[test]
    fn few_games_give_more_plies_each() {
        let mut plies = drawn(1, 64, 3);
        plies.sort_unstable();
        assert_eq!(plies, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(drawn(3, 8, 3).len(), 8);
    }
}
