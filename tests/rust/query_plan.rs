//! Queries by plan: the same cases as `tests/python/test_query_plan.py`.
//!
//! Servers answer the question for a plan from 8.2 on. No such server is at hand: a proxy in front of an embedded node says
//! that it is one, and gives the answer; the query itself is the embedded node's, which does not look at the condition.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::expressions::bool_val;
use aerolane::raw::{Cursor, RawClient, RawQuery};
use aerolane::sync::Mutex;
use aerolane::{
    Bins, ClientConfig, CollectionIndexType, Error, ErrorKind, IndexType, PartitionFilter, QueryPlan, QueryPolicy,
    QuerySelection, ResultCode, Statement, SyncClient, WritePolicy, as_bin, query_where,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field};

const AEL: &str = "$.age > 17 and $.age <= 30";

/// A server of version 8.2, as far as plans go.
struct NewServer {
    seeds: String,
    state: Arc<State>,
}

struct State {
    /// The bodies of requests that have a condition.
    asked: Mutex<Vec<Vec<u8>>>,
    /// The frame that answers the question for a plan.
    answer: Mutex<Vec<u8>>,
    /// Ports of the node and of the proxy, as text of one length.
    ports: [String; 2],
}

impl NewServer {
    fn before(node: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let ports = [node, listener.local_addr().unwrap().port()].map(|port| port.to_string());
        assert_eq!(ports[0].len(), ports[1].len(), "ports are replaced in place");
        let seeds = format!("127.0.0.1:{}", ports[1]);
        let state = Arc::new(State { asked: Mutex::default(), answer: Mutex::new(answer(0, &[])), ports });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", node)).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let state = Arc::clone(&shared);
                thread::spawn(move || state.to_server(&from, &to));
                let state = Arc::clone(&shared);
                thread::spawn(move || state.to_client(&server, &client));
            }
        });
        Self { seeds, state }
    }

    fn answers(&self, result_code: u8, fields: &[(u8, &[u8])]) {
        *self.state.answer.lock() = answer(result_code, fields);
    }

    /// A field of the last request that had a condition.
    fn sent(&self, kind: u8) -> Option<Vec<u8>> {
        let asked = self.state.asked.lock();
        Message::decode(asked.last().unwrap()).unwrap().field(kind).map(<[u8]>::to_vec)
    }
}

impl State {
    /// Until one of them is closed.
    fn to_server(&self, mut client: &TcpStream, mut server: &TcpStream) {
        while let Some(frame) = frame(client) {
            let message = Message::decode(&frame[8..]).ok().filter(|_| frame[1] == 3);
            let condition = message.and_then(|message| message.field(field::QUERY_WHERE));
            let explain = condition.is_some_and(|condition| condition[0] & query_where::EXPLAIN != 0);
            if condition.is_some() {
                self.asked.lock().push(frame[8..].to_vec());
            }
            let done = if explain { client.write_all(&self.answer.lock()) } else { server.write_all(&frame) };
            if done.is_err() {
                break;
            }
        }
        let _ = server.shutdown(std::net::Shutdown::Both);
    }

    fn to_client(&self, server: &TcpStream, mut client: &TcpStream) {
        while let Some(mut frame) = frame(server) {
            if frame[1] == 1 {
                replace(&mut frame, "8.1.2.0", "8.2.0.0");
                replace(&mut frame, &self.ports[0], &self.ports[1]);
            }
            if client.write_all(&frame).is_err() {
                break;
            }
        }
        let _ = client.shutdown(std::net::Shutdown::Both);
    }
}

/// The next frame, with its header.
fn frame(mut stream: &TcpStream) -> Option<Vec<u8>> {
    let mut frame = vec![0; 8];
    stream.read_exact(&mut frame).ok()?;
    let size = u64::from_be_bytes(frame[..8].try_into().unwrap()) & 0xffff_ffff_ffff;
    frame.resize(8 + size as usize, 0);
    stream.read_exact(&mut frame[8..]).ok()?;
    Some(frame)
}

