//! The samples of many games: those to learn from, and those held out.

use std::collections::BTreeMap;

use notation::PlayedGame;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Outcome;
use shared::game::hive::GameType;
use shared::record::ValueTargetRule;

use super::{GameSamples, game_key, samples_of};
use crate::buffer::SampledGame;
use crate::sample_sets::SampleSets;
use crate::split::Split;

/// Games made into samples at once, so that few are held unpacked.
const CHUNK_GAMES: usize = 4096;

/// Which games become samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetSettings {
    /// How games are split.
    pub split: Split,
    /// Draws are left out too.
    pub decided_only: bool,
    /// Which types of game.
    pub game_types: GameTypes,
}

/// Which types of Hive a network of one type learns from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameTypes {
    /// Its own, and every type with fewer expansions.
    #[default]
    All,
    /// Its own alone.
    Own,
}

impl GameTypes {
    /// Returns whether a network of type `own` learns from games of `found`.
    #[must_use]
    pub const fn takes(self, own: GameType, found: GameType) -> bool {
        own.includes(found) && (matches!(self, Self::All) || found.includes(own))
    }
}

/// Samples of human games.
#[derive(Debug)]
pub struct HumanSampleSets {
    /// The samples.
    pub samples: SampleSets,
    /// Games to learn from of each type, rising by name.
    pub training_types: BTreeMap<String, u64>,
    /// Games to measure with of each type.
    pub held_out_types: BTreeMap<String, u64>,
    /// How much is not among them.
    pub left_out: LeftOutCounts,
}

/// How much did not become samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LeftOutCounts {
    /// Games of a type that the network does not play, or that is not asked for.
    pub other_type_games: u64,
    /// Games whose winner is unknown.
    pub undecided_games: u64,
    /// Draws, where only decided games are wanted.
    pub drawn_games: u64,
    /// Moves that the network's rules forbid.
    pub plies: u64,
}

/// Makes the samples of `games`, in their order.
#[must_use]
pub fn make_sets(encoding: &HiveEncoding, games: &[PlayedGame], settings: SetSettings) -> HumanSampleSets {
    let mut sets = HumanSampleSets {
        samples: SampleSets::new(ValueTargetRule::default()),
        training_types: BTreeMap::new(),
        held_out_types: BTreeMap::new(),
        left_out: LeftOutCounts::default(),
    };
    for chunk in games.chunks(CHUNK_GAMES) {
        let made: Vec<Made> = chunk.par_iter().map(|game| make(encoding, game, settings)).collect();
        for made in made {
            sets.add(&made);
        }
    }
    sets
}

/// What became of one game.
enum Made {
    Samples { game_type: GameType, is_held_out: bool, samples: GameSamples },
    OtherType,
    Undecided,
    Drawn,
}

fn make(encoding: &HiveEncoding, game: &PlayedGame, settings: SetSettings) -> Made {
    let game_type = game.rules.game_type;
    if !settings.game_types.takes(encoding.game().rules().game_type, game_type) {
        return Made::OtherType;
    }
    let Some(outcome) = game.outcome else { return Made::Undecided };
    if settings.decided_only && outcome == Outcome::Draw {
        return Made::Drawn;
    }
    let is_held_out = settings.split.is_held_out(game_key(encoding, game));
    Made::Samples { game_type, is_held_out, samples: samples_of(encoding, game, outcome) }
}

impl HumanSampleSets {
    fn add(&mut self, made: &Made) {
        let left_out = &mut self.left_out;
        match made {
            Made::OtherType => left_out.other_type_games += 1,
            Made::Undecided => left_out.undecided_games += 1,
            Made::Drawn => left_out.drawn_games += 1,
            Made::Samples { game_type, is_held_out, samples } => {
                let types = if *is_held_out { &mut self.held_out_types } else { &mut self.training_types };
                *types.entry(game_type.to_string()).or_default() += 1;
                left_out.plies += samples.left_out_count;
                self.samples.push_game(*is_held_out, SampledGame { samples: &samples.samples, is_cut_off: false });
            }
        }
    }
}
