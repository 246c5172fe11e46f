//! Ids as numbers. Here alone, the number 0 stands for the best network, or for no network where none answered.

use super::WireError;
use crate::ids::{NetworkId, NetworkRef};

/// Returns the number for the network that is asked.
#[must_use]
pub const fn network_ref_to_wire(network: NetworkRef) -> u32 {
    match network {
        NetworkRef::Best => 0,
        NetworkRef::Id(network_id) => network_id.get(),
    }
}

/// Reads the number of the network that is asked.
#[must_use]
pub const fn network_ref_from_wire(number: u32) -> NetworkRef {
    match NetworkId::new(number) {
        Some(network_id) => NetworkRef::Id(network_id),
        None => NetworkRef::Best,
    }
}

/// Returns the number for the network that answered, if one did.
#[must_use]
pub fn answered_by_to_wire(network_id: Option<NetworkId>) -> u32 {
    network_id.map_or(0, NetworkId::get)
}

/// Reads the number of a network, which must name one.
///
/// # Errors
/// [`WireError::Invalid`] for 0, naming `field`.
pub fn network_id_from_wire(field: &'static str, number: u32) -> Result<NetworkId, WireError> {
    NetworkId::new(number).ok_or_else(|| WireError::invalid(field, "0 is no network"))
}
