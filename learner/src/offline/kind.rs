//! The two ways to learn without self-play, and what they are called.

use std::path::{Path, PathBuf};

use super::settings::OfflineConfig;
use crate::config::LearnerConfig;

/// What is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// People's games: `learner pretrain`.
    People,
    /// Data sets: `learner train`.
    DataSets,
}

impl Kind {
    /// Returns the section of the settings.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::People => "pretrain",
            Self::DataSets => "offline",
        }
    }

    /// Returns the settings.
    #[must_use]
    pub const fn config(self, config: &LearnerConfig) -> &OfflineConfig {
        match self {
            Self::People => &config.pretrain,
            Self::DataSets => &config.offline,
        }
    }

    /// Returns what the training is called.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::People => "pretraining",
            Self::DataSets => "training",
        }
    }

    /// Returns what is learned from, as the flag calls it.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::People => "games",
            Self::DataSets => "data",
        }
    }

    /// Returns what is said if nothing to learn from was named.
    #[must_use]
    pub const fn missing_source(self) -> &'static str {
        match self {
            Self::People => "name the games to learn from: --games PATH... or --sgf-dir DIR",
            Self::DataSets => "name the data sets to learn from: --data FILE...",
        }
    }

    /// Returns the name of the file of the best network.
    #[must_use]
    pub const fn result(self) -> &'static str {
        match self {
            Self::People => "pretrained.safetensors",
            Self::DataSets => "trained.safetensors",
        }
    }
}

/// Returns the network that a path means: of the folder of a training, its result.
#[must_use]
pub fn network_of(path: &Path) -> PathBuf {
    let results = [Kind::People, Kind::DataSets].map(|kind| path.join(kind.result()));
    results.into_iter().find(|file| file.is_file()).unwrap_or_else(|| path.to_owned())
}
