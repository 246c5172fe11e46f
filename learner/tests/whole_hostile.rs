//! Workers that mean harm, against a real learner: an honest one goes on beside each of them, and memory, log and stop
//! stay within their bounds. What each attack did before there were bounds stands with it.

mod common;
mod hostile;

use std::time::{Duration, Instant};

use bytes::Bytes;
use fixtures::plies;
use hostile::attackers::attack;
use hostile::honest::{ANSWER_WAIT_MAX, BASELINE, Honest};
use hostile::raw_call::report_raw;
use hostile::{Peer, Victim, empty_boards};
use shared::ids::GameId;
use shared::wire::ply_to_proto;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

/// Longest time until an honest worker that has no game gets one.
const GAME_WAIT_MAX: Duration = Duration::from_secs(20);

/// The learner needed a hundred times the bytes of such a report, 6 GiB, and ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_of_sixty_megabytes_is_refused_before_it_is_built() {
    let victim = Victim::start().await;
    let honest = Honest::start(victim.connect("honest").await).await;
    let bad = victim.connect_attacker("bomb").await;
    attack(async move {
        bad.join().await;
        let mut message = b"\x0a\x04bomb".to_vec();
        message.extend(b"\x12\x00".repeat(30 << 20));
        let refused = report_raw(&bad, Bytes::from(message)).await.expect_err("too large");
        // The learner may close the stream before all of it is sent.
        println!("bomb: {refused}");
        for _ in 0..20 {
            let mut full = b"\x0a\x04bomb".to_vec();
            full.extend(b"\x12\x00".repeat((1 << 19) - 8));
            let refused = report_raw(&bad, Bytes::from(full)).await.expect_err("too many plies");
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
        }
    })
    .await;
    honest.assert_kept("bomb").await;
    victim.assert_unharmed("bomb");
}

/// What streams left that were gone was evaluated all the same: an honest leaf waited 13 to 60 seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_hang_up_leave_no_backlog() {
    let victim = Victim::start().await;
    let honest = Honest::start(victim.connect("honest").await).await;
    let bad = victim.connect_attacker("backlog").await;
    attack(async move {
        let leaf_count = bad.join().await.batch_leaves_max as usize;
        let mut streams = Vec::new();
        for _ in 0..8 {
            streams.push(flood(&bad, leaf_count, 200).await);
        }
        // A batch of each is answered, so all of them wait in the queue.
        for answers in &mut streams {
            answers.message().await.expect("the stream goes on").expect("an answer");
        }
    })
    .await;
    let asked_at = Instant::now();
    let late = Honest::start(victim.connect("late").await).await;
    let worked = asked_at.elapsed().saturating_sub(BASELINE);
    println!("backlog: {worked:.1?} until a new worker is answered");
    assert!(worked <= ANSWER_WAIT_MAX, "a new worker waited {worked:?}");
    late.stop().await;
    honest.assert_kept("backlog").await;
    victim.assert_unharmed("backlog");
}

/// Sends batches of boards as fast as they are taken, the first of them too large.
async fn flood(peer: &Peer, leaf_count: usize, batch_count: u64) -> tonic::Streaming<proto::EvaluationBatch> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let _ = sender.send(empty_boards(0, 16_384, 0)).await;
        for batch_id in 1..batch_count {
            if sender.send(empty_boards(batch_id, leaf_count, 0)).await.is_err() {
                return;
            }
        }
    });
    let answers = peer.inference().evaluate_leaves(ReceiverStream::new(receiver)).await;
    answers.expect("a stream").into_inner()
}

/// They were never closed: with 256 open files the learner could not be asked how it is, and the log blamed the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_say_nothing_are_closed() {
    let victim = Victim::start_by(|system| system.start_learner_with_files(256, &[])).await;
    let honest = Honest::start(victim.connect("honest").await).await;
    let address = victim.system.url().trim_start_matches("http://").to_owned();
    let mut silent = Vec::new();
    for _ in 0..500 {
        let connecting = tokio::net::TcpStream::connect(address.clone());
        if let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_millis(20), connecting).await {
            silent.push(stream);
        }
    }
    println!("silent: {} connections are open", silent.len());
    // A newcomer gets through once the first of them are closed, after 30 seconds.
    let deadline = Instant::now() + Duration::from_secs(75);
    let newcomer = loop {
        let joining = async { victim.connect("newcomer").await.join().await };
        if let Ok(reply) = tokio::time::timeout(Duration::from_secs(5), joining).await {
            break reply;
        }
        assert!(Instant::now() < deadline, "nobody can join any more");
    };
    assert_eq!(newcomer.best_network_id, 1);
    honest.assert_kept("silent").await;
    let log = victim.learner.log_text();
    assert!(!log.contains("waiting for the disk"), "the disk has nothing to do with it:\n{log}");
    victim.assert_unharmed("silent");
}

/// One worker leased all games and renewed them for ever: an honest one got none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_sits_on_games_leaves_some_to_others() {
    let victim = Victim::start().await;
    let honest = Honest::start(victim.connect("honest").await).await;
    let bad = victim.connect_attacker("sit").await;
    let held = attack(lease_all(bad.clone())).await;
    println!("sit: {} games held", held.len());
    let player = victim.connect("player").await;
    player.join().await;
    let (start, mut played) = (Instant::now(), 0);
    while played < 8 {
        assert!(start.elapsed() < GAME_WAIT_MAX, "{played} games after {:?}", start.elapsed());
        attack(renew(bad.clone(), held.clone())).await;
        for lease in player.lease(8).await.leases {
            play(&player, &lease).await;
            played += 1;
        }
    }
    println!("sit: {played} games of an honest worker after {:.1?}", start.elapsed());
    // Renewing without a ply ends after three leases of a second each.
    while attack(renew(bad.clone(), held.clone())).await.len() < held.len() {
        assert!(start.elapsed() < GAME_WAIT_MAX, "leases that are renewed and not played go on");
    }
    honest.assert_kept("sit").await;
    victim.assert_unharmed("sit");
}

