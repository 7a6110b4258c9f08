//! The blocking driver: the calling thread itself writes the request and reads the answer, on a connection that it has
//! for itself until then. No runtime, no hand-off: in the good case two system calls and one reading of the clock.
//!
//! A connection carries one request at a time, until there are so many calls that sharing connections costs less
//! ([`combined`]). One whose answer did not come in time is closed, so that a late answer
//! reaches nobody.

mod combined;
mod connection;
mod interrupt;
mod pool;
mod ready;
mod round_trip;
mod sharing;
mod sleepers;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use aerolane_wire::WireError;

use combined::Combiner;
use connection::Broken;
pub(crate) use interrupt::Interrupt;
use pool::{CLOSED_BY_CLIENT, CheckedOut, Lease, OpenPermit, Pool, PoolLimits, Refused};
use sharing::{SHARE_FROM, Sharing};

use super::empty;
use super::fork::DeadSocket;
use super::tasks::ExchangeError;
use super::thread;
use crate::clock;
use crate::command::compress::message_body;
use crate::config::{PoolSizing, WhenFull};
use crate::connect::BlockingStream;
use crate::error::Error;
use crate::lane::{Class, Failure, FailureKind, NodeCounters, is_slow};
use crate::metrics::{Answered, Meter, MetricKey, Metrics, Stamp, last_result_code, result_code};
use crate::topology::{NodeId, NodeInfo};

/// After so long at rest a connection is looked at before it is used: the server may have closed it.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// A thread's request buffer that grew beyond this is given back.
const KEEP_REQUEST: usize = 64 * 1024;
/// Most shared connections per node.
const MOST_COMBINERS: usize = 8;
/// For so many connections that a pool may have, one may be shared: the calls that find no room on it need the others.
const PER_COMBINER: usize = 32;
/// Nodes per table of the second level.
const CHUNK: usize = 256;

thread_local! {
    static REQUEST: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static ANSWER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Who opens connections: the cluster, or a test.
pub(crate) trait BlockingOpener: Send + Sync + 'static {
    /// Opens a connection, logged in and ready, within `timeout` if there is one.
    fn open(&self, node: &NodeInfo, timeout: Option<Duration>) -> Result<BlockingStream, Error>;

    /// A connection to this node was lost: the topology may have changed.
    fn lost(&self, node: NodeId);

    /// Where answers are measured, if at all.
    fn metrics(&self) -> Option<Arc<Metrics>> {
        None
    }
}

/// The connections of one client's threads.
pub(crate) struct Pools {
    opener: Box<dyn BlockingOpener>,
    sizing: PoolSizing,
    /// By node, in two levels: a pool never moves, so that looking one up takes no lock and no count.
    nodes: Box<[OnceLock<Chunk>]>,
    closed: AtomicBool,
    metrics: Option<Arc<Metrics>>,
}

type Chunk = Box<[OnceLock<NodePools>]>;

struct NodePools {
    /// One pool per class: batches do not take the places of single-record requests.
    pools: [Pool; 2],
    combiners: Box<[Combiner]>,
    /// Most requests of each combiner.
    depth: usize,
    sharing: Sharing,
}

/// A request on its way: the connection is the caller's until the answer has been read.
#[must_use = "an answer that is not read costs the connection"]
pub(crate) struct Sent<'a> {
    pools: &'a Pools,
    pool: &'a Pool,
    node: NodeId,
    lease: Lease<'a>,
    /// About when the request was sent.
    now: Instant,
    deadline: Option<Instant>,
    /// Nothing is changed on the server by a request that is lost: then a lost one counts as not sent.
    reads: bool,
    metric_key: MetricKey,
    /// When the attempt began, if it is measured.
    began: Instant,
}

/// A connection, or the right to open one.
pub(crate) struct Free<'a> {
    pool: &'a Pool,
    checked_out: CheckedOut<'a>,
}

/// A request and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) request: &'a [u8],
    /// A recent reading of the clock.
    pub(crate) now: Instant,
    pub(crate) deadline: Option<Instant>,
    /// The request cannot change anything on the server.
    pub(crate) reads: bool,
    /// What the answer is counted as, if it is measured, from `now` on.
    pub(crate) metric_key: MetricKey,
    /// Whether the caller may be interrupted.
    pub(crate) interrupt: Interrupt<'a>,
}

