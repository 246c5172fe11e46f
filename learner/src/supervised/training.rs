//! The supervised training itself: epochs of steps, each followed by a measurement on the held-out games.
//!
//! Every step follows from the checkpoint, the samples and the settings. So a training that was killed resumes from its
//! last checkpoint as if nothing had happened, bit for bit on the CPU.

use std::collections::BTreeMap;
use std::time::Instant;

use net::{Device, NetError, Network, NetworkSpec, Trainer};
use networks::NetworkSource;
use samples::epoch_batches::{BatchSource, EpochOrder, for_each_batch};
use samples::sample_sets::SampleSets;
use shared::encoding::{Encoding, TrainingBatch};
use store::files::sha256_hex;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::epoch_reporter::{EpochReporter, TrainingSize};
use super::error::SupervisedError;
use super::rate_schedule::learning_rate;
use super::supervised_progress::{EpochRow, SupervisedProgress, origin};
use super::training_folder::TrainingFolder;
use crate::config::{LearnerConfig, LearningRateSchedule, SupervisedSettings};
use crate::devices::{set_threads, warn_if_passed_over};
use crate::numbers::{percent, round};
use crate::prediction::measure;
use crate::start_network;
use crate::training_source::TrainingSource;

/// What a network is to learn from, and where the result goes.
pub struct TrainingPlan<'a, E> {
    /// What it learns from.
    pub source: TrainingSource,
    /// All settings.
    pub config: &'a LearnerConfig,
    /// Encoding of the positions.
    pub encoding: &'a E,
    /// The samples.
    pub sets: &'a SampleSets,
    /// The network to start from; none: random weights.
    pub start: Option<&'a NetworkSource>,
    /// Folder of the checkpoint and the result.
    pub folder: &'a TrainingFolder,
}

/// A supervised training in progress.
pub struct SupervisedTraining<'a, E> {
    source: TrainingSource,
    settings: SupervisedSettings,
    encoding: &'a E,
    sets: &'a SampleSets,
    folder: &'a TrainingFolder,
    stop: CancellationToken,
    trainer: Trainer,
    progress: SupervisedProgress,
    size: TrainingSize,
    reporter: EpochReporter,
}

impl<'a, E: Encoding> SupervisedTraining<'a, E> {
    /// Resumes the training in the plan's folder, or starts one there.
    ///
    /// # Errors
    /// [`SupervisedError::NothingToLearn`] or [`SupervisedError::NothingHeldOut`] without samples on one of the sides,
    /// [`SupervisedError::OtherTraining`] if the training there is another one, and what prevents a start: device,
    /// network, checkpoint.
    pub fn open(plan: TrainingPlan<'a, E>, stop: CancellationToken) -> Result<Self, SupervisedError> {
        let TrainingPlan { source, config, encoding, sets, start, folder } = plan;
        let settings = *source.settings(config);
        check_sets(sets, source, &settings)?;
        let failed = |error| SupervisedError::Device { section: source.section(), source: error };
        let device = net::open_device(settings.device).map_err(failed)?;
        warn_if_passed_over(&format!("{}.device", source.section()), settings.device);
        set_threads(&format!("{}.threads", source.section()), settings.threads);
        let spec = NetworkSpec::new(&config.game, config.network).map_err(NetError::from)?;
        let mut origin = origin(config, source, &sets.sha256())?;
        let start = start.map(|source| start_network::open_as(source, &spec)).transpose()?;
        if let Some(file) = &start {
            origin.insert("start network".to_owned(), sha256_hex(file.bytes()));
        }
        let (trainer, progress) = match load_checkpoint(folder, source, &spec, device, &settings)? {
            Some((trainer, progress)) => {
                check_origin(folder, source, &progress, &origin)?;
                info!(training_step = trainer.training_step(), "training goes on from its checkpoint");
                warn_of_another_end(progress.planned_epochs(source), &settings);
                (trainer, SupervisedProgress { origin, ..progress })
            }
            None => {
                info!(network = %spec, "new training");
                let network = match start {
                    Some(file) => file.load_as(&spec, device)?,
                    None => Network::random(&spec, device, settings.seed)?,
                };
                let trainer = Trainer::new(network, settings.optimizer(device))?;
                (trainer, SupervisedProgress { origin, ..SupervisedProgress::default() })
            }
        };
        let (positions, batch_size) = (sets.training.position_count(), u64::from(settings.batch_size));
        // A last batch that is not full would move the running statistics as much as a full one: it is left out.
        let size = TrainingSize {
            epochs: settings.epochs,
            epoch_steps: (positions / batch_size).max(1),
            batch_size: batch_size.min(positions),
        };
        let reporter = EpochReporter::new(size);
        Ok(Self { source, settings, encoding, sets, folder, stop, trainer, progress, size, reporter })
    }

