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
use runtime::tls::client::Target;
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
    let mut away_since = Instant::now();
    while !stop.is_cancelled() {
        let folder = tempfile::tempdir().map_err(InferError::Folder)?;
        let mut session = Session::new(plan, folder.path());
        let Some(ended) = stop.run_until_cancelled(session.run()).await else { break };
        let was_joined = session.has_joined();
        // Its threads have the device until they have ended.
        session.end().await;
        let Err(error) = ended;
        if let Some(reason) = error.refusal() {
            return Err(InferError::Refused { learner: plan.target.to_string(), reason: reason.to_owned() });
        }
        if was_joined {
            backoff.reset();
            away_since = Instant::now();
        }
        if was_joined || away_since.elapsed() > WAIT_WITHOUT_WARNING {
            warn!(learner = %plan.target, error = one_line(&error), "no learner: trying again");
        }
        stop.run_until_cancelled(tokio::time::sleep(backoff.pause())).await;
    }
    info!("stopped");
    Ok(())
}
