//! A learner for tests: serves tic-tac-toe, or endgames of draughts, over real gRPC, keeps its games when it is started again, and misbehaves on
//! request.
#![allow(dead_code, clippy::unwrap_used, clippy::missing_panics_doc)]

mod services;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use proto::inference_server::InferenceServer;
use proto::workers_server::WorkersServer;
use proto::{GameKind, Ply};
use runtime::auth::Token;
use runtime::call_guard::CallGuard;
use runtime::connections::{ConnectionLimits, incoming};
use runtime::limits;
use runtime::server_auth::ServerAuth;
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::dama::Dama;
use shared::game::tictactoe::TicTacToe;
use shared::game::{Game, Outcome};
use shared::search::SearchSettings;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use worker::{WorkerConfig, WorkerSettings};

/// How an answer may be invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidAnswer {
    TooFewPriors,
    TooManyValues,
    NotANumber,
    UnknownBatch,
    ErrorText,
}

/// A game on the learner's disk.
#[derive(Debug, Clone)]
pub struct FakeGame {
    pub kind: GameKind,
    pub networks: [u32; 2],
    /// FEN of the endgame of draughts that it begins from; empty: a game of tic-tac-toe.
    pub start: String,
    pub opening: Vec<String>,
    pub plies: Vec<Ply>,
    pub holder: Option<String>,
    pub is_over: bool,
}

/// What the learner knows and how it behaves.
#[derive(Debug)]
pub struct State {
    pub games: BTreeMap<u64, FakeGame>,
    pub settings: SearchSettings,
    pub seed: u64,
    pub lease_ms: u32,
    pub domain_version: u32,
    pub token: Option<Token>,
    pub invalid_answers: VecDeque<InvalidAnswer>,
    /// Always answers with an error for this network.
    pub broken_network: Option<u32>,
    /// Stops answering on the evaluation stream after so many answers.
    pub evaluations_left: Option<usize>,
    /// How long each answer takes.
    pub answer_time: Duration,
    /// Stores plies but never acknowledges after so many reports.
    pub acknowledgements_left: Option<usize>,
    pub joined: u32,
    pub renewals: u32,
    pub broken_answers: u32,
    pub answered_batches: u32,
    pub duplicate_plies: u32,
    /// Games end after so many plies: a side resigns.
    pub resigned_after: Option<usize>,
    pub networks_asked: BTreeSet<u32>,
    pub largest_batch: usize,
    /// What must never happen.
    pub faults: Vec<String>,
}

impl Default for State {
    fn default() -> Self {
        let settings = SearchSettings { simulation_count: 24, ..SearchSettings::default() };
        Self {
            games: BTreeMap::new(),
            settings,
            seed: 1,
            lease_ms: 60_000,
            domain_version: shared::DOMAIN_VERSION,
            token: None,
            invalid_answers: VecDeque::new(),
            broken_network: None,
            evaluations_left: None,
            answer_time: Duration::ZERO,
            acknowledgements_left: None,
            joined: 0,
            renewals: 0,
            broken_answers: 0,
            answered_batches: 0,
            duplicate_plies: 0,
            resigned_after: None,
            networks_asked: BTreeSet::new(),
            largest_batch: 0,
            faults: vec![],
        }
    }
}

impl State {
    pub fn with_games(count: u64) -> Self {
        let mut state = Self::default();
        for game_id in 1..=count {
            state.add_game(game_id, GameKind::SelfPlay, [0, 0], &[]);
        }
        state
    }

    pub fn add_game(&mut self, game_id: u64, kind: GameKind, networks: [u32; 2], opening: &[&str]) {
        let opening = opening.iter().map(|&text| text.to_owned()).collect();
        let start = String::new();
        let game = FakeGame { kind, networks, start, opening, plies: vec![], holder: None, is_over: false };
        self.games.insert(game_id, game);
    }

    /// Makes a game of self-play of an endgame of draughts. Then all games must be of draughts.
    pub fn add_endgame(&mut self, game_id: u64, start: &str) {
        self.add_game(game_id, GameKind::SelfPlay, [0, 0], &[]);
        self.games.get_mut(&game_id).unwrap().start = start.to_owned();
    }

    pub fn game(&self) -> GameSpec {
        let is_draughts = self.games.values().any(|game| !game.start.is_empty());
        if is_draughts { Dama::default().spec(Dama::USUAL_VIEW) } else { GameSpec::TicTacToe {} }
    }

    pub fn are_all_over(&self) -> bool {
        self.games.values().all(|game| game.is_over)
    }

    /// Returns how many games somebody plays.
    pub fn held_count(&self) -> usize {
        self.games.values().filter(|game| game.holder.is_some() && !game.is_over).count()
    }

