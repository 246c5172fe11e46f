//! The flags of `alveare curve`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use arena::curve::CurveSettings;
use arena::matches::MatchSettings;
use arena::players::{EngineBounds, PlayerDefaults, PlayerSpec, read_exploration};
use runtime::exit::UsageError;
use runtime::flags::number_in;
use shared::search::SearchSettings;

use crate::matches::GameTerms;
#[cfg(feature = "network")]
use crate::matches::NetworkTerms;

/// Opponents unless others are named: from one that every network beats to one that few do.
const OPPONENTS: [&str; 4] = ["random", "mcts:400", "mcts:1600", "ready"];
/// Longest wait for an outside engine's answer that has no time limit of its own.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(300);
/// How much later than its time an engine's move may come.
const TIME_MARGIN: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  alveare curve run
      About eight networks of a run, spread evenly over what it cost: table, run/curve.csv and run/curve.svg.
  alveare curve run --games 100
      The same with more games: those played before are not played again.
  alveare curve run-a run-b --out compare
      Two runs in one picture, compare.svg: which method makes more of the same work?
  alveare curve run --against random --against 'uhp@time=100ms:nokamute uhp' --every 5
      Other opponents, and every fifth network that was promoted.";

/// Shows how strong runs became, and what that cost.
///
/// Networks that were promoted play fixed opponents, pairs of games from one random opening with colours swapped. Elo is
/// what makes all results together likeliest, on one scale for all runs, so their lines can be compared. It is shown over
/// the floating-point operations that the run took until then, evaluations and training together: the same work gives the
/// same cost on every machine. A run that began before costs were counted is shown over its self-play games.
///
/// Games are played in this process and kept in curve.db in the folder of the run, pair by pair: the command may be stopped
/// and called again, and plays only what is missing. A learner may be at work in the run meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CurveOptions {
    /// Folders of runs of the same game.
    #[arg(value_name = "RUN_DIR", required = true)]
    pub(super) runs: Vec<PathBuf>,
    /// An opponent, written as for `alveare match`; may be given again. By default random, mcts:400, mcts:1600 and ready.
    #[arg(long, value_name = "PLAYER")]
    against: Vec<String>,
    /// Games of each network against each opponent, an even number: they come in pairs.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: u32,
    /// Simulations a move of networks.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(SearchSettings::SIMULATION_COUNTS))]
    simulations: u32,
    /// Takes every K-th promoted network, first and last always, instead of about eight spread evenly.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) every: Option<u32>,
    /// Exploration constant of the searches of networks; by default 1.25, for draughts 1.
    #[arg(long, value_name = "C", value_parser = read_exploration)]
    exploration: Option<f32>,
    #[command(flatten)]
    pub(super) terms: GameTerms,
    /// Files to write, without their endings: PATH.csv and PATH.svg; by default `curve` in the first run's folder.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[cfg(feature = "network")]
    #[command(flatten)]
    pub(super) networks: NetworkTerms,
    /// What is logged, such as info for a line each half minute.
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    pub(super) log: String,
}

impl CurveOptions {
    /// Reads the opponents in a game in which networks search with `usual_exploration`.
    ///
    /// # Errors
    /// [`UsageError`] for a text that is not a player, an odd number of games, or an opening as long as the game.
    pub(super) fn opponents(&self, usual_exploration: f32) -> Result<Vec<PlayerSpec>, UsageError> {
        let Self { games, simulations, .. } = *self;
        if !games.is_multiple_of(2) {
            return Err(UsageError(format!("--games {games}: odd, but games come in pairs")));
        }
        self.terms.check()?;
        let exploration = self.exploration.unwrap_or(usual_exploration);
        let defaults = PlayerDefaults { simulation_count: simulations, exploration, limit: None };
        let usual = OPPONENTS.map(str::to_owned).to_vec();
        let texts = if self.against.is_empty() { &usual } else { &self.against };
        let player = |text: &String| PlayerSpec::parse(text, &defaults).map_err(|error| UsageError(error.to_string()));
        texts.iter().map(player).collect()
    }

    /// Returns how the games against these opponents are played.
    pub(super) fn settings(&self, opponents: &[PlayerSpec], usual_exploration: f32) -> CurveSettings {
        CurveSettings {
            pair_count: self.games as usize / 2,
            simulation_count: self.simulations,
            exploration: self.exploration.unwrap_or(usual_exploration),
            opening_plies: self.terms.opening_plies,
            ply_limit: self.terms.ply_limit,
            seed: self.terms.seed,
            matches: MatchSettings {
                games_at_once: self.terms.games_at_once(opponents),
                engine_bounds: EngineBounds { answer_wait_max: ANSWER_WAIT_MAX, time_margin: TIME_MARGIN },
                #[cfg(feature = "network")]
                networks: self.networks.settings(),
            },
        }
    }

    /// Returns the file with this ending that is written.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        let mut file: OsString = self.out.clone().unwrap_or_else(|| self.runs[0].join("curve")).into_os_string();
        file.push(format!(".{ending}"));
        file.into()
    }
}
