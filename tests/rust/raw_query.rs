//! Queries whose records the caller decodes: the same cases as `tests/python/test_query.py`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE_MS, Patient, Target, policy};
use aerolane::expressions::{int_bin, int_val, lt};
use aerolane::raw::{Cursor, PartitionPlace, RawClient, RawOps, RawQuery, RawRecords};
use aerolane::{ClientConfig, Error, ErrorKind, Phase, QueryPolicy, ResultCode, WritePolicy, as_bin};
use aerolane_embedded::NodeInfo;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind, RuleId};
use aerolane_wire::digest::{Digest, partition_id};
use aerolane_wire::message::{Message, field, op};
use aerolane_wire::particle::{Particle, particle_type};

fn client(target: &Target) -> RawClient {
    RawClient::connect_blocking(&ClientConfig::from(policy()), target.seeds()).unwrap()
}

/// Records 0..count, each with its number in the bins `v` and `w`.
fn fill(client: &RawClient, target: &Target, count: i64) {
    for id in 0..count {
        let bins = [as_bin!("v", id), as_bin!("w", id)];
        client.sync().put(&WritePolicy::patient(), &target.key(id), &bins).unwrap();
    }
}

fn query(target: &Target) -> RawQuery {
    RawQuery::new(target.namespace()).field(field::SET, target.set().as_bytes())
}

/// What a message says: the record's digest and its integer bins.
fn record(message: &[u8]) -> (Digest, BTreeMap<String, i64>) {
    let message = Message::decode(message).unwrap();
    let digest = message.field(field::DIGEST).unwrap().try_into().unwrap();
    let bins = message.ops().map(|op| {
        let Ok(Particle::Integer(value)) = Particle::decode(op.particle_type, op.value) else { panic!("{op:?}") };
        (String::from_utf8(op.name.to_vec()).unwrap(), value)
    });
    (digest, bins.collect())
}

/// All records, each of which must come once; and the error that ended them.
fn all(records: &mut RawRecords) -> (BTreeMap<Digest, BTreeMap<String, i64>>, Option<Error>) {
    let mut found = BTreeMap::new();
    loop {
        while let Some(next) = records.next(record) {
            match next {
                Ok((digest, bins)) => assert!(found.insert(digest, bins).is_none(), "a record came twice"),
                Err(error) => return (found, Some(error)),
            }
        }
        match records.more_blocking(None) {
            Ok(true) => {}
            Ok(false) => return (found, None),
            Err(error) => return (found, Some(error)),
        }
    }
}

fn values(found: &BTreeMap<Digest, BTreeMap<String, i64>>) -> BTreeSet<i64> {
    found.values().map(|bins| bins["v"]).collect()
}

fn run(client: &RawClient, mut policy: QueryPolicy, query: RawQuery) -> BTreeMap<Digest, BTreeMap<String, i64>> {
    policy.base_policy.socket_timeout = PATIENCE_MS;
    let mut records = client.query(policy, query, Cursor::all()).unwrap();
    let (found, error) = all(&mut records);
    assert!(error.is_none(), "{error:?}");
    assert!(records.cursor().is_done() && !records.is_active());
    assert!(!records.more_blocking(None).unwrap(), "it stays at its end");
    found
}

#[test]
fn every_record_of_the_set_comes_once() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 500);
    let found = run(&client, QueryPolicy::patient(), query(&target));
    assert_eq!(values(&found), (0..500).collect());
    assert!(found.values().all(|bins| bins.len() == 2 && bins["v"] == bins["w"]));
    // On the connections of the first one, with hardly any room in the queue, and one node at a time.
    let narrow = QueryPolicy { record_queue_size: 1, max_concurrent_nodes: 1, ..QueryPolicy::patient() };
    assert_eq!(run(&client, narrow, query(&target)), found);
    assert!(
        run(&client, QueryPolicy::patient(), RawQuery::new(target.namespace()).field(field::SET, b"nobody")).is_empty()
    );
}

