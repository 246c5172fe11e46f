//! Our own engines as outside engines in matches against themselves, with real processes.

use std::process::Command;

fn play(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    let output = command.arg("match").args(arguments).output().expect("run alveare");
    let [report, log] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{log}");
    assert!(report.contains(" of 4 (") && report.contains("forfeits of A: 0, of B: 0"), "{report}\n{log}");
    (report, log)
}

#[test]
fn the_hive_engine_meets_itself_without_a_protocol_error() {
    let engine = format!("'{}' uhp --network none --seed 1", env!("CARGO_BIN_EXE_alveare"));
    let players = [format!("uhp@depth=30:{engine}"), format!("uhp@depth=10:{engine}")];
    let (_, log) = play(&[&players[0], &players[1], "--games", "4", "--ply-limit", "60", "--games-at-once", "1"]);
    assert!(log.contains("id=\"Alveare v"), "{log}");
}

#[test]
fn the_draughts_engine_meets_itself_without_a_protocol_error() {
    let engine = format!("'{}' dama --network none --seed 1", env!("CARGO_BIN_EXE_alveare"));
    let players = [format!("hub@nodes=40:{engine}"), format!("hub@depth=2:{engine}")];
    let (report, log) = play(&[&players[0], &players[1], "--game", "dama", "--games", "4", "--games-at-once", "1"]);
    assert!(log.contains("name=\"Alveare\""), "{log}");
    assert!(report.starts_with("A  hub@nodes=40:"), "{report}");
}
