//! `alveare play`: a game against the computer in a terminal.
//!
//! Here are the command line and the loop over lines. `session` carries commands out, `hive` and `dama` read moves; the
//! boards are drawn by `notation::board`.

mod board_game;
mod command;
mod dama;
mod hive;
mod session;

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use anyhow::Context;
use arena::levels::StrengthLevel;
use clap::ValueEnum;
use console::Term;
use notation::ReplayRules;
use notation::uhp::GameString;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use runtime::exit::UsageError;
use runtime::flags::{number_in, seconds_in};
use runtime::lines::next_line;
use shared::game::dama::{Dama, DamaRules, fen};
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::{Game, Side};
use shared::search::{SearchPreset, SearchSettings};

use crate::player::PlayerOptions;
use crate::start::{GameName, StartOptions, ensure_absent, wrong_position};
use crate::thinker::Thinker;
use board_game::BoardGame;
use command::Command;
use notation::move_time::MoveTime;
use session::{MoveLimits, Next, PlaySession, Screen};

/// Strength if nothing says another.
const LEVEL_DEFAULT: u8 = 5;
/// Seed if nobody looks on: the same lines give the same game.
const SEED_UNWATCHED: u64 = 1;
/// Letters in a line if there is no terminal.
const WIDTH_UNWATCHED: usize = 100;

/// Plays a game against you in this terminal.
///
/// Type a move, or ? for a numbered list of the moves, hint, undo, save FILE, resign, help. It plays the network that it
/// carries, or another one (--network). From a pipe it reads one command a line and draws without colours.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    start: StartOptions,
    /// The side that you play.
    #[arg(long, value_enum, default_value = "white")]
    side: SideChoice,
    #[command(flatten)]
    strength: Strength,
    #[command(flatten)]
    player: PlayerOptions,
    /// Seed for what is drawn at random. The default is another one each time, and 1 if the input is no terminal.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// How strong the computer is.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Strength {
    /// How strong the computer plays, from 1 (weakest) to 10; 5 if nothing else is said. Levels are those of its own
    /// network, so --preset vanilla and grandmaster have none.
    #[arg(long, value_name = "1..10")]
    level: Option<StrengthLevel>,
    /// Play at full strength with this many seconds per move, 0.001 to 86,400.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_in(MoveTime::FIXED_TIMES))]
    time: Option<Duration>,
    /// Play at full strength with this many simulations per move.
    #[arg(long, value_name = "N", value_parser = number_in(SearchSettings::SIMULATION_COUNTS))]
    simulations: Option<u32>,
}

/// The side of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SideChoice {
    White,
    Black,
    Random,
}

/// Plays until the person leaves or the input ends. Where nobody watches, what is typed is shown too, and nothing has colours.
///
/// # Errors
/// [`runtime::exit::UsageError`] for options that do not go with the game, or an impossible position; a network that cannot
/// be played; input or output that fails.
pub fn run(options: &Options, is_watched: bool, input: &mut impl BufRead, out: &mut impl Write) -> anyhow::Result<()> {
    match options.start.game(|| options.player.game()) {
        GameName::Hive => run_game(hive_game(&options.start)?, options, is_watched, input, out),
        GameName::Dama => run_game(dama_game(&options.start)?, options, is_watched, input, out),
    }
}

/// Returns whether a person sits at a terminal, and no pipe or file.
pub fn is_watched() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// A game, its positions so far, and the moves between them.
type GameSoFar<G> = (G, Vec<<G as Game>::Position>, Vec<<G as Game>::Move>);

fn hive_game(options: &StartOptions) -> anyhow::Result<GameSoFar<Hive>> {
    let start = options.game_type.unwrap_or(GameType::MLP).to_string();
    let game: GameString = options.position.as_ref().unwrap_or(&start).parse().map_err(wrong_position)?;
    let game_type = options.game_type.unwrap_or(game.game_type);
    let hive = Hive::new(HiveRules { game_type, ..*ReplayRules::default().hive(&game).rules() });
    let (_, moves) = game.replay(&hive).map_err(wrong_position)?;
    let mut positions = vec![hive.initial_position()];
    for mv in &moves {
        let mut position = positions[positions.len() - 1].clone();
        hive.play(&mut position, *mv);
        positions.push(position);
    }
    Ok((hive, positions, moves))
}

fn dama_game(options: &StartOptions) -> anyhow::Result<GameSoFar<Dama>> {
    ensure_absent(options.game_type.is_none(), "--type", "hive")?;
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    let start = options.position.as_deref().map_or_else(|| Ok(dama.initial_position()), fen::read);
    Ok((dama, vec![start.map_err(wrong_position)?], vec![]))
}

fn run_game<G: BoardGame>(
    (game, positions, moves): GameSoFar<G>,
    options: &Options,
    is_watched: bool,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let seed = options.seed.unwrap_or_else(|| if is_watched { rand::random() } else { SEED_UNWATCHED });
    let Strength { simulations: simulation_count, time, .. } = options.strength;
    let limits = MoveLimits { simulation_count, time };
    let mut thinker = Thinker::new(options.player.player(Some(&game))?, options.player.preset, seed);
    let level = level(options, limits)?;
    thinker.set_level(level);
    let side = match options.side {
        SideChoice::White => Side::White,
        SideChoice::Black => Side::Black,
        SideChoice::Random if Pcg64Mcg::seed_from_u64(seed).random() => Side::White,
        SideChoice::Random => Side::Black,
    };
    let screen = Screen { has_colours: is_watched && console::colors_enabled(), width: width(is_watched) };
    let mut session = PlaySession::new(game, (positions, moves), side, thinker, limits, screen);
    if let Some(level) = level {
        session.set_name(format!("Alveare (level {level})"));
    }
    converse(&mut session, input, out, is_watched)
}

/// Returns the level, unless something else says how strong the computer is.
///
/// # Errors
/// [`UsageError`] for a level of a search that has none.
fn level(options: &Options, limits: MoveLimits) -> Result<Option<StrengthLevel>, UsageError> {
    let (named, preset) = (options.strength.level, options.player.preset);
    if preset != SearchPreset::AlphaZero {
        let refusal = |level| {
            UsageError(format!("--level {level}: --preset {preset} has no levels: say --simulations or --time"))
        };
        return named.map_or(Ok(None), |level| Err(refusal(level)));
    }
    let is_said = limits.simulation_count.is_some() || limits.time.is_some();
    Ok(named.or_else(|| StrengthLevel::new(LEVEL_DEFAULT).filter(|_| !is_said)))
}

fn width(is_watched: bool) -> usize {
    if is_watched { Term::stdout().size().1.into() } else { WIDTH_UNWATCHED }
}

/// Reads lines and carries them out. Where nobody watches, the lines are shown too.
fn converse<G: BoardGame>(
    session: &mut PlaySession<G>,
    input: &mut impl BufRead,
    out: &mut impl Write,
    is_watched: bool,
) -> anyhow::Result<()> {
    write!(out, "{}", session.begin()?).context("write to the terminal")?;
    loop {
        write!(out, "{}", session.prompt()).and_then(|()| out.flush()).context("write to the terminal")?;
        let Some(line) = next_line(input).context("read a line")? else {
            return writeln!(out).context("write to the terminal");
        };
        let line = line.unwrap_or_else(|error| format!("({error})"));
        if !is_watched {
            writeln!(out, "{line}").context("write to the terminal")?;
        }
        let (text, next) = session.execute(Command::parse(&line))?;
        write!(out, "{text}").context("write to the terminal")?;
        if next == Next::Quit {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
