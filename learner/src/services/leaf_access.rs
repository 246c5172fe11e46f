//! Who may have leaves evaluated, and by which networks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use inference::best::BestNetwork;
use runtime::auth::Role;
use runtime::worker_key::WORKER_ID_HEADER;
use shared::ids::{NetworkId, NetworkRef};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::join_checks::check_role;
use super::joined::JoinedWorkers;

/// Returns the worker whose stream it is: it has joined, and shows its key and a token for what it plays.
///
/// # Errors
/// A status that says what is missing.
pub(crate) fn worker_of(
    joined: &JoinedWorkers,
    metadata: &MetadataMap,
    role: Role,
    now: Instant,
) -> Result<String, Status> {
    match role {
        Role::Any | Role::Actor | Role::Evaluator => {}
        Role::Reader => return Err(Status::permission_denied("the token only lets one ask for the status")),
        Role::Inference => return Err(Status::permission_denied("the token is one of inference servers")),
    }
    let name = metadata.get(WORKER_ID_HEADER).and_then(|name| name.to_str().ok()).ok_or_else(|| {
        Status::invalid_argument(format!("the stream does not say whose it is, in {WORKER_ID_HEADER}"))
    })?;
    let worker = joined.check(name, metadata, now)?;
    check_role(role, worker.row.kind)?;
    Ok(worker.row.worker_id)
}

/// The networks that a stream may ask, and those that it has asked.
pub(crate) struct Askable {
    best: Arc<BestNetwork>,
    joined: Arc<JoinedWorkers>,
    role: Role,
    /// Whose stream it is.
    worker_id: String,
    asked: BTreeSet<NetworkId>,
}

impl Askable {
    /// Makes what a stream may ask that has not asked anything.
    pub(crate) const fn new(best: Arc<BestNetwork>, joined: Arc<JoinedWorkers>, role: Role, worker_id: String) -> Self {
        Self { best, joined, role, worker_id, asked: BTreeSet::new() }
    }

    /// Returns whether a network may be asked, and notes that it is. Actors need the best network alone.
    pub(crate) fn ask(&mut self, network: NetworkRef) -> bool {
        if (self.role == Role::Actor && network != NetworkRef::Best) || !self.best.is_in_play(network) {
            return false;
        }
        let (network_id, _) = self.best.resolve(network);
        if self.asked.insert(network_id) {
            self.joined.note_asked(&self.worker_id, network_id);
        }
        true
    }
}
