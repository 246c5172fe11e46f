//! Plays the games of a match, many at once: a thread for each, with its own pair of players.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use book::Book;
use indicatif::ProgressBar;
use networks::NetworkSource;
use shared::game::Side;
use shared::gate::GateScore;
use shared::search::{SearchSettings, SharedOracle, UniformEvaluator};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::error::MatchError;
use super::finished::{Ending, FinishedGame};
use super::match_game::MatchGame;
use super::plan::PlannedGame;
use super::play::play;
#[cfg(feature = "network")]
use crate::levels::LevelPlay;
use crate::players::{
    BookPlayer, EngineBounds, MatchPlayer, PlayerError, PlayerFailure, PlayerSpec, PresetPlayer, RandomPlayer,
    SearchPlayer,
};
#[cfg(feature = "network")]
use crate::players::{NetworkPlaySettings, PolicyPlayer, SharedNetwork, network_bytes};

/// Time between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);

/// How the games of a match are played.
#[derive(Debug, Clone, Copy)]
pub struct MatchSettings {
    /// Games played at once, at least 1.
    pub games_at_once: usize,
    /// How long engines may take.
    pub engine_bounds: EngineBounds,
    /// How networks are computed.
    #[cfg(feature = "network")]
    pub networks: NetworkPlaySettings,
}

/// The two players of one thread.
type Players<G> = [Box<dyn MatchPlayer<G>>; 2];

/// Players for each thread, ready to play.
pub struct MatchRunner<G: MatchGame> {
    game: G,
    players: Vec<Players<G>>,
    stop: CancellationToken,
    /// The networks of the players; dropped when the last game is over.
    #[cfg(feature = "network")]
    _networks: [Option<SharedNetwork<G>>; 2],
}

impl<G: MatchGame> MatchRunner<G> {
    /// Makes the players, called `names`, and starts whatever they need.
    ///
    /// # Errors
    /// [`MatchError`] if a network or an engine cannot be had.
    pub fn open(
        game: G,
        specs: &[PlayerSpec; 2],
        names: &[String; 2],
        settings: &MatchSettings,
        stop: &CancellationToken,
    ) -> Result<Self, MatchError> {
        #[cfg(feature = "network")]
        let networks = open_networks(&game, specs, settings)?;
        let oracles = open_oracles::<G>(specs, names)?;
        let books = open_books(&game, specs, names)?;
        let mut players = vec![];
        for _ in 0..settings.games_at_once.max(1) {
            let player = |index: usize| -> Result<Box<dyn MatchPlayer<G>>, MatchError> {
                #[cfg(feature = "network")]
                if let Some(network) = &networks[index] {
                    let player = network_player(&game, &specs[index], network, oracles[index].clone());
                    return Ok(with_book(&game, books[index].as_ref(), player));
                }
                let player = own_player(&game, &specs[index], oracles[index].clone(), settings, stop)?;
                Ok(with_book(&game, books[index].as_ref(), player))
            };
            players.push([player(0)?, player(1)?]);
        }
        players.first_mut().map_or(Ok(()), |players| start(players, names))?;
        Ok(Self {
            game,
            players,
            stop: stop.clone(),
            #[cfg(feature = "network")]
            _networks: networks,
        })
    }

    /// Plays all games, or those that are finished when the match is stopped. Returns them in their order; `keep` gets
    /// them so each time that one more is finished.
    ///
    /// # Errors
    /// [`MatchError::PlayerFailed`], or the first error of `keep`; the games then end at once.
    pub fn play(
        mut self,
        games: &[PlannedGame<G>],
        mut keep: impl FnMut(&[FinishedGame<G>]) -> Result<(), MatchError>,
    ) -> Result<Vec<FinishedGame<G>>, MatchError> {
        let next = AtomicUsize::new(0);
        let (game, stop) = (&self.game, self.stop.child_token());
        let (sender, results) = sync_channel(self.players.len());
        let mut finished: Vec<FinishedGame<G>> = vec![];
        let mut failure = None;
        std::thread::scope(|scope| {
            for players in self.players.drain(..) {
                let thread = MatchThread { game, games, next: &next, stop: &stop, results: sender.clone() };
                scope.spawn(move || thread.play(players));
            }
            drop(sender);
            let mut progress = MatchProgressReporter::new(games.len());
            loop {
                let kept = match results.recv_timeout(PROGRESS_INTERVAL) {
                    Ok(Ok(game)) => {
                        log_forfeit(&game);
                        progress.count(&game);
                        let place = finished.partition_point(|other| other.planned.index < game.planned.index);
                        finished.insert(place, game);
                        // What could not be kept once is not tried again.
                        if failure.is_none() { keep(&finished) } else { Ok(()) }
                    }
                    Ok(Err(error)) => Err(error.into()),
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = kept {
                    stop.cancel();
                    failure.get_or_insert(error);
                }
                progress.report();
            }
        });
        failure.map_or(Ok(finished), Err)
    }
}

/// One thread's share of the match.
struct MatchThread<'a, G: MatchGame> {
    game: &'a G,
    games: &'a [PlannedGame<G>],
    next: &'a AtomicUsize,
    stop: &'a CancellationToken,
    results: SyncSender<Result<FinishedGame<G>, PlayerError>>,
}