async fn lease_all(peer: Peer) -> Vec<u64> {
    peer.join().await;
    let mut held = Vec::new();
    for _ in 0..64 {
        let leases = peer.lease(1_000_000).await.leases;
        if leases.is_empty() {
            break;
        }
        held.extend(leases.iter().map(|lease| lease.game_id));
    }
    held
}

/// Renews leases and returns those that are lost.
async fn renew(peer: Peer, game_ids: Vec<u64>) -> Vec<u64> {
    peer.renew(game_ids).await.expect("an answer")
}

/// After a restart, a name that had never joined renewed all open games.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_of_others_cannot_be_claimed_after_a_restart() {
    let mut victim = Victim::start().await;
    let owner = victim.connect("owner").await;
    owner.join().await;
    let first = loop {
        // The run makes its first games a moment after it listens.
        if let Some(lease) = owner.lease(8).await.leases.pop() {
            break lease;
        }
    };
    let moves = fixtures::DRAW;
    let opening = plies(GameId::new(first.game_id), &moves[..2]);
    let statuses = owner.report(opening.iter().map(ply_to_proto).collect()).await.expect("reported");
    assert!(statuses.iter().all(|status| status.code == 0 || status.reason.is_empty()), "{statuses:?}");
    victim.restart();
    let honest = Honest::start(victim.connect("honest").await).await;
    let claimed: Vec<u64> = (1..=4096).collect();
    let stranger = victim.connect_attacker("nobody-joined").await;
    let bad = victim.connect_attacker("claim").await;
    // Another key under the owner's name.
    let thief = Peer::new(victim.connect_attacker("owner").await.channel, "thief").under("owner");
    attack(async move {
        let refused = stranger.renew(claimed.clone()).await.expect_err("it never joined");
        assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
        bad.join().await;
        for _ in 0..5 {
            assert_eq!(bad.renew(claimed.clone()).await.expect("an answer").len(), claimed.len(), "all are lost to it");
        }
        let refused = thief.renew(vec![first.game_id]).await.expect_err("another key");
        assert!(matches!(refused.code(), Code::PermissionDenied | Code::FailedPrecondition), "{refused}");
    })
    .await;
    let owner = victim.connect("owner").await;
    owner.join().await;
    assert_eq!(owner.renew(vec![first.game_id]).await.expect("an answer"), Vec::<u64>::new(), "its own game");
    honest.assert_kept("claim").await;
    victim.assert_unharmed("claim");
}

/// 200,000 refused plies in one message made seven times as many bytes of log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_plies_do_not_fill_the_log() {
    let victim = Victim::start().await;
    let honest = Honest::start(victim.connect("honest").await).await;
    let bad = victim.connect_attacker("logs").await;
    attack(async move {
        bad.join().await;
        let ply = proto::Ply { game_id: 1, ply: 1, root_value: 2.0, ..proto::Ply::default() };
        let refused = bad.report(vec![ply.clone(); 40_000]).await.expect_err("too many");
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
        for _ in 0..50 {
            let statuses = bad.report(vec![ply.clone(); 4096]).await.expect("an answer");
            assert_eq!(statuses.len(), 4096);
        }
    })
    .await;
    honest.assert_kept("logs").await;
    victim.assert_unharmed("logs");
}

/// Each network was loaded for each leaf: an honest worker slowed down to a fortieth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaves_for_networks_in_turn_load_none_of_them() {
    let victim = Victim::start().await;
    let networks = victim.system.run_dir().join("networks");
    for number in 2..=6 {
        let copy = networks.join(format!("network-{number:06}.safetensors"));
        std::fs::copy(networks.join("network-000001.safetensors"), copy).expect("a network that nobody plays with");
    }
    let honest = Honest::start(victim.connect("honest").await).await;
    let bad = victim.connect_attacker("cycle").await;
    let (evaluated, refused) = attack(ask_networks_in_turn(bad)).await;
    assert_eq!((evaluated, refused), (40, 240), "only network 1 is in play");
    honest.assert_kept("cycle").await;
    let log = victim.learner.log_text();
    assert_eq!(log.matches("network ready").count(), 1, "{log}");
    victim.assert_unharmed("cycle");
}

/// Asks six networks and one that does not exist in turn; returns how many batches were evaluated, and how many refused.
async fn ask_networks_in_turn(bad: Peer) -> (u32, u32) {
    bad.join().await;
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        for (batch_id, network_id) in (1..=280).zip([1, 2, 3, 4, 5, 6, 4_000_000_000].into_iter().cycle()) {
            if sender.send(empty_boards(batch_id, 1, network_id)).await.is_err() {
                return;
            }
        }
    });
    let answers = bad.inference().evaluate_leaves(ReceiverStream::new(receiver)).await;
    let mut answers = answers.expect("a stream").into_inner();
    let (mut evaluated, mut refused) = (0, 0);
    while let Some(answer) = answers.message().await.expect("the stream goes on") {
        *(if answer.error.is_empty() { &mut evaluated } else { &mut refused }) += 1;
    }
    (evaluated, refused)
}

/// Plays a game to its end by moves that draw.
async fn play(peer: &Peer, lease: &proto::Lease) {
    let game = plies(GameId::new(lease.game_id), &fixtures::DRAW);
    let left = game.iter().skip(lease.moves.len()).map(ply_to_proto).collect();
    let statuses = peer.report(left).await.expect("reported");
    assert!(statuses.iter().all(|status| status.reason.is_empty()), "{statuses:?}");
}
