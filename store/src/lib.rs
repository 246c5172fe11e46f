//! What a run keeps on its disk: one SQLite database that anyone may open with `sqlite3` (tables: docs/store.md), the
//! places of its other files, and the lock on its folder.
//!
//! One thread writes and commits in groups; a submission is answered only once its changes are on disk.
//! Reads go through connections of their own. Nothing here knows the rules of a game: a ply is text and bytes.

mod apply;
mod browse;
mod checksum;
mod columns;
mod copy;
mod cost;
pub mod durable;
mod error;
pub mod files;
mod game_thinning;
mod integrity;
pub mod lock;
mod log_bound;
mod open_files;
mod problem;
mod read;
mod read_game;
mod rows;
mod run_game;
mod schema;
#[cfg(feature = "simulation")]
pub mod simulated;
mod starts;
mod statement;
mod version;
mod workers;
mod writer;
mod yardstick;

use std::path::{Path, PathBuf};

pub use browse::{GameFilter, GameKindFilter, GameSummary, IterationSummary, MetricValue, RunTotals};
pub use checksum::{SealedEnd, record_checksum};
pub use error::StoreError;
pub use game_thinning::ThinnableGame;
pub use networks::DATABASE_FILE;
pub use problem::StoreProblem;
pub use read::{GameStatistics, PlayedOn, Reader};
pub use rows::{
    Change, CheckpointRow, FinishedGame, FinishedSpan, GameKind, GameState, IterationCost, IterationRow,
    IterationState, MetricRow, NetworkRow, NetworkState, NewGame, NewNetwork, Resignation, RunRow, StoredGame,
    StoredResult, WorkerRow,
};
pub use schema::SCHEMA_VERSION;
pub use starts::EarlierGame;
pub use workers::{GateLease, SetAside};
pub use writer::Ack;
pub use yardstick::YardstickScore;

use lock::FolderLock;
use open_files::OpenFiles;
use writer::{Writer, WriterParts};

/// Name of the file whose lock keeps a second learner out.
pub const LOCK_FILE: &str = "alveare.lock";

/// The open store of one run directory. Dropping it commits what is queued and lets the directory go.
#[derive(Debug)]
pub struct Store {
    // Field order is drop order: the writer ends before the locks are let go.
    writer: Writer,
    database: PathBuf,
    problem: StoreProblem,
    run: RunRow,
    _lock: FolderLock,
    // The lock file can be deleted by hand. Not to be closed while SQLite is at work: its own locks would go too.
    _database_lock: FolderLock,
    /// The rest of a simulation, which has no other threads.
    #[cfg(feature = "simulation")]
    others: Option<std::sync::Arc<dyn simulated::OtherThreads>>,
}

impl Store {
    /// Opens the store in `run_dir`, making directory and database if they are not there.
    ///
    /// `run` describes a new run. Of a run that exists the stored description counts, except for the config,
    /// which is replaced.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another learner has the directory open, [`StoreError::NewerSchema`] for a database
    /// of a later version, [`StoreError::OtherGame`] if the run plays another game, [`StoreError::Io`] and
    /// [`StoreError::Database`] if the disk fails.
    pub fn open(run_dir: &Path, run: &RunRow) -> Result<Self, StoreError> {
        Self::open_with(run_dir, run, Writer::start)
    }

    /// Opens the store with a writer that `start` makes.
    fn open_with(
        run_dir: &Path,
        run: &RunRow,
        start: impl FnOnce(WriterParts) -> Result<Writer, StoreError>,
    ) -> Result<Self, StoreError> {
        std::fs::create_dir_all(run_dir).map_err(|source| StoreError::io(run_dir, source))?;
        let lock_of = |file: &Path| {
            let lock = FolderLock::take(file).map_err(|source| StoreError::io(file, source))?;
            lock.ok_or_else(|| StoreError::Locked { path: run_dir.to_owned() })
        };
        let (lock, database) = (lock_of(&run_dir.join(LOCK_FILE))?, run_dir.join(DATABASE_FILE));
        let database_lock = lock_of(&database)?;
        let connection = schema::open_for_writing(&database)?;
        let run = schema::describe_run(&connection, run)?;
        let (problem, files) = (StoreProblem::default(), OpenFiles::of(&database)?);
        let writer = start(WriterParts { connection, files, problem: problem.clone() })?;
        Ok(Self {
            writer,
            database,
            problem,
            run,
            _lock: lock,
            _database_lock: database_lock,
            #[cfg(feature = "simulation")]
            others: None,
        })
    }

    /// Returns why nothing can be stored at the moment, as it changes.
    #[must_use]
    pub const fn problem(&self) -> &StoreProblem {
        &self.problem
    }

    /// Returns the stored description of the run.
    #[must_use]
    pub fn run(&self) -> &RunRow {
        &self.run
    }

    /// Queues `changes`, which are made all together or not at all. Blocks while the queue is full.
    ///
    /// Submissions are committed in the order in which they are queued.
    ///
    /// # Errors
    /// [`StoreError::Closed`] if the writer has ended.
    pub fn submit(&self, changes: Vec<Change>) -> Result<Ack, StoreError> {
        self.writer.submit(changes)
    }

    /// Makes `changes` all together or not at all, and returns once they are on disk.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if a change contradicts what is stored, [`StoreError::Database`] if the disk fails: nothing
    /// is changed then, and the caller may try again.
    pub fn write(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let ack = self.submit(changes)?;
        #[cfg(feature = "simulation")]
        self.let_others_write();
        ack.wait()
    }

    /// Bounds the database to so many pages of 4 KiB: writes beyond fail as they do on a full disk.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn limit_pages(&self, page_count_max: u32) -> Result<(), StoreError> {
        self.writer.limit_pages(page_count_max)?.wait()
    }

    /// Opens a connection that only reads.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database fails.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Reader::open(&self.database)
    }
}
