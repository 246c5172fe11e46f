//! Making a training batch from stored samples: unpacked, turned by a symmetry, and encoded.
//!
//! Which samples and which symmetries is the replay buffer's business.

use super::PolicyTargetError;
use super::policy_target::pairs_of;
use crate::encoding::{DecodeError, Encoding, Mv, Outlook, Pos, Symmetry, TrainingBatch};
use crate::game::Game;

/// A sample as a replay buffer keeps it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredSample<'a> {
    /// The position as [`Encoding::pack`] wrote it.
    pub packed: &'a [u8],
    /// The policy target as [`super::PolicyTarget::to_bytes`] wrote it.
    pub policy_target: &'a [u8],
    /// Outcome seen from the side to move, -1..=1.
    pub value_target: f32,
    /// What the rest of its game brought, if that is known.
    pub outlook: Option<Outlook>,
}

/// Why a stored sample cannot be learned from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The position cannot be read.
    #[error(transparent)]
    Position(#[from] DecodeError),
    /// The policy target cannot be read.
    #[error(transparent)]
    PolicyTarget(#[from] PolicyTargetError),
    /// The policy target names moves that are not legal in the position.
    #[error("policy target: a weight of {0} is on moves that are not legal")]
    IllegalWeight(u32),
    /// The value is not one.
    #[error("value target {0} is not in -1..=1")]
    Value(f32),
    /// The game does not have this symmetry.
    #[error("symmetry {0} of {1}")]
    Symmetry(u8, u8),
}

/// Memory that one thread reuses from sample to sample.
#[derive(Clone)]
pub struct SampleScratch<E: Encoding> {
    position: Pos<E>,
    moves: Vec<Mv<E>>,
    policy_indices: Vec<u16>,
    /// Weight of each policy index, all 0 between samples.
    weights: Vec<u16>,
    /// How many legal moves have each policy index, all 0 between samples.
    sharer_counts: Vec<u16>,
    shares: Vec<f32>,
    pieces: Vec<(u8, u16)>,
}

impl<E: Encoding> SampleScratch<E> {
    /// Makes scratch memory for samples of this encoding.
    #[must_use]
    pub fn new(encoding: &E) -> Self {
        Self {
            position: encoding.game().initial_position(),
            moves: Vec::new(),
            policy_indices: Vec::new(),
            weights: vec![0; encoding.policy_size()],
            sharer_counts: vec![0; encoding.policy_size()],
            shares: Vec::new(),
            pieces: Vec::new(),
        }
    }
}

/// Appends one sample, turned by `symmetry`, to `batch`.
///
/// # Errors
/// [`SampleError`] if the sample contradicts itself; the batch is then unchanged. Never panics.
pub fn push_sample<E: Encoding>(
    encoding: &E,
    sample: &StoredSample<'_>,
    symmetry: Symmetry,
    batch: &mut TrainingBatch,
    scratch: &mut SampleScratch<E>,
) -> Result<(), SampleError> {
    if !(-1.0..=1.0).contains(&sample.value_target) {
        return Err(SampleError::Value(sample.value_target));
    }
    if symmetry.0 >= encoding.symmetry_count() {
        return Err(SampleError::Symmetry(symmetry.0, encoding.symmetry_count()));
    }
    encoding.unpack(sample.packed, &mut scratch.position)?;
    scratch.moves.clear();
    encoding.game().legal_moves(&scratch.position, &mut scratch.moves);
    list_indices(encoding, scratch);
    share_weights(sample.policy_target, scratch)?;
    if symmetry != Symmetry::default() {
        for mv in &mut scratch.moves {
            *mv = encoding.transform_move(&scratch.position, symmetry, *mv);
        }
        scratch.position = encoding.transform(&scratch.position, symmetry);
        list_indices(encoding, scratch);
    }
    batch.input.push(encoding, &scratch.position, &scratch.policy_indices)?;
    batch.policy_targets.extend_from_slice(&scratch.shares);
    batch.value_targets.push(sample.value_target);
    batch.outlook.push(encoding, &scratch.position, sample.outlook, &mut scratch.pieces);
    Ok(())
}

fn list_indices<E: Encoding>(encoding: &E, scratch: &mut SampleScratch<E>) {
    scratch.policy_indices.clear();
    encoding.policy_indices(&scratch.position, &scratch.moves, &mut scratch.policy_indices);
}

/// Turns the weights of the target into shares of the legal moves, in the order of `policy_indices`. Moves that share
/// an index share its weight in equal parts.
fn share_weights(policy_target: &[u8], scratch: &mut SampleScratch<impl Encoding>) -> Result<(), SampleError> {
    let SampleScratch { policy_indices, weights, sharer_counts, shares, .. } = scratch;
    let pairs = pairs_of(policy_target)?;
    policy_indices.iter().for_each(|index| sharer_counts[usize::from(*index)] += 1);
    let (mut weight_sum, mut legal_sum) = (0, 0);
    for (index, weight) in pairs {
        weight_sum += u32::from(weight);
        let is_legal = sharer_counts.get(usize::from(index)).is_some_and(|sharers| *sharers > 0);
        if is_legal && weights[usize::from(index)] == 0 {
            weights[usize::from(index)] = weight;
            legal_sum += u32::from(weight);
        }
    }
    shares.clear();
    shares.extend(policy_indices.iter().map(|index| {
        let (weight, sharers) = (weights[usize::from(*index)], sharer_counts[usize::from(*index)]);
        f32::from(weight) / (legal_sum.max(1) * u32::from(sharers)) as f32
    }));
    for index in policy_indices {
        weights[usize::from(*index)] = 0;
        sharer_counts[usize::from(*index)] = 0;
    }
    match weight_sum {
        0 => Err(PolicyTargetError::NoWeight.into()),
        sum if sum != legal_sum => Err(SampleError::IllegalWeight(sum.abs_diff(legal_sum))),
        _ => Ok(()),
    }
}
