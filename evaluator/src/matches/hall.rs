//! Where the games of a match are played, many at once: a thread for each board, and players for each thread.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::ProgressBar;
use shared::game::Side;
use shared::search::SearchSettings;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::engine::EngineBounds;
use super::game::MatchGame;
use super::mover::{Mover, PresetMover, RandomMover, Stop};
use super::network::{NetworkServer, ServeSettings};
use super::plan::PlannedGame;
use super::play::{Ending, FinishedGame, play};
use super::player::Player;
use super::result::MatchResult;
use super::searcher::{NetworkEyes, PolicyMover, SearchMover, Uniform};

/// Time between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);

/// How a match is played.
#[derive(Debug, Clone)]
pub struct HallSettings {
    /// Games played at once.
    pub games_at_once: usize,
    /// How engines are treated.
    pub bounds: EngineBounds,
    /// How networks are served.
    pub serve: ServeSettings,
}

/// The two players at each board.
type Seats<G> = [Box<dyn Mover<G> + Send>; 2];

/// Boards with their players, ready to play.
pub struct Hall<G: MatchGame> {
    game: G,
    seats: Vec<Seats<G>>,
    stop: CancellationToken,
    /// Networks end when the last game is over.
    _servers: Vec<Option<NetworkServer>>,
}

impl<G: MatchGame> Hall<G> {
    /// Starts whatever programs the players need.
    ///
    /// # Errors
    /// In one line, if one of them cannot be started.
    pub fn open(
        game: G,
        players: &[Player; 2],
        settings: HallSettings,
        tokio: &Handle,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let mut servers = start_networks(&game, players, &settings, tokio, stop)?;
        let mut seats = vec![];
        for _ in 0..settings.games_at_once {
            let mut seat = |index: usize| {
                let server = servers.get_mut(index).and_then(Option::as_mut);
                mover(&game, &players[index], &settings, server, stop)
            };
            seats.push([seat(0)?, seat(1)?]);
        }
        seats.first_mut().map_or(Ok(()), |seats| start(seats, players))?;
        Ok(Self { game, seats, stop: stop.clone(), _servers: servers })
    }

    /// Plays all games, or those that are finished when the match is stopped. Returns them in their order; `keep` gets
    /// them so each time that one more is finished.
    ///
    /// # Errors
    /// The first failure that is no player's fault, or of `keep`; the games then end at once.
    pub fn play(
        mut self,
        games: &[PlannedGame<G>],
        mut keep: impl FnMut(&[FinishedGame<G>]) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<FinishedGame<G>>> {
        let next = AtomicUsize::new(0);
        let (game, stop) = (&self.game, self.stop.child_token());
        let (sender, results) = sync_channel(self.seats.len());
        let mut finished: Vec<FinishedGame<G>> = vec![];
        let mut failure = None;
        std::thread::scope(|scope| {
            for seats in self.seats.drain(..) {
                let board = Board { game, games, next: &next, stop: &stop, results: sender.clone() };
                scope.spawn(move || board.play(seats));
            }
            drop(sender);
            let mut teller = Teller::new(games.len());
            loop {
                let kept = match results.recv_timeout(PROGRESS_INTERVAL) {
                    Ok(Ok(game)) => {
                        tell_forfeit(&game);
                        let place = finished.partition_point(|other| other.planned.index < game.planned.index);
                        finished.insert(place, game);
                        // What could not be kept once is not tried again.
                        if failure.is_none() { keep(&finished) } else { Ok(()) }
                    }
                    Ok(Err(error)) => Err(error),
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = kept {
                    stop.cancel();
                    failure.get_or_insert(error);
                }
                teller.tell(&finished);
            }
        });
        failure.map_or(Ok(finished), Err)
    }
}

/// One thread's share of the match.
struct Board<'a, G: MatchGame> {
    game: &'a G,
    games: &'a [PlannedGame<G>],
    next: &'a AtomicUsize,
    stop: &'a CancellationToken,
    results: SyncSender<anyhow::Result<FinishedGame<G>>>,
}

impl<G: MatchGame> Board<'_, G> {
    /// Plays one game after the other until none is left.
    fn play(&self, [mut first, mut second]: Seats<G>) {
        while let Some(planned) = self.games.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let movers: [&mut dyn Mover<G>; 2] = match planned.first_side {
                Side::White => [&mut *first, &mut *second],
                Side::Black => [&mut *second, &mut *first],
            };
            let Some(result) = play(self.game, planned, movers, self.stop).transpose() else { return };
            if self.results.send(result).is_err() {
                return;
            }
        }
    }
}

