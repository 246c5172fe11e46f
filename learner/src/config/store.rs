//! Section `[store]`: what of an old run stays on the disk.

use serde::{Deserialize, Serialize};
use shared::setting::{SettingError, check_range};

/// Most games or networks that can be asked for.
const KEPT_MAX: u32 = 1_000_000_000;

/// What of an old run stays on the disk. Whatever the run still needs stays in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// Newest finished self-play games that keep their plies, 0..=1,000,000,000; 0: all. Gate games as old as those that
    /// lose their plies lose theirs too.
    pub keep_games: u32,
    /// Newest rejected networks whose files stay, 0..=1,000,000,000; 0: all.
    pub keep_rejected_networks: u32,
}

impl StoreConfig {
    /// Returns whether anything is to be removed.
    #[must_use]
    pub const fn removes_something(&self) -> bool {
        self.keep_games > 0 || self.keep_rejected_networks > 0
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_range("keep_games", self.keep_games, ..=KEPT_MAX)?;
        check_range("keep_rejected_networks", self.keep_rejected_networks, ..=KEPT_MAX)
    }
}
