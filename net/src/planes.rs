//! Brings the planes of a batch to a device: their numbers travel with their places, and are filled in there.

use shared::encoding::{NetworkInput, SparsePlanes};
use tch::{Kind, Tensor};

use crate::NetError;
use crate::grid::{CellGrid, Grid};
use crate::settings::NetworkShape;

/// Puts the planes of `input` (checked before) on `device` in `kind`, as `grid` wants them: [frames, C, H, W], channels
/// last, those behind the positions of `input` empty; or [N + S, C], the spare rows empty.
pub(crate) fn upload(
    input: &NetworkInput,
    shape: &NetworkShape,
    (grid, frame_count): (&Grid, usize),
    device: tch::Device,
    kind: Kind,
) -> Result<Tensor, NetError> {
    let planes = OnDevice::upload(&input.planes, shape, grid, device, kind)?;
    match grid {
        Grid::Frame { .. } => planes.frames(shape, input.len(), frame_count),
        Grid::Cells(cells) => planes.cells(shape, cells),
    }
}

/// The numbers of planes, on their way into them.
struct OnDevice {
    /// Where `numbers` go, row * C + plane, i64 [M].
    places: Tensor,
    /// [M].
    numbers: Tensor,
    uniform_planes: &'static [u8],
    /// [B, uniform planes].
    uniform_numbers: Tensor,
}

impl OnDevice {
    fn upload(
        planes: &SparsePlanes,
        shape: &NetworkShape,
        grid: &Grid,
        device: tch::Device,
        kind: Kind,
    ) -> Result<Self, NetError> {
        let (cell_count, plane_count) = (shape.cell_count(), shape.planes.planes);
        // Two lists that are as long as each other: what lies on no active cell goes nowhere, and with it its number.
        let mut places = Vec::with_capacity(planes.places.len());
        let mut numbers = Vec::with_capacity(planes.places.len());
        for position in 0..planes.len() {
            for mark in planes.range(position) {
                let at = usize::from(planes.places[mark]);
                let (plane, cell) = ((at / cell_count) as i64, (at % cell_count) as u16);
                let Some(row) = grid.row(position, cell) else { continue };
                places.push(row * plane_count as i64 + plane);
                numbers.push(planes.numbers[mark]);
            }
        }
        let uniform_dims = [planes.len() as i64, planes.uniform_planes.len() as i64];
        let uniform_numbers = Tensor::f_from_slice(&planes.uniform_numbers)?.f_view(uniform_dims)?;
        Ok(Self {
            places: Tensor::f_from_slice(&places)?.f_to_device(device)?,
            numbers: Tensor::f_from_slice(&numbers)?.f_to_device(device)?.f_to_kind(kind)?,
            uniform_planes: planes.uniform_planes,
            uniform_numbers: uniform_numbers.f_to_device(device)?.f_to_kind(kind)?,
        })
    }

    /// Returns `row_count` rows of C numbers, all 0 but those of the planes that are not uniform.
    fn rows(&self, row_count: i64, plane_count: i64) -> Result<Tensor, NetError> {
        let mut numbers = Tensor::f_zeros([row_count * plane_count], (self.numbers.kind(), self.numbers.device()))?;
        Ok(numbers.f_scatter_(0, &self.places, &self.numbers)?.f_view([row_count, plane_count])?)
    }

    fn frames(&self, shape: &NetworkShape, batch: usize, frame_count: usize) -> Result<Tensor, NetError> {
        let (cell_count, plane_count) = (shape.cell_count() as i64, shape.planes.planes as i64);
        let rows = self.rows(frame_count as i64 * cell_count, plane_count)?;
        let frames = rows.f_view([frame_count as i64, cell_count, plane_count])?;
        for (index, &plane) in self.uniform_planes.iter().enumerate() {
            let numbers = self.uniform_numbers.f_narrow(1, index as i64, 1)?;
            frames.f_select(2, i64::from(plane))?.f_narrow(0, 0, batch as i64)?.f_copy_(&numbers)?;
        }
        let (rows, columns) = (shape.planes.rows as i64, shape.planes.columns as i64);
        Ok(frames.f_view([frame_count as i64, rows, columns, plane_count])?.f_permute([0, 3, 1, 2])?)
    }

    fn cells(&self, shape: &NetworkShape, cells: &CellGrid) -> Result<Tensor, NetError> {
        let rows = self.rows(cells.row_count(), shape.planes.planes as i64)?;
        if self.uniform_planes.is_empty() {
            return Ok(rows);
        }
        let count = cells.active_count();
        let numbers = self.uniform_numbers.f_repeat_interleave_self_tensor(&cells.cell_counts()?, 0, count)?;
        let active = rows.f_narrow(0, 0, count)?;
        for (index, &plane) in self.uniform_planes.iter().enumerate() {
            active.f_select(1, i64::from(plane))?.f_copy_(&numbers.f_select(1, index as i64)?)?;
        }
        Ok(rows)
    }
}

/// Checks that planes for `batch` positions agree with themselves and with `shape`.
pub(crate) fn check_planes(shape: &NetworkShape, planes: &SparsePlanes, batch: usize) -> Result<(), NetError> {
    let refused = |reason: String| Err(NetError::Batch(reason));
    if planes.len() != batch {
        return refused(format!("planes of {} positions, expected {batch}", planes.len()));
    }
    let (count, number_count) = (planes.places.len(), planes.numbers.len());
    if count != number_count || !planes.ends.is_sorted() || planes.ends.last().map_or(0, |&end| end as usize) != count {
        return refused(format!("{number_count} plane numbers for {count} places of {batch} positions"));
    }
    if let Some(place) = planes.places.iter().find(|&&place| usize::from(place) >= shape.planes.len()) {
        return refused(format!("place {place} lies outside the planes"));
    }
    if let Some(plane) = planes.uniform_planes.iter().find(|&&plane| usize::from(plane) >= shape.planes.planes) {
        return refused(format!("plane {plane}, there are {}", shape.planes.planes));
    }
    let (found, wanted) = (planes.uniform_numbers.len(), batch * planes.uniform_planes.len());
    if found != wanted {
        return refused(format!("{found} numbers of uniform planes, expected {wanted}"));
    }
    Ok(())
}
