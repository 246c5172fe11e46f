//! Bad input through the real server: each is refused in words, and the server goes on answering.

mod common;

use bytes::Bytes;
use common::system::{Look, Process, System, learner_command, preset};
use proto::inference_client::InferenceClient;
use proto::ply_status::Code as PlyCode;
use proto::status_client::StatusClient;
use proto::workers_client::WorkersClient;
use runtime::auth::{ClientAuth, Token};
use runtime::worker_key::WorkerKey;
use tonic::Code;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

const TOKEN: &str = "open-sesame";

type Auth = InterceptedService<Channel, ClientAuth>;

/// A learner that asks for a token, and whoever talks to it.
struct Server {
    system: System,
    _learner: Process,
    channel: Channel,
}

impl Server {
    async fn start() -> Self {
        let mut system = System::new(&[]);
        std::fs::create_dir_all(system.run_dir()).expect("a run directory");
        let token_file = system.run_dir().join("token");
        std::fs::write(&token_file, TOKEN).expect("a token file");
        let learner = system.start_learner(&["--token-file", token_file.to_str().expect("a plain path")]);
        let channel = Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens");
        Self { system, _learner: learner, channel }
    }

    fn with_token(&self, token: Option<&str>) -> Auth {
        let token = token.map(|text| Token::new(text).expect("a token"));
        InterceptedService::new(self.channel.clone(), ClientAuth::new(token.as_ref()))
    }

    fn workers(&self) -> WorkersClient<Auth> {
        self.workers_with_key("k")
    }

    /// Returns a client that shows a key of this character.
    fn workers_with_key(&self, key: &str) -> WorkersClient<Auth> {
        WorkersClient::new(self.with_key(key))
    }

    /// Returns what shows the name of the worker and a key of this character.
    fn with_key(&self, key: &str) -> Auth {
        let (token, key) = (Token::new(TOKEN).expect("a token"), WorkerKey::new(key.repeat(32)).expect("a key"));
        let auth = ClientAuth::new(Some(&token)).of_worker("test", &key);
        InterceptedService::new(self.channel.clone(), auth)
    }

    /// Opens a stream on which nothing is sent. Returns the status that refuses it.
    async fn open_stream(&self, auth: Auth) -> Result<(), tonic::Status> {
        InferenceClient::new(auth).evaluate_leaves(tokio_stream::empty()).await.map(drop)
    }

    /// The server still answers, and its run has the network it began with.
    async fn assert_answers(&self, after: &str) {
        let reply = StatusClient::new(self.with_token(Some(TOKEN))).get_status(proto::GetStatusRequest {}).await;
        let reply = reply.unwrap_or_else(|status| panic!("no answer after {after}: {status}")).into_inner();
        assert_eq!(reply.best_network_id, 1, "after {after}");
    }

    /// Leases games, as soon as the run makes them.
    async fn lease(&self, game_count: u32) -> Vec<proto::Lease> {
        for _ in 0..10_000 {
            let request = proto::LeaseGamesRequest { worker_id: "test".into(), game_count };
            let leases = self.workers().lease_games(request).await.expect("leases").into_inner().leases;
            if !leases.is_empty() {
                return leases;
            }
        }
        panic!("no game to lease")
    }

