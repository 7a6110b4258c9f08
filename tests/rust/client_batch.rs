//! Batches of all kinds, through the async and the blocking client.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, within};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::operations::{self, lists};
use aerolane::{
    BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, Concurrency,
    ErrorKind, Key, ListPolicy, ReadPolicy, ResultCode, SyncClient, Value, WritePolicy, as_bin,
};

fn reads(target: &Target, ids: impl IntoIterator<Item = i64>) -> Vec<BatchOperation> {
    let read = BatchReadPolicy::default();
    ids.into_iter().map(|id| BatchOperation::read(&read, target.key(id), Bins::All)).collect()
}

macro_rules! batch_calls {
    ($client:expr, $target:expr, ($($wait:tt)*)) => {{
        let (client, target) = (&$client, &$target);
        let (write, read, batch) = (BatchWritePolicy::default(), BatchReadPolicy::default(), BatchPolicy::patient());
        let writes = patient_writes();

        client.batch(&batch, &mut [])$($wait)*.unwrap();

        // Writes, then reads in another order, with rows that are not there and a key twice.
        let mut rows: Vec<_> = (0..200_i64)
            .map(|id| {
                let put = operations::put(&as_bin!("id", id));
                BatchOperation::write(&write, target.key(id), vec![put])
            })
            .collect();
        client.batch(&writes, &mut rows)$($wait)*.unwrap();
        for row in &rows {
            assert_eq!(row.result_code(), Some(ResultCode::Ok), "{row:?}");
        }
        for concurrency in [Concurrency::Parallel, Concurrency::Sequential] {
            let batch = BatchPolicy { concurrency, ..BatchPolicy::patient() };
            let mut ids: Vec<i64> = (0..220).rev().collect();
            ids.push(7);
            let mut rows = reads(target, ids.iter().copied());
            client.batch(&batch, &mut rows)$($wait)*.unwrap();
            for (id, row) in ids.iter().zip(&rows) {
                if *id < 200 {
                    assert_eq!(row.record().unwrap().bins["id"], Value::Int(*id), "{row:?}");
                } else {
                    assert_eq!(row.result_code(), Some(ResultCode::KeyNotFoundError), "{row:?}");
                    assert!(row.record().is_none() && !row.in_doubt() && row.node().is_some());
                }
            }
        }

        // All kinds together.
        let delete = BatchDeletePolicy::default();
        let mut rows = vec![
            BatchOperation::read(&read, target.key(1), Bins::from(["id"])),
            BatchOperation::read(&read, target.key(2), Bins::None),
            BatchOperation::read_ops(&read, target.key(3), vec![operations::get_bin("id")]),
            BatchOperation::write(
                &write,
                target.key(4),
                vec![operations::add(&as_bin!("id", 100)), operations::get_bin("id")],
            ),
            BatchOperation::delete(&delete, target.key(5)),
            BatchOperation::delete(&delete, target.key(5000)),
            BatchOperation::write(&write, target.key(6), vec![operations::append(&as_bin!("id", "text"))]),
        ];
        client.batch(&writes, &mut rows)$($wait)*.unwrap();
        assert_eq!(rows[0].record().unwrap().bins["id"], Value::Int(1));
        assert!(rows[1].record().unwrap().bins.is_empty());
        assert_eq!(rows[2].record().unwrap().bins["id"], Value::Int(3));
        assert_eq!(rows[3].result_code(), Some(ResultCode::Ok), "{:?}", rows[3]);
        assert_eq!(rows[4].result_code(), Some(ResultCode::Ok), "{:?}", rows[4]);
        assert_eq!(rows[5].result_code(), Some(ResultCode::KeyNotFoundError));
        assert_eq!(rows[6].result_code(), Some(ResultCode::BinTypeError));
        assert!(!rows[6].in_doubt());
        let record = client.get(&ReadPolicy::patient(), &target.key(4), Bins::All)$($wait)*.unwrap();
        assert_eq!(record.bins["id"], Value::Int(104));
        assert!(!client.exists(&ReadPolicy::patient(), &target.key(5))$($wait)*.unwrap());

        // With a collection operation the whole batch goes through aerospike-core.
        let append = lists::append(&ListPolicy::default(), "list", Value::from(9));
        let mut rows = vec![
            BatchOperation::write(&write, target.key(8), vec![append]),
            BatchOperation::read(&read, target.key(9), Bins::All),
            BatchOperation::read(&read, target.key(9000), Bins::All),
        ];
        client.batch(&writes, &mut rows)$($wait)*.unwrap();
        assert!(rows[0].error().is_none(), "{:?}", rows[0].error());
        let record = client.get(&ReadPolicy::patient(), &target.key(8), Bins::All)$($wait)*.unwrap();
        assert_eq!(record.bins["list"], Value::List(vec![Value::Int(9)]));
        assert_eq!(rows[1].record().unwrap().bins["id"], Value::Int(9));
        assert_eq!(rows[2].result_code(), Some(ResultCode::KeyNotFoundError));

        // A row that cannot be routed fails alone; when none can, the call fails.
        let nowhere = || Key::new("no-such-ns", "s", Value::Int(1)).unwrap();
        let mut rows = reads(target, [1, 2]);
        rows.insert(1, BatchOperation::read(&read, nowhere(), Bins::All));
        client.batch(&batch, &mut rows)$($wait)*.unwrap();
        assert_eq!(rows[0].record().unwrap().bins["id"], Value::Int(1));
        assert_eq!(rows[1].result_code(), Some(ResultCode::InvalidNamespace));
        assert_eq!(rows[2].record().unwrap().bins["id"], Value::Int(2));
        let mut rows = vec![BatchOperation::read(&read, nowhere(), Bins::All)];
        let error = client.batch(&batch, &mut rows)$($wait)*.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidNamespace), "{error:?}");

        // An argument that cannot be sent fails the call before anything is sent.
        let mut rows = vec![
            BatchOperation::write(&write, target.key(10), vec![operations::put(&as_bin!("id", -1))]),
            BatchOperation::write(&write, target.key(11), vec![operations::put(&as_bin!("id", -1))]),
            BatchOperation::write(&write, target.key(12), vec![operations::put(&as_bin!("a name that is too long", 1))]),
        ];
        let error = client.batch(&writes, &mut rows)$($wait)*.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        assert!(rows.iter().all(|row| row.error().is_some() && !row.in_doubt()));
        let record = client.get(&ReadPolicy::patient(), &target.key(10), Bins::All)$($wait)*.unwrap();
        assert_eq!(record.bins["id"], Value::Int(10));

        // Large answers take many reads.
        let big = "x".repeat(50_000);
        let mut rows: Vec<_> = (500..540_i64)
            .map(|id| {
                let put = operations::put(&as_bin!("big", format!("{id}{big}")));
                BatchOperation::write(&write, target.key(id), vec![put])
            })
            .collect();
        client.batch(&writes, &mut rows)$($wait)*.unwrap();
        let mut rows = reads(target, 500..540);
        client.batch(&batch, &mut rows)$($wait)*.unwrap();
        for (id, row) in (500..540).zip(&rows) {
            assert_eq!(row.record().unwrap().bins["big"], Value::from(format!("{id}{big}")));
        }
    }};
}

