//! Queries that run, or ran a moment ago: shown, aborted, and not started twice with one number.

use super::request::{Kind, QueryRequest};
use crate::clock::Now;
use crate::cluster::{Node, NodeId};
use crate::code;
use crate::command_line::{CommandLine, error};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Finished queries that are remembered.
const MAX_FINISHED: usize = 100;
/// Queries of a node that may run at a time.
const MAX_ACTIVE: usize = 1024;

/// All queries of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    /// Those that run, then what is left of finished ones.
    list: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    active: Vec<Arc<Status>>,
    finished: VecDeque<Arc<Status>>,
}

#[derive(Debug)]
struct Status {
    node: NodeId,
    id: u64,
    namespace: String,
    set: String,
    kind: Kind,
    partitions: usize,
    from: SocketAddr,
    started: Now,
    aborted: AtomicBool,
    done: AtomicBool,
    /// Milliseconds that it ran.
    took: AtomicU64,
    partitions_done: AtomicUsize,
    succeeded: AtomicU64,
    failed: AtomicU64,
}

/// The entry of a query that runs; dropping it ends the query.
#[derive(Debug)]
pub(crate) struct Entry {
    status: Arc<Status>,
    queries: Arc<crate::cluster::ClusterState>,
}

impl Queries {
    /// Takes a query in; the error is a result code.
    pub(super) fn enter(node: &Node, query: &QueryRequest, from: SocketAddr, now: Now) -> Result<Entry, u8> {
        let mut lists = node.cluster.queries.list.lock();
        let Lists { active, finished } = &mut *lists;
        if query.id != 0 && active.iter().chain(finished.iter()).any(|s| s.node == node.id && s.id == query.id) {
            return Err(code::PARAMETER);
        }
        if active.iter().filter(|status| status.node == node.id).count() >= MAX_ACTIVE {
            return Err(code::FORBIDDEN);
        }
        let status = Arc::new(Status {
            node: node.id,
            id: query.id,
            namespace: query.namespace.name.clone(),
            set: query.set.as_deref().map(|set| String::from_utf8_lossy(set).into_owned()).unwrap_or_default(),
            kind: query.kind,
            partitions: query.partitions.len(),
            from,
            started: now,
            aborted: AtomicBool::new(false),
            done: AtomicBool::new(false),
            took: AtomicU64::new(0),
            partitions_done: AtomicUsize::new(0),
            succeeded: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        active.push(Arc::clone(&status));
        Ok(Entry { status, queries: Arc::clone(&node.cluster) })
    }

    /// How many queries run on a node.
    pub(crate) fn active(&self, node: NodeId) -> usize {
        self.list.lock().active.iter().filter(|status| status.node == node).count()
    }

    fn find(&self, node: NodeId, id: u64) -> Option<Arc<Status>> {
        let lists = self.list.lock();
        lists.active.iter().chain(&lists.finished).find(|s| s.node == node && s.id == id).cloned()
    }

    /// Tells the running queries of a node to end (one of them, or all); answers how many they are.
    fn abort(&self, node: NodeId, id: Option<u64>) -> usize {
        let lists = self.list.lock();
        let wanted = lists.active.iter().filter(|s| s.node == node && id.is_none_or(|id| s.id == id));
        wanted.filter(|status| !status.aborted.swap(true, Ordering::Relaxed)).count()
    }
}

impl Entry {
    /// Whether someone wants the query to end.
    pub(super) fn is_aborted(&self) -> bool {
        self.status.aborted.load(Ordering::Relaxed)
    }

    /// So many partitions are done.
    pub(super) fn progress(&self, partitions: usize) {
        self.status.partitions_done.store(partitions, Ordering::Relaxed);
    }

    /// So many more records were answered, or written to.
    pub(super) fn answered(&self, records: u64) {
        self.status.succeeded.fetch_add(records, Ordering::Relaxed);
    }

    /// So many more records could not be written to.
    pub(super) fn failed(&self, records: u64) {
        self.status.failed.fetch_add(records, Ordering::Relaxed);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let status = &self.status;
        status.took.store(status.age_ms(status.started.after_work()), Ordering::Relaxed);
        status.done.store(true, Ordering::Relaxed);
        let mut lists = self.queries.queries.list.lock();
        lists.active.retain(|other| !Arc::ptr_eq(other, status));
        if lists.finished.len() >= MAX_FINISHED {
            lists.finished.pop_front();
        }
        lists.finished.push_back(Arc::clone(status));
    }
}

impl Status {
    /// Milliseconds since it began.
    fn age_ms(&self, now: Now) -> u64 {
        now.instant.saturating_duration_since(self.started.instant).as_millis() as u64
    }

    fn row(&self, now: Now) -> String {
        let job = match self.kind {
            Kind::Foreground => "basic",
            Kind::Background => "background-ops",
            Kind::BackgroundUdf => "background-udf",
            Kind::Aggregation => "aggregation",
        };
        let state = if self.done.load(Ordering::Relaxed) { "done(ok)" } else { "active(ok)" };
        let state = if self.aborted.load(Ordering::Relaxed) { "done(abandoned-user)" } else { state };
        let done = self.done.load(Ordering::Relaxed);
        let total = self.partitions.max(1);
        let progress =
            if done { 100.0 } else { self.partitions_done.load(Ordering::Relaxed) as f64 / total as f64 * 100.0 };
        let run = if done { self.took.load(Ordering::Relaxed) } else { self.age_ms(now) };
        let ago = self.age_ms(now).saturating_sub(run);
        let set = if self.set.is_empty() { String::new() } else { format!(":set={}", self.set) };
        format!(
            "trid={}:ns={}{set}:n-pids-requested={}:n-keyds-requested=0:rps=0:active-threads={}:status={state}:\
             job-progress={progress:.2}:run-time={run}:time-since-done={}:recs-throttled=0:recs-filtered-meta=0:\
             recs-filtered-bins=0:recs-succeeded={}:recs-failed={}:from={}+{}:job-type={job}:net-io-bytes=0:\
             net-io-time=0:socket-timeout=10000",
            self.id,
            self.namespace,
            self.partitions,
            u8::from(!done),
            if done { ago } else { 0 },
            self.succeeded.load(Ordering::Relaxed),
            self.failed.load(Ordering::Relaxed),
            self.from.ip(),
            self.from.port(),
        )
    }
}

/// The info commands about queries.
pub(crate) fn command(node: &Arc<Node>, command: &CommandLine<'_>, now: Now) -> String {
    let queries = &node.cluster.queries;
    let number = || command.get("trid").or_else(|_| command.get("id"));
    match command.name {
        "query-abort-all" => format!("number-of-queries-killed:{}", queries.abort(node.id, None)),
        "query-abort" => match number().map(str::parse::<u64>) {
            Err(_) => error(4, "missing 'id'"),
            Ok(Err(_)) => error(4, "bad id"),
            Ok(Ok(id)) if queries.abort(node.id, Some(id)) > 0 => "ok".to_owned(),
            Ok(Ok(_)) => error(2, "id not active"),
        },
        _ => match number().map(str::parse::<u64>) {
            Err(_) => {
                let lists = queries.list.lock();
                let own = lists.active.iter().chain(&lists.finished).filter(|status| status.node == node.id);
                own.map(|status| status.row(now)).collect::<Vec<_>>().join(";")
            }
            Ok(Err(_)) => error(4, "bad id"),
            Ok(Ok(id)) => queries.find(node.id, id).map_or_else(|| error(2, "job not found"), |status| status.row(now)),
        },
    }
}
