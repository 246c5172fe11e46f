//! One life of the learner: it takes up what is on disk, the pipeline runs, and it is asked to stop or killed. All of it is
//! the learner's own but for what links tensors: networks are a line of text, and [`super::trainer`] makes them.

use std::sync::{Arc, Mutex};

use inference::InferenceCounters;
use inference::best::{BestNetwork, CurrentBest};
use net::NetworkShape;
use registry::{GameRegistry, GrantSettings, RegistryLimits, StartPlan};
use samples::buffer::SharedReplay;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::tictactoe::TicTacToe;
use shared::ids::{Generation, NetworkId};
use store::durable::DurableStore;
use store::files::{RunFiles, check_sha256};
use store::simulated::OtherThreads;
use store::{Change, CheckpointRow, NewNetwork, Reader, RunRow, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::ledger::Ledger;
use super::trainer::{Training, network_text, write_whole};
use super::world::{Event, World};
use crate::best_file::mend_best_file;
use crate::gate_check::GateCheck;
use crate::pipeline::{
    CostMeter, Ended, Pipeline, PipelineError, PipelineEvents, ProgressReporter, ProgressSources, TICK, WorkTime,
};
use crate::progress::{RunStatus, words_for_wait};
use crate::run::{check_checkpoints, fill_replay};
use crate::services::{JoinedWorkers, LoadMeter, WorkerCalls};
use crate::tensorboard::TensorBoardLog;
use crate::trainer::TrainerHandle;
use crate::upkeep::OldGames;

/// A learner that is up.
pub(super) struct Life {
    pub(super) store: DurableStore,
    pub(super) files: RunFiles,
    pub(super) registry: Arc<GameRegistry<TicTacToeEncoding>>,
    pub(super) replay: Arc<SharedReplay>,
    pub(super) best: Arc<BestNetwork>,
    pub(super) joined: Arc<JoinedWorkers>,
    pub(super) calls: WorkerCalls<TicTacToeEncoding>,
    pub(super) training: Mutex<Training>,
    status: Arc<RunStatus>,
    old_games: OldGames,
    pub(super) stop: CancellationToken,
}

/// What the words begin with for what a run waits for, if it is the disk.
pub(super) const DISK: &str = "the disk: ";

impl Life {
    /// Returns what the status says is waited for.
    pub(super) fn words_for_wait(&self) -> String {
        words_for_wait(self.store.store().problem().get().as_deref(), self.status.progress().as_deref())
    }

    /// Returns whether the gate of the iteration under way has begun in this life.
    pub(super) fn has_begun_gate(&self, ledger: &Ledger) -> bool {
        let last = ledger.iterations.last_key_value().and_then(|(_, last)| last.candidate_id);
        last.and_then(NetworkId::new).is_some_and(|id| self.registry.gate_report(id).is_ok())
    }
}

impl World {
    /// Lives once, to the stop or the kill.
    pub(super) fn live(self: &Arc<Self>) {
        self.core().note(format_args!("the learner starts"));
        let stop = CancellationToken::new();
        *self.stop.lock().expect("whole") = stop.clone();
        match self.start(&stop) {
            Ok((life, pipeline)) => {
                *self.life.lock().expect("whole") = Some(Arc::clone(&life));
                {
                    let mut core = self.core();
                    let first = core.draw_ms(50);
                    core.schedule(first, Event::Train);
                }
                self.note_end(pipeline.run());
                if !self.core().is_killed {
                    self.end_in_order();
                }
            }
            Err(error) => assert!(self.core().is_killed, "the learner does not start: {error:#}"),
        }
        *self.life.lock().expect("whole") = None;
        self.disk.lock().expect("whole").end_life();
        let mut core = self.core();
        core.forget_learner();
        (core.is_killed, core.is_stopping) = (false, false);
    }

    fn note_end(&self, ended: Result<Ended, PipelineError>) {
        let mut core = self.core();
        match ended {
            _ if core.is_killed => {}
            Ok(ended) => core.note(format_args!("the learner ends: {ended:?}")),
            // It does not wait for the disk once it is to stop.
            Err(error) if core.is_stopping => core.note(format_args!("the learner ends: {error}")),
            Err(error) => panic!("the pipeline ended: {error:?}"),
        }
    }

    /// Ends calls and store as at a stop.
    fn end_in_order(&self) {
        if !self.core().calls.is_empty() {
            self.end_all_calls();
        }
        let now = self.now();
        if let Some(hand) = self.disk.lock().expect("whole").hand.take() {
            hand.end(now);
        }
    }

    /// Takes up the run, in the order of `run::take_up`.
    fn start(self: &Arc<Self>, stop: &CancellationToken) -> anyhow::Result<(Arc<Life>, Pipeline<TicTacToeEncoding>)> {
        let dir = self.disk.lock().expect("whole").dir.clone();
        let (files, encoding) = (RunFiles::new(&dir), TicTacToeEncoding::new(TicTacToe));
        files.create()?;
        let others: Arc<dyn OtherThreads> = Arc::<Self>::clone(self);
        let (store, hand) = Store::open_simulated(&dir, &self.run_row(), Arc::clone(&others))?;
        self.disk.lock().expect("whole").open(hand);
        self.check_start();
        files.delete_unfinished()?;
        let store = Arc::new(store);
        let durable = DurableStore::new(Arc::clone(&store), stop.clone());
        let reader = store.reader()?;
        if reader.best_network()?.is_none() {
            self.first_network(&files, &durable)?;
        }
        let named = files_of(&reader, &self.core().ledger)?;
        self.check_files(&named);
        check_checkpoints(&files, &reader)?;
        let best = reader.best_network()?.ok_or_else(|| anyhow::anyhow!("no best network"))?;
        check_sha256(&dir.join(&best.network.file), &best.network.sha256)?;
        check_best_file(&files);
        mend_best_file(&files, best.network.network_id)?;
        let current =
            CurrentBest { network_id: best.network.network_id, generation: best.generation.unwrap_or_default() };
        let best = Arc::new(BestNetwork::new(current));
        let replay = Arc::new(fill_replay(&self.plan.settings, &encoding, &store, &reader)?);
        let registry = GameRegistry::open(encoding, Arc::clone(&store), Arc::clone(&replay), self.limits())?
            .with_resignation(self.plan.settings.self_play.resignation());
        let parts = Parts { files, store: durable, registry: Arc::new(registry), replay, best };
        self.assemble(parts, others, stop)
    }

    fn first_network(&self, files: &RunFiles, store: &DurableStore) -> anyhow::Result<()> {
        let (network_id, text) = (NetworkId::FIRST, network_text(0, 0));
        write_whole(self, store, files.dir(), &RunFiles::network_path(network_id), &text)?;
        let sha256 = write_whole(self, store, files.dir(), &RunFiles::checkpoint_name(0), &text)?;
        let file = RunFiles::network_path(network_id);
        let network = NewNetwork { network_id, file, sha256: sha256.clone(), training_step: 0 };
        let file = RunFiles::checkpoint_name(0);
        let checkpoint = CheckpointRow { training_step: 0, file, sha256, iteration: 0 };
        let changes =
            vec![Change::AddNetwork(network), Change::Promote { network_id }, Change::PutCheckpoint(checkpoint)];
        Ok(store.write(changes)?)
    }

    fn limits(&self) -> RegistryLimits {
        let server = &self.plan.settings.server;
        RegistryLimits {
            lease: server.lease,
            idle_leases_max: server.idle_leases_max,
            open_games_max: self.plan.open_games_max,
            grants: GrantSettings { batches_waiting: 1, games_first: server.worker_games_first as usize },
            pause: self.plan.pause,
            ..RegistryLimits::default()
        }
    }

    fn assemble(
        self: &Arc<Self>,
        parts: Parts,
        others: Arc<dyn OtherThreads>,
        stop: &CancellationToken,
    ) -> anyhow::Result<(Arc<Life>, Pipeline<TicTacToeEncoding>)> {
        let Parts { files, store, registry, replay, best } = parts;
        let (settings, now) = (&self.plan.settings, self.now());
        let (inference, status) = (Arc::new(InferenceCounters::default()), Arc::<RunStatus>::default());
        let joined = Arc::<JoinedWorkers>::default();
        let calls = WorkerCalls::new(
            settings.join_terms(),
            Arc::clone(&registry),
            Arc::clone(&best),
            Arc::clone(&status),
            Arc::clone(&joined),
            LoadMeter::new(Arc::clone(&inference), None, now),
        );
        let (trainer, hand) = TrainerHandle::by_hand();
        let sources = ProgressSources {
            registry: Arc::clone(&registry),
            replay: Arc::clone(&replay),
            inference: Arc::clone(&inference),
            batch_leaf_count_max: 1,
        };
        let shape = NetworkShape::new(&TicTacToeEncoding::new(TicTacToe), settings.network);
        let pipeline = Pipeline {
            settings: settings.pipeline(),
            registry: Arc::clone(&registry),
            starts: StartPlan { earlier_share: settings.self_play.earlier_start_share, ..StartPlan::default() },
            replay: Arc::clone(&replay),
            store: store.clone(),
            network: None,
            files: files.clone(),
            trainer,
            best: Arc::clone(&best),
            gate_check: Some(GateCheck::simulated(TicTacToeEncoding::new(TicTacToe), Arc::<Self>::clone(self))),
            events: PipelineEvents::simulated(others, registry.subscribe(), stop.clone(), TICK),
            cost: CostMeter::new(&shape, inference),
            work_time: WorkTime::take_up(&store.store().reader()?, now)?,
            alarms: Arc::clone(status.alarms()),
            reporter: ProgressReporter::new(sources, Arc::clone(&status), TensorBoardLog::in_run(files.dir())),
            stop: stop.clone(),
            is_self_play_paused: false,
        };
        let training = Mutex::new(Training::new(hand));
        let (keep_games, starts) = (settings.store.keep_games, pipeline.starts.clone());
        let old_games = OldGames { keep_games, replay: Arc::clone(&replay), starts };
        let stop = stop.clone();
        let life = Life { store, files, registry, replay, best, joined, calls, training, status, old_games, stop };
        Ok((Arc::new(life), pipeline))
    }

    fn run_row(&self) -> RunRow {
        RunRow {
            run_id: "simulated".into(),
            created_at: "2026-01-01T00:00:00Z".into(),
            game: r#"{"name":"tictactoe"}"#.into(),
            config: "{}".into(),
            seed: self.plan.settings.run.seed,
            start_network: None,
        }
    }

    /// Asks the store to remove plies of old games, as the learner's thread does; nobody waits for it here.
    pub(super) fn thin(&self) {
        let Some(life) = self.life() else { return };
        let reader = life.store.store().reader().expect("a reader");
        let changes = life.old_games.next_step(&reader).expect("readable");
        if !changes.is_empty() {
            drop(life.store.store().submit(changes).expect("queued"));
            self.note_queued();
        }
    }

    /// Checks what must be so between any two events.
    pub(super) fn check_life(&self) {
        let Some(life) = self.life() else { return };
        let (replay, progress) = (&self.plan.settings.replay, life.registry.progress());
        let (positions, best) = (life.replay.position_count(), life.best.get());
        let is_waited_for = self.disk.lock().expect("whole").is_waited_for();
        if is_waited_for && !life.stop.is_cancelled() {
            let words = life.words_for_wait();
            assert!(words.starts_with(DISK), "the disk is waited for, and the status names {words:?}");
        }
        let core = self.core();
        let (games, samples) = core.ledger.self_play_counts();
        assert!(progress.finished_self_play_count <= games, "{progress:?}: {games} are stored");
        let keeps_all = replay.held_out_share == 0.0 && replay.position_count_max > 1000;
        if core.calls.is_empty() {
            assert_eq!(progress.finished_self_play_count, games, "all that is stored counts, once");
            assert!(!keeps_all || positions == samples, "{positions} positions of {samples} are learned from");
        }
        let stored = core.ledger.networks.iter().find(|(_, (state, _))| *state == "best");
        let stored = stored.map(|(id, (_, generation))| (NetworkId::new(*id), generation.map(Generation::new)));
        let is_stored = stored == Some((Some(best.network_id), Some(best.generation)));
        assert!(is_stored, "{best:?} is the best network, stored is {stored:?}");
    }
}

/// Returns all files that the store names, each with its SHA-256.
fn files_of(reader: &Reader, ledger: &Ledger) -> Result<Vec<(String, String)>, StoreError> {
    let checkpoints = reader.checkpoints()?.into_iter().map(|row| (row.file, row.sha256));
    let rows = ledger.networks.keys().filter_map(|id| reader.network(NetworkId::new(*id)?).transpose());
    let networks = rows.map(|row| row.map(|row| (row.network.file, row.network.sha256)));
    Ok(checkpoints.chain(networks.collect::<Result<Vec<_>, _>>()?).collect())
}

/// Checks that the file of the best network is a whole network, if it is there.
fn check_best_file(files: &RunFiles) {
    let Ok(text) = std::fs::read_to_string(files.best()) else { return };
    let networks = std::fs::read_dir(files.dir().join("networks")).expect("a folder");
    let mut texts = networks.map(|entry| std::fs::read_to_string(entry.expect("a file").path()).expect("text"));
    assert!(texts.any(|network| network == text), "the best file is {text:?}");
}

/// What was taken up.
struct Parts {
    files: RunFiles,
    store: DurableStore,
    registry: Arc<GameRegistry<TicTacToeEncoding>>,
    replay: Arc<SharedReplay>,
    best: Arc<BestNetwork>,
}
