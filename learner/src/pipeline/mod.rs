//! The life of a run: games are awaited, the network trains, the candidate is gated, and so on, iteration by iteration.
//!
//! Where the run is stands in the store before it goes on, so it can be killed anywhere. Self-play goes on beside
//! training and gate, except in lockstep.

mod alarms;
mod narrator;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use shared::encoding::Encoding;
use shared::gate::Verdict;
use shared::ids::NetworkId;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::best::{BestNetwork, CurrentBest};
use crate::config::{PipelineMode, PipelineSettings};
use crate::durable::DurableStore;
use crate::files::RunFiles;
use crate::games::{GameRegistry, GatePlan, GateReport, SelfPlayPlan};
use crate::store::{Change, IterationRow, IterationState, MetricRow, NewNetwork};
use crate::trainer::{Candidate, TrainerHandle, TrainingJob, TrainingReport};

pub use narrator::Narrator;

/// How often the pipeline looks whether what it waits for has come.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Why the pipeline ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to stop.
    Stopped,
    /// It did as many iterations as it was told to.
    IterationsDone,
}

/// What the pipeline needs.
pub struct Pipeline<E: Encoding> {
    /// What it goes by.
    pub settings: PipelineSettings,
    /// All games.
    pub registry: Arc<GameRegistry<E>>,
    /// The store.
    pub store: DurableStore,
    /// The training thread.
    pub trainer: TrainerHandle,
    /// The reigning network, for everyone.
    pub best: Arc<BestNetwork>,
    /// Tells people how far the run is.
    pub narrator: Narrator<E>,
    /// Ends the pipeline.
    pub stop: CancellationToken,
    /// Whether no new self-play games are made for now.
    pub is_self_play_paused: bool,
}

impl<E: Encoding> Pipeline<E> {
    /// Goes on where the store says the run is, until the stop or the last iteration.
    ///
    /// # Errors
    /// What makes it impossible to go on: a damaged store, training that fails again and again.
    pub fn run(mut self) -> anyhow::Result<Ended> {
        let ended = self.iterate();
        self.stop.cancel();
        self.trainer.join();
        ended
    }

    fn iterate(&mut self) -> anyhow::Result<Ended> {
        let mut iteration = self.take_up()?;
        let mut done_count = 0;
        loop {
            let Some(done) = self.advance(iteration)? else { return Ok(Ended::Stopped) };
            done_count += 1;
            if self.settings.iterations > 0 && done_count >= self.settings.iterations {
                info!(iteration = done.number, iterations = done_count, "all iterations done");
                return Ok(Ended::IterationsDone);
            }
            iteration = self.begin(done.number + 1, done.training_step_end.unwrap_or(done.training_step_start))?;
        }
    }

    /// Returns the iteration that the store says is under way, or the first.
    fn take_up(&mut self) -> anyhow::Result<IterationRow> {
        match self.store.store().reader()?.last_iteration()? {
            Some(last) if last.state.is_finished() => {
                self.begin(last.number + 1, last.training_step_end.unwrap_or(last.training_step_start))
            }
            Some(open) => {
                info!(iteration = open.number, state = open.state.word(), "the run goes on");
                Ok(open)
            }
            None => self.begin(1, 0),
        }
    }

    fn begin(&mut self, number: u32, training_step_start: u64) -> anyhow::Result<IterationRow> {
        let iteration = IterationRow::new(number, training_step_start);
        self.put(&iteration)?;
        Ok(iteration)
    }

    fn put(&self, iteration: &IterationRow) -> anyhow::Result<()> {
        self.store.write(vec![Change::PutIteration(iteration.clone())]).context("store the iteration")
    }

    /// Brings one iteration to its end. Returns `None` if the stop came first.
    fn advance(&mut self, mut iteration: IterationRow) -> anyhow::Result<Option<IterationRow>> {
        while !iteration.state.is_finished() {
            self.plan_self_play(&iteration, u64::from(self.settings.self_play.games_per_iteration))?;
            self.narrator.begin_phase(&iteration);
            let went_on = match iteration.state {
                IterationState::SelfPlay => self.await_games(&mut iteration)?,
                IterationState::Training => self.train(&mut iteration)?,
                IterationState::Gate => self.gate(&mut iteration)?,
                IterationState::Promoted | IterationState::Rejected => break,
            };
            if !went_on {
                return Ok(None);
            }
        }
        Ok(Some(iteration))
    }

