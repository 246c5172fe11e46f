//! What one peer may have of a learner at once, with a real process: streams, calls, and what strangers may ask.

mod common;
mod hostile;

use std::time::Duration;

use common::system::System;
use hostile::{Peer, Victim, empty_boards};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Code, Status, Streaming};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

/// Streams of a worker.
const STREAMS_OF_WORKER: usize = 64;
/// Streams and calls of a connection.
const STREAMS_OF_CONNECTION: usize = 100;
/// How long a stream is waited for that does not open.
const PATIENCE: Duration = Duration::from_millis(500);

/// A stream on which more leaves may come.
struct OpenStream {
    leaves: mpsc::Sender<proto::LeafBatch>,
    answers: Streaming<proto::EvaluationBatch>,
}

async fn open(peer: &Peer) -> Result<OpenStream, Status> {
    let (leaves, receiver) = mpsc::channel(1);
    let answers = peer.inference().evaluate_leaves(ReceiverStream::new(receiver)).await?.into_inner();
    Ok(OpenStream { leaves, answers })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_and_a_connection_have_so_many_streams_and_no_more() {
    let victim = Victim::start().await;
    let crowd = victim.connect("crowd").await;
    let other = Peer::new(crowd.channel.clone(), "other");
    crowd.join().await;
    other.join().await;
    let mut streams = Vec::new();
    for _ in 0..STREAMS_OF_WORKER {
        streams.push(open(&crowd).await.expect("a stream"));
    }
    let refused = open(&crowd).await.map(drop).expect_err("one too many");
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    for _ in STREAMS_OF_WORKER..STREAMS_OF_CONNECTION {
        streams.push(open(&other).await.expect("a stream"));
    }
    let waits = tokio::time::timeout(PATIENCE, open(&other)).await;
    assert!(waits.is_err(), "the connection has as many streams as it may");
    let elsewhere = victim.connect("elsewhere").await;
    elsewhere.join().await;
    let mut own = open(&elsewhere).await.expect("a stream of another connection");
    own.leaves.send(empty_boards(1, 1, 0)).await.expect("the stream is open");
    assert_eq!(own.answers.message().await.expect("the stream goes on").expect("an answer").error, "");
    streams.pop();
    open(&other).await.expect("room again");
    drop(streams);
    victim.assert_unharmed("streams");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn strangers_may_ask_for_health_alone_and_briefly() {
    let mut system = System::new(&[]);
    std::fs::create_dir_all(system.run_dir()).expect("a run directory");
    let token_file = system.run_dir().join("token");
    std::fs::write(&token_file, "open-sesame").expect("a token file");
    let _learner = system.start_learner(&["--token-file", token_file.to_str().expect("a plain path")]);
    let channel = Endpoint::from_shared(system.url()).expect("an address").connect().await.expect("it listens");
    let mut health = HealthClient::new(channel.clone());
    let mut check = async |service: &str| {
        let request = HealthCheckRequest { service: service.to_owned() };
        health.check(request).await.map(drop).map_err(|status| status.code())
    };
    assert_eq!(check("").await, Ok(()));
    assert_eq!(check(&"x".repeat(900)).await, Err(Code::NotFound));
    assert_eq!(check(&"x".repeat(2000)).await, Err(Code::OutOfRange), "above its limit");
    assert_eq!(check(&"x".repeat(1 << 20)).await, Err(Code::InvalidArgument), "not even read");
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let asked = ServerReflectionClient::new(channel).server_reflection_info(tokio_stream::iter([list])).await;
    assert_eq!(asked.map(drop).expect_err("refused").code(), Code::Unauthenticated);
}
