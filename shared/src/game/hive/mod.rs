//! Hive with the Mosquito, Ladybug and Pillbug expansions.
//!
//! Rules where sources differ are settled in `docs/hive-rules.md`. Moves as text: [`text`].

mod cell;
mod cell_set;
mod connect;
mod hash;
mod heuristic;
mod moves;
mod mv;
mod piece;
mod position;
mod rebuild;
mod rules;
mod slides;
mod tables;
pub mod text;
mod window;

use super::{Game, MoveError, Outcome, Side};
use crate::seed::mix_seed;
use moves::{Count, Generator};

pub use cell::{Cell, Direction};
pub(crate) use cell_set::Bits;
pub use cell_set::CellSet;
pub use mv::Move;
pub use piece::{Piece, PieceError, PieceKind};
pub use position::Position;
pub use rebuild::RebuildError;
pub use rules::{GameType, GameTypeError, HiveRules};

/// The game of Hive, played by certain rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hive {
    rules: HiveRules,
}

impl Hive {
    /// Makes the game with these rules.
    #[must_use]
    pub const fn new(rules: HiveRules) -> Self {
        Self { rules }
    }

    /// Returns the rules.
    #[must_use]
    pub const fn rules(&self) -> &HiveRules {
        &self.rules
    }

    /// Returns the number of legal moves, 0 once the game has an outcome. Faster than listing them.
    #[must_use]
    pub fn move_count(&self, position: &Position) -> usize {
        if self.outcome(position).is_some() {
            return 0;
        }
        let mut count = Count::default();
        Generator::new(position).generate(&self.rules, &mut count);
        count.0.max(1)
    }

    /// Returns the number of ways to play on for exactly `depth` plies. A finished game has none.
    ///
    /// With repetitions as draws they are not looked for, as in all published tables.
    #[must_use]
    pub fn perft(&self, position: &Position, depth: u32) -> u64 {
        let without_draws = Self::new(HiveRules { repetition_draw: false, ..self.rules });
        let mut lists = vec![Vec::new(); depth as usize];
        without_draws.perft_below(&mut position.clone(), &mut lists)
    }

    fn perft_below(&self, position: &mut Position, lists: &mut [Vec<Move>]) -> u64 {
        let [moves, deeper @ ..] = lists else { return 1 };
        if deeper.is_empty() {
            return self.move_count(position) as u64;
        }
        moves.clear();
        self.legal_moves(position, moves);
        moves
            .iter()
            .map(|mv| {
                let undo = position.bring(mv.piece(), mv.target());
                let count = self.perft_below(position, deeper);
                position.take_back(undo);
                count
            })
            .sum()
    }

    fn surrounded(position: &Position, side: Side) -> bool {
        position.queen(side).is_some_and(|cell| position.around(cell) == 63)
    }

    fn decided(&self, position: &Position) -> Option<Outcome> {
        match (Self::surrounded(position, Side::White), Self::surrounded(position, Side::Black)) {
            (true, true) => return Some(Outcome::Draw),
            (true, false) => return Some(Outcome::Win(Side::Black)),
            (false, true) => return Some(Outcome::Win(Side::White)),
            (false, false) => {}
        }
        (self.rules.repetition_draw && position.history.occurrence_count() > 2).then_some(Outcome::Draw)
    }
}

/// Returns a number for the piece that rests, or for none.
fn resting(position: &Position) -> u64 {
    position.last_moved().map_or(Piece::COUNT, Piece::index) as u64
}

impl Game for Hive {
    type Position = Position;
    type Move = Move;

    fn initial_position(&self) -> Position {
        Position::new(self.rules.game_type)
    }

    fn legal_moves(&self, position: &Position, moves: &mut Vec<Move>) {
        if self.outcome(position).is_some() {
            return;
        }
        let start = moves.len();
        Generator::new(position).generate(&self.rules, moves);
        if moves.len() == start {
            moves.push(Move::PASS);
        }
    }

    fn play(&self, position: &mut Position, mv: Move) {
        let is_placement = mv.piece().is_some_and(|piece| !position.is_on_board(piece));
        position.bring(mv.piece(), mv.target());
        if !self.rules.repetition_draw {
            return;
        }
        if is_placement {
            position.history.clear();
        }
        // Without a queen nothing moves, so nothing can come again.
        if position.has_queen() {
            let hash = position.hash();
            position.history.record(if self.rules.rest_counts { mix_seed(hash, resting(position)) } else { hash });
        }
    }

    fn outcome(&self, position: &Position) -> Option<Outcome> {
        self.decided(position).or_else(|| (position.ply() >= self.rules.ply_limit).then_some(Outcome::Draw))
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
        // The hash of the position knows pieces by kind; here it matters which of them rests.
        let counts = resting(position) << 8 | u64::from(position.history.occurrence_count());
        mix_seed(position.hash(), u64::from(position.ply()) << 32 | counts)
    }

    fn is_cut_off(&self, position: &Position) -> bool {
        position.ply() >= self.rules.ply_limit && self.decided(position).is_none()
    }

    fn format_move(&self, position: &Position, mv: Move) -> String {
        text::format_move(position, mv)
    }

    fn parse_move(&self, position: &Position, text: &str) -> Result<Move, MoveError> {
        text::parse_move(self, position, text)
    }
}
