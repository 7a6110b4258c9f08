//! Records that a program awaits one by one, with nothing else outstanding: the wait sends them itself. Whatever happens in
//! place of the wait, each record is written, once, and in order.

use std::time::{Duration, Instant};

use crate::any_client::on_embedded;
use crate::common::{Patient, Target, policy};
use aerolane::{Bins, Outcome, ReadPolicy, SyncClient, SyncWriter, WritePolicy, WriterOptions, as_bin, operations};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

fn patient() -> WriterOptions {
    let long = Duration::from_secs(60);
    WriterOptions { attempt_timeout: long, record_ttl: long, ..WriterOptions::default() }
}

fn put(writer: &SyncWriter, target: &Target, n: i64) -> Outcome {
    writer.put(&WritePolicy::default(), &target.key("lone"), &[as_bin!("n", n)]).unwrap()
}

/// The record's generation, once this outcome is there without anybody waiting for it.
fn generation_without_wait(outcome: &Outcome) -> u32 {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(delivery) = outcome.delivery() {
            return delivery.result().unwrap().generation();
        }
        assert!(Instant::now() < end, "the record is left to a wait that does not come");
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn generation(outcome: &Outcome) -> u32 {
    outcome.wait().result().unwrap().generation()
}

#[test]
fn what_is_awaited_one_by_one_is_written_once_and_in_order() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    let mut count = 0;
    let mut wait_for_some = |writer: &SyncWriter| {
        for _ in 0..20 {
            count += 1;
            assert_eq!(generation(&put(writer, &target, 1)), count);
        }
        count
    };
    // From the second record on they are left to the wait. Now it does not come, or not at once, or another way.
    let before = wait_for_some(&writer);
    assert_eq!(generation_without_wait(&put(&writer, &target, 2)), before + 1);
    let first = put(&writer, &target, 3);
    let second = put(&writer, &target, 4);
    assert_eq!((generation(&second), generation(&first)), (before + 3, before + 2));
    drop(put(&writer, &target, 5));
    writer.flush().unwrap();
    assert_eq!(writer.progress().ok, u64::from(before) + 4);
    let polled = put(&writer, &target, 6);
    assert_eq!(
        polled.wait_until(Instant::now() + Duration::from_secs(60)).unwrap().result().unwrap().generation(),
        before + 5
    );
    let added = [operations::add(&as_bin!("n", 1))];
    let added = writer.operate(&WritePolicy::default(), &target.key("lone"), &added).unwrap();
    assert_eq!(generation(&added), before + 6, "what must not be repeated is not left to a wait");
    // Several waits for one record.
    let shared = put(&writer, &target, 7);
    let generations: Vec<_> = std::thread::scope(|threads| {
        let waits: Vec<_> = (0..3).map(|_| threads.spawn(|| generation(&shared))).collect();
        waits.into_iter().map(|wait| wait.join().unwrap()).collect()
    });
    assert_eq!(generations, [before + 7; 3]);
    assert_eq!(generation(&put(&writer, &target, 8)), before + 8);
    let last = put(&writer, &target, 9);
    assert!(writer.close(Some(Duration::from_secs(60))).unwrap().is_empty());
    assert_eq!(generation(&last), before + 9);
    let metrics = writer.metrics();
    assert_eq!((metrics.single_requests, metrics.retries), (u64::from(before) + 9, 0), "{metrics:?}");
    let record = client.get(&ReadPolicy::patient(), &target.key("lone"), Bins::All).unwrap();
    assert_eq!(record.generation, before + 9);
    client.close().unwrap();
}

#[test]
fn what_fails_on_the_thread_of_a_wait_is_tried_again() {
    if !on_embedded("injects faults") {
        return;
    }
    let target = Target::embedded(3);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(patient()).unwrap();
    assert!((0..10).all(|n| put(&writer, &target, n).wait().is_ok()));
    let lost = FaultRule::new(FaultAction::DropBefore).on(RequestKind::Write).on(RequestKind::Batch).times(1);
    target.faults().set_fault(None, &lost).unwrap();
    let outcome = put(&writer, &target, 10);
    let delivery = outcome.wait();
    assert!(delivery.is_ok() && delivery.attempt_count() == 2, "{delivery:?}");
    // A client that is closed gives it its outcome.
    assert!((0..10).all(|n| put(&writer, &target, n).wait().is_ok()));
    let left = put(&writer, &target, 11);
    client.close().unwrap();
    let delivery = left.wait();
    assert!(delivery.is_ok() || delivery.error().is_some(), "{delivery:?}");
}
