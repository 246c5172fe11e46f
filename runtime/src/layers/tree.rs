//! Tables of settings: laid over each other, read, compared. What each source holds is in `layer`.

use std::collections::BTreeMap;

use config::{ConfigError as Cause, Value, ValueKind};
use serde::de::DeserializeOwned;

/// The key that says which table it is; another value there replaces the whole table.
const TAG: &str = "name";

pub(super) type Table = config::Map<String, Value>;

/// Lays `layer` over `tree`. A table whose tag changes is another one: nothing of the old one stays.
pub(super) fn merge(tree: &mut Table, layer: Table) {
    for (key, value) in layer {
        match (tree.get_mut(&key).map(|old| &mut old.kind), value.kind) {
            (Some(ValueKind::Table(old)), ValueKind::Table(new)) => {
                if new.get(TAG).is_some_and(|tag| old.get(TAG).is_some_and(|old| old.kind != tag.kind)) {
                    old.clear();
                }
                merge(old, new);
            }
            (_, kind) => {
                tree.insert(key, Value::new(None, kind));
            }
        }
    }
}

/// Reads settings from a tree.
pub(super) fn read<Raw: DeserializeOwned>(tree: &Table) -> Result<Raw, Cause> {
    Raw::deserialize(Value::new(None, ValueKind::Table(tree.clone())))
}

/// Returns the first key of `layer` whose number has a fraction where the default is a whole one, since reading would
/// round it, and what is wrong with it.
pub(super) fn find_fraction(defaults: &Table, layer: &Table) -> Option<(String, String)> {
    let whole_keys: BTreeMap<String, &ValueKind> =
        leaves(defaults).into_iter().filter(|(_, kind)| is_whole(kind)).collect();
    leaves(layer).into_iter().find_map(|(key, kind)| match kind {
        ValueKind::Float(number) if whole_keys.contains_key(&key) => {
            Some((key, format!("{number:?} is not written as a whole number")))
        }
        _ => None,
    })
}

const fn is_whole(kind: &ValueKind) -> bool {
    matches!(kind, ValueKind::I64(_) | ValueKind::U64(_) | ValueKind::I128(_) | ValueKind::U128(_))
}

/// Notes for each key of `table`, and each table in it, that it comes from `origin`.
pub(super) fn note_origins(table: &Table, origin: &str, origins: &mut BTreeMap<String, String>) {
    for (key, _) in leaves(table) {
        for (dot, _) in key.match_indices('.') {
            origins.insert(key[..dot].into(), origin.into());
        }
        origins.insert(key, origin.into());
    }
}

/// Returns the keys whose values in `tree` differ from those in `base`, with the values in `tree`.
pub(super) fn differences(base: &Table, tree: &Table) -> BTreeMap<String, String> {
    let base: BTreeMap<_, _> = leaves(base).into_iter().collect();
    let changed = leaves(tree).into_iter().filter(|(key, kind)| base.get(key) != Some(kind));
    changed.map(|(key, kind)| (key, shown(kind))).collect()
}

/// Writes a value for a log line.
fn shown(kind: &ValueKind) -> String {
    let text = kind.to_string();
    let is_plain = !text.is_empty() && !text.contains(char::is_whitespace);
    if is_plain || !matches!(kind, ValueKind::String(_)) { text } else { format!("{text:?}") }
}

/// Returns every key of a table that holds no table, as a full path, in the order of the alphabet.
pub(super) fn leaves(table: &Table) -> Vec<(String, &ValueKind)> {
    let mut leaves = Vec::new();
    collect_leaves(table, "", &mut leaves);
    leaves.sort_by(|(a, _), (b, _)| a.cmp(b));
    leaves
}

fn collect_leaves<'a>(table: &'a Table, path: &str, leaves: &mut Vec<(String, &'a ValueKind)>) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match &value.kind {
            ValueKind::Table(inner) => collect_leaves(inner, &path, leaves),
            kind => leaves.push((path, kind)),
        }
    }
}

/// Removes the key at `path`.
pub(super) fn remove(table: &mut Table, path: &str) {
    match path.split_once('.') {
        None => {
            table.remove(path);
        }
        Some((section, rest)) => {
            if let Some(ValueKind::Table(inner)) = table.get_mut(section).map(|value| &mut value.kind) {
                remove(inner, rest);
            }
        }
    }
}
