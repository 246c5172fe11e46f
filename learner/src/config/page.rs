//! Section `[page]`: the web page.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shared::setting::{SettingError, check_range, check_that};

use super::ServerConfig;

/// Where the web page is served, and to how many at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageConfig {
    /// Address of the web page; none, written as an empty text: there is no page.
    #[serde(deserialize_with = "read_address", serialize_with = "write_address")]
    pub listen: Option<SocketAddr>,
    /// Connections at once, 1..=1000; more wait.
    pub connections_max: u32,
}

impl PageConfig {
    /// Who may see the page is the business of `[server]`: its token, or that of readers, opens both.
    pub(super) fn check(&self, server: &ServerConfig) -> Result<(), SettingError> {
        check_range("connections_max", self.connections_max, 1..=1000)?;
        let is_private = self.listen.is_none_or(|address| address.ip().is_loopback());
        let has_token = server.reader_token_file.is_some() || server.token_file.is_some();
        check_that("listen", is_private || has_token || server.insecure, || {
            let address = self.listen.map_or_else(String::new, |address| address.to_string());
            format!(
                "{address} is open to other machines: set server.reader_token_file or server.token_file, or server.insecure = true"
            )
        })
    }
}

fn read_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    let address = text.parse();
    address.map(Some).map_err(|_| serde::de::Error::custom(format!("{text:?} is not IP:PORT, such as 127.0.0.1:8080")))
}

fn write_address<S: Serializer>(address: &Option<SocketAddr>, serializer: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_str(""),
    }
}
