//! `learner data-info`: statistics of the games of a run, of data sets, or of human games.

use std::collections::{BTreeMap, HashSet};

use anyhow::Context;
use learner::numbers::{percent, text_of_counts};
use runtime::{exit, logging};
use serde::Serialize;
use shared::encoding::Encoding;
use shared::game::{Outcome, Side};
use shared::record::PolicyTarget;
use store::GameKind;

use super::game_sources::{DataGame, GameSource, SourceArgs, VisitGames};

/// Which games, and how they are shown.
#[derive(Debug, Clone, clap::Args)]
pub struct DataInfoArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints statistics of the games.
///
/// # Errors
/// If the games cannot be read, or there are none.
pub fn data_info(args: &DataInfoArgs) -> anyhow::Result<()> {
    let source = GameSource::open(&args.source)?;
    let mut groups = Groups { by_word: BTreeMap::new(), game_count: 0, spinner: logging::spinner() };
    source.visit(&[GameKind::SelfPlay, GameKind::Gate], &mut groups)?;
    groups.spinner.finish_and_clear();
    if groups.game_count == 0 {
        return Err(args.source.no_games());
    }
    let reports: BTreeMap<&str, Report> = groups.by_word.iter().map(|(word, group)| (*word, group.report())).collect();
    let text = if args.json { serde_json::to_string(&reports)? + "\n" } else { table(&reports) };
    exit::print(&text).context("write to stdout")
}

/// The games of each origin.
struct Groups {
    by_word: BTreeMap<&'static str, Group>,
    game_count: u64,
    spinner: indicatif::ProgressBar,
}

impl VisitGames for Groups {
    fn visit_game<E: Encoding>(&mut self, _encoding: &E, game: &DataGame) -> anyhow::Result<()> {
        self.by_word.entry(game.origin.word()).or_default().add(game);
        self.game_count += 1;
        self.spinner.set_message(format!("{} games", self.game_count));
        self.spinner.tick();
        Ok(())
    }
}

/// Counts and sums over games of one origin.
#[derive(Debug, Clone, Default)]
struct Group {
    types: BTreeMap<String, u64>,
    different: HashSet<u64>,
    endgame_count: u64,
    ply_counts: Vec<u32>,
    white_count: u64,
    black_count: u64,
    draw_count: u64,
    unknown_count: u64,
    cut_off_count: u64,
    position_count: u64,
    entropy_sum: f64,
    value_counts: [u64; 3],
    searched_count: u64,
    search_error_sum: f64,
}

/// What is printed of games of one origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Report {
    games: u64,
    different_games: u64,
    from_endgames: u64,
    game_types: BTreeMap<String, u64>,
    plies_min: u32,
    plies_median: u32,
    plies_max: u32,
    white_wins: u64,
    black_wins: u64,
    draws: u64,
    unknown: u64,
    cut_off: u64,
    positions: u64,
    policy_entropy: f64,
    value_wins: f64,
    value_draws: f64,
    value_losses: f64,
    value_mean: f64,
    searched_positions: u64,
    search_value_error: f64,
}

impl Group {
    fn add(&mut self, game: &DataGame) {
        *self.types.entry(game.type_name.clone()).or_default() += 1;
        self.endgame_count += u64::from(game.is_from_endgame);
        self.different.insert(game.identity);
        self.ply_counts.push(game.ply_count);
        *match game.outcome {
            Some(Outcome::Win(Side::White)) => &mut self.white_count,
            Some(Outcome::Win(Side::Black)) => &mut self.black_count,
            Some(Outcome::Draw) => &mut self.draw_count,
            None => &mut self.unknown_count,
        } += 1;
        self.cut_off_count += u64::from(game.is_cut_off);
        for sample in &game.samples {
            self.position_count += 1;
            self.entropy_sum += entropy(&sample.policy_target);
            let outcome = sample.outcome_value;
            let index = if outcome > 0.0 { 0 } else { 1 + usize::from(outcome < 0.0) };
            self.value_counts[index] += 1;
            if let Some(search_value) = sample.search_value {
                self.searched_count += 1;
                self.search_error_sum += f64::from(search_value - outcome).powi(2);
            }
        }
    }

    fn report(&self) -> Report {
        let mut ply_counts = self.ply_counts.clone();
        ply_counts.sort_unstable();
        let positions = self.position_count.max(1) as f64;
        let [wins, draws, losses] = self.value_counts.map(|count| count as f64 / positions);
        Report {
            games: ply_counts.len() as u64,
            different_games: self.different.len() as u64,
            from_endgames: self.endgame_count,
            game_types: self.types.clone(),
            plies_min: ply_counts.first().copied().unwrap_or(0),
            plies_median: ply_counts.get(ply_counts.len() / 2).copied().unwrap_or(0),
            plies_max: ply_counts.last().copied().unwrap_or(0),
            white_wins: self.white_count,
            black_wins: self.black_count,
            draws: self.draw_count,
            unknown: self.unknown_count,
            cut_off: self.cut_off_count,
            positions: self.position_count,
            policy_entropy: self.entropy_sum / positions,
            value_wins: wins,
            value_draws: draws,
            value_losses: losses,
            value_mean: wins - losses,
            searched_positions: self.searched_count,
            search_value_error: self.search_error_sum / self.searched_count.max(1) as f64,
        }
    }
}

