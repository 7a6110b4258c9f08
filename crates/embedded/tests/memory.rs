//! What a record costs in memory beside the user's data.

use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::digest::digest_integer;
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info2, op};
use aerolane_wire::particle::Particle;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, Ordering};

/// Counts live bytes, with what a usual malloc adds: a word in front, sizes rounded up to 16.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

fn cost(size: usize) -> i64 {
    (size + 8).next_multiple_of(16).max(32) as i64
}

// SAFETY: everything is passed on to the system's allocator unchanged; only a counter is kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(cost(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(cost(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RECORDS: i64 = 100_000;
/// The replication factor that clusters have by default.
const COPIES: i64 = 2;
const LIMIT: f64 = 150.0;

#[test]
fn a_copy_of_a_record_costs_at_most_150_bytes_beside_its_data() {
    let cluster = EmbeddedCluster::builder().nodes(3).namespace("test").start().unwrap();
    let mut stream = TcpStream::connect(cluster.nodes()[0].address).unwrap();
    let write = |stream: &mut TcpStream, keys: std::ops::Range<i64>| {
        let mut burst = Vec::new();
        let n = keys.end - keys.start;
        for key in keys {
            let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
            let mut message = MessageWriter::frame(&mut burst, &header);
            message.field(field::NAMESPACE, b"test");
            message.field(field::SET, b"demo");
            message.field(field::DIGEST, &digest_integer(b"demo", key));
            message.op(op::WRITE, b"bin", Particle::Integer(key)).unwrap();
            message.finish().unwrap();
        }
        stream.write_all(&burst).unwrap();
        let mut answers = vec![0; n as usize * 30];
        stream.read_exact(&mut answers).unwrap();
        assert!(answers.chunks(30).all(|answer| answer[13] == 0), "all writes succeed");
    };
    // Buffers and the set come first, so that only records are counted.
    write(&mut stream, -100..0);
    let before = LIVE.load(Ordering::Relaxed);
    for start in (0..RECORDS).step_by(100) {
        write(&mut stream, start..start + 100);
    }
    let used = LIVE.load(Ordering::Relaxed) - before;
    let user_data = "bin".len() + size_of::<i64>();
    let overhead = used as f64 / (RECORDS * COPIES) as f64 - user_data as f64;
    println!("{overhead:.1} bytes of overhead per record and copy");
    assert!(overhead <= LIMIT, "{overhead:.1} bytes of overhead per record and copy");
    assert!(overhead > 20.0, "a digest alone has 20 bytes: {overhead:.1} cannot be right");
}
