//! Open connections, plain or over TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream as StdTcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// An open connection on a tokio reactor.
///
/// Over TLS the server reads one request per TLS record, so a write must not hold parts of two requests.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stream {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over TCP.
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

impl Stream {
    /// The socket beneath.
    #[must_use]
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.get_ref().0,
        }
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    /// Takes the connection off its reactor. Its socket stays non-blocking.
    pub(crate) fn into_std(self) -> io::Result<BlockingStream> {
        match self {
            Self::Plain(tcp) => tcp.into_std().map(BlockingStream::Plain),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let (tcp, tls) = stream.into_inner();
                Ok(BlockingStream::Tls(Box::new(rustls::StreamOwned::new(tls, tcp.into_std()?))))
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}

/// An open connection for a thread that blocks.
#[derive(Debug)]
#[non_exhaustive]
pub enum BlockingStream {
    /// Plain TCP.
    Plain(StdTcpStream),
    /// TLS over TCP.
    #[cfg(feature = "tls")]
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, StdTcpStream>>),
}

impl BlockingStream {
    /// The socket beneath.
    #[must_use]
    pub fn tcp(&self) -> &StdTcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            #[cfg(feature = "tls")]
            Self::Tls(tls) => &tls.sock,
        }
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    /// How long a read may block; `None`: for ever. A zero is taken as the shortest time there is.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.tcp().set_read_timeout(timeout.map(at_least_some))
    }

    /// How long a write may block; `None`: for ever. A zero is taken as the shortest time there is.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.tcp().set_write_timeout(timeout.map(at_least_some))
    }
}

/// A timeout of zero is an error to the socket.
fn at_least_some(timeout: Duration) -> Duration {
    timeout.max(Duration::from_micros(1))
}

impl Read for BlockingStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buf),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.read(buf),
        }
    }
}

impl Write for BlockingStream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(buf),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.flush(),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => tls.flush(),
        }
    }
}
