//! The outcomes of puts that became rows of a block.
//!
//! A row has no state of its own: what its [`Outcome`](super::Outcome) says is read from the block's answers when somebody asks.
//! Only rows that do not end with their block, because they have failed or others wait for them, get a cell.

use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use super::block::{Ends, OwnedBlock};
use super::core::BlockEnds;
use super::delivery::{AttemptEnd, Delivery, Tries, Written};
use super::driver::{Inner, WriterKey};
use super::outcome::{Cell, CellRef};
use super::put::PutShape;
use crate::client::Block;
use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex};

/// What the outcomes of a block's rows share.
pub(super) struct RowOutcomes<K: WriterKey> {
    writer: Weak<Inner<K>>,
    /// The number of the first row.
    first: u64,
    /// The node of the block.
    pub(super) node: u16,
    pub(super) shape: Arc<PutShape<K>>,
    until_ended: Mutex<UntilEnded<K>>,
    came: Condvar,
    ended: OnceLock<Ended<K>>,
    /// What somebody has asked for, by row.
    keys: OnceLock<Box<[OnceLock<K>]>>,
    deliveries: OnceLock<Box<[OnceLock<Delivery>]>>,
}

/// What is needed until the block is over.
struct UntilEnded<K: WriterKey> {
    /// Once no more are added.
    rows: Option<Arc<Block>>,
    /// Rows with cells.
    apart: Vec<(u32, CellRef<K>)>,
    /// Of those who wait, by row.
    wakers: Vec<(u32, Waker)>,
    /// Threads that are blocked.
    threads: usize,
}

/// A block that is over.
struct Ended<K: WriterKey> {
    /// Mostly without what they did.
    rows: Arc<Block>,
    handed_over: Instant,
    /// How rows have ended, when they were sent and answered; `None`: all are apart.
    ends: Option<(Ends, Instant, Instant)>,
    /// By row.
    apart: Vec<(u32, CellRef<K>)>,
}

