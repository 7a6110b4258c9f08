//! Rows that are handed over in blocks.

use std::collections::HashMap;
use std::time::Duration;

use aerospike_core::ResultCode;

use super::world::{MS, What, World, ok, options, server, timed_out};
use crate::error::{Error, ErrorKind};
use crate::writer::delivery::Delivery;
use crate::writer::options::WriterOptions;

const SECOND: Duration = Duration::from_secs(1);

/// Keys of one node.
fn keys(range: std::ops::Range<u8>) -> impl Iterator<Item = (u8, What)> {
    range.map(|key| (key * 3, What::Put))
}

#[test]
fn a_block_goes_at_once_and_as_a_whole() {
    let mut world = World::new(options(), |_, _, _| ok());
    world.hand_block(keys(0..50));
    assert_eq!(world.requests, [(Duration::ZERO, 1, 50)]);
    assert_eq!(world.core.outstanding(), (50, 5000));
    assert_eq!(world.core.oldest(), Some(0));
    world.run(SECOND);
    assert_eq!((world.confirmed, world.outcomes.len()), (50, 0));
    assert_eq!(world.core.outstanding(), (0, 0));
    assert_eq!((world.core.oldest(), world.core.counts().ok), (None, 50));
}

#[test]
fn blocks_share_the_requests_of_a_node_with_records() {
    let mut world = World::new(WriterOptions { batches_in_flight: 2, ..options() }, |_, _, _| ok());
    for from in [0, 10, 20, 30] {
        world.hand_block(keys(from..from + 10));
        // Of another key, and older than the next block.
        world.now += MS / 10;
        world.hand(120 + from * 3, What::Add);
        world.now += MS / 10;
    }
    world.run(SECOND);
    assert_eq!((world.most_flying, world.blocks.len()), (2, 4));
    assert_eq!((world.confirmed, world.outcomes.len()), (40, 4));
    // A record between two blocks goes before those that were handed over after it.
    let place = |number| world.effects.iter().position(|other| *other == number).unwrap();
    assert!(place(10) < place(22), "{:?}", world.effects);
}

#[test]
fn rows_that_fail_are_tried_again_by_themselves() {
    let mut world = World::new(options(), |_, number, tries| match (number % 10, tries) {
        (3, 1) => server(ResultCode::DeviceOverload),
        (4, 1) => server(ResultCode::PartitionUnavailable),
        (5, _) => server(ResultCode::RecordTooBig),
        (6, 1) => timed_out(),
        _ => ok(),
    });
    world.hand_block(keys(0..80));
    world.run(10 * SECOND);
    assert_eq!(world.confirmed, 48);
    assert_eq!(world.outcomes.len(), 32);
    for (number, delivery) in &world.outcomes {
        assert_eq!(delivery.is_ok(), number % 10 != 5, "{number}");
        assert_eq!(delivery.attempt_count(), if number % 10 == 5 { 1 } else { 2 }, "{number}");
    }
    assert_eq!(world.blocks, [80], "retries do not go in blocks");
    assert_eq!(world.core.outstanding(), (0, 0));
    let counts = world.core.counts();
    assert_eq!((counts.handed_over, counts.ok, counts.failed), (80, 72, 8));
}

#[test]
fn a_request_that_is_lost_costs_no_row() {
    let mut world = World::new(options(), |_, _, tries| if tries == 1 { timed_out() } else { ok() });
    world.hand_block(keys(0..60).map(|(key, _)| (key, if key % 2 == 0 { What::Put } else { What::Add })));
    world.run(60 * SECOND);
    assert_eq!((world.confirmed, world.outcomes.len()), (0, 60));
    for (number, delivery) in &world.outcomes {
        // An addition is not repeated in doubt.
        assert_eq!(delivery.is_ok(), number % 2 == 0, "{number}");
        assert_eq!(delivery.in_doubt(), number % 2 == 1, "{number}");
    }
}

