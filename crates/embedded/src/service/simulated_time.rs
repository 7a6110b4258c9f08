//! Requests answered in simulated time: without sockets and threads, and without any clock.

use super::dispatch::dispatch;
use crate::clock::{Now, Passing};
use crate::cluster::{Builder, EmbeddedCluster, NamespaceOptions, Node};
use crate::code;
use crate::request::{Answered, ConnectionWaker, Producer, Request, Session};
use crate::store::DeviceLimit;
use aerolane_wire::WireError;
use aerolane_wire::admin::{AdminMessage, encode_authenticate, encode_login};
use aerolane_wire::batch::{BatchWriter, RowHeader, flags};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, op};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, begin_frame, end_frame, split_frame};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// In the year 2109, where the system's clock will not be while this is a test.
const BEGIN_MS: u64 = 100 * 365 * 86_400 * 1000;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DIGEST: [u8; 20] = [7; 20];

/// A cluster, and what time it is there.
struct World {
    nodes: Vec<Arc<Node>>,
    begun: Instant,
    passed: Duration,
    session: Session,
}

/// What was answered: whole frames, and when they may leave.
struct Reply {
    bytes: Vec<u8>,
    after: Duration,
    rest: Option<Box<dyn Producer>>,
}

impl World {
    fn of(settings: &Builder) -> Self {
        let session = Session {
            peer: ([127, 0, 0, 1], 1).into(),
            connection: 1,
            common_name: None,
            user: None,
            grants: None,
            user_agent_set: false,
            waking: ConnectionWaker(Arc::new(|| ())),
            records: 0,
        };
        let begun = Instant::now() + Duration::from_secs(1000 * 86_400);
        Self { nodes: settings.nodes_alone().unwrap(), begun, passed: Duration::ZERO, session }
    }

    /// Two nodes with two copies each of which takes half a second.
    fn lagging() -> Self {
        Self::of(&EmbeddedCluster::builder().nodes(2).replication_factor(2).replication_lag(500 * MS))
    }

    fn now(&self) -> Now {
        let ms = BEGIN_MS + self.passed.as_millis() as u64;
        Now { ms, system_ms: ms, instant: self.begun + self.passed, passing: Passing::Still }
    }

    fn ask(&mut self, node: usize, frame: &[u8]) -> Reply {
        let (frame, _) = split_frame(frame, MAX_BODY_SIZE).unwrap().unwrap();
        let now = self.now();
        let node = &self.nodes[node];
        let now = node.time(now);
        let mut request = Request { node, session: &mut self.session, body: frame.body, now };
        let mut reply = Reply { bytes: Vec::new(), after: Duration::ZERO, rest: None };
        match dispatch(frame.header.frame_type, &mut request, &mut reply.bytes) {
            Answered::Done => {}
            Answered::Later { from, until } => {
                assert_eq!(from, 0);
                reply.after = until - now.instant;
            }
            Answered::Close => panic!("closed"),
            Answered::Stream(rest) => reply.rest = Some(rest),
        }
        reply
    }

    /// The node that is master of [`DIGEST`], and the other one.
    fn master_and_replica(&mut self) -> (usize, usize) {
        let namespace = self.nodes[0].cluster.namespace(b"test").unwrap();
        let pid = aerolane_wire::digest::partition_id(&DIGEST);
        let at = self.nodes.iter().position(|node| node.owns(namespace, pid, true)).unwrap();
        (at, 1 - at)
    }
}

impl Reply {
    /// The result codes of its messages.
    fn codes(&self) -> Vec<u8> {
        let mut codes = Vec::new();
        let mut rest = &self.bytes[..];
        while let Some((frame, size)) = split_frame(rest, MAX_BODY_SIZE).unwrap() {
            let mut at = 0;
            while at < frame.body.len() {
                let (message, size) = Message::decode_prefix(&frame.body[at..]).unwrap();
                codes.push(message.header.result_code);
                at += size;
            }
            rest = &rest[size..];
        }
        codes
    }

