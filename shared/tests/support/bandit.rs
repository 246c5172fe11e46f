//! A game without end in which the first move decides what every position is worth.

use shared::game::{Game, MoveError, MoveNumber, Outcome, Side, Value};

/// What each first move is worth to White, for good.
#[derive(Debug, Clone)]
pub struct Bandit {
    pub values: Vec<f32>,
}

/// The first move, and the plies played.
#[derive(Debug, Clone, Copy)]
pub struct Pulled {
    pub first: Option<Arm>,
    pub ply: u32,
}

/// A move, 0 for the first of as many as there are values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm(pub u16);

impl Bandit {
    /// Returns what a position is worth to its side to move, exactly; `before` before the first move.
    pub fn value(&self, position: &Pulled, before: f32) -> Value {
        let for_white = position.first.map_or(before, |Arm(index)| self.values[usize::from(index)]);
        let value = Value::new(for_white);
        if self.side_to_move(position) == Side::White { value } else { value.flipped() }
    }
}

impl MoveNumber for Arm {
    fn number(self) -> u16 {
        self.0
    }

    fn of_number(number: u16) -> Self {
        Self(number)
    }
}

impl Game for Bandit {
    type Position = Pulled;
    type Move = Arm;

    fn initial_position(&self) -> Pulled {
        Pulled { first: None, ply: 0 }
    }

    fn legal_moves(&self, _: &Pulled, moves: &mut Vec<Arm>) {
        moves.extend((0..self.values.len() as u16).map(Arm));
    }

    fn play(&self, position: &mut Pulled, mv: Arm) {
        position.first.get_or_insert(mv);
        position.ply += 1;
    }

    fn outcome(&self, _: &Pulled) -> Option<Outcome> {
        None
    }

    fn side_to_move(&self, position: &Pulled) -> Side {
        if position.ply.is_multiple_of(2) { Side::White } else { Side::Black }
    }

    fn ply(&self, position: &Pulled) -> u32 {
        position.ply
    }

    fn hash(&self, position: &Pulled) -> u64 {
        u64::from(position.ply) << 32 | position.first.map_or(u64::from(u32::MAX), |arm| arm.0.into())
    }

    fn is_cut_off(&self, _: &Pulled) -> bool {
        false
    }

    fn format_move(&self, _: &Pulled, mv: Arm) -> String {
        mv.0.to_string()
    }

    fn parse_move(&self, position: &Pulled, text: &str) -> Result<Arm, MoveError> {
        let illegal = || MoveError::Illegal { text: text.to_owned(), ply: position.ply };
        text.parse().ok().filter(|index| usize::from(*index) < self.values.len()).map(Arm).ok_or_else(illegal)
    }
}