#[tokio::test(flavor = "multi_thread")]
async fn async_batches() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    batch_calls!(client, target, (.await));

    let told = Mutex::new(Vec::new());
    let mut rows = reads(&target, 20..60);
    client
        .batch_foreach(&BatchPolicy::patient(), &mut rows, |index, row| {
            told.lock().unwrap().push((index, row.record.as_ref().unwrap().bins["id"].clone()));
            std::future::ready(true)
        })
        .await
        .unwrap();
    check_told(told.into_inner().unwrap());
    let count = Mutex::new(0);
    let count_to_three = |_: usize, _: &aerolane::BatchRecord| {
        let mut count = count.lock().unwrap();
        *count += 1;
        std::future::ready(*count < 3)
    };
    client.batch_foreach(&BatchPolicy::patient(), &mut rows, count_to_three).await.unwrap();
    assert_eq!(count.into_inner().unwrap(), 3);
}

#[test]
fn sync_batches() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    batch_calls!(client, target, ());

    let mut told = Vec::new();
    let mut rows = reads(&target, 20..60);
    client
        .batch_foreach(&BatchPolicy::patient(), &mut rows, |index, row| {
            told.push((index, row.record.as_ref().unwrap().bins["id"].clone()));
            true
        })
        .unwrap();
    check_told(told);
    let mut count = 0;
    client
        .batch_foreach(&BatchPolicy::patient(), &mut rows, |_, _| {
            count += 1;
            count < 3
        })
        .unwrap();
    assert_eq!(count, 3);
}

