//! Recorded requests with bytes changed: whatever comes, the node answers or closes, without a panic, goes on serving, and
//! takes no more memory than it should.

mod common;

use aerolane_embedded::{Builder, EmbeddedCluster};
use flate2::read::GzDecoder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Counts live bytes, and the most there were.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator unchanged; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All tests of this file together take less, at any time: their clusters, the requests, and what the nodes allocate.
const MOST_MEMORY: usize = 1024 * 1024 * 1024;

/// Requests that are changed and sent, per group.
const ROUNDS: usize = 1500;
const STATUS: &[u8] = b"\x02\x01\x00\x00\x00\x00\x00\x07status\n";
const ALIVE: &[u8] = b"status\tok\n";

/// Panics of all threads. A node catches its own and closes the connection: from outside that looks like a refusal.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn start(builder: Builder) -> EmbeddedCluster {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(panic);
        }));
    });
    builder.service_threads(1).start().unwrap()
}

fn is_sound(address: SocketAddr) {
    assert_eq!(common::Raw::connect(address).info("status"), "ok");
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a node has panicked");
}

/// xorshift64*: the same changes every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// The recorded requests of a group that are one whole frame of moderate size.
fn requests(group: &str) -> Vec<Vec<u8>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let plain = directory.join(format!("{group}.jsonl"));
    let text: Box<dyn Read> = if plain.exists() {
        Box::new(std::fs::File::open(plain).unwrap())
    } else {
        Box::new(GzDecoder::new(std::fs::File::open(directory.join(format!("{group}.jsonl.gz"))).unwrap()))
    };
    let mut found = Vec::new();
    for line in BufReader::new(text).lines() {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let hex = line["request"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let whole = bytes.first_chunk::<8>().is_some_and(|head| {
            (u64::from_be_bytes(*head) & 0xffff_ffff_ffff) as usize == bytes.len() - 8 && matches!(head[1], 1..=3)
        });
        if whole && bytes.len() < 20_000 {
            found.push(bytes);
        }
    }
    assert!(found.len() > 10, "{group}: {}", found.len());
    found
}

