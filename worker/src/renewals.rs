//! Renewing the leases of held games, three times in each lease period.

use std::time::Duration;

use proto::RenewLeasesRequest;
use shared::ids::GameId;
use shared::wire::RENEWED_GAME_COUNT_MAX;
use tracing::info;

use crate::channels::WorkerState;
use crate::learner_connection::{LearnerConnection, LearnerSessionError, with_deadline};
use crate::worker_settings::WorkerSettings;

/// Renews leases until the session ends; returns why.
pub(crate) async fn serve(
    state: &WorkerState,
    connection: &LearnerConnection,
    settings: &WorkerSettings,
) -> LearnerSessionError {
    let pause = Duration::from_millis(u64::from(connection.terms.lease_ms / 3).max(10));
    loop {
        tokio::time::sleep(pause).await;
        if let Err(error) = renew(state, connection, settings).await {
            return error;
        }
    }
}

/// Renews the lease of each held game, and gives up the games that this worker has lost.
///
/// # Errors
/// [`LearnerSessionError`] if a call fails or is not answered in time.
pub(crate) async fn renew(
    state: &WorkerState,
    connection: &LearnerConnection,
    settings: &WorkerSettings,
) -> Result<(), LearnerSessionError> {
    for game_ids in state.held_leases.game_ids().chunks(RENEWED_GAME_COUNT_MAX) {
        let game_ids = game_ids.iter().map(|game_id| game_id.get()).collect();
        let request = RenewLeasesRequest { worker_id: connection.worker_id.clone(), game_ids };
        let reply = with_deadline("renew leases", settings, connection.workers.clone().renew_leases(request)).await?;
        for game_id in reply.lost_game_ids {
            if state.held_leases.mark_lost(GameId::new(game_id)) {
                info!(game_id, "lease lost");
            }
        }
    }
    Ok(())
}
