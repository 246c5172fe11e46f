//! `alveare tables`: makes and checks endgame tables of Italian draughts. The tables are crate `tables`.

mod check;
mod make;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::builder::RangedU64ValueParser;
use runtime::flags::number_in;
use shared::bounds::THREAD_COUNT_MAX;
use tables::PIECE_COUNT_MAX;

const USAGE: &str = "\
alveare tables --out <DIR> [--pieces <N>] [--threads <T>]
       alveare tables --check <DIR> [--positions <N>] [--seed <N>]";

const EXAMPLES: &str = "\
Examples:
  alveare tables --pieces 4 --out tables
      Every position with at most four pieces: 7 MB, some seconds.
  alveare tables --pieces 5 --out tables
      Goes on to five pieces: 151 MB. Interrupted, the same command goes on with the table that it was at.
  alveare tables --check tables
      Compares checksums, and a hundred thousand positions with what follows from their moves; says which table is missing.";

/// Makes endgame tables of Italian draughts, or checks some.
///
/// A table holds the exact result of every position with the same pieces, and how far it is to the next capture or move of
/// a man. `alveare dama --tables DIR` plays by them, as do analyse, play, and players of a match (`ready@400,tables=DIR`).
#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub struct TablesOptions {
    /// Most pieces on the board, of both sides together: 2 to 6. Six take 2.7 GB on disk and in memory.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = pieces(), conflicts_with = "check")]
    pieces: u8,
    #[command(flatten)]
    task: Task,
    /// Threads that solve; the default is one for each core.
    #[arg(long, value_name = "T", value_parser = number_in(1..=THREAD_COUNT_MAX as u32), conflicts_with = "check")]
    threads: Option<u32>,
    /// How many positions --check looks at, of all tables together, but one of each table at least: every one, if it is
    /// more than there are.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number_in(1..=u64::MAX), conflicts_with = "out")]
    positions: u64,
    /// Seed by which --check draws them.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "out")]
    seed: u64,
}

/// What is to be done.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Task {
    /// Make tables in this folder; those that are there already stay.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Check the tables of this folder.
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
}

fn pieces() -> RangedU64ValueParser<u8> {
    number_in(2..=PIECE_COUNT_MAX)
}

/// Makes or checks tables.
///
/// # Errors
/// A folder to be checked that is none or has no tables ([`runtime::exit::UsageError`]); a folder that cannot be written or
/// read, a table that is damaged, missing beside others or contradicts the rules.
pub fn run(options: &TablesOptions, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(folder) = &options.task.check {
        return check::check(folder, options.positions, options.seed, out);
    }
    let Some(folder) = &options.task.out else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0) as usize);
    let pool = pool.build().context("start the threads that solve")?;
    make::make(folder, options.pieces, &pool, out)
}
