//! Configuration of a program, in layers: built-in default < preset < file < environment < flag.
//!
//! Whatever is wrong is told in one line that names the place and the key:
//! `learner: config config/x.toml: replay.window_games: ...`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use config::{ConfigError as Cause, File, FileFormat, Value, ValueKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The key by which a table says what it is; another value there makes another table of it.
const TAG: &str = "name";

/// Flags that every program has.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ConfigArgs {
    /// Read the settings from this TOML file; what it does not name keeps its default.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set one key, above file and environment; may be given again. Example: --set log.format=json
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub overrides: Vec<(String, String)>,
    /// Print the settings that would be used, as TOML, and end.
    #[arg(long)]
    pub print_config: bool,
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write KEY=VALUE, for example log.format=json".into()),
    }
}

/// A file of settings that a program carries with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What the file says.
    pub text: &'static str,
}

/// Where the settings of a program come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Name of the program: `actor` reads the environment variables `ALVEARE_ACTOR__KEY__SUBKEY`.
    pub program: &'static str,
    /// Settings that the program carries with it, below the file.
    pub preset: Option<Preset>,
    /// The file, if one was named.
    pub file: Option<PathBuf>,
    /// Environment variables; those of others are passed over.
    pub environment: Vec<(String, String)>,
    /// Keys set by flags, the last wins.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// Returns the sources of this process: its flags, its environment.
    #[must_use]
    pub fn new(program: &'static str, args: &ConfigArgs) -> Self {
        // A variable that is not Unicode is none of ours: ours are named and valued in ASCII.
        let variables = std::env::vars_os();
        let environment =
            variables.filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        let environment = environment.collect();
        Self { program, preset: None, file: args.config.clone(), environment, overrides: args.overrides.clone() }
    }
}

/// Why there is no usable configuration.
#[derive(Debug, thiserror::Error)]
#[error("config {origin}: {reason}")]
pub struct ConfigError {
    /// The file, variable or flag that is wrong.
    pub origin: String,
    /// The key, and what is wrong with it.
    pub reason: String,
}

/// Settings as read, and where each key came from.
#[derive(Debug, Clone)]
pub struct Loaded<Raw> {
    /// The settings.
    pub raw: Raw,
    origins: BTreeMap<String, String>,
}

impl<Raw> Loaded<Raw> {
    /// Returns the error for a value that the program cannot use. `reason` is written `key: what is wrong`.
    pub fn error(&self, reason: impl Display) -> ConfigError {
        let reason = reason.to_string();
        let key = reason.split(':').next().unwrap_or_default();
        ConfigError { origin: self.origins.get(key).map_or_else(|| "default".into(), Clone::clone), reason }
    }
}

/// Reads the settings of a program.
///
/// # Errors
/// [`ConfigError`] naming the file, variable or flag and the first key that is unknown or has a wrong value.
pub fn load<Raw: DeserializeOwned + Serialize + Default>(sources: &Sources) -> Result<Loaded<Raw>, ConfigError> {
    let mut tree = table_of("default", &to_toml(&Raw::default()))?;
    let defaults = tree.clone();
    let mut origins = BTreeMap::new();
    for layer in layers(sources)? {
        note_origins(&layer.table, "", &layer.origin, &mut origins);
        if let Some(reason) = find_fraction(&defaults, &layer.table, "") {
            return Err(ConfigError { origin: layer.origin, reason });
        }
        merge(&mut tree, layer.table);
        // One layer after the other, so that the first that breaks the settings is the one that is named.
        let read = read::<Raw>(&tree);
        read.map_err(|cause| ConfigError { origin: layer.origin, reason: describe_in::<Raw>(&tree, &cause) })?;
    }
    let raw = read(&tree).map_err(|cause| ConfigError { origin: "default".into(), reason: describe(&cause) })?;
    Ok(Loaded { raw, origins })
}

/// Returns the settings as a TOML file.
#[must_use]
pub fn to_toml<Raw: Serialize>(raw: &Raw) -> String {
    toml::to_string_pretty(raw).expect("settings are tables of numbers, texts and lists")
}

type Table = config::Map<String, Value>;

struct Layer {
    origin: String,
    table: Table,
}

fn layers(sources: &Sources) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    if let Some(Preset { name, text }) = &sources.preset {
        let origin = format!("preset {name}");
        layers.push(Layer { table: table_of(&origin, text)?, origin });
    }
    if let Some(path) = &sources.file {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError { origin: origin.clone(), reason: error.to_string() })?;
        layers.push(Layer { table: table_of(&origin, &text)?, origin });
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
        layers.push(Layer { origin: format!("${name}"), table: table_of_key(&key, value) });
    }
    for (key, value) in &sources.overrides {
        layers.push(Layer { origin: format!("--set {key}"), table: table_of_key(key, value) });
    }
    Ok(layers)
}

