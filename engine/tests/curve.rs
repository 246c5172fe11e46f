//! `alveare curve` on run directories of draughts: what is played, what is kept, and what is written.
#![cfg(feature = "network")]

use std::path::Path;
use std::process::{Command, Output};

use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use rusqlite::Connection;
use shared::catalog::{GameSpec, NetworkGame};
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::Dama;

const SETTINGS: NetworkSettings = NetworkSettings {
    architecture: Architecture::Residual,
    blocks: 1,
    filters: 8,
    trunk: Trunk::Cells,
    policy_head: PolicyHead::Spatial,
    value_hidden: 8,
    global_pooling_every: 0,
    outlook_heads: false,
};
const FAST: [&str; 10] =
    ["--device", "cpu", "--simulations", "4", "--ply-limit", "30", "--against", "random", "--against", "mcts:4"];

/// Makes a run of draughts, as the learner keeps it, in which network 2 was rejected and 1 and 3 were promoted.
fn make_run(dir: &Path, seed: u64) -> Connection {
    let spec = NetworkSpec::new(&Dama::default().spec(PolicyCoding::Lossless), SETTINGS).expect("it can be");
    std::fs::create_dir_all(dir.join("networks")).expect("a run directory");
    for number in 1..=3 {
        let network = Network::random(&spec, Device::CPU, seed + number).expect("a network");
        network.save(&dir.join(format!("networks/network-00000{number}.safetensors"))).expect("written");
    }
    let database = Connection::open(dir.join("alveare.db")).expect("a run directory");
    database.execute_batch(include_str!("../../store/src/schema.sql")).expect("a run directory");
    database.pragma_update(None, "user_version", 4).expect("a run directory");
    let game = serde_json::to_string(&spec.game).expect("a run directory");
    database.execute("INSERT INTO runs VALUES ('run', '', ?1, '{}', 1, 4, NULL)", [game]).expect("a run directory");
    database
        .execute_batch(
            "INSERT INTO networks VALUES
                 (1, 0, 'networks/network-000001.safetensors', '', 0, 'former_best', ''),
                 (2, NULL, 'networks/network-000002.safetensors', '', 100, 'rejected', ''),
                 (3, 1, 'networks/network-000003.safetensors', '', 200, 'best', '');
             INSERT INTO iterations VALUES
                 (1, 'rejected', 10, 0, 100, 2, 50, 900, '', '', 1000, 6400, 1.5e15),
                 (2, 'promoted', 20, 100, 200, 3, 60, 950, '', '', 1000, 6400, 2.5e15),
                 (3, 'self_play', NULL, 200, NULL, NULL, 0, 0, '', NULL, 10, 0, 1e12);",
        )
        .expect("a run directory");
    database
}

fn curve(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alveare")).arg("curve").args(arguments).output().expect("run alveare")
}

fn succeed(arguments: &[&str]) -> String {
    let output = curve(arguments);
    let [out, log] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{arguments:?}\n{log}\n{out}");
    assert_eq!(log, "", "it is quiet where nobody watches");
    out
}

fn fail(arguments: &[&str]) -> (Option<i32>, String) {
    let output = curve(arguments);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned())
}

fn pair_count(dir: &Path) -> u32 {
    let kept = Connection::open(dir.join("curve.db")).expect("pairs are kept");
    kept.query_row("SELECT count(*) FROM curve_pairs", [], |row| row.get(0)).expect("pairs are kept")
}

#[test]
fn promoted_networks_play_and_a_second_call_plays_only_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    make_run(&dir, 1);
    let run = dir.to_str().unwrap();
    let table = succeed(&[&[run, "--games", "2"], &FAST[..]].concat());
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 6, "a head, two networks, the anchor, two files: {table}");
    assert!(lines[1].contains("  0.0000         0         0  "), "the first network cost nothing: {table}");
    assert!(lines[2].contains("  4.0000       110       200  "), "what was rejected cost something too: {table}");
    assert_eq!(lines[3], "Elo counts from random");
    assert_eq!(pair_count(&dir), 4);

    // What is kept is not played again: changed by hand, it stays.
    let kept = Connection::open(dir.join("curve.db")).unwrap();
    kept.execute("UPDATE curve_pairs SET half_points_white = 2, half_points_black = 2", []).unwrap();
    let again = succeed(&[&[run, "--games", "2"], &FAST[..]].concat());
    assert!(again.lines().skip(1).take(2).all(|line| line.ends_with("1.000   1.000")), "{again}");
    succeed(&[&[run, "--games", "4"], &FAST[..]].concat());
    assert_eq!(pair_count(&dir), 8);
    let unchanged =
        "SELECT count(*) FROM curve_pairs WHERE pair_index = 0 AND half_points_white + half_points_black = 4";
    assert_eq!(kept.query_row(unchanged, [], |row| row.get::<_, u32>(0)).unwrap(), 4);

    let csv = std::fs::read_to_string(dir.join("curve.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.lines().nth(2).is_some_and(|line| line.contains(",1,3,4,110,200,")), "{csv}");
    let picture = std::fs::read_to_string(dir.join("curve.svg")).unwrap();
    assert!(picture.contains("cost of the run (PFLOP)"), "{picture}");
}

#[test]
fn runs_are_shown_together_and_over_games_where_a_cost_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    make_run(&first, 1);
    let old = make_run(&second, 7);
    for column in ["evaluation_count", "training_sample_count", "flop"] {
        old.execute_batch(&format!("ALTER TABLE iterations DROP COLUMN {column}")).unwrap();
    }
    old.pragma_update(None, "user_version", 3).unwrap();
    let out = folder.path().join("both");
    let [a, b, files] = [&first, &second, &out].map(|path| path.to_str().unwrap());
    let output = curve(&[&[a, b, "--games", "2", "--out", files], &FAST[..]].concat());
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && log.contains("unknown cost"), "{log}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.lines().nth(4).is_some_and(|line| line.contains("unknown")), "{table}");
    let picture = std::fs::read_to_string(out.with_extension("svg")).unwrap();
    assert!(picture.contains("self-play games (cost unknown)") && picture.contains(a) && picture.contains(b));
}

#[test]
fn what_cannot_be_shown_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let database = make_run(&dir, 1);
    let run = dir.to_str().unwrap();
    let none = folder.path().to_str().unwrap();
    let no_run = format!("alveare: {none}: no run there: it has no alveare.db");
    assert_eq!(fail(&[none]), (Some(64), no_run));
    assert_eq!(fail(&[run, "--games", "3"]), (Some(64), "alveare: --games 3: odd, but games come in pairs".into()));
    assert_eq!(fail(&[run, "--against", "nobody"]).0, Some(64));
    let game = serde_json::to_string(&GameSpec::TicTacToe {}).unwrap();
    database.execute("UPDATE runs SET game = ?1", [game]).unwrap();
    assert_eq!(fail(&[run]), (Some(64), format!("alveare: {run}: there are no matches of tic-tac-toe")));
    database.execute_batch("DELETE FROM iterations; DELETE FROM networks").unwrap();
    assert_eq!(fail(&[run]), (Some(1), format!("alveare: {run}: the run has no network yet")));
}
