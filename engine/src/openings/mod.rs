//! `alveare book`: makes opening books and shows what they hold. The books are crate `book`.
//!
//! Here is the command line; `sources` finds games, `counting` and `human_games` count them, `make` writes the book, `show`
//! looks into one, `table` is how its moves are printed, by `alveare analyse` too.

mod counting;
mod human_games;
mod make;
mod show;
mod sources;
mod table;

use std::io::Write;
use std::path::PathBuf;

use runtime::exit::UsageError;
use runtime::flags::number_in;
use shared::bounds::THREAD_COUNT_MAX;
use shared::game::hive::GameType;

use crate::start::GameName;

pub use table::{summary, table};

/// The options that look into a book, beside which those that make one mean nothing.
const LOOKING: [&str; 2] = ["show", "position"];
/// Most plies of a game that can be counted.
const PLIES_MAX: u32 = 1000;

const EXAMPLES: &str = "\
Examples:
  alveare book --out mlp.book games.uhp run
      Counts the human games in a file and the finished games of a run: 16 plies of each, moves of 3 games or more.
  alveare book --out dama.book --plies 12 games.pdn
      The same of Italian draughts.
  alveare book mlp.book --show
      What a book is of, and what it holds of the start of a game.
  alveare book mlp.book --position 'Base+MLP;InProgress;White[2];wS1;bG1 -wS1'
      What it holds of a position; of draughts a FEN.
  alveare uhp --book mlp.book
      Plays by it; so do dama, play, and players of a match (ready@400,book=mlp.book).";

/// Makes an opening book of human games or those of a run, or shows what one holds.
///
/// A book says of each position and move in how many games it was played, and how they ended. Positions that a symmetry of
/// the board makes equal are one. Names of players are never kept.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct BookOptions {
    /// With --out, games: run directories (their finished games of self-play and gates), and human games: of Hive files
    /// (UHP, PGN, SGF, tables), folders and zip archives, of draughts PDN files and folders with them. Else a book.
    #[arg(value_name = "SOURCE|BOOK", num_args = 1.., required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    task: Task,
    /// Plies of each game that are counted.
    #[arg(long, value_name = "N", default_value_t = 16, conflicts_with_all = LOOKING, value_parser = number_in(1..=PLIES_MAX))]
    plies: u32,
    /// In how many games a move must have been played to be in the book.
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with_all = LOOKING, value_parser = number_in(1..=u32::MAX))]
    games_min: u32,
    /// The game. The default is that of the first run that is named, else draughts if a file or folder holds PDN, else Hive.
    #[arg(long, value_enum, conflicts_with_all = LOOKING)]
    game: Option<GameName>,
    /// Hive: the type whose games are counted. The default is that of the first run that is named, else Base+MLP.
    #[arg(long = "type", value_name = "TYPE", conflicts_with_all = LOOKING)]
    game_type: Option<GameType>,
    /// Threads that count; the default is one for each core.
    #[arg(long, value_name = "T", conflicts_with_all = LOOKING, value_parser = number_in(1..=THREAD_COUNT_MAX as u32))]
    threads: Option<u32>,
}

/// What is to be done.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Task {
    /// Make a book of this name.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show what a book holds of the start of a game.
    #[arg(long)]
    show: bool,
    /// Show what a book holds of this position: of Hive a UHP GameString, of draughts a FEN.
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
}

/// Makes a book or looks into one.
///
/// # Errors
/// Games or a book that cannot be read, games that make no book, a file that cannot be written; an impossible option or
/// position ([`UsageError`]).
pub fn run(options: &BookOptions, out: &mut impl Write) -> anyhow::Result<()> {
    match (&options.task.out, &options.paths[..]) {
        (Some(file), _) => make::make(file, options, out),
        (None, [book]) => show::show(book, options.task.position.as_deref(), out),
        (None, _) => Err(UsageError("name one book, or --out FILE to make one of games".to_owned()).into()),
    }
}
