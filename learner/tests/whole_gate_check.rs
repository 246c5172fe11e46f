//! Gate games that nobody searched: they make no promotion, their worker is named, and an honest evaluator plays them
//! again, with kills of learner and evaluator in between.

mod common;
mod hostile;

use common::system::{Look, Process, System};
use hostile::{Peer, empty_boards};
use proto::ply_status::Code as PlyCode;
use proto::status_client::StatusClient;
use shared::game::tictactoe::{Square, TicTacToe};
use shared::game::{Game, Outcome, Side};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;

/// Games of the gate.
const GAMES: usize = 200;
/// The first network, and the candidate.
const NETWORKS: [u32; 2] = [1, 2];

/// Starts learner and actor, and waits until the first gate has its games.
fn start_gate(system: &mut System, game_count: usize) -> (Process, Process, Look) {
    let mut learner = system.start_learner(&[]);
    let actor = system.start_worker("actor");
    learner.wait_for("candidate ready");
    let look = system.look();
    learner.wait_until("the games of the gate", || {
        (look.number("SELECT count(*) FROM games WHERE kind = 'gate'") == game_count as i64).then_some(())
    });
    (learner, actor, look)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_gate_games_make_no_promotion_and_honest_ones_do_what_they_say() {
    let mut system = System::new(&[
        "server.lease=1s",
        "self_play.games_per_iteration=30",
        "training.steps_per_iteration=20",
        &format!("gate.game_count={GAMES}"),
    ]);
    let (mut learner, mut actor, look) = start_gate(&mut system, GAMES);
    let forger = peer(&system, "forger").await;
    forger.join_as(proto::WorkerKind::Evaluator).await;
    let leases = forger.lease(1).await.leases;
    let unasked = forger.report(forged(&leases[0])).await.expect("an answer");
    assert!(unasked.iter().all(|status| status.code() == PlyCode::Refused), "no leaf was evaluated: {unasked:?}");
    ask_a_leaf_of_each(&forger).await;
    let forged_count = forge_until_decided(&forger).await;
    assert!(forged_count > GAMES / 2, "{forged_count} games were enough for a verdict");
    let line = learner.wait_for("gate games do not count");
    println!("{line}");
    assert!(line.contains("worker_id=\"forger\""), "{line}");
    let line = learner.wait_for("alarm=\"gate_check\"");
    assert!(line.contains("forger"), "{line}");
    let reply = forger.lease(1000).await;
    assert_eq!((reply.leases.len(), reply.waiting_for.contains("not played by search")), (0, true), "{reply:?}");
    assert_eq!(look.number("SELECT max(generation) FROM networks"), 0);
    let set_aside = look.number("SELECT count(*) FROM games WHERE reason LIKE 'gate check:%'");
    assert!(set_aside >= forged_count as i64, "{set_aside} of {forged_count} games");
    assert_eq!(look.number("SELECT count(*) FROM games WHERE kind = 'gate' AND state = 'finished'"), 0);
    assert_eq!(look.number("SELECT count(*) FROM games WHERE kind = 'gate' AND state = 'open'"), GAMES as i64);
    assert_eq!(alarms(&system).await, ["gate_check"]);

    let mut evaluator = system.start_worker("evaluator");
    play_on(&mut learner, &system, 20);
    evaluator.kill_hard();
    let mut evaluator = system.start_worker("evaluator");
    play_on(&mut learner, &system, 40);
    learner.kill_hard();
    let mut learner = system.start_learner(&[]);
    let line = learner.wait_for("gate games checked");
    println!("{line}");
    let line = learner.wait_for("decided_after=");
    assert!(line.contains("promoted") || line.contains("rejected"), "the honest games are counted: {line}");
    let counted = look.number(
        "SELECT count(*) FROM games WHERE kind = 'gate' AND candidate_id = 2 AND state = 'finished' AND game_id NOT IN
         (SELECT game_id FROM leases JOIN workers USING (worker_number) WHERE worker_id <> 'forger')",
    );
    assert_eq!(counted, 0, "games of the forger that count");
    // Beside the networks it answers all that is asked.
    learner.kill_hard();
    actor.kill_hard();
    evaluator.kill_hard();
}

/// Under each name are too few plies for a judgement: together they are enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_gate_games_under_a_name_each_do_not_count_either() {
    const GAMES: usize = 40;
    let mut system = System::new(&[
        "self_play.games_per_iteration=30",
        "training.steps_per_iteration=20",
        &format!("gate.game_count={GAMES}"),
    ]);
    let (mut learner, mut actor, look) = start_gate(&mut system, GAMES);
    let mut name_count = 0;
    loop {
        let forger = peer(&system, &format!("forger-{name_count}")).await;
        forger.join_as(proto::WorkerKind::Evaluator).await;
        ask_a_leaf_of_each(&forger).await;
        let leases = forger.lease(1).await.leases;
        let Some(lease) = leases.first() else { break };
        forger.report(forged(lease)).await.expect("an answer");
        name_count += 1;
        assert!(name_count <= GAMES, "the gate is not decided");
    }
    assert!(name_count > GAMES / 2, "{name_count} games were enough for a verdict");
    let line = learner.wait_for("workers with few plies");
    println!("{line}");
    assert!(line.contains("gate games do not count"), "{line}");
    let finished = "SELECT count(*) FROM games WHERE kind = 'gate' AND state = 'finished'";
    learner.wait_until("no forged game counts", || (look.number(finished) == 0).then_some(()));
    assert_eq!(look.number("SELECT max(generation) FROM networks"), 0);
    assert_eq!(alarms(&system).await, ["gate_check"]);
    learner.kill_hard();
    actor.kill_hard();
}

