//! What clients cost a process that has several of them, and how they leave it. Tests that count the threads of the process
//! take turns.

mod common;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use aerolane::{ClientConfig, SyncClient};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerospike_core::{Bins, ClientPolicy, ReadPolicy, WritePolicy, as_bin, as_key};
use common::control_threads;

const SOON: Duration = Duration::from_secs(60);

static TURN: Mutex<()> = Mutex::new(());

fn until(what: &str, test: impl Fn() -> bool) {
    let start = Instant::now();
    while !test() {
        assert!(start.elapsed() < SOON, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn policy() -> ClientPolicy {
    ClientPolicy { tend_interval: 250, timeout: 20_000, login_timeout: 20_000, ..ClientPolicy::default() }
}

fn works(client: &SyncClient) {
    let key = as_key!("test", "idle", 1);
    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).unwrap();
    client.get(&ReadPolicy::default(), &key, Bins::All).unwrap();
}

#[test]
fn all_clients_share_one_control_thread() {
    let _turn = TURN.lock();
    let clusters = [1, 2].map(|nodes| EmbeddedCluster::builder().nodes(nodes).start().unwrap());
    let connect = |n: usize| SyncClient::with_config(ClientConfig::from(policy()), &clusters[n % 2].seeds()).unwrap();
    for _ in 0..2 {
        let mut clients: Vec<_> = (0..6).map(connect).collect();
        until("one control thread", || control_threads() == 1);
        clients.iter().for_each(works);
        // However a client ends, the others stay; the last one ends the thread.
        clients.pop().unwrap().close().unwrap();
        drop(clients.pop());
        drop(clients.drain(..2));
        clients.iter().for_each(works);
        assert_eq!(control_threads(), 1);
        clients[0].close().unwrap();
        works(&clients[1]);
        drop(clients);
        until("no control thread", || control_threads() == 0);
    }
}

#[test]
fn a_dropped_client_waits_for_no_node() {
    let _turn = TURN.lock();
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let client = SyncClient::with_config(ClientConfig::from(policy()), &embedded.seeds()).unwrap();
    works(&client);
    let other = client.clone();
    let stall = FaultRule::new(FaultAction::Stall).on(RequestKind::Info);
    let faults: Vec<_> =
        embedded.nodes().iter().map(|node| (node.id, embedded.set_fault(Some(node.id), &stall).unwrap()[0])).collect();
    until("every node was asked in vain", || {
        faults.iter().all(|(node, fault)| embedded.fault_struck(*node, *fault).unwrap().unwrap_or(0) > 0)
    });
    drop(client);
    works(&other);
    let start = Instant::now();
    drop(other);
    // aerospike-core waits for the answers: 2 s until it is given up, which nobody should see.
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    until("no control thread", || control_threads() == 0);
}
