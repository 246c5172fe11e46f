//! The training thread of a simulated learner: it counts steps instead of computing gradients, and is as careful as the
//! real one with checkpoints, losses and files. What it learned is a hash of all samples that it drew, in their order.

use std::fs;
use std::path::Path;
use std::time::Duration;

use net::{NetError, StepLosses};
use samples::buffer::Window;
use samples::sampler::{BatchSampler, seed_of_step};
use shared::encoding::TrainingBatch;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::tictactoe::TicTacToe;
use std::collections::BTreeMap;
use store::CheckpointRow;
use store::durable::DurableStore;
use store::files::{RunFiles, check_sha256, sha256_hex};

use super::life::Life;
use super::world::{Event, World};
use crate::losses::LossSum;
use crate::trainer::{Candidate, HandTrainer, TrainerError, TrainingJob, put_checkpoint, write_file};

/// What the training thread works with.
pub(super) struct Training {
    hand: HandTrainer,
    job: Option<(TrainingJob, Window)>,
    /// Step and hash; `None` before the checkpoint was loaded.
    network: Option<(u64, u64)>,
    unsaved: LossSum,
    sampler: BatchSampler<TicTacToeEncoding>,
    batch: TrainingBatch,
    is_written: bool,
}

/// What was trained so far, in all lives.
#[derive(Debug, Default)]
pub(super) struct TrainingRecord {
    jobs: BTreeMap<u32, TrainingJob>,
    /// The hash after each step.
    steps: BTreeMap<u64, u64>,
}

impl TrainingRecord {
    /// Forgets all, since a disk has lost games that were learned from.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    fn note_job(&mut self, job: TrainingJob) {
        let known = *self.jobs.entry(job.iteration).or_insert(job);
        assert_eq!(known, job, "a training that is resumed is the same");
    }

    fn note_step(&mut self, step: u64, hash: u64) {
        let known = *self.steps.entry(step).or_insert(hash);
        assert_eq!(known, hash, "step {step} learns the same whenever it is made");
    }
}

impl Training {
    /// Makes a training without a job.
    pub(super) fn new(hand: HandTrainer) -> Self {
        Self {
            hand,
            job: None,
            network: None,
            unsaved: LossSum::default(),
            sampler: BatchSampler::new(TicTacToeEncoding::new(TicTacToe)),
            batch: TrainingBatch::default(),
            is_written: false,
        }
    }
}

impl World {
    /// Does the next small part of the training.
    pub(super) fn train(&self) {
        let Some(life) = self.life() else { return };
        self.train_on(&life);
        if !self.core().is_killed {
            let mut core = self.core();
            let later = core.draw_ms(150);
            core.schedule(later + Duration::from_millis(5), Event::Train);
        }
    }

    fn train_on(&self, life: &Life) {
        let mut training = life.training.lock().expect("whole");
        if training.job.is_none() {
            let Some(job) = training.hand.next_job() else { return };
            self.check_job(&job);
            let network = *training.network.get_or_insert_with(|| load(life));
            assert!((job.step_start..=job.step_end).contains(&network.0), "{network:?} at the start of {job:?}");
            let window = life.replay.fix_window(job.window_end, job.window_position_count);
            assert!(!window.is_empty(), "{job:?} has nothing to learn from");
            (training.job, training.is_written) = (Some((job, window)), false);
        }
        let (Some((job, window)), Some((step, hash))) = (training.job, training.network) else { return };
        if step < job.step_end {
            self.step(life, &mut training, job, window);
        } else if !training.is_written {
            let (text, name) = (network_text(step, hash), RunFiles::network_path(job.candidate_id));
            training.is_written = write_whole(self, &life.store, life.files.dir(), &name, &text).is_ok();
        } else {
            life.replay.release();
            training.job = None;
            let sha256 = sha256_hex(network_text(step, hash).as_bytes());
            self.core().note(format_args!("training of {} ends at step {step}", job.candidate_id));
            training.hand.end_job(Ok(Candidate { sha256, training_step: step, held_out: Box::default() }));
        }
    }

