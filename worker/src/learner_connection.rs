//! Connecting to the learner and joining it, as often as needed.

use std::time::{Duration, Instant};

use proto::inference_client::InferenceClient;
use proto::workers_client::WorkersClient;
use proto::{JoinRequest, WorkerKind};
use runtime::auth::ClientAuth;
use runtime::backoff::Backoff;
use runtime::exit::one_line;
use runtime::limits::MESSAGE_BYTES_MAX;
use runtime::tls::client::explain;
use runtime::worker_key::WorkerKey;
use shared::setting::SettingError;
use shared::wire::{LEARNER_STOPPING, WireError, worker_kind_word};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tracing::{info, warn};

use crate::learner_terms::LearnerTerms;
use crate::log_throttle::LogThrottle;
use crate::worker_settings::WorkerSettings;

/// A learner that does not answer for so long is worth a warning; one that is starting, or being restarted, is not.
const WAIT_WITHOUT_WARNING: Duration = Duration::from_secs(10);

/// A channel on which each call shows the token.
pub(crate) type AuthChannel = InterceptedService<Channel, ClientAuth>;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The learner refuses this worker.
    #[error("{learner} refused to let us join: {reason}")]
    Refused {
        /// Address of the learner.
        learner: String,
        /// The reason that the learner gave.
        reason: String,
    },
    /// The learner's answer to the join names no known game, or numbers that are out of range.
    #[error("the learner's answer to the join")]
    Terms(#[source] WireError),
    /// The learner's game is not valid.
    #[error("the learner's game")]
    Setting(#[from] SettingError),
    /// The learner serves another game since it restarted.
    #[error("the learner now plays another game; start the worker again")]
    GameChanged,
    /// The endgame tables cannot be used.
    #[error("setting tables")]
    Tables(#[from] tables::OpenError),
    /// A search thread cannot be started.
    #[error("start a search thread")]
    Thread(#[source] std::io::Error),
    /// A search thread ended by itself, by a panic.
    #[error("search thread {0} ended unexpectedly; the log above says why")]
    ThreadEnded(usize),
}

/// Why a session with the learner ended. The worker joins again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LearnerSessionError {
    #[error("{call}: {}", describe(.status))]
    Call { call: &'static str, status: Box<Status> },
    #[error("{call}: no answer within {seconds} s")]
    Deadline { call: &'static str, seconds: u64 },
    #[error("the learner closed the evaluation stream")]
    StreamClosed,
    #[error("{LEARNER_STOPPING}")]
    LearnerStopping,
    #[error("join: unusable answer")]
    UnusableJoin(#[source] WireError),
    #[error("evaluate leaves: an answer to batch {0}, which was not sent")]
    UnknownBatch(u64),
    #[error("evaluate leaves: unusable answer")]
    UnusableEvaluations(#[source] WireError),
    #[error("report plies: the statuses do not match the reported plies")]
    UnusableStatuses,
    #[error("lease games: the task of the call failed")]
    LeaseTask(#[source] tokio::task::JoinError),
    #[error(transparent)]
    Connect(#[from] tonic::transport::Error),
}

fn describe(status: &Status) -> String {
    if status.message().is_empty() { status.code().to_string() } else { status.message().into() }
}

impl LearnerSessionError {
    /// Returns the error for the status of a call or stream.
    pub(crate) fn of_status(call: &'static str, status: Status) -> Self {
        if status.code() == Code::Unavailable && status.message() == LEARNER_STOPPING {
            Self::LearnerStopping
        } else {
            Self::Call { call, status: Box::new(status) }
        }
    }
}

/// A learner that was joined.
#[derive(Debug, Clone)]
pub(crate) struct LearnerConnection {
    pub(crate) workers: WorkersClient<AuthChannel>,
    pub(crate) inference: InferenceClient<AuthChannel>,
    pub(crate) worker_id: String,
    pub(crate) terms: LearnerTerms,
}

/// The name and kind under which this process joins, and the key that nobody else can show.
#[derive(Debug, Clone)]
pub(crate) struct WorkerIdentity {
    pub(crate) worker_id: String,
    pub(crate) key: WorkerKey,
    pub(crate) kind: WorkerKind,
}

impl WorkerIdentity {
    /// Makes a new identity: a process that is started again is another worker.
    pub(crate) fn new(kind: WorkerKind) -> Self {
        let name = worker_kind_word(kind);
        let worker_id = format!("{name}-{}-{:016x}", std::process::id(), rand::random::<u64>());
        let key = WorkerKey::new(format!("{:032x}", rand::random::<u128>())).expect("32 hexadecimal digits are a key");
        Self { worker_id, key, kind }
    }
}

/// Joins the learner; tries again until it answers. Warns only after [`WAIT_WITHOUT_WARNING`].
///
/// # Errors
/// [`WorkerError::Refused`] if the learner refuses this worker, [`WorkerError::Terms`] if its answer cannot be used.
pub(crate) async fn join(
    settings: &WorkerSettings,
    identity: &WorkerIdentity,
    backoff: &mut Backoff,
) -> Result<LearnerConnection, WorkerError> {
    let mut failure_log = JoinFailureLog::new(Instant::now(), settings.progress_interval);
    loop {
        match join_once(settings, identity).await {
            Ok(connection) => {
                info!(learner = %settings.learner, worker_id = identity.worker_id, "joined the learner");
                return Ok(connection);
            }
            Err(LearnerSessionError::Call { status, .. }) if is_refusal(status.code()) => {
                return Err(WorkerError::Refused { learner: settings.learner.to_string(), reason: describe(&status) });
            }
            Err(LearnerSessionError::UnusableJoin(error)) => return Err(WorkerError::Terms(error)),
            Err(error) => {
                let (learner, cause) = (&settings.learner, explain(&one_line(&error)));
                match failure_log.due_line(Instant::now()) {
                    DueLine::Warning => warn!(%learner, cause, "waiting for the learner"),
                    DueLine::Info => info!(%learner, cause, "waiting for the learner"),
                    DueLine::None => {}
                }
                tokio::time::sleep(backoff.pause()).await;
            }
        }
    }
}

/// How a failed attempt to join is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DueLine {
    None,
    Info,
    Warning,
}

/// Chooses how failed attempts to join are logged: quietly at first, as warnings after [`WAIT_WITHOUT_WARNING`].
struct JoinFailureLog {
    began_at: Instant,
    infos: LogThrottle,
    warnings: LogThrottle,
}

impl JoinFailureLog {
    fn new(began_at: Instant, interval: Duration) -> Self {
        Self { began_at, infos: LogThrottle::new(interval), warnings: LogThrottle::new(interval) }
    }

    fn due_line(&mut self, now: Instant) -> DueLine {
        if now.duration_since(self.began_at) < WAIT_WITHOUT_WARNING {
            if self.infos.is_due(now) { DueLine::Info } else { DueLine::None }
        } else if self.warnings.is_due(now) {
            DueLine::Warning
        } else {
            DueLine::None
        }
    }
}

/// Waits for the answer to a call, at most `request_timeout`.
///
/// # Errors
/// [`LearnerSessionError::Call`] with the status of a failed call, [`LearnerSessionError::Deadline`] without an answer.
pub(crate) async fn with_deadline<T>(
    call: &'static str,
    settings: &WorkerSettings,
    answer: impl Future<Output = Result<tonic::Response<T>, Status>>,
) -> Result<T, LearnerSessionError> {
    match tokio::time::timeout(settings.request_timeout, answer).await {
        Ok(Ok(response)) => Ok(response.into_inner()),
        Ok(Err(status)) => Err(LearnerSessionError::of_status(call, status)),
        Err(_) => Err(LearnerSessionError::Deadline { call, seconds: settings.request_timeout.as_secs() }),
    }
}

/// Tries once to join the learner.
///
/// # Errors
/// [`LearnerSessionError`] if it cannot be reached, does not answer in time, or refuses.
pub(crate) async fn join_once(
    settings: &WorkerSettings,
    identity: &WorkerIdentity,
) -> Result<LearnerConnection, LearnerSessionError> {
    let channel = settings.learner.connect().await?;
    let auth = ClientAuth::new(settings.token.as_ref()).of_worker(&identity.worker_id, &identity.key);
    let mut workers = WorkersClient::with_interceptor(channel.clone(), auth.clone())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let inference = InferenceClient::with_interceptor(channel, auth)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let request = JoinRequest {
        protocol_version: proto::PROTOCOL_VERSION,
        domain_version: shared::DOMAIN_VERSION,
        worker_id: identity.worker_id.clone(),
        kind: identity.kind.into(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        thread_count: settings.threads as u32,
    };
    let join = with_deadline("join", settings, workers.join(request)).await?;
    let terms = LearnerTerms::from_proto(&join).map_err(LearnerSessionError::UnusableJoin)?;
    Ok(LearnerConnection { workers, inference, worker_id: identity.worker_id.clone(), terms })
}

/// Returns whether joining again would be refused again.
fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::FailedPrecondition
            | Code::InvalidArgument
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::Unimplemented
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_learner_that_stays_away_is_worth_a_warning() {
        let start = Instant::now();
        let mut log = JoinFailureLog::new(start, Duration::from_secs(10));
        let lines = [0, 1, 9, 10, 11, 19, 20].map(|second| log.due_line(start + Duration::from_secs(second)));
        use DueLine::{Info, None, Warning};
        assert_eq!(lines, [Info, None, None, Warning, None, None, Warning]);
    }
}
