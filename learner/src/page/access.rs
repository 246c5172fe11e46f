//! Who may see the page: whoever shows the learner's token, as `authorization: Bearer TOKEN` or by the cookie that the
//! form of the page, or an address with `?token=`, sets once.

use std::fmt::Write;
use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use runtime::auth::{Token, is_same};
use runtime::connections::ConnectionInfo;
use runtime::refusals::{CallRefusal, Refusals};
use sha2::{Digest, Sha256};

/// How long a browser keeps the cookie, in seconds: 90 days.
const COOKIE_SECONDS: u32 = 90 * 24 * 60 * 60;

/// What a visitor must show.
pub(super) struct Access {
    expected: Option<Expected>,
    refusals: Refusals,
    is_any_host_allowed: bool,
    is_cookie_secure: bool,
}

struct Expected {
    bearer: String,
    token: String,
    /// Browsers send cookies to every port of a host: each run has a name of its own.
    cookie_name: String,
    /// Made from the token, and not the token: whoever sees it can read the page, and cannot join as a worker.
    cookie_value: String,
}

/// Why a visitor is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nothing was shown.
    NoToken,
    /// What was shown is wrong.
    WrongToken,
    /// The page was asked for under a name that is not this machine's.
    ForeignHost,
}

impl Refusal {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::NoToken => "no token; show the learner's token (server.token_file)",
            Self::WrongToken => "wrong token; show the learner's token (server.token_file)",
            Self::ForeignHost => "without a token the page answers to localhost and to IP addresses alone",
        }
    }
}

impl Access {
    pub(super) fn new(token: Option<&Token>) -> Self {
        let expected = token.map(|token| Expected {
            bearer: format!("Bearer {}", token.reveal()),
            token: token.reveal().to_owned(),
            cookie_name: format!("alveare-{}", &derive("name", token)[..8]),
            cookie_value: derive("value", token),
        });
        Self { expected, refusals: Refusals::default(), is_any_host_allowed: false, is_cookie_secure: false }
    }

    pub(super) const fn allow_any_host(&mut self) {
        self.is_any_host_allowed = true;
    }

    pub(super) const fn keep_cookie_secure(&mut self) {
        self.is_cookie_secure = true;
    }

    /// Checks what a request shows, and counts who shows something wrong.
    pub(super) async fn check(&self, headers: &HeaderMap, visitor: Option<&ConnectionInfo>) -> Result<(), Refusal> {
        let Some(expected) = &self.expected else {
            return self.check_host(headers).inspect(|()| {
                visitor.inspect(|visitor| visitor.note_call());
            });
        };
        let bearer = headers.get(header::AUTHORIZATION).map(|shown| shown.as_bytes());
        let shown = bearer.map(|shown| (shown, expected.bearer.as_bytes()));
        let cookie = || cookie_of(headers, &expected.cookie_name);
        let shown = shown.or_else(|| Some((cookie()?.as_bytes(), expected.cookie_value.as_bytes())));
        let (shown, wanted) = shown.ok_or(Refusal::NoToken)?;
        self.judge(shown, wanted, visitor).await
    }

    /// Compares what is shown with what is wanted, later and later for a visitor who keeps showing something else.
    async fn judge(&self, shown: &[u8], wanted: &[u8], visitor: Option<&ConnectionInfo>) -> Result<(), Refusal> {
        let judge = || is_same(shown, wanted).then_some(()).ok_or(CallRefusal::WrongToken);
        self.refusals.admit(visitor, judge).await.map_err(|_| Refusal::WrongToken)
    }

    /// Returns the cookie for whoever knows the token.
    pub(super) async fn log_in(
        &self,
        shown: &str,
        visitor: Option<&ConnectionInfo>,
    ) -> Result<Option<String>, Refusal> {
        let Some(expected) = &self.expected else { return Ok(None) };
        self.judge(shown.trim().as_bytes(), expected.token.as_bytes(), visitor).await?;
        let Expected { cookie_name, cookie_value, .. } = expected;
        let secure = if self.is_cookie_secure { "; Secure" } else { "" };
        let rules = format!("Path=/; HttpOnly; SameSite=Strict{secure}; Max-Age={COOKIE_SECONDS}");
        Ok(Some(format!("{cookie_name}={cookie_value}; {rules}")))
    }

    /// Without a token, a page on another host must not read this one by calling this machine by a name of its own (DNS
    /// rebinding): names other than localhost are refused.
    fn check_host(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_own = name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok();
        if is_own || self.is_any_host_allowed { Ok(()) } else { Err(Refusal::ForeignHost) }
    }
}

fn derive(purpose: &str, token: &Token) -> String {
    let digest = Sha256::digest(format!("alveare page cookie {purpose}\n{}", token.reveal()));
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn cookie_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().expect("a header"))])
    }

    #[tokio::test]
    async fn the_token_or_the_cookie_made_from_it_opens_the_page() {
        let token = Token::new("secret").expect("a token");
        let access = Access::new(Some(&token));
        let check = async |headers: &HeaderMap| access.check(headers, None).await;
        assert_eq!(check(&HeaderMap::new()).await, Err(Refusal::NoToken));
        assert_eq!(check(&headers(header::AUTHORIZATION, "Bearer secret")).await, Ok(()));
        assert_eq!(check(&headers(header::AUTHORIZATION, "Bearer secreT")).await, Err(Refusal::WrongToken));
        let cookie = access.log_in(" secret\n", None).await.expect("the token").expect("a cookie");
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("secret"), "{cookie}");
        let pair = cookie.split(';').next().expect("name and value");
        assert_eq!(check(&headers(header::COOKIE, &format!("other=1; {pair}"))).await, Ok(()));
        assert_eq!(check(&headers(header::COOKIE, &format!("{pair}0"))).await, Err(Refusal::WrongToken));
        assert_eq!(access.log_in("wrong", None).await, Err(Refusal::WrongToken));
        assert_eq!(access.refusals.count(), 3);
        let mut by_tls = Access::new(Some(&token));
        by_tls.keep_cookie_secure();
        let cookie = by_tls.log_in("secret", None).await.expect("the token").expect("a cookie");
        assert!(cookie.contains("; SameSite=Strict; Secure; "), "{cookie}");
    }

    #[tokio::test]
    async fn without_a_token_only_names_of_this_machine_are_answered_to() {
        let mut access = Access::new(None);
        for own in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "192.168.1.7"] {
            assert_eq!(access.check(&headers(header::HOST, own), None).await, Ok(()), "{own}");
        }
        let foreign = headers(header::HOST, "evil.example:8080");
        assert_eq!(access.check(&foreign, None).await, Err(Refusal::ForeignHost));
        access.allow_any_host();
        assert_eq!(access.check(&foreign, None).await, Ok(()));
    }
}