    fn check_job(&self, job: &TrainingJob) {
        let mut core = self.core();
        core.note(format_args!("{job:?}"));
        let iteration = core.ledger.iterations.get(&job.iteration).expect("an iteration that trains is stored");
        let stored = (iteration.step_start, iteration.step_end, iteration.window_end);
        assert_eq!((job.step_start, Some(job.step_end), Some(job.window_end)), stored, "{job:?}");
        core.training.note_job(*job);
    }

    fn step(&self, life: &Life, training: &mut Training, job: TrainingJob, window: Window) {
        let Some((step, hash)) = training.network else { return };
        let settings = &self.plan.settings.training;
        let seed = seed_of_step(self.plan.settings.run.seed, step);
        let Training { sampler, batch, .. } = training;
        sampler.sample(&life.replay, window, settings.batch_size as usize, seed, batch).expect("samples decode");
        let drawn = format!("{hash} {:?} {:?} {:?}", batch.input, batch.policy_targets, batch.value_targets);
        let hash = u64::from_str_radix(&sha256_hex(drawn.as_bytes())[..16], 16).expect("hexadecimal");
        let step = step + 1;
        training.network = Some((step, hash));
        self.core().training.note_step(step, hash);
        self.core().note(format_args!("step {step}: {hash:x}"));
        let losses = StepLosses {
            policy_loss: 0.0,
            value_loss: 0.0,
            outlook_loss: 0.0,
            total: 0.0,
            gradient_norm: 0.0,
            policy_accuracy: 0.0,
        };
        training.unsaved.add(&losses, 0.01);
        if step.is_multiple_of(u64::from(settings.checkpoint_steps)) || step == job.step_end {
            let (text, name) = (network_text(step, hash), RunFiles::checkpoint_name(step));
            let Ok(sha256) = write_whole(self, &life.store, life.files.dir(), &name, &text) else { return };
            let changes = std::mem::take(&mut training.unsaved).metrics(step);
            let row = CheckpointRow { training_step: step, file: name, sha256, iteration: job.iteration };
            let put = put_checkpoint(&life.files, &life.store, row, changes);
            assert!(put.is_ok() || self.core().is_killed || life.stop.is_cancelled(), "{put:?}");
        }
        training.hand.report_step(step);
    }
}

/// Loads the newest whole checkpoint.
fn load(life: &Life) -> (u64, u64) {
    let rows = life.store.store().reader().and_then(|reader| reader.checkpoints()).expect("readable");
    let is_whole = |row: &&CheckpointRow| check_sha256(&life.files.dir().join(&row.file), &row.sha256).is_ok();
    let row = rows.iter().find(is_whole).expect("a start without one is refused");
    let text = fs::read_to_string(life.files.dir().join(&row.file)).expect("it was read");
    let hash = text.rsplit(' ').next().and_then(|hash| u64::from_str_radix(hash, 16).ok()).expect("as it was written");
    (row.training_step, hash)
}

/// Returns what stands for the weights of a network.
pub(super) fn network_text(step: u64, hash: u64) -> String {
    format!("network of step {step} {hash:x}")
}

/// Writes a file, once there is room for it. Returns its SHA-256.
pub(super) fn write_whole(
    world: &World,
    store: &DurableStore,
    dir: &Path,
    name: &str,
    text: &str,
) -> Result<String, TrainerError> {
    write_file(store, || {
        let io_error = |source| NetError::Io { path: dir.join(name), action: "write it", source };
        write_once(world, dir, name, text).map_err(io_error)?;
        Ok(sha256_hex(text.as_bytes()))
    })
}

/// Writes a file under another name first; the learner may be killed before it has its own.
fn write_once(world: &World, dir: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let part = dir.join(format!("{name}.1.part"));
    let written = world.disk.lock().expect("whole").write_part(&part, text);
    if written.is_err() {
        world.core().counts.full_files += 1;
    }
    written?;
    world.disk.lock().expect("whole").files.push((name.into(), text.as_bytes().to_vec()));
    if world.core().goes_wrong(world.plan.faults.kill_at_write) {
        world.kill("while a file is written");
        return Err(std::io::Error::other("killed"));
    }
    fs::rename(&part, dir.join(name))
}
