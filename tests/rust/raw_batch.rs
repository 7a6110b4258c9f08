//! Batches whose rows the caller encodes: the same cases as `tests/python/test_batch.py`.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use crate::poll_loop::Loop;
use aerolane::expressions::{int_bin, int_val, lt};
use aerolane::raw::command::decode;
use aerolane::raw::{RawBatch, RawClient, RawKey, RawOps, RawOutcome, RawShape};
use aerolane::{
    AdminPolicy, BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, ClientConfig,
    Error, ErrorKind, Phase, ResultCode, Task as _, UdfLang, Value,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_wire::digest::{Digest, digest};
use aerolane_wire::message::{field, info1, op};
use aerolane_wire::particle::particle_type;

/// A key with its fields.
#[derive(Clone)]
struct Encoded {
    namespace: String,
    digest: Digest,
    names: Vec<u8>,
}

impl Encoded {
    fn new(namespace: &str, set: &str, id: i64) -> Self {
        let mut names = Vec::new();
        for (kind, name) in [(field::NAMESPACE, namespace), (field::SET, set)] {
            names.extend_from_slice(&(name.len() as u32 + 1).to_be_bytes());
            names.push(kind);
            names.extend_from_slice(name.as_bytes());
        }
        let digest = digest(set.as_bytes(), particle_type::INTEGER, &id.to_be_bytes());
        Self { namespace: namespace.to_owned(), digest, names }
    }
}

impl RawKey for Encoded {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn digest(&self) -> &Digest {
        &self.digest
    }

    fn names(&self) -> (&[u8], u32) {
        (&self.names, 2)
    }

    fn user_key(&self) -> &[u8] {
        &[]
    }
}

fn client(target: &Target) -> RawClient {
    RawClient::connect_blocking(&ClientConfig::from(policy()), target.seeds()).unwrap()
}

fn key(target: &Target, id: i64) -> Encoded {
    Encoded::new(target.namespace(), target.set(), id)
}

fn within(ms: u32, retries: usize) -> BatchPolicy {
    let mut policy = BatchPolicy::patient();
    policy.base_policy.total_timeout = ms;
    policy.base_policy.max_retries = retries;
    policy
}

fn ops(kind: u8, value: i64) -> RawOps {
    let mut ops = RawOps::default();
    ops.push(kind, particle_type::INTEGER, b"v", |out| {
        out.extend_from_slice(&value.to_be_bytes());
        Ok::<_, aerolane_wire::WireError>(())
    })
    .unwrap();
    ops
}

fn reading() -> RawShape {
    RawShape::read(&BatchPolicy::patient(), &BatchReadPolicy::default(), info1::GET_ALL, RawOps::default()).unwrap()
}

fn writing(kind: u8, value: i64) -> RawShape {
    RawShape::write(&BatchPolicy::patient(), &BatchWritePolicy::default(), 0, ops(kind, value)).unwrap()
}

fn reads(keys: impl IntoIterator<Item = Encoded>) -> RawBatch<Encoded> {
    let mut rows = RawBatch::with_capacity(0);
    rows.shape(reading());
    keys.into_iter().for_each(|key| rows.push(key));
    rows
}

fn writes(target: &Target, ids: impl IntoIterator<Item = i64>) -> RawBatch<Encoded> {
    let mut rows = RawBatch::with_capacity(0);
    for id in ids {
        rows.shape(writing(op::WRITE, id));
        rows.push(key(target, id));
    }
    rows
}

fn value(outcome: &RawOutcome<'_>) -> Option<Value> {
    let RawOutcome::Answered(message) = outcome else { return None };
    let want = decode::Want { bins: true, results: false, nil_bins: false };
    Some(decode::record(message, want, &Arc::from("test")).unwrap().bins["v"].clone())
}

fn code(outcome: &RawOutcome<'_>) -> Option<ResultCode> {
    match outcome {
        RawOutcome::Failed(error) => error.server_result_code(),
        _ => None,
    }
}

fn fill(client: &RawClient, target: &Target, count: i64) {
    let mut rows = writes(target, 0..count);
    client.batch_blocking(&within(60_000, 0), &mut rows, None).unwrap();
    assert!((0..rows.len()).all(|row| matches!(rows.outcome(row), RawOutcome::Answered(_))));
}

/// Runs a batch on the control plane's runtime.
fn spawned(client: &RawClient, policy: BatchPolicy, rows: RawBatch<Encoded>) -> (RawBatch<Encoded>, Result<(), Error>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let other = client.clone();
    client.spawn(async move {
        let _ = sender.send(other.batch(Arc::new(policy), rows).await);
    });
    receiver.recv_timeout(Duration::from_secs(90)).unwrap()
}

/// Runs a batch over the lane of a foreign loop, which polls it.
fn hosted(client: &RawClient, policy: BatchPolicy, rows: RawBatch<Encoded>) -> (RawBatch<Encoded>, Result<(), Error>) {
    let mut host = Loop::of(client);
    let handle = host.driver.handle();
    let mut batch = pin!(client.batch_on(&handle, Arc::new(policy), rows));
    let limit = Instant::now() + Duration::from_secs(90);
    loop {
        if let Poll::Ready(done) = batch.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
        assert!(Instant::now() < limit);
        host.turn();
    }
}

type Run = fn(&RawClient, BatchPolicy, RawBatch<Encoded>) -> (RawBatch<Encoded>, Result<(), Error>);

/// All ways to run a batch.
fn ways() -> [Run; 3] {
    let here: Run = |client, policy, mut rows| {
        let result = client.batch_blocking(&policy, &mut rows, None);
        (rows, result)
    };
    [here, spawned, hosted]
}

#[test]
fn rows_of_all_kinds() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 300);
    for run in ways() {
        let (rows, result) = run(&client, within(60_000, 2), reads([]));
        assert!(result.is_ok() && rows.is_empty());

        // In another order, with records that are not there and a key twice.
        let mut ids: Vec<i64> = (0..320).rev().collect();
        ids.extend([7, 7]);
        let (rows, result) = run(&client, within(60_000, 2), reads(ids.iter().map(|id| key(&target, *id))));
        result.unwrap();
        for (row, id) in ids.iter().enumerate() {
            let outcome = rows.outcome(row);
            if *id < 300 {
                assert_eq!(value(&outcome), Some(Value::Int(*id)));
            } else {
                assert_eq!(code(&outcome), Some(ResultCode::KeyNotFoundError));
            }
        }

        // Shapes that take turns, and one row alone (a plain command).
        let mut rows = RawBatch::with_capacity(4);
        for id in 0..4 {
            rows.shape(if id % 2 == 0 { reading() } else { writing(op::APPEND, 1) });
            rows.push(key(&target, id));
        }
        rows.shape(RawShape::delete(&BatchPolicy::patient(), &BatchDeletePolicy::default()).unwrap());
        rows.push(key(&target, 9999));
        let (rows, result) = run(&client, within(60_000, 0), rows);
        result.unwrap();
        assert_eq!(value(&rows.outcome(0)), Some(Value::Int(0)));
        assert_eq!(code(&rows.outcome(1)), Some(ResultCode::BinTypeError));
        assert_eq!(value(&rows.outcome(2)), Some(Value::Int(2)));
        assert_eq!(code(&rows.outcome(4)), Some(ResultCode::KeyNotFoundError));
        for (id, found) in [(5, true), (9999, false)] {
            let (rows, result) = run(&client, within(60_000, 0), reads([key(&target, id)]));
            assert_eq!(result.is_ok() && value(&rows.outcome(0)) == Some(Value::Int(id)), found);
            assert_eq!(code(&rows.outcome(0)) == Some(ResultCode::KeyNotFoundError), !found);
        }
    }
}

