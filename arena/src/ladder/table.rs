//! The table of a ladder: groups of players that have met, the strongest first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use super::rating::{Meeting, Rating, rate};
use super::store::StoredMatch;

/// The player from whom Elo counts, if it is there.
const ANCHOR: &str = "random";

/// One player's line.
struct Line<'a> {
    name: &'a str,
    rating: Rating,
    points: f64,
    games: f64,
}

/// Returns the table of all players in `matches`, which are of this type of game; without any it says how to play one into
/// the ladder of `run_dir`.
#[must_use]
pub fn table(matches: &[StoredMatch], game_type: &str, run_dir: &Path) -> String {
    if matches.is_empty() {
        let run_dir = run_dir.display();
        return format!("no matches of {game_type} yet: alveare ladder --run-dir {run_dir} --add A B\n");
    }
    let mut by_number: BTreeMap<usize, Vec<Line<'_>>> = BTreeMap::new();
    for line in lines(matches) {
        by_number.entry(line.rating.group).or_default().push(line);
    }
    let mut groups: Vec<Vec<Line<'_>>> = by_number.into_values().collect();
    // The one that counts from random play, then the largest.
    groups.sort_by_key(|lines| (lines.iter().all(|line| line.name != ANCHOR), std::cmp::Reverse(lines.len())));
    let width = groups.iter().flatten().map(|line| line.name.chars().count()).max().unwrap_or_default().max(6);
    let mut text = format!("{:width$}    Elo      95 %         games   score\n", "player");
    for (index, lines) in groups.iter_mut().enumerate() {
        if index > 0 {
            text.push_str("not connected with those above by any game:\n");
        }
        lines.sort_by(|a, b| b.rating.elo.total_cmp(&a.rating.elo).then_with(|| a.name.cmp(b.name)));
        for Line { name, rating: Rating { elo, margin, .. }, points, games } in lines {
            let (low, high) = (*elo - *margin, *elo + *margin);
            let interval = format!("{low:+.0} to {high:+.0}");
            let _ = writeln!(text, "{name:width$}  {elo:>+5.0}  {interval:>16}  {games:>5}  {:>6.3}", *points / *games);
        }
    }
    text
}

fn lines(matches: &[StoredMatch]) -> Vec<Line<'_>> {
    let names: BTreeSet<&str> = matches.iter().flat_map(|it| it.players.iter().map(String::as_str)).collect();
    let numbers: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let meetings: Vec<Meeting> = matches.iter().map(|it| meeting(it, &numbers)).collect();
    let ratings = rate(numbers.len(), &meetings, numbers.get(ANCHOR).copied());
    let mut lines: Vec<Line<'_>> =
        names.into_iter().zip(ratings).map(|(name, rating)| Line { name, rating, points: 0.0, games: 0.0 }).collect();
    for Meeting { players, points } in meetings {
        for (player, own) in players.into_iter().zip(points) {
            lines[player].points += own;
            lines[player].games += points[0] + points[1];
        }
    }
    lines
}

fn meeting(played: &StoredMatch, names: &BTreeMap<&str, usize>) -> Meeting {
    let half = f64::from(played.score.draws) / 2.0;
    let points = [f64::from(played.score.wins) + half, f64::from(played.score.losses) + half];
    Meeting { players: played.players.each_ref().map(|name| names[name.as_str()]), points }
}

#[cfg(test)]
mod tests {
    use shared::gate::GateScore;

    use super::*;

    fn played(players: [&str; 2], wins: u32, draws: u32, losses: u32) -> StoredMatch {
        StoredMatch { players: players.map(str::to_owned), score: GateScore { wins, draws, losses } }
    }

    #[test]
    fn the_table_counts_from_random_play() {
        let matches = [
            played(["mcts:400", "random"], 19, 0, 1),
            played(["mcts:400", "uniform:800"], 5, 10, 5),
            played(["a", "b"], 1, 0, 0),
        ];
        let run_dir = Path::new("my-run");
        let text = table(&matches, "Base", run_dir);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "player         Elo      95 %         games   score");
        assert!(lines[1].starts_with("mcts:400      +446"), "{text}");
        assert!(lines[2].starts_with("uniform:800   +446"), "{text}");
        assert_eq!(lines[3], "random          +0          +0 to +0     20   0.050");
        assert_eq!(lines[4], "not connected with those above by any game:");
        assert!(lines[5].starts_with("a ") && lines[6].starts_with("b "), "{text}");
        let none = "no matches of Base yet: alveare ladder --run-dir my-run --add A B\n";
        assert_eq!(table(&[], "Base", run_dir), none);
    }
}
