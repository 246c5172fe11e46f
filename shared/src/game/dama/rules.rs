//! What may be set about the rules.

/// When a game of draughts is a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DamaRules {
    /// Plies after which a game is cut off as a draw; the rules know no such limit.
    pub ply_limit: u32,
    /// Plies without a capture and without a move of a man after which the game is a draw; FID: 40 moves by each side.
    pub quiet_ply_limit: u32,
}

impl Default for DamaRules {
    fn default() -> Self {
        Self { ply_limit: 300, quiet_ply_limit: 80 }
    }
}
