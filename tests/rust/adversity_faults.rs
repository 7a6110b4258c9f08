//! What calls get when answers come late, broken, in pieces or not at all, through each of the three clients: the right
//! error or the right answer, in time, and a cluster that works afterwards.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, on_embedded, reading, until, within, writing};
use crate::common::{Patient, Target, policy};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, ClientConfig, ClientPolicy, ClientResultCode,
    Error, ErrorKind, Key, Phase, PoolSizing, Replica, ResultCode, Value, WhenFull, WritePolicy, as_bin, operations,
};
use aerolane_embedded::NodeId;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

const FAULTS: &str = "injects faults";
const LONG: Duration = Duration::from_secs(60);

/// Runs a scenario on each client, on a cluster of its own each time.
fn on_each(config: impl Into<ClientConfig>, scenario: impl Fn(&Target, &AnyClient) + Send + 'static) {
    if !on_embedded(FAULTS) {
        return;
    }
    let config = config.into();
    within(300, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(3);
            let client = AnyClient::open(kind, config.clone(), target.seeds()).unwrap();
            scenario(&target, &client);
        }
    });
}

fn with_pool(pool: PoolSizing) -> ClientConfig {
    ClientConfig::from(policy()).with_pool(pool)
}

/// One connection, with one request on it, in each lane.
fn narrow(when_full: WhenFull) -> ClientConfig {
    with_pool(PoolSizing::default().with_min(0).with_max(1).with_depth(1).with_when_full(when_full))
}

fn set(target: &Target, node: impl Into<Option<NodeId>>, rule: impl Borrow<FaultRule>) {
    target.faults().set_fault(node.into(), rule.borrow()).unwrap();
}

fn master(target: &Target, key: &Key) -> NodeId {
    target.faults().master(aerolane_wire::digest::partition_id(&key.digest())).unwrap()
}

/// A key of a node, and one of another node.
fn here_and_elsewhere(target: &Target) -> (NodeId, Key, Key) {
    let here = target.key(0);
    let node = master(target, &here);
    let elsewhere = (1..10_000).map(|id| target.key(id)).find(|key| master(target, key) != node).unwrap();
    (node, here, elsewhere)
}

fn number(client: &AnyClient, key: &Key) -> i64 {
    match client.get(&reading(20_000, 5), key, Bins::All).unwrap().bins["n"] {
        Value::Int(n) => n,
        ref other => panic!("{other:?}"),
    }
}

/// The error is complete: where, when, how often. An attempt that met a dead connection and sent nothing comes on top.
fn is_complete(error: &Error, phase: Phase, attempts: usize) {
    let unsent = error.sub_errors().iter().filter(|e| matches!(e.phase(), Phase::Queued | Phase::Connecting)).count();
    assert_eq!(error.phase(), phase, "{error:?}");
    assert_eq!(error.attempts() as usize, attempts + unsent, "{error:?}");
    assert_eq!(error.sub_errors().len(), attempts + unsent - 1, "{error:?}");
    assert!(error.node().is_some_and(|node| node.contains("127.0.0.1:")), "{error:?}");
    assert!(error.elapsed().is_some_and(|elapsed| elapsed < LONG), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:") && text.contains(&format!("attempts={}", error.attempts())), "{text}");
    assert_eq!(text.contains("In Doubt: true"), error.in_doubt(), "{text}");
}

/// Nothing is left over of any call.
fn is_quiet(client: &AnyClient) {
    until("nothing in flight", || {
        let total = client.stats().total;
        (total.in_flight, total.queued, total.orphans, total.busy) == (0, 0, 0, 0)
    });
}

#[test]
fn a_reset_leaves_a_write_in_doubt_and_a_read_is_tried_again() {
    on_each(policy(), |target, client| {
        let key = target.key("reset");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        let mut executed = 0;
        for (action, executes) in
            [(FaultAction::DropBefore, false), (FaultAction::DropAfter, true), (FaultAction::Truncate(12), true)]
        {
            set(target, None, FaultRule::new(action.clone()).on(RequestKind::Write).times(1));
            let error = client.add(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Connection), "{action:?}: {error:?}");
            assert!(error.in_doubt(), "{action:?}: {error:?}");
            // What was cut off had begun to come.
            let cut = matches!(action, FaultAction::Truncate(_));
            let phase = if cut { Phase::Receiving } else { Phase::Sent };
            is_complete(&error, phase, 1);
            executed += i64::from(executes);
            target.faults().clear_faults();
            assert_eq!(number(client, &key), executed, "{action:?}");

            let retries = client.stats().total.retries;
            set(target, Some(master(target, &key)), FaultRule::new(action.clone()).on(RequestKind::Read).times(1));
            let record = client.get(&reading(20_000, 1), &key, Bins::All).unwrap();
            assert_eq!(record.bins["n"], Value::Int(executed));
            assert_eq!(client.stats().total.retries, retries + 1, "{action:?}");
            target.faults().clear_faults();
            // Without a retry it is an error, and never in doubt.
            set(target, None, FaultRule::new(action.clone()).on(RequestKind::Read).times(1));
            let error = client.get(&reading(20_000, 0), &key, Bins::All).unwrap_err();
            assert!(!error.in_doubt(), "{error:?}");
            is_complete(&error, phase, 1);
            target.faults().clear_faults();
        }
        is_quiet(client);
    });
}

