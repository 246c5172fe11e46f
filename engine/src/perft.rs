//! `alveare perft`: counts the ways to play on, to compare rules and speed with other programs.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use runtime::exit::UsageError;
use shared::game::Game;
use shared::game::hive::{GameType, Hive, HiveRules, Position};
use shared::notation::uhp::GameString;

use crate::GameName;

/// Counts the ways to play on for 1, 2, ... plies, with the time that each count took.
///
/// Finished games have no continuation, a forced pass is a ply, and repetitions are no draws, as in all published
/// tables.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The game.
    #[arg(long, value_enum)]
    game: GameName,
    /// Expansions in play: Base, or Base+ and some of M, L, P. The default is that of --position, else Base+MLP.
    #[arg(long = "type", value_name = "TYPE")]
    game_type: Option<GameType>,
    /// Greatest number of plies.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=99))]
    depth: u32,
    /// Where to start, as a UHP GameString: `Base;InProgress;White[2];wS1;bS1 wS1-`. The default is the first ply.
    #[arg(long, value_name = "GAMESTRING")]
    position: Option<String>,
}

/// Prints a line a depth.
///
/// # Errors
/// [`UsageError`] for a position that cannot be reached or is of another type; else if nobody reads what is printed.
pub fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    let GameName::Hive = options.game;
    let (hive, position) = start(options)?;
    writeln!(out, "{} after {} plies", hive.rules().game_type, position.ply())?;
    writeln!(out, "{:>5} {:>18} {:>10} {:>14}", "depth", "nodes", "seconds", "nodes/s")?;
    for depth in 0..=options.depth {
        let started = Instant::now();
        let node_count = hive.perft(&position, depth);
        let seconds = started.elapsed().as_secs_f64();
        let rate = node_count as f64 / seconds.max(1e-9);
        writeln!(out, "{depth:>5} {node_count:>18} {seconds:>10.3} {rate:>14.0}")?;
        out.flush()?;
    }
    Ok(())
}

fn start(options: &Options) -> anyhow::Result<(Hive, Position)> {
    let hive = |game_type| {
        Hive::new(HiveRules { game_type, ply_limit: u32::MAX, repetition_draw: false, queen_first_allowed: false })
    };
    let Some(text) = &options.position else {
        let hive = hive(options.game_type.unwrap_or(GameType::MLP));
        return Ok((hive, hive.initial_position()));
    };
    let usage = |error: shared::notation::uhp::GameStringError| UsageError(format!("--position: {error}"));
    let game: GameString = text.parse().map_err(usage)?;
    let hive = hive(options.game_type.unwrap_or(game.game_type));
    let (position, _) = game.replay(&hive).map_err(usage).context("read the position")?;
    Ok((hive, position))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(game_type: Option<GameType>, position: Option<&str>) -> Options {
        Options { game: GameName::Hive, game_type, depth: 3, position: position.map(str::to_owned) }
    }

    fn node_counts(options: &Options) -> Vec<String> {
        let mut out = Vec::new();
        run(options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().skip(2).map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn counts_from_the_start_and_from_a_position() {
        assert_eq!(node_counts(&options(Some(GameType::default()), None)), ["1", "4", "96", "1440"]);
        let position = "Base;InProgress;White[1];wA1;bA1 wA1-";
        assert_eq!(node_counts(&options(None, Some(position)))[..2], ["1", "15"]);
    }

    #[test]
    fn a_position_that_cannot_be_reached_is_wrong_usage() {
        for text in ["Base+X", "Base;InProgress;White[1];wA1;bA1 wQ-", "Base;InProgress;Black[1];wA1;bA1 wA1-;wA1 wA1"]
        {
            let error = run(&options(None, Some(text)), &mut Vec::new()).unwrap_err();
            assert!(error.chain().any(|cause| cause.is::<UsageError>()), "{text}: {error:#}");
        }
        let error = run(&options(Some(GameType::MLP), Some("Base")), &mut Vec::new()).unwrap_err();
        assert!(format!("{error:#}").contains("cannot be replayed as Base+MLP"), "{error:#}");
    }
}
