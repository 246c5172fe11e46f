//! The two signals that end a program: the first asks it to drain, the second ends it at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Exit code after a second signal, as a shell reports an interrupt.
const INTERRUPTED: i32 = 130;

/// Returns a token that is cancelled by the first SIGINT or SIGTERM; the second ends the process.
///
/// # Errors
/// If the handlers cannot be installed. Must be called within a tokio runtime.
pub fn on_signals() -> io::Result<CancellationToken> {
    let interrupt = signal(SignalKind::interrupt())?;
    let terminate = signal(SignalKind::terminate())?;
    let token = CancellationToken::new();
    tokio::spawn(watch(interrupt, terminate, token.clone()));
    Ok(token)
}

async fn watch(mut interrupt: Signal, mut terminate: Signal, token: CancellationToken) {
    let name = next(&mut interrupt, &mut terminate).await;
    info!(signal = name, "stopping; a second signal stops at once");
    token.cancel();
    next(&mut interrupt, &mut terminate).await;
    std::process::exit(INTERRUPTED);
}

async fn next(interrupt: &mut Signal, terminate: &mut Signal) -> &'static str {
    tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
    }
}
