//! `alveare analyse`: searches one position and shows what it thinks of the moves.

pub mod dama;
pub mod hive;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Context;
use arena::matches::MatchGame;
use runtime::counted::counted;
use runtime::flags::{number_in, seconds_in};
use shared::game::{Outcome, Value};
use shared::search::{MoveReport, ParallelSearch, Proof, SearchSettings};

use crate::openings;
use crate::options::EngineOptions;
use crate::player::PlayerOptions;
use crate::shown::value_text;
use crate::start::StartOptions;
use crate::thinker::Thinker;
use notation::move_time::MoveTime;

/// Searches one position and shows what it thinks of the moves.
///
/// Ctrl-C ends the search and shows what it has found by then; once more, and the program ends at once.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub start: StartOptions,
    #[command(flatten)]
    pub player: PlayerOptions,
    /// Simulations. The default is 800, or as many as there is time for.
    #[arg(long, value_name = "N", value_parser = number_in(SearchSettings::SIMULATION_COUNTS))]
    simulations: Option<u32>,
    /// Time, in seconds, 0.001 to 86,400.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_in(MoveTime::FIXED_TIMES))]
    time: Option<Duration>,
    /// Leaves that a network evaluates at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number_in(EngineOptions::BATCH_SIZES))]
    batch_size: u32,
    /// Processor threads that compute the network.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_in(EngineOptions::THREADS))]
    threads: u32,
    /// Threads that search the tree; those of a network take turns with it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_in(EngineOptions::THREADS))]
    search_threads: u32,
    /// How many moves are shown, the best first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    moves: usize,
    /// How many moves are shown with the best play after them, the best first.
    #[arg(long, value_name = "N", default_value_t = 1)]
    lines: usize,
}

/// What is searched.
struct Analysed<'a, G: MatchGame> {
    game: &'a G,
    position: &'a G::Position,
    /// What it is called.
    heading: &'a str,
}

/// Searches a position no longer than `goes_on`, and prints the moves.
///
/// # Errors
/// A network that cannot be played; an output that is closed.
fn analyse<G: MatchGame>(
    Analysed { game, position, heading }: Analysed<'_, G>,
    options: &Options,
    goes_on: &dyn Fn() -> bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (player, preset) = (options.player.player(Some(game))?, options.player.preset);
    // Only now: with a GPU the network starts the program anew.
    writeln!(out, "{heading}")?;
    let over = match game.outcome(position) {
        Some(Outcome::Win(side)) => Some(format!("{side:?} has won")),
        Some(Outcome::Draw) => Some("a draw".to_owned()),
        None => None,
    };
    if let Some(over) = over {
        return writeln!(out, "the game is over: {over}").context("print the result");
    }
    let mut thinker = Thinker::new(player, preset, 0);
    let numbers =
        [("BatchSize", options.batch_size), ("Threads", options.threads), ("SearchThreads", options.search_threads)];
    numbers.into_iter().try_for_each(|(name, value)| thinker.set(name, &value.to_string()))?;
    let simulations = options.simulations.or(options.time.is_none().then_some(thinker.options().simulations.value));
    let started = Instant::now();
    let limits = thinker.options().limits(simulations, options.time.and_then(|time| started.checked_add(time)));
    thinker.think(game, position, &limits, &mut |_| goes_on())?;
    let search = thinker.search().context("the search is there")?;
    print(game, search, started.elapsed(), options, out).context("print the analysis")?;
    let book = thinker.book().map(|_| openings::table(game, position, &thinker.book_moves(game, position)));
    write!(out, "{}", book.unwrap_or_default()).context("print the moves of the book")
}

fn print<G: MatchGame>(
    game: &G,
    search: &ParallelSearch<G>,
    time: Duration,
    options: &Options,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (position, count) = (search.position(), search.simulation_count());
    writeln!(
        out,
        "value {} for {:?} after {} in {:.3} s ({:.0}/s)",
        value(search.proof(), Some(search.root_value())),
        game.side_to_move(position),
        counted(count, "simulation", "simulations"),
        time.as_secs_f64(),
        f64::from(count) / time.as_secs_f64().max(1e-9)
    )?;
    writeln!(out, "{:>8} {:>7} {:>7} {:>12}  move", "visits", "share", "prior", "value")?;
    let reports = search.move_reports();
    for report in reports.iter().copied().take(options.moves) {
        let MoveReport { mv, prior, visit_count, proof, .. } = report;
        let share = 100.0 * f64::from(visit_count) / f64::from(count.max(1));
        let prior = 100.0 * prior;
        let value = value(proof, report.value);
        let text = game.format_move(position, mv);
        writeln!(out, "{visit_count:>8} {share:>5.1} % {prior:>5.1} % {value:>12}  {text}")?;
    }
    match reports.len().saturating_sub(options.moves) {
        0 => {}
        more => writeln!(out, "... and {}; --moves N shows more", counted(more, "more move", "more moves"))?,
    }
    for (number, report) in (1..).zip(reports.iter().take(options.lines)) {
        let name = if number == 1 { "best line".to_owned() } else { format!("line {number}") };
        writeln!(out, "{name}: {}", line_text(game, position, search.line_of(report.mv)))?;
    }
    Ok(())
}

