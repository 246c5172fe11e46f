//! The two sources of samples that a network is trained on without self-play, and what depends on them.

use networks::{PRETRAINED_FILE, TRAINED_FILE};

use crate::config::{LearnerConfig, SupervisedSettings};

/// What is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainingSource {
    /// Human games: `learner pretrain`.
    HumanGames,
    /// Data sets: `learner train`.
    DataSets,
}

impl TrainingSource {
    /// Returns the section of the settings.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::HumanGames => "pretrain",
            Self::DataSets => "offline",
        }
    }

    /// Returns the settings.
    #[must_use]
    pub const fn settings(self, config: &LearnerConfig) -> &SupervisedSettings {
        match self {
            Self::HumanGames => &config.pretrain,
            Self::DataSets => &config.offline,
        }
    }

    /// Returns what the training is called.
    #[must_use]
    pub const fn training(self) -> &'static str {
        match self {
            Self::HumanGames => "pretraining",
            Self::DataSets => "training",
        }
    }

    /// Returns the flag that names the samples, without its dashes.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        match self {
            Self::HumanGames => "games",
            Self::DataSets => "data",
        }
    }

    /// Returns the name of the file of the best network.
    #[must_use]
    pub const fn result_file(self) -> &'static str {
        match self {
            Self::HumanGames => PRETRAINED_FILE,
            Self::DataSets => TRAINED_FILE,
        }
    }
}
