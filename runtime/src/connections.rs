//! The connections that a server accepts: so many at once, so many from each address, and each is closed unless it soon
//! makes a call that is let in.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::stream::unfold;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, MutexGuard};
use tokio_stream::Stream;
use tonic::transport::server::Connected;
use tracing::{debug, warn};

pub use crate::connection_limits::ConnectionLimits;
use crate::connection_places::{Place, Places, Request};
use crate::origin::Origin;
use crate::summed_log::SummedLog;

/// How long a port rests after it could not accept, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Returns the connections that `listener` accepts, each of which sends at once; it never ends and never fails.
/// [`tonic::transport::Server::tcp_nodelay`] has no say in connections that a server is handed, and without it an answer
/// of a few hundred bytes waits 40 ms for the client's acknowledgement of what went before it.
pub fn incoming(listener: TcpListener, limits: ConnectionLimits) -> impl Stream<Item = io::Result<Connection>> + Send {
    let door = Door { listener, limits, places: Places::new(limits), log: SummedLog::default() };
    unfold(door, |door| async move {
        let connection = door.next().await;
        Some((Ok(connection), door))
    })
}

/// Where connections come in.
struct Door {
    listener: TcpListener,
    limits: ConnectionLimits,
    places: Arc<Places>,
    log: SummedLog<DoorEvent>,
}

/// What is logged of connections that are not simply accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum DoorEvent {
    NotAccepted,
    Refused(Origin),
    MakeRoom,
    Wait,
}

impl Door {
    /// Accepts the next connection that gets a place.
    async fn next(&self) -> Connection {
        loop {
            let (stream, address) = self.accept().await;
            let origin = Origin::of(address);
            if let Some(place) = self.place(origin).await {
                return Connection::new(stream, address, self.limits.first_call_within, place);
            }
        }
    }

    /// Accepts. A server of tonic ends with the first error that is not about a single connection: none is passed on.
    async fn accept(&self) -> (TcpStream, Option<IpAddr>) {
        loop {
            let error = match self.listener.accept().await {
                Ok((stream, address)) => {
                    if let Err(error) = stream.set_nodelay(true) {
                        debug!(%error, "a connection keeps its delay");
                    }
                    return (stream, Some(address.ip()));
                }
                Err(error) => error,
            };
            if is_about_one_connection(&error) {
                continue;
            }
            if let Some(count) = self.log.note(&DoorEvent::NotAccepted, 1, Instant::now()) {
                warn!(%error, count, "connections cannot be accepted");
            }
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    /// Waits for a place; `None` if its address has as many as it may.
    async fn place(&self, origin: Origin) -> Option<Place> {
        loop {
            match self.places.request(origin) {
                Request::Taken(place) => return Some(place),
                Request::Refused => {
                    let count = self.log.note(&DoorEvent::Refused(origin), 1, Instant::now());
                    if let Some(count) = count {
                        let count_max = self.limits.count_per_address_max;
                        warn!(address = %origin, count, count_max, "connections refused: too many from this address");
                    }
                    return None;
                }
                Request::Wait { someone_leaves } => self.note_wait(someone_leaves),
            }
            self.places.freed().await;
        }
    }

    fn note_wait(&self, someone_leaves: bool) {
        let event = if someone_leaves { DoorEvent::MakeRoom } else { DoorEvent::Wait };
        let Some(count) = self.log.note(&event, 1, Instant::now()) else { return };
        let count_max = self.limits.count_max;
        if someone_leaves {
            warn!(count, count_max, "connection limit reached: closing connections that made no call");
        } else {
            warn!(count, count_max, "connection limit reached: new connections wait");
        }
    }
}

/// Returns whether the peer is to blame: the next connection may well be accepted.
fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// A connection of a client.
pub struct Connection {
    stream: TcpStream,
    info: ConnectionInfo,
    /// Ends with the reason why the connection is closed; until the first call.
    until_call: Option<Pin<Box<dyn Future<Output = io::Error> + Send>>>,
    _place: Place,
}

impl Connection {
    fn new(stream: TcpStream, address: Option<IpAddr>, first_call_within: Duration, place: Place) -> Self {
        let info = ConnectionInfo { address, state: Arc::new(ConnectionState::new(&place)) };
        let leave = place.leave().clone();
        let until_call = async move {
            match tokio::time::timeout(first_call_within, leave.cancelled()).await {
                Ok(()) => io::Error::new(io::ErrorKind::ConnectionAborted, "made room for others"),
                Err(_) => io::Error::new(io::ErrorKind::TimedOut, "no call was let in"),
            }
        };
        Self { stream, info, until_call: Some(Box::pin(until_call)), _place: place }
    }
}

/// What a call knows of its connection: an extension of the request.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    address: Option<IpAddr>,
    state: Arc<ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    has_called: AtomicBool,
    /// The last token that was shown was right.
    is_trusted: AtomicBool,
    /// Held by the call that waits to be judged.
    turn: Mutex<()>,
    /// Where it is noted that it has called.
    places: Arc<Places>,
    id: u64,
}

impl ConnectionState {
    fn new(place: &Place) -> Self {
        let (places, id) = place.caller();
        Self { has_called: false.into(), is_trusted: false.into(), turn: Mutex::default(), places, id }
    }
}

impl ConnectionInfo {
    /// Returns the client's address, if the system knows it.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Notes a call that was let in: the connection may stay.
    pub fn note_call(&self) {
        self.state.is_trusted.store(true, Ordering::Relaxed);
        if !self.state.has_called.swap(true, Ordering::Relaxed) {
            self.state.places.note_call(self.state.id);
        }
    }