#[test]
fn rows_of_a_key_never_overtake_each_other_or_records() {
    let mut attempts = 0;
    let patient = WriterOptions {
        record_ttl: 1000 * SECOND,
        max_retries: 100,
        min_retries_per_second: 1e6,
        backoff: MS,
        max_backoff: 4 * MS,
        ..options()
    };
    let mut world = World::new(patient, move |_, _, _| {
        attempts += 1;
        match attempts % 11 {
            0 => server(ResultCode::PartitionUnavailable),
            // Not one that slows the node down: little time passes.
            3 => server(ResultCode::KeyBusy),
            6 => timed_out(),
            _ => ok(),
        }
    });
    let mut of = Vec::new();
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    for round in 0..600_u32 {
        if next(3) == 0 {
            let key = next(80) as u8 * 3;
            of.push(key);
            world.hand(key, What::Put);
        } else {
            // The same key twice in a block, too, and keys of blocks and records that are queued or in flight.
            let rows: Vec<_> = (0..=next(6)).map(|_| (next(80) as u8 * 3, What::Put)).collect();
            of.extend(rows.iter().map(|(key, _)| *key));
            world.hand_block(rows);
        }
        if round % 2 == 0 {
            world.run(MS);
        }
        if round % 97 == 0 {
            world.map.version += 1;
        }
    }
    world.run(1000 * SECOND);
    assert_eq!(world.confirmed + world.outcomes.len(), of.len());
    assert!(world.confirmed > 100 && world.outcomes.len() > 100, "{} in blocks", world.confirmed);
    assert!(world.rows > 50, "{} of the puts", world.rows);
    let mut last = HashMap::new();
    for number in &world.effects {
        let before = last.insert(of[*number], *number);
        assert!(before.is_none_or(|before| before < *number), "{before:?} before {number}");
    }
    assert_eq!(world.effects.len(), of.len());
    assert!(world.outcomes.values().all(Delivery::is_ok));
    assert_eq!((world.core.outstanding(), world.core.oldest()), ((0, 0), None));
}

#[test]
fn a_record_waits_for_the_row_of_its_key() {
    let mut world = World::new(options(), |_, _, _| ok());
    world.hand_block(keys(0..10));
    world.hand(9, What::Put);
    assert_eq!(world.requests.len(), 1);
    world.run(SECOND);
    // The row had to be told apart: it has an outcome of its own.
    assert_eq!((world.confirmed, world.outcomes.len()), (9, 2));
    assert_eq!((world.outcomes[&3].took(), world.outcomes[&10].took()), (MS, 2 * MS));
}

#[test]
fn what_is_too_old_fails_and_what_is_in_flight_has_its_answer() {
    let options = WriterOptions { record_ttl: 50 * MS, batches_in_flight: 1, ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = 200 * MS;
    world.hand_block(keys(0..5));
    world.hand_block(keys(5..10));
    world.run(SECOND);
    assert_eq!((world.confirmed, world.outcomes.len()), (5, 5));
    for number in 5..10 {
        assert!(matches!(world.error(number).kind(), ErrorKind::RecordExpired), "{}", world.error(number));
        assert!(!world.error(number).in_doubt());
    }
    assert_eq!(world.core.counts().expired, 5);
}

#[test]
fn a_rate_holds_for_blocks_too() {
    let options = WriterOptions { max_records_per_second: Some(100.0), ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    for from in [0, 20, 40, 60] {
        world.hand_block(keys(from..from + 20));
    }
    world.run(Duration::from_millis(410));
    let sent: usize = world.requests.iter().map(|(.., rows)| rows).sum();
    assert!((40..=52).contains(&sent), "{sent} in 410 ms at 100 a second, with a burst of 10");
    world.run(2 * SECOND);
    assert_eq!(world.confirmed + world.outcomes.len(), 80);
}

#[test]
fn all_rows_are_given_up() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.hand_block(keys(0..4));
    world.hand_block(keys(4..8));
    world.hand(3, What::Put);
    let closed = |in_flight| Error::writer_closed(if in_flight { "in flight" } else { "not sent" });
    world.core.give_up(closed, world.now, &world.map);
    world.settle();
    assert_eq!(world.outcomes.len(), 9);
    for number in 0..9 {
        assert_eq!(world.error(number).in_doubt(), number < 4, "{number}");
    }
    assert_eq!((world.core.outstanding(), world.core.oldest()), ((0, 0), None));
    // The answer to the first block comes now.
    world.busy.clear();
    world.run(SECOND);
    world.hand_block(keys(0..4));
    world.run(SECOND);
    assert_eq!((world.confirmed, world.outcomes.len()), (4, 9));
}

#[test]
fn many_rows_that_fail_take_their_places_among_others() {
    // Younger records are outstanding while the rows of older blocks fail one after the other.
    let mut world =
        World::new(
            options(),
            |_, number, tries| {
                if number < 100 && tries < 4 { server(ResultCode::DeviceOverload) } else { ok() }
            },
        );
    world.hand_block(keys(0..50));
    world.hand_block((0..50).map(|key| (key * 3 + 1, What::Put)));
    for number in 0..40 {
        world.hand(number * 3 + 2, What::Put);
    }
    world.run(100 * SECOND);
    assert_eq!((world.confirmed, world.outcomes.len()), (0, 140));
    assert!(world.outcomes.values().all(Delivery::is_ok));
    assert_eq!((world.core.outstanding(), world.core.oldest()), ((0, 0), None));
}
