//! Metrics: every way on which requests go is measured, by node, namespace and kind.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::metrics::{CommandType, LatencyType, LatencyUnit, MetricsPolicy, NodeMetricsSnapshot, Sampler};
use aerolane::raw::{Cursor, RawClient, RawQuery};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientPolicy, ErrorKind, LaneRuntime,
    PartitionFilter, QueryPolicy, ReadPolicy, ResultCode, Statement, SyncClient, WritePolicy, as_bin, operations,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// The commands that a scenario carries out once each, with what each is counted as.
const ONCE: [(CommandType, u64); 7] = [
    (CommandType::Get, 2),
    (CommandType::GetHeader, 1),
    (CommandType::Exists, 1),
    (CommandType::Put, 2),
    (CommandType::Delete, 1),
    (CommandType::Operate, 1),
    (CommandType::None, 0),
];

fn operational() -> MetricsPolicy {
    MetricsPolicy::micros().with_operational(true)
}

fn count(node: &NodeMetricsSnapshot, kind: CommandType) -> u64 {
    node.command_histogram(kind).map_or(0, aerolane::metrics::Histogram::count)
}

/// Waits for what is noted beside the calls.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: not within 60 s");
}

fn one_of_each(any_client: &AnyClient, target: &Target) {
    let (read, write, key) = (ReadPolicy::patient(), WritePolicy::patient(), target.key(1));
    any_client.put(&write, &key, &[as_bin!("n", 1)]).unwrap();
    any_client.get(&read, &key, Bins::All).unwrap();
    any_client.get(&read, &key, Bins::None).unwrap();
    assert!(any_client.exists(&read, &key).unwrap());
    any_client.touch(&write, &key).unwrap();
    any_client.operate(&write, &key, &[operations::add(&as_bin!("n", 1)), operations::get()]).unwrap();
    assert!(any_client.delete(&write, &key).unwrap());
    let error = any_client.get(&read, &key, Bins::All).unwrap_err();
    assert_eq!(error.server_result_code(), Some(ResultCode::KeyNotFoundError));
}

#[test]
fn every_client_type_is_measured_by_kind_and_namespace() {
    for kind in Kind::ALL {
        let target = Target::start();
        let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
        one_of_each(&any_client, &target);
        let before = any_client.metrics();
        assert!(!any_client.metrics_enabled());
        assert_eq!(count(&before.cluster_aggregated, CommandType::Get), 0, "off from the start");
        any_client.enable_metrics(operational());
        assert!(any_client.metrics_enabled());
        let begun = Instant::now();
        one_of_each(&any_client, &target);
        let took = begun.elapsed().as_micros() as u64;
        let metrics = any_client.metrics();
        let all = &metrics.cluster_aggregated;
        for (command, times) in ONCE {
            assert_eq!(count(all, command), times, "{kind:?} {command:?}");
            assert_eq!(metrics.nodes.values().map(|node| count(node, command)).sum::<u64>(), times);
            let Some(detail) = all.detailed_metric(target.namespace(), command) else {
                assert_eq!(times, 0);
                continue;
            };
            let histograms = [&detail.latency, &detail.connection_aq, &detail.bytes_sent, &detail.bytes_received];
            assert_eq!(histograms.map(aerolane::metrics::Histogram::count), [times; 4], "{kind:?} {command:?}");
            // Microseconds: in milliseconds there would be none, in nanoseconds more than all calls took together.
            assert!((1..=took).contains(&detail.latency.max()), "{kind:?} {command:?}: {took} µs, {detail:?}");
            assert!(detail.bytes_sent.min() >= 50 && detail.bytes_sent.max() < 300, "{command:?}: {detail:?}");
            assert!(detail.bytes_received.min() >= 30 && detail.bytes_received.max() < 300, "{command:?}: {detail:?}");
            assert_eq!(detail.parsing.count(), 0);
        }
        assert_eq!(all.detailed_namespaces(), [target.namespace()]);
        let codes = |rc| all.result_code_count(target.namespace(), CommandType::Get, rc);
        assert_eq!((codes(ResultCode::Ok), codes(ResultCode::KeyNotFoundError)), (1, 1));
        assert_eq!(all.result_codes(target.namespace(), CommandType::Put).collect::<Vec<_>>(), [(ResultCode::Ok, 2)]);
        assert_eq!(all.counters.transaction_error_count, 1, "the record that was not there");
        let together =
            [LatencyType::Read, LatencyType::Write, LatencyType::Conn, LatencyType::Batch, LatencyType::Query];
        assert_eq!(together.map(|of| all.latency(of).count()), [4, 4, 8, 0, 0], "{kind:?}");

        any_client.disable_metrics();
        one_of_each(&any_client, &target);
        let after = any_client.metrics();
        assert_eq!(count(&after.cluster_aggregated, CommandType::Get), 2, "{kind:?}: off again");
        assert!(after.cluster_aggregated.traffic.requests >= before.cluster_aggregated.traffic.requests + 16);
        any_client.close();
    }
}

