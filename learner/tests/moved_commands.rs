//! Commands that are gone say what does their work now.

use std::process::Command;

#[test]
fn serving_a_network_for_matches_is_done_by_the_matches_themselves() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    let output = command.args(["serve", "--network", "a.safetensors", "--device", "cpu"]).output().expect("run");
    assert_eq!(output.status.code(), Some(64));
    assert_eq!(
        String::from_utf8(output.stderr).expect("text"),
        "learner: there is no `learner serve` any more: `alveare match` and `alveare ladder` compute networks themselves\n"
    );
}
