//! `alveare perft`: counts the ways to play on, to compare rules and speed with other programs.

pub mod dama;
pub mod hive;

use std::io::Write;
use std::time::Instant;

use clap::ValueEnum;
use shared::game::dama::Counting;

use crate::start::StartOptions;

/// Counts the ways to play on for 1, 2, ... plies, with the time that each count took.
///
/// Finished games have no continuation, a forced pass is a ply, and repetitions are not draws, as in all published
/// tables.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub start: StartOptions,
    /// Draughts: what counts as one move. The default is paths.
    #[arg(long, value_enum)]
    pub count: Option<Count>,
    /// Greatest number of plies.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=99))]
    pub depth: u32,
}

/// What counts as one move of draughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Count {
    /// Every way to jump, as in published tables.
    Paths,
    /// Ways that lead to the same position are one.
    Results,
}

impl From<Count> for Counting {
    fn from(count: Count) -> Self {
        match count {
            Count::Paths => Self::Paths,
            Count::Results => Self::Results,
        }
    }
}

/// A position from which ways to play on are counted.
pub trait Counted {
    /// Returns what is counted from, in words.
    fn heading(&self) -> String;
    /// Returns the number of ways to play on for exactly `depth` plies.
    fn count(&self, depth: u32) -> u64;
}

/// Prints a line for each depth up to `depth_max`.
///
/// # Errors
/// If the output is closed.
pub fn run(counted: &dyn Counted, depth_max: u32, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "{}", counted.heading())?;
    writeln!(out, "{:>5} {:>18} {:>10} {:>14}", "depth", "nodes", "seconds", "nodes/s")?;
    for depth in 0..=depth_max {
        let started = Instant::now();
        let node_count = counted.count(depth);
        let seconds = started.elapsed().as_secs_f64();
        let rate = node_count as f64 / seconds.max(1e-9);
        writeln!(out, "{depth:>5} {node_count:>18} {seconds:>10.3} {rate:>14.0}")?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::GameName;

    /// Returns the numbers of nodes that are printed.
    pub fn node_counts(counted: &dyn Counted, depth_max: u32) -> Vec<String> {
        let mut out = Vec::new();
        run(counted, depth_max, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().skip(2).map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
    }

    /// Options without a position.
    pub fn options(game: GameName) -> Options {
        Options { start: StartOptions { game: Some(game), game_type: None, position: None }, count: None, depth: 3 }
    }

    /// The same that start elsewhere.
    pub fn options_from(start: StartOptions) -> Options {
        Options { start, ..options(GameName::Hive) }
    }
}
