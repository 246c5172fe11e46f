//! `alveare curve`: how runs grew stronger with what they cost. The matches and the picture are crate `arena`.

mod options;

use std::io::Write;

use anyhow::Context;
use arena::curve::{CurveError, CurveMatches, CurveRun, axis_of, choose, csv, curves, svg, table};
use arena::matches::MatchGame;
use runtime::exit::UsageError;
use runtime::{logging, shutdown};
use tracing::warn;

use crate::matches::ChosenGame;
use crate::start::failure;

pub use options::CurveOptions;

/// Lets promoted networks of the runs play the opponents, as far as they have not yet, and shows how strong they are.
///
/// # Errors
/// A folder without a run, or impossible options ([`UsageError`]); a player that cannot be had; games that were stopped
/// before the last one.
pub fn run(options: &CurveOptions, out: &mut impl Write) -> anyhow::Result<()> {
    let runs: Vec<CurveRun> =
        options.runs.iter().map(|dir| CurveRun::read(dir)).collect::<Result<_, _>>().map_err(usage)?;
    let game = &runs[0].game;
    if let Some(other) = runs.iter().find(|run| run.game.type_name() != game.type_name()) {
        let [game, other_game] = [game, &other.game].map(shared::catalog::GameSpec::type_name);
        return Err(UsageError(format!("{}: plays {other_game}, not {game}", other.name)).into());
    }
    match ChosenGame::of(game, options.terms.ply_limit) {
        Some(ChosenGame::Hive(hive)) => run_game(&hive, options, runs, out),
        Some(ChosenGame::Dama(dama)) => run_game(&dama, options, runs, out),
        None => Err(UsageError(format!("{}: there are no matches of {game}", runs[0].name)).into()),
    }
}

fn run_game<G: MatchGame>(
    game: &G,
    options: &CurveOptions,
    runs: Vec<CurveRun>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let opponents = options.opponents(G::EXPLORATION)?;
    #[cfg(feature = "network")]
    // Before threads and the first torch call: the program starts anew.
    net::cuda::preload(options.networks.device)?;
    let log = logging::LogSettings { filter: options.log.clone(), ..logging::LogSettings::default() };
    logging::init(&log).map_err(|error| UsageError(format!("--log: {error}")))?;
    let (_tokio, stop) = shutdown::listen().context("listen for signals")?;
    let axis = axis_of(&runs);
    for run in runs.iter().filter(|run| run.networks.iter().any(|network| network.pflop.is_none())) {
        warn!(run = run.name, "unknown cost: a part of the run was not counted; self-play games are the axis");
    }
    let settings = options.settings(&opponents, G::EXPLORATION);
    let matches = CurveMatches::new(game.clone(), opponents, settings, stop).map_err(usage)?;
    let every = options.every.map(|every| every as usize);
    let chosen = runs.iter().map(|run| (run.clone(), choose(&run.networks, axis, every))).collect::<Vec<_>>();
    let played = matches.play(&chosen).map_err(usage)?;
    let names = matches.opponent_names();
    let (curves, anchor) = curves(&runs, played, names, axis);
    out.write_all(table(&curves, names, &anchor).as_bytes()).context("write to stdout")?;
    for (end, text) in [("csv", csv(&curves, names)), ("svg", svg(&curves, axis, &anchor)?)] {
        let file = options.file(end);
        std::fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
        writeln!(out, "written: {}", file.display()).context("write to stdout")?;
    }
    Ok(())
}

fn usage(error: CurveError) -> anyhow::Error {
    let is_usage = error.is_usage();
    failure(error, is_usage)
}
