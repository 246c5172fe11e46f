//! Solves the positions whose men stand alike, by going backwards from those that are decided.

use shared::game::Side;
use shared::game::dama::{Board, Direction, Move, Square};

use crate::class::{Class, Men};
use crate::index::each_set;
use crate::set::{ClassTable, TableSet};
use crate::value::{DISTANCE_MAX, TableValue};

/// The bytes of the positions with White and with Black to move.
pub type Solved = [Vec<u8>; 2];

/// More than any distance and less than a loss: so many moves of kings are not decided, and nothing is better so far.
const OPEN: u8 = DISTANCE_MAX + 1;
/// Not decided, and a draw at least.
const OPEN_DRAW: u8 = 127;

/// The neighbours of each square, as sets.
const NEIGHBOURS: [u32; 32] = {
    let mut neighbours = [0; 32];
    let mut index = 0;
    while index < 32 {
        let mut direction = 0;
        while direction < 4 {
            if let Some(square) = Square::from_index(index as u8)
                && let Some(next) = square.neighbour(Direction::ALL[direction])
            {
                neighbours[index] |= next.bit();
            }
            direction += 1;
        }
        index += 1;
    }
    neighbours
};

/// A position whose value was just found.
#[derive(Clone, Copy)]
struct Found {
    side: Side,
    /// The kings of White and Black.
    kings: [u32; 2],
    is_win: bool,
}

/// Solves one arrangement of the men after the other. Its memory is used again and again.
pub struct KingsSolver<'a> {
    class: Class,
    known: &'a TableSet,
    moves: Vec<Move>,
    /// Positions that are decided at the present distance, and at the next one.
    found: Vec<Found>,
    next: Vec<Found>,
}

/// Calls `visit` with every way of the kings of White and Black to stand, in the order of the table.
pub fn each(class: Class, men: Men, mut visit: impl FnMut(u32, u32)) {
    let free = !(men.white | men.black);
    each_set(class.first().kings, free, |white| {
        each_set(class.second().kings, free & !white, |black| visit(white, black));
    });
}

impl<'a> KingsSolver<'a> {
    /// Makes a solver; `known` has the classes that captures and promotions lead to.
    pub fn new(class: Class, known: &'a TableSet) -> Self {
        Self { class, known, moves: vec![], found: vec![], next: vec![] }
    }

    /// Solves all positions with these men; `table` has those whose men stand further forward.
    pub fn solve(&mut self, men: Men, table: &ClassTable) -> Solved {
        let count = self.class.kings_count();
        let mut solved = [Vec::with_capacity(count), Vec::with_capacity(count)];
        self.found.clear();
        self.next.clear();
        each(self.class, men, |white, black| {
            let board = Board::new(men.white | white, men.black | black, white | black).unwrap_or_default();
            for side in [Side::White, Side::Black] {
                let byte = self.first_byte(&board, side, table);
                let value = TableValue::from_byte(byte);
                let found = |is_win| Found { side, kings: [white, black], is_win };
                match value {
                    Some(TableValue::Loss(0)) => self.found.push(found(false)),
                    Some(TableValue::Loss(_)) => self.next.push(found(false)),
                    Some(TableValue::Win(_)) => self.next.push(found(true)),
                    Some(TableValue::Draw) | None => {}
                }
                solved[side.index()].push(byte);
            }
        });
        for distance in 0..DISTANCE_MAX {
            self.go_back(men, distance + 1, &mut solved);
            std::mem::swap(&mut self.found, &mut self.next);
            self.next.clear();
        }
        let is_open = |byte: &&mut u8| (OPEN..=OPEN_DRAW).contains(&**byte);
        let draw = TableValue::Draw.to_byte();
        solved.iter_mut().flatten().filter(is_open).for_each(|byte| *byte = draw);
        solved
    }

    /// Returns what a position is by its captures and moves of men alone.
    fn first_byte(&mut self, board: &Board, side: Side, table: &ClassTable) -> u8 {
        self.moves.clear();
        board.moves(side, &mut self.moves);
        if self.moves.is_empty() {
            return TableValue::Loss(0).to_byte();
        }
        let (mut quiet_count, mut is_drawn, mut is_lost) = (0, false, false);
        for mv in &self.moves {
            let mut after = *board;
            if !after.play(side, *mv) {
                quiet_count += 1;
                continue;
            }
            match self.value(&after, side.opponent(), table) {
                TableValue::Loss(_) => return TableValue::Win(1).to_byte(),
                TableValue::Draw => is_drawn = true,
                TableValue::Win(_) => is_lost = true,
            }
        }
        match (quiet_count, is_drawn, is_lost) {
            (0, false, true) => TableValue::Loss(1).to_byte(),
            (0, ..) => TableValue::Draw.to_byte(),
            (_, true, _) => OPEN_DRAW,
            (count, ..) => OPEN + count - 1,
        }
    }

    /// Returns the value of a position after a capture or a move of a man.
    fn value(&self, board: &Board, side: Side, table: &ClassTable) -> TableValue {
        let here = Class::of(board, side).filter(|(class, ..)| *class == self.class);
        let value = match here {
            Some((class, board, side)) => TableValue::from_byte(table.bytes()[class.index(&board, side)]),
            None => self.known.value(board, side),
        };
        value.expect("classes and men are solved in the order in which moves lead to earlier ones")
    }

    /// Decides what the positions found last decide: those from which a quiet move leads to them. They are at `distance`.
    fn go_back(&mut self, men: Men, distance: u8, solved: &mut Solved) {
        for Found { side, kings, is_win } in &self.found {
            let mover = side.opponent();
            let all = men.white | men.black | kings[0] | kings[1];
            let mut movers = kings[mover.index()];
            while movers != 0 {
                let to = movers & movers.wrapping_neg();
                movers ^= to;
                let mut sources = NEIGHBOURS[to.trailing_zeros() as usize & 31] & !all;
                while sources != 0 {
                    let from = sources & sources.wrapping_neg();
                    sources ^= from;
                    let mut before = *kings;
                    before[mover.index()] ^= to | from;
                    let byte = &mut solved[mover.index()][self.class.kings_index(men, before[0], before[1])];
                    let Some(value) = decide(*byte, *is_win, distance) else {
                        if *is_win && (OPEN + 1..OPEN_DRAW).contains(byte) {
                            *byte -= 1;
                        }
                        continue;
                    };
                    *byte = value.to_byte();
                    let is_win = matches!(value, TableValue::Win(_));
                    self.next.push(Found { side: mover, kings: before, is_win });
                }
            }
        }
    }
}

/// Returns what an open position becomes by a quiet move to one that its mover wins or loses; `None` if it stays open.
const fn decide(byte: u8, follower_wins: bool, distance: u8) -> Option<TableValue> {
    match byte {
        OPEN..=OPEN_DRAW if !follower_wins => Some(TableValue::Win(distance)),
        // The last of its moves, and the longest.
        OPEN if follower_wins => Some(TableValue::Loss(distance)),
        _ => None,
    }
}
