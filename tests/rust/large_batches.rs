//! Batches that are cut into parts: of many rows, of many bytes, on slow and on failing nodes; and many calls at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, until, within};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::concurrent::concurrent;
use aerolane::operations;
use aerolane::{
    BatchFailures, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientConfig,
    Concurrency, ErrorKind, PoolSizing, ReadPolicy, ResultCode, SyncClient, Value, WhenFull, WritePolicy, as_bin,
};
use aerolane_embedded::conditions::{Conditions, ServiceKind};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// Most rows of a request; see `client/batch/parts.rs`.
const PART_ROWS: u64 = 1000;

fn writes(target: &Target, ids: std::ops::Range<i64>) -> Vec<BatchOperation> {
    let write = BatchWritePolicy::default();
    ids.map(|id| BatchOperation::write(&write, target.key(id), vec![operations::put(&as_bin!("id", id))])).collect()
}

fn reads(target: &Target, ids: std::ops::Range<i64>) -> Vec<BatchOperation> {
    let read = BatchReadPolicy::default();
    ids.map(|id| BatchOperation::read(&read, target.key(id), Bins::All)).collect()
}

fn slow(target: &Target, batch: &str) {
    let conditions = Conditions::new().service_time(ServiceKind::Batch, batch.parse().unwrap());
    target.faults().set_conditions(None, &conditions).unwrap();
}

/// Batches and rows that the nodes were sent.
fn seen(target: &Target) -> (u64, u64) {
    let cluster = target.faults();
    let stats = cluster.nodes().into_iter().filter_map(|node| cluster.stats(node.id));
    stats.fold((0, 0), |(batches, rows), stats| (batches + stats.batches, rows + stats.batch_rows))
}

fn on_each(config: impl Into<ClientConfig>, test: impl Fn(&Target, &AnyClient) + Send + 'static) {
    let config = config.into();
    within(300, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(3);
            let any_client = AnyClient::open(kind, config.clone(), target.seeds()).unwrap();
            test(&target, &any_client);
            until("nothing is in flight", || {
                let total = any_client.stats().total;
                (total.in_flight, total.queued) == (0, 0)
            });
            any_client.close();
        }
    });
}

#[test]
fn the_default_time_limit_fits_the_number_of_rows() {
    const ROWS: i64 = 11_000;
    on_each(policy(), |target, any_client| {
        // Longer than the second that a small batch has. This one has 3.
        slow(target, "1100ms");
        let begun = Instant::now();
        let (rows, result) = any_client.batch(&BatchPolicy::write_default(), writes(target, 0..ROWS));
        result.unwrap();
        rows.raise_for_failures().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60));
        let (batches, sent) = seen(target);
        assert_eq!(sent, ROWS as u64);
        assert!(batches > ROWS as u64 / PART_ROWS && batches <= ROWS as u64 / PART_ROWS + 3, "{batches} batches");
        // Rows are answered in their places, also those that are not there.
        let (rows, result) = any_client.batch(&BatchPolicy::default(), reads(target, 0..ROWS + 7));
        result.unwrap();
        for (id, row) in rows.iter().enumerate() {
            match row.record() {
                Some(record) => assert_eq!(record.bins["id"], Value::Int(id as i64)),
                None => {
                    assert!(id as i64 >= ROWS && row.result_code() == Some(ResultCode::KeyNotFoundError), "{row:?}");
                }
            }
        }
        let error = rows.raise_for_failures().unwrap_err();
        let ErrorKind::BatchFailed { rows: 11_007, failed } = error.kind() else { panic!("{error:?}") };
        assert_eq!(failed.iter().map(|(row, _)| *row).collect::<Vec<_>>(), (11_000..11_007).collect::<Vec<_>>());
        assert!(!error.in_doubt() && error.to_string().contains("7 of 11007 rows"), "{error}");
    });
}

