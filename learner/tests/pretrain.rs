//! `learner pretrain` and `learner evaluate` as real processes, on a handful of human games.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::system::{Process, System};

/// A training of three epochs of a dozen steps, small enough for a test.
const SETTINGS: [&str; 9] = [
    "network.blocks=1",
    "network.filters=8",
    "network.value_hidden=8",
    "pretrain.threads=1",
    "pretrain.batch_size=32",
    "pretrain.epochs=3",
    "pretrain.held_out_share=0.2",
    "pretrain.learning_rate_schedule=plateau",
    "pretrain.checkpoint_steps=2",
];

fn games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tests/human_games/games.uhp")
}

fn pretrain(folder: &Path, games: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["pretrain", "--preset", "hive-cpu", "--games"]).arg(games).arg("--checkpoint-dir").arg(folder);
    for setting in SETTINGS {
        command.args(["--set", setting]);
    }
    command.args(more);
    command
}

fn run(mut command: Command) -> Output {
    command.output().expect("the program starts")
}

fn log_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run_well(command: Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{}", log_of(&output));
    log_of(&output)
}

/// What came of a training: the network, and its history without how fast it went.
fn result(folder: &Path) -> (Vec<u8>, Vec<String>) {
    let network = std::fs::read(folder.join("pretrained.safetensors")).expect("a network");
    let table = std::fs::read_to_string(folder.join("epochs.tsv")).expect("a history");
    let rows = table.lines().map(|line| line.rsplit_once('\t').expect("columns").0.to_owned());
    (network, rows.collect())
}

#[test]
fn a_training_that_is_killed_goes_on_as_if_nothing_had_happened() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let straight = dir.path().join("straight");
    let log = run_well(pretrain(&straight, &games(), &[]));
    assert!(log.contains("training done"), "{log}");
    let (network, rows) = result(&straight);
    assert_eq!(rows.len(), 4, "a head and three epochs: {rows:?}");

    let killed = dir.path().join("killed");
    let mut system = System::new(&[]);
    let checkpoint = killed.join("checkpoint.safetensors");
    for kill in 0..3 {
        let mut process: Process = system.start("pretrain", pretrain(&killed, &games(), &[]));
        let before = std::fs::metadata(&checkpoint).and_then(|file| file.modified()).ok();
        process.wait_until("the next checkpoint", || {
            let now = std::fs::metadata(&checkpoint).and_then(|file| file.modified()).ok();
            (now > before).then_some(())
        });
        process.kill_hard();
        assert!(!killed.join("epochs.tsv").exists() || result_rows(&killed) < 4, "kill {kill} came too late");
    }
    let log = run_well(pretrain(&killed, &games(), &[]));
    assert!(log.contains("goes on from its checkpoint"), "{log}");
    let (network_of_killed, rows_of_killed) = result(&killed);
    assert_eq!(rows_of_killed, rows);
    assert!(network_of_killed == network, "the same network, byte for byte");

    // Once more: there is nothing left to do, and nothing is done.
    let log = run_well(pretrain(&killed, &games(), &[]));
    assert!(log.contains("training done") && !log.contains("epoch done"), "{log}");
    assert!(result(&killed) == (network, rows));
}

fn result_rows(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("epochs.tsv")).map_or(0, |table| table.lines().count())
}

#[test]
fn other_games_or_settings_are_another_training() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = dir.path().join("pretrained");
    run_well(pretrain(&folder, &games(), &["--epochs", "1"]));
    let fewer = dir.path().join("fewer.uhp");
    let text = std::fs::read_to_string(games()).expect("the games");
    std::fs::write(&fewer, text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>()).expect("games");
    for (games, more, named) in [
        (fewer, vec![], "other games"),
        (games(), vec!["--set", "pretrain.batch_size=33"], "other pretrain.batch_size"),
        (games(), vec!["--set", "network.filters=9"], "use another --checkpoint-dir"),
    ] {
        let output = run(pretrain(&folder, &games, &more));
        assert_eq!(output.status.code(), Some(1));
        assert!(log_of(&output).contains(named), "{named}: {}", log_of(&output));
    }
    // More epochs of the same are no other training.
    let log = run_well(pretrain(&folder, &games(), &["--epochs", "2"]));
    assert!(log.contains("epoch done epoch=2") && !log.contains("epoch done epoch=1"), "{log}");
}