/// A shape that applies a function, without arguments.
fn applying(module: &str, function: &str) -> RawShape {
    let (batch, udf) = (BatchPolicy::patient(), BatchUdfPolicy::default());
    RawShape::udf(&batch, &udf, (module, function), &[0x90]).unwrap()
}

#[test]
fn functions_and_why_they_fail() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 40);
    let module = format!("raw_batch{}", std::process::id());
    let path = format!("{module}.lua");
    let source = "function v(rec) return rec.v end\nfunction fail(rec)\n  error('on purpose')\nend\n";
    let admin = AdminPolicy::patient();
    let asynchronous = client.asynchronous();
    let registered = asynchronous.register_udf(&admin, source.as_bytes(), &path, UdfLang::Lua);
    let task = client.cluster().block_on(registered).unwrap().unwrap();
    client.cluster().block_on(task.wait_till_complete(None)).unwrap().unwrap();
    for run in ways() {
        let mut rows = RawBatch::with_capacity(42);
        rows.shape(applying(&module, "v"));
        (0..40).for_each(|id| rows.push(key(&target, id)));
        rows.shape(applying(&module, "fail"));
        rows.push(key(&target, 3));
        rows.shape(applying("no_such_module", "v"));
        rows.push(key(&target, 4));
        let (rows, result) = run(&client, within(60_000, 0), rows);
        result.unwrap();
        for row in 0..40 {
            let RawOutcome::Answered(message) = rows.outcome(row) else { panic!("{:?}", rows.outcome(row)) };
            let want = decode::Want { bins: true, results: false, nil_bins: false };
            let record = decode::record(message, want, &Arc::from("test")).unwrap();
            assert_eq!(record.bins["SUCCESS"], Value::Int(row as i64));
        }
        for (row, reason) in [(40, format!("{path}:3: on purpose")), (41, "UDF: Execution Error 1".to_owned())] {
            let RawOutcome::Failed(error) = rows.outcome(row) else { panic!("{:?}", rows.outcome(row)) };
            assert!(matches!(error.kind(), ErrorKind::UdfBadResponse) && error.node().is_some(), "{error:?}");
            assert!(error.phase() == Phase::Receiving && !error.in_doubt(), "{error:?}");
            assert!(error.base_message().contains(&reason), "{error:?}");
        }
        // Alone it is a batch, too.
        let mut rows = RawBatch::with_capacity(1);
        rows.shape(applying(&module, "v"));
        rows.push(key(&target, 7));
        let (rows, result) = run(&client, within(60_000, 0), rows);
        result.unwrap();
        assert!(matches!(rows.outcome(0), RawOutcome::Answered(_)));
    }
    let task = client.cluster().block_on(asynchronous.remove_udf(&admin, &path)).unwrap().unwrap();
    client.cluster().block_on(task.wait_till_complete(None)).unwrap().unwrap();
}