#[test]
fn filters_bins_and_records_without_bins() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 100);
    let mut filtered = QueryPolicy::patient();
    filtered.base_policy.filter_expression = Some(lt(int_bin("v"), int_val(10)));
    assert_eq!(values(&run(&client, filtered, query(&target))), (0..10).collect());

    let mut ops = RawOps::default();
    ops.push(op::READ, particle_type::NIL, b"v", |_| Ok::<_, aerolane_wire::WireError>(())).unwrap();
    let found = run(&client, QueryPolicy::patient(), query(&target).ops(ops));
    assert!(found.len() == 100 && found.values().all(|bins| bins.keys().eq(["v"])));

    let bare = QueryPolicy { include_bin_data: false, ..QueryPolicy::patient() };
    for found in
        [run(&client, bare, query(&target)), run(&client, QueryPolicy::patient(), query(&target).without_bins())]
    {
        assert!(found.len() == 100 && found.values().all(BTreeMap::is_empty));
    }
}

#[test]
fn partitions_ranges_and_what_lies_behind_a_digest() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 300);
    let whole = run(&client, QueryPolicy::patient(), query(&target));
    let part = |cursor: Cursor| {
        let mut records = client.query(QueryPolicy::patient(), query(&target), cursor).unwrap();
        let (found, error) = all(&mut records);
        assert!(error.is_none(), "{error:?}");
        found.into_keys().collect::<BTreeSet<_>>()
    };
    let (low, high) = (part(Cursor::range(0, 2048).unwrap()), part(Cursor::range(2048, 2048).unwrap()));
    assert!(low.iter().all(|digest| partition_id(digest) < 2048));
    assert!(high.iter().all(|digest| partition_id(digest) >= 2048));
    assert_eq!(low.len() + high.len(), 300);
    let digest = *whole.keys().next().unwrap();
    let id = partition_id(&digest);
    let alone = part(Cursor::range(usize::from(id), 1).unwrap());
    let behind = part(Cursor::behind(digest));
    assert!(alone.contains(&digest) && !behind.contains(&digest));
    assert!(behind.is_subset(&alone));
}

#[test]
fn pages_give_every_record_once() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 250);
    for size in [1, 7, 100, 249, 250, 1000] {
        let policy = QueryPolicy { max_records: size, ..QueryPolicy::patient() };
        let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), Cursor::all(), 0);
        while !cursor.is_done() {
            let mut records = client.query(policy.clone(), query(&target), cursor).unwrap();
            let (page, error) = all(&mut records);
            assert!(error.is_none(), "{error:?}");
            let full = page.len() as u64 == size;
            let last = (page.len() as u64) < size && records.cursor().is_done();
            assert!(full || last, "{} of {size}, and there are more", page.len());
            assert!(values(&page).iter().all(|value| seen.insert(*value)), "a page repeats a record");
            // As it would come back from somewhere else.
            cursor =
                Cursor::with_places(usize::from(records.cursor().begin()), records.cursor().places().to_vec()).unwrap();
            pages += 1;
            assert!(pages < 1000, "no end");
            if size == 1 && pages == 40 {
                break;
            }
        }
        assert!(size == 1 || seen == (0..250).collect(), "{size}: {} records", seen.len());
    }
}

/// The limit is split over the nodes, but only one of them has records.
#[test]
fn a_limit_is_reached_if_one_node_has_all_records() {
    let target = Target::start();
    let client = client(&target);
    let in_first_partition = |id: &i64| partition_id(&target.key(*id).digest()) == 0;
    for id in (0..).filter(in_first_partition).take(6) {
        client.sync().put(&WritePolicy::patient(), &target.key(id), &[as_bin!("v", id)]).unwrap();
    }
    for (limit, expected) in [(5, 5), (6, 6), (7, 6)] {
        let policy = QueryPolicy { max_records: limit, ..QueryPolicy::patient() };
        let (page, error) = all(&mut client.query(policy, query(&target), Cursor::all()).unwrap());
        assert!(error.is_none(), "{error:?}");
        assert_eq!(page.len(), expected, "limit {limit}");
    }
}

