//! Settings of a program, in layers: built-in default < preset < file < environment < flag.
//!
//! What is wrong is reported in one line with its place and its key:
//! `learner: config config/x.toml: replay.window_games: ...`.

mod explain;
mod layer;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use explain::explain;
use layer::{layers, table_of};
use tree::{Table, differences, find_fraction, merge, note_origins, read};

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

/// A flag `--set` without a key and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write KEY=VALUE, for example log.format=json")]
pub struct KeyValueError;

fn key_and_value(text: &str) -> Result<(String, String), KeyValueError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err(KeyValueError),
    }
}

/// A file of settings that a program carries with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsPreset {
    /// Its name.
    pub name: &'static str,
    /// The file's text, TOML.
    pub text: &'static str,
}

/// Where the settings of a program come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Name of the program: `actor` reads the environment variables `ALVEARE_ACTOR__KEY__SUBKEY`.
    pub program: &'static str,
    /// Settings that the program carries with it, below the file.
    pub preset: Option<SettingsPreset>,
    /// The file, if one was named.
    pub file: Option<PathBuf>,
    /// Environment variables; those of other programs are ignored.
    pub environment: Vec<(String, String)>,
    /// Keys set by flags, the last wins.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// Returns the sources of this process: its flags, its environment.
    #[must_use]
    pub fn new(program: &'static str, args: &ConfigArgs) -> Self {
        // Names and values of our variables are ASCII: one that is not Unicode belongs to another program.
        let variables = std::env::vars_os();
        let environment =
            variables.filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        let environment = environment.collect();
        Self { program, preset: None, file: args.config.clone(), environment, overrides: args.overrides.clone() }
    }
}