/// The rows of a batch, and its result.
type Ended = (RawBatch<Encoded>, Result<(), Error>);

/// Starts a batch in the background: what was told of its rows, and what its end was.
fn told(client: &RawClient, policy: BatchPolicy, rows: RawBatch<Encoded>, most: usize) -> (Vec<usize>, Option<Ended>) {
    let (row_told, told) = std::sync::mpsc::channel();
    let (end_told, ended) = std::sync::mpsc::channel();
    let mut count = 0;
    let on_row = move |row: usize, _: RawOutcome<'_>| {
        count += 1;
        row_told.send(row).unwrap();
        count < most
    };
    let (raw, mut rows) = (client.clone(), rows);
    client.spawn(async move {
        let result = raw.batch_telling(&policy, &mut rows, on_row).await;
        end_told.send((rows, result)).unwrap();
    });
    let end = ended.recv_timeout(Duration::from_secs(90)).ok();
    (told.iter().collect(), end)
}

#[test]
fn a_batch_in_the_background_tells_each_row_once() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 300);
    let rows = || reads((0..320).map(|id| key(&target, id)));
    let (mut seen, end) = told(&client, within(60_000, 2), rows(), usize::MAX);
    seen.sort_unstable();
    assert_eq!(seen, (0..320).collect::<Vec<_>>());
    let (rows_after, result) = end.unwrap();
    result.unwrap();
    assert_eq!(value(&rows_after.outcome(7)), Some(Value::Int(7)));
    // Ended by who was told: the rest stays pending.
    let (seen, end) = told(&client, within(60_000, 2), rows(), 5);
    assert_eq!(seen.len(), 5);
    assert!(end.unwrap().1.is_ok());
    let (seen, end) = told(&client, within(60_000, 2), reads([]), usize::MAX);
    assert!(seen.is_empty() && end.unwrap().1.is_ok());
}