    async fn join(&self, change: impl FnOnce(&mut proto::JoinRequest)) -> Result<proto::JoinReply, tonic::Status> {
        let mut request = proto::JoinRequest {
            protocol_version: proto::PROTOCOL_VERSION,
            domain_version: shared::DOMAIN_VERSION,
            worker_id: "test".into(),
            kind: proto::WorkerKind::Actor.into(),
            program_version: "0".into(),
            thread_count: 1,
        };
        change(&mut request);
        self.workers().join(request).await.map(tonic::Response::into_inner)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn bad_calls_are_refused_in_words() {
    let server = Server::start().await;
    let refused = |status: tonic::Status| (status.code(), status.message().to_owned());
    for (token, words) in [(None, "no token"), (Some("guess"), "wrong token")] {
        let status = StatusClient::new(server.with_token(token)).get_status(proto::GetStatusRequest {}).await;
        let (code, message) = refused(status.expect_err("refused"));
        assert_eq!(code, Code::Unauthenticated);
        assert!(message.contains(words), "{message}");
        server.assert_answers(words).await;
    }
    type Change = fn(&mut proto::JoinRequest);
    let joins: [(Change, Code, &str); 11] = [
        (|request| request.protocol_version = 99, Code::FailedPrecondition, "protocol version 99"),
        (|request| request.domain_version = 98, Code::FailedPrecondition, "rules and encoding version 98"),
        (|request| request.kind = 77, Code::InvalidArgument, "worker kind 77"),
        (|request| request.kind = 0, Code::InvalidArgument, "worker kind 0"),
        (|request| request.worker_id = String::new(), Code::InvalidArgument, "worker_id of 0 bytes"),
        (|request| request.worker_id = "w".repeat(1 << 11), Code::InvalidArgument, "worker_id of 2048 bytes"),
        // Above the limit of a message: not even read.
        (|request| request.worker_id = "w".repeat(1 << 12), Code::InvalidArgument, "more than 4096 bytes"),
        (|request| request.program_version = "v".repeat(129), Code::InvalidArgument, "program_version of 129 bytes"),
        (|request| request.worker_id = "a\x1b[2J".into(), Code::InvalidArgument, "worker_id: only visible ASCII"),
        (|request| request.worker_id = "biene\u{202e}".into(), Code::InvalidArgument, "worker_id: only visible ASCII"),
        (
            |request| request.program_version = "1\n2".into(),
            Code::InvalidArgument,
            "program_version: only visible ASCII",
        ),
    ];
    for (change, code, words) in joins {
        let (found, message) = refused(server.join(change).await.expect_err("refused"));
        assert_eq!(found, code, "{message}");
        assert!(message.contains(words), "{message}");
        server.assert_answers(words).await;
    }
    let lease = |worker_id: String| proto::LeaseGamesRequest { worker_id, game_count: 1 };
    let (code, message) = refused(server.workers().lease_games(lease("stranger".into())).await.expect_err("refused"));
    assert_eq!((code, message.contains("join first")), (Code::FailedPrecondition, true), "{message}");
    let renew = proto::RenewLeasesRequest { worker_id: "x".repeat(1000), game_ids: vec![1] };
    let (code, message) = refused(server.workers().renew_leases(renew).await.expect_err("refused"));
    assert_eq!((code, message.contains("worker_id of 1000 bytes")), (Code::InvalidArgument, true), "{message}");
    server.assert_answers("an improper name").await;
    let renew = proto::RenewLeasesRequest { worker_id: "stranger".into(), game_ids: (1..1000).collect() };
    let (code, message) = refused(server.workers().renew_leases(renew).await.expect_err("refused"));
    assert_eq!((code, message.contains("join first")), (Code::FailedPrecondition, true), "{message}");
    let report = |worker_id: &str, ply_count| proto::ReportPliesRequest {
        worker_id: worker_id.into(),
        plies: vec![proto::Ply::default(); ply_count],
    };
    for (report, code, words) in [
        (report("stranger", 1), Code::FailedPrecondition, "join first"),
        (report("test", 100_000), Code::InvalidArgument, "report of 100000 plies"),
        (report(&"x".repeat(2 << 20), 0), Code::InvalidArgument, "more than 1048576 bytes"),
    ] {
        let (found, message) = refused(server.workers().report_plies(report).await.expect_err("refused"));
        assert_eq!((found, message.contains(words)), (code, true), "{message}");
        server.assert_answers(words).await;
    }
    let reply = StatusClient::new(server.with_token(Some(TOKEN))).get_status(proto::GetStatusRequest {}).await;
    let counters = reply.expect("a status").into_inner().counters;
    assert_eq!(counters.get("refused_call_count"), Some(&2), "without the token");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_call_renews_so_many_leases_and_no_more() {
    let server = Server::start().await;
    server.join(|_| ()).await.expect("joined");
    let renew = async |game_count: u64| {
        let renew = proto::RenewLeasesRequest { worker_id: "test".into(), game_ids: (1..=game_count).collect() };
        server.workers().renew_leases(renew).await.map(|reply| reply.into_inner().lost_game_ids.len())
    };
    assert_eq!(renew(4096).await.expect("an answer"), 4096, "it has none of them");
    for (game_count, words) in [(4097, "leases of 4097 games: more than 4096"), (1 << 18, "more than 65536 bytes")] {
        let refused = renew(game_count).await.expect_err("refused");
        assert_eq!((refused.code(), refused.message().contains(words)), (Code::InvalidArgument, true), "{refused}");
        server.assert_answers(words).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_name_belongs_to_the_key_that_it_joined_with() {
    let server = Server::start().await;
    server.join(|_| ()).await.expect("joined");
    let lease = || proto::LeaseGamesRequest { worker_id: "test".into(), game_count: 1 };
    let refused = |status: tonic::Status| (status.code(), status.message().to_owned());
    let mut other = server.workers_with_key("x");
    let (code, message) = refused(other.lease_games(lease()).await.expect_err("refused"));
    assert_eq!((code, message.contains("another worker's name")), (Code::PermissionDenied, true), "{message}");
    let game_id = server.lease(1).await[0].game_id;
    let ply = proto::Ply { game_id, ply: 0, move_text: "b2".into(), root_value: 0.5, ..proto::Ply::default() };
    let report = || proto::ReportPliesRequest { worker_id: "test".into(), plies: vec![ply.clone()] };
    let (code, message) = refused(other.report_plies(report()).await.expect_err("refused"));
    assert_eq!((code, message.contains("another worker's name")), (Code::PermissionDenied, true), "{message}");
    let taken = server.workers().report_plies(report()).await.expect("its own key").into_inner().statuses;
    assert_eq!(taken[0].code(), PlyCode::Accepted, "nothing of the other's report counted: {taken:?}");
    let mut without = WorkersClient::new(server.with_token(Some(TOKEN)));
    let (code, message) = refused(without.lease_games(lease()).await.expect_err("refused"));
    assert_eq!((code, message.as_str()), (Code::InvalidArgument, "the worker shows no key"));
    server.assert_answers("another's key").await;
    server.workers().lease_games(lease()).await.expect("its own key");
    for (auth, words) in
        [(server.with_token(Some(TOKEN)), "does not say whose it is"), (server.with_key("x"), "another worker's name")]
    {
        let (_, message) = refused(server.open_stream(auth).await.expect_err("refused"));
        assert!(message.contains(words), "{message}");
    }
    server.open_stream(server.with_key("k")).await.expect("its own key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn bad_batches_of_leaves_are_answered_with_an_error() {
    let server = Server::start().await;
    server.join(|_| ()).await.expect("joined");
    let good = proto::LeafBatch {
        batch_id: 1,
        network_id: 0,
        positions: packed_start(),
        position_lengths: vec![packed_start().len() as u32],
        policy_indices: Bytes::from_static(&[0, 0, 4, 0]),
        move_counts: vec![2],
    };
    type Change = fn(&mut proto::LeafBatch);
    let networks = server.system.run_dir().join("networks");
    std::fs::copy(networks.join("network-000001.safetensors"), networks.join("network-000002.safetensors"))
        .expect("a network that nobody plays with");
    let batches: [(&str, Change); 12] = [
        ("no leaves", |batch| (batch.position_lengths, batch.move_counts) = (vec![], vec![])),
        ("more bytes than its leaves take", |batch| batch.positions = vec![0; 4096].into()),
        ("a network that nobody plays with", |batch| batch.network_id = 2),
        ("more leaves than batch_leaves_max", |batch| batch.move_counts = vec![1; 10_000]),
        ("an unknown network", |batch| batch.network_id = 4_000_000_000),
        ("a length too long", |batch| batch.position_lengths[0] = 4_000_000_000),
        ("a position cut off", |batch| batch.positions = Bytes::new()),
        ("a position of rubbish", |batch| batch.positions = vec![0xff; batch.positions.len()].into()),
        ("more leaves than lengths", |batch| batch.move_counts.push(1)),
        ("half a policy index", |batch| batch.policy_indices = Bytes::from_static(&[0, 0, 4])),
        ("a policy index out of range", |batch| batch.policy_indices = Bytes::from_static(&[0, 0, 255, 255])),
        ("a move count too large", |batch| batch.move_counts[0] = u32::MAX),
    ];
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut client = InferenceClient::new(server.with_key("k"));
    let mut answers = client.evaluate_leaves(stream).await.expect("a stream").into_inner();
    for (what, change) in batches {
        let mut bad = proto::LeafBatch { batch_id: 2, ..good.clone() };
        change(&mut bad);
        sender.send(bad).await.expect("the stream is open");
        let answer = answers.message().await.expect("the stream goes on").expect("an answer");
        assert_eq!((answer.batch_id, answer.values.len()), (2, 0), "{what}");
        assert!(!answer.error.is_empty(), "{what} was evaluated");
        sender.send(good.clone()).await.expect("the stream is open");
        let answer = answers.message().await.expect("the stream goes on").expect("an answer");
        assert_eq!((answer.error.as_str(), answer.values.len(), answer.priors.len()), ("", 4, 4), "after {what}");
    }
    server.assert_answers("bad batches").await;
    let numbers = proto::LeafBatch { position_lengths: vec![1; 1 << 20], ..good };
    sender.send(numbers).await.expect("the stream is open");
    assert_eq!(answers.message().await.expect("no failure"), None, "it ends the stream");
    server.assert_answers("a million numbers").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn bad_plies_are_refused_and_nothing_of_them_is_stored() {
    let server = Server::start().await;
    server.join(|_| ()).await.expect("joined");
    let leases = server.lease(16).await;
    let good = proto::Ply { ply: 0, move_text: "b2".into(), root_value: 0.5, ..proto::Ply::default() };
    type Change = fn(&mut proto::Ply);
    let plies: [(&str, Change, PlyCode, &str); 11] = [
        ("visits without simulations", |ply| ply.policy_target = vec![4, 0, 9, 0], PlyCode::Refused, "9 visits of 0"),
        ("4 billion simulations", |ply| ply.simulation_count = u32::MAX, PlyCode::Refused, "4294967295 is more than"),
        ("a network to come", |ply| ply.network_id = 7, PlyCode::Refused, "no network 7"),
        ("no square", |ply| ply.move_text = "z9".into(), PlyCode::Refused, "squares are a1 to c3"),
        ("a long text", |ply| ply.move_text = "a".repeat(5000), PlyCode::Refused, "5000 is more than"),
        ("an early ply", |ply| ply.ply = 3, PlyCode::Refused, "ply 3 comes before ply 0"),
        ("a value of 7", |ply| ply.root_value = 7.0, PlyCode::Refused, "root_value: 7"),
        ("no number", |ply| ply.root_value = f32::NAN, PlyCode::Refused, "root"),
        ("half a target", |ply| ply.policy_target = vec![1, 0, 1], PlyCode::Refused, "policy"),
        (
            "an illegal target",
            |ply| (ply.policy_target, ply.simulation_count) = (vec![200, 0, 9, 0], 9),
            PlyCode::Refused,
            "index 200",
        ),
        ("an unknown game", |ply| ply.game_id = 1 << 40, PlyCode::LeaseLost, "is not open"),
    ];
    for ((what, change, code, words), lease) in plies.into_iter().zip(&leases) {
        let mut ply = proto::Ply { game_id: lease.game_id, ..good.clone() };
        change(&mut ply);
        let request = proto::ReportPliesRequest { worker_id: "test".into(), plies: vec![ply] };
        let statuses = server.workers().report_plies(request).await.expect("an answer").into_inner().statuses;
        assert_eq!(statuses[0].code(), code, "{what}: {}", statuses[0].reason);
        assert!(statuses[0].reason.contains(words), "{what}: {}", statuses[0].reason);
        server.assert_answers(what).await;
    }
    assert_eq!(server.system.look().number("SELECT count(*) FROM plies"), 0);
    let last = leases.last().expect("a lease");
    let ply = proto::Ply { game_id: last.game_id, ..good };
    let request = proto::ReportPliesRequest { worker_id: "test".into(), plies: vec![ply] };
    let statuses = server.workers().report_plies(request).await.expect("an answer").into_inner().statuses;
    assert_eq!(statuses[0].code(), PlyCode::Accepted, "{}", statuses[0].reason);
    assert_eq!(server.system.look().number("SELECT count(*) FROM plies"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_worker_with_the_wrong_token_ends_with_one_line() {
    let mut server = Server::start().await;
    for program in ["actor", "evaluator"] {
        let (status, log) = server.system.start_worker(program).wait_for_end();
        assert_eq!(status.code(), Some(1), "{log:?}");
        let line = log.last().expect("a line");
        assert!(line.starts_with(&format!("{program}: ")) && line.contains("no token"), "{line}");
        server.assert_answers(program).await;
    }
}

#[test]
fn a_learner_that_cannot_start_says_why_in_one_line() {
    let mut system = System::new(&[]);
    let mut running = system.start_learner(&[]);
    let address = system.url();
    let address = address.strip_prefix("http://").expect("an address").to_owned();
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let dir = elsewhere.path().to_str().expect("a plain path");
    let wrong_key = elsewhere.path().join("wrong.toml");
    std::fs::write(&wrong_key, "[training]\nbatch_sizes = 7\n").expect("a file");
    let wrong_key = wrong_key.to_str().expect("a plain path");
    let run_dir = system.run_dir();
    let run_dir = run_dir.to_str().expect("a plain path");
    let any = ["--listen", "127.0.0.1:0"];
    let cases: [(&str, Vec<&str>, i32); 12] = [
        ("batch_sizes", vec!["--config", wrong_key], 64),
        ("gate.game_count", vec!["--set", "gate.game_count=7"], 64),
        ("no.such_key", vec!["--set", "no.such_key=7"], 64),
        ("server.listen", vec!["--listen", "0.0.0.0:0"], 64),
        ("in the clear: set server.certificate", vec!["--listen", "0.0.0.0:0", "--token-file", wrong_key], 64),
        ("server.certificate: read /no/pem", vec!["--certificate", "/no/pem", "--key", "/no/key"], 64),
        ("no-such.toml", vec!["--config", "no-such.toml"], 64),
        ("server.token_file: ", vec!["--token-file", "/no/token", "--run-dir", dir, any[0], any[1]], 64),
        ("carries none for tic-tac-toe", vec!["--resume", "ready", "--run-dir", dir, any[0], any[1]], 64),
        ("there is no file /no/network", vec!["--resume", "/no/network", "--run-dir", dir, any[0], any[1]], 64),
        ("server.listen: open", vec!["--run-dir", dir, "--listen", &address], 1),
        ("in use by another learner", vec!["--run-dir", run_dir, any[0], any[1]], 1),
    ];
    for (words, flags, code) in cases {
        let mut command = learner_command(&preset());
        if flags[0] == "--config" {
            command = learner_command(flags[1].as_ref());
        } else {
            command.args(&flags);
        }
        assert_fails(system.start("learner", command), code, words);
    }
    running.wait_until("the first learner to be there still", || Some(()));
}

#[test]
fn a_learner_goes_on_when_nobody_reads_its_log() {
    let system = System::new(&[]);
    let mut command = system.learner_command(&[]);
    let mut learner = command.stderr(std::process::Stdio::piped()).spawn().expect("the learner starts");
    // The reader leaves before the first line.
    drop(learner.stderr.take());
    let network = system.run_dir().join("networks/network-000001.safetensors");
    while !network.is_file() {
        assert_eq!(learner.try_wait().expect("asked"), None, "the learner ended");
        std::thread::yield_now();
    }
    let id = learner.id().to_string();
    let killed = std::process::Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(learner.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_damaged_or_strange_run_directory_is_refused_in_one_line() {
    let mut system = System::new(&[]);
    let mut learner = system.start_learner(&[]);
    learner.wait_for("INFO training begins");
    learner.kill_hard();
    let network = system.run_dir().join("networks/network-000001.safetensors");
    let whole = std::fs::read(&network).expect("the network is there");
    for damaged in [&whole[..whole.len() / 2], &[]] {
        std::fs::write(&network, damaged).expect("written");
        let process = system.start("learner", system.learner_command(&[]));
        assert_fails(process, 1, "network-000001.safetensors is damaged");
    }
    std::fs::write(&network, &whole).expect("written");
    let hive = system.start("learner", system.learner_command(&["--set", "game.name=hive"]));
    assert_fails(hive, 64, "the run plays tic-tac-toe, not Hive Base+MLP (frame 16): use another run directory");
    let larger = system.start("learner", system.learner_command(&["--set", "network.filters=24"]));
    assert_fails(larger, 64, "best network: use another run directory");
    let database = system.run_dir().join("alveare.db");
    let elsewhere = system.run_dir().join("elsewhere.db");
    std::fs::rename(&database, &elsewhere).expect("moved");
    let orphaned = system.start("learner", system.learner_command(&[]));
    assert_fails(orphaned, 1, "holds networks but no alveare.db");
    std::fs::rename(&elsewhere, &database).expect("moved back");
    let mut again = system.start_learner(&[]);
    again.wait_for("INFO training begins");
    again.kill_hard();
    assert_eq!(Look::open(&system.run_dir()).number("SELECT count(*) FROM networks"), 1);
    let database = rusqlite::Connection::open(system.run_dir().join("alveare.db")).expect("the store opens");
    database.pragma_update(None, "user_version", 999).expect("a later schema");
    drop(database);
    let newer = system.start("learner", system.learner_command(&[]));
    assert_fails(newer, 1, "schema version 999");
}

#[test]
fn workers_leave_a_learner_that_comes_back_with_another_game() {
    let mut system = System::new(&["server.lease=1s"]);
    let mut learner = system.start_learner(&[]);
    let mut workers = [system.start_worker("actor"), system.start_worker("evaluator")];
    for worker in &mut workers {
        worker.wait_for("joined the learner");
    }
    learner.kill_hard();
    std::fs::remove_dir_all(system.run_dir()).expect("the run is forgotten");
    let hive = ["game.name=hive", "game.frame=8", "network.blocks=1", "network.filters=8"];
    let hive: Vec<&str> = hive.iter().flat_map(|setting| ["--set", setting]).collect();
    let mut learner = system.start_learner(&hive);
    for worker in workers {
        let (status, log) = worker.wait_for_end();
        assert_eq!(status.code(), Some(1), "{log:?}");
        assert!(log.last().is_some_and(|line| line.contains("another game")), "{log:?}");
    }
    learner.wait_until("the learner to be there still", || Some(()));
}

fn assert_fails(process: Process, code: i32, words: &str) {
    let (status, log) = process.wait_for_end();
    assert_eq!(status.code(), Some(code), "{words}: {log:?}");
    let lines: Vec<&String> = log.iter().filter(|line| line.starts_with("learner: ")).collect();
    assert_eq!(lines.len(), 1, "one line for {words}: {log:?}");
    assert!(lines[0].contains(words), "{words}: {}", lines[0]);
}

fn packed_start() -> Bytes {
    use shared::encoding::Encoding;
    use shared::game::Game;
    let (encoding, mut bytes) = (fixtures::encoding(), Vec::new());
    encoding.pack(&encoding.game().initial_position(), &mut bytes);
    bytes.into()
}
