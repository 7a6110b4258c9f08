//! A socket, plain or TLS, as a connection's task polls it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(super) enum Socket {
    Tcp(Arc<tokio::net::TcpStream>),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

impl Socket {
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => loop {
                std::task::ready!(stream.poll_read_ready(cx))?;
                let mut got = None;
                // A read that does not fill the buffer has emptied the socket: said as "would block", it spares the
                // second read that would find that out.
                let result = stream.try_io(tokio::io::Interest::READABLE, || {
                    let n = recv(stream, buffer)?;
                    got = Some(n);
                    if n > 0 && n < buffer.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
                });
                match (got, result) {
                    (Some(n), _) => return Poll::Ready(Ok(n)),
                    (None, Err(e)) if e.kind() == io::ErrorKind::WouldBlock => {}
                    (None, Err(e)) if e.kind() == io::ErrorKind::Interrupted => {}
                    (None, Err(e)) => return Poll::Ready(Err(e)),
                    (None, Ok(())) => {}
                }
            },
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let mut buffer = tokio::io::ReadBuf::new(buffer);
                std::task::ready!(tokio::io::AsyncRead::poll_read(Pin::new(&mut **stream), cx, &mut buffer))?;
                Poll::Ready(Ok(buffer.filled().len()))
            }
        }
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => loop {
                std::task::ready!(stream.poll_write_ready(cx))?;
                match stream.try_write(bytes) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                    other => return Poll::Ready(other),
                }
            },
            #[cfg(feature = "tls")]
            Self::Tls(stream) => tokio::io::AsyncWrite::poll_write(Pin::new(&mut **stream), cx, bytes),
        }
    }

    /// TLS holds written bytes back until flushed.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(_) => Poll::Ready(Ok(())),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => tokio::io::AsyncWrite::poll_flush(Pin::new(&mut **stream), cx),
        }
    }
}

fn recv(stream: &tokio::net::TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut &*socket2::SockRef::from(stream), buffer)
}
