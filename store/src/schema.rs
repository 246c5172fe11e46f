//! The tables (schema.sql), and opening a database that may be new, known, or too new.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params};
use shared::catalog::GameSpec;

use super::version::user_version;
use super::{RunRow, StoreError, checksum};

/// Version of the tables this program reads and writes.
pub const SCHEMA_VERSION: u32 = 9;

/// Games that begin from other positions than the initial one.
const FROM_1_TO_2: &str = "ALTER TABLE games ADD COLUMN start_position TEXT;";
/// Runs that begin with a network and not with random weights.
const FROM_2_TO_3: &str = "ALTER TABLE runs ADD COLUMN start_network TEXT;";
/// What iterations cost; of those that began before, it is not known.
const FROM_3_TO_4: &str = "
    ALTER TABLE iterations ADD COLUMN evaluation_count INTEGER;
    ALTER TABLE iterations ADD COLUMN training_sample_count INTEGER;
    ALTER TABLE iterations ADD COLUMN flop REAL;";
/// Games that measure the best network against earlier ones.
const FROM_4_TO_5: &str = "ALTER TABLE games ADD COLUMN opponent_id INTEGER;";
/// Who played which game; of games before, it is not known.
const FROM_5_TO_6: &str = include_str!("workers.sql");
/// Records that say whether they are what was stored; those before get their checksum as they are found.
const FROM_6_TO_7: &str = "ALTER TABLE games ADD COLUMN checksum INTEGER;";
/// Games whose plies were removed, and finding those that have theirs.
const FROM_7_TO_8: &str = "
    ALTER TABLE games ADD COLUMN is_thinned INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX games_with_plies ON games (kind, finish_number) WHERE is_thinned = 0;";
/// Games that somebody resigned: older programs would take them for damaged.
const FROM_8_TO_9: &str =
    "ALTER TABLE games ADD COLUMN resignation TEXT CHECK (resignation IN ('resigned', 'right', 'false'));";

/// What makes each version of the next one, from version 1 on.
const STEPS: [&str; SCHEMA_VERSION as usize - 1] =
    [FROM_1_TO_2, FROM_2_TO_3, FROM_3_TO_4, FROM_4_TO_5, FROM_5_TO_6, FROM_6_TO_7, FROM_7_TO_8, FROM_8_TO_9];

/// How long a statement waits for a lock that someone's `sqlite3` holds.
pub(super) const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Opens or makes the database, with every commit synced to disk.
pub(super) fn open_for_writing(database: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(database)?;
    connection.busy_timeout(BUSY_WAIT)?;
    let found = user_version(&connection)?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION });
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    let changes: &[&str] = match found {
        0 => &[include_str!("schema.sql"), FROM_5_TO_6],
        found => STEPS.get(found as usize - 1..).unwrap_or_default(),
    };
    if !changes.is_empty() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for change in changes {
            transaction.execute_batch(change)?;
        }
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        if found > 0 {
            tracing::info!(from = found, to = SCHEMA_VERSION, "bringing the store up to date");
            let game_count = checksum::add_missing(&transaction)?;
            tracing::info!(game_count, "games have a checksum now");
        }
        transaction.commit()?;
    }
    Ok(connection)
}

/// Opens the database for reading alone. One of an earlier version stays as it is: what it has no column for is unknown.
pub(super) fn open_for_reading(database: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY_WAIT)?;
    match user_version(&connection)? {
        found if found > SCHEMA_VERSION => Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION }),
        _ => Ok(connection),
    }
}

/// Stores `given` if the run is new, else checks that it plays the same game and takes over the config.
pub(super) fn describe_run(connection: &Connection, given: &RunRow) -> Result<RunRow, StoreError> {
    let Some(stored) = read_run(connection)? else {
        connection.execute(
            "INSERT INTO runs VALUES (:run_id, :created_at, :game, :config, :seed, :schema_version, NULL)",
            named_params! {
                ":run_id": given.run_id, ":created_at": given.created_at, ":game": given.game,
                ":config": given.config, ":seed": given.seed.cast_signed(), ":schema_version": SCHEMA_VERSION,
            },
        )?;
        return Ok(given.clone());
    };
    if !is_same_json(&stored.game, &given.game) {
        let (stored, given) = told_apart(&stored.game, &given.game);
        return Err(StoreError::OtherGame { stored, given });
    }
    connection.execute("UPDATE runs SET config = ?1", [&given.config])?;
    Ok(RunRow { config: given.config.clone(), ..stored })
}

/// Returns two games as people call them, or in full where they are called the same.
fn told_apart(one: &str, other: &str) -> (String, String) {
    let called = |json: &str| serde_json::from_str::<GameSpec>(json).map(|game| game.to_string());
    match (called(one), called(other)) {
        (Ok(one), Ok(other)) if one != other => (one, other),
        _ => (one.to_owned(), other.to_owned()),
    }
}

/// Reads the description of the run, if there is one yet.
pub(super) fn read_run(connection: &Connection) -> Result<Option<RunRow>, StoreError> {
    let start_network = if user_version(connection)? < 3 { "NULL" } else { "start_network" };
    let sql = format!("SELECT run_id, created_at, game, config, seed, {start_network} FROM runs");
    let row = connection.query_row(&sql, [], |row| {
        Ok(RunRow {
            run_id: row.get(0)?,
            created_at: row.get(1)?,
            game: row.get(2)?,
            config: row.get(3)?,
            seed: row.get::<_, i64>(4)?.cast_unsigned(),
            start_network: row.get(5)?,
        })
    });
    Ok(row.optional()?)
}

/// Compares as JSON, so that the order of keys does not matter.
fn is_same_json(a: &str, b: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    a == b || parse(a).is_some_and(|value| parse(b) == Some(value))
}
