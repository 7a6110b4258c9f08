//! The addresses that nodes tell clients, where those are not the ones that they listen on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What nodes tell instead of the address that they listen on; the ports stay.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Access {
    /// To all clients that do not ask for the alternate one.
    pub(super) standard: Option<IpAddr>,
    /// To those that do (`use_services_alternate`). `None`: the same as to the others.
    pub(super) alternate: Option<IpAddr>,
}

impl Access {
    /// Where clients are to connect. An address that stands for all of the machine's is none to connect to: loopback, then.
    pub(crate) fn standard(&self, listens: SocketAddr) -> SocketAddr {
        let own = match listens.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(self.standard.unwrap_or(own), listens.port())
    }

    /// Where clients are to connect that ask for alternate addresses.
    pub(crate) fn alternate(&self, listens: SocketAddr) -> SocketAddr {
        self.alternate.map_or_else(|| self.standard(listens), |ip| SocketAddr::new(ip, listens.port()))
    }
}
