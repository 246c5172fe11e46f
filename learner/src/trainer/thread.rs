//! What the training thread does, step by step.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use net::{NetError, Network, Trainer};
use samples::buffer::Window;
use samples::human_games::{HumanGames, HumanSampler};
use samples::sampler::{BatchSampler, seed_of_step};
use shared::encoding::{Encoding, TrainingBatch};
use tracing::{info, warn};

use super::checkpoints::{Checkpoints, write_file};
use super::held_out::{Compared, HeldOutComparison, HeldOutMeasure};
use super::reports::{MeanLosses, TrainerReports};
use super::schedule::learning_rate;
use super::{Candidate, TrainerError, TrainerParts, TrainingJob};
use crate::config::TrainerSettings;
use crate::devices::set_threads;
use crate::losses::LossSum;
use crate::numbers::round;

/// Roll-backs in a row without a checkpoint between them after which training gives up.
const ROLLBACK_COUNT_MAX: u32 = 5;
/// Time between two loss lines.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

pub(super) struct TrainerThread<E: Encoding> {
    parts: TrainerParts<E>,
    checkpoints: Checkpoints,
    trainer: Trainer,
    rollback_count: u32,
    sampler: BatchSampler<E>,
    human: Option<HumanSampler>,
    held_out: HeldOutMeasure<E>,
    batch: TrainingBatch,
    unsaved: LossSum,
    shown: LossSum,
    shown_at: Instant,
}

impl<E: Encoding> TrainerThread<E> {
    /// Does jobs until the sender is gone or the stop is asked for.
    pub(super) fn serve(parts: TrainerParts<E>, jobs: &Receiver<TrainingJob>, reports: &TrainerReports) {
        let mut thread = match Self::new(parts) {
            Ok(thread) => thread,
            Err(error) => return reports.end_job(Err(error)),
        };
        while let Ok(job) = jobs.recv() {
            match thread.train(job, reports) {
                Ok(None) => return,
                Ok(Some(candidate)) => reports.end_job(Ok(candidate)),
                Err(error) => return reports.end_job(Err(error)),
            }
        }
    }

    fn new(parts: TrainerParts<E>) -> Result<Self, TrainerError> {
        let config = &parts.settings.training;
        let device = net::open_device(config.device)?;
        set_threads("training.threads", config.threads);
        let settings = config.optimizer(device);
        info!(%device, precision = %settings.precision, "training");
        let (files, network, store) = (parts.files.clone(), parts.network.clone(), parts.store.clone());
        let checkpoints = Checkpoints { files, network, device, settings, store };
        let restored = checkpoints.load()?;
        let sampler = BatchSampler::new(parts.encoding.clone());
        let human = parts.human_games.learned.as_ref().map(HumanGames::sampler);
        let held_out = HeldOutMeasure::new(parts.encoding.clone(), parts.human_games.held_out.clone());
        Ok(Self {
            parts,
            checkpoints,
            trainer: restored.trainer,
            rollback_count: restored.rollback_count,
            sampler,
            human,
            held_out,
            batch: TrainingBatch::default(),
            unsaved: LossSum::default(),
            shown: LossSum::default(),
            shown_at: Instant::now(),
        })
    }

    /// Trains until the job's last step. Returns `None` if the stop came first.
    fn train(&mut self, job: TrainingJob, reports: &TrainerReports) -> Result<Option<Candidate>, TrainerError> {
        let window = self.parts.replay.fix_window(job.window_end, job.window_position_count);
        if window.is_empty() && self.trainer.training_step() < job.step_end {
            return Err(TrainerError::NoPositions);
        }
        info!(iteration = job.iteration, position_count = window.len(), step_end = job.step_end, "training");
        self.shown_at = Instant::now();
        let candidate = self.train_on(job, window, reports);
        self.parts.replay.release();
        candidate
    }

    fn train_on(
        &mut self,
        job: TrainingJob,
        window: Window,
        reports: &TrainerReports,
    ) -> Result<Option<Candidate>, TrainerError> {
        let rollback_count_before = self.rollback_count;
        while self.trainer.training_step() < job.step_end {
            if self.parts.stop.is_cancelled() {
                self.save(job.iteration)?;
                return Ok(None);
            }
            if job.starts_from_best && self.trainer.training_step() == job.step_start {
                self.start_from_best(job)?;
            }
            let has_stepped = self.step(job, window)?;
            reports.report_rollbacks(self.rollback_count - rollback_count_before);
            if !has_stepped {
                // The checkpoint is where it went back to: saved again, it would count as progress.
                continue;
            }
            let training_step = self.trainer.training_step();
            let is_due = training_step.is_multiple_of(u64::from(self.parts.settings.training.checkpoint_steps));
            if is_due || training_step == job.step_end {
                if let Err(error) = self.trainer.check_finite() {
                    self.roll_back(job, error)?;
                    reports.report_rollbacks(self.rollback_count - rollback_count_before);
                    continue;
                }
                self.save(job.iteration)?;
            }
            self.show(job, reports);
            reports.report_step(training_step);
        }
        let path = self.parts.files.network(job.candidate_id);
        let candidate = self.trainer.candidate()?;
        let sha256 = write_file(&self.parts.store, || candidate.save(&path))?;
        let held_out = self.measure_held_out(job, &candidate)?;
        let training_step = self.trainer.training_step();
        Ok(held_out.map(|held_out| Candidate { sha256, training_step, held_out: Box::new(held_out) }))
    }

