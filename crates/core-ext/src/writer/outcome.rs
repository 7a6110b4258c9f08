//! The handle of a record that was handed over.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use aerolane_wire::digest::Digest;

use super::block::BlockOwner;
use super::core::Tag;
use super::delivery::{Delivery, Written};
use super::driver::WriterKey;
use super::lone::{LoneRecord, WeakLoneRecordSource};
use crate::client::RawKey;
use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex};

/// A record's key, and its outcome once there is one.
pub(super) struct Cell<K: WriterKey> {
    key: K,
    owner: Option<Arc<dyn BlockOwner<K>>>,
    delivery: OnceLock<Delivery>,
    waiting: Mutex<Waiting<K>>,
    came: Condvar,
}

struct Waiting<K: WriterKey> {
    wakers: Vec<Waker>,
    /// Threads that are blocked.
    threads: u32,
    /// The record is left to whoever waits.
    keeper: Option<WeakLoneRecordSource<K>>,
    /// Whoever waits has taken the record over.
    is_taken: bool,
}

impl<K: WriterKey> Cell<K> {
    pub(super) fn new(key: K, owner: Option<Arc<dyn BlockOwner<K>>>) -> Arc<Self> {
        let waiting = Mutex::new(Waiting { wakers: Vec::new(), threads: 0, keeper: None, is_taken: false });
        Arc::new(Self { key, owner, delivery: OnceLock::new(), waiting, came: Condvar::new() })
    }

    /// Who hears the outcome in place of the writer's own listeners.
    pub(super) const fn owner(&self) -> Option<&Arc<dyn BlockOwner<K>>> {
        self.owner.as_ref()
    }

    pub(super) fn key(&self) -> &K {
        &self.key
    }

    pub(super) fn delivery(&self) -> Option<&Delivery> {
        self.delivery.get()
    }

    /// Leaves the record to whoever waits for it.
    pub(super) fn leave_to_wait(&self, keeper: WeakLoneRecordSource<K>) {
        self.waiting.lock().keeper = Some(keeper);
    }

    /// Sets the outcome, once. The caller wakes those who wait, where it holds no lock. Also tells whether there is somebody.
    pub(super) fn set(&self, delivery: Delivery) -> (Vec<Waker>, bool) {
        let mut waiting = self.waiting.lock();
        let _ = self.delivery.set(delivery);
        let blocked = waiting.threads > 0;
        if blocked {
            self.came.notify_all();
        }
        let wakers = std::mem::take(&mut waiting.wakers);
        let awaited = blocked || waiting.is_taken || !wakers.is_empty();
        (wakers, awaited)
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<&Delivery> {
        if let Some(delivery) = self.delivery.get() {
            return Poll::Ready(delivery);
        }
        let mut waiting = self.waiting.lock();
        // It may have come before the lock.
        if let Some(delivery) = self.delivery.get() {
            return Poll::Ready(delivery);
        }
        if !waiting.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.wakers.push(cx.waker().clone());
        }
        if let Some(keeper) = waiting.keeper.take() {
            drop(waiting);
            let_go(&keeper);
        }
        Poll::Pending
    }

    fn wait(&self, deadline: Option<Instant>) -> Option<&Delivery> {
        if self.delivery.get().is_none() {
            let mut waiting = self.waiting.lock();
            waiting.threads += 1;
            if let Some(keeper) = waiting.keeper.take() {
                drop(waiting);
                match (deadline, keeper.upgrade()) {
                    (None, Some(keeper)) => keeper.take_over().into_iter().for_each(|record| record.send_here(None)),
                    _ => let_go(&keeper),
                }
                waiting = self.waiting.lock();
            }
            while self.delivery.get().is_none() {
                match deadline {
                    None => waiting = self.came.wait(waiting),
                    Some(deadline) => {
                        let timed_out;
                        (waiting, timed_out) = self.came.wait_until(waiting, deadline);
                        if timed_out {
                            break;
                        }
                    }
                }
            }
            waiting.threads -= 1;
        }
        self.delivery.get()
    }
}

fn let_go<K: WriterKey>(keeper: &WeakLoneRecordSource<K>) {
    if let Some(keeper) = keeper.upgrade() {
        keeper.let_go();
    }
}