impl Pools {
    pub(crate) fn new(opener: Box<dyn BlockingOpener>, sizing: PoolSizing) -> Self {
        let nodes = (0..NodeId::CAPACITY.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect();
        let metrics = opener.metrics();
        Self { opener, sizing, nodes, closed: AtomicBool::new(false), metrics }
    }

    /// Sends a request of one frame and gives the body of its answer to `decode`.
    pub(crate) fn exchange<R>(
        &self,
        node: &NodeInfo,
        job: Job<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, ExchangeError> {
        let gone = || ExchangeError::Failed(Failure::new(FailureKind::NodeGone, false));
        let NodePools { pools: [pool, _], combiners, depth, sharing } = self.pools_of(node.id()).ok_or_else(gone)?;
        let (_in_flight, verdict) = sharing.enter(job.now);
        if combiners.is_empty() || !verdict.share || is_slow(job.request) {
            let sent = self.send(node, Class::Single, job)?;
            return sent.receive_for(None, job.interrupt, decode).map_err(ExchangeError::Failed);
        }
        let active = verdict.in_flight.div_ceil(*depth).min(combiners.len());
        let combiner = &combiners[thread::number() % active];
        let stamp = self.metrics.as_ref().map_or(Stamp::NONE, |metrics| metrics.stamp(job.metric_key, job.now));
        if let Some(joined) = combiner.join(pool, job.request, (job.now, stamp)) {
            let mut answer = ANSWER.take();
            let result = joined.finish(pool, job, &mut answer, decode);
            empty(&mut answer, KEEP_REQUEST);
            ANSWER.set(answer);
            return result.map_err(|failure| ExchangeError::Failed(self.lost(pool, node.id(), failure)));
        }
        let sent = self.send(node, Class::Single, job)?;
        let combiner = combiner.wants_connection().then_some(combiner);
        sent.receive_for(combiner, job.interrupt, decode).map_err(ExchangeError::Failed)
    }

    /// A request on a shared connection failed.
    #[cold]
    fn lost(&self, pool: &Pool, node: NodeId, mut failure: Failure) -> Failure {
        if self.is_closed() {
            failure.kind = FailureKind::Closed;
        } else if matches!(failure.kind, FailureKind::ConnectionLost(_)) {
            pool.sweep();
            self.opener.lost(node);
        }
        failure
    }

    /// Sends a request. Several may be sent to different nodes before their answers are read; then always in the order
    /// of the nodes' ids, so that two threads never wait for each other's connections.
    pub(crate) fn send(&self, node: &NodeInfo, class: Class, job: Job<'_>) -> Result<Sent<'_>, ExchangeError> {
        let unsent = |kind| ExchangeError::Failed(Failure::new(kind, false));
        let Some(pool) = self.pool(node.id(), class) else { return Err(unsent(FailureKind::NodeGone)) };
        let checked_out = pool.check_out(thread::number(), job.now, job.deadline, job.interrupt);
        match checked_out {
            Ok(checked_out) => self.send_over(node, Free { pool, checked_out }, job),
            Err(Refused::Full(full)) => Err(ExchangeError::Full(full)),
            Err(Refused::Expired) => Err(unsent(FailureKind::Expired)),
            Err(Refused::Interrupted) => Err(unsent(FailureKind::Interrupted)),
            Err(Refused::Closed) if self.is_closed() => Err(unsent(FailureKind::Closed)),
            Err(Refused::Closed) => Err(unsent(FailureKind::NodeGone)),
        }
    }

    /// A connection that nobody uses or stands in line for, or the right to open one: without a wait, so that a thread
    /// that has others on their way never waits for one of them.
    pub(crate) fn free(&self, node: &NodeInfo, class: Class, now: Instant) -> Option<Free<'_>> {
        let pool = self.pool(node.id(), class)?;
        Some(Free { pool, checked_out: pool.check_out_free(thread::number(), now)? })
    }

    /// [`send`](Self::send) over a connection that was found.
    #[inline]
    pub(crate) fn send_over<'a>(
        &'a self,
        node: &NodeInfo,
        Free { pool, checked_out }: Free<'a>,
        job: Job<'_>,
    ) -> Result<Sent<'a>, ExchangeError> {
        let mut now = job.now;
        let mut lease = match checked_out {
            CheckedOut::Ready(lease) => match Self::looked_at(lease, now) {
                Ok(lease) => lease,
                Err(permit) => self.open(node, permit, job.deadline, &mut now)?,
            },
            CheckedOut::Open(permit) => self.open(node, permit, job.deadline, &mut now)?,
        };
        let Job { request, deadline, reads, metric_key, interrupt, now: began } = job;
        if lease.waited {
            lease.meter.placed_now(metric_key, began);
        }
        match lease.send(request, now, deadline, interrupt) {
            Ok(()) => Ok(Sent { pools: self, pool, node: node.id(), lease, now, deadline, reads, metric_key, began }),
            Err(broken) => Err(ExchangeError::Failed(self.broken(pool, node.id(), lease, broken, false))),
        }
    }

