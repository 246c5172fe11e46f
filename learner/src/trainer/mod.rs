//! The training thread: owns the network in training, and answers one job an iteration.
//!
//! The samples of step n depend on the run's seed, on n, and on the games up to the window's end alone. So a learner
//! that was killed goes on from its last checkpoint as if nothing had happened, bit for bit on the CPU.
//! Losses are stored in the same transaction as the checkpoint that contains their steps: none twice, none missing.

mod checkpoints;
mod losses;
mod thread;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use net::NetworkSpec;
use samples::buffer::SharedReplay;
use samples::human_games::HumanGames;
use shared::encoding::Encoding;
use shared::ids::{Generation, NetworkId};
use tokio_util::sync::CancellationToken;

use crate::config::TrainerSettings;
use crate::durable::DurableStore;
use crate::files::RunFiles;

pub use checkpoints::first_network;
pub(crate) use checkpoints::{check_sha256, sha256_hex};
pub use losses::{LossSum, round};
use thread::TrainerThread;

/// Training of one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingJob {
    /// The iteration.
    pub iteration: u32,
    /// Learns from games up to this finish number.
    pub window_end: u64,
    /// Trains until this many steps are done.
    pub step_end: u64,
    /// Number of the candidate that comes of it.
    pub candidate_id: NetworkId,
    /// Generation of the best network while it is trained.
    pub generation: Generation,
}

/// What the training thread tells.
#[derive(Debug)]
pub enum TrainingReport {
    /// Steps have been done.
    Progress {
        /// Steps behind the network.
        training_step: u64,
    },
    /// The candidate is on disk.
    Done(Candidate),
    /// Training cannot go on.
    Failed(anyhow::Error),
}

/// A network file that is complete on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Steps behind the network.
    pub training_step: u64,
}

/// What a training thread needs.
pub struct TrainerParts<E: Encoding> {
    /// How positions are shown to the network.
    pub encoding: E,
    /// How to learn.
    pub settings: TrainerSettings,
    /// What the network plays, and its shape.
    pub network: NetworkSpec,
    /// Where files lie.
    pub files: RunFiles,
    /// Where losses and checkpoints are stored.
    pub store: DurableStore,
    /// What is learned from.
    pub replay: Arc<SharedReplay>,
    /// Human games that a share of each batch comes from.
    pub human_games: Option<HumanGames>,
    /// Seed of the run.
    pub seed: u64,
    /// Ends the thread between two steps, after a checkpoint.
    pub stop: CancellationToken,
}

/// The training thread as the pipeline sees it.
pub struct TrainerHandle {
    jobs: Sender<TrainingJob>,
    reports: Receiver<TrainingReport>,
    thread: std::thread::JoinHandle<()>,
}

impl TrainerHandle {
    /// Starts the thread. It loads the last checkpoint before its first job.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start<E: Encoding>(parts: TrainerParts<E>) -> std::io::Result<Self> {
        // At most one job and the reports of its steps are ever under way.
        let (jobs, job_receiver) = channel();
        let (report_sender, reports) = channel();
        let thread = std::thread::Builder::new().name("trainer".to_owned()).spawn(move || {
            TrainerThread::serve(parts, &job_receiver, &report_sender);
        })?;
        Ok(Self { jobs, reports, thread })
    }

    /// Hands in a job. A thread that has ended says so in its reports.
    pub fn train(&self, job: TrainingJob) {
        let _ = self.jobs.send(job);
    }

    /// Returns what has been told since the last call, without waiting.
    pub fn reports(&self) -> impl Iterator<Item = TrainingReport> + '_ {
        self.reports.try_iter()
    }

    /// Returns whether the thread has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the thread after its stop was asked for.
    pub fn join(self) {
        drop(self.jobs);
        if self.thread.join().is_err() {
            tracing::error!("the training thread died");
        }
    }
}
