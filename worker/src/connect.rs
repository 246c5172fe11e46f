//! Reaching the learner and joining it, as often as it takes.

use std::time::Instant;

use proto::inference_client::InferenceClient;
use proto::workers_client::WorkersClient;
use proto::{JoinReply, JoinRequest, WorkerKind};
use runtime::auth::ClientAuth;
use runtime::limits::MESSAGE_BYTES_MAX;
use shared::game::catalog::GameSpecError;
use shared::wire::WireError;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tracing::{info, warn};

use crate::backoff::{Backoff, Seldom};
use crate::settings::WorkerSettings;

/// A channel on which each call shows the token.
pub(crate) type AuthChannel = InterceptedService<Channel, ClientAuth>;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The learner does not take this worker; it says why.
    #[error("{learner} refused to let us join: {reason}")]
    Refused {
        /// Address of the learner.
        learner: String,
        /// The learner's words.
        reason: String,
    },
    /// What the learner plays cannot be read.
    #[error("the learner's game")]
    Game(#[from] WireError),
    /// What the learner plays is impossible.
    #[error("the learner's game")]
    GameSpec(#[from] GameSpecError),
    /// The learner came back as another one.
    #[error("the learner now plays another game; start the worker again")]
    GameChanged,
    /// A search thread cannot be started.
    #[error("start a search thread")]
    Thread(#[source] std::io::Error),
    /// A search thread ended by itself.
    #[error("search thread {0} died; its last words are above")]
    ThreadDied(usize),
}

/// Why one session with the learner is over. Another one is tried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("{call}: {}", describe(.status))]
    Call { call: &'static str, status: Box<Status> },
    #[error("{call}: no answer within {seconds} s")]
    Deadline { call: &'static str, seconds: u64 },
    #[error("the learner closed the evaluation stream")]
    StreamClosed,
    #[error("unusable answer: {0}")]
    Unusable(String),
    #[error(transparent)]
    Connect(#[from] tonic::transport::Error),
}

fn describe(status: &Status) -> String {
    if status.message().is_empty() { status.code().to_string() } else { status.message().into() }
}

/// A learner that let us join.
#[derive(Debug, Clone)]
pub(crate) struct Connected {
    pub(crate) workers: WorkersClient<AuthChannel>,
    pub(crate) inference: InferenceClient<AuthChannel>,
    pub(crate) worker_id: String,
    pub(crate) join: JoinReply,
}

/// Who joins.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) worker_id: String,
    pub(crate) kind: WorkerKind,
}

impl Identity {
    /// Makes an identity of this process: two lives of one machine are two workers.
    pub(crate) fn new(kind: WorkerKind) -> Self {
        let name = if kind == WorkerKind::Evaluator { "evaluator" } else { "actor" };
        Self { worker_id: format!("{name}-{}-{:016x}", std::process::id(), rand::random::<u64>()), kind }
    }
}

/// Joins the learner; waits for it as long as it takes.
///
/// # Errors
/// [`WorkerError::Refused`] if it does not want us.
pub(crate) async fn join(
    settings: &WorkerSettings,
    identity: &Identity,
    backoff: &mut Backoff,
) -> Result<Connected, WorkerError> {
    let mut seldom = Seldom::new(settings.progress_interval);
    loop {
        match join_once(settings, identity).await {
            Ok(connected) => {
                info!(learner = %settings.learner, worker_id = identity.worker_id, "joined the learner");
                return Ok(connected);
            }
            Err(SessionError::Call { status, .. }) if is_refusal(status.code()) => {
                return Err(WorkerError::Refused { learner: settings.learner.to_string(), reason: describe(&status) });
            }
            Err(error) => {
                if seldom.is_due(Instant::now()) {
                    warn!(learner = %settings.learner, cause = causes(&error), "waiting for the learner");
                }
                tokio::time::sleep(backoff.pause()).await;
            }
        }
    }
}

/// Returns the causes of an error in one line.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words: Vec<String> = vec![];
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if words.last() != Some(&text) {
            words.push(text);
        }
        next = error.source();
    }
    words.join(": ")
}

/// Waits for the answer to a call, but not for ever.
pub(crate) async fn with_deadline<T>(
    call: &'static str,
    settings: &WorkerSettings,
    answer: impl Future<Output = Result<tonic::Response<T>, Status>>,
) -> Result<T, SessionError> {
    match tokio::time::timeout(settings.request_timeout, answer).await {
        Ok(Ok(response)) => Ok(response.into_inner()),
        Ok(Err(status)) => Err(SessionError::Call { call, status: Box::new(status) }),
        Err(_) => Err(SessionError::Deadline { call, seconds: settings.request_timeout.as_secs() }),
    }
}

/// Tries to join the learner.
pub(crate) async fn join_once(settings: &WorkerSettings, identity: &Identity) -> Result<Connected, SessionError> {
    let channel = settings.learner.endpoint().connect().await?;
    let auth = ClientAuth::new(settings.token.as_ref());
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
    };
    let join = with_deadline("join", settings, workers.join(request)).await?;
    Ok(Connected { workers, inference, worker_id: identity.worker_id.clone(), join })
}

/// Returns whether asking again would bring the same answer.
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
