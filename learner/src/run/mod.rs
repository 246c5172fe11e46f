//! One run from start to stop: what is on disk is taken up, the threads are started, and stopped again.

mod backing_up;
mod cosine_length;
mod edge;
mod error;
mod learning_rates;
mod observing;
mod show_page;
mod take_up;
mod upkeep_thread;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use inference::best::CurrentBest;
use inference::{InferenceBackend, InferenceHandle};
use net::{NetError, NetworkSpec};
use registry::{RegistryLimits, StartPlan};
use runtime::auth::Token;
use runtime::connections::ConnectionLimits;
use runtime::tls::server::ServerTls;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use store::files::RunFiles;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::{InferenceConfig, LearnerSettings, SelfPlayConfig};
use crate::devices::network_backend;
use crate::gate_check::GateCheck;
use crate::human_share::RunHumanGames;
use crate::pipeline::{CostMeter, Ended, Pipeline, PipelineEvents, ProgressReporter, ProgressSources, TICK, WorkTime};
use crate::progress::{RunObserver, RunStatus};
use crate::services::{
    InferenceService, JoinedWorkers, LoadMeter, RemoteInferenceService, ServiceLimits, Services, WorkerCalls,
    WorkersService, serve,
};
use crate::tensorboard::TensorBoardLog;
use crate::trainer::{TrainerHandle, TrainerParts};

use backing_up::{note_stop, start_backup};
pub use cosine_length::{CosineSource, settle_cosine_length};
use edge::{connection_limits, read_tls};
pub use error::RunError;
pub use learning_rates::learning_rate_note;
use observing::{bind_metrics, make_observer, note_processor, reader_tokens, show_metrics, tell_webhook, watch};
use show_page::{bind_page, show_page};
use take_up::{TakenUp, take_up};
#[cfg(test)]
pub(crate) use take_up::{check_checkpoints, fill_replay};
use upkeep_thread::start_upkeep;

/// Runs until `stop` or the last iteration.
///
/// # Errors
/// [`RunError`]: a device, network, token or certificate that cannot be used, a run directory or store that cannot be read
/// or written, games that cannot be learned from, a thread that fails.
pub fn run(
    settings: LearnerSettings,
    listener: TcpListener,
    tokio: &tokio::runtime::Runtime,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let inference = settings.inference.clone();
    // Here too, not on the inference threads alone: a device that is missing leaves no run directory behind.
    for device in inference.devices() {
        net::open_device(device).map_err(RunError::InferenceDevice)?;
    }
    run_with(settings, listener, tokio, stop, move |number, files, network| {
        network_backend(&inference, number, files, network)
    })
}

