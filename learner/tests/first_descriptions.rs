//! The presets of what was first described, key by key, and an iteration of each with a small network.

mod common;

use std::process::Command;

use common::system::System;
use toml::Value;

/// A key of the settings and its value, in TOML.
type Row = (&'static str, &'static str);

const HIVE: &[Row] = &[
    ("game.name", "'hive'"),
    ("game.game_type", "'Base+MLP'"),
    ("game.ply_limit", "200"),
    ("game.frame", "26"),
    ("run.pipeline", "'lockstep'"),
    ("run.iterations", "50"),
    ("self_play.games_per_iteration", "256"),
    ("self_play.simulation_count_first", "800"),
    ("self_play.endgame_share", "0.0"),
    ("self_play.search.simulation_count", "800"),
    ("self_play.search.exploration", "2.5"),
    ("self_play.search.first_play_urgency", "'zero'"),
    ("self_play.search.policy_temperature", "1.0"),
    ("self_play.search.dirichlet_alpha", "0.15"),
    ("self_play.search.dirichlet_weight", "0.25"),
    ("self_play.search.temperature", "1.0"),
    ("self_play.search.temperature_plies", "15"),
    ("self_play.search.temperature_after", "0.1"),
    ("self_play.search.root", "'puct'"),
    ("self_play.search.full_search_share", "1.0"),
    ("gate.rule", "'score'"),
    ("gate.game_count", "400"),
    ("gate.promotion_score", "0.55"),
    ("gate.search.simulation_count", "400"),
    ("gate.search.exploration", "2.5"),
    ("gate.search.first_play_urgency", "'zero'"),
    ("gate.search.dirichlet_weight", "0.0"),
    ("gate.search.temperature", "0.0"),
    ("network.architecture", "'residual'"),
    ("network.blocks", "19"),
    ("network.filters", "256"),
    ("network.trunk", "'frame'"),
    ("network.policy_head", "'full'"),
    ("network.value_hidden", "256"),
    ("training.batch_size", "512"),
    ("training.steps_per_iteration", "1000"),
    ("training.uses_per_position", "0.0"),
    ("training.learning_rate_max", "0.01"),
    ("training.learning_rate_min", "0.0001"),
    ("training.iterations", "50"),
    ("training.momentum", "0.9"),
    ("training.weight_decay", "0.0001"),
    ("training.gradient_clip_norm", "0.0"),
    ("training.value_loss_weight", "1.0"),
    ("training.weight_average_decay", "0.0"),
    ("training.value_target", "'outcome'"),
    ("training.cut_off_target", "'draw'"),
    ("training.after_rejection", "'best'"),
    ("replay.position_count_max", "500000"),
    ("replay.window_start", "0"),
    ("replay.human_share", "0.0"),
    ("pretrain.epochs", "30"),
    ("pretrain.held_out_share", "0.1"),
    ("pretrain.learning_rate", "0.001"),
    ("pretrain.warmup_epochs", "1.0"),
    ("pretrain.momentum", "0.9"),
    ("pretrain.weight_decay", "0.0001"),
];

const DAMA: &[Row] = &[
    ("game.name", "'dama'"),
    ("game.policy", "'from4'"),
    ("self_play.endgame_share", "0.2"),
    ("self_play.search.simulation_count", "800"),
    ("self_play.search.exploration", "2.5"),
    ("self_play.search.first_play_urgency", "'zero'"),
    ("self_play.search.dirichlet_alpha", "0.3"),
    ("self_play.search.temperature", "1.0"),
    ("self_play.search.temperature_plies", "30"),
    ("self_play.search.temperature_after", "0.0"),
    ("gate.rule", "'score'"),
    ("gate.game_count", "100"),
    ("gate.promotion_score", "0.55"),
    ("network.architecture", "'dama-cnn'"),
    ("network.blocks", "4"),
    ("network.filters", "64"),
    ("network.trunk", "'frame'"),
    ("network.policy_head", "'full'"),
    ("training.policy_rate_scale", "1.0"),
    ("training.value_rate_scale", "10.0"),
    ("training.after_rejection", "'best'"),
    ("offline.epochs", "100"),
    ("offline.batch_size", "64"),
    ("offline.held_out_share", "0.1"),
    ("offline.learning_rate", "0.001"),
    ("offline.learning_rate_min", "0.000001"),
    ("offline.learning_rate_schedule", "'plateau'"),
    ("offline.plateau_patience", "5"),
    ("offline.warmup_epochs", "1.0"),
    ("offline.policy_rate_scale", "1.0"),
    ("offline.value_rate_scale", "10.0"),
];

#[test]
fn the_presets_are_what_was_first_described() {
    for (preset, rows) in [("hive-original", HIVE), ("dama-original", DAMA)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
        let output = command.args(["--preset", preset, "--print-config"]).output().expect("the learner runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = toml::from_str(&String::from_utf8_lossy(&output.stdout)).expect("settings");
        for (key, expected) in rows {
            let found = key.split('.').try_fold(&printed, |table, part| table.get(part));
            let expected: toml::Table = format!("value = {expected}").parse().expect("a value");
            assert_eq!(found, Some(&expected["value"]), "{preset}: {key}");
        }
    }
}

#[test]
fn hive_as_first_described_does_an_iteration() {
    check_iteration("hive-original", &["network.blocks=1", "network.filters=4", "network.value_hidden=4"]);
}

#[test]
fn draughts_as_first_described_does_an_iteration() {
    check_iteration("dama-original", &["network.blocks=1", "network.filters=4"]);
}

/// Lets a learner, an actor and an evaluator do one iteration of a preset with a network of this shape: few short games,
/// searches as short as can be.
fn check_iteration(preset: &str, network: &[&str]) {
    let small = [
        "game.ply_limit=8",
        "inference.device=cpu",
        "inference.batch_sizes=[]",
        "self_play.games_per_iteration=3",
        "self_play.simulation_count_first=4",
        "self_play.search.simulation_count=4",
        "gate.game_count=2",
        "gate.search.simulation_count=2",
        "training.device=cpu",
        "training.batch_size=8",
        "training.steps_per_iteration=2",
        "replay.position_count_min=8",
    ];
    let mut system = System::of(preset, &[&small, network].concat());
    let learner = system.start_learner(&["--iterations", "1"]);
    let workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    let (status, log) = learner.wait_for_end();
    assert!(status.success(), "{preset} ended with {status}:\n{}", log.join("\n"));
    drop(workers);
    let look = system.look();
    assert_eq!(look.number("SELECT count(*) FROM iterations WHERE finished_at IS NOT NULL"), 1);
    assert_eq!(look.number("SELECT max(training_step) FROM checkpoints"), 2);
}
