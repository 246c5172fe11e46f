//! A run that loses its machine: everything is killed, the run directory is gone, and it goes on from a backup. To a
//! folder, and to a real S3 server.

mod common;

use std::net::TcpListener;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use common::s3::{S3Server, SECRET, variables_for};
use common::system::{Process, System};
use fixtures::{check_finished_games, encoding};

/// A run that promotes soon and often.
const SETTINGS: [&str; 6] = [
    "server.lease=2s",
    "self_play.games_per_iteration=60",
    "training.steps_per_iteration=60",
    "training.checkpoint_steps=10",
    "gate.promotion_score=0.01",
    "backup.interval=1s",
];

#[test]
fn a_run_that_loses_its_machine_goes_on_from_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    lose_the_machine(folder.path().join("backup").to_str().expect("plain"), Vec::new());
}

#[test]
fn a_run_that_loses_its_machine_goes_on_from_s3() {
    let Some(server) = S3Server::start() else { return };
    lose_the_machine("s3://bucket/runs/tictactoe", server.variables());
}

fn lose_the_machine(url: &str, variables: Vec<(&'static str, String)>) {
    let mut system = System::new(&SETTINGS);
    system.set_variables(variables);
    let mut learner = system.start_learner(&["--backup", url]);
    let workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    learner.wait_for("promoted");
    // The interval would do as well; the promotion is sooner.
    let backed_up = learner.wait_for("backup done");
    learner.wait_for(" progress ");
    learner.kill_hard();
    drop(workers);
    std::fs::remove_dir_all(system.run_dir()).expect("the machine is gone");

    let restored = restore(&system, &[url, "--run-dir", system.run_dir().to_str().expect("plain")]);
    assert!(restored.status.success(), "{restored:?}");
    let look = system.look();
    let found = Facts::of(&system);
    let printed = String::from_utf8(restored.stdout).expect("text");
    let words =
        format!("generation {}, training step {}, {} games", found.generation, found.training_step, found.game_count);
    assert!(printed.contains(&words), "{printed}: {words}");
    assert!(restored.stderr.is_empty(), "quiet when piped");
    assert!(system.run_dir().join("best.safetensors").is_file());
    let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_learner"));
    let checked = check.arg("check").arg(system.run_dir()).output().expect("it runs");
    assert!(checked.status.success(), "{checked:?}");
    assert!(found.game_count >= number_in(&backed_up, "games=") && found.generation >= 1, "{found:?}: {backed_up}");
    assert_eq!(look.rows("PRAGMA integrity_check", |row| row.get::<_, String>(0)), ["ok"]);
    check_finished_games(&encoding(), &system.run_dir());
    drop(look);

    let mut learner = system.start_learner(&["--restore", url]);
    let mut actor = system.start_worker("actor");
    let look = system.look();
    let games = "SELECT count(*) FROM games WHERE state = 'finished' AND kind = 'self_play'";
    learner.wait_until("further games", || (look.number(games) > found.game_count).then_some(()));
    actor.kill_hard();
    learner.terminate();
    let (status, log) = learner.wait_for_end();
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(log.iter().any(|line| line.contains("nothing is restored")), "{log:?}");
    let last = log.iter().rev().find(|line| line.contains("backup done")).expect("a last backup");
    let stopped = Facts::of(&system);
    assert_eq!(number_in(last, "games="), stopped.game_count, "the last backup has everything: {last}");
    assert!(!log.iter().any(|line| line.contains(SECRET)), "no secrets in the log");

    drop(look);
    std::fs::remove_dir_all(system.run_dir()).expect("the machine is gone again");
    let mut learner = system.start_learner(&["--restore", url]);
    assert_eq!(Facts::of(&system), stopped, "nothing was lost by a machine that gave notice");
    learner.wait_for("the run goes on");
    learner.kill_hard();
    check_list(&system, url, stopped.generation);
}

fn check_list(system: &System, url: &str, generation: i64) {
    let listed = restore(system, &[url, "--list"]);
    assert!(listed.status.success(), "{listed:?}");
    let listed = String::from_utf8(listed.stdout).expect("text");
    let last = listed.lines().last().expect("backups");
    assert_eq!(last.split_whitespace().nth(1), Some(generation.to_string().as_str()), "{listed}");
}

/// How far a run is.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    generation: i64,
    training_step: i64,
    game_count: i64,
}

impl Facts {
    fn of(system: &System) -> Self {
        let look = system.look();
        Self {
            generation: look.number("SELECT max(generation) FROM networks WHERE state = 'best'"),
            training_step: look.number("SELECT max(training_step) FROM checkpoints"),
            game_count: look.number("SELECT count(*) FROM games WHERE state = 'finished' AND kind = 'self_play'"),
        }
    }
}

