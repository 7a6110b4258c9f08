//! `client.stats()` shows how a client adapts to the speed of a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::{Bins, Client, ClientPolicy, ConnectionStats, ReadPolicy, WritePolicy, as_bin};
use aerolane_embedded::conditions::{Conditions, ServiceKind};

const READERS: usize = 32;
const CONNECTIONS: usize = 8;
const SERVICE_TIME: Duration = Duration::from_millis(2);

/// Reads with so many tasks until the sum of all nodes is as expected.
async fn read_until(client: &Client, target: &Target, readers: usize, expected: impl Fn(&ConnectionStats) -> bool) {
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..readers)
        .map(|_| {
            let (client, key, done) = (client.clone(), target.key(1), Arc::clone(&done));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
                }
            })
        })
        .collect();
    let begun = Instant::now();
    while !expected(&client.stats().total) && begun.elapsed() < Duration::from_secs(120) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let stats = client.stats();
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "not within 120 s:\n{stats}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_node_gets_more_connections_and_its_service_time_is_shown() {
    let target = Target::embedded(1);
    let policy = ClientPolicy { max_conns_per_node: CONNECTIONS, ..policy() };
    let client = Client::new(&policy, target.seeds()).await.unwrap();
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).await.unwrap();
    let before = client.stats().total;
    assert!(before.service_time.is_none() && (1..=before.open).contains(&before.in_use), "{}", client.stats());

    let slow = Conditions::new().service_time(ServiceKind::Read, "2ms".parse().unwrap());
    target.faults().set_conditions(None, &slow).unwrap();
    // Gaps between answers are at least as long as the service, less what a pause of the machine moves together.
    let is_slow = |time: Option<Duration>| time.is_some_and(|time| time >= SERVICE_TIME.mul_f64(0.95));
    // More readers than connections: where each request has its own, nothing shows how long one occupies it.
    read_until(&client, &target, READERS, |total| {
        total.in_use > 3 && total.in_use <= total.open && is_slow(total.service_time)
    })
    .await;
    // What was not measured is not shown: the first answers alone, if any were, are those of the fast node.
    let shared = client.stats().total;
    assert_ne!(shared.round_trip, Some(Duration::from_micros(100)), "{}", client.stats());
    // And fewer: where requests wait for each other, nothing shows how long one alone takes.
    read_until(&client, &target, CONNECTIONS / 2, |total| is_slow(total.round_trip)).await;

    let stats = client.stats();
    let node = stats.nodes[0].connections;
    assert_eq!((node.in_use, node.service_time), (stats.total.in_use, stats.total.service_time), "{stats}");
    assert!(stats.to_string().lines().next().unwrap().contains("in use   service"), "{stats}");
    client.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_are_closed_after_the_time_of_the_policy() {
    let target = Target::embedded(1);
    let policy = ClientPolicy { idle_timeout: 1000, ..policy() };
    let client = Client::new(&policy, target.seeds()).await.unwrap();
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).await.unwrap();
    let slow = Conditions::new().service_time(ServiceKind::Read, "2ms".parse().unwrap());
    target.faults().set_conditions(None, &slow).unwrap();
    read_until(&client, &target, READERS, |total| total.open > 6).await;
    // What is usual, 55 s, would be too late.
    let begun = Instant::now();
    while client.stats().total.open > 3 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", client.stats());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    client.close().await.unwrap();
}
