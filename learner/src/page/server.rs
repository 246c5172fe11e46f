//! The page's own port: plain HTTP/1.1, so many connections at once, each for a bounded time.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use tracing::{debug, warn};

use super::routes::{Visitor, router};
use super::{Page, overview};

/// How long the head of a request may take to arrive, the wait for the next request on a connection included.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// Largest head of a request, in bytes: a position to try moves from may come with hundreds of them.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// After so long a connection gets no more answers than the one under way, and a moment later it is closed.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(300);
const LAST_ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// How long the port rests after it could not accept, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Bounds of what the page takes from the network.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// Connections at once; more wait.
    pub connection_count_max: usize,
}

/// Serves the page until `stop`. Nothing that goes wrong here ends a run.
pub async fn serve(page: Page, listener: TcpListener, limits: PageLimits, stop: CancellationToken) {
    let page = Arc::new(page);
    let router = router(Arc::clone(&page));
    let places = Arc::new(Semaphore::new(limits.connection_count_max.max(1)));
    let mut connections = JoinSet::new();
    connections.spawn(async move { overview::warm_up(&page).await });
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        match accepted {
            Some((stream, address, place)) => {
                let router = router.clone();
                connections.spawn(async move {
                    answer(stream, address, router).await;
                    drop(place);
                });
            }
            None => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
    connections.shutdown().await;
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => Some((stream, address, place)),
        Err(error) => {
            warn!(%error, "the page cannot accept a connection");
            None
        }
    }
}

async fn answer(stream: TcpStream, address: SocketAddr, router: Router) {
    // A small answer must not wait for the acknowledgement of what went before it.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "the page's connection keeps its delay");
    }
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Visitor(address.ip()));
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
        debug!(%error, %address, "connection to the page ended");
    }
}
