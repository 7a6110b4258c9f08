//! Puts that a writer gathers: those of one set and policy stand in one block, and each has its outcome all the same.

use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::writer::Delivery;
use aerolane::{
    Bins, Client, ErrorKind, Expiration, Key, Outcome, OutcomeList, ReadPolicy, RecordExistsAction, ResultCode,
    SyncClient, Value, WritePolicy, WriterOptions, as_bin,
};

fn patient() -> WriterOptions {
    let long = Duration::from_secs(60);
    WriterOptions { attempt_timeout: long, record_ttl: long, ..WriterOptions::default() }
}

/// A writer that gathers until somebody waits.
fn gathering() -> WriterOptions {
    WriterOptions { linger: Duration::from_secs(10), ..patient() }
}

#[tokio::test]
async fn puts_that_have_not_been_sent_have_keys() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let writer = client.writer(gathering()).unwrap();
    let plain = WritePolicy::default();
    let mut outcomes = Vec::new();
    for id in 0..20 {
        outcomes.push(writer.put(&plain, &target.key(id), &[as_bin!("n", id)]).await.unwrap());
        if id % 5 == 3 {
            let outcome = &outcomes[id as usize];
            assert_eq!(outcome.record_key().key(), target.key(id));
            assert_eq!(outcome.record_key().key().user_key(), Some(&Value::Int(id)));
            assert!(outcome.result().is_none() || outcome.is_done());
        }
    }
    writer.flush().await;
    for (id, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.record_key().key(), target.key(id as i64));
        assert_eq!(outcome.result().unwrap().unwrap().generation(), 1);
        assert!(outcome.error().is_none());
        let delivery = outcome.delivery().unwrap();
        assert_eq!(delivery.sequence(), id as u64);
        assert_eq!(outcome.sequence_and_took(), Some((delivery.sequence(), delivery.took())));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sets_and_policies_are_mixed() {
    const RECORDS: i64 = 3000;
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let writer = client.writer(patient()).unwrap();
    let own = target.key(0);
    // More kinds than there are blocks of a node at a time.
    let key = |id: i64| {
        let set = format!("{}{}", own.set_name(), id % 3);
        Key::new(own.namespace(), &set, Value::Int(id)).unwrap()
    };
    let policies: Vec<_> = [100, 2000, 30_000]
        .map(|seconds| WritePolicy { expiration: Expiration::Seconds(seconds), ..WritePolicy::default() })
        .into();
    let mut outcomes = Vec::new();
    for id in 0..RECORDS {
        let policy = &policies[id as usize / 3 % 3];
        outcomes.push(writer.put(policy, &key(id), &[as_bin!("n", id), as_bin!("s", "text")]).await.unwrap());
    }
    for (id, outcome) in outcomes.into_iter().enumerate() {
        assert_eq!(outcome.record_key().key(), key(id as i64));
        let left = outcome.await.unwrap().time_to_live().unwrap().as_secs();
        let expected = [100, 2000, 30_000][id / 3 % 3];
        assert!((expected - 60..=expected).contains(&left), "{left} of {expected}");
    }
    for id in (0..RECORDS).step_by(211) {
        let record = client.get(&ReadPolicy::patient(), &key(id), Bins::All).await.unwrap();
        assert_eq!(record.bins["n"], Value::Int(id));
    }
}

