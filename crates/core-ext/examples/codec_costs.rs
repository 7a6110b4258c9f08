//! What encoding and decoding cost: nanoseconds of CPU time and heap allocations per call, without any I/O.
//!
//! `cargo run -p aerolane --example codec_costs --release`. For exact comparisons between versions use the
//! criterion benches; this is the quick look.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aerolane::batch::{self, Answers, BatchOperation};
use aerolane::command::decode::{self, Want};
use aerolane::command::encode::{self, WriteKind};
use aerolane::operations;
use aerolane_wire::message::{MessageHeader, MessageWriter, info3, op};
use aerolane_wire::particle::Particle;
use aerospike_core::{BatchPolicy, BatchReadPolicy, Bins, Key, ReadPolicy, WritePolicy, as_bin, as_key};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above; the block came from the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// CPU time of this thread in nanoseconds, which other load on the machine disturbs less than wall time; wall time where
/// the system does not tell.
fn cpu_time(since: Instant) -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| since.elapsed().as_nanos() as u64)
}

/// Calls `f` for about half a second (after a tenth of warm-up) and prints the cost of one of its `per` units.
fn measure(what: &str, per: u64, mut f: impl FnMut()) {
    let warm_up = Instant::now();
    while warm_up.elapsed() < Duration::from_millis(100) {
        f();
    }
    let start = Instant::now();
    let (cpu, before, mut calls) = (cpu_time(start), ALLOCATIONS.load(Ordering::Relaxed), 0u64);
    while start.elapsed() < Duration::from_millis(500) {
        for _ in 0..64 {
            f();
        }
        calls += 64;
    }
    let units = (calls * per) as f64;
    let allocations = (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / units;
    let nanos = (cpu_time(start) - cpu) as f64 / units;
    println!("{what:<42} {nanos:>9.1} ns {allocations:>8.2} allocations");
}

fn message(place: u32, last: bool, ops: &[(&[u8], Particle<'_>)]) -> Vec<u8> {
    let info3 = if last { info3::LAST } else { 0 };
    let header = MessageHeader { info3, generation: 1, transaction_ttl: place, ..MessageHeader::default() };
    let mut out = vec![];
    let mut writer = MessageWriter::bare(&mut out, &header);
    for (name, value) in ops {
        writer.op(op::READ, name, *value).expect("short names and values");
    }
    writer.finish().expect("few operations");
    out
}

fn main() {
    const ROWS: u64 = 128;
    let key = as_key!("test", "users", "user-000123");
    let (read, write) = (ReadPolicy::default(), WritePolicy::default());
    let node: Arc<str> = "A1: 10.0.0.1:3000".into();
    let mut out = Vec::with_capacity(1 << 20);

    measure("key from a string (digest)", 1, || {
        black_box(Key::new("test", "users", black_box("user-000123").into()).is_ok());
    });
    measure("encode get, all bins", 1, || {
        out.clear();
        black_box(encode::read(&read.base_policy, black_box(&key), &Bins::All, 1000, &mut out).is_ok());
    });
    let int = [as_bin!("counter", 12345)];
    measure("encode put, one int bin", 1, || {
        out.clear();
        black_box(encode::write(&write, black_box(&key), &int, WriteKind::Put, 1000, &mut out).is_ok());
    });
    let ops = [operations::add(&int[0]), operations::get_bin("counter"), operations::touch()];
    measure("encode operate, three operations", 1, || {
        out.clear();
        black_box(encode::operate(&write, black_box(&key), &ops, 1000, &mut out).is_ok());
    });

    let want = Want::get(&read.base_policy, &Bins::All);
    let one = message(0, false, &[(b"counter", Particle::Integer(1))]);
    measure("decode record, one int bin (and drop it)", 1, || {
        black_box(decode::record(black_box(&one), want, &node).is_ok());
    });
    let ten: Vec<_> = (0..10).map(|i| format!("bin{i}")).collect();
    let ten: Vec<_> = ten.iter().map(|name| (name.as_bytes(), Particle::String(b"a value of 24 characters"))).collect();
    let ten = message(0, false, &ten);
    measure("decode record, ten string bins (and drop)", 1, || {
        black_box(decode::record(black_box(&ten), want, &node).is_ok());
    });
    measure("decode not found (and drop the error)", 1, || {
        let body = message_with_code();
        black_box(decode::record(black_box(&body), want, &node).is_err());
    });
    let ok = message(0, false, &[]);
    measure("decode write", 1, || {
        black_box(decode::write(black_box(&ok), &node).is_ok());
    });

    let policy = BatchPolicy::default();
    let rows: Vec<_> = (0..ROWS as i64)
        .map(|i| BatchOperation::read(&BatchReadPolicy::default(), as_key!("test", "users", i), Bins::All))
        .collect();
    let places: Vec<u32> = (0..ROWS as u32).collect();
    measure("encode batch read of 128, per row", ROWS, || {
        out.clear();
        black_box(batch::encode(&policy, black_box(&rows), &places, 1000, &mut out).is_ok());
    });
    let body: Vec<u8> =
        (0..ROWS as u32).flat_map(|i| message(i, false, &[(b"counter", Particle::Integer(1))])).collect();
    let last = message(0, true, &[]);
    measure("decode batch read of 128, per row", ROWS, || {
        let mut answers = Answers::new(ROWS as usize);
        let mut sink = |_: u32, answer| drop(black_box(answer));
        black_box(answers.frame(black_box(&body), &node, &mut sink).is_ok());
        black_box(answers.frame(&last, &node, &mut sink).is_ok());
    });
}

fn message_with_code() -> [u8; 22] {
    MessageHeader { result_code: 2, ..MessageHeader::default() }.encode()
}
