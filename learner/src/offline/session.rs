//! The training itself: epochs of steps, each followed by a look at the games held out.
//!
//! Everything that comes follows from the checkpoint, the games and the settings. So a training that was killed goes
//! on from its last checkpoint as if nothing had happened, bit for bit on the CPU.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use net::{Device, NetError, Network, NetworkShape, Trainer};
use shared::encoding::{Encoding, TrainingBatch};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::batches::{EpochOrder, Source, for_each_batch};
use super::folder::Folder;
use super::kind::Kind;
use super::measure::measure;
use super::progress::{EpochRow, Progress, origin};
use super::schedule::learning_rate;
use super::screen::{Amount, Screen, percent};
use super::settings::OfflineConfig;
use crate::config::LearnerConfig;
use crate::split::SampleSets;
use crate::trainer::file_sha256;

/// What is to be learned, by what, and where.
pub struct Plan<'a, E> {
    /// What it is learned from.
    pub kind: Kind,
    /// All settings.
    pub config: &'a LearnerConfig,
    /// How positions are shown.
    pub encoding: &'a E,
    /// The samples.
    pub sets: &'a SampleSets,
    /// The network to start from; none: random weights.
    pub start: Option<&'a Path>,
    /// Where checkpoint and result go.
    pub folder: &'a Folder,
}

/// A training that is under way.
pub struct Session<'a, E> {
    kind: Kind,
    config: OfflineConfig,
    encoding: &'a E,
    sets: &'a SampleSets,
    folder: &'a Folder,
    stop: CancellationToken,
    trainer: Trainer,
    progress: Progress,
    amount: Amount,
    screen: Screen,
}

impl<'a, E: Encoding> Session<'a, E> {
    /// Takes up the training in the plan's folder, or starts one there.
    ///
    /// # Errors
    /// If there are no games on one of the sides, or the training there is another one.
    pub fn open(plan: Plan<'a, E>, stop: CancellationToken) -> anyhow::Result<Self> {
        let Plan { kind, config: all, encoding, sets, start, folder } = plan;
        let config = *kind.config(all);
        check_sets(sets, kind, &config)?;
        let device = net::open_device(config.device).with_context(|| format!("{}.device", kind.section()))?;
        if config.threads > 0 {
            net::set_threads(config.threads);
        }
        let shape = NetworkShape::new(encoding, all.network);
        let mut origin = origin(all, kind, &sets.sha256())?;
        if let Some(path) = start {
            origin.insert("start network".to_owned(), file_sha256(path)?);
        }
        let (trainer, progress) = match take_up(folder, kind, &shape, device, &config)? {
            Some((trainer, progress)) => {
                check_origin(folder, kind, &progress, &origin)?;
                info!(training_step = trainer.training_step(), "training goes on from its checkpoint");
                (trainer, progress)
            }
            None => {
                info!(network = %shape, "new training");
                let network = match start {
                    Some(path) => Network::load(path, &shape, device)?,
                    None => Network::random(&shape, device, config.seed)?,
                };
                (Trainer::new(network, config.optimizer(device))?, Progress { origin, ..Progress::default() })
            }
        };
        let (positions, batch_size) = (sets.training.position_count(), u64::from(config.batch_size));
        // A last batch that is not full would move the running statistics as much as a full one: it is left out.
        let amount = Amount {
            epochs: config.epochs,
            epoch_steps: (positions / batch_size).max(1),
            batch_size: batch_size.min(positions),
        };
        let screen = Screen::new(amount);
        Ok(Self { kind, config, encoding, sets, folder, stop, trainer, progress, amount, screen })
    }

    /// Trains to the end, or until told to stop.
    ///
    /// # Errors
    /// If a loss is not finite, or a file cannot be written.
    pub fn run(mut self) -> anyhow::Result<()> {
        self.folder.write_table(&self.progress.table())?;
        while !self.is_done() {
            if !self.train_epoch()? || !self.end_epoch()? {
                self.save()?;
                info!("stopped; started again, the training goes on from here");
                return Ok(());
            }
        }
        self.tell_best();
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.progress.epochs.len() >= self.config.epochs as usize || self.progress.trend.is_exhausted(&self.config)
    }

    fn epoch(&self) -> u32 {
        self.progress.epochs.len() as u32 + 1
    }

    /// Makes the steps of the epoch that are still to be made. Returns false if told to stop.
    fn train_epoch(&mut self) -> anyhow::Result<bool> {
        let (sets, epoch) = (self.sets, self.epoch());
        let order = EpochOrder::shuffled(
            sets.training.position_count(),
            self.config.batch_size as usize,
            self.encoding.symmetry_count(),
            (self.config.seed, epoch),
        );
        let source = Source {
            encoding: self.encoding,
            samples: &sets.training,
            order: &order,
            threads: self.config.batch_threads,
        };
        let done = self.trainer.training_step() - u64::from(epoch - 1) * self.amount.epoch_steps;
        let mut last_at = Instant::now();
        for_each_batch(source, done..self.amount.epoch_steps, |index, batch| {
            self.step(epoch, index + 1, batch, &mut last_at)?;
            Ok(!self.stop.is_cancelled())
        })?;
        Ok(!self.stop.is_cancelled())
    }

