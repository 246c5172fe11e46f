//! `alveare uhp` as an outside engine in a match against itself, with real processes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of the evaluator, which must have been built.
fn evaluator() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_alveare")).with_file_name("evaluator");
    assert!(path.is_file(), "{} is not there: run `cargo build -p evaluator` first", path.display());
    path
}

#[test]
fn the_engine_meets_itself_without_a_protocol_error() {
    let engine = format!("'{}' uhp --seed 1", env!("CARGO_BIN_EXE_alveare"));
    let mut command = Command::new(evaluator());
    command.args(["match", &format!("uhp@depth=30:{engine}"), &format!("uhp@depth=10:{engine}")]);
    command.args(["--games", "4", "--ply-limit", "60", "--games-at-once", "1"]);
    let output = command.output().expect("run the evaluator");
    let [report, log] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{log}");
    assert!(report.contains(" of 4 (") && report.contains("forfeits of A: 0, of B: 0"), "{report}\n{log}");
    assert!(log.contains("id=\"Alveare v"), "{log}");
}
