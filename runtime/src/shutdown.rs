//! The two signals that end a program: the first asks it to drain, the second ends it at once. In a program that talks
//! with another one an interrupt ends what it is doing, and not the program.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
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

/// As [`on_signals`], for a program without a tokio runtime of its own: signals are listened for as long as the one that is
/// returned is there.
///
/// # Errors
/// If the system starts no thread, or the handlers cannot be installed.
pub fn listen() -> io::Result<(Runtime, CancellationToken)> {
    let tokio = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = tokio.block_on(async { on_signals() })?;
    Ok((tokio, stop))
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

/// When the last interrupt (SIGINT) came.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<Mutex<Option<Instant>>>);

impl Interrupts {
    /// Takes interrupts over: for as long as the process lives they do no more than to be noted.
    ///
    /// # Errors
    /// If the system gives no handler or starts no thread.
    pub fn watch() -> io::Result<Self> {
        let interrupts = Self::default();
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let mut interrupt = {
            let _within = runtime.enter();
            signal(SignalKind::interrupt())?
        };
        let noted = interrupts.clone();
        let watch = async move {
            while interrupt.recv().await.is_some() {
                noted.note();
            }
        };
        std::thread::Builder::new().name("interrupts".to_owned()).spawn(move || runtime.block_on(watch))?;
        Ok(interrupts)
    }

    /// Notes an interrupt.
    pub fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether an interrupt came after `start`.
    #[must_use]
    pub fn came_since(&self, start: Instant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|noted| noted > start)
    }
}
