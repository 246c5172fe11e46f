//! Many games at once: a thread for each, whose leaves share the batches of the network.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use shared::catalog::NetworkGame;
use shared::record::ReplayedGame;
use shared::search::{SearchSettings, SharedOracle};
use shared::seed::mix_seed;
use tokio_util::sync::CancellationToken;

use super::SelfPlayError;
use super::game::play_game;
use crate::players::SharedNetwork;

/// How games are played.
#[derive(Clone)]
pub struct SelfPlaySettings<G: NetworkGame> {
    /// How many games.
    pub game_count: u32,
    /// How a move is searched.
    pub search: SearchSettings,
    /// What the searches ask: endgame tables, if there are some.
    pub oracle: Option<SharedOracle<G>>,
    /// What all that is random follows from.
    pub seed: u64,
    /// Games played at once, at least 1.
    pub games_at_once: usize,
}

/// Plays the games, or as many as are finished when `stop` is cancelled. `keep` gets each finished game, in the order of
/// their numbers, whichever ends first; after a stop, those after a gap too.
///
/// # Errors
/// [`SelfPlayError`] if a game cannot go on, or the first error of `keep`; the other games then end at once.
pub fn play_games<G: NetworkGame, X: From<SelfPlayError>>(
    network: &SharedNetwork<G>,
    settings: &SelfPlaySettings<G>,
    stop: &CancellationToken,
    mut keep: impl FnMut(ReplayedGame) -> Result<(), X>,
) -> Result<(), X> {
    let (next, stop) = (AtomicU32::new(0), stop.child_token());
    let (sender, results) = sync_channel(settings.games_at_once.max(1));
    let (mut waiting, mut kept_count, mut failure) = (BTreeMap::new(), 0, None);
    std::thread::scope(|scope| {
        for _ in 0..settings.games_at_once.max(1) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || play_until_done(network, settings, next, stop, &sender));
        }
        drop(sender);
        for (number, result) in results {
            let result = result.map_err(X::from).and_then(|game| {
                waiting.insert(number, game);
                while let Some(game) = waiting.remove(&kept_count) {
                    kept_count += 1;
                    keep(game)?;
                }
                Ok(())
            });
            if let Err(error) = result {
                stop.cancel();
                failure.get_or_insert(error);
            }
        }
    });
    match failure {
        Some(error) => Err(error),
        None => waiting.into_values().try_for_each(keep),
    }
}

/// Number of a game, from 0, and the game.
type NumberedResult = (u32, Result<ReplayedGame, SelfPlayError>);

/// Plays one game after the other until none is left.
fn play_until_done<G: NetworkGame>(
    network: &SharedNetwork<G>,
    settings: &SelfPlaySettings<G>,
    next: &AtomicU32,
    stop: &CancellationToken,
    results: &SyncSender<NumberedResult>,
) {
    let (encoding, mut client) = (network.encoding(), network.client());
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= settings.game_count {
            return;
        }
        let seed = mix_seed(settings.seed, number.into());
        let played = play_game(&encoding, &mut client, settings, seed, stop);
        let Some(result) = played.transpose() else { return };
        if results.send((number, result)).is_err() {
            return;
        }
    }
}
