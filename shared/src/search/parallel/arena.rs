//! Growing arrays that several threads read and write at once: no element ever moves, and the only lock is taken when
//! an array doubles.
//!
//! An array is a list of chunks, each twice as long as the one before. Room is handed out in blocks, so threads touch
//! the common counter seldom and seldom write to the same cache line.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Elements of the first chunk.
const FIRST_CHUNK: u64 = 1 << FIRST_CHUNK_BITS;
const FIRST_CHUNK_BITS: u32 = 12;
/// Chunks for 2^32 elements.
const CHUNK_COUNT: usize = 33 - FIRST_CHUNK_BITS as usize;

/// An array of atomics.
#[derive(Debug)]
pub(super) struct Arena<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNK_COUNT],
}

impl<T: Default> Arena<T> {
    /// Makes an array that takes no memory yet.
    pub fn new() -> Self {
        Self { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// Returns `len` elements in a row that lie in one chunk, see [`Room::take`].
    #[inline]
    pub fn slice(&self, start: u32, len: usize) -> &[T] {
        let (chunk, at) = place(u64::from(start));
        &self.chunk(chunk)[at..at + len]
    }

    /// Returns an element.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        let (chunk, at) = place(u64::from(index));
        &self.chunk(chunk)[at]
    }

    /// Returns the bytes held, spare room included.
    pub fn byte_count(&self) -> usize {
        self.chunks.iter().filter_map(OnceLock::get).map(|chunk| size_of_val::<[T]>(chunk)).sum()
    }

    #[inline]
    fn chunk(&self, number: usize) -> &[T] {
        self.chunks[number].get_or_init(|| (0..FIRST_CHUNK << number).map(|_| T::default()).collect())
    }
}

/// Returns the chunk that an element lies in, and its place there.
#[inline]
fn place(index: u64) -> (usize, usize) {
    let from_one = index + FIRST_CHUNK;
    let chunk = from_one.ilog2() - FIRST_CHUNK_BITS;
    (chunk as usize, (from_one - (FIRST_CHUNK << chunk)) as usize)
}

/// How much of an array is handed out.
#[derive(Debug, Default)]
pub(super) struct Room(AtomicU64);

impl Room {
    /// ThreadState out `len` elements in a row, which lie in one chunk; returns the first. What does not fit into a chunk is
    /// left unused.
    ///
    /// # Panics
    /// After 2^32 elements.
    fn take(&self, len: u32) -> u32 {
        loop {
            let start = self.0.fetch_add(u64::from(len), Relaxed);
            let last = start + u64::from(len.max(1)) - 1;
            if place(start).0 == place(last).0 {
                let last = u32::try_from(last).expect("a tree has fewer than 2^32 nodes and edges");
                return last + 1 - len.max(1);
            }
        }
    }
}

/// The block that one thread takes its elements from.
#[derive(Debug)]
pub(super) struct Block {
    next: u32,
    left: u32,
    size: u32,
}

impl Block {
    /// Makes an empty block; it is filled with at least `size` elements at once.
    pub fn new(size: u32) -> Self {
        Self { next: 0, left: 0, size }
    }

    /// Takes `len` elements in a row; returns the first.
    #[inline]
    pub fn take(&mut self, room: &Room, len: u32) -> u32 {
        if self.left < len {
            let size = len.max(self.size);
            (self.next, self.left) = (room.take(size), size);
        }
        let start = self.next;
        self.next = start.wrapping_add(len);
        self.left -= len;
        start
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn every_element_has_its_own_place() {
        let ends = [0, 4095, 4096, 4096 + 8191, 4096 + 8192, u64::from(u32::MAX)];
        assert_eq!(
            ends.map(place),
            [(0, 0), (0, 4095), (1, 0), (1, 8191), (2, 0), (20, (1 << 32) - 1 + 4096 - (1 << 32))]
        );
        assert_eq!(CHUNK_COUNT, 21);
    }

    #[test]
    fn threads_never_get_the_same_element() {
        let (arena, room) = (Arena::<AtomicU32>::new(), Room::default());
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let (arena, room) = (&arena, &room);
                scope.spawn(move || {
                    let mut block = Block::new(64);
                    for len in (0..5000).map(|round| (round * 7 + thread) % 100) {
                        let start = block.take(room, len);
                        for element in arena.slice(start, len as usize) {
                            assert_eq!(element.fetch_add(1, Relaxed), 0, "nobody else has it");
                        }
                    }
                });
            }
        });
        assert!(arena.byte_count() >= 4 * 4 * 5000 * 49);
    }
}
