//! Iterations as lines of a list, each with its candidate and the gate that decided about it.

use serde::Serialize;
use shared::gate::GateScore;
use shared::ids::Generation;
use store::{IterationCost, IterationState, IterationSummary, Reader};

use super::answer::PageError;
use super::elo::GateScores;

/// Most iterations of one answer.
pub(super) const LINE_COUNT_MAX: u32 = 200;

/// Part of a list of iterations.
#[derive(Debug, Serialize)]
pub(super) struct IterationPage {
    pub(super) iterations: Vec<IterationLine>,
    /// Where the next part begins; none: this was the last one.
    pub(super) next_before: Option<u32>,
}

/// An iteration.
#[derive(Debug, Serialize)]
pub(super) struct IterationLine {
    pub(super) number: u32,
    pub(super) state: &'static str,
    pub(super) game_count: u64,
    pub(super) position_count: u64,
    pub(super) training_step_start: u64,
    pub(super) training_step_end: Option<u64>,
    pub(super) candidate_id: Option<u32>,
    /// Of a candidate that became the best network.
    pub(super) generation: Option<u32>,
    pub(super) gate: Option<ScoreLine>,
    pub(super) cost: Option<CostLine>,
    pub(super) started_at: String,
    pub(super) finished_at: Option<String>,
}

/// A score with its 95 % interval. Elo is missing where all games were won, or all lost.
#[derive(Debug, Serialize)]
pub(super) struct ScoreLine {
    pub(super) wins: u32,
    pub(super) draws: u32,
    pub(super) losses: u32,
    /// Share of the points, 0 to 1.
    pub(super) score: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) elo: f64,
    pub(super) elo_low: f64,
    pub(super) elo_high: f64,
}

/// What something cost.
#[derive(Debug, Serialize)]
pub(super) struct CostLine {
    pub(super) evaluation_count: u64,
    pub(super) training_sample_count: u64,
    /// 10^15 floating-point operations.
    pub(super) pflop: f64,
}

impl From<GateScore> for ScoreLine {
    fn from(score: GateScore) -> Self {
        let (interval, elo) = (score.confidence_interval(), score.elo_interval());
        Self {
            wins: score.wins,
            draws: score.draws,
            losses: score.losses,
            score: rounded(score.score()),
            low: rounded(interval.low),
            high: rounded(interval.high),
            // JSON has no infinity: it is written as null.
            elo: rounded(score.elo_difference()),
            elo_low: rounded(elo.low),
            elo_high: rounded(elo.high),
        }
    }
}

impl From<IterationCost> for CostLine {
    fn from(cost: IterationCost) -> Self {
        let IterationCost { evaluation_count, training_sample_count, flop } = cost;
        Self { evaluation_count, training_sample_count, pflop: flop / 1e15 }
    }
}

/// Returns a number to four places behind the point.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// Reads the iterations with numbers below `before`, the newest first.
pub(super) fn read_iterations(
    reader: &Reader,
    gate_scores: &GateScores,
    before: Option<u32>,
    count_max: u32,
) -> Result<IterationPage, PageError> {
    let summaries = reader.iterations_before(before, count_max)?;
    let is_more = summaries.len() == count_max as usize;
    let next_before = summaries.last().map(|last| last.row.number).filter(|number| is_more && *number > 1);
    let line = |summary| line_of(reader, gate_scores, summary);
    let iterations = summaries.into_iter().map(line).collect::<Result<_, PageError>>()?;
    Ok(IterationPage { iterations, next_before })
}

fn line_of(reader: &Reader, gate_scores: &GateScores, summary: IterationSummary) -> Result<IterationLine, PageError> {
    let IterationSummary { row, started_at, finished_at } = summary;
    let is_promoted = row.state == IterationState::Promoted;
    let (mut gate, mut generation) = (None, None);
    if let Some(candidate_id) = row.candidate_id {
        let score = if row.state.is_finished() {
            gate_scores.decided(reader, candidate_id)?
        } else {
            reader.gate_score(candidate_id)?
        };
        gate = Some(score.into());
        let network = if is_promoted { reader.network(candidate_id)? } else { None };
        generation = network.and_then(|network| network.generation).map(Generation::get);
    }
    Ok(IterationLine {
        number: row.number,
        state: row.state.word(),
        game_count: row.game_count,
        position_count: row.position_count,
        training_step_start: row.training_step_start,
        training_step_end: row.training_step_end,
        candidate_id: row.candidate_id.map(|network_id| network_id.get()),
        generation,
        gate,
        cost: row.cost.map(CostLine::from),
        started_at,
        finished_at,
    })
}