    fn code(&self) -> u8 {
        let codes = self.codes();
        assert_eq!(codes.len(), 1);
        codes[0]
    }
}

fn message(header: MessageHeader, digest: [u8; 20], ops: impl FnOnce(&mut MessageWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest);
    ops(&mut message);
    message.finish().unwrap();
    out
}

fn put(digest: [u8; 20], record_ttl: u32, bytes: usize) -> Vec<u8> {
    let header = MessageHeader { info2: info2::WRITE, record_ttl, ..MessageHeader::default() };
    message(header, digest, |message| message.op(op::WRITE, b"b", Particle::Blob(&vec![1; bytes])).unwrap())
}

fn get() -> Vec<u8> {
    message(MessageHeader { info1: info1::READ | info1::GET_ALL, ..MessageHeader::default() }, DIGEST, |_| ())
}

#[test]
fn replicas_lag_and_answers_wait_in_simulated_time() {
    let mut world = World::lagging();
    let (master, replica) = world.master_and_replica();
    let reply = world.ask(master, &put(DIGEST, 0, 10));
    assert_eq!((reply.code(), reply.after), (code::OK, 500 * MS));
    assert_eq!(world.ask(master, &get()).code(), code::OK);
    world.passed += 499 * MS;
    assert_eq!(world.ask(replica, &get()).code(), code::NOT_FOUND);
    world.passed += MS;
    assert_eq!(world.ask(replica, &get()).code(), code::OK);
}

#[test]
fn rows_of_batches_wait_in_simulated_time() {
    let mut world = World::lagging();
    let (master, replica) = world.master_and_replica();
    let mut batch = Vec::new();
    let header = MessageHeader { info1: info1::BATCH, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut batch, &header);
    message
        .field_with(field::BATCH, |out| {
            let mut writer = BatchWriter::begin(out, flags::RESPOND_ALL_KEYS);
            writer.row(0, &DIGEST, &RowHeader::write(0, info2::WRITE, 0, 0, 0), |row| {
                row.field(field::NAMESPACE, b"test");
                row.op(op::WRITE, b"i", Particle::Integer(1))
            })?;
            writer.finish();
            Ok::<_, WireError>(())
        })
        .unwrap();
    message.finish().unwrap();
    let reply = world.ask(master, &batch);
    assert_eq!((reply.codes(), reply.after), (vec![code::OK, code::OK], 500 * MS));
    assert_eq!(world.ask(replica, &get()).code(), code::NOT_FOUND);
    world.passed += 500 * MS;
    assert_eq!(world.ask(replica, &get()).code(), code::OK);
}

#[test]
fn records_expire_in_simulated_time() {
    let mut world = World::of(&EmbeddedCluster::builder());
    assert_eq!(world.ask(0, &put(DIGEST, 100, 10)).code(), code::OK);
    world.passed = 100 * SECOND;
    assert_eq!(world.ask(0, &get()).code(), code::OK, "it lives through its last second");
    world.passed = 101 * SECOND;
    assert_eq!(world.ask(0, &get()).code(), code::NOT_FOUND);
}

#[test]
fn devices_flush_in_simulated_time() {
    let mut world = World::of(&EmbeddedCluster::builder());
    let (node, at) = (Arc::clone(&world.nodes[0]), world.now().instant);
    node.cluster.links.devices.set(node.slot, Some(DeviceLimit::new(1000).flush_rate(100)), at);
    assert_eq!(world.ask(0, &put(DIGEST, 0, 2000)).code(), code::OK);
    world.passed = 9 * SECOND;
    assert_eq!(world.ask(0, &put(DIGEST, 0, 10)).code(), code::DEVICE_OVERLOAD);
    // 2,000 bytes and those of the record's head were written.
    world.passed = 12 * SECOND;
    assert_eq!(world.ask(0, &put(DIGEST, 0, 10)).code(), code::OK);
}