fn line_text<G: MatchGame>(game: &G, position: &G::Position, moves: Vec<G::Move>) -> String {
    let mut after = position.clone();
    let text = |mv| {
        let text = game.format_move(&after, mv);
        game.play(&mut after, mv);
        text
    };
    moves.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns a value as people read it, from the view of whoever is to move.
fn value(proof: Proof, value: Option<Value>) -> String {
    value_text(proof, value).unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use runtime::exit::UsageError;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn analysis(arguments: &[&str]) -> anyhow::Result<String> {
        let mut out = Vec::new();
        let options = Cli::try_parse_from([&["analyse", "--network", "none"], arguments].concat())?.options;
        crate::games::analyse(&options, &|| true, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn what_was_found_until_an_interrupt_is_shown() {
        let arguments = ["analyse", "--network", "none", "--game", "dama", "--time", "86400"];
        let options = Cli::try_parse_from(arguments).unwrap().options;
        let mut out = Vec::new();
        crate::games::analyse(&options, &|| false, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("for White after ") && shown.contains("best line: "), "{shown}");
    }

    #[test]
    fn a_win_is_shown_in_both_games() {
        let shown = analysis(&["--game", "dama", "--position", "W:W21,22:B18", "--simulations", "50"]).unwrap();
        assert!(shown.starts_with("W:W21,22:B18\nvalue win for White after "), "{shown}");
        assert!(shown.lines().nth(3).is_some_and(|line| line.contains(" win  2")), "{shown}");
        let position = "Base+MLP;InProgress;White[2];wS1;bS1 wS1-";
        let shown =
            analysis(&["--game", "hive", "--position", position, "--simulations", "50", "--moves", "3"]).unwrap();
        assert!(shown.starts_with(&format!("{position}\nvalue +0.000 for White after 50 simulations")), "{shown}");
        assert_eq!(shown.lines().count(), 3 + 3 + 1 + 1, "{shown}");
        let shown = analysis(&["--game", "dama", "--simulations", "200", "--moves", "1", "--lines", "3"]).unwrap();
        let lines: Vec<&str> = shown.lines().skip(5).collect();
        assert!(lines.len() == 3 && lines[0].starts_with("best line: ") && lines[2].starts_with("line 3: "), "{shown}");
        let first = |line: &str| line.split(": ").nth(1).and_then(|line| line.split(", ").next()).map(str::to_owned);
        assert!(first(lines[0]) != first(lines[1]) && first(lines[1]) != first(lines[2]), "{shown}");
        let error = analysis(&["--game", "hive", "--position", &position.replace("[2]", "[3]")]).unwrap_err();
        assert_eq!(error.to_string(), "--position: turn White[3] is claimed after moves that lead to White[2]");
    }

    #[test]
    fn moves_that_are_left_out_are_counted() {
        let line = |moves: &str| {
            let shown = analysis(&["--game", "dama", "--simulations", "9", "--moves", moves]).unwrap();
            shown.lines().find(|line| line.starts_with("...")).map(str::to_owned)
        };
        assert_eq!(line("5").as_deref(), Some("... and 2 more moves; --moves N shows more"));
        assert_eq!(line("6").as_deref(), Some("... and 1 more move; --moves N shows more"));
        assert_eq!((line("7"), line("100")), (None, None));
    }

    #[test]
    fn a_position_says_which_game_it_is_of() {
        let shown = analysis(&["--position", "W:W21,22:B18", "--simulations", "9"]).unwrap();
        assert!(shown.starts_with("W:W21,22:B18\n"), "{shown}");
        for arguments in [&[][..], &["--position", "Base+MLP"], &["--type", "Base+MLP"]] {
            let shown = analysis(&[arguments, &["--simulations", "9"]].concat()).unwrap();
            assert!(shown.starts_with("Base+MLP;NotStarted;White[1]\n"), "{shown}");
        }
        let error = analysis(&["--game", "hive", "--position", "W:W21,22:B18"]).unwrap_err();
        assert_eq!(error.to_string(), "--position: a position of Italian draughts: leave --game hive away");
    }

    #[test]
    fn every_preset_analyses_with_several_threads() {
        for preset in ["vanilla", "grandmaster", "alphazero"] {
            let arguments = ["--game", "dama", "--preset", preset, "--search-threads", "3", "--simulations", "300"];
            let shown = analysis(&arguments).unwrap();
            assert!(shown.lines().nth(1).is_some_and(|line| line.contains("after 300 simulations")), "{shown}");
        }
        assert!(analysis(&["--game", "dama", "--preset", "stockfish"]).is_err());
    }

    #[test]
    fn a_finished_game_has_a_result() {
        let shown = analysis(&["--game", "dama", "--position", "W:W:B18"]).unwrap();
        assert_eq!(shown, "W:W:B18\nthe game is over: Black has won\n");
    }

    #[test]
    fn wrong_options_are_wrong_usage() {
        for time in ["--time=-1", "--time=0"] {
            let error = analysis(&["--game", "dama", time]).unwrap_err();
            assert!(error.to_string().contains("not in 1ms..=1day"), "{error}");
        }
        for arguments in [
            &["--game", "dama", "--type", "Base"][..],
            &["--game", "dama", "--position", "nonsense"],
            &["--game", "hive", "--position", "Base+X"],
        ] {
            let error = analysis(arguments).unwrap_err();
            assert!(error.chain().any(|cause| cause.is::<UsageError>()), "{arguments:?}: {error:#}");
        }
    }
}
