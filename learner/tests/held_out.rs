//! Self-play games that are held out: never learned from, measured on, and the same after a kill.

mod common;

use std::time::Instant;

use store::{GameKind, Reader};

use common::system::{Look, System};
use fixtures::{encoding, random_game, report, start};

/// Finished games in the store before training begins.
const GAME_COUNT: u32 = 80;

#[test]
fn held_out_games_are_measured_on_and_not_learned_from_whoever_is_killed() {
    let (system, _) = trained("0.3", &[]);
    let look = system.look();
    let (straight, steps) = candidate(&look);
    let number = |name: &str| look.rows(&metric(name), |row| row.get::<_, f64>(0));
    for name in ["value_error", "value_error_best", "policy_loss", "sign_share_best"] {
        let found = number(&format!("held_out_self_play_{name}"));
        assert!(found.len() == 1 && found[0] > 0.0, "{name}: {found:?}");
    }
    assert_eq!(number("held_out_self_play_position_count"), [100.0], "the newest");
    let all = look.number("SELECT sum(sample_count) FROM games WHERE state = 'finished'");
    assert!(number("held_out_human_value_error").is_empty(), "no human games are named");

    let (system, log) = trained("0.3", &[20, 60]);
    assert_eq!(candidate(&system.look()), (straight.clone(), steps), "killed twice");
    assert!(log.contains("held-out games") && log.contains("games=\"self_play\""), "{log}");

    let (system, _) = trained("0.0", &[]);
    let look = system.look();
    let (other, all_steps) = candidate(&look);
    assert_ne!(other, straight, "held-out games are not learned from");
    assert_eq!(all_steps, (all as f64 * 20.0 / 64.0).round() as i64);
    assert!(steps < all_steps && steps > all_steps / 2, "{steps} of {all_steps}: only learned positions count");
    assert!(look.rows(&metric("held_out_self_play_value_error"), |row| row.get::<_, f64>(0)).is_empty());
}

fn metric(name: &str) -> String {
    format!("SELECT value FROM metrics WHERE name = '{name}'")
}

/// The candidate's hash, and the steps behind it.
fn candidate(look: &Look) -> (String, i64) {
    let sha256 = look.text("SELECT sha256 FROM networks WHERE network_id = 2").expect("the candidate is in the store");
    (sha256, look.number("SELECT training_step_end FROM iterations"))
}

/// Trains on the same games, with a kill once each of `kills` steps is checkpointed. Returns the run, and the
/// line about held-out games if there is to be one.
fn trained(held_out_share: &str, kills: &[i64]) -> (System, String) {
    let mut system = System::new(&[
        "run.pipeline=lockstep",
        "training.uses_per_position=20",
        "training.batch_size=64",
        "training.checkpoint_steps=10",
        // Fewer than there are: after a kill the same positions must be the newest ones to learn from.
        "replay.position_count_max=150",
        "replay.position_count_min=1",
        "replay.held_out_positions_max=100",
        &format!("replay.held_out_share={held_out_share}"),
        &format!("self_play.games_per_iteration={GAME_COUNT}"),
    ]);
    play_games(&system);
    for kill in kills {
        system.train_until_killed(*kill);
    }
    let mut learner = system.start_learner(&[]);
    let line = if held_out_share == "0.0" { String::new() } else { learner.wait_for("held-out games") };
    learner.wait_for("candidate ready");
    learner.kill_hard();
    (system, line)
}

/// Fills the store with games of a random player, the same each time.
fn play_games(system: &System) {
    std::fs::create_dir_all(system.run_dir()).expect("a run directory");
    let learner = start(&system.run_dir());
    let leases = learner.registry.lease("test", GameKind::SelfPlay, GAME_COUNT, Instant::now()).expect("leases").leases;
    for lease in leases {
        report(&learner, "test", &random_game(&encoding(), &lease), Instant::now());
    }
    let reader = Reader::of_run(&system.run_dir()).expect("the store opens");
    assert_eq!(reader.self_play_between(0, u64::MAX).expect("readable").len(), GAME_COUNT as usize);
}
