//! Taking up a run: what is on disk is checked and loaded, and made where it is missing.

use std::sync::Arc;
use std::time::SystemTime;

use inference::best::{BestNetwork, CurrentBest};
use net::{Device, NetError, Network, NetworkSpec};
use networks::NetworkSource;
use registry::{GameRegistry, GrantSettings, RegistryLimits, rebuild};
use runtime::exit::{UsageError, one_line};
use samples::buffer::{ReplaySets, SampleBuffer, SharedReplay};
use samples::split::Split;
use shared::encoding::Encoding;
use shared::seed::mix_seed;
use store::durable::DurableStore;
use store::files::{RunFiles, check_sha256};
use store::{CheckpointRow, DATABASE_FILE, Reader, RunRow, Store, StoreError};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::RunError;
use super::learning_rates::{is_run_from_network, log_learning_rates};
use crate::best_file::mend_best_file;
use crate::config::LearnerConfig;
use crate::human_share::{RunHumanGames, read_human_games};
use crate::start_network;
use crate::trainer::{TrainerError, first_network};

/// What is on disk, taken up.
pub(super) struct TakenUp<E: Encoding> {
    pub(super) files: RunFiles,
    pub(super) network: NetworkSpec,
    pub(super) store: DurableStore,
    pub(super) replay: Arc<SharedReplay>,
    pub(super) human_games: RunHumanGames,
    pub(super) registry: Arc<GameRegistry<E>>,
    pub(super) best: Arc<BestNetwork>,
    /// Whether generation 0 was made from a network.
    pub(super) is_from_network: bool,
}

/// Takes up the run in the run directory, or makes it.
///
/// # Errors
/// [`RunError`] naming the step that failed.
pub(super) fn take_up<E: Encoding>(
    config: &LearnerConfig,
    encoding: &E,
    stop: &CancellationToken,
) -> Result<TakenUp<E>, RunError> {
    // Before anything is made: a network or games that are not there must not leave half a run behind.
    let files = RunFiles::new(&config.run.dir);
    let source = config.run.start_network.as_deref().map(NetworkSource::from);
    let network = NetworkSpec::new(&config.game, config.network)?;
    let has_database = files.dir().join(DATABASE_FILE).is_file();
    let start = source.as_ref().filter(|_| !has_database).map(|source| load_start_network(source, &network));
    let start = start.transpose()?;
    let human_games = read_human_games(config)?;
    files.create().map_err(folder_error(&files, "create"))?;
    check_not_orphaned(&files)?;
    let store = Arc::new(open_store(&files, config)?);
    let unfinished = files.delete_unfinished().map_err(folder_error(&files, "clean up"))?;
    if unfinished > 0 {
        info!(files = unfinished, "deleted what was being written when the learner was killed");
    }
    let durable = DurableStore::new(Arc::clone(&store), stop.clone());
    let reader = store.reader()?;
    let is_new = reader.best_network()?.is_none();
    let is_from_network = is_run_from_network(&reader, config)?;
    if !is_new {
        if let Some(source) = &source {
            check_origin(source, &reader.run()?, &files)?;
            info!(began_from = %source, "the run goes on with its own networks");
        }
    } else {
        let from = source.as_ref().map_or("random weights".into(), ToString::to_string);
        info!(from, "new run: making network 1, generation 0");
        let first = match (start, &source) {
            (Some(start), _) => start,
            // The learner was killed when it had made no more than the database.
            (None, Some(source)) => load_start_network(source, &network)?,
            (None, None) => random_network(&network, store.run().seed)?,
        };
        first_network(&files, first, source.as_ref(), &durable).map_err(RunError::FirstNetwork)?;
    }
    check_checkpoints(&files, &reader)?;
    log_learning_rates(config, is_from_network);
    let best = Arc::new(take_up_best(&files, &reader, &network)?);
    mend_best_file(&files, best.get().network_id)
        .map_err(|source| RunError::BestFile { path: files.best(), source })?;
    let replay = Arc::new(fill_replay(config, encoding, &store, &reader)?);
    let grants = GrantSettings {
        // One is evaluated in any case.
        batches_waiting: config.inference.batches_waiting + config.inference.batches_at_once - 1,
        games_first: config.server.worker_games_first as usize,
    };
    let limits = RegistryLimits {
        lease: config.server.lease,
        idle_leases_max: config.server.idle_leases_max,
        grants,
        ..RegistryLimits::default()
    };
    let registry = GameRegistry::open(encoding.clone(), Arc::clone(&store), Arc::clone(&replay), limits);
    let registry = registry.map_err(RunError::Games)?.with_resignation(config.self_play.resignation());
    let registry = Arc::new(registry);
    Ok(TakenUp { files, network, store: durable, replay, human_games, registry, best, is_from_network })
}

/// Refuses a network that a run is to start from but did not: it goes on with its own ones, and would pass that one over.
/// The command that began a run also goes on with it, and so does one that names the run itself.
fn check_origin(named: &NetworkSource, run: &RunRow, files: &RunFiles) -> Result<(), RunError> {
    let is_origin = run.start_network.as_deref().is_some_and(|origin| start_network::is_origin(named, origin));
    // A learner that was killed early left a run whose best.safetensors is still to be written.
    let is_run = |file| [&files.best(), files.dir()].iter().any(|own| start_network::is_same_file(file, own));
    if is_origin || named.file().is_some_and(is_run) {
        return Ok(());
    }
    Err(RunError::OtherOrigin(UsageError(format!(
        "{} holds a run that began from {} and would pass {named} over: leave out --resume (of containers, set \
         ALVEARE_RESUME= ) to go on with it, or name another --run-dir to begin a new run",
        files.dir().display(),
        run.start_network.as_deref().unwrap_or("random weights"),
    ))))
}

