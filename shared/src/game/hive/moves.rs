//! Which moves are legal: placements, walks by kind of piece, and throws.
//!
//! One generator feeds a [`Sink`], which lists moves or only counts them.

use super::cell_set::Bits;
use super::slides::Slides;
use super::tables::{SLIDES, beside};
use super::{Cell, CellSet, HiveRules, Move, Piece, PieceKind, Position, window};
use crate::game::Side;

/// What becomes of the moves that are found. No cell is reported twice for one piece.
pub(super) trait Sink {
    /// `piece` may come to the neighbours of `from` in these directions.
    fn directions(&mut self, piece: Piece, from: Cell, directions: u8);
    /// `piece` may come to these cells.
    fn cells(&mut self, piece: Piece, cells: &CellSet);
    /// `piece` may come to these cells of the window around `centre`.
    fn window(&mut self, piece: Piece, centre: Cell, window: u64);
    /// `piece` may come to this cell.
    fn cell(&mut self, piece: Piece, cell: Cell);
    /// `piece` crawls like an ant from `from`.
    fn ant(&mut self, piece: Piece, from: Cell, slides: &mut Slides<'_>);
    /// Each of these slots of `side` may be placed on these cells.
    fn placements(&mut self, side: Side, slots: u32, cells: &CellSet);
}

/// Finds the moves of one position.
pub(super) struct Generator<'a> {
    position: &'a Position,
    occupied: CellSet,
    slides: Slides<'a>,
    cut: Option<CellSet>,
    throws: [Throw; 12],
    throw_count: usize,
}

/// A piece that may be thrown, by the thrower on `thrower`, in some directions.
#[derive(Clone, Copy)]
struct Throw {
    piece: Piece,
    thrower: Cell,
    directions: u8,
}

impl Position {
    /// Returns the cells on which the side to move may place a piece; none if it has no piece left.
    #[must_use]
    pub fn placement_cells(&self) -> CellSet {
        let side = self.side_to_move();
        if self.hand(side) == 0 {
            return CellSet::EMPTY;
        }
        match self.ply() {
            0 => [Cell::ORIGIN].into_iter().collect(),
            1 => self.occupied().neighbours(),
            _ => {
                let forbidden = self.tops(side.opponent()).neighbours().union(&self.occupied());
                self.tops(side).neighbours().minus(&forbidden)
            }
        }
    }

    /// Slots of the side to move that may be placed: the lowest in hand of each kind.
    fn placeable(&self, rules: &HiveRules) -> u32 {
        // Slots with one lower slot of their kind, and with two.
        const SECOND: u32 = 0b110_1101_0100;
        const THIRD: u32 = 0b100_1000_0000;
        let hand = self.hand(self.side_to_move());
        let lowest = hand & !(hand << 1 & SECOND) & !(hand << 2 & THIRD);
        match self.ply() / 2 {
            0 if !rules.queen_first_allowed => lowest & !1,
            // The queen comes by the fourth turn.
            3.. if hand & 1 == 1 => 1,
            _ => lowest,
        }
    }
}

impl<'a> Generator<'a> {
    pub(super) fn new(position: &'a Position) -> Self {
        let nothing = Throw { piece: FIRST_PIECE, thrower: Cell::ORIGIN, directions: 0 };
        Self {
            position,
            occupied: position.occupied(),
            slides: Slides::new(position.around_table()),
            cut: None,
            throws: [nothing; 12],
            throw_count: 0,
        }
    }

