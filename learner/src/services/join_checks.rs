//! Who may join: names that can be shown, versions that fit, and tokens for what a worker plays.

use registry::check_worker_id;
use runtime::auth::Role;
use store::GameKind;
use tonic::Status;

use super::worker_calls::status_of;

/// Longest version of a worker's program, in bytes.
const PROGRAM_VERSION_BYTES_MAX: usize = 128;

/// What is logged, remembered and shown of every worker must be short, and of visible characters.
pub(super) fn check_names(request: &proto::JoinRequest) -> Result<(), Status> {
    check_worker_id(&request.worker_id).map_err(|error| status_of(&error))?;
    if request.program_version.len() > PROGRAM_VERSION_BYTES_MAX {
        let length = request.program_version.len();
        return Err(Status::invalid_argument(format!(
            "program_version of {length} bytes: more than {PROGRAM_VERSION_BYTES_MAX}"
        )));
    }
    if !request.program_version.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Status::invalid_argument("program_version: only visible ASCII characters"));
    }
    Ok(())
}

/// Checks that the token of a call is one for those who play these games.
pub(super) fn check_role(role: Role, kind: GameKind) -> Result<(), Status> {
    match (role, kind) {
        (Role::Any, _) | (Role::Actor, GameKind::SelfPlay) | (Role::Evaluator, GameKind::Gate) => Ok(()),
        (Role::Actor, _) => Err(Status::permission_denied("the token is one of actors: evaluators have another")),
        (Role::Evaluator, _) => Err(Status::permission_denied("the token is one of evaluators: actors have another")),
        (Role::Inference, _) => {
            Err(Status::permission_denied("the token is one of inference servers: they do not play"))
        }
        (Role::Reader, _) => Err(Status::permission_denied("the token only lets one ask for the status")),
    }
}

pub(super) fn check_versions(protocol_version: u32, domain_version: u32) -> Result<(), Status> {
    let versions = [
        ("protocol", protocol_version, proto::PROTOCOL_VERSION),
        ("rules and encoding", domain_version, shared::DOMAIN_VERSION),
    ];
    for (what, theirs, ours) in versions {
        if theirs != ours {
            return Err(Status::failed_precondition(format!(
                "{what} version {theirs} of the other side is not the learner's {ours}: run the same release on both sides"
            )));
        }
    }
    Ok(())
}

pub(super) fn game_kind_of(kind: proto::WorkerKind) -> Option<GameKind> {
    match kind {
        proto::WorkerKind::Actor => Some(GameKind::SelfPlay),
        proto::WorkerKind::Evaluator => Some(GameKind::Gate),
        proto::WorkerKind::Unspecified => None,
    }
}
