//! Evaluations on their way back: priors in half precision and a value for each leaf.

use bytes::{BufMut, BytesMut};
use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{WireError, check_length, network_id_from_wire};
use crate::ids::{Generation, NetworkId};

/// Priors turned into half precision at once: the processor does several with one instruction.
const CHUNK: usize = 64;

/// What an answer holds besides priors and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationHeader {
    /// The batch that is answered.
    pub batch_id: u64,
    /// The network that answered.
    pub network_id: NetworkId,
    /// The generation of the best network at that time.
    pub generation: Generation,
    /// Leaves whose priors became uniform.
    pub uniform_prior_count: u32,
}

/// Returns the answer with the priors of all legal moves, end to end, and the value of each leaf.
#[must_use]
pub fn write_evaluations(header: EvaluationHeader, priors: &[f32], values: &[f32]) -> proto::EvaluationBatch {
    let mut prior_bytes = BytesMut::with_capacity(priors.len() * 2);
    let (mut halves, mut bytes) = ([f16::ZERO; CHUNK], [[0; 2]; CHUNK]);
    for priors in priors.chunks(CHUNK) {
        halves[..priors.len()].convert_from_f32_slice(priors);
        halves.iter().zip(&mut bytes).for_each(|(half, bytes)| *bytes = half.to_le_bytes());
        prior_bytes.put_slice(bytes[..priors.len()].as_flattened());
    }
    let mut value_bytes = BytesMut::with_capacity(values.len() * 4);
    for value in values {
        value_bytes.put_f32_le(*value);
    }
    proto::EvaluationBatch {
        batch_id: header.batch_id,
        network_id: header.network_id.get(),
        generation: header.generation.get(),
        priors: prior_bytes.freeze(),
        values: value_bytes.freeze(),
        uniform_prior_count: header.uniform_prior_count,
        error: String::new(),
    }
}

/// Reads an answer to a batch with `move_count` legal moves and `leaf_count` leaves into `priors` and `values`.
///
/// The vectors are overwritten. Every prior read is in 0..=1 (with the slack of half precision), every
/// value in -1..=1.
///
/// # Errors
/// [`WireError::Refused`] if the peer could not evaluate the batch, others if the answer does not fit the batch or
/// holds numbers out of range; the vectors are then empty.
pub fn read_evaluations(
    message: &proto::EvaluationBatch,
    move_count: usize,
    leaf_count: usize,
    priors: &mut Vec<f32>,
    values: &mut Vec<f32>,
) -> Result<EvaluationHeader, WireError> {
    priors.clear();
    values.clear();
    if !message.error.is_empty() {
        return Err(WireError::Refused(message.error.clone()));
    }
    let network_id = network_id_from_wire("network_id", message.network_id)?;
    check_length("priors", message.priors.len(), move_count * 2)?;
    check_length("values", message.values.len(), leaf_count * 4)?;
    priors.extend(message.priors.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()));
    values.extend(message.values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    if let Err(error) = check_numbers(priors, values) {
        priors.clear();
        values.clear();
        return Err(error);
    }
    Ok(EvaluationHeader {
        batch_id: message.batch_id,
        network_id,
        generation: Generation::new(message.generation),
        uniform_prior_count: message.uniform_prior_count,
    })
}

fn check_numbers(priors: &[f32], values: &[f32]) -> Result<(), WireError> {
    if let Some(prior) = priors.iter().find(|prior| !(0.0..=1.001).contains(*prior)) {
        return Err(WireError::invalid("priors", format!("{prior} is not in 0..=1")));
    }
    match values.iter().find(|value| !(-1.0..=1.0).contains(*value)) {
        Some(value) => Err(WireError::invalid("values", format!("{value} is not in -1..=1"))),
        None => Ok(()),
    }
}