impl<G: MatchGame> MatchThread<'_, G> {
    /// Plays one game after the other until none is left.
    fn play(&self, [mut first, mut second]: Players<G>) {
        while let Some(planned) = self.games.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let players: [&mut dyn MatchPlayer<G>; 2] = match planned.first_side {
                Side::White => [&mut *first, &mut *second],
                Side::Black => [&mut *second, &mut *first],
            };
            let Some(result) = play(self.game, planned, players, self.stop).transpose() else { return };
            if self.results.send(result).is_err() {
                return;
            }
        }
    }
}

/// Shows how far the match is: a bar on a terminal, a line now and then elsewhere.
struct MatchProgressReporter {
    bar: ProgressBar,
    reported_at: Instant,
    game_count: usize,
    score: GateScore,
}

impl MatchProgressReporter {
    fn new(game_count: usize) -> Self {
        let bar = runtime::logging::bar();
        bar.set_length(game_count as u64);
        bar.set_prefix("match");
        Self { bar, reported_at: Instant::now(), game_count, score: GateScore::default() }
    }

    fn count<G: MatchGame>(&mut self, game: &FinishedGame<G>) {
        let GateScore { wins, draws, losses } = &mut self.score;
        *[losses, draws, wins][game.half_points()] += 1;
    }

    fn report(&mut self) {
        let is_due = self.reported_at.elapsed() >= PROGRESS_INTERVAL;
        if self.bar.is_hidden() && !is_due {
            return;
        }
        let GateScore { wins, draws, losses } = self.score;
        let (text, finished) = (format!("A {wins} won, {draws} drawn, {losses} lost"), self.score.game_count());
        if is_due {
            self.reported_at = Instant::now();
            info!(finished, games = self.game_count, score = text, "match");
        }
        self.bar.set_position(finished.into());
        self.bar.set_message(text);
    }
}

fn log_forfeit<G: MatchGame>(game: &FinishedGame<G>) {
    if let Ending::Forfeit(side, reason) = &game.ending {
        let loser = if *side == game.planned.first_side { "A" } else { "B" };
        warn!(game = game.planned.index + 1, loser, ?side, reason, "game forfeited");
    }
}

/// Returns what a player of `game` is called in tables: a network after its file and its bytes.
///
/// # Errors
/// [`MatchError`] if the weights cannot be read, or this program computes no networks.
#[cfg(feature = "network")]
pub fn player_name<G: MatchGame>(_game: &G, spec: &PlayerSpec) -> Result<String, MatchError> {
    let bytes = spec.network().map(network_bytes::<G>).transpose().map_err(PlayerError::from)?;
    Ok(spec.name(&bytes.unwrap_or_default()))
}

/// Returns what a player of `game` is called in tables.
///
/// # Errors
/// [`MatchError::WithoutNetworks`] for a network: this program computes none.
#[cfg(not(feature = "network"))]
pub fn player_name<G: MatchGame>(_game: &G, spec: &PlayerSpec) -> Result<String, MatchError> {
    match spec.network() {
        Some(source) => Err(MatchError::WithoutNetworks(source.to_string())),
        None => Ok(spec.name(&[])),
    }
}

/// Starts the players of one thread: what never runs is a mistake of the user, not a match of lost games.
fn start<G: MatchGame>(players: &mut Players<G>, names: &[String; 2]) -> Result<(), MatchError> {
    for (player, name) in players.iter_mut().zip(names) {
        player.start().map_err(|failure| match failure {
            PlayerFailure::Forfeit(reason) => MatchError::PlayerStart { player: name.clone(), reason },
            PlayerFailure::Failed(error) => MatchError::PlayerFailed(error),
            PlayerFailure::Cancelled => MatchError::StoppedAtStart,
        })?;
    }
    Ok(())
}

