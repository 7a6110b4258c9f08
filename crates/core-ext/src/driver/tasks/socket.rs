//! A socket, plain or TLS, as a connection's task polls it.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::connect::Stream;
use crate::driver::layer::Layer;

pub(super) struct Socket {
    tcp: Arc<TcpStream>,
    layer: Layer,
}

impl From<Stream> for Socket {
    fn from(stream: Stream) -> Self {
        let (tcp, layer) = Layer::of(stream);
        Self { tcp: Arc::new(tcp), layer }
    }
}

impl Socket {
    /// The socket itself.
    pub(super) fn tcp(&self) -> &Arc<TcpStream> {
        &self.tcp
    }

    /// See [`Layer::is_tls`].
    pub(super) fn is_tls(&self) -> bool {
        self.layer.is_tls()
    }

    /// See [`Layer::unsent`].
    pub(super) fn unsent(&self) -> usize {
        self.layer.unsent()
    }

    /// Reads once, into `buffer`, and gives what came to `take`.
    ///
    /// # Errors
    /// `UnexpectedEof` at the end of the connection.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        let Self { tcp, layer } = self;
        if layer.take_held(&mut &*SockRef::from(&**tcp), &mut take)? {
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(tcp.poll_read_ready(cx))?;
            let mut got = false;
            let result = tcp.try_io(Interest::READABLE, || {
                let n = layer.read(&mut &*SockRef::from(&**tcp), buffer, &mut take)?;
                got = true;
                // A read that does not fill the buffer has emptied the socket: said as "would block", it spares the
                // second read that would find that out.
                if n < buffer.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            match result {
                _ if got => return Poll::Ready(Ok(())),
                Ok(()) => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
    }

    /// Reads once if something is there, also where the runtime has not looked for long. False: nothing is there.
    ///
    /// # Errors
    /// As [`poll_read`](Self::poll_read).
    pub(super) fn read_now(
        &mut self,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        match self.layer.read(&mut &*SockRef::from(&*self.tcp), buffer, &mut take) {
            Ok(_) => Ok(true),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Writes `bytes` from `written` on and moves `written` on, also before an error. Ready once all is on the socket,
    /// over TLS with everything that waited there.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        written: &mut usize,
    ) -> Poll<io::Result<()>> {
        let Self { tcp, layer } = self;
        while *written < bytes.len() || layer.holds_output() {
            ready!(tcp.poll_write_ready(cx))?;
            let result = tcp.try_io(Interest::WRITABLE, || {
                layer.write(&mut &*SockRef::from(&**tcp), bytes, written)?;
                let blocked = *written < bytes.len() || layer.holds_output();
                if blocked { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            match result {
                Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(e)),
                _ => {}
            }
        }
        Poll::Ready(Ok(()))
    }
}
