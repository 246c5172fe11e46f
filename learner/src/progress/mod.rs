//! How the run is doing at one moment: one observation, of which status message, metrics and alarms are made.
//!
//! Pipeline and services put in what they know ([`RunStatus`]); [`RunObserver`] adds what is counted elsewhere anyway. Nothing
//! here decides anything about the run.

mod alarm_board;
mod alarm_watch;
mod disk_trend;
mod metrics_text;
mod progress_log;
mod recent_workers;
mod run_observer;
mod run_status;
mod run_summary;
mod snapshot;
mod status_message;
mod worker_list;

pub(crate) use alarm_board::AlarmEvent;
pub use alarm_board::{AlarmBoard, AlarmKind};
pub(crate) use alarm_watch::watch_run;
pub use disk_trend::DiskTrend;
pub(crate) use progress_log::{format_test, log_line};
pub use recent_workers::RecentWorkers;
#[cfg(test)]
pub(crate) use run_observer::words_for_wait;
pub use run_observer::{RunIdentity, RunObserver};
pub use run_status::RunStatus;
pub(crate) use run_summary::RunSummaries;
pub(crate) use snapshot::{InferenceRates, PhaseProgress, PhaseStart, ProgressSnapshot, RunEffort, format_time_to_go};
pub use worker_list::JoinedWorker;
