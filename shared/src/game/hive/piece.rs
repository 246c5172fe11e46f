//! The 28 pieces: fourteen a side, numbered as the policy index numbers them.

use std::fmt;
use std::str::FromStr;

use crate::game::Side;
use crate::quoted::Quoted;

/// What a piece is. The order is that of the input planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PieceKind {
    /// Queen bee: one step.
    Queen,
    /// Beetle: one step, also on top of others.
    Beetle,
    /// Spider: exactly three steps.
    Spider,
    /// Grasshopper: jumps in a straight line.
    Grasshopper,
    /// Ant: any number of steps.
    Ant,
    /// Ladybug: two steps on top, one down.
    Ladybug,
    /// Mosquito: as what it touches.
    Mosquito,
    /// Pillbug: one step, or throws a neighbour over itself.
    Pillbug,
}

impl PieceKind {
    /// All kinds in the order of the input planes.
    pub const ALL: [Self; 8] = [
        Self::Queen,
        Self::Beetle,
        Self::Spider,
        Self::Grasshopper,
        Self::Ant,
        Self::Ladybug,
        Self::Mosquito,
        Self::Pillbug,
    ];

    /// Returns how many pieces of this kind a side has.
    #[must_use]
    pub const fn count(self) -> u8 {
        match self {
            Self::Queen | Self::Ladybug | Self::Mosquito | Self::Pillbug => 1,
            Self::Beetle | Self::Spider => 2,
            Self::Grasshopper | Self::Ant => 3,
        }
    }

    /// Returns the first of the slots 0..14 that pieces of this kind have, in the order Q B B S S G G G A A A L M P.
    #[must_use]
    pub const fn first_slot(self) -> u8 {
        match self {
            Self::Queen => 0,
            Self::Beetle => 1,
            Self::Spider => 3,
            Self::Grasshopper => 5,
            Self::Ant => 8,
            Self::Ladybug => 11,
            Self::Mosquito => 12,
            Self::Pillbug => 13,
        }
    }

    /// Returns the letter of the kind in UHP.
    #[must_use]
    pub const fn letter(self) -> char {
        ['Q', 'B', 'S', 'G', 'A', 'L', 'M', 'P'][self as usize]
    }
}

const KIND_OF_SLOT: [PieceKind; 14] = {
    use PieceKind::{Ant, Beetle, Grasshopper, Ladybug, Mosquito, Pillbug, Queen, Spider};
    [
        Queen,
        Beetle,
        Beetle,
        Spider,
        Spider,
        Grasshopper,
        Grasshopper,
        Grasshopper,
        Ant,
        Ant,
        Ant,
        Ladybug,
        Mosquito,
        Pillbug,
    ]
};

/// One of the 28 pieces: White's are 0..14, Black's 14..28, each side in the order Q B B S S G G G A A A L M P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Piece(u8);

impl Piece {
    /// Number of pieces.
    pub const COUNT: usize = 28;
    /// Number of pieces of one side.
    pub const PER_SIDE: usize = 14;

    /// Returns the piece of `side` of this kind and number, 1 for the first of its kind; `None` if there is none.
    #[must_use]
    pub const fn new(side: Side, kind: PieceKind, number: u8) -> Option<Self> {
        if number >= 1 && number <= kind.count() {
            Some(Self(side.index() as u8 * 14 + kind.first_slot() + number - 1))
        } else {
            None
        }
    }

    /// Returns the piece with this number, `None` from 28 on.
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 28 { Some(Self(index)) } else { None }
    }

    /// Returns all pieces, White's first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..28).map(Self)
    }

    /// Returns the number of the piece, 0..28.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns whose piece it is.
    #[must_use]
    pub const fn side(self) -> Side {
        if self.0 < 14 { Side::White } else { Side::Black }
    }

    /// Returns the slot of the piece among its side's, 0..14.
    #[must_use]
    pub const fn slot(self) -> u8 {
        self.0 % 14
    }

    /// Returns what the piece is.
    #[must_use]
    pub const fn kind(self) -> PieceKind {
        KIND_OF_SLOT[self.slot() as usize]
    }

    /// Returns the number of the piece among its kind, from 1.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.slot() - self.kind().first_slot() + 1
    }
}

impl fmt::Display for Piece {
    /// Writes the UHP name: `wQ`, `bA2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side() == Side::White { 'w' } else { 'b' };
        write!(f, "{side}{}", self.kind().letter())?;
        if self.kind().count() > 1 { write!(f, "{}", self.number()) } else { Ok(()) }
    }
}

/// Why a text is not the name of a piece.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PieceError {
    /// The first letter names no side.
    #[error("piece {} does not start with w or b", Quoted(.0))]
    Side(String),
    /// There is no second letter.
    #[error("piece {} has no kind", Quoted(.0))]
    NoKind(String),
    /// The second letter names no kind.
    #[error("piece {}: no kind {letter:?}", Quoted(text))]
    Kind {
        /// What was read.
        text: String,
        /// Its second letter.
        letter: char,
    },
    /// The rest is not a number.
    #[error("piece {} has no number", Quoted(.0))]
    Number(String),
    /// The side has fewer pieces of the kind.
    #[error("there is no piece {}", Quoted(.0))]
    Unknown(String),
}

impl FromStr for Piece {
    type Err = PieceError;

    /// Reads a UHP name; a 1 behind a piece that is alone of its kind is taken.
    fn from_str(text: &str) -> Result<Self, PieceError> {
        let mut letters = text.chars();
        let side = match letters.next() {
            Some('w') => Side::White,
            Some('b') => Side::Black,
            _ => return Err(PieceError::Side(text.to_owned())),
        };
        let letter = letters.next().ok_or_else(|| PieceError::NoKind(text.to_owned()))?;
        let kind = PieceKind::ALL.into_iter().find(|kind| kind.letter() == letter);
        let kind = kind.ok_or_else(|| PieceError::Kind { text: text.to_owned(), letter })?;
        let number = match letters.as_str() {
            "" if kind.count() == 1 => 1,
            // Rust's own parser would take a sign.
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| PieceError::Number(text.to_owned()))?
            }
            _ => return Err(PieceError::Number(text.to_owned())),
        };
        Self::new(side, kind, number).ok_or_else(|| PieceError::Unknown(text.to_owned()))
    }
}