fn compressing() -> BatchPolicy {
    let mut policy = within(60_000, 2);
    policy.base_policy.use_compression = true;
    policy.base_policy.compression_threshold = 10;
    policy
}

#[test]
fn a_server_that_takes_no_compressed_requests_refuses_a_batch_at_once() {
    let target = Target::start();
    let client = client(&target);
    let refused = |(rows, result): Ended, begun: Instant| {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        let error = result.unwrap_err();
        assert!(error.matches(&[ResultCode::EnterpriseOnly]) && !error.in_doubt(), "{error:?}");
        for row in 0..rows.len() {
            assert_eq!(code(&rows.outcome(row)), Some(ResultCode::EnterpriseOnly));
        }
    };
    for run in ways() {
        let begun = Instant::now();
        refused(run(&client, compressing(), writes(&target, 0..60)), begun);
    }
    let begun = Instant::now();
    let (mut seen, end) = told(&client, compressing(), writes(&target, 0..60), usize::MAX);
    seen.sort_unstable();
    assert_eq!(seen, (0..60).collect::<Vec<_>>());
    refused(end.unwrap(), begun);
    let (rows, result) = spawned(&client, within(60_000, 0), reads((0..60).map(|id| key(&target, id))));
    result.unwrap();
    assert!((0..60).all(|row| code(&rows.outcome(row)) == Some(ResultCode::KeyNotFoundError)), "nothing was written");
}

#[test]
fn a_server_with_compression_gets_and_gives_batches_so() {
    let target = Target::consistent(3);
    let client = client(&target);
    for run in ways() {
        let (rows, result) = run(&client, compressing(), writes(&target, 0..300));
        result.unwrap();
        assert!((0..300).all(|row| matches!(rows.outcome(row), RawOutcome::Answered(_))));
        // The last one alone is a plain command.
        for ids in [0..300, 7..8] {
            let (rows, result) = run(&client, compressing(), reads(ids.clone().map(|id| key(&target, id))));
            result.unwrap();
            for (row, id) in ids.enumerate() {
                assert_eq!(value(&rows.outcome(row)), Some(Value::Int(id)));
            }
        }
    }
    let (seen, end) = told(&client, compressing(), reads((0..300).map(|id| key(&target, id))), usize::MAX);
    assert_eq!(seen.len(), 300);
    assert_eq!(value(&end.unwrap().0.outcome(7)), Some(Value::Int(7)));
}

#[test]
fn rows_that_are_filtered_out() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 20);
    let few = BatchReadPolicy { filter_expression: Some(lt(int_bin("v"), int_val(5))), ..BatchReadPolicy::default() };
    for run in ways() {
        let mut rows = RawBatch::with_capacity(0);
        rows.shape(RawShape::read(&BatchPolicy::patient(), &few, info1::GET_ALL, RawOps::default()).unwrap());
        (0..20).for_each(|id| rows.push(key(&target, id)));
        let (rows, result) = run(&client, within(60_000, 0), rows);
        result.unwrap();
        for row in 0..20 {
            let outcome = rows.outcome(row);
            match &outcome {
                _ if row < 5 => assert_eq!(value(&outcome), Some(Value::Int(row as i64))),
                _ => assert_eq!(code(&outcome), Some(ResultCode::FilteredOut), "{outcome:?}"),
            }
        }
    }
}