/// Runs with backends of the caller's, made on the inference threads by their number: how benchmarks measure all but the network.
///
/// # Errors
/// As [`run`].
pub fn run_with<V: InferenceBackend>(
    settings: LearnerSettings,
    listener: TcpListener,
    tokio: &tokio::runtime::Runtime,
    stop: CancellationToken,
    make_backend: impl Fn(usize, RunFiles, NetworkSpec) -> Result<V, NetError> + Clone + Send + 'static,
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

impl<V, F> GameVisitor for Run<'_, F>
where
    V: InferenceBackend,
    F: Fn(usize, RunFiles, NetworkSpec) -> Result<V, NetError> + Clone + Send + 'static,
{
    type Output = Result<(), RunError>;

    fn visit<E: Encoding>(self, encoding: E) -> Result<(), RunError> {
        let tokens = self.settings.server.token_files().map(|(_, role, file)| Ok((Token::from_file(file)?, role)));
        let tokens = tokens.collect::<Result<Vec<_>, RunError>>()?;
        let tls = read_tls(&self.settings.server)?;
        // Training starts only after the first games: a device that is missing is reported now.
        net::open_device(self.settings.training.device).map_err(RunError::TrainingDevice)?;
        let metrics_listener = self.tokio.block_on(bind_metrics(&self.settings.metrics))?;
        let page_listener = self.tokio.block_on(bind_page(&self.settings.page))?;
        let taken_up = take_up(&self.settings, &encoding, &self.stop)?;
        let (inference, inference_threads) =
            start_inference(&self.settings.inference, &encoding, &taken_up, self.make_backend)?;
        let status = Arc::new(RunStatus::default());
        tell_webhook(&self.settings, &taken_up, &status, self.tokio.handle(), &self.stop)?;
        let observer = make_observer(&self.settings, &taken_up, &inference, &status, &tokens);
        note_processor(&self.settings, &status);
        let tokio = self.tokio.handle();
        let pipeline = make_pipeline(&self.settings, &encoding, &taken_up, &inference, &status, &self.stop, tokio)?;
        let backup = start_backup(&self.settings, &taken_up.best, &status)?;
        let upkeep = start_upkeep(&self.settings, &taken_up, &status, tokio, &self.stop)?;
        watch(tokio, &observer, &self.settings, &self.stop);
        if let Some(listener) = metrics_listener {
            show_metrics(tokio, listener, tls.as_ref(), &observer, &self.stop);
        }
        if let Some(listener) = page_listener {
            let _in_tokio = tokio.enter();
            let tokens = reader_tokens(&tokens);
            show_page(&self.settings, listener, tls.as_ref(), &tokens, &inference, &observer, &self.stop)?;
        }
        // Now that the files of the run are open, it is known how many are left.
        let edge = Edge { connections: connection_limits(&self.settings)?, tls };
        let services = make_services(&self.settings, &taken_up, inference, observer, edge, &self.stop);
        // However it ends, by a panic too, nothing goes on without it.
        let stop_after = self.stop.clone().drop_guard();
        let run_pipeline = move || {
            let _stop_after = stop_after;
            pipeline.run()
        };
        let pipeline = std::thread::Builder::new().name("pipeline".to_owned()).spawn(run_pipeline);
        let pipeline = pipeline.map_err(|source| RunError::Thread { name: "pipeline", source })?;
        let stopped_at = note_stop(tokio, &self.stop);
        let deadline = self.settings.drain_deadline();
        let served = self.tokio.block_on(serve(services, self.listener, self.stop.clone(), deadline));
        // A server that failed stops the pipeline too.
        self.stop.cancel();
        let ended = pipeline.join().map_err(|_| RunError::PipelineDied)?;
        await_end(&inference_threads, deadline);
        if upkeep.is_some_and(|upkeep| upkeep.join().is_err()) {
            warn!("the upkeep thread died: old games and networks stayed");
        }
        if let Some(backup) = backup {
            // Nothing is written any more. A run that did all it was to do has no machine that is about to go.
            let is_hurried = !matches!(ended, Ok(Ended::IterationsDone));
            let stop_deadline = self.settings.backup.stop_deadline;
            backup.finish(is_hurried.then(|| stopped_at.deadline(stop_deadline)));
        }
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

/// Waits for threads whose work has been taken away.
pub(crate) fn await_end(threads: &[JoinHandle<()>], deadline: Duration) {
    let started_at = Instant::now();
    while !threads.iter().all(JoinHandle::is_finished) {
        if started_at.elapsed() > deadline {
            warn!("an inference thread is still at work: leaving it");
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start_inference<E: Encoding, V: InferenceBackend>(
    config: &InferenceConfig,
    encoding: &E,
    taken_up: &TakenUp<E>,
    make_backend: impl Fn(usize, RunFiles, NetworkSpec) -> Result<V, NetError> + Clone + Send + 'static,
) -> Result<(InferenceHandle, Vec<JoinHandle<()>>), RunError> {
    let (files, network) = (taken_up.files.clone(), taken_up.network.clone());
    let make_backend = move |number| make_backend(number, files.clone(), network.clone());
    Ok(InferenceHandle::start(encoding, &config.batch_settings(), &taken_up.best, make_backend)?)
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
        starts: starts_of(&settings.self_play, &taken_up.human_games),
        replay: Arc::clone(&taken_up.replay),
        store: taken_up.store.clone(),
        files: taken_up.files.clone(),
        network: Some(taken_up.network.clone()),
        trainer,
        best: Arc::clone(&taken_up.best),
        gate_check: (settings.gate.checked_plies > 0).then(|| {
            let leaf_count_max = settings.inference.batch_leaves_max as usize;
            GateCheck::new(encoding.clone(), inference.clone(), leaf_count_max, tokio.clone(), stop.clone())
        }),
        events: PipelineEvents::new(tokio.clone(), taken_up.registry.subscribe(), stop.clone(), TICK),
        cost: CostMeter::new(&taken_up.network.shape, inference.counters()),
        work_time: WorkTime::take_up(&taken_up.store.store().reader()?, Instant::now())?,
        alarms: Arc::clone(status.alarms()),
        reporter: ProgressReporter::new(sources, Arc::clone(status), TensorBoardLog::in_run(taken_up.files.dir())),
        stop: stop.clone(),
        is_self_play_paused: false,
    })
}

fn starts_of(config: &SelfPlayConfig, human_games: &RunHumanGames) -> StartPlan {
    StartPlan {
        endgame_share: config.endgame_share,
        human_share: config.human_start_share,
        earlier_share: config.earlier_start_share,
        human_games: Arc::clone(&human_games.starts),
    }
}

/// What stands between the services and the network.
struct Edge {
    connections: ConnectionLimits,
    tls: Option<ServerTls>,
}

fn make_services<E: Encoding>(
    settings: &LearnerSettings,
    taken_up: &TakenUp<E>,
    inference: InferenceHandle,
    observer: Arc<RunObserver>,
    edge: Edge,
    stop: &CancellationToken,
) -> Services<E> {
    let in_flight_max = settings.server.batches_in_flight_max as usize;
    let (registry, best) = (Arc::clone(&taken_up.registry), Arc::clone(&taken_up.best));
    let joined = Arc::<JoinedWorkers>::default();
    let load = LoadMeter::new(inference.counters(), Some(inference.queue()), Instant::now());
    let files = taken_up.files.clone();
    let servers_max = settings.inference.servers_max;
    let remote_inference =
        RemoteInferenceService::new(inference.clone(), Arc::clone(&best), files, servers_max, stop.clone());
    Services {
        workers: WorkersService::new(WorkerCalls::new(
            settings.join_terms(),
            registry,
            Arc::clone(&best),
            Arc::clone(&observer.status),
            Arc::clone(&joined),
            load,
        )),
        inference: InferenceService::new(inference, best, joined, in_flight_max, stop.clone()),
        remote_inference,
        observer,
        limits: ServiceLimits {
            connections: edge.connections,
            report_plies_max: RegistryLimits::default().report_plies_max,
            batch_leaves_max: settings.inference.batch_leaves_max as usize,
        },
        tls: edge.tls,
    }
}