#[test]
fn rows_that_fail_do_so_alone_whoever_waits() {
    const RECORDS: i64 = 1000;
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let plain = WritePolicy::default();
    for id in (0..RECORDS).step_by(10) {
        writer.put(&plain, &target.key(id), &[as_bin!("n", -1)]).unwrap();
    }
    writer.flush().unwrap();
    let create = WritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..WritePolicy::default() };
    let outcomes: Vec<_> =
        (0..RECORDS).map(|id| writer.put(&create, &target.key(id), &[as_bin!("n", id)]).unwrap()).collect();
    let check = |id: usize, delivery: &Delivery| {
        let expected = if id.is_multiple_of(10) { 5 } else { 0 };
        let code = delivery.error().map_or(0, aerolane::Error::result_code);
        assert_eq!(code, expected, "{id}: {delivery:?}");
        assert_eq!((delivery.attempt_count(), delivery.in_doubt()), (1, false));
    };
    let later = Instant::now() + Duration::from_secs(60);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let outcomes = &outcomes;
            scope.spawn(move || {
                for (id, outcome) in outcomes.iter().enumerate().skip(part).step_by(4) {
                    check(id, outcome.wait());
                    check(id, outcome.wait_until(later).unwrap());
                }
            });
        }
        let waits = async {
            for (id, outcome) in outcomes.iter().enumerate() {
                assert_eq!(Outcome::clone(outcome).await.is_err(), id.is_multiple_of(10));
            }
        };
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(waits);
    });
    let progress = writer.progress();
    assert_eq!((progress.ok, progress.failed), (RECORDS as u64, RECORDS as u64 / 10));
    assert!(writer.close(None).unwrap().is_empty());
}

#[test]
fn what_gathers_is_not_waited_for_longer_than_asked() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(gathering()).unwrap();
    let put = |id: i64| writer.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", id)]).unwrap();
    let outcomes: Vec<_> = (0..50).map(put).collect();
    // Most of them have not been sent.
    assert!(outcomes.iter().any(|outcome| outcome.wait_until(Instant::now()).is_none()));
    // Nor has anybody said that they are to be given up.
    assert!(writer.close(Some(Duration::from_secs(60))).unwrap().is_empty());
    assert!(outcomes.iter().all(|outcome| outcome.wait().is_ok()));
}

/// Pairs of keys and bins, with a key that comes again and again.
fn records(target: &Target, count: i64) -> Vec<(Key, Vec<aerolane::Bin>)> {
    let id = |n: i64| if n % 100 == 7 { -1 } else { n };
    (0..count).map(|n| (target.key(id(n)), vec![as_bin!("n", n), as_bin!("s", "x".repeat(900))])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_puts_at_a_time_are_puts_one_after_the_other() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let writer = client.writer(patient()).unwrap();
    let records = records(&target, 3000);
    let mut outcomes = OutcomeList::new();
    writer.put_many(&WritePolicy::default(), &records, &mut outcomes).await.unwrap();
    writer.put_many(&WritePolicy::default(), &[], &mut outcomes).await.unwrap();
    assert_eq!(outcomes.len(), 3000);
    outcomes.done().await;
    assert!(outcomes.is_done() && outcomes.confirmed() == 3000 && outcomes.errors().next().is_none());
    assert!(outcomes.get(3000).is_none());
    for (number, outcome) in outcomes.iter().enumerate() {
        let generation = outcome.clone().await.unwrap().generation();
        assert_eq!(generation, if number % 100 == 7 { number as u32 / 100 + 1 } else { 1 });
        assert_eq!(outcome.record_key().key(), records[number].0);
        assert_eq!(outcome.sequence_and_took().unwrap().0, number as u64);
    }
    let last = client.get(&ReadPolicy::patient(), &target.key(-1), Bins::All).await.unwrap();
    assert_eq!(last.bins["n"], Value::Int(2907));
    assert!(writer.metrics().requests < 600, "{:?}", writer.metrics());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_puts_at_a_time_are_of_many_sets() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let writer = client.writer(patient()).unwrap();
    let own = target.key(0);
    let key = |id: i64| Key::new(own.namespace(), format!("{}{}", own.set_name(), id / 7 % 9), Value::Int(id)).unwrap();
    let records: Vec<_> = (0..500).map(|id| (key(id), vec![as_bin!("n", id)])).collect();
    let mut outcomes = OutcomeList::new();
    writer.put_many(&WritePolicy::default(), &records, &mut outcomes).await.unwrap();
    assert!(writer.close(None).await.is_empty());
    for (outcome, (key, _)) in outcomes.iter().zip(&records) {
        assert!(outcome.result().unwrap().is_ok());
        assert_eq!(outcome.record_key().key(), *key);
    }
}

#[test]
fn many_puts_at_a_time_keep_the_bounds() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    for options in [
        WriterOptions { max_outstanding_records: Some(20), ..patient() },
        WriterOptions { max_outstanding_bytes: 30_000, ..patient() },
        WriterOptions { max_outstanding_bytes: 500, ..patient() },
    ] {
        let writer = client.writer(options.clone()).unwrap();
        std::thread::scope(|scope| {
            let putting = scope.spawn(|| {
                let mut outcomes = OutcomeList::new();
                writer.put_many(&WritePolicy::default(), &records(&target, 1000), &mut outcomes).unwrap();
                outcomes
            });
            while !putting.is_finished() {
                let progress = writer.progress();
                assert!(progress.outstanding <= options.max_outstanding_records.unwrap_or(usize::MAX));
                // One that is larger than the bound goes alone.
                assert!(progress.outstanding_bytes <= options.max_outstanding_bytes || progress.outstanding == 1);
            }
            let outcomes = putting.join().unwrap();
            outcomes.wait();
            assert_eq!(outcomes.confirmed(), 1000);
        });
        // What has had its room has given it back: all of it, and no more.
        assert_eq!(writer.progress().outstanding, 0);
        for id in 0..100 {
            assert!(writer.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", id)]).unwrap().wait().is_ok());
        }
        assert!(writer.close(None).unwrap().is_empty());
    }
}

#[test]
fn of_many_puts_those_before_an_error_are_handed_over() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let mut records = records(&target, 50);
    records[40].1.push(as_bin!("a name that is too long", 1));
    let mut outcomes = OutcomeList::new();
    let plain = WritePolicy::default();
    let error = writer.put_many(&plain, &records, &mut outcomes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error}");
    assert_eq!(outcomes.len(), 40);
    let elsewhere = Key::new("nowhere", "set", Value::Int(1)).unwrap();
    records.truncate(10);
    records[5].0 = elsewhere;
    assert!(writer.put_many(&plain, &records, &mut outcomes).is_err());
    assert_eq!(outcomes.len(), 45);
    assert!(outcomes.iter().all(|outcome| outcome.wait().is_ok()));
    writer.close(None).unwrap();
    assert!(writer.put_many(&plain, &records[..1], &mut outcomes).is_err());
}