    /// Says whether and how new self-play games are made in this state of the iteration; in lockstep, how many.
    fn plan_self_play(&mut self, iteration: &IterationRow, lockstep_game_count: u64) -> anyhow::Result<()> {
        let is_paused = self.settings.mode == PipelineMode::Lockstep && iteration.state != IterationState::SelfPlay;
        let search = self.settings.self_play.search_at(self.best.get().generation.get());
        let game_count_max = (self.settings.mode == PipelineMode::Lockstep).then_some(lockstep_game_count);
        let endgame_share = self.settings.self_play.endgame_share;
        let plan = SelfPlayPlan { iteration: iteration.number, search, endgame_share, game_count_max };
        self.is_self_play_paused = is_paused;
        Ok(self.registry.plan_self_play((!is_paused).then_some(plan))?)
    }

    /// Waits until enough new games have finished, then fixes what is learned from.
    fn await_games(&mut self, iteration: &mut IterationRow) -> anyhow::Result<bool> {
        let reader = self.store.store().reader()?;
        let window_start = reader.last_window_end()?;
        let needed = u64::from(self.settings.self_play.games_per_iteration);
        let mut planned = needed;
        loop {
            let progress = self.registry.progress();
            let games = reader.statistics(window_start, progress.last_finish_number)?;
            let position_count = self.narrator.position_count();
            if games.game_count >= needed && position_count >= u64::from(self.settings.position_count_min) {
                alarms::check(&self.settings.alarms, iteration.number, &games);
                self.narrator.show_games(iteration.number, &games);
                iteration.window_finish_number = Some(progress.last_finish_number);
                (iteration.game_count, iteration.position_count) = (games.game_count, games.sample_count);
                iteration.state = IterationState::Training;
                self.store.write(iteration_changes(iteration, &games))?;
                return Ok(true);
            }
            if games.game_count >= planned {
                // Short games have too few positions: lockstep makes more of them.
                planned += needed;
                self.plan_self_play(iteration, planned)?;
            }
            self.narrator.show_self_play(iteration.number, &games, needed);
            if self.is_stopped_after_wait() {
                return Ok(false);
            }
        }
    }

    /// Trains the candidate.
    fn train(&mut self, iteration: &mut IterationRow) -> anyhow::Result<bool> {
        let window_end = iteration.window_finish_number.context("an iteration in training has no window")?;
        let step_end = iteration.training_step_start + u64::from(self.settings.steps_per_iteration);
        let last_network_id = self.store.store().reader()?.last_network_id()?;
        let candidate_id = last_network_id.map_or(NetworkId::FIRST, NetworkId::next);
        // No gate is decided while a candidate is in training, so a resumed training sees the same generation.
        let generation = self.best.get().generation;
        self.trainer.train(TrainingJob { iteration: iteration.number, window_end, step_end, candidate_id, generation });
        loop {
            let mut last = None;
            for report in self.trainer.reports() {
                match report {
                    TrainingReport::Progress { training_step } => last = Some(training_step),
                    TrainingReport::Failed(error) => return Err(error.context("training")),
                    TrainingReport::Done(candidate) => {
                        self.add_candidate(iteration, candidate_id, &candidate)?;
                        return Ok(true);
                    }
                }
            }
            self.narrator.show_training(iteration, last, step_end);
            self.pause_self_play_if_full(iteration)?;
            anyhow::ensure!(!self.trainer.is_finished() || self.stop.is_cancelled(), "the training thread ended");
            if self.is_stopped_after_wait() {
                return Ok(false);
            }
        }
    }

