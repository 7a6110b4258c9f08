//! The writer on a cluster in trouble: throttling answers, lost connections, nodes that stop, stall or give partitions
//! away, a close with leftovers, waits that are cancelled. Each record's outcome must agree with what the cluster holds.

use std::time::{Duration, Instant};

use crate::any_client::on_embedded;
use crate::common::{Patient, Target, policy};
use aerolane::writer::Delivery;
use aerolane::{
    Bins, Client, ClientPolicy, ErrorKind, Key, Outcome, OutcomeList, ReadPolicy, ResultCode, SyncClient, Value,
    WritePolicy, Writer, WriterOptions, as_bin, operations,
};
use aerolane_embedded::NodeId;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

const FAULTS: &str = "injects faults";

fn patient() -> WriterOptions {
    let long = Duration::from_secs(60);
    WriterOptions { attempt_timeout: long, record_ttl: long, max_retries: 1000, ..WriterOptions::default() }
}

async fn open(target: &Target) -> Client {
    // The breaker has tests of its own.
    Client::new(&ClientPolicy { max_error_rate: 0, ..policy() }, target.seeds()).await.unwrap()
}

fn writes(rule: FaultRule) -> FaultRule {
    rule.on(RequestKind::Write).on(RequestKind::Batch)
}

fn set(target: &Target, node: impl Into<Option<NodeId>>, rule: &FaultRule) {
    target.faults().set_fault(node.into(), rule).unwrap();
}

fn master(target: &Target, key: &Key) -> NodeId {
    target.faults().master(aerolane_wire::digest::partition_id(&key.digest())).unwrap()
}

async fn put(writer: &Writer, key: &Key, n: i64) -> Outcome {
    writer.put(&WritePolicy::default(), key, &[as_bin!("n", n)]).await.unwrap()
}