#[test]
fn without_the_operational_part_there_are_counters_only() {
    let target = Target::start();
    let any_client = AnyClient::open(Kind::Sync, policy(), target.seeds()).unwrap();
    any_client.enable_metrics(MetricsPolicy::default());
    one_of_each(&any_client, &target);
    let metrics = any_client.metrics();
    let all = &metrics.cluster_aggregated;
    assert!(any_client.metrics_enabled());
    assert_eq!(all.latency_unit, LatencyUnit::Milliseconds);
    assert!(all.detailed_namespaces().is_empty());
    assert_eq!(all.command_histogram(CommandType::Get).unwrap().buckets(), [0; 7]);
    let counters = &all.counters;
    assert!(counters.connections_successful >= 1 && counters.connections_attempts >= counters.connections_successful);
    let ours = counters.connections_successful - core_opened(&any_client);
    assert!(all.connection_opening.count() >= ours && ours >= 1, "{all:?}");
    assert!(metrics.open_connections >= 1, "{metrics:?}");
    assert_eq!(metrics.open_connections, metrics.connections_in_use + metrics.connections_in_pool);
    assert!(all.traffic.bytes_sent > 400 && all.traffic.bytes_received > 200);
    assert!(metrics.total_nodes >= 1 && metrics.nodes.len() == metrics.total_nodes, "{metrics:?}");
    until("the tend thread is seen", || any_client.metrics().cluster_aggregated.counters.tends_successful > 0);
    // The labels are those of the policy and of aerospike-core.
    let labelled = MetricsPolicy::default_with_labels(vec![[("app".to_owned(), "shop".to_owned())].into()]);
    any_client.enable_metrics(labelled);
    let labels = any_client.metrics().cluster_aggregated.labels;
    assert!(labels.entries().iter().any(|label| label.get("app").is_some_and(|app| app == "shop")), "{labels:?}");
}

/// What aerospike-core has opened while metrics were on.
fn core_opened(any_client: &AnyClient) -> u64 {
    any_client.core_metrics().cluster_aggregated.counters.connections_successful
}

#[test]
fn samplers_leave_calls_out() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
    for (sampler, expected) in
        [(Sampler::never(), 0..=0), (Sampler::new(10, 5), 120..=280), (Sampler::all(), 400..=400)]
    {
        // Another unit and back: what was measured before is dropped.
        client.enable_metrics(MetricsPolicy::millis().with_operational(true));
        client.enable_metrics(MetricsPolicy { sampler, ..operational() });
        for _ in 0..400 {
            client.get(&ReadPolicy::patient(), &key, Bins::All).unwrap();
        }
        let measured = count(&client.metrics().cluster_aggregated, CommandType::Get);
        assert!(expected.contains(&measured), "{sampler:?}: {measured}");
    }
}

#[test]
fn batches_are_measured_by_node() {
    for kind in Kind::ALL {
        let target = Target::start();
        let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
        any_client.enable_metrics(operational());
        let write = BatchWritePolicy::default();
        let rows =
            (0..50).map(|id| BatchOperation::write(&write, target.key(id), [operations::put(&as_bin!("n", id))]));
        let (_, result) = any_client.batch(&patient_writes(), rows.collect());
        result.unwrap();
        let read = BatchReadPolicy::default();
        let rows = (0..60).map(|id| BatchOperation::read(&read, target.key(id), Bins::All)).collect();
        let (rows, result) = any_client.batch(&BatchPolicy::patient(), rows);
        result.unwrap();
        assert_eq!(rows.iter().filter(|row| row.record().is_some()).count(), 50);
        let metrics = any_client.metrics();
        let nodes = metrics.total_nodes as u64;
        let all = &metrics.cluster_aggregated;
        for command in [CommandType::BatchWrite, CommandType::BatchRead] {
            assert_eq!(count(all, command), nodes, "{kind:?} {command:?}: one request per node");
            assert!(metrics.nodes.values().all(|node| count(node, command) == 1));
            let detail = all.detailed_metric(target.namespace(), command).unwrap();
            assert!(detail.bytes_sent.sum() > 50.0 * 20.0 && detail.bytes_received.sum() > 50.0 * 20.0, "{detail:?}");
            assert_eq!(all.result_code_count(target.namespace(), command, ResultCode::Ok), nodes);
        }
        // A row that is alone on its node goes as a plain request, and is a batch all the same.
        let (_, result) =
            any_client.batch(&BatchPolicy::patient(), vec![BatchOperation::read(&read, target.key(1), Bins::All)]);
        result.unwrap();
        assert_eq!(count(&any_client.metrics().cluster_aggregated, CommandType::BatchRead), nodes + 1);
        assert_eq!(count(&any_client.metrics().cluster_aggregated, CommandType::Get), 0);
    }
}

