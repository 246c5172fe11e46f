//! What the rest of a game brought: targets beside policy and value, for a network that learns to see them coming.
//!
//! One outcome stands behind all positions of a game. How it ended, how soon, and which pieces still had a part in it says
//! much more about each of them (auxiliary targets: Wu 2019, "Accelerating Self-Play Learning in Go", 4.1).

use super::{Encoding, Pos};

/// Most numbers that an ending has ([`Encoding::ending_scales`]).
pub const ENDING_COUNT_MAX: usize = 4;

/// Plies left at which the target of "how soon" is one half.
const HALF_PLIES: f32 = 32.0;

/// What was still to come after a position, as its side to move sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// The pieces that still move, one bit each ([`Encoding::moved_piece`]).
    pub movers: u32,
    /// How the game ended; `None` unless the rules ended it: whoever resigned or was cut off left another board.
    pub ending: Option<Ending>,
}

/// The end of a game, seen from an earlier position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Plies from the position to the end, at most 65,535.
    pub plies_left: u16,
    /// What the game counts in its last position ([`Encoding::ending`]).
    pub counts: [u8; ENDING_COUNT_MAX],
}

impl Ending {
    /// Returns how soon the end came, 0..1: 0 at the end, 1/2 at 32 plies.
    #[must_use]
    pub fn distance(&self) -> f32 {
        let plies = f32::from(self.plies_left);
        plies / (plies + HALF_PLIES)
    }
}

/// Targets of what the rest of a game brought ([`Outlook`]), of B positions and N pieces on top of their boards, where
/// that is known.
#[derive(Debug, Clone, Default)]
pub struct OutlookTargets {
    /// Position and cell of each piece, N.
    pub pieces: Vec<(u32, u16)>,
    /// 1 where it moves again, else 0, `f32 [N]`.
    pub moves_again: Vec<f32>,
    /// The counts of each ending, each divided by its scale, then [`Ending::distance`], `f32 [B, counts + 1]`; 0 where it is
    /// not known.
    pub endings: Vec<f32>,
    /// 1 where the ending is known, else 0, `f32 [B]`.
    pub known: Vec<f32>,
}

impl OutlookTargets {
    /// Forgets all positions, keeps the memory.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.moves_again.clear();
        self.endings.clear();
        self.known.clear();
    }

    /// Appends the next position. `pieces` is memory to be reused.
    pub fn push<E: Encoding>(
        &mut self,
        encoding: &E,
        position: &Pos<E>,
        outlook: Option<Outlook>,
        pieces: &mut Vec<(u8, u16)>,
    ) {
        let number = self.known.len() as u32;
        if let Some(Outlook { movers, .. }) = outlook {
            pieces.clear();
            encoding.put_pieces(position, pieces);
            self.pieces.extend(pieces.iter().map(|(_, cell)| (number, *cell)));
            self.moves_again.extend(pieces.iter().map(|(piece, _)| f32::from(movers >> piece & 1 == 1)));
        }
        let ending = outlook.and_then(|outlook| outlook.ending);
        let scaled = encoding.ending_scales().iter().enumerate().map(|(index, scale)| {
            ending.map_or(0.0, |ending| f32::from(ending.counts[index].min(*scale)) / f32::from(*scale))
        });
        self.endings.extend(scaled);
        self.endings.push(ending.map_or(0.0, |ending| ending.distance()));
        self.known.push(f32::from(ending.is_some()));
    }
}
