//! The outcomes of a writer as they come.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::driver::{Inner, WriterKey};
use super::outcome::Outcome;
use crate::sync::Mutex;

/// Outcomes that nobody has taken yet.
pub(super) struct Queue<K: WriterKey>(Mutex<Queued<K>>);

struct Queued<K: WriterKey> {
    outcomes: VecDeque<Outcome<K>>,
    /// Of those who wait for one.
    wakers: Vec<Waker>,
    /// No more will come.
    ended: bool,
    /// Somebody takes them.
    open: bool,
}

impl<K: WriterKey> Queue<K> {
    pub(super) fn new(ended: bool) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Queued { outcomes: VecDeque::new(), wakers: Vec::new(), ended, open: true })))
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.lock().open
    }

    /// Adds an outcome; false: nobody takes them any more.
    pub(super) fn push(&self, outcome: Outcome<K>) -> bool {
        let mut queued = self.0.lock();
        if !queued.open {
            return false;
        }
        queued.outcomes.push_back(outcome);
        let wakers = std::mem::take(&mut queued.wakers);
        drop(queued);
        wakers.into_iter().for_each(Waker::wake);
        true
    }

    pub(super) fn end(&self) {
        let mut queued = self.0.lock();
        queued.ended = true;
        let wakers = std::mem::take(&mut queued.wakers);
        drop(queued);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Option<Outcome<K>>> {
        let mut queued = self.0.lock();
        match queued.outcomes.pop_front() {
            Some(outcome) => Poll::Ready(Some(outcome)),
            None if queued.ended => Poll::Ready(None),
            None => {
                if !queued.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                    queued.wakers.push(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    fn put_back(&self, outcome: Outcome<K>) {
        let mut queued = self.0.lock();
        if queued.open {
            queued.outcomes.push_front(outcome);
        }
        let wakers = std::mem::take(&mut queued.wakers);
        drop(queued);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes no more; gives how many were there.
    fn close(&self) -> usize {
        let mut queued = self.0.lock();
        queued.open = false;
        queued.outcomes.drain(..).count()
    }
}

/// The outcomes of a writer in the order in which they come; ends when the writer is closed and nothing is outstanding.
///
/// An outcome that has not been taken counts as outstanding: take them in another task (or thread) than the one that hands
/// records over, or the writer waits for room that only this one could make. Dropping it ends that.
pub struct Outcomes<K: WriterKey = super::RecordKey> {
    inner: Arc<Inner<K>>,
    queue: Arc<Queue<K>>,
}

impl<K: WriterKey> Outcomes<K> {
    pub(super) const fn new(inner: Arc<Inner<K>>, queue: Arc<Queue<K>>) -> Self {
        Self { inner, queue }
    }

    /// The next outcome, and to be woken when there is one.
    pub fn poll_outcome(&self, cx: &Context<'_>) -> Poll<Option<Outcome<K>>> {
        self.queue.poll(cx).map(|outcome| {
            let outcome = outcome?;
            self.inner.free_records(1);
            Some(outcome)
        })
    }

    /// Gives an outcome back that was taken for somebody who has gone: it is the next one again.
    pub fn put_back(&self, outcome: &Outcome<K>) {
        // Its room has gone to another record. The queue has no bound of its own, so that does no harm; but what is freed
        // later must not be freed twice.
        self.inner.reserve_record();
        self.queue.put_back(outcome.clone());
    }

    /// Waits for the next outcome; `None`: the writer is closed, and there are no more.
    pub async fn next(&mut self) -> Option<Outcome<K>> {
        std::future::poll_fn(|cx| self.poll_outcome(cx)).await
    }

    /// [`next`](Self::next) for threads: blocks the calling one.
    ///
    /// # Errors
    /// `ClientClosed`: the client was closed meanwhile.
    pub fn next_blocking(&mut self) -> crate::Result<Option<Outcome<K>>> {
        // What is there is given even if the client is closed.
        if let Poll::Ready(outcome) = self.poll_outcome(&Context::from_waker(Waker::noop())) {
            return Ok(outcome);
        }
        let inner = Arc::clone(&self.inner);
        inner.block_on(self.next())
    }
}

impl<K: WriterKey> Stream for Outcomes<K> {
    type Item = Outcome<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome<K>>> {
        self.poll_outcome(cx)
    }
}

impl<K: WriterKey> Drop for Outcomes<K> {
    fn drop(&mut self) {
        self.inner.free_records(self.queue.close());
    }
}

impl<K: WriterKey> fmt::Debug for Outcomes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcomes").finish_non_exhaustive()
    }
}
