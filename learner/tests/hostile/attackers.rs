//! Attackers have machines of their own: here, threads that give way to the learner and to honest workers.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// The least that Linux gives a thread beside others.
const NICE_MAX: i32 = 19;

static ATTACKERS: LazyLock<Runtime> = LazyLock::new(|| {
    // On Linux a thread gives way alone, not its process.
    let give_way = || assert!(rustix::process::nice(NICE_MAX).is_ok(), "a thread may give way");
    let threads = Builder::new_multi_thread().worker_threads(2).on_thread_start(give_way).enable_all().build();
    threads.expect("tokio starts")
});

/// Does an attacker's work.
pub async fn attack<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    ATTACKERS.spawn(work).await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
