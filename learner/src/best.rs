//! Which network reigns: read for each batch, written at each promotion.

use std::sync::atomic::{AtomicU64, Ordering};

/// The best network's id and its generation, in one atomic number so that they are never seen apart.
#[derive(Debug, Default)]
pub struct BestNetwork(AtomicU64);

impl BestNetwork {
    /// Starts with this network and generation.
    #[must_use]
    pub fn new(network_id: u32, generation: u32) -> Self {
        Self(AtomicU64::new(pack(network_id, generation)))
    }

    /// Returns (network id, generation).
    #[must_use]
    pub fn get(&self) -> (u32, u32) {
        let packed = self.0.load(Ordering::Acquire);
        ((packed >> 32) as u32, packed as u32)
    }

    /// Publishes a new best network.
    pub fn set(&self, network_id: u32, generation: u32) {
        self.0.store(pack(network_id, generation), Ordering::Release);
    }
}

const fn pack(network_id: u32, generation: u32) -> u64 {
    (network_id as u64) << 32 | generation as u64
}
