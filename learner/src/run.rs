//! One run from start to stop: what is on disk is taken up, the threads are started, and stopped again.

mod error;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use net::{Device, NetError, Network, NetworkSpec};
use networks::NetworkSource;
use runtime::auth::Token;
use runtime::exit::UsageError;
use samples::buffer::{SampleBuffer, SharedReplay};
use samples::human_games::HumanGames;
use shared::encoding::Encoding;
use shared::game::catalog::{GameSpec, GameVisitor};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::best::{BestNetwork, CurrentBest};
use crate::config::{InferenceConfig, LearnerConfig, LearnerSettings, LearningRates};
use crate::durable::DurableStore;
use crate::files::{RunFiles, check_sha256};
use crate::games::{GameRegistry, RegistryLimits, mix_seed};
use crate::inference::{BatchSettings, InferenceBackend, InferenceHandle, NetworkBackend};
use crate::pipeline::{Ended, Pipeline, PipelineEvents, ProgressReporter, ProgressSources, TICK};
use crate::replay::{read_human_games, rebuild};
use crate::services::{InferenceService, RunStatus, Services, WorkersService, serve};
use crate::start_network::{self, StartNetworkError, network_of};
use crate::store::{DATABASE_FILE, Reader, RunRow, Store, StoreError};
use crate::trainer::{TrainerHandle, TrainerParts, first_network};

pub use error::RunError;

/// Runs until `stop` or the last iteration.
///
/// # Errors
/// [`RunError`].
pub fn run(
    settings: LearnerSettings,
    listener: TcpListener,
    tokio: &tokio::runtime::Runtime,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let inference = settings.inference.clone();
    run_with(settings, listener, tokio, stop, move |files, network| {
        let device = net::open_device(inference.device)?;
        if inference.threads > 0 {
            net::set_threads(inference.threads);
        }
        Ok(NetworkBackend::new(files, network, device, inference.batch_sizes, inference.networks_max))
    })
}

/// Runs with a backend of the caller's, made on the inference thread: how benchmarks measure all but the network.
///
/// # Errors
/// As [`run`].
pub fn run_with<V: InferenceBackend>(
    settings: LearnerSettings,
    listener: TcpListener,
    tokio: &tokio::runtime::Runtime,
    stop: CancellationToken,
    make_backend: impl FnOnce(RunFiles, NetworkSpec) -> Result<V, NetError> + Send + 'static,
) -> Result<(), RunError> {
    let game = settings.game.clone();
    game.visit(Run { settings, listener, tokio, stop, make_backend })?
}

/// A run of a game that is still to be chosen.
struct Run<'a, F> {
    settings: LearnerSettings,
    listener: TcpListener,
    tokio: &'a tokio::runtime::Runtime,
    stop: CancellationToken,
    make_backend: F,
}

/// What is on disk, taken up.
struct TakenUp<E: Encoding> {
    files: RunFiles,
    network: NetworkSpec,
    store: DurableStore,
    replay: Arc<SharedReplay>,
    human_games: Option<HumanGames>,
    registry: Arc<GameRegistry<E>>,
    best: Arc<BestNetwork>,
    /// Whether generation 0 was made from a network.
    is_from_network: bool,
}

impl<V, F> GameVisitor for Run<'_, F>
where
    V: InferenceBackend,
    F: FnOnce(RunFiles, NetworkSpec) -> Result<V, NetError> + Send + 'static,
{
    type Output = Result<(), RunError>;

    fn visit<E: Encoding>(self, encoding: E) -> Result<(), RunError> {
        let token = self.settings.server.token_file.as_deref().map(Token::from_file).transpose()?;
        // Training starts only after the first games: a device that is missing is reported now.
        net::open_device(self.settings.training.device).map_err(RunError::TrainingDevice)?;
        let taken_up = take_up(&self.settings, &encoding, &self.stop)?;
        let (inference, inference_thread) =
            start_inference(&self.settings.inference, &encoding, &taken_up, self.make_backend)?;
        let status = Arc::new(RunStatus::default());
        show_start(&status, &taken_up);
        let tokio = self.tokio.handle();
        let pipeline = make_pipeline(&self.settings, &encoding, &taken_up, &inference, &status, &self.stop, tokio)?;
        let services = make_services(&self.settings, &taken_up, inference, status, &self.stop);
        let pipeline = std::thread::Builder::new().name("pipeline".to_owned()).spawn(move || pipeline.run());
        let pipeline = pipeline.map_err(|source| RunError::Thread { name: "pipeline", source })?;
        let deadline = self.settings.server.drain_deadline;
        let served = self.tokio.block_on(serve(services, self.listener, token.as_ref(), self.stop.clone(), deadline));
        // A server that failed stops the pipeline too.
        self.stop.cancel();
        let ended = pipeline.join().map_err(|_| RunError::PipelineDied)?;
        await_end(&inference_thread, deadline);
        served?;
        match ended? {
            Ended::Stopped => info!("stopped; started again, the run goes on from here"),
            Ended::IterationsDone => info!("done"),
        }
        log_best(&taken_up, &self.settings.game);
        Ok(())
    }
}

