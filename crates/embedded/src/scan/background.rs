//! Background jobs: operations on all records, without an answer.

use super::registry::Entry;
use super::request::QueryRequest;
use crate::clock;
use crate::cluster::{Node, PARTITIONS};
use crate::code;
use crate::record::{self, RecordRequest};
use aerolane_wire::message::{Message, info2};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Jobs of this process that may run at a time.
const MAX_JOBS: usize = 32;

static JOBS: AtomicUsize = AtomicUsize::new(0);

/// Counts a job as long as it lives.
struct Slot;

impl Slot {
    fn take() -> Option<Self> {
        let taken =
            JOBS.fetch_update(Ordering::AcqRel, Ordering::Acquire, |jobs| (jobs < MAX_JOBS).then_some(jobs + 1));
        taken.is_ok().then_some(Self)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        JOBS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Starts a job on a thread of its own; answers a result code. `body` is the message that asked for it.
pub(super) fn start(node: Arc<Node>, query: QueryRequest, entry: Entry, body: &[u8]) -> u8 {
    let Some(slot) = Slot::take() else {
        return code::FORBIDDEN;
    };
    let body = body.to_vec();
    let job = move || {
        let _slot = slot;
        run(&node, &query, &entry, &body);
    };
    match std::thread::Builder::new().name("aerolane-job".to_owned()).spawn(job) {
        Ok(_) => code::OK,
        Err(_) => code::FORBIDDEN,
    }
}

/// Does the operations on every record of the partitions that the node is master of. Errors of records are told to
/// nobody but counted.
fn run(node: &Node, query: &QueryRequest, entry: &Entry, body: &[u8]) {
    let Ok(message) = Message::decode(body) else { return };
    let namespace = &query.namespace;
    let set = match &query.set {
        None => None,
        Some(name) => match namespace.sets.find(name) {
            None => return,
            set => set,
        },
    };
    let mut scratch = Vec::new();
    for pid in 0..PARTITIONS as u16 {
        if entry.is_aborted() || !node.is_live() {
            return;
        }
        if node.cluster.view().ownership.master(pid) != Some(node.id) {
            continue;
        }
        let now = clock::seconds(clock::now_ms());
        let digests: Vec<[u8; 20]> = namespace
            .partition(pid)
            .iter()
            .filter(|r| set.is_none_or(|set| r.set_id() == set) && !r.is_expired(now))
            .map(|r| *r.digest())
            .collect();
        for digest in &digests {
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
                udf: None,
            };
            scratch.clear();
            let outcome = record::execute(namespace, &request, clock::now_ms(), &mut scratch);
            if outcome.code == code::OK { entry.answered(1) } else { entry.failed(1) }
        }
        entry.progress(usize::from(pid) + 1);
    }
}
