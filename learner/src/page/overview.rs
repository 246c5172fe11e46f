//! How the run is doing now.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use shared::ids::Generation;
use store::{IterationState, Reader};

use super::Page;
use super::answer::{Answer, Json, PageError};
use super::elo::GateScores;
use super::iterations::{CostLine, IterationLine, read_iterations};
use super::series::{CHARTED, read_series};
use crate::progress::RunObserver;

/// Iterations that the overview lists.
const RECENT_COUNT: u32 = 15;

/// How the run is doing.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    run_id: String,
    created_at: String,
    /// What is played, for people.
    game: String,
    /// `hive`, `dama` or `tictactoe`.
    game_name: &'static str,
    best: Option<BestLine>,
    progress: Option<Progress>,
    totals: Totals,
    cost: Option<CostLine>,
    /// Shares from which the log warns, by metric.
    limits: BTreeMap<&'static str, f64>,
    /// The newest iterations, the newest first.
    recent: Vec<IterationLine>,
    /// Where the list of iterations goes on.
    next_before: Option<u32>,
    /// What a learner at work knows; none: the page reads a run directory alone.
    live: Option<Live>,
    /// Whether positions can be shown to the best network.
    has_network: bool,
}

#[derive(Debug, Serialize)]
struct BestLine {
    network_id: u32,
    generation: u32,
    since: String,
    training_step: u64,
}

/// How far the newest iteration is.
#[derive(Debug, Serialize)]
struct Progress {
    iteration: u32,
    /// `self_play`, `training`, `gate`, `promoted` or `rejected`.
    phase: &'static str,
    /// Games or training steps.
    unit: &'static str,
    done: u64,
    total: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Totals {
    iterations: u64,
    promotions: u64,
    self_play_games: u64,
    positions: u64,
    finished_games: u64,
}

/// What a learner at work knows.
#[derive(Debug, Serialize)]
struct Live {
    /// In words; empty if it waits for nothing.
    waiting_for: String,
    evaluations_per_second: f64,
    /// Share of the largest batch, 0 to 1.
    batch_fill: f64,
    training_step: u64,
    replay_positions: u64,
    /// Those that are on.
    alarms: Vec<AlarmLine>,
    counters: BTreeMap<String, u64>,
    workers: Vec<WorkerLine>,
}

/// A worker that gave a sign of life lately.
#[derive(Debug, Serialize)]
struct WorkerLine {
    name: String,
    /// `actor` or `evaluator`.
    kind: String,
    held_games: u64,
    silent_seconds: u64,
}

/// An alarm that is on.
#[derive(Debug, Serialize)]
struct AlarmLine {
    name: String,
    /// What is wrong and what to do, in words.
    text: String,
}

/// Answers `/api/overview`.
pub(super) async fn overview(page: &Page) -> Answer<Overview> {
    let (game, has_network) = (page.game.clone(), page.evaluator.is_some());
    let (scores, observer) = (page.gate_scores.clone(), page.observer.clone());
    let read = move |reader: &Reader| {
        let run = reader.run()?;
        // Only numbers are taken from it: an older program may have written other keys.
        let config: Value = serde_json::from_str(&run.config).unwrap_or(Value::Null);
        let recent = read_iterations(reader, &scores, None, RECENT_COUNT)?;
        let totals = reader.totals()?;
        Ok(Overview {
            run_id: run.run_id,
            created_at: run.created_at,
            game: game.to_string(),
            game_name: game.name(),
            best: best_of(reader)?,
            progress: recent.iterations.first().map(|newest| progress_of(reader, &config, newest)).transpose()?,
            totals: Totals {
                iterations: totals.iteration_count,
                promotions: totals.promotion_count,
                self_play_games: totals.game_count,
                positions: totals.position_count,
                finished_games: reader.last_finish_number()?,
            },
            cost: reader.run_cost()?.map(CostLine::from),
            limits: limits_of(&config),
            recent: recent.iterations,
            next_before: recent.next_before,
            // Here, where blocking is allowed.
            live: observer.as_deref().map(live_of),
            has_network,
        })
    };
    page.source.read(read).await.map(Json)
}

/// Reads metrics and sums up all gates once, so that the first visitor need not wait for it.
pub(super) async fn warm_up(page: &Page) {
    loop {
        let (scores, metrics) = (page.gate_scores.clone(), page.metrics.clone());
        let read = move |reader: &Reader| {
            read_series(reader, &metrics, CHARTED, 1)?;
            read_gates(reader, &scores)
        };
        match page.source.read(read).await {
            // What was summed up before the deadline is kept.
            Err(PageError::Busy(_)) => {}
            _ => return,
        }
    }
}

fn read_gates(reader: &Reader, scores: &GateScores) -> Result<(), PageError> {
    reader.generations()?.iter().skip(1).try_for_each(|(_, network_id)| scores.decided(reader, *network_id).map(|_| ()))
}

fn best_of(reader: &Reader) -> Result<Option<BestLine>, PageError> {
    let Some(best) = reader.best_network()? else { return Ok(None) };
    Ok(Some(BestLine {
        network_id: best.network.network_id.get(),
        generation: best.generation.map_or(0, Generation::get),
        since: best.created_at,
        training_step: best.network.training_step,
    }))
}

fn progress_of(reader: &Reader, config: &Value, newest: &IterationLine) -> Result<Progress, PageError> {
    let number = |pointer: &str| config.pointer(pointer).and_then(Value::as_u64);
    let (unit, done, total) = if newest.state == IterationState::SelfPlay.word() {
        let games = reader.statistics(reader.last_window_end()?, u64::MAX)?;
        ("games", games.game_count, number("/self_play/games_per_iteration"))
    } else if newest.state == IterationState::Training.word() {
        let last = reader.last_metric_step("policy_loss")?.unwrap_or(newest.training_step_start);
        let total = newest.training_step_end.map(|end| end.saturating_sub(newest.training_step_start));
        ("steps", last.saturating_sub(newest.training_step_start), total)
    } else {
        let played = newest.gate.as_ref().map_or(0, |gate| gate.wins + gate.draws + gate.losses);
        ("gate games", u64::from(played), number("/gate/game_count"))
    };
    Ok(Progress { iteration: newest.number, phase: newest.state, unit, done, total })
}

/// The shares from which the log warns.
fn limits_of(config: &Value) -> BTreeMap<&'static str, f64> {
    let keys = [("draw_share", "/alarms/draw_share_max"), ("cut_off_share", "/alarms/cut_off_share_max")];
    keys.into_iter().filter_map(|(name, pointer)| Some((name, config.pointer(pointer)?.as_f64()?))).collect()
}

fn live_of(observer: &RunObserver) -> Live {
    let observation = observer.observe(Instant::now());
    let reply = observation.to_message();
    let mut workers: Vec<_> = observation
        .joined_workers()
        .map(|worker| WorkerLine {
            name: worker.worker_id,
            kind: worker.kind,
            held_games: worker.held_self_play_count + worker.held_gate_count,
            silent_seconds: worker.silent_seconds,
        })
        .collect();
    workers.sort_by(|a, b| a.name.cmp(&b.name));
    Live {
        waiting_for: reply.waiting_for,
        evaluations_per_second: reply.evaluations_per_second,
        batch_fill: reply.batch_fill,
        training_step: reply.training_step,
        replay_positions: reply.replay_position_count,
        alarms: reply.alarms.into_iter().map(|alarm| AlarmLine { name: alarm.name, text: alarm.text }).collect(),
        counters: reply.counters.into_iter().collect(),
        workers,
    }
}
