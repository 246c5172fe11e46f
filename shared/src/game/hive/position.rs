//! The pieces on the board, kept so that copying, playing and asking are all cheap.
//!
//! Which moves are legal is in `moves`; how a position is built from nothing in `rebuild`.

use super::cell_set::Bits;
use super::hash::piece_hash;
use super::tables::GROUPS;
use super::{Cell, CellSet, GameType, Piece, PieceKind};
use crate::game::Side;
use crate::game::repetitions::Repetitions;

/// A position of Hive with what the rules need of its past: the resting piece and the hashes since the last placement.
#[derive(Debug)]
pub struct Position {
    /// Per cell: 0 if empty, else its height << 5 | its top piece + 1.
    grid: [u8; Cell::COUNT],
    /// Per cell: which of its six neighbours are occupied.
    around: [u8; Cell::COUNT],
    /// Cells whose top piece is White's / Black's.
    tops: [CellSet; 2],
    /// Per piece: its cell, meaningless in hand. 32 long so that an index can be masked.
    cells: [Cell; 32],
    /// Per piece: the number of pieces under it.
    levels: [u8; 32],
    /// Per piece: the piece right under it + 1, 0 for the ground.
    below: [u8; 32],
    on_board: u32,
    in_play: u32,
    /// Hexagons - touching pairs + touching triples: 1 - the number of holes in a connected hive.
    euler: i8,
    /// Number of cells with two pieces or more.
    stack_count: u8,
    /// The resting piece + 1, 0 if none rests.
    resting: u8,
    ply: u32,
    /// Sum of the hashes of the pieces relative to the reference cell; 0 while no queen is on the board.
    piece_sum: u64,
    /// The positions since the last placement, which cannot be undone.
    pub(super) history: Repetitions<u64>,
}

/// What undoes a move: see [`Position::take_back`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    piece: u8,
    from: Option<Cell>,
    resting: u8,
    piece_sum: u64,
}

const NO_PIECE: u8 = 28;

impl Clone for Position {
    fn clone(&self) -> Self {
        Self { history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        // Field by field: a position built on the way would be copied twice.
        self.grid = source.grid;
        self.around = source.around;
        self.tops = source.tops;
        self.cells = source.cells;
        self.levels = source.levels;
        self.below = source.below;
        self.on_board = source.on_board;
        self.in_play = source.in_play;
        self.euler = source.euler;
        self.stack_count = source.stack_count;
        self.resting = source.resting;
        self.ply = source.ply;
        self.piece_sum = source.piece_sum;
        self.history.clone_from(&source.history);
    }
}

impl Position {
    /// Returns the empty board.
    pub(super) fn new(game_type: GameType) -> Self {
        Self {
            grid: [0; Cell::COUNT],
            around: [0; Cell::COUNT],
            tops: [CellSet::EMPTY; 2],
            cells: [Cell::ORIGIN; 32],
            levels: [0; 32],
            below: [0; 32],
            on_board: 0,
            in_play: in_play(game_type),
            euler: 0,
            stack_count: 0,
            resting: 0,
            ply: 0,
            piece_sum: 0,
            history: Repetitions::default(),
        }
    }

