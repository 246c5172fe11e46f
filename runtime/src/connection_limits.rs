//! How many connections a server takes, and how long they may stay silent.

use std::time::Duration;

/// Bounds of a server's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once. One more takes the place of one without a call, or waits until one is closed.
    pub count_max: usize,
    /// Connections at once from one address, this machine's own aside. One more takes the place of one without a call, or
    /// is closed.
    pub count_per_address_max: usize,
    /// Time until the first call that is let in.
    pub first_call_within: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { count_max: 1000, count_per_address_max: 1000, first_call_within: Duration::from_secs(30) }
    }
}
