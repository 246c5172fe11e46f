//! How large a batch may be that waits: what is refused here costs neither room nor memory.

use bytes::Bytes;
use shared::wire::LEAF_BYTES_MAX;

use super::QueueError;

/// Checks the size of a batch before anything of it is read. Returns its number of leaves, at least 1.
///
/// # Errors
/// [`QueueError`] for no leaves or more than `leaf_count_max`, lengths for another number of leaves, or more bytes than so
/// many leaves take.
pub(super) fn check_size(batch: &proto::LeafBatch, leaf_count_max: usize) -> Result<usize, QueueError> {
    let (leaf_count, length_count) = (batch.move_counts.len(), batch.position_lengths.len());
    if leaf_count > leaf_count_max {
        return Err(QueueError::TooLarge { leaf_count, max: leaf_count_max });
    }
    if leaf_count == 0 || leaf_count != length_count {
        return Err(QueueError::UnequalLengths { leaf_count, length_count });
    }
    let (byte_count, max) = (batch.positions.len() + batch.policy_indices.len(), leaf_count * LEAF_BYTES_MAX);
    if byte_count > max { Err(QueueError::TooManyBytes { byte_count, max }) } else { Ok(leaf_count) }
}

/// Copies what a batch holds out of the message that it came in, which may be larger: what waits keeps no more memory than
/// its leaves take.
pub(super) fn without_message(batch: &mut proto::LeafBatch) {
    batch.positions = Bytes::copy_from_slice(&batch.positions);
    batch.policy_indices = Bytes::copy_from_slice(&batch.policy_indices);
    batch.position_lengths.shrink_to_fit();
    batch.move_counts.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(leaf_count: usize, length_count: usize, byte_count: usize) -> proto::LeafBatch {
        proto::LeafBatch {
            position_lengths: vec![1; length_count],
            positions: vec![0; byte_count].into(),
            move_counts: vec![1; leaf_count],
            ..Default::default()
        }
    }

    #[test]
    fn a_batch_has_leaves_as_many_lengths_and_no_more_bytes_than_they_take() {
        let check = |leaf_count, length_count, byte_count| {
            check_size(&batch(leaf_count, length_count, byte_count), 8).map_err(|error| error.to_string())
        };
        assert_eq!(check(8, 8, 8 * LEAF_BYTES_MAX), Ok(8));
        for (refused, reason) in [
            (check(9, 9, 9), "batch of 9 leaves: more than 8, the learner's inference.batch_leaves_max"),
            (check(0, 0, 0), "batch with move counts of 0 leaves and lengths of 0 positions"),
            (check(0, 1 << 20, 0), "batch with move counts of 0 leaves and lengths of 1048576 positions"),
            (check(1, 1, LEAF_BYTES_MAX + 1), "batch of 2049 bytes: more than the 2048 that its leaves may take"),
        ] {
            assert_eq!(refused, Err(reason.to_owned()));
        }
    }

    #[test]
    fn what_waits_does_not_keep_the_message() {
        let message = Bytes::from(vec![7; 1 << 20]);
        let mut waiting = proto::LeafBatch { positions: message.slice(..2), ..batch(1, 1, 0) };
        without_message(&mut waiting);
        assert!(message.is_unique(), "nothing else refers to it");
        assert_eq!(waiting.positions, [7, 7].as_slice());
    }
}
