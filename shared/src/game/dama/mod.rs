//! Italian draughts (Dama Italiana): 32 squares, short kings, four priorities of capturing.
//!
//! The rules are described in `docs/dama-rules.md`. Moves and positions as text: [`text`], [`fen`].

mod board;
mod endgame;
pub mod fen;
mod heuristic;
mod moves;
mod mv;
mod perft;
mod position;
mod rules;
mod square;
mod tables;
pub mod text;

use super::{Game, MoveError, Outcome, Side, StartError};
use crate::seed::mix_seed;
use moves::{Results, Routes, choose_move, find_moves, has_move};
use tables::TABLES;

pub use board::{Board, BoardError};
pub use mv::Move;
pub use perft::{Counting, perft};
pub use position::Position;
pub use rules::DamaRules;
pub use square::{Direction, Square};

/// The game of Italian draughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dama {
    rules: DamaRules,
}

/// A legal capture and one way to make it: all squares visited, the start first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The capture.
    pub mv: Move,
    /// Squares visited, the start first.
    pub squares: Vec<Square>,
}

impl Dama {
    /// Plies without a capture and without a move of a man after which a game is a draw: 40 moves by each side.
    pub const QUIET_PLY_LIMIT: u32 = 80;

    /// Makes the game with these rules.
    #[must_use]
    pub const fn new(rules: DamaRules) -> Self {
        Self { rules }
    }

    /// Returns the rules.
    #[must_use]
    pub const fn rules(&self) -> &DamaRules {
        &self.rules
    }

    /// Returns every legal way to capture, in an order that never changes; none if nothing can be captured.
    ///
    /// Several ways may be one [`Move`]. Whether the game is over does not matter here.
    #[must_use]
    pub fn routes(&self, position: &Position) -> Vec<Route> {
        let mut routes = Routes::default();
        find_moves(position.board(), position.side_to_move(), &mut routes);
        let route = |chains: Vec<u16>| {
            let mv = Move::new(chains[chains.len() - 1]);
            let visited = chains.iter().map(|chain| Square::wrapping(TABLES.to[usize::from(*chain)]));
            Route { mv, squares: std::iter::once(mv.source()).chain(visited).collect() }
        };
        routes.0.into_iter().map(route).collect()
    }

    /// Appends the legal steps; none if something can be captured. Whether the game is over does not matter here.
    pub(crate) fn steps(&self, position: &Position, steps: &mut Vec<Move>) {
        let start = steps.len();
        find_moves(position.board(), position.side_to_move(), &mut Results::new(steps));
        if steps.get(start).is_some_and(|mv| mv.is_capture()) {
            steps.truncate(start);
        }
    }

    fn decided(position: &Position) -> Option<Outcome> {
        // Who cannot move has lost, even if the game would be a draw by now.
        if !has_move(position.board(), position.side_to_move()) {
            return Some(Outcome::Win(position.side_to_move().opponent()));
        }
        Self::is_draw(position).then_some(Outcome::Draw)
    }

    const fn is_draw(position: &Position) -> bool {
        position.occurrence_count() > 2 || position.quiet_ply_count() >= Self::QUIET_PLY_LIMIT
    }
}

impl Game for Dama {
    type Position = Position;
    type Move = Move;

    fn initial_position(&self) -> Position {
        Position::new(Board::START, Side::White, 0)
    }

    fn random_endgame(&self, seed: u64) -> Option<String> {
        let (board, side) = endgame::random_endgame(seed);
        Some(fen::write(&board, side))
    }

    fn parse_start(&self, text: &str) -> Result<Position, StartError> {
        let position = fen::read(text).map_err(|error| StartError::new(text, error.to_string()))?;
        match self.outcome(&position) {
            None => Ok(position),
            Some(_) => Err(StartError::new(text, "the game is over there")),
        }
    }

    fn legal_moves(&self, position: &Position, moves: &mut Vec<Move>) {
        if !Self::is_draw(position) && position.ply() < self.rules.ply_limit {
            find_moves(position.board(), position.side_to_move(), &mut Results::new(moves));
        }
    }

    fn choose_move(&self, position: &Position, share: u32, scratch: &mut Vec<Move>) -> Option<Move> {
        let goes_on = !Self::is_draw(position) && position.ply() < self.rules.ply_limit;
        if goes_on { choose_move(position.board(), position.side_to_move(), share, scratch) } else { None }
    }

    fn play(&self, position: &mut Position, mv: Move) {
        position.play(mv);
    }

    fn outcome(&self, position: &Position) -> Option<Outcome> {
        Self::decided(position).or_else(|| (position.ply() >= self.rules.ply_limit).then_some(Outcome::Draw))
    }

    fn side_to_move(&self, position: &Position) -> Side {
        position.side_to_move()
    }

    fn ply(&self, position: &Position) -> u32 {
        position.ply()
    }

    fn hash(&self, position: &Position) -> u64 {
        position.hash()
    }

    fn evaluation_hash(&self, position: &Position) -> u64 {
        let counts = u64::from(position.quiet_ply_count()) << 8 | u64::from(position.occurrence_count());
        mix_seed(position.hash(), u64::from(position.ply()) << 32 | counts)
    }

    fn is_cut_off(&self, position: &Position) -> bool {
        position.ply() >= self.rules.ply_limit && Self::decided(position).is_none()
    }

    fn format_move(&self, position: &Position, mv: Move) -> String {
        text::format_move(self, position, mv)
    }

    fn parse_move(&self, position: &Position, text: &str) -> Result<Move, MoveError> {
        text::parse_move(self, position, text)
    }
}
