//! The writer on a healthy cluster: each method, from async and from blocking code; outcomes in all the ways to hear of them;
//! bounds; what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::writer::{Delivery, RecordKey};
use aerolane::{
    AdminPolicy, Bins, Client, ErrorKind, Expiration, GenerationPolicy, Outcome, ReadPolicy, SyncClient, Value,
    WritePolicy, WriterOptions, as_bin, operations,
};

async fn client(target: &Target) -> Client {
    Client::new(&policy(), target.seeds()).await.unwrap()
}

fn patient() -> WriterOptions {
    let long = Duration::from_secs(60);
    WriterOptions { attempt_timeout: long, record_ttl: long, ..WriterOptions::default() }
}

async fn number(client: &Client, target: &Target, id: i64) -> Option<Value> {
    let record = client.get(&ReadPolicy::patient(), &target.key(id), Bins::All).await.ok()?;
    record.bins.get("n").cloned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_record_is_written_and_confirmed() {
    const RECORDS: i64 = 5000;
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    let mut outcomes = Vec::new();
    for id in 0..RECORDS {
        outcomes.push(writer.put(&plain, &target.key(id), &[as_bin!("n", id)]).await.unwrap());
    }
    for (id, outcome) in outcomes.iter().enumerate() {
        let delivery = outcome.delivered().await;
        let written = delivery.result().unwrap();
        assert_eq!((written.generation(), written.existed()), (1, true));
        assert_eq!(delivery.sequence(), id as u64);
        assert_eq!(delivery.attempt_count(), 1);
        let attempt = delivery.attempts().next().unwrap();
        assert!(attempt.node.as_deref().is_some_and(|node| node.contains(':')), "{attempt:?}");
        assert!(delivery.waited() + delivery.in_flight() <= delivery.took() + Duration::from_millis(1));
        assert_eq!(outcome.record_key().key(), target.key(id as i64));
    }
    let metrics = writer.metrics();
    assert_eq!((metrics.progress.ok, metrics.progress.failed, metrics.progress.outstanding), (RECORDS as u64, 0, 0));
    assert!(metrics.requests < RECORDS as u64, "records gather: {metrics:?}");
    assert_eq!(metrics.nodes.iter().map(|node| node.records).sum::<u64>(), RECORDS as u64);
    assert!(writer.close(None).await.is_empty());
    for id in (0..RECORDS).step_by(97) {
        assert_eq!(number(&client, &target, id).await, Some(Value::Int(id)));
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn each_method_does_what_the_clients_does() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    let key = target.key("all");
    let expiring = WritePolicy { expiration: Expiration::Seconds(1000), ..WritePolicy::default() };
    let put = writer.put(&expiring, &key, &[as_bin!("n", 1), as_bin!("s", "a")]).await.unwrap();
    let added = [operations::add(&as_bin!("n", 5)), operations::get_bin("s")];
    let operated = writer.operate(&plain, &key, &added).await.unwrap();
    let touched = writer.touch(&plain, &key).await.unwrap();
    let missing = writer.touch(&plain, &target.key("missing")).await.unwrap();
    let deleted = writer.delete(&plain, &key).await.unwrap();
    let again = writer.delete(&plain, &key).await.unwrap();
    assert_eq!(put.await.unwrap().generation(), 1);
    let operated = operated.await.unwrap();
    assert_eq!(operated.generation(), 2);
    assert_eq!(operated.record().unwrap().bins.get("s"), Some(&Value::from("a")), "{:?}", operated.record());
    assert_eq!(touched.await.unwrap().generation(), 3);
    assert!(missing.await.unwrap_err().is_not_found());
    assert!(deleted.await.unwrap().existed());
    assert!(!again.await.unwrap().existed());
    // Generation and TTL of the answer are those of the record.
    let put = writer.put(&expiring, &key, &[as_bin!("n", 1)]).await.unwrap().await.unwrap();
    let left = put.time_to_live().expect("it expires").as_secs();
    assert!((990..=1000).contains(&left), "{left}");
    let record = client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
    assert_eq!(record.generation, put.generation());
    // The policy's checks apply.
    let expects =
        WritePolicy { generation_policy: GenerationPolicy::ExpectGenEqual, generation: 7, ..WritePolicy::default() };
    let refused = writer.put(&expects, &key, &[as_bin!("n", 1)]).await.unwrap().await.unwrap_err();
    assert_eq!(refused.result_code(), 3);
    assert!(!refused.in_doubt());
    client.close().await.unwrap();
}

#[tokio::test]
async fn functions_are_applied() {
    let target = Target::start();
    let client = client(&target).await;
    let source = b"function doubled(rec, n) rec['n'] = n * 2; aerospike:update(rec); return n * 2 end";
    let language = aerolane::UdfLang::Lua;
    let task = client.register_udf(&AdminPolicy::default(), source, "writer_doubled.lua", language).await.unwrap();
    aerolane::Task::wait_till_complete(&task, Some(Duration::from_secs(60))).await.unwrap();
    let key = target.key("udf");
    client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).await.unwrap();
    let writer = client.writer(patient()).unwrap();
    let args = [Value::Int(21)];
    let outcome = writer.execute_udf(&WritePolicy::default(), &key, "writer_doubled", "doubled", &args).await.unwrap();
    assert_eq!(outcome.await.unwrap().record().unwrap().bins.get("SUCCESS"), Some(&Value::Int(42)));
}

#[test]
fn blocking_code_writes_from_many_threads() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let options = WriterOptions { max_outstanding_records: Some(50), ..patient() };
    let writer = client.writer(options).unwrap();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (writer, target) = (&writer, &target);
            threads.spawn(move || {
                let plain = WritePolicy::default();
                let outcomes: Vec<Outcome> = (0..500)
                    .map(|id| writer.put(&plain, &target.key(thread * 1000 + id), &[as_bin!("n", id)]).unwrap())
                    .collect();
                assert!(outcomes.iter().all(|outcome| outcome.wait().is_ok()));
            });
        }
    });
    assert_eq!(writer.progress().ok, 2000);
    writer.flush().unwrap();
    assert!(writer.close(Some(Duration::from_secs(60))).unwrap().is_empty());
    let late = writer.put(&WritePolicy::default(), &target.key(0), &[as_bin!("n", 0)]).unwrap_err();
    assert!(matches!(late.kind(), ErrorKind::WriterClosed), "{late}");
    let count = (0..2000).filter(|id| {
        let key = target.key(id / 500 * 1000 + id % 500);
        client.get(&ReadPolicy::patient(), &key, Bins::All).is_ok()
    });
    assert_eq!(count.count(), 2000);
    client.close().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_of_a_key_take_effect_in_order() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    let mut outcomes = Vec::new();
    for round in 0..300_i64 {
        for id in 0..10_i64 {
            // Each sees what the one before has left: out of order, the text has another order.
            let text = format!("{round},");
            let appended = [operations::append(&as_bin!("s", text.as_str()))];
            outcomes.push(writer.operate(&plain, &target.key(id), &appended).await.unwrap());
            outcomes.push(writer.put(&plain, &target.key(id), &[as_bin!("n", round)]).await.unwrap());
        }
    }
    writer.flush().await;
    assert!(outcomes.iter().all(|outcome| outcome.delivery().is_some_and(Delivery::is_ok)));
    let whole = (0..300).map(|round| format!("{round},")).collect::<Vec<_>>().concat();
    for id in 0..10 {
        let record = client.get(&ReadPolicy::patient(), &target.key(id), Bins::All).await.unwrap();
        assert_eq!(record.bins["n"], Value::Int(299));
        assert_eq!(record.bins["s"], Value::from(whole.as_str()));
        assert_eq!(record.generation, 600);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_outstanding_is_bounded() {
    let target = Target::start();
    let client = client(&target).await;
    let plain = WritePolicy::default();
    let by_records = WriterOptions { max_outstanding_records: Some(20), ..patient() };
    let by_bytes = WriterOptions { max_outstanding_bytes: 20_000, ..patient() };
    for (options, most, most_bytes) in [(by_records, 20, usize::MAX), (by_bytes, usize::MAX, 20_000)] {
        let writer = client.writer(options).unwrap();
        let text = "x".repeat(900);
        for id in 0..2000 {
            writer.put(&plain, &target.key(id), &[as_bin!("s", text.as_str())]).await.unwrap();
            let progress = writer.progress();
            assert!(progress.outstanding <= most, "{progress:?}");
            assert!(progress.outstanding_bytes <= most_bytes, "{progress:?}");
        }
        // One that is larger than the bound goes alone.
        let large = "y".repeat(50_000);
        let outcome = writer.put(&plain, &target.key(0), &[as_bin!("s", large.as_str())]).await.unwrap();
        assert!(outcome.await.is_ok());
        assert!(writer.close(None).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcomes_come_as_a_stream_and_by_callback() {
    const RECORDS: u64 = 1000;
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(WriterOptions { max_outstanding_records: Some(64), ..patient() }).unwrap();
    let heard = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&heard);
    writer.on_outcome(move |outcome| {
        assert!(outcome.is_done());
        count.fetch_add(1, Ordering::Relaxed);
    });
    let mut outcomes = writer.outcomes().unwrap();
    assert!(writer.outcomes().is_err(), "in one place only");
    let reader = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(outcome) = outcomes.next().await {
            seen.push(outcome.delivery().unwrap().sequence());
        }
        seen
    });
    let plain = WritePolicy::default();
    for id in 0..RECORDS as i64 {
        writer.put(&plain, &target.key(id), &[as_bin!("n", id)]).await.unwrap();
    }
    assert!(writer.close(None).await.is_empty());
    let mut seen = reader.await.unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..RECORDS).collect::<Vec<_>>());
    assert_eq!(heard.load(Ordering::Relaxed), RECORDS);
}

