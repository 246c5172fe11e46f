//! The token that a worker shows and a learner asks for: `authorization: Bearer TOKEN` in the gRPC metadata.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

const HEADER: &str = "authorization";

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

    fn header(&self) -> MetadataValue<Ascii> {
        format!("Bearer {}", self.0).parse().expect("new() takes visible ASCII characters alone")
    }
}

/// Adds the token, if there is one, to each call of a client.
#[derive(Debug, Clone, Default)]
pub struct ClientAuth(Option<MetadataValue<Ascii>>);

impl ClientAuth {
    /// Makes the interceptor of a client.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self(token.map(|token| {
            let mut header = token.header();
            header.set_sensitive(true);
            header
        }))
    }
}

impl Interceptor for ClientAuth {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(header) = &self.0 {
            request.metadata_mut().insert(HEADER, header.clone());
        }
        Ok(request)
    }
}

/// Refuses calls that do not show the token; lets everyone in if there is none.
#[derive(Debug, Clone, Default)]
pub struct ServerAuth(Option<Arc<str>>);

impl ServerAuth {
    /// Makes the interceptor of a server.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self(token.map(|token| format!("Bearer {}", token.0).into()))
    }
}

impl Interceptor for ServerAuth {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let Some(expected) = &self.0 else { return Ok(request) };
        match request.metadata().get(HEADER) {
            None => Err(Status::unauthenticated("no token; give the worker the learner's token (token_file)")),
            Some(shown) if is_same(shown.as_bytes(), expected.as_bytes()) => Ok(request),
            Some(_) => Err(Status::unauthenticated("wrong token; give the worker the learner's token (token_file)")),
        }
    }
}

/// Compares in a time that depends on the lengths alone, so that a guesser learns nothing from it.
fn is_same(shown: &[u8], expected: &[u8]) -> bool {
    let difference =
        shown.iter().zip(expected).fold(0, |difference, (a, b)| std::hint::black_box(difference | (a ^ b)));
    shown.len() == expected.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(shown: Option<&str>, expected: Option<&str>) -> Result<(), Status> {
        let token = |text: &str| Token::new(text).unwrap();
        let request = ClientAuth::new(shown.map(token).as_ref()).call(Request::new(())).unwrap();
        ServerAuth::new(expected.map(token).as_ref()).call(request).map(|_| ())
    }

    #[test]
    fn only_the_right_token_is_let_in() {
        assert!(call(None, None).is_ok());
        assert!(call(Some("abc"), None).is_ok());
        assert!(call(Some("abc"), Some("abc")).is_ok());
        for wrong in ["abd", "ab", "abcd"] {
            assert!(call(Some(wrong), Some("abc")).unwrap_err().message().contains("wrong token"));
        }
        assert!(call(None, Some("abc")).unwrap_err().message().contains("no token"));
    }

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