/// How a row stands.
enum Standing<'a, K: WriterKey> {
    Outstanding,
    Confirmed(&'a Ended<K>, Written),
    /// The cell knows.
    Apart(&'a CellRef<K>),
}

impl<K: WriterKey> RowOutcomes<K> {
    pub(super) fn new(writer: Weak<Inner<K>>, first: u64, node: u16, shape: Arc<PutShape<K>>) -> Arc<Self> {
        let until_ended = Mutex::new(UntilEnded { rows: None, apart: Vec::new(), wakers: Vec::new(), threads: 0 });
        Arc::new(Self {
            writer,
            first,
            node,
            shape,
            until_ended,
            came: Condvar::new(),
            ended: OnceLock::new(),
            keys: OnceLock::new(),
            deliveries: OnceLock::new(),
        })
    }

    /// No more rows are added to these.
    pub(super) fn closed(&self, rows: &Arc<Block>) {
        self.until_ended.lock().rows = Some(Arc::clone(rows));
    }

    /// The cell of a row that is to be a record of its own.
    pub(super) fn apart(&self, rows: &Block, row: usize) -> CellRef<K> {
        let cell = CellRef(Cell::new(self.shape.key(rows, row), None));
        self.until_ended.lock().apart.push((row as u32, cell.clone()));
        cell
    }

    /// The block is over: its confirmed rows have their outcomes, and for the others one asks their cells. The caller wakes those
    /// who wait. Also tells how many there are.
    pub(super) fn end(
        &self,
        block: Arc<OwnedBlock<K>>,
        handed_over: Instant,
        ends: Option<(Ends, Instant, Instant)>,
    ) -> (impl Iterator<Item = Waker> + use<K>, usize) {
        let mut state = self.until_ended.lock();
        drop(state.rows.take());
        let mut apart = std::mem::take(&mut state.apart);
        apart.sort_unstable_by_key(|(row, _)| *row);
        let mut rows = block.shared_rows();
        drop(block);
        // Outcomes may be kept for long: what the rows did is not needed for them.
        if let Some(rows) = Arc::get_mut(&mut rows) {
            rows.forget_ops();
        }
        let _ = self.ended.set(Ended { rows, handed_over, ends, apart });
        let waiting = state.wakers.len() + state.threads;
        if state.threads > 0 {
            self.came.notify_all();
        }
        (std::mem::take(&mut state.wakers).into_iter().map(|(_, waker)| waker), waiting)
    }

    /// The rows that were confirmed with their block.
    pub(super) fn confirmed(&self) -> impl Iterator<Item = u32> {
        let count = self.ended.get().map_or(0, |ended| ended.rows.len()) as u32;
        (0..count).filter(|row| matches!(self.standing(*row), Standing::Confirmed(..)))
    }

    fn standing(&self, row: u32) -> Standing<'_, K> {
        let Some(ended) = self.ended.get() else { return Standing::Outstanding };
        if let Some(cell) = ended.apart(row) {
            return Standing::Apart(cell);
        }
        let written = ended.ends.as_ref().and_then(|(ends, ..)| ends.written(row as usize));
        written.map_or(Standing::Outstanding, |written| Standing::Confirmed(ended, written))
    }

    pub(super) fn is_done(&self, row: u32) -> bool {
        // All rows that are not apart were confirmed.
        self.ended.get().is_some_and(|ended| ended.apart(row).is_none_or(|cell| cell.delivery().is_some()))
    }

    /// What awaiting the outcome gives, once it is there.
    pub(super) fn result(&self, row: u32) -> Option<Result<Written>> {
        match self.standing(row) {
            Standing::Outstanding => None,
            Standing::Confirmed(_, written) => Some(Ok(written)),
            Standing::Apart(cell) => cell.result(),
        }
    }

    /// Why the record has failed.
    pub(super) fn error(&self, row: u32) -> Option<&Error> {
        self.ended.get()?.apart(row)?.delivery()?.error()
    }

    /// The number of the record, and how long it took, once it has its outcome.
    pub(super) fn sequence_and_took(&self, row: u32) -> Option<(u64, Duration)> {
        match self.standing(row) {
            Standing::Outstanding => None,
            Standing::Confirmed(ended, _) => Some((ended.rows.key(row as usize).0, ended.took(row as usize))),
            Standing::Apart(cell) => cell.delivery().map(|delivery| (delivery.sequence(), delivery.took())),
        }
    }

    pub(super) fn delivery(&self, row: u32) -> Option<&Delivery> {
        match self.standing(row) {
            Standing::Outstanding => None,
            Standing::Confirmed(ended, written) => {
                let all = self.deliveries.get_or_init(|| (0..ended.rows.len()).map(|_| OnceLock::new()).collect());
                Some(all[row as usize].get_or_init(|| ended.delivery(row as usize, written)))
            }
            Standing::Apart(cell) => cell.delivery(),
        }
    }

    pub(super) fn key(&self, row: u32) -> &K {
        let keys = self.keys.get_or_init(|| {
            let rows = self.closed_rows();
            (0..rows.len()).map(|_| OnceLock::new()).collect()
        });
        keys[row as usize].get_or_init(|| self.shape.key(&self.closed_rows(), row as usize))
    }

    /// The rows, to which none will be added.
    fn closed_rows(&self) -> Arc<Block> {
        loop {
            if let Some(rows) = self.until_ended.lock().rows.clone() {
                return rows;
            }
            if let Some(ended) = self.ended.get() {
                return Arc::clone(&ended.rows);
            }
            // Without the writer, the block would be over.
            if let Some(writer) = self.writer.upgrade() {
                writer.act(|state, _, _| state.core.close(self.first));
            }
        }
    }

    pub(super) fn poll(&self, row: u32, cx: &Context<'_>) -> Poll<()> {
        ready!(self.poll_end_for(row, cx));
        match self.standing(row) {
            Standing::Apart(cell) => cell.poll(cx).map(|_| ()),
            _ => Poll::Ready(()),
        }
    }

    /// Ready when the block is over. Rows that are apart may be outstanding still.
    pub(super) fn poll_end(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll_end_for(0, cx)
    }

    fn poll_end_for(&self, row: u32, cx: &Context<'_>) -> Poll<()> {
        if self.ended.get().is_some() {
            return Poll::Ready(());
        }
        let mut state = self.until_ended.lock();
        // It may be over before the lock.
        if self.ended.get().is_some() {
            return Poll::Ready(());
        }
        let from = state.wakers.partition_point(|(other, _)| *other < row);
        let mut same = state.wakers[from..].iter().take_while(|(other, _)| *other == row);
        if !same.any(|(_, waker)| waker.will_wake(cx.waker())) {
            state.wakers.insert(from, (row, cx.waker().clone()));
        }
        Poll::Pending
    }

    /// Whether the block is over.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Whether the block is over, and rows of it were apart.
    pub(super) fn has_apart(&self) -> bool {
        self.ended.get().is_some_and(|ended| !ended.apart.is_empty())
    }

    /// Whether the block is over, and the row was apart.
    pub(super) fn is_apart(&self, row: u32) -> bool {
        self.ended.get().is_some_and(|ended| ended.apart(row).is_some())
    }

    /// Blocks the calling thread until there is an outcome, or the deadline has passed.
    pub(super) fn wait(&self, row: u32, deadline: Option<Instant>) -> Option<&Delivery> {
        self.wait_end(deadline);
        match self.standing(row) {
            Standing::Apart(cell) => cell.wait(deadline),
            _ => self.delivery(row),
        }
    }

    /// Blocks the calling thread until the block is over, or the deadline has passed: whether it is over.
    pub(super) fn wait_end(&self, deadline: Option<Instant>) -> bool {
        if self.ended.get().is_some() {
            return true;
        }
        let mut state = self.until_ended.lock();
        state.threads += 1;
        while self.ended.get().is_none() {
            let timed_out;
            (state, timed_out) = self.came.wait_for(state, deadline);
            if timed_out {
                break;
            }
        }
        state.threads -= 1;
        self.ended.get().is_some()
    }
}

impl<K: WriterKey> Ended<K> {
    /// The cell of a row that has one.
    #[inline]
    fn apart(&self, row: u32) -> Option<&CellRef<K>> {
        let place = self.apart.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.apart[place].1)
    }

    fn handed_over(&self, row: usize) -> Instant {
        self.handed_over + self.rows.after(row)
    }

    /// How long a row took that was confirmed.
    fn took(&self, row: usize) -> Duration {
        let answered = self.ends.as_ref().map(|(.., answered)| *answered);
        answered.unwrap_or(self.handed_over).saturating_duration_since(self.handed_over(row))
    }

    /// The outcome of a row that was confirmed.
    fn delivery(&self, row: usize, written: Written) -> Delivery {
        let mut tries = Tries::default();
        if let Some((ends, sent, answered)) = &self.ends {
            let AttemptEnd { node, .. } = ends.end(row);
            let mut end = AttemptEnd { result: Ok(written.clone()), node };
            tries.add(self.handed_over(row), (*sent, *answered), &mut end);
        }
        tries.over(self.rows.key(row).0, self.took(row), Ok(written))
    }
}
