//! A ring of packed positions. It knows bytes, not games: the sampler decodes them.

use std::collections::VecDeque;

use shared::encoding::Outlook;
use shared::record::{Sample, ValueTargetRule};

use super::SampledGame;
use super::compact::pack_target;

/// Bytes of one block. Positions never span blocks, so a block is dropped whole with its last position.
const BLOCK_BYTES: usize = 1 << 20;

/// The newest positions, oldest first. Positions are numbered from 0 as they come in.
#[derive(Debug)]
pub struct SampleBuffer {
    capacity: u64,
    value_target: ValueTargetRule,
    entries: VecDeque<Entry>,
    /// Number of the first position in `entries`.
    first: u64,
    blocks: VecDeque<Vec<u8>>,
    /// Number of the first block in `blocks`.
    first_block: u32,
    /// Finish number and end of each game that still has positions here.
    games: VecDeque<(u64, u64)>,
    fixed: Option<Window>,
    /// Scratch: the policy target of the position that comes in.
    target: Vec<u8>,
}

/// Where one position lies.
#[derive(Debug, Clone, Copy)]
struct Entry {
    block: u32,
    offset: u32,
    packed_length: u16,
    target_length: u16,
    value_target: f32,
    outlook: Option<Outlook>,
}

/// A position as the buffer holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldSample<'a> {
    pub packed: &'a [u8],
    /// The policy target as [`pack_target`] writes it.
    pub compact_target: &'a [u8],
    pub value_target: f32,
    pub outlook: Option<Outlook>,
}

/// Positions that are sampled from, by their numbers: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First position.
    pub start: u64,
    /// After the last position.
    pub end: u64,
}

impl Window {
    /// Returns the number of positions.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.end - self.start
    }

    /// Returns whether there is nothing to sample.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}

