//! Which moves a side has: steps, or the captures that are left by the four priorities.
//!
//! The priorities are one number a capture, compared as a whole: pieces taken, made by a king, kings taken, and the
//! order in which kings are met (the first difference decides, a king before a man).

use super::board::Board;
use super::mv::Move;
use super::square::{leap, step};
use super::tables::{NONE, TABLES, start};
use crate::game::{Side, index_at};

/// Most pieces that one capture can take.
pub(super) const JUMP_COUNT_MAX: usize = 9;

/// Takes the moves that are found.
pub(super) trait Sink {
    /// A step is legal.
    fn step(&mut self, mv: Move);
    /// As many steps are legal as `movers` has squares, in direction number `DIRECTION`.
    #[inline]
    fn steps<const DIRECTION: usize>(&mut self, mut movers: u32) {
        while movers != 0 {
            self.step(Move::new(TABLES.steps[movers.trailing_zeros() as usize][DIRECTION]));
            movers &= movers - 1;
        }
    }
    /// A capture has the best priority so far. `route` are its chains, one a jump, the last of them the move.
    fn capture(&mut self, route: &[u16]);
    /// The captures so far are not legal: a better one follows.
    fn forget_captures(&mut self);
}

/// Finds all moves of `side`. The order never changes.
#[inline]
pub(super) fn find_moves(board: &Board, side: Side, sink: &mut impl Sink) {
    match side {
        Side::White => find::<0, 1>(board, sink),
        Side::Black => find::<2, 3>(board, sink),
    }
}

/// Returns the move at `share` / 2^32 of the list of moves of `side`, without a list unless there is a capture.
#[inline]
pub(super) fn choose_move(board: &Board, side: Side, share: u32, scratch: &mut Vec<Move>) -> Option<Move> {
    match side {
        Side::White => choose::<0, 1>(board, share, scratch),
        Side::Black => choose::<2, 3>(board, share, scratch),
    }
}

#[inline]
fn choose<const FIRST: usize, const SECOND: usize>(board: &Board, share: u32, scratch: &mut Vec<Move>) -> Option<Move> {
    let forces = Forces::new(board, side_of(FIRST));
    let (men, kings) = forces.that_jump::<FIRST, SECOND>();
    if men | kings != 0 {
        scratch.clear();
        forces.find_captures::<FIRST, SECOND>(men, kings, board.kings, &mut Results::new(scratch));
        return scratch.get(index_at(share, scratch.len())).copied();
    }
    let mut count = WayCount::default();
    forces.find_steps::<FIRST, SECOND>(&mut count);
    let mut nth = Nth { before: index_at(share, count.0 as usize) as u32, mv: None };
    forces.find_steps::<FIRST, SECOND>(&mut nth);
    nth.mv
}

/// Returns the side whose men go in direction number `first`.
#[inline]
pub(super) const fn side_of(first: usize) -> Side {
    if first < 2 { Side::White } else { Side::Black }
}

/// Returns whether a side has a move at all.
#[inline]
pub(super) fn has_move(board: &Board, side: Side) -> bool {
    match side {
        Side::White => Forces::new(board, side).has_move::<0, 1>(),
        Side::Black => Forces::new(board, side).has_move::<2, 3>(),
    }
}

/// Returns the number of steps that a side could make if it had nothing to capture.
#[inline]
pub(super) fn step_count(board: &Board, side: Side) -> u32 {
    let mut count = WayCount::default();
    match side {
        Side::White => Forces::new(board, side).find_steps::<0, 1>(&mut count),
        Side::Black => Forces::new(board, side).find_steps::<2, 3>(&mut count),
    }
    count.0 as u32
}

/// The same for the side whose men go in directions number `FIRST` and `SECOND`.
#[inline]
pub(super) fn find<const FIRST: usize, const SECOND: usize>(board: &Board, sink: &mut impl Sink) {
    let forces = Forces::new(board, side_of(FIRST));
    let (men, kings) = forces.that_jump::<FIRST, SECOND>();
    if men | kings == 0 {
        forces.find_steps::<FIRST, SECOND>(sink);
    } else {
        forces.find_captures::<FIRST, SECOND>(men, kings, board.kings, sink);
    }
}

/// The board from the view of the side to move.
struct Forces {
    men: u32,
    kings: u32,
    enemy_men: u32,
    enemies: u32,
    empty: u32,
}

/// Squares from which a jump is possible, by the number of its direction.
#[derive(Clone, Copy, Default)]
struct Jumps([u32; 4]);

impl Jumps {
    const fn any(self) -> u32 {
        self.0[0] | self.0[1] | self.0[2] | self.0[3]
    }
}

impl Forces {
    #[inline]
    fn new(board: &Board, side: Side) -> Self {
        let enemies = board.pieces(side.opponent());
        Self {
            men: board.men(side),
            kings: board.kings(side),
            enemy_men: enemies & !board.kings,
            enemies,
            empty: board.empty(),
        }
    }