#[test]
fn a_node_that_resets_every_connection_is_not_hammered() {
    // The breaker would end it much earlier.
    on_each(ClientPolicy { max_error_rate: 0, ..policy() }, |target, client| {
        let key = target.key("resets");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        set(target, None, FaultRule::new(FaultAction::DropBefore).on(RequestKind::Read));
        let begun = Instant::now();
        let error = client.get(&reading(2000, 1_000_000), &key, Bins::All).unwrap_err();
        let attempts = error.attempts();
        // 1, 2, 4 and so on to 50 ms; towards the end half of what is left each time.
        assert!((5..100).contains(&attempts), "{attempts} attempts: {error:?}");
        assert!((1900..30_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
        target.faults().clear_faults();
        assert_eq!(number(client, &key), 0);
    });
}

#[test]
fn retries_are_counted_and_their_errors_kept() {
    on_each(policy(), |target, client| {
        let key = target.key("retries");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        // Always: given up after all attempts.
        set(target, None, FaultRule::new(FaultAction::DropBefore).on(RequestKind::Write).on(RequestKind::Read));
        let error = client.add(&writing(20_000, 2), &key, &[as_bin!("n", 1)]).unwrap_err();
        is_complete(&error, Phase::Sent, 3);
        assert_eq!(error.client_result_code(), Some(ClientResultCode::MaxRetriesExceeded), "{error:?}");
        assert!(error.in_doubt() && matches!(error.kind(), ErrorKind::Connection), "{error:?}");
        assert!(error.base_message().contains("connection reset"), "{error:?}");
        let cause = error.cause().expect("the last failure");
        assert!(matches!(cause.kind(), ErrorKind::Connection), "{error:?}");
        assert!(error.sub_errors().iter().all(|e| matches!(e.kind(), ErrorKind::Connection)), "{error:?}");
        let error = client.get(&reading(20_000, 4), &key, Bins::All).unwrap_err();
        is_complete(&error, Phase::Sent, 5);
        assert!(!error.in_doubt(), "{error:?}");
        let nodes: HashSet<_> = error.sub_errors().iter().filter_map(Error::node).collect();
        assert_eq!(nodes.len(), 2, "a read takes turns on both replicas: {error:?}");
        target.faults().clear_faults();
        assert_eq!(number(client, &key), 0, "none of them was executed");

        // Twice: the third one succeeds, and pauses are kept.
        let node = master(target, &key);
        set(target, Some(node), FaultRule::new(FaultAction::DropBefore).on(RequestKind::Write).times(1));
        let mut write = writing(20_000, 2);
        (write.base_policy.sleep_between_retries, write.base_policy.sleep_multiplier) = (120, 2.0);
        let start = Instant::now();
        client.add(&write, &key, &[as_bin!("n", 1)]).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(120), "{:?}", start.elapsed());
        target.faults().clear_faults();
        assert_eq!(number(client, &key), 1);

        // A pause that would outlast the call ends it with the call's deadline, not after the pause.
        set(target, None, FaultRule::new(FaultAction::DropBefore).on(RequestKind::Read));
        let mut read = reading(500, 9);
        read.base_policy.sleep_between_retries = 600_000;
        let error = client.get(&read, &key, Bins::All).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connection) && error.base_message().contains("pause"), "{error:?}");
        is_complete(&error, Phase::Sent, 1);
    });
}

