//! From what serde finds wrong to the key and the words that a user reads.

use config::ConfigError as Cause;
use serde::de::DeserializeOwned;

use super::tree::{Table, leaves, merge, read, remove};

/// Returns which key of `layer` cannot be read above `before`, and what is wrong with it.
pub(super) fn explain<Raw: DeserializeOwned>(before: &Table, layer: &Table, cause: &Cause) -> (String, String) {
    let (key, reason) = key_and_reason(cause);
    let key = culprit::<Raw>(before, layer, &key).unwrap_or(key);
    let reason = one_line(&reason);
    let unknown = reason.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    match unknown {
        Some((field, rest)) => (path_to(&key, field), format!("unknown key{rest}")),
        None => (key, in_plain_words::<Raw>(before, layer, &reason)),
    }
}

/// Returns what is wrong with a text that is not TOML, in one line.
pub(super) fn syntax_problem(cause: &Cause) -> String {
    one_line(&key_and_reason(cause).1)
}

/// serde reads a table with a tag as a whole and names no key in it. Returns the key below `section` without which
/// `layer` could be read.
fn culprit<Raw: DeserializeOwned>(before: &Table, layer: &Table, section: &str) -> Option<String> {
    let keys = leaves(layer).into_iter().map(|(key, _)| key);
    let mut below = keys.filter(|key| key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')));
    below.find(|key| {
        let (mut tree, mut rest) = (before.clone(), layer.clone());
        remove(&mut rest, key);
        merge(&mut tree, rest);
        read::<Raw>(&tree).is_ok()
    })
}

fn path_to(key: &str, field: &str) -> String {
    match key {
        "" => field.into(),
        _ if key == field || key.ends_with(&format!(".{field}")) => key.into(),
        _ => format!("{key}.{field}"),
    }
}

/// Replaces the terms of serde and Rust by those of a settings file.
fn in_plain_words<Raw: DeserializeOwned>(before: &Table, layer: &Table, reason: &str) -> String {
    if reason.contains("does not have variant constructor") {
        return allowed_values::<Raw>(before, layer).unwrap_or_else(|| reason.into());
    }
    for table in ["expected internally tagged ", "expected struct "] {
        if let Some((found, _)) = reason.split_once(table) {
            return format!("{found}expected a table");
        }
    }
    reason
        .replace("expected a duration", "expected a duration such as \"60s\"")
        .replace("invalid socket address syntax", "expected an address such as 127.0.0.1:50051")
}

/// The `config` crate names no values for a word that is not one of several; `toml`, given the same tree, does.
fn allowed_values<Raw: DeserializeOwned>(before: &Table, layer: &Table) -> Option<String> {
    let mut tree = before.clone();
    merge(&mut tree, layer.clone());
    let error = Raw::deserialize(read::<toml::Value>(&tree).ok()?).err()?;
    error.message().starts_with("unknown variant").then(|| error.message().to_owned())
}

fn one_line(reason: &str) -> String {
    reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn key_and_reason(cause: &Cause) -> (String, String) {
    match cause {
        Cause::At { error, key, .. } => {
            let (inner, reason) = key_and_reason(error);
            (key.clone().filter(|key| !key.is_empty()).unwrap_or(inner), reason)
        }
        Cause::Type { unexpected, expected, key, .. } => {
            (key.clone().unwrap_or_default(), format!("found {unexpected}, expected {expected}"))
        }
        Cause::NotFound(key) => (key.clone(), "missing".into()),
        Cause::FileParse { cause, .. } => (String::new(), cause.to_string()),
        other => (String::new(), other.to_string()),
    }
}
