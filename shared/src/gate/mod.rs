//! When a candidate becomes the best network: results of gate games in, verdict out.
//!
//! Pure arithmetic. Who plays the games and where they are kept is the learner's business. `settings` says by which rule
//! a gate is decided, `tally` counts its games and applies the rule, `sequential` is the test that stops early, `score`
//! the share of the points with its interval.

mod score;
mod sequential;
mod settings;
mod tally;

use serde::{Deserialize, Serialize};

pub use score::{GateScore, Interval};
pub use sequential::{PairCounts, SequentialTest};
pub use settings::{GateRule, GateSettings};
pub use tally::{GateResult, GateTally, score_verdict};

/// What a gate decided about its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is the new best network.
    Promoted,
    /// The best network stays.
    Rejected,
}
