//! The learner's edge towards the network, with real processes: TLS, connections that hold their tongue, wrong tokens.

mod common;

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::system::{Process, System, worker_program};
use proto::status_client::StatusClient;
use runtime::auth::{ClientAuth, Token};
use tonic::transport::{Channel, Endpoint};

const TOKEN: &str = "open-sesame";

fn learner(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_learner")).args(arguments).output().expect("the learner runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Certificates of a fleet on this machine.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn make() -> Self {
        let certificates = Self(tempfile::tempdir().expect("a temporary directory"));
        let made = learner(&["certificate", "--out", text(certificates.0.path()), "--host", "127.0.0.1", "localhost"]);
        assert!(made.status.success(), "{}", stderr(&made));
        certificates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A learner by TLS that asks for a token.
struct TlsLearner {
    system: System,
    certificates: Certificates,
    process: Process,
    token_file: PathBuf,
}

impl TlsLearner {
    fn start(settings: &[&str], client_authority: bool) -> Self {
        let (mut system, certificates) = (System::new(settings), Certificates::make());
        let token_file = certificates.path("token");
        std::fs::write(&token_file, TOKEN).expect("a token file");
        let [certificate, key] = ["server.pem", "server.key"].map(|name| certificates.path(name));
        let authority = format!("server.client_authority={:?}", certificates.path("authority.pem"));
        let mut flags =
            vec!["--certificate", text(&certificate), "--key", text(&key), "--token-file", text(&token_file)];
        if client_authority {
            flags.extend(["--set", &authority]);
        }
        let process = system.start_learner(&flags);
        Self { process, system, certificates, token_file }
    }

    fn url(&self) -> String {
        self.system.url().replace("http://", "https://")
    }

    /// Asks for the health, with more flags; a flag that begins with `@` names a file beside the certificates.
    fn health(&self, url: &str, flags: &[&str]) -> Output {
        let flags: Vec<String> = flags.iter().map(|flag| self.expand(flag)).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        learner(&[&["health", "--learner", url], &flags[..]].concat())
    }

    fn expand(&self, flag: &str) -> String {
        flag.strip_prefix('@').map_or_else(|| flag.to_owned(), |name| text(&self.certificates.path(name)).to_owned())
    }

    fn start_worker(&mut self, program: &'static str, flags: &[&str]) -> Process {
        let mut command = Command::new(worker_program(program));
        command.args(["--learner", &self.url(), "--threads", "1", "--token-file", text(&self.token_file)]);
        command.args(flags.iter().map(|flag| self.expand(flag)));
        self.system.start(program, command)
    }
}

const AUTHORITY: [&str; 2] = ["--authority", "@authority.pem"];

#[test]
fn workers_and_commands_reach_a_learner_by_tls() {
    let mut learner = TlsLearner::start(&[], false);
    let mut actor = learner.start_worker("actor", &AUTHORITY);
    actor.wait_for("joined the learner");
    let mut evaluator = learner.start_worker("evaluator", &AUTHORITY);
    evaluator.wait_for("joined the learner");
    assert!(actor.wait_for("starting to play").contains("game=tic-tac-toe"), "in words");
    let log = learner.process.log_text();
    assert!(["actor", "evaluator"].iter().all(|kind| log.contains(&format!("kind=\"{kind}\""))), "{log}");
    let (url, look) = (learner.url(), learner.system.look());
    learner.process.wait_until("a finished game", || {
        (look.number("SELECT count(*) FROM games WHERE finish_number IS NOT NULL") > 0).then_some(())
    });
    let health = learner.health(&url, &AUTHORITY);
    assert_eq!((health.status.code(), health.stdout), (Some(0), b"serving\n".to_vec()));
    let [authority, token] = [learner.certificates.path("authority.pem"), learner.token_file.clone()];
    let flags = ["--authority", text(&authority), "--token-file", text(&token), "--json"];
    let status = self::learner(&[&["status", "--learner", &url], &flags[..]].concat());
    assert!(status.status.success(), "{}", stderr(&status));
    assert!(String::from_utf8_lossy(&status.stdout).contains("\"best_network_id\""));
}

#[test]
fn whoever_does_not_trust_the_learner_or_speaks_in_the_clear_gets_nowhere() {
    let learner = TlsLearner::start(&[], false);
    let other = Certificates::make();
    let (url, other) = (learner.url(), other.path("authority.pem"));
    let found = learner.health(&url, &["--authority", text(&other)]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert!(stderr(&found).contains("invalid peer certificate"), "{}", stderr(&found));
    let found = learner.health(&learner.system.url(), &[]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let found = learner.health(&learner.system.url(), &AUTHORITY);
    assert_eq!(found.status.code(), Some(64), "{found:?}");
    let words = "--authority: is for addresses that begin with https://, and the learner's is http://";
    assert!(stderr(&found).contains(words), "{}", stderr(&found));
    let found = learner.health(&url, &["--authority", "@server.key"]);
    assert_eq!(found.status.code(), Some(64), "{found:?}");
    assert!(stderr(&found).contains("holds no certificate"), "{}", stderr(&found));
}

#[test]
fn a_learner_that_asks_for_certificates_lets_nobody_in_without() {
    let mut learner = TlsLearner::start(&[], true);
    let own = [AUTHORITY[0], AUTHORITY[1], "--certificate", "@worker.pem", "--key", "@worker.key"];
    let url = learner.url();
    assert_eq!(learner.health(&url, &own).status.code(), Some(0));
    let without = learner.health(&url, &AUTHORITY);
    assert_eq!(without.status.code(), Some(1), "{without:?}");
    let half = learner.health(&url, &own[..4]);
    assert_eq!(half.status.code(), Some(64), "{half:?}");
    assert!(stderr(&half).contains("--key: certificate and key go together"), "{}", stderr(&half));
    learner.start_worker("actor", &own).wait_for("joined the learner");
}

#[test]
fn certificates_are_for_their_owner_alone_and_never_overwritten() {
    let certificates = Certificates::make();
    for name in ["authority.key", "server.key", "worker.key"] {
        let mode = certificates.path(name).metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let before = std::fs::read(certificates.path("server.pem")).expect("it is there");
    std::fs::remove_file(certificates.path("authority.pem")).expect("deleted");
    let again = learner(&["certificate", "--out", text(certificates.0.path()), "--host", "127.0.0.1"]);
    assert_eq!(again.status.code(), Some(64), "{again:?}");
    assert!(stderr(&again).contains("authority.key is there already"), "{}", stderr(&again));
    assert_eq!(std::fs::read(certificates.path("server.pem")).expect("it is there"), before);
    assert!(!certificates.path("authority.pem").exists());
}

#[tokio::test]
async fn page_and_metrics_beyond_this_machine_are_served_by_tls() {
    let listen = ["page.listen=0.0.0.0:0", "metrics.listen=0.0.0.0:0"];
    let mut learner = TlsLearner::start(&listen, false);
    let page = learner.process.wait_for("web page page=\"https://0.0.0.0:");
    let port = page.rsplit(':').next().expect("a port").trim_end_matches(['/', '"']).to_owned();
    rustls::crypto::ring::default_provider().install_default().expect("the first in this process");
    let authority = std::fs::read(learner.certificates.path("authority.pem")).expect("it is there");
    let authority = reqwest::Certificate::from_pem(&authority).expect("a certificate");
    let client = reqwest::Client::builder().tls_certs_only([authority]).build().expect("a client");
    let get = |path: &str| client.get(format!("https://127.0.0.1:{port}{path}"));
    let answer = get("/api/overview").send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
    let answer = get("/api/overview").bearer_auth(TOKEN).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let clear = client.get(format!("http://127.0.0.1:{port}/")).send().await;
    assert!(clear.is_err(), "{clear:?}");
}

#[test]
fn connections_that_say_nothing_take_no_files_from_the_store() {
    let mut system = System::new(&["server.drain_deadline=1s"]);
    system.limit_open_files(200);
    let mut learner = system.start_learner(&[]);
    learner.wait_for("fewer connections than server.connections_max");
    let address = system.url().replace("http://", "");
    let silent: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(&address).expect("connected")).collect();
    let health = self::learner(&["health", "--learner", &system.url()]);
    assert!(health.status.success(), "{}", stderr(&health));
    let mut actor = system.start_worker("actor");
    let look = system.look();
    learner.wait_until("plies in the store", || (look.number("SELECT count(*) FROM plies") > 20).then_some(()));
    let health = self::learner(&["health", "--learner", &system.url()]);
    assert!(health.status.success(), "{}", stderr(&health));
    actor.kill_hard();
    learner.terminate();
    let (status, log) = learner.wait_for_end();
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(log.iter().any(|line| line.contains("closing connections that made no call")), "{log:?}");
    assert!(!log.iter().any(|line| line.contains("disk")), "{log:?}");
    drop(silent);
}

#[test]
fn a_limit_that_leaves_no_connection_is_named() {
    let mut system = System::new(&[]);
    system.limit_open_files(100);
    let (status, log) = {
        let command = system.learner_command(&[]);
        system.start("learner", command).wait_for_end()
    };
    assert_eq!(status.code(), Some(1), "{log:?}");
    let words = "learner: at most 100 files may be open (ulimit -n)";
    assert!(log.iter().any(|line| line.starts_with(words)), "{log:?}");
}

async fn status(channel: &Channel, token: &str) -> Result<(), tonic::Status> {
    let token = Token::new(token).expect("a token");
    let mut client = StatusClient::with_interceptor(channel.clone(), ClientAuth::new(Some(&token)));
    client.get_status(proto::GetStatusRequest {}).await.map(|_| ())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn wrong_tokens_are_answered_later_and_later_and_honest_workers_are_not() {
    let mut system = System::new(&[]);
    let token_file = system.run_dir().with_file_name("token");
    std::fs::write(&token_file, TOKEN).expect("a token file");
    let mut learner = system.start_learner(&["--token-file", text(&token_file)]);
    let endpoint = Endpoint::from_shared(system.url()).expect("an address");
    let (honest, guessing) = (endpoint.connect().await.expect("it listens"), endpoint.connect().await.expect("too"));
    status(&honest, TOKEN).await.expect("let in");
    let began_at = Instant::now();
    for guess in 0..8 {
        status(&guessing, &format!("guess-{guess}")).await.expect_err("refused");
    }
    // Three at once, then 0.1, 0.2, 0.4, 0.8 and 1.6 s.
    assert!(began_at.elapsed() > Duration::from_secs(3), "{:?}", began_at.elapsed());
    let (late, asked_at) = (status(&guessing, "guess-again"), Instant::now());
    tokio::pin!(late);
    tokio::select! {
        biased;
        _ = &mut late => panic!("a guess is answered before an honest call"),
        let_in = status(&honest, TOKEN) => let_in.expect("let in"),
    }
    late.await.expect_err("refused");
    assert!(asked_at.elapsed() > Duration::from_secs(1), "{:?}", asked_at.elapsed());
    let newcomer = endpoint.connect().await.expect("it listens");
    let asked_at = Instant::now();
    status(&newcomer, TOKEN).await.expect("let in");
    assert!(asked_at.elapsed() < Duration::from_secs(20), "two seconds, on a machine that is not busy");
    status(&newcomer, TOKEN).await.expect("let in");
    let mut logged_count = 0;
    while logged_count < 9 {
        let line = learner.wait_for("calls without the token refused");
        let count = line.split("count=").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        let count = count.expect("a count");
        assert!(line.contains(&format!("from=\"127.0.0.1 ({count})\"")), "{line}");
        logged_count += count;
    }
    assert_eq!(logged_count, 9);
}