/// Lists that share blocks, and have records of their own: each knows which of its records have failed.
#[test]
fn lists_know_what_has_failed_of_theirs() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let create = WritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..WritePolicy::default() };
    let pairs =
        |from: i64, to: i64| -> Vec<_> { (from..to).map(|id| (target.key(id), vec![as_bin!("n", id)])).collect() };
    // Every third one is there.
    for id in (0..600).step_by(3) {
        assert!(writer.put(&WritePolicy::default(), &target.key(id), &[as_bin!("n", -1)]).unwrap().wait().is_ok());
    }
    let mut lists = [OutcomeList::new(), OutcomeList::new()];
    // Nothing is outstanding: it goes alone, as a record.
    writer.put_many(&create, &pairs(0, 1), &mut lists[0]).unwrap();
    for turn in 0..60 {
        let from = turn * 10 + i64::from(turn == 0);
        writer.put_many(&create, &pairs(from, (turn + 1) * 10), &mut lists[usize::from(turn % 2 == 1)]).unwrap();
    }
    for (place, list) in lists.iter().enumerate() {
        assert!(list.wait_until(Instant::now() + Duration::from_secs(60)));
        assert!(list.is_done());
        let id = |index: usize| (index / 10 * 20 + place * 10 + index % 10) as i64;
        let failed: Vec<_> = list.errors().map(|(index, error)| (id(index), error.server_result_code())).collect();
        let expected: Vec<_> = (0..300).map(id).filter(|id| id % 3 == 0).collect();
        assert_eq!(failed, expected.iter().map(|id| (*id, Some(ResultCode::KeyExistsError))).collect::<Vec<_>>());
        assert_eq!(list.confirmed(), 300 - expected.len());
        for (index, outcome) in list.iter().enumerate() {
            assert_eq!(outcome.record_key().key(), target.key(id(index)));
            assert_eq!(outcome.error().is_some(), id(index) % 3 == 0);
            assert_eq!(outcome.sequence_and_took(), list.get(index).unwrap().sequence_and_took());
        }
    }
}