/// Changes, cuts or repeats some of the body's bytes, and sets the size right.
fn mutate(request: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = request.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.len() == 8 {
            break;
        }
        let at = 8 + random.below(bytes.len() - 8);
        match random.below(6) {
            0 => bytes[at] = 0,
            1 => bytes[at] = 0xff,
            2 => bytes[at] ^= 1 << random.below(8),
            3 => bytes[at] = random.below(256) as u8,
            4 => bytes.truncate(at),
            _ => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    let size = (bytes.len() - 8) as u64;
    bytes[2..8].copy_from_slice(&size.to_be_bytes()[2..]);
    bytes
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Whether the status came back; `false`: the node has closed the connection.
fn answered(stream: &mut TcpStream, what: &[u8]) -> bool {
    let mut received = Vec::new();
    let mut chunk = [0; 8192];
    while !received.ends_with(ALIVE) {
        match stream.read(&mut chunk) {
            Ok(0) => return false,
            Ok(n) => received.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return false,
            Err(e) => panic!("{e} after {what:02x?}"),
        }
    }
    true
}

fn survives(group: &str) {
    let cluster = start(EmbeddedCluster::builder().nodes(2));
    let address = cluster.nodes()[0].address;
    let requests = requests(group);
    let mut random = Random(0x5eed + group.len() as u64);
    let mut stream = connect(address);
    let mut closed = 0;
    for _ in 0..ROUNDS {
        let request = mutate(&requests[random.below(requests.len())], &mut random);
        if stream.write_all(&[&request[..], STATUS].concat()).is_err() || !answered(&mut stream, &request) {
            closed += 1;
            stream = connect(address);
        }
    }
    assert!(closed < ROUNDS, "every request closed the connection");
    is_sound(address);
    let most = MOST.load(Ordering::Relaxed);
    assert!(most < MOST_MEMORY, "{group}: {most} bytes");
}

#[test]
fn info() {
    survives("info");
}

#[test]
fn records() {
    survives("record");
}

#[test]
fn batches() {
    survives("batch");
}

#[test]
fn queries() {
    survives("scan");
    survives("query");
}

#[test]
fn udfs() {
    survives("udf");
}

/// What is malformed already, what ends the recorded server, and another client's way of encoding.
#[test]
fn odd_requests() {
    for group in ["malformed", "crashes", "rust", "connect"] {
        survives(group);
    }
}

#[test]
fn security() {
    survives("security");
}

/// Administration by a user that has logged in: all commands, changed at random.
#[test]
fn administration() {
    use aerolane_wire::admin::{AdminHeader, command, encode, encode_login, field};
    use aerolane_wire::message::Field;
    let cluster = start(EmbeddedCluster::builder().nodes(1).user("admin", "secret"));
    let address = cluster.nodes()[0].address;
    // What clients send for this password (golden group `security`: the salt is theirs).
    let salt = [244, 107, 11, 190, 207, 254, 141, 27, 6, 103, 216, 79, 109, 193, 216, 169];
    let hash = bcrypt::hash_with_salt("secret", 10, salt).unwrap().format_for_version(bcrypt::Version::TwoA);
    let mut login = Vec::new();
    encode_login(&mut login, b"admin", hash.as_bytes(), None).unwrap();
    let session = || {
        let mut stream = connect(address);
        stream.write_all(&[&login[..], STATUS].concat()).unwrap();
        assert!(answered(&mut stream, &login));
        stream
    };
    let fields: [(u8, &[u8]); 9] = [
        (field::USER, b"u"),
        (field::PASSWORD, hash.as_bytes()),
        (field::OLD_PASSWORD, hash.as_bytes()),
        (field::ROLES, b"\x02\x04read\x06writer"),
        (field::ROLE, b"writer"),
        (field::PRIVILEGES, b"\x02\x02\x0b\x04test\x01s"),
        (field::ALLOWLIST, b"127.0.0.1,10.0.0.0/8"),
        (field::READ_QUOTA, b"\x00\x00\x10\x00"),
        (field::WRITE_QUOTA, b"\x00\x00\x10\x00"),
    ];
    let mut random = Random(0xad);
    let mut stream = session();
    for round in 0..ROUNDS {
        let all = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, command::LOGIN];
        let header = AdminHeader { command: all[random.below(all.len())], ..AdminHeader::default() };
        let mut request = Vec::new();
        encode(&mut request, header, fields.iter().map(|(kind, value)| Field { kind: *kind, value })).unwrap();
        let request = if round % 3 == 0 { request } else { mutate(&request, &mut random) };
        if stream.write_all(&[&request[..], STATUS].concat()).is_err() || !answered(&mut stream, &request) {
            stream = session();
        }
    }
    let mut stream = session();
    stream.write_all(STATUS).unwrap();
    assert!(answered(&mut stream, STATUS));
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a node has panicked");
}

#[test]
fn expressions_and_collections() {
    for group in ["exp", "operate", "list", "map", "ctx", "bits", "hll", "strings"] {
        survives(group);
    }
}

/// Changed operations on values that are there: each comes after the requests that were recorded before it.
#[test]
fn operations_on_values() {
    let cluster = start(EmbeddedCluster::builder().nodes(1));
    let address = cluster.nodes()[0].address;
    for group in ["list", "map", "ctx", "bits", "hll", "exp"] {
        let requests = requests(group);
        let mut random = Random(0xc0de + group.len() as u64);
        let mut stream = connect(address);
        for _ in 0..ROUNDS {
            let at = random.below(requests.len());
            let before = requests[at.saturating_sub(10)..at].concat();
            let request = mutate_payload(&requests[at], &mut random);
            let sent = stream.write_all(&[&before[..], &request, STATUS].concat());
            if sent.is_err() || !answered(&mut stream, &request) {
                stream = connect(address);
            }
        }
        is_sound(address);
    }
}

/// Changes bytes at the end, where the payload of the last operation is: the message itself stays sound.
fn mutate_payload(request: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = request.to_vec();
    let payload = bytes.len().saturating_sub(48).max(30).min(bytes.len() - 1);
    for _ in 0..=random.below(3) {
        let at = payload + random.below(bytes.len() - payload);
        bytes[at] = match random.below(4) {
            0 => bytes[at] ^ (1 << random.below(8)),
            1 => [0x90, 0x93, 0x82, 0xc7, 0xff, 0xdd, 0xdf, 0xc0][random.below(8)],
            _ => random.below(256) as u8,
        };
    }
    bytes
}

/// Filters of paths, paths in filters and so on: each one multiplies the work of those inside it.
#[test]
fn nested_paths_come_to_an_end() {
    let cluster = start(EmbeddedCluster::builder().nodes(1));
    let mut stream = connect(cluster.nodes()[0].address);
    let list: Vec<u8> = [&[0xdc, 0x03, 0xe8][..], &[1; 1000]].concat();
    // Those of a list of 1000 elements, for which those of a list of 1000 elements, ...
    let mut expression = vec![0xc3];
    for _ in 0..5 {
        let path = [&[0x93, 0xcc, 0xfe, 0x92, 4][..], &expression, &[1]].concat();
        let select = [&[0x95, 127, 4, 0][..], &path, &[0x92, 126], &list].concat();
        // Whether the number of what is selected is above 0.
        expression = [&[0x93, 3, 0x95, 127, 2, 0, 0x91, 16][..], &select, &[0]].concat();
    }
    let value = [&[0x92][..], &expression, &[0]].concat();
    let op = [&(5 + value.len() as u32).to_be_bytes()[..], &[7, 4, 0, 1, b'r'], &value].concat();
    let mut body = vec![22, 1, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 2, 0, 2];
    for (kind, field) in [(0, &b"test"[..]), (4, &[7; 20])] {
        body.extend_from_slice(&(1 + field.len() as u32).to_be_bytes());
        body.push(kind);
        body.extend_from_slice(field);
    }
    body.extend_from_slice(&[0, 0, 0, 13, 2, 1, 0, 1, b'b', 0, 0, 0, 0, 0, 0, 0, 1]);
    body.extend_from_slice(&op);
    let request = [&(2_u64 << 56 | 3 << 48 | body.len() as u64).to_be_bytes()[..], &body].concat();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.write_all(&[&request[..], STATUS].concat()).unwrap();
    assert!(answered(&mut stream, b"nested paths"));
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a node has panicked");
}
