//! Batches of leaves on their way to the GPU: packed positions and the policy indices of their legal moves.

use bytes::{BufMut, BytesMut};

use super::{BATCH_LEAF_COUNT_MAX, POSITION_BYTE_COUNT_MAX, WireError, check_length, check_limit, network_ref_to_wire};
use crate::bounds::LEGAL_MOVE_COUNT_MAX;
use crate::ids::NetworkRef;

/// Collects leaves for one message, and reuses the memory of messages that are gone.
#[derive(Debug, Default)]
pub struct LeafBatchBuilder {
    positions: BytesMut,
    position_lengths: Vec<u32>,
    policy_indices: BytesMut,
    move_counts: Vec<u32>,
}

impl LeafBatchBuilder {
    /// Appends a leaf: its packed position and the policy indices of its legal moves.
    ///
    /// # Errors
    /// [`WireError`] if the leaf or the batch would be larger than a reader takes; the batch is then unchanged.
    pub fn push(&mut self, packed: &[u8], policy_indices: &[u16]) -> Result<(), WireError> {
        check_limit("position_lengths", self.len() + 1, BATCH_LEAF_COUNT_MAX)?;
        check_leaf(packed.len(), policy_indices.len())?;
        self.positions.extend_from_slice(packed);
        self.position_lengths.push(packed.len() as u32);
        self.policy_indices.reserve(policy_indices.len() * 2);
        for index in policy_indices {
            self.policy_indices.put_u16_le(*index);
        }
        self.move_counts.push(policy_indices.len() as u32);
        Ok(())
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.move_counts.len()
    }

    /// Returns whether there is no leaf.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.move_counts.is_empty()
    }

    /// Returns the message that asks `network` about all leaves, and starts the next batch.
    #[must_use]
    pub fn finish(&mut self, batch_id: u64, network: NetworkRef) -> proto::LeafBatch {
        let leaf_count = self.len();
        proto::LeafBatch {
            batch_id,
            network_id: network_ref_to_wire(network),
            positions: self.positions.split().freeze(),
            position_lengths: std::mem::replace(&mut self.position_lengths, Vec::with_capacity(leaf_count)),
            policy_indices: self.policy_indices.split().freeze(),
            move_counts: std::mem::replace(&mut self.move_counts, Vec::with_capacity(leaf_count)),
        }
    }

    /// Forgets all leaves, keeps the memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.position_lengths.clear();
        self.policy_indices.clear();
        self.move_counts.clear();
    }
}

/// A batch whose lengths agree.
#[derive(Debug, Clone, Copy)]
pub struct LeafBatchView<'a> {
    batch: &'a proto::LeafBatch,
}

/// One leaf of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// The packed position.
    pub packed: &'a [u8],
    policy_indices: &'a [[u8; 2]],
}

impl<'a> Leaf<'a> {
    /// Returns the policy indices of the legal moves, in the order in which priors are wanted.
    pub fn policy_indices(&self) -> impl ExactSizeIterator<Item = u16> + 'a {
        self.policy_indices.iter().map(|bytes| u16::from_le_bytes(*bytes))
    }
}

impl<'a> LeafBatchView<'a> {
    /// Returns the number of leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.move_counts.len()
    }

    /// Returns whether there is no leaf.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.move_counts.is_empty()
    }

    /// Returns the number of legal moves of all leaves together.
    #[must_use]
    pub fn move_count(&self) -> usize {
        self.batch.policy_indices.len() / 2
    }

    /// Returns the leaves in their order.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf<'a>> + use<'a> {
        let batch = self.batch;
        let mut positions: &[u8] = &batch.positions;
        let mut policy_indices = batch.policy_indices.as_chunks::<2>().0;
        batch.position_lengths.iter().zip(&batch.move_counts).map(move |(length, count)| Leaf {
            packed: take(&mut positions, *length as usize),
            policy_indices: take(&mut policy_indices, *count as usize),
        })
    }
}

/// Checks all lengths of a batch.
///
/// # Errors
/// [`WireError`] naming the field that is wrong.
pub fn read_leaf_batch(batch: &proto::LeafBatch) -> Result<LeafBatchView<'_>, WireError> {
    check_limit("position_lengths", batch.position_lengths.len(), BATCH_LEAF_COUNT_MAX)?;
    check_length("move_counts", batch.move_counts.len(), batch.position_lengths.len())?;
    let (mut byte_count, mut move_count) = (0, 0);
    for (length, count) in batch.position_lengths.iter().zip(&batch.move_counts) {
        check_leaf(*length as usize, *count as usize)?;
        byte_count += *length as usize;
        move_count += *count as usize;
    }
    check_length("positions", batch.positions.len(), byte_count)?;
    check_length("policy_indices", batch.policy_indices.len(), move_count * 2)?;
    Ok(LeafBatchView { batch })
}

fn check_leaf(byte_count: usize, move_count: usize) -> Result<(), WireError> {
    if byte_count == 0 {
        return Err(WireError::invalid("position_lengths", "a position of 0 bytes"));
    }
    if move_count == 0 {
        return Err(WireError::invalid("move_counts", "a leaf without legal moves"));
    }
    check_limit("position_lengths", byte_count, POSITION_BYTE_COUNT_MAX)?;
    check_limit("move_counts", move_count, LEGAL_MOVE_COUNT_MAX)
}

/// Splits off the first `count` items; all of them if there are fewer.
fn take<'a, T>(items: &mut &'a [T], count: usize) -> &'a [T] {
    let (taken, rest) = items.split_at(count.min(items.len()));
    *items = rest;
    taken
}