#[test]
fn queries_and_what_aerospike_core_carries_out_are_measured() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    for id in 0..30 {
        client.put(&WritePolicy::patient(), &target.key(id), &[as_bin!("n", id)]).unwrap();
    }
    client.enable_metrics(operational());
    // Of our own.
    let raw = RawClient::from(&client);
    let query = RawQuery::new(target.namespace()).field(aerolane_wire::message::field::SET, target.set().as_bytes());
    let mut records = raw.query(QueryPolicy::patient(), query, Cursor::all()).unwrap();
    let mut came = 0;
    while records.more_blocking(None).unwrap() {
        while let Some(record) = records.next(|_| ()) {
            record.unwrap();
            came += 1;
        }
    }
    assert_eq!(came, 30);
    let nodes = client.metrics().total_nodes as u64;
    assert_eq!(count(&client.metrics().cluster_aggregated, CommandType::Scan), nodes);
    // Of aerospike-core.
    let statement = Statement::new(target.namespace(), target.set(), Bins::All);
    let records = client.query(&QueryPolicy::patient(), PartitionFilter::all(), statement).unwrap();
    assert_eq!(records.map(Result::unwrap).count(), 30);
    until("aerospike-core's part is there", || {
        count(&client.metrics().cluster_aggregated, CommandType::Scan) >= 2 * nodes
    });
    let metrics = client.metrics();
    assert_eq!(metrics.nodes.len() as u64, nodes, "both know a node by the same address: {:?}", metrics.nodes.keys());
    let scans = metrics.cluster_aggregated.detailed_metric(target.namespace(), CommandType::Scan).unwrap();
    assert!(scans.bytes_received.sum() > 2.0 * 30.0 * 22.0, "{scans:?}");
}

#[test]
fn pipelines_and_combined_threads_are_measured_whole() {
    const TASKS: u64 = 48;
    const EACH: u64 = 50;
    let target = Target::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
    client.enable_metrics(operational());
    let key = target.key(1);
    runtime.block_on(async {
        client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).await.unwrap();
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let (client, key) = (client.clone(), key.clone());
                tokio::spawn(async move {
                    for _ in 0..EACH {
                        client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(count(&client.metrics().cluster_aggregated, CommandType::Get), TASKS * EACH);
    let sync = client.sync();
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    sync.get(&ReadPolicy::patient(), &key, Bins::All).unwrap();
                }
            });
        }
    });
    let all = client.metrics().cluster_aggregated;
    assert_eq!(count(&all, CommandType::Get), (TASKS + 24) * EACH);
    let detail = all.detailed_metric(target.namespace(), CommandType::Get).unwrap();
    assert_eq!(detail.connection_aq.count(), (TASKS + 24) * EACH);
    assert_eq!(detail.bytes_sent.min(), detail.bytes_sent.max(), "all requests are alike");
    assert_eq!(detail.bytes_received.min(), detail.bytes_received.max(), "all answers are alike");
}

#[test]
fn what_runtimes_and_threads_have_measured_outlives_them() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
    client.enable_metrics(operational());
    for _ in 0..3 {
        let lanes = LaneRuntime::new(&Client::from(&client), NonZeroUsize::MIN).unwrap();
        let key = key.clone();
        let task = lanes.spawn(move |client| async move {
            for _ in 0..5 {
                client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
            }
        });
        task.wait().unwrap();
    }
    assert_eq!(count(&client.metrics().cluster_aggregated, CommandType::Get), 15);
}