#[test]
fn a_query_that_is_closed_early_goes_on_where_it_was() {
    let target = Target::start();
    let client = client(&target);
    fill(&client, &target, 400);
    for stop in [0, 1, 50, 399] {
        let mut records = client.query(QueryPolicy::patient(), query(&target), Cursor::all()).unwrap();
        let mut seen = BTreeSet::new();
        while seen.len() < stop {
            match records.next(record) {
                Some(next) => assert!(seen.insert(next.unwrap().1["v"])),
                None => assert!(records.more_blocking(None).unwrap()),
            }
        }
        records.close();
        assert!(!records.is_active() && !records.more_blocking(None).unwrap() && records.next(record).is_none());
        let cursor = records.cursor().clone();
        assert!(!cursor.is_done());
        let mut rest = client.query(QueryPolicy::patient(), query(&target), cursor).unwrap();
        let (found, error) = all(&mut rest);
        assert!(error.is_none(), "{error:?}");
        let rest = values(&found);
        assert!(seen.is_disjoint(&rest), "closed after {stop}: some came again");
        assert_eq!(seen.len() + rest.len(), 400, "closed after {stop}");
    }
}

#[test]
fn what_nodes_fail_to_send_is_asked_again() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 2000);
    let actions = [
        FaultAction::DropBefore,
        FaultAction::DropAfter,
        FaultAction::Truncate(10_000),
        FaultAction::Truncate(5),
        FaultAction::Result(u8::from(ResultCode::DeviceOverload)),
    ];
    for action in actions {
        let rule = FaultRule::new(action.clone()).on(RequestKind::Query).times(2);
        target.faults().set_fault(None, &rule).unwrap();
        let found = run(&client, QueryPolicy::patient(), query(&target));
        assert_eq!(values(&found), (0..2000).collect(), "{action:?}");
        target.faults().clear_faults();
    }
}

#[test]
fn failures_that_stay_end_the_query_once() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 300);
    let mut few = QueryPolicy::patient();
    few.base_policy.max_retries = 1;
    for action in [FaultAction::DropBefore, FaultAction::Stall, FaultAction::Garbage(vec![9; 40])] {
        target.faults().set_fault(None, &FaultRule::new(action.clone()).on(RequestKind::Query)).unwrap();
        let mut policy = few.clone();
        if matches!(action, FaultAction::Stall) {
            policy.base_policy.socket_timeout = 300;
        }
        let mut records = client.query(policy, query(&target), Cursor::all()).unwrap();
        let (found, error) = all(&mut records);
        let error = error.expect("an error");
        assert!(error.node().is_some() || error.cause().is_some_and(|e| e.node().is_some()), "{action:?}: {error:?}");
        assert!(error.attempts() >= 1 && error.elapsed().is_some());
        assert!(!records.more_blocking(None).unwrap() && records.next(record).is_none(), "said once");
        // The rest can be had later.
        target.faults().clear_faults();
        let mut rest = client.query(few.clone(), query(&target), records.cursor().clone()).unwrap();
        let (more, error) = all(&mut rest);
        assert!(error.is_none(), "{error:?}");
        assert!(found.keys().all(|digest| !more.contains_key(digest)));
        assert_eq!(found.len() + more.len(), 300, "{action:?}");
    }
    // A failure that no other round would mend.
    let rule = FaultRule::new(FaultAction::Result(u8::from(ResultCode::ParameterError))).on(RequestKind::Query);
    target.faults().set_fault(None, &rule).unwrap();
    let (_, error) = all(&mut client.query(few, query(&target), Cursor::all()).unwrap());
    let error = error.unwrap();
    assert!(error.matches(&[ResultCode::ParameterError]) && error.attempts() == 1, "{error:?}");
}

#[test]
fn a_node_that_stops_hands_its_partitions_on() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 1000);
    let mut narrow = QueryPolicy { record_queue_size: 1, ..QueryPolicy::patient() };
    narrow.base_policy.socket_timeout = PATIENCE_MS;
    let mut records = client.query(narrow, query(&target), Cursor::all()).unwrap();
    while records.next(record).is_none() {
        assert!(records.more_blocking(None).unwrap());
    }
    let node = target.faults().nodes()[1].id;
    target.faults().stop_node(node).unwrap();
    let (found, error) = all(&mut records);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found.len(), 999);
}

