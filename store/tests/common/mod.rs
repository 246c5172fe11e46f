//! What the tests of the store and of what stands on it share: a run's description, and run directories that die.
#![allow(dead_code)]

use std::path::Path;

use shared::ids::NetworkId;
use store::RunRow;

/// Returns the description of a run of tic-tac-toe.
pub fn run_row() -> RunRow {
    RunRow {
        run_id: "test".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        game: r#"{"name":"tictactoe"}"#.into(),
        config: "{}".into(),
        seed: 11,
        start_network: None,
    }
}

/// Copies a run directory as a crash at this instant would leave it: what is on disk, and nothing of the process.
pub fn crash_copy(run_dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary directory");
    for entry in std::fs::read_dir(run_dir).expect("the run directory is there") {
        let entry = entry.expect("an entry");
        // The index beside the log is rebuilt after a crash.
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("a copy");
        }
    }
    copy
}

/// Returns the network with this number, which is not 0.
pub fn network_id(number: u32) -> NetworkId {
    NetworkId::new(number).expect("networks count from 1")
}
