//! The training thread as the pipeline sees it.

use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;

use shared::encoding::Encoding;
use tokio::sync::{mpsc, watch};

use super::reports::{TrainerNews, TrainerReports};
use super::thread::TrainerThread;
use super::{TrainerParts, TrainingJob, TrainingOutcome};

/// The training thread as the pipeline sees it.
pub struct TrainerHandle {
    jobs: Sender<TrainingJob>,
    outcomes: mpsc::Receiver<TrainingOutcome>,
    training_step: watch::Receiver<Option<u64>>,
    news: watch::Receiver<TrainerNews>,
    /// `None` in a simulation, which trains by itself.
    thread: Option<JoinHandle<()>>,
}

impl TrainerHandle {
    /// Starts the thread. It loads the last checkpoint before its first job.
    ///
    /// # Errors
    /// [`std::io::Error`] if the system refuses the thread.
    pub fn start<E: Encoding>(parts: TrainerParts<E>) -> std::io::Result<Self> {
        Self::spawn(move |jobs, reports| TrainerThread::serve(parts, jobs, reports))
    }

    /// Starts a thread that does jobs as `serve` does.
    fn spawn(serve: impl FnOnce(&Receiver<TrainingJob>, &TrainerReports) + Send + 'static) -> std::io::Result<Self> {
        let (handle, jobs, reports) = Self::without_thread();
        let thread = std::thread::Builder::new().name("trainer".to_owned()).spawn(move || serve(&jobs, &reports))?;
        Ok(Self { thread: Some(thread), ..handle })
    }

    /// Makes both ends of what the pipeline and the thread tell each other.
    fn without_thread() -> (Self, Receiver<TrainingJob>, TrainerReports) {
        // At most one job is ever under way, and each has one outcome.
        let (jobs, job_receiver) = std::sync::mpsc::channel();
        let (outcome_sender, outcomes) = mpsc::channel(1);
        let (step_sender, training_step) = watch::channel(None);
        let (news_sender, news) = watch::channel(TrainerNews::default());
        let reports = TrainerReports { outcomes: outcome_sender, training_step: step_sender, news: news_sender };
        (Self { jobs, outcomes, training_step, news, thread: None }, job_receiver, reports)
    }

    /// Makes a handle without a thread: whoever has the other part trains when it wants to.
    #[cfg(test)]
    pub(crate) fn by_hand() -> (Self, HandTrainer) {
        let (handle, jobs, reports) = Self::without_thread();
        (handle, HandTrainer { jobs, reports })
    }

    /// Starts a thread that gives each job the outcome that `answer` returns.
    ///
    /// # Errors
    /// As [`TrainerHandle::start`].
    #[cfg(test)]
    pub(crate) fn fake(
        mut answer: impl FnMut(TrainingJob) -> TrainingOutcome + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::spawn(move |jobs, reports| jobs.iter().for_each(|job| reports.end_job(answer(job))))
    }

    /// Hands in a job. A thread that has ended shows it by having no outcome.
    pub fn train(&self, job: TrainingJob) {
        let _ = self.jobs.send(job);
    }

    /// Waits for the outcome of the job; `None` if the thread has ended without one. May be cancelled and called again.
    pub async fn outcome(&mut self) -> Option<TrainingOutcome> {
        self.outcomes.recv().await
    }

    /// Returns the number of steps behind the network; `None` before the first of this process.
    #[must_use]
    pub fn training_step(&self) -> Option<u64> {
        *self.training_step.borrow()
    }

    /// Returns what there is to tell of the training under way.
    #[must_use]
    pub fn news(&self) -> TrainerNews {
        *self.news.borrow()
    }

    /// Waits for the thread after its stop was asked for.
    pub fn join(self) {
        drop(self.jobs);
        if self.thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the training thread died");
        }
    }
}

/// Takes the jobs of a pipeline, in a simulation.
#[cfg(test)]
pub(crate) struct HandTrainer {
    jobs: Receiver<TrainingJob>,
    reports: TrainerReports,
}

#[cfg(test)]
impl HandTrainer {
    /// Returns the next job, if there is one.
    pub(crate) fn next_job(&self) -> Option<TrainingJob> {
        self.jobs.try_recv().ok()
    }

    /// Reports how many steps are behind the network.
    pub(crate) fn report_step(&self, training_step: u64) {
        self.reports.report_step(training_step);
    }

    /// Reports how a job ended.
    pub(crate) fn end_job(&self, outcome: TrainingOutcome) {
        self.reports.end_job(outcome);
    }
}
