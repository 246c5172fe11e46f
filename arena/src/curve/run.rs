//! What a run's store says about its promoted networks. The columns are described in docs/store.md.

use std::path::{Path, PathBuf};

use networks::DATABASE_FILE;
use rusqlite::Connection;
use shared::catalog::GameSpec;
use shared::ids::{Generation, NetworkId};

use super::error::CurveError;
use crate::run_game::{RunGameError, open_run};

/// Version of its tables from which on costs are counted.
const COSTS_SINCE: u32 = 4;
/// Operations of a PFLOP.
const PFLOP: f64 = 1e15;

/// A run whose networks play.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveRun {
    /// Its folder.
    pub dir: PathBuf,
    /// What it is called: its folder, as it was given.
    pub name: String,
    /// What it plays.
    pub game: GameSpec,
    /// The networks that were promoted, by rising generation; at least one.
    pub networks: Vec<RunNetwork>,
}

/// A network that was the best of its run once.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNetwork {
    /// Its number.
    pub network_id: NetworkId,
    /// Its generation.
    pub generation: Generation,
    /// Its weights.
    pub file: PathBuf,
    /// Training steps behind it.
    pub training_step: u64,
    /// Self-play games of the run up to it.
    pub game_count: u64,
    /// What the run had cost up to its promotion, in PFLOP; `None` if a part of that was not counted (schema 3).
    pub pflop: Option<f64>,
}

/// What the strength of networks is shown over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// The cost of the run, in PFLOP.
    Cost,
    /// The self-play games of the run: its cost is unknown.
    Games,
}

impl CurveAxis {
    /// Returns how far along the axis a network is; 0 if that is not known.
    #[must_use]
    pub fn place(self, network: &RunNetwork) -> f64 {
        match self {
            Self::Cost => network.pflop.unwrap_or_default(),
            Self::Games => network.game_count as f64,
        }
    }

    /// Returns what stands at the axis.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Cost => "cost of the run (PFLOP)",
            Self::Games => "self-play games (cost unknown)",
        }
    }
}

/// Returns the axis on which all these runs can be shown: the cost, if all of them know it.
#[must_use]
pub fn axis_of(runs: &[CurveRun]) -> CurveAxis {
    let is_known = |run: &CurveRun| run.networks.iter().all(|network| network.pflop.is_some());
    if runs.iter().all(is_known) { CurveAxis::Cost } else { CurveAxis::Games }
}

impl CurveRun {
    /// Reads the run in `dir`. A learner may be at work there.
    ///
    /// # Errors
    /// [`CurveError::Run`] or [`CurveError::NoNetwork`].
    pub fn read(dir: &Path) -> Result<Self, CurveError> {
        let (connection, game) = open_run(dir)?;
        let failed = |source| RunGameError::Database { file: dir.join(DATABASE_FILE), source };
        let networks = read_networks(&connection, dir).map_err(failed)?;
        if networks.is_empty() {
            return Err(CurveError::NoNetwork(dir.to_owned()));
        }
        Ok(Self { dir: dir.to_owned(), name: dir.display().to_string(), game, networks })
    }
}

fn read_networks(connection: &Connection, dir: &Path) -> rusqlite::Result<Vec<RunNetwork>> {
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let flop = if version >= COSTS_SINCE { "before.flop" } else { "NULL" };
    // Up to the iteration that made the network; none made the first.
    let sql = format!(
        "SELECT network_id, generation, file, training_step, coalesce(sum(before.game_count), 0), total({flop}),
             count(before.number) - count({flop})
         FROM networks
         LEFT JOIN iterations made ON made.candidate_id = network_id
         LEFT JOIN iterations before ON before.number <= made.number
         WHERE generation IS NOT NULL
         GROUP BY network_id ORDER BY generation"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let (flop, uncounted): (f64, u32) = (row.get(5)?, row.get(6)?);
        Ok(RunNetwork {
            network_id: NetworkId::new(row.get(0)?).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, 0))?,
            generation: Generation::new(row.get(1)?),
            file: dir.join(row.get::<_, String>(2)?),
            training_step: row.get::<_, i64>(3)?.cast_unsigned(),
            game_count: row.get::<_, i64>(4)?.cast_unsigned(),
            pflop: (uncounted == 0).then_some(flop / PFLOP),
        })
    })?;
    rows.collect()
}
