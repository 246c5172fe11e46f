//! Messages to a server on this machine: one that takes them, fails, refuses, hangs, or is not there.

use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reqwest::Url;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::progress::AlarmKind;

const SECRET: &str = "a-secret-path";

/// A server that gives these answers, one after the other, then the last one for ever.
struct Receiving {
    answers: Mutex<Vec<StatusCode>>,
    seen: Sender<(HeaderMap, Value)>,
}

async fn receive(State(server): State<Arc<Receiving>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let message = serde_json::from_slice(&body).expect("JSON");
    server.seen.send((headers, message)).await.expect("the test listens");
    let mut answers = server.answers.lock().expect("whole");
    if answers.len() > 1 { answers.remove(0) } else { answers[0] }
}

/// Starts the server. Returns its address, and what it sees.
async fn serve(answers: &[StatusCode]) -> (Url, Receiver<(HeaderMap, Value)>) {
    let (seen, receiver) = channel(100);
    let server = Arc::new(Receiving { answers: Mutex::new(answers.to_vec()), seen });
    let router = Router::new().route(&format!("/{SECRET}"), post(receive)).with_state(server);
    let (listener, url) = listen().await;
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, receiver)
}

async fn listen() -> (TcpListener, Url) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, Url::parse(&format!("http://{address}/{SECRET}")).expect("an address"))
}

/// Tells `url` of what happens on the board until `events` have been dealt with. Returns the status.
async fn told(url: Url, token: Option<&Token>, change: impl FnOnce(&RunStatus)) -> Arc<RunStatus> {
    let terms = DeliveryTerms {
        deadline: Duration::from_millis(200),
        try_count_max: 3,
        retry_wait_first: Duration::from_millis(1),
    };
    let status = Arc::new(RunStatus::default());
    let (events, receiver) = channel(2);
    status.alarms().tell(events);
    change(&status);
    status.alarms().tell_nobody();
    let webhook = Webhook::of(Delivery::new(url, token, terms).expect("a client"), "r1", "hive", Arc::clone(&status));
    webhook.run(receiver, CancellationToken::new()).await;
    status
}

/// Returns how many alarms were sent, and how many not.
fn counts(status: &RunStatus) -> [u64; 2] {
    [SENT_COUNTER, FAILED_COUNTER].map(|name| status.counter(name))
}

fn raise(status: &RunStatus) {
    status.alarms().set(AlarmKind::Disk, Some("run: 1 MiB free".into()));
}

#[tokio::test]
async fn an_alarm_is_told_when_it_comes_on_and_when_it_goes_off() {
    let (url, mut seen) = serve(&[StatusCode::NO_CONTENT]).await;
    let token = Token::new("hush").expect("a token");
    let status = told(url, Some(&token), |status| {
        raise(status);
        status.alarms().set(AlarmKind::Disk, Some("run: 0 MiB free".into()));
        status.alarms().set(AlarmKind::Disk, None);
    })
    .await;
    assert_eq!(counts(&status), [2, 0]);
    let (headers, on) = seen.recv().await.expect("the first");
    let shown = ["authorization", "content-type"].map(|name| headers[name].to_str().expect("text"));
    assert_eq!(shown, ["Bearer hush", "application/json"]);
    assert_eq!(
        (&on["name"], &on["state"], &on["run"], &on["game"]),
        (&"disk".into(), &"on".into(), &"r1".into(), &"hive".into())
    );
    assert_eq!(on["sentence"], "run: 1 MiB free");
    assert_eq!(on["text"], "Alveare, run r1 of hive: alarm: disk: run: 1 MiB free");
    assert!(humantime::parse_rfc3339(on["time"].as_str().expect("a time")).is_ok(), "{on}");
    let (_, off) = seen.recv().await.expect("the second");
    assert_eq!((&off["state"], &off["sentence"]), (&"off".into(), &"run: 0 MiB free".into()));
    assert_eq!(off["text"], "Alveare, run r1 of hive: alarm over: disk: run: 0 MiB free");
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again_and_one_that_refuses_is_not() {
    let error = StatusCode::INTERNAL_SERVER_ERROR;
    for (answers, tries, expected) in [
        (&[error, error, StatusCode::OK][..], 3, [1, 0]),
        (&[error], 3, [0, 1]),
        (&[StatusCode::TOO_MANY_REQUESTS, StatusCode::OK], 2, [1, 0]),
        (&[StatusCode::NOT_FOUND, StatusCode::OK], 1, [0, 1]),
        (&[StatusCode::PERMANENT_REDIRECT, StatusCode::OK], 1, [0, 1]),
    ] {
        let (url, seen) = serve(answers).await;
        let status = told(url, None, raise).await;
        assert_eq!((counts(&status), seen.len()), (expected, tries), "{answers:?}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_or_is_not_there_costs_its_deadline_and_no_more() {
    // The kernel takes the connection, and nobody reads from it.
    let (silent, url) = listen().await;
    let started_at = Instant::now();
    let status = told(url, None, raise).await;
    assert_eq!(counts(&status), [0, 1]);
    assert!(started_at.elapsed() >= Duration::from_millis(3 * 200), "three tries");
    let url = Url::parse(&format!("http://{}/", silent.local_addr().expect("an address"))).expect("an address");
    drop(silent);
    let status = told(url.clone(), None, raise).await;
    assert_eq!(counts(&status), [0, 1]);
    let delivery = Delivery::new(
        url.join(SECRET).expect("an address"),
        None,
        DeliveryTerms { try_count_max: 1, ..DeliveryTerms::default() },
    );
    let error = delivery.expect("a client").send(&"x").await.expect_err("nobody is there").to_string();
    assert!(error.starts_with("no answer: ") && !error.contains(SECRET), "{error}");
}

#[tokio::test]
async fn whoever_raises_an_alarm_never_waits_and_what_is_too_much_is_counted() {
    let (url, seen) = serve(&[StatusCode::OK]).await;
    let status = told(url, None, |status| {
        for _ in 0..5 {
            raise(status);
            status.alarms().set(AlarmKind::Disk, None);
        }
    })
    .await;
    assert_eq!((counts(&status), seen.len()), ([2, 8], 2));
}

#[tokio::test]
async fn a_stop_ends_it_whatever_it_waits_for() {
    let (_silent, url) = listen().await;
    let status = Arc::new(RunStatus::default());
    let (events, receiver) = channel(2);
    status.alarms().tell(events);
    raise(&status);
    let delivery = Delivery::new(url, None, DeliveryTerms::default()).expect("a client");
    let (stop, started_at) = (CancellationToken::new(), Instant::now());
    let running = tokio::spawn(Webhook::of(delivery, "r1", "hive", status).run(receiver, stop.clone()));
    stop.cancel();
    running.await.expect("it ends");
    assert!(started_at.elapsed() < DeliveryTerms::default().deadline);
}