async fn number(client: &Client, key: &Key) -> Option<i64> {
    match client.get(&ReadPolicy::patient(), key, Bins::All).await {
        Ok(record) => match record.bins["n"] {
            Value::Int(n) => Some(n),
            ref other => panic!("{other:?}"),
        },
        Err(error) if error.is_not_found() => None,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttled_records_come_through_and_the_rate_follows() {
    if !on_embedded(FAULTS) {
        return;
    }
    for code in [ResultCode::DeviceOverload, ResultCode::KeyBusy, ResultCode::QuotaExceeded, ResultCode::ServerMemError]
    {
        let target = Target::embedded(3);
        let client = open(&target).await;
        let writer = client.writer(patient()).unwrap();
        let node = master(&target, &target.key(0));
        set(&target, node, &writes(FaultRule::new(FaultAction::Result(u8::from(code))).times(6)));
        let outcomes = handed_over(&writer, &target, 600).await;
        writer.flush().await;
        assert!(outcomes.iter().all(|outcome| outcome.delivery().is_some_and(Delivery::is_ok)), "{code:?}");
        let metrics = writer.metrics();
        assert!(metrics.throttled >= 6 && metrics.retries >= 6, "{metrics:?}");
        let slowed: Vec<_> = metrics.nodes.iter().filter(|node| node.throttled > 0).collect();
        // A busy key says nothing about its node.
        assert_eq!(slowed.len(), usize::from(code != ResultCode::KeyBusy), "{code:?}: {metrics:?}");
        for id in (0..600).step_by(37) {
            assert_eq!(number(&client, &target.key(id)).await, Some(id));
        }
        let tried =
            outcomes.iter().filter_map(Outcome::delivery).find(|delivery| delivery.attempt_count() > 1).unwrap();
        let codes: Vec<_> = tried.attempts().map(|attempt| attempt.code).collect();
        assert_eq!(codes[0], i32::from(u8::from(code)));
        assert_eq!(codes.last(), Some(&0));
    }
}

/// A client whose breaker opens at the fourth error within so many seconds.
async fn strict(target: &Target, error_rate_window: usize) -> Client {
    let policy = ClientPolicy { max_error_rate: 3, error_rate_window, tend_interval: 1000, ..policy() };
    Client::new(&policy, target.seeds()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttling_answers_slow_the_writer_and_do_not_open_the_breaker() {
    if !on_embedded(FAULTS) {
        return;
    }
    for code in [ResultCode::DeviceOverload, ResultCode::KeyBusy] {
        let target = Target::embedded(1);
        let client = strict(&target, 1000).await;
        // The requests of a whole batch, and of one record.
        for options in [patient(), WriterOptions { batch_records: 1, ..patient() }] {
            let writer = client.writer(options).unwrap();
            set(&target, None, &writes(FaultRule::new(FaultAction::Result(u8::from(code))).times(20)));
            let outcomes = handed_over(&writer, &target, 100).await;
            writer.flush().await;
            assert!(outcomes.iter().all(|outcome| outcome.delivery().is_some_and(Delivery::is_ok)), "{code:?}");
            let nodes = client.stats().nodes;
            assert!(nodes.iter().all(|node| node.errors == 0 && !node.breaker_open), "{code:?}: {nodes:?}");
        }
        // Single calls are not paced.
        set(&target, None, &writes(FaultRule::new(FaultAction::Result(u8::from(code))).times(4)));
        for id in 0..2 {
            drop(client.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", id)]).await);
        }
        assert!(client.stats().nodes.iter().any(|node| node.errors > 0), "{code:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_wait_while_the_breaker_is_open() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(1);
    let client = strict(&target, 1).await;
    let writer = client.writer(WriterOptions { batch_records: 1, max_retries: 4, ..patient() }).unwrap();
    set(&target, None, &writes(FaultRule::new(FaultAction::Result(u8::from(ResultCode::Timeout))).times(4)));
    let outcomes = handed_over(&writer, &target, 50).await;
    writer.flush().await;
    for outcome in &outcomes {
        let delivery = outcome.delivery().unwrap();
        assert!(delivery.is_ok(), "{delivery:?}");
        // None of them was refused by the breaker.
        let codes: Vec<_> = delivery.attempts().map(|attempt| attempt.code).collect();
        assert!(codes.iter().all(|code| [0, i32::from(u8::from(ResultCode::Timeout))].contains(code)), "{codes:?}");
    }
    assert_eq!(writer.metrics().retries, 4);
}

async fn handed_over(writer: &Writer, target: &Target, records: i64) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for id in 0..records {
        outcomes.push(put(writer, &target.key(id), id).await);
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moved_partitions_cost_no_retries() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(3);
    let client = open(&target).await;
    set(&target, None, &FaultRule::new(FaultAction::RejectUnowned));
    let writer = client.writer(WriterOptions { max_retries: 0, ..patient() }).unwrap();
    let nodes: Vec<_> = target.faults().nodes().iter().map(|node| node.id).collect();
    let mut outcomes = Vec::new();
    for round in 0..20_i64 {
        for id in 0..100_i64 {
            outcomes.push(put(&writer, &target.key(id), round).await);
            // While records wait and are in flight.
            if id == 50 {
                let partition = aerolane_wire::digest::partition_id(&target.key(round).digest());
                target.faults().set_master(partition, Some(nodes[round as usize % nodes.len()])).unwrap();
            }
        }
    }
    writer.flush().await;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.delivery()?.error()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(writer.metrics().retries, 0);
    for id in 0..100 {
        assert_eq!(number(&client, &target.key(id)).await, Some(19));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connections_are_in_doubt_and_puts_are_repeated() {
    if !on_embedded(FAULTS) {
        return;
    }
    for (action, executed) in [(FaultAction::DropBefore, 0), (FaultAction::DropAfter, 1)] {
        let target = Target::embedded(1);
        let client = open(&target).await;
        let writer = client.writer(patient()).unwrap();
        set(&target, None, &writes(FaultRule::new(action.clone()).times(1)));
        let put = put(&writer, &target.key(0), 7).await;
        let delivery = put.delivered().await;
        assert!(delivery.is_ok(), "{delivery:?}");
        let attempts: Vec<_> = delivery.attempts().map(|attempt| (attempt.code == 0, attempt.in_doubt)).collect();
        assert_eq!(attempts, [(false, true), (true, false)], "{action:?}");
        assert_eq!(number(&client, &target.key(0)).await, Some(7));

        let key = target.key("counter");
        client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 0)]).await.unwrap();
        set(&target, None, &writes(FaultRule::new(action.clone()).times(1)));
        let add = [operations::add(&as_bin!("n", 1))];
        let added = writer.operate(&WritePolicy::default(), &key, &add).await.unwrap();
        let error = added.await.unwrap_err();
        assert!(error.in_doubt(), "{error:?}");
        assert_eq!(number(&client, &key).await, Some(executed));
        // Unless that is allowed.
        let daring = client.writer(WriterOptions { repeat_in_doubt: true, ..patient() }).unwrap();
        set(&target, None, &writes(FaultRule::new(action).times(1)));
        assert!(daring.operate(&WritePolicy::default(), &key, &add).await.unwrap().await.is_ok());
        assert_eq!(number(&client, &key).await, Some(2 * executed + 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stops_costs_no_record() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(3);
    let client = open(&target).await;
    let writer = client.writer(WriterOptions { attempt_timeout: Duration::from_secs(5), ..patient() }).unwrap();
    let node = master(&target, &target.key(0));
    let mut outcomes = Vec::new();
    for id in 0..3000_i64 {
        outcomes.push(put(&writer, &target.key(id), id).await);
        if id == 1000 {
            target.faults().stop_node(node).unwrap();
        }
        if id == 2000 {
            target.faults().start_node(node).unwrap();
        }
    }
    writer.flush().await;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.delivery()?.error()).collect();
    assert!(failed.is_empty(), "{} failed: {:?}", failed.len(), failed.first());
    for id in 0..3000 {
        assert_eq!(number(&client, &target.key(id)).await, Some(id), "record {id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stalls_holds_the_others_up_in_nothing() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(3);
    let client = open(&target).await;
    let timing = WriterOptions { attempt_timeout: Duration::from_millis(500), ..patient() };
    let writer = client.writer(timing).unwrap();
    let node = master(&target, &target.key(0));
    set(&target, node, &writes(FaultRule::new(FaultAction::Stall)));
    let outcomes = handed_over(&writer, &target, 1000).await;
    let elsewhere: Vec<_> =
        (0..1000).zip(&outcomes).filter(|(id, _)| master(&target, &target.key(*id)) != node).collect();
    for (_, outcome) in &elsewhere {
        assert!(outcome.delivered().await.is_ok());
        assert!(outcome.delivered().await.attempt_count() == 1);
    }
    let progress = writer.progress();
    assert!(progress.outstanding > 0 && progress.outstanding <= 1000 - elsewhere.len(), "{progress:?}");
    target.faults().clear_faults();
    writer.flush().await;
    assert!(outcomes.iter().all(|outcome| outcome.delivery().is_some_and(Delivery::is_ok)));
    for id in 0..1000 {
        assert_eq!(number(&client, &target.key(id)).await, Some(id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_expire_and_say_why() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(1);
    let client = open(&target).await;
    let short = WriterOptions { record_ttl: Duration::from_millis(400), max_retries: 1_000_000, ..patient() };
    let writer = client.writer(short).unwrap();
    set(&target, None, &writes(FaultRule::new(FaultAction::Result(18))));
    let first = put(&writer, &target.key(0), 0).await;
    let second = put(&writer, &target.key(0), 1).await;
    for outcome in [first, second] {
        let delivery = outcome.delivered().await;
        let error = delivery.error().unwrap();
        assert!(matches!(error.kind(), ErrorKind::RecordExpired), "{error}");
        assert!(!error.in_doubt(), "a refused write has not been executed: {error:?}");
        assert!(delivery.took() < Duration::from_secs(30));
    }
    assert_eq!(writer.metrics().expired, 2);
    target.faults().clear_faults();
    assert!(put(&writer, &target.key(0), 2).await.await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_says_what_did_not_go() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(1);
    let client = open(&target).await;
    let writer = client.writer(WriterOptions { batches_in_flight: 1, batch_records: 10, ..patient() }).unwrap();
    assert!(put(&writer, &target.key("before"), 1).await.await.is_ok());
    set(&target, None, &writes(FaultRule::new(FaultAction::Stall)));
    let outcomes = handed_over(&writer, &target, 100).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let left = writer.close(Some(Duration::from_millis(200))).await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let keys: Vec<_> = left.iter().map(|outcome| outcome.record_key().key()).collect();
    assert_eq!(keys, (0..100).map(|id| target.key(id)).collect::<Vec<_>>(), "in the order of hand-over");
    let (mut in_doubt, mut unsent) = (0, 0);
    for outcome in &outcomes {
        let error = outcome.delivered().await.error().unwrap();
        assert!(matches!(error.kind(), ErrorKind::WriterClosed), "{error}");
        if error.in_doubt() {
            in_doubt += 1;
        } else {
            unsent += 1;
        }
    }
    assert!(in_doubt >= 1 && unsent >= 1, "{in_doubt} in doubt, {unsent} not sent");
    assert_eq!(in_doubt + unsent, 100);
    target.faults().clear_faults();
    assert!(writer.close(None).await.is_empty(), "a second close has nothing to say");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_holds_up_the_others_opens_a_reserve_of_room_unless_the_bound_is_the_callers() {
    const RECORDS: i64 = 40_000;
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(3);
    let client = open(&target).await;
    let node = master(&target, &target.key(0));
    for (max_outstanding_records, enough, most) in [(None, 10_001, 20_000), (Some(9000), 9000, 9000)] {
        let writer = client.writer(WriterOptions { max_outstanding_records, ..patient() }).unwrap();
        // It answers when the records of the others can only be handed over because of the reserve, however long that takes.
        set(&target, node, &writes(FaultRule::new(FaultAction::Stall)));
        let hand_over = async {
            let mut seen = 0;
            for id in 0..RECORDS {
                put(&writer, &target.key(id), id).await;
                seen = writer.progress().outstanding.max(seen);
            }
            seen
        };
        let answer = async {
            let deadline = Instant::now() + Duration::from_secs(40);
            let mut seen = 0;
            while seen < enough && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(1)).await;
                seen = writer.progress().outstanding;
            }
            target.faults().clear_faults();
            seen
        };
        let (handing_over, at_answer) = tokio::join!(hand_over, answer);
        let seen = handing_over.max(at_answer);
        assert!(enough <= seen && seen <= most, "{seen} outstanding, bound {max_outstanding_records:?}");
        assert!(writer.close(None).await.is_empty());
        assert_eq!((writer.progress().ok, writer.progress().outstanding), (RECORDS as u64, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_waits_lose_nothing() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(1);
    let client = open(&target).await;
    let writer = client.writer(WriterOptions { max_outstanding_records: Some(4), ..patient() }).unwrap();
    set(&target, None, &writes(FaultRule::new(FaultAction::Stall)));
    let mut outcomes = Vec::new();
    for id in 0..4 {
        outcomes.push(put(&writer, &target.key(id), id).await);
    }
    let soon = Duration::from_millis(20);
    // No room: this record is not handed over.
    let key = target.key("cancelled");
    let waiting = tokio::time::timeout(soon, put(&writer, &key, 1));
    assert!(waiting.await.is_err());
    assert!(tokio::time::timeout(soon, writer.flush()).await.is_err());
    assert!(tokio::time::timeout(soon, outcomes[0].clone()).await.is_err());
    assert!(tokio::time::timeout(soon, outcomes[0].delivered()).await.is_err());
    target.faults().clear_faults();
    for outcome in outcomes {
        assert!(outcome.await.is_ok());
    }
    assert_eq!(writer.progress().handed_over, 4);
    assert_eq!(number(&client, &key).await, None);
    // The room of the cancelled one is free again.
    for id in 0..100 {
        put(&writer, &target.key(id), id).await;
    }
    assert!(writer.close(None).await.is_empty());
}

#[test]
fn a_runtime_that_ends_or_a_client_that_closes_leaves_no_record_without_outcome() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = runtime.block_on(open(&target));
    let writer = client.writer(patient());
    let (writer, outcomes) = runtime.block_on(async {
        drop(writer);
        let writer = client.writer(patient()).unwrap();
        set(&target, None, &writes(FaultRule::new(FaultAction::Stall)));
        let outcomes = handed_over(&writer, &target, 50).await;
        (writer, outcomes)
    });
    runtime.shutdown_timeout(Duration::from_secs(20));
    for outcome in outcomes {
        let error = outcome.wait().error().unwrap();
        assert!(matches!(error.kind(), ErrorKind::WriterClosed), "{error}");
    }
    drop(writer);

    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    let outcomes: Vec<_> =
        (0..50).map(|id| writer.put(&plain, &target.key(id), &[as_bin!("n", id)]).unwrap()).collect();
    client.close().unwrap();
    for outcome in outcomes {
        let error = outcome.wait().error().unwrap();
        assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error}");
    }
    assert!(writer.put(&plain, &target.key(0), &[as_bin!("n", 0)]).is_err());
}

#[test]
fn a_list_is_done_when_all_of_it_is() {
    if !on_embedded(FAULTS) {
        return;
    }
    let target = Target::embedded(3);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let mut list = OutcomeList::new();
    assert!(list.is_done() && list.is_empty() && list.wait_until(Instant::now()));
    set(&target, None, &writes(FaultRule::new(FaultAction::Delay(Duration::from_millis(300)))));
    let records: Vec<_> = (0..200).map(|id| (target.key(id), vec![as_bin!("n", id)])).collect();
    writer.put_many(&WritePolicy::default(), &records, &mut list).unwrap();
    assert!(!list.is_done() && !list.wait_until(Instant::now()));
    assert!(!list.wait_until(Instant::now() + Duration::from_millis(5)));
    list.wait();
    assert!(list.is_done());
    assert_eq!(list.confirmed(), 200);
}
