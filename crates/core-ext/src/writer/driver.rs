//! Carries out what the core decides: senders on a runtime, a timer on the control plane's, room for records, outcomes.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use aerolane_wire::digest::{Digest, partition_id};
use aerospike_core::BatchPolicy;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, TryAcquireError, oneshot};

use super::block::{Ends, OwnedBlock};
use super::core::{Core, Done, DoneBlock, Payload, Router};
use super::counts::{Progress, WriterMetrics};
use super::lone::{LoneChange, LoneSlot};
use super::options::WriterOptions;
use super::outcome::{Cell, CellRef, Outcome};
use super::room::{RecordRoom, Room};
use super::sender::{Guard, send};
use super::stream::{Outcomes, Queue};
use crate::client::{RawKey, RawShape, Shared, wait};
use crate::clock;
use crate::error::{Error, Result};
use crate::sync::{Mutex, MutexGuard};
use crate::topology::{NodeId, Topology};

/// The cluster's map as it is read at one moment.
type Snapshot = arc_swap::Guard<Arc<Topology>>;

/// What a key must be.
pub trait WriterKey: RawKey + Send + Sync + 'static {}

impl<K: RawKey + Send + Sync + 'static> WriterKey for K {}

/// What a record is made of, as far as the core has to know.
pub(super) struct Row(pub(super) RawShape);

impl Payload for Row {
    fn repeats_safely(&self) -> bool {
        self.0.repeats_safely()
    }

    fn may_be_missing(&self) -> bool {
        self.0.deletes()
    }
}

impl Router for Topology {
    fn version(&self) -> u64 {
        Self::version(self)
    }

    fn node(&self, namespace: &str, digest: &Digest) -> Option<u16> {
        let owner = self.namespace(namespace).ok()?.owner(0, partition_id(digest))?;
        Some(owner.index() as u16)
    }

    fn refusal(&self, node: u16) -> Option<Error> {
        let node = Self::node(self, NodeId::from_index(usize::from(node)))?;
        node.breaker().is_open().then(|| Error::max_error_rate(node.label()))
    }
}

/// Where senders run.
pub(super) enum SenderRuntime {
    /// On the control plane's runtime.
    Control,
    /// On the runtime of the caller.
    Here(Handle),
}

type OnProgress = Arc<dyn Fn(usize) + Send + Sync>;

type OnDone<K> = Arc<dyn Fn(&[Outcome<K>]) + Send + Sync>;

/// What all handles of a writer share.
pub(super) struct Inner<K: WriterKey> {
    pub(super) shared: Arc<Shared>,
    pub(super) options: WriterOptions,
    /// Of the requests. Its retries are the writer's.
    pub(super) policy: BatchPolicy,
    pub(super) runs: SenderRuntime,
    started: Instant,
    pub(super) state: Mutex<State<K>>,
    /// Room for records, and for their bytes.
    pub(super) records: RecordRoom,
    pub(super) bytes: Semaphore,
    timer: Arc<Notify>,
    pub(super) on_done: Mutex<Option<OnDone<K>>>,
    pub(super) on_progress: Mutex<Option<OnProgress>>,
}

pub(super) struct State<K: WriterKey> {
    pub(super) core: Core<CellRef<K>, Row, OwnedBlock<K>>,
    pub(super) closed: bool,
    /// The lone record that is left to the wait for its outcome.
    pub(super) lone: LoneSlot,
    /// Those who wait until all records before this number have their outcomes.
    flushes: Vec<(u64, oneshot::Sender<()>)>,
    timer_runs: bool,
    /// When the timer will wake.
    timer_at: Option<Instant>,
    pub(super) queue: Option<Arc<Queue<K>>>,
    /// Threads that have outcomes to tell of. Until they have, nobody is told that all is over.
    telling: usize,
}

/// What is to be done once the lock is released.
pub(super) struct AfterUnlock<K: WriterKey> {
    begin: Vec<u16>,
    done: Vec<Done<CellRef<K>, Row>>,
    done_blocks: Vec<DoneBlock<OwnedBlock<K>, Ends>>,
    queue: Option<Arc<Queue<K>>>,
    /// Without outcomes to tell of.
    over: Finished<K>,
    wake_timer: bool,
    start_timer: bool,
    refresh: bool,
}

