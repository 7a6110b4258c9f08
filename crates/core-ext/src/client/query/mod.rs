//! Queries and scans over connections of our own: each node's answer is read on the control plane's runtime and handed
//! over frame by frame; whoever consumes the records takes them straight out of the frames.
//!
//! [`Rounds`] decides, without I/O and on the consumer's side: a cursor so stands behind the last record that was taken
//! out, however many more have come. A [`Pump`](pump::Pump) per node carries bytes, and waits while the queue is full; the
//! server then waits, too.

mod background;
mod cursor;
mod frame;
pub(super) mod plan;
mod pump;
mod request;
mod rounds;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use aerospike_core::QueryPolicy;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

pub use self::cursor::{Cursor, PartitionPlace};
use self::frame::Frame;
pub(super) use self::pump::IdleStreams;
use self::pump::{Event, EventSender, Pump};
pub use self::request::RawQuery;
use self::rounds::{MessageKind, RoundEnd, Rounds};
use super::asynchronous::Shared;
use super::raw::RawClient;
use crate::clock;
use crate::command::policy;
use crate::connect;
use crate::error::{Error, Result};
use crate::metrics::Stamp;

impl RawClient {
    /// Begins a query: the records that `query` selects in the partitions of the cursor, from where it stands.
    ///
    /// `QueryPolicy::record_queue_size` bounds how many records lie ready (one frame of the server, some hundred records,
    /// is always taken); a consumer that stops makes the servers wait. `max_concurrent_nodes`, `max_records`,
    /// `records_per_second`, `include_bin_data` and `expected_duration` mean what they do in aerospike-core.
    ///
    /// # Errors
    /// `ClientClosed`, `InvalidNamespace`, or that the request cannot be encoded; everything else comes with the records.
    /// For [the query of a plan](RawQuery::of_plan) also `Server` with `UnsupportedFeature` (a node is older than 8.2), and
    /// `InvalidArgument` (the policy has a filter expression).
    pub fn query(&self, policy: QueryPolicy, query: RawQuery, cursor: Cursor) -> Result<RawRecords> {
        self.shared.check_open()?;
        if query.is_planned() {
            plan::check_policy(&policy)?;
            plan::check_servers(&self.asynchronous().nodes())?;
        }
        let policy = self.shared.cluster.overlay().query(&policy).map_or(policy, Arc::unwrap_or_clone);
        RawRecords::begin(Arc::clone(&self.shared), policy, query, cursor)
    }
}

/// The round of a request, and its index among the requests of that round.
type RequestId = (u32, usize);

/// The records of a query as messages, in no order across partitions. Dropping it ends the query.
///
/// [`next`](Self::next) gives what has come; when it has nothing, one of [`more`](Self::more), [`poll_more`](Self::poll_more)
/// and [`more_blocking`](Self::more_blocking) waits. None of them needs a runtime around it.
pub struct RawRecords {
    shared: Arc<Shared>,
    query: RawQuery,
    id: u64,
    rounds: Rounds,
    events: UnboundedReceiver<(RequestId, Event)>,
    sender: UnboundedSender<(RequestId, Event)>,
    room: (Arc<Semaphore>, u32),
    /// Requests of this round that are not under way yet: `max_concurrent_nodes`.
    waiting: std::ops::Range<usize>,
    /// What runs for this query.
    tasks: Vec<AbortHandle>,
    frame: Option<Received>,
    state: State,
}

/// A frame, as far as it was looked at.
struct Received {
    from: usize,
    frame: Frame,
    _room: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Over,
}

impl RawRecords {
    fn begin(shared: Arc<Shared>, policy: QueryPolicy, query: RawQuery, cursor: Cursor) -> Result<Self> {
        let (sender, events) = unbounded_channel();
        // A semaphore has no more places than a quarter of the numbers, and a record takes some of them.
        let room = policy.record_queue_size.clamp(1, u32::MAX as usize >> 3) as u32;
        let rounds = Rounds::new(query.namespace(), query.has_function(), policy, cursor, clock::now());
        let mut records = Self {
            id: 0,
            shared,
            query,
            rounds,
            events,
            sender,
            room: (Arc::new(Semaphore::new(room as usize)), room),
            waiting: 0..0,
            tasks: Vec::new(),
            frame: None,
            state: State::Running,
        };
        if let Some(deadline) = records.rounds.deadline() {
            records.after(deadline.saturating_duration_since(clock::now()), Event::Late);
        }
        records.round().map_err(|error| records.fail(error))?;
        Ok(records)
    }

    /// The next record that has come: `take` is given its message. `None`: there is none; wait for more.
    ///
    /// # Errors
    /// The query has failed; after that it is over. Each failure is given once.
    pub fn next<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> Option<Result<R>> {
        let received = self.frame.as_mut()?;
        while let Some(part) = received.frame.next() {
            match self.rounds.take(received.from, part) {
                Ok(MessageKind::Record) => return Some(Ok(take(part.message))),
                Ok(MessageKind::Nothing) => {}
                Err(error) => return Some(Err(self.fail(error))),
            }
        }
        self.frame = None;
        None
    }

