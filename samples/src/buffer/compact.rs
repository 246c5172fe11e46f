//! Policy targets in about half the bytes: gaps between the indices and the counts, each as a variable-length number.
//!
//! Seven bits a byte, lowest first, the high bit set on all bytes but the last (LEB128).

/// Appends (policy index, visit count) pairs, indices rising.
pub(crate) fn pack_target(pairs: &[(u16, u16)], bytes: &mut Vec<u8>) {
    let mut previous = 0;
    for (index, count) in pairs {
        put(index.wrapping_sub(previous), bytes);
        put(*count, bytes);
        previous = *index;
    }
}

/// Appends the pairs in `packed` to `bytes` as `PolicyTarget::to_bytes` writes them.
pub(crate) fn unpack_target(mut packed: &[u8], bytes: &mut Vec<u8>) {
    let mut index = 0u16;
    while !packed.is_empty() {
        index = index.wrapping_add(take(&mut packed));
        bytes.extend_from_slice(&index.to_le_bytes());
        bytes.extend_from_slice(&take(&mut packed).to_le_bytes());
    }
}

fn put(mut number: u16, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> u16 {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let Some((byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u16::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shared::record::PolicyTarget;

    proptest! {
        #[test]
        fn a_target_comes_back_as_it_was(visits in prop::collection::btree_map(any::<u16>(), 1u32..=65_535, 1..200)) {
            let target = PolicyTarget::from_visits(visits).expect("visits by index are a target");
            let (mut packed, mut bytes) = (Vec::new(), Vec::new());
            pack_target(target.pairs(), &mut packed);
            unpack_target(&packed, &mut bytes);
            prop_assert_eq!(bytes, target.to_bytes());
        }
    }

    #[test]
    fn small_numbers_take_a_byte_each() {
        let mut packed = Vec::new();
        pack_target(&[(3, 127), (130, 128)], &mut packed);
        assert_eq!(packed, [3, 127, 127, 0x80, 1]);
    }
}
