//! The tokens that a learner asks for, and what each of them allows. How calls are taken apart is in
//! [`crate::call_guard`].

use std::sync::Arc;
use std::time::Instant;

use crate::auth::{Role, Token, is_same};
use crate::connections::ConnectionInfo;
use crate::refusals::{CallRefusal, Refusals};

/// Refuses calls that do not show a token; lets everyone in if there is none.
#[derive(Debug, Clone, Default)]
pub struct ServerAuth(Option<Arc<Expected>>);

/// What a caller must show, and who did not.
#[derive(Debug)]
struct Expected {
    headers: Vec<(String, Role)>,
    refusals: Refusals,
}

impl ServerAuth {
    /// Makes the check of a server with one token for everything.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self::of_roles(&token.map(|token| (token.clone(), Role::Any)).into_iter().collect::<Vec<_>>())
    }

    /// Makes the check of a server that has a token for each role; of equal tokens the first counts.
    #[must_use]
    pub fn of_roles(tokens: &[(Token, Role)]) -> Self {
        let expected = || Expected {
            headers: tokens.iter().map(|(token, role)| (token.bearer(), *role)).collect(),
            refusals: Refusals::default(),
        };
        Self((!tokens.is_empty()).then(|| Arc::new(expected())))
    }

    /// Checks what a caller shows, the value of `authorization`, and returns what it may do. A call that is let in keeps
    /// its connection open; one that is refused is counted, and makes the next ones from its address wait
    /// ([`Refusals::admit`]).
    ///
    /// # Errors
    /// [`CallRefusal`]: no token, a wrong one, or too many calls of one connection that wait.
    pub async fn authorize(
        &self,
        shown: Option<&[u8]>,
        connection: Option<&ConnectionInfo>,
    ) -> Result<Role, CallRefusal> {
        let Some(expected) = &self.0 else {
            connection.inspect(|connection| connection.note_call());
            return Ok(Role::Any);
        };
        expected.refusals.admit(connection, || expected.role_of(shown)).await
    }

    /// Returns how many calls were refused.
    #[must_use]
    pub fn refused_count(&self) -> u64 {
        self.0.as_ref().map_or(0, |expected| expected.refusals.count())
    }

    /// Logs refused calls that are not logged yet: to be called now and then.
    pub fn log_refusals(&self, now: Instant) {
        if let Some(expected) = &self.0 {
            expected.refusals.log_rest(now);
        }
    }
}

impl Expected {
    /// Returns what a caller that shows this may do.
    fn role_of(&self, shown: Option<&[u8]>) -> Result<Role, CallRefusal> {
        let shown = shown.ok_or(CallRefusal::NoToken)?;
        // All are compared, whichever it is.
        let same = |found: Option<Role>, (header, role): &(String, Role)| {
            let is_this = is_same(shown, header.as_bytes());
            found.or(is_this.then_some(*role))
        };
        self.headers.iter().fold(None, same).ok_or(CallRefusal::WrongToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text).unwrap()
    }

    #[tokio::test]
    async fn only_the_right_token_is_let_in() {
        let open = ServerAuth::new(None);
        assert_eq!(open.authorize(None, None).await, Ok(Role::Any));
        assert_eq!(open.authorize(Some(b"Bearer abc"), None).await, Ok(Role::Any));
        assert_eq!(open.refused_count(), 0);
        let auth = ServerAuth::new(Some(&token("abc")));
        for wrong in ["Bearer abd", "Bearer ab", "Bearer abcd", "abc"] {
            assert_eq!(auth.authorize(Some(wrong.as_bytes()), None).await, Err(CallRefusal::WrongToken));
        }
        assert_eq!(auth.authorize(None, None).await, Err(CallRefusal::NoToken));
        assert_eq!(auth.authorize(Some(b"Bearer abc"), None).await, Ok(Role::Any));
        assert_eq!(auth.refused_count(), 5);
    }

    #[tokio::test]
    async fn a_token_says_what_its_holder_may_do() {
        let tokens = [(token("all"), Role::Any), (token("act"), Role::Actor), (token("read"), Role::Reader)];
        let auth = ServerAuth::of_roles(&tokens);
        for (shown, role) in [("all", Some(Role::Any)), ("act", Some(Role::Actor)), ("read", Some(Role::Reader))]
            .into_iter()
            .chain([("other", None)])
        {
            assert_eq!(auth.authorize(Some(token(shown).bearer().as_bytes()), None).await.ok(), role, "{shown}");
        }
        assert_eq!(Role::of(&tonic::Extensions::new()), Role::Reader, "nobody has looked");
    }
}
