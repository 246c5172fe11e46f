//! What a worker is called: in its own name, in the log and in the status.

/// Returns the word for workers of this kind; empty for one that a peer did not name.
#[must_use]
pub const fn worker_kind_word(kind: proto::WorkerKind) -> &'static str {
    match kind {
        proto::WorkerKind::Actor => "actor",
        proto::WorkerKind::Evaluator => "evaluator",
        proto::WorkerKind::Unspecified => "",
    }
}
