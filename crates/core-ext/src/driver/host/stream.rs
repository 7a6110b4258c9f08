//! An open connection whose socket the loop watches.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};

use crate::connect::BlockingStream;
use crate::driver::layer::Layer;

/// An open connection, plain or over TLS. Its socket does not block.
pub(super) struct HostStream {
    tcp: TcpStream,
    layer: Layer,
}

impl From<BlockingStream> for HostStream {
    fn from(stream: BlockingStream) -> Self {
        let (tcp, layer) = Layer::of_blocking(stream);
        Self { tcp, layer }
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
        let read = self.layer.read(&mut self.tcp, buffer, |bytes| {
            taken = true;
            take(bytes)
        });
        match read {
            Ok(n) => Ok(n == size || !taken),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(e) => Err(e),
        }
    }

    /// See [`Layer::write`].
    pub(super) fn write(&mut self, bytes: &[u8], written: &mut usize) -> io::Result<()> {
        self.layer.write(&mut self.tcp, bytes, written)
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
        self.tcp.as_raw_fd()
    }
}