    /// Hands all moves but a pass to `sink`. The game must go on.
    pub(super) fn generate<S: Sink>(&mut self, rules: &HiveRules, sink: &mut S) {
        let side = self.position.side_to_move();
        let slots = self.position.placeable(rules);
        if slots != 0 {
            sink.placements(side, slots, &self.position.placement_cells());
        }
        if self.position.queen(side).is_none() {
            return;
        }
        self.find_throws(side);
        let thrown =
            self.throws[..self.throw_count].iter().fold(0, |thrown, throw| thrown | 1u32 << throw.piece.index());
        let shift = side.index() * Piece::PER_SIDE;
        let own = self.position.placed(side);
        for slot in Bits(own) {
            let Some(piece) = Piece::from_index((slot + shift) as u8) else { continue };
            if thrown >> piece.index() & 1 == 0 {
                self.walk(piece, sink);
            } else {
                let mut targets = CellSet::EMPTY;
                self.walk(piece, &mut targets);
                self.add_throws(piece, &mut targets);
                sink.cells(piece, &targets);
            }
        }
        for index in Bits(thrown & !(own << shift)) {
            let Some(piece) = Piece::from_index(index as u8) else { continue };
            let mut targets = CellSet::EMPTY;
            self.add_throws(piece, &mut targets);
            sink.cells(piece, &targets);
        }
    }

    /// Hands over where `piece`, on the board and of the side to move, can go by itself.
    fn walk<S: Sink>(&mut self, piece: Piece, sink: &mut S) {
        let Some(cell) = self.position.cell_of(piece) else { return };
        if self.position.top(cell) != Some(piece) || self.position.last_moved() == Some(piece) {
            return;
        }
        let level = self.position.level_of(piece);
        if level > 0 {
            return sink.directions(piece, cell, self.climbs(cell, level));
        }
        if self.is_cut(cell) {
            return;
        }
        if piece.kind() == PieceKind::Mosquito {
            self.walk_as_neighbours(piece, cell, sink);
        } else {
            self.walk_as(piece.kind(), piece, cell, sink);
        }
    }

    /// The mosquito on the ground: as every kind that it touches.
    fn walk_as_neighbours<S: Sink>(&mut self, piece: Piece, cell: Cell, sink: &mut S) {
        let kinds = self.kinds_around(cell);
        // Queen and pillbug slide one step, which a beetle and an ant can, too.
        let slide = 1 << PieceKind::Queen as u32 | 1 << PieceKind::Pillbug as u32;
        let mut wanted = kinds & !(1 << PieceKind::Mosquito as u32);
        if wanted & (1 << PieceKind::Beetle as u32 | 1 << PieceKind::Ant as u32) != 0 {
            wanted &= !slide;
        } else if wanted & slide == slide {
            wanted &= !(1 << PieceKind::Pillbug as u32);
        }
        if wanted.count_ones() == 1 {
            return self.walk_as(PieceKind::ALL[wanted.trailing_zeros() as usize & 7], piece, cell, sink);
        }
        let mut targets = CellSet::EMPTY;
        for kind in Bits(wanted) {
            self.walk_as(PieceKind::ALL[kind & 7], piece, cell, &mut targets);
        }
        sink.cells(piece, &targets);
    }

    fn walk_as<S: Sink>(&mut self, kind: PieceKind, piece: Piece, cell: Cell, sink: &mut S) {
        match kind {
            PieceKind::Queen | PieceKind::Pillbug => {
                sink.directions(piece, cell, SLIDES[usize::from(self.position.around(cell)) & 63]);
            }
            PieceKind::Beetle => sink.directions(piece, cell, self.climbs(cell, 0)),
            PieceKind::Spider => {
                sink.window(piece, cell, window::spider(window::cut_out(&self.occupied, cell)));
            }
            PieceKind::Ladybug if self.position.stack_count() < 2 => {
                sink.window(piece, cell, window::ladybug(window::cut_out(&self.occupied, cell)));
            }
            PieceKind::Ladybug => sink.cells(piece, &self.ladybug_past_stacks(cell)),
            PieceKind::Grasshopper => self.jump(piece, cell, sink),
            PieceKind::Ant => sink.ant(piece, cell, &mut self.slides),
            PieceKind::Mosquito => {}
        }
    }

    fn jump<S: Sink>(&self, piece: Piece, cell: Cell, sink: &mut S) {
        for direction in Bits(u32::from(self.position.around(cell))) {
            let mut target = cell.step(direction).step(direction);
            while self.position.height(target) > 0 {
                target = target.step(direction);
            }
            sink.cell(piece, target);
        }
    }

