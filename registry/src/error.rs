//! Why the registry could not do what was asked.

use shared::ids::NetworkId;
use store::StoreError;

/// Why the registry could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RegistryError {
    /// A report with too many plies.
    #[error("report of {count} plies: more than {max}")]
    TooManyPlies {
        /// Plies in the report.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A call that renews too many leases.
    #[error("leases of {count} games: more than {max}")]
    TooManyLeases {
        /// Games named.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A worker without a proper name.
    #[error("worker_id of {0} bytes: not in 1..=128")]
    WorkerId(usize),
    /// A worker whose name people could not read, or that would move the cursor of their terminal.
    #[error("worker_id: only visible ASCII characters, such as letters, digits and hyphens")]
    WorkerIdText,
    /// The gate's numbers are impossible.
    #[error("gate.{0}")]
    GateSettings(#[from] shared::setting::SettingError),
    /// The gate is not known: it was never begun, or it is closed.
    #[error("there is no gate of candidate {0}")]
    UnknownGate(NetworkId),
    /// Nothing was changed, since the store failed. Trying again may help.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RegistryError {
    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_retryable())
    }
}
