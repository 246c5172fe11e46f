//! HTTP/1.1 for people and monitors, the page and the metrics: so many connections at once, each for a bounded time, by
//! TLS or not. What is answered is the business of the router.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime::connections::{Connection, ConnectionInfo, ConnectionLimits, incoming};
use runtime::tls::server::ServerTls;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;
use tower::ServiceExt;
use tracing::debug;

/// How long the head of a request may take to arrive, the wait for the next request on a connection included.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// Largest head of a request, in bytes: a position to try moves from may come with hundreds of them.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// After so long a connection gets no more answers than the one under way, and a moment later it is closed.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(300);
const LAST_ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A port for people or monitors.
pub struct HttpPort {
    /// The open port.
    pub listener: TcpListener,
    /// The certificate that is shown; `None`: the connections are not encrypted.
    pub tls: Option<ServerTls>,
    /// Connections at once; one more takes the place of one without a request that was let in, or waits.
    pub connection_count_max: usize,
}

impl HttpPort {
    /// Returns the address at which a browser reaches the port, if the system knows it.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Some(format!("{scheme}://{}/", self.listener.local_addr().ok()?))
    }

    /// Serves until `stop`. A request carries the [`ConnectionInfo`] of its connection. Nothing that goes wrong here ends
    /// a run.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        let count_max = self.connection_count_max.max(1);
        let limits = ConnectionLimits { count_max, count_per_address_max: count_max, ..ConnectionLimits::default() };
        let (mut incoming, mut connections) = (Box::pin(incoming(self.listener, limits)), JoinSet::new());
        while let Some(Some(Ok(connection))) = stop.run_until_cancelled(incoming.next()).await {
            connections.spawn(answer(connection, self.tls.clone(), router.clone()));
            while connections.try_join_next().is_some() {}
        }
        connections.shutdown().await;
    }
}

async fn answer(connection: Connection, tls: Option<ServerTls>, router: Router) {
    let info = connection.connect_info();
    let Some(tls) = tls else { return answer_on(connection, info, router).await };
    match tls.http().accept(connection).await {
        Ok(stream) => answer_on(stream, info, router).await,
        Err(error) => debug!(%error, address = ?info.address(), "no TLS with a browser or monitor"),
    }
}

async fn answer_on(stream: impl AsyncRead + AsyncWrite + Unpin, info: ConnectionInfo, router: Router) {
    let address = info.address();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(info.clone());
        let router = router.clone();
        async move { Ok::<_, Infallible>(router.oneshot(request).await.unwrap_or_else(|never| match never {})) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = tokio::time::sleep(CONNECTION_TIME_MAX) => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(LAST_ANSWER_TIME_MAX, connection).await {
                Ok(ended) => ended,
                Err(_) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        debug!(%error, ?address, "connection of a browser or monitor ended");
    }
}