#[test]
fn result_codes_are_retried_only_where_that_helps() {
    on_each(policy(), |target, client| {
        let key = target.key("codes");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        let codes = [
            (ResultCode::Timeout, true),
            (ResultCode::KeyBusy, true),
            (ResultCode::DeviceOverload, true),
            (ResultCode::PartitionUnavailable, true),
            (ResultCode::ServerError, false),
            (ResultCode::ParameterError, false),
            (ResultCode::RecordTooBig, false),
            (ResultCode::FailForbidden, false),
        ];
        for (code, retried) in codes {
            set(target, None, FaultRule::new(FaultAction::Result(code.into())).on(RequestKind::Write));
            set(target, None, FaultRule::new(FaultAction::Result(code.into())).on(RequestKind::Read));
            let error = client.add(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap_err();
            assert_eq!(error.server_result_code(), Some(code), "{error:?}");
            assert_eq!(error.in_doubt(), code == ResultCode::Timeout, "{error:?}");
            is_complete(&error, Phase::Receiving, 1);
            let error = client.get(&reading(20_000, 2), &key, Bins::All).unwrap_err();
            assert_eq!(error.server_result_code(), Some(code), "{error:?}");
            is_complete(&error, Phase::Receiving, if retried { 3 } else { 1 });
            target.faults().clear_faults();
        }
        assert_eq!(number(client, &key), 0, "none of them was executed");
        // A code that nobody knows is passed on.
        set(target, None, FaultRule::new(FaultAction::Result(247)).on(RequestKind::Read));
        let error = client.get(&reading(20_000, 0), &key, Bins::All).unwrap_err();
        assert_eq!(error.result_code(), 247, "{error:?}");
    });
}

#[test]
fn a_stalled_node_holds_up_only_its_own_keys() {
    on_each(policy(), |target, client| {
        let (node, here, elsewhere) = here_and_elsewhere(target);
        for key in [&here, &elsewhere] {
            client.put(&writing(20_000, 0), key, &[as_bin!("n", 1)]).unwrap();
        }
        set(target, Some(node), FaultRule::new(FaultAction::Stall).on(RequestKind::Read).on(RequestKind::Write));
        let mut read = reading(300, 0);
        read.base_policy.replica = Replica::Master;
        let start = Instant::now();
        let error = client.get(&read, &here, Bins::All).unwrap_err();
        assert!(error.is_client_timeout() && !error.in_doubt(), "{error:?}");
        is_complete(&error, Phase::Sent, 1);
        assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
        assert!(error.elapsed().is_some_and(|elapsed| elapsed >= Duration::from_millis(300)), "{error:?}");
        let error = client.add(&writing(300, 0), &here, &[as_bin!("n", 1)]).unwrap_err();
        assert!(error.is_client_timeout() && error.in_doubt(), "{error:?}");
        is_complete(&error, Phase::Sent, 1);

        // Keys of other nodes do not notice.
        for _ in 0..20 {
            assert_eq!(number(client, &elsewhere), 1);
        }
        // A read with a socket timeout goes on to the other replica.
        let mut read = reading(20_000, 2);
        read.base_policy.socket_timeout = 1000;
        read.base_policy.replica = Replica::Sequence;
        assert_eq!(client.get(&read, &here, Bins::All).unwrap().bins["n"], Value::Int(1));
        // In a batch the rows of the other node are answered.
        let row = |key: &Key| BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
        set(target, Some(node), FaultRule::new(FaultAction::Stall).on(RequestKind::Batch));
        let mut batch = BatchPolicy::patient();
        (batch.base_policy.total_timeout, batch.base_policy.max_retries) = (1500, 0);
        batch.base_policy.replica = Replica::Master;
        let (rows, result) = client.batch(&batch, vec![row(&here), row(&here), row(&elsewhere), row(&elsewhere)]);
        let error = result.unwrap_err();
        assert!(error.is_client_timeout(), "{error:?}");
        assert!(rows[..2].iter().all(|row| row.record().is_none() && row.error().is_some()), "{rows:?}");
        assert!(rows[2..].iter().all(|row| row.record().is_some()), "{rows:?}");

        target.faults().clear_faults();
        // The stalled write may be executed now; it must not cost anybody an answer.
        until("it answers again", || client.get(&reading(500, 0), &here, Bins::All).is_ok());
        let n = number(client, &here);
        assert!(n == 1 || n == 2, "{n}");
        is_quiet(client);
        assert!(client.stats().total.timeouts >= 4, "{}", client.stats());
    });
}

#[test]
fn without_a_timeout_a_late_answer_is_waited_for() {
    on_each(policy(), |target, client| {
        let key = target.key("late");
        let late = Duration::from_millis(1500);
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        set(target, None, FaultRule::new(FaultAction::AnswerDelay(late)).on(RequestKind::Read).times(1));
        set(target, None, FaultRule::new(FaultAction::Delay(late)).on(RequestKind::Write).times(1));
        let start = Instant::now();
        client.add(&writing(0, 0), &key, &[as_bin!("n", 1)]).unwrap();
        let read = reading(0, 0);
        assert_eq!(client.get(&read, &key, Bins::All).unwrap().bins["n"], Value::Int(1));
        assert!(start.elapsed() >= late, "{:?}", start.elapsed());
        assert_eq!((client.stats().total.timeouts, client.stats().total.retries), (0, 0));
    });
}

#[test]
fn a_late_answer_reaches_nobody_else() {
    on_each(policy(), |target, client| {
        for id in 0..20_i64 {
            client.put(&writing(20_000, 0), &target.key(id), &[as_bin!("id", id)]).unwrap();
        }
        let delay = FaultAction::AnswerDelay(Duration::from_millis(400));
        set(target, None, FaultRule::new(delay).on(RequestKind::Read).times(3));
        let mut late = 0;
        for id in 0..20_i64 {
            if let Err(error) = client.get(&reading(50, 0), &target.key(id), Bins::All) {
                assert!(error.is_client_timeout(), "{error:?}");
                late += 1;
            }
        }
        assert!(late > 0, "none was late");
        // While the late ones come and after that, everybody gets his own.
        let start = Instant::now();
        for id in (0..20_i64).cycle() {
            let record = client.get(&reading(20_000, 0), &target.key(id), Bins::All).unwrap();
            assert_eq!(record.bins["id"], Value::Int(id));
            if start.elapsed() > Duration::from_millis(800) {
                break;
            }
        }
        is_quiet(client);
    });
}

#[test]
fn answers_in_single_bytes_are_put_together() {
    on_each(policy(), |target, client| {
        set(target, None, FaultRule::new(FaultAction::Split));
        let text = "x".repeat(2000);
        for id in 0..5_i64 {
            let key = target.key(id);
            // With a time limit and without.
            let limit = if id % 2 == 0 { 20_000 } else { 0 };
            client.put(&writing(limit, 0), &key, &[as_bin!("id", id), as_bin!("s", text.as_str())]).unwrap();
            let record = client.get(&reading(limit, 0), &key, Bins::All).unwrap();
            assert_eq!((&record.bins["id"], &record.bins["s"]), (&Value::Int(id), &Value::from(text.as_str())));
            let operations = [operations::add(&as_bin!("id", 100)), operations::get_bin("id")];
            let record = client.operate(&writing(20_000, 0), &key, &operations).unwrap();
            // The addition answers, too.
            let read = match &record.bins["id"] {
                Value::MultiResult(results) => results.last().cloned(),
                value => Some(value.clone()),
            };
            assert_eq!(read, Some(Value::Int(id + 100)));
        }
        let row = |id: i64| BatchOperation::read(&BatchReadPolicy::default(), target.key(id), Bins::from(["id"]));
        let mut batch = BatchPolicy::patient();
        batch.base_policy.total_timeout = 20_000;
        let (rows, result) = client.batch(&batch, (0..5).map(row).collect());
        result.unwrap();
        for (id, row) in rows.iter().enumerate() {
            assert_eq!(row.record().unwrap().bins["id"], Value::Int(id as i64 + 100));
        }
        assert_eq!(client.stats().total.retries, 0);
    });
}

#[test]
fn garbage_costs_one_connection_and_nobody_elses_answer() {
    on_each(policy(), |target, client| {
        let key = target.key("garbage");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        let frame = |body: &[u8]| {
            let mut bytes = vec![2, 3, 0, 0, 0, 0, 0, body.len() as u8];
            bytes.extend_from_slice(body);
            bytes
        };
        let empty_message = frame(&[&[22_u8][..], &[0; 21]].concat());
        let garbage = [
            ("zeros", vec![0; 64]),
            ("another protocol", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
            ("an endless frame", vec![2, 3, 0, 0, 0xff, 0xff, 0xff, 0xff]),
            ("an info frame", vec![2, 1, 0, 0, 0, 0, 0, 1, b'x']),
            ("a message without a header", frame(&[])),
            ("a cut message", frame(&[22, 0, 0])),
            ("a message that claims too many bins", {
                let mut header = [0_u8; 22];
                (header[0], header[20], header[21]) = (22, 0xff, 0xff);
                frame(&header)
            }),
            ("two answers to one request", [empty_message.clone(), empty_message].concat()),
        ];
        let mut executed = 0;
        for (what, bytes) in garbage {
            let rule = |kind| FaultRule::new(FaultAction::Garbage(bytes.clone())).on(kind).times(1);
            set(target, Some(master(target, &key)), rule(RequestKind::Read));
            match client.get(&reading(20_000, 0), &key, Bins::All) {
                // On a lane the first of two answers is handed out before the second one is met.
                Ok(record) => assert!(what.starts_with("two") && record.bins.is_empty(), "{what}: {record:?}"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::BadResponse), "{what}: {error:?}");
                    assert!(!error.in_doubt() && error.node().is_some(), "{what}: {error:?}");
                }
            }
            target.faults().clear_faults();
            set(target, Some(master(target, &key)), rule(RequestKind::Write));
            match client.add(&writing(20_000, 0), &key, &[as_bin!("n", 1)]) {
                Ok(()) => assert!(what.starts_with("two"), "{what}"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::BadResponse), "{what}: {error:?}");
                    assert!(error.in_doubt(), "{what}: {error:?}");
                }
            }
            executed += 1;
            target.faults().clear_faults();
            assert_eq!(number(client, &key), executed, "{what}: it was executed, and the next answer is right");
        }
        is_quiet(client);
    });
}

