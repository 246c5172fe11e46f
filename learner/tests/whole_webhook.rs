//! A real learner that sends an alarm to a webhook, and shows its address nowhere.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use common::system::{System, preset};
use serde_json::Value;

const SECRET: &str = "T0-a-secret-path";
const VARIABLE: &str = "ALVEARE_LEARNER__ALARMS__WEBHOOK";

/// Reads one request and answers it. Returns its first line and its body.
fn take_request(mut connection: TcpStream) -> (String, Value) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = connection.read(&mut buffer).expect("a request");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        if let Some(body) = body {
            let answer = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            connection.write_all(answer).expect("an answer");
            return (text.lines().next().unwrap_or_default().to_owned(), body);
        }
        assert!(count > 0, "half a request: {text}");
    }
}

#[test]
fn an_alarm_is_told_to_the_webhook_and_its_address_to_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/{SECRET}", listener.local_addr().expect("an address"));
    // No disk has as much room.
    let mut system = System::new(&["alarms.disk_free_mib_min=4294967295"]);
    system.set_variables(vec![(VARIABLE, url.clone())]);
    let mut learner = system.start_learner(&[]);
    let (line, message) = take_request(listener.accept().expect("a call").0);
    assert_eq!(line, format!("POST /{SECRET} HTTP/1.1"));
    assert_eq!(
        (&message["name"], &message["state"], &message["game"]),
        (&"disk".into(), &"on".into(), &"tictactoe".into())
    );
    assert_eq!(
        Some(message["run"].as_str().expect("a name").to_owned()),
        system.look().text("SELECT run_id FROM runs")
    );
    learner.terminate();
    learner.wait_for("best network");
    let log = learner.log_text();
    assert!(log.contains("alarms.webhook=http://127.0.0.1:") && log.contains("(hidden)"), "{log}");
    let config = system.look().text("SELECT config FROM runs").expect("a config");
    let mut printing = Command::new(env!("CARGO_BIN_EXE_learner"));
    printing.arg("--config").arg(preset()).arg("--print-config").env(VARIABLE, &url);
    let printed = String::from_utf8(printing.output().expect("it runs").stdout).expect("text");
    assert!(printed.contains("webhook = \"http://127.0.0.1:"), "{printed}");
    for shown in [log, config, printed] {
        assert!(!shown.contains(SECRET), "{shown}");
    }
    let refused = Command::new(env!("CARGO_BIN_EXE_learner")).arg("--print-config").env(VARIABLE, SECRET).output();
    let refused = refused.expect("it runs");
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(64), "{error}");
    assert!(error.contains("alarms.webhook: is no address") && !error.contains(SECRET), "{error}");
}
