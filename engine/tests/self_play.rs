//! `alveare selfplay`: what it writes can be learned from, is the same again, and is never half a file.
#![cfg(feature = "network")]

use std::path::Path;
use std::process::{Command, Output};

use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use samples::dataset::DataSet;
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;

/// Writes a small network for short games of draughts.
fn network(path: &Path) {
    let game = GameSpec::Dama { rules: DamaRules { ply_limit: 12 }, policy: PolicyCoding::From4 };
    network_of(&game, Architecture::DamaCnn, path);
}

fn network_of(game: &GameSpec, architecture: Architecture, path: &Path) {
    let settings = NetworkSettings {
        architecture,
        blocks: 1,
        filters: 4,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Full,
        value_hidden: 4,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    let spec = NetworkSpec::new(game, settings).expect("such a network can be");
    Network::random(&spec, Device::CPU, 1).expect("a network").save(path).expect("the file is written");
}

fn self_play(network: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.arg("selfplay").arg("--network").arg(network).arg("--out").arg(out);
    command.args(["--games", "5", "--simulations", "8", "--device", "cpu"]).args(more);
    command.output().expect("run alveare")
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn games_of_a_network_become_a_data_set_and_the_same_one_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    network(&file("network.safetensors"));
    let write = |name: &str, more: &[&str]| {
        let output = self_play(&file("network.safetensors"), &file(name), more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("5 games, "));
        std::fs::read(file(name)).expect("a data set")
    };
    let alone = ["--games-at-once", "1"];
    let first = write("first.samples", &alone);
    assert!(first == write("second.samples", &alone), "the same seed");
    assert!(first != write("third.samples", &["--seed", "2"]), "other games");
    let mut data = DataSet::open(&file("first.samples")).expect("a data set");
    assert!(matches!(data.spec(), GameSpec::Dama { policy: PolicyCoding::From4, .. }), "{:?}", data.spec());
    let games = data.next_games().expect("readable").expect("games");
    assert_eq!(games.len(), 5);
    assert!(games.iter().all(|game| game.ply_count <= 12 && !game.samples.is_empty()), "{games:?}");
    assert!(games.iter().flat_map(|game| &game.samples).all(|sample| sample.search_value.is_some()));
}

#[test]
fn what_cannot_be_played_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("games.samples");
    let missing = folder.path().join("none.safetensors");
    let output = self_play(&missing, &out, &[]);
    let mut analyse = Command::new(env!("CARGO_BIN_EXE_alveare"));
    let other = analyse.args(["analyse", "--device", "cpu", "--network"]).arg(&missing).output().expect("run alveare");
    let said = |output: &Output| (output.status.code(), last_line(output));
    assert_eq!(said(&output), said(&other), "as other commands say it");
    assert!(last_line(&output).contains(": no such file"), "{}", last_line(&output));
    assert!(last_line(&self_play(Path::new("none"), &out, &[])).starts_with("alveare: network none: no such file"));
    network(&folder.path().join("network.safetensors"));
    let output = self_play(&folder.path().join("network.safetensors"), &out, &["--temperature-after", "-1"]);
    assert_eq!(output.status.code(), Some(64), "{}", String::from_utf8_lossy(&output.stderr));
    let output = self_play(Path::new("ready"), &out, &["--tables", "nowhere"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), error.contains("--tables: ")), (Some(64), true), "Hive has none: {error}");
    let output = self_play(&folder.path().join("network.safetensors"), &out, &["--precision", "float16"]);
    assert_eq!(output.status.code(), Some(64), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!out.exists());
}

#[test]
fn a_network_of_another_game_than_the_named_one_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (dama, out) = (folder.path().join("dama.safetensors"), folder.path().join("games.samples"));
    network(&dama);
    let said = |file: &Path, more: &[&str]| {
        let output = self_play(file, &out, more);
        (output.status.code(), last_line(&output))
    };
    let why = "plays Italian draughts, and --game hive is Hive: say --game dama";
    let expected = format!("alveare: network {}: {why}", dama.display());
    assert_eq!(said(&dama, &["--game", "hive"]), (Some(64), expected));
    let other = folder.path().join("other.safetensors");
    network_of(&GameSpec::TicTacToe {}, Architecture::Residual, &other);
    let why = "plays tic-tac-toe, and this program plays Hive and Italian draughts: name another network";
    let expected = format!("alveare: network {}: {why}", other.display());
    assert_eq!(said(&other, &[]), (Some(64), expected));
    assert!(!out.exists());
    assert_eq!(said(&dama, &["--game", "dama"]).0, Some(0));
}

#[test]
fn a_file_that_is_no_data_set_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let (network_file, out) = (folder.path().join("network.safetensors"), folder.path().join("games.samples"));
    network(&network_file);
    std::fs::write(&out, "# A read me").expect("written");
    let output = self_play(&network_file, &out, &[]);
    let expected = format!(
        "alveare: --out: {}: it exists and is not a data set: choose another name or delete it\n",
        out.display()
    );
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()), (Some(64), expected));
    assert_eq!(std::fs::read_to_string(&out).expect("as it was"), "# A read me");
    std::fs::write(&out, "").expect("written");
    for games in ["1", "1"] {
        let output = self_play(&network_file, &out, &["--games-at-once", games]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn games_are_searched_by_endgame_tables_if_there_are_some() {
    let folder = tempfile::tempdir().expect("a folder");
    let (network_file, tables) = (folder.path().join("network.safetensors"), folder.path().join("tables"));
    network(&network_file);
    let made =
        Command::new(env!("CARGO_BIN_EXE_alveare")).args(["tables", "--pieces", "2", "--out"]).arg(&tables).output();
    assert!(made.expect("run alveare").status.success());
    let tables = tables.to_str().expect("text");
    let output = self_play(&network_file, &folder.path().join("games.samples"), &["--tables", tables]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let refused = self_play(&network_file, &folder.path().join("none.samples"), &["--tables", "nowhere"]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(error.contains("--tables: read endgame tables nowhere: "), "{error}");
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_a_network_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |network: &Path, out: &Path| {
        let output = self_play(network, out, &[]);
        (output.status.code(), last_line(&output))
    };
    let (dir, missing) = (folder.path(), folder.path().join("none.safetensors"));
    let expected = format!("alveare: --out: {}: it is a folder: name a file", dir.display());
    assert_eq!(said(&missing, dir), (Some(64), expected));
    let out = dir.join("nodir").join("games.samples");
    let (code, error) = said(&missing, &out);
    let expected = format!("alveare: --out: {}: cannot write it: there is no folder ", out.display());
    assert_eq!((code, error.starts_with(&expected)), (Some(64), true), "{error}");
    network(&dir.join("network.safetensors"));
    let (code, error) = said(&dir.join("network.safetensors"), Path::new("/proc/games.samples"));
    let expected = "alveare: --out: write /proc/games.samples: ";
    assert_eq!((code, error.starts_with(expected)), (Some(1), true), "{error}");
}
