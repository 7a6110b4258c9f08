//! An open connection whose socket the loop watches.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use super::read_ahead::SharedSocket;
use crate::connect::BlockingStream;
use crate::driver::layer::Layer;

/// An open connection, plain or over TLS. Its socket does not block.
pub(super) struct HostStream {
    socket: Arc<SharedSocket>,
    layer: Layer,
}

impl From<BlockingStream> for HostStream {
    fn from(stream: BlockingStream) -> Self {
        let (tcp, layer) = Layer::of_blocking(stream);
        Self { socket: Arc::new(tcp.into()), layer }
    }
}

impl HostStream {
    /// Reads once, into `buffer`, and gives what came to `take`. Says whether there may be more: also behind messages of
    /// the TLS protocol, as a loop may tell only once of an error that stands behind them.
    ///
    /// # Errors
    /// `UnexpectedEof` at the end of the connection; not `WouldBlock`.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let (size, mut taken) = (buffer.len(), false);
        let Self { socket, layer } = self;
        let (read, ahead) = socket.read_with(|source| {
            layer.read(source, buffer, |bytes| {
                taken = true;
                take(bytes)
            })
        });
        match read {
            Ok(n) => Ok(n == size || !taken || ahead),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(e) => Err(e),
        }
    }

    /// The socket, for who reads it while the loop is busy.
    pub(super) fn socket(&self) -> &Arc<SharedSocket> {
        &self.socket
    }

    /// See [`Layer::write`].
    pub(super) fn write(&mut self, bytes: &[u8], written: &mut usize) -> io::Result<()> {
        self.layer.write(&mut &self.socket.tcp, bytes, written)
    }

    /// See [`Layer::unsent`].
    pub(super) fn unsent(&self) -> usize {
        self.layer.unsent()
    }

    /// See [`Layer::holds_output`].
    pub(super) fn holds_output(&self) -> bool {
        self.layer.holds_output()
    }

    /// See [`Layer::is_tls`].
    pub(super) fn is_tls(&self) -> bool {
        self.layer.is_tls()
    }
}

impl AsRawFd for HostStream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.tcp.as_raw_fd()
    }
}