#[test]
fn the_end_of_a_training_can_be_moved() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = dir.path().join("pretrained");
    let cosine = |epochs: &str| {
        let schedule = "pretrain.learning_rate_schedule=cosine";
        run_well(pretrain(&folder, &games(), &["--set", schedule, "--epochs", epochs]))
    };
    assert!(!cosine("1").contains("the schedule now ends"));
    let log = cosine("3");
    assert!(log.contains("the schedule now ends with epoch 3 (was 1)"), "{log}");
    assert!(log.contains("epoch done epoch=3") && !log.contains("epoch done epoch=1"), "{log}");
    let network = result(&folder);
    let log = cosine("2");
    assert!(log.contains("the schedule now ends with epoch 2 (was 3)"), "{log}");
    assert!(log.contains("training done") && !log.contains("epoch done"), "{log}");
    assert!(result(&folder) == network, "the best network stays");
    let table = std::fs::read_to_string(folder.join("epochs.tsv")).expect("a history");
    let rate = table.lines().last().and_then(|row| row.split('\t').nth(1)).expect("a learning rate");
    assert!(rate.parse::<f64>().expect("a number") < 0.001, "the cosine fell to its end: {table}");
}

#[test]
fn wrong_usage_is_explained_in_a_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let nothing = dir.path().join("nothing.uhp");
    std::fs::write(&nothing, "\n").expect("a file");
    let missing = dir.path().join("missing");
    let cases: [(Vec<&str>, i32, &str); 4] = [
        (vec!["pretrain"], 64, "name the games to learn from"),
        (vec!["pretrain", "--set", "pretrain.epochs=0"], 64, "pretrain.epochs: 0 is not in 1..=100000"),
        (vec!["pretrain", "--games", missing.to_str().expect("a path")], 1, "missing"),
        (vec!["pretrain", "--games", nothing.to_str().expect("a path")], 1, "games: none to learn from"),
    ];
    for (arguments, code, named) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        let output = run({
            command.args(&arguments).arg("--checkpoint-dir").arg(dir.path().join("out"));
            command
        });
        let log = log_of(&output);
        let last = log.lines().last().unwrap_or_default();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {log}");
        assert!(last.starts_with("learner: ") && last.contains(named), "{arguments:?}: {log}");
        let leaves_nothing = named != "games: none to learn from";
        assert_eq!(dir.path().join("out").exists(), !leaves_nothing, "{arguments:?}");
    }
    for command in [vec!["--preset", "chess"], vec!["pretrain", "--preset", "chess"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_learner")).args(&command).output().expect("run the learner");
        let log = log_of(&output);
        assert_eq!(output.status.code(), Some(64), "{command:?}: {log}");
        assert!(
            log.contains(
                "[possible values: hive-cpu, hive-cpu-zero, hive-4090, hive-original, dama-cpu, dama-4090, dama-original, \
                 tictactoe]"
            ),
            "{log}"
        );
    }
}