/// Returns the number after `name` in a line of the log.
fn number_in(line: &str, name: &str) -> i64 {
    let rest = line.split(name).nth(1).unwrap_or_else(|| panic!("{name} in {line}"));
    rest.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} in {line}"))
}

/// Runs `learner restore`.
fn restore(system: &System, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learner"));
    command.envs(system.variables().iter().cloned()).arg("restore").args(arguments);
    command.output().expect("it runs")
}

#[test]
fn a_learner_with_an_empty_place_of_backups_begins_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut system = System::new(&[]);
    let mut learner = system.start_learner(&["--restore", folder.path().to_str().expect("plain")]);
    learner.wait_for("backup done");
    learner.terminate();
    let (status, log) = learner.wait_for_end();
    assert_eq!(status.code(), Some(0));
    assert!(log.iter().any(|line| line.contains("there is no backup: the run begins anew")), "{log:?}");
}

#[test]
fn a_store_that_does_not_answer_holds_up_neither_the_run_nor_its_stop() {
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut system = System::new(&["backup.stop_deadline=3s"]);
    system.set_variables(variables_for(silent.local_addr().expect("an address")));
    let mut learner = system.start_learner(&["--backup", "s3://bucket/run"]);
    let actor = system.start_worker("actor");
    learner.wait_for("self-play done");
    learner.terminate();
    let asked_at = Instant::now();
    let (status, log) = learner.wait_for_end();
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(asked_at.elapsed() < Duration::from_secs(8), "{:?}", asked_at.elapsed());
    let lost = log.iter().find(|line| line.contains("exists only on this machine")).expect("a warning");
    assert!(lost.contains("WARN") && lost.contains("last_backup=\"never\""), "{lost}");
    assert!(number_in(lost, " games=") > 0, "{lost}");
    drop(actor);
}

#[test]
fn a_place_that_refuses_is_one_warning_a_try() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let mut system = System::new(&[]);
    system.set_variables(variables_for(port));
    let mut learner = system.start_learner(&["--backup", "s3://bucket/run"]);
    let line = learner.wait_for("backup failed");
    assert!(line.contains("WARN") && line.contains("s3://bucket/run") && !line.contains(SECRET), "{line}");
    let mut status = std::process::Command::new(env!("CARGO_BIN_EXE_learner"));
    let status = status.args(["status", "--json", "--learner", &system.url()]).output().expect("it runs");
    let shown: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap_or_else(|_| panic!("{status:?}"));
    assert_eq!(shown["counters"]["backup_failure_count"], 1, "{status:?}");
    learner.kill_hard();
}

#[test]
fn bad_input_is_one_line() {
    let system = System::new(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let (path, missing) = (folder.path().to_str().expect("plain"), folder.path().join("missing"));
    let missing = missing.to_str().expect("plain");
    std::fs::write(folder.path().join("notes"), "").expect("a file");
    let cases: [(&[&str], i32, &str); 7] = [
        (&[missing, "--list"], 1, "there is no folder"),
        (&[path, "--list"], 1, "holds no backup"),
        (&[path, "--run-dir", missing], 1, "holds no backup"),
        (&[path], 64, "--run-dir"),
        (&["gs://bucket", "--list"], 64, "is not a folder, file:///FOLDER or s3://BUCKET/PREFIX"),
        (&[path, "--run-dir", missing, "--at", "2026-11-29 05:50"], 1, "holds no backup"),
        (&[path, "--run-dir", missing, "--at", "yesterday"], 64, "write newest, or a time (UTC) such as"),
    ];
    for (arguments, code, words) in cases {
        let output = restore(&system, arguments);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(words), "{arguments:?}: {printed}");
    }
    assert!(!Path::new(missing).exists());
    for (setting, words) in
        [("gs://b", "backup.url: is not a folder"), ("s3://key:secret@b/p", "credentials come from")]
    {
        let learner = system.learner_command(&["--backup", setting]).output().expect("it runs");
        let printed = String::from_utf8_lossy(&learner.stderr).into_owned();
        assert_eq!(learner.status.code(), Some(64), "{printed}");
        assert!(printed.contains(words), "{printed}");
    }
}

#[test]
fn a_directory_that_is_not_empty_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = folder.path().join("backup");
    let url = url.to_str().expect("plain");
    let mut system = System::new(&[]);
    let mut learner: Process = system.start_learner(&["--backup", url]);
    learner.wait_for("backup done");
    learner.kill_hard();
    let run_dir = system.run_dir();
    let output = restore(&system, &[url, "--run-dir", run_dir.to_str().expect("plain")]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{printed}");
    assert!(
        printed.starts_with("learner: ") && printed.lines().count() == 1 && printed.contains("is not empty"),
        "{printed}"
    );
}