    /// Directions of one step of a beetle that stands on `level` pieces.
    fn climbs(&self, cell: Cell, level: u8) -> u8 {
        let around = self.position.around(cell);
        let slides = SLIDES[usize::from(around) & 63];
        // Up high a gate needs two stacks, the beetle's own aside.
        if self.position.stack_count() < 2 {
            return if level > 0 { 63 } else { slides | around };
        }
        let heights: [u8; 6] = std::array::from_fn(|direction| self.position.height(cell.step(direction)));
        (0..6).fold(0, |climbs, direction| {
            let top = level.max(heights[direction]);
            let gate = heights[(direction + 1) % 6].min(heights[(direction + 5) % 6]);
            let is_open = if top == 0 { slides >> direction & 1 == 1 } else { gate <= top };
            climbs | u8::from(is_open) << direction
        })
    }

    fn ladybug_past_stacks(&self, from: Cell) -> CellSet {
        let mut targets = CellSet::EMPTY;
        for first in self.steps_on_top(from, from, true) {
            for second in self.steps_on_top(from, first, true) {
                self.steps_on_top(from, second, false).for_each(|target| targets.insert(target));
            }
        }
        targets.remove(from);
        targets
    }

    /// One ladybug step from `cell`, onto pieces or down between them; the ladybug itself is lifted from `lifted`.
    fn steps_on_top(&self, lifted: Cell, cell: Cell, onto_pieces: bool) -> impl Iterator<Item = Cell> {
        let height = move |of: Cell| if of == lifted { 0 } else { self.position.height(of) };
        (0..6).filter_map(move |direction| {
            let target = cell.step(direction);
            let gate = height(cell.step((direction + 1) % 6)).min(height(cell.step((direction + 5) % 6)));
            let is_open = gate <= height(cell).max(height(target));
            (is_open && (height(target) > 0) == onto_pieces).then_some(target)
        })
    }

    fn find_throws(&mut self, side: Side) {
        for kind in [PieceKind::Pillbug, PieceKind::Mosquito] {
            let Some(thrower) = Piece::new(side, kind, 1) else { continue };
            let Some(cell) = self.position.cell_of(thrower) else { continue };
            let can_throw = self.position.top(cell) == Some(thrower)
                && self.position.level_of(thrower) == 0
                && self.position.last_moved() != Some(thrower)
                && (kind == PieceKind::Pillbug || self.kinds_around(cell) >> PieceKind::Pillbug as u32 & 1 == 1);
            if can_throw {
                self.find_throws_over(cell);
            }
        }
    }

    fn find_throws_over(&mut self, thrower: Cell) {
        let around = self.position.around(thrower);
        let passable = self.passable(thrower);
        let directions = !around & passable;
        if directions == 0 {
            return;
        }
        for direction in Bits(u32::from(around & passable)) {
            let cell = thrower.step(direction);
            let Some(piece) = self.position.top(cell) else { continue };
            if self.position.height(cell) == 1 && self.position.last_moved() != Some(piece) && !self.is_cut(cell) {
                self.throws[self.throw_count] = Throw { piece, thrower, directions };
                self.throw_count += 1;
            }
        }
    }

    /// Directions in which no gate of two stacks keeps a thrown piece from stepping up or down.
    fn passable(&self, thrower: Cell) -> u8 {
        if self.position.stack_count() < 2 {
            return 63;
        }
        let stacks = (0..6).fold(0, |stacks, direction| {
            stacks | u8::from(self.position.height(thrower.step(direction)) > 1) << direction
        });
        let (left, right) = beside(stacks);
        !(left & right) & 63
    }

    fn add_throws(&self, piece: Piece, targets: &mut CellSet) {
        for throw in self.throws[..self.throw_count].iter().filter(|throw| throw.piece == piece) {
            Bits(u32::from(throw.directions)).for_each(|direction| targets.insert(throw.thrower.step(direction)));
        }
    }

