//! What evaluates the leaves: a trained network, or a search preset that needs none.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use arena::matches::MatchGame;
use book::{Book, BookMove};
use networks::{NetworkSource, READY};
use runtime::counted::counted;
use runtime::exit::UsageError;
#[cfg(feature = "network")]
use runtime::exit::one_line;
use runtime::logging;
use shared::catalog::NetworkGame;
use shared::game::Game;
#[cfg(feature = "network")]
use shared::precision::AnswerPrecision;
use shared::search::{EvaluationError, Evaluator, SearchPreset, SharedOracle};

use crate::named_files::{book_failure, tables_failure};
#[cfg(feature = "network")]
use crate::named_files::{ensure_there, network_failure, source_failure};
use crate::start::GameName;

/// How the search goes, which network plays, and where it is computed.
#[derive(Debug, clap::Args)]
pub struct PlayerOptions {
    /// How to search: alphazero (with a network, or with uniform priors), vanilla (random rollouts) or
    /// grandmaster (rules of thumb).
    #[arg(long, value_name = "PRESET", default_value = "alphazero")]
    pub preset: SearchPreset,
    /// Network to play: ready (the one that this program carries for the game), none, a file as the learner writes it
    /// (run/networks/*.safetensors), a run directory, which means its best network, or the folder of a pretraining or
    /// training.
    #[arg(long, value_name = "ready|none|FILE|DIR", default_value = DEFAULT_NETWORK)]
    network: NetworkChoice,
    /// Endgame tables of Italian draughts to play by, as `alveare tables` makes them.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Opening book to play by, as `alveare book` makes it; of the game and type that is played.
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[cfg(feature = "network")]
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: net::DeviceChoice,
    /// In which numbers the network answers: auto, float32, bfloat16, float16 (GPUs) or int8 (processors).
    #[cfg(feature = "network")]
    #[arg(long, value_name = "NUMBERS", default_value = "auto")]
    precision: AnswerPrecision,
}

/// What is played without a flag.
const DEFAULT_NETWORK: &str = if cfg!(feature = "network") { READY } else { NONE };
/// How no network is named.
const NONE: &str = "none";

/// The network to play, if any.
#[derive(Debug, Clone)]
struct NetworkChoice(Option<NetworkSource>);

impl FromStr for NetworkChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self((text != NONE).then(|| Path::new(text).into())))
    }
}

/// Makes the evaluators of a search, by the preset.
pub struct Player<G: Game> {
    network: Option<Box<dyn PlayedNetwork<G>>>,
    oracle: Option<SharedOracle<G>>,
    book: Option<Arc<Book>>,
}

/// A network that is played: makes evaluators that share it.
pub trait PlayedNetwork<G: Game> {
    /// Sets how many threads compute one batch, and how many search one tree.
    fn set_threads(&mut self, count: u32, search_count: u32) -> Result<(), EvaluationError>;
    /// Returns an evaluator for one thread of a search.
    fn evaluator(&self) -> Box<dyn Evaluator<G> + Send>;
}

impl PlayerOptions {
    /// Returns the game of the network, if a file is named that can be read.
    pub fn game(&self) -> Option<GameName> {
        GameName::of_network(self.network.0.as_ref()?)
    }

    /// Opens the network, if one is to be played, the endgame tables and the opening book. Without a network `alphazero`
    /// searches with uniform priors and values. The type of game that is played is `game`; `None` if it is not known yet.
    ///
    /// # Errors
    /// [`UsageError`] for a network, tables or a book that are not there, of another kind or not for this game; those that
    /// are damaged or cannot be read.
    pub fn player<G: MatchGame>(&self, game: Option<&G>) -> anyhow::Result<Player<G>> {
        // The network first: with a GPU it starts the program anew.
        let network = self.network.0.as_ref().map(|source| self.open(source, game)).transpose()?;
        if network.is_none() && self.preset == SearchPreset::AlphaZero {
            logging::print_line("no network: all moves are equally good, all positions even");
        }
        let tables = self.tables.as_deref().map(open_tables::<G>).transpose()?;
        Ok(Player { network, oracle: tables.map(|tables| tables.oracle), book: self.open_book(game)? })
    }

    fn open_book<G: MatchGame>(&self, game: Option<&G>) -> anyhow::Result<Option<Arc<Book>>> {
        let Some(file) = &self.book else { return Ok(None) };
        let book = book::open(file, game).map_err(book_failure)?;
        let (header, count) = (book.header(), counted(book.entries().len(), "move", "moves"));
        logging::print_line(&format!("opening book of {}: {count}", header.type_name));
        Ok(Some(Arc::new(book)))
    }

    #[cfg(feature = "network")]
    fn open<G: MatchGame>(
        &self,
        source: &NetworkSource,
        game: Option<&G>,
    ) -> anyhow::Result<Box<dyn PlayedNetwork<G>>> {
        // Before the first torch call: on a machine with a GPU the program starts anew.
        net::cuda::preload(self.device)?;
        let device = net::open_device(self.device)?;
        source.file().map_or(Ok(()), ensure_there)?;
        let bytes = source.read(&G::default().spec(G::USUAL_VIEW)).map_err(source_failure)?;
        let file = net::NetworkFile::from_bytes(source.to_string(), bytes)?;
        let game_name = GameName::of_spec(&file.spec()?.game);
        let open = net::NetworkEvaluator::<G>::open(&file, device, self.precision);
        let evaluator = open.map_err(|error| network_failure(error, game_name))?;
        let type_name = game.map_or(file.spec()?.game.type_name(), MatchGame::type_name);
        logging::print_line(&format!("network {source}, on {device}: {type_name}"));
        Ok(Box::new(LocalNetwork {
            source: source.clone(),
            choice: self.device,
            precision: self.precision,
            is_gpu: device.is_cuda(),
            evaluator,
            shared: None,
        }))
    }