impl SampleBuffer {
    /// Makes an empty buffer of `capacity` positions, at least 1, from which the value learns outcomes.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity.max(1),
            value_target: ValueTargetRule::default(),
            entries: VecDeque::new(),
            first: 0,
            blocks: VecDeque::new(),
            first_block: 0,
            games: VecDeque::new(),
            fixed: None,
            target: Vec::new(),
        }
    }

    /// Makes the value targets of games that come in by this rule.
    #[must_use]
    pub fn with_value_target(self, value_target: ValueTargetRule) -> Self {
        Self { value_target, ..self }
    }

    /// Returns the number of positions it keeps.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Appends a finished game: all its samples, first to last. Games must come by rising finish number.
    pub fn push_game(&mut self, finish_number: u64, game: SampledGame<'_>) {
        debug_assert!(self.games.back().is_none_or(|(last, _)| *last < finish_number), "games come in order");
        let SampledGame { samples, is_cut_off } = game;
        for (sample, value_target) in samples.iter().zip(self.value_target.of_game(samples, is_cut_off)) {
            self.push(sample, value_target);
        }
        self.games.push_back((finish_number, self.end()));
        self.drop_old();
    }

    /// Returns the number of positions held, those kept for a fixed window included.
    #[must_use]
    pub fn position_count(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Returns the finish number of the oldest game that still has positions here.
    #[must_use]
    pub fn first_finish_number(&self) -> Option<u64> {
        self.games.front().map(|(finish_number, _)| *finish_number)
    }

    /// Returns the bytes that a position takes on average, bookkeeping included; 0 of an empty buffer.
    #[must_use]
    pub fn mean_position_bytes(&self) -> f64 {
        if self.entries.is_empty() {
            return 0.0;
        }
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        let bytes = blocks + self.entries.capacity() * size_of::<Entry>() + self.games.capacity() * 16;
        bytes as f64 / self.entries.len() as f64
    }

    /// Fixes and returns the window of the newest positions among games up to `finish_number`: `count_max` of them, at most
    /// `capacity`.
    pub fn fix_window(&mut self, finish_number: u64, count_max: u64) -> Window {
        let end = self.end_of(finish_number);
        let window = Window { start: end.saturating_sub(count_max.min(self.capacity)).max(self.first), end };
        self.fixed = Some(window);
        window
    }

    /// Returns a copy of the positions of games up to `finish_number`, numbered from 0.
    #[must_use]
    pub fn copy_until(&self, finish_number: u64) -> Self {
        let mut copy = Self::new(self.capacity);
        (self.first..self.end_of(finish_number)).filter_map(|n| self.get(n)).for_each(|held| copy.push_held(held));
        copy
    }

    /// Returns a copy of at most `count_max` positions, spread evenly over all, numbered from 0.
    #[must_use]
    pub fn thinned(&self, count_max: u64) -> Self {
        let (held, count) = (self.position_count(), self.position_count().min(count_max));
        let mut copy = Self::new(count);
        let kept = (0..count).filter_map(|n| self.get(self.first + n * held / count));
        kept.for_each(|held| copy.push_held(held));
        copy
    }

    /// Releases the fixed window: positions beyond the capacity are dropped.
    pub fn release(&mut self) {
        self.fixed = None;
        self.drop_old();
    }

    /// Returns a position, `None` if it is not here.
    pub(crate) fn get(&self, number: u64) -> Option<HeldSample<'_>> {
        let entry = self.entries.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let block = &self.blocks[entry.block.wrapping_sub(self.first_block) as usize];
        let bytes = &block[entry.offset as usize..];
        let (packed, rest) = bytes.split_at(usize::from(entry.packed_length));
        let compact_target = &rest[..usize::from(entry.target_length)];
        Some(HeldSample { packed, compact_target, value_target: entry.value_target, outlook: entry.outlook })
    }

    /// Returns the number of the oldest position held.
    pub(crate) const fn first_number(&self) -> u64 {
        self.first
    }

    /// Returns the number behind the last position of games up to `finish_number`.
    fn end_of(&self, finish_number: u64) -> u64 {
        let games_in = self.games.partition_point(|(number, _)| *number <= finish_number);
        games_in.checked_sub(1).map_or(self.first, |last| self.games[last].1)
    }

    /// Returns the number that the next position will get.
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn push(&mut self, sample: &Sample, value_target: f32) {
        let mut target = std::mem::take(&mut self.target);
        target.clear();
        pack_target(sample.policy_target.pairs(), &mut target);
        let (packed, compact_target) = (&sample.packed, &target);
        self.push_held(HeldSample { packed, compact_target, value_target, outlook: sample.outlook });
        self.target = target;
    }

    fn push_held(&mut self, held: HeldSample<'_>) {
        let HeldSample { packed, compact_target: target, value_target, outlook } = held;
        let (Ok(packed_length), Ok(target_length)) = (u16::try_from(packed.len()), u16::try_from(target.len())) else {
            // No game here packs a position into more than 64 kB; one that did could not be learned from.
            tracing::error!(byte_count = packed.len(), "position too large for the sample buffer, left out");
            return;
        };
        let length = packed.len() + target.len();
        if self.blocks.back().is_none_or(|block| block.len() + length > BLOCK_BYTES) {
            self.blocks.push_back(Vec::with_capacity(BLOCK_BYTES));
        }
        let block_number = self.first_block.wrapping_add(self.blocks.len() as u32 - 1);
        let block = self.blocks.back_mut().expect("a block was pushed if there was none");
        self.entries.push_back(Entry {
            block: block_number,
            offset: block.len() as u32,
            packed_length,
            target_length,
            value_target,
            outlook,
        });
        block.extend_from_slice(packed);
        block.extend_from_slice(target);
    }

    /// Drops positions beyond the capacity, except those that the fixed window needs. The pipeline pauses self-play
    /// when that makes the buffer too large.
    fn drop_old(&mut self) {
        let oldest_kept = self.end().saturating_sub(self.capacity);
        let oldest_kept = self.fixed.map_or(oldest_kept, |window| oldest_kept.min(window.start));
        let dropped = oldest_kept.saturating_sub(self.first).min(self.entries.len() as u64);
        self.entries.drain(..dropped as usize);
        self.first += dropped;
        let games_gone = self.games.partition_point(|(_, end)| *end <= self.first);
        self.games.drain(..games_gone);
        let first_block = self.entries.front().map_or(self.first_block, |entry| entry.block);
        self.blocks.drain(..first_block.wrapping_sub(self.first_block) as usize);
        self.first_block = first_block;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::game::Side;
    use shared::record::{CutOffTarget, PolicyTarget, ValueTarget};

    fn sample(packed: Vec<u8>, visits: impl Iterator<Item = (u16, u32)>) -> Sample {
        let policy_target = PolicyTarget::from_visits(visits).expect("visited moves are a target");
        Sample { packed, side: Side::White, policy_target, outcome_value: 1.0, search_value: Some(0.5), outlook: None }
    }

    fn game(tag: u8, count: usize) -> Vec<Sample> {
        (0..count).map(|i| sample(vec![tag, i as u8], std::iter::once((u16::from(tag), 7)))).collect()
    }

    fn push(buffer: &mut SampleBuffer, finish_number: u64, samples: &[Sample]) {
        buffer.push_game(finish_number, SampledGame { samples, is_cut_off: false });
    }

    fn content(buffer: &SampleBuffer, window: Window) -> Vec<Vec<u8>> {
        (window.start..window.end).map(|number| buffer.get(number).expect("in the window").packed.to_vec()).collect()
    }

    #[test]
    fn the_newest_positions_stay() {
        let mut buffer = SampleBuffer::new(5);
        for number in 1..=4 {
            push(&mut buffer, number, &game(number as u8, 3));
        }
        let window = buffer.fix_window(4, u64::MAX);
        assert_eq!(content(&buffer, window), [[3, 1], [3, 2], [4, 0], [4, 1], [4, 2]]);
        assert_eq!(buffer.position_count(), 5);
        assert_eq!(buffer.get(window.start).map(|held| held.compact_target.to_vec()), Some(vec![3, 7]));
    }

    #[test]
    fn a_fixed_window_outlives_what_comes_in() {
        let mut buffer = SampleBuffer::new(4);
        push(&mut buffer, 1, &game(1, 3));
        push(&mut buffer, 2, &game(2, 3));
        let window = buffer.fix_window(2, u64::MAX);
        let before = content(&buffer, window);
        push(&mut buffer, 5, &game(5, 3));
        assert_eq!(content(&buffer, window), before);
        assert_eq!(buffer.first_finish_number(), Some(1));
        buffer.release();
        assert_eq!((buffer.position_count(), buffer.first_finish_number()), (4, Some(2)));
        assert!(buffer.get(window.start).is_none());
    }

    #[test]
    fn a_window_may_be_shorter_than_what_is_kept() {
        let mut buffer = SampleBuffer::new(6);
        for number in 1..=3 {
            push(&mut buffer, number, &game(number as u8, 3));
        }
        let window = buffer.fix_window(2, 2);
        assert_eq!(content(&buffer, window), [[2, 1], [2, 2]]);
        buffer.release();
        let all = buffer.fix_window(3, u64::MAX);
        assert_eq!((all.len(), buffer.fix_window(3, 0).len()), (6, 0));
    }

    #[test]
    fn a_window_of_an_earlier_time_is_the_window_of_that_time() {
        let (mut early, mut late) = (SampleBuffer::new(100), SampleBuffer::new(100));
        for number in 1..=6 {
            if number <= 3 {
                push(&mut early, number, &game(number as u8, 4));
            }
            push(&mut late, number, &game(number as u8, 4));
        }
        let (a, b) = (early.fix_window(3, u64::MAX), late.fix_window(3, u64::MAX));
        assert_eq!(content(&early, a), content(&late, b));
    }

    #[test]
    fn copies_hold_positions_from_number_0_on() {
        let mut buffer = SampleBuffer::new(6);
        for number in 1..=4 {
            push(&mut buffer, number, &game(number as u8, 3));
        }
        let all = |copy: &SampleBuffer| content(copy, Window { start: 0, end: copy.position_count() });
        assert_eq!(all(&buffer.copy_until(3)), [[3, 0], [3, 1], [3, 2]]);
        assert_eq!(all(&buffer.copy_until(2)), [[0; 2]; 0]);
        assert_eq!(all(&buffer.thinned(3)), [[3, 0], [3, 2], [4, 1]]);
        assert_eq!(all(&buffer.thinned(99)).len(), 6);
        assert_eq!(all(&SampleBuffer::new(3).thinned(2)), [[0; 2]; 0]);
        assert_eq!(
            buffer.thinned(1).get(0).map(|held| (held.compact_target.to_vec(), held.value_target)),
            Some((vec![3, 7], 1.0))
        );
    }

    #[test]
    fn memory_is_given_back_in_blocks() {
        let mut buffer = SampleBuffer::new(1000);
        let sample = sample(vec![9; 80], (0..50).map(|i| (i, 3)));
        for number in 1..=200 {
            push(&mut buffer, number, &vec![sample.clone(); 60]);
        }
        assert_eq!(buffer.position_count(), 1000);
        assert!(buffer.blocks.len() <= 2, "{} blocks", buffer.blocks.len());
        let window = buffer.fix_window(200, u64::MAX);
        assert!(content(&buffer, window).iter().all(|packed| *packed == [9; 80]));
    }

    #[test]
    fn value_targets_are_made_as_games_come_in() {
        let mut buffer = SampleBuffer::new(9).with_value_target(ValueTarget::Td { lambda: 0.0 }.into());
        push(&mut buffer, 1, &game(1, 2));
        let values = [0, 1].map(|number| buffer.get(number).map(|held| held.value_target));
        assert_eq!(values, [Some(0.5), Some(1.0)]);
    }

    #[test]
    fn a_cut_off_game_is_learned_as_one() {
        let rule = ValueTargetRule { cut_off_target: CutOffTarget::Search { horizon: 1 }, ..Default::default() };
        let mut buffer = SampleBuffer::new(9).with_value_target(rule);
        let samples = game(1, 2);
        buffer.push_game(1, SampledGame { samples: &samples, is_cut_off: true });
        buffer.push_game(2, SampledGame { samples: &samples, is_cut_off: false });
        let values: Vec<f32> = (0..4).filter_map(|number| Some(buffer.get(number)?.value_target)).collect();
        assert_eq!(values, [0.5, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn an_empty_buffer_has_an_empty_window() {
        let mut buffer = SampleBuffer::new(3);
        assert!(buffer.fix_window(9, u64::MAX).is_empty());
        assert!(buffer.get(0).is_none());
        push(&mut buffer, 1, &[]);
        assert!(buffer.fix_window(1, u64::MAX).is_empty());
    }
}
