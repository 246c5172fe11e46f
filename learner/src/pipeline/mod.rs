//! The life of a run: games are awaited, the network trains, the candidate is gated, and so on, iteration by iteration.
//!
//! Where the run is stands in the store before it goes on, so it can be killed anywhere. Self-play goes on beside
//! training and gate, except in lockstep. The pipeline sleeps until an event wakes it; what it does next follows from
//! games, store and trainer alone, never from what was reported.

mod alarms;
mod cost_meter;
mod events;
mod gate;
mod gate_games;
mod progress_reporter;
#[cfg(test)]
mod tests;
mod training;
mod work_time;
mod yardstick;

use std::sync::Arc;
use std::time::Duration;

use inference::best::BestNetwork;
use net::NetworkSpec;
use registry::{GameRegistry, RegistryError, SelfPlayPlan, StartPlan};
use samples::buffer::SharedReplay;
use shared::encoding::Encoding;
use store::durable::DurableStore;
use store::files::RunFiles;
use store::{Change, GameStatistics, IterationRow, IterationState, MetricRow, PlayedOn, StoreError};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::{PipelineMode, PipelineSettings};
use crate::gate_check::GateCheck;
use crate::progress::{AlarmBoard, PhaseProgress};
use crate::trainer::{TrainerError, TrainerHandle};

pub use cost_meter::CostMeter;
pub use events::PipelineEvents;
use events::Wake;
pub use progress_reporter::{ProgressReporter, ProgressSources};
pub use work_time::WorkTime;

/// Time after which the pipeline reports progress although nothing has happened.
pub const TICK: Duration = Duration::from_secs(1);

/// Why the pipeline ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to stop.
    Stopped,
    /// It did as many iterations as it was to do.
    IterationsDone,
}

