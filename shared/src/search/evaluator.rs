//! The contract of whatever evaluates leaves, what can go wrong with it, and how an answer to many leaves is read.
//!
//! Two ways lead from a leaf to its evaluation. An [`Evaluator`] evaluates a batch of leaves while the search waits. What
//! collects leaves of many searches takes one at a time and says at once whether it knows the evaluation already
//! ([`Added`]); whatever it does not know is answered later, many leaves at once ([`LeafAnswers`]). Both fail with an
//! [`EvaluationError`]. The model is lc0's `neural/backend.h`.

use super::leaf_source::{LeafId, LeafSource, Request};
use crate::game::{Game, Value};

/// Evaluates leaves while the search waits. Owned by one thread.
pub trait Evaluator<G: Game> {
    /// Evaluates `leaves`, all of them awaited by `source`, and expands them in their order.
    ///
    /// # Errors
    /// [`EvaluationError`]: no leaf is expanded then; the caller cancels them, or drops the source.
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError>;

    /// Returns how many leaves are worth selecting before the first is evaluated. 1 where leaves are evaluated one by
    /// one: later leaves are chosen better once the results of earlier ones are in.
    fn batch_size_max(&self) -> u32 {
        u32::MAX
    }
}

impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for Box<E> {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        (**self).evaluate(source, leaves)
    }

    fn batch_size_max(&self) -> u32 {
        (**self).batch_size_max()
    }
}

/// Why leaves were not evaluated, one variant for each decision of the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The network is not there or cannot be read: no leaf will ever be evaluated by it.
    #[error("{0}")]
    NetworkUnavailable(String),
    /// The device or its library failed; the same leaves may be tried again.
    #[error("cannot evaluate: {0}")]
    DeviceFailed(String),
    /// A leaf is too large or cannot be shown to the network: give up the game that it belongs to.
    #[error("leaf refused: {0}")]
    LeafRefused(String),
    /// The answer does not fit the leaves, or has numbers out of range; the same leaves may be tried again.
    #[error("invalid evaluation: {0}")]
    InvalidAnswer(String),
    /// The peer could not evaluate the batch, for this reason.
    #[error("the learner could not evaluate the batch: {0}")]
    Refused(String),
    /// The connection to whoever evaluates has ended.
    #[error("evaluations ended: {0}")]
    Disconnected(String),
    /// Another thread of the same search, or of the same network, panicked.
    #[error("another search thread failed")]
    ThreadFailed,
}

/// What became of a leaf that was added to a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Added {
    /// It is evaluated already: its priors are written, this is its value.
    Answered(Value),
    /// It waits in the batch, and is answered with it.
    Enqueued,
}

/// The evaluations of a batch of leaves: the priors of all their legal moves end to end, and a value for each leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeafAnswers<'a> {
    priors: &'a [f32],
    values: &'a [f32],
}

impl<'a> LeafAnswers<'a> {
    /// Makes a reader of `priors`, in 0..=1, and `values`, in -1..=1 for the side to move of each leaf.
    #[must_use]
    pub const fn new(priors: &'a [f32], values: &'a [f32]) -> Self {
        Self { priors, values }
    }

    /// Returns the priors that have not been taken.
    #[must_use]
    pub const fn priors(&self) -> &'a [f32] {
        self.priors
    }

    /// Returns the values that have not been taken.
    #[must_use]
    pub const fn values(&self) -> &'a [f32] {
        self.values
    }

    /// Takes the evaluation of the next leaf, which has `move_count` legal moves; `None` after the last. Fewer priors if
    /// the answer is too short.
    pub fn next_leaf(&mut self, move_count: usize) -> Option<(&'a [f32], Value)> {
        let taken = self.take(1, move_count);
        taken.values.first().map(|value| (taken.priors, Value::new(*value)))
    }

    /// Takes the evaluations of the next `leaf_count` leaves, which have `move_count` legal moves together. Fewer if the
    /// answer is too short.
    pub fn take(&mut self, leaf_count: usize, move_count: usize) -> Self {
        let (priors, priors_left) = self.priors.split_at(move_count.min(self.priors.len()));
        let (values, values_left) = self.values.split_at(leaf_count.min(self.values.len()));
        *self = Self::new(priors_left, values_left);
        Self::new(priors, values)
    }

    /// Returns priors and value of each leaf, whose numbers of legal moves are `move_counts`.
    pub fn leaves(mut self, move_counts: impl IntoIterator<Item = usize>) -> impl Iterator<Item = (&'a [f32], Value)> {
        move_counts.into_iter().map_while(move |move_count| self.next_leaf(move_count))
    }
}

/// Runs one simulation and evaluates its leaf at once. Returns false if there was nothing to do: [`Request::Blocked`].
///
/// # Errors
/// As [`Evaluator::evaluate`]; the leaf is cancelled then.
pub fn simulate<G: Game>(
    source: &mut impl LeafSource<G>,
    evaluator: &mut (impl Evaluator<G> + ?Sized),
) -> Result<bool, EvaluationError> {
    match source.select_leaf() {
        Request::Evaluate(leaf) => {
            evaluator.evaluate(source, &[leaf]).inspect_err(|_| source.cancel(leaf))?;
            Ok(true)
        }
        Request::Finished => Ok(true),
        Request::Blocked => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_leaf_by_leaf() {
        let (priors, values) = ([0.5, 0.5, 1.0, 0.25], [0.5, -1.0, 0.0]);
        let leaves: Vec<_> = LeafAnswers::new(&priors, &values).leaves([2, 0, 2]).collect();
        let value = Value::new;
        assert_eq!(leaves, [(&priors[..2], value(0.5)), (&[], value(-1.0)), (&priors[2..], value(0.0))]);
    }

    #[test]
    fn an_answer_that_is_too_short_ends_early() {
        let mut answers = LeafAnswers::new(&[0.5], &[0.5, 0.25]);
        assert_eq!(answers.take(1, 3), LeafAnswers::new(&[0.5], &[0.5]));
        assert_eq!(answers.next_leaf(2), Some((&[][..], Value::new(0.25))));
        assert_eq!(answers.next_leaf(2), None);
    }
}
