//! Which network is the best: read for each batch, written at each promotion.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use shared::ids::{Generation, NetworkId, NetworkRef};

/// The best network of a run at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentBest {
    /// The network.
    pub network_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
}

/// The best network, in one atomic number: id and generation are never seen apart. Beside it those that answer leaves of
/// gates and yardsticks.
#[derive(Debug)]
pub struct BestNetwork {
    current: AtomicU64,
    in_play: RwLock<BTreeSet<NetworkId>>,
    is_gate_open: AtomicBool,
}

impl BestNetwork {
    /// Starts with this network and generation.
    #[must_use]
    pub fn new(current: CurrentBest) -> Self {
        Self {
            current: AtomicU64::new(pack(current)),
            in_play: RwLock::default(),
            is_gate_open: AtomicBool::new(false),
        }
    }

    /// Says which networks answer leaves beside the best one.
    pub fn set_in_play(&self, networks: BTreeSet<NetworkId>) {
        *self.in_play.write().unwrap_or_else(PoisonError::into_inner) = networks;
    }

    /// Adds a network to those that answer leaves.
    pub fn add_in_play(&self, network_id: NetworkId) {
        self.in_play.write().unwrap_or_else(PoisonError::into_inner).insert(network_id);
    }

    /// Returns whether leaves may be asked of this network: of any other, loading it would only cost those who play.
    #[must_use]
    pub fn is_in_play(&self, network: NetworkRef) -> bool {
        match network {
            NetworkRef::Best => true,
            NetworkRef::Id(network_id) => {
                self.get().network_id == network_id
                    || self.in_play.read().unwrap_or_else(PoisonError::into_inner).contains(&network_id)
            }
        }
    }

    /// Says whether a candidate plays its gate.
    pub fn set_gate_open(&self, is_open: bool) {
        self.is_gate_open.store(is_open, Ordering::Relaxed);
    }

    /// Returns whether leaves for a network, named by its number, are a gate's: those for the best one are only while there is
    /// a gate.
    #[must_use]
    pub fn is_of_gate(&self, network_id: NetworkId) -> bool {
        self.is_gate_open.load(Ordering::Relaxed) || self.get().network_id != network_id
    }

    /// Returns the best network.
    #[must_use]
    pub fn get(&self) -> CurrentBest {
        let packed = self.current.load(Ordering::Acquire);
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
        self.current.store(pack(current), Ordering::Release);
    }
}

const fn pack(current: CurrentBest) -> u64 {
    (current.network_id.get() as u64) << 32 | current.generation.get() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_best_network_and_those_of_gates_are_in_play() {
        let id = |number| NetworkId::new(number).expect("from 1");
        let best = BestNetwork::new(CurrentBest { network_id: id(3), generation: Generation::new(1) });
        let in_play = |number| best.is_in_play(NetworkRef::Id(id(number)));
        assert!(best.is_in_play(NetworkRef::Best) && in_play(3) && !in_play(4));
        best.set_in_play([id(1), id(4)].into());
        assert_eq!([1, 2, 3, 4].map(in_play), [true, false, true, true]);
    }

    #[test]
    fn leaves_for_the_best_network_are_a_gates_only_while_there_is_one() {
        let id = |number| NetworkId::new(number).expect("from 1");
        let best = BestNetwork::new(CurrentBest { network_id: id(3), generation: Generation::new(1) });
        assert!(best.is_of_gate(id(4)) && !best.is_of_gate(id(3)));
        best.set_gate_open(true);
        assert!(best.is_of_gate(id(3)));
    }
}