    /// Jumps of men over men.
    #[inline]
    fn man_jumps<const FIRST: usize, const SECOND: usize>(&self) -> Jumps {
        let mut jumps = Jumps::default();
        jumps.0[FIRST] = back_step::<FIRST>(self.enemy_men) & back_leap::<FIRST>(self.empty);
        jumps.0[SECOND] = back_step::<SECOND>(self.enemy_men) & back_leap::<SECOND>(self.empty);
        jumps
    }

    #[inline]
    fn men_that_jump<const FIRST: usize, const SECOND: usize>(&self) -> u32 {
        self.men & self.man_jumps::<FIRST, SECOND>().any()
    }

    /// Men and kings that can jump.
    #[inline]
    fn that_jump<const FIRST: usize, const SECOND: usize>(&self) -> (u32, u32) {
        let kings = if self.kings == 0 { 0 } else { self.kings & self.king_jumps(0).any() };
        (self.men_that_jump::<FIRST, SECOND>(), kings)
    }

    /// Jumps of the king that started on the square `from`, a set of one or none: it is empty by now.
    #[inline]
    fn king_jumps(&self, from: u32) -> Jumps {
        let (enemies, free) = (self.enemies, self.empty | from);
        Jumps([
            back_step::<0>(enemies) & back_leap::<0>(free),
            back_step::<1>(enemies) & back_leap::<1>(free),
            back_step::<2>(enemies) & back_leap::<2>(free),
            back_step::<3>(enemies) & back_leap::<3>(free),
        ])
    }

    #[inline]
    fn has_move<const FIRST: usize, const SECOND: usize>(&self) -> bool {
        let forward = back_step::<FIRST>(self.empty) | back_step::<SECOND>(self.empty);
        if (self.men | self.kings) & forward != 0 || self.men_that_jump::<FIRST, SECOND>() != 0 {
            return true;
        }
        let around = step::<0>(self.empty) | step::<1>(self.empty) | step::<2>(self.empty) | step::<3>(self.empty);
        self.kings & (around | self.king_jumps(0).any()) != 0
    }

    /// Finds the captures of `men` and `kings`, those that can jump; `all_kings` are those of either side.
    #[inline]
    fn find_captures<const FIRST: usize, const SECOND: usize>(
        &self,
        men: u32,
        kings: u32,
        all_kings: u32,
        sink: &mut impl Sink,
    ) {
        let mut chains = Chains {
            sink,
            kings: all_kings,
            jumps: Jumps::default(),
            is_king: false,
            best: 0,
            route: [0; JUMP_COUNT_MAX],
        };
        if men != 0 {
            chains.jumps = self.man_jumps::<FIRST, SECOND>();
            chains.follow_each(men, |_| None);
        }
        if kings != 0 {
            chains.is_king = true;
            chains.follow_each(kings, |from| Some(self.king_jumps(from)));
        }
    }

    #[inline]
    fn find_steps<const FIRST: usize, const SECOND: usize>(&self, sink: &mut impl Sink) {
        let all = self.men | self.kings;
        sink.steps::<FIRST>(all & back_step::<FIRST>(self.empty));
        sink.steps::<SECOND>(all & back_step::<SECOND>(self.empty));
        if self.kings == 0 {
            return;
        }
        // Backwards, whichever way that is.
        if FIRST == 0 {
            sink.steps::<2>(self.kings & back_step::<2>(self.empty));
            sink.steps::<3>(self.kings & back_step::<3>(self.empty));
        } else {
            sink.steps::<0>(self.kings & back_step::<0>(self.empty));
            sink.steps::<1>(self.kings & back_step::<1>(self.empty));
        }
    }
}

/// Follows chains of jumps to their ends and keeps the best.
struct Chains<'a, S> {
    sink: &'a mut S,
    /// Kings of either side; only the enemy's are ever jumped.
    kings: u32,
    jumps: Jumps,
    is_king: bool,
    best: u32,
    route: [u16; JUMP_COUNT_MAX],
}

