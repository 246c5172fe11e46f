//! What a search reports: a line for people, and lines for viewers that want to follow it.

use std::time::Duration;

use book::Results;
use runtime::counted::counted;
use shared::game::Game;
use shared::game::hive::text::format_move;
use shared::game::hive::{Hive, Move};
use shared::search::{MoveReport, ParallelSearch, Proof};

use crate::shown::value_text;
use crate::thinker::Thought;

/// Returns the line for people about a search: what it thinks, and how fast it was.
pub fn summary(hive: &Hive, search: &ParallelSearch<Hive>, thought: &Thought<Move>) -> String {
    let (count, kept_count) = (search.simulation_count(), thought.kept_count);
    let rate = f64::from(count - kept_count) / thought.time.as_secs_f64().max(1e-9);
    let proven = if search.proof() == Proof::Unknown { "" } else { " (proven)" };
    let (value, best) = (search.root_value().rounded(3), format_move(search.position(), thought.mv));
    let line = line_text(hive, search, search.principal_variation());
    let simulations = counted(count, "simulation", "simulations");
    format!("bestmove {best}: value {value:+.3}{proven}, {simulations} ({kept_count} kept), {rate:.0}/s, line {line}")
}

/// Returns a line for each of the best `count` moves, the best first.
pub fn info_lines(hive: &Hive, search: &ParallelSearch<Hive>, count: u32, time: Duration) -> Vec<String> {
    let simulation_count = search.simulation_count();
    let info = |(number, report): (u32, MoveReport<Move>)| {
        let value = value_text(report.proof, report.value)?;
        let (visits, seconds) = (report.visit_count, time.as_secs_f64());
        let line = line_text(hive, search, search.line_of(report.mv));
        Some(format!(
            "info multipv {number} value {value} visits {visits} simulations {simulation_count} time {seconds:.3} line {line}"
        ))
    };
    (1..=count).zip(search.move_reports()).filter_map(info).collect()
}

/// Returns the line about a move from the opening book.
pub fn book_line(text: &str, results: Results) -> String {
    let (count, score) = (results.game_count(), results.score());
    format!("info book {text} games {count} score {score:.3}")
}

/// Returns moves from the root of the tree on, with `; ` between them.
fn line_text(hive: &Hive, search: &ParallelSearch<Hive>, moves: Vec<Move>) -> String {
    let mut position = search.position().clone();
    let text = |mv| {
        let text = format_move(&position, mv);
        hive.play(&mut position, mv);
        text
    };
    moves.into_iter().map(text).collect::<Vec<_>>().join("; ")
}
