//! What happens to the files of a run while real processes use it: a candidate is damaged, the run directory is deleted,
//! there is no room.

mod common;
mod hostile;

use std::path::Path;
use std::process::Command;

use common::system::{Process, System};
use hostile::Peer;
use proto::ply_status::Code as PlyCode;
use proto::status_client::StatusClient;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use sha2::{Digest, Sha256};
use shared::ids::GameId;
use shared::wire::ply_to_proto;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

/// A run whose first gate comes soon.
const SHORT: [&str; 4] = [
    "self_play.games_per_iteration=30",
    "training.steps_per_iteration=20",
    "gate.game_count=10",
    "server.drain_deadline=3s",
];

/// Plays and trains until there is a candidate, kills the learner, and damages the candidate's file.
fn damaged_candidate(system: &mut System) {
    let mut learner = system.start_learner(&[]);
    let mut actor = system.start_worker("actor");
    learner.wait_for("candidate ready");
    learner.kill_hard();
    actor.kill_hard();
    let file = candidate(system);
    let mut bytes = std::fs::read(&file).expect("the candidate");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).expect("written");
}

fn candidate(system: &System) -> std::path::PathBuf {
    let file = system.look().text("SELECT file FROM networks WHERE network_id = 2").expect("a candidate");
    system.run_dir().join(file)
}

fn sha256(file: &Path) -> String {
    Sha256::digest(std::fs::read(file).expect("a file")).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_damaged_candidate_is_made_again_and_plays_its_gate() {
    let mut system = System::new(&SHORT);
    damaged_candidate(&mut system);
    let mut learner = system.start_learner(&[]);
    let _evaluator = system.start_worker("evaluator");
    learner.wait_for("the candidate's file is damaged: making it again from the checkpoint");
    learner.wait_for("decided_after=");
    let look = system.look();
    let stored = look.text("SELECT sha256 FROM networks WHERE network_id = 2").expect("a candidate");
    assert_eq!(sha256(&candidate(&system)), stored);
    assert_eq!(look.number("SELECT count(*) FROM networks WHERE network_id = 2 AND state = 'candidate'"), 0);
}

#[test]
fn a_damaged_candidate_that_cannot_be_made_again_is_rejected_and_the_run_goes_on() {
    let mut system = System::new(&SHORT);
    damaged_candidate(&mut system);
    let database = rusqlite::Connection::open(system.run_dir().join("alveare.db")).expect("the store");
    let changed = database.execute("UPDATE networks SET sha256 = 'another' WHERE network_id = 2", []);
    assert_eq!(changed.expect("a network"), 1);
    drop(database);
    let mut learner = system.start_learner(&[]);
    let _workers = [system.start_worker("evaluator"), system.start_worker("actor")];
    let line = learner.wait_for("candidate rejected");
    assert!(line.contains("its file is damaged, and the checkpoint makes another network"), "{line}");
    let line = learner.wait_for("decided_after=");
    assert!(line.contains("iteration=2"), "the next candidate is tested: {line}");
    // The first learner may have made games of the gate before it was killed.
    let played = "SELECT count(*) FROM games WHERE kind = 'gate' AND candidate_id = 2 AND state <> 'abandoned'";
    assert_eq!(system.look().number(played), 0);
}

async fn connect(system: &System) -> Channel {
    Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens")
}

/// A worker with a game of which two plies are acknowledged.
struct Player {
    peer: Peer,
    plies: Vec<proto::Ply>,
}

impl Player {
    async fn begin(system: &System) -> Self {
        let peer = Peer::new(connect(system).await, "player");
        peer.join().await;
        let lease = loop {
            // The run makes its first games a moment after it listens.
            if let Some(lease) = peer.lease(1).await.leases.pop() {
                break lease;
            }
        };
        let plies: Vec<proto::Ply> =
            fixtures::plies(GameId::new(lease.game_id), &fixtures::DRAW).iter().map(ply_to_proto).collect();
        let player = Self { peer, plies };
        player.report(0..2).await.expect("reported");
        player
    }

    /// Reports some plies; an answer says that they are acknowledged.
    async fn report(&self, plies: std::ops::Range<usize>) -> Result<(), tonic::Status> {
        let statuses = self.peer.report(self.plies[plies].to_vec()).await?;
        assert!(statuses.iter().all(|status| status.code() == PlyCode::Accepted), "{statuses:?}");
        Ok(())
    }
}

async fn waiting_for(system: &System) -> String {
    let request = proto::GetStatusRequest {};
    StatusClient::new(connect(system).await).get_status(request).await.expect("a status").into_inner().waiting_for
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_into_a_run_directory_that_was_deleted() {
    let mut system = System::new(&SHORT);
    let mut learner = system.start_learner(&[]);
    let player = Player::begin(&system).await;
    let removed = Command::new("rm").arg("-rf").arg(system.run_dir()).status().expect("rm runs");
    assert!(removed.success());
    let refused = player.report(2..3).await.expect_err("the database is gone");
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    let line = learner.wait_for("the store is gone");
    assert!(line.contains("was deleted or replaced while it is in use, so nothing is acknowledged"), "{line}");
    let words = waiting_for(&system).await;
    assert!(words.starts_with("the disk: ") && words.contains("was deleted or replaced"), "{words}");
    for _ in 0..3 {
        let refused = player.report(2..6).await.expect_err("it stays gone");
        assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    }
    learner.terminate();
    learner.wait_for_end();
    assert!(!system.run_dir().join("alveare.db").exists(), "nothing is put in its place");
}

/// Lets a process write no file beyond so many bytes, or any.
fn limit_files(process: &Process, bytes: Option<u64>) {
    let pid = Pid::from_raw(process.id().cast_signed());
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(pid, Resource::Fsize, limit).expect("a limit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_without_room_is_named_and_costs_no_ply_and_no_network() {
    // Checkpoints come soon one after the other.
    let mut system =
        System::new(&[&SHORT[..], &["training.steps_per_iteration=200", "training.checkpoint_steps=10"]].concat());
    // Else the system ends a process that writes beyond its limit.
    let mut learner = system.start_learner_ignoring("XFSZ");
    let _workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    let player = Player::begin(&system).await;
    limit_files(&learner, Some(1));
    let refused = player.report(2..4).await.expect_err("no room");
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    learner.wait_for("waiting for the disk");
    let words = waiting_for(&system).await;
    assert!(words.starts_with("the disk: "), "{words}");
    limit_files(&learner, None);
    player.report(2..4).await.expect("room again");
    learner.wait_for("step_end=");
    limit_files(&learner, Some(1));
    learner.wait_for("write weights");
    let words = waiting_for(&system).await;
    assert!(words.starts_with("the disk: "), "{words}");
    limit_files(&learner, None);
    learner.wait_for("decided_after=");
    assert!(!waiting_for(&system).await.starts_with("the disk: "));
    player.report(0..9).await.expect("all of the game, some of it again");
    let game_id = player.plies[0].game_id;
    assert_eq!(system.look().number(&format!("SELECT count(*) FROM plies WHERE game_id = {game_id}")), 9);
    learner.terminate();
    let (status, log) = learner.wait_for_end();
    assert!(status.success(), "{:?}", log.last());
    let checked = Command::new(env!("CARGO_BIN_EXE_learner")).arg("check").arg(system.run_dir()).output();
    assert!(checked.expect("it runs").status.success());
}