/// Why there are no usable settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("config {}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("config {origin}: {problem}")]
    Syntax {
        /// The file.
        origin: String,
        /// Where it is wrong, in one line.
        problem: String,
    },
    /// A key is unknown, or has a value that cannot be used.
    #[error("config {origin}: {key}: {problem}")]
    Setting {
        /// The file, variable or flag that set it; `default` if none did.
        origin: String,
        /// Full path of the key.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Settings as read, and where each key came from.
#[derive(Debug, Clone)]
pub struct Loaded<Raw> {
    /// The settings.
    pub raw: Raw,
    origins: BTreeMap<String, String>,
    base: String,
    changes: BTreeMap<String, String>,
}

impl<Raw> Loaded<Raw> {
    /// Returns the error for a key whose value the program cannot use.
    pub fn error(&self, key: &str, problem: impl Display) -> ConfigError {
        let origin = self.origins.get(key).map_or_else(|| DEFAULT.into(), Clone::clone);
        ConfigError::Setting { origin, key: key.into(), problem: problem.to_string() }
    }

    /// Returns what the settings are based on: the preset, else the file, else the built-in default.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns whether the value of a key differs from the base.
    #[must_use]
    pub fn is_changed(&self, key: &str) -> bool {
        self.changes.contains_key(key)
    }

    /// Returns the keys whose values differ from the base, `key=value`, in one line; `none` if there are none.
    #[must_use]
    pub fn changes(&self) -> String {
        let changes: Vec<String> = self.changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if changes.is_empty() { "none".into() } else { changes.join(" ") }
    }
}

const DEFAULT: &str = "default";

/// Reads the settings of a program.
///
/// # Errors
/// [`ConfigError`] with the file, variable or flag, and the first key that is unknown or has a wrong value.
pub fn load<Raw: DeserializeOwned + Serialize + Default>(sources: &Sources) -> Result<Loaded<Raw>, ConfigError> {
    let defaults = table_of(DEFAULT, &to_toml(&Raw::default()))?;
    let (mut tree, mut origins) = (defaults.clone(), BTreeMap::new());
    let mut base: Option<(String, Table)> = None;
    for layer in layers(sources)? {
        note_origins(&layer.table, &layer.origin, &mut origins);
        let wrong = |(key, problem)| ConfigError::Setting { origin: layer.origin.clone(), key, problem };
        if let Some(fraction) = find_fraction(&defaults, &layer.table) {
            return Err(wrong(fraction));
        }
        let before = tree.clone();
        merge(&mut tree, layer.table.clone());
        // One layer after the other: the first that makes the settings unreadable is the one to report.
        read::<Raw>(&tree).map_err(|cause| wrong(explain::<Raw>(&before, &layer.table, &cause)))?;
        if base.is_none() && layer.is_file {
            base = Some((layer.origin, tree.clone()));
        }
    }
    let raw = read(&tree).map_err(|cause| {
        let (key, problem) = explain::<Raw>(&defaults, &Table::new(), &cause);
        ConfigError::Setting { origin: DEFAULT.into(), key, problem }
    })?;
    let (base, base_tree) = base.unwrap_or_else(|| (DEFAULT.into(), defaults));
    let changes = as_written(&raw, differences(&base_tree, &tree))?;
    Ok(Loaded { raw, origins, base, changes })
}

/// Returns the keys with what the settings write of their values: of a secret that is less than was read.
fn as_written<Raw: Serialize>(
    raw: &Raw,
    mut changes: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let written = differences(&Table::new(), &table_of(DEFAULT, &to_toml(raw))?);
    for (key, value) in &mut changes {
        if let Some(written) = written.get(key) {
            value.clone_from(written);
        }
    }
    Ok(changes)
}

/// Returns the settings as a TOML file.
#[must_use]
pub fn to_toml<Raw: Serialize>(raw: &Raw) -> String {
    toml::to_string_pretty(raw).expect("settings are tables of numbers, texts and lists")
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
    fn a_fraction_where_a_whole_number_is_expected_is_reported() {
        let problem = |key, value| error("", &[], &[(key, value)]);
        assert_eq!(problem("threads", "1.5"), "config --set threads: threads: 1.5 is not written as a whole number");
        assert!(problem("replay.window", "1e30").contains("replay.window: 1e30 is not written as a whole number"));
        assert_eq!(error("threads = 2.0", &[], &[]), "config x.toml: threads: 2.0 is not written as a whole number");
        assert!(
            error("", &[("ALVEARE_ACTOR__THREADS", "7.9")], &[])
                .contains("threads: 7.9 is not written as a whole number")
        );
        let (_dir, sources) = sources("rate = 1", &[], &[("rate", "0.5")]);
        let raw = load::<Raw>(&sources).expect("a key whose default is not a whole number may have a fraction").raw;
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
        assert_eq!(
            error("", &[], &[("game.frame", "300")]),
            "config --set game.frame: game.frame: invalid value: integer `300`, expected u8"
        );
        assert_eq!(
            error("[game]\nname = \"hive\"\nframe = \"wide\"", &[], &[]),
            "config x.toml: game.frame: invalid type: string \"wide\", expected u8"
        );
        assert_eq!(error("[game]\nframes = 16", &[], &[]), "config x.toml: game.frames: unknown key, expected `frame`");
        let found = error("threads = = 3", &[], &[]);
        assert!(found.starts_with("config x.toml: ") && !found.contains('\n'), "{found}");
    }

    #[test]
    fn an_impossible_value_is_traced_to_its_place() {
        let (_dir, sources) = sources("", &[], &[("replay.window", "0")]);
        let error = load::<Raw>(&sources).unwrap().error("replay.window", "0 is below 1");
        assert_eq!(error.to_string(), "config --set replay.window: replay.window: 0 is below 1");
    }

    #[test]
    fn what_differs_from_the_preset_or_the_file_is_summed_up() {
        let flags = [("name", "a bee"), ("threads", "3"), ("replay.window", "9"), ("replay.wait", "30s")];
        let (_dir, mut sources) = sources("threads = 3", &[], &flags);
        let loaded = load::<Raw>(&sources).unwrap();
        assert!(loaded.base().ends_with("x.toml"), "{}", loaded.base());
        assert_eq!(loaded.changes(), "name=\"a bee\" replay.window=9");
        sources.preset = Some(SettingsPreset { name: "small", text: "[replay]\nwindow = 9" });
        let loaded = load::<Raw>(&sources).unwrap();
        assert_eq!((loaded.base(), loaded.changes().as_str()), ("preset small", "name=\"a bee\" threads=3"));
        let loaded = load::<Raw>(&Sources::default()).unwrap();
        assert_eq!((loaded.base(), loaded.changes().as_str()), ("default", "none"));
    }

    #[test]
    fn of_a_secret_no_more_is_summed_up_than_the_settings_show() {
        #[derive(Debug, Default, Deserialize, Serialize)]
        #[serde(default)]
        struct Secretive {
            #[serde(serialize_with = "hide")]
            key: String,
        }
        fn hide<S: serde::Serializer>(_: &str, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str("(hidden)")
        }
        let (_dir, sources) = sources("", &[("ALVEARE_ACTOR__KEY", "swordfish")], &[]);
        let loaded = load::<Secretive>(&sources).unwrap();
        assert_eq!((loaded.raw.key.as_str(), loaded.changes().as_str()), ("swordfish", "key=(hidden)"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let sources = Sources { file: Some("no/such.toml".into()), ..Sources::default() };
        let error = load::<Raw>(&sources).unwrap_err().to_string();
        assert_eq!(error, "config no/such.toml: cannot be read");
    }
}
