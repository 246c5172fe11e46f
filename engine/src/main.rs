//! The program `alveare`: plays a trained network, lets players meet, and checks the rules.
//!
//! Here is only the command line; each command has its own module.

mod analyse;
mod curve;
mod endgames;
mod games;
mod hub;
mod inbox;
mod matches;
mod named_files;
mod openings;
mod options;
mod perft;
mod play;
mod player;
mod search_pool;
#[cfg(feature = "network")]
mod self_play;
mod shown;
mod start;
mod think;
mod thinker;
mod uhp;
mod verify;

use std::io::BufReader;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use runtime::shutdown;

const EXAMPLES: &str = "\
Examples:
  alveare perft --type Base+MLP --depth 5
      Counts the ways to play the first five plies, depth by depth, and times it.
  alveare perft --depth 3 --position 'Base;InProgress;White[2];wS1;bS1 wS1-'
      The same from a position, told as a UHP GameString.
  alveare perft --game dama --depth 11
      The same for Italian draughts.
  alveare verify positions.jsonl games.jsonl
      Compares moves and results with what the files say; exit code 1 if any differ.
  alveare play --level 3
      A game of Hive against you, in this terminal; --game dama plays draughts.
  alveare uhp
      Plays Hive in any program that speaks the Universal Hive Protocol, with the network that this program carries.
  alveare dama --network run/networks/FILE.safetensors
      Plays Italian draughts in any program that speaks the hub protocol, with a network of your own.
  alveare analyse --position 'W:W21,K7,30:BK3,12,14' --time 5
      Searches a position and shows what it thinks of the moves.
  alveare selfplay --network run --games 1000 --simulations 400 --out games.samples
      Plays games of a network against itself, for `learner train --data games.samples`.
  alveare tables --pieces 5 --out tables
      Makes endgame tables of Italian draughts, by which `alveare dama --tables tables` plays.
  alveare book --out mlp.book games.uhp
      Makes an opening book of human games or those of a run, by which `alveare uhp --book mlp.book` plays.
  alveare match run/networks/FILE.safetensors mcts:400
      Plays a match: how much stronger is one player than the other?
  alveare ladder --run-dir run
      How strong are all players that have met in matches of a run?
  alveare curve run-a run-b
      How strong did runs become, and what did it cost? A table, a CSV file and a picture.";

/// Plays what Alveare has trained, and checks the rules that it was trained by.
#[derive(Debug, Parser)]
#[command(name = "alveare", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Analyse(analyse::Options),
    Book(openings::BookOptions),
    Curve(Box<curve::CurveOptions>),
    Dama(hub::Options),
    Ladder(Box<matches::LadderOptions>),
    Match(Box<matches::MatchOptions>),
    Perft(perft::Options),
    Play(Box<play::Options>),
    #[cfg(feature = "network")]
    Selfplay(Box<self_play::SelfPlayOptions>),
    Tables(endgames::TablesOptions),
    Uhp(uhp::Options),
    Verify(verify::Options),
}

fn main() -> ExitCode {
    let cli: Cli = runtime::exit::parse();
    runtime::exit::run("alveare", || {
        let mut out = std::io::stdout().lock();
        runtime::exit::unless_reader_has_gone(match cli.command {
            Command::Analyse(options) => until_interrupted(|goes_on| games::analyse(&options, goes_on, &mut out)),
            Command::Book(options) => openings::run(&options, &mut out),
            Command::Curve(options) => curve::run(&options, &mut out),
            Command::Dama(options) => hub::run(&options, BufReader::new(std::io::stdin()), &mut out),
            Command::Ladder(options) => matches::run_ladder(&options, &mut out),
            Command::Match(options) => matches::run(&options, &mut out),
            Command::Perft(options) => games::perft(&options, &mut out),
            Command::Play(options) => play::run(&options, play::is_watched(), &mut std::io::stdin().lock(), &mut out),
            #[cfg(feature = "network")]
            Command::Selfplay(options) => self_play::run(&options, &mut out),
            Command::Tables(options) => endgames::run(&options, &mut out),
            Command::Uhp(options) => uhp::run(&options, BufReader::new(std::io::stdin()), &mut out),
            Command::Verify(options) => games::verify(&options, &mut out),
        })
    })
}

/// Runs what goes on until the first signal; the second ends the program.
fn until_interrupted(run: impl FnOnce(&dyn Fn() -> bool) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (_tokio, stop) = shutdown::listen().context("listen for signals")?;
    run(&|| !stop.is_cancelled())
}
