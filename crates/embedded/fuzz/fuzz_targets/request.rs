//! Requests of any kind to a node with a few records: it answers, or closes the connection, and goes on serving.
//!
//! Everything that a node decodes is behind this: info text, admin messages, record requests with operations on
//! collections, bits, HyperLogLogs, expressions and paths, batches, queries, UDF calls.
#![no_main]

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::Duration;

use aerolane_embedded::EmbeddedCluster;
use libfuzzer_sys::fuzz_target;

const STATUS: &[u8] = b"\x02\x01\x00\x00\x00\x00\x00\x07status\n";
const ALIVE: &[u8] = b"status\tok\n";

static CLUSTER: OnceLock<EmbeddedCluster> = OnceLock::new();

thread_local! {
    static STREAM: RefCell<Option<TcpStream>> = const { RefCell::new(None) };
}

fn connect() -> TcpStream {
    let cluster = CLUSTER.get_or_init(|| {
        EmbeddedCluster::builder().nodes(1).service_threads(1).start().expect("the embedded cluster starts")
    });
    let stream = TcpStream::connect(cluster.nodes()[0].address).expect("the node takes connections");
    // A node that is silent for so long hangs.
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    stream
}

/// Whether the status came back; `false`: the node has closed the connection.
fn answered(stream: &mut TcpStream) -> bool {
    let (mut received, mut chunk) = (Vec::new(), [0; 8192]);
    while !received.ends_with(ALIVE) {
        match stream.read(&mut chunk) {
            Ok(0) => return false,
            Ok(n) => received.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return false,
            Err(e) => panic!("the node does not answer: {e}"),
        }
    }
    true
}

fuzz_target!(|input: (u8, &[u8])| {
    let (kind, body) = input;
    let size = body.len() as u64;
    // Info, admin, or (mostly) a message.
    let kind = match kind {
        0..16 => 1,
        16..32 => 2,
        _ => 3,
    };
    let mut frame = (2_u64 << 56 | kind << 48 | size).to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    frame.extend_from_slice(STATUS);
    STREAM.with_borrow_mut(|slot| {
        let stream = slot.get_or_insert_with(connect);
        if stream.write_all(&frame).is_err() || !answered(stream) {
            *slot = None;
        }
    });
});