#[test]
fn closing_ends_calls_under_way() {
    on_each(policy(), |target, client| {
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Read).on(RequestKind::Write));
        let mut threads = Vec::new();
        for id in 0..12_i64 {
            let (client, key) = (client.clone(), target.key(id));
            // Without a limit of their own: only the closing can end them.
            threads.push(std::thread::spawn(move || {
                if id % 2 == 0 {
                    client.get(&reading(0, 0), &key, Bins::All).map(drop).unwrap_err()
                } else {
                    client.put(&writing(0, 0), &key, &[as_bin!("n", 1)]).unwrap_err()
                }
            }));
        }
        until("all are under way", || client.stats().total.in_flight == 12);
        // Time for those that are on a connection to leave with its next flush.
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        client.close();
        for (id, thread) in threads.into_iter().enumerate() {
            let error = thread.join().unwrap();
            assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
            assert_eq!(error.in_doubt(), id % 2 == 1, "what was sent is in doubt: {error:?}");
            is_complete(&error, Phase::Sent, 1);
        }
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
        is_quiet(client);
    });
}

#[test]
fn closing_ends_calls_in_line_too_and_those_are_not_in_doubt() {
    on_each(narrow(WhenFull::Wait), |target, client| {
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Write));
        let key = target.key("line");
        let put = || {
            let (client, key) = (client.clone(), key.clone());
            std::thread::spawn(move || client.put(&writing(0, 0), &key, &[as_bin!("n", 1)]).unwrap_err())
        };
        let first = put();
        until("one is under way", || client.stats().total.in_flight == 1);
        let waiting = [put(), put(), put()];
        until("three are in line", || client.stats().total.queued == 3);
        client.close();
        assert!(first.join().unwrap().in_doubt());
        for thread in waiting {
            let error = thread.join().unwrap();
            assert!(matches!(error.kind(), ErrorKind::ClientClosed) && !error.in_doubt(), "{error:?}");
            assert_eq!(error.phase(), Phase::Queued, "{error:?}");
        }
    });
}

