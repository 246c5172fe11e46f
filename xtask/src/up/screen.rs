//! The one log: a name in front of each line, coloured on a terminal, and there a bar for the learner's progress.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::children::Line;
use super::learner_log::LearnerProgress;

/// Terminal colour by name: green, magenta, yellow.
const COLOURS: [(&str, u8); 3] = [("learner", 32), ("evaluator", 35), ("xtask", 33)];
/// Actors, whatever their number: cyan.
const OTHER_COLOUR: u8 = 36;

/// Where lines are shown.
#[derive(Debug)]
pub struct Screen {
    name_width: usize,
    is_terminal: bool,
    /// There once the learner has said how far it is.
    bar: Option<ProgressBar>,
    /// The phase that the bar shows: a new one starts a new count of time.
    phase: String,
}

impl Screen {
    /// Shows a bar only on a terminal.
    pub fn new(name_width: usize) -> Self {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        Self { name_width, is_terminal, bar: None, phase: String::new() }
    }

    /// Shows a line of `xtask` itself.
    pub fn say(&self, text: &str) {
        self.print("xtask", text);
    }

    /// Shows a child's line, or moves the bar by it.
    pub fn show(&mut self, line: &Line) {
        match LearnerProgress::parse(&line.text).filter(|_| self.is_terminal) {
            Some(progress) => self.advance(progress),
            None => self.print(&line.name, &line.text),
        }
    }

    fn advance(&mut self, progress: LearnerProgress) {
        let bar = self.bar.get_or_insert_with(new_bar);
        if self.phase != progress.phase {
            self.phase.clone_from(&progress.phase);
            bar.reset();
        }
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.set_prefix(progress.phase);
        bar.set_message(progress.rest);
    }

    fn print(&self, name: &str, text: &str) {
        let width = self.name_width;
        let line = if self.is_terminal {
            format!("\u{1b}[{}m{name:<width$}\u{1b}[0m {text}", colour(name))
        } else {
            format!("{name:<width$} {text}")
        };
        match &self.bar {
            Some(bar) => bar.suspend(|| write_line(&line)),
            None => write_line(&line),
        }
    }
}

/// A reader that went away (`| head`) is no reason to stop training.
fn write_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn colour(name: &str) -> u8 {
    COLOURS.iter().find(|(known, _)| *known == name).map_or(OTHER_COLOUR, |(_, colour)| *colour)
}

/// An empty bar: one of length 0 would be drawn full before its first progress.
fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>10} [{bar:30}] {pos}/{len} {elapsed} (to go {eta}) {wide_msg}");
    let bar = ProgressBar::no_length();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}
