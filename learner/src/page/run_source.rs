//! Reading the run: few questions at a time, each on a blocking thread with a connection of its own and a deadline.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::InterruptHandle;
use store::Reader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::PageError;

/// Questions answered at a time: they must not take the cores from search and training.
const READS_AT_ONCE: usize = 2;
/// How long a question waits for its turn.
const TURN_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long a question may take. Longer ones would also keep the write-ahead log from being folded back.
const READ_TIME_MAX: Duration = Duration::from_secs(10);

/// The store of a run, for questions.
#[derive(Debug, Clone)]
pub(super) struct RunSource {
    run_dir: PathBuf,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Reader>>>,
}

/// Ends a query whose answer nobody waits for any more.
struct InterruptOnDrop(Option<InterruptHandle>);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        if let Some(query) = &self.0 {
            query.interrupt();
        }
    }
}

impl RunSource {
    pub(super) fn new(run_dir: &Path) -> Self {
        let turns = Arc::new(Semaphore::new(READS_AT_ONCE));
        Self { run_dir: run_dir.to_owned(), turns, idle: Arc::default() }
    }

    /// Does `work` with a connection to the store. It is interrupted if it takes too long or the caller goes away.
    ///
    /// # Errors
    /// [`PageError::Busy`] if there is no turn in time or the work takes too long, else that of `work`.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let turn = self.turn().await?;
        let reader = self.reader().await?;
        let mut guard = InterruptOnDrop(Some(reader.interrupter()));
        let idle = Arc::clone(&self.idle);
        let done = spawn_blocking(move || {
            let _turn = turn;
            let answer = work(&reader);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            answer
        });
        let answer = timeout(READ_TIME_MAX, done).await;
        let answer = answer.map_err(|_| PageError::Busy("reading the store took too long"))?;
        guard.0 = None;
        answer.map_err(|_| PageError::Busy("reading the store failed"))?
    }

    /// Does `work` that needs a core and no connection, in a turn like that of a question.
    ///
    /// # Errors
    /// [`PageError::Busy`] if there is no turn in time, else that of `work`.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let turn = self.turn().await?;
        let done = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.map_err(|_| PageError::Busy("the position could not be computed"))?
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, PageError> {
        let turn = timeout(TURN_WAIT_MAX, Arc::clone(&self.turns).acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(PageError::Busy("too many questions at once"))
    }

    /// Takes an idle connection, or opens one: never more than there are turns.
    async fn reader(&self) -> Result<Reader, PageError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(reader) = idle {
            return Ok(reader);
        }
        let run_dir = self.run_dir.clone();
        let opened = spawn_blocking(move || Reader::of_run(&run_dir)).await;
        Ok(opened.map_err(|_| PageError::Busy("opening the store failed"))??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_computed_takes_a_turn_and_no_thread_of_the_runtime() {
        let source = RunSource::new(Path::new("."));
        let here = std::thread::current().id();
        let turns = Arc::clone(&source.turns);
        let look = move || Ok((std::thread::current().id(), turns.available_permits()));
        let (thread, turns_left) = source.compute(look).await.unwrap();
        assert_ne!(thread, here);
        assert_eq!(turns_left, READS_AT_ONCE - 1);
    }
}
