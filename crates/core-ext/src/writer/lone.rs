//! A lone record whose outcome is awaited: whoever waits sends it, on the lane or the thread of the wait, as a plain `put`
//! would.
//!
//! Handing a record to another thread, and its outcome back, takes about as long as a fast server does. So where a program
//! awaits one record before it hands over the next, the writer leaves a record that is alone to the wait, which mostly comes
//! at once. It sends the record itself when something else happens first: another record, a flush, the end of this time.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::delivery::{AttemptEnd, Written};
use super::driver::{Inner, SenderRuntime, State, WriterKey};
use super::outcome::CellRef;
use super::sender::Batch;
use crate::client::RawShape;
use crate::clock;
use crate::driver::host::HostHandle;
use crate::driver::lane_ref::LaneRef;
use crate::error::{Error, Result};

/// For how long a record is left to a wait.
const KEPT_FOR: Duration = Duration::from_millis(1);
/// For how long the timer goes on to look for such a record: to set it for each would wake its thread each time.
const WATCHED_FOR: Duration = Duration::from_millis(10);

/// What a change of the writer's state means for a record that is alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoneChange {
    /// It goes to a sender.
    Sent,
    /// The one that was handed over just now is left to a wait.
    Left,
    /// One that is left to a wait stays so, until its time is over.
    Spared,
}

/// The record that is left to whoever waits for its outcome.
#[derive(Default)]
pub(super) struct LoneSlot {
    /// The node that a sender was begun for, and until when.
    record: Option<(u16, Instant)>,
    watched: Option<Instant>,
}

impl LoneSlot {
    pub(super) const fn is_there(&self) -> bool {
        self.record.is_some()
    }

    pub(super) fn leave(&mut self, node: u16, now: Instant) {
        self.record = Some((node, now + KEPT_FOR));
        self.watched = Some(now + WATCHED_FOR);
    }

    pub(super) const fn take(&mut self) -> Option<u16> {
        match self.record.take() {
            Some((node, _)) => Some(node),
            None => None,
        }
    }

    /// The record, if nobody has come for it in time.
    pub(super) fn take_late(&mut self, now: Instant) -> Option<u16> {
        self.record.take_if(|(_, until)| *until <= now).map(|(node, _)| node)
    }

    /// When the timer is to look.
    pub(super) fn next_look(&mut self, now: Instant) -> Option<Instant> {
        self.watched.take_if(|until| *until <= now);
        match self.record {
            Some((_, until)) => Some(until),
            None => self.watched.map(|_| now + KEPT_FOR),
        }
    }
}

/// Where a wait gets the lone record that is left to it.
pub(super) trait LoneRecordSource<K: WriterKey>: Send + Sync {
    /// Gives the record to the wait, if it is still there.
    fn take_over(self: Arc<Self>) -> Option<LoneRecord<K>>;

    /// The wait cannot send it: the writer does.
    fn let_go(self: Arc<Self>);
}

impl<K: WriterKey> Inner<K> {
    /// Whether a record may be left to a wait, which may end early: then it is sent again.
    pub(super) fn may_keep(&self, shape: &RawShape) -> bool {
        matches!(self.runs, SenderRuntime::Control) && shape.repeats_safely()
    }

    /// Whether the record that was pushed last is to be left to a wait, if it can be sent. Not where callbacks hear of it: they
    /// must not run where the program waits.
    pub(super) fn is_to_keep(&self, state: &State<K>) -> bool {
        state.core.is_lone_and_awaited()
            && !state.closed
            && state.queue.is_none()
            && self.on_done.lock().is_none()
            && self.on_progress.lock().is_none()
    }

    /// Tells the record's outcome that it is left to the wait for it.
    pub(super) fn keep(self: &Arc<Self>, cell: &CellRef<K>) {
        let keeper: Arc<dyn LoneRecordSource<K>> = Arc::clone(self) as _;
        cell.leave_to_wait(Arc::downgrade(&keeper));
    }
}

impl<K: WriterKey> LoneRecordSource<K> for Inner<K> {
    fn take_over(self: Arc<Self>) -> Option<LoneRecord<K>> {
        let map = self.shared.cluster.snapshot();
        let mut rows = Vec::new();
        let mut state = self.state.lock();
        let node = state.lone.take()?;
        let now = clock::now();
        state.core.fill_rows(node, now, &**map, &mut rows);
        if rows.is_empty() {
            // Its partition has moved: it waits for another node.
            let after = self.after(&mut state, now, LoneChange::Sent);
            drop(state);
            self.carry_out(after);
            return None;
        }
        drop(state);
        let batch = Batch::of(&mut rows);
        Some(LoneRecord { writer: self, node, batch: Some(batch), is_begun: false })
    }

    fn let_go(self: Arc<Self>) {
        self.act(|_, _, _| ());
    }
}

/// A lone record that the wait for its outcome sends itself. Dropped before its end, the attempt has failed, and the writer
/// sends it again.
pub struct LoneRecord<K: WriterKey> {
    writer: Arc<Inner<K>>,
    node: u16,
    batch: Option<Batch<K>>,
    is_begun: bool,
}

impl<K: WriterKey> LoneRecord<K> {
    /// Sends it over the lane of a foreign event loop, on whose thread the future is polled to its end.
    pub async fn send_on(mut self, lane: HostHandle) {
        let Some(batch) = &self.batch else { return };
        self.is_begun = true;
        let Inner { shared, policy, .. } = &*self.writer;
        let written = batch.rows.write_single_over(LaneRef::Host(&lane), shared, policy, Written::of).await;
        self.end(written);
    }

    /// Sends it on the calling thread. `interrupted` is asked as by
    /// [`RawClient::call_interruptible`](crate::raw::RawClient::call_interruptible): once it says true, the writer sends the
    /// record again.
    pub fn send_here(mut self, interrupted: Option<&dyn Fn() -> bool>) {
        let Some(batch) = &self.batch else { return };
        self.is_begun = true;
        let Inner { shared, policy, .. } = &*self.writer;
        let written = batch.rows.write_single_here(shared, policy, interrupted, Written::of);
        self.end(written);
    }

    fn end(&mut self, written: Result<(Written, Arc<str>)>) {
        let Some(batch) = self.batch.take() else { return };
        let end = match written {
            Ok((written, node)) => AttemptEnd { result: Ok(written), node: Some(node) },
            Err(error) => AttemptEnd { result: Err(error), node: None },
        };
        let (node, ends) = (self.node, batch.end_of_one(end));
        self.writer.act(|state, now, map| state.core.ended(node, ends.into_iter(), now, map));
    }
}

impl<K: WriterKey> fmt::Debug for LoneRecord<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoneRecord").field("is_begun", &self.is_begun).finish_non_exhaustive()
    }
}

impl<K: WriterKey> Drop for LoneRecord<K> {
    fn drop(&mut self) {
        let text = "the event loop on which the record was sent has ended, and no answer has come";
        let lost = Error::connection(text).force_in_doubt(self.is_begun);
        self.end(Err(lost));
    }
}

pub(super) type WeakLoneRecordSource<K> = Weak<dyn LoneRecordSource<K>>;
