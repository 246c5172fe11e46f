//! Tic-tac-toe: the smallest game, whose truth is known.

use super::heuristic::squashed;
use super::{Game, Heuristic, MoveError, MoveNumber, Outcome, Side, Value};

/// The rules of tic-tac-toe on a 3 x 3 board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TicTacToe;

/// A square, 0..9, row by row from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Square(u8);

impl Square {
    /// Returns the square with this number, `None` from 9 on.
    #[must_use]
    pub fn new(index: u8) -> Option<Self> {
        (index < 9).then_some(Self(index))
    }

    /// Returns the number of the square, 0..9.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl MoveNumber for Square {
    #[inline]
    fn number(self) -> u16 {
        self.0.into()
    }

    #[inline]
    fn of_number(number: u16) -> Self {
        Self((number % 9) as u8)
    }
}

/// The marks of both sides, one bit a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    marks: [u16; 2],
}

const FULL: u16 = 0x1ff;
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl Position {
    /// Returns the position with these marks; the side to move follows from their number.
    ///
    /// `None` if squares overlap, do not exist, or the numbers of marks are impossible.
    #[must_use]
    pub fn from_marks(white: u16, black: u16) -> Option<Self> {
        let (white_count, black_count) = (white.count_ones(), black.count_ones());
        let is_possible = white & black == 0
            && (white | black) & !FULL == 0
            && (white_count == black_count || white_count == black_count + 1);
        is_possible.then_some(Self { marks: [white, black] })
    }

    /// Returns the squares that `side` has marked, bit i for square i.
    #[must_use]
    pub const fn marks(&self, side: Side) -> u16 {
        self.marks[side.index()]
    }

    fn occupied(self) -> u16 {
        self.marks[0] | self.marks[1]
    }

    fn has_line(self, side: Side) -> bool {
        LINES.iter().any(|line| self.marks(side) & line == *line)
    }
}

impl Game for TicTacToe {
    type Position = Position;
    type Move = Square;

    fn initial_position(&self) -> Position {
        Position::default()
    }

    fn legal_moves(&self, position: &Position, moves: &mut Vec<Square>) {
        if self.outcome(position).is_none() {
            moves.extend((0..9).filter(|index| position.occupied() & (1 << index) == 0).map(Square));
        }
    }

    fn play(&self, position: &mut Position, mv: Square) {
        let side = self.side_to_move(position);
        position.marks[side.index()] |= 1 << mv.0;
    }

    fn outcome(&self, position: &Position) -> Option<Outcome> {
        // Only the side that moved last can have completed a line.
        let last = self.side_to_move(position).opponent();
        if position.has_line(last) {
            Some(Outcome::Win(last))
        } else {
            (position.occupied() == FULL).then_some(Outcome::Draw)
        }
    }

    fn side_to_move(&self, position: &Position) -> Side {
        if self.ply(position).is_multiple_of(2) { Side::White } else { Side::Black }
    }

    fn ply(&self, position: &Position) -> u32 {
        position.occupied().count_ones()
    }

    fn hash(&self, position: &Position) -> u64 {
        u64::from(position.marks[0]) << 9 | u64::from(position.marks[1])
    }

    fn is_cut_off(&self, _position: &Position) -> bool {
        false
    }

    fn format_move(&self, _position: &Position, mv: Square) -> String {
        let column = ["a", "b", "c"][mv.index() % 3];
        format!("{column}{}", 3 - mv.index() / 3)
    }

    fn parse_move(&self, position: &Position, text: &str) -> Result<Square, MoveError> {
        let ply = self.ply(position);
        if self.outcome(position).is_some() {
            return Err(MoveError::GameOver { text: text.into(), ply });
        }
        let square = (0..9).map(Square).find(|square| self.format_move(position, *square) == text);
        let square =
            square.ok_or_else(|| MoveError::Unreadable { text: text.into(), reason: "squares are a1 to c3".into() })?;
        if position.occupied() & (1 << square.0) != 0 {
            return Err(MoveError::Illegal { text: text.into(), ply });
        }
        Ok(square)
    }
}

impl Heuristic for TicTacToe {
    /// Lines that one side alone has marks on, two marks counting four times as much as one.
    fn heuristic_value(&self, position: &mut Position) -> Value {
        let side = self.side_to_move(position);
        let promise = |side: Side| -> u32 {
            let open = LINES.iter().filter(|line| position.marks(side.opponent()) & **line == 0);
            open.map(|line| (position.marks(side) & line).count_ones().pow(2)).sum()
        };
        squashed((promise(side) as f32 - promise(side.opponent()) as f32) / 8.0)
    }
}
