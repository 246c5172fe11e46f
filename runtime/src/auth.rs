//! The token that a worker shows: `authorization: Bearer TOKEN` in the gRPC metadata. Who asks for it is in
//! [`crate::server_auth`].

use std::fmt;
use std::path::{Path, PathBuf};

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::worker_key::{WORKER_ID_HEADER, WORKER_KEY_HEADER, WorkerKey};

pub(crate) const HEADER: &str = "authorization";

/// A shared secret. Never shown, not even by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("read token file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// What was read cannot be sent.
    #[error("the token must be 1 to 4096 visible ASCII characters")]
    Unusable,
}

impl Token {
    /// Makes a token of `text`, without the white space around it.
    ///
    /// # Errors
    /// [`TokenError::Unusable`] if it is empty, too long, or holds anything but visible ASCII characters.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_usable = (1..=4096).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_usable { Ok(Self(text.into())) } else { Err(TokenError::Unusable) }
    }

    /// Reads a token from the file at `path`.
    ///
    /// # Errors
    /// [`TokenError`] if the file cannot be read or holds no token.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let text = std::fs::read_to_string(path).map_err(|source| TokenError::Read { path: path.into(), source })?;
        Self::new(&text)
    }

    /// Returns the secret itself: for what is derived from it and what is compared with it, never for a log.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns what a call shows.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    fn header(&self) -> MetadataValue<Ascii> {
        self.bearer().parse().expect("new() takes visible ASCII characters alone")
    }
}

/// Adds the token, if there is one, to each call of a client, and what shows which worker it is.
#[derive(Debug, Clone, Default)]
pub struct ClientAuth {
    token: Option<MetadataValue<Ascii>>,
    worker: Option<(MetadataValue<Ascii>, MetadataValue<Ascii>)>,
}

impl ClientAuth {
    /// Makes the interceptor of a client.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        let token = token.map(|token| {
            let mut header = token.header();
            header.set_sensitive(true);
            header
        });
        Self { token, worker: None }
    }

    /// Adds a worker's name and key to each call. A name that cannot be sent as metadata is left to the messages.
    #[must_use]
    pub fn of_worker(self, worker_id: &str, key: &WorkerKey) -> Self {
        let name = worker_id.parse().unwrap_or_else(|_| MetadataValue::from_static(""));
        Self { worker: Some((name, key.header())), ..self }
    }
}

impl Interceptor for ClientAuth {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(header) = &self.token {
            request.metadata_mut().insert(HEADER, header.clone());
        }
        if let Some((worker_id, key)) = &self.worker {
            request.metadata_mut().insert(WORKER_ID_HEADER, worker_id.clone());
            request.metadata_mut().insert(WORKER_KEY_HEADER, key.clone());
        }
        Ok(request)
    }
}

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Any,
    /// Play to learn from.
    Actor,
    /// Play games of gates.
    Evaluator,
    /// Answer leaves for the learner.
    Inference,
    /// Ask how the run is.
    Reader,
}

impl Role {
    /// Returns the role of a call: what its token may do. A call that no [`crate::server_auth::ServerAuth`] has seen may only ask.
    #[must_use]
    pub fn of(extensions: &tonic::Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self::Reader)
    }
}

/// Compares in a time that depends on the lengths alone, so that a guesser learns nothing from it.
#[must_use]
pub fn is_same(shown: &[u8], expected: &[u8]) -> bool {
    let difference =
        shown.iter().zip(expected).fold(0, |difference, (a, b)| std::hint::black_box(difference | (a ^ b)));
    shown.len() == expected.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        assert_eq!(format!("{:?}", Token::new("secret").unwrap()), "Token(..)");
        assert!(!format!("{:?}", ClientAuth::new(Some(&Token::new("secret").unwrap()))).contains("secret"));
    }

    #[test]
    fn unusable_tokens_are_refused() {
        for text in ["", "  ", "a b", "caf\u{e9}", "a\nb"] {
            assert!(Token::new(text).is_err(), "{text:?}");
        }
    }
}
