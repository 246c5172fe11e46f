//! Who may do what, and the commands that look after a run directory, with real processes.

mod common;

use std::process::Command;

use common::system::System;
use fixtures::{WHITE_WINS, lease_one, plies, report, start};
use proto::inference_client::InferenceClient;
use proto::status_client::StatusClient;
use proto::workers_client::WorkersClient;
use runtime::auth::{ClientAuth, Token};
use runtime::worker_key::WorkerKey;
use shared::encoding::Encoding;
use shared::game::Game;
use std::time::Instant;
use tonic::Code;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_token_of_a_role_allows_that_role_alone() {
    let mut system = System::new(&[]);
    std::fs::create_dir_all(system.run_dir()).expect("a run directory");
    let roles = ["actor", "evaluator", "reader"];
    let settings = roles.map(|role| {
        let file = system.run_dir().join(role);
        std::fs::write(&file, format!("{role}-token")).expect("a token file");
        format!("server.{role}_token_file={}", file.display())
    });
    let flags: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let _learner = system.start_learner(&flags);
    let channel = Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens");
    let client = |role: &str| {
        let token = Token::new(&format!("{role}-token")).expect("a token");
        let key = WorkerKey::new("k".repeat(32)).expect("a key");
        InterceptedService::new(channel.clone(), ClientAuth::new(Some(&token)).of_worker(role, &key))
    };
    let code = |result: Result<(), tonic::Status>| result.map_or_else(|status| status.code(), |()| Code::Ok);
    let mut codes = Vec::new();
    for role in [&roles[..], &["other"]].concat() {
        let mut workers = WorkersClient::new(client(role));
        let actor = workers.join(join(role, proto::WorkerKind::Actor)).await.map(drop);
        let evaluator = workers.join(join(role, proto::WorkerKind::Evaluator)).await.map(drop);
        let status = StatusClient::new(client(role)).get_status(proto::GetStatusRequest {}).await.map(drop);
        codes.push([actor, evaluator, status].map(code));
    }
    let (ok, denied) = (Code::Ok, Code::PermissionDenied);
    assert_eq!(codes, [[ok, denied, ok], [denied, ok, ok], [denied, denied, ok], [Code::Unauthenticated; 3]]);

    let answers = [error_of(client("actor"), 0).await, error_of(client("actor"), 1).await];
    assert_eq!(answers[0].as_deref(), Ok(""));
    assert!(answers[1].as_ref().is_ok_and(|error| error.contains("that this worker may play")), "{answers:?}");
    assert_eq!(error_of(client("evaluator"), 1).await.as_deref(), Ok(""));
    assert_eq!(error_of(client("reader"), 0).await, Err(denied));
}

fn join(worker_id: &str, kind: proto::WorkerKind) -> proto::JoinRequest {
    proto::JoinRequest {
        thread_count: 1,
        protocol_version: proto::PROTOCOL_VERSION,
        domain_version: shared::DOMAIN_VERSION,
        worker_id: worker_id.into(),
        kind: kind.into(),
        program_version: "0".into(),
    }
}

/// Asks a network for one leaf; returns the error of the answer, empty if there is none.
async fn error_of(client: InterceptedService<Channel, ClientAuth>, network_id: u32) -> Result<String, Code> {
    let (encoding, mut positions) = (fixtures::encoding(), Vec::new());
    encoding.pack(&encoding.game().initial_position(), &mut positions);
    let batch = proto::LeafBatch {
        batch_id: 1,
        network_id,
        position_lengths: vec![positions.len() as u32],
        positions: positions.into(),
        policy_indices: bytes::Bytes::from_static(&[0, 0, 4, 0]),
        move_counts: vec![2],
    };
    let stream = InferenceClient::new(client).evaluate_leaves(tokio_stream::iter([batch])).await;
    let answer =
        stream.map_err(|status| status.code())?.into_inner().message().await.map_err(|status| status.code())?;
    Ok(answer.expect("an answer").error)
}

