//! The evaluation cache of one thread, bounded in bytes and without a lock.
//!
//! It has two halves: new entries go into the young one; when that is full, it becomes the old one, and the old one is
//! dropped. An entry found in the old half moves to the young one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use half::f16;
use shared::ids::NetworkId;
use xxhash_rust::xxh3::xxh3_128;

/// Upper bound of what an entry takes in the table, its spare room included.
const ENTRY_BYTES: usize = 80;
/// Upper bound of what a prior takes, the spare room of its vector included.
const PRIOR_BYTES: usize = 4;

/// A packed position under one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(u128);

/// A packed position, for any network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PositionKey(u128);

impl PositionKey {
    pub(crate) fn new(packed: &[u8]) -> Self {
        Self(xxh3_128(packed))
    }

    pub(crate) fn under(self, network_id: NetworkId) -> Key {
        // An odd factor keeps different networks apart, in all bits of the key.
        Key(self.0 ^ u128::from(network_id.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    }
}

/// The cache of one thread.
#[derive(Debug)]
pub(crate) struct Cache {
    young: Generation,
    old: Generation,
    generation_bytes_max: usize,
}

#[derive(Debug, Default)]
struct Generation {
    entries: HashMap<Key, Entry, BuildHasherDefault<KeyHasher>>,
    priors: Vec<f16>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    count: u16,
    value: f32,
}

impl Cache {
    /// Makes a cache that takes at most `bytes_max` bytes; 0 keeps nothing.
    pub(crate) fn new(bytes_max: usize) -> Self {
        // Positions in `priors` are counted in u32.
        let generation_bytes_max = (bytes_max / 2).min(PRIOR_BYTES * u32::MAX as usize);
        Self { young: Generation::default(), old: Generation::default(), generation_bytes_max }
    }

    /// Looks an evaluation up: writes its priors and returns its value. An entry with another number of moves does not count.
    pub(crate) fn get(&mut self, key: Key, priors: &mut [f32]) -> Option<f32> {
        if let Some(value) = self.young.get(key, priors) {
            return Some(value);
        }
        let value = self.old.get(key, priors)?;
        self.insert(key, priors, value);
        Some(value)
    }

    /// Adds an evaluation.
    pub(crate) fn insert(&mut self, key: Key, priors: &[f32], value: f32) {
        let Ok(count) = u16::try_from(priors.len()) else { return };
        let bytes = ENTRY_BYTES + PRIOR_BYTES * priors.len();
        if bytes > self.generation_bytes_max {
            return;
        }
        if self.young.byte_count() + bytes > self.generation_bytes_max {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(key, count, priors, value);
    }

    #[cfg(test)]
    fn byte_count(&self) -> usize {
        self.young.byte_count() + self.old.byte_count()
    }
}

impl Generation {
    fn byte_count(&self) -> usize {
        ENTRY_BYTES * self.entries.len() + PRIOR_BYTES * self.priors.len()
    }

    fn get(&self, key: Key, priors: &mut [f32]) -> Option<f32> {
        let entry = self.entries.get(&key)?;
        if usize::from(entry.count) != priors.len() {
            return None;
        }
        let start = entry.start as usize;
        for (prior, stored) in priors.iter_mut().zip(&self.priors[start..start + usize::from(entry.count)]) {
            *prior = stored.to_f32();
        }
        Some(entry.value)
    }

    fn insert(&mut self, key: Key, count: u16, priors: &[f32], value: f32) {
        let Ok(start) = u32::try_from(self.priors.len()) else { return };
        self.priors.extend(priors.iter().map(|prior| f16::from_f32(*prior)));
        self.entries.insert(key, Entry { start, count, value });
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.priors.clear();
    }
}

/// Keys are hashes already: their low half will do.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(position: u32, network_id: u32) -> Key {
        PositionKey::new(&position.to_le_bytes()).under(NetworkId::new(network_id).unwrap())
    }

    #[test]
    fn an_evaluation_comes_back_for_its_network_alone() {
        let mut cache = Cache::new(1 << 20);
        cache.insert(key(1, 7), &[0.25, 0.75], -0.5);
        let mut priors = [0.0; 2];
        assert_eq!(cache.get(key(1, 7), &mut priors), Some(-0.5));
        assert_eq!(priors, [0.25, 0.75]);
        assert_eq!(cache.get(key(1, 8), &mut priors), None);
        assert_eq!(cache.get(key(2, 7), &mut priors), None);
        assert_eq!(cache.get(key(1, 7), &mut [0.0; 3]), None);
    }

    #[test]
    fn it_stays_within_its_bytes_and_keeps_what_is_used() {
        let mut cache = Cache::new(20_000);
        let mut priors = [0.0; 4];
        for position in 0..10_000 {
            cache.insert(key(position, 1), &[0.25; 4], 0.0);
            assert!(cache.byte_count() <= 20_000);
            assert_eq!(cache.get(key(0, 1), &mut priors), Some(0.0), "used all the time, at {position}");
        }
        assert_eq!(cache.get(key(1, 1), &mut priors), None, "not used for long");
    }

    #[test]
    fn without_bytes_nothing_is_kept() {
        let mut cache = Cache::new(0);
        cache.insert(key(1, 1), &[1.0], 1.0);
        assert_eq!(cache.get(key(1, 1), &mut [0.0]), None);
    }
}
