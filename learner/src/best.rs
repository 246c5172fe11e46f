//! Which network is the best: read for each batch, written at each promotion.

use std::sync::atomic::{AtomicU64, Ordering};

use shared::ids::{Generation, NetworkId, NetworkRef};

/// The best network of a run at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentBest {
    /// The network.
    pub network_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
}

/// The best network, in one atomic number: id and generation are never seen apart.
#[derive(Debug)]
pub struct BestNetwork(AtomicU64);

impl BestNetwork {
    /// Starts with this network and generation.
    #[must_use]
    pub fn new(current: CurrentBest) -> Self {
        Self(AtomicU64::new(pack(current)))
    }

    /// Returns the best network.
    #[must_use]
    pub fn get(&self) -> CurrentBest {
        let packed = self.0.load(Ordering::Acquire);
        let network_id =
            NetworkId::new((packed >> 32) as u32).expect("only networks are packed, and none has the id 0");
        CurrentBest { network_id, generation: Generation::new(packed as u32) }
    }

    /// Returns the network that is meant, and the generation of the best one at the same moment.
    #[must_use]
    pub fn resolve(&self, network: NetworkRef) -> (NetworkId, Generation) {
        let CurrentBest { network_id, generation } = self.get();
        (network.resolve(network_id), generation)
    }

    /// Publishes a new best network.
    pub fn set(&self, current: CurrentBest) {
        self.0.store(pack(current), Ordering::Release);
    }
}

const fn pack(current: CurrentBest) -> u64 {
    (current.network_id.get() as u64) << 32 | current.generation.get() as u64
}