#[test]
fn slow_answers_are_in_the_buckets_of_their_time() {
    let target = Target::embedded(1);
    for kind in Kind::ALL {
        let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
        any_client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).unwrap();
        any_client.enable_metrics(MetricsPolicy::millis().with_operational(true));
        let delay = FaultAction::Delay(Duration::from_millis(40));
        let rule = FaultRule::new(delay).on(RequestKind::Read).times(1);
        target.faults().set_fault(None, &rule).unwrap();
        let begun = Instant::now();
        for _ in 0..10 {
            any_client.get(&ReadPolicy::patient(), &target.key(1), Bins::All).unwrap();
        }
        let took = begun.elapsed().as_millis() as u64;
        let all = any_client.metrics().cluster_aggregated;
        let latency = all.command_histogram(CommandType::Get).unwrap();
        assert_eq!(latency.count(), 10);
        // On a busy machine others may be slow, too.
        assert!((40..=took).contains(&latency.max()), "{kind:?}: {took} ms, {latency:?}");
        assert!(latency.buckets()[6..].iter().sum::<u64>() >= 1, "{kind:?}: above 32 ms: {latency:?}");
        assert_eq!(latency.buckets().iter().sum::<u64>(), 10, "{kind:?}: {latency:?}");
    }
}

#[test]
fn failures_are_counted() {
    let target = Target::embedded(1);
    for kind in Kind::ALL {
        let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
        any_client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).unwrap();
        any_client.enable_metrics(operational());
        let set = |rule: FaultRule| target.faults().set_fault(None, &rule).unwrap();
        let mut read = ReadPolicy::patient();
        (read.base_policy.total_timeout, read.base_policy.max_retries) = (60_000, 2);
        // Answered with an error that is worth a retry.
        set(FaultRule::new(FaultAction::Result(18)).on(RequestKind::Read).times(3));
        any_client.get(&read, &target.key(1), Bins::All).unwrap_err();
        // Never answered.
        set(FaultRule::new(FaultAction::Stall).on(RequestKind::Read).times(1));
        read.base_policy.total_timeout = 100;
        let error = any_client.get(&read, &target.key(1), Bins::All).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Timeout), "{error:?}");
        // The connection is lost.
        set(FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).times(1));
        let mut write = WritePolicy::patient();
        write.base_policy.max_retries = 0;
        any_client.put(&write, &target.key(1), &[as_bin!("n", 1)]).unwrap_err();
        // Before the answer that was stalled comes, which counts, too.
        let metrics = any_client.metrics();
        target.faults().clear_faults();
        let all = &metrics.cluster_aggregated;
        let overloads = all.result_code_count(target.namespace(), CommandType::Get, ResultCode::DeviceOverload);
        assert_eq!((overloads, count(all, CommandType::Get), count(all, CommandType::Put)), (3, 3, 0), "{kind:?}");
        assert_eq!(all.counters.transaction_retry_count, 2, "{kind:?}");
        assert_eq!(all.counters.transaction_error_count, 3, "{kind:?}");
        assert_eq!((metrics.exceeded_max_retries, metrics.exceeded_total_timeout), (1, 1), "{kind:?}");
        assert_eq!(all.traffic.timeouts, 1, "{kind:?}");
        assert!(all.counters.connections_closed_error >= 1, "{kind:?}: {:?}", all.counters);
        assert!(all.counters.connections_closed >= all.counters.connections_closed_error);
    }
}

#[test]
fn connections_that_cannot_be_opened_are_counted_by_reason() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&ClientPolicy { connect_timeout: 300, ..policy() }, target.seeds()).unwrap();
    client.enable_metrics(MetricsPolicy::default());
    let before = client.metrics().cluster_aggregated;
    target.faults().stop_node(target.faults().nodes()[0].id).unwrap();
    let mut read = ReadPolicy::patient();
    (read.base_policy.total_timeout, read.base_policy.max_retries) = (300, 0);
    client.get(&read, &target.key(1), Bins::All).unwrap_err();
    client.get(&read, &target.key(1), Bins::All).unwrap_err();
    let after = client.metrics().cluster_aggregated;
    assert!(after.counters.connections_failed > before.counters.connections_failed, "{:?}", after.counters);
    let reasons = [
        after.counters.connections_timeout_errors,
        after.counters.connections_tls_errors,
        after.counters.connections_auth_errors,
        after.counters.connections_other_errors,
    ];
    assert_eq!(reasons.iter().sum::<u64>(), after.counters.connections_failed);
    assert!(after.counters.connections_other_errors > 0, "refused: {:?}", after.counters);
    assert_eq!((after.counters.connections_tls_errors, after.counters.connections_auth_errors), (0, 0));
}