/// Names the network that the run leaves behind.
fn log_best<E: Encoding>(taken_up: &TakenUp<E>, game: &GameSpec) {
    let CurrentBest { network_id, generation } = taken_up.best.get();
    let file = taken_up.files.network(network_id);
    info!(file = %file.display(), generation = generation.get(), game = game.name(), "best network");
}

/// Waits for a thread whose work has been taken away.
fn await_end(thread: &JoinHandle<()>, deadline: Duration) {
    let started_at = Instant::now();
    while !thread.is_finished() {
        if started_at.elapsed() > deadline {
            warn!("the inference thread is still at work: leaving it");
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn take_up<E: Encoding>(
    config: &LearnerConfig,
    encoding: &E,
    stop: &CancellationToken,
) -> Result<TakenUp<E>, RunError> {
    // Before anything is made: a network or games that are not there must not leave half a run behind.
    let files = RunFiles::new(&config.run.dir);
    let start = config.run.start_network.as_deref().map(network_of);
    let network = NetworkSpec::new(&config.game, config.network)?;
    check_start_network(start.as_ref(), &files, &network)?;
    let human_games = read_human_games(config)?;
    files.create().map_err(folder_error(&files, "create"))?;
    check_not_orphaned(&files)?;
    let store = Arc::new(Store::open(files.dir(), &run_row(config)?).map_err(RunError::OpenStore)?);
    let durable = DurableStore::new(Arc::clone(&store), stop.clone());
    let reader = store.reader()?;
    let is_new = reader.best_network()?.is_none();
    let is_from_network = is_run_from_network(&reader, config)?;
    if !is_new {
        if let Some(start) = &start {
            info!(passed_over = %start, "the run goes on with its own network; another one is for a new run");
        }
    } else {
        let from = start.as_ref().map_or("random weights".into(), ToString::to_string);
        info!(from, "new run: making network 1, generation 0");
        first_network(&files, &network, store.run().seed, start.as_ref(), &durable).map_err(RunError::FirstNetwork)?;
    }
    show_learning_rates(config, is_from_network);
    let best = Arc::new(take_up_best(&files, &reader, &network)?);
    let replay = Arc::new(fill_replay(config, encoding, &store, &reader)?);
    let limits = RegistryLimits { lease: config.server.lease, ..RegistryLimits::default() };
    let registry = GameRegistry::open(encoding.clone(), Arc::clone(&store), Arc::clone(&replay), limits);
    let registry = Arc::new(registry.map_err(RunError::Games)?);
    Ok(TakenUp { files, network, store: durable, replay, human_games, registry, best, is_from_network })
}

/// Returns whether generation 0 of the run was, or of a new run will be, made from a network.
fn is_run_from_network(reader: &Reader, config: &LearnerConfig) -> Result<bool, StoreError> {
    Ok(match reader.best_network()? {
        Some(_) => reader.run()?.start_network.is_some(),
        None => config.run.start_network.is_some(),
    })
}

/// Logs once that the run learns at other rates than one from random weights.
fn show_learning_rates(config: &LearnerConfig, is_from_network: bool) {
    if is_from_network {
        let LearningRates { first, last } = config.training.learning_rates(true);
        info!(
            learning_rate_first = first,
            learning_rate_last = last,
            "the run started from a network: training.learning_rate_max_from_network counts"
        );
    }
}

/// Returns a comment for the printed settings that says which learning rates count, if it is not those of a run from
/// random weights; empty otherwise.
#[must_use]
pub fn learning_rate_note(config: &LearnerConfig) -> String {
    let reader = Reader::of_run(&config.run.dir);
    // Without a store that can be read the run is a new one.
    let is_from_network = reader.and_then(|reader| is_run_from_network(&reader, config));
    let is_from_network = is_from_network.unwrap_or(config.run.start_network.is_some());
    if !is_from_network {
        return String::new();
    }
    let LearningRates { first, last } = config.training.learning_rates(true);
    format!(
        "# This run starts from a network: its learning rate falls from {first} to {last} \
         (training.learning_rate_max_from_network).\n\n"
    )
}

/// Refuses a network that is not there, plays another game or has another shape, if the run is new: one that exists has
/// its own.
fn check_start_network(start: Option<&NetworkSource>, files: &RunFiles, wanted: &NetworkSpec) -> Result<(), RunError> {
    let Some(source) = start.filter(|_| !files.dir().join(DATABASE_FILE).is_file()) else { return Ok(()) };
    let file = start_network::open_as(source, wanted).map_err(|error| match error {
        StartNetworkError::Missing(_) => RunError::NoStartNetwork(UsageError(error.to_string())),
        error => RunError::StartNetwork(error),
    })?;
    file.load_as(wanted, Device::CPU).map(drop).map_err(|error| RunError::StartNetwork(error.into()))
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

fn take_up_best(files: &RunFiles, reader: &Reader, wanted: &NetworkSpec) -> Result<BestNetwork, RunError> {
    let row = reader.best_network()?.ok_or(RunError::NoBestNetwork)?;
    let file = files.dir().join(&row.network.file);
    check_sha256(&file, &row.network.sha256).map_err(RunError::BestNetworkFile)?;
    Network::check_file(&file, wanted).map_err(RunError::OtherBestNetwork)?;
    let current = CurrentBest { network_id: row.network.network_id, generation: row.generation.unwrap_or_default() };
    let (network_id, generation) = (current.network_id.get(), current.generation.get());
    info!(network_id, generation, training_step = row.network.training_step, "best network");
    Ok(BestNetwork::new(current))
}

fn fill_replay<E: Encoding>(
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
    let (buffer, report) = rebuild(encoding, store, buffer, window_end).map_err(RunError::Rebuild)?;
    let elapsed = started_at.elapsed().unwrap_or_default();
    info!(
        games = report.game_count,
        positions = buffer.position_count(),
        seconds = elapsed.as_secs_f32(),
        "replay buffer rebuilt"
    );
    Ok(SharedReplay::new(buffer))
}

fn start_inference<E: Encoding, V: InferenceBackend>(
    config: &InferenceConfig,
    encoding: &E,
    taken_up: &TakenUp<E>,
    make_backend: impl FnOnce(RunFiles, NetworkSpec) -> Result<V, NetError> + Send + 'static,
) -> Result<(InferenceHandle, JoinHandle<()>), RunError> {
    let (files, network) = (taken_up.files.clone(), taken_up.network.clone());
    let settings = BatchSettings {
        leaf_count_max: config.batch_leaves_max as usize,
        wait_max: Duration::from_micros(config.batch_wait_us_max),
        queue_length_max: config.queue_batches_max,
    };
    let best = Arc::clone(&taken_up.best);
    Ok(InferenceHandle::start(encoding.clone(), settings, best, move || make_backend(files, network))?)
}

fn make_pipeline<E: Encoding>(
    settings: &LearnerSettings,
    encoding: &E,
    taken_up: &TakenUp<E>,
    inference: &InferenceHandle,
    status: &Arc<RunStatus>,
    stop: &CancellationToken,
    tokio: &tokio::runtime::Handle,
) -> Result<Pipeline<E>, RunError> {
    let parts = TrainerParts {
        encoding: encoding.clone(),
        settings: settings.trainer(taken_up.is_from_network),
        network: taken_up.network.clone(),
        files: taken_up.files.clone(),
        store: taken_up.store.clone(),
        replay: Arc::clone(&taken_up.replay),
        human_games: taken_up.human_games.clone(),
        seed: taken_up.store.store().run().seed,
        stop: stop.clone(),
    };
    let trainer = TrainerHandle::start(parts).map_err(|source| RunError::Thread { name: "trainer", source })?;
    let sources = ProgressSources {
        registry: Arc::clone(&taken_up.registry),
        replay: Arc::clone(&taken_up.replay),
        inference: inference.counters(),
        batch_leaf_count_max: settings.inference.batch_leaves_max,
    };
    Ok(Pipeline {
        settings: settings.pipeline(),
        registry: Arc::clone(&taken_up.registry),
        replay: Arc::clone(&taken_up.replay),
        store: taken_up.store.clone(),
        trainer,
        best: Arc::clone(&taken_up.best),
        events: PipelineEvents::new(tokio.clone(), taken_up.registry.subscribe(), stop.clone(), TICK),
        reporter: ProgressReporter::new(sources, Arc::clone(status)),
        stop: stop.clone(),
        is_self_play_paused: false,
    })
}

fn make_services<E: Encoding>(
    settings: &LearnerSettings,
    taken_up: &TakenUp<E>,
    inference: InferenceHandle,
    status: Arc<RunStatus>,
    stop: &CancellationToken,
) -> Services<E> {
    let in_flight_max = settings.server.batches_in_flight_max as usize;
    let (registry, best) = (Arc::clone(&taken_up.registry), Arc::clone(&taken_up.best));
    Services {
        workers: WorkersService::new(settings.join_terms(), registry, best, Arc::clone(&status)),
        inference: InferenceService::new(inference, in_flight_max, stop.clone()),
        status,
    }
}

fn show_start<E: Encoding>(status: &RunStatus, taken_up: &TakenUp<E>) {
    let best = taken_up.best.get();
    let run_id = taken_up.store.store().run().run_id.clone();
    status.update(|shown| {
        shown.run_id = run_id;
        shown.best_network_id = best.network_id.get();
        shown.generation = best.generation.get();
    });
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