fn table_of(origin: &str, text: &str) -> Result<Table, ConfigError> {
    let built = config::Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build();
    let table = built.and_then(|built| built.cache.into_table());
    table.map_err(|cause| ConfigError { origin: origin.into(), reason: describe(&cause) })
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

/// Lays `layer` over `tree`. A table whose tag changes is another thing: nothing of the old one stays.
fn merge(tree: &mut Table, layer: Table) {
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

/// Returns what is wrong with the first number of `layer` that has a fraction where the default is a whole one: reading
/// would round it.
fn find_fraction(defaults: &Table, layer: &Table, path: &str) -> Option<String> {
    layer.iter().find_map(|(key, value)| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (&defaults.get(key)?.kind, &value.kind) {
            (ValueKind::Table(defaults), ValueKind::Table(layer)) => find_fraction(defaults, layer, &path),
            (
                ValueKind::I64(_) | ValueKind::U64(_) | ValueKind::I128(_) | ValueKind::U128(_),
                ValueKind::Float(number),
            ) => Some(format!("{path}: {number:?} is not written as a whole number")),
            _ => None,
        }
    })
}

fn note_origins(table: &Table, path: &str, origin: &str, origins: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let ValueKind::Table(inner) = &value.kind {
            note_origins(inner, &path, origin, origins);
        }
        origins.insert(path, origin.into());
    }
}

fn read<Raw: DeserializeOwned>(tree: &Table) -> Result<Raw, Cause> {
    Raw::deserialize(Value::new(None, ValueKind::Table(tree.clone())))
}

/// Tells what is wrong with a tree as `key: reason`, in one line.
fn describe_in<Raw: DeserializeOwned>(tree: &Table, cause: &Cause) -> String {
    let reason = describe(cause);
    match reason.split_once("enum ") {
        // Who reads the tree as TOML is told which values there are.
        Some((before, after)) if after.contains("does not have variant constructor") => {
            let error = read::<toml::Value>(tree).ok().and_then(|plain| Raw::deserialize(plain).err());
            let values = error.filter(|error| error.message().starts_with("unknown variant"));
            values.map_or_else(|| reason.clone(), |error| format!("{before}{}", error.message()))
        }
        Some((before, _)) if before.ends_with("expected internally tagged ") => {
            format!("{}a table", before.trim_end_matches("internally tagged "))
        }
        _ => explained(&reason),
    }
}

/// Puts what a person writes in place of what the program calls it.
fn explained(reason: &str) -> String {
    match reason.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => reason
            .replace("expected a duration", "expected a duration such as \"60s\"")
            .replace("invalid socket address syntax", "expected an address such as 127.0.0.1:50051"),
    }
}

