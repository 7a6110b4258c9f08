//! The handle of a record that was handed over.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use aerolane_wire::digest::Digest;

use super::block::BlockOwner;
use super::core::Tag;
use super::delivery::{Delivery, Written};
use super::driver::WriterKey;
use super::lone::{LoneRecord, WeakLoneRecordSource};
use super::row_outcomes::RowOutcomes;
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

    /// What awaiting the outcome gives, once it is there.
    pub(super) fn result(&self) -> Option<Result<Written>> {
        self.delivery().map(|delivery| delivery.result().cloned().map_err(Error::clone))
    }

    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<&Delivery> {
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

    pub(super) fn wait(&self, deadline: Option<Instant>) -> Option<&Delivery> {
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
                let timed_out;
                (waiting, timed_out) = self.came.wait_for(waiting, deadline);
                if timed_out {
                    break;
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
pub struct Outcome<K: WriterKey = super::RecordKey>(Of<K>);

/// Where the outcome is.
enum Of<K: WriterKey> {
    Record(CellRef<K>),
    /// A row of a block.
    Row(Arc<RowOutcomes<K>>, u32),
}

impl<K: WriterKey> Clone for Outcome<K> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Of::Record(cell) => Of::Record(cell.clone()),
            Of::Row(rows, row) => Of::Row(Arc::clone(rows), *row),
        })
    }
}

impl<K: WriterKey> Outcome<K> {
    pub(super) const fn new(cell: CellRef<K>) -> Self {
        Self(Of::Record(cell))
    }

    pub(super) fn of_row(rows: &Arc<RowOutcomes<K>>, row: u32) -> Self {
        Self(Of::Row(Arc::clone(rows), row))
    }

    pub(super) fn owner(&self) -> Option<&Arc<dyn BlockOwner<K>>> {
        match &self.0 {
            Of::Record(cell) => cell.owner(),
            Of::Row(..) => None,
        }
    }

    /// The key of the record.
    #[must_use]
    pub fn record_key(&self) -> &K {
        match &self.0 {
            Of::Record(cell) => cell.key(),
            Of::Row(rows, row) => rows.key(*row),
        }
    }

    /// The outcome in full; `None`: there is none yet.
    #[must_use]
    pub fn delivery(&self) -> Option<&Delivery> {
        match &self.0 {
            Of::Record(cell) => cell.delivery(),
            Of::Row(rows, row) => rows.delivery(*row),
        }
    }

    /// What awaiting it gives, if it is there: without the rest of the [`Delivery`].
    #[must_use]
    pub fn result(&self) -> Option<Result<Written>> {
        match &self.0 {
            Of::Record(cell) => cell.result(),
            Of::Row(rows, row) => rows.result(*row),
        }
    }

    /// [`Delivery::sequence`] and [`Delivery::took`], without the rest.
    #[must_use]
    pub fn sequence_and_took(&self) -> Option<(u64, Duration)> {
        match &self.0 {
            Of::Record(cell) => cell.delivery().map(|delivery| (delivery.sequence(), delivery.took())),
            Of::Row(rows, row) => rows.sequence_and_took(*row),
        }
    }

    /// Why the record has failed, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        match &self.0 {
            Of::Record(cell) => cell.delivery().and_then(Delivery::error),
            Of::Row(rows, row) => rows.error(*row),
        }
    }

    /// Takes over a record that is alone, and that the writer has left to whoever waits for it: the caller sends it. `None`: the
    /// writer does.
    #[must_use]
    pub fn take_over(&self) -> Option<LoneRecord<K>> {
        let Of::Record(cell) = &self.0 else { return None };
        if self.is_done() {
            return None;
        }
        let keeper = cell.waiting.lock().keeper.take()?;
        let record = keeper.upgrade()?.take_over();
        cell.waiting.lock().is_taken = record.is_some();
        record
    }

    /// Whether there is an outcome.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.0 {
            Of::Record(cell) => cell.delivery().is_some(),
            Of::Row(rows, row) => rows.is_done(*row),
        }
    }

    fn poll_done(&self, cx: &Context<'_>) -> Poll<()> {
        match &self.0 {
            Of::Record(cell) => cell.poll(cx).map(|_| ()),
            Of::Row(rows, row) => rows.poll(*row, cx),
        }
    }

    /// Waits for the outcome in full.
    pub async fn delivered(&self) -> &Delivery {
        poll_fn(|cx| self.poll_done(cx)).await;
        match self.delivery() {
            Some(delivery) => delivery,
            None => unreachable!("it was there, and never goes"),
        }
    }

    /// Waits until there is an outcome.
    pub async fn done(&self) {
        poll_fn(|cx| self.poll_done(cx)).await;
    }

    /// Blocks the calling thread until there is an outcome. For threads without an async runtime.
    #[must_use]
    pub fn wait(&self) -> &Delivery {
        match self.wait_for(None) {
            Some(delivery) => delivery,
            None => unreachable!("without a deadline it waits for the outcome"),
        }
    }

    /// [`wait`](Self::wait) until a moment; `None`: there is no outcome until then.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> Option<&Delivery> {
        self.wait_for(Some(deadline))
    }

    pub(super) fn wait_for(&self, deadline: Option<Instant>) -> Option<&Delivery> {
        match &self.0 {
            Of::Record(cell) => cell.wait(deadline),
            Of::Row(rows, row) => rows.wait(*row, deadline),
        }
    }
}

impl<K: WriterKey> Future for Outcome<K> {
    type Output = Result<Written>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Written>> {
        std::task::ready!(self.poll_done(cx));
        match self.result() {
            Some(result) => Poll::Ready(result),
            None => unreachable!("it was there, and never goes"),
        }
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
