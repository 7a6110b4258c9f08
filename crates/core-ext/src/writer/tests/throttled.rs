//! Nodes that have too much to do, or are not to be sent anything.

use std::cell::RefCell;
use std::time::Duration;

use aerospike_core::ResultCode;

use super::world::{MS, What, World, ok, options, server};
use crate::error::{Error, ErrorKind};
use crate::writer::delivery::Delivery;
use crate::writer::options::WriterOptions;
use crate::writer::retry::Jitter;

#[test]
fn a_throttled_node_is_sent_less_and_the_others_are_not() {
    let taken = RefCell::new([0_u64; 3]);
    let options = WriterOptions { batch_records: 20, record_ttl: Duration::from_secs(3600), ..options() };
    let mut second = 0;
    let mut world = World::new(options, move |node, _, _| {
        let mut taken = taken.borrow_mut();
        taken[usize::from(node)] += 1;
        second += 1;
        // Node 0 throttles three of four for a while.
        if node == 0 && second < 4000 && second % 4 != 0 { server(ResultCode::DeviceOverload) } else { ok() }
    });
    let mut limited = [0; 3];
    for round in 0..400 {
        (0..30).for_each(|key| world.hand((round + key * 7) as u8, What::Put));
        world.run(MS * 5);
        for (node, counts) in world.core.node_counts() {
            limited[node] += u32::from(counts.records_per_second_limit.is_some());
        }
    }
    // Its rate comes back once it takes what it is sent.
    assert!(limited[0] > 100 && limited[1..] == [0, 0], "limited in {limited:?} of 400 rounds");
    world.run(Duration::from_secs(3000));
    assert_eq!(world.core.outstanding().0, 0);
    assert!(world.outcomes.values().all(Delivery::is_ok));
    assert_eq!(world.outcomes.len(), 12_000);
}

/// A producer that hands over 50,000 records a second, one third for each node, with room for 4,000. The records that
/// were confirmed in each half second. As of half a second, the first node refuses requests with this probability.
fn confirmed_while_a_node_refuses(part: f64, half_seconds: u32) -> Vec<u64> {
    let (gap, most) = (Duration::from_micros(20), 4000);
    let most_retries = WriterOptions { max_retries: 1000, ..options() };
    let options = WriterOptions { max_outstanding_records: Some(most), batch_records: 32, ..most_retries };
    let mut world = World::new(options, |_, _, _| ok());
    let mut random = Jitter::new(3);
    world.refuses = Box::new(move |node, at| {
        node == 0 && at > 500 * MS && random.part_of(Duration::from_secs(1)).as_secs_f64() < part
    });
    let (mut number, mut rates, mut before) = (0_u32, Vec::new(), 0);
    for half in 1..=half_seconds {
        while world.now - world.start < 500 * MS * half {
            if world.core.outstanding().0 >= most {
                world.core.wait_for_room(true);
                world.settle();
                while world.core.outstanding().0 >= most {
                    world.run(MS / 10);
                }
                world.core.wait_for_room(false);
            }
            let mut digest = [(number % 3) as u8; 20];
            digest[1..5].copy_from_slice(&number.to_be_bytes());
            world.settle();
            world.hand_of(digest, What::Put, 200);
            number += 1;
            let next = world.now + gap;
            world.run(gap);
            world.now = world.now.max(next);
        }
        let ok = world.core.counts().ok;
        rates.push(ok - before);
        before = ok;
    }
    rates
}

#[test]
fn a_node_that_refuses_some_requests_leaves_the_others_their_rate() {
    for part in [0.1, 0.3, 0.5] {
        let rates = confirmed_while_a_node_refuses(part, 12);
        let (healthy, later) = (rates[0], rates[8..].iter().sum::<u64>() / 4);
        assert!(later as f64 > 0.9 * healthy as f64, "{part}: {rates:?}");
        assert!(rates.iter().all(|rate| *rate as f64 > 0.3 * healthy as f64), "{part}: {rates:?}");
    }
}

#[test]
fn a_node_that_is_not_to_be_sent_anything_costs_no_attempt() {
    let mut world = World::new(WriterOptions { record_ttl: 200 * MS, ..options() }, |_, _, _| ok());
    world.map.refused = Some(0);
    (0..60).for_each(|key| world.hand(key, What::Put));
    world.run(100 * MS);
    assert_eq!(world.outcomes.len(), 40, "the others");
    assert!(world.requests.iter().all(|(_, node, _)| *node != 0));
    // It takes what has waited once it may.
    world.map.refused = None;
    world.run(30 * MS);
    assert_eq!(world.outcomes.len(), 60);
    assert!(world.outcomes.values().all(|delivery| delivery.is_ok() && delivery.attempt_count() == 1));
    let counts = world.core.counts();
    assert_eq!((counts.attempts, counts.retries), (60, 0));
    // What waits for too long says why.
    world.map.refused = Some(0);
    (0..60).for_each(|key| world.hand(key, What::Put));
    world.run(Duration::from_secs(1));
    assert_eq!(world.outcomes.len(), 120);
    let failed: Vec<_> = world.outcomes.values().filter_map(Delivery::error).collect();
    assert_eq!(failed.len(), 20);
    for error in failed {
        assert!(matches!(error.cause().map(Error::kind), Some(ErrorKind::MaxErrorRate)), "{error:?}");
        assert!(!error.in_doubt());
    }
}