#[test]
fn files_that_a_killed_learner_had_not_finished_are_gone_after_the_next_start() {
    let mut system = System::new(&[]);
    system.start_learner(&[]).kill_hard();
    let run_dir = system.run_dir();
    let unfinished = ["networks/network-000009.safetensors.41.part", "checkpoint-000000007.safetensors.41.part"]
        .map(|name| run_dir.join(name));
    let others = ["notes.part", "networks/mine.safetensors"].map(|name| run_dir.join(name));
    for file in unfinished.iter().chain(&others) {
        std::fs::write(file, "half").expect("a file");
    }
    let _learner = system.start_learner(&[]);
    assert!(unfinished.iter().all(|file| !file.exists()), "{unfinished:?}");
    assert!(others.iter().all(|file| file.exists()), "what is not the learner's stays");
}

#[test]
fn a_run_directory_is_checked_and_the_games_of_a_worker_are_taken_out() {
    let mut system = System::new(&[]);
    let mut learner = system.start_learner(&[]);
    learner.wait_for("INFO training begins");
    learner.kill_hard();
    let run_dir = system.run_dir();
    let memory = start(&run_dir);
    for worker_id in ["good", "bad", "bad"] {
        let game_id = lease_one(&memory, worker_id, Instant::now());
        report(&memory, worker_id, &plies(game_id, &WHITE_WINS), Instant::now());
    }
    drop(memory);
    let learner = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_learner")).args(arguments).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let dir = run_dir.to_str().expect("a plain path");
    let (code, text, _) = learner(&["check", dir]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("games whole: 3 finished") && text.contains("checkpoints whole"), "{text}");

    let (code, text, _) = learner(&["quarantine", "--worker", "bad", "--run-dir", dir]);
    assert_eq!((code, text.starts_with("taken out of the run: 2 self-play games")), (Some(0), true), "{text}");
    let count = || system.look().number("SELECT count(*) FROM games WHERE state = 'finished'");
    assert_eq!(count(), 1);
    let (code, text, _) = learner(&["quarantine", "--worker", "bad", "--run-dir", dir, "--undo"]);
    assert_eq!((code, text.starts_with("put back into the run: 2 self-play games")), (Some(0), true), "{text}");
    assert_eq!(count(), 3);
    let (code, _, error) = learner(&["quarantine", "--worker", "nobody", "--run-dir", dir]);
    assert_eq!((code, error.contains("no worker \"nobody\"")), (Some(64), true), "{error}");

    std::fs::write(run_dir.join("networks/network-000001.safetensors"), b"rubbish").expect("written");
    std::fs::write(run_dir.join("networks/network-000002.safetensors.7.part"), b"half").expect("written");
    let database = rusqlite::Connection::open(run_dir.join("alveare.db")).expect("it opens");
    database.execute("UPDATE plies SET move_text = 'b1' WHERE game_id = 1 AND ply = 0", []).expect("changed");
    drop(database);
    let (code, text, error) = learner(&["check", dir]);
    assert_eq!((code, error.contains("games, networks damaged")), (Some(1), true), "{error}");
    for words in ["database whole", "game 1: ", "network-000001.safetensors is damaged", "7.part was never finished"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (code, _, error) = learner(&["check", "/no/run"]);
    assert_eq!((code, error.contains("no run there: it has no alveare.db")), (Some(64), true), "{error}");
}

#[test]
fn a_run_without_a_whole_checkpoint_is_refused_at_the_start() {
    let mut system = System::new(&[]);
    let mut learner = system.start_learner(&[]);
    learner.wait_for("INFO training begins");
    learner.kill_hard();
    std::fs::write(system.run_dir().join("checkpoint-000000000.safetensors"), b"rubbish").expect("written");
    let (status, log) = system.start("learner", system.learner_command(&[])).wait_for_end();
    assert_eq!(status.code(), Some(1));
    assert!(log.last().is_some_and(|line| line.contains("no whole checkpoint in")), "{log:?}");
}
