//! Whether a game is given up or offered as a draw, by what the engine expected of its last moves.

use shared::game::Side;

/// Own searches in a row that must agree that the game is lost.
const LOST_COUNT: u32 = 3;
/// Own searches in a row that must agree that the game is even.
const EVEN_COUNT: u32 = 8;
/// Plies before which no draw is offered: openings are even.
const DRAW_PLIES_MIN: u32 = 40;

/// What the engine says beside its move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It gives the game up.
    Resign,
    /// It offers a draw.
    OfferDraw,
}

/// The values from which on it says so, 0 = never.
#[derive(Debug, Clone, Copy)]
pub struct VerdictValues {
    /// It resigns if it expects the opposite of this or less, above 0 to 1.
    pub resign: f32,
    /// It offers a draw if it expects at most so much for either side, above 0 to 1.
    pub draw: f32,
}

/// Counts the searches in a row, for each side.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verdicts {
    lost_counts: [u32; 2],
    even_counts: [u32; 2],
}

impl Verdicts {
    /// Takes what `side` expects, -1 to 1, before its move at `ply`. Returns what is to be said.
    pub fn judge(&mut self, values: VerdictValues, side: Side, ply: u32, expected: f32) -> Option<Verdict> {
        let (lost, even) = (&mut self.lost_counts[side.index()], &mut self.even_counts[side.index()]);
        *lost = if values.resign > 0.0 && expected <= -values.resign { *lost + 1 } else { 0 };
        *even = if values.draw > 0.0 && expected.abs() <= values.draw { *even + 1 } else { 0 };
        match () {
            () if *lost >= LOST_COUNT => Some(Verdict::Resign),
            () if *even >= EVEN_COUNT && ply >= DRAW_PLIES_MIN => Some(Verdict::OfferDraw),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_searches_in_a_row_must_agree() {
        let values = VerdictValues { resign: 0.9, draw: 0.1 };
        let mut verdicts = Verdicts::default();
        let mut judge = |side, ply, value| verdicts.judge(values, side, ply, value);
        assert_eq!([-0.95, -0.9, -0.5, -0.95, -1.0].map(|value| judge(Side::White, 9, value)), [None; 5]);
        assert_eq!(judge(Side::Black, 10, -1.0), None, "each side for itself");
        assert_eq!(judge(Side::White, 11, -0.9), Some(Verdict::Resign));
        let offers: Vec<_> = (38..48).map(|ply| judge(Side::Black, ply, 0.05)).collect();
        assert_eq!(offers.iter().position(Option::is_some), Some(7), "{offers:?}");
        assert_eq!(offers[7], Some(Verdict::OfferDraw));
        assert_eq!(judge(Side::Black, 50, 0.2), None);
    }

    #[test]
    fn without_values_nothing_is_said() {
        let mut verdicts = Verdicts::default();
        let values = VerdictValues { resign: 0.0, draw: 0.0 };
        for ply in 0..100 {
            assert_eq!(verdicts.judge(values, Side::White, ply, if ply < 50 { -1.0 } else { 0.0 }), None);
        }
    }
}
