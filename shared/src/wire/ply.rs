//! One ply as a worker reports it.

use super::ids::answered_by_to_wire;
use super::{WireError, check_limit};
use crate::game::MOVE_TEXT_BYTES_MAX;
use crate::ids::{GameId, NetworkId};
use crate::record::{PlyRecord, PolicyTarget};

/// A ply and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedPly {
    /// The game.
    pub game_id: GameId,
    /// Number of the ply, 0 for the first of the game.
    pub ply: u32,
    /// What was played.
    pub record: PlyRecord,
}

/// Returns the message for a ply.
#[must_use]
pub fn ply_to_proto(reported: &ReportedPly) -> proto::Ply {
    let ReportedPly { game_id, ply, record } = reported;
    proto::Ply {
        game_id: game_id.get(),
        ply: *ply,
        move_text: record.move_text.clone(),
        policy_target: record.policy_target.as_ref().map_or_else(Vec::new, PolicyTarget::to_bytes),
        root_value: record.root_value,
        simulation_count: record.simulation_count,
        network_id: answered_by_to_wire(record.network_id),
    }
}

/// Reads a ply. Whether it is legal is for the rules to say.
///
/// # Errors
/// [`WireError`] naming the field that is wrong.
pub fn ply_from_proto(message: &proto::Ply) -> Result<ReportedPly, WireError> {
    check_limit("move_text", message.move_text.len(), MOVE_TEXT_BYTES_MAX)?;
    if !(-1.0..=1.0).contains(&message.root_value) {
        return Err(WireError::invalid("root_value", format!("{} is not in -1..=1", message.root_value)));
    }
    let policy_target =
        if message.policy_target.is_empty() { None } else { Some(PolicyTarget::from_bytes(&message.policy_target)?) };
    let record = PlyRecord {
        move_text: message.move_text.clone(),
        policy_target,
        root_value: message.root_value,
        simulation_count: message.simulation_count,
        network_id: NetworkId::new(message.network_id),
    };
    Ok(ReportedPly { game_id: GameId::new(message.game_id), ply: message.ply, record })
}