#[test]
fn a_network_is_measured_on_the_games_that_its_training_held_out() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = dir.path().join("pretrained");
    run_well(pretrain(&folder, &games(), &["--epochs", "1"]));
    let evaluate = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        command.arg("evaluate").arg("--network").arg(folder.join("pretrained.safetensors"));
        command.arg("--games").arg(games()).args(more);
        let output = run(command);
        assert!(output.status.success(), "{}", log_of(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    let held_out = evaluate(&["--json", "--held-out", "--held-out-share", "0.2"]);
    let held_out: serde_json::Value = serde_json::from_str(&held_out).expect("JSON");
    let table = std::fs::read_to_string(folder.join("epochs.tsv")).expect("a history");
    let column = |name: &str| {
        let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let index = lines.next().expect("a head").iter().position(|head| *head == name).expect("the column");
        lines.next().expect("an epoch")[index].parse::<f64>().expect("a number")
    };
    for (name, column_name) in [
        ("top1", "held_out_top1"),
        ("top5", "held_out_top5"),
        ("policy_loss", "held_out_policy_loss"),
        ("value_error", "held_out_value_error"),
        ("sign_share", "held_out_sign_share"),
    ] {
        let found = held_out[name].as_f64().expect("a number");
        assert!((found - column(column_name)).abs() < 1e-4, "{name}: {found} and {}", column(column_name));
    }
    for (share, words) in [
        ("0", "--held-out-share: 0 is not above 0 and below 1"),
        ("0.000001", "none of 25 of Base+MLP is held out by --seed 1 and --held-out-share 0.000001: give more games"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        command.arg("evaluate").arg("--network").arg(folder.join("pretrained.safetensors"));
        command.arg("--games").arg(games()).args(["--held-out", "--held-out-share", share]);
        let log = log_of(&run(command));
        assert!(log.contains(words), "{log}");
    }
    let all: serde_json::Value = serde_json::from_str(&evaluate(&["--json"])).expect("JSON");
    assert_eq!(all["games"], 25);
    assert!(held_out["games"].as_u64() < all["games"].as_u64());
    let shown = evaluate(&[]);
    assert!(shown.contains("games             25 (0 left out)"), "{shown}");
}

#[test]
fn a_run_starts_from_what_was_learned_and_then_keeps_its_own() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = dir.path().join("pretrained");
    run_well(pretrain(&folder, &games(), &["--epochs", "1"]));
    let network = folder.join("pretrained.safetensors");
    let run_dir = dir.path().join("run");
    let mut system = System::new(&[]);
    let mut start = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        command.args(["--preset", "hive-cpu", "--listen", "127.0.0.1:0", "--run-dir"]).arg(&run_dir);
        command.arg("--resume").arg(&folder).args(more);
        system.start("learner", command)
    };
    let (status, log) = start(&["--set", "network.trunk=frame"]).wait_for_end();
    assert_eq!((status.code(), run_dir.exists()), (Some(64), false), "a network of another shape: {log:?}");
    let shape: Vec<&str> = SETTINGS[..3].iter().flat_map(|setting| ["--set", setting]).collect();
    let mut learner = start(&shape);
    learner.wait_for("new run: making network 1, generation 0");
    let rates = learner.wait_for("the run started from a network");
    assert!(rates.contains("learning_rate_first=0.002 learning_rate_last=0.0001"), "{rates}");
    learner.wait_for("best network network_id=1 generation=0");
    learner.kill_hard();
    let taken_up = std::fs::read(run_dir.join("networks/network-000001.safetensors")).expect("network 1");
    assert!(taken_up == std::fs::read(&network).expect("the network"), "byte for byte");
    let mut learner = start(&shape);
    learner.wait_for("the run goes on with its own networks");
    learner.kill_hard();
    check_other_networks_are_refused(&run_dir, &network, &shape);
    let printed = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        command.args(["--preset", "hive-cpu", "--print-config", "--run-dir"]).args(flags);
        String::from_utf8(command.output().expect("the program starts").stdout).expect("text")
    };
    let note = "# This run starts from a network: its learning rate falls from 0.002 to 0.0001";
    let run_dir = run_dir.to_str().expect("a plain path");
    assert!(printed(&[run_dir]).starts_with(note), "the run keeps its rate without the flag");
    assert!(printed(&["no-such-run", "--resume", "any"]).starts_with(note));
    assert!(printed(&["no-such-run"]).starts_with("[game]"));
}

/// A run that began from `network` takes no other one, but goes on when it is named itself.
fn check_other_networks_are_refused(run_dir: &Path, network: &Path, shape: &[&str]) {
    let start = |resumed: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        command.args(["--preset", "hive-cpu", "--listen", "127.0.0.1:0", "--run-dir"]).arg(run_dir);
        command.arg("--resume").arg(resumed).args(shape);
        command
    };
    for other in [Path::new("ready"), &run_dir.join("networks/network-000001.safetensors")] {
        let output = run(start(other));
        let log = log_of(&output);
        let expected = format!(
            "learner: run.start_network: {} holds a run that began from {} and would pass {} over: leave out --resume",
            run_dir.display(),
            network.display(),
            other.display()
        );
        assert_eq!(output.status.code(), Some(64), "{log}");
        assert!(log.lines().last().is_some_and(|last| last.starts_with(&expected)), "{log}");
    }
    let mut system = System::new(&[]);
    let mut learner = system.start("learner", start(run_dir));
    learner.wait_for("the run goes on with its own networks");
    learner.kill_hard();
}

#[test]
fn a_run_whose_network_is_not_there_begins_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run_dir = dir.path().join("run");
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["--preset", "tictactoe", "--listen", "127.0.0.1:0", "--run-dir"]).arg(&run_dir);
    let output = run({
        command.arg("--resume").arg(dir.path());
        command
    });
    let log = log_of(&output);
    let last = log.lines().last().unwrap_or_default();
    assert_eq!((output.status.code(), run_dir.exists()), (Some(64), false), "{log}");
    assert!(last.starts_with("learner: run.start_network: there is no file "), "{log}");
}
