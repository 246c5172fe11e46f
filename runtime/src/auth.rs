//! The token that a worker shows and a learner asks for: `authorization: Bearer TOKEN` in the gRPC metadata.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};
use tracing::warn;

use crate::connections::ConnectionInfo;
use crate::summed_log::SummedLog;
use crate::worker_key::{WORKER_ID_HEADER, WORKER_KEY_HEADER, WorkerKey};

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

    /// Returns the secret itself: for what is derived from it and what is compared with it, never for a log.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn header(&self) -> MetadataValue<Ascii> {
        format!("Bearer {}", self.0).parse().expect("new() takes visible ASCII characters alone")
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
    /// Ask how the run is.
    Reader,
}

impl Role {
    /// Returns the role of a call: what its token may do. A call that no [`ServerAuth`] has seen may only ask.
    #[must_use]
    pub fn of(extensions: &tonic::Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self::Reader)
    }
}

/// Refuses calls that do not show a token; lets everyone in if there is none.
#[derive(Debug, Clone, Default)]
pub struct ServerAuth(Option<Arc<Expected>>);

/// What a caller must show, and who did not.
#[derive(Debug)]
struct Expected {
    headers: Vec<(String, Role)>,
    refused_count: AtomicU64,
    refused: SummedLog<Option<IpAddr>>,
}

impl ServerAuth {
    /// Makes the interceptor of a server.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self::of_roles(&token.map(|token| (token.clone(), Role::Any)).into_iter().collect::<Vec<_>>())
    }

    /// Makes the interceptor of a server that has a token for each role; of equal tokens the first counts.
    #[must_use]
    pub fn of_roles(tokens: &[(Token, Role)]) -> Self {
        let expected = || Expected {
            headers: tokens.iter().map(|(token, role)| (format!("Bearer {}", token.0), *role)).collect(),
            refused_count: AtomicU64::new(0),
            refused: SummedLog::default(),
        };
        Self((!tokens.is_empty()).then(|| Arc::new(expected())))
    }

    /// Returns what a caller that shows this may do.
    fn role_of(&self, shown: Option<&[u8]>) -> Result<Role, &'static str> {
        let Some(expected) = &self.0 else { return Ok(Role::Any) };
        let shown = shown.ok_or("no token")?;
        // All are compared, whichever it is.
        let same = |found: Option<Role>, (header, role): &(String, Role)| {
            let is_this = is_same(shown, header.as_bytes());
            found.or(is_this.then_some(*role))
        };
        expected.headers.iter().fold(None, same).ok_or("wrong token")
    }

    /// Counts a refused call; one line sums those from one address. Without a token nothing is refused.
    pub fn note_refusal(&self, address: Option<IpAddr>, problem: &str) {
        let Some(expected) = &self.0 else { return };
        expected.refused_count.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = expected.refused.note(&address, 1, Instant::now()) {
            let address = address.map_or_else(|| "unknown".to_owned(), |address| address.to_string());
            warn!(address, count, problem, "calls without the token refused");
        }
    }

    /// Checks what a caller shows, the value of `authorization`, and returns what it may do. A call that is refused is
    /// counted; one that is let in keeps its connection open.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self, shown: Option<&[u8]>, connection: Option<&ConnectionInfo>) -> Result<Role, &'static str> {
        let role = self.role_of(shown);
        match role {
            Ok(_) => {
                connection.inspect(|connection| connection.note_call());
            }
            Err(problem) => self.note_refusal(connection.and_then(ConnectionInfo::address), problem),
        }
        role
    }

    /// Returns how many calls were refused.
    #[must_use]
    pub fn refused_count(&self) -> u64 {
        self.0.as_ref().map_or(0, |expected| expected.refused_count.load(Ordering::Relaxed))
    }
}

impl Interceptor for ServerAuth {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let shown = request.metadata().get(HEADER).map(MetadataValue::as_bytes);
        match self.check(shown, request.extensions().get()) {
            Ok(role) => {
                request.extensions_mut().insert(role);
                Ok(request)
            }
            Err(problem) => {
                Err(Status::unauthenticated(format!("{problem}; give the worker the learner's token (token_file)")))
            }
        }
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
    fn a_token_says_what_its_holder_may_do() {
        let token = |text: &str| Token::new(text).unwrap();
        let tokens = [(token("all"), Role::Any), (token("act"), Role::Actor), (token("read"), Role::Reader)];
        let mut auth = ServerAuth::of_roles(&tokens);
        let mut role = |shown: &str| {
            let request = ClientAuth::new(Some(&token(shown))).call(Request::new(())).unwrap();
            auth.call(request).map(|request| Role::of(request.extensions())).ok()
        };
        let expected = [Some(Role::Any), Some(Role::Actor), Some(Role::Reader), None];
        assert_eq!(["all", "act", "read", "other"].map(&mut role), expected);
        assert_eq!(Role::of(&tonic::Extensions::new()), Role::Reader, "nobody has looked");
    }

    #[test]
    fn refused_calls_are_counted() {
        let mut auth = ServerAuth::new(Some(&Token::new("abc").unwrap()));
        for _ in 0..1000 {
            auth.call(Request::new(())).unwrap_err();
        }
        assert_eq!(auth.refused_count(), 1000);
        assert_eq!(auth.check(Some(b"Bearer abd"), None), Err("wrong token"));
        assert_eq!(auth.check(None, None), Err("no token"));
        assert_eq!(auth.check(Some(b"Bearer abc"), None), Ok(Role::Any));
        assert_eq!(auth.refused_count(), 1002);
        assert_eq!(ServerAuth::new(None).refused_count(), 0);
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
