//! Training of the real learner, killed and started again, against training at a stretch: the same bits.

mod common;

use common::system::System;
use fixtures::{plies, report, start};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};
use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use std::time::Instant;
use store::GameKind;

/// Finished games in the store before training begins.
const GAME_COUNT: u32 = 60;

#[test]
fn a_hundred_steps_at_a_stretch_equal_fifty_a_kill_and_fifty() {
    let straight = candidate_sha256(50, &[], &[]);
    assert_eq!(candidate_sha256(50, &[], &[50]), straight, "killed at its checkpoint");
    // Killed between checkpoints, steps are done again from the last one.
    assert_eq!(candidate_sha256(20, &[], &[20, 60]), straight, "killed twice between checkpoints");
    let clip = ["training.gradient_clip_norm=0.1"];
    let clipped = candidate_sha256(50, &clip, &[]);
    assert_ne!(clipped, straight, "gradients are longer than that");
    assert_eq!(candidate_sha256(50, &clip, &[50]), clipped, "killed with clipped gradients");
}

#[test]
fn averaged_candidates_are_the_same_after_a_kill() {
    let average = ["training.weight_average_decay=0.9"];
    let straight = candidate_sha256(50, &average, &[]);
    assert_eq!(candidate_sha256(20, &average, &[20, 60]), straight, "killed twice between checkpoints");
    assert_ne!(candidate_sha256(50, &[], &[]), straight, "an average");
}

#[test]
fn after_a_rejection_training_starts_from_the_best_network_whenever_it_is_killed() {
    let straight = candidate_after_rejection("best", &[]);
    // Killed right at its start, and between two checkpoints.
    assert_eq!(candidate_after_rejection("best", &[20, 40]), straight);
    assert_ne!(candidate_after_rejection("continue", &[]), straight, "from the rejected weights");
}

/// Trains an iteration, has its candidate rejected, and returns the SHA-256 of the candidate of the next, which learns from
/// the same games, with a kill once each of `kills` steps of both is checkpointed.
fn candidate_after_rejection(after_rejection: &str, kills: &[i64]) -> String {
    let games = format!("self_play.games_per_iteration={GAME_COUNT}");
    let after_rejection = format!("training.after_rejection={after_rejection}");
    let usual = ["run.pipeline=lockstep", "training.steps_per_iteration=20", "training.checkpoint_steps=10"];
    let mut system = System::new(&[&usual[..], &[&games, &after_rejection]].concat());
    play_games(&system);
    drop(system.train_with_kills(&[]));
    let database = rusqlite::Connection::open(system.run_dir().join("alveare.db")).expect("the store");
    let rejection = "UPDATE networks SET state = 'rejected' WHERE network_id = 2;
         UPDATE iterations SET state = 'rejected', finished_at = started_at;
         INSERT INTO iterations (number, state, window_finish_number, training_step_start, training_step_end, game_count,
             position_count, started_at)
         SELECT 2, 'training', window_finish_number, 20, 60, game_count, position_count, started_at FROM iterations";
    database.execute_batch(rejection).expect("rejected");
    drop(database);
    let look = system.train_with_kills(kills);
    look.text("SELECT sha256 FROM networks WHERE network_id = 3").expect("the candidate is in the store")
}

#[test]
fn a_training_that_diverges_ends_and_names_the_key() {
    let games = format!("self_play.games_per_iteration={GAME_COUNT}");
    // Every step multiplies the weights by about -8.
    let rates = ["training.learning_rate_max=9.9", "training.weight_decay=0.9"];
    let mut system =
        System::new(&["run.pipeline=lockstep", "training.checkpoint_steps=10", rates[0], rates[1], &games]);
    play_games(&system);
    let (status, log) = system.start_learner(&[]).wait_for_end();
    assert_eq!(status.code(), Some(1), "{log:?}");
    let count = log.iter().filter(|line| line.contains("rolled back to the checkpoint")).count();
    let last = log.last().expect("a line");
    assert!(last.contains("5 roll-backs did not help: lower training.learning_rate_max"), "{last}");
    assert_eq!(count, 5, "{log:?}");
}

#[test]
fn a_candidate_that_is_no_network_is_rejected_with_the_reason() {
    let games = format!("self_play.games_per_iteration={GAME_COUNT}");
    let mut system = System::new(&["run.pipeline=lockstep", "training.steps_per_iteration=10", &games]);
    play_games(&system);
    let file =
        system.train_with_kills(&[]).text("SELECT file FROM networks WHERE network_id = 2").expect("a candidate");
    let bytes = b"what the store names, and no network";
    std::fs::write(system.run_dir().join(file), bytes).expect("a file");
    let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let database = rusqlite::Connection::open(system.run_dir().join("alveare.db")).expect("the store");
    database.execute("UPDATE networks SET sha256 = ?1 WHERE network_id = 2", [sha256]).expect("a network");
    drop(database);
    let mut learner = system.start_learner(&[]);
    let line = learner.wait_for("candidate rejected");
    assert!(line.contains("not a whole safetensors file"), "{line}");
    let look = system.look();
    learner.wait_until("the rejection", || {
        (look.text("SELECT state FROM networks WHERE network_id = 2")? == "rejected").then_some(())
    });
}

/// Trains a hundred steps on the same games, with a kill once each of `kills` is checkpointed, and returns the SHA-256 of
/// the candidate. `settings` say what is not as usual.
fn candidate_sha256(checkpoint_steps: u32, settings: &[&str], kills: &[i64]) -> String {
    let checkpoint_steps = format!("training.checkpoint_steps={checkpoint_steps}");
    let games = format!("self_play.games_per_iteration={GAME_COUNT}");
    let usual: [&str; 5] = [
        "run.pipeline=lockstep",
        "training.steps_per_iteration=100",
        "training.batch_size=512",
        &checkpoint_steps,
        &games,
    ];
    let mut system = System::new(&[&usual[..], settings].concat());
    play_games(&system);
    let look = system.train_with_kills(kills);
    let steps =
        "SELECT count(*), count(DISTINCT step), sum(value), max(step) FROM metrics WHERE name = 'loss_step_count'";
    let steps = look.rows(steps, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).pop();
    let (count, distinct, sum, last): (i64, i64, f64, i64) = steps.expect("one row");
    assert_eq!((count, sum as i64, last), (distinct, 100, 100), "each step is counted once");
    look.text("SELECT sha256 FROM networks WHERE network_id = 2").expect("the candidate is in the store")
}

/// Fills the store with games of a random player, the same each time.
fn play_games(system: &System) {
    std::fs::create_dir_all(system.run_dir()).expect("a run directory");
    let learner = start(&system.run_dir());
    let mut random = Pcg64::seed_from_u64(7);
    let leases = learner.registry.lease("test", GameKind::SelfPlay, GAME_COUNT, Instant::now()).expect("leases").leases;
    for lease in leases {
        let moves = random_game(&mut random);
        let moves: Vec<&str> = moves.iter().map(String::as_str).collect();
        report(&learner, "test", &plies(lease.game_id, &moves), Instant::now());
    }
    assert_eq!(learner.registry.progress().finished_self_play_count, u64::from(GAME_COUNT));
}

fn random_game(random: &mut impl RngExt) -> Vec<String> {
    let (mut position, mut played, mut moves) = (TicTacToe.initial_position(), Vec::new(), Vec::new());
    loop {
        moves.clear();
        TicTacToe.legal_moves(&position, &mut moves);
        let Some(mv) = moves.choose(random) else { return played };
        played.push(TicTacToe.format_move(&position, *mv));
        TicTacToe.play(&mut position, *mv);
    }
}
