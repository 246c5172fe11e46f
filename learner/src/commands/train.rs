//! `learner train`: learns from data sets, for any game.

use std::path::{Path, PathBuf};

use anyhow::Context;
use learner::config::LearnerConfig;
use learner::start_network::network_of;
use learner::supervised::{SupervisedTraining, TrainingFolder, TrainingPlan};
use learner::training_source::TrainingSource;
use rayon::prelude::*;
use samples::buffer::SampledGame;
use samples::dataset::{DataSet, DataSetGame, identity_of};
use samples::sample_sets::SampleSets;
use samples::split::Split;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use tracing::{info, warn};

use super::supervised_args::{StartedTraining, SupervisedArgs};

/// What to learn from, how, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct TrainArgs {
    #[command(flatten)]
    how: SupervisedArgs,
    /// Data sets to learn from, as `learner export --dataset` writes them.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// Network to start from, of the shape that the settings give: a file, the folder of a training, or ready (the one that
    /// this program carries); none: random weights.
    #[arg(long, value_name = "FILE|ready")]
    network: Option<PathBuf>,
    /// Folder of the checkpoint, the history and the result, trained.safetensors.
    #[arg(long, value_name = "DIR", default_value = "trained")]
    checkpoint_dir: PathBuf,
}

/// Learns from data sets until done or told to stop.
///
/// # Errors
/// Invalid settings, data sets that cannot be read, files that cannot be written, a loss that is not finite.
pub fn train(args: &TrainArgs) -> anyhow::Result<()> {
    let Some(started) = args.how.start(TrainingSource::DataSets, |_| !args.data.is_empty())? else { return Ok(()) };
    let ended = started.config.game.visit(Training { args, started: &started })?;
    started.end();
    ended
}

/// A training for a game that is still to be chosen.
struct Training<'a> {
    args: &'a TrainArgs,
    started: &'a StartedTraining,
}

impl GameVisitor for Training<'_> {
    type Output = anyhow::Result<()>;

    fn visit<E: Encoding>(self, encoding: E) -> anyhow::Result<()> {
        let Self { args, started: StartedTraining { config, stop, .. } } = self;
        // Before the folder is created: a wrong file leaves none behind.
        let data = args.data.iter().map(|path| open(path, config)).collect::<anyhow::Result<Vec<_>>>()?;
        let folder = TrainingFolder::open(&args.checkpoint_dir, TrainingSource::DataSets)?;
        let sets = read_sets(&encoding, config, data)?;
        info!(
            training_games = sets.training_games,
            training_positions = sets.training.position_count(),
            held_out_games = sets.held_out_games,
            held_out_positions = sets.held_out.position_count(),
            "data sets"
        );
        let (encoding, start) = (&encoding, args.network.as_deref().map(network_of));
        let source = TrainingSource::DataSets;
        let plan = TrainingPlan { source, config, encoding, sets: &sets, start: start.as_ref(), folder: &folder };
        Ok(SupervisedTraining::open(plan, stop.clone())?.run()?)
    }
}

/// Reads the samples of data sets, in their order. Damage is logged.
fn read_sets<E: Encoding>(encoding: &E, config: &LearnerConfig, data: Vec<DataSet>) -> anyhow::Result<SampleSets> {
    let split = Split { seed: config.offline.seed, held_out_share: config.offline.held_out_share };
    let rule = config.training.value_target_rule();
    let mut sets = SampleSets::new(rule);
    let (mut unsearched_count, mut other_type_count) = (0_usize, 0_u64);
    for mut data in data {
        while let Some(games) = data.next_games()? {
            let found_count = games.len();
            let games: Vec<_> = games.into_iter().filter(|game| is_taken(config, game)).collect();
            other_type_count += (found_count - games.len()) as u64;
            let keys: Vec<u64> = games.par_iter().map(|game| identity_of(encoding, &game.samples)).collect();
            for (game, key) in games.iter().zip(keys) {
                unsearched_count += game.samples.iter().filter(|sample| sample.search_value.is_none()).count();
                let sampled = SampledGame { samples: &game.samples, is_cut_off: game.is_cut_off };
                sets.push_game(split.is_held_out(key), sampled);
            }
        }
        if let Some(loss) = data.loss() {
            warn!(loss, "data set is not whole");
        }
    }
    if other_type_count > 0 {
        info!(games = other_type_count, "left out: of another type (offline.game_types)");
    }
    anyhow::ensure!(
        unsearched_count == 0 || !rule.needs_search(),
        "training.value_target: {unsearched_count} positions have no search value; set it to outcome, and \
         training.cut_off_target to draw"
    );
    Ok(sets)
}

/// Returns whether a game is of a type that is learned from.
fn is_taken(config: &LearnerConfig, game: &DataSetGame) -> bool {
    let GameSpec::Hive { rules, .. } = config.game else { return true };
    let found = game.samples.first().and_then(|sample| config.game.packed_game_type(&sample.packed));
    found.is_none_or(|found| config.offline.game_types.takes(rules.game_type, found))
}

fn open(path: &Path, config: &LearnerConfig) -> anyhow::Result<DataSet> {
    let data = DataSet::open(path).context("data")?;
    let (found, wanted) = (data.spec(), &config.game);
    anyhow::ensure!(
        found.has_samples_of(wanted),
        "data: {} is of {}, the settings are of {}: use the --preset and the game's rules that it was made with",
        path.display(),
        serde_json::to_string(found)?,
        serde_json::to_string(wanted)?
    );
    Ok(data)
}
