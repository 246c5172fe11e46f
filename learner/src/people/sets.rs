//! The samples of many games: those that are learned from, and those that are held out.

use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Outcome;
use shared::notation::PlayedGame;

use super::{GameSamples, Split, game_key, samples_of};
use crate::replay::ReplayBuffer;

/// Games made into samples at once, so that few are held as more than bytes.
const CHUNK_GAMES: usize = 4096;

/// Which games become samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetSettings {
    /// How games are split.
    pub split: Split,
    /// Draws are left out too.
    pub decided_only: bool,
}

/// Samples of people's games.
#[derive(Debug)]
pub struct SampleSets {
    /// Samples to learn from.
    pub training: ReplayBuffer,
    /// Samples to measure with.
    pub held_out: ReplayBuffer,
    /// What became of the games.
    pub counts: SetCounts,
    /// SHA-256 of all samples and of which set they are in: equal for equal sets.
    pub sha256: String,
}

/// What became of the games.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SetCounts {
    /// Games to learn from.
    pub training_games: u64,
    /// Games to measure with.
    pub held_out_games: u64,
    /// Games left out: of another game type than the network plays.
    pub other_type_games: u64,
    /// Games left out: nobody can tell who won.
    pub undecided_games: u64,
    /// Games left out: draws, where only decided games are wanted.
    pub drawn_games: u64,
    /// Plies left out: moves that the network's rules forbid.
    pub left_out_plies: u64,
}

/// Makes the samples of `games`, in their order.
#[must_use]
pub fn make_sets(encoding: &HiveEncoding, games: &[PlayedGame], settings: SetSettings) -> SampleSets {
    let mut sets = SampleSets {
        training: ReplayBuffer::new(u64::MAX),
        held_out: ReplayBuffer::new(u64::MAX),
        counts: SetCounts::default(),
        sha256: String::new(),
    };
    let mut hash = Sha256::new();
    for chunk in games.chunks(CHUNK_GAMES) {
        let made: Vec<Made> = chunk.par_iter().map(|game| make(encoding, game, settings)).collect();
        for made in made {
            sets.add(&made, &mut hash);
        }
    }
    sets.sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    sets
}

/// What became of one game.
enum Made {
    Samples { is_held_out: bool, samples: GameSamples },
    OtherType,
    Undecided,
    Drawn,
}

fn make(encoding: &HiveEncoding, game: &PlayedGame, settings: SetSettings) -> Made {
    if game.rules.game_type != encoding.game().rules().game_type {
        return Made::OtherType;
    }
    let Some(outcome) = game.outcome else { return Made::Undecided };
    if settings.decided_only && outcome == Outcome::Draw {
        return Made::Drawn;
    }
    let is_held_out = settings.split.is_held_out(game_key(encoding, game));
    Made::Samples { is_held_out, samples: samples_of(encoding, game, outcome) }
}

impl SampleSets {
    fn add(&mut self, made: &Made, hash: &mut Sha256) {
        let counts = &mut self.counts;
        let (is_held_out, made) = match made {
            Made::OtherType => return counts.other_type_games += 1,
            Made::Undecided => return counts.undecided_games += 1,
            Made::Drawn => return counts.drawn_games += 1,
            Made::Samples { is_held_out, samples } => (*is_held_out, samples),
        };
        counts.left_out_plies += made.left_out_count;
        let (set, game_count) = if is_held_out {
            (&mut self.held_out, &mut counts.held_out_games)
        } else {
            (&mut self.training, &mut counts.training_games)
        };
        *game_count += 1;
        set.push_game(*game_count, &made.samples);
        hash.update([u8::from(is_held_out)]);
        for sample in &made.samples {
            hash.update(&sample.packed);
            hash.update(sample.policy_target.to_bytes());
            hash.update(sample.value_target.to_le_bytes());
        }
    }
}