/// Tells how far the match is: a bar on a terminal, now and then a line elsewhere.
struct Teller {
    bar: ProgressBar,
    told_at: Instant,
    game_count: usize,
}

impl Teller {
    fn new(game_count: usize) -> Self {
        let bar = runtime::logging::bar();
        bar.set_length(game_count as u64);
        bar.set_prefix("match");
        Self { bar, told_at: Instant::now(), game_count }
    }

    fn tell<G: MatchGame>(&mut self, finished: &[FinishedGame<G>]) {
        let is_due = self.told_at.elapsed() >= PROGRESS_INTERVAL;
        if self.bar.is_hidden() && !is_due {
            return;
        }
        let score = MatchResult::new(finished).score();
        let text = format!("A {} won, {} drawn, {} lost", score.wins, score.draws, score.losses);
        if is_due {
            self.told_at = Instant::now();
            info!(finished = finished.len(), games = self.game_count, score = text, "match");
        }
        self.bar.set_position(finished.len() as u64);
        self.bar.set_message(text);
    }
}

fn tell_forfeit<G: MatchGame>(game: &FinishedGame<G>) {
    if let Ending::Forfeit(side, reason) = &game.ending {
        let loser = if *side == game.planned.first_side { "A" } else { "B" };
        warn!(game = game.planned.index + 1, loser, ?side, reason, "game forfeited");
    }
}

/// Starts a server for each player that is a network.
fn start_networks<G: MatchGame>(
    game: &G,
    players: &[Player; 2],
    settings: &HallSettings,
    tokio: &Handle,
    stop: &CancellationToken,
) -> anyhow::Result<Vec<Option<NetworkServer>>> {
    let start = |player: &Player| {
        let file = player.network_file()?;
        let arguments = game.serve_arguments();
        Some(NetworkServer::start(&settings.serve, file, &arguments, settings.games_at_once, (tokio, stop)))
    };
    players.iter().map(|player| start(player).transpose()).collect()
}

fn mover<G: MatchGame>(
    game: &G,
    player: &Player,
    settings: &HallSettings,
    server: Option<&mut NetworkServer>,
    stop: &CancellationToken,
) -> anyhow::Result<Box<dyn Mover<G> + Send>> {
    let eyes = || {
        let asker = server.and_then(NetworkServer::take_asker);
        let eyes = NetworkEyes::new(game, asker.context("there are fewer askers than boards")?);
        eyes.with_context(|| format!("network {}", player.network_file().unwrap_or(Path::new("")).display()))
    };
    // Without noise, and always the most visited move.
    let search = |count| SearchSettings::default().for_match(count);
    Ok(match player {
        Player::Random => Box::new(RandomMover::new(game.clone())),
        Player::Preset { preset, simulation_count } => {
            Box::new(PresetMover::new(game.clone(), *preset, *simulation_count))
        }
        Player::Uniform { simulation_count } => {
            // Nothing is gained by choosing leaves before the answers are in.
            let settings = SearchSettings { leaves_per_game: 1, ..search(*simulation_count) };
            Box::new(SearchMover::new(game.clone(), settings, Uniform::default()))
        }
        Player::Network { simulation_count, exploration, .. } => {
            let settings = SearchSettings { exploration: *exploration, ..search(*simulation_count) };
            Box::new(SearchMover::new(game.clone(), settings, eyes()?))
        }
        Player::Policy { .. } => Box::new(PolicyMover::new(game.clone(), eyes()?)),
        Player::Engine { command, limit } => game.clone().engine(command, *limit, settings.bounds, stop.clone())?,
    })
}

/// Starts the players of one board: what never runs is a mistake of the user, not a match of lost games.
fn start<G: MatchGame>(seats: &mut Seats<G>, players: &[Player; 2]) -> anyhow::Result<()> {
    for (mover, player) in seats.iter_mut().zip(players) {
        match mover.start() {
            Ok(()) => {}
            Err(Stop::Forfeit(reason)) => anyhow::bail!("player {}: {reason}", player.name()?),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Cancelled) => anyhow::bail!("stopped while the players were started"),
        }
    }
    Ok(())
}
