//! What the policy is to learn from one position: how much weight the search gave each move.

use crate::bounds::LEGAL_MOVE_COUNT_MAX;

/// Weights by policy index, by rising index; at least one weight is above 0. The policy learns weight / sum of weights.
///
/// The weights are visit counts, or shares of 65,535 where the search improves the priors itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PolicyTarget {
    pairs: Vec<(u16, u16)>,
}

/// Why bytes or visits are not a policy target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PolicyTargetError {
    /// A pair takes four bytes.
    #[error("policy target of {0} bytes: not a multiple of 4")]
    Length(usize),
    /// More pairs than any position has moves.
    #[error("policy target of {0} moves: more than {max}", max = LEGAL_MOVE_COUNT_MAX)]
    TooLong(usize),
    /// The indices do not rise.
    #[error("policy target: index {0} does not rise above the one before it")]
    Order(u16),
    /// No move has a weight.
    #[error("policy target: no move has a weight")]
    NoWeight,
}

impl PolicyTarget {
    /// Makes the target from (policy index, visit count) in any order. Unvisited moves are left out, and moves that
    /// share an index are counted together.
    ///
    /// If a count is above 65,535 all are scaled down by the same factor; none that was visited becomes 0.
    ///
    /// # Errors
    /// [`PolicyTargetError`] if nothing was visited, or there are too many moves.
    pub fn from_visits(visits: impl IntoIterator<Item = (u16, u32)>) -> Result<Self, PolicyTargetError> {
        let mut visits: Vec<(u16, u32)> = visits.into_iter().filter(|(_, count)| *count > 0).collect();
        visits.sort_unstable();
        visits.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 = kept.1.saturating_add(if is_same { next.1 } else { 0 });
            is_same
        });
        let largest = u64::from(visits.iter().map(|(_, count)| *count).max().unwrap_or(0));
        let limit = u64::from(u16::MAX);
        let scaled = |count: u32| {
            if largest <= limit { count as u16 } else { (u64::from(count) * limit / largest).max(1) as u16 }
        };
        let pairs: Vec<(u16, u16)> = visits.iter().map(|(index, count)| (*index, scaled(*count))).collect();
        check(&pairs)?;
        Ok(Self { pairs })
    }

    /// Makes the target from (policy index, share) in any order: weights whose sum is 65,535 but for rounding. Moves whose
    /// weight rounds to 0 are left out, as are shares that are not above 0, and moves that share an index are added up.
    ///
    /// # Errors
    /// [`PolicyTargetError`] if no share is above 0, or there are too many moves.
    pub fn from_shares(shares: impl IntoIterator<Item = (u16, f32)>) -> Result<Self, PolicyTargetError> {
        let is_share = |(_, share): &(u16, f32)| share.is_finite() && *share > 0.0;
        let mut shares: Vec<(u16, f32)> = shares.into_iter().filter(is_share).collect();
        shares.sort_by_key(|(index, _)| *index);
        shares.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        let sum: f64 = shares.iter().map(|(_, share)| f64::from(*share)).sum();
        let weight = |share: f32| (f64::from(share) / sum * f64::from(u16::MAX)).round() as u16;
        let weights = shares.iter().map(|(index, share)| (*index, weight(*share)));
        let pairs: Vec<(u16, u16)> = weights.filter(|(_, weight)| *weight > 0).collect();
        check(&pairs)?;
        Ok(Self { pairs })
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`PolicyTargetError`] saying what is wrong. Never panics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PolicyTargetError> {
        let pairs: Vec<(u16, u16)> = pairs_of(bytes)?.collect();
        check(&pairs)?;
        Ok(Self { pairs })
    }

    /// Returns the pairs (index u16, weight u16), little-endian, four bytes a pair.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.pairs.len() * 4);
        self.write_to(&mut bytes);
        bytes
    }

    /// Appends what [`Self::to_bytes`] returns to `bytes`.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        for (index, weight) in &self.pairs {
            bytes.extend_from_slice(&index.to_le_bytes());
            bytes.extend_from_slice(&weight.to_le_bytes());
        }
    }

    /// Returns (policy index, weight) by rising index.
    #[must_use]
    pub fn pairs(&self) -> &[(u16, u16)] {
        &self.pairs
    }

    /// Returns the sum of the weights, above 0.
    #[must_use]
    pub fn weight_sum(&self) -> u32 {
        self.pairs.iter().map(|(_, weight)| u32::from(*weight)).sum()
    }
}

/// Returns the pairs in the byte form of a target, unchecked but for their number.
pub(super) fn pairs_of(bytes: &[u8]) -> Result<impl ExactSizeIterator<Item = (u16, u16)>, PolicyTargetError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(PolicyTargetError::Length(bytes.len()));
    }
    if chunks.len() > LEGAL_MOVE_COUNT_MAX {
        return Err(PolicyTargetError::TooLong(chunks.len()));
    }
    Ok(chunks.iter().map(|[a, b, c, d]| (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]))))
}

fn check(pairs: &[(u16, u16)]) -> Result<(), PolicyTargetError> {
    if pairs.len() > LEGAL_MOVE_COUNT_MAX {
        return Err(PolicyTargetError::TooLong(pairs.len()));
    }
    if let Some(step) = pairs.windows(2).find(|step| step[0].0 >= step[1].0) {
        return Err(PolicyTargetError::Order(step[1].0));
    }
    if pairs.iter().all(|(_, weight)| *weight == 0) { Err(PolicyTargetError::NoWeight) } else { Ok(()) }
}
