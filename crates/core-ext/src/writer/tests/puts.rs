//! Puts that become rows of blocks as they are handed over.

use std::time::Duration;

use aerospike_core::ResultCode;

use super::world::{MS, What, World, ok, options, server};
use crate::error::{Error, ErrorKind};
use crate::writer::delivery::Delivery;
use crate::writer::options::WriterOptions;

const SECOND: Duration = Duration::from_secs(1);

/// Hands puts over, of keys of node 1.
fn hand(world: &mut World, keys: std::ops::Range<u8>) {
    keys.for_each(|key| world.hand(key * 3, What::Put));
}

#[test]
fn puts_beside_others_are_rows_of_one_request() {
    let mut world = World::new(options(), |_, _, _| ok());
    hand(&mut world, 0..50);
    world.run(SECOND);
    // The first one goes alone, and the others gather meanwhile.
    assert_eq!((world.rows, &world.blocks), (49, &vec![49]));
    assert_eq!(world.outcomes.len(), 50);
    for (number, delivery) in &world.outcomes {
        assert_eq!((delivery.sequence(), delivery.is_ok()), (*number as u64, true));
        assert_eq!(delivery.attempt_count(), 1);
    }
    assert_eq!((world.core.outstanding(), world.core.oldest()), ((0, 0), None));
    let counts = world.core.counts();
    assert_eq!((counts.handed_over, counts.ok, counts.bytes), (50, 50, 5000));
}

#[test]
fn a_put_alone_opens_no_block() {
    let mut world = World::new(options(), |_, _, _| ok());
    for key in 0..10 {
        world.hand(key, What::Put);
        world.run(SECOND);
    }
    assert_eq!((world.rows, world.requests.len()), (0, 10));
}

#[test]
fn a_full_block_does_not_wait() {
    let options = WriterOptions { batch_records: 20, batch_bytes: 1000, batches_in_flight: 9, ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = SECOND;
    hand(&mut world, 0..46);
    // One alone, then as many as take 1000 bytes.
    assert_eq!(world.blocks, [10, 10, 10, 10]);
    world.run(10 * SECOND);
    assert_eq!(world.blocks, [10, 10, 10, 10, 5]);
    assert_eq!(world.outcomes.len(), 46);
}

#[test]
fn rows_have_times_of_their_own() {
    let linger = 10 * MS;
    let mut world = World::new(WriterOptions { linger, ..options() }, |_, _, _| ok());
    world.latency = 30 * MS;
    hand(&mut world, 0..1);
    for key in 1..4 {
        world.now += 2 * MS;
        hand(&mut world, key..key + 1);
    }
    world.run(SECOND);
    assert_eq!(world.blocks, [3]);
    for number in 1..4 {
        let delivery = &world.outcomes[&number];
        let waited = 2 * MS * (6 - number as u32);
        assert_eq!((delivery.waited(), delivery.took()), (waited, waited + 30 * MS), "{number}");
    }
}

#[test]
fn rows_expire_by_their_own_age() {
    let options = WriterOptions { record_ttl: 50 * MS, batches_in_flight: 1, ..options() };
    let mut world = World::new(options, |_, _, _| ok());
    world.latency = 70 * MS;
    hand(&mut world, 0..2);
    world.now += 40 * MS;
    hand(&mut world, 2..3);
    world.run(SECOND);
    assert_eq!(world.rows, 2);
    assert!(matches!(world.error(1).kind(), ErrorKind::RecordExpired));
    assert_eq!(world.outcomes[&1].took(), 50 * MS);
    assert!(world.outcomes[&2].is_ok());
    assert_eq!(world.outcomes[&2].waited(), 30 * MS);
    assert_eq!(world.core.counts().expired, 1);
}

#[test]
fn each_kind_has_a_block_and_too_many_kinds_are_records() {
    for (kinds, all_rows) in [(3, true), (6, false)] {
        let mut world = World::new(options(), |_, _, _| ok());
        world.kinds = kinds;
        hand(&mut world, 0..61);
        world.run(SECOND);
        assert_eq!(world.rows == 60, all_rows, "{}", world.rows);
        assert!(world.rows >= 40 && world.outcomes.values().all(Delivery::is_ok));
        assert_eq!(world.outcomes.len(), 61);
        let sizes: Vec<_> = world.blocks.clone();
        assert_eq!(sizes.len(), kinds.min(4), "{sizes:?}");
    }
}

#[test]
fn rows_that_fail_are_tried_again_and_others_stay_confirmed() {
    let mut world = World::new(options(), |_, number, tries| match (number % 5, tries) {
        (1, 1) => server(ResultCode::DeviceOverload),
        (2, _) => server(ResultCode::RecordTooBig),
        _ => ok(),
    });
    hand(&mut world, 0..80);
    world.run(10 * SECOND);
    assert_eq!((world.blocks.len(), world.outcomes.len()), (1, 80));
    for (number, delivery) in &world.outcomes {
        assert_eq!(delivery.is_ok(), number % 5 != 2, "{number}");
        assert_eq!(delivery.attempt_count(), if number % 5 == 1 { 2 } else { 1 }, "{number}");
        assert_eq!(delivery.sequence(), *number as u64);
    }
}

#[test]
fn rows_that_are_not_sent_follow_the_map() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.latency = 50 * MS;
    hand(&mut world, 0..5);
    assert_eq!(world.rows, 4);
    world.map.version += 1;
    world.run(SECOND);
    assert_eq!(world.requests.iter().map(|(_, node, rows)| (*node, *rows)).collect::<Vec<_>>(), [(1, 1), (2, 4)]);
    assert_eq!(world.outcomes.len(), 5);
}

#[test]
fn open_blocks_are_given_up_too() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    hand(&mut world, 0..5);
    let closed = |in_flight| Error::writer_closed(if in_flight { "in flight" } else { "not sent" });
    world.core.give_up(closed, world.now, &world.map);
    world.settle();
    assert_eq!(world.outcomes.len(), 5);
    for number in 0..5 {
        assert_eq!(world.error(number).in_doubt(), number == 0, "{number}");
    }
    assert_eq!((world.core.outstanding(), world.core.oldest()), ((0, 0), None));
}

#[test]
fn a_block_takes_no_rows_for_longer_than_a_second() {
    let mut world = World::new(WriterOptions { batches_in_flight: 1, ..options() }, |_, _, _| ok());
    world.latency = 5 * SECOND;
    hand(&mut world, 0..1);
    for key in 1..9 {
        world.now += SECOND / 2;
        hand(&mut world, key..key + 1);
    }
    world.run(60 * SECOND);
    assert_eq!(world.blocks, [2, 2, 2, 2]);
    assert!(world.outcomes.values().all(Delivery::is_ok));
}
