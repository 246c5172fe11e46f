//! Plays what is missing of a curve: each network against each opponent, pairs of games from the same openings.

use std::collections::BTreeMap;

use indicatif::ProgressBar;
use networks::NetworkSource;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::error::CurveError;
use super::run::{CurveRun, RunNetwork};
use super::store::{CurveKey, CurveStore, PairPoints};
use crate::matches::{FinishedGame, MatchError, MatchGame, MatchRunner, MatchSettings, PlannedGame, plan, player_name};
use crate::players::{NetworkSearch, PlayerFiles, PlayerSpec};

/// How the games of a curve are played.
#[derive(Debug, Clone, Copy)]
pub struct CurveSettings {
    /// Pairs of games of each network against each opponent.
    pub pair_count: usize,
    /// Simulations a move of the run's networks.
    pub simulation_count: u32,
    /// Exploration constant of their searches.
    pub exploration: f32,
    /// Random plies that both games of a pair start with.
    pub opening_plies: u32,
    /// Plies after which a game is a draw.
    pub ply_limit: u32,
    /// Seed of openings and players.
    pub seed: u64,
    /// How games are played at the same time.
    pub matches: MatchSettings,
}

/// A network and how it fared.
#[derive(Debug, Clone)]
pub struct PlayedNetwork {
    /// The network.
    pub network: RunNetwork,
    /// What it is called as a player.
    pub player: String,
    /// Its score against each opponent.
    pub scores: Vec<shared::gate::GateScore>,
}

/// The matches of all networks of a curve.
pub struct CurveMatches<G: MatchGame> {
    game: G,
    settings: CurveSettings,
    opponents: Vec<PlayerSpec>,
    opponent_names: Vec<String>,
    planned: Vec<PlannedGame<G>>,
    stop: CancellationToken,
}

/// One network against one opponent.
struct Meeting {
    player: PlayerSpec,
    opponent_index: usize,
    key: CurveKey,
    pairs: BTreeMap<usize, PairPoints>,
}

impl<G: MatchGame> CurveMatches<G> {
    /// Plans the games against these opponents.
    ///
    /// # Errors
    /// [`CurveError::Match`] if an opponent cannot be had.
    pub fn new(
        game: G,
        opponents: Vec<PlayerSpec>,
        settings: CurveSettings,
        stop: CancellationToken,
    ) -> Result<Self, CurveError> {
        let names = opponents.iter().map(|opponent| player_name(&game, opponent)).collect::<Result<_, _>>()?;
        let planned = plan(&game, 2 * settings.pair_count, settings.opening_plies, settings.seed)?;
        Ok(Self { game, settings, opponents, opponent_names: names, planned, stop })
    }

    /// Returns what the opponents are called.
    #[must_use]
    pub fn opponent_names(&self) -> &[String] {
        &self.opponent_names
    }

    /// Plays what is missing of these networks of each run, and returns how each network fared. Each pair of games is kept
    /// in the folder of its run as soon as it is over.
    ///
    /// # Errors
    /// [`CurveError::Stopped`] if the user stopped it; else as [`CurveStore`] and [`MatchRunner`].
    pub fn play(&self, runs: &[(CurveRun, Vec<RunNetwork>)]) -> Result<Vec<Vec<PlayedNetwork>>, CurveError> {
        let mut all = vec![];
        for (run, chosen) in runs {
            let store = CurveStore::open(&run.dir)?;
            let meetings =
                chosen.iter().map(|network| self.meetings_of(&store, network)).collect::<Result<Vec<_>, _>>()?;
            all.push((store, meetings));
        }
        let of_all = all.iter().flat_map(|(_, meetings)| meetings.iter().flatten());
        let mut missing: usize = of_all.map(|meeting| self.missing_of(meeting).len()).sum();
        let bar = runtime::logging::bar();
        bar.set_length(missing as u64);
        bar.set_prefix("curve");
        info!(games = missing, "games to play");
        for (store, meetings) in &mut all {
            for meeting in meetings.iter_mut().flatten() {
                missing -= self.play_meeting(store, meeting, &bar)?;
                if self.stop.is_cancelled() && missing > 0 {
                    return Err(CurveError::Stopped { missing });
                }
            }
        }
        let played = |(network, meetings): (&RunNetwork, &Vec<Meeting>)| PlayedNetwork {
            network: network.clone(),
            player: meetings.first().map(|meeting| meeting.key.player.clone()).unwrap_or_default(),
            scores: meetings.iter().map(|meeting| self.score_of(meeting)).collect(),
        };
        let networks = runs.iter().map(|(_, chosen)| chosen);
        Ok(networks
            .zip(&all)
            .map(|(chosen, (_, meetings))| chosen.iter().zip(meetings).map(played).collect())
            .collect())
    }

