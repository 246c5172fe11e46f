//! Finding a repeated position: the boards since the last move that cannot be undone.

use super::board::Board;

/// The boards that can come again, the present one last; at most one for each quiet ply.
#[derive(Debug, Default)]
pub(super) struct History {
    boards: Vec<Board>,
    /// A bit for each of `boards`: most boards are new, and this tells so at once.
    marks: u64,
    /// How often the present board has occurred with this side to move, itself included.
    occurrence_count: u32,
}

impl Clone for History {
    fn clone(&self) -> Self {
        Self { boards: self.boards.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.boards.clone_from(&source.boards);
        self.marks = source.marks;
        self.occurrence_count = source.occurrence_count;
    }
}

impl History {
    /// Forgets all boards but this one, keeps the memory.
    #[inline]
    pub(super) fn restart(&mut self, board: Board) {
        self.boards.clear();
        self.boards.push(board);
        self.marks = mark(board);
        self.occurrence_count = 1;
    }

    /// Takes note of the board after a move that can be undone.
    #[inline]
    pub(super) fn record(&mut self, board: Board) {
        let mark = mark(board);
        self.occurrence_count = 1;
        if self.marks & mark != 0 {
            // The same side is to move every other ply.
            let earlier = self.boards.iter().rev().skip(1).step_by(2);
            self.occurrence_count += earlier.map(|known| u32::from(*known == board)).sum::<u32>();
        }
        self.marks |= mark;
        self.boards.push(board);
    }

    /// Returns how often the present board has occurred, itself included.
    #[inline]
    pub(super) const fn occurrence_count(&self) -> u32 {
        self.occurrence_count
    }
}

/// Returns one of 64 bits, by the pieces: the upper bits of a product with an odd number are well mixed.
#[inline]
fn mark(board: Board) -> u64 {
    let [white, black] = board.pieces.map(u64::from);
    let pieces = (white << 32 | black) ^ u64::from(board.kings) << 16;
    1 << (pieces.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}
