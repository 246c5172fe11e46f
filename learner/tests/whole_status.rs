//! How a run is doing, seen from outside: the status, the metrics, the TensorBoard files, the best network's file.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output};

use common::system::{Process, System, worker_program};

const TOKEN: &str = "honey";

/// A learner with a token and metrics, and where it listens.
struct Watched {
    system: System,
    learner: Process,
    url: String,
    metrics: String,
    token_file: String,
}

impl Watched {
    fn start() -> Self {
        let mut system = System::new(&["metrics.listen=\"127.0.0.1:0\"", "run.hourly_price=3600"]);
        std::fs::create_dir_all(system.run_dir()).expect("a folder");
        let token_file = system.run_dir().join("token").display().to_string();
        std::fs::write(&token_file, TOKEN).expect("a token");
        let command = system.learner_command(&["--iterations", "3", "--token-file", &token_file]);
        let mut learner = system.start("learner", command);
        let address = |line: String| line.rsplit("address=").next().expect("the address ends the line").to_owned();
        let url = format!("http://{}", address(learner.wait_for("listening address=")));
        let metrics = address(learner.wait_for("metrics address="));
        learner.wait_for("best network network_id=");
        Self { system, learner, url, metrics, token_file }
    }

    fn start_worker(&mut self, program: &'static str) -> Process {
        let mut command = Command::new(worker_program(program));
        command.args(["--learner", &self.url, "--threads", "1", "--token-file", &self.token_file]);
        self.system.start(program, command)
    }

    /// Returns the status as soon as two workers are seen.
    fn json_with_workers(&mut self) -> serde_json::Value {
        let Self { learner, url, token_file, .. } = self;
        learner.wait_until("two workers", || {
            let json: serde_json::Value = serde_json::from_slice(&status(url, token_file, &["--json"]).stdout).ok()?;
            let is_here = json["workers"].as_array()?.len() == 2 && json["phase_total"].as_u64()? > 0;
            is_here.then_some(json)
        })
    }

    /// Returns head and body of the answer to `GET /metrics`.
    fn metrics(&self, token: Option<&str>) -> (String, String) {
        let mut stream = TcpStream::connect(&self.metrics).expect("it listens");
        let shown = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        let request = format!("GET /metrics HTTP/1.1\r\nHost: learner\r\n{shown}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), body.to_owned())
    }
}

fn status(url: &str, token_file: &str, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["status", "--learner", url, "--token-file", token_file]).args(flags);
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_run_is_seen_from_outside() {
    let mut watched = Watched::start();
    for (token, words) in [(None, "no token"), (Some("wax"), "wrong token")] {
        let (head, body) = watched.metrics(token);
        assert!(head.starts_with("HTTP/1.1 401") && body.starts_with(words), "{head}\n{body}");
    }
    let workers = [watched.start_worker("actor"), watched.start_worker("evaluator")];
    let json = watched.json_with_workers();
    assert_eq!(json["workers"][0]["thread_count"], 1, "{json}");
    assert!(json["counters"]["evaluation_count"].is_u64() && json["cost"]["money"].as_f64() > Some(0.0), "{json}");

    let (head, body) = watched.metrics(Some(TOKEN));
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4"), "{head}");
    for line in ["alveare_refused_calls_total 2", "alveare_workers{kind=\"actor\"} 1", "alveare_alarm{name=\"disk\"} 0"]
    {
        assert!(body.lines().any(|found| found == line), "{line} is not in\n{body}");
    }
    let table = text(&status(&watched.url, &watched.token_file, &[]).stdout);
    assert!(table.contains("workers: 1 actor, 1 evaluator\n") && table.contains(" of tictactoe\n"), "{table}");

    let run_dir = watched.system.run_dir();
    let Watched { learner, url, system, .. } = watched;
    let (status, log) = learner.wait_for_end();
    assert!(status.success(), "{}", log.join("\n"));
    drop(workers);
    let best = system.look().text("SELECT file FROM networks WHERE state = 'best'").expect("a best network");
    let read = |path: &str| std::fs::read(run_dir.join(path)).expect(path);
    assert_eq!(read("best.safetensors"), read(&best));
    let records = std::fs::read_dir(run_dir.join("tensorboard")).expect("a folder");
    let bytes: Vec<u8> =
        records.flat_map(|file| std::fs::read(file.expect("a file").path()).expect("readable")).collect();
    for tag in ["loss/policy", "games/draw_share", "gate/score", "speed/evaluations_per_second"] {
        assert!(bytes.windows(tag.len()).any(|window| window == tag.as_bytes()), "{tag} is missing");
    }

    let mut away = Command::new(env!("CARGO_BIN_EXE_learner"));
    let away = away.args(["status", "--learner", &url]).output().expect("the program starts");
    assert_eq!((away.status.code(), text(&away.stderr).lines().count()), (Some(1), 1), "{}", text(&away.stderr));
}