#[test]
fn timeouts_closing_and_interrupts() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 60);
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Query)).unwrap();

    let mut late = QueryPolicy::patient();
    late.base_policy.total_timeout = 300;
    let begun = Instant::now();
    let (_, error) = all(&mut client.query(late, query(&target), Cursor::all()).unwrap());
    assert!(error.as_ref().is_some_and(Error::is_client_timeout), "{error:?}");
    assert!((250..30_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());

    let mut records = client.query(QueryPolicy::patient(), query(&target), Cursor::all()).unwrap();
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() == 2
    };
    let error = records.more_blocking(Some(&interrupted)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Interrupted) && asked.get() == 2, "{error:?}");
    assert!(records.is_active(), "an interrupt does not end it");

    let closer = client.clone();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        closer.close_blocking();
    });
    let error = records.more_blocking(None).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
    closing.join().unwrap();
    assert!(
        matches!(client.query(QueryPolicy::patient(), query(&target), Cursor::all()), Err(e) if matches!(e.kind(), ErrorKind::ClientClosed))
    );
}

/// How often a rule has struck, on all nodes together.
fn struck(target: &Target, rules: &[RuleId]) -> u64 {
    let nodes = target.faults().nodes();
    let of_node = |(node, rule): (&NodeInfo, &RuleId)| target.faults().fault_struck(node.id, *rule).unwrap().unwrap();
    nodes.iter().zip(rules).map(of_node).sum()
}

#[test]
fn a_silent_node_is_asked_once() {
    let target = Target::embedded(1);
    let client = client(&target);
    fill(&client, &target, 20);
    let mut once = QueryPolicy::patient();
    (once.base_policy.max_retries, once.base_policy.socket_timeout) = (0, 1000);
    for with_idle_connection in [false, true] {
        if with_idle_connection {
            run(&client, QueryPolicy::patient(), query(&target));
        }
        let rules = target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Query));
        let (_, error) = all(&mut client.query(once.clone(), query(&target), Cursor::all()).unwrap());
        let error = error.unwrap();
        assert!(error.is_client_timeout() && !error.in_doubt(), "{error:?}");
        assert_eq!(struck(&target, &rules.unwrap()), 1, "with an idle connection: {with_idle_connection}");
        target.faults().clear_faults();
    }
}

#[test]
fn an_idle_connection_that_was_closed_is_no_failure() {
    let target = Target::embedded(1);
    let client = client(&target);
    fill(&client, &target, 20);
    let mut once = QueryPolicy::patient();
    once.base_policy.max_retries = 0;
    // Closed behind the answer to the query before, and upon the request.
    for (before, upon) in [(FaultAction::Truncate(1 << 30), None), (FaultAction::Split, Some(FaultAction::DropBefore))]
    {
        let once_each = [Some(before), upon].into_iter().flatten();
        for (skip, action) in (0..).zip(once_each) {
            let rule = FaultRule::new(action).on(RequestKind::Query).skip(skip).times(1);
            target.faults().set_fault(None, &rule).unwrap();
        }
        run(&client, QueryPolicy::patient(), query(&target));
        assert_eq!(values(&run(&client, once.clone(), query(&target))), (0..20).collect());
        target.faults().clear_faults();
    }
}

/// Operations that write, for the background.
fn adding() -> RawOps {
    let mut ops = RawOps::default();
    ops.push(op::INCR, particle_type::INTEGER, b"v", |out: &mut Vec<u8>| {
        out.extend_from_slice(&1_i64.to_be_bytes());
        Ok::<_, aerolane_wire::WireError>(())
    })
    .unwrap();
    ops
}

/// Servers say of a set that they have never had a record of that there is none, each for itself: that is no failure.
#[test]
fn a_background_query_of_an_unknown_set_has_nothing_to_do() {
    let target = Target::embedded(2);
    let client = client(&target);
    let query = RawQuery::new(target.namespace()).field(field::SET, b"never").ops(adding());
    let policy = Arc::new(WritePolicy::patient());
    let started = client.cluster().block_on(client.query_background(policy, query)).and_then(std::convert::identity);
    assert!(started.unwrap() > 0);
}

