//! What of an old run is removed from its disk, by a thread beside the run: plies of old games, files of rejected networks.
//!
//! What is removed is chosen here; the one thread that writes to the store removes it, a few games a transaction, so that
//! plies are acknowledged as soon as ever.

mod old_games;
mod rejected_networks;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::exit::one_line;
use store::StoreError;
use store::durable::DurableStore;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::progress::RunStatus;
pub(crate) use old_games::OldGames;
pub(crate) use rejected_networks::RejectedNetworks;

/// Time between two looks for what can be removed.
const INTERVAL: Duration = Duration::from_secs(10);
/// After a step the thread rests this many times as long as the step took: the store has other work.
const REST_FACTOR: u32 = 4;
/// Counter of the status: games whose plies were removed since the learner started.
const THINNED_COUNTER: &str = "thinned_game_count";
/// Counter of the status: files of rejected networks that were deleted since then.
const DELETED_COUNTER: &str = "deleted_network_count";

/// The thread's work.
pub(crate) struct Upkeep {
    pub(crate) store: DurableStore,
    pub(crate) games: OldGames,
    pub(crate) networks: RejectedNetworks,
    pub(crate) status: Arc<RunStatus>,
    /// Where its waits end with the stop.
    pub(crate) tokio: tokio::runtime::Handle,
    pub(crate) stop: CancellationToken,
}

impl Upkeep {
    /// Removes what can be removed, until the stop.
    pub(crate) fn run(mut self) {
        loop {
            match self.remove_all() {
                Err(error) if !self.stop.is_cancelled() => {
                    warn!(error = one_line(&error), "old games and networks stay for now");
                }
                _ => {}
            }
            if !self.rest(INTERVAL) {
                return;
            }
        }
    }

    /// Waits so long, or until the stop; returns whether the run goes on.
    fn rest(&self, time: Duration) -> bool {
        self.tokio.block_on(async { self.stop.run_until_cancelled(tokio::time::sleep(time)).await.is_some() })
    }

    /// Removes all that can be removed now, step by step.
    fn remove_all(&mut self) -> Result<(), StoreError> {
        let mut game_count = 0;
        let reader = self.store.store().reader()?;
        loop {
            let started_at = Instant::now();
            let changes = self.games.next_step(&reader)?;
            if changes.is_empty() {
                break;
            }
            let count = changes.len() as u64;
            self.store.write(changes)?;
            self.status.count_more(THINNED_COUNTER, count);
            game_count += count;
            if !self.rest(started_at.elapsed() * REST_FACTOR) {
                break;
            }
        }
        let deleted_count = self.networks.delete_old(&reader)?;
        self.status.count_more(DELETED_COUNTER, deleted_count);
        if game_count + deleted_count > 0 {
            info!(
                games = game_count,
                networks = deleted_count,
                "removed plies of old games and files of rejected networks"
            );
        }
        Ok(())
    }
}
