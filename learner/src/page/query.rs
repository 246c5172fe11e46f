//! The part of an address behind the question mark: keys that are known, numbers within their ranges.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::http::Uri;

use super::answer::PageError;

/// Keys and values of a query.
#[derive(Debug, Default)]
pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads the query of an address; of keys that come twice the last one counts.
    ///
    /// # Errors
    /// [`PageError::BadRequest`] for a key that is not among `known`.
    pub(super) fn of(uri: &Uri, known: &[&str]) -> Result<Self, PageError> {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query = Self(pairs.into_owned().collect());
        match query.0.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(bad(key, format!("is not known here; known are {}", known.join(", ")))),
            None => Ok(query),
        }
    }

    /// Returns a text; one that is empty counts as missing.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`PageError::BadRequest`] naming the key.
    pub(super) fn value<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, PageError> {
        self.text(key).map(|text| text.parse().map_err(|error| bad(key, format!("{text:?}: {error}")))).transpose()
    }

    /// Reads a count between 1 and `max`; `usual` if there is none.
    ///
    /// # Errors
    /// [`PageError::BadRequest`] naming the key.
    pub(super) fn count(&self, key: &str, usual: u32, max: u32) -> Result<u32, PageError> {
        let count = self.value(key)?.unwrap_or(usual);
        if (1..=max).contains(&count) { Ok(count) } else { Err(bad(key, format!("{count} is not in 1..={max}"))) }
    }
}

/// Makes the error about a key.
pub(super) fn bad(key: &str, what: impl Display) -> PageError {
    PageError::BadRequest(format!("{key}: {what}"))
}