/// Returns the entropy of a policy target, in nats: 0 if one move got everything.
fn entropy(target: &PolicyTarget) -> f64 {
    let sum = f64::from(target.weight_sum());
    let shares = target.pairs().iter().map(|(_, count)| f64::from(*count) / sum).filter(|share| *share > 0.0);
    // From 0, so that an entropy of 0 is not shown as -0.
    0.0 - shares.map(|share| share * share.ln()).sum::<f64>()
}

/// Returns a row for each statistic and a column for each origin.
fn table(reports: &BTreeMap<&str, Report>) -> String {
    let names = [
        "",
        "games",
        "different",
        "from endgames",
        "types",
        "plies",
        "white wins",
        "black wins",
        "draws",
        "unknown",
        "cut off",
    ]
    .into_iter()
    .chain(["positions", "policy entropy", "value targets", "value mean", "searched"]);
    let columns: Vec<Vec<String>> = reports.iter().map(|(word, report)| column(word, report)).collect();
    let widths: Vec<usize> = columns.iter().map(|column| column.iter().map(String::len).max().unwrap_or(0)).collect();
    let row = |(index, name): (usize, &str)| {
        let cells = columns.iter().zip(&widths).map(|(column, width)| format!("  {:<width$}", column[index]));
        format!("{name:<14}{}", cells.collect::<String>()).trim_end().to_owned() + "\n"
    };
    names.enumerate().map(row).collect()
}

fn column(word: &str, report: &Report) -> Vec<String> {
    let share = |count: u64| format!("{count} ({})", percent(count as f64 / report.games.max(1) as f64));
    vec![
        word.to_owned(),
        report.games.to_string(),
        report.different_games.to_string(),
        report.from_endgames.to_string(),
        text_of_counts(&report.game_types),
        format!("{} / {} / {}", report.plies_min, report.plies_median, report.plies_max),
        share(report.white_wins),
        share(report.black_wins),
        share(report.draws),
        share(report.unknown),
        share(report.cut_off),
        report.positions.to_string(),
        format!("{:.3} nats", report.policy_entropy),
        format!(
            "+1 {}, 0 {}, -1 {}",
            percent(report.value_wins),
            percent(report.value_draws),
            percent(report.value_losses)
        ),
        format!("{:+.4}", report.value_mean),
        format!("{}, value error {:.3}", report.searched_positions, report.search_value_error),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::game_sources::Origin;
    use shared::record::Sample;

    fn game(plies: u32, outcome: Option<Outcome>, visits: &[u32], outcome_value: f32) -> DataGame {
        let visits = (0..).zip(visits.iter().copied());
        let policy_target = PolicyTarget::from_visits(visits).expect("a target");
        DataGame {
            origin: Origin::HumanGames,
            type_name: "Base".to_owned(),
            is_from_endgame: false,
            start: None,
            ply_count: plies,
            identity: u64::from(plies),
            move_texts: Vec::new(),
            outcome,
            is_cut_off: false,
            samples: vec![Sample {
                packed: Vec::new(),
                side: Side::White,
                policy_target,
                outcome_value,
                search_value: Some(0.5),
                outlook: None,
            }],
        }
    }

    #[test]
    fn games_are_counted_and_summed() {
        let mut group = Group::default();
        group.add(&game(3, Some(Outcome::Draw), &[1, 1], 0.0));
        group.add(&game(9, Some(Outcome::Win(Side::White)), &[4], 1.0));
        group.add(&game(9, None, &[4], -1.0));
        group.add(&game(5, Some(Outcome::Win(Side::Black)), &[4], 1.0));
        let report = group.report();
        assert_eq!((report.games, report.different_games, report.positions), (4, 3, 4));
        assert_eq!((report.plies_min, report.plies_median, report.plies_max), (3, 9, 9));
        assert_eq!((report.white_wins, report.black_wins, report.draws, report.unknown), (1, 1, 1, 1));
        assert!((report.policy_entropy - 2.0_f64.ln() / 4.0).abs() < 1e-12, "one coin in four positions");
        assert_eq!((report.value_wins, report.value_draws, report.value_losses), (0.5, 0.25, 0.25));
        assert_eq!((report.searched_positions, report.search_value_error), (4, (0.25 + 0.25 + 2.25 + 0.25) / 4.0));
        let text = table(&BTreeMap::from([("human_games", report)]));
        assert!(text.contains("plies           3 / 9 / 9\n") && text.contains("draws           1 (25.0%)\n"), "{text}");
    }
}