/// What has come to its end.
struct Finished<K: WriterKey> {
    flushed: Vec<oneshot::Sender<()>>,
    queue: Option<Arc<Queue<K>>>,
    /// The writer is closed, and nothing is outstanding.
    ended: bool,
}

impl<K: WriterKey> Inner<K> {
    pub(super) fn new(shared: Arc<Shared>, options: WriterOptions, runs: SenderRuntime) -> Result<Arc<Self>> {
        options.validate()?;
        shared.check_open()?;
        let now = clock::now();
        let mut policy = BatchPolicy::write_default();
        let timeout = options.attempt_timeout.as_millis().min(u128::from(u32::MAX)) as u32;
        policy.base_policy.total_timeout = timeout;
        policy.base_policy.socket_timeout = timeout;
        policy.base_policy.max_retries = 0;
        policy.base_policy.sleep_between_retries = 0;
        let seed = std::ptr::from_ref(&*shared) as u64 ^ u64::from(std::process::id()) << 32;
        let state = State {
            core: Core::new(options.clone(), seed, now),
            closed: false,
            lone: LoneSlot::default(),
            flushes: Vec::new(),
            timer_runs: false,
            timer_at: None,
            queue: None,
            telling: 0,
        };
        Ok(Arc::new(Self {
            records: RecordRoom::new(&options),
            bytes: Semaphore::new(options.max_outstanding_bytes),
            shared,
            options,
            policy,
            runs,
            started: now,
            state: Mutex::new(state),
            timer: Arc::default(),
            on_done: Mutex::default(),
            on_progress: Mutex::default(),
        }))
    }

    pub(super) const fn batch_policy(&self) -> &BatchPolicy {
        &self.policy
    }

    pub(super) const fn options(&self) -> &WriterOptions {
        &self.options
    }

    /// Changes the state, and does what follows from that.
    pub(super) fn act<R>(self: &Arc<Self>, change: impl FnOnce(&mut State<K>, Instant, &Topology) -> R) -> R {
        let (result, after) = self.changed(LoneChange::Sent, change);
        self.carry_out(after);
        result
    }

