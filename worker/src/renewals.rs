//! Signs of life: leases of the games in hand are renewed three times as often as they run out.

use std::time::Duration;

use proto::RenewLeasesRequest;
use tracing::info;

use crate::connect::{Connected, SessionError, with_deadline};
use crate::messages::Shared;
use crate::settings::WorkerSettings;

/// Most games in one call.
const GAME_COUNT_MAX: usize = 4096;

/// Renews leases until the session is over; returns why.
pub(crate) async fn serve(shared: &Shared, connected: &Connected, settings: &WorkerSettings) -> SessionError {
    let pause = Duration::from_millis(u64::from(connected.join.lease_ms / 3).max(10));
    loop {
        tokio::time::sleep(pause).await;
        if let Err(error) = renew(shared, connected, settings).await {
            return error;
        }
    }
}

/// Renews the lease of each game in hand, and gives up those that are someone else's.
///
/// # Errors
/// [`SessionError`] if the learner does not answer.
pub(crate) async fn renew(
    shared: &Shared,
    connected: &Connected,
    settings: &WorkerSettings,
) -> Result<(), SessionError> {
    for game_ids in shared.tickets.in_hand().chunks(GAME_COUNT_MAX) {
        let request = RenewLeasesRequest { worker_id: connected.worker_id.clone(), game_ids: game_ids.to_vec() };
        let reply = with_deadline("renew leases", settings, connected.workers.clone().renew_leases(request)).await?;
        for game_id in reply.lost_game_ids {
            if shared.tickets.lose(game_id) {
                info!(game_id, "lease lost");
            }
        }
    }
    Ok(())
}