#[test]
fn a_full_pool_lets_callers_wait_in_order() {
    on_each(narrow(WhenFull::Wait), |target, client| {
        let key = target.key("order");
        client.put(&writing(20_000, 0), &key, &[as_bin!("s", "")]).unwrap();
        // Nothing gets through until the first one is let go.
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Write).times(1));
        let append = |letter: char, timeout: u32| {
            let (client, key) = (client.clone(), key.clone());
            let call = move || client.append(&writing(timeout, 0), &key, &[as_bin!("s", letter.to_string().as_str())]);
            std::thread::spawn(call)
        };
        let mut threads = vec![append('a', 0)];
        until("the first is under way", || client.stats().total.in_flight == 1);
        for (waiting, letter) in ('b'..='h').enumerate() {
            threads.push(append(letter, 0));
            until("another one is in line", || client.stats().total.queued == waiting as u64 + 1);
        }
        // Who cannot wait fails in time, was not sent, and holds up nobody.
        let error = append('!', 200).join().unwrap().unwrap_err();
        assert!(error.is_client_timeout() && !error.in_doubt(), "{error:?}");
        is_complete(&error, Phase::Queued, 1);
        assert!(error.elapsed().is_some_and(|elapsed| elapsed >= Duration::from_millis(200)), "{error:?}");
        target.faults().clear_faults();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        let record = client.get(&reading(20_000, 0), &key, Bins::All).unwrap();
        assert_eq!(record.bins["s"], Value::from("abcdefgh"), "first come, first served");
        let total = client.stats().total;
        assert_eq!((total.queued, total.in_flight, total.refused), (0, 0, 0), "{}", client.stats());
        assert_eq!(total.timeouts, 1, "{}", client.stats());
    });
}