/// Makes a player that computes no network.
fn own_player<G: MatchGame>(
    game: &G,
    spec: &PlayerSpec,
    oracle: Option<SharedOracle<G>>,
    settings: &MatchSettings,
    stop: &CancellationToken,
) -> Result<Box<dyn MatchPlayer<G>>, MatchError> {
    Ok(match spec {
        PlayerSpec::Random => Box::new(RandomPlayer::new(game.clone())),
        PlayerSpec::Preset { preset, simulation_count, .. } => {
            Box::new(PresetPlayer::new(game.clone(), *preset, *simulation_count).with_oracle(oracle))
        }
        PlayerSpec::Uniform { simulation_count, .. } => {
            // Leaves are chosen better once the results of earlier ones are in.
            let settings = SearchSettings { leaves_per_game: 1, ..search_settings(*simulation_count) };
            Box::new(SearchPlayer::new(game.clone(), settings, UniformEvaluator::default()).with_oracle(oracle))
        }
        PlayerSpec::Engine(engine) => game.engine(engine, settings.engine_bounds, stop)?,
        PlayerSpec::Network { source, .. } | PlayerSpec::Policy { source } => {
            return Err(MatchError::WithoutNetworks(source.to_string()));
        }
        PlayerSpec::Level(_) => return Err(MatchError::WithoutNetworks(NetworkSource::Ready.to_string())),
    })
}

/// Reads the endgame tables of both players, once if they are the same.
fn open_oracles<G: MatchGame>(
    specs: &[PlayerSpec; 2],
    names: &[String; 2],
) -> Result<[Option<SharedOracle<G>>; 2], MatchError> {
    let open = |index: usize| {
        let opened = specs[index].tables().map(tables::open::<G>).transpose();
        let opened = opened.map_err(|source| MatchError::Tables { player: names[index].clone(), source })?;
        Ok::<_, MatchError>(opened.map(|tables| tables.oracle))
    };
    let first = open(0)?;
    let second = if specs[0].tables() == specs[1].tables() { first.clone() } else { open(1)? };
    Ok([first, second])
}

/// Reads the opening books of both players.
fn open_books<G: MatchGame>(
    game: &G,
    specs: &[PlayerSpec; 2],
    names: &[String; 2],
) -> Result<[Option<Arc<Book>>; 2], MatchError> {
    let open = |index: usize| {
        let opened = specs[index].book().map(|file| book::open(file, Some(game))).transpose();
        let opened = opened.map_err(|source| MatchError::Book { player: names[index].clone(), source })?;
        Ok::<_, MatchError>(opened.map(Arc::new))
    };
    Ok([open(0)?, open(1)?])
}

/// Gives a player its opening book, if it has one.
fn with_book<G: MatchGame>(
    game: &G,
    book: Option<&Arc<Book>>,
    player: Box<dyn MatchPlayer<G>>,
) -> Box<dyn MatchPlayer<G>> {
    match book {
        Some(book) => Box::new(BookPlayer::new(game.clone(), Arc::clone(book), player)),
        None => player,
    }
}

/// Returns the settings of a search without noise that always plays the most visited move.
fn search_settings(simulation_count: u32) -> SearchSettings {
    SearchSettings::default().for_match(simulation_count)
}

#[cfg(feature = "network")]
fn open_networks<G: MatchGame>(
    game: &G,
    specs: &[PlayerSpec; 2],
    settings: &MatchSettings,
) -> Result<[Option<SharedNetwork<G>>; 2], MatchError> {
    let open = |spec: &PlayerSpec| {
        let precision = spec.precision().unwrap_or(settings.networks.precision);
        let open = |source| SharedNetwork::open(game, source, NetworkPlaySettings { precision, ..settings.networks });
        spec.network().map(open).transpose().map_err(PlayerError::from)
    };
    Ok([open(&specs[0])?, open(&specs[1])?])
}

#[cfg(feature = "network")]
fn network_player<G: MatchGame>(
    game: &G,
    spec: &PlayerSpec,
    network: &SharedNetwork<G>,
    oracle: Option<SharedOracle<G>>,
) -> Box<dyn MatchPlayer<G>> {
    let settings = match spec {
        PlayerSpec::Network { search, .. } => search.settings(),
        PlayerSpec::Level(level) => match level.play(G::LEVELS) {
            LevelPlay::Policy { temperature } => {
                return Box::new(PolicyPlayer::new(game.clone(), network.client(), temperature));
            }
            play => play.settings(G::EXPLORATION),
        },
        _ => return Box::new(PolicyPlayer::new(game.clone(), network.client(), 0.0)),
    };
    Box::new(SearchPlayer::new(game.clone(), settings, network.client()).with_oracle(oracle))
}
