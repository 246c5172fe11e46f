//! `alveare tables`, and playing by what it makes: the real program.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{Running, program};
use notation::dama::hub;
use shared::game::dama::fen;
use tables::{ClassTable, TableValue, decode, encode};

/// Two kings against one in the far corner: 400 simulations alone prove nothing.
const WON: &str = "W:WK1,K5:BK32";

fn alveare(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alveare")).args(arguments).output().expect("run alveare")
}

fn succeed(arguments: &[&str]) -> String {
    let output = alveare(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the exit code and all of stderr.
fn fail(arguments: &[&str]) -> (Option<i32>, String) {
    let output = alveare(arguments);
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

fn make(folder: &Path) -> String {
    succeed(&["tables", "--pieces", "3", "--threads", "2", "--out", folder.to_str().expect("text")])
}

#[test]
fn tables_are_made_once_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let told = make(folder.path());
    assert!(told.starts_with("2 pieces: 3 tables, 3512 bytes, 3488 positions: 24.8 % won, 59.8 % drawn"), "{told}");
    assert!(told.contains("\n3 pieces: 6 tables, 198768 bytes"), "{told}");
    // An interrupted run leaves a class out, and half a table behind.
    let class = folder.path().join("KKvK.table");
    let bytes = std::fs::read(&class).unwrap();
    std::fs::rename(&class, folder.path().join("KKvK.table.part")).unwrap();
    assert_eq!(make(folder.path()), told);
    assert_eq!(std::fs::read(&class).unwrap(), bytes);
    let checked = succeed(&["tables", "--check", dir, "--positions", "5000"]);
    assert!(checked.starts_with("9 tables of up to 3 pieces, 202280 bytes: checksums right, "), "{checked}");
    let checked = succeed(&["tables", "--check", dir, "--positions", "1000000"]);
    assert!(checked.ends_with(" 199520 positions agree with their moves\n"), "each once: {checked}");
    for (wanted, looked_at) in [("1", 9), ("9", 9), ("10", 10), ("50", 50), ("5000", 5000), ("199519", 199_519)] {
        let checked = succeed(&["tables", "--check", dir, "--positions", wanted]);
        assert!(checked.ends_with(&format!(" {looked_at} positions agree with their moves\n")), "{wanted}: {checked}");
    }
}

#[test]
fn a_table_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let dir = folder.path().to_str().unwrap();
    std::fs::remove_file(folder.path().join("KKvK.table")).unwrap();
    let missing =
        format!("endgame table {dir}/KKvK.table is missing: `alveare tables --pieces 3 --out {dir}` makes it\n");
    assert_eq!(fail(&["tables", "--check", dir]), (Some(1), format!("alveare: --check: {missing}")));
    let arguments = ["analyse", "--game", "dama", "--network", "none", "--simulations", "9", "--tables", dir];
    let (code, told) = fail(&arguments);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains(&format!("endgame tables of up to 2 pieces alone: {missing}")), "{told}");
    // What nothing is played by is looked at, too.
    std::fs::write(folder.path().join("KMvK.table"), "half a table").unwrap();
    let (code, error) = fail(&["tables", "--check", dir]);
    assert!(code == Some(1) && error.contains("KMvK.table: not an endgame table of Alveare"), "{error}");
}

#[test]
fn what_is_wrong_with_a_table_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let dir = folder.path().to_str().unwrap();
    let path = folder.path().join("KMvK.table");
    let mut bytes = std::fs::read(&path).unwrap();
    // A table with other values and a checksum that fits them.
    let good = decode(&bytes).unwrap();
    let lies = good.bytes().iter().map(|byte| if *byte == TableValue::Win(1).to_byte() { 0 } else { *byte }).collect();
    std::fs::write(&path, encode(&ClassTable::new(good.class(), lies).unwrap())).unwrap();
    let (code, error) = fail(&["tables", "--check", dir]);
    assert_eq!(code, Some(1));
    assert!(error.contains(" by its moves ") && error.lines().count() == 1, "{error}");
    bytes[5000] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for arguments in [
        &["tables", "--check", dir][..],
        &["tables", "--pieces", "3", "--out", dir],
        &["analyse", "--game", "dama", "--network", "none", "--preset", "vanilla", "--tables", dir],
    ] {
        let (code, error) = fail(arguments);
        assert_eq!((code, error.lines().count()), (Some(1), 1), "{error}");
        assert!(error.contains("KMvK.table: damaged (its values): delete it and make the tables anew"), "{error}");
    }
}