    /// Notes a call with a wrong token: the next one is looked at as if the connection was new.
    pub(crate) fn note_refusal(&self) {
        self.state.is_trusted.store(false, Ordering::Relaxed);
    }

    /// Returns whether the last token that was shown was right.
    pub(crate) fn is_trusted(&self) -> bool {
        self.state.is_trusted.load(Ordering::Relaxed)
    }

    /// Takes the turn of the one call of the connection that may wait to be judged; `None` if another has it.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.state.turn.try_lock().ok()
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
        if this.info.state.has_called.load(Ordering::Relaxed) {
            this.until_call = None;
        }
        if let Some(until_call) = &mut this.until_call
            && let Poll::Ready(reason) = until_call.as_mut().poll(context)
        {
            return Poll::Ready(Err(reason));
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
    use tokio_stream::StreamExt;

    use super::*;

    type Incoming = Pin<Box<dyn Stream<Item = io::Result<Connection>> + Send>>;

    async fn listen(limits: ConnectionLimits) -> (std::net::SocketAddr, Incoming) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (listener.local_addr().unwrap(), Box::pin(incoming(listener, limits)))
    }

    async fn next(connections: &mut Incoming) -> Connection {
        connections.next().await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn what_is_accepted_sends_at_once() {
        let (address, mut connections) = listen(ConnectionLimits::default()).await;
        let _client = TcpStream::connect(address).await.unwrap();
        assert!(next(&mut connections).await.stream.nodelay().unwrap());
    }

    #[tokio::test]
    async fn a_connection_without_a_call_is_closed() {
        let limits = ConnectionLimits { first_call_within: Duration::from_millis(1), ..ConnectionLimits::default() };
        let (address, mut connections) = listen(limits).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut silent = next(&mut connections).await;
        assert_eq!(silent.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        silent.connect_info().note_call();
        client.write_u8(7).await.unwrap();
        assert_eq!(silent.read_u8().await.unwrap(), 7, "after a call it stays");
        assert_eq!(silent.connect_info().address(), Some(address.ip()));
    }

    /// Clients, and the connections that wait in the listener's queue for them.
    async fn connect(address: std::net::SocketAddr, count: usize) -> Vec<TcpStream> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        clients
    }

    #[tokio::test]
    async fn more_connections_than_allowed_wait_for_those_that_have_called() {
        let (address, mut connections) = listen(ConnectionLimits { count_max: 1, ..ConnectionLimits::default() }).await;
        let _clients = connect(address, 2).await;
        let first = next(&mut connections).await;
        first.connect_info().note_call();
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

    #[tokio::test]
    async fn silent_connections_make_room() {
        let (address, mut connections) = listen(ConnectionLimits { count_max: 2, ..ConnectionLimits::default() }).await;
        let _clients = connect(address, 3).await;
        let (mut silent, called) = (next(&mut connections).await, next(&mut connections).await);
        called.connect_info().note_call();
        let told = tokio::spawn(async move {
            let reason = silent.read_u8().await.unwrap_err();
            drop(silent);
            reason.kind()
        });
        let _third = next(&mut connections).await;
        assert_eq!(told.await.unwrap(), io::ErrorKind::ConnectionAborted);
    }
}
