//! How a processor convolves the cells of a batch for an answer: some rows at a time, so that what is gathered for them
//! stays in its cache, and into the same memory each time. To allocate a megabyte for each part took more time than to
//! multiply.

use tch::{Device, Kind, Tensor};

use crate::NetError;

/// Rows convolved at once, about: with seven taps of 64 filters in 16 bits, 0.9 MB.
const PART_ROWS: usize = 1024;
/// Each part is a multiple of it: oneDNN generates code for each size, of which there are 65 at most then.
pub(crate) const ROW_MULTIPLE: usize = 16;

/// All rows of a batch, part by part.
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// Cells of a convolution: each cell itself and its neighbours.
    taps: i64,
    /// What is gathered for a part, [rows * taps * width] of the largest part and the widest convolution.
    memory: Tensor,
}

struct Part {
    start: i64,
    count: i64,
    /// Rows of each cell and its neighbours, i64 [count * taps, 1].
    neighbours: Tensor,
}

impl Parts {
    /// Divides `count` rows into as many parts as they need, of like size. `neighbours` are i64 [count * taps]; the
    /// convolutions read at most `width_max` numbers a cell.
    pub(crate) fn new(
        neighbours: &Tensor,
        [count, taps]: [i64; 2],
        (width_max, kind): (i64, Kind),
    ) -> Result<Self, NetError> {
        let part_count = (count as usize).div_ceil(PART_ROWS).max(1);
        let part_rows = (count as usize).div_ceil(part_count).next_multiple_of(ROW_MULTIPLE);
        let memory = Tensor::f_empty([part_rows as i64 * taps * width_max], (kind, Device::Cpu))?;
        let part = |start: i64| {
            let count = (count - start).min(part_rows as i64);
            let neighbours = neighbours.f_narrow(0, start * taps, count * taps)?.f_unsqueeze(1)?;
            Ok(Part { start, count, neighbours })
        };
        let parts = (0..count).step_by(part_rows).map(part).collect::<Result<_, NetError>>()?;
        Ok(Self { parts, taps, memory })
    }

    /// Convolves [rows, C], those named by the neighbours included, into the first `count` rows of `output`.
    pub(crate) fn convolve(
        &self,
        cells: &Tensor,
        (weight, bias): (&Tensor, &Tensor),
        output: &Tensor,
    ) -> Result<(), NetError> {
        let width = cells.size()[1];
        let weight = weight.f_tr()?;
        for part in &self.parts {
            let rows = part.count * self.taps;
            let gathered = self.memory.f_narrow(0, 0, rows * width)?;
            let index = part.neighbours.f_expand([-1, width], false)?;
            let _ = cells.f_gather_out(&gathered.f_view([rows, width])?, 0, &index, false)?;
            let inputs = gathered.f_view([part.count, self.taps * width])?;
            let _ = bias.f_addmm_out(&output.f_narrow(0, part.start, part.count)?, &inputs, &weight)?;
        }
        Ok(())
    }

    /// Convolves i8 [rows, C] into the first `count` rows of `sums`, i32 [rows, outputs]. `weight`: i8 [taps * C, outputs].
    pub(crate) fn convolve_int8(&self, cells: &Tensor, weight: &Tensor, sums: &Tensor) -> Result<(), NetError> {
        let width = cells.size()[1];
        // Rows are copied as words of 64 bits: five times as fast as byte by byte.
        let words = cells.f_view_dtype(Kind::Int64)?;
        for part in &self.parts {
            let gathered = words.f_index_select(0, &part.neighbours.f_squeeze_dim(1)?)?;
            let inputs = gathered.f_view_dtype(Kind::Int8)?.f_view([part.count, self.taps * width])?;
            let _ = inputs.f_internal_int_mm_out(&sums.f_narrow(0, part.start, part.count)?, weight)?;
        }
        Ok(())
    }
}