async fn peer(system: &System, name: &str) -> Peer {
    let channel = Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens");
    Peer::new(channel, name)
}

/// Plays games so that network 2 wins, as long as there are some; returns how many.
async fn forge_until_decided(forger: &Peer) -> usize {
    let mut count = 0;
    loop {
        let leases = forger.lease(1000).await.leases;
        if leases.is_empty() {
            return count;
        }
        for lease in &leases {
            let statuses = forger.report(forged(lease)).await.expect("an answer");
            count += usize::from(statuses.iter().all(|status| status.code() == PlyCode::Accepted));
        }
    }
}

/// Waits until so many games of honest workers have finished.
fn play_on(learner: &mut Process, system: &System, count: i64) {
    let look = system.look();
    learner.wait_until("honest games", || {
        let finished = look.number("SELECT count(*) FROM games WHERE kind = 'gate' AND state = 'finished'");
        (finished >= count).then_some(())
    });
}

async fn alarms(system: &System) -> Vec<String> {
    let channel = Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens");
    let status =
        StatusClient::new(channel).get_status(proto::GetStatusRequest {}).await.expect("a status").into_inner();
    status
        .alarms
        .into_iter()
        .map(|alarm| alarm.name)
        .filter(|name| name != "worker_version" && name != "disk")
        .collect()
}

/// Has one leaf evaluated by each network: without any, no ply is taken.
async fn ask_a_leaf_of_each(peer: &Peer) {
    let (sender, receiver) = mpsc::channel(2);
    let mut answers =
        peer.inference().evaluate_leaves(ReceiverStream::new(receiver)).await.expect("a stream").into_inner();
    for network_id in NETWORKS {
        sender.send(empty_boards(1, 1, network_id)).await.expect("the stream is open");
        let answer = answers.message().await.expect("the stream goes on").expect("an answer");
        assert_eq!(answer.error, "");
    }
}

/// Plays a game of a gate so that network 2 wins: it takes what wins, and network 1 never stands in its way.
fn forged(lease: &proto::Lease) -> Vec<proto::Ply> {
    let game = TicTacToe;
    let mut position = game.initial_position();
    for text in &lease.moves {
        let mv = game.parse_move(&position, text).expect("the learner gives legal moves");
        game.play(&mut position, mv);
    }
    let mut plies = Vec::new();
    while game.outcome(&position).is_none() {
        let side = game.side_to_move(&position);
        let network_id = if side == Side::White { lease.white_network_id } else { lease.black_network_id };
        let mut moves = Vec::new();
        game.legal_moves(&position, &mut moves);
        let after = |mv: Square| {
            let mut next = position;
            game.play(&mut next, mv);
            next
        };
        let wins = |mv: &Square| game.outcome(&after(*mv)) == Some(Outcome::Win(side));
        let mv = if network_id == NETWORKS[1] {
            moves.iter().copied().find(wins).unwrap_or(moves[0])
        } else {
            moves.iter().rev().copied().find(|mv| !wins(mv)).unwrap_or(moves[0])
        };
        plies.push(proto::Ply {
            game_id: lease.game_id,
            ply: (lease.moves.len() + plies.len()) as u32,
            move_text: game.format_move(&position, mv),
            policy_target: Vec::new(),
            root_value: 0.0,
            simulation_count: 64,
            network_id,
        });
        game.play(&mut position, mv);
    }
    plies
}
