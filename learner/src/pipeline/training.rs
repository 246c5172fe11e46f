//! The training of an iteration: how much it learns from, how long, and what comes out of it.

use inference::best::CurrentBest;
use shared::encoding::Encoding;
use shared::ids::NetworkId;
use store::files::RunFiles;
use store::{Change, IterationRow, IterationState, NewNetwork};
use tracing::{info, warn};

use super::events::{TrainingEvent, Wake};
use super::{Pipeline, PipelineError, alarms};
use crate::config::AfterRejection;
use crate::progress::PhaseProgress;
use crate::trainer::{Candidate, HeldOutComparison, TrainingJob};

impl<E: Encoding> Pipeline<E> {
    /// Returns the number of positions to learn from of games with finish numbers in `from + 1..=to`: without those that
    /// are held out.
    pub(super) fn learned_position_count(&self, from: u64, to: u64) -> Result<u64, PipelineError> {
        let games = self.store.store().reader()?.self_play_between(from, to)?;
        let learned = games.iter().filter(|game| !self.replay.is_held_out(game.moves_hash));
        Ok(learned.map(|game| u64::from(game.sample_count)).sum())
    }

    /// Returns how many of the newest positions up to this finish number are learned from.
    fn window_position_count(&self, finish_number: u64) -> Result<u64, PipelineError> {
        let replay = &self.settings.replay;
        // Without growth it does not depend on them.
        let position_count = if replay.window_start == 0 { 0 } else { self.learned_position_count(0, finish_number)? };
        Ok(replay.window_position_count(position_count))
    }

    /// Returns the number of training steps after an iteration with so many new positions.
    pub(super) fn step_end(&self, iteration: &IterationRow, position_count: u64) -> u64 {
        iteration.training_step_start + self.settings.training.step_count(position_count)
    }

    /// Returns the training that makes the candidate. A training that is resumed, or done already, is the same.
    fn training_job(&self, iteration: &IterationRow, candidate_id: NetworkId) -> Result<TrainingJob, PipelineError> {
        let window_end = iteration.window_finish_number.ok_or(PipelineError::NoWindow(iteration.number))?;
        let step_start = iteration.training_step_start;
        // Older programs did not fix it.
        let step_end =
            iteration.training_step_end.unwrap_or_else(|| self.step_end(iteration, iteration.position_count));
        let window_position_count = self.window_position_count(window_end)?;
        // No gate is decided while a candidate is in training, so a resumed training sees the same generation.
        let CurrentBest { network_id: best_id, generation } = self.best.get();
        let starts_from_best = self.starts_from_best(iteration.number)?;
        let iteration = iteration.number;
        Ok(TrainingJob {
            iteration,
            window_end,
            window_position_count,
            step_start,
            step_end,
            candidate_id,
            best_id,
            generation,
            starts_from_best,
        })
    }

    /// Returns whether an iteration trains from the best network's weights instead of those that the one before it left.
    fn starts_from_best(&self, iteration: u32) -> Result<bool, PipelineError> {
        if self.settings.training.after_rejection == AfterRejection::Continue {
            return Ok(false);
        }
        let before = self.store.store().reader()?.iterations_before(Some(iteration), 1)?;
        Ok(before.first().is_some_and(|before| before.row.state == IterationState::Rejected))
    }