#[tokio::test]
async fn failures_alone_are_told_of_where_that_is_asked_for() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(WriterOptions { failures_only: true, ..patient() }).unwrap();
    let mut outcomes = writer.outcomes().unwrap();
    let plain = WritePolicy::default();
    for id in 0..100 {
        writer.put(&plain, &target.key(id), &[as_bin!("n", id)]).await.unwrap();
        if id % 25 == 0 {
            writer.touch(&plain, &target.key(format!("missing {id}"))).await.unwrap();
        }
    }
    assert!(writer.close(None).await.is_empty());
    let mut failed: Vec<RecordKey> = Vec::new();
    while let Some(outcome) = outcomes.next().await {
        assert!(outcome.delivery().unwrap().error().unwrap().is_not_found());
        failed.push(outcome.record_key().clone());
    }
    assert_eq!(failed.len(), 4);
    assert_eq!((writer.progress().ok, writer.progress().failed), (100, 4));
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_at_once() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(WriterOptions::default()).unwrap();
    let plain = WritePolicy::default();
    let bins = [as_bin!("n", 1)];
    let elsewhere = aerolane::as_key!("nowhere", "s", 1);
    let refused = writer.put(&plain, &elsewhere, &bins).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::InvalidNamespace), "{refused}");
    assert!(matches!(writer.put(&plain, &target.key(1), &[]).await.unwrap_err().kind(), ErrorKind::InvalidArgument));
    let mut in_txn = WritePolicy::default();
    in_txn.base_policy.txn = Some(Arc::new(aerolane::Txn::new()));
    let refused = writer.put(&in_txn, &target.key(1), &bins).await.unwrap_err();
    assert!(refused.to_string().contains("transaction"), "{refused}");
    let zero = client.writer(WriterOptions { batch_records: 0, ..WriterOptions::default() }).unwrap_err();
    assert!(zero.to_string().contains("batch_records"), "{zero}");
    assert_eq!(writer.progress().handed_over, 0);
    client.close().await.unwrap();
    let closed = writer.put(&plain, &target.key(1), &bins).await.unwrap_err();
    assert!(matches!(closed.kind(), ErrorKind::ClientClosed), "{closed}");
    assert!(client.writer(WriterOptions::default()).is_err());
}