    /// [`act`](Self::act) by a task that can be the next sender itself: for the node that it gives.
    pub(super) fn act_as_sender<R>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut State<K>, Instant, &Topology) -> R,
    ) -> (R, Option<u16>) {
        let (result, mut after) = self.changed(LoneChange::Sent, change);
        let mine = after.begin.pop();
        self.carry_out(after);
        (result, mine)
    }

    /// Changes the state, and gives what follows from that.
    fn changed<R>(
        self: &Arc<Self>,
        lone: LoneChange,
        change: impl FnOnce(&mut State<K>, Instant, &Topology) -> R,
    ) -> (R, AfterUnlock<K>) {
        let map = self.shared.cluster.snapshot();
        let mut state = self.state.lock();
        // Behind the lock: the core's clock does not go back.
        let now = clock::now();
        let result = change(&mut state, now, &map);
        (result, self.after(&mut state, now, lone))
    }

    /// What follows from a change.
    pub(super) fn after(&self, state: &mut State<K>, now: Instant, lone: LoneChange) -> AfterUnlock<K> {
        let after = state.after(now, lone);
        self.records.open_reserve(state.core.has_a_slow_node(now));
        after
    }

    pub(super) fn carry_out(self: &Arc<Self>, after: AfterUnlock<K>) {
        if after.refresh {
            self.shared.cluster.request_refresh();
        }
        if after.start_timer {
            self.start_timer();
        }
        if after.wake_timer {
            self.timer.notify_one();
        }
        for node in after.begin {
            self.spawn_sender(node);
        }
        if after.done.is_empty() && after.done_blocks.is_empty() {
            self.end(after.over);
            return;
        }
        let awaited = self.tell(after.done, after.done_blocks, after.queue.as_ref());
        let mut state = self.state.lock();
        state.core.awaited(awaited);
        state.telling -= 1;
        let over = state.over();
        drop(state);
        self.end(over);
    }

    /// Tells those who wait for the end of something.
    fn end(&self, over: Finished<K>) {
        for flushed in over.flushed {
            // Who has asked may have gone.
            let _ = flushed.send(());
        }
        if over.ended {
            if let Some(queue) = over.queue {
                queue.end();
            }
            // They may keep the writer alive, and have heard everything.
            let (on_done, on_progress) = (self.on_done.lock().take(), self.on_progress.lock().take());
            drop((on_done, on_progress));
        }
    }

    /// Gives room back that outcomes in a queue have kept.
    pub(super) fn free_records(&self, records: usize) {
        self.records.give_back(records);
    }

    /// Takes room for an outcome that goes back to its queue, if there is some.
    pub(super) fn reserve_record(&self) {
        if let Ok(record) = self.records.semaphore().try_acquire() {
            record.forget();
        }
    }

    pub(super) fn room_of(&self, bytes: usize) -> u32 {
        bytes.min(self.options.max_outstanding_bytes) as u32
    }

    pub(super) fn spawn_sender(self: &Arc<Self>, node: u16) {
        let sender: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(send(Guard(Some(Arc::clone(self))), node));
        match &self.runs {
            SenderRuntime::Control => drop(self.shared.cluster.spawn(sender)),
            SenderRuntime::Here(runtime) => drop(runtime.spawn(sender)),
        }
    }

    fn start_timer(self: &Arc<Self>) {
        let keep = keep_time(TimerGuard(Arc::downgrade(self)), Arc::clone(&self.timer));
        let timer: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(keep);
        drop(self.shared.cluster.spawn(timer));
    }

    /// The map, if a record of this namespace can be taken at all.
    pub(super) fn check(&self, namespace: &str) -> Result<Snapshot> {
        self.shared.check_open()?;
        let map = self.shared.cluster.snapshot();
        map.namespace(namespace)?;
        Ok(map)
    }

    /// Hands a record over if there is room; gives it back if there is none.
    pub(super) fn try_hand_over(
        self: &Arc<Self>,
        key: K,
        shape: RawShape,
    ) -> Result<std::result::Result<Outcome<K>, (K, RawShape)>> {
        let map = self.check(key.namespace())?;
        let bytes = shape.row_size(&key);
        match self.try_room(1, bytes)? {
            Some(room) => {
                room.keep();
                self.take(key, shape, bytes, &map).map(Ok)
            }
            None => Ok(Err((key, shape))),
        }
    }

    /// Room for so many records of so many bytes together, if there is some.
    pub(super) fn try_room(&self, records: usize, bytes: usize) -> Result<Option<Room<'_>>> {
        let records = self.records.semaphore().try_acquire_many(records as u32);
        match (records, self.bytes.try_acquire_many(self.room_of(bytes))) {
            (Ok(records), Ok(bytes)) => Ok(Some(Room { records, bytes })),
            (Err(TryAcquireError::Closed), _) | (_, Err(TryAcquireError::Closed)) => Err(closed()),
            _ => Ok(None),
        }
    }

    /// Hands a record over, when there is room.
    pub(super) async fn hand_over(self: &Arc<Self>, key: K, shape: RawShape) -> Result<Outcome<K>> {
        self.check(key.namespace())?;
        let bytes = shape.row_size(&key);
        // Until both are had, a caller that goes away gives back what it has.
        let record = self.room(self.records.semaphore(), 1).await?;
        let room = self.room(&self.bytes, self.room_of(bytes)).await?;
        record.forget();
        room.forget();
        self.take(key, shape, bytes, &self.shared.cluster.snapshot())
    }

    /// Waits for room. Meanwhile batches do not wait for more records, which cannot come.
    async fn room<'a>(self: &Arc<Self>, of: &'a Semaphore, count: u32) -> Result<SemaphorePermit<'a>> {
        let mut acquire = pin!(of.acquire_many(count));
        let mut waits = None;
        let acquired = poll_fn(|cx| {
            let polled = acquire.as_mut().poll(cx);
            // It is also pending when the task is due to let others run.
            if polled.is_pending() && waits.is_none() && of.available_permits() < count as usize {
                waits = Some(WaitsForRoom::new(self));
            }
            polled
        });
        acquired.await.map_err(|_| closed())
    }

    fn take(self: &Arc<Self>, key: K, shape: RawShape, bytes: usize, map: &Topology) -> Result<Outcome<K>> {
        let may_keep = self.may_keep(&shape);
        let cell = CellRef(Cell::new(key, None));
        let outcome = Outcome::new(cell.clone());
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            self.records.give_back(1);
            self.bytes.add_permits(self.room_of(bytes) as usize);
            return Err(closed());
        }
        let now = clock::now();
        state.core.push(cell.clone(), Row(shape), bytes, now, map);
        self.pushed(state, now, may_keep.then_some(&cell));
        Ok(outcome)
    }

    /// Does what follows from a record that was pushed. `may_keep`: it, if it may be left to the wait for it.
    pub(super) fn pushed(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State<K>>,
        now: Instant,
        may_keep: Option<&CellRef<K>>,
    ) {
        if !state.core.stirred() && !state.lone.is_there() {
            return;
        }
        let kept = may_keep.filter(|_| self.is_to_keep(&state));
        let after = self.after(&mut state, now, if kept.is_some() { LoneChange::Left } else { LoneChange::Sent });
        if let (Some(cell), true) = (kept, state.lone.is_there()) {
            self.keep(cell);
        }
        drop(state);
        self.carry_out(after);
    }

    /// Hands rows over for a node, when there is room: `count` rows that take so many bytes of it.
    pub(super) async fn hand_over_block(
        self: &Arc<Self>,
        node: u16,
        block: OwnedBlock<K>,
        count: usize,
        bytes: usize,
    ) -> Result<()> {
        let room = self.room(self.records.semaphore(), count as u32).await?;
        let memory = self.room(&self.bytes, bytes as u32).await?;
        let taken = self.act(|state, now, map| {
            if state.closed {
                return false;
            }
            state.core.push_block(node, block, now, map);
            true
        });
        if !taken {
            return Err(closed());
        }
        room.forget();
        memory.forget();
        Ok(())
    }

    /// How many rows a block has at most, and about how many bytes: so few that not all records before it need be over.
    pub(super) fn block_bounds(&self) -> (usize, usize) {
        /// Blocks that the bounds have room for.
        const BLOCKS: usize = 4;
        let options = &self.options;
        let rows = options.batch_records.min(options.outstanding_records().0 / BLOCKS).max(1);
        (rows, options.batch_bytes.min(options.max_outstanding_bytes / BLOCKS))
    }

    /// Waits until all records that were handed over before have their outcomes.
    pub(super) async fn flush(self: &Arc<Self>) {
        let flushed = self.act(|state, _, _| {
            let next = state.core.next_sequence();
            if state.telling == 0 && state.core.oldest().is_none_or(|oldest| oldest >= next) {
                return None;
            }
            let (sender, receiver) = oneshot::channel();
            state.core.hurry(true);
            state.flushes.push((next, sender));
            Some(receiver)
        });
        if let Some(flushed) = flushed {
            // Without a sender all records have been given up: they have their outcomes.
            let _ = flushed.await;
        }
    }

    /// Takes no more records.
    pub(super) fn refuse_more(self: &Arc<Self>) {
        self.records.semaphore().close();
        self.bytes.close();
        self.act(|state, _, _| state.closed = true);
    }

    /// Waits for what is outstanding, and gives it up when this time is over: the records that have not been sent, and those
    /// that were in flight.
    pub(super) async fn drain(self: &Arc<Self>, limit: Option<Duration>) -> Vec<Outcome<K>> {
        self.refuse_more();
        let mut flush = pin!(self.flush());
        let Some(limit) = limit else {
            flush.await;
            return Vec::new();
        };
        tokio::select! {
            biased;
            () = &mut flush => return Vec::new(),
            () = wait(&self.shared.cluster, limit) => {}
        }
        self.give_up(|in_flight| {
            Error::writer_closed(if in_flight {
                "the writer was closed while the record was in flight, and no answer has come within the limit of close"
            } else {
                "the writer was closed, and the record was not sent within the limit of close"
            })
        })
    }

    /// Ends all that is outstanding.
    fn give_up(self: &Arc<Self>, error: impl Fn(bool) -> Error) -> Vec<Outcome<K>> {
        let map = self.shared.cluster.snapshot();
        let mut state = self.state.lock();
        let now = clock::now();
        state.core.give_up(error, now, &**map);
        let after = self.after(&mut state, now, LoneChange::Sent);
        drop(state);
        drop(map);
        let mut given_up: Vec<_> = after.done.iter().map(|done| Outcome::new(done.tag.clone())).collect();
        given_up.reverse();
        self.carry_out(after);
        given_up
    }

    /// A task of the writer was dropped before its end: nothing goes on.
    pub(super) fn abandon(self: &Arc<Self>) {
        self.records.semaphore().close();
        self.bytes.close();
        self.state.lock().closed = true;
        let closed = self.shared.cluster.is_closed();
        self.give_up(|_| {
            if closed {
                Error::client_closed()
            } else {
                Error::writer_closed("the runtime on which the writer was made has ended")
            }
        });
    }

    /// The outcomes as they come.
    ///
    /// # Errors
    /// Somebody takes them already.
    pub(super) fn outcomes(self: &Arc<Self>) -> Result<Outcomes<K>> {
        let mut state = self.state.lock();
        if state.queue.as_ref().is_some_and(|queue| queue.is_open()) {
            return Err(Error::invalid_argument("the outcomes of a writer can be taken in one place only"));
        }
        let queue = Queue::new(state.closed && state.core.outstanding().0 == 0);
        state.queue = Some(Arc::clone(&queue));
        drop(state);
        Ok(Outcomes::new(Arc::clone(self), queue))
    }

    pub(super) fn on_done(&self, on_done: OnDone<K>) {
        *self.on_done.lock() = Some(on_done);
    }

    pub(super) fn on_progress(&self, on_progress: OnProgress) {
        *self.on_progress.lock() = Some(on_progress);
    }

    pub(super) fn progress(&self) -> Progress {
        let state = self.state.lock();
        state.core.counts().progress(state.core.outstanding(), self.started.elapsed())
    }

    pub(super) fn metrics(&self) -> WriterMetrics {
        let map = self.shared.cluster.topology();
        let state = self.state.lock();
        let nodes = state.core.node_counts().filter_map(|(index, counts)| {
            let node = map.node(NodeId::from_index(index))?;
            Some(counts.metrics(Arc::clone(node.label())))
        });
        let nodes = nodes.collect();
        let progress = state.core.counts().progress(state.core.outstanding(), self.started.elapsed());
        state.core.counts().metrics(progress, nodes)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.records.semaphore().is_closed()
    }

    /// For blocking callers.
    pub(super) fn block_on<F: Future>(&self, future: F) -> Result<F::Output> {
        self.shared.cluster.block_on(future)
    }
}