    /// Trains the candidate.
    pub(super) fn train(&mut self, iteration: &mut IterationRow) -> Result<bool, PipelineError> {
        let last_network_id = self.store.store().reader()?.last_network_id()?;
        let candidate_id = last_network_id.map_or(NetworkId::FIRST, NetworkId::next);
        let job = self.training_job(iteration, candidate_id)?;
        let TrainingJob { step_start, step_end, .. } = job;
        self.trainer.train(job);
        loop {
            self.pause_self_play_if_full(iteration)?;
            self.keep_cost(iteration)?;
            alarms::check_losses(&self.alarms, iteration.number, self.trainer.news().rollback_count);
            if let Some(training_step) = self.trainer.training_step() {
                self.reporter.report_losses(self.trainer.news().losses, false);
                self.reporter.report(iteration.number, PhaseProgress::Training { training_step, step_start, step_end });
            }
            match self.events.training(&mut self.trainer) {
                Wake::Event(TrainingEvent::Ended(Some(outcome))) => {
                    let candidate = outcome.map_err(PipelineError::Training)?;
                    self.reporter.report_losses(self.trainer.news().losses, true);
                    self.add_candidate(iteration, candidate_id, &candidate)?;
                    return Ok(true);
                }
                Wake::Event(TrainingEvent::Ended(None)) => return Err(PipelineError::TrainerEnded),
                Wake::Event(TrainingEvent::GameFinished) | Wake::Tick => {}
                Wake::Stop => return Ok(false),
            }
        }
    }

    /// Makes the file of a candidate again, from the checkpoint that its training ended with. Returns its SHA-256, or
    /// `None` if the stop came first.
    pub(super) fn remake_candidate(
        &mut self,
        iteration: &IterationRow,
        candidate_id: NetworkId,
    ) -> Result<Option<String>, PipelineError> {
        self.trainer.train(self.training_job(iteration, candidate_id)?);
        loop {
            match self.events.training(&mut self.trainer) {
                Wake::Event(TrainingEvent::Ended(Some(outcome))) => {
                    return Ok(Some(outcome.map_err(PipelineError::Training)?.sha256));
                }
                Wake::Event(TrainingEvent::Ended(None)) => return Err(PipelineError::TrainerEnded),
                Wake::Event(TrainingEvent::GameFinished) | Wake::Tick => {}
                Wake::Stop => return Ok(None),
            }
        }
    }

    /// Training keeps its window whatever comes in: when twice the capacity is held, self-play waits for it.
    fn pause_self_play_if_full(&mut self, iteration: &IterationRow) -> Result<(), PipelineError> {
        let is_full = self.replay.position_count() >= 2 * u64::from(self.settings.replay.position_count_max);
        if is_full && !self.is_self_play_paused {
            warn!(iteration = iteration.number, "self-play waits for training: the replay buffer is full twice over");
            self.registry.plan_self_play(None)?;
            self.is_self_play_paused = true;
        }
        Ok(())
    }

    fn add_candidate(
        &mut self,
        iteration: &mut IterationRow,
        network_id: NetworkId,
        candidate: &Candidate,
    ) -> Result<(), PipelineError> {
        iteration.training_step_end = Some(candidate.training_step);
        iteration.candidate_id = Some(network_id);
        iteration.state = IterationState::Gate;
        let file = RunFiles::network_path(network_id);
        let (sha256, training_step) = (candidate.sha256.clone(), candidate.training_step);
        let network = NewNetwork { network_id, file, sha256, training_step };
        if let Some(cost) = &mut iteration.cost {
            self.cost.charge_evaluations(cost);
            let steps = training_step.saturating_sub(iteration.training_step_start);
            self.cost.charge_training(cost, steps * u64::from(self.settings.training.batch_size));
        }
        let mut changes = vec![Change::AddNetwork(network)];
        changes.extend(candidate.held_out.metrics(training_step));
        self.write(iteration, changes)?;
        self.report_held_out(iteration.number, &candidate.held_out);
        info!(iteration = iteration.number, network_id = network_id.get(), training_step, "candidate ready");
        Ok(())
    }

    fn report_held_out(&self, iteration: u32, held_out: &HeldOutComparison) {
        self.reporter.report_held_out(iteration, held_out);
        if let Some(pair) = &held_out.self_play {
            // A quarter of what is kept: fewer positions are of so few games that chance decides.
            let position_count_min = u64::from(self.settings.replay.held_out_positions_max.div_ceil(4));
            alarms::check_held_out(&self.settings.alarms, &self.alarms, iteration, pair, position_count_min);
        }
    }
}
