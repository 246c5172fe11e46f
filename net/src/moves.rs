//! Reading the logits of the legal moves, and of nothing else.
//!
//! The moves of a batch are ragged: those of all positions lie end to end, N of them.

use shared::encoding::{MoveCells, NetworkInput};
use tch::{Kind, Tensor};

use crate::NetError;
use crate::grid::{Grid, rows_of};
use crate::layout::{EMBEDDING, map_count};
use crate::planes::check_planes;
use crate::settings::{NetworkShape, PolicyHead};

/// Checks that `input` agrees with itself and with `shape`.
pub(crate) fn check_input(shape: &NetworkShape, input: &NetworkInput) -> Result<(), NetError> {
    let refused = |reason: String| Err(NetError::Batch(reason));
    let batch = input.len();
    check_planes(shape, &input.planes, batch)?;
    let count = input.policy_indices.len();
    if input.cells.len() != count {
        return refused(format!("{} cells for {count} moves", input.cells.len()));
    }
    if !input.move_ends.is_sorted() || input.move_ends.last().map_or(0, |&end| end as usize) != count {
        return refused(format!("the ends of the moves do not divide {count} moves among {batch} positions"));
    }
    if let Some(index) = input.policy_indices.iter().find(|&&index| usize::from(index) >= shape.policy_size) {
        return refused(format!("policy index {index}, the network has {}", shape.policy_size));
    }
    let inside = |cell: u16| usize::from(cell) < shape.cell_count();
    let good = |cells: &&MoveCells| match **cells {
        MoveCells::Nothing => true,
        MoveCells::Placement { kind, target } => usize::from(kind) < shape.placement_kinds && inside(target),
        MoveCells::Movement { source, target } => inside(source) && inside(target),
    };
    match input.cells.iter().find(|cells| !good(cells)) {
        Some(cells) => refused(format!("{cells:?} lies outside the planes")),
        None => Ok(()),
    }
}

/// Where the logits of N moves are found in the network's output.
pub(crate) enum MoveIndex {
    /// Position in the flattened logits [B * A], i64 [N].
    Full(Tensor),
    /// Rows of the maps, and what to read there.
    Spatial(SpatialIndex),
}

/// Each i64 [N]; 0 where it does not apply.
pub(crate) struct SpatialIndex {
    source: Tensor,
    target: Tensor,
    kind: Tensor,
    is_placement: Tensor,
    is_movement: Tensor,
}

impl MoveIndex {
    /// Puts the index of the moves of `input` (checked before) on `device`.
    pub(crate) fn new(
        shape: &NetworkShape,
        input: &NetworkInput,
        grid: &Grid,
        device: tch::Device,
    ) -> Result<Self, NetError> {
        match shape.settings.policy_head {
            PolicyHead::Full => {
                let mut index = Vec::with_capacity(input.policy_indices.len());
                for position in 0..input.len() {
                    let start = (position * shape.policy_size) as i64;
                    index
                        .extend(input.policy_indices[input.move_range(position)].iter().map(|&i| start + i64::from(i)));
                }
                Ok(Self::Full(Tensor::f_from_slice(&index)?.f_to_device(device)?))
            }
            PolicyHead::Spatial => Ok(Self::Spatial(SpatialIndex::new(input, grid, device)?)),
        }
    }

    /// Returns the logits f32 [N]. Differentiable.
    pub(crate) fn logits(&self, shape: &NetworkShape, policy: &Tensor) -> Result<Tensor, NetError> {
        match self {
            Self::Full(index) => Ok(policy.f_flatten(0, -1)?.f_index_select(0, index)?.f_to_kind(Kind::Float)?),
            Self::Spatial(index) => index.logits(map_count(shape) - 2 * EMBEDDING, policy),
        }
    }
}

impl SpatialIndex {
    /// A move that touches a cell where nothing is computed is one that touches nothing.
    fn new(input: &NetworkInput, grid: &Grid, device: tch::Device) -> Result<Self, NetError> {
        let count = input.cells.len();
        // Five lists in one upload: source, target, kind, is placement, is movement.
        let mut lists = vec![0_i64; 5 * count];
        for position in 0..input.len() {
            let row = |cell| grid.row(position, cell);
            for index in input.move_range(position) {
                match input.cells[index] {
                    MoveCells::Nothing => {}
                    MoveCells::Placement { kind, target } => {
                        let Some(target) = row(target) else { continue };
                        lists[count + index] = target;
                        lists[2 * count + index] = i64::from(kind);
                        lists[3 * count + index] = 1;
                    }
                    MoveCells::Movement { source, target } => {
                        let (Some(source), Some(target)) = (row(source), row(target)) else { continue };
                        lists[index] = source;
                        lists[count + index] = target;
                        lists[4 * count + index] = 1;
                    }
                }
            }
        }
        let lists = Tensor::f_from_slice(&lists)?.f_view([5, count as i64])?.f_to_device(device)?;
        Ok(Self {
            source: lists.f_select(0, 0)?,
            target: lists.f_select(0, 1)?,
            kind: lists.f_select(0, 2)?,
            is_placement: lists.f_select(0, 3)?.f_to_kind(Kind::Bool)?,
            is_movement: lists.f_select(0, 4)?.f_to_kind(Kind::Bool)?,
        })
    }

    fn logits(&self, placement_kinds: i64, maps: &Tensor) -> Result<Tensor, NetError> {
        let rows = |index: &Tensor| -> Result<Tensor, NetError> { Ok(rows_of(maps, index)?.f_to_kind(Kind::Float)?) };
        let (source, target) = (rows(&self.source)?, rows(&self.target)?);
        let placement = target.f_gather(1, &self.kind.f_unsqueeze(1)?, false)?.f_squeeze_dim(1)?;
        let leaving = source.f_narrow(1, placement_kinds, EMBEDDING)?;
        let arriving = target.f_narrow(1, placement_kinds + EMBEDDING, EMBEDDING)?;
        let movement = leaving.f_mul(&arriving)?.f_sum_dim_intlist(1, false, Kind::Float)?.f_mul_scalar(0.25)?;
        let nothing = placement.f_zeros_like()?;
        let placement_or_nothing = placement.f_where_self(&self.is_placement, &nothing)?;
        Ok(movement.f_where_self(&self.is_movement, &placement_or_nothing)?)
    }
}