impl<S: Sink> Chains<'_, S> {
    /// Follows the chains of each of `movers`; `jumps_of` tells the jumps of one, unless they are the same for all.
    #[inline]
    fn follow_each(&mut self, mut movers: u32, jumps_of: impl Fn(u32) -> Option<Jumps>) {
        while movers != 0 {
            let from = movers & movers.wrapping_neg();
            self.jumps = jumps_of(from).unwrap_or(self.jumps);
            self.follow(start(from.trailing_zeros() as usize), 0, 0);
            movers ^= from;
        }
    }

    /// Goes on from `chain` after `length` jumps. `met` has a bit for each piece taken, the last one lowest: 1 a king.
    fn follow(&mut self, chain: u16, length: usize, met: u32) {
        let to = TABLES.to[usize::from(chain)];
        let mut is_complete = true;
        for direction in 0..4 {
            if self.jumps.0[direction] >> to & 1 == 0 {
                continue;
            }
            let longer = TABLES.longer[usize::from(chain)][direction];
            if longer != NONE {
                is_complete = false;
                let over = TABLES.captured[usize::from(longer)] ^ TABLES.captured[usize::from(chain)];
                self.route[length] = longer;
                self.follow(longer, length + 1, met << 1 | u32::from(self.kings & over != 0));
            }
        }
        if is_complete {
            self.finish(length, met);
        }
    }

    #[inline]
    fn finish(&mut self, length: usize, met: u32) {
        let priority = (length as u32) << 24 | u32::from(self.is_king) << 23 | met.count_ones() << 16 | met;
        if priority < self.best {
            return;
        }
        if priority > self.best {
            self.best = priority;
            self.sink.forget_captures();
        }
        self.sink.capture(&self.route[..length]);
    }
}

/// Returns the squares whose neighbour in direction number `DIRECTION` is in `set`.
#[inline]
const fn back_step<const DIRECTION: usize>(set: u32) -> u32 {
    match DIRECTION {
        0 => step::<3>(set),
        1 => step::<2>(set),
        2 => step::<1>(set),
        _ => step::<0>(set),
    }
}

/// Returns the squares that are two steps from one of `set`, seen from there in direction number `DIRECTION`.
#[inline]
const fn back_leap<const DIRECTION: usize>(set: u32) -> u32 {
    match DIRECTION {
        0 => leap::<3>(set),
        1 => leap::<2>(set),
        2 => leap::<1>(set),
        _ => leap::<0>(set),
    }
}

/// Lists moves, each result once.
pub(super) struct Results<'a> {
    moves: &'a mut Vec<Move>,
    start: usize,
}

impl<'a> Results<'a> {
    /// Appends to `moves`.
    pub(super) fn new(moves: &'a mut Vec<Move>) -> Self {
        let start = moves.len();
        Self { moves, start }
    }
}

impl Sink for Results<'_> {
    #[inline]
    fn step(&mut self, mv: Move) {
        self.moves.push(mv);
    }

    #[inline]
    fn capture(&mut self, route: &[u16]) {
        let mv = last(route);
        if !self.moves[self.start..].contains(&mv) {
            self.moves.push(mv);
        }
    }

    fn forget_captures(&mut self) {
        self.moves.truncate(self.start);
    }
}

/// Lists moves, each as often as there are ways to it.
pub(super) struct Ways<'a>(pub(super) &'a mut Vec<Move>);

impl Sink for Ways<'_> {
    #[inline]
    fn step(&mut self, mv: Move) {
        self.0.push(mv);
    }

    #[inline]
    fn capture(&mut self, route: &[u16]) {
        self.0.push(last(route));
    }

    fn forget_captures(&mut self) {
        self.0.clear();
    }
}

/// Counts moves, each as often as there are ways to it.
#[derive(Default)]
pub(super) struct WayCount(pub(super) u64);

impl Sink for WayCount {
    fn step(&mut self, _: Move) {
        self.0 += 1;
    }

    #[inline]
    fn steps<const DIRECTION: usize>(&mut self, movers: u32) {
        self.0 += u64::from(movers.count_ones());
    }

    #[inline]
    fn capture(&mut self, _: &[u16]) {
        self.0 += 1;
    }

    #[inline]
    fn forget_captures(&mut self) {
        self.0 = 0;
    }
}

/// Takes the step that has `before` others before it.
struct Nth {
    before: u32,
    mv: Option<Move>,
}

impl Sink for Nth {
    fn step(&mut self, mv: Move) {
        self.mv = Some(mv);
    }

    #[inline]
    fn steps<const DIRECTION: usize>(&mut self, mut movers: u32) {
        let count = movers.count_ones();
        if self.mv.is_none() && self.before < count {
            for _ in 0..self.before {
                movers &= movers - 1;
            }
            self.step(Move::new(TABLES.steps[movers.trailing_zeros() as usize][DIRECTION]));
        } else {
            self.before -= count.min(self.before);
        }
    }

    fn capture(&mut self, _: &[u16]) {}

    fn forget_captures(&mut self) {}
}

/// Keeps every way to make each capture.
#[derive(Default)]
pub(super) struct Routes(pub(super) Vec<Vec<u16>>);

impl Sink for Routes {
    fn step(&mut self, _: Move) {}

    fn capture(&mut self, route: &[u16]) {
        self.0.push(route.to_vec());
    }

    fn forget_captures(&mut self) {
        self.0.clear();
    }
}

#[inline]
fn last(route: &[u16]) -> Move {
    Move::new(route[route.len() - 1])
}
