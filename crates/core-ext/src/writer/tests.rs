//! The core in simulated time.

mod blocks;
mod puts;
mod throttled;
mod world;

use std::collections::HashMap;
use std::time::Duration;

use aerospike_core::ResultCode;

use super::delivery::Delivery;
use super::options::WriterOptions;
use crate::error::{Error, ErrorKind};
use world::{MS, What, World, ok, options, server, timed_out};

#[test]
fn a_lone_record_goes_at_once_and_a_burst_gathers() {
    let mut world = World::new(WriterOptions { batch_records: 50, batches_in_flight: 2, ..options() }, |_, _, _| ok());
    world.hand(0, What::Put);
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1)]);
    // Of keys of one node: 3, 6, 9 and so on.
    (1..=70).for_each(|key| world.hand(key * 3, What::Put));
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1), (Duration::ZERO, 1, 50)], "a full batch does not wait");
    world.run(Duration::from_secs(1));
    assert_eq!(world.requests[2], (MS, 1, 20), "the rest goes when there is room");
    assert_eq!(world.outcomes.len(), 71);
    assert!(world.outcomes.values().all(Delivery::is_ok));
    let first = &world.outcomes[&0];
    assert_eq!((first.waited(), first.took(), first.in_flight()), (Duration::ZERO, MS, MS));
    assert_eq!(
        first.attempts().map(|attempt| (attempt.node, attempt.code)).collect::<Vec<_>>(),
        [(Some("n1".into()), 0)]
    );
}

#[test]
fn a_batch_that_is_not_full_lingers_only_beside_another() {
    let linger = Duration::from_millis(5);
    let mut world = World::new(WriterOptions { linger, ..options() }, |_, _, _| ok());
    world.latency = Duration::from_millis(20);
    world.hand(0, What::Put);
    world.hand(3, What::Put);
    world.run(Duration::from_secs(1));
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1), (linger, 1, 1)]);
}

#[test]
fn records_gather_while_requests_are_answered_and_go_when_all_is_calm() {
    let linger = Duration::from_millis(5);
    let mut world = World::new(WriterOptions { linger, ..options() }, |_, _, _| ok());
    world.latency = Duration::from_millis(2);
    // One for node 1, then two for node 2: they wait for each other until the first one is answered.
    world.hand(0, What::Put);
    world.hand(1, What::Put);
    world.hand(4, What::Put);
    world.run(Duration::from_secs(1));
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1), (world.latency, 2, 2)]);
}

#[test]
fn what_comes_in_fast_gathers_also_while_nothing_is_in_flight_unless_somebody_waits_for_it() {
    let gap = Duration::from_micros(5);
    for awaited in [false, true] {
        let mut world = World::new(options(), |_, _, _| ok());
        // Answered before the next record comes.
        world.latency = Duration::from_micros(1);
        world.core.awaited(awaited);
        for number in 0..4000_u32 {
            let next = world.now + gap;
            world.hand(number as u8, What::Put);
            world.run(gap);
            world.now = next;
            // The timer, which has not been set anew with each record.
            world.settle();
        }
        world.run(Duration::from_secs(1));
        let singles = world.requests.iter().filter(|(.., rows)| *rows == 1).count();
        // It takes some hundred records to see that they come in fast.
        assert_eq!(singles > 2000, awaited, "{singles} of {} requests with one record", world.requests.len());
        assert!(world.requests.len() > 3000 || !awaited);
        // After a pause a record goes at once.
        world.core.awaited(false);
        world.now += Duration::from_secs(1);
        let now = world.now - world.start;
        world.hand(0, What::Put);
        assert_eq!(world.requests.last(), Some(&(now, 1, 1)));
    }
}

#[test]
fn a_request_that_takes_long_keeps_no_record_of_others_back() {
    let linger = Duration::from_millis(5);
    let mut world = World::new(WriterOptions { linger, ..options() }, |_, _, _| ok());
    world.latency = Duration::from_millis(500);
    world.hand(0, What::Put);
    world.run(Duration::from_millis(10));
    let now = world.now - world.start;
    world.hand(1, What::Put);
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1), (now, 2, 1)]);
}

