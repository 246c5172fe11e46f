//! One node of the tree that several threads work on: counts, how far it is, what is proven.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use crate::game::Value;
use crate::search::proof::Proof;
use crate::search::view::NodeView;

/// Bytes that one node takes.
pub const PARALLEL_NODE_BYTES: usize = size_of::<Node>();
const _: () = assert!(PARALLEL_NODE_BYTES <= 32, "two nodes share a cache line");

/// Values are summed as whole numbers, so that one instruction adds: 2^32 is a win.
const VALUE_UNIT: f64 = (1_u64 << 32) as f64;
/// One pending leaf in [`Node::counts`].
const PENDING: u64 = 1 << 32;

/// One position of the tree. Values are seen from its side to move.
#[derive(Debug, Default)]
pub(super) struct Node {
    value_sum: AtomicI64,
    /// Visits in the lower half, pending leaves in the upper half: one instruction changes both.
    counts: AtomicU64,
    first_edge: AtomicU32,
    edge_count: AtomicU16,
    /// So many of the edges, from the first on, have a child or are about to get one.
    child_count: AtomicU16,
    stage: AtomicU8,
    proof: AtomicU8,
    /// The evaluation of the position itself, bits of f32, once there is one.
    evaluation: AtomicU32,
}

/// How far a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    /// Nobody works on it, and it has no edges yet.
    New,
    /// A thread has it evaluated or lists its moves.
    Claimed,
    /// It has its edges.
    Ready,
}

impl Node {
    /// Returns what the node holds at this moment.
    #[inline]
    pub fn view(&self) -> NodeView {
        self.view_with(self.counts.load(Relaxed))
    }

    #[inline]
    fn view_with(&self, counts: u64) -> NodeView {
        NodeView {
            value_sum: self.value_sum.load(Relaxed) as f64 / VALUE_UNIT,
            visit_count: counts as u32,
            pending_count: (counts >> 32) as u32,
            proof: self.proof(),
        }
    }

    /// Returns how far the node is. What was written before it became ready is then seen.
    #[inline]
    pub fn stage(&self) -> Stage {
        match self.stage.load(Acquire) {
            0 => Stage::New,
            1 => Stage::Claimed,
            _ => Stage::Ready,
        }
    }

    /// Claims a new node for this thread. Returns false if another was faster.
    pub fn claim(&self) -> bool {
        self.stage.compare_exchange(Stage::New as u8, Stage::Claimed as u8, AcqRel, Relaxed).is_ok()
    }

    /// Gives a claimed node back.
    pub fn give_back(&self) {
        self.stage.store(Stage::New as u8, Release);
    }

    /// Counts a simulation that is under way below this node. Returns what the node held before.
    #[inline]
    pub fn arrive(&self) -> NodeView {
        let before = self.counts.fetch_add(PENDING, Relaxed);
        self.view_with(before)
    }

    /// Takes back [`Self::arrive`].
    #[inline]
    pub fn leave(&self) {
        self.counts.fetch_sub(PENDING, Relaxed);
    }

    /// Returns what is known for certain.
    #[inline]
    pub fn proof(&self) -> Proof {
        match self.proof.load(Acquire) {
            1 => Proof::Loss,
            2 => Proof::Draw,
            3 => Proof::Win,
            _ => Proof::Unknown,
        }
    }

    /// Takes note of a proof, if it is one. Whoever proves a node proves the same.
    pub fn set_proof(&self, proof: Proof) {
        if proof != Proof::Unknown {
            self.proof.store(proof as u8, Release);
        }
    }

    /// Turns a pending simulation into a visit with this value.
    #[inline]
    pub fn count_visit(&self, value: Value) {
        self.value_sum.fetch_add((f64::from(value.get()) * VALUE_UNIT) as i64, Relaxed);
        self.counts.fetch_add(1_u64.wrapping_sub(PENDING), Relaxed);
    }

    /// Takes note of what the position itself was held to be worth.
    pub fn set_evaluation(&self, value: Value) {
        self.evaluation.store(value.get().to_bits(), Relaxed);
    }

    /// Returns what the position itself was held to be worth.
    pub fn evaluation(&self) -> Value {
        Value::new(f32::from_bits(self.evaluation.load(Relaxed)))
    }

    /// Makes the node afresh.
    pub fn set(&self, proof: Proof, stage: Stage) {
        self.value_sum.store(0, Relaxed);
        self.counts.store(0, Relaxed);
        self.first_edge.store(0, Relaxed);
        self.edge_count.store(0, Relaxed);
        self.child_count.store(0, Relaxed);
        self.evaluation.store(0, Relaxed);
        self.proof.store(proof as u8, Relaxed);
        self.stage.store(stage as u8, Release);
    }

    /// Gives the node its edges, so many from this one on, and makes it ready.
    pub fn set_edges(&self, first: u32, count: u16) {
        self.first_edge.store(first, Relaxed);
        self.edge_count.store(count, Relaxed);
        self.stage.store(Stage::Ready as u8, Release);
    }

    /// Returns how many of the edges, from the first on, have a child or are about to get one.
    #[inline]
    pub fn child_count(&self) -> usize {
        usize::from(self.child_count.load(Acquire))
    }

    /// Claims the edge after the first `before`. Returns false if another thread was faster.
    #[inline]
    pub fn claim_child(&self, before: u32) -> bool {
        let Ok(before) = u16::try_from(before) else { return false };
        self.child_count.compare_exchange(before, before + 1, AcqRel, Relaxed).is_ok()
    }

    /// Sets how many edges have a child. Nobody else may be at work.
    pub fn set_child_count(&self, count: usize) {
        self.child_count.store(u16::try_from(count).unwrap_or(u16::MAX), Relaxed);
    }

    /// Copies all but the edges. Nobody else may be at work.
    pub fn copy(&self, from: &Self) {
        self.set(from.proof(), Stage::New);
        self.value_sum.store(from.value_sum.load(Relaxed), Relaxed);
        self.counts.store(from.counts.load(Relaxed), Relaxed);
        self.evaluation.store(from.evaluation.load(Relaxed), Relaxed);
    }

    /// Returns the first edge and the number of edges.
    #[inline]
    pub fn edges(&self) -> (u32, usize) {
        (self.first_edge.load(Relaxed), usize::from(self.edge_count.load(Relaxed)))
    }
}
