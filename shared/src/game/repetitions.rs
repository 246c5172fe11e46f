//! How often a position has occurred, told in constant time however long the game is.

/// What distinguishes a position from others.
pub(super) trait Key: Copy + PartialEq {
    /// Returns a number whose upper bits are well mixed.
    fn mixed(self) -> u64;
}

/// The positions that can come again, each with how often it has occurred.
///
/// Most positions are new, and a bit for each of them tells so at once. The others are looked for in a hash table with as
/// many buckets as positions at least, which takes up what has come since it was last asked. All is copied and emptied
/// fast, which a search does for each simulation.
#[derive(Debug)]
pub(super) struct Repetitions<K> {
    keys: Vec<K>,
    /// A bit for each of `keys`.
    marks: u64,
    table: Table,
    occurrence_count: u32,
}

/// Where the first of the keys are found again, and how often they have occurred: the others once.
#[derive(Debug, Default)]
struct Table {
    links: Vec<Link>,
    /// The last key of each bucket, or [`NONE`]; a power of two of them once a key was looked for.
    buckets: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    /// The key before this one in its bucket, or [`NONE`].
    earlier: u32,
    count: u32,
}

/// No key.
const NONE: u32 = u32::MAX;
/// Fewest buckets of a table: one cache line.
const BUCKET_COUNT_MIN: usize = 16;

impl<K> Default for Repetitions<K> {
    fn default() -> Self {
        Self { keys: vec![], marks: 0, table: Table::default(), occurrence_count: 0 }
    }
}

impl<K: Copy> Clone for Repetitions<K> {
    fn clone(&self) -> Self {
        let table = Table { links: self.table.links.clone(), buckets: self.table.buckets.clone() };
        Self { keys: self.keys.clone(), table, ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.keys.clone_from(&source.keys);
        self.marks = source.marks;
        self.occurrence_count = source.occurrence_count;
        self.table.links.clone_from(&source.table.links);
        self.table.buckets.clone_from(&source.table.buckets);
    }
}

impl<K: Key> Repetitions<K> {
    /// Forgets all positions, keeps the memory.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.marks = 0;
        self.occurrence_count = 0;
        self.table.links.clear();
        self.table.buckets.clear();
    }

    /// Takes note of the present position.
    #[inline]
    pub(super) fn record(&mut self, key: K) {
        let mark = 1 << (key.mixed() >> 58);
        if self.marks & mark != 0
            && let Some(known) = self.find(key)
        {
            known.count += 1;
            self.occurrence_count = known.count;
            return;
        }
        self.marks |= mark;
        self.occurrence_count = 1;
        self.keys.push(key);
    }

    /// Returns how often the position that was recorded last has occurred, itself included; 0 if there is none.
    #[inline]
    pub(super) const fn occurrence_count(&self) -> u32 {
        self.occurrence_count
    }

    /// Returns the positions that have occurred more than once.
    pub(super) fn repeated(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().zip(&self.table.links).filter(|(_, link)| link.count > 1).map(|(key, _)| key)
    }

    #[cold]
    fn find(&mut self, key: K) -> Option<&mut Link> {
        let Self { keys, table, .. } = self;
        table.take_up(keys);
        let mut at = table.buckets[table.bucket_of(key)];
        while keys.get(at as usize).is_some_and(|known| *known != key) {
            at = table.links[at as usize].earlier;
        }
        table.links.get_mut(at as usize)
    }
}

impl Table {
    /// Takes up the keys that have come since it was last asked.
    fn take_up<K: Key>(&mut self, keys: &[K]) {
        let mut first = self.links.len();
        if self.buckets.len() < keys.len() {
            self.buckets.clear();
            self.buckets.resize(keys.len().next_power_of_two().max(BUCKET_COUNT_MIN), NONE);
            first = 0;
        }
        self.links.resize(keys.len(), Link { earlier: NONE, count: 1 });
        for (number, key) in keys.iter().enumerate().skip(first) {
            let bucket = self.bucket_of(*key);
            self.links[number].earlier = std::mem::replace(&mut self.buckets[bucket], number as u32);
        }
    }

    #[inline]
    fn bucket_of(&self, key: impl Key) -> usize {
        (key.mixed() >> (u64::BITS - self.buckets.len().ilog2())) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whose upper bits are as badly mixed as can be, if there are few.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Bad(u64);

    impl Key for Bad {
        fn mixed(self) -> u64 {
            self.0 << 61
        }
    }

    proptest! {
        #[test]
        fn every_occurrence_is_counted(games in prop::collection::vec(prop::collection::vec(0..200_u64, 0..300), 1..4)) {
            let mut repetitions = Repetitions::default();
            for game in games {
                repetitions.clear();
                prop_assert_eq!(repetitions.occurrence_count(), 0);
                for (place, key) in game.iter().enumerate() {
                    repetitions.record(Bad(*key));
                    let expected = game[..=place].iter().filter(|earlier| *earlier == key).count();
                    prop_assert_eq!(repetitions.occurrence_count() as usize, expected);
                    let count = |key: &u64| game[..=place].iter().filter(|other| *other == key).count();
                    let mut repeated: Vec<u64> = game[..=place].iter().copied().filter(|key| count(key) > 1).collect();
                    repeated.sort_unstable();
                    repeated.dedup();
                    let mut told: Vec<u64> = repetitions.repeated().map(|key| key.0).collect();
                    told.sort_unstable();
                    prop_assert_eq!(told, repeated);
                    let mut copy = Repetitions::default();
                    copy.clone_from(&repetitions);
                    copy.record(Bad(*key));
                    prop_assert_eq!(copy.occurrence_count() as usize, expected + 1);
                }
            }
        }
    }

    #[test]
    fn there_are_as_many_buckets_as_positions() {
        let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut repetitions = Repetitions::default();
        (0..1000).for_each(|number| repetitions.record(key(number)));
        repetitions.record(key(0));
        let Table { links, buckets } = &repetitions.table;
        assert_eq!((repetitions.occurrence_count, buckets.len()), (2, 1024));
        let link = |number: u32| links.get(number as usize);
        let length = |first: &u32| std::iter::successors(link(*first), |it| link(it.earlier)).count();
        let lengths: Vec<usize> = buckets.iter().map(length).collect();
        assert_eq!(lengths.iter().sum::<usize>(), 1000, "every position is in one list");
        assert!(lengths.iter().max() <= Some(&6), "the lists are short");
    }
}