    /// Waits until there is more to look at with [`next`](Self::next); false: that was all.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool>> {
        loop {
            if self.frame.is_some() {
                return Poll::Ready(Ok(true));
            }
            if self.state == State::Over {
                return Poll::Ready(Ok(false));
            }
            let Poll::Ready(event) = self.events.poll_recv(cx) else { return Poll::Pending };
            // There is always a sender: our own.
            let Some(((round, from), event)) = event else { return Poll::Ready(Ok(false)) };
            let done = match event {
                Event::Late => Err(self.rounds.late()),
                _ if round != self.rounds.round() => Ok(()),
                Event::Frame(frame, room) => {
                    self.frame = Some(Received { from, frame, _room: room });
                    Ok(())
                }
                Event::Ended(outcome) => {
                    self.rounds.ended(from, outcome);
                    self.send_next().and_then(|()| self.proceed())
                }
                Event::Go => self.round(),
            };
            if let Err(error) = done {
                return Poll::Ready(Err(self.fail(error)));
            }
        }
    }

    /// [`poll_more`](Self::poll_more) as a future. Dropping it loses nothing.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn more(&mut self) -> Result<bool> {
        poll_fn(|cx| self.poll_more(cx)).await
    }

    /// [`poll_more`](Self::poll_more) that blocks this thread. `interrupted` is asked about every 50 ms.
    ///
    /// # Errors
    /// As [`next`](Self::next); `Interrupted` once `interrupted` has said true: the query is not over then.
    pub fn more_blocking(&mut self, interrupted: Option<&dyn Fn() -> bool>) -> Result<bool> {
        const ASK: Duration = Duration::from_millis(50);
        let Some(interrupted) = interrupted else { return connect::block_on(self.more()) };
        loop {
            if let Some(more) = connect::block_on_until(Some(clock::now() + ASK), self.more()) {
                return more;
            }
            if interrupted() {
                return Err(Error::interrupted());
            }
        }
    }

    /// Where the query stands: behind the records that were taken out.
    #[must_use]
    pub fn cursor(&self) -> &Cursor {
        &self.rounds.cursor
    }

    /// The record that [`next`](Self::next) gave last counts as not taken; called again, as taken again. For a consumer
    /// that could not hand it on. Nothing else may have been taken in between.
    pub fn swap_last(&mut self) {
        self.rounds.swap_last();
    }

    /// The query's number, as the servers know it (`query-show`). A round of retries has another.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// Whether the query may still give records.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == State::Running
    }

    /// Ends the query: nothing more comes.
    pub fn close(&mut self) {
        self.state = State::Over;
        self.frame = None;
        self.tasks.drain(..).for_each(|task| task.abort());
    }

    fn fail(&mut self, error: Error) -> Error {
        self.close();
        self.rounds.stamp(self.query.explain(error), clock::now())
    }

    /// Begins a round.
    fn round(&mut self) -> Result<()> {
        let cluster = &self.shared.cluster;
        if cluster.is_closed() {
            return Err(Error::client_closed());
        }
        self.tasks.retain(|task| !task.is_finished());
        // Not met by another query of the same moment; nothing secret. A server refuses a number that it remembers.
        self.id = RandomState::new().hash_one(std::process::id());
        self.rounds.next_round(&cluster.snapshot())?;
        self.waiting = 0..self.rounds.asked.len();
        let at_once = match self.rounds.policy().max_concurrent_nodes {
            0 => usize::MAX,
            most => most,
        };
        for _ in 0..at_once.min(self.waiting.len()) {
            self.send_next()?;
        }
        self.proceed()
    }

    /// Asks the next node of the round.
    fn send_next(&mut self) -> Result<()> {
        let Some(index) = self.waiting.next() else { return Ok(()) };
        let (rounds, cluster) = (&self.rounds, &self.shared.cluster);
        let asked = &rounds.asked[index];
        let mut request = Vec::with_capacity(512 + asked.partitions.len() * 4);
        let wanted = (&*asked.partitions, asked.limit);
        self.query.encode(rounds.policy(), self.id, &rounds.cursor, wanted, &mut request)?;
        let metrics = cluster.metrics();
        let metric_key = metrics.metric_key(self.query.kind(), self.query.namespace());
        let stamp = if metric_key.is_none() { Stamp::NONE } else { metrics.stamp(metric_key, clock::now()) };
        let pump = Pump {
            metrics: Arc::clone(metrics),
            stamp,
            cluster: Arc::downgrade(cluster),
            idle: Arc::clone(&self.shared.queries),
            node: Arc::clone(&asked.node),
            request,
            silence: policy::socket_timeout(&rounds.policy().base_policy),
            room: self.room.clone(),
            report: EventSender::new((rounds.round(), index), &self.sender),
        };
        self.tasks.push(cluster.spawn(pump.run()).abort_handle());
        Ok(())
    }

    /// Goes on when all nodes of the round have ended.
    fn proceed(&mut self) -> Result<()> {
        if self.rounds.running() > 0 {
            return Ok(());
        }
        match self.rounds.after_round()? {
            RoundEnd::Complete => self.close(),
            RoundEnd::Retry(pause) => {
                self.shared.cluster.request_refresh();
                self.after(pause, Event::Go);
            }
            RoundEnd::More => return self.round(),
        }
        Ok(())
    }

    fn after(&mut self, pause: Duration, event: Event) {
        let report = EventSender::new((self.rounds.round(), 0), &self.sender);
        let task = async move {
            tokio::time::sleep(pause).await;
            report.end(event);
        };
        self.tasks.push(self.shared.cluster.spawn(task).abort_handle());
    }
}

impl Drop for RawRecords {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for RawRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawRecords").field("id", &self.id).field("state", &self.state).finish_non_exhaustive()
    }
}
