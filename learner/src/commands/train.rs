//! `learner train`: learns from data sets and the games of runs, for any game.

use std::path::{Path, PathBuf};

use anyhow::Context;
use learner::config::LearnerConfig;
use learner::supervised::{SupervisedTraining, TrainingFolder, TrainingPlan};
use learner::training_source::TrainingSource;
use samples::buffer::SampledGame;
use samples::dataset::identity_of;
use samples::sample_sets::SampleSets;
use samples::split::Split;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::record::Sample;
use store::GameKind;
use tracing::{info, warn};

use super::game_sources::{DataGame, GameSource, Origin, VisitGames, open_samples};
use super::supervised_args::{StartedTraining, SupervisedArgs};

/// What to learn from, how, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct TrainArgs {
    #[command(flatten)]
    how: SupervisedArgs,
    /// What to learn from: folders of runs, whose self-play games are taken, and data sets, as `learner export --dataset`
    /// writes them.
    #[arg(long, value_name = "RUN_DIR|FILE", num_args = 1..)]
    data: Vec<PathBuf>,
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
        let sets = read_sets(config, &data)?;
        info!(
            training_games = sets.training_games,
            training_positions = sets.training.position_count(),
            held_out_games = sets.held_out_games,
            held_out_positions = sets.held_out.position_count(),
            "data sets"
        );
        let (encoding, start) = (&encoding, args.how.start_network());
        let source = TrainingSource::DataSets;
        let plan = TrainingPlan { source, config, encoding, sets: &sets, start: start.as_ref(), folder: &folder };
        Ok(SupervisedTraining::open(plan, stop.clone())?.run()?)
    }
}

/// Reads the samples of data sets and runs, in their order. Damage is logged.
fn read_sets(config: &LearnerConfig, data: &[GameSource]) -> anyhow::Result<SampleSets> {
    let split = Split { seed: config.offline.seed, held_out_share: config.offline.held_out_share };
    let rule = config.training.value_target_rule();
    let mut read = SetReader { config, split, sets: SampleSets::new(rule), unsearched_count: 0, other_type_count: 0 };
    for source in data {
        source.visit(&[GameKind::SelfPlay], &mut read)?;
    }
    let SetReader { sets, unsearched_count, other_type_count, .. } = read;
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

/// Sorts games into those to learn from and those to measure with.
struct SetReader<'a> {
    config: &'a LearnerConfig,
    split: Split,
    sets: SampleSets,
    /// Positions without a search value.
    unsearched_count: usize,
    /// Games of types that are not learned from.
    other_type_count: u64,
}

impl VisitGames for SetReader<'_> {
    fn visit_game<E: Encoding>(&mut self, encoding: &E, game: &DataGame) -> anyhow::Result<()> {
        let samples = &game.samples;
        if samples.is_empty() {
            return Ok(());
        }
        if !is_taken(self.config, samples) {
            self.other_type_count += 1;
            return Ok(());
        }
        // A run knows its games by their moves, a data set by their positions: here both are known by these.
        let key = match game.origin {
            Origin::DataSet => game.identity,
            Origin::Run(_) | Origin::HumanGames => identity_of(encoding, samples),
        };
        self.unsearched_count += samples.iter().filter(|sample| sample.search_value.is_none()).count();
        self.sets.push_game(self.split.is_held_out(key), SampledGame { samples, is_cut_off: game.is_cut_off });
        Ok(())
    }

    fn hear_of_lost(&mut self, what: &str) {
        warn!(what, "not everything can be learned from");
    }
}

/// Returns whether a game is of a type that is learned from.
fn is_taken(config: &LearnerConfig, samples: &[Sample]) -> bool {
    let GameSpec::Hive { rules, .. } = config.game else { return true };
    let found = samples.first().and_then(|sample| config.game.packed_game_type(&sample.packed));
    found.is_none_or(|found| config.offline.game_types.takes(rules.game_type, found))
}

/// Opens a data set or a run of the game of the settings.
fn open(path: &Path, config: &LearnerConfig) -> anyhow::Result<GameSource> {
    let data = open_samples(path).context("data")?;
    let (found, wanted) = (data.data_set_spec(), &config.game);
    anyhow::ensure!(
        found.has_samples_of(wanted),
        "data: {} is of {}, the settings are of {}: use the --preset and the game's rules that it was made with",
        path.display(),
        serde_json::to_string(&found)?,
        serde_json::to_string(wanted)?
    );
    Ok(data)
}