    #[cfg(not(feature = "network"))]
    fn open<G: MatchGame>(
        &self,
        source: &NetworkSource,
        _game: Option<&G>,
    ) -> anyhow::Result<Box<dyn PlayedNetwork<G>>> {
        let advice = "use --network none, or build it with the feature \"network\"";
        Err(UsageError(format!("--network {source}: this program was built without libtorch: {advice}")).into())
    }
}

impl<G: NetworkGame> Player<G> {
    /// Makes a player with a network that is made up, or without one.
    #[cfg(test)]
    pub fn new(network: Option<Box<dyn PlayedNetwork<G>>>) -> Self {
        Self { network, oracle: None, book: None }
    }

    /// Returns what the searches ask beside the rules, if there are endgame tables.
    pub fn oracle(&self) -> Option<SharedOracle<G>> {
        self.oracle.clone()
    }

    /// Returns the opening book, whatever type of game it is of.
    pub fn book(&self) -> Option<&Book> {
        self.book.as_deref()
    }

    /// Returns what the opening book holds of a position, the most played move first; nothing if it is of another type of
    /// game.
    pub fn book_moves(&self, game: &G, position: &G::Position) -> Vec<BookMove<G::Move>> {
        self.book_of(game).map_or_else(Vec::new, |book| book.moves(game, position))
    }

    /// Returns the opening book, if it is of this type of game.
    pub fn book_of(&self, game: &G) -> Option<&Book> {
        self.book().filter(|book| book.is_of(game))
    }

    /// Returns whether a network is played.
    pub const fn has_network(&self) -> bool {
        self.network.is_some()
    }

    /// Sets how many threads compute one batch of the network, and how many search one tree.
    ///
    /// # Errors
    /// [`EvaluationError::NetworkUnavailable`] if the threads cannot be had.
    pub fn set_threads(&mut self, count: u32, search_count: u32) -> Result<(), EvaluationError> {
        self.network.as_mut().map_or(Ok(()), |network| network.set_threads(count, search_count))
    }

    /// Returns an evaluator for one thread of a search by `preset`. What it draws at random follows from `seed`.
    pub fn evaluator(&self, preset: SearchPreset, seed: u64) -> Box<dyn Evaluator<G> + Send> {
        match (preset, &self.network) {
            (SearchPreset::AlphaZero, Some(network)) => network.evaluator(),
            _ => preset.evaluator(seed),
        }
    }
}

/// Opens the endgame tables that `--tables` names, and says up to how many pieces there are.
///
/// # Errors
/// [`UsageError`] for a game that has none, or what is no folder of tables; tables that are damaged or cannot be read.
pub fn open_tables<G: Game>(folder: &Path) -> anyhow::Result<tables::OpenTables<G>> {
    let opened = tables::open::<G>(folder).map_err(|error| match error {
        tables::OpenError::Game => UsageError(format!("--tables: {error}")).into(),
        tables::OpenError::Folder(error) => tables_failure("--tables", error),
    })?;
    let why = opened.missing.as_ref().map_or_else(String::new, |missing| format!(" alone: {missing}"));
    logging::print_line(&format!("endgame tables of up to {} pieces{why}", opened.piece_count));
    Ok(opened)
}

/// A network that is computed in this process. One search thread computes it itself; the leaves of several share a queue,
/// from which threads that last from search to search take them.
#[cfg(feature = "network")]
struct LocalNetwork<G: NetworkGame> {
    source: NetworkSource,
    choice: net::DeviceChoice,
    precision: AnswerPrecision,
    is_gpu: bool,
    evaluator: net::NetworkEvaluator<G>,
    /// The queue, and how many batches are computed at once.
    shared: Option<(arena::players::SharedNetwork<G>, usize)>,
}

#[cfg(feature = "network")]
impl<G: NetworkGame> PlayedNetwork<G> for LocalNetwork<G> {
    fn set_threads(&mut self, count: u32, search_count: u32) -> Result<(), EvaluationError> {
        // A processor computes as many batches side by side as it has cores; a GPU is faster with one large one.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let batches_at_once = if self.is_gpu { 1 } else { cores.min(search_count as usize) };
        if search_count <= 1 {
            self.shared = None;
        } else if self.shared.as_ref().is_none_or(|(_, known)| *known != batches_at_once) {
            let settings = arena::players::NetworkPlaySettings {
                device: self.choice,
                precision: self.precision,
                thread_count: count as usize,
                batches_at_once,
            };
            let shared = arena::players::SharedNetwork::open(&G::default(), &self.source, settings);
            let shared = shared.map_err(|error| EvaluationError::NetworkUnavailable(one_line(&error)))?;
            self.shared = Some((shared, batches_at_once));
        }
        net::set_threads(count as usize);
        Ok(())
    }

    fn evaluator(&self) -> Box<dyn Evaluator<G> + Send> {
        match &self.shared {
            Some((shared, _)) => Box::new(shared.client()),
            None => Box::new(self.evaluator.clone()),
        }
    }
}
