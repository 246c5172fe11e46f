//! What the learner asks of a worker that has joined: its answer to the join, checked.

use proto::JoinReply;
use shared::bounds::BATCHES_IN_FLIGHT;
use shared::catalog::GameSpec;
use shared::ids::NetworkId;
use shared::setting::check_range;
use shared::wire::{BATCH_LEAF_COUNTS, WireError, game_spec_from_proto, network_id_from_wire};

/// What the learner asks of a worker that has joined.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerTerms {
    /// The game that is played, by its rules and as networks see it.
    pub game: GameSpec,
    /// Batches that the evaluation stream may have unanswered, [`BATCHES_IN_FLIGHT`].
    pub batches_in_flight_max: usize,
    /// Most leaves of a batch, [`BATCH_LEAF_COUNTS`].
    pub batch_leaves_max: usize,
    /// How long a lease lasts unless it is renewed, in milliseconds.
    pub lease_ms: u32,
    /// The best network when the worker joined.
    pub best_network_id: NetworkId,
}

impl LearnerTerms {
    /// Reads the learner's answer to a join.
    ///
    /// # Errors
    /// [`WireError`] with the first field that is missing or out of range.
    pub fn from_proto(reply: &JoinReply) -> Result<Self, WireError> {
        check_range("batches_in_flight_max", reply.batches_in_flight_max, BATCHES_IN_FLIGHT)?;
        check_range("batch_leaves_max", reply.batch_leaves_max, BATCH_LEAF_COUNTS)?;
        Ok(Self {
            game: game_spec_from_proto(reply.game.as_ref().ok_or(WireError::Missing("game"))?)?,
            batches_in_flight_max: reply.batches_in_flight_max as usize,
            batch_leaves_max: reply.batch_leaves_max as usize,
            lease_ms: reply.lease_ms,
            best_network_id: network_id_from_wire("best_network_id", reply.best_network_id)?,
        })
    }
}
