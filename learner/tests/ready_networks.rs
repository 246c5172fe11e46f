//! The networks that the learner carries: a run starts from one, `evaluate` measures one, `export-network` writes one.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::system::System;
use net::{Device, Network, NetworkFile};

/// A machine without a GPU could not start some of the presets.
const ON_THE_PROCESSOR: [&str; 4] = ["--set", "inference.device=cpu", "--set", "training.device=cpu"];

fn learner(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(arguments: &[&str]) -> Output {
    learner(arguments).output().expect("the program starts")
}

/// Returns what a program prints that ends well.
fn output_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn path_in(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let shown = path.display().to_string();
    (path, shown)
}

fn ready_file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../networks").join(name).display().to_string()
}

#[test]
fn a_run_starts_from_the_ready_network_of_its_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut system = System::new(&[]);
    // In hive-4090 it grows.
    for preset in ["hive-cpu", "dama-cpu", "hive-4090"] {
        let (run_dir, shown) = path_in(&folder, preset);
        let start = ["--preset", preset, "--listen", "127.0.0.1:0", "--run-dir", &shown, "--resume", "ready"];
        let start = [&start[..], &ON_THE_PROCESSOR].concat();
        let mut process = system.start("learner", learner(&start));
        assert!(process.wait_for("new run: making network 1, generation 0").contains("from=\"ready\""));
        process.wait_for("the run started from a network");
        process.wait_for("best network network_id=1 generation=0");
        process.kill_hard();
        assert!(run_dir.join("networks/network-000001.safetensors").is_file());
    }
}

#[test]
fn a_run_that_the_ready_network_does_not_fit_names_the_preset_that_it_fits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run_dir, shown) = path_in(&folder, "run");
    for (preset, expected) in [
        ("hive-original", "such a network goes with --preset hive-cpu: network ready: plays Hive Base+MLP (frame 16)"),
        ("tictactoe", "network ready: this program carries none for tic-tac-toe"),
    ] {
        let start = ["--preset", preset, "--listen", "127.0.0.1:0", "--run-dir", &shown, "--resume", "ready"];
        let output = run(&[&start[..], &ON_THE_PROCESSOR].concat());
        let log = text(&output.stderr);
        let last = log.lines().last().unwrap_or_default();
        assert_eq!((output.status.code(), run_dir.exists()), (Some(64), false), "{log}");
        assert!(last.starts_with(&format!("learner: run.start_network: {expected}")), "{last}");
    }
}

#[test]
fn an_empty_variable_takes_the_start_network_back() {
    let settings_with = |value: &str| {
        let mut command = learner(&["--preset", "hive-cpu", "--print-config"]);
        let output = command.env("ALVEARE_LEARNER__RUN__START_NETWORK", value).output().expect("the program starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(settings_with("ready").contains("\nstart_network = \"ready\"\n"));
    assert!(!settings_with("").contains("\nstart_network"), "random weights");
}

#[test]
fn a_published_network_is_written_half_as_large_and_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let ((whole, whole_name), (half, half_name)) = (path_in(&folder, "whole"), path_in(&folder, "half"));
    for (out, more) in [(&whole_name, &[][..]), (&half_name, &["--half"])] {
        let written = output_of(
            &[&["export-network", "--network", &ready_file("hive.safetensors"), "--out", out], more].concat(),
        );
        assert!(written.starts_with(&format!("{out}: Hive Base+MLP (frame 16): ")), "{written}");
    }
    assert!(std::fs::read(&half).expect("a file") == std::fs::read(ready_file("hive.safetensors")).expect("a file"));
    let size = |path: &Path| path.metadata().expect("a file").len();
    assert!((1.7..2.0).contains(&(size(&whole) as f64 / size(&half) as f64)), "{} and {}", size(&whole), size(&half));
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tests/human_games/games.uhp");
    let games = games.display().to_string();
    let measured = |network: &str| {
        let shown = output_of(&["evaluate", "--network", network, "--games", &games, "--json", "--threads", "1"]);
        let mut report: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        report["network"] = "".into();
        report
    };
    assert_eq!(measured("ready"), measured(&whole_name));
    assert!(measured("ready")["top1"].as_f64().expect("a share") > 0.1, "the network has learned something");
}

#[test]
fn several_networks_are_written_as_the_mean_of_their_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = NetworkFile::read(Path::new(&ready_file("hive.safetensors"))).expect("a file").spec().expect("a game");
    let mut names = Vec::new();
    for seed in 1..=3 {
        let (path, name) = path_in(&folder, &format!("random-{seed}"));
        Network::random(&spec, Device::CPU, seed).expect("it fits").save(&path).expect("written");
        names.push(name);
    }
    let mean_of = |names: &[&String], out: &str| {
        let (path, out) = path_in(&folder, out);
        let named: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        output_of(&[&["export-network", "--out", &out, "--network"], &named[..]].concat());
        numbers(&path)
    };
    let alone: Vec<Vec<f32>> = names.iter().map(|name| numbers(Path::new(name))).collect();
    assert_eq!(mean_of(&[&names[0], &names[0]], "same"), alone[0], "the mean of a network and itself");
    let mean = mean_of(&names.iter().collect::<Vec<_>>(), "mean");
    assert!(mean.len() > 100_000, "all weights");
    for (index, mean) in mean.iter().enumerate() {
        let expected = (alone[0][index] + alone[1][index] + alone[2][index]) / 3.0;
        assert!((mean - expected).abs() < 1e-6, "{index}: {mean} and {expected}");
    }
    let other_game = ready_file("dama.safetensors");
    let output = run(&["export-network", "--network", &names[0], &other_game, "--out", &path_in(&folder, "x").1]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("dama.safetensors"), "{stderr}");
    let (socket, shown) = path_in(&folder, "socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let output = run(&["export-network", "--network", &names[0], "--out", &shown]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(64) && stderr.contains("not a regular file"), "{stderr}");
    assert!(!socket.is_file(), "it is still there");
}

/// All numbers of a network file of 32 bits, in the order of its tensors' names.
fn numbers(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("a file");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("a network file");
    let mut tensors = tensors.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let of = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect::<Vec<f32>>();
    tensors.iter().flat_map(|(_, tensor)| of(tensor.data())).collect()
}

#[test]
fn the_ready_networks_are_whole_and_written_as_for_publication() {
    for (name, game) in
        [("hive.safetensors", "Hive Base+MLP (frame 16)"), ("dama.safetensors", "Italian draughts (lossless)")]
    {
        let file = NetworkFile::read(Path::new(&ready_file(name))).expect("a network file");
        assert_eq!(file.spec().expect("a known game").game.to_string(), game);
        let network = file.load(Device::CPU).expect("it loads");
        // In 16 bits; 2 % are vectors and names.
        assert!(file.bytes().len() < 3 * network.parameter_count(), "{name}: {} bytes", file.bytes().len());
    }
}
