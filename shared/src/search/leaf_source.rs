//! The contract of whatever hands out leaves: a search that one thread owns, or one thread of a parallel search.

use crate::game::{Game, Value};

/// A leaf that was handed out; never the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeafId {
    slot: u32,
    serial: u32,
}

/// What the search wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Evaluate this leaf, then call [`LeafSource::expand`].
    Evaluate(LeafId),
    /// The simulation ended where the result is known, and is already backed up.
    Finished,
    /// No leaf can be handed out for now: the search is done, enough leaves are awaited, or another thread is at work
    /// where the simulation led. Expand or cancel the leaves in hand, let other threads go on, and try again.
    Blocked,
}

/// A leaf as an evaluator sees it that plays on from it.
#[derive(Debug)]
pub struct LeafMut<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The position of the leaf, free to be played on: nobody else needs it.
    pub position: &'a mut G::Position,
    /// The legal moves, as [`LeafSource::leaf_moves`] returns them.
    pub moves: &'a [G::Move],
}

/// Hands out the leaves of one search and takes their evaluations.
///
/// Every leaf that [`Self::select_leaf`] returns is awaited until it is expanded or cancelled. Owned by one thread; the
/// caller decides how many leaves it has evaluated together.
pub trait LeafSource<G: Game> {
    /// Returns the rules of the game that is searched.
    fn game(&self) -> &G;

    /// Goes down the tree once: to a leaf that must be evaluated, or to a known result, which is backed up at once.
    fn select_leaf(&mut self) -> Request;

    /// Returns the position of a leaf.
    ///
    /// # Panics
    /// If the leaf is not awaited any more.
    fn leaf_position(&self, leaf: LeafId) -> &G::Position;

    /// Returns the legal moves of a leaf, in the order of the rules. Empty where leaves need no priors, see
    /// [`super::Rule::Ucb1`].
    ///
    /// # Panics
    /// If the leaf is not awaited any more.
    fn leaf_moves(&self, leaf: LeafId) -> &[G::Move];

    /// Returns a leaf whose position may be played on; [`Self::leaf_position`] is then whatever was played. The leaf is
    /// expanded or cancelled as any other.
    ///
    /// # Panics
    /// If the leaf is not awaited any more.
    fn leaf_mut(&mut self, leaf: LeafId) -> LeafMut<'_, G>;

    /// Takes the evaluation of a leaf: `priors` in the order of [`Self::leaf_moves`], `value` for its side to move.
    ///
    /// Priors are scaled to the sum 1. Priors that are not a distribution become uniform and are counted. An evaluation
    /// for a leaf that is not awaited any more is dropped.
    fn expand(&mut self, leaf: LeafId, priors: &[f32], value: Value);

    /// Gives up a leaf that will not be evaluated: the tree is as if it had never been handed out, and it may be handed
    /// out again. Does nothing if the leaf is not awaited any more.
    fn cancel(&mut self, leaf: LeafId);
}

/// Room for the leaves of one [`LeafSource`] that are awaited at once. The content of a slot is used again and again.
#[derive(Debug)]
pub(super) struct LeafSlots<T>(Vec<LeafSlot<T>>);

#[derive(Debug)]
struct LeafSlot<T> {
    content: T,
    is_awaited: bool,
    /// Tells a leaf from the earlier ones in the same slot.
    serial: u32,
}

impl<T> LeafSlots<T> {
    /// Makes `count` free slots.
    pub fn new(count: u32, mut content: impl FnMut() -> T) -> Self {
        Self((0..count).map(|_| LeafSlot { content: content(), is_awaited: false, serial: 0 }).collect())
    }

    /// Returns the first free slot.
    #[inline]
    pub fn free_slot(&self) -> Option<usize> {
        self.0.iter().position(|slot| !slot.is_awaited)
    }

    /// Returns the slot of a leaf, if it is still awaited.
    #[inline]
    pub fn awaited_slot(&self, leaf: LeafId) -> Option<usize> {
        let slot = self.0.get(leaf.slot as usize)?;
        (slot.is_awaited && slot.serial == leaf.serial).then_some(leaf.slot as usize)
    }

    /// Returns the first leaf that is awaited.
    pub fn awaited_leaf(&self) -> Option<LeafId> {
        let slot = self.0.iter().position(|slot| slot.is_awaited)?;
        Some(LeafId { slot: slot as u32, serial: self.0[slot].serial })
    }

    /// Returns what is in a slot.
    #[inline]
    pub fn content(&self, slot: usize) -> &T {
        &self.0[slot].content
    }

    /// Returns what is in a slot, to be changed.
    #[inline]
    pub fn content_mut(&mut self, slot: usize) -> &mut T {
        &mut self.0[slot].content
    }

    /// Marks a slot as awaited.
    #[inline]
    pub fn hand_out(&mut self, slot: usize) -> LeafId {
        self.0[slot].is_awaited = true;
        LeafId { slot: slot as u32, serial: self.0[slot].serial }
    }

    /// Marks a slot as free.
    #[inline]
    pub fn free(&mut self, slot: usize) {
        let slot = &mut self.0[slot];
        slot.is_awaited = false;
        slot.serial = slot.serial.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_awaited_until_its_slot_is_free_and_never_again() {
        let mut slots = LeafSlots::new(2, || 0);
        let first = slots.hand_out(0);
        assert_eq!((slots.free_slot(), slots.awaited_slot(first)), (Some(1), Some(0)));
        let second = slots.hand_out(1);
        assert_eq!((slots.free_slot(), slots.awaited_leaf()), (None, Some(first)));
        slots.free(0);
        assert_eq!(slots.awaited_leaf(), Some(second));
        let again = slots.hand_out(0);
        assert_eq!((slots.awaited_slot(first), slots.awaited_slot(again)), (None, Some(0)));
        assert_eq!(slots.awaited_slot(LeafId { slot: 7, serial: 0 }), None);
    }
}
