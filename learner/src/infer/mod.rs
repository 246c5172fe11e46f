//! An inference server: a process with a device that answers leaves for a learner elsewhere.
//!
//! It connects to the learner and offers to take leaves, as many as keep its device busy; the networks that they ask for
//! it fetches. It holds nothing that cannot be lost: what it owes when it goes, the learner evaluates itself.

mod fetched;
mod offers;
mod session;

use std::time::{Duration, Instant};

use runtime::auth::Token;
use runtime::backoff::Backoff;
use runtime::exit::one_line;
use runtime::tls::client::{Target, explain};
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tracing::{info, warn};

use crate::config::InferenceConfig;
use crate::devices::warn_if_passed_over;
use session::Session;

/// Longest pause between two attempts to reach the learner.
const RECONNECT_WAIT_MAX: Duration = Duration::from_secs(10);
/// A learner that does not answer for so long is worth a warning; one that is being restarted is not.
const WAIT_WITHOUT_WARNING: Duration = Duration::from_secs(10);

/// A session that lasted so long was no failed attempt.
const SESSION_LONG: Duration = Duration::from_secs(30);
/// How the folders begin that networks are kept in while a process lives.
const FOLDER_PREFIX: &str = "alveare-infer-";

/// What an inference server goes by.
#[derive(Debug, Clone)]
pub struct InferencePlan {
    /// Where the learner is.
    pub target: Target,
    /// The token that it is shown.
    pub token: Option<Token>,
    /// Name in the learner's log.
    pub name: String,
    /// Device, threads and batches.
    pub config: InferenceConfig,
}

/// Why an inference server cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum InferError {
    /// The device is not there.
    #[error("inference.device")]
    Device(#[source] net::NetError),
    /// The learner does not want it.
    #[error("{learner} refuses this inference server: {reason}")]
    Refused {
        /// Its address.
        learner: String,
        /// What it said.
        reason: String,
    },
    /// There is no folder for the networks.
    #[error("make a folder for the networks")]
    Folder(#[source] std::io::Error),
}

/// Why a session with the learner ended; another one follows, unless it is of no use.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("connect")]
    Connect(#[source] tonic::transport::Error),
    #[error("{}", .0.message())]
    Status(#[from] tonic::Status),
    #[error("the learner closed the stream")]
    Closed,
    #[error("keep a network")]
    Keep(#[source] std::io::Error),
    #[error("the network that was sent is damaged on its way: its SHA-256 is another one")]
    Damaged,
    #[error("the network that was sent")]
    Network(#[source] net::NetError),
    #[error(transparent)]
    Start(#[from] inference::InferenceStartError),
    #[error("an inference thread ended")]
    Ended,
}

impl SessionError {
    /// Returns the reason if another attempt would end like this one.
    fn refusal(&self) -> Option<&str> {
        match self {
            Self::Status(status) => {
                let is_final = matches!(
                    status.code(),
                    Code::Unauthenticated | Code::PermissionDenied | Code::FailedPrecondition | Code::Unimplemented
                );
                is_final.then(|| status.message())
            }
            _ => None,
        }
    }
}

/// Answers leaves until `stop`; connects again whenever the learner was away.
///
/// # Errors
/// [`InferError`].
pub async fn serve(plan: &InferencePlan, stop: &CancellationToken) -> Result<(), InferError> {
    for device in plan.config.devices() {
        net::open_device(device).map_err(InferError::Device)?;
        warn_if_passed_over("inference.device", device);
    }
    let mut backoff = Backoff::new(RECONNECT_WAIT_MAX);
    let (mut away_since, mut is_new) = (Instant::now(), true);
    remove_left_folders();
    while !stop.is_cancelled() {
        let folder = tempfile::Builder::new().prefix(&folder_prefix()).tempdir().map_err(InferError::Folder)?;
        let (began_at, mut session) = (Instant::now(), Session::new(plan, folder.path()));
        let ended = stop.run_until_cancelled(session.run()).await;
        // Its threads have the device until they have ended; libtorch does not survive their end with the process.
        session.end().await;
        let Some(Err(error)) = ended else { break };
        if let Some(reason) = error.refusal() {
            return Err(InferError::Refused { learner: plan.target.to_string(), reason: reason.to_owned() });
        }
        if began_at.elapsed() > SESSION_LONG {
            (is_new, away_since) = (true, Instant::now());
            backoff.reset();
        }
        if std::mem::take(&mut is_new) || away_since.elapsed() > WAIT_WITHOUT_WARNING {
            warn!(learner = %plan.target, error = explain(&one_line(&error)), "not connected: trying again");
        }
        stop.run_until_cancelled(tokio::time::sleep(backoff.pause())).await;
    }
    info!("stopped");
    Ok(())
}

/// The folders of this process begin so.
fn folder_prefix() -> String {
    format!("{FOLDER_PREFIX}{}-", std::process::id())
}

/// Removes the folders of processes that were killed: nobody else knows of them.
fn remove_left_folders() {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(process_of).is_some_and(is_gone) {
            // Another user's stays.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the process whose folder this is.
fn process_of(name: &str) -> Option<u32> {
    name.strip_prefix(FOLDER_PREFIX)?.split_once('-')?.0.parse().ok()
}

/// Returns whether a process has ended; this one has no folder yet, so one of its number is an earlier one's.
fn is_gone(process: u32) -> bool {
    process == std::process::id() || !std::path::Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_processes_that_have_ended_are_known_by_their_names() {
        assert_eq!(process_of(&format!("{}x1y2", folder_prefix())), Some(std::process::id()));
        for other in ["alveare-infer-", "alveare-infer-12", "alveare-infer-a-b", "somebody-else"] {
            assert_eq!(process_of(other), None, "{other}");
        }
        assert!(!is_gone(1) && is_gone(u32::MAX));
    }
}
