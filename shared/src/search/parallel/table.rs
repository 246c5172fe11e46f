//! Evaluations found again: a bounded table from a position to a node of the tree that has been evaluated.
//!
//! Only the evaluation is shared. Visits, results and proofs stay each node's own, since they hang on what the rules count.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::search::view::NodeIndex;

/// Slots of one word: the upper half of the position's hash, and the node. The lower half of the hash picks the slot, and
/// what comes later takes the place of what was there: no thread waits, and nothing is ever half written.
#[derive(Debug)]
pub(super) struct Table {
    slots: Box<[AtomicU64]>,
    lookup_count: AtomicU64,
    hit_count: AtomicU64,
}

/// No entry; nor is that of the root at a hash whose upper half is 0.
const EMPTY: u64 = 0;

impl Table {
    /// Makes an empty table of at most `byte_count` bytes.
    pub fn new(byte_count: usize) -> Self {
        let wanted = (byte_count / size_of::<AtomicU64>()).max(1);
        // The greatest power of two that is not more than what is wanted.
        let len = 1_usize << wanted.ilog2();
        let slots = (0..len).map(|_| AtomicU64::new(EMPTY)).collect();
        Self { slots, lookup_count: AtomicU64::new(0), hit_count: AtomicU64::new(0) }
    }

    /// Returns the node that was last remembered for this hash, or by rare chance for another one.
    pub fn find(&self, hash: u64) -> Option<NodeIndex> {
        let entry = self.slots[self.slot_of(hash)].load(Acquire);
        (entry != EMPTY && entry >> 32 == hash >> 32).then_some(NodeIndex(entry as u32))
    }

    /// Remembers an evaluated node.
    pub fn remember(&self, hash: u64, node: NodeIndex) {
        self.slots[self.slot_of(hash)].store(hash >> 32 << 32 | u64::from(node.0), Release);
    }

    /// Gives nodes their new numbers; forgets those that have none.
    pub fn renumber(&mut self, new_number: impl Fn(NodeIndex) -> Option<NodeIndex>) {
        for slot in &mut self.slots {
            let entry = slot.get_mut();
            if *entry != EMPTY {
                let new = new_number(NodeIndex(*entry as u32));
                *entry = new.map_or(EMPTY, |node| *entry >> 32 << 32 | u64::from(node.0));
            }
        }
    }

    /// Counts what one thread looked up and found.
    pub fn count(&self, lookup_count: u64, hit_count: u64) {
        self.lookup_count.fetch_add(lookup_count, Relaxed);
        self.hit_count.fetch_add(hit_count, Relaxed);
    }

    /// Returns how often positions were looked up, and how often one was found, by the threads that have ended.
    pub fn counts(&self) -> (u64, u64) {
        (self.lookup_count.load(Relaxed), self.hit_count.load(Relaxed))
    }

    fn slot_of(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_found_by_its_hash_until_another_takes_its_place() {
        let mut table = Table::new(100);
        assert_eq!(table.slots.len(), 8);
        table.remember(0x1234_5678_0000_0003, NodeIndex(7));
        assert_eq!(table.find(0x1234_5678_0000_0003), Some(NodeIndex(7)));
        assert_eq!(table.find(0x1234_5679_0000_0003), None);
        assert_eq!(table.find(0x1234_5678_0000_0002), None);
        table.remember(0x0000_0001_0000_000b, NodeIndex(9));
        assert_eq!(table.find(0x1234_5678_0000_0003), None);
        table.renumber(|node| (node == NodeIndex(9)).then_some(NodeIndex(1)));
        assert_eq!(table.find(0x0000_0001_0000_000b), Some(NodeIndex(1)));
        table.renumber(|_| None);
        assert_eq!(table.find(0x0000_0001_0000_000b), None);
    }
}
