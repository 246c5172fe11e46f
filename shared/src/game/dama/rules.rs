//! What may be set about the rules.

/// What may be set about a game of draughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DamaRules {
    /// Plies after which a game is cut off as a draw; the rules know no such limit.
    pub ply_limit: u32,
}

impl Default for DamaRules {
    fn default() -> Self {
        Self { ply_limit: 300 }
    }
}