/// The key of a record, where the record is counted.
pub(super) struct CellRef<K: WriterKey>(pub(super) Arc<Cell<K>>);

impl<K: WriterKey> Clone for CellRef<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: WriterKey> Deref for CellRef<K> {
    type Target = Cell<K>;

    fn deref(&self) -> &Cell<K> {
        &self.0
    }
}

impl<K: WriterKey> Tag for CellRef<K> {
    fn digest(&self) -> &Digest {
        self.key.digest()
    }

    fn namespace(&self) -> &str {
        self.key.namespace()
    }
}

impl<K: WriterKey> RawKey for CellRef<K> {
    fn namespace(&self) -> &str {
        self.key.namespace()
    }

    fn digest(&self) -> &Digest {
        self.key.digest()
    }

    fn names(&self) -> (&[u8], u32) {
        self.key.names()
    }

    fn user_key(&self) -> &[u8] {
        self.key.user_key()
    }
}

/// The outcome of a record that was handed to a [`Writer`](super::Writer).
///
/// Await it, ask it from time to time ([`delivery`](Self::delivery)), or drop it: the record is written in any case, and a
/// wait that is cancelled loses nothing, as it can be awaited again. Cheap to clone. Awaiting gives the server's
/// confirmation; attempts, times and the rest are in the [`Delivery`].
pub struct Outcome<K: WriterKey = super::RecordKey>(CellRef<K>);

impl<K: WriterKey> Clone for Outcome<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: WriterKey> Outcome<K> {
    pub(super) const fn new(cell: CellRef<K>) -> Self {
        Self(cell)
    }

    pub(super) fn cell(&self) -> CellRef<K> {
        self.0.clone()
    }

    pub(super) fn owner(&self) -> Option<&Arc<dyn BlockOwner<K>>> {
        self.0.owner()
    }

    /// The key of the record.
    #[must_use]
    pub fn record_key(&self) -> &K {
        self.0.key()
    }

    /// The outcome in full; `None`: there is none yet.
    #[must_use]
    pub fn delivery(&self) -> Option<&Delivery> {
        self.0.delivery()
    }

    /// Takes over a record that is alone, and that the writer has left to whoever waits for it: the caller sends it. `None`: the
    /// writer does.
    #[must_use]
    pub fn take_over(&self) -> Option<LoneRecord<K>> {
        if self.is_done() {
            return None;
        }
        let keeper = self.0.waiting.lock().keeper.take()?;
        let record = keeper.upgrade()?.take_over();
        self.0.waiting.lock().is_taken = record.is_some();
        record
    }

    /// Whether there is an outcome.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.delivery().is_some()
    }

    /// Waits for the outcome in full.
    pub async fn delivered(&self) -> &Delivery {
        poll_fn(|cx| self.0.poll(cx).map(|_| ())).await;
        match self.0.delivery() {
            Some(delivery) => delivery,
            None => unreachable!("it was there, and never goes"),
        }
    }

    /// Asks for the outcome, and to be woken when there is one.
    pub fn poll_delivered(&self, cx: &Context<'_>) -> Poll<&Delivery> {
        self.0.poll(cx)
    }

    /// Blocks the calling thread until there is an outcome. For threads without an async runtime.
    #[must_use]
    pub fn wait(&self) -> &Delivery {
        match self.0.wait(None) {
            Some(delivery) => delivery,
            None => unreachable!("without a deadline it waits for the outcome"),
        }
    }

    /// [`wait`](Self::wait) until a moment; `None`: there is no outcome until then.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> Option<&Delivery> {
        self.0.wait(Some(deadline))
    }
}

impl<K: WriterKey> Future for Outcome<K> {
    type Output = Result<Written>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Written>> {
        self.0.poll(cx).map(|delivery| delivery.result().cloned().map_err(Error::clone))
    }
}

impl<K: WriterKey> fmt::Debug for Outcome<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.delivery() {
            None => f.write_str("Outcome(outstanding)"),
            Some(delivery) => f.debug_tuple("Outcome").field(delivery).finish(),
        }
    }
}
