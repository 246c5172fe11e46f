//! What a game that was cut off at the ply limit teaches the value.
//!
//! A limit on the length of a game is no rule of it: what happens there is an end of watching, not an end of the game.
//! To learn a draw from it teaches that nothing can be won. The value of a state in which time ran out is what was
//! expected to follow (Pardo et al. 2018, "Time Limits in Reinforcement Learning"). Formulas: `docs/training.md`.

use super::Sample;
use super::value_target::seen_from;

/// What stands for the outcome of a game that was cut off at the ply limit. Draws by the rules are draws always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CutOffTarget {
    /// A draw (AlphaZero).
    #[default]
    Draw,
    /// The search's value of the last position that is at least this many positions before the end.
    Search {
        /// Positions before the end whose searches do not count: they reach the limit, where all is drawn. At 0 the
        /// last position counts, whose every move ends the game.
        horizon: u32,
    },
}

/// Returns the last sample that was searched and has at least `horizon` samples after it, and its value as White sees
/// it, -1..=1; `None` if there is none.
pub(super) fn last_unlimited_value(samples: &[Sample], horizon: u32) -> Option<(usize, f32)> {
    let count = samples.len().saturating_sub(horizon as usize);
    let searched = samples[..count].iter().enumerate().rev();
    searched.filter_map(|(index, sample)| Some((index, seen_from(sample.side, sample.search_value?)))).next()
}
