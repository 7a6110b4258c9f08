//! A reference to a lane for futures: one request, one answer, whatever drives the lane.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::host::{HostExchange, HostHandle};
use super::tasks::{Exchange, ExchangeError, SharedLane};
use crate::error::Result;
use crate::lane::Class;
use crate::metrics::Stamp;

/// A lane, whatever drives it.
#[derive(Clone, Copy)]
pub(crate) enum LaneRef<'l> {
    /// Driven by tokio tasks.
    Tasks(&'l Arc<SharedLane>),
    /// Driven by the event loop on whose thread the future is polled.
    Host(&'l HostHandle),
}

/// One request and its answer. Dropped before the end, it becomes an orphan.
pub(crate) enum LaneExchange<'l, E> {
    Tasks(Exchange<'l, E>),
    Host(HostExchange),
}

impl<'l> LaneRef<'l> {
    /// Starts an exchange; nothing is sent before it is polled. `encode` writes one whole frame.
    pub(crate) fn exchange<E>(
        self,
        node: u16,
        class: Class,
        (now, deadline, stamp): (Instant, Option<Instant>, Stamp),
        encode: E,
    ) -> LaneExchange<'l, E>
    where
        E: FnOnce(&mut Vec<u8>) -> Result<()>,
    {
        match self {
            Self::Tasks(lane) => {
                let exchange = lane.exchange(node, class, now, lane.deadline(deadline), encode);
                LaneExchange::Tasks(exchange.stamped(stamp))
            }
            Self::Host(handle) => {
                let mut request = Vec::new();
                let encoded = encode(&mut request).map(|()| request);
                LaneExchange::Host(handle.exchange(node, class, (now, deadline, stamp), encoded))
            }
        }
    }
}

impl<E> LaneExchange<'_, E>
where
    E: FnOnce(&mut Vec<u8>) -> Result<()>,
{
    /// Submits at the first call; later takes the answer and gives it to `decode`.
    pub(crate) fn poll_with<R>(
        &mut self,
        cx: &mut Context<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Poll<std::result::Result<R, ExchangeError>> {
        match self {
            Self::Tasks(exchange) => exchange.poll_with(cx, decode),
            Self::Host(exchange) => exchange.poll_with(cx, decode),
        }
    }
}