    /// Trains to the end, or until told to stop.
    ///
    /// # Errors
    /// [`SupervisedError::NotFinite`] if a loss is not finite, [`SupervisedError::File`] or [`SupervisedError::Net`] if
    /// a file cannot be written or the device fails, [`SupervisedError::Batch`] if a sample does not decode.
    pub fn run(mut self) -> Result<(), SupervisedError> {
        self.folder.write_table(&self.progress.table())?;
        while !self.is_done() {
            if !self.train_epoch()? || !self.end_epoch()? {
                self.save()?;
                info!("stopped; started again, the training resumes from here");
                return Ok(());
            }
        }
        self.log_result();
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.progress.epochs.len() >= self.settings.epochs as usize || self.progress.trend.is_exhausted(&self.settings)
    }

    fn epoch(&self) -> u32 {
        self.progress.epochs.len() as u32 + 1
    }

    /// Makes the remaining steps of the epoch. Returns false if told to stop.
    fn train_epoch(&mut self) -> Result<bool, SupervisedError> {
        let (sets, epoch) = (self.sets, self.epoch());
        let order = EpochOrder::shuffled(
            sets.training.position_count(),
            self.settings.batch_size as usize,
            self.encoding.symmetry_count(),
            (self.settings.seed, epoch),
        );
        let source = BatchSource {
            encoding: self.encoding,
            samples: &sets.training,
            order: &order,
            threads: self.settings.batch_threads,
        };
        let done = self.trainer.training_step() - u64::from(epoch - 1) * self.size.epoch_steps;
        let mut last_at = Instant::now();
        for_each_batch(source, done..self.size.epoch_steps, |index, batch| {
            self.step(epoch, index + 1, batch, &mut last_at)?;
            Ok::<_, SupervisedError>(!self.stop.is_cancelled())
        })?;
        Ok(!self.stop.is_cancelled())
    }

    /// Makes the `step`th step of the epoch, and a checkpoint if it is time.
    fn step(
        &mut self,
        epoch: u32,
        step: u64,
        batch: &TrainingBatch,
        last_at: &mut Instant,
    ) -> Result<(), SupervisedError> {
        let training_step = self.trainer.training_step();
        let rate = learning_rate(&self.settings, &self.progress.trend, training_step, self.size.epoch_steps);
        let losses = self.trainer.step(batch, rate).map_err(|error| step_error(self.source, error))?;
        self.progress.losses.add(&losses, rate);
        let took = last_at.elapsed();
        *last_at = Instant::now();
        self.progress.seconds += took.as_secs_f64();
        self.reporter.step(epoch, step, &losses, rate, took);
        let is_last = step == self.size.epoch_steps;
        if !is_last && (training_step + 1).is_multiple_of(u64::from(self.settings.checkpoint_steps)) {
            self.save()?;
        }
        Ok(())
    }