    /// Training keeps its window whatever comes in: when twice the capacity is held, self-play waits for it.
    fn pause_self_play_if_full(&mut self, iteration: &IterationRow) -> anyhow::Result<()> {
        let is_full = self.narrator.position_count() >= 2 * u64::from(self.settings.position_count_max);
        if is_full && !self.is_self_play_paused {
            tracing::warn!(
                iteration = iteration.number,
                "self-play waits for training: the replay buffer is full twice over"
            );
            self.registry.plan_self_play(None)?;
            self.is_self_play_paused = true;
        }
        Ok(())
    }

    fn add_candidate(
        &self,
        iteration: &mut IterationRow,
        network_id: NetworkId,
        candidate: &Candidate,
    ) -> anyhow::Result<()> {
        iteration.training_step_end = Some(candidate.training_step);
        iteration.candidate_id = Some(network_id);
        iteration.state = IterationState::Gate;
        let file = format!("networks/{}", RunFiles::network_name(network_id));
        let (sha256, training_step) = (candidate.sha256.clone(), candidate.training_step);
        let network = NewNetwork { network_id, file, sha256, training_step };
        self.store.write(vec![Change::AddNetwork(network), Change::PutIteration(iteration.clone())])?;
        info!(iteration = iteration.number, network_id = network_id.get(), training_step, "candidate ready");
        Ok(())
    }

    /// Lets the candidate meet the best network, and promotes or rejects it.
    fn gate(&mut self, iteration: &mut IterationRow) -> anyhow::Result<bool> {
        let candidate_id = iteration.candidate_id.context("an iteration at its gate has no candidate")?;
        let plan = GatePlan {
            candidate_id,
            best_id: self.best.get().network_id,
            iteration: iteration.number,
            settings: self.settings.gate.settings(),
            opening_plies: self.settings.gate.opening_plies,
            search: self.settings.gate.search.clone(),
        };
        // The registry waits for nothing but the disk: while that refuses, the gate is begun again.
        while let Err(error) = self.registry.begin_gate(&plan) {
            tracing::warn!(%error, "waiting to begin the gate");
            if self.is_stopped_after_wait() {
                return Ok(false);
            }
        }
        loop {
            let report = self.registry.gate_report(candidate_id)?;
            if let Some(verdict) = report.verdict {
                self.decide(iteration, &report, verdict)?;
                return Ok(true);
            }
            self.narrator.show_gate(iteration.number, &report);
            if self.is_stopped_after_wait() {
                return Ok(false);
            }
        }
    }

    fn decide(&self, iteration: &mut IterationRow, report: &GateReport, verdict: Verdict) -> anyhow::Result<()> {
        let network_id = report.candidate_id;
        let (change, state) = match verdict {
            Verdict::Promoted => (Change::Promote { network_id }, IterationState::Promoted),
            Verdict::Rejected => (Change::Reject { network_id }, IterationState::Rejected),
        };
        iteration.state = state;
        self.store.write(vec![change, Change::PutIteration(iteration.clone())])?;
        self.registry.close_gate(network_id);
        if let Some(best) = self.store.store().reader()?.best_network()? {
            let generation = best.generation.unwrap_or_default();
            self.best.set(CurrentBest { network_id: best.network.network_id, generation });
        }
        self.narrator.show_verdict(iteration.number, report, verdict, self.best.get());
        Ok(())
    }

    /// Waits a little; returns whether the pipeline is to stop.
    fn is_stopped_after_wait(&self) -> bool {
        std::thread::sleep(POLL_INTERVAL);
        self.stop.is_cancelled()
    }
}

/// The changes that end the wait for games: the iteration, and what its games were like.
fn iteration_changes(iteration: &IterationRow, games: &crate::store::GameStatistics) -> Vec<Change> {
    let metric = |name: &str, value: f64| {
        Change::AddMetric(MetricRow { name: name.to_owned(), value, step: iteration.training_step_start })
    };
    let share = |count: u64| count as f64 / games.game_count.max(1) as f64;
    vec![
        Change::PutIteration(iteration.clone()),
        metric("draw_share", share(games.draw_count)),
        metric("cut_off_share", share(games.cut_off_count)),
        metric("mean_ply_count", games.mean_ply_count),
        metric("distinct_opening_share", share(games.distinct_opening_count)),
    ]
}
