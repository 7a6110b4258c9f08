//! A listener of a node, and how it lets connects vanish.

use super::ListenerId;
use super::transport::TransportFactory;
use crate::cluster::Node;
use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, SockRef, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 1024;

/// A listener of a node.
pub(super) struct Listener {
    pub(super) id: ListenerId,
    pub(super) node: Arc<Node>,
    pub(super) socket: TcpListener,
    pub(super) transport: Option<TransportFactory>,
    /// While connects vanish: the connection that fills the queue of those that wait to be accepted.
    filler: Option<Socket>,
    /// The address of the last filler: that is no client.
    own: Option<SocketAddr>,
}

impl Listener {
    pub(super) fn new(
        id: ListenerId,
        node: Arc<Node>,
        socket: TcpListener,
        transport: Option<TransportFactory>,
    ) -> Self {
        Self { id, node, socket, transport, filler: None, own: None }
    }

    /// The next connection that waits, if any does and connects do not vanish.
    pub(super) fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        if self.filler.is_some() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        loop {
            let (stream, peer) = self.socket.accept()?;
            if self.own != Some(peer) {
                return Ok((stream, peer));
            }
            self.own = None;
        }
    }

    /// Does as the faults of the node say; `true`: connections may wait that were not announced.
    pub(super) fn follow_faults(&mut self) -> bool {
        let vanish = self.node.faults.loses_connects();
        if vanish == self.filler.is_some() {
            return false;
        }
        let changed = if vanish { self.fill() } else { self.empty() };
        if let Err(error) = changed {
            log::warn!("{}: connects cannot be made to vanish, or to arrive again: {error}", self.node.name);
        }
        !vanish
    }

    /// Lets one connection wait, the only one for which there is room then. Linux drops the SYNs of all others, and clients send
    /// them again, in vain. Elsewhere the rule is refused.
    fn fill(&mut self) -> io::Result<()> {
        let address = self.socket.local_addr()?;
        SockRef::from(&self.socket).listen(0)?;
        let filler = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        filler.set_nonblocking(true)?;
        // Under way is enough: a client that was quicker fills the queue as well.
        let _ = filler.connect(&address.into());
        self.filler = Some(filler);
        Ok(())
    }

    fn empty(&mut self) -> io::Result<()> {
        let Some(filler) = self.filler.take() else { return Ok(()) };
        SockRef::from(&self.socket).listen(BACKLOG)?;
        if filler.peer_addr().is_ok() {
            // It came through, and waits among the clients'.
            self.own = filler.local_addr()?.as_socket();
        }
        Ok(())
    }
}
