//! How the cells of a batch lie: what a convolution must know beside its weights.
//!
//! A trunk of the frame computes B x H x W cells by 3 x 3 convolutions. Most of them are empty and far from every
//! piece. A trunk of active cells computes those alone, N of them, one row each: a convolution gathers the rows of a
//! cell and its neighbours side by side and multiplies once. A neighbour that is not active counts as zeros, as beyond
//! the edge of a frame.

use shared::encoding::NetworkInput;
use tch::{Kind, Tensor};

use crate::NetError;
use crate::parts::{Parts, ROW_MULTIPLE};
use crate::settings::{NetworkShape, Trunk};

/// How the cells of a batch lie.
pub(crate) enum Grid {
    /// All cells of each frame, in order.
    Frame {
        /// Cells of one frame.
        cell_count: usize,
    },
    /// The active cells alone.
    Cells(CellGrid),
}

/// The active cells of B positions, N rows. Row N stands for every cell that is not active: zeros.
///
/// While a network answers, all tensors have spare rows of zeros behind the N, S together, so that the row of zeros need
/// not be added for each convolution, and so that there are few sizes: oneDNN generates code for each. On a processor the
/// last of them is not computed. While it learns there are none (S = 0), since batch norm would count them; only what is
/// gathered for a convolution has more rows then.
pub(crate) struct CellGrid {
    /// Rows of each cell and its neighbours, i64 [G * taps]; those behind the N are N.
    neighbours: Tensor,
    /// `Some` if a processor answers.
    parts: Option<Parts>,
    /// G, the rows that are gathered and computed, at least N, and taps.
    dims: [i64; 2],
    active_count: i64,
    spare_rows: i64,
    /// Rows of each position, filled up with N, i64 [B, most].
    members: Tensor,
    /// Cells of each position, f32 [B, 1].
    counts: Tensor,
    /// Row of each cell of each frame, [`NOT_ACTIVE`] for most, B x H x W.
    rows: Vec<u32>,
    /// Which cell of all frames, one after the other, each row is, i64 [N].
    places: Tensor,
    /// Which position each row belongs to, B for spare rows, i64 [N + S]; empty unless blocks pool.
    owners: Tensor,
    cell_count: usize,
}

const NOT_ACTIVE: u32 = u32::MAX;

/// While a network learns, the rows that are gathered are a multiple of it: batches of 128 midgames of Hive, some 4,500
/// rows, have 8 sizes instead of a thousand, and cost 3 % more.
const GATHERED_MULTIPLE: usize = 256;

/// Rows beside the active cells.
#[derive(Clone, Copy)]
struct Rows {
    /// Of all tensors: S.
    spare: usize,
    /// Of what is gathered, the active cells included: G.
    gathered: usize,
}

impl Grid {
    /// Lays out the cells of `input` on `device`, for a network that learns from them.
    pub(crate) fn for_learning(
        shape: &NetworkShape,
        input: &NetworkInput,
        device: tch::Device,
    ) -> Result<Self, NetError> {
        let count = input.active_cells.len();
        Self::new(shape, input, Rows { spare: 0, gathered: count.next_multiple_of(GATHERED_MULTIPLE) }, device)
    }

    /// Lays out the cells of `input` on `device`, for a network that answers in numbers of `kind`.
    pub(crate) fn for_answers(
        shape: &NetworkShape,
        input: &NetworkInput,
        (device, kind): (tch::Device, Kind),
    ) -> Result<Self, NetError> {
        let count = input.active_cells.len();
        // A GPU computes all rows of a tensor in one product; a processor can leave the row of zeros out.
        let rows = if device.is_cuda() {
            let gathered = (count + 1).next_multiple_of(ROW_MULTIPLE);
            Rows { spare: gathered - count, gathered }
        } else {
            let gathered = count.next_multiple_of(ROW_MULTIPLE);
            Rows { spare: gathered + 1 - count, gathered }
        };
        let mut grid = Self::new(shape, input, rows, device)?;
        if let (Self::Cells(cells), false) = (&mut grid, device.is_cuda()) {
            let width_max = shape.map_plane_count().max(shape.settings.filters as usize);
            cells.parts = Some(Parts::new(&cells.neighbours, cells.dims, (width_max as i64, kind))?);
        }
        Ok(grid)
    }

