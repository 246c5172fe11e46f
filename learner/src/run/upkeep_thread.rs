//! Starts the thread that removes what of an old run is not needed, if anything is to be removed.

use std::sync::Arc;
use std::thread::JoinHandle;

use shared::encoding::Encoding;
use tokio_util::sync::CancellationToken;

use super::take_up::TakenUp;
use super::{RunError, starts_of};
use crate::config::LearnerConfig;
use crate::progress::RunStatus;
use crate::upkeep::{OldGames, RejectedNetworks, Upkeep};

/// Starts the thread; it ends with `stop`.
pub(super) fn start_upkeep<E: Encoding>(
    config: &LearnerConfig,
    taken_up: &TakenUp<E>,
    status: &Arc<RunStatus>,
    tokio: &tokio::runtime::Handle,
    stop: &CancellationToken,
) -> Result<Option<JoinHandle<()>>, RunError> {
    if !config.store.removes_something() {
        return Ok(None);
    }
    let upkeep = Upkeep {
        store: taken_up.store.clone(),
        games: OldGames {
            keep_games: config.store.keep_games,
            replay: Arc::clone(&taken_up.replay),
            starts: starts_of(&config.self_play, &taken_up.human_games),
        },
        networks: RejectedNetworks::new(config.store.keep_rejected_networks, taken_up.files.clone()),
        status: Arc::clone(status),
        tokio: tokio.clone(),
        stop: stop.clone(),
    };
    let thread = std::thread::Builder::new().name("upkeep".to_owned()).spawn(move || upkeep.run());
    thread.map(Some).map_err(|source| RunError::Thread { name: "upkeep", source })
}