fn replace(bytes: &mut [u8], old: &str, new: &str) {
    for at in 0..=bytes.len().saturating_sub(old.len()) {
        if bytes[at..].starts_with(old.as_bytes()) {
            bytes[at..][..old.len()].copy_from_slice(new.as_bytes());
        }
    }
}

fn answer(result_code: u8, fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = MessageWriter::frame(&mut bytes, &MessageHeader { result_code, ..MessageHeader::default() });
    for (kind, value) in fields {
        writer.field(*kind, value);
    }
    writer.finish().unwrap();
    bytes
}

/// A range of integers, as a server answers with it and as clients send it.
fn range(bin: &str, begin: i64, end: i64) -> Vec<u8> {
    let mut range = vec![1, bin.len() as u8];
    range.extend_from_slice(bin.as_bytes());
    range.push(1);
    for bound in [begin, end] {
        range.extend_from_slice(&8_u32.to_be_bytes());
        range.extend_from_slice(&bound.to_be_bytes());
    }
    range
}

/// Ages 0 to 49 behind an index, and the server that plans.
fn server(target: &Target) -> NewServer {
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    for age in 0..50 {
        client.put(&WritePolicy::patient(), &target.key(age), &[as_bin!("age", age)]).unwrap();
    }
    let (namespace, set, kind) = (target.namespace(), target.set(), CollectionIndexType::Default);
    let task = client
        .create_index_on_bin(&<_>::default(), namespace, set, "age", "by_age", IndexType::Numeric, kind, None)
        .unwrap();
    client.wait_for(&task, Some(Duration::from_secs(60))).unwrap();
    NewServer::before(target.faults().nodes()[0].address.port())
}

fn explain(client: &SyncClient, target: &Target) -> aerolane::Result<QueryPlan> {
    client.query_explain(&QueryPolicy::patient(), target.namespace(), Some(target.set()), AEL, None, None)
}

fn ages(records: impl Iterator<Item = aerolane::Result<aerolane::Record>>) -> Vec<i64> {
    let age = |record: aerolane::Record| i64::try_from(record.bins["age"].clone()).unwrap();
    let mut ages: Vec<_> = records.map(|record| age(record.unwrap())).collect();
    ages.sort_unstable();
    ages
}

