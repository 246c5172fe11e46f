//! The programs `actor` and `evaluator` from outside: what they link, and how they report wrong settings.
//!
//! The evaluator's own checks stand beside it; what is linked is checked for both here.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use worker::WorkerConfig;

fn actor(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actor"));
    command.args(args).env_remove("ALVEARE_TOKEN").output().expect("run the actor")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn actor_and_evaluator_do_not_link_libtorch() {
    for program in ["actor", "evaluator"] {
        let mut command = Command::new(env!("CARGO"));
        command.args(["tree", "--offline", "--package", program, "--edges", "normal,build", "--prefix", "none"]);
        let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("run cargo tree");
        assert!(output.status.success(), "cargo tree: {}", stderr(&output));
        let tree = String::from_utf8_lossy(&output.stdout);
        assert!(tree.lines().any(|line| line.starts_with("tonic v")), "the tree is a whole one: {tree}");
        let torch: Vec<_> =
            tree.lines().filter(|line| line.starts_with("tch ") || line.starts_with("torch-sys")).collect();
        assert!(torch.is_empty(), "{program} links {torch:?}");
    }
}

#[test]
fn the_shipped_settings_are_the_defaults() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/actor.toml");
    let output = actor(&["--config", path.to_str().expect("path"), "--print-config"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(printed, runtime::layers::to_toml(&WorkerConfig::default()));
}

#[test]
fn a_wrong_key_is_named_in_one_line_with_its_file() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("a.toml");
    std::fs::write(&path, "game_per_thread = 3").expect("file");
    let output = actor(&["--config", path.to_str().expect("path")]);
    assert_eq!(output.status.code(), Some(64));
    let found = stderr(&output);
    let expected = format!("actor: config {}: game_per_thread: unknown key, expected one of", path.display());
    assert!(found.starts_with(&expected) && found.trim_end().lines().count() == 1, "{found}");
}

#[test]
fn impossible_settings_and_flags_end_with_64() {
    let output = actor(&["--games-per-thread", "5000"]);
    assert_eq!(output.status.code(), Some(64));
    let found = stderr(&output);
    assert!(
        found.ends_with("actor: config --set games_per_thread: games_per_thread: 5000 is not in 0..=4096\n"),
        "{found}"
    );
    let tables = actor(&["--tables", "five", "--print-config"]);
    assert!(String::from_utf8_lossy(&tables.stdout).contains("\ntables = \"five\"\n"), "the flag is the setting");
    assert_eq!(actor(&["--no-such-flag"]).status.code(), Some(64));
    assert_eq!(actor(&["--help"]).status.code(), Some(0));
}

#[test]
fn settings_printed_to_a_reader_that_has_gone_are_no_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actor"));
    command.args(["--learner", "http://127.0.0.1:1", "--threads", "1", "--print-config"]).stdout(Stdio::piped());
    let mut printing = command.spawn().expect("the actor starts");
    drop(printing.stdout.take());
    assert_eq!(printing.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_token_file_that_is_not_there_is_named() {
    let output = actor(&["--token-file", "no/such/token"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("token_file: read token file no/such/token: "), "{}", stderr(&output));
}
