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
    bar: Option<ProgressBar>,
    /// The phase that the bar shows: a new one starts a new count of time.
    phase: String,
}

impl Screen {
    /// Shows a bar only on a terminal.
    pub fn new(name_width: usize) -> Self {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        Self { name_width, bar: is_terminal.then(new_bar), phase: String::new() }
    }

    /// Shows a line of `xtask` itself.
    pub fn say(&self, text: &str) {
        self.print("xtask", text);
    }

    /// Shows a child's line, or moves the bar by it.
    pub fn show(&mut self, line: &Line) {
        match (&self.bar, LearnerProgress::parse(&line.text)) {
            (Some(bar), Some(progress)) => {
                if self.phase != progress.phase {
                    self.phase.clone_from(&progress.phase);
                    bar.reset();
                }
                advance(bar, progress);
            }
            _ => self.print(&line.name, &line.text),
        }
    }

    fn print(&self, name: &str, text: &str) {
        let width = self.name_width;
        match &self.bar {
            Some(bar) => {
                let colour = colour(name);
                bar.suspend(|| write_line(&format!("\u{1b}[{colour}m{name:<width$}\u{1b}[0m {text}")));
            }
            None => write_line(&format!("{name:<width$} {text}")),
        }
    }
}

fn advance(bar: &ProgressBar, progress: LearnerProgress) {
    bar.set_length(progress.total);
    bar.set_position(progress.done);
    bar.set_prefix(progress.phase);
    bar.set_message(progress.rest);
}

/// A reader that went away (`| head`) is no reason to stop training.
fn write_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn colour(name: &str) -> u8 {
    COLOURS.iter().find(|(known, _)| *known == name).map_or(OTHER_COLOUR, |(_, colour)| *colour)
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>10} [{bar:30}] {pos}/{len} {elapsed} (to go {eta}) {wide_msg}");
    let bar = ProgressBar::new(0);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}