/// Tells what is wrong as `key: reason`, in one line.
fn describe(cause: &Cause) -> String {
    let (key, reason) = key_and_reason(cause);
    let reason = reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let field = reason.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    match (field, key.is_empty()) {
        (Some((field, rest)), true) => format!("{field}: unknown key{rest}"),
        (Some((field, rest)), false) if key.ends_with(field) => format!("{key}: unknown key{rest}"),
        (Some((field, rest)), false) => format!("{key}.{field}: unknown key{rest}"),
        (None, true) => reason,
        (None, false) => format!("{key}: {reason}"),
    }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Raw {
        threads: u32,
        rate: f32,
        name: String,
        replay: Replay,
        game: Game,
        shape: Shape,
    }

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Shape {
        Round,
        Flat,
    }

    impl Default for Raw {
        fn default() -> Self {
            Self {
                threads: 2,
                rate: 0.15,
                name: "a".into(),
                replay: Replay::default(),
                game: Game::Hive { frame: 16 },
                shape: Shape::Round,
            }
        }
    }

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Replay {
        window: u64,
        #[serde(with = "humantime_serde")]
        wait: Duration,
    }

    impl Default for Replay {
        fn default() -> Self {
            Self { window: 500, wait: Duration::from_secs(30) }
        }
    }

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
    enum Game {
        Hive { frame: u8 },
        TicTacToe {},
    }

    fn sources(file: &str, environment: &[(&str, &str)], overrides: &[(&str, &str)]) -> (tempfile::TempDir, Sources) {
        let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|&(a, b)| (a.into(), b.into())).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.toml");
        std::fs::write(&path, file).unwrap();
        let sources = Sources {
            program: "actor",
            preset: None,
            file: Some(path),
            environment: owned(environment),
            overrides: owned(overrides),
        };
        (dir, sources)
    }

    fn error(file: &str, environment: &[(&str, &str)], overrides: &[(&str, &str)]) -> String {
        let (dir, sources) = sources(file, environment, overrides);
        let error = load::<Raw>(&sources).unwrap_err().to_string();
        error.replace(&format!("{}/", dir.path().display()), "")
    }

    #[test]
    fn later_layers_win() {
        let file = "threads = 3\nrate = 0.5\n[replay]\nwait = \"5s\"";
        let environment =
            [("ALVEARE_ACTOR__THREADS", "4"), ("ALVEARE_TOKEN", "x"), ("ALVEARE_ACTOR__REPLAY__WINDOW", "9")];
        let (_dir, sources) = sources(file, &environment, &[("threads", "5"), ("name", "bee")]);
        let raw = load::<Raw>(&sources).unwrap().raw;
        let replay = Replay { window: 9, wait: Duration::from_secs(5) };
        assert_eq!(raw, Raw { threads: 5, rate: 0.5, name: "bee".into(), replay, ..Raw::default() });
    }

    #[test]
    fn the_printed_settings_are_read_back() {
        let text = to_toml(&Raw::default());
        assert!(text.contains("rate = 0.15\n"), "{text}");
        let (_dir, sources) = sources(&text, &[], &[]);
        assert_eq!(load::<Raw>(&sources).unwrap().raw, Raw::default());
    }

    #[test]
    fn another_game_drops_the_keys_of_the_default_one() {
        let (_dir, sources) = sources("game.name = \"tictactoe\"", &[], &[]);
        assert_eq!(load::<Raw>(&sources).unwrap().raw.game, Game::TicTacToe {});
    }

    #[test]
    fn a_whole_number_with_a_fraction_is_told() {
        let said = |key, value| error("", &[], &[(key, value)]);
        assert_eq!(said("threads", "1.5"), "config --set threads: threads: 1.5 is not written as a whole number");
        assert!(said("replay.window", "1e30").contains("replay.window: 1e30 is not written as a whole number"));
        assert_eq!(error("threads = 2.0", &[], &[]), "config x.toml: threads: 2.0 is not written as a whole number");
        assert!(
            error("", &[("ALVEARE_ACTOR__THREADS", "7.9")], &[])
                .contains("threads: 7.9 is not written as a whole number")
        );
        let (_dir, sources) = sources("rate = 1", &[], &[("rate", "0.5")]);
        let raw = load::<Raw>(&sources).expect("what is no whole number by default may have a fraction").raw;
        assert_eq!(raw, Raw { rate: 0.5, ..Raw::default() });
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_key() {
        assert_eq!(
            error("[replay]\nwindow_games = 3", &[], &[]),
            "config x.toml: replay.window_games: unknown key, expected `window` or `wait`"
        );
        assert_eq!(
            error("thread = 3", &[], &[]),
            "config x.toml: thread: unknown key, expected one of `threads`, `rate`, `name`, `replay`, `game`, `shape`"
        );
        assert_eq!(
            error("[replay]\nwindow = \"many\"", &[], &[]),
            "config x.toml: replay.window: found string \"many\", expected an integer"
        );
        let found = error("", &[("ALVEARE_ACTOR__REPLAY__WAIT", "soon")], &[]);
        assert!(found.starts_with("config $ALVEARE_ACTOR__REPLAY__WAIT: replay.wait: "), "{found}");
        let found = error("", &[], &[("threads", "-1")]);
        assert!(found.starts_with("config --set threads: threads: "), "{found}");
        let found = error("", &[], &[("replay.wait", "5")]);
        assert!(found.ends_with("expected a duration such as \"60s\""), "{found}");
        assert_eq!(
            error("", &[], &[("shape", "square")]),
            "config --set shape: shape: unknown variant `square`, expected `round` or `flat`"
        );
        assert_eq!(error("game = 3", &[], &[]), "config x.toml: game: invalid type: integer `3`, expected a table");
        let found = error("threads = = 3", &[], &[]);
        assert!(found.starts_with("config x.toml: ") && !found.contains('\n'), "{found}");
    }

    #[test]
    fn an_impossible_value_is_traced_to_its_place() {
        let (_dir, sources) = sources("", &[], &[("replay.window", "0")]);
        let error = load::<Raw>(&sources).unwrap().error("replay.window: 0 is below 1");
        assert_eq!(error.to_string(), "config --set replay.window: replay.window: 0 is below 1");
    }

    #[test]
    fn a_missing_file_is_named() {
        let sources = Sources { file: Some("no/such.toml".into()), ..Sources::default() };
        let error = load::<Raw>(&sources).unwrap_err().to_string();
        assert!(error.starts_with("config no/such.toml: "), "{error}");
    }
}
