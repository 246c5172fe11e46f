//! The connections that a server accepts: so many at once, and each is closed unless it soon makes a call that is let in.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::{Connected, TcpIncoming};
use tracing::warn;

use crate::summed_log::SummedLog;

/// Bounds of a server's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once; more wait until one is closed.
    pub count_max: usize,
    /// Time until the first call that is let in.
    pub first_call_within: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { count_max: 1000, first_call_within: Duration::from_secs(30) }
    }
}

/// Returns the connections that `listener` accepts, each of which sends at once.
/// [`tonic::transport::Server::tcp_nodelay`] has no say in connections that a server is handed, and without it an answer
/// of a few hundred bytes waits 40 ms for the client's acknowledgement of what went before it.
pub fn incoming(listener: TcpListener, limits: ConnectionLimits) -> impl Stream<Item = io::Result<Connection>> {
    let (places, log) = (Arc::new(Semaphore::new(limits.count_max)), Arc::new(SummedLog::default()));
    TcpIncoming::from(listener).with_nodelay(Some(true)).then(move |accepted| {
        let (places, log) = (Arc::clone(&places), Arc::clone(&log));
        async move {
            let stream = accepted?;
            if places.available_permits() == 0
                && let Some(count) = log.note(&(), 1, Instant::now())
            {
                warn!(count, count_max = limits.count_max, "connections wait: as many as may be are open");
            }
            let place = places.acquire_owned().await.map_err(io::Error::other)?;
            Ok(Connection::new(stream, limits.first_call_within, place))
        }
    })
}

/// A connection of a client.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    info: ConnectionInfo,
    /// Until the first call.
    deadline: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, first_call_within: Duration, place: OwnedSemaphorePermit) -> Self {
        let address = stream.peer_addr().ok().map(|address| address.ip());
        let info = ConnectionInfo { address, has_called: Arc::default() };
        Self { stream, info, deadline: Some(Box::pin(sleep(first_call_within))), _place: place }
    }
}

/// What a call knows of its connection: an extension of the request.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    address: Option<IpAddr>,
    has_called: Arc<AtomicBool>,
}

impl ConnectionInfo {
    /// Returns the client's address, if the system knows it.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Notes a call that was let in: the connection may stay.
    pub fn note_call(&self) {
        self.has_called.store(true, Ordering::Relaxed);
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        self.info.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.info.has_called.load(Ordering::Relaxed) {
            this.deadline = None;
        }
        if this.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "no call was let in")));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn listen(
        limits: ConnectionLimits,
    ) -> (std::net::SocketAddr, Pin<Box<impl Stream<Item = io::Result<Connection>>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (listener.local_addr().unwrap(), Box::pin(incoming(listener, limits)))
    }

    #[tokio::test]
    async fn what_is_accepted_sends_at_once() {
        let (address, mut connections) = listen(ConnectionLimits::default()).await;
        let _client = TcpStream::connect(address).await.unwrap();
        assert!(connections.next().await.unwrap().unwrap().stream.nodelay().unwrap());
    }

    #[tokio::test]
    async fn a_connection_without_a_call_is_closed() {
        let limits = ConnectionLimits { first_call_within: Duration::from_millis(1), ..ConnectionLimits::default() };
        let (address, mut connections) = listen(limits).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut silent = connections.next().await.unwrap().unwrap();
        assert_eq!(silent.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        silent.connect_info().note_call();
        client.write_u8(7).await.unwrap();
        assert_eq!(silent.read_u8().await.unwrap(), 7, "after a call it stays");
        assert_eq!(silent.connect_info().address(), Some(address.ip()));
    }

    #[tokio::test]
    async fn more_connections_than_allowed_wait() {
        let (address, mut connections) = listen(ConnectionLimits { count_max: 1, ..ConnectionLimits::default() }).await;
        let _clients = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
        let first = connections.next().await.unwrap().unwrap();
        let second = connections.next();
        tokio::pin!(second);
        tokio::select! {
            biased;
            _ = &mut second => panic!("one at once"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        second.await.unwrap().unwrap();
    }
}