#[test]
fn who_waits_for_room_does_not_wait_for_a_full_batch() {
    let options = WriterOptions { linger: Duration::from_secs(1), ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = Duration::from_millis(100);
    world.hand(0, What::Put);
    world.hand(1, What::Put);
    world.hand(3, What::Put);
    assert_eq!(world.requests.len(), 1);
    world.core.wait_for_room(true);
    world.settle();
    // Not the one whose node is busy.
    assert_eq!(world.requests, [(Duration::ZERO, 1, 1), (Duration::ZERO, 2, 1)]);
    world.core.wait_for_room(false);
}

#[test]
fn a_wait_for_room_is_no_pause_of_the_program() {
    let gap = Duration::from_micros(5);
    let mut world = World::new(options(), |_, _, _| ok());
    world.latency = Duration::from_micros(1);
    let hand = |world: &mut World, records: u32| {
        for number in 0..records {
            let next = world.now + gap;
            world.hand(number as u8, What::Put);
            world.run(gap);
            world.now = next;
            world.settle();
        }
    };
    hand(&mut world, 4000);
    world.run(Duration::from_secs(1));
    let before = world.requests.len();
    world.core.wait_for_room(true);
    world.now += Duration::from_millis(50);
    world.core.wait_for_room(false);
    hand(&mut world, 100);
    let singles = world.requests[before..].iter().filter(|(.., rows)| *rows == 1).count();
    assert_eq!(singles, 0, "{:?}", &world.requests[before..]);
}

#[test]
fn a_large_record_goes_alone() {
    let mut world = World::new(WriterOptions { batch_bytes: 1000, ..options() }, |_, _, _| ok());
    world.hand(0, What::Put);
    world.hand_sized(3, What::Put, 900);
    world.hand_sized(6, What::Put, 5000);
    world.hand_sized(9, What::Put, 10);
    world.run(Duration::from_secs(1));
    let sizes: Vec<_> = world.requests.iter().map(|(.., rows)| *rows).collect();
    assert_eq!(sizes, [1, 1, 1, 1]);
    assert!(world.outcomes.values().all(Delivery::is_ok));
}

#[test]
fn records_of_a_key_never_overtake_each_other() {
    // Every third attempt fails, in ways that are tried again; maps change all the time.
    let mut attempts = 0;
    let patient =
        WriterOptions { batch_records: 8, record_ttl: Duration::from_secs(1000), max_retries: 100, ..options() };
    let mut world = World::new(patient, move |_, _, _| {
        attempts += 1;
        match attempts % 9 {
            0 => server(ResultCode::PartitionUnavailable),
            3 => server(ResultCode::DeviceOverload),
            6 => timed_out(),
            _ => ok(),
        }
    });
    let mut keys = Vec::new();
    for round in 0..2000_u32 {
        let key = (round.wrapping_mul(2_654_435_761) >> 24) as u8 % 40;
        keys.push(key);
        world.hand(key, What::Put);
        if round % 20 == 0 {
            world.run(MS);
        }
        if round % 300 == 0 {
            world.map.version += 1;
        }
    }
    world.run(Duration::from_secs(1000));
    assert_eq!(world.outcomes.len(), 2000);
    let mut last = HashMap::new();
    for number in &world.effects {
        let before = last.insert(keys[*number], *number);
        assert!(before.is_none_or(|before| before < *number), "{before:?} before {number}");
    }
    assert!(world.outcomes.values().all(Delivery::is_ok));
    assert_eq!(world.core.outstanding(), (0, 0));
}

#[test]
fn a_moved_partition_costs_no_retry_and_no_pause() {
    let options = WriterOptions { max_retries: 0, ..options() };
    let mut world =
        World::new(options, |_, _, tries| if tries == 1 { server(ResultCode::PartitionUnavailable) } else { ok() });
    world.hand(0, What::Add);
    world.run(Duration::from_secs(1));
    assert!(world.core.wants_refresh());
    let outcome = &world.outcomes[&0];
    assert!(outcome.is_ok());
    assert_eq!((outcome.attempt_count(), outcome.took()), (2, 2 * MS));
    assert_eq!(world.core.counts().retries, 0);
}

#[test]
fn what_nobody_owns_waits_for_its_owner() {
    let mut world = World::new(options(), |_, _, _| ok());
    world.map.orphaned = true;
    world.hand(0, What::Put);
    world.run(Duration::from_secs(1));
    assert!(world.requests.is_empty());
    world.map.version += 1;
    world.map.orphaned = false;
    world.run(Duration::from_secs(1));
    assert!(world.outcomes[&0].is_ok());
}

#[test]
fn queued_records_follow_the_map() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.latency = Duration::from_millis(50);
    world.hand(0, What::Put);
    world.hand(3, What::Put);
    world.map.version += 1;
    world.run(MS * 10);
    world.core.tick(world.now, &world.map);
    world.settle();
    assert_eq!(world.requests.iter().map(|(_, node, _)| *node).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_attempt_in_doubt_is_repeated_only_where_that_is_safe() {
    let answer = |_, _, tries| if tries == 1 { timed_out() } else { ok() };
    let mut world = World::new(options(), answer);
    world.hand(0, What::Put);
    world.hand(1, What::Add);
    world.run(Duration::from_secs(10));
    assert!(world.outcomes[&0].is_ok());
    assert!(world.error(1).in_doubt());
    assert_eq!(world.outcomes[&1].attempt_count(), 1);
    let mut world = World::new(WriterOptions { repeat_in_doubt: true, ..options() }, answer);
    world.hand(1, What::Add);
    world.run(Duration::from_secs(10));
    assert!(world.outcomes[&0].is_ok());
    // What was refused has not been executed, so an add is repeated, too.
    let mut world = World::new(options(), |_, _, tries| if tries == 1 { server(ResultCode::KeyBusy) } else { ok() });
    world.hand(1, What::Add);
    world.run(Duration::from_secs(10));
    assert!(world.outcomes[&0].is_ok());
}

#[test]
fn doubt_stays_with_a_record_that_fails_later() {
    let mut world = World::new(options(), |_, _, tries| match tries {
        1 => timed_out(),
        _ => server(ResultCode::RecordTooBig),
    });
    world.hand(0, What::Put);
    world.run(Duration::from_secs(10));
    assert!(world.error(0).in_doubt());
    let codes: Vec<_> = world.outcomes[&0].attempts().map(|attempt| (attempt.code, attempt.in_doubt)).collect();
    assert_eq!(codes, [(9, true), (13, false)]);
}

#[test]
fn a_permanent_failure_is_not_tried_again_and_frees_the_key() {
    let mut world =
        World::new(options(), |_, number, _| if number == 0 { server(ResultCode::GenerationError) } else { ok() });
    world.hand(0, What::Put);
    world.hand(0, What::Put);
    world.run(Duration::from_secs(1));
    assert!(!world.error(0).in_doubt());
    assert!(world.outcomes[&1].is_ok());
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn a_delete_of_what_is_not_there_is_a_success() {
    let mut world = World::new(options(), |_, _, _| server(ResultCode::KeyNotFoundError));
    world.hand(0, What::Delete);
    world.hand(1, What::Put);
    world.run(Duration::from_secs(1));
    assert!(!world.outcomes[&0].result().unwrap().existed());
    assert!(world.error(1).is_not_found());
}

#[test]
fn retries_are_bounded_by_number() {
    let mut world = World::new(WriterOptions { max_retries: 3, ..options() }, |_, _, _| server(ResultCode::KeyBusy));
    world.hand(0, What::Put);
    world.run(Duration::from_secs(20));
    assert_eq!(world.outcomes[&0].attempt_count(), 4);
    let error = world.error(0);
    assert_eq!(error.server_result_code(), Some(ResultCode::KeyBusy));
    assert!(error.to_string().contains("gave up after 3 retries"), "{error}");
}

#[test]
fn records_expire_with_the_failure_that_kept_them() {
    let record_ttl = Duration::from_secs(2);
    let options = WriterOptions { record_ttl, max_retries: 1_000_000, ..options() };
    let mut world = World::new(options.clone(), |_, _, _| server(ResultCode::DeviceOverload));
    world.hand(0, What::Put);
    world.hand(0, What::Put);
    world.run(Duration::from_secs(20));
    for number in [0, 1] {
        let error = world.error(number);
        assert!(matches!(error.kind(), ErrorKind::RecordExpired), "{error}");
        assert!(world.outcomes[&number].took() <= record_ttl + MS);
    }
    assert_eq!(world.error(0).cause().and_then(Error::server_result_code), Some(ResultCode::DeviceOverload));
    assert_eq!(world.core.counts().expired, 2);
    // One that is in flight is waited for, one behind it is not sent any more.
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = Duration::from_secs(3);
    world.hand(0, What::Put);
    world.hand(0, What::Put);
    world.hand(0, What::Put);
    world.run(Duration::from_secs(20));
    assert!(world.outcomes[&0].is_ok());
    assert!(world.error(1).to_string().contains("it was not sent"), "{}", world.error(1));
    assert_eq!((world.requests.len(), world.outcomes.len()), (1, 3));
    world.hand(0, What::Put);
    world.run(Duration::from_secs(20));
    assert!(world.outcomes[&3].is_ok(), "the line of the key is free");
}

#[test]
fn a_sick_cluster_is_not_stormed() {
    let options = WriterOptions {
        max_retries: 1_000_000,
        retries_per_success: 0.0,
        min_retries_per_second: 50.0,
        record_ttl: Duration::from_secs(10),
        max_backoff: Duration::from_millis(20),
        ..options()
    };
    // Not one that slows its node down.
    let mut world = World::new(options, |_, _, _| server(ResultCode::KeyBusy));
    (0..250).for_each(|key| world.hand(key, What::Put));
    world.run(Duration::from_secs(60));
    assert_eq!(world.outcomes.len(), 250);
    let retries = world.core.counts().retries;
    assert!((1400..1550).contains(&retries), "{retries}: 1000 saved up, and 50 a second");
}

#[test]
fn rates_are_kept_in_records_and_in_bytes() {
    let limited = WriterOptions {
        max_records_per_second: Some(100.0),
        batch_records: 10,
        record_ttl: Duration::from_secs(3600),
        ..options()
    };
    let by_bytes = WriterOptions {
        max_records_per_second: None,
        max_bytes_per_second_per_node: Some(10_000.0),
        ..limited.clone()
    };
    for (options, seconds) in [(limited, 2.4), (by_bytes, 0.83)] {
        let mut world = World::new(options, |_, _, _| ok());
        (0..250).for_each(|key| world.hand(key, What::Put));
        world.run(Duration::from_secs(60));
        assert_eq!(world.outcomes.len(), 250);
        let took = (world.now - world.start).as_secs_f64();
        assert!((seconds * 0.85..seconds * 1.15).contains(&took), "{took} s, not {seconds} s");
    }
}

#[test]
fn nodes_take_turns_under_a_rate_of_all() {
    let options =
        WriterOptions { max_records_per_second: Some(100.0), record_ttl: Duration::from_secs(3600), ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    (0..250).for_each(|key| world.hand(key, What::Put));
    world.run(Duration::from_secs(1));
    let mut taken = [0; 3];
    world.requests.iter().for_each(|(_, node, rows)| taken[usize::from(*node)] += rows);
    assert!(taken.iter().all(|node| (25..=50).contains(node)), "{taken:?}");
}

#[test]
fn a_slow_node_holds_nobody_else_up_and_senders_are_bounded() {
    let options = WriterOptions { batch_records: 10, batches_in_flight: 2, ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = Duration::from_millis(10);
    (0..240).for_each(|key| world.hand(key, What::Put));
    assert!(world.most_flying <= 6, "{}", world.most_flying);
    world.run(Duration::from_secs(1));
    assert!(world.most_flying <= 6, "{}", world.most_flying);
    assert_eq!(world.outcomes.len(), 240);
}

#[test]
fn a_slow_node_that_holds_the_room_gets_more_batches_at_a_time() {
    let mut world = World::new(WriterOptions { batch_records: 10, batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.latency = Duration::from_millis(10);
    let keys = |node: u8| (0..85).map(move |key| 3 * key + node);
    keys(1).take(20).chain(keys(0)).for_each(|key| world.hand(key, What::Put));
    let flying = |world: &World, node| world.flying.iter().filter(|(_, of, _)| *of == node).count();
    assert_eq!((flying(&world, 1), flying(&world, 2)), (1, 1));
    world.core.wait_for_room(true);
    world.settle();
    // Eight, all of them full, and no more to a node that holds up nobody.
    assert_eq!((flying(&world, 1), flying(&world, 2)), (8, 1));
    world.core.wait_for_room(false);
    world.run(Duration::from_secs(1));
    assert_eq!(world.outcomes.len(), 105);
}

#[test]
fn a_node_that_answers_slower_leaves_the_others_their_rate() {
    // 100,000 records a second, in turn for each of three nodes. At 20 ms, one of them has 667 in flight, in 21 batches.
    let gap = Duration::from_micros(10);
    let (total, most) = (30_000_u32, 1500);
    let small = || WriterOptions { max_outstanding_records: Some(most), batch_records: 32, ..options() };
    let sent = |slow| {
        let mut world = World::new(small(), |_, _, _| ok());
        world.slow = slow;
        for number in 0..total {
            if world.core.outstanding().0 >= most {
                world.core.wait_for_room(true);
                world.settle();
                while world.core.outstanding().0 >= most {
                    world.run(Duration::from_micros(20));
                }
                world.core.wait_for_room(false);
            }
            let mut digest = [(number % 3) as u8; 20];
            digest[1..5].copy_from_slice(&number.to_be_bytes());
            world.hand_of(digest, What::Put, 200);
            let next = world.now + gap;
            world.run(gap);
            world.now = world.now.max(next);
            // The timer, which has not been set anew with each record.
            world.settle();
        }
        (world.now - world.start).as_secs_f64()
    };
    let (even, slowed) = (sent(None), sent(Some((1, 20 * MS))));
    assert!(even / slowed > 0.9, "{even} s, with a slow node {slowed} s");
}

#[test]
fn what_is_given_up_has_its_outcome_and_late_answers_change_nothing() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.hand(0, What::Put);
    world.hand(0, What::Put);
    world.hand(3, What::Put);
    let closed = |in_flight| Error::writer_closed(if in_flight { "in flight" } else { "not sent" });
    world.core.give_up(closed, world.now, &world.map);
    world.settle();
    assert_eq!(world.outcomes.len(), 3);
    assert!(world.error(0).in_doubt());
    assert!(!world.error(1).in_doubt() && !world.error(2).in_doubt());
    assert_eq!((world.outcomes[&0].attempt_count(), world.outcomes[&1].attempt_count()), (1, 0));
    // The answer to the first comes now; a further record may have its slot.
    world.busy.clear();
    world.hand(0, What::Put);
    world.run(Duration::from_secs(1));
    assert_eq!(world.outcomes.len(), 4);
    assert!(world.outcomes[&3].is_ok());
}

#[test]
fn a_flush_does_not_linger() {
    let options = WriterOptions { linger: Duration::from_secs(1), ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = Duration::from_millis(100);
    world.hand(0, What::Put);
    world.hand(3, What::Put);
    assert_eq!(world.requests.len(), 1);
    world.core.hurry(true);
    world.settle();
    assert_eq!(world.requests.len(), 2);
    world.core.hurry(false);
}