#[cold]
fn closed() -> Error {
    Error::writer_closed("the writer is closed")
}

impl<K: WriterKey> State<K> {
    /// When the timer is to wake at the latest.
    fn next_wake(&mut self, now: Instant) -> Option<Instant> {
        let look = self.lone.next_look(now);
        self.core.next_wake(now).into_iter().chain(look).min()
    }

    fn over(&mut self) -> Finished<K> {
        let mut over = Finished { flushed: Vec::new(), queue: None, ended: false };
        if self.telling > 0 {
            return over;
        }
        let oldest = self.core.oldest();
        for (number, sender) in std::mem::take(&mut self.flushes) {
            if oldest.is_some_and(|oldest| oldest < number) {
                self.flushes.push((number, sender));
            } else {
                over.flushed.push(sender);
                self.core.hurry(false);
            }
        }
        over.ended = self.closed && self.core.outstanding().0 == 0;
        over.queue = if over.ended { self.queue.clone() } else { None };
        over
    }

    fn after(&mut self, now: Instant, lone: LoneChange) -> AfterUnlock<K> {
        let mut begin = Vec::new();
        begin.extend(if lone == LoneChange::Spared { self.lone.take_late(now) } else { self.lone.take() });
        while let Some(node) = self.core.begin(now) {
            begin.push(node);
        }
        if let (LoneChange::Left, [node]) = (lone, &begin[..]) {
            self.lone.leave(*node, now);
            begin.clear();
        }
        let (done, done_blocks) = (self.core.done(), self.core.done_blocks());
        self.telling += usize::from(!done.is_empty() || !done_blocks.is_empty());
        let over = self.over();
        let next = self.next_wake(now);
        let wake_timer = next.is_some_and(|next| self.timer_at.is_none_or(|at| next < at));
        if wake_timer {
            self.timer_at = next;
        }
        let start_timer = wake_timer && !self.timer_runs;
        self.timer_runs |= wake_timer;
        AfterUnlock {
            begin,
            done,
            done_blocks,
            queue: self.queue.clone(),
            over,
            wake_timer,
            start_timer,
            refresh: self.core.wants_refresh(),
        }
    }
}