#[test]
fn a_full_pool_fails_at_once_when_asked_to() {
    on_each(narrow(WhenFull::Fail), |target, client| {
        let key = target.key("fail");
        // The line is for the opening of the connection only, so the first call opens it.
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Write).times(1));
        let first = {
            let (client, key) = (client.clone(), key.clone());
            std::thread::spawn(move || client.add(&writing(0, 0), &key, &[as_bin!("n", 1)]))
        };
        until("the first is under way", || client.stats().total.in_flight == 1);
        for n in 1..=3 {
            // Without a timeout: it could only hang.
            let error = client.add(&writing(0, 0), &key, &[as_bin!("n", 10)]).unwrap_err();
            let ErrorKind::PoolExhausted { limit: 1, size: 1, waiting: 0, .. } = error.kind() else {
                panic!("{error:?}")
            };
            assert!(!error.in_doubt(), "{error:?}");
            is_complete(&error, Phase::Queued, 1);
            let text = error.to_string();
            assert!(text.contains("1 open") && text.contains("0 callers waiting"), "{text}");
            assert_eq!(client.stats().total.refused, n);
        }
        target.faults().clear_faults();
        first.join().unwrap().unwrap();
        client.add(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        assert_eq!(number(client, &key), 2);
    });
}

#[test]
fn the_line_is_bounded() {
    let mut config = narrow(WhenFull::Wait);
    config.pool = config.pool.map(|pool| pool.with_max_waiting(2));
    on_each(config, |target, client| {
        let key = target.key("line");
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 0)]).unwrap();
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Write).times(1));
        let add = || {
            let (client, key) = (client.clone(), key.clone());
            std::thread::spawn(move || client.add(&writing(0, 0), &key, &[as_bin!("n", 1)]))
        };
        let mut threads = vec![add()];
        until("the first is under way", || client.stats().total.in_flight == 1);
        threads.extend([add(), add()]);
        until("two are in line", || client.stats().total.queued == 2);
        let error = add().join().unwrap().unwrap_err();
        let ErrorKind::PoolExhausted { waiting: 2, .. } = error.kind() else { panic!("{error:?}") };
        target.faults().clear_faults();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        assert_eq!(number(client, &key), 3);
    });
}

