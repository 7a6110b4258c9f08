//! What is known about one node.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Breaker;
use crate::logging::event;

/// A node's number within one client: small, dense, and kept as long as the client lives. A node that leaves the
/// cluster and returns under the same name has the same id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u16);

impl NodeId {
    /// No node.
    pub const NONE: Self = Self(u16::MAX);
    /// How many nodes one client can tell apart over its whole life.
    pub const CAPACITY: usize = u16::MAX as usize;

    /// The id with this index; [`NONE`](Self::NONE) for indexes that no node can have.
    #[must_use]
    pub const fn from_index(index: usize) -> Self {
        if index < Self::CAPACITY { Self(index as u16) } else { Self::NONE }
    }

    /// For use as an array index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE { f.write_str("NodeId(none)") } else { write!(f, "NodeId({})", self.0) }
    }
}

/// One node: how it is called, where it listens, and how well it does.
#[derive(Debug)]
pub struct NodeInfo {
    id: NodeId,
    name: Box<str>,
    host: Box<str>,
    tls_name: Option<Box<str>>,
    addresses: Box<[SocketAddr]>,
    login_addresses: Box<[SocketAddr]>,
    label: Arc<str>,
    breaker: Arc<Breaker>,
}

impl NodeInfo {
    /// Counts one error of the node, and logs it if that opened the circuit breaker.
    pub(crate) fn record_error(&self) {
        if self.breaker.record_error() {
            self.log_breaker_opened();
        }
    }

    /// Logs that the circuit breaker has opened.
    #[cold]
    pub(crate) fn log_breaker_opened(&self) {
        event!(
            info,
            "circuit breaker opened: requests to the node fail until the error window ends",
            node = self.label(),
            errors = self.breaker.errors()
        );
    }

    /// A node at these addresses, the preferred one first.
    #[must_use]
    pub fn new(id: NodeId, name: &str, host: &str, addresses: Vec<SocketAddr>, breaker: Arc<Breaker>) -> Self {
        Self {
            id,
            name: name.into(),
            host: host.into(),
            tls_name: None,
            addresses: addresses.into(),
            login_addresses: Box::default(),
            label: format!("{name}: {host}").into(),
            breaker,
        }
    }

    /// With the name that its TLS certificate must have.
    #[must_use]
    pub fn with_tls_name(mut self, tls_name: Option<&str>) -> Self {
        self.tls_name = tls_name.map(Into::into);
        self
    }

    /// With the TLS addresses at which to log in, when only the login uses TLS.
    #[must_use]
    pub fn with_login_addresses(mut self, addresses: Vec<SocketAddr>) -> Self {
        self.login_addresses = addresses.into();
        self
    }

    /// The node's number.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The server's name of the node, such as `BB9020011AC4202`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens, as `host:port`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The name that its TLS certificate must have, when the node has one of its own.
    #[must_use]
    pub fn tls_name(&self) -> Option<&str> {
        self.tls_name.as_deref()
    }

    /// The addresses to connect to, in the order to try them.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where to log in over TLS while the other connections are plain (`TlsPolicy::for_login_only`); else empty.
    #[must_use]
    pub fn login_addresses(&self) -> &[SocketAddr] {
        &self.login_addresses
    }

    /// `NAME: host:port`, as errors name a node. Cheap to clone.
    #[must_use]
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// The node's circuit breaker; shared by all snapshots.
    #[must_use]
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.breaker
    }

    /// Whether both describe the same node at the same place.
    #[must_use]
    pub(crate) fn same_place(&self, other: &Self) -> bool {
        self.id == other.id
            && self.name == other.name
            && self.host == other.host
            && self.tls_name == other.tls_name
            && self.addresses == other.addresses
            && self.login_addresses == other.login_addresses
    }
}
