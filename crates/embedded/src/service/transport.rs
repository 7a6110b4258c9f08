//! How bytes of a connection get to the socket: directly, or through TLS.

use mio::net::TcpStream;
use std::io;
use std::sync::Arc;

/// What stands between a connection and its socket. Everything is non-blocking: `WouldBlock` means "later".
pub(crate) trait Transport: Send {
    /// Reads plain bytes; 0 = the client has closed.
    fn read(&mut self, stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize>;

    /// Takes over plain bytes to be sent, as many as it has room for.
    fn write(&mut self, stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize>;

    /// Sends what it holds back; `true` when nothing is left.
    fn flush(&mut self, stream: &mut TcpStream) -> io::Result<bool>;

    /// The name in the certificate that the client has shown and that was found to be signed as it has to be.
    /// `None`: it has shown none, or one that does not say one name.
    fn common_name(&self) -> Option<String>;
}

/// Makes the transport of a new connection.
pub(crate) type TransportFactory = Arc<dyn Fn() -> io::Result<Box<dyn Transport>> + Send + Sync>;
