//! Ragged batches: the planes of B positions and the legal moves of each, laid end to end.

use super::{DecodeError, Encoding, MoveCells, OutlookTargets, Pos, SparsePlanes};

/// What a network reads for B positions: planes, and the moves whose logits are wanted.
#[derive(Debug, Clone, Default)]
pub struct NetworkInput {
    /// Input planes.
    pub planes: SparsePlanes,
    /// Policy indices of the legal moves of all positions, end to end.
    pub policy_indices: Vec<u16>,
    /// Cells that each of `policy_indices` touches, same length.
    pub cells: Vec<MoveCells>,
    /// Where the moves of position b end in `policy_indices`: B numbers, rising.
    pub move_ends: Vec<u32>,
    /// The active cells of all positions, end to end ([`Encoding::active_cells`]).
    pub active_cells: Vec<u16>,
    /// Where those of position b end: B numbers, rising.
    pub active_ends: Vec<u32>,
}

impl NetworkInput {
    /// Returns B, the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.move_ends.len()
    }

    /// Returns whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.move_ends.is_empty()
    }

    /// Forgets all positions, keeps the memory.
    pub fn clear(&mut self) {
        self.planes.clear();
        self.policy_indices.clear();
        self.cells.clear();
        self.move_ends.clear();
        self.active_cells.clear();
        self.active_ends.clear();
    }

    /// Forgets all but the first `position_count` positions, which have `move_count` moves together.
    pub fn truncate(&mut self, position_count: usize, move_count: usize) {
        self.planes.truncate(position_count);
        self.policy_indices.truncate(move_count);
        self.cells.truncate(move_count);
        self.move_ends.truncate(position_count);
        self.active_ends.truncate(position_count);
        self.active_cells.truncate(self.active_ends.last().map_or(0, |&end| end as usize));
    }

    /// Appends `position` with the moves named by `policy_indices`.
    ///
    /// # Errors
    /// [`DecodeError`] if an index names no move of the position; the batch is then unchanged.
    pub fn push<E: Encoding>(
        &mut self,
        encoding: &E,
        position: &Pos<E>,
        policy_indices: &[u16],
    ) -> Result<(), DecodeError> {
        let cell_count = self.cells.len();
        self.planes.uniform_planes = encoding.uniform_planes();
        if let Err(error) = encoding.lay_out(position, policy_indices, self) {
            self.cells.truncate(cell_count);
            return Err(error);
        }
        self.policy_indices.extend_from_slice(policy_indices);
        self.move_ends.push(u32::try_from(self.policy_indices.len()).expect("a batch has fewer than 2^32 moves"));
        self.active_ends.push(self.active_cells.len() as u32);
        Ok(())
    }

    /// Appends all positions of `other`, which is left with memory to be used again and nothing that counts.
    pub fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, other);
            return;
        }
        self.planes.append(&other.planes);
        self.policy_indices.extend_from_slice(&other.policy_indices);
        self.cells.extend_from_slice(&other.cells);
        self.active_cells.extend_from_slice(&other.active_cells);
        extend_ends(&mut self.move_ends, &other.move_ends);
        extend_ends(&mut self.active_ends, &other.active_ends);
    }

    /// Returns where the moves of position `index` lie in `policy_indices`.
    #[must_use]
    pub fn move_range(&self, index: usize) -> std::ops::Range<usize> {
        range(&self.move_ends, index)
    }

    /// Returns where the cells of position `index` lie in `active_cells`.
    #[must_use]
    pub fn active_range(&self, index: usize) -> std::ops::Range<usize> {
        range(&self.active_ends, index)
    }
}

pub(super) fn range(ends: &[u32], index: usize) -> std::ops::Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    start..ends[index] as usize
}

/// Appends ends that count from 0 to those of a batch that goes on.
pub(super) fn extend_ends(ends: &mut Vec<u32>, more: &[u32]) {
    let start = ends.last().copied().unwrap_or(0);
    ends.extend(more.iter().map(|end| start + end));
}

/// What one training step learns from.
#[derive(Debug, Clone, Default)]
pub struct TrainingBatch {
    /// The positions with all their legal moves.
    pub input: NetworkInput,
    /// Share of each legal move, f32, same layout as `input.policy_indices`; sums to 1 a position.
    pub policy_targets: Vec<f32>,
    /// Outcome seen from the side to move, `f32 [B]`, -1..=1.
    pub value_targets: Vec<f32>,
    /// What the rest of each game brought.
    pub outlook: OutlookTargets,
}

impl TrainingBatch {
    /// Forgets all samples, keeps the memory.
    pub fn clear(&mut self) {
        self.input.clear();
        self.policy_targets.clear();
        self.value_targets.clear();
        self.outlook.clear();
    }
}
