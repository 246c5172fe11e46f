//! Matches in which networks play.
#![cfg(feature = "network")]

use std::path::Path;
use std::process::{Command, Output};

use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use shared::catalog::GameSpec;
use shared::catalog::NetworkGame;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::Dama;
use shared::game::hive::Hive;

const SETTINGS: NetworkSettings = NetworkSettings {
    architecture: Architecture::Residual,
    blocks: 1,
    filters: 8,
    trunk: Trunk::Frame,
    policy_head: PolicyHead::Spatial,
    value_hidden: 8,
    global_pooling_every: 0,
    outlook_heads: false,
};

fn network_of(game: &GameSpec, path: &Path, seed: u64) -> String {
    let spec = NetworkSpec::new(game, SETTINGS).expect("such a network can be");
    let network = Network::random(&spec, Device::CPU, seed).expect("a network");
    network.save(path).expect("the file is written");
    path.display().to_string()
}

fn network(path: &Path, seed: u64) -> String {
    network_of(&Hive::default().spec(16), path, seed)
}

fn play(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.arg("match").args(arguments).args(["--device", "cpu"]);
    command.output().expect("run alveare")
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn networks_meet_each_other_and_random_play() {
    let folder = tempfile::tempdir().unwrap();
    let first = network(&folder.path().join("first.safetensors"), 1);
    let second = network(&folder.path().join("second.safetensors"), 2);
    let fast = format!("{second}@4");
    let policy = format!("policy:{first}");
    for (a, b, more) in
        [(first.as_str(), fast.as_str(), &["--simulations", "16"][..]), (policy.as_str(), "random", &[])]
    {
        let output = play(&[&[a, b][..], more, &["--games", "4", "--ply-limit", "20", "--type", "Base+ML"]].concat());
        assert!(output.status.success(), "{}", last_line(&output));
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(report.starts_with("A  ") && report.contains("first-"), "{report}");
        let named =
            report.lines().take(2).filter(|line| line.ends_with("@4,1.25") || line.ends_with("@16,1.25")).count();
        assert!(named == 2 || a.starts_with("policy:"), "names leave out 2.5, whatever the game's is: {report}");
        assert!(report.contains(" of 4 (") && report.contains("forfeits of A: 0, of B: 0"), "{report}");
    }
}

#[test]
fn the_ready_networks_of_both_games_are_players() {
    for game in ["hive", "dama"] {
        let output = play(&["ready@8", "policy:ready", "--game", game, "--games", "2", "--ply-limit", "20"]);
        assert!(output.status.success(), "{}", last_line(&output));
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(report.contains("ready-") && report.contains("forfeits of A: 0, of B: 0"), "{report}");
    }
}

#[test]
fn networks_for_draughts_meet_whatever_policy_and_architecture_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, coding, architecture, policy_head| {
        let path = folder.path().join(name);
        let settings = NetworkSettings { architecture, policy_head, ..SETTINGS };
        let spec = NetworkSpec::new(&Dama::default().spec(coding), settings).expect("such a network can be");
        let network = Network::random(&spec, Device::CPU, 1).expect("a network");
        network.save(&path).expect("the file is written");
        path.display().to_string()
    };
    let plain = file("plain.safetensors", PolicyCoding::Lossless, Architecture::DamaCnn, PolicyHead::Full);
    let other = file("other.safetensors", PolicyCoding::From4, Architecture::Residual, PolicyHead::Spatial);
    let games = folder.path().join("games.pdn");
    let output =
        play(&[&plain, &other, "--simulations", "8", "--games", "4", "--ply-limit", "40", "--out", &text(&games)]);
    assert!(output.status.success(), "{}", last_line(&output));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("plain-") && report.contains(" of 4 ("), "{report}");
    assert!(report.lines().next().is_some_and(|line| line.ends_with("@8,1")), "draughts explores less: {report}");
    let written = std::fs::read_to_string(&games).unwrap();
    assert_eq!(notation::dama::pdn::read(&written).filter(Result::is_ok).count(), 4);
}

#[test]
fn a_file_that_is_no_network_for_the_game_ends_the_match_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.safetensors");
    let file = network_of(&GameSpec::TicTacToe {}, &path, 1);
    let output = play(&[&file, "random"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(last_line(&output).contains(&format!("network {file}: not one for Hive")), "{}", last_line(&output));
    let hive = network(&folder.path().join("hive.safetensors"), 1);
    let output = play(&[&hive, "random", "--game", "dama"]);
    let expected = format!("alveare: player {hive}: plays Hive, and --game dama is Italian draughts: say --game hive");
    assert_eq!((output.status.code(), last_line(&output)), (Some(64), expected));
    std::fs::write(&path, "no network").unwrap();
    let output = play(&["random", &file]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("alveare: network {file}: not a network file; ");
    assert!(last_line(&output).starts_with(&expected), "{}", last_line(&output));
}

#[test]
fn the_game_is_that_of_the_networks() {
    let folder = tempfile::tempdir().unwrap();
    let hive = network(&folder.path().join("hive.safetensors"), 1);
    let dama = network_of(&Dama::default().spec(PolicyCoding::Lossless), &folder.path().join("dama.safetensors"), 1);
    let output = play(&[&format!("policy:{dama}"), "ready@2", "--games", "2", "--ply-limit", "10"]);
    assert!(output.status.success(), "{}", last_line(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("80 quiet plies"), "draughts");
    let output = play(&[&hive, &dama]);
    let expected =
        format!("alveare: player {hive} plays Hive, player {dama} Italian draughts: name two of one game (--game)");
    assert_eq!((output.status.code(), last_line(&output)), (Some(64), expected));
}

#[test]
fn numbers_in_which_a_network_does_not_answer_are_wrong_usage() {
    for arguments in [&["ready@2,precision=float16", "random"][..], &["ready", "random", "--precision", "float16"]] {
        let output = play(&[arguments, &["--games", "2"]].concat());
        assert_eq!(output.status.code(), Some(64), "{}", last_line(&output));
        assert!(last_line(&output).contains("precision: float16: a processor has none"), "{}", last_line(&output));
    }
}