#[test]
fn a_background_query_without_a_definite_answer_is_in_doubt() {
    let target = Target::embedded(3);
    let client = client(&target);
    fill(&client, &target, 30);
    let start = |policy: WritePolicy| {
        let query = query(&target).ops(adding());
        client.cluster().block_on(client.query_background(Arc::new(policy), query)).and_then(std::convert::identity)
    };
    let (mut hasty, patient) = (WritePolicy::patient(), WritePolicy::patient());
    hasty.base_policy.socket_timeout = 1000;
    let code = |code: ResultCode| FaultAction::Result(u8::from(code));
    // The first of three nodes. What it has refused it has not done, and the others were not asked.
    let cases = [
        (FaultAction::Stall, true, Phase::Sent),
        (FaultAction::DropBefore, true, Phase::Sent),
        (FaultAction::DropAfter, true, Phase::Sent),
        (FaultAction::Truncate(20), true, Phase::Receiving),
        (FaultAction::Garbage(vec![9; 40]), true, Phase::Receiving),
        (code(ResultCode::Timeout), true, Phase::Receiving),
        (code(ResultCode::ParameterError), false, Phase::Receiving),
        (code(ResultCode::DeviceOverload), false, Phase::Receiving),
    ];
    for (action, in_doubt, phase) in cases {
        let rule = FaultRule::new(action.clone()).on(RequestKind::Query);
        let rules = target.faults().set_fault(None, &rule).unwrap();
        let policy = if matches!(action, FaultAction::Stall) { &hasty } else { &patient };
        let error = start(policy.clone()).unwrap_err();
        assert_eq!((error.in_doubt(), error.phase()), (in_doubt, phase), "{action:?}: {error:?}");
        assert!(error.node().is_some() && error.attempts() == 1 && error.elapsed().is_some(), "{error:?}");
        assert_eq!(struck(&target, &rules), 1, "{action:?}: only the first node was asked");
        target.faults().clear_faults();
    }
    // One of the later ones: the others are at work.
    let rule = FaultRule::new(code(ResultCode::ParameterError)).on(RequestKind::Query);
    let nodes = target.faults().nodes();
    let outcomes = nodes.iter().map(|node| {
        target.faults().set_fault(Some(node.id), &rule).unwrap();
        let in_doubt = start(patient.clone()).unwrap_err().in_doubt();
        target.faults().clear_faults();
        in_doubt
    });
    assert_eq!(outcomes.filter(|in_doubt| *in_doubt).count(), 2);
    assert!(start(patient).unwrap() > 0);
    // One that cannot be reached has nothing.
    target.faults().stop_nodes(&nodes.iter().map(|node| node.id).collect::<Vec<_>>()).unwrap();
    let error = start(hasty).unwrap_err();
    assert!(!error.in_doubt() && matches!(error.phase(), Phase::Connecting | Phase::Queued), "{error:?}");
}

#[test]
fn bad_arguments_are_refused_at_once() {
    let target = Target::start();
    let client = client(&target);
    let error = client.query(QueryPolicy::patient(), RawQuery::new("nowhere"), Cursor::all()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNamespace), "{error:?}");
    let error = all(&mut client
        .query(
            QueryPolicy::patient(),
            query(&target).field(field::INDEX_NAME, b"none").field(field::INDEX_RANGE, b"?"),
            Cursor::all(),
        )
        .unwrap())
    .1;
    assert!(
        error.as_ref().is_some_and(|e| e.server_result_code().is_some()),
        "what the server refuses ends at once: {error:?}"
    );
    let closed = vec![PartitionPlace { last: None, index_value: 0, open: false }; 4096];
    let policy = QueryPolicy { max_records: 5, ..QueryPolicy::patient() };
    let mut records = client.query(policy, query(&target), Cursor::with_places(0, closed).unwrap()).unwrap();
    assert!(!records.more_blocking(None).unwrap(), "nothing is left to ask for");
}
