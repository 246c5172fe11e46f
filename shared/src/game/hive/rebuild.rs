//! A position from its pieces alone, without a past, as peers and stores send it. Everything is checked.

use super::{Cell, HiveRules, Piece, PieceKind, Position};
use crate::game::Side;

/// Why pieces do not make a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RebuildError {
    /// The game type does not have the piece.
    #[error("piece {0} is not in this game type")]
    NotInGame(Piece),
    /// A piece was named twice.
    #[error("piece {0} lies on the board twice")]
    Twice(Piece),
    /// A level is taken twice, or nothing lies under a piece.
    #[error("piece {0} lies at a level that does not follow from the pieces under it")]
    Level(Piece),
    /// Only beetles and mosquitoes climb.
    #[error("piece {0} lies on another piece")]
    CannotClimb(Piece),
    /// More than one hive.
    #[error("the hive is not connected")]
    Split,
    /// A side has placed more pieces than it had plies, or none although it had to.
    #[error("{placed_count} pieces of {side:?} on the board after {ply} plies")]
    Ply {
        /// Whose pieces.
        side: Side,
        /// How many.
        placed_count: u32,
        /// Plies played.
        ply: u32,
    },
    /// The resting piece must be the top of a stack.
    #[error("piece {0} moved last, but does not lie on top")]
    LastMoved(Piece),
}

impl Position {
    /// Makes this the position with these pieces (piece, cell, number of pieces under it), in any order.
    ///
    /// It has no past: repetitions are counted from here. The memory is reused.
    ///
    /// # Errors
    /// [`RebuildError`] for pieces that are no position; this position is then some position nobody should use.
    pub fn rebuild(
        &mut self,
        rules: &HiveRules,
        pieces: &[(Piece, Cell, u8)],
        ply: u32,
        last_moved: Option<Piece>,
    ) -> Result<(), RebuildError> {
        self.clear(rules.game_type, ply, last_moved);
        let mut level_max = 0;
        for &(piece, cell, level) in pieces {
            level_max = level_max.max(level);
            if level == 0 {
                self.put_checked(piece, cell, 0)?;
            }
        }
        for wanted in 1..=level_max.min(7) {
            for &(piece, cell, level) in pieces.iter().filter(|(_, _, level)| *level == wanted) {
                self.put_checked(piece, cell, level)?;
            }
        }
        if let Some(&(piece, ..)) = pieces.iter().find(|(_, _, level)| *level > 6) {
            return Err(RebuildError::Level(piece));
        }
        self.check_counts(Side::White)?;
        self.check_counts(Side::Black)?;
        if let Some(piece) = last_moved
            && self.cell_of(piece).and_then(|cell| self.top(cell)) != Some(piece)
        {
            return Err(RebuildError::LastMoved(piece));
        }
        if !self.is_connected() {
            return Err(RebuildError::Split);
        }
        self.sum_pieces();
        self.begin_history();
        Ok(())
    }

    fn put_checked(&mut self, piece: Piece, cell: Cell, level: u8) -> Result<(), RebuildError> {
        if !self.is_in_play(piece) {
            return Err(RebuildError::NotInGame(piece));
        }
        if self.is_on_board(piece) {
            return Err(RebuildError::Twice(piece));
        }
        if self.height(cell) != level || level > 6 {
            return Err(RebuildError::Level(piece));
        }
        if level > 0 && !matches!(piece.kind(), PieceKind::Beetle | PieceKind::Mosquito) {
            return Err(RebuildError::CannotClimb(piece));
        }
        self.put(piece, cell);
        Ok(())
    }

    fn check_counts(&self, side: Side) -> Result<(), RebuildError> {
        let ply = self.ply();
        let placed_count = self.placed(side).count_ones();
        let own_plies = ply / 2 + u32::from(side == Side::White) * (ply % 2);
        if placed_count > own_plies || (placed_count == 0 && own_plies > 0) {
            return Err(RebuildError::Ply { side, placed_count, ply });
        }
        Ok(())
    }

    /// Forgets the past; the present position has then occurred once.
    pub(super) fn begin_history(&mut self) {
        self.history.clear();
        let hash = self.hash();
        self.history.record(hash);
    }
}