    /// Puts the best network in the place of the rejected one. A learner that was killed before the first checkpoint of
    /// the iteration, or rolled back to one before it, does so again and is where it was; a later checkpoint contains it.
    fn start_from_best(&mut self, job: TrainingJob) -> Result<(), TrainerError> {
        let TrainingJob { iteration, best_id, .. } = job;
        let (path, device) = (self.parts.files.network(best_id), self.trainer.network().device());
        // The velocity of the rejected weights says nothing about these: training starts again without one.
        self.trainer.restart_from(&Network::load(&path, &self.parts.network, device)?)?;
        info!(iteration, network_id = best_id.get(), "the last candidate was rejected: training from the best network");
        Ok(())
    }

    /// Measures the candidate and the best network on held-out games, if there are some. Returns `None` if the stop came
    /// first: the next start ends the job again, without a step.
    fn measure_held_out(
        &mut self,
        job: TrainingJob,
        candidate: &Network,
    ) -> Result<Option<HeldOutComparison>, TrainerError> {
        let self_play = self.parts.replay.held_out_until(job.window_end);
        let TrainingJob { candidate_id, best_id, .. } = job;
        let (path, device) = (self.parts.files.network(best_id), candidate.device());
        let load = || Network::load(&path, &self.parts.network, device);
        self.held_out.compare(&Compared { candidate_id, candidate, best_id }, &self_play, load, &self.parts.stop)
    }

    /// Makes one step. Returns false if it was none, and training went back to its checkpoint.
    fn step(&mut self, job: TrainingJob, window: Window) -> Result<bool, TrainerError> {
        let TrainerSettings { training: config, learning_rates, replay, .. } = &self.parts.settings;
        let training_step = self.trainer.training_step();
        // After a roll-back the same step draws other samples.
        let seed = seed_of_step(self.parts.seed ^ u64::from(self.rollback_count).rotate_left(32), training_step);
        let human_count = match self.human {
            Some(_) => replay.human_count(job.generation, config.batch_size),
            None => 0,
        };
        let own_count = (config.batch_size - human_count) as usize;
        self.sampler.sample(&self.parts.replay, window, own_count, seed, &mut self.batch)?;
        if let Some(human) = &mut self.human {
            human.append(human_count as usize, seed, &mut self.batch)?;
        }
        let learning_rate = learning_rate(config, *learning_rates, job, training_step);
        match self.trainer.step(&self.batch, learning_rate) {
            Ok(losses) => {
                self.unsaved.add(&losses, learning_rate);
                self.shown.add(&losses, learning_rate);
                Ok(true)
            }
            Err(error @ NetError::NotFinite { .. }) => self.roll_back(job, error).map(|()| false),
            Err(error) => Err(error.into()),
        }
    }

    /// Goes back to the last checkpoint and on from there with other samples.
    fn roll_back(&mut self, job: TrainingJob, error: NetError) -> Result<(), TrainerError> {
        let restored = self.checkpoints.load()?;
        let rollback_count = self.rollback_count + 1;
        if rollback_count - restored.rollback_count > ROLLBACK_COUNT_MAX {
            let (iteration, rollback_count) = (job.iteration, ROLLBACK_COUNT_MAX);
            let key = self.parts.settings.learning_rate_key;
            return Err(TrainerError::Diverged { iteration, error, rollback_count, key });
        }
        warn!(%error, training_step = restored.trainer.training_step(), "loss or weights not finite: rolled back to the checkpoint");
        self.trainer = restored.trainer;
        self.rollback_count = rollback_count;
        self.unsaved = LossSum::default();
        Ok(())
    }

    fn save(&mut self, iteration: u32) -> Result<(), TrainerError> {
        let metrics = self.unsaved.metrics(self.trainer.training_step());
        self.unsaved = LossSum::default();
        self.checkpoints.save(&self.trainer, iteration, self.rollback_count, metrics)
    }

    /// Shows the mean losses since the last line, now and then and at the end.
    fn show(&mut self, job: TrainingJob, reports: &TrainerReports) {
        let training_step = self.trainer.training_step();
        if (self.shown_at.elapsed() < LOG_INTERVAL && training_step < job.step_end) || self.shown.step_count == 0 {
            return;
        }
        let (means, learning_rate) = (self.shown.means(), self.shown.learning_rate);
        reports.report_losses(MeanLosses { training_step, means, learning_rate });
        info!(
            iteration = job.iteration,
            training_step,
            step_end = job.step_end,
            policy_loss = round(means.policy_loss),
            value_loss = round(means.value_loss),
            policy_accuracy = round(means.policy_accuracy),
            gradient_norm = round(means.gradient_norm),
            learning_rate = round(learning_rate),
            steps_per_second = round(self.shown.step_count as f64 / self.shown_at.elapsed().as_secs_f64()),
            "loss"
        );
        self.shown = LossSum::default();
        self.shown_at = Instant::now();
    }
}