    /// Takes all pieces off, keeps the memory.
    pub(super) fn clear(&mut self, game_type: GameType, ply: u32, last_moved: Option<Piece>) {
        self.grid = [0; Cell::COUNT];
        self.around = [0; Cell::COUNT];
        self.tops = [CellSet::EMPTY; 2];
        self.levels = [0; 32];
        self.below = [0; 32];
        self.on_board = 0;
        self.in_play = in_play(game_type);
        self.euler = 0;
        self.stack_count = 0;
        self.resting = last_moved.map_or(0, |piece| piece.index() as u8 + 1);
        self.ply = ply;
        self.piece_sum = 0;
        self.history.clear();
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

    /// Returns where a piece is, `None` while it is in hand or if the game type does not have it.
    #[must_use]
    pub const fn cell_of(&self, piece: Piece) -> Option<Cell> {
        if self.is_on_board(piece) { Some(self.cells[piece.index() & 31]) } else { None }
    }

    /// Returns the number of pieces under `piece`; 0 also while it is in hand.
    #[must_use]
    pub const fn level_of(&self, piece: Piece) -> u8 {
        self.levels[piece.index() & 31]
    }

    /// Returns the number of pieces on a cell, 0..=7.
    #[must_use]
    pub const fn height(&self, cell: Cell) -> u8 {
        self.grid[cell.index() & (Cell::COUNT - 1)] >> 5
    }

    /// Returns the piece that can be seen on a cell.
    #[must_use]
    pub const fn top(&self, cell: Cell) -> Option<Piece> {
        Piece::from_index((self.grid[cell.index() & (Cell::COUNT - 1)] & 31).wrapping_sub(1))
    }

    /// Returns the pieces on a cell from bottom to top.
    pub fn stack(&self, cell: Cell) -> impl DoubleEndedIterator<Item = Piece> + use<> {
        let mut pieces = [NO_PIECE; 8];
        let height = usize::from(self.height(cell));
        let mut next = self.top(cell);
        for slot in pieces[..height].iter_mut().rev() {
            let piece = next.expect("a stack has as many pieces as its height");
            *slot = piece.index() as u8;
            next = self.under(piece);
        }
        pieces.into_iter().filter_map(Piece::from_index)
    }

    /// Returns the piece right under `piece`.
    #[must_use]
    pub const fn under(&self, piece: Piece) -> Option<Piece> {
        Piece::from_index(self.below[piece.index() & 31].wrapping_sub(1))
    }

    /// Returns the piece that the last ply placed or moved and that therefore rests; `None` after a pass.
    #[must_use]
    pub const fn last_moved(&self) -> Option<Piece> {
        Piece::from_index(self.resting.wrapping_sub(1))
    }

    /// Returns whether the piece is on the board.
    #[must_use]
    pub const fn is_on_board(&self, piece: Piece) -> bool {
        self.on_board >> piece.index() & 1 == 1
    }

    /// Returns whether the game type has the piece.
    #[must_use]
    pub const fn is_in_play(&self, piece: Piece) -> bool {
        self.in_play >> piece.index() & 1 == 1
    }

    /// Returns which expansions the game has.
    #[must_use]
    pub fn game_type(&self) -> GameType {
        let has = |kind: PieceKind| self.in_play >> kind.first_slot() & 1 == 1;
        let [mosquito, ladybug, pillbug] = [PieceKind::Mosquito, PieceKind::Ladybug, PieceKind::Pillbug].map(has);
        GameType { mosquito, ladybug, pillbug }
    }

    /// Returns the pieces on the board, rising.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        Bits(self.on_board).filter_map(|index| Piece::from_index(index as u8))
    }

    /// Returns the pieces that a side has yet to place, rising.
    pub fn pieces_in_hand(&self, side: Side) -> impl Iterator<Item = Piece> + use<> {
        let shift = side.index() * Piece::PER_SIDE;
        Bits(self.hand(side)).filter_map(move |slot| Piece::from_index((slot + shift) as u8))
    }

    /// Returns the occupied cells.
    #[must_use]
    pub fn occupied(&self) -> CellSet {
        self.tops[0].union(&self.tops[1])
    }

    /// Returns the cells whose top piece is `side`'s.
    #[must_use]
    pub const fn tops(&self, side: Side) -> &CellSet {
        &self.tops[side.index()]
    }

    /// Returns which neighbours of a cell are occupied: bit d for the direction numbered d.
    #[must_use]
    pub const fn around(&self, cell: Cell) -> u8 {
        self.around[cell.index() & (Cell::COUNT - 1)]
    }

    /// Returns how many neighbours of a side's queen are occupied, 0 while she is in hand.
    #[must_use]
    pub const fn queen_neighbour_count(&self, side: Side) -> u32 {
        match self.queen(side) {
            Some(cell) => self.around(cell).count_ones(),
            None => 0,
        }
    }

    /// Returns where the queen of a side is.
    #[must_use]
    pub const fn queen(&self, side: Side) -> Option<Cell> {
        match Piece::new(side, PieceKind::Queen, 1) {
            Some(queen) => self.cell_of(queen),
            None => None,
        }
    }

    /// Returns the hash by which repetitions are found: kinds on cells up to translation, and the side to move.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let sum = if self.reference().is_some() { self.piece_sum } else { self.pair_sum() };
        // Another odd constant a side keeps positions apart that differ in nothing but whose ply it is.
        (sum ^ [0, 0x6a09_e667_f3bc_c909][self.side_to_move().index()]).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Slots in hand of `side`, bit 0..14.
    pub(super) const fn hand(&self, side: Side) -> u32 {
        (self.in_play & !self.on_board) >> (side.index() * Piece::PER_SIDE) & 0x3fff
    }

    /// Slots on the board of `side`, bit 0..14.
    pub(super) const fn placed(&self, side: Side) -> u32 {
        self.on_board >> (side.index() * Piece::PER_SIDE) & 0x3fff
    }

    pub(super) const fn has_queen(&self) -> bool {
        self.reference().is_some()
    }

    pub(super) const fn stack_count(&self) -> u8 {
        self.stack_count
    }

    pub(super) const fn has_holes(&self) -> bool {
        self.euler < 1
    }

    pub(super) const fn around_table(&self) -> &[u8; Cell::COUNT] {
        &self.around
    }

