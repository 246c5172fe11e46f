//! Making a book: from its sources to a file that is complete or not there.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use runtime::counted::counted;
use runtime::exit::UsageError;
use runtime::replaced_file::FileKind;
use samples::part_file::PartFile;
use shared::catalog::GameSpec;
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{GameType, Hive, HiveRules};

use super::BookOptions;
use super::counting::{Counting, LeftOut};
use super::human_games::HumanGame;
use super::sources::Sources;
use crate::start::{GameName, ensure_absent};

const BOOK: FileKind = FileKind { name: "an opening book", is_start: book::begins_as_book };

/// Counts all games and writes the book.
pub fn make(file: &Path, options: &BookOptions, out: &mut impl Write) -> anyhow::Result<()> {
    let sources = Sources::open(&options.paths)?;
    BOOK.check_replaced(file).map_err(|error| UsageError(format!("--out: {error}")))?;
    let of_run = sources.runs.first().map(|run| &run.spec);
    let of_files = || if sources.has_pdn() { GameName::Dama } else { GameName::Hive };
    let game = match (options.game, of_run) {
        (Some(game), _) => game,
        (None, Some(spec)) => {
            GameName::of_spec(spec).ok_or_else(|| UsageError(format!("there are no books of {spec}")))?
        }
        (None, None) => of_files(),
    };
    match game {
        GameName::Hive => {
            let of_run = of_run.and_then(|spec| match spec {
                GameSpec::Hive { rules, .. } => Some(rules.game_type),
                _ => None,
            });
            let game_type = options.game_type.or(of_run).unwrap_or(GameType::MLP);
            let rules = HiveRules { game_type, ply_limit: u32::MAX, ..HiveRules::default() };
            make_of(Hive::new(rules), file, &sources, options, out)
        }
        GameName::Dama => {
            ensure_absent(options.game_type.is_none(), "--type", "hive")?;
            make_of(Dama::new(DamaRules { ply_limit: u32::MAX }), file, &sources, options, out)
        }
    }
}

fn make_of<G: HumanGame>(
    game: G,
    file: &Path,
    sources: &Sources,
    options: &BookOptions,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let threads = options.threads.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("start the threads that count")?;
    // Begun before the games are counted: what cannot be written is reported now.
    let mut part = PartFile::create(file).context("--out")?;
    let mut counting = Counting::new(game, options.plies);
    for run in &sources.runs {
        // A store is read by the thread that opened it; the threads of the pool count.
        counting.add_run(run, &pool)?;
    }
    if !sources.human_games.is_empty() {
        G::count_human_games(&mut counting, &sources.human_games, &pool)?;
    }
    let (book, left_out) = counting.finish(options.games_min)?;
    if book.entries().is_empty() {
        print_left_out(&left_out, out).context("print what was left out")?;
        let wanted = counted(options.games_min, "game", "games");
        let found = book.header().game_count;
        bail!("no move was played in {wanted}: there are {found}; name more of them, or --games-min");
    }
    part.write(&book::encode(&book))?;
    part.finish(b"")?;
    writeln!(out, "{}: {}", file.display(), super::table::totals(&book))
        .and_then(|()| print_left_out(&left_out, out))
        .context("print what was made")
}

fn print_left_out(left_out: &LeftOut, out: &mut impl Write) -> std::io::Result<()> {
    let LeftOut { unreadable, without_result, other_type, other_start } = left_out;
    let parts = [
        (unreadable, "unreadable"),
        (without_result, "without a result"),
        (other_type, "of other types (--type)"),
        (other_start, "from other starts"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { Ok(()) } else { writeln!(out, "games left out: {}", parts.join(", ")) }
}