/// Loads the network that a new run starts from. One that is not there, plays another game or has another shape is
/// refused.
fn load_start_network(source: &NetworkSource, wanted: &NetworkSpec) -> Result<Network, RunError> {
    let file = start_network::open_as(source, wanted).map_err(|error| match error {
        error if error.is_usage() => RunError::OtherStartNetwork(UsageError(one_line(&error))),
        error => RunError::StartNetwork(error),
    })?;
    file.load_as(wanted, Device::CPU).map_err(|error| RunError::StartNetwork(error.into()))
}

fn open_store(files: &RunFiles, config: &LearnerConfig) -> Result<Store, RunError> {
    Store::open(files.dir(), &run_row(config)?).map_err(|error| match error {
        StoreError::OtherGame { .. } => RunError::OtherRun(UsageError(one_line(&error))),
        error => RunError::OpenStore(error),
    })
}

fn random_network(wanted: &NetworkSpec, seed: u64) -> Result<Network, RunError> {
    Network::random(wanted, Device::CPU, seed).map_err(|error| RunError::FirstNetwork(error.into()))
}

/// Refuses networks without their database: a new run would write over them.
fn check_not_orphaned(files: &RunFiles) -> Result<(), RunError> {
    let has_database = files.dir().join(DATABASE_FILE).metadata().is_ok_and(|file| file.len() > 0);
    if !has_database && files.has_networks().map_err(folder_error(files, "read"))? {
        return Err(RunError::NetworksWithoutDatabase { dir: files.dir().to_owned() });
    }
    Ok(())
}

fn folder_error(files: &RunFiles, action: &'static str) -> impl FnOnce(std::io::Error) -> RunError {
    let path = files.dir().to_owned();
    move |source| RunError::Folder { action, path, source }
}

/// Refuses a run that could not train: it would say so only once all games of the iteration are played.
pub(crate) fn check_checkpoints(files: &RunFiles, reader: &Reader) -> Result<(), RunError> {
    let is_whole = |row: &CheckpointRow| check_sha256(&files.dir().join(&row.file), &row.sha256).is_ok();
    let none = || RunError::NoCheckpoint(TrainerError::NoCheckpoint { dir: files.dir().to_owned() });
    if reader.checkpoints()?.iter().any(is_whole) { Ok(()) } else { Err(none()) }
}

fn take_up_best(files: &RunFiles, reader: &Reader, wanted: &NetworkSpec) -> Result<BestNetwork, RunError> {
    let row = reader.best_network()?.ok_or(RunError::NoBestNetwork)?;
    let file = files.dir().join(&row.network.file);
    check_sha256(&file, &row.network.sha256).map_err(RunError::BestNetworkFile)?;
    Network::check_file(&file, wanted).map_err(|error| match error {
        NetError::OtherGame { .. } | NetError::Mismatch { .. } => RunError::OtherRun(UsageError(format!(
            "best network: use another run directory, or the run's settings: {error}"
        ))),
        error => RunError::BestNetwork(error),
    })?;
    let current = CurrentBest { network_id: row.network.network_id, generation: row.generation.unwrap_or_default() };
    let (network_id, generation) = (current.network_id.get(), current.generation.get());
    info!(network_id, generation, training_step = row.network.training_step, "best network");
    Ok(BestNetwork::new(current))
}

pub(crate) fn fill_replay<E: Encoding>(
    config: &LearnerConfig,
    encoding: &E,
    store: &Store,
    reader: &Reader,
) -> Result<SharedReplay, RunError> {
    let started_at = SystemTime::now();
    // An iteration whose training was cut short must find the window that it had.
    let open = reader.last_iteration()?.filter(|iteration| !iteration.state.is_finished());
    let window_end = open.and_then(|iteration| iteration.window_finish_number).unwrap_or(u64::MAX);
    let buffer = SampleBuffer::new(u64::from(config.replay.position_count_max))
        .with_value_target(config.training.value_target_rule());
    let sets = hold_out(config, store, ReplaySets::from(buffer));
    let (sets, report) = rebuild(encoding, store, sets, window_end).map_err(RunError::Rebuild)?;
    let elapsed = started_at.elapsed().unwrap_or_default();
    info!(
        games = report.game_count,
        positions = sets.position_count(),
        seconds = format!("{:.1}", elapsed.as_secs_f32()),
        "replay buffer rebuilt"
    );
    Ok(SharedReplay::new(sets))
}

/// Holds out the share of the games that the settings want.
fn hold_out(config: &LearnerConfig, store: &Store, sets: ReplaySets) -> ReplaySets {
    let held_out_share = config.replay.held_out_share;
    if held_out_share == 0.0 {
        return sets;
    }
    sets.with_held_out(
        Split { seed: store.run().seed, held_out_share },
        u64::from(config.replay.held_out_positions_max),
    )
}

/// Describes the run as the store keeps it.
fn run_row(config: &LearnerConfig) -> Result<RunRow, RunError> {
    let now = SystemTime::now();
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let run_number = mix_seed(u64::from(std::process::id()), since_epoch.as_nanos() as u64);
    Ok(RunRow {
        run_id: format!("{run_number:016x}"),
        created_at: humantime::format_rfc3339_seconds(now).to_string(),
        game: serde_json::to_string(&config.game).map_err(RunError::Settings)?,
        config: serde_json::to_string(config).map_err(RunError::Settings)?,
        seed: config.run.seed,
        start_network: None,
    })
}
