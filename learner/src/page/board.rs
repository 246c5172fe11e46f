//! Boards as the page draws them: what lies where. Everything is read from positions of the rules; the page's scripts
//! know no rules.

use serde::Serialize;
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::dama::DamaEncoding;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::dama::{self, Dama};
use shared::game::hive::{self, Cell, Hive, Piece};
use shared::game::tictactoe::{self, TicTacToe};
use shared::game::{Game, Side};

/// A board.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Board {
    /// Hive: (piece, q, r, pieces under it). The first piece of a game lies at 0, 0; q goes right, r to the lower right.
    Pieces(Vec<(String, i32, i32, u8)>),
    /// One letter a square: `.` empty, `w` and `b` men or marks, `W` and `B` kings. Draughts: squares 1 to 32; tic-tac-toe:
    /// row by row from the top left.
    Squares(String),
}

/// A place on a board.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Place {
    /// Hive: q and r.
    Cell(i32, i32),
    /// Index of a square, from 0.
    Square(u8),
}

/// The places that a move touches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct MovePlaces {
    /// Where the piece comes from; none: it is placed.
    pub(super) from: Option<Place>,
    /// Where it comes to; none: a pass.
    pub(super) to: Option<Place>,
}

/// What boards of one game are drawn relative to. Hive is played on a torus: the hive may drift over its edge, and is
/// drawn near where it was one ply before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Frame {
    q: i32,
    r: i32,
}

/// A game whose positions can be drawn.
pub(super) trait BoardGame: Game {
    /// All pieces of the game; none where squares tell everything.
    fn pieces(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the board, and moves `frame` along.
    fn board(&self, position: &Self::Position, frame: &mut Frame) -> Board;
    /// Returns the places that a legal move touches.
    fn places(&self, position: &Self::Position, mv: Self::Move, frame: &Frame) -> MovePlaces;
}

impl Frame {
    /// Returns the coordinates of a cell nearest to the middle of the hive, counted from the first piece of a game.
    fn place(&self, cell: Cell) -> (i32, i32) {
        let side = i32::from(Cell::SIDE);
        let near = |coordinate: u8, origin: u8, middle: i32| {
            let distance = i32::from(coordinate) - i32::from(origin) - middle;
            middle + (distance + side / 2).rem_euclid(side) - side / 2
        };
        (near(cell.q(), Cell::ORIGIN.q(), self.q), near(cell.r(), Cell::ORIGIN.r(), self.r))
    }
}

impl BoardGame for Hive {
    fn pieces(&self) -> Vec<String> {
        let position = self.initial_position();
        Piece::all().filter(|piece| position.is_in_play(*piece)).map(|piece| piece.to_string()).collect()
    }

    fn board(&self, position: &hive::Position, frame: &mut Frame) -> Board {
        let mut pieces: Vec<_> = position
            .pieces()
            .filter_map(|piece| {
                let (q, r) = frame.place(position.cell_of(piece)?);
                Some((piece.to_string(), q, r, position.level_of(piece)))
            })
            .collect();
        // Lower pieces first, as they are drawn.
        pieces.sort_by_key(|(_, _, _, level)| *level);
        let middle = |coordinates: Vec<i32>| {
            let ends = coordinates.iter().min().zip(coordinates.iter().max());
            ends.map_or(0, |(low, high)| i32::midpoint(*low, *high))
        };
        frame.q = middle(pieces.iter().map(|piece| piece.1).collect());
        frame.r = middle(pieces.iter().map(|piece| piece.2).collect());
        Board::Pieces(pieces)
    }

    fn places(&self, position: &hive::Position, mv: hive::Move, frame: &Frame) -> MovePlaces {
        let place = |cell| {
            let (q, r) = frame.place(cell);
            Place::Cell(q, r)
        };
        let Some(piece) = mv.piece() else { return MovePlaces::default() };
        MovePlaces { from: position.cell_of(piece).map(place), to: Some(place(mv.target())) }
    }
}

impl BoardGame for Dama {
    fn board(&self, position: &dama::Position, _frame: &mut Frame) -> Board {
        let board = position.board();
        let letter = |index: u32| {
            let is_on = |set: u32| set >> index & 1 == 1;
            match () {
                () if is_on(board.kings(Side::White)) => 'W',
                () if is_on(board.pieces(Side::White)) => 'w',
                () if is_on(board.kings(Side::Black)) => 'B',
                () if is_on(board.pieces(Side::Black)) => 'b',
                () => '.',
            }
        };
        Board::Squares((0..32).map(letter).collect())
    }

    fn places(&self, _position: &dama::Position, mv: dama::Move, _frame: &Frame) -> MovePlaces {
        let place = |square: dama::Square| Some(Place::Square(square.index() as u8));
        MovePlaces { from: place(mv.source()), to: place(mv.target()) }
    }
}

impl BoardGame for TicTacToe {
    fn board(&self, position: &tictactoe::Position, _frame: &mut Frame) -> Board {
        let letter = |index: u32| {
            let is_marked = |side| position.marks(side) >> index & 1 == 1;
            if is_marked(Side::White) {
                'w'
            } else if is_marked(Side::Black) {
                'b'
            } else {
                '.'
            }
        };
        Board::Squares((0..9).map(letter).collect())
    }

    fn places(&self, _position: &tictactoe::Position, mv: tictactoe::Square, _frame: &Frame) -> MovePlaces {
        MovePlaces { from: None, to: Some(Place::Square(mv.index() as u8)) }
    }
}

/// Work to be done for whichever game is drawn.
pub(super) trait BoardVisitor {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn visit<E: Encoding<Game: BoardGame>>(self, encoding: E) -> Self::Output;
}

/// Does the visitor's work for this game, whose numbers were checked.
pub(super) fn visit<V: BoardVisitor>(game: &GameSpec, visitor: V) -> V::Output {
    match *game {
        GameSpec::Hive { rules, frame } => visitor.visit(HiveEncoding::new(Hive::new(rules), frame)),
        GameSpec::Dama { rules, policy } => visitor.visit(DamaEncoding::new(Dama::new(rules), policy)),
        GameSpec::TicTacToe {} => visitor.visit(TicTacToeEncoding::new(TicTacToe)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hive_that_crosses_the_edge_of_the_torus_stays_in_one_piece() {
        let frame = Frame { q: 14, r: 0 };
        let place = |q, r| frame.place(Cell::from_axial(q, r));
        // The middle of the board is 0, 0; column 31 is 15, and column 0 comes after it.
        assert_eq!((place(16, 16), place(31, 16), place(32, 16)), ((0, 0), (15, 0), (16, 0)));
        assert_eq!(Frame::default().place(Cell::from_axial(0, 16)), (-16, 0));
    }

    #[test]
    fn boards_are_drawn_from_positions() {
        let hive = Hive::default();
        let (mut position, mut frame) = (hive.initial_position(), Frame::default());
        for text in ["wS1", "bS1 wS1-"] {
            let mv = hive.parse_move(&position, text).expect("legal");
            hive.play(&mut position, mv);
        }
        let pieces = vec![("wS1".to_owned(), 0, 0, 0), ("bS1".to_owned(), 1, 0, 0)];
        assert_eq!(hive.board(&position, &mut frame), Board::Pieces(pieces));
        let dama = Dama::default();
        let board = dama.board(&dama.initial_position(), &mut frame);
        assert_eq!(board, Board::Squares(format!("{}{}{}", "b".repeat(12), ".".repeat(8), "w".repeat(12))));
    }
}