#[test]
fn the_line_is_bounded_by_bytes() {
    let mut config = narrow(WhenFull::Wait);
    config.pool = config.pool.map(|pool| pool.with_max_waiting_bytes(50_000));
    on_each(config, |target, client| {
        let key = target.key("line");
        let put = |len: usize| {
            let (client, key) = (client.clone(), key.clone());
            std::thread::spawn(move || client.put(&writing(0, 0), &key, &[as_bin!("v", "x".repeat(len))]))
        };
        put(1).join().unwrap().unwrap();
        set(target, None, FaultRule::new(FaultAction::Stall).on(RequestKind::Write).times(1));
        let mut threads = vec![put(1)];
        until("the first is under way", || client.stats().total.in_flight == 1);
        // One that is larger than all that may wait.
        threads.push(put(100_000));
        until("it is in line", || client.stats().total.queued == 1);
        let next = put(1);
        if client.kind == Kind::Sync {
            // Threads that block keep their requests themselves.
            until("the next is in line, too", || client.stats().total.queued == 2);
            threads.push(next);
        } else {
            let error = next.join().unwrap().unwrap_err();
            let ErrorKind::PoolExhausted { waiting: 1, waiting_bytes, .. } = error.kind() else { panic!("{error:?}") };
            assert!(*waiting_bytes > 100_000 && !error.in_doubt(), "{error:?}");
            assert!(error.to_string().contains("max_waiting_bytes"), "{error}");
        }
        target.faults().clear_faults();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        put(100_000).join().unwrap().unwrap();
    });
}

#[test]
fn the_answer_to_a_batch_is_bounded() {
    let config = ClientConfig::from(policy()).with_pool(PoolSizing::default().with_max_batch_answer_bytes(100_000));
    on_each(config, |target, client| {
        let (node, ..) = here_and_elsewhere(target);
        let keys = (0_i64..).map(|id| target.key(id));
        let mut own = keys.clone().filter(|key| master(target, key) == node);
        let large: Vec<_> = own.by_ref().take(20).collect();
        let other: Vec<_> = keys.filter(|key| master(target, key) != node).take(5).collect();
        for key in &large {
            client.put(&writing(20_000, 0), key, &[as_bin!("v", "x".repeat(10_000))]).unwrap();
        }
        for key in &other {
            client.put(&writing(20_000, 0), key, &[as_bin!("v", 1)]).unwrap();
        }
        let batch = |keys: &mut dyn Iterator<Item = &Key>| {
            let rows = keys.map(|key| BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All));
            client.batch(&BatchPolicy::patient(), rows.collect())
        };
        let (rows, result) = batch(&mut large.iter().chain(&other));
        let (rows_of_large, rows_of_others) = rows.split_at(large.len());
        assert!(rows_of_others.iter().all(|row| row.record().is_some()), "{rows_of_others:?}");
        if client.kind == Kind::Sync {
            // It decodes each row as it comes.
            assert!(result.is_ok() && rows_of_large.iter().all(|row| row.record().is_some()));
            return;
        }
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::AnswerTooLarge { limit: 100_000 }), "{error:?}");
        assert!(error.to_string().contains("max_batch_answer_bytes"), "{error}");
        for row in rows_of_large {
            let error = row.error().unwrap();
            assert!(matches!(error.kind(), ErrorKind::AnswerTooLarge { .. }) && error.attempts() == 1, "{error:?}");
            assert!(!error.in_doubt() && error.node().is_some() && error.phase() == Phase::Receiving, "{error:?}");
        }
        // Parts of it are answered, and so are the rows of writes, which answer with little.
        let (rows, result) = batch(&mut large.iter().take(8));
        assert!(result.is_ok() && rows.iter().all(|row| row.record().is_some()), "{result:?}");
        until("nothing is left over", || {
            let total = client.stats().total;
            (total.in_flight, total.queued, total.orphans) == (0, 0, 0)
        });
        // What is carried out and answered with too much is in doubt.
        let write = BatchWritePolicy::default();
        let ops = || [operations::put(&as_bin!("n", 1)), operations::get_bin("v")];
        let rows = large.iter().map(|key| BatchOperation::write(&write, key.clone(), ops())).collect();
        let (rows, _) = client.batch(&BatchPolicy::patient(), rows);
        assert!(rows.iter().all(BatchOperation::in_doubt), "{rows:?}");
    });
}

