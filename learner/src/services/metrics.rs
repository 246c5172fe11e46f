//! The metrics over HTTP, for Prometheus: `GET /metrics`, behind the token of readers, or the one for everything.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::{IncomingStream, Listener};
use runtime::connections::{Connection, ConnectionInfo, ConnectionLimits, incoming};
use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected as _;
use tracing::{debug, warn};

use crate::progress::RunObserver;

/// Connections at once: a few Prometheus servers and people.
const CONNECTION_COUNT_MAX: usize = 16;
/// The media type of Prometheus' text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Wait after a connection that could not be accepted, so that a lack of descriptors is not asked about without pause.
const ACCEPT_RETRY: Duration = Duration::from_millis(200);

/// Serves the metrics until `stop`.
pub async fn serve_metrics(listener: TcpListener, observer: Arc<RunObserver>, stop: CancellationToken) {
    let limits = ConnectionLimits { count_max: CONNECTION_COUNT_MAX, ..ConnectionLimits::default() };
    let connections = BoundedListener(Box::pin(incoming(listener, limits)));
    let router = Router::new().route("/metrics", get(answer)).with_state(observer);
    let service = router.into_make_service_with_connect_info::<Peer>();
    let served = axum::serve(connections, service).with_graceful_shutdown(stop.cancelled_owned()).await;
    if let Err(error) = served {
        warn!(%error, "metrics are not served any more");
    }
}

async fn answer(
    State(observer): State<Arc<RunObserver>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    call: Request,
) -> Response {
    let shown = call.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    if let Err(problem) = observer.reader_auth.check(shown, Some(&peer.0)) {
        let advice = format!("{problem}: send the learner's token as `Authorization: Bearer TOKEN`\n");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], advice).into_response();
    }
    let observed = tokio::task::spawn_blocking(move || observer.observe(Instant::now()).to_metrics()).await;
    match observed {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// Accepts so many connections at once and no more.
struct BoundedListener(Pin<Box<dyn Stream<Item = io::Result<Connection>> + Send>>);

impl Listener for BoundedListener {
    type Io = Connection;
    type Addr = ConnectionInfo;

    async fn accept(&mut self) -> (Connection, ConnectionInfo) {
        loop {
            match self.0.next().await {
                Some(Ok(connection)) => {
                    let info = connection.connect_info();
                    return (connection, info);
                }
                Some(Err(error)) => {
                    debug!(%error, "connection for metrics not accepted");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
                None => std::future::pending().await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<ConnectionInfo> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// Who calls.
#[derive(Clone)]
struct Peer(ConnectionInfo);

impl Connected<IncomingStream<'_, BoundedListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, BoundedListener>) -> Self {
        Self(stream.remote_addr().clone())
    }
}