    pub fn ply_count(&self) -> usize {
        self.games.values().map(|game| game.plies.len()).sum()
    }
}

impl FakeGame {
    pub fn moves(&self) -> Vec<String> {
        self.opening.iter().cloned().chain(self.plies.iter().map(|ply| ply.move_text.clone())).collect()
    }

    /// Replays the game through the rules.
    pub fn outcome(&self) -> Result<Option<Outcome>, String> {
        if self.start.is_empty() { self.outcome_by(&TicTacToe) } else { self.outcome_by(&Dama::default()) }
    }

    fn outcome_by<G: Game>(&self, game: &G) -> Result<Option<Outcome>, String> {
        let start = (!self.start.is_empty()).then_some(self.start.as_str());
        let mut position = game.start_position(start).map_err(|error| error.to_string())?;
        for text in self.moves() {
            let mv = game.parse_move(&position, &text).map_err(|error| error.to_string())?;
            game.play(&mut position, mv);
        }
        Ok(game.outcome(&position))
    }
}

/// The learner's disk, and a counter of its changes to wait for.
#[derive(Debug, Clone)]
pub struct Disk {
    state: Arc<Mutex<State>>,
    changes: watch::Sender<u64>,
}

impl Disk {
    pub fn new(state: State) -> Self {
        Self { state: Arc::new(Mutex::new(state)), changes: watch::channel(0).0 }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes the state and wakes those who wait for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changes.send_modify(|count| *count += 1);
        result
    }

    /// Waits until the state is as wanted.
    pub async fn wait_until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        let waiting = async {
            while !is_so(&self.lock()) {
                changes.changed().await.unwrap();
            }
        };
        if tokio::time::timeout(Duration::from_secs(60), waiting).await.is_err() {
            panic!("waited in vain until {what}: {:#?}", self.lock());
        }
    }
}

/// A learner that runs until it is dropped, and then ends at once: every connection breaks.
pub struct FakeLearner {
    pub address: SocketAddr,
    runtime: Option<tokio::runtime::Runtime>,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

impl FakeLearner {
    pub fn start(disk: &Disk) -> Self {
        Self::start_at(disk, "127.0.0.1:0".parse().unwrap())
    }

    /// Starts the learner again at the same port: the disk is kept, leases are not.
    pub fn start_at(disk: &Disk, address: SocketAddr) -> Self {
        disk.change(|state| state.games.values_mut().for_each(|game| game.holder = None));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on_in_thread(address);
        let address = listener.local_addr().unwrap();
        let auth = ServerAuth::new(disk.lock().token.as_ref());
        let stop = CancellationToken::new();
        let services = services::Services { disk: disk.clone(), stop: stop.clone() };
        let serving = limits::server()
            .add_service(CallGuard::new(WorkersServer::new(services.clone()), auth.clone()))
            .add_service(CallGuard::new(InferenceServer::new(services), auth))
            .serve_with_incoming_shutdown(
                incoming(listener, ConnectionLimits::default()),
                stop.clone().cancelled_owned(),
            );
        let serving = runtime.spawn(async move { serving.await.unwrap() });
        Self { address, runtime: Some(runtime), stop, serving }
    }

    /// Ends as the real learner does after its last iteration: streams end with a status that says so.
    pub async fn stop(mut self) {
        self.stop.cancel();
        (&mut self.serving).await.unwrap();
    }

    pub fn settings(&self) -> WorkerSettings {
        self.config().check(None).unwrap()
    }

    pub fn config(&self) -> WorkerConfig {
        config(self.address)
    }
}

/// Returns the settings of a worker for the learner at `address`.
pub fn config(address: SocketAddr) -> WorkerConfig {
    WorkerConfig {
        learner: format!("http://{address}"),
        threads: 2,
        games_per_thread: 8,
        cache_bytes: 1 << 20,
        reconnect_wait_max: Duration::from_millis(20),
        ..WorkerConfig::default()
    }
}

impl Drop for FakeLearner {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Not within the test's own runtime, which may not block. Returns when every task and socket is gone.
            let death = std::thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(10)));
            death.join().unwrap();
        }
    }
}

/// Binding within a runtime that belongs to another one than the test's.
trait BlockOnInThread {
    fn block_on_in_thread(&self, address: SocketAddr) -> tokio::net::TcpListener;
}

impl BlockOnInThread for tokio::runtime::Runtime {
    fn block_on_in_thread(&self, address: SocketAddr) -> tokio::net::TcpListener {
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let _context = self.enter();
        tokio::net::TcpListener::from_std(listener).unwrap()
    }
}
