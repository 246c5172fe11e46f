//! Over how many iterations the learning rate of a run falls: `--iterations` of a new run, and what it keeps.

mod common;

use common::system::System;

/// Returns what the learner says to `--print-config` with these flags.
fn length(system: &System, flags: &[&str]) -> i64 {
    let output = system.learner_command(flags).arg("--print-config").output().expect("the learner runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: toml::Table = String::from_utf8_lossy(&output.stdout).parse().expect("settings");
    printed["training"]["iterations"].as_integer().expect("a number")
}

#[test]
fn iterations_of_a_new_run_set_it_and_a_run_that_goes_on_keeps_it() {
    let mut system = System::new(&[]);
    assert_eq!(length(&system, &[]), 8, "as the preset says");
    assert_eq!(length(&system, &["--iterations", "3"]), 3, "a new run");
    assert_eq!(length(&system, &["--iterations", "3", "--set", "training.iterations=5"]), 5, "said in words");
    let mut learner = system.start_learner(&["--iterations", "3"]);
    assert!(learner.log_text().contains("from=\"--iterations of a new run\""), "{}", learner.log_text());
    learner.kill_hard();
    assert_eq!(length(&system, &[]), 3, "its own");
    assert_eq!(length(&system, &["--iterations", "7"]), 3, "its own still");
    let mut learner = system.start_learner(&["--iterations", "7"]);
    assert!(learner.log_text().contains("iterations=3 from=\"the run began with it"), "{}", learner.log_text());
    learner.kill_hard();
    let mut learner = system.start_learner(&["--set", "training.iterations=12"]);
    learner.kill_hard();
    assert_eq!(length(&system, &[]), 12, "changed for good");
}