fn check_told(mut told: Vec<(usize, Value)>) {
    told.sort_by_key(|(index, _)| *index);
    let all: Vec<_> = (0..40).map(|index| (index, Value::Int(20 + index as i64))).collect();
    assert_eq!(told, all, "each row once, under its own place");
}

#[test]
fn batches_of_many_threads_on_few_connections_do_not_block_each_other() {
    let target = Target::start();
    let pool = aerolane::PoolSizing::default().with_batch_max(1);
    let config = aerolane::ClientConfig::from(policy()).with_pool(pool);
    let client = SyncClient::with_config(config, target.seeds()).unwrap();
    for id in 0..64_i64 {
        client.put(&WritePolicy::patient(), &target.key(id), &[as_bin!("id", id)]).unwrap();
    }
    let start = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut rows = reads(&target, 0..64);
                    client.batch(&BatchPolicy::patient(), &mut rows).unwrap();
                    assert!((0..64).zip(&rows).all(|(id, row)| row.record().unwrap().bins["id"] == Value::Int(id)));
                }
            });
        }
    });
    assert!(start.elapsed() < std::time::Duration::from_secs(100), "{:?}", start.elapsed());
    assert!(client.stats().nodes.iter().all(|node| node.connections.open <= 10), "{}", client.stats());
}

fn compressing() -> BatchPolicy {
    let mut policy = BatchPolicy::patient();
    policy.base_policy.use_compression = true;
    policy.base_policy.compression_threshold = 10;
    policy.base_policy.total_timeout = 60_000;
    policy
}

#[test]
fn a_server_that_takes_no_compressed_requests_refuses_a_batch_at_once() {
    for kind in Kind::ALL {
        within(180, move || {
            let target = Target::start();
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let write = BatchWritePolicy::default();
            let puts = (0..60_i64)
                .map(|id| BatchOperation::write(&write, target.key(id), [operations::put(&as_bin!("id", id))]));
            // Rows that take turns repeat their names, so that there is something to compress.
            let read = BatchReadPolicy::default();
            let gets = (0..60_i64).map(|id| {
                let bins = if id % 2 == 0 { Bins::All } else { Bins::from(["id"]) };
                BatchOperation::read(&read, target.key(id / 2), bins)
            });
            for rows in [gets.collect(), puts.collect()] {
                let begun = Instant::now();
                let (rows, result) = any_client.batch(&compressing(), rows);
                assert!(begun.elapsed() < Duration::from_secs(30), "{kind:?}: {:?}", begun.elapsed());
                let error = result.unwrap_err();
                assert!(error.matches(&[ResultCode::EnterpriseOnly]) && !error.in_doubt(), "{kind:?}: {error:?}");
                assert!(error.node().is_some(), "{error:?}");
                for row in &rows {
                    assert_eq!(row.result_code(), Some(ResultCode::EnterpriseOnly), "{kind:?}: {row:?}");
                    assert!(!row.in_doubt() && row.record().is_none());
                }
            }
            // Nothing was carried out, and the connections are of use as before.
            let (rows, result) = any_client.batch(&BatchPolicy::patient(), reads(&target, 0..60));
            result.unwrap();
            assert!(rows.iter().all(|row| row.result_code() == Some(ResultCode::KeyNotFoundError)));
        });
    }
}

#[test]
fn a_server_with_compression_gets_and_gives_batches_so() {
    for kind in Kind::ALL {
        within(180, move || {
            let target = Target::consistent(3);
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let text = "compressible ".repeat(200);
            let write = BatchWritePolicy::default();
            // Many to a node, and one alone, which is a plain command.
            for ids in [0..60, 60..61] {
                let puts = ids.clone().map(|id| {
                    let put = operations::put(&as_bin!("text", format!("{id} {text}")));
                    BatchOperation::write(&write, target.key(id), [put])
                });
                let (rows, result) = any_client.batch(&compressing(), puts.collect());
                result.unwrap();
                assert!(rows.iter().all(|row| row.result_code() == Some(ResultCode::Ok)), "{kind:?}");
                let before = any_client.stats().total.bytes_received;
                let (rows, result) = any_client.batch(&compressing(), reads(&target, ids.clone()));
                result.unwrap();
                for (id, row) in ids.clone().zip(&rows) {
                    assert_eq!(row.record().unwrap().bins["text"], Value::from(format!("{id} {text}")), "{kind:?}");
                }
                let bytes = any_client.stats().total.bytes_received - before;
                assert!(bytes < ids.count() as u64 * text.len() as u64 / 4, "{kind:?}: {bytes} bytes for so much text");
            }
        });
    }
}