    /// A connection that has rested for long may be dead: then a place to open another one instead.
    fn looked_at(lease: Lease<'_>, now: Instant) -> Result<Lease<'_>, OpenPermit<'_>> {
        if now.saturating_duration_since(lease.last_used) < LOOK_AFTER || !lease.has_died() {
            return Ok(lease);
        }
        Err(lease.replace())
    }

    #[cold]
    fn open<'a>(
        &self,
        node: &NodeInfo,
        permit: OpenPermit<'a>,
        deadline: Option<Instant>,
        now: &mut Instant,
    ) -> Result<Lease<'a>, ExchangeError> {
        *now = clock::now();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(*now));
        let opened = if left == Some(Duration::ZERO) {
            Err(FailureKind::Expired)
        } else {
            self.opener.open(node, left).map_err(FailureKind::OpenFailed)
        };
        *now = clock::now();
        match opened {
            Ok(stream) => {
                let meter = Meter::new(self.metrics.as_ref(), node.id().index() as u16);
                Ok(permit.fill((stream, Arc::clone(node.label())), meter, *now))
            }
            Err(kind) => {
                permit.fail();
                if matches!(kind, FailureKind::OpenFailed(_)) {
                    self.opener.lost(node.id());
                }
                let kind = if self.is_closed() { FailureKind::Closed } else { kind };
                Err(ExchangeError::Failed(Failure::new(kind, false)))
            }
        }
    }

    /// What became of a request whose connection is of no use any more.
    #[cold]
    fn broken(&self, pool: &Pool, node: NodeId, mut lease: Lease<'_>, broken: Broken, sent: bool) -> Failure {
        if matches!(broken, Broken::Expired) {
            lease.tally.timeouts += 1;
        }
        let begun = sent && lease.has_received();
        lease.closing = if self.is_closed() { CLOSED_BY_CLIENT.into() } else { broken.reason() };
        drop(lease);
        let lost = matches!(broken, Broken::Lost(_));
        let mut failure = broken.failure(sent, begun);
        if self.is_closed() {
            failure.kind = FailureKind::Closed;
        } else if lost {
            // A node that went down takes all its connections along: the retry must not meet the next dead one.
            pool.sweep();
            self.opener.lost(node);
        }
        failure
    }

    fn pool(&self, node: NodeId, class: Class) -> Option<&Pool> {
        Some(&self.pools_of(node)?.pools[class.index()])
    }

    fn pools_of(&self, node: NodeId) -> Option<&NodePools> {
        let chunk = self.nodes.get(node.index() / CHUNK)?;
        let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
        Some(chunk[node.index() % CHUNK].get_or_init(|| {
            let pools = NodePools::new(&self.sizing);
            if self.is_closed() {
                pools.pools.iter().for_each(Pool::close);
            }
            pools
        }))
    }

    /// The pools that exist, with their nodes.
    fn existing(&self) -> impl Iterator<Item = (NodeId, &NodePools)> {
        self.nodes.iter().enumerate().filter_map(|(at, chunk)| Some((at, chunk.get()?))).flat_map(|(at, chunk)| {
            let pools = chunk.iter().enumerate().filter_map(|(within, pools)| Some((within, pools.get()?)));
            pools.map(move |(within, pools)| (NodeId::from_index(at * CHUNK + within), pools))
        })
    }

    /// Opens the minimum of connections to a node ahead of use. A node that cannot be reached is left for later.
    pub(crate) fn warm(&self, node: &NodeInfo) {
        let Some(pool) = self.pool(node.id(), Class::Single) else { return };
        for index in 0..pool.missing() {
            // The first one goes to the thread that made the client, the others to those that come next.
            let Some(permit) = pool.permit_ahead(thread::number() + index) else { return };
            let mut now = clock::now();
            match self.open(node, permit, None, &mut now) {
                Ok(lease) => lease.give_back(now),
                Err(_) => return,
            }
        }
    }

    /// Closes what has been idle for long, and what belongs to nodes that are gone (`is_active` says no).
    pub(crate) fn trim(&self, idle: Option<Duration>, is_active: impl Fn(NodeId) -> bool) {
        let now = clock::now();
        for (node, NodePools { pools, combiners, .. }) in self.existing() {
            let active = is_active(node);
            for combiner in combiners {
                combiner.dismiss(&pools[0], active);
            }
            for pool in pools {
                match (self.is_closed(), active, pool.is_closed()) {
                    (true, ..) => return,
                    (false, false, _) => pool.retire(),
                    (false, true, true) => pool.reopen(),
                    (false, true, false) => {
                        if let Some(idle) = idle {
                            pool.trim(now, idle);
                        }
                    }
                }
            }
        }
    }

    /// The counts of a node.
    pub(crate) fn counters(&self, node: NodeId) -> NodeCounters {
        let mut sum = NodeCounters::default();
        let chunk = self.nodes.get(node.index() / CHUNK).and_then(OnceLock::get);
        if let Some(pools) = chunk.and_then(|chunk| chunk[node.index() % CHUNK].get()) {
            pools.pools.iter().for_each(|pool| sum.add(&pool.counters()));
            for combiner in &pools.combiners {
                let (tally, entries, connected) = combiner.counts();
                // The pool counts a combiner's connection as one request in flight.
                let one = u64::from(connected);
                sum.idle += u64::from(connected && entries == 0);
                sum.in_flight = (sum.in_flight + entries as u64).saturating_sub(one);
                sum.requests = (sum.requests + tally.requests).saturating_sub(one);
                sum.answers += tally.answers;
                sum.timeouts += tally.timeouts;
                sum.bytes_sent += tally.bytes_sent;
                sum.bytes_received += tally.bytes_received;
            }
        }
        sum
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Closes all connections: threads that are blocked on one, or wait for one, are woken and hear that the client is
    /// closed.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for (_, NodePools { pools, combiners, .. }) in self.existing() {
            // First: they give their connections back into pools that are closed.
            pools.iter().for_each(Pool::close);
            combiners.iter().for_each(|combiner| combiner.dismiss(&pools[0], false));
        }
    }
}