#[tokio::test]
async fn a_record_that_is_too_large_fails_alone() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    let huge = "x".repeat(9 << 20);
    let before = writer.put(&plain, &target.key(1), &[as_bin!("n", 1)]).await.unwrap();
    let large = writer.put(&plain, &target.key(2), &[as_bin!("s", huge.as_str())]).await.unwrap();
    let after = writer.put(&plain, &target.key(3), &[as_bin!("n", 3)]).await.unwrap();
    assert!(before.await.is_ok());
    assert_eq!(large.await.unwrap_err().result_code(), 13);
    assert!(after.await.is_ok());
}

#[tokio::test]
async fn a_rate_is_kept() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(WriterOptions { max_records_per_second: Some(500.0), ..patient() }).unwrap();
    let begun = Instant::now();
    for id in 0..300 {
        writer.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", id)]).await.unwrap();
    }
    assert!(writer.close(None).await.is_empty());
    // A tenth of a second's records may go at once.
    assert!(begun.elapsed() >= Duration::from_millis(450), "{:?}", begun.elapsed());
    assert_eq!(writer.progress().ok, 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_writer_loses_nothing() {
    let target = Target::start();
    let client = client(&target).await;
    let writer = client.writer(patient()).unwrap();
    for id in 0..500 {
        // The outcomes are dropped, too.
        drop(writer.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", id)]).await.unwrap());
    }
    let last = writer.put(&WritePolicy::default(), &target.key(499), &[as_bin!("n", -1)]).await.unwrap();
    drop(writer);
    assert!(last.await.is_ok());
    let deadline = Instant::now() + Duration::from_secs(60);
    for id in 0..500 {
        while number(&client, &target, id).await.is_none() {
            assert!(Instant::now() < deadline, "record {id} was not written");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
