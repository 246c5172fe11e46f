//! Inference servers beside a learner, as processes: they answer a part of the leaves, and may go at any moment.

mod common;

use std::process::{Command, Output};

use common::system::{Process, System};

/// Makes a command that answers leaves for the learner of a system.
fn infer(system: &System, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["infer", "--preset", "tictactoe", "--learner", &system.url(), "--name", "spare"]).args(flags);
    command
}

fn status(system: &System) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_learner"))
        .args(["status", "--json", "--learner", &system.url()])
        .output()
        .expect("the program starts");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

fn counter(system: &System, name: &str) -> u64 {
    status(system)["counters"][name].as_u64().unwrap_or_default()
}

/// Waits until inference servers have answered so many leaves.
fn wait_for_answers(learner: &mut Process, system: &System, count: u64) -> u64 {
    learner.wait_until("answers of an inference server", || {
        Some(counter(system, "remote_evaluation_count")).filter(|answered| *answered >= count)
    })
}

#[test]
fn inference_servers_answer_leaves_and_may_be_killed_at_any_moment() {
    let mut system = System::new(&["inference.devices=[\"cpu\", \"cpu\"]", "inference.batches_at_once=1"]);
    let mut learner = system.start_learner(&["--iterations", "4"]);
    let mut spare = system.start("infer", infer(&system, &[]));
    spare.wait_for("joined the learner");
    learner.wait_for("inference server joined");
    let mut workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    let mut answered = wait_for_answers(&mut learner, &system, 100);
    for _ in 0..3 {
        spare.kill_hard();
        learner.wait_until("the end of its stream", || (counter(&system, "remote_server_count") == 0).then_some(()));
        spare = system.start("infer", infer(&system, &[]));
        spare.wait_for("joined the learner");
        answered = wait_for_answers(&mut learner, &system, answered + 100);
    }
    // Candidates are networks that it does not have when they are first asked for.
    let (code, lines) = learner.wait_for_end();
    assert!(code.success(), "{lines:?}");
    let look = system.look();
    assert_eq!(look.number("SELECT count(*) FROM iterations WHERE finished_at IS NOT NULL"), 4);
    assert_eq!(look.number("SELECT count(*) FROM games WHERE state = 'quarantined'"), 0);
    for worker in &mut workers {
        worker.kill_hard();
    }
    spare.terminate();
    let (code, lines) = spare.wait_for_end();
    assert!(code.success() && lines.iter().any(|line| line.contains("stopped")), "{lines:?}");
}

#[test]
fn an_inference_server_ends_cleanly_at_work_and_takes_batches_larger_than_its_own() {
    let mut system = System::new(&["inference.batches_at_once=1"]);
    let mut learner = system.start_learner(&[]);
    // Without an evaluator self-play would pause.
    let _workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    let mut answered = 0;
    for _ in 0..5 {
        let mut spare = system.start("infer", infer(&system, &["--set", "inference.batch_leaves_max=2"]));
        spare.wait_for("joined the learner");
        answered = wait_for_answers(&mut learner, &system, answered + 50);
        spare.terminate();
        let (code, lines) = spare.wait_for_end();
        assert!(code.success(), "{code}: {lines:?}");
    }
}

#[test]
fn only_those_with_the_token_may_answer_leaves() {
    let mut system = System::new(&["inference.servers_max=1"]);
    std::fs::create_dir_all(system.run_dir()).expect("a folder");
    let file = |name: &str, token: &str| {
        let path = system.run_dir().join(name).display().to_string();
        std::fs::write(&path, token).expect("a token");
        path
    };
    let (own, actors) = (file("inference-token", "honey"), file("actor-token", "wax"));
    let inference_token = format!("server.inference_token_file={own:?}");
    let actor_token = format!("server.actor_token_file={actors:?}");
    let mut learner = system.start_learner(&["--set", &inference_token, "--set", &actor_token]);
    for (flags, reason) in
        [(vec![], "no token"), (vec!["--token-file", &actors], "the token is not one of inference servers")]
    {
        let Output { status, stderr, .. } = infer(&system, &flags).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&stderr);
        let line = stderr.lines().last().unwrap_or_default();
        assert!(
            status.code() == Some(1) && line.contains("refuses this inference server") && line.contains(reason),
            "{stderr}"
        );
    }
    let mut spare = system.start("infer", infer(&system, &["--token-file", &own]));
    spare.wait_for("joined the learner");
    learner.wait_for("inference server joined");
    let mut second = system.start("infer", infer(&system, &["--token-file", &own]));
    second.wait_for("1 inference servers are connected, or were cut off a moment ago: inference.servers_max");
}
