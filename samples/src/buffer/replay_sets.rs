//! What a run learns from, and what it measures with: each finished game is in one of two buffers.

use super::{SampleBuffer, SampledGame};
use crate::split::Split;

/// The positions of a run in memory: those to learn from, and the newest of those held out.
#[derive(Debug)]
pub struct ReplaySets {
    pub(crate) learned: SampleBuffer,
    held_out: Option<HeldOut>,
}

/// Games that are not learned from. Value targets are outcomes, so that two networks are measured alike whatever they
/// learned.
#[derive(Debug)]
struct HeldOut {
    split: Split,
    samples: SampleBuffer,
}

impl From<SampleBuffer> for ReplaySets {
    /// Nothing is held out.
    fn from(learned: SampleBuffer) -> Self {
        Self { learned, held_out: None }
    }
}

impl ReplaySets {
    /// Puts the games that `split` holds out into a buffer of their own, which keeps the newest `capacity` positions.
    #[must_use]
    pub fn with_held_out(self, split: Split, capacity: u64) -> Self {
        Self { held_out: Some(HeldOut { split, samples: SampleBuffer::new(capacity) }), ..self }
    }

    /// Returns whether the game with this key is held out.
    #[must_use]
    pub fn is_held_out(&self, key: u64) -> bool {
        self.held_out.as_ref().is_some_and(|held_out| held_out.split.is_held_out(key))
    }

    /// Appends a finished game. Games must come by rising finish number; equal games have equal keys. One that is held out
    /// and was cut off is in neither buffer: it has no outcome to measure a value against.
    pub fn push_game(&mut self, finish_number: u64, key: u64, game: SampledGame<'_>) {
        match &mut self.held_out {
            Some(held_out) if held_out.split.is_held_out(key) => {
                if !game.is_cut_off {
                    held_out.samples.push_game(finish_number, game);
                }
            }
            _ => self.learned.push_game(finish_number, game),
        }
    }

    /// Returns the number of positions to learn from that are kept.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.learned.capacity()
    }

    /// Returns the number of held-out positions that are kept, 0 if nothing is held out.
    #[must_use]
    pub fn held_out_capacity(&self) -> u64 {
        self.held_out.as_ref().map_or(0, |held_out| held_out.samples.capacity())
    }

    /// Returns the number of positions to learn from.
    #[must_use]
    pub fn position_count(&self) -> u64 {
        self.learned.position_count()
    }

    /// Returns the finish number of the oldest game that has positions here, to learn from or held out; `None` before there
    /// is one.
    #[must_use]
    pub fn first_finish_number(&self) -> Option<u64> {
        let held_out = self.held_out.as_ref().and_then(|held_out| held_out.samples.first_finish_number());
        self.learned.first_finish_number().into_iter().chain(held_out).min()
    }

    /// Fixes the whole window to learn from, as [`SampleBuffer::fix_window`] does.
    pub fn fix_window(&mut self, finish_number: u64) {
        let _ = self.learned.fix_window(finish_number, u64::MAX);
    }

    /// Releases that window.
    pub fn release(&mut self) {
        self.learned.release();
    }

    /// Returns the held-out positions of games up to this finish number, numbered from 0; none if nothing is held out.
    #[must_use]
    pub fn held_out_until(&self, finish_number: u64) -> SampleBuffer {
        match &self.held_out {
            Some(held_out) => held_out.samples.copy_until(finish_number),
            None => SampleBuffer::new(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::game::Side;
    use shared::record::{PolicyTarget, Sample};

    use super::*;

    fn game(tag: u8) -> [Sample; 2] {
        let policy_target = PolicyTarget::from_visits([(0, 1)]).expect("visited");
        let sample = |ply| Sample {
            packed: vec![tag, ply],
            side: Side::White,
            policy_target: policy_target.clone(),
            outcome_value: 1.0,
            search_value: None,
            outlook: None,
        };
        [sample(0), sample(1)]
    }

    #[test]
    fn each_game_is_learned_from_or_held_out() {
        let split = Split { seed: 3, held_out_share: 0.5 };
        let mut sets = ReplaySets::from(SampleBuffer::new(1000)).with_held_out(split, 6);
        let mut held_out = Vec::new();
        for number in 1..=20_u8 {
            let key = u64::from(number) * 77;
            sets.push_game(number.into(), key, SampledGame { samples: &game(number), is_cut_off: false });
            held_out.extend(sets.is_held_out(key).then_some(number));
        }
        assert!(held_out.len() > 3 && held_out.len() < 17, "{held_out:?}");
        assert_eq!(sets.position_count(), 2 * (20 - held_out.len() as u64));
        let tags = |samples: &SampleBuffer| -> Vec<u8> {
            (0..samples.position_count()).step_by(2).filter_map(|number| Some(samples.get(number)?.packed[0])).collect()
        };
        assert_eq!(sets.first_finish_number(), (1..).find(|number| !held_out.contains(&(*number as u8))));
        let newest = sets.held_out_until(20);
        assert_eq!(tags(&newest), held_out[held_out.len() - 3..], "the newest, from number 0 on");
        let last = *held_out.last().expect("one is held out");
        assert_eq!(tags(&sets.held_out_until(u64::from(last) - 1)).last(), held_out.iter().rev().nth(1));
    }

    #[test]
    fn a_cut_off_game_measures_nothing() {
        let all = Split { seed: 3, held_out_share: 1.0 };
        let mut sets = ReplaySets::from(SampleBuffer::new(9)).with_held_out(all, 9);
        sets.push_game(1, 1, SampledGame { samples: &game(1), is_cut_off: true });
        assert_eq!((sets.position_count(), sets.held_out_until(9).position_count()), (0, 0));
    }

    #[test]
    fn nothing_is_held_out_unless_asked() {
        let mut sets = ReplaySets::from(SampleBuffer::new(9));
        sets.push_game(1, 1, SampledGame { samples: &game(1), is_cut_off: false });
        assert_eq!((sets.position_count(), sets.held_out_until(9).position_count()), (2, 0));
    }
}