    fn new(shape: &NetworkShape, input: &NetworkInput, rows: Rows, device: tch::Device) -> Result<Self, NetError> {
        match shape.settings.trunk {
            Trunk::Frame => Ok(Self::Frame { cell_count: shape.cell_count() }),
            Trunk::Cells => Ok(Self::Cells(CellGrid::new(shape, input, rows, device)?)),
        }
    }

    /// Returns mean and maximum of each filter over the cells of each position: none below 0, to [B, 2 * C].
    /// Differentiable.
    pub(crate) fn pool(&self, trunk: &Tensor) -> Result<Tensor, NetError> {
        match self {
            Self::Frame { .. } => {
                let cells: &[i64] = &[2, 3];
                let mean = trunk.f_mean_dim(cells, false, Kind::Float)?.f_to_kind(trunk.kind())?;
                Ok(Tensor::f_cat(&[mean, trunk.f_amax(cells, false)?], 1)?)
            }
            Self::Cells(grid) => grid.pool(trunk),
        }
    }

    /// Returns the numbers of each position, [B, C], as they are added to each of its cells. Differentiable.
    pub(crate) fn broadcast(&self, positions: &Tensor) -> Result<Tensor, NetError> {
        match self {
            Self::Frame { .. } => Ok(positions.f_unsqueeze(2)?.f_unsqueeze(3)?),
            Self::Cells(grid) => grid.broadcast(positions),
        }
    }

    /// Returns the row of a cell of a position in the trunk's output, `None` if nothing is computed there.
    pub(crate) fn row(&self, position: usize, cell: u16) -> Option<i64> {
        match self {
            Self::Frame { cell_count } => Some((position * cell_count + usize::from(cell)) as i64),
            Self::Cells(grid) => grid.row(position, usize::from(cell)),
        }
    }
}

impl CellGrid {
    fn new(shape: &NetworkShape, input: &NetworkInput, rows: Rows, device: tch::Device) -> Result<Self, NetError> {
        check_active(shape, input)?;
        let cell_count = shape.cell_count();
        let mut row_of = vec![NOT_ACTIVE; input.len() * cell_count];
        let mut places = Vec::with_capacity(input.active_cells.len());
        for position in 0..input.len() {
            for row in input.active_range(position) {
                let place = position * cell_count + usize::from(input.active_cells[row]);
                row_of[place] = row as u32;
                places.push(place as i64);
            }
        }
        let most = (0..input.len()).map(|position| input.active_range(position).len()).max().unwrap_or(0);
        let none = input.active_cells.len() as i64;
        let mut members = vec![none; input.len() * most];
        let mut counts = Vec::with_capacity(input.len());
        for position in 0..input.len() {
            let range = input.active_range(position);
            counts.push(range.len() as f32);
            members.iter_mut().skip(position * most).zip(range).for_each(|(place, row)| *place = row as i64);
        }
        let mut neighbours = neighbour_rows(shape, input, &row_of);
        let taps = 1 + offsets(shape).len();
        neighbours.resize(rows.gathered * taps, none);
        let owners = if shape.settings.global_pooling_every > 0 { owners(input, rows.spare) } else { Vec::new() };
        let dims = [input.len() as i64, most as i64];
        let neighbours = Tensor::f_from_slice(&neighbours)?.f_to_device(device)?;
        Ok(Self {
            dims: [rows.gathered as i64, taps as i64],
            active_count: none,
            spare_rows: rows.spare as i64,
            parts: None,
            neighbours,
            members: Tensor::f_from_slice(&members)?.f_view(dims)?.f_to_device(device)?,
            counts: Tensor::f_from_slice(&counts)?.f_unsqueeze(1)?.f_to_device(device)?,
            places: Tensor::f_from_slice(&places)?.f_to_device(device)?,
            owners: Tensor::f_from_slice(&owners)?.f_to_device(device)?,
            rows: row_of,
            cell_count,
        })
    }

    fn row(&self, position: usize, cell: usize) -> Option<i64> {
        let row = self.rows[position * self.cell_count + cell];
        (row != NOT_ACTIVE).then_some(i64::from(row))
    }

