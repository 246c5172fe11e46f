//! Where a peer comes from, as far as its address tells: what is counted and bounded for each of them.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Leading bits of an IPv6 address that one host is given: the others are its own to choose.
const NETWORK_BITS: u32 = 64;

/// A host, as far as its address tells: an IPv4 address, or the network of an IPv6 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin(Option<IpAddr>);

impl Origin {
    /// Returns the origin of an address, or the one of all peers whose address is not known.
    #[must_use]
    pub fn of(address: Option<IpAddr>) -> Self {
        let network = |address: Ipv6Addr| Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << NETWORK_BITS));
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => IpAddr::V6(network(address)),
            address => address,
        }))
    }

    /// Returns whether the peer is on this machine, or comes through a tunnel that ends here.
    #[must_use]
    pub fn is_this_machine(self) -> bool {
        self.0.is_some_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("unknown"),
            Some(IpAddr::V6(network)) if !network.is_loopback() => write!(formatter, "{network}/{NETWORK_BITS}"),
            Some(address) => write!(formatter, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_cannot_choose_its_origin() {
        let origin = |text: &str| Origin::of(Some(text.parse().unwrap()));
        assert_eq!(origin("2001:db8:1:2:3:4:5:6"), origin("2001:db8:1:2::1"));
        assert_ne!(origin("2001:db8:1:2::1"), origin("2001:db8:1:3::1"));
        assert_ne!(origin("203.0.113.7"), origin("203.0.113.8"));
        assert_eq!(origin("::ffff:203.0.113.7"), origin("203.0.113.7"));
        assert_eq!(origin("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
        assert_eq!(origin("203.0.113.7").to_string(), "203.0.113.7");
        assert_eq!(Origin::of(None).to_string(), "unknown");
    }

    #[test]
    fn loopback_is_this_machine() {
        for (text, expected) in [("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false)] {
            assert_eq!(Origin::of(Some(text.parse().unwrap())).is_this_machine(), expected, "{text}");
        }
        assert!(!Origin::of(None).is_this_machine());
    }
}
