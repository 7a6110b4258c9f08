//! One request and its answer, as a future is polled.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{ExchangeError, KEEP_CAPACITY, SharedLane};
use crate::Error;
use crate::clock;
use crate::driver::empty;
use crate::driver::slots::Taken;
use crate::lane::{Class, Millis, Ticket};
use crate::metrics::Stamp;

thread_local! {
    static REQUEST: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static ANSWER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// One request and its answer. Dropped before the end, it becomes an orphan: its answer goes to nobody else.
pub(crate) struct Exchange<'a, E> {
    pub(super) lane: &'a Arc<SharedLane>,
    pub(super) node: u16,
    pub(super) class: Class,
    pub(super) nanos: u64,
    pub(super) deadline: Millis,
    pub(super) stamp: Stamp,
    pub(super) encode: Option<E>,
    pub(super) entry: Option<(u32, Ticket)>,
}

impl<E> Exchange<'_, E>
where
    E: FnOnce(&mut Vec<u8>) -> Result<(), Error>,
{
    /// To be measured.
    pub(crate) fn stamped(mut self, stamp: Stamp) -> Self {
        self.stamp = stamp;
        self
    }

    /// Encodes and submits at the first call; later takes the answer and gives its message to `decode`.
    pub(crate) fn poll_with<R>(
        &mut self,
        cx: &mut Context<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Poll<Result<R, ExchangeError>> {
        let Some((slot, _)) = self.entry else {
            let Some(encode) = self.encode.take() else { return Poll::Pending };
            // Taken out, not borrowed, while foreign code (the encoding of values) and the lane run.
            let mut request = REQUEST.take();
            let submitted = encode(&mut request).map_err(ExchangeError::Encode).and_then(|()| {
                self.lane.submit(self.node, self.class, &request, (self.deadline, self.nanos, self.stamp), cx.waker())
            });
            empty(&mut request, KEEP_CAPACITY);
            REQUEST.set(request);
            return match submitted {
                Ok(entry) => {
                    self.entry = Some(entry);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error)),
            };
        };
        let mut answer = ANSWER.take();
        let taken = {
            let mut state = self.lane.state.lock();
            let taken = state.slots.take(slot, cx.waker(), &mut answer);
            state.flush_if_drained();
            taken
        };
        let result = match taken {
            Taken::Pending(replaced) => {
                drop(replaced);
                Poll::Pending
            }
            Taken::Outcome(Ok(())) => {
                self.entry = None;
                Poll::Ready(Ok(decode(&answer)))
            }
            Taken::Outcome(Err(failure)) => {
                self.entry = None;
                Poll::Ready(Err(ExchangeError::Failed(failure)))
            }
        };
        empty(&mut answer, KEEP_CAPACITY);
        ANSWER.set(answer);
        result
    }
}

impl<E> Drop for Exchange<'_, E> {
    fn drop(&mut self) {
        if let Some((slot, ticket)) = self.entry.take() {
            let now = self.lane.millis(clock::now());
            let mut state = self.lane.state.lock();
            // If the lane has let go of it, its outcome lies in the slot, unread.
            let _ = state.lane.cancel(self.node, self.class, ticket, now);
            let waker = state.slots.release(slot);
            state.flush_if_drained();
            // Others may go on now, and a connection may be of no use any more.
            self.lane.settle(state);
            drop(waker);
        }
    }
}