#[test]
fn rows_that_cannot_be_routed_fail_alone() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 20);
    for run in ways() {
        let nowhere = Encoded::new("no-such-ns", "s", 1);
        let (rows, result) =
            run(&client, within(60_000, 0), reads([key(&target, 1), nowhere.clone(), key(&target, 2)]));
        result.unwrap();
        assert_eq!(value(&rows.outcome(0)), Some(Value::Int(1)));
        assert_eq!(code(&rows.outcome(1)), Some(ResultCode::InvalidNamespace));
        assert_eq!(value(&rows.outcome(2)), Some(Value::Int(2)));
        let (rows, result) = run(&client, within(60_000, 0), reads([nowhere]));
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::InvalidNamespace));
        assert_eq!(code(&rows.outcome(0)), Some(ResultCode::InvalidNamespace));
    }
}

#[test]
fn five_thousand_rows() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 5000);
    for run in ways() {
        let (mut rows, result) = run(&client, within(60_000, 2), reads((0..5000).map(|id| key(&target, id))));
        result.unwrap();
        let mut next = 0;
        rows.drain(|key_of, outcome| {
            assert_eq!(key_of.digest, key(&target, next).digest);
            assert_eq!(value(&outcome), Some(Value::Int(next)));
            next += 1;
        });
        assert!(next == 5000 && rows.is_empty());
    }
}

#[test]
fn a_node_is_lost_during_a_batch() {
    for run in [spawned as Run, hosted] {
        a_node_is_lost_during(run);
    }
}

fn a_node_is_lost_during(run: Run) {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 300);
    let node = target.faults().nodes()[0].id;
    // Its requests never get an answer, and then it is gone: reads go on elsewhere.
    target.faults().set_fault(Some(node), &FaultRule::new(FaultAction::Stall)).unwrap();
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stopped.store(true, Ordering::SeqCst);
            target.faults().stop_node(node).unwrap();
        });
        let (rows, result) = run(&client, within(60_000, 10), reads((0..300).map(|id| key(&target, id))));
        result.unwrap();
        assert!(stopped.load(Ordering::SeqCst), "the batch has waited for the node");
        for row in 0..300 {
            assert_eq!(value(&rows.outcome(row)), Some(Value::Int(row as i64)));
        }
    });
    let mut rows = reads((0..300).map(|id| key(&target, id)));
    client.batch_blocking(&within(60_000, 10), &mut rows, None).unwrap();
    assert!((0..300).all(|row| value(&rows.outcome(row)) == Some(Value::Int(row as i64))));
}

#[test]
fn writes_without_an_answer_are_in_doubt_and_others_keep_theirs() {
    for run in ways() {
        let target = Target::embedded(3);
        let client = client(&target);
        fill(&client, &target, 90);
        let node = target.faults().nodes()[0].id;
        let rule = FaultRule::new(FaultAction::Stall).on(RequestKind::Batch);
        target.faults().set_fault(Some(node), &rule).unwrap();
        let begun = Instant::now();
        let (rows, result) = run(&client, within(1500, 0), writes(&target, 0..90));
        let error = result.unwrap_err();
        assert!(error.is_client_timeout() && error.in_doubt(), "{error:?}");
        assert!((1500..30_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
        let (mut lost, mut written) = (0, 0);
        for row in 0..rows.len() {
            match rows.outcome(row) {
                RawOutcome::Answered(_) => written += 1,
                RawOutcome::Failed(error) => {
                    assert!(error.in_doubt() && error.is_client_timeout(), "{error:?}");
                    lost += 1;
                }
                _ => panic!("row {row} is pending"),
            }
        }
        assert!(lost > 0 && written > 0 && lost + written == 90, "{lost} lost, {written} written");
        // Reads never are.
        let (rows, result) = run(&client, within(1500, 0), reads((0..90).map(|id| key(&target, id))));
        assert!(!result.unwrap_err().in_doubt());
        for row in 0..rows.len() {
            assert!(!matches!(rows.outcome(row), RawOutcome::Failed(error) if error.in_doubt()));
        }
    }
}

#[test]
fn an_interrupted_batch_ends_soon_and_asks_once() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 90);
    let never = || -> bool { panic!("asked without need") };
    let mut rows = reads((0..90).map(|id| key(&target, id)));
    client.batch_blocking(&within(0, 0), &mut rows, Some(&never)).unwrap();
    // Two of three nodes do not answer.
    let nodes = target.faults().nodes();
    for node in &nodes[..2] {
        target.faults().set_fault(Some(node.id), &FaultRule::new(FaultAction::Stall)).unwrap();
    }
    let asked = Cell::new(0);
    let yes = || {
        asked.set(asked.get() + 1);
        true
    };
    let begun = Instant::now();
    let mut rows = writes(&target, 0..90);
    let error = client.batch_blocking(&within(0, 5), &mut rows, Some(&yes)).unwrap_err();
    assert!(error.in_doubt() && error.to_string().contains("interrupted"), "{error}");
    assert_eq!(asked.get(), 1);
    assert!(begun.elapsed() < Duration::from_secs(30));
    target.faults().clear_faults();
    let (rows, result) = spawned(&client, within(60_000, 2), reads((0..90).map(|id| key(&target, id))));
    result.unwrap();
    assert!((0..90).all(|row| value(&rows.outcome(row)) == Some(Value::Int(row as i64))));
}

