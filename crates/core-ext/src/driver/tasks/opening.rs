//! Connections being opened.

use std::sync::Arc;

use super::connection::ConnectionTask;
use super::socket::Socket;
use super::{Driven, SharedLane, State};
use crate::Error;
use crate::clock;
use crate::connect::Stream;
use crate::lane::Class;

/// A connection being opened. If its runtime ends first, the lane hears of it.
pub(super) struct Opening {
    pub(super) lane: Arc<SharedLane>,
    pub(super) node: u16,
    pub(super) class: Class,
    pub(super) done: bool,
}

impl Opening {
    pub(super) async fn run(mut self) {
        let opener = Arc::clone(&self.lane.opener);
        let outcome = opener.open(self.node, self.class).await;
        self.done = true;
        match outcome {
            Ok(stream) => self.attach(stream),
            Err(error) => {
                self.failed(&error);
                opener.lost();
            }
        }
    }

    fn attach(&self, stream: Stream) {
        let now = self.lane.millis(clock::now());
        let io = Socket::from(stream);
        let (tcp, direct, held) = (Arc::clone(io.tcp()), !io.is_tls(), Arc::default());
        let mut state = self.lane.state.lock();
        if state.closed {
            drop(state);
            // The lane counts it as being opened until it is told.
            self.failed(&Error::client_closed());
            return;
        }
        let id = state.lane.opened(self.node, self.class, now);
        state.connections.push(Driven {
            id,
            waker: None,
            tcp,
            direct,
            held: Arc::clone(&held),
            read_now: false,
            close: false,
        });
        let connection = ConnectionTask::new(Arc::clone(&self.lane), id, io, held);
        self.lane.settle(state);
        self.lane.runtime.spawn(connection);
    }

    fn failed(&self, error: &Error) {
        let mut state = self.lane.state.lock();
        let State { lane, slots, .. } = &mut *state;
        lane.open_failed(self.node, self.class, error, slots);
        self.lane.settle(state);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.done {
            self.failed(&Error::client_error("the runtime that was opening a connection has ended"));
        }
    }
}