/// Why the pipeline cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// Where the run is cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state of the iteration cannot be written.
    #[error("store the iteration")]
    StoreIteration(#[source] StoreError),
    /// The games do not go on.
    #[error(transparent)]
    Games(#[from] RegistryError),
    /// Training cannot go on.
    #[error("training")]
    Training(#[source] TrainerError),
    /// The training thread ended without an outcome.
    #[error("the training thread ended")]
    TrainerEnded,
    /// The store has an iteration in training without the games to train on.
    #[error("damaged store: iteration {0} is in training and has no window")]
    NoWindow(u32),
    /// The store has an iteration at its gate without a candidate.
    #[error("damaged store: iteration {0} is at its gate and has no candidate")]
    NoCandidate(u32),
}

/// What the pipeline needs.
pub struct Pipeline<E: Encoding> {
    /// What it goes by.
    pub settings: PipelineSettings,
    /// All games.
    pub registry: Arc<GameRegistry<E>>,
    /// Where self-play games begin.
    pub starts: StartPlan,
    /// The positions that can be sampled.
    pub replay: Arc<SharedReplay>,
    /// The store.
    pub store: DurableStore,
    /// Where networks lie.
    pub files: RunFiles,
    /// What candidates are, so that one that cannot be loaded plays no gate; `None` where they are not looked at.
    pub network: Option<NetworkSpec>,
    /// The training thread.
    pub trainer: TrainerHandle,
    /// The best network, shared with inference and services.
    pub best: Arc<BestNetwork>,
    /// Searches plies of gates again; `None` if nothing is checked.
    pub gate_check: Option<GateCheck<E>>,
    /// What wakes it.
    pub events: PipelineEvents,
    /// Charges iterations for what they cost.
    pub cost: CostMeter,
    /// Counts how long the run has been worked on.
    pub work_time: WorkTime,
    /// The alarms that it turns on and off.
    pub alarms: Arc<AlarmBoard>,
    /// Reports how far the run is.
    pub reporter: ProgressReporter<E>,
    /// Cancelled when the pipeline has ended.
    pub stop: CancellationToken,
    /// Whether no new self-play games are made for now.
    pub is_self_play_paused: bool,
}

impl<E: Encoding> Pipeline<E> {
    /// Goes on where the store says the run is, until the stop or the last iteration.
    ///
    /// # Errors
    /// [`PipelineError`]: a damaged store, or training that fails again and again.
    pub fn run(mut self) -> Result<Ended, PipelineError> {
        let ended = self.iterate();
        self.stop.cancel();
        self.trainer.join();
        ended
    }

    fn iterate(&mut self) -> Result<Ended, PipelineError> {
        // Games are leased already, and the disk may let the first row wait.
        self.serve_networks([]);
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
    fn take_up(&mut self) -> Result<IterationRow, PipelineError> {
        match self.store.store().reader()?.last_iteration()? {
            Some(last) if last.state.is_finished() => {
                self.begin(last.number + 1, last.training_step_end.unwrap_or(last.training_step_start))
            }
            Some(open) => {
                info!(iteration = open.number, state = open.state.word(), "the run goes on");
                self.show_totals()?;
                Ok(open)
            }
            None => self.begin(1, 0),
        }
    }

    fn begin(&mut self, number: u32, training_step_start: u64) -> Result<IterationRow, PipelineError> {
        let mut iteration = IterationRow::new(number, training_step_start);
        self.write(&mut iteration, vec![]).map_err(PipelineError::StoreIteration)?;
        Ok(iteration)
    }

    /// Brings one iteration to its end. Returns `None` if the stop came first.
    fn advance(&mut self, mut iteration: IterationRow) -> Result<Option<IterationRow>, PipelineError> {
        while !iteration.state.is_finished() {
            self.plan_self_play(&iteration, u64::from(self.settings.self_play.games_per_iteration))?;
            self.reporter.begin_phase(&iteration);
            let went_on = match iteration.state {
                IterationState::SelfPlay => self.await_games(&mut iteration)?,
                IterationState::Training => self.train(&mut iteration)?,
                IterationState::Gate => self.gate(&mut iteration)?,
                IterationState::Promoted | IterationState::Rejected => break,
            };
            if !went_on {
                if let Err(error) = self.write(&mut iteration, vec![]) {
                    warn!(%error, "the cost of the last seconds is not in the store");
                }
                return Ok(None);
            }
        }
        Ok(Some(iteration))
    }

    /// Decides whether and how new self-play games are made in this state of the iteration; in lockstep, how many.
    fn plan_self_play(&mut self, iteration: &IterationRow, lockstep_game_count: u64) -> Result<(), PipelineError> {
        let is_lockstep = self.settings.mode == PipelineMode::Lockstep;
        let is_paused = is_lockstep && iteration.state != IterationState::SelfPlay;
        let search = self.settings.self_play.search_at(self.best.get().generation, iteration.number);
        let game_count_max = is_lockstep.then_some(lockstep_game_count);
        let starts = self.starts.clone();
        let plan = SelfPlayPlan { iteration: iteration.number, search, starts, game_count_max };
        self.is_self_play_paused = is_paused;
        Ok(self.registry.plan_self_play((!is_paused).then_some(plan))?)
    }

    /// Waits until enough new games have finished, then fixes what is learned from. Returns false if the stop came
    /// first, as the other phases do.
    fn await_games(&mut self, iteration: &mut IterationRow) -> Result<bool, PipelineError> {
        let reader = self.store.store().reader()?;
        let window_start = reader.last_window_end()?;
        let needed = u64::from(self.settings.self_play.games_per_iteration);
        let mut planned = needed;
        loop {
            let progress = self.registry.progress();
            let games = reader.statistics(window_start, progress.last_finish_number)?;
            // Positions of these games alone count, and are held from here on: those of games that finish before the
            // training begins would push them out of the buffer.
            let window = self.replay.fix_window(progress.last_finish_number, u64::MAX);
            if games.game_count >= needed && window.len() >= u64::from(self.settings.replay.position_count_min) {
                self.fix_window(iteration, progress.last_finish_number, &games)?;
                return Ok(true);
            }
            self.replay.release();
            if games.game_count >= planned {
                // Short games have too few positions: lockstep makes more of them.
                planned += needed;
                self.plan_self_play(iteration, planned)?;
            }
            self.keep_cost(iteration)?;
            self.reporter.report(iteration.number, PhaseProgress::SelfPlay { games, needed });
            // Once there are enough games, any further one may bring the positions that are still missing.
            let awaited = progress.finished_self_play_count + needed.saturating_sub(games.game_count).max(1);
            if let Wake::Stop = self.events.games(|progress| progress.finished_self_play_count >= awaited) {
                return Ok(false);
            }
        }
    }

    /// Ends the wait for games: the training learns from those up to this finish number.
    fn fix_window(
        &mut self,
        iteration: &mut IterationRow,
        finish_number: u64,
        games: &GameStatistics,
    ) -> Result<(), PipelineError> {
        alarms::check(&self.settings.alarms, &self.alarms, iteration.number, games);
        self.check_resignation(iteration.number, finish_number)?;
        self.reporter.report_games(iteration.number, games, self.settings.self_play.resignation().is_on());
        self.report_yardstick(iteration.number)?;
        iteration.window_finish_number = Some(finish_number);
        (iteration.game_count, iteration.position_count) = (games.game_count, games.sample_count);
        // Fixed before the first step: a training that is resumed makes the same steps.
        let window_start = self.store.store().reader()?.last_window_end()?;
        let position_count = self.learned_position_count(window_start, finish_number)?;
        iteration.training_step_end = Some(self.step_end(iteration, position_count));
        iteration.state = IterationState::Training;
        self.write(iteration, window_metrics(iteration.training_step_start, games))
            .map_err(PipelineError::StoreIteration)
    }
}

impl<E: Encoding> Pipeline<E> {
    /// Looks how often sides would have resigned falsely, in the newest games up to this finish number.
    fn check_resignation(&self, iteration: u32, finish_number: u64) -> Result<(), PipelineError> {
        let played_on = match self.settings.self_play.resignation().is_on() {
            true => self.store.store().reader()?.newest_played_on(finish_number, alarms::PLAYED_ON_JUDGED)?,
            false => PlayedOn::default(),
        };
        alarms::check_resignation(&self.settings.alarms, &self.alarms, iteration, &played_on);
        Ok(())
    }
}

/// What the games of an iteration that starts at this training step were like.
fn window_metrics(step: u64, games: &GameStatistics) -> Vec<Change> {
    let metric = |name: &str, value: f64| Change::AddMetric(MetricRow { name: name.to_owned(), value, step });
    let share = |count: u64| count as f64 / games.game_count.max(1) as f64;
    vec![
        metric("draw_share", share(games.draw_count)),
        metric("cut_off_share", share(games.cut_off_count)),
        metric("mean_ply_count", games.mean_ply_count),
        metric("distinct_opening_share", share(games.distinct_opening_count)),
        metric("resigned_share", share(games.resigned_count)),
        metric("played_on_count", games.played_on.game_count as f64),
        metric("false_resignation_count", games.played_on.false_count as f64),
    ]
}
