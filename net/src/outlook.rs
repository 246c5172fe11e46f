//! The heads that learn to predict the rest of a game, and their loss.

use shared::encoding::OutlookTargets;
use tch::{Kind, Reduction, Tensor};

use crate::affine::Affine;
use crate::grid::{Grid, rows_of};
use crate::{NetError, NetworkShape};

/// What the network learns to predict beside policy and value.
pub(crate) struct OutlookHeads {
    /// Of each cell: whether the piece on top of it moves again.
    pub pieces: Affine,
    /// Of the value head's hidden layer: the end of the game.
    pub ending: Affine,
}

/// What the outlook heads predict, before sigmoids.
pub(crate) struct OutlookOutput {
    /// Logit that the piece on top of a cell moves again, [cells, 1], cells as [`Grid::row`] counts them.
    pub pieces: Tensor,
    /// Logits of the end, [B, numbers].
    pub ending: Tensor,
}

impl OutlookHeads {
    /// Reads the trunk, one row a cell, and the value head's hidden layer.
    pub(crate) fn forward(&self, cells: &Tensor, hidden: &Tensor) -> Result<OutlookOutput, NetError> {
        Ok(OutlookOutput { pieces: self.pieces.apply(cells)?, ending: self.ending.apply(hidden)? })
    }
}

/// Returns what the outlook heads get wrong, as [`crate::StepLosses::outlook_loss`] says. Differentiable.
pub(crate) fn outlook_loss(output: &OutlookOutput, targets: &OutlookTargets, grid: &Grid) -> Result<Tensor, NetError> {
    let device = output.ending.device();
    let [batch, width] = output.ending.size()[..] else {
        return Err(NetError::Torch("numbers of the end that are no table".into()));
    };
    let known = Tensor::f_from_slice(&targets.known)?.f_to_device(device)?;
    let endings = Tensor::f_from_slice(&targets.endings)?.f_view([batch, width])?.f_to_device(device)?;
    let errors = output.ending.f_to_kind(Kind::Float)?.f_sigmoid()?.f_sub(&endings)?.f_square()?;
    let count = (targets.known.iter().sum::<f32>() * width as f32).max(1.0);
    let ending_loss = errors.f_mul(&known.f_unsqueeze(1)?)?.f_sum(Kind::Float)?.f_div_scalar(f64::from(count))?;
    // Of pieces where the network computes something: all, but for those outside the frame.
    let (rows, moves_again): (Vec<i64>, Vec<f32>) = (targets.pieces.iter().zip(&targets.moves_again))
        .filter_map(|(&(position, cell), &moves_again)| Some((grid.row(position as usize, cell)?, moves_again)))
        .unzip();
    if rows.is_empty() {
        // A game whose pieces have no names: their head has a gradient all the same, of zeros.
        return Ok(ending_loss.f_add(&output.pieces.f_sum(Kind::Float)?.f_mul_scalar(0.0)?)?);
    }
    let rows = Tensor::f_from_slice(&rows)?.f_to_device(device)?;
    let moves_again = Tensor::f_from_slice(&moves_again)?.f_to_device(device)?;
    let logits = rows_of(&output.pieces, &rows)?.f_to_kind(Kind::Float)?.f_flatten(0, -1)?;
    let nothing = None::<Tensor>;
    let piece_loss =
        logits.f_binary_cross_entropy_with_logits(&moves_again, nothing.as_ref(), nothing.as_ref(), Reduction::Mean)?;
    Ok(ending_loss.f_add(&piece_loss)?)
}

/// Checks that the targets of `positions` positions agree with themselves and with the heads of `shape`, if it has any.
pub(crate) fn check_outlook(shape: &NetworkShape, targets: &OutlookTargets, positions: usize) -> Result<(), NetError> {
    if shape.ending_count == 0 {
        return Ok(());
    }
    let refused = |reason: String| Err(NetError::Batch(reason));
    let OutlookTargets { pieces, moves_again, endings, known } = targets;
    if (known.len(), endings.len()) != (positions, positions * shape.ending_count) {
        return refused(format!("{} numbers of the ends of {positions} games", endings.len()));
    }
    let is_inside =
        |&(position, cell): &(u32, u16)| (position as usize) < positions && usize::from(cell) < shape.cell_count();
    if pieces.len() != moves_again.len() || !pieces.iter().all(is_inside) {
        return refused(format!(
            "{} pieces, and for {} of them whether they move again",
            pieces.len(),
            moves_again.len()
        ));
    }
    Ok(())
}
