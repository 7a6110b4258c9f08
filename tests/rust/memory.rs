//! What a large request or answer took is given back when its call is over, by each of the drivers: otherwise each thread
//! keeps the room of its largest call for as long as it lives.

#[path = "common/any_client.rs"]
mod any_client;
mod common;
#[path = "common/poll_loop.rs"]
mod poll_loop;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Range;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use aerolane::raw::RawClient;
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, ClientConfig, Key, Value, as_bin, operations,
};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
use any_client::{AnyClient, Kind, reading, within, writing};
use common::{Patient, patient_writes, policy};
use poll_loop::Loop;

/// The system's allocator; counts the bytes of large allocations, which are those of buffers.
struct Large;

const LARGE: usize = 256 * 1024;
static HELD: AtomicUsize = AtomicUsize::new(0);

fn size(layout: Layout) -> usize {
    if layout.size() >= LARGE { layout.size() } else { 0 }
}

// SAFETY: passes everything on to the system's allocator; the counter needs no allocation.
unsafe impl GlobalAlloc for Large {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(size(layout), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(size(layout), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and `at` is from `System`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Large = Large;

const THREADS: usize = 4;
const VALUE: usize = 6 << 20;
/// Of a value less than half: connections keep some room, those of the server, too.
const LITTLE: usize = VALUE / 2;

/// How much more is held than before, once that is little: the server's threads are done with their part a little later than
/// their clients, and lanes give back what callers in line needed once a second.
fn left_of(before: usize) -> usize {
    let limit = Instant::now() + Duration::from_secs(10);
    while HELD.load(Ordering::Relaxed) > before + LITTLE && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    HELD.load(Ordering::Relaxed).saturating_sub(before)
}

/// Each thread carries out `large`, and stays alive until it is known what is left of that, after `then`.
fn on_threads(large: impl Fn(usize) + Sync, then: impl Fn()) -> usize {
    let before = HELD.load(Ordering::Relaxed);
    let (done, checked) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (large, done, checked) = (&large, &done, &checked);
            scope.spawn(move || {
                large(thread);
                done.wait();
                checked.wait();
            });
        }
        done.wait();
        then();
        let left = left_of(before);
        checked.wait();
        left
    })
}

fn key(id: usize) -> Key {
    Key::new("test", "s", Value::Int(id as i64)).unwrap()
}

/// Clients whose calls take the same room.
struct Calls<'a> {
    client: AnyClient,
    value: &'a str,
}

impl Calls<'_> {
    fn put(&self, id: usize) {
        self.client.put(&writing(60_000, 0), &key(id), &[as_bin!("v", self.value)]).unwrap();
    }

    fn get(&self, id: usize) {
        assert_eq!(self.client.get(&reading(60_000, 0), &key(id), Bins::All).unwrap().bins.len(), 1);
    }

    fn delete(&self, id: usize) {
        assert!(self.client.delete(&writing(60_000, 0), &key(id)).unwrap());
    }

    fn batch_read(&self, ids: Range<usize>) {
        let read = |id| BatchOperation::read(&BatchReadPolicy::default(), key(id), Bins::All);
        let (rows, result) = self.client.batch(&BatchPolicy::patient(), ids.map(read).collect());
        result.unwrap();
        assert!(rows.iter().all(|row| row.record().is_some()));
    }

    fn batch_write(&self, ids: Range<usize>) {
        let write = |id| {
            let put = operations::put(&as_bin!("v", self.value));
            BatchOperation::write(&BatchWritePolicy::default(), key(id), [put])
        };
        self.client.batch(&patient_writes(), ids.map(write).collect()).1.unwrap();
    }
}

#[test]
fn large_calls_leave_nothing_behind() {
    within(300, || {
        let namespace = NamespaceOptions::new("test").max_record_size(8 << 20);
        let cluster = EmbeddedCluster::builder().nodes(1).namespace_with(namespace).service_threads(1).start().unwrap();
        let value = "x".repeat(VALUE);
        let calls = |kind| Calls { client: AnyClient::open(kind, policy(), &cluster.seeds()).unwrap(), value: &value };
        let others = calls(Kind::Sync);
        let ids = || 0..THREADS;
        // The server's thread keeps room for its largest request.
        std::thread::scope(|scope| {
            scope.spawn(|| others.batch_write(ids()));
        });
        ids().for_each(|id| others.delete(id));
        for kind in Kind::ALL {
            let calls = calls(kind);
            let before = HELD.load(Ordering::Relaxed);
            let writes = on_threads(|id| calls.put(id), || ids().for_each(|id| others.delete(id)));
            std::thread::scope(|scope| {
                scope.spawn(|| others.batch_write(ids()));
            });
            let reads = on_threads(|id| calls.get(id), || ());
            let batch_reads = on_threads(|_| calls.batch_read(ids()), || ());
            ids().for_each(|id| others.delete(id));
            let own = |id: usize| THREADS + 2 * id..THREADS + 2 * (id + 1);
            let batch_writes =
                on_threads(|id| calls.batch_write(own(id)), || ids().flat_map(own).for_each(|id| others.delete(id)));
            let left = [writes, reads, batch_reads, batch_writes];
            assert!(
                left.iter().all(|left| *left < LITTLE),
                "{kind:?}: left of writes, reads, batches of both: {left:?}"
            );
            assert!(left_of(before) < LITTLE, "{kind:?}: in all {}", left_of(before));
        }
        in_a_loop(&cluster, &others);
    });
}

/// In a foreign loop; `others` take the records away again.
fn in_a_loop(cluster: &EmbeddedCluster, others: &Calls<'_>) {
    let config = ClientConfig::from(policy());
    let mut host = Loop::of(&RawClient::connect_blocking(&config, &cluster.seeds()).unwrap());
    let before = HELD.load(Ordering::Relaxed);
    for id in 0..THREADS {
        host.put(id as u32, &key(id), Value::from(others.value));
    }
    host.turn_until("all are written", |host| host.outcomes.0.len() == THREADS);
    host.outcomes.0.clear();
    for id in 0..THREADS {
        host.get(id as u32, &key(id), 60_000);
    }
    host.turn_until("all are read", |host| host.outcomes.0.len() == THREADS);
    host.outcomes.0.clear();
    (0..THREADS).for_each(|id| others.delete(id));
    host.turn_until("all is given back", |_| HELD.load(Ordering::Relaxed) < before + LITTLE);
}