/// While somebody waits for room.
struct WaitsForRoom<'a, K: WriterKey>(&'a Inner<K>);

impl<'a, K: WriterKey> WaitsForRoom<'a, K> {
    fn new(inner: &'a Arc<Inner<K>>) -> Self {
        inner.act(|state, _, _| state.core.wait_for_room(true));
        Self(inner)
    }
}

impl<K: WriterKey> Drop for WaitsForRoom<'_, K> {
    fn drop(&mut self) {
        self.0.state.lock().core.wait_for_room(false);
    }
}

/// Wakes the core at the moments that it asks for. Does not keep the writer alive.
async fn keep_time<K: WriterKey>(guard: TimerGuard<K>, timer: Arc<Notify>) {
    /// The shortest sleep.
    const SHORTEST: Duration = Duration::from_micros(100);
    let mut next = None;
    loop {
        match next {
            Some(at) => {
                tokio::select! {
                    () = tokio::time::sleep_until(Instant::into(at)) => {}
                    () = timer.notified() => {}
                }
            }
            None => timer.notified().await,
        }
        let Some(inner) = guard.0.upgrade() else { return };
        let ((), after) = inner.changed(LoneChange::Spared, |state, now, map| {
            state.core.tick(now, map);
            // Nobody is to wake the timer before it has asked anew.
            state.timer_at = Some(now);
        });
        inner.carry_out(after);
        let mut state = inner.state.lock();
        let now = clock::now();
        // Not at once: what is due now is done in a later turn of the control thread.
        next = state.next_wake(now).map(|at| at.max(now + SHORTEST));
        state.timer_at = next;
    }
}

