//! The loop without a run, as docs/training.md has it: a network plays itself, another learns from that, both meet, and the
//! better one stays. On draughts, with programs as users have them.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::system::worker_program;
use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;

const SETTINGS: NetworkSettings = NetworkSettings {
    architecture: Architecture::DamaCnn,
    blocks: 1,
    filters: 4,
    trunk: Trunk::Frame,
    policy_head: PolicyHead::Full,
    value_hidden: 256,
    global_pooling_every: 0,
    outlook_heads: false,
};

fn run(mut command: Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn alveare(arguments: &[&str]) -> Command {
    let mut command = Command::new(worker_program("alveare"));
    command.args(arguments).args(["--device", "cpu", "--simulations", "8"]);
    command
}

fn train(data: &Path, best: &Path, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["train", "--preset", "dama-original", "--epochs", "2", "--set", "game.ply_limit=30"]);
    for setting in ["network.blocks=1", "network.filters=4", "offline.device=cpu", "offline.held_out_share=0.2"] {
        command.args(["--set", setting]);
    }
    command.arg("--data").arg(data).arg("--network").arg(best).arg("--checkpoint-dir").arg(folder);
    command
}

#[test]
fn a_network_plays_another_learns_from_it_and_the_better_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let [best, data, trained] = ["best.safetensors", "games.samples", "trained"].map(|name| folder.path().join(name));
    let game = GameSpec::Dama { rules: DamaRules { ply_limit: 30 }, policy: PolicyCoding::From4 };
    let spec = NetworkSpec::new(&game, SETTINGS).expect("such a network can be");
    Network::random(&spec, Device::CPU, 1).expect("a network").save(&best).expect("the file is written");
    for round in ["1", "2"] {
        let mut self_play = alveare(&["selfplay", "--games", "20", "--seed", round]);
        self_play.arg("--network").arg(&best).arg("--out").arg(&data);
        let output = run(self_play);
        assert!(String::from_utf8_lossy(&output.stdout).contains("20 games, "), "{output:?}");
        let round_folder = trained.with_extension(round);
        run(train(&data, &best, &round_folder));
        let candidate = round_folder.join("trained.safetensors");
        let mut meeting = alveare(&["match", "--game", "dama", "--games", "4", "--ply-limit", "30"]);
        meeting.arg(&candidate).arg(&best);
        let report = run(meeting).stdout;
        assert!(String::from_utf8_lossy(&report).contains(" of 4 ("), "a score");
        // Promoted whatever the score: few games of such networks say nothing.
        std::fs::copy(&candidate, &best).expect("promoted");
    }
    let promoted = Network::load(&best, &spec, Device::CPU).expect("a network of the same game and shape");
    assert_eq!(promoted.spec(), &spec);
}
