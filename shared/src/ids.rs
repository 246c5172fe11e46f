//! Numbers of games and networks as types, so that one is never taken for the other.
//!
//! How they are written on the wire and in a database is none of their business: `wire` and the learner's store each
//! convert at their own border.

use std::fmt;
use std::num::NonZeroU32;

/// Number of a game of a run, from 1, never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(u64);

impl GameId {
    /// Makes the id with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Number of a network of a run, from 1, never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkId(NonZeroU32);

impl NetworkId {
    /// The network that a run begins with.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// Makes the id with this number; `None` for 0, which no network has.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// Returns the id of the network after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Which network is to evaluate a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NetworkRef {
    /// The best network at the time of each leaf.
    #[default]
    Best,
    /// This network, whichever is the best.
    Id(NetworkId),
}

impl NetworkRef {
    /// Returns the network that is meant while `best` is the best one.
    #[must_use]
    pub const fn resolve(self, best: NetworkId) -> NetworkId {
        match self {
            Self::Best => best,
            Self::Id(network_id) => network_id,
        }
    }
}

impl From<NetworkId> for NetworkRef {
    fn from(network_id: NetworkId) -> Self {
        Self::Id(network_id)
    }
}

/// Number of a best network: 0 is the one a run begins with, and each promotion adds 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(u32);

impl Generation {
    /// Makes the generation with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