impl Pools {
    /// Gives up all connections of a forked child's copy; calls on it fail.
    pub(crate) fn disown(&self, dead: &DeadSocket) {
        self.closed.store(true, Ordering::SeqCst);
        for (_, NodePools { pools, .. }) in self.existing() {
            for pool in pools {
                pool.disown(dead);
            }
        }
    }
}

impl NodePools {
    fn new(sizing: &PoolSizing) -> Self {
        let single = PoolLimits {
            min: sizing.min as usize,
            max: sizing.max as usize,
            max_waiting: sizing.max_waiting,
            wait: sizing.when_full == WhenFull::Wait,
        };
        let batch = PoolLimits { min: 0, max: sizing.batch_max as usize, ..single };
        let depth = combined::DEPTH.min(sizing.depth as usize);
        // Never so many that they leave too few connections for the calls that they do not take; none at all where so few
        // may share one that it would cost more than it saves.
        let combiners = if depth < SHARE_FROM { 0 } else { (single.max / PER_COMBINER).min(MOST_COMBINERS) };
        Self {
            pools: [Pool::new(single), Pool::new(batch)],
            combiners: (0..combiners).map(|_| Combiner::new(depth)).collect(),
            depth,
            sharing: Sharing::default(),
        }
    }
}

impl Sent<'_> {
    /// Others were waited for since the request was sent. If its time is over, what has come by now is still read.
    pub(crate) fn wait_from(&mut self, now: Instant) {
        /// The shortest wait there is.
        const LAST_LOOK: Duration = Duration::from_millis(1);
        let latest = self.deadline.and_then(|deadline| deadline.checked_sub(LAST_LOOK));
        self.now = latest.map_or(now, |latest| now.min(latest)).max(self.now);
    }

    /// Waits for an answer of one frame and gives its body to `decode`. The connection is left to a combiner afterwards,
    /// if there is one that takes it.
    fn receive_for<R>(
        mut self,
        combiner: Option<&Combiner>,
        interrupt: Interrupt<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Failure> {
        let (result, code) = match self.lease.receive(self.now, self.deadline, interrupt) {
            Ok(frame) => match message_body(&frame, &mut Vec::new()) {
                // One message: nothing stands behind it that could have another code.
                Ok(body) => (decode(body), result_code(body)),
                Err(error) => return Err(self.undecodable(&error)),
            },
            Err(broken) => return Err(self.failed(broken)),
        };
        self.measure(code);
        if !self.lease.is_drained() {
            let error = WireError::invalid("more bytes behind the answer than one answer has", 0);
            return Err(self.failed(Broken::Garbage(error)));
        }
        match combiner {
            None => self.done(),
            Some(combiner) => {
                self.lease.tally.answers += 1;
                self.lease.rest(self.now);
                if let Some(lease) = combiner.adopt(self.lease) {
                    lease.give_back(self.now);
                }
            }
        }
        Ok(result)
    }

    /// Waits for an answer of several frames and gives each one's body to `each`, which says whether it was the last.
    /// An error of `each` ends the connection and is the inner result.
    pub(crate) fn receive_parts<E>(
        mut self,
        interrupt: Interrupt<'_>,
        mut each: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<Result<(), E>, Failure> {
        let mut scratch = Vec::new();
        loop {
            let metric_key = self.metric_key;
            let (last, code) = match self.lease.receive(self.now, self.deadline, interrupt) {
                Ok(frame) => match message_body(&frame, &mut scratch) {
                    Ok(body) => match each(body) {
                        Ok(true) if !metric_key.is_none() => (Ok(true), last_result_code(body)),
                        last => (last, 0),
                    },
                    Err(error) => return Err(self.undecodable(&error)),
                },
                Err(broken) => return Err(self.failed(broken)),
            };
            match last {
                Err(error) => return Ok(Err(error)),
                Ok(false) => {}
                Ok(true) if self.lease.is_drained() => {
                    self.measure(code);
                    self.done();
                    return Ok(Ok(()));
                }
                Ok(true) => {
                    let error = WireError::invalid("more bytes behind the answer than one answer has", 0);
                    return Err(self.failed(Broken::Garbage(error)));
                }
            }
        }
    }

    /// The answer has come whole.
    #[inline]
    fn measure(&mut self, code: u8) {
        if !self.metric_key.is_none() {
            let connection = &mut *self.lease;
            let (sent, received) = (connection.tally.bytes_sent, connection.tally.bytes_received);
            let answered = Answered { sent, received, result_code: Some(code) };
            connection.meter.answered_now(self.metric_key, self.began, answered);
        }
    }

    fn done(mut self) {
        self.lease.tally.answers += 1;
        self.lease.give_back(self.now);
    }

    #[cold]
    fn failed(self, broken: Broken) -> Failure {
        // A connection that had died before this request took nothing of it in. For a read that is certain enough:
        // asking again changes nothing.
        let stale = self.lease.reused && !self.lease.has_received() && matches!(broken, Broken::Lost(_));
        let sent = !(self.reads && stale);
        self.pools.broken(self.pool, self.node, self.lease, broken, sent)
    }

    #[cold]
    fn undecodable(self, error: &Error) -> Failure {
        drop(self.lease);
        crate::logging::debug!("an answer of node {:?} cannot be unpacked: {error}", self.node);
        let kind = FailureKind::Garbage(WireError::invalid("an answer that cannot be unpacked", 0));
        Failure::new(kind, true).begun(true)
    }
}

/// Encodes a request into a buffer that the thread keeps, and hands it to `send`.
pub(crate) fn with_request<R>(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
    send: impl FnOnce(&[u8]) -> R,
) -> Result<R, Error> {
    // Taken out, not borrowed: foreign code (the encoding of values) may use the client, too.
    let mut request = REQUEST.take();
    let result = encode(&mut request).map(|()| send(&request));
    empty(&mut request, KEEP_REQUEST);
    REQUEST.set(request);
    result
}