    /// Makes the `step`th step of the epoch, and a checkpoint if it is time.
    fn step(&mut self, epoch: u32, step: u64, batch: &TrainingBatch, last_at: &mut Instant) -> anyhow::Result<()> {
        let training_step = self.trainer.training_step();
        let rate = learning_rate(&self.config, &self.progress.trend, training_step, self.amount.epoch_steps);
        let losses = self.trainer.step(batch, rate).map_err(|error| advise(self.kind, error))?;
        self.progress.losses.add(&losses, rate);
        let took = last_at.elapsed();
        *last_at = Instant::now();
        self.progress.seconds += took.as_secs_f64();
        self.screen.step(epoch, step, &losses, rate, took);
        let is_last = step == self.amount.epoch_steps;
        if !is_last && (training_step + 1).is_multiple_of(u64::from(self.config.checkpoint_steps)) {
            self.save()?;
        }
        Ok(())
    }

    /// Measures, keeps the network if it is the best so far, and makes a checkpoint. Returns false if told to stop.
    fn end_epoch(&mut self) -> anyhow::Result<bool> {
        let started_at = Instant::now();
        self.screen.measuring(self.sets.held_out.position_count());
        let threads = self.config.batch_threads;
        let measured = measure(self.trainer.network(), self.encoding, &self.sets.held_out, threads, &self.stop)?;
        let Some(held_out) = measured else { return Ok(false) };
        let held_out_loss = held_out.policy_loss() + self.config.value_loss_weight * held_out.value_error();
        let epoch = self.epoch();
        let is_best = self.progress.trend.add(epoch, held_out_loss, &self.config);
        let losses = std::mem::take(&mut self.progress.losses);
        let seconds = std::mem::take(&mut self.progress.seconds);
        let samples_per_second = (u64::from(losses.step_count) * self.amount.batch_size) as f64 / seconds.max(1e-9);
        let learning_rate = losses.learning_rate;
        let row = EpochRow { epoch, learning_rate, losses, held_out, held_out_loss, is_best, samples_per_second };
        self.progress.epochs.push(row);
        if is_best {
            self.trainer.network().save(&self.folder.network())?;
        }
        self.save()?;
        self.folder.write_table(&self.progress.table())?;
        self.screen.epoch(&row, started_at.elapsed());
        Ok(true)
    }

    fn save(&self) -> anyhow::Result<()> {
        self.trainer.save_checkpoint(&self.folder.checkpoint(), &self.progress.to_extra(self.kind)?)?;
        Ok(())
    }

    fn tell_best(&self) {
        let Some(best) = self.progress.epochs.iter().rfind(|row| row.is_best) else { return };
        let [top1, top3, top5] = best.held_out.top_shares();
        info!(
            epochs = self.progress.epochs.len(),
            best_epoch = best.epoch,
            top1 = percent(top1),
            top3 = percent(top3),
            top5 = percent(top5),
            value_error = crate::trainer::round(best.held_out.value_error()),
            right_sign = percent(best.held_out.sign_share()),
            network = %self.folder.network().display(),
            "training done"
        );
    }
}

fn check_sets(sets: &SampleSets, kind: Kind, config: &OfflineConfig) -> anyhow::Result<()> {
    let (training, held_out) = (sets.training.position_count(), sets.held_out.position_count());
    let (source, section) = (kind.source(), kind.section());
    anyhow::ensure!(training > 0, "{source}: none to learn from; see what was left out, and why");
    anyhow::ensure!(
        held_out > 0,
        "{source}: none of {} games is held out by {section}.seed = {} and {section}.held_out_share = {}: give more games",
        sets.training_games,
        config.seed,
        config.held_out_share
    );
    Ok(())
}

/// Loads the checkpoint in `folder` if there is one.
fn take_up(
    folder: &Folder,
    kind: Kind,
    shape: &NetworkShape,
    device: Device,
    config: &OfflineConfig,
) -> anyhow::Result<Option<(Trainer, Progress)>> {
    let path = folder.checkpoint();
    if !path.exists() {
        return Ok(None);
    }
    let restored = Trainer::load_checkpoint(&path, shape, device, config.optimizer(device));
    let (trainer, extra) = restored.context("go on with the training there, or use another --checkpoint-dir")?;
    let progress = Progress::from_extra(&extra, kind).with_context(|| path.display().to_string())?;
    Ok(Some((trainer, progress)))
}

/// Refuses to go on with other games or settings.
fn check_origin(
    folder: &Folder,
    kind: Kind,
    progress: &Progress,
    wanted: &std::collections::BTreeMap<String, String>,
) -> anyhow::Result<()> {
    let changed = wanted.iter().find(|(key, value)| progress.origin.get(*key) != Some(*value));
    let Some((key, _)) = changed else { return Ok(()) };
    anyhow::bail!(
        "{}: the {} there was begun with other {key}: use another --checkpoint-dir, or delete this one",
        folder.checkpoint().display(),
        kind.word()
    )
}

/// Says what helps against a loss that is not finite.
fn advise(kind: Kind, error: NetError) -> anyhow::Error {
    let is_not_finite = matches!(error, NetError::NotFinite { .. });
    let error = anyhow::Error::from(error);
    let advice = || format!("lower {}.learning_rate and start again in another folder", kind.section());
    if is_not_finite { error.context(advice()) } else { error }
}