    /// Measures, keeps the network if it is the best so far, and makes a checkpoint. Returns false if told to stop.
    fn end_epoch(&mut self) -> Result<bool, SupervisedError> {
        let started_at = Instant::now();
        self.reporter.measuring(self.sets.held_out.position_count());
        let threads = self.settings.batch_threads;
        let measured = measure(self.trainer.network(), self.encoding, &self.sets.held_out, threads, &self.stop)?;
        let Some(held_out) = measured else { return Ok(false) };
        let held_out_loss = held_out.policy_loss() + self.settings.value_loss_weight * held_out.value_error();
        let epoch = self.epoch();
        let is_best = self.progress.trend.add(epoch, held_out_loss, &self.settings);
        let losses = std::mem::take(&mut self.progress.losses);
        let seconds = std::mem::take(&mut self.progress.seconds);
        let samples_per_second = (u64::from(losses.step_count) * self.size.batch_size) as f64 / seconds.max(1e-9);
        let learning_rate = losses.learning_rate;
        let row = EpochRow { epoch, learning_rate, losses, held_out, held_out_loss, is_best, samples_per_second };
        self.progress.epochs.push(row);
        if is_best {
            self.trainer.network().save(&self.folder.network())?;
        }
        self.save()?;
        self.folder.write_table(&self.progress.table())?;
        self.reporter.epoch(&row, started_at.elapsed());
        Ok(true)
    }

    fn save(&self) -> Result<(), SupervisedError> {
        self.trainer.save_checkpoint(&self.folder.checkpoint(), &self.progress.to_extra(self.source)?)?;
        Ok(())
    }

    fn log_result(&self) {
        let Some(best) = self.progress.epochs.iter().rfind(|row| row.is_best) else { return };
        let [top1, top3, top5] = best.held_out.top_shares();
        info!(
            epochs = self.progress.epochs.len(),
            best_epoch = best.epoch,
            top1 = percent(top1),
            top3 = percent(top3),
            top5 = percent(top5),
            value_error = round(best.held_out.value_error()),
            right_sign = percent(best.held_out.sign_share()),
            network = %self.folder.network().display(),
            "training done"
        );
    }
}

fn check_sets(sets: &SampleSets, source: TrainingSource, settings: &SupervisedSettings) -> Result<(), SupervisedError> {
    let flag = source.flag();
    if sets.training.position_count() == 0 {
        return Err(SupervisedError::NothingToLearn { flag });
    }
    if sets.held_out.position_count() == 0 {
        let (game_count, section) = (sets.training_games, source.section());
        let (seed, share) = (settings.seed, settings.held_out_share);
        return Err(SupervisedError::NothingHeldOut { flag, game_count, section, seed, share });
    }
    Ok(())
}

/// Loads the checkpoint in `folder` if there is one.
fn load_checkpoint(
    folder: &TrainingFolder,
    source: TrainingSource,
    spec: &NetworkSpec,
    device: Device,
    settings: &SupervisedSettings,
) -> Result<Option<(Trainer, SupervisedProgress)>, SupervisedError> {
    let path = folder.checkpoint();
    if !path.exists() {
        return Ok(None);
    }
    let loaded = Trainer::load_checkpoint(&path, spec, device, settings.optimizer(device));
    let (trainer, extra) = loaded.map_err(SupervisedError::Checkpoint)?;
    let progress = SupervisedProgress::from_extra(&extra, source, &path)?;
    Ok(Some((trainer, progress)))
}

/// Refuses to resume with other samples or settings.
fn check_origin(
    folder: &TrainingFolder,
    source: TrainingSource,
    progress: &SupervisedProgress,
    wanted: &BTreeMap<String, String>,
) -> Result<(), SupervisedError> {
    let Some(key) = progress.changed_key(wanted, source) else { return Ok(()) };
    Err(SupervisedError::OtherTraining { path: folder.checkpoint(), training: source.training(), key: key.to_owned() })
}

/// Warns that the rest of a cosine is another one than was begun, if the number of epochs has changed.
fn warn_of_another_end(planned_epochs: Option<u32>, settings: &SupervisedSettings) {
    let was = planned_epochs.filter(|epochs| *epochs != settings.epochs);
    if let (Some(was), LearningRateSchedule::Cosine) = (was, settings.learning_rate_schedule) {
        warn!("the schedule now ends with epoch {} (was {was})", settings.epochs);
    }
}

/// Adds what helps to the error of a loss that is not finite.
fn step_error(source: TrainingSource, error: NetError) -> SupervisedError {
    match error {
        NetError::NotFinite { .. } => SupervisedError::NotFinite { section: source.section(), source: error },
        error => SupervisedError::Net(error),
    }
}
