//! The program `evaluator` from outside.

use std::path::Path;
use std::process::Command;

use worker::WorkerConfig;

#[test]
fn the_shipped_settings_are_the_defaults() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/evaluator.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluator"));
    let output = command.arg("--config").arg(path).arg("--print-config").output().expect("run the evaluator");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(printed, runtime::layers::to_toml(&WorkerConfig::default()));
}

#[test]
fn an_invalid_address_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluator"));
    let output = command.args(["--learner", "learner"]).output().expect("run the evaluator");
    assert_eq!(output.status.code(), Some(64));
    let found = String::from_utf8_lossy(&output.stderr);
    let expected = "evaluator: config --set learner: learner: \"learner\" is not an address";
    assert!(found.lines().last().is_some_and(|line| line.starts_with(expected)), "{found}");
}

#[test]
fn endgame_tables_are_refused_since_the_learner_searches_gates_again_without() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluator"));
    let output = command.args(["--set", "tables=five"]).output().expect("run the evaluator");
    assert_eq!(output.status.code(), Some(64));
    let found = String::from_utf8_lossy(&output.stderr);
    assert!(found.contains("tables: an evaluator has none: the learner searches gate games again"), "{found}");
}

#[test]
fn commands_that_moved_are_named_as_they_are_called_now() {
    let error = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evaluator"));
        let output = command.args(arguments).output().expect("run the evaluator");
        assert_eq!(output.status.code(), Some(64));
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(
        error(&["match", "random", "mcts:100", "--games", "20"]),
        "evaluator: matches are played by `alveare match`: alveare match random mcts:100 --games 20\n"
    );
    assert_eq!(
        error(&["match", "a", "b", "--learner-program", "bin/learner", "--learner-program=x", "--games", "20"]),
        "evaluator: matches are played by `alveare match`: alveare match a b --games 20\n"
    );
    assert_eq!(
        error(&["ladder", "--run-dir", "run"]),
        "evaluator: the ladder is shown by `alveare ladder`: alveare ladder --run-dir run\n"
    );
}