#[test]
fn wrong_usage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let empty = format!("no endgame tables in {dir}: make them with `alveare tables --out {dir}`");
    for (arguments, message) in [
        (&["tables"][..], "--out"),
        (&["tables", "--out", dir, "--check", dir], "cannot be used with"),
        (&["tables", "--out", dir, "--pieces", "7"], "7 is not in 2..=6"),
        (&["tables", "--check", dir, "--pieces", "3"], "cannot be used with '--pieces <N>'"),
        (&["tables", "--check", dir, "--threads", "3"], "cannot be used with '--threads <T>'"),
        (&["tables", "--check", dir, "--positions", "0"], "0 is not in 1..=18446744073709551615"),
        (&["tables", "--out", dir, "--positions", "9"], "cannot be used with '--positions <N>'"),
        (&["tables", "--out", dir, "--seed", "9"], "cannot be used with '--seed <N>'"),
        (&["uhp", "--network", "none", "--tables", dir], "there are endgame tables of draughts alone"),
        (&["match", "mcts:9,tables=nowhere", "random", "--game", "dama"], "player mcts:9,tables=nowhere: read endgame"),
        (&["match", "mcts:9,tables=nowhere", "random"], "there are endgame tables of draughts alone"),
        (&["match", &format!("uniform:9,tables={dir}"), "random", "--game", "dama"], &empty),
        (&["dama", "--network", "none", "--tables", dir], &format!("alveare: --tables: {empty}\n")),
        (&["tables", "--check", dir], &format!("alveare: --check: {empty}\n")),
        (
            &["tables", "--check", "nope"],
            "--check: read endgame tables nope: No such file or directory (os error 2): make",
        ),
        (
            &["dama", "--network", "none", "--tables", "nope"],
            "alveare: --tables: read endgame tables nope: No such file or directory (os error 2): make tables with \
             `alveare tables --out DIR`\n",
        ),
        (&["dama", "--network", "none", "--tables", file], "tables --out DIR"),
        (&["play", "--game", "dama", "--network", "none", "--tables", "nope"], "tables --out DIR"),
        (
            &["tables", "--check", dir, "--threads", "1", "--seed", "3"],
            "alveare tables --check <DIR> [--positions <N>]",
        ),
    ] {
        let (code, error) = fail(arguments);
        assert!(code == Some(64) && error.contains(message), "{arguments:?}: {error}");
    }
}

#[test]
fn engines_play_by_tables() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let dir = folder.path().to_str().unwrap();
    let arguments = ["analyse", "--game", "dama", "--network", "none", "--position", WON, "--simulations", "400"];
    let first = |shown: String| shown.lines().nth(1).unwrap_or_default().to_owned();
    assert!(!first(succeed(&arguments)).contains("value win"), "no proof without tables");
    let shown = first(succeed(&[&arguments[..], &["--tables", dir]].concat()));
    assert!(shown.starts_with("value win for White after "), "{shown}");

    let mut dama = program("dama");
    dama.args(["--tables", dir]);
    let mut engine = Running::start(dama);
    engine.say("init");
    engine.hear(|line| line == "ready");
    let position = fen::read(WON).unwrap();
    engine.say(&format!("pos pos={}", hub::write(position.board(), position.side_to_move())));
    engine.say("level nodes=400");
    engine.say("go think");
    let told = engine.hear(|line| line.starts_with("done "));
    assert!(told.iter().any(|line| line.contains("score=99.")), "{told:?}");
    assert_eq!(engine.end(), Some(0));

    let report = succeed(&["match", &format!("mcts:9,tables={dir}"), "random", "--game", "dama", "--games", "2"]);
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    assert!(report.contains(&format!("A  mcts:9,tables={name}")), "{report}");
}
