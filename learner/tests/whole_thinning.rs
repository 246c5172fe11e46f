//! Thinning the store of a real learner, which is killed in the middle of it.

mod common;

use std::process::Command;
use std::time::Instant;

use common::system::System;
use fixtures::{encoding, random_game, report, start};
use store::GameKind;

/// Games of which all but the newest lose their plies, 64 a step.
const GAMES: i64 = 1500;

#[test]
fn a_learner_that_is_killed_while_it_thins_leaves_a_whole_run() {
    let mut system =
        System::new(&["store.keep_games=5", "replay.position_count_max=64", "replay.position_count_min=64"]);
    let mut learner = system.start_learner(&[]);
    learner.wait_for("INFO training begins");
    learner.kill_hard();
    play(&system);
    let look = system.look();
    let finished = || look.number("SELECT count(*) FROM games WHERE state = 'finished'");
    let thinned = || look.number("SELECT count(*) FROM games WHERE is_thinned = 1");
    assert_eq!((finished(), thinned()), (GAMES, 0));

    let more_games = ["--set", "self_play.games_per_iteration=100000"];
    let mut learner = system.start_learner(&more_games);
    learner.wait_until("games without plies", || (thinned() > 0).then_some(()));
    learner.kill_hard();
    let first = thinned();
    assert!(first < GAMES - 64, "killed in the middle: {first}");
    assert_whole(&system, first);

    let mut learner = system.start_learner(&more_games);
    // The buffer of 64 positions is of a few games more than those that are to be kept.
    learner.wait_until("all that is old without plies", || (thinned() > GAMES - 20).then_some(()));
    learner.terminate();
    let (status, _) = learner.wait_for_end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(finished(), GAMES);
    assert_whole(&system, thinned());
    let kept = look.number("SELECT count(DISTINCT game_id) FROM plies");
    assert!(kept >= 5);
    let samples = system.run_dir().join("samples.safetensors");
    let output = learner_of(&system, "export").arg("--samples").arg(samples).output().expect("it runs");
    let [text, log] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success() && text.contains(&format!("games {kept}")), "{text}{log}");
    assert!(log.contains(&format!("left out: {} games without plies", GAMES - kept)), "{text}{log}");
}

fn learner_of(system: &System, command: &str) -> Command {
    let mut learner = Command::new(env!("CARGO_BIN_EXE_learner"));
    learner.arg(command).arg(system.run_dir());
    learner
}

/// Plays the games without a learner.
fn play(system: &System) {
    let memory = start(&system.run_dir());
    let mut count = 0;
    while count < GAMES {
        let leases = memory.registry.lease("w", GameKind::SelfPlay, 100, Instant::now()).expect("leases").leases;
        for lease in leases.iter().take((GAMES - count) as usize) {
            report(&memory, "w", &random_game(&encoding(), lease), Instant::now());
            count += 1;
        }
    }
}

/// Checks the run as a user does.
fn assert_whole(system: &System, thinned: i64) {
    let output = learner_of(system, "check").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = format!("games whole: {} finished", GAMES - thinned);
    let more = format!("; {thinned} more without plies (store.keep_games)");
    assert!(output.status.success() && text.contains(&expected) && text.contains(&more), "{text}");
}
