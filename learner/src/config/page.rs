//! Section `[page]`: the web page.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use shared::setting::{SettingError, check_range};

use super::ServerConfig;
use super::serving::optional_address;

/// Where the web page is served, and to how many at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageConfig {
    /// Address of the web page; none, written as an empty text: there is no page.
    #[serde(with = "optional_address")]
    pub listen: Option<SocketAddr>,
    /// Connections at once, 1..=1000; more wait.
    pub connections_max: u32,
}

impl PageConfig {
    /// Who may see the page is the business of `[server]`: its token, or that of readers, opens both.
    pub(super) fn check(&self, server: &ServerConfig) -> Result<(), SettingError> {
        check_range("connections_max", self.connections_max, 1..=1000)?;
        server.check_reader_reach("listen", self.listen)
    }
}
