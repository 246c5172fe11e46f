//! The settings of each source, as tables: presets, files, environment variables, flags.

use config::{File, FileFormat, Value, ValueKind};

use super::explain::syntax_problem;
use super::tree::Table;
use super::{ConfigError, SettingsPreset, Sources};

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