#[test]
fn sessions_end_in_simulated_time() {
    let mut world = World::of(&EmbeddedCluster::builder().user("a", "x").session_ttl(60));
    let hash = bcrypt::hash_with_salt("x", crate::admin::COST, crate::admin::SALT).unwrap();
    let hash = hash.format_for_version(bcrypt::Version::TwoA);
    let mut login = Vec::new();
    encode_login(&mut login, b"a", hash.as_bytes(), None).unwrap();
    let reply = world.ask(0, &login);
    let (frame, _) = split_frame(&reply.bytes, MAX_BODY_SIZE).unwrap().unwrap();
    let token = AdminMessage::decode(frame.body).unwrap().session().unwrap().0.to_vec();
    let mut authenticate = Vec::new();
    encode_authenticate(&mut authenticate, Some(b"a"), &token).unwrap();
    let mut result = |passed| {
        world.passed = passed;
        let reply = world.ask(0, &authenticate);
        let (frame, _) = split_frame(&reply.bytes, MAX_BODY_SIZE).unwrap().unwrap();
        AdminMessage::decode(frame.body).unwrap().header.result_code
    };
    assert!(result(59 * SECOND).is_ok());
    assert_eq!(result(60 * SECOND), aerolane_wire::ResultCode::EXPIRED_SESSION);
}

#[test]
fn queries_keep_their_rate_in_simulated_time() {
    let mut world = World::of(&EmbeddedCluster::builder());
    for n in 0..20 {
        let mut digest = DIGEST;
        digest[19] = n;
        assert_eq!(world.ask(0, &put(digest, 0, 10)).code(), code::OK);
    }
    let mut query = Vec::new();
    let header = MessageHeader { info1: info1::READ, info3: info3::PARTITION_DONE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut query, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::PARTITIONS, &aerolane_wire::digest::partition_id(&DIGEST).to_le_bytes());
    message.field(field::RECORDS_PER_SECOND, &10_u32.to_be_bytes());
    message.finish().unwrap();
    let Reply { bytes, rest, .. } = world.ask(0, &query);
    let (mut all, mut rest) = (bytes, rest.unwrap());
    let mut turns = 0;
    loop {
        let now = world.now();
        if let Some(at) = rest.resume_at(now.instant).filter(|at| now.instant < *at) {
            world.passed += at - now.instant;
        }
        turns += 1;
        if rest.produce(world.now(), &mut all) {
            break;
        }
        assert!(turns < 1000, "time stands still");
    }
    let codes = Reply { bytes: all, after: Duration::ZERO, rest: None }.codes();
    // The records, and the end.
    assert_eq!(codes, [code::OK; 21]);
    assert_eq!(world.passed, 2 * SECOND);
}

#[test]
fn info_commands_tell_the_simulated_time() {
    let mut world = World::of(&EmbeddedCluster::builder().namespace_with(NamespaceOptions::new("test")));
    world.passed = 7 * SECOND;
    let mut info = Vec::new();
    let start = begin_frame(&mut info, FrameType::Info);
    info.extend_from_slice(b"namespace/test\n");
    end_frame(&mut info, start).unwrap();
    let text = String::from_utf8_lossy(&world.ask(0, &info).bytes).into_owned();
    let seconds = BEGIN_MS / 1000 + 7;
    assert!(text.contains(&format!(";current_time={seconds};")), "{text}");
}

/// Modules that read clocks: they move bytes or time, or are only for programs that do.
const READERS: [&str; 8] = ["bin", "clock.rs", "cluster", "conditions", "control", "schedule.rs", "service", "tls.rs"];

#[test]
fn nothing_below_the_service_reads_a_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&root).unwrap() {
        let entry = entry.unwrap();
        if !READERS.contains(&entry.file_name().to_str().unwrap()) {
            sources(&entry.path(), &mut files);
        }
    }
    files.push(root.join("service").join("dispatch.rs"));
    assert!(files.len() > 100, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // Tests stand at the end of a file.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for call in ["Instant::now", "SystemTime::now", ".elapsed()", "Now::read", "clock::now_ms"] {
            assert!(!code.contains(call), "{}: {call}", file.display());
        }
    }
}

fn sources(path: &Path, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), into);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        into.push(path.to_owned());
    }
}
