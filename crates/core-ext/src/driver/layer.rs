//! What is between a lane's bytes and a socket's: nothing, or a TLS session.

use std::io::{self, Read, Write};

#[cfg(feature = "tls")]
use super::tls::TlsSession;
use crate::connect::{BlockingStream, Stream};

/// Moves bytes through a socket that the driver owns and passes in. Plain, or over TLS.
#[derive(Debug)]
pub(crate) struct Layer {
    #[cfg(feature = "tls")]
    tls: Option<Box<TlsSession>>,
}

impl Layer {
    const PLAIN: Self = Self {
        #[cfg(feature = "tls")]
        tls: None,
    };

    /// Takes a connection apart.
    pub(crate) fn of(stream: Stream) -> (tokio::net::TcpStream, Self) {
        match stream {
            Stream::Plain(tcp) => (tcp, Self::PLAIN),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => {
                let (tcp, tls) = stream.into_inner();
                (tcp, Self { tls: Some(Box::new(TlsSession::new(tls))) })
            }
        }
    }

    /// Takes a connection apart that is not on a reactor.
    pub(crate) fn of_blocking(stream: BlockingStream) -> (std::net::TcpStream, Self) {
        match stream {
            BlockingStream::Plain(tcp) => (tcp, Self::PLAIN),
            #[cfg(feature = "tls")]
            BlockingStream::Tls(stream) => {
                let (tls, tcp) = stream.into_parts();
                (tcp, Self { tls: Some(Box::new(TlsSession::new(tls))) })
            }
        }
    }

    /// Whether the socket's bytes are those of a TLS session, and not answers.
    pub(crate) fn is_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Gives what came while the connection was opened to `take`, once. Says whether there was any. Reads begin with it;
    /// it is for drivers that wait for the socket before they read.
    pub(crate) fn take_held<S: Write>(
        &mut self,
        socket: &mut S,
        take: &mut impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            return tls.take_held(socket, take);
        }
        let _ = (socket, take);
        Ok(false)
    }

    /// Reads from the socket once, into `buffer`, and gives what came to `take`: over TLS in pieces, or nothing. Says how
    /// many bytes the socket gave.
    ///
    /// # Errors
    /// Those of the socket (`WouldBlock`, too) and of `take`; `UnexpectedEof` at the end of the connection.
    pub(crate) fn read<S: Read + Write>(
        &mut self,
        socket: &mut S,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            return tls.read(socket, buffer, take);
        }
        let n = socket.read(buffer)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        take(&buffer[..n])?;
        Ok(n)
    }

    /// Writes `bytes` from `written` on, as far as the socket takes them, and moves `written` on, also before an error.
    /// What it covers may have been sent; over TLS some of it may still wait ([`holds_output`](Self::holds_output)).
    ///
    /// # Errors
    /// Those of the socket; not `WouldBlock`.
    pub(crate) fn write<S: Write>(&mut self, socket: &mut S, bytes: &[u8], written: &mut usize) -> io::Result<()> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            return tls.write(socket, bytes, written);
        }
        while *written < bytes.len() {
            match socket.write(&bytes[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => *written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Of the bytes that [`write`](Self::write) has counted as written, the last so many have surely not been sent.
    pub(crate) fn unsent(&self) -> usize {
        #[cfg(feature = "tls")]
        return self.tls.as_ref().map_or(0, |tls| tls.unsent());
        #[cfg(not(feature = "tls"))]
        0
    }

    /// Whether bytes wait for the socket that [`write`](Self::write) has counted as written, or that TLS itself sends.
    pub(crate) fn holds_output(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        #[cfg(not(feature = "tls"))]
        false
    }
}
