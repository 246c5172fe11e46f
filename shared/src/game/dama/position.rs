//! A position: the board, whose turn it is, and what the rules need of the past.

use super::board::Board;
use super::mv::Move;
use crate::game::Side;
use crate::game::repetitions::{Key, Repetitions};

/// Everything the rules need to go on, and the two boards before the present one, which the network sees.
#[derive(Debug)]
pub struct Position {
    pub(super) board: Board,
    /// The boards one ply and two plies ago, empty before the first ply.
    earlier: [Board; 2],
    ply: u32,
    quiet_ply_count: u32,
    /// The boards since the last move that cannot be undone. A quiet ply moves a king by one row, so with the other side
    /// to move the board is another.
    history: Repetitions<Board>,
}

impl Clone for Position {
    fn clone(&self) -> Self {
        Self { history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.history.clone_from(&source.history);
        let Self { board, earlier, ply, quiet_ply_count, history: _ } = *source;
        (self.board, self.earlier, self.ply, self.quiet_ply_count) = (board, earlier, ply, quiet_ply_count);
    }
}

impl Position {
    /// Makes a position without a past: `quiet_ply_count` plies without a capture and without a move of a man were
    /// played, none is remembered. With Black to move it counts as the position after one ply.
    #[must_use]
    pub fn new(board: Board, side_to_move: Side, quiet_ply_count: u32) -> Self {
        let mut position = Self {
            board: Board::default(),
            earlier: [Board::default(); 2],
            ply: 0,
            quiet_ply_count: 0,
            history: Repetitions::default(),
        };
        position.reset(board, [Board::default(); 2], side_to_move, quiet_ply_count);
        position
    }

    /// Makes this position one without a history but for two boards, keeps the memory.
    pub(crate) fn reset(&mut self, board: Board, earlier: [Board; 2], side_to_move: Side, quiet_ply_count: u32) {
        self.board = board;
        self.earlier = earlier;
        self.ply = side_to_move.index() as u32;
        self.quiet_ply_count = quiet_ply_count;
        self.history.clear();
        self.history.record(board);
    }

    /// Returns the pieces.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the boards one ply and two plies ago; empty ones if the game is younger, or its past is not known.
    #[must_use]
    pub const fn earlier_boards(&self) -> &[Board; 2] {
        &self.earlier
    }

    /// Returns the side whose ply is next.
    #[must_use]
    pub const fn side_to_move(&self) -> Side {
        if self.ply.is_multiple_of(2) { Side::White } else { Side::Black }
    }

    /// Returns the number of plies played.
    #[must_use]
    pub const fn ply(&self) -> u32 {
        self.ply
    }

    /// Returns the plies since the last capture or move of a man.
    #[must_use]
    pub const fn quiet_ply_count(&self) -> u32 {
        self.quiet_ply_count
    }

    /// Returns how often this position has come up, itself included.
    #[must_use]
    pub const fn occurrence_count(&self) -> u32 {
        self.history.occurrence_count()
    }

    /// Returns the boards that have come up more than once since the last capture or move of a man, with either side to
    /// move.
    pub fn repeated_boards(&self) -> impl Iterator<Item = &Board> {
        self.history.repeated()
    }

    /// Returns the hash of pieces and side to move.
    pub(super) fn hash(&self) -> u64 {
        hash_of(self.board) ^ u64::from(self.ply & 1)
    }

    #[inline]
    pub(super) fn play(&mut self, mv: Move) {
        self.earlier = [self.board, self.earlier[0]];
        let is_final = self.board.play(self.side_to_move(), mv);
        self.ply += 1;
        if is_final {
            self.quiet_ply_count = 0;
            self.history.clear();
        } else {
            self.quiet_ply_count += 1;
        }
        self.history.record(self.board);
    }
}

impl Key for Board {
    /// The upper bits of a product with an odd number are well mixed.
    #[inline]
    fn mixed(self) -> u64 {
        let [white, black] = self.pieces.map(u64::from);
        let pieces = (white << 32 | black) ^ u64::from(self.kings) << 16;
        pieces.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Returns the hash of the pieces: two rounds of the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
#[inline]
pub(super) fn hash_of(board: Board) -> u64 {
    let [white, black] = board.pieces.map(u64::from);
    mix(mix(white << 32 | black) ^ u64::from(board.kings))
}

#[inline]
const fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