    /// Kinds of the top pieces around a cell, bit by kind.
    fn kinds_around(&self, cell: Cell) -> u32 {
        Bits(u32::from(self.position.around(cell)))
            .filter_map(|direction| self.position.top(cell.step(direction)))
            .fold(0, |kinds, piece| kinds | 1 << piece.kind() as u32)
    }

    fn is_cut(&mut self, cell: Cell) -> bool {
        if !self.position.has_holes() {
            return self.position.is_cut(cell);
        }
        if super::tables::GROUPS[usize::from(self.position.around(cell)) & 63] < 2 {
            return false;
        }
        self.cut.get_or_insert_with(|| self.position.cut_cells()).contains(cell)
    }
}

const FIRST_PIECE: Piece = match Piece::from_index(0) {
    Some(piece) => piece,
    None => unreachable!(),
};

impl Sink for Vec<Move> {
    fn directions(&mut self, piece: Piece, from: Cell, directions: u8) {
        self.extend(Bits(u32::from(directions)).map(|direction| Move::new(piece, from.step(direction))));
    }

    fn cells(&mut self, piece: Piece, cells: &CellSet) {
        for (r, &row) in cells.rows.iter().enumerate() {
            for q in Bits(row) {
                self.push(Move::new(piece, Cell::from_axial(q as i32, r as i32)));
            }
        }
    }

    fn window(&mut self, piece: Piece, centre: Cell, window: u64) {
        self.extend(window::cells(centre, window).map(|cell| Move::new(piece, cell)));
    }

    fn cell(&mut self, piece: Piece, cell: Cell) {
        self.push(Move::new(piece, cell));
    }

    fn ant(&mut self, piece: Piece, from: Cell, slides: &mut Slides<'_>) {
        self.cells(piece, &slides.reach(from));
    }

    fn placements(&mut self, side: Side, slots: u32, cells: &CellSet) {
        let shift = side.index() * Piece::PER_SIDE;
        let start = self.len();
        for piece in Bits(slots).filter_map(|slot| Piece::from_index((slot + shift) as u8)) {
            if self.len() == start {
                self.cells(piece, cells);
            } else {
                // The cells are the same for every kind.
                let count = cells.len();
                for index in start..start + count {
                    self.push(Move::new(piece, self[index].target()));
                }
            }
        }
    }
}

impl Sink for CellSet {
    fn directions(&mut self, _piece: Piece, from: Cell, directions: u8) {
        Bits(u32::from(directions)).for_each(|direction| self.insert(from.step(direction)));
    }

    fn cells(&mut self, _piece: Piece, cells: &CellSet) {
        *self = self.union(cells);
    }

    fn window(&mut self, _piece: Piece, centre: Cell, window: u64) {
        window::paste(self, centre, window);
    }

    fn cell(&mut self, _piece: Piece, cell: Cell) {
        self.insert(cell);
    }

    fn ant(&mut self, _piece: Piece, from: Cell, slides: &mut Slides<'_>) {
        *self = self.union(&slides.reach(from));
    }

    fn placements(&mut self, _side: Side, _slots: u32, cells: &CellSet) {
        *self = self.union(cells);
    }
}

/// Counts moves without listing them.
#[derive(Debug, Default)]
pub(super) struct Count(pub(super) usize);

impl Sink for Count {
    fn directions(&mut self, _piece: Piece, _from: Cell, directions: u8) {
        self.0 += directions.count_ones() as usize;
    }

    fn cells(&mut self, _piece: Piece, cells: &CellSet) {
        self.0 += cells.len();
    }

    fn window(&mut self, _piece: Piece, _centre: Cell, window: u64) {
        self.0 += window.count_ones() as usize;
    }

    fn cell(&mut self, _piece: Piece, _cell: Cell) {
        self.0 += 1;
    }

    fn ant(&mut self, _piece: Piece, from: Cell, slides: &mut Slides<'_>) {
        self.0 += slides.reach_count(from);
    }

    fn placements(&mut self, _side: Side, slots: u32, cells: &CellSet) {
        self.0 += slots.count_ones() as usize * cells.len();
    }
}
