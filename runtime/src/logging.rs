//! Logs and progress bars, which share one terminal: lines go to stderr, above the bars.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// How log lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people: short, coloured on a terminal.
    #[default]
    Human,
    /// For machines: one JSON object a line.
    Json,
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// `human` or `json`.
    pub format: LogFormat,
    /// Levels as tracing-subscriber reads them: `info`, `warn,worker=debug`.
    pub filter: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { format: LogFormat::Human, filter: "info".into() }
    }
}

/// Why logs cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter cannot be read.
    #[error("{filter:?}: {reason}")]
    Filter {
        /// What was read.
        filter: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Someone else set a logger first.
    #[error("logs are already set up")]
    AlreadySet,
}

static PROGRESS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Returns the progress bars of this process. They are drawn on a terminal and are silent elsewhere.
#[must_use]
pub fn progress() -> &'static MultiProgress {
    &PROGRESS
}

/// Adds a line to the bottom of the terminal that tells what is going on; shown on a terminal alone.
#[must_use]
pub fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}").expect("the template is a constant");
    PROGRESS.add(ProgressBar::new_spinner().with_style(style).with_finish(ProgressFinish::AndClear))
}

/// Adds a bar to the bottom of the terminal that tells how far something is; shown on a terminal alone.
#[must_use]
pub fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}");
    let style = style.expect("the template is a constant").progress_chars("=> ");
    // Empty until there is something to do: one of length 0 is drawn full.
    PROGRESS.add(ProgressBar::no_length().with_style(style).with_finish(ProgressFinish::AndClear))
}

/// Returns whether people watch stderr on a terminal.
#[must_use]
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Starts the logs of this process.
///
/// # Errors
/// [`LogError`] if the filter cannot be read or logs were started before.
pub fn init(settings: &LogSettings) -> Result<(), LogError> {
    let filter = EnvFilter::from_str(&settings.filter)
        .map_err(|error| LogError::Filter { filter: settings.filter.clone(), reason: error.to_string() })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(AboveBars);
    let started = match settings.format {
        LogFormat::Human => builder.with_timer(ClockTime).with_target(false).with_ansi(is_watched()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|_| LogError::AlreadySet)
}

/// Writes one line to stderr, above the progress bars.
pub fn print_line(line: &str) {
    // Never fails: see there.
    let _ = AboveBars.write_all(format!("{line}\n").as_bytes());
}

/// Writes to stderr while the progress bars stand aside.
///
/// A line that cannot be written is dropped: a reader that has gone or a full disk under the log must not end the
/// program, and the logger would complain about it on stderr, which panics when stderr is closed.
#[derive(Debug, Clone, Copy)]
struct AboveBars;

impl Write for AboveBars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let _ = PROGRESS.suspend(|| io::stderr().lock().write_all(bytes));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for AboveBars {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

/// Time of day, UTC, to the second: who watches a terminal knows the date.
struct ClockTime;

impl FormatTime for ClockTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        writer.write_str(&time_of_day(now.as_secs()))
    }
}

fn time_of_day(unix_seconds: u64) -> String {
    let second = unix_seconds % 86_400;
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_empty_before_it_has_a_length() {
        let mut shown = f32::NAN;
        bar().update(|state| shown = state.fraction());
        assert_eq!(shown, 0.0);
    }

    #[test]
    fn the_time_of_day_is_short() {
        assert_eq!(time_of_day(86_400 * 3 + 3_600 * 7 + 60 * 5 + 9), "07:05:09");
    }

    #[test]
    fn a_wrong_filter_is_named() {
        let error = init(&LogSettings { filter: "worker=loud".into(), ..LogSettings::default() }).unwrap_err();
        assert!(error.to_string().starts_with("\"worker=loud\": "), "{error}");
    }
}