    /// Puts `piece` on top of what lies on `cell`.
    pub(super) fn put(&mut self, piece: Piece, cell: Cell) {
        let index = piece.index() & 31;
        let under = self.grid[cell.index() & 1023];
        self.cells[index] = cell;
        self.levels[index] = under >> 5;
        self.below[index] = under & 31;
        self.on_board |= 1 << index;
        self.grid[cell.index() & 1023] = ((under & !31) + 32) | (index as u8 + 1);
        self.stack_count += u8::from(under >> 5 == 1);
        self.tops[piece.side().opponent().index()].remove(cell);
        self.tops[piece.side().index()].insert(cell);
        if under == 0 {
            self.euler += 1 - GROUPS[usize::from(self.around(cell)) & 63];
            self.flip_around(cell);
        }
    }

    /// Takes `piece` off the top of its cell.
    pub(super) fn lift(&mut self, piece: Piece) {
        let index = piece.index() & 31;
        let cell = self.cells[index];
        let (under, level) = (self.below[index], self.levels[index]);
        self.on_board &= !(1 << index);
        self.levels[index] = 0;
        self.below[index] = 0;
        self.grid[cell.index() & 1023] = level << 5 | under;
        self.tops[piece.side().index()].remove(cell);
        match Piece::from_index(under.wrapping_sub(1)) {
            Some(below) => {
                self.tops[below.side().index()].insert(cell);
                self.stack_count -= u8::from(level == 1);
            }
            None => {
                self.euler -= 1 - GROUPS[usize::from(self.around(cell)) & 63];
                self.flip_around(cell);
            }
        }
    }

    fn flip_around(&mut self, cell: Cell) {
        for direction in 0..6 {
            self.around[cell.step(direction).index() & 1023] ^= 1 << ((direction + 3) % 6);
        }
    }

    /// Brings `piece` (`None`: a pass) to `target` and ends the ply. History is the caller's business.
    pub(super) fn bring(&mut self, piece: Option<Piece>, target: Cell) -> Undo {
        let mut undo = Undo { piece: NO_PIECE, from: None, resting: self.resting, piece_sum: self.piece_sum };
        self.ply += 1;
        self.resting = 0;
        let Some(piece) = piece else { return undo };
        undo.piece = piece.index() as u8;
        undo.from = self.cell_of(piece);
        self.resting = undo.piece + 1;
        let reference = self.reference();
        if let (Some(_), Some(reference)) = (undo.from, reference) {
            self.piece_sum = self.piece_sum.wrapping_sub(self.hash_of(piece, reference));
        }
        if undo.from.is_some() {
            self.lift(piece);
        }
        self.put(piece, target);
        match reference {
            Some(cell) if self.reference() == reference => {
                self.piece_sum = self.piece_sum.wrapping_add(self.hash_of(piece, cell));
            }
            _ => self.sum_pieces(),
        }
        undo
    }

    /// Undoes the last [`Position::bring`].
    pub(super) fn take_back(&mut self, undo: Undo) {
        self.ply -= 1;
        self.resting = undo.resting;
        self.piece_sum = undo.piece_sum;
        let Some(piece) = Piece::from_index(undo.piece) else { return };
        self.lift(piece);
        if let Some(from) = undo.from {
            self.put(piece, from);
        }
    }

    /// Computes the sum of the piece hashes afresh.
    pub(super) fn sum_pieces(&mut self) {
        self.piece_sum = match self.reference() {
            Some(reference) => self.pieces().map(|piece| self.hash_of(piece, reference)).fold(0, u64::wrapping_add),
            None => 0,
        };
    }

    fn hash_of(&self, piece: Piece, reference: Cell) -> u64 {
        let index = piece.index() & 31;
        piece_hash(piece, self.levels[index], self.cells[index], reference)
    }

    /// The cell from which the hash counts all others: a queen's, so that a shifted hive hashes alike.
    const fn reference(&self) -> Option<Cell> {
        match self.queen(Side::White) {
            Some(cell) => Some(cell),
            None => self.queen(Side::Black),
        }
    }

    /// Before a queen is placed at most six pieces lie on the board: every pair is counted.
    fn pair_sum(&self) -> u64 {
        let told_from = |from: Piece| {
            let reference = self.cells[from.index() & 31];
            let others = self.pieces().map(|piece| self.hash_of(piece, reference)).fold(0, u64::wrapping_add);
            piece_hash(from, 7, reference, reference).wrapping_mul(others | 1)
        };
        self.pieces().map(told_from).fold(0, u64::wrapping_add)
    }
}

/// The pieces of both sides that a game type has, bit by piece.
fn in_play(game_type: GameType) -> u32 {
    let expansions = u32::from(game_type.ladybug) << PieceKind::Ladybug.first_slot()
        | u32::from(game_type.mosquito) << PieceKind::Mosquito.first_slot()
        | u32::from(game_type.pillbug) << PieceKind::Pillbug.first_slot();
    let slots = 0x7ff | expansions;
    slots | slots << Piece::PER_SIDE
}
