//! Human games of several types of Hive for one network: `learner pretrain`, `evaluate`, `export --dataset` and `train`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A network and a training small enough for a test.
const SETTINGS: [&str; 11] = [
    "network.blocks=1",
    "network.filters=8",
    "network.value_hidden=8",
    "pretrain.threads=1",
    "pretrain.batch_size=8",
    "pretrain.held_out_share=0.3",
    "offline.threads=1",
    "offline.batch_size=8",
    "offline.held_out_share=0.3",
    "training.value_target=outcome",
    "training.cut_off_target=draw",
];

/// Games of Base, Base+L and Base+MLP, twenty of each.
fn write_games(dir: &Path) -> PathBuf {
    let file = dir.join("mixed.uhp");
    let mut text = String::new();
    for (game_type, black) in ["Base", "Base+L", "Base+MLP"].iter().zip(["bG1", "bL", "bM"]) {
        for number in 0..20 {
            let (white, side) = (["wA1", "wG1", "wB1", "wS2"][number % 4], ["-", "/", r"\"][number / 4 % 3]);
            let (winner, queen) = (["WhiteWins", "BlackWins"][number % 2], ["-", "/"][number / 12]);
            text += &format!("{game_type};{winner};White[3];wS1;{black} wS1-;{white} {side}wS1;bQ {black}{queen}\n");
        }
    }
    std::fs::write(&file, text).expect("a file");
    file
}

fn learner(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_learner")).args(arguments).output().expect("the program starts")
}

fn log_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs what must succeed; returns what it printed, and its log.
fn run_well(arguments: &[&str]) -> (String, String) {
    let output = learner(arguments);
    assert!(output.status.success(), "{}", log_of(&output));
    (String::from_utf8_lossy(&output.stdout).into_owned(), log_of(&output))
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&run_well(arguments).0).expect("JSON")
}

/// A training with the small settings, and `more`.
fn training<'a>(command: &'a str, source: &[&'a str], folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![command, "--preset", "hive-cpu", "--checkpoint-dir", folder, "--epochs", "1"];
    arguments.extend_from_slice(source);
    arguments.extend(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
    arguments.extend_from_slice(more);
    arguments
}

#[test]
fn a_network_learns_from_all_types_and_is_measured_on_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let games = write_games(dir.path());
    let games = games.to_str().expect("a plain path");
    let folder = |name: &str| dir.path().join(name).to_str().expect("a plain path").to_owned();
    let (all, own) = (folder("all"), folder("own"));
    let (_, log) = run_well(&training("pretrain", &["--games", games], &all, &[]));
    assert!(log.contains("Base+L ") && log.contains("Base+MLP ") && log.contains("other_type_games=0"), "{log}");
    let own_only = ["--set", "pretrain.game_types=own"];
    let (_, log) = run_well(&training("pretrain", &["--games", games], &own, &own_only));
    assert!(!log.contains("Base+L ") && log.contains("other_type_games=40"), "{log}");
    let report = json_of(&["evaluate", "--network", &all, "--games", games, "--json"]);
    assert_eq!(report["game_types"], serde_json::json!({"Base": 20, "Base+L": 20, "Base+MLP": 20}));
    let report = json_of(&["evaluate", "--network", &all, "--games", games, "--game-type", "Base+L", "--json"]);
    assert_eq!((&report["games"], &report["left_out_games"]), (&20.into(), &40.into()));
}

#[test]
fn a_data_set_of_human_games_holds_all_types_and_is_learned_from() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let games = write_games(dir.path());
    let games = games.to_str().expect("a plain path");
    let path = |name: &str| dir.path().join(name).to_str().expect("a plain path").to_owned();
    let data = path("mixed.samples");
    let (output, _) = run_well(&["export", games, "--dataset", &data, "--ply-limit", "100"]);
    assert_eq!(output, "games 60\ndata set: games 60, samples 240\n");
    let types = serde_json::json!({"Base": 20, "Base+L": 20, "Base+MLP": 20});
    let report = json_of(&["data-info", &data, "--json"]);
    assert_eq!((&report["data_set"]["game_types"], &report["data_set"]["positions"]), (&types, &240.into()));
    // Through a data set of the data set nothing changes.
    let again = path("again.samples");
    run_well(&["export", &data, "--dataset", &again]);
    assert!(std::fs::read(&again).expect("a file") == std::fs::read(&data).expect("a file"), "byte for byte");
    // Tensors are alike, whether they come from the games or from the data set.
    let (of_games, of_data) = (path("games.safetensors"), path("data.safetensors"));
    run_well(&["export", games, "--samples", &of_games]);
    run_well(&["export", &data, "--samples", &of_data]);
    let tensors = |file: &str| std::fs::read(file).expect("tensors").split_off(2048);
    assert!(tensors(&of_games)[..1000] == tensors(&of_data)[..1000], "planes");
    let (_, log) = run_well(&training("train", &["--data", &data], &path("all"), &[]));
    assert!(!log.contains("of another type"), "{log}");
    let (_, log) = run_well(&training("train", &["--data", &data], &path("own"), &["--set", "offline.game_types=own"]));
    assert!(log.contains("of another type (offline.game_types) games=40"), "{log}");
}