/// The timer of a writer; dropped before the writer, it ends what is outstanding.
struct TimerGuard<K: WriterKey>(Weak<Inner<K>>);

impl<K: WriterKey> Drop for TimerGuard<K> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.upgrade() {
            inner.abandon();
        }
    }
}

/// The handles of a writer together. When the last one is dropped, what is outstanding goes on without them.
pub(super) struct Owner<K: WriterKey>(pub(super) Arc<Inner<K>>);

impl<K: WriterKey> Drop for Owner<K> {
    fn drop(&mut self) {
        self.0.refuse_more();
        if self.0.progress().outstanding > 0 {
            let inner = Arc::clone(&self.0);
            let rest: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move { inner.flush().await });
            drop(self.0.shared.cluster.spawn(rest));
        }
    }
}

impl<K: WriterKey> Drop for Inner<K> {
    fn drop(&mut self) {
        struct NoOwner;

        impl Router for NoOwner {
            fn version(&self) -> u64 {
                0
            }

            fn node(&self, _namespace: &str, _digest: &Digest) -> Option<u16> {
                None
            }

            fn refusal(&self, _node: u16) -> Option<Error> {
                None
            }
        }

        // Nobody is left to send it. Not to be expected, but an outcome is owed.
        let state = self.state.get_mut();
        state.core.give_up(|_| closed(), clock::now(), &NoOwner);
        let (done, done_blocks, queue) = (state.core.done(), state.core.done_blocks(), state.queue.take());
        self.tell(done, done_blocks, queue.as_ref());
        if let Some(queue) = queue {
            queue.end();
        }
        self.timer.notify_one();
    }
}