    /// Convolves to learn: [N, C] to [N, outputs]. Differentiable.
    pub(crate) fn convolve_to_learn(
        &self,
        cells: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, NetError> {
        Ok(self.gather(cells)?.f_linear(weight, bias)?.f_narrow(0, 0, self.row_count())?)
    }

    /// Returns each cell's numbers and those of its neighbours side by side: [N + S, C] to [G, taps * C]. Differentiable.
    fn gather(&self, cells: &Tensor) -> Result<Tensor, NetError> {
        let width = cells.size()[1];
        let [count, taps] = self.dims;
        Ok(rows_of(&self.with_zeros(cells)?, &self.neighbours)?.f_view([count, taps * width])?)
    }

    /// Convolves for an answer: [N + S, C] to [N + S, outputs], spare rows zero.
    pub(crate) fn convolve(&self, cells: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, NetError> {
        let output = match &self.parts {
            None => self.gather(cells)?.f_linear(weight, Some(bias))?,
            Some(parts) => {
                let output = cells.f_new_empty([self.row_count(), weight.size()[0]], (cells.kind(), cells.device()))?;
                parts.convolve(cells, (weight, bias), &output)?;
                output
            }
        };
        self.clear_spare_rows(&output)?;
        Ok(output)
    }

    /// Sets the spare rows of [N + S, C] to zero.
    pub(crate) fn clear_spare_rows(&self, cells: &Tensor) -> Result<(), NetError> {
        let _ = cells.f_narrow(0, self.active_count(), self.spare_rows)?.f_zero_()?;
        Ok(())
    }

    /// Convolves whole numbers for an answer of a processor: i8 [N + S, C], spare rows zero, to i32 [N + S, outputs], spare
    /// rows anything. `weight`: i8 [taps * C, outputs].
    pub(crate) fn convolve_int8(&self, cells: &Tensor, weight: &Tensor) -> Result<Tensor, NetError> {
        let parts =
            self.parts.as_ref().ok_or_else(|| NetError::Torch("8 bits are for answers of processors".into()))?;
        let sums = Tensor::f_empty([self.row_count(), weight.size()[1]], (Kind::Int, cells.device()))?;
        parts.convolve_int8(cells, weight, &sums)?;
        Ok(sums)
    }

    /// Returns mean and maximum over the cells of each position: [N, C], none below 0, to [B, 2 * C]. Differentiable.
    fn pool(&self, cells: &Tensor) -> Result<Tensor, NetError> {
        // The rows of zeros that fill up change neither sum nor maximum.
        let members = rows_of(&self.with_zeros(cells)?, &self.members)?;
        let sum = members.f_sum_dim_intlist(1, false, Kind::Float)?;
        let mean = sum.f_div(&self.counts)?.f_to_kind(cells.kind())?;
        Ok(Tensor::f_cat(&[mean, members.f_amax(1, false)?], 1)?)
    }

    /// Gives each cell the numbers of its position: [B, C] to [N + S, C], spare rows zero. Differentiable.
    fn broadcast(&self, positions: &Tensor) -> Result<Tensor, NetError> {
        rows_of(&with_zeros_behind(positions)?, &self.owners)
    }

    /// Lays the cells out in their frames, zeros elsewhere: [N, C] to [B, H * W * C], the numbers of a cell side by side.
    /// Differentiable.
    pub(crate) fn spread(&self, cells: &Tensor) -> Result<Tensor, NetError> {
        let (batch, width) = (self.counts.size()[0], cells.size()[1]);
        let cells = cells.f_narrow(0, 0, self.active_count())?;
        let frames = cells.f_new_zeros([batch * self.cell_count as i64, width], (cells.kind(), cells.device()))?;
        Ok(frames.f_index_copy(0, &self.places, &cells)?.f_view([batch, self.cell_count as i64 * width])?)
    }

    /// Returns `cells` with a row N of zeros.
    fn with_zeros(&self, cells: &Tensor) -> Result<Tensor, NetError> {
        if self.spare_rows > 0 { Ok(cells.shallow_clone()) } else { with_zeros_behind(cells) }
    }

    /// Returns the number of cells of each position, i64 [B].
    pub(crate) fn cell_counts(&self) -> Result<Tensor, NetError> {
        Ok(self.counts.f_squeeze_dim(1)?.f_to_kind(Kind::Int64)?)
    }

    /// Returns N, the number of active cells.
    pub(crate) fn active_count(&self) -> i64 {
        self.active_count
    }

    /// Returns N + S, the number of rows.
    pub(crate) fn row_count(&self) -> i64 {
        self.active_count + self.spare_rows
    }
}

/// Returns `rows` with a row of zeros behind them.
fn with_zeros_behind(rows: &Tensor) -> Result<Tensor, NetError> {
    Ok(rows.f_constant_pad_nd([0, 0, 0, 1])?)
}

/// Returns the rows of `cells` [N, C] that `rows` [..., M] names: [..., M, C]. Differentiable; the backward pass is parallel
/// and the same every time.
pub(crate) fn rows_of(cells: &Tensor, rows: &Tensor) -> Result<Tensor, NetError> {
    if cells.device().is_cuda() {
        return Ok(Tensor::f_embedding(cells, rows, -1, false, false)?);
    }
    // An index that is expanded over the columns is sorted once in the backward pass and then added up row by row, where
    // `embedding` makes a tensor for each row: 4 % of a training of 6 x 64.
    let width = cells.size()[1];
    let mut dims = rows.size();
    dims.push(width);
    Ok(cells.f_gather(0, &over_columns(rows, width)?, false)?.f_view(dims.as_slice())?)
}

/// Returns the index of rows as `gather` wants it: for each of `width` columns, without a copy.
fn over_columns(rows: &Tensor, width: i64) -> Result<Tensor, NetError> {
    Ok(rows.f_reshape([-1, 1])?.f_expand([-1, width], false)?)
}

/// The position that each active cell belongs to, then as many spare rows, which belong to none: B.
fn owners(input: &NetworkInput, spare_rows: usize) -> Vec<i64> {
    let cells = |position: usize| std::iter::repeat_n(position as i64, input.active_range(position).len());
    let spare = std::iter::repeat_n(input.len() as i64, spare_rows);
    (0..input.len()).flat_map(cells).chain(spare).collect()
}

fn offsets(shape: &NetworkShape) -> &'static [(i8, i8)] {
    shape.neighbourhood.map_or(&[], |neighbourhood| neighbourhood.offsets())
}

/// The rows of each active cell and its neighbours, N where there is none.
fn neighbour_rows(shape: &NetworkShape, input: &NetworkInput, rows: &[u32]) -> Vec<i64> {
    let offsets = offsets(shape);
    let (height, width) = (shape.planes.rows as i32, shape.planes.columns as i32);
    let none = input.active_cells.len() as i64;
    let mut neighbours = Vec::with_capacity(input.active_cells.len() * (1 + offsets.len()));
    for position in 0..input.len() {
        let frame = &rows[position * shape.cell_count()..(position + 1) * shape.cell_count()];
        for row in input.active_range(position) {
            let cell = i32::from(input.active_cells[row]);
            let (line, column) = (cell / width, cell % width);
            neighbours.push(row as i64);
            neighbours.extend(offsets.iter().map(|&(down, right)| {
                let (line, column) = (line + i32::from(down), column + i32::from(right));
                let is_inside = (0..height).contains(&line) && (0..width).contains(&column);
                let row = if is_inside { frame[(line * width + column) as usize] } else { NOT_ACTIVE };
                if row == NOT_ACTIVE { none } else { i64::from(row) }
            }));
        }
    }
    neighbours
}

fn check_active(shape: &NetworkShape, input: &NetworkInput) -> Result<(), NetError> {
    let (batch, count) = (input.len(), input.active_cells.len());
    let refused = |reason: String| Err(NetError::Batch(reason));
    let ends = &input.active_ends;
    if ends.len() != batch || !ends.is_sorted() || ends.last().map_or(0, |&end| end as usize) != count {
        return refused(format!("the ends of the active cells do not divide {count} cells among {batch} positions"));
    }
    if let Some(position) = (0..batch).find(|&position| input.active_range(position).is_empty()) {
        return refused(format!("position {position} has no active cell"));
    }
    match input.active_cells.iter().find(|&&cell| usize::from(cell) >= shape.cell_count()) {
        Some(cell) => refused(format!("active cell {cell} lies outside the planes")),
        None => Ok(()),
    }
}
