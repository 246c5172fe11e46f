//! Records as TensorFlow frames them (TFRecord): length, its checksum, the bytes, their checksum, all little-endian.
//! The checksums are CRC-32C, rotated and shifted so that a checksum of checksums is no special case.

/// Added to a rotated checksum, from TensorFlow's `crc32c.h`.
const MASK_DELTA: u32 = 0xa282_ead8;

/// Returns a record that holds these bytes.
pub(super) fn framed(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(payload.len() + 16);
    record.extend_from_slice(&length);
    record.extend_from_slice(&masked_checksum(&length).to_le_bytes());
    record.extend_from_slice(payload);
    record.extend_from_slice(&masked_checksum(payload).to_le_bytes());
    record
}

fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(MASK_DELTA)
}

/// Reads all records of a file; `None` if one is cut short or damaged.
#[cfg(test)]
pub(super) fn read_all(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (length_checksum, rest) = rest.split_first_chunk::<4>()?;
        let (payload, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let (checksum, rest) = rest.split_first_chunk::<4>()?;
        let is_right = |bytes: &[u8], checksum: &[u8; 4]| masked_checksum(bytes) == u32::from_le_bytes(*checksum);
        if !is_right(length, length_checksum) || !is_right(payload, checksum) {
            return None;
        }
        records.push(payload);
        bytes = rest;
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_tensorflow() {
        // RFC 3720, B.4: CRC-32C of 32 zero bytes.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        // The first record of every file that TensorFlow wrote with a length of 24 bytes begins like this.
        assert_eq!(framed(&[0; 24])[..12], [24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
    }

    #[test]
    fn records_are_read_back_and_damage_is_seen() {
        let mut bytes = framed(b"first");
        bytes.extend(framed(b""));
        assert_eq!(read_all(&bytes), Some(vec![&b"first"[..], b""]));
        assert_eq!(read_all(&bytes[..bytes.len() - 1]), None);
        bytes[13] ^= 1;
        assert_eq!(read_all(&bytes), None);
    }
}