#[test]
fn a_node_that_only_fails_is_left_alone_for_a_while() {
    let breaker = ClientPolicy { max_error_rate: 3, error_rate_window: 12, ..policy() };
    on_each(breaker, |target, client| {
        let (node, here, elsewhere) = here_and_elsewhere(target);
        for key in [&here, &elsewhere] {
            client.put(&writing(20_000, 0), key, &[as_bin!("n", 1)]).unwrap();
        }
        set(target, Some(node), FaultRule::new(FaultAction::DropAfter).on(RequestKind::Read));
        let mut read = reading(20_000, 0);
        read.base_policy.replica = Replica::Master;
        let mut failures = 0;
        let error = loop {
            let error = client.get(&read, &here, Bins::All).unwrap_err();
            if matches!(error.kind(), ErrorKind::MaxErrorRate) {
                break error;
            }
            assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
            // A dead connection that is noticed in time counts, too.
            failures += error.attempts();
            assert!(failures < 50, "the breaker never opens");
        };
        assert!(failures >= 4, "more than 3 errors open it, not {failures}");
        is_complete(&error, Phase::Queued, 1);
        assert!(!error.in_doubt() && error.to_string().contains("max_error_rate"), "{error}");
        let stats = client.stats();
        assert!(stats.nodes.iter().filter(|node| node.breaker_open).count() <= 1, "{stats:?}");
        // The others go on, and with retries so does a read of this key.
        assert_eq!(client.get(&read, &elsewhere, Bins::All).unwrap().bins["n"], Value::Int(1));
        let mut other = reading(20_000, 5);
        other.base_policy.replica = Replica::Sequence;
        assert_eq!(client.get(&other, &here, Bins::All).unwrap().bins["n"], Value::Int(1));
        // When the window is over, it gets another chance.
        target.faults().clear_faults();
        until("the breaker closes", || client.get(&read, &here, Bins::All).is_ok());
        assert!(client.stats().nodes.iter().all(|node| !node.breaker_open));
        for _ in 0..5 {
            client.put(&WritePolicy::patient(), &here, &[as_bin!("n", 2)]).unwrap();
        }
    });
}

#[test]
fn connections_that_are_refused_for_a_while_cost_time_and_nothing_else() {
    let mut config = with_pool(PoolSizing::default().with_min(0));
    config.policy.max_error_rate = 0;
    on_each(config, |target, client| {
        let key = target.key("refused");
        set(target, None, FaultRule::new(FaultAction::Refuse));
        let error = client.put(&writing(400, 0), &key, &[as_bin!("n", 1)]).unwrap_err();
        // A connection that ends as soon as it is open may have taken the request with it.
        assert!(error.is_client_timeout() || matches!(error.kind(), ErrorKind::Connection), "{error:?}");
        assert!(error.node().is_some() && error.elapsed().is_some(), "{error:?}");
        let patient = {
            let (client, key) = (client.clone(), key.clone());
            let mut write = writing(30_000, 1000);
            write.base_policy.sleep_between_retries = 50;
            std::thread::spawn(move || client.put(&write, &key, &[as_bin!("n", 2)]))
        };
        std::thread::sleep(Duration::from_millis(300));
        target.faults().clear_faults();
        patient.join().unwrap().unwrap();
        assert_eq!(number(client, &key), 2);
    });
}
