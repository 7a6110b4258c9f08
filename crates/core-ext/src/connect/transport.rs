//! The two ways to move bytes while a connection is being opened: tokio's sockets, and blocking ones.

use std::future::Future;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::time::{Duration, Instant};

use aerolane_wire::WireErrorKind;
use aerolane_wire::proto::{PROTO_HEADER_SIZE, ProtoHeader};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::tls::TlsTarget;
use super::{BlockingStream, Stream};
use crate::error::{Error, Result};

/// A connection that is being opened. Every method ends by its deadline.
pub(super) trait Transport: Sized + Send {
    /// Connects, and shakes hands over TLS when there is a target for it.
    fn connect(
        address: SocketAddr,
        tls: Option<TlsTarget>,
        deadline: Instant,
    ) -> impl Future<Output = Result<Self>> + Send;

    /// Sends a frame and receives the body of the frame that answers it; `doing` says what for, in errors.
    fn exchange(
        &mut self,
        doing: &str,
        request: &[u8],
        max_body: usize,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>>> + Send;

    /// Waits for something inside the process; `None` when the deadline passes first.
    fn until<F: Future + Send>(deadline: Instant, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send;
}

/// On a tokio reactor.
pub(super) struct Tokio(Stream);

/// On the calling thread: its futures are ready when first polled.
pub(super) struct Blocking(BlockingStream);

impl Tokio {
    pub(super) fn into_stream(self) -> Stream {
        self.0
    }
}

impl Transport for Tokio {
    async fn connect(address: SocketAddr, tls: Option<TlsTarget>, deadline: Instant) -> Result<Self> {
        within(deadline, "connect", async {
            let tcp = TcpStream::connect(address).await?;
            prepare(&socket2::SockRef::from(&tcp));
            match tls {
                None => Ok(Self(Stream::Plain(tcp))),
                #[cfg(feature = "tls")]
                Some(target) => {
                    let connector = tokio_rustls::TlsConnector::from(target.config);
                    let stream = connector.connect(target.server_name, tcp).await.map_err(|e| in_handshake(&e))?;
                    Ok(Self(Stream::Tls(Box::new(stream))))
                }
                #[cfg(not(feature = "tls"))]
                Some(target) => match target {},
            }
        })
        .await
    }

    async fn exchange(&mut self, doing: &str, request: &[u8], max_body: usize, deadline: Instant) -> Result<Vec<u8>> {
        let mut head = [0; PROTO_HEADER_SIZE];
        within(deadline, doing, async {
            self.0.write_all(request).await?;
            self.0.flush().await?;
            self.0.read_exact(&mut head).await
        })
        .await?;
        let size = size_of_answer(head, max_body)?;
        let mut body = vec![0; size];
        within(deadline, doing, self.0.read_exact(&mut body)).await?;
        Ok(body)
    }

    async fn until<F: Future + Send>(deadline: Instant, future: F) -> Option<F::Output>
    where
        F::Output: Send,
    {
        tokio::time::timeout_at(deadline.into(), future).await.ok()
    }
}

/// What an error says when it came about in a TLS handshake.
pub(super) const IN_HANDSHAKE: &str = "TLS handshake";
/// What an error says when the time was over.
pub(super) const TOO_LATE: &str = "no answer in time";

async fn within<T>(deadline: Instant, doing: &str, io: impl Future<Output = io::Result<T>>) -> Result<T> {
    match tokio::time::timeout_at(deadline.into(), io).await {
        Ok(result) => result.map_err(|e| Error::connection_io(doing, e)),
        Err(_) => Err(too_late(doing)),
    }
}

impl Blocking {
    /// The stream, without the timeouts of opening it.
    pub(super) fn into_stream(self) -> Result<BlockingStream> {
        let stream = self.0;
        stream
            .set_read_timeout(None)
            .and_then(|()| stream.set_write_timeout(None))
            .map_err(|e| Error::connection_io("set the timeouts of the socket", e))?;
        Ok(stream)
    }

    fn connect_now(address: SocketAddr, tls: Option<TlsTarget>, deadline: Instant) -> io::Result<Self> {
        let tcp = StdTcpStream::connect_timeout(&address, left(deadline)?)?;
        prepare(&socket2::SockRef::from(&tcp));
        match tls {
            None => Ok(Self(BlockingStream::Plain(tcp))),
            #[cfg(feature = "tls")]
            Some(target) => shake_hands(tcp, target, deadline).map(Self),
            #[cfg(not(feature = "tls"))]
            Some(target) => match target {},
        }
    }

    fn read_exactly(&mut self, mut buf: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !buf.is_empty() {
            self.0.set_read_timeout(Some(left(deadline)?))?;
            match self.0.read(buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => buf = &mut buf[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

impl Transport for Blocking {
    async fn connect(address: SocketAddr, tls: Option<TlsTarget>, deadline: Instant) -> Result<Self> {
        Self::connect_now(address, tls, deadline).map_err(|e| blocking_error("connect", e))
    }

    async fn exchange(&mut self, doing: &str, request: &[u8], max_body: usize, deadline: Instant) -> Result<Vec<u8>> {
        let mut head = [0; PROTO_HEADER_SIZE];
        // A login is far smaller than a socket buffer: one timeout covers its write.
        left(deadline)
            .and_then(|time| self.0.set_write_timeout(Some(time)))
            .and_then(|()| self.0.write_all(request))
            .and_then(|()| self.0.flush())
            .and_then(|()| self.read_exactly(&mut head, deadline))
            .map_err(|e| blocking_error(doing, e))?;
        let size = size_of_answer(head, max_body)?;
        let mut body = vec![0; size];
        self.read_exactly(&mut body, deadline).map_err(|e| blocking_error(doing, e))?;
        Ok(body)
    }

    async fn until<F: Future + Send>(deadline: Instant, future: F) -> Option<F::Output>
    where
        F::Output: Send,
    {
        super::block_on_until(Some(deadline), future)
    }
}

#[cfg(feature = "tls")]
fn shake_hands(mut tcp: StdTcpStream, target: TlsTarget, deadline: Instant) -> io::Result<BlockingStream> {
    let mut tls = rustls::ClientConnection::new(target.config, target.server_name).map_err(io::Error::other)?;
    while tls.is_handshaking() {
        // Before each step: a timeout of the socket is for one step, and the peer decides how many there are.
        tcp.set_read_timeout(Some(left(deadline)?))?;
        tcp.set_write_timeout(Some(left(deadline)?))?;
        if tls.wants_write() {
            tls.write_tls(&mut tcp)?;
        } else {
            if tls.read_tls(&mut tcp)? == 0 {
                return Err(in_handshake(&io::ErrorKind::UnexpectedEof.into()));
            }
            if let Err(e) = tls.process_new_packets() {
                // The alert tells the server why. The handshake has failed already: failing to say so changes nothing.
                let _ = tls.write_tls(&mut tcp);
                return Err(in_handshake(&io::Error::other(e)));
            }
        }
    }
    while tls.wants_write() {
        tls.write_tls(&mut tcp)?;
    }
    Ok(BlockingStream::Tls(Box::new(rustls::StreamOwned::new(tls, tcp))))
}

#[cfg(feature = "tls")]
fn in_handshake(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{IN_HANDSHAKE}: {error}"))
}

/// The options of every socket. Best effort: a socket without them still works.
fn prepare(socket: &socket2::SockRef<'_>) {
    // Requests are written whole; waiting for more to send with them would only add delay.
    let _ = socket.set_tcp_nodelay(true);
    // So that the death of a peer that no longer answers anything shows on idle connections, too.
    let probes = socket2::TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10));
    let _ = socket.set_tcp_keepalive(&probes);
}

/// The size of an answer's body. An answer that no Aerospike server gives is shown: it says what listens there.
fn size_of_answer(head: [u8; PROTO_HEADER_SIZE], max_body: usize) -> Result<usize> {
    match ProtoHeader::decode(&head, max_body) {
        Ok(header) => Ok(header.body_size),
        Err(error) if matches!(error.kind, WireErrorKind::Version(_) | WireErrorKind::FrameType(_)) => {
            let begin = String::from_utf8_lossy(&head);
            Err(Error::bad_response(format!("not an Aerospike server: it answers with {begin:?} ({error})")))
        }
        Err(error) => Err(error.into()),
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
        left => Ok(left),
    }
}

fn blocking_error(doing: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => too_late(doing),
        _ => Error::connection_io(doing, error),
    }
}

fn too_late(doing: &str) -> Error {
    Error::connection(format!("could not {doing}: {TOO_LATE} (a firewall, a stalled node, or a too short timeout)"))
}