#[test]
fn an_explicit_time_limit_holds_and_only_parts_that_were_sent_are_in_doubt() {
    const ROWS: i64 = 60_000;
    on_each(policy(), |target, any_client| {
        slow(target, "700ms");
        let mut policy = BatchPolicy::write_default();
        policy.base_policy.total_timeout = 2500;
        let begun = Instant::now();
        let (rows, result) = any_client.batch(&policy, writes(target, 0..ROWS));
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(2490) && took < Duration::from_secs(20), "{took:?}");
        let error = result.unwrap_err();
        assert!(error.is_client_timeout(), "{error:?}");
        // What was sent comes to its end before it is looked at.
        std::thread::sleep(Duration::from_millis(1500));
        slow(target, "1us");
        let (found, result) = any_client.batch(&BatchPolicy::patient(), reads(target, 0..ROWS));
        result.unwrap();
        let (mut ok, mut in_doubt, mut unsent) = (0, 0, 0);
        for (row, found) in rows.iter().zip(&found) {
            match (row.error(), row.in_doubt()) {
                (None, _) => {
                    assert!(found.record().is_some(), "a row that succeeded is not there: {row:?}");
                    ok += 1;
                }
                (Some(_), true) => in_doubt += 1,
                (Some(_), false) => {
                    assert!(found.record().is_none(), "a row that was not sent is there: {row:?}");
                    unsent += 1;
                }
            }
        }
        assert!(ok > 0 && in_doubt > 0 && unsent > 0, "{ok} ok, {in_doubt} in doubt, {unsent} not sent");
        assert!(rows.raise_for_failures().unwrap_err().in_doubt());
    });
}

#[test]
fn large_rows_are_cut_by_their_bytes() {
    on_each(policy(), |target, any_client| {
        let (write, text) = (BatchWritePolicy::default(), "x".repeat(199_995));
        // A large one among small ones, too: what the first rows have says nothing of them.
        let rows = (0..600_i64).map(|id| {
            // Equal rows would be sent once.
            let text = if id < 400 { format!("{id:05}") } else { format!("{id:05}{text}") };
            BatchOperation::write(&write, target.key(id), vec![operations::put(&as_bin!("text", text))])
        });
        let (rows, result) = any_client.batch(&patient_writes(), rows.collect());
        result.unwrap();
        rows.raise_for_failures().unwrap();
        let (batches, sent) = seen(target);
        assert_eq!(sent, 600);
        // 40 MB in requests of at most 1 MiB.
        assert!((38..120).contains(&batches), "{batches} batches");
        let (rows, result) = any_client.batch(&BatchPolicy::patient(), reads(target, 0..600));
        result.unwrap();
        for (id, row) in rows.iter().enumerate() {
            let Value::String(found) = &row.record().unwrap().bins["text"] else { panic!("{row:?}") };
            assert_eq!(found.len(), if id < 400 { 5 } else { 200_000 });
        }
    });
}

#[test]
fn an_argument_that_cannot_be_sent_fails_all_parts_before_the_first_is_sent() {
    on_each(policy(), |target, any_client| {
        let mut rows = writes(target, 0..9000);
        let operation = vec![operations::put(&as_bin!("a name that is too long", 1))];
        rows.push(BatchOperation::write(&BatchWritePolicy::default(), target.key(9000), operation));
        let (rows, result) = any_client.batch(&patient_writes(), rows);
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        assert!(error.to_string().contains("batch row 9000"), "{error}");
        assert!(rows.iter().all(|row| row.error().is_some() && !row.in_doubt()));
        assert_eq!(seen(target), (0, 0));
    });
}

#[test]
fn parts_wait_for_each_other_where_connections_are_few() {
    // One connection per lane and node, and nobody may wait for another: the parts of one batch are no reason to fail.
    let sizing = PoolSizing::default().with_batch_max(2).with_when_full(WhenFull::Fail);
    let config = ClientConfig::from(policy()).with_pool(sizing);
    on_each(config, |target, any_client| {
        slow(target, "2ms");
        for concurrency in [Concurrency::Parallel, Concurrency::Sequential] {
            let policy = BatchPolicy { concurrency, ..patient_writes() };
            let (rows, result) = any_client.batch(&policy, writes(target, 0..25_000));
            result.unwrap();
            rows.raise_for_failures().unwrap();
        }
    });
}

#[test]
fn parts_of_a_node_that_dies_go_elsewhere() {
    on_each(policy(), |target, any_client| {
        let (_, result) = any_client.batch(&patient_writes(), writes(target, 0..20_000));
        result.unwrap();
        slow(target, "30ms");
        let node = target.faults().nodes()[1].id;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(45));
                target.faults().stop_node(node).unwrap();
            });
            let (rows, result) = any_client.batch(&BatchPolicy::patient(), reads(target, 0..20_000));
            result.unwrap();
            rows.raise_for_failures().unwrap();
        });
    });
}

