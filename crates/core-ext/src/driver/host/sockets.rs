//! The sockets of a driver, found by descriptor and by connection without a search.

use std::os::fd::{AsRawFd, RawFd};

use super::stream::HostStream;
use crate::driver::low_water_mark::LowWaterMark;
use crate::lane::{Class, ConnId};

/// No socket.
const NONE: u32 = u32::MAX;

/// One connection's socket.
pub(super) struct Socket {
    pub(super) id: ConnId,
    pub(super) stream: HostStream,
    pub(super) out: Vec<u8>,
    pub(super) written: usize,
    pub(super) watches_writable: bool,
    pub(super) mark: LowWaterMark,
    /// Whether something came since the marks were last looked after.
    pub(super) progress: bool,
}

impl Socket {
    pub(super) fn new(id: ConnId, stream: impl Into<HostStream>) -> Self {
        let stream = stream.into();
        let mark = if stream.is_tls() { LowWaterMark::off() } else { LowWaterMark::new() };
        Self { id, stream, out: Vec::new(), written: 0, watches_writable: false, mark, progress: false }
    }

    /// How many bytes of `out` have surely not been sent.
    pub(super) fn unsent(&self) -> usize {
        self.out.len() - self.written + self.stream.unsent()
    }

    pub(super) fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

/// All sockets of a driver. An index is good until the next removal.
#[derive(Default)]
pub(super) struct Sockets {
    all: Vec<Socket>,
    /// Indices by descriptor: a process numbers its descriptors from 0 without gaps, so this stays small.
    by_fd: Vec<u32>,
    /// Indices by node, class and slot: what names a connection in its lane.
    by_slot: Vec<[Vec<u32>; Class::ALL.len()]>,
}

impl Sockets {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn with_fd(&self, fd: RawFd) -> Option<usize> {
        let index = *self.by_fd.get(usize::try_from(fd).ok()?)?;
        (index != NONE).then_some(index as usize)
    }

    pub(super) fn of(&self, id: ConnId) -> Option<usize> {
        let slots = &self.by_slot.get(usize::from(id.node()))?[id.class().index()];
        let index = *slots.get(usize::from(id.slot))? as usize;
        // The slot may have gone to another connection.
        self.all.get(index).is_some_and(|socket| socket.id == id).then_some(index)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Socket> {
        self.all.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Socket {
        &mut self.all[index]
    }

    pub(super) fn insert(&mut self, socket: Socket) -> usize {
        let index = self.all.len();
        self.all.push(socket);
        self.note(index);
        index
    }

    pub(super) fn remove(&mut self, index: usize) -> Socket {
        let socket = self.all.swap_remove(index);
        self.by_fd[socket.fd() as usize] = NONE;
        let slot = self.slot(socket.id);
        // Unless another connection has the slot by now.
        if *slot as usize == index {
            *slot = NONE;
        }
        if index < self.all.len() {
            self.note(index);
        }
        socket
    }

    pub(super) fn pop(&mut self) -> Option<Socket> {
        (!self.all.is_empty()).then(|| self.remove(self.all.len() - 1))
    }

    fn note(&mut self, index: usize) {
        let (id, fd) = (self.all[index].id, self.all[index].fd() as usize);
        if fd >= self.by_fd.len() {
            self.by_fd.resize(fd + 1, NONE);
        }
        self.by_fd[fd] = index as u32;
        *self.slot(id) = index as u32;
    }

    fn slot(&mut self, id: ConnId) -> &mut u32 {
        let node = usize::from(id.node());
        if node >= self.by_slot.len() {
            self.by_slot.resize_with(node + 1, Default::default);
        }
        let slots = &mut self.by_slot[node][id.class().index()];
        let slot = usize::from(id.slot);
        if slot >= slots.len() {
            slots.resize(slot + 1, NONE);
        }
        &mut slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::connect::BlockingStream;
    use crate::lane::{Lane, LaneSizing, Millis};

    /// Removal moves the last socket into the gap: both ways of finding it must follow.
    #[test]
    fn every_socket_is_found_whatever_was_removed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sizing = LaneSizing::from(&crate::PoolSizing { min: 1, max: 8, ..Default::default() });
        let mut lane = Lane::<()>::new(sizing);
        let mut sockets = Sockets::default();
        let mut known = Vec::new();
        for round in 0..12_u16 {
            let id = lane.opened(round % 3, Class::Single, Millis(0));
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let socket = Socket::new(id, BlockingStream::Plain(stream));
            known.push((id, socket.fd()));
            sockets.insert(socket);
        }
        let mut state = 7_usize;
        while !known.is_empty() {
            for (id, fd) in &known {
                let index = sockets.of(*id).unwrap();
                assert_eq!(Some(index), sockets.with_fd(*fd));
                assert_eq!((sockets.get_mut(index).id, sockets.get_mut(index).fd()), (*id, *fd));
            }
            assert_eq!(sockets.len(), known.len());
            state = state.wrapping_mul(25).wrapping_add(11);
            let (id, fd) = known.swap_remove(state % known.len());
            let index = sockets.of(id).unwrap();
            let gone = sockets.remove(index);
            assert_eq!((gone.id, gone.fd()), (id, fd));
            assert!(sockets.of(id).is_none() && sockets.with_fd(fd).is_none());
        }
        assert!(sockets.is_empty() && sockets.pop().is_none());
        assert!(sockets.with_fd(-1).is_none() && sockets.with_fd(RawFd::MAX).is_none());
    }
}