    fn meetings_of(&self, store: &CurveStore, network: &RunNetwork) -> Result<Vec<Meeting>, CurveError> {
        let CurveSettings { simulation_count, exploration, opening_plies, ply_limit, seed, .. } = self.settings;
        let source = NetworkSource::File(network.file.clone());
        let player = PlayerSpec::Network {
            source,
            search: NetworkSearch::new(simulation_count, exploration),
            files: PlayerFiles::default(),
        };
        let (name, game_type) = (player_name(&self.game, &player)?, self.game.type_name());
        let meeting = |(opponent_index, opponent): (usize, &String)| -> Result<Meeting, CurveError> {
            let (opponent, game_type) = (opponent.clone(), game_type.clone());
            let key = CurveKey { player: name.clone(), opponent, game_type, opening_plies, ply_limit, seed };
            let pairs = store.pairs(&key)?;
            Ok(Meeting { player: player.clone(), opponent_index, key, pairs })
        };
        self.opponent_names.iter().enumerate().map(meeting).collect()
    }

    /// Returns the games of pairs that are not kept.
    fn missing_of(&self, meeting: &Meeting) -> Vec<PlannedGame<G>> {
        self.planned.iter().filter(|game| !meeting.pairs.contains_key(&game.pair_index())).cloned().collect()
    }

    /// Returns the score of the pairs that are wanted, of which more may be kept.
    fn score_of(&self, meeting: &Meeting) -> shared::gate::GateScore {
        PairPoints::score(meeting.pairs.range(..self.settings.pair_count).map(|(_, pair)| pair))
    }

    /// Plays what is missing of a meeting, and keeps it. Returns the number of games that are over.
    fn play_meeting(&self, store: &CurveStore, meeting: &mut Meeting, bar: &ProgressBar) -> Result<usize, CurveError> {
        let games = self.missing_of(meeting);
        if games.is_empty() || self.stop.is_cancelled() {
            return Ok(0);
        }
        let players = [meeting.player.clone(), self.opponents[meeting.opponent_index].clone()];
        let names = [meeting.key.player.clone(), meeting.key.opponent.clone()];
        bar.set_message(format!("{} against {}", names[0], names[1]));
        let at_once = self.settings.matches.games_at_once.min(games.len());
        let settings = MatchSettings { games_at_once: at_once, ..self.settings.matches };
        // What cannot be kept ends this match, and no other.
        let stop = self.stop.child_token();
        let opened = MatchRunner::open(self.game.clone(), &players, &names, &settings, &stop);
        let runner = match opened {
            Err(MatchError::StoppedAtStart) => return Ok(0),
            opened => opened?,
        };
        let mut failure = None;
        let finished = runner.play(&games, |done| {
            bar.inc(1);
            for (pair_index, points) in complete_pairs(done) {
                if failure.is_none() && meeting.pairs.insert(pair_index, points).is_none() {
                    failure = store.keep(&meeting.key, pair_index, points).err();
                }
            }
            if failure.is_some() {
                stop.cancel();
            }
            Ok(())
        })?;
        failure.map_or(Ok(finished.len()), Err)
    }
}

/// Returns the pairs of which both games are over.
fn complete_pairs<G: MatchGame>(games: &[FinishedGame<G>]) -> impl Iterator<Item = (usize, PairPoints)> {
    games.chunk_by(|a, b| a.planned.pair_index() == b.planned.pair_index()).filter_map(|pair| match pair {
        // The first player is White in the first game of a pair.
        [first, second] => {
            let points = [first, second].map(|game| game.half_points() as u8);
            Some((first.planned.pair_index(), PairPoints(points)))
        }
        _ => None,
    })
}
