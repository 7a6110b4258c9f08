//! Background jobs: operations on, or calls of a function with, all records of a query, without an answer.

use super::registry::Entry;
use super::request::QueryRequest;
use super::select::{Picked, Selector};
use crate::clock::{Now, Passing};
use crate::cluster::{Node, PARTITIONS};
use crate::code;
use crate::record;
use crate::request::{RecordRequest, Request, TxnPart, UdfCall};
use aerolane_wire::message::{Message, info2};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Jobs of a node that may run at a time.
const MAX_JOBS: usize = 32;

/// Stack of a job's thread: values and expressions are walked as deep as they are nested.
const STACK_SIZE: usize = 8 * 1024 * 1024;

/// How often a job that waits for its rate looks whether it was aborted.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Counts a job as long as it lives.
pub(super) struct Slot(Arc<Node>);

impl Slot {
    pub(super) fn take(node: &Arc<Node>) -> Option<Self> {
        let one_more = |jobs| (jobs < MAX_JOBS).then_some(jobs + 1);
        let taken = node.jobs.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        taken.is_ok().then(|| Self(Arc::clone(node)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.jobs.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Starts a job on a thread of its own; answers a result code.
pub(super) fn start(request: &Request<'_>, query: QueryRequest, entry: Entry) -> u8 {
    let Some(slot) = Slot::take(request.node) else {
        return code::FORBIDDEN;
    };
    let (node, body, now) = (Arc::clone(request.node), request.body.to_vec(), request.now);
    let job = move || {
        let _slot = slot;
        run(&node, now, &query, &entry, &body);
    };
    let thread = std::thread::Builder::new().name("aerolane-job".to_owned()).stack_size(STACK_SIZE);
    match thread.spawn(job) {
        Ok(_) => code::OK,
        Err(_) => code::FORBIDDEN,
    }
}

/// The rate of a job.
struct Pace {
    /// Records per second; 0: no limit.
    rate: u32,
    begun: Now,
    done: u64,
}

impl Pace {
    /// Waits until it is the next record's turn; `false`: the job is to end.
    fn wait(&mut self, ends: impl Fn() -> bool) -> bool {
        while !ends() {
            let now = self.begun.after_work().instant;
            let due = match (self.rate, self.begun.passing) {
                (0, _) | (_, Passing::Still) => now,
                (rate, _) => self.begun.instant + Duration::from_secs_f64(self.done as f64 / f64::from(rate)),
            };
            if due <= now {
                self.done += 1;
                return true;
            }
            std::thread::sleep((due - now).min(LONGEST_PAUSE));
        }
        false
    }
}

/// Does the operations on every record of the partitions that the node is master of. Errors of records are told to
/// nobody but counted.
fn run(node: &Node, begun: Now, query: &QueryRequest, entry: &Entry, body: &[u8]) {
    let Ok(message) = Message::decode(body) else { return };
    let namespace = &query.namespace;
    let selector = Selector::new(node.slot, query);
    let udf = query.udf.as_ref().map(|call| UdfCall {
        package: Some(&call.package),
        function: Some(&call.function),
        arguments: Some(&call.arguments),
    });
    let mut scratch = Vec::new();
    let mut pace = Pace { rate: query.records_per_second, begun, done: 0 };
    for pid in 0..PARTITIONS as u16 {
        if entry.is_aborted() || !node.is_live() {
            return;
        }
        if !node.owns(namespace, pid, true) {
            continue;
        }
        let now = node.time(begun.after_work());
        let picked = selector.pick(pid, None, now).map(|(picked, _)| picked).unwrap_or_default();
        for Picked { digest, .. } in picked.iter().rev() {
            let copy = namespace.answering(node.slot, pid, now.instant);
            let found = copy.as_ref().and_then(|copy| copy.find(digest));
            let here = found.is_some_and(|record| selector.takes(record, now.seconds()));
            drop(copy);
            if !here || !pace.wait(|| entry.is_aborted() || !node.is_live()) {
                continue;
            }
            let request = RecordRequest {
                info1: message.header.info1,
                info2: message.header.info2 & !(info2::GENERATION | info2::GENERATION_GT),
                info3: message.header.info3 | aerolane_wire::message::info3::UPDATE_ONLY,
                generation: 0,
                record_ttl: message.header.record_ttl,
                set: None,
                digest,
                key: None,
                filter: query.filter.as_deref(),
                ops: message.ops(),
                n_ops: message.header.n_ops,
                udf,
                txn: TxnPart::default(),
            };
            scratch.clear();
            let outcome = record::execute(node.slot, namespace, &request, node.time(begun.after_work()), &mut scratch);
            if outcome.code == code::OK { entry.answered(1) } else { entry.failed(1) }
        }
        entry.progress(usize::from(pid) + 1);
    }
}
