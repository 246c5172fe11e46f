//! `alarms.webhook`: an address to which alarms are sent. Its path, query and user are secrets as often as not, so nothing
//! ever shows more of it than the host.

use std::fmt;

use reqwest::Url;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shared::setting::{SettingError, check_that};

/// What stands for the part that is not shown. No address ends so.
const HIDDEN: &str = "(hidden)";

/// An address to which alarms are sent, or none, written as an empty text.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct WebhookUrl(Option<Url>);

/// Why a text is no such address. It does not repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookUrlError {
    /// It is what this program shows of an address.
    #[error("holds no whole address: what --print-config prints hides its secret part, set it again")]
    Hidden,
    /// It is none.
    #[error("is no address: write https://HOST/PATH, or http:// on a network that is yours alone, or \"\" for none")]
    Invalid,
}

impl WebhookUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// [`WebhookUrlError`].
    pub fn parse(text: &str) -> Result<Self, WebhookUrlError> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        if text.ends_with(HIDDEN) {
            return Err(WebhookUrlError::Hidden);
        }
        let url = Url::parse(text).map_err(|_| WebhookUrlError::Invalid)?;
        let is_usable = ["http", "https"].contains(&url.scheme()) && url.has_host();
        if is_usable { Ok(Self(Some(url))) } else { Err(WebhookUrlError::Invalid) }
    }

    /// Returns the whole address, secrets included: for the request, never for a log.
    #[must_use]
    pub const fn reveal(&self) -> Option<&Url> {
        self.0.as_ref()
    }

    /// Checks that a token, or a user in the address, does not cross the network in the clear.
    pub(super) fn check(&self, has_token: bool, is_insecure: bool) -> Result<(), SettingError> {
        let Some(url) = &self.0 else {
            return check_that("webhook_token_file", !has_token, || "is for alarms.webhook, which is not set");
        };
        let is_here = match url.host_str() {
            Some("localhost" | "[::1]") => true,
            Some(host) => host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback()),
            None => false,
        };
        let has_secret = has_token || !url.username().is_empty() || url.password().is_some();
        check_that(
            "webhook",
            !has_secret || url.scheme() == "https" || is_here || is_insecure,
            || "would send its secret in the clear: write https://, or set server.insecure = true",
        )
    }
}

/// Scheme, host and port; what follows is hidden.
impl fmt::Display for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(url) = &self.0 else { return Ok(()) };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        write!(formatter, "{}://{}{port}/{HIDDEN}", url.scheme(), url.host_str().unwrap_or_default())
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WebhookUrl({self})")
    }
}

impl Serialize for WebhookUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WebhookUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: [&str; 4] = ["user", "word", "T0/B0/key", "topic=1"];

    #[test]
    fn an_address_is_read_and_only_its_host_is_shown() {
        let text = "https://user:word@hooks.example.org:8443/T0/B0/key?topic=1";
        let url = WebhookUrl::parse(text).expect("an address");
        assert_eq!(url.reveal().map(Url::as_str), Some(text));
        for shown in [url.to_string(), format!("{url:?}"), serde_json::to_string(&url).expect("a text")] {
            assert!(shown.contains("https://hooks.example.org:8443/(hidden)"), "{shown}");
            assert!(SECRETS.iter().all(|secret| !shown.contains(secret)), "{shown}");
        }
        assert_eq!(
            WebhookUrl::parse(&url.to_string()),
            Err(WebhookUrlError::Hidden),
            "nothing is sent to half an address"
        );
        assert_eq!(WebhookUrl::parse("").map(|none| none.to_string()), Ok(String::new()));
        for text in ["hooks.example.org/key", "ftp://host/key", "https://", "key"] {
            let error = WebhookUrl::parse(text).expect_err(text).to_string();
            assert!(!error.contains("key"), "{error}");
        }
    }

    #[test]
    fn a_secret_does_not_leave_this_machine_in_the_clear() {
        let check = |text: &str, has_token, is_insecure| {
            WebhookUrl::parse(text).expect("an address").check(has_token, is_insecure).map_err(|error| error.key)
        };
        assert_eq!(check("http://alerts:9000/hook", false, false), Ok(()));
        for (text, has_token) in [("http://alerts:9000/hook", true), ("http://user@alerts/hook", false)] {
            assert_eq!(check(text, has_token, false), Err("webhook".to_owned()));
            assert_eq!(check(text, has_token, true), Ok(()));
        }
        for text in ["https://alerts/hook", "http://localhost/hook", "http://127.0.0.1:1/hook", "http://[::1]/hook"] {
            assert_eq!(check(text, true, false), Ok(()), "{text}");
        }
        assert_eq!(check("", true, false), Err("webhook_token_file".to_owned()));
    }
}
