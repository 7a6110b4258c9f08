//! The host driver in a foreign event loop.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Target, policy};
use crate::poll_loop::Loop;
use aerolane::raw::RawClient;
use aerolane::raw::command::decode;
use aerolane::raw::lane::Class;
use aerolane::{ClientConfig, PoolSizing, Value};
use aerolane_embedded::faults::{FaultAction, FaultRule};

#[test]
fn reads_and_writes_in_a_poll_loop() {
    let target = Target::embedded(3);
    let mut host = Loop::new(&target);
    for token in 0..500 {
        host.put(token, &target.key(i64::from(token)), Value::Int(token.into()));
    }
    host.turn_until("all are written", |host| host.outcomes.0.len() == 500);
    let node: Arc<str> = Arc::from("test");
    for (_, outcome) in std::mem::take(&mut host.outcomes.0) {
        decode::write(&outcome.unwrap(), &node).unwrap();
    }
    let given_up: BTreeSet<u32> = (0..500).filter(|token| token % 7 == 3).collect();
    for token in 0..500 {
        let (to, ticket) = host.get(token, &target.key(i64::from(token)), 60_000);
        if given_up.contains(&token) {
            let now = host.now();
            assert_eq!(host.driver.cancel(to, Class::Single, ticket, now), Some(token));
        }
    }
    host.turn_until("all are read", |host| host.outcomes.0.len() == 500 - given_up.len());
    let want = decode::Want { bins: true, results: false, nil_bins: false };
    for (token, outcome) in std::mem::take(&mut host.outcomes.0) {
        let record = decode::record(&outcome.unwrap(), want, &node).unwrap();
        assert_eq!(record.bins["v"], Value::Int(token.into()));
    }
}

#[test]
fn large_values_both_ways() {
    let target = Target::embedded(1);
    let mut host = Loop::new(&target);
    let value = Value::from("x".repeat(700_000));
    for token in 0..8 {
        host.put(token, &target.key(i64::from(token)), value.clone());
        host.turn();
    }
    host.turn_until("all are written", |host| host.outcomes.0.len() == 8);
    host.outcomes.0.clear();
    for token in 0..8 {
        host.get(token, &target.key(i64::from(token)), 60_000);
    }
    host.turn_until("all are read", |host| host.outcomes.0.len() == 8);
    assert!(host.outcomes.0.values().all(|outcome| outcome.as_ref().unwrap().len() > 700_000));
}

#[test]
fn deadlines_losses_and_the_end() {
    let target = Target::embedded(1);
    let mut host = Loop::new(&target);
    let (key, node) = (target.key(1), target.faults().nodes()[0].id);
    host.put(0, &key, Value::Int(1));
    host.turn_until("written", |host| host.outcomes.0.remove(&0).is_some());
    // No answer comes.
    target.faults().set_fault(Some(node), &FaultRule::new(FaultAction::Stall)).unwrap();
    let begun = Instant::now();
    host.get(1, &key, 100);
    host.turn_until("expired", |host| host.outcomes.0.contains_key(&1));
    assert!(begun.elapsed() >= Duration::from_millis(100) && begun.elapsed() < Duration::from_secs(30));
    let failure = host.outcomes.0.remove(&1).unwrap().unwrap_err();
    assert!(failure.sent, "{failure:?}");
    // The blocked connection is replaced.
    target.faults().clear_faults();
    host.get(2, &key, 60_000);
    host.turn_until("answered on another connection", |host| host.outcomes.0.contains_key(&2));
    assert!(host.outcomes.0.remove(&2).unwrap().is_ok());
    // The node goes away: its sockets are taken off the watch list before they are closed.
    target.faults().stop_node(node).unwrap();
    host.turn_until("the connections have ended", |host| host.watched.is_empty());
    target.faults().start_node(node).unwrap();
    host.driver.close(&mut host.outcomes);
    host.follow_changes();
    assert!(host.watched.is_empty());
    host.turn();
}

/// The loop was late at one tick, and is in time at that of the deadline: the request has waited for a connection all along.
#[test]
fn requests_in_line_outlive_a_loop_that_was_late_before() {
    let target = Target::embedded(1);
    for attempt in 1.. {
        let pool = PoolSizing::default().with_min(0).with_max(1);
        let config = ClientConfig::from(policy()).with_pool(pool);
        let mut host = Loop::of(&RawClient::connect_blocking(&config, target.seeds()).unwrap());
        let (node, first) = host.get(1, &target.key(1), 20);
        host.get(2, &target.key(1), 200);
        host.driver.flush(&mut host.outcomes);
        let due = host.driver.next_tick().unwrap();
        host.driver.tick(due.plus(100), &mut host.outcomes);
        assert_eq!(host.driver.cancel(node, Class::Single, first, due.plus(100)), Some(1));
        // The deadline of the second one falls into these ticks, each of which is in time.
        let end = due.plus(250);
        while let Some(due) = host.driver.next_tick().filter(|due| *due < end) {
            host.driver.tick(due, &mut host.outcomes);
        }
        if host.driver.watch_change().is_some() {
            // The connection is open already: on a busy machine all this has taken its time.
            assert!(attempt < 100, "no connection takes some microseconds to open");
            continue;
        }
        assert!(host.outcomes.0.is_empty(), "{:?}", host.outcomes.0);
        host.turn_until("the other one is answered", |host| host.outcomes.0.len() == 1);
        assert!(host.outcomes.0[&2].is_ok());
        return;
    }
}