#[test]
fn a_node_that_refuses_parts_costs_only_their_rows() {
    on_each(policy(), |target, any_client| {
        let node = target.faults().nodes()[0].id;
        let refuse = FaultRule::new(FaultAction::Result(18)).on(RequestKind::Batch).times(2);
        target.faults().set_fault(Some(node), &refuse).unwrap();
        let mut policy = patient_writes();
        policy.base_policy.max_retries = 0;
        let (rows, result) = any_client.batch(&policy, writes(target, 0..20_000));
        let failed = rows.failures().count();
        assert!(result.is_err() || failed > 0);
        assert!((1..=2 * PART_ROWS as usize).contains(&failed), "{failed} rows failed");
        assert!(rows.failures().all(|(_, row)| row.result_code() == Some(ResultCode::DeviceOverload)));
    });
}

#[test]
fn a_thread_among_threads_takes_only_what_is_free() {
    within(200, || {
        let target = Target::embedded(3);
        let sizing = PoolSizing::default().with_batch_max(2);
        let config = ClientConfig::from(policy()).with_pool(sizing);
        let client = SyncClient::with_config(config, target.seeds()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (client, target) = (&client, &target);
                scope.spawn(move || {
                    let from = i64::from(thread) * 10_000;
                    let mut rows = writes(target, from..from + 8000);
                    client.batch(&patient_writes(), &mut rows).unwrap();
                    rows.raise_for_failures().unwrap();
                });
            }
        });
        client.close().unwrap();
    });
}

#[test]
fn many_calls_at_a_time() {
    within(100, || {
        let target = Target::embedded(3);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let client = Client::new(&policy(), target.seeds()).await.unwrap();
            let (write, read) = (WritePolicy::patient(), ReadPolicy::patient());
            let keys: Vec<_> = (0..3000_i64).map(|id| target.key(id)).collect();
            let puts = keys.iter().enumerate().map(|(id, key)| {
                let (client, write) = (&client, &write);
                async move { client.put(write, key, &[as_bin!("id", id as i64)]).await }
            });
            concurrent(128, puts).unwrap().try_collect_all().await.unwrap();
            let gets = keys.iter().map(|key| client.get(&read, key, Bins::All));
            for (id, record) in concurrent(64, gets).unwrap().collect_all().await.into_iter().enumerate() {
                assert_eq!(record.unwrap().bins["id"], Value::Int(id as i64));
            }
            // Endless inputs, left early: what is in flight is cancelled.
            let endless = (0..).map(|id: i64| {
                let (client, read, key) = (&client, &read, target.key(id));
                async move { client.get(read, &key, Bins::All).await }
            });
            let mut stream = concurrent(32, endless).unwrap();
            for id in 0..100 {
                assert_eq!(stream.next().await.unwrap().unwrap().bins["id"], Value::Int(id));
            }
            drop(stream);
            let error = concurrent(
                8,
                (2990_i64..).map(|id| {
                    let (client, read, key) = (&client, &read, target.key(id));
                    async move { client.get(read, &key, Bins::All).await }
                }),
            );
            let error = error.unwrap().try_collect_all().await.unwrap_err();
            assert_eq!(error.server_result_code(), Some(ResultCode::KeyNotFoundError));
            client.close().await.unwrap();
        });
    });
}

#[test]
fn many_calls_at_a_time_on_threads() {
    within(100, || {
        let target = Arc::new(Target::embedded(3));
        let client = SyncClient::new(&policy(), target.seeds()).unwrap();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let put = {
            let (running, most, target) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&target));
            move |client: &SyncClient, id: i64| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let put = client.put(&WritePolicy::patient(), &target.key(id), &[as_bin!("id", id)]);
                running.fetch_sub(1, Ordering::SeqCst);
                put.map(|()| id)
            }
        };
        let ids: Result<Vec<_>, _> = client.concurrent(8, 0..500, put.clone()).unwrap().collect();
        assert_eq!(ids.unwrap(), (0..500).collect::<Vec<_>>());
        assert!((1..=8).contains(&most.load(Ordering::SeqCst)));
        // Endless, and left early.
        let taken = Arc::new(AtomicUsize::new(0));
        let inputs = (0..).inspect({
            let taken = Arc::clone(&taken);
            move |_| {
                taken.fetch_add(1, Ordering::SeqCst);
            }
        });
        let first: Vec<_> = client.concurrent(4, inputs, put).unwrap().take(10).map(Result::unwrap).collect();
        assert_eq!(first, (0..10).collect::<Vec<_>>());
        assert!(taken.load(Ordering::SeqCst) <= 14 && running.load(Ordering::SeqCst) == 0);
        let error = client.concurrent(0, [1], |_, _| Ok(())).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument));
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            client.concurrent(2, [1], |_, _| -> aerolane::Result<()> { panic!("on purpose") }).unwrap().next()
        }));
        assert!(panics.is_err());
        client.close().unwrap();
    });
}