#[test]
fn a_batch_of_a_foreign_loop_that_is_given_up() {
    let target = Target::embedded(1);
    let client = client(&target);
    fill(&client, &target, 10);
    let mut host = Loop::of(&client);
    let handle = host.driver.handle();
    let mut context = Context::from_waker(Waker::noop());
    let counts = |host: &Loop| {
        let counters = host.driver.counters(host.master(&target.key(0)));
        (counters.requests, counters.in_flight, counters.orphans)
    };
    let before = counts(&host).0;
    {
        // It is still at the desk: nothing is sent.
        let mut batch = pin!(client.batch_on(&handle, Arc::new(within(60_000, 0)), writes(&target, 0..10)));
        assert!(batch.as_mut().poll(&mut context).is_pending());
    }
    host.turn();
    assert_eq!(counts(&host), (before, 0, 0));
    // It is sent: its answer comes late, and goes to nobody.
    let rule = FaultRule::new(FaultAction::Stall).on(RequestKind::Batch).times(1);
    target.faults().set_fault(None, &rule).unwrap();
    {
        let mut batch =
            pin!(client.batch_on(&handle, Arc::new(within(60_000, 0)), reads([0, 1].map(|id| key(&target, id)))));
        assert!(batch.as_mut().poll(&mut context).is_pending());
        host.turn_until("it is sent", |host| counts(host).1 == 1);
    }
    host.turn_until("it is an orphan", |host| counts(host).2 == 1);
    let mut batch =
        pin!(client.batch_on(&handle, Arc::new(within(60_000, 2)), reads([2, 3].map(|id| key(&target, id)))));
    assert!(batch.as_mut().poll(&mut context).is_pending());
    target.faults().clear_faults();
    let limit = Instant::now() + Duration::from_secs(60);
    let (rows, result) = loop {
        if let Poll::Ready(done) = batch.as_mut().poll(&mut context) {
            break done;
        }
        assert!(Instant::now() < limit);
        host.turn();
    };
    result.unwrap();
    assert_eq!([0, 1].map(|row| value(&rows.outcome(row))), [Some(Value::Int(2)), Some(Value::Int(3))]);
    host.turn_until("the orphan is answered", |host| counts(host).2 == 0);
    // What waits when the driver goes has failed.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Batch)).unwrap();
    let mut batch =
        pin!(client.batch_on(&handle, Arc::new(within(60_000, 0)), reads([4, 5].map(|id| key(&target, id)))));
    assert!(batch.as_mut().poll(&mut context).is_pending());
    host.turn();
    drop(host);
    let Poll::Ready((rows, result)) = batch.as_mut().poll(&mut context) else { panic!("it still waits") };
    assert!(result.is_err() && matches!(rows.outcome(0), RawOutcome::Failed(_)), "{result:?}");
}
