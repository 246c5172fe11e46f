//! gRPC settings that worker and learner must share: sizes, windows, keepalive, and how an address is written.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tonic::transport::{Endpoint, Server};

/// Largest message, both ways. Each client and server sets it for decoding and encoding.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// HTTP/2 window of a client's stream: several batches of evaluations.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// HTTP/2 window of a client's connection, above what its few streams may hold together.
const CONNECTION_WINDOW_BYTES: u32 = 32 << 20;
/// HTTP/2 window of a server's stream: several batches of leaves, at 20 ms there and back 25 MB/s.
const SERVER_STREAM_WINDOW_BYTES: u32 = 512 << 10;
/// HTTP/2 window of a server's connection, for a stream of leaves and a few calls. A stranger can have so much kept of what
/// nobody reads yet.
const SERVER_CONNECTION_WINDOW_BYTES: u32 = 2 << 20;
/// A silent peer is asked for a sign of life this often.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// A peer that gives no sign of life for this long is gone.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Calls and streams of one connection at once: a worker has one stream and a few calls.
const CALLS_PER_CONNECTION_MAX: u32 = 100;
/// Calls of one connection that are at work at once; further ones wait. A stream is one only until it is open.
const CALLS_AT_WORK_MAX: usize = 16;

/// Where a learner is reached: `https://host:port`, `http://host:port`; or `unix:/path`, where a tunnel or proxy to it
/// listens: it listens on no such socket itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Host and port, by TLS.
    Tls(String),
    /// Host and port, in the clear.
    Tcp(String),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an address; write https://host:port, http://host:port or unix:/path")]
pub struct AddressError {
    text: String,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = || AddressError { text: text.into() };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.starts_with('/') { Ok(Self::Unix(path.into())) } else { Err(error()) };
        }
        let tls = text.strip_prefix("https://");
        let authority = tls.or_else(|| text.strip_prefix("http://")).ok_or_else(error)?.trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').ok_or_else(error)?;
        let is_valid =
            !host.is_empty() && port.parse::<u16>().is_ok() && Endpoint::from_shared(text.to_owned()).is_ok();
        match tls {
            _ if !is_valid => Err(error()),
            Some(_) => Ok(Self::Tls(authority.into())),
            None => Ok(Self::Tcp(authority.into())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(authority) => write!(formatter, "https://{authority}"),
            Self::Tcp(authority) => write!(formatter, "http://{authority}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

impl Address {
    /// Returns what a client connects with; one by TLS still needs to be told whom it trusts
    /// ([`crate::tls::client::Target`]).
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::from_shared(self.to_string())
            .expect("from_str() takes what an endpoint takes")
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
            .keep_alive_timeout(KEEPALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
    }
}

/// Returns a server with the shared settings, for the connections of [`crate::connections::incoming`].
#[must_use]
pub fn server() -> Server {
    Server::builder()
        .initial_stream_window_size(SERVER_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(SERVER_CONNECTION_WINDOW_BYTES)
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .max_concurrent_streams(CALLS_PER_CONNECTION_MAX)
        .concurrency_limit_per_connection(CALLS_AT_WORK_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, written) in [
            ("http://127.0.0.1:50051", "http://127.0.0.1:50051"),
            ("http://learner:50051/", "http://learner:50051"),
            ("http://[::1]:1", "http://[::1]:1"),
            ("https://learner:50051/", "https://learner:50051"),
            ("https://[::1]:1", "https://[::1]:1"),
            ("unix:/run/a.sock", "unix:/run/a.sock"),
            ("unix:///run/a.sock", "unix:/run/a.sock"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), written);
            let _ = address.endpoint();
        }
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "",
            "learner:50051",
            "https://learner",
            "https://:1",
            "http://learner",
            "http://:1",
            "unix:a.sock",
            "http://a b:1",
            "http://a:99999",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