#[test]
fn servers_before_8_2_are_not_asked() {
    let target = Target::embedded(2);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Query)).unwrap();
    let begun = Instant::now();
    let error = explain(&client, &target).unwrap_err();
    assert!(error.matches(&[ResultCode::UnsupportedFeature]) && error.node().is_some(), "{error:?}");
    assert!(error.to_string().contains("8.2") && error.to_string().contains("8.1.2.0"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    // Whatever says that it is a plan: an older server would not look at the condition.
    let raw = RawClient::connect_blocking(&ClientConfig::from(policy()), target.seeds()).unwrap();
    let query = RawQuery::new(target.namespace()).field(field::QUERY_WHERE, b"\0$.age > 1");
    let error = raw.query(QueryPolicy::patient(), query, Cursor::all()).unwrap_err();
    assert!(error.matches(&[ResultCode::UnsupportedFeature]), "{error:?}");
}

#[test]
fn plans_are_carried_out() {
    let target = Target::embedded(1);
    let server = server(&target);
    let client = SyncClient::new(&policy(), &server.seeds).unwrap();
    let statement = || Statement::new(target.namespace(), target.set(), Bins::All);
    let run = |plan| client.query_with_plan(&QueryPolicy::patient(), PartitionFilter::all(), statement(), plan);

    server.answers(0, &[(field::INDEX_NAME, b"by_age"), (field::INDEX_RANGE, &range("age", 18, 30))]);
    let plan = explain(&client, &target).unwrap();
    assert_eq!((plan.selection(), plan.index_name()), (QuerySelection::SecondaryIndex, Some("by_age")));
    assert_eq!(server.sent(field::QUERY_WHERE).unwrap(), [&[2], AEL.as_bytes()].concat());
    assert_eq!(ages(run(plan.clone()).unwrap()), (18..=30).collect::<Vec<_>>());
    let by_core = [field::SET, field::INDEX_RANGE, field::INDEX_NAME, field::INDEX_TYPE, field::QUERY_WHERE];
    let by_core = by_core.map(|kind| server.sent(kind));
    assert_eq!(by_core[4].as_deref().unwrap(), [&[0], AEL.as_bytes()].concat());

    // Ours asks for the same.
    let raw = RawClient::connect_blocking(&ClientConfig::from(policy()), &server.seeds).unwrap();
    let mut records = raw.query(QueryPolicy::patient(), RawQuery::of_plan(&plan).unwrap(), Cursor::all()).unwrap();
    let mut found = 0;
    loop {
        while let Some(record) = records.next(|_| ()) {
            record.unwrap();
            found += 1;
        }
        if !records.more_blocking(None).unwrap() {
            break;
        }
    }
    assert_eq!(found, 13);
    let kinds = [field::SET, field::INDEX_RANGE, field::INDEX_NAME, field::INDEX_TYPE, field::QUERY_WHERE];
    assert_eq!(kinds.map(|kind| server.sent(kind)), by_core);

    server.answers(0, &[]);
    let plan = explain(&client, &target).unwrap();
    assert!(plan.is_primary_index());
    assert_eq!(ages(run(plan).unwrap()), (0..50).collect::<Vec<_>>());
    assert!(server.sent(field::INDEX_RANGE).is_none() && server.sent(field::QUERY_WHERE).is_some());

    server.answers(u8::from(ResultCode::FilteredOut), &[]);
    let plan = explain(&client, &target).unwrap();
    assert!(plan.is_filtered_out());
    let filtered_out = |error: &Error| error.matches(&[ResultCode::FilteredOut]);
    assert!(filtered_out(&RawQuery::of_plan(&plan).unwrap_err()));
    assert!(run(plan).err().is_some_and(|error| filtered_out(&error)));
}

#[test]
fn what_does_not_go_with_a_plan_is_refused() {
    let target = Target::embedded(1);
    let server = server(&target);
    let client = SyncClient::new(&policy(), &server.seeds).unwrap();
    let plan = explain(&client, &target).unwrap();
    let refused = |policy: &QueryPolicy, statement: Statement| {
        let error = client.query_with_plan(policy, PartitionFilter::all(), statement, plan.clone()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
    };
    let (namespace, set, usual) = (target.namespace(), target.set(), QueryPolicy::patient());
    refused(&usual, Statement::new(namespace, "others", Bins::All));
    refused(&usual, Statement::new("other", set, Bins::All));
    let mut statement = Statement::new(namespace, set, Bins::All);
    statement.set_filter(aerolane::query::Filter::equal("age", 1));
    refused(&usual, statement);
    let mut filtered = QueryPolicy::patient();
    filtered.base_policy.filter_expression = Some(bool_val(true));
    refused(&filtered, Statement::new(namespace, set, Bins::All));

    server.answers(u8::from(ResultCode::ParameterError), &[]);
    assert!(explain(&client, &target).unwrap_err().matches(&[ResultCode::ParameterError]));
    server.answers(0, &[(field::INDEX_NAME, b"by_age")]);
    assert!(explain(&client, &target).is_err(), "an index without a range");
    for (ael, hint, flags) in
        [("", None, None), (AEL, None, Some(4)), (AEL, None, Some(2 | 8)), (AEL, None, Some(2 | 64))]
    {
        let error = client.query_explain(&usual, namespace, Some(set), ael, hint, flags).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{ael} {flags:?}: {error:?}");
    }
}
