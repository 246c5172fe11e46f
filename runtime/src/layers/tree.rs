//! Tables of settings: made of each source, laid over each other, compared.

use std::collections::BTreeMap;

use config::{ConfigError as Cause, File, FileFormat, Value, ValueKind};
use serde::de::DeserializeOwned;

use super::explain::syntax_problem;
use super::{ConfigError, SettingsPreset, Sources};

/// The key that says which table it is; another value there replaces the whole table.
const TAG: &str = "name";

pub(super) type Table = config::Map<String, Value>;

/// The settings of one source.
pub(super) struct Layer {
    pub origin: String,
    pub table: Table,
    /// Whether it is a preset or a file, and not a single key.
    pub is_file: bool,
}

/// Returns the layers above the default, the lowest first.
pub(super) fn layers(sources: &Sources) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    if let Some(SettingsPreset { name, text }) = &sources.preset {
        let origin = format!("preset {name}");
        layers.push(Layer { table: table_of(&origin, text)?, origin, is_file: true });
    }
    if let Some(path) = &sources.file {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.clone(), source })?;
        layers.push(Layer { table: table_of(&origin, &text)?, origin, is_file: true });
    }
    let prefix = format!("ALVEARE_{}__", sources.program.to_uppercase());
    let mut variables: Vec<_> = sources
        .environment
        .iter()
        .filter_map(|(name, value)| Some((name, name.strip_prefix(&prefix)?, value)))
        .collect();
    variables.sort();
    for (name, key, value) in variables {
        let key = key.to_lowercase().replace("__", ".");
        layers.push(Layer { origin: format!("${name}"), table: table_of_key(&key, value), is_file: false });
    }
    for (key, value) in &sources.overrides {
        layers.push(Layer { origin: format!("--set {key}"), table: table_of_key(key, value), is_file: false });
    }
    Ok(layers)
}

/// Reads a TOML file.
pub(super) fn table_of(origin: &str, text: &str) -> Result<Table, ConfigError> {
    let built = config::Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build();
    let table = built.and_then(|built| built.cache.into_table());
    table.map_err(|cause| ConfigError::Syntax { origin: origin.into(), problem: syntax_problem(&cause) })
}

/// Makes the nested tables of `a.b.c`; the value is a TOML value where it reads as one, a text otherwise.
fn table_of_key(key: &str, text: &str) -> Table {
    let value = table_of("", &format!("value = {text}")).ok().and_then(|mut table| table.remove("value"));
    let value = value.unwrap_or_else(|| Value::new(None, text));
    let mut segments = key.rsplit('.');
    let last = segments.next().unwrap_or_default().to_owned();
    segments.fold(Table::from([(last, value)]), |inner, segment| {
        Table::from([(segment.to_owned(), Value::new(None, ValueKind::Table(inner)))])
    })
}

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
