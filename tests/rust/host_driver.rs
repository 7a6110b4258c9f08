//! The host driver in a foreign event loop: a `poll(2)` loop of a few lines.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::cluster::Cluster;
use aerolane::command::{decode, encode};
use aerolane::driver::host::{HostDriver, WatchChange};
use aerolane::lane::{Class, Failure, LaneSizing, Millis, Sink, Ticket};
use aerolane::topology::{NodeId, Route};
use aerolane::{Key, PoolSizing, ReadPolicy, Value, WritePolicy, as_bin};
use aerolane_embedded::faults::{FaultAction, FaultRule};
use common::{Target, policy};

/// What became of the requests, by token.
#[derive(Default)]
struct Outcomes(BTreeMap<u32, Result<Vec<u8>, Failure>>);

impl Sink<u32> for Outcomes {
    fn answer(&mut self, token: u32, body: &[u8]) {
        assert!(self.0.insert(token, Ok(body.to_vec())).is_none(), "two outcomes for {token}");
    }

    fn part(&mut self, _: &mut u32, _: &[u8], _: bool) {
        unreachable!("no batches here");
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        assert!(self.0.insert(token, Err(failure.clone())).is_none(), "two outcomes for {token}");
    }
}

struct Loop {
    cluster: Arc<Cluster>,
    driver: HostDriver<u32>,
    outcomes: Outcomes,
    waker: UnixStream,
    /// Descriptors, and whether they are watched for writing.
    watched: BTreeMap<RawFd, bool>,
}

impl Loop {
    fn new(target: &Target) -> Self {
        let cluster = Cluster::connect_blocking(&policy(), target.seeds()).unwrap();
        let (waker, other) = UnixStream::pair().unwrap();
        waker.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        let sizing = LaneSizing::from(&PoolSizing { min: 1, max: 2, depth: 16, ..PoolSizing::default() });
        let driver = HostDriver::new(&cluster, sizing, move || {
            // A full pipe wakes, too.
            let _ = (&other).write(&[1]);
        });
        Self { cluster, driver, outcomes: Outcomes::default(), waker, watched: BTreeMap::new() }
    }

    fn now(&self) -> Millis {
        self.driver.millis(Instant::now())
    }

    /// Submits what `encode` writes for the master of the key.
    fn submit(&mut self, token: u32, key: &Key, timeout: u64, encode: impl FnOnce(&mut Vec<u8>)) -> (NodeId, Ticket) {
        let partition = aerolane_wire::digest::partition_id(&key.digest());
        let topology = self.cluster.topology();
        let map = topology.namespace(key.namespace()).unwrap();
        let node = map.route(partition, &mut Route::write(aerolane::Replica::Master), 0).unwrap();
        let (mut request, now) = (Vec::new(), self.now());
        encode(&mut request);
        let ticket = self.driver.submit(node, Class::Single, &request, now.plus(timeout), now, token);
        (node, ticket.expect("there is room"))
    }

    fn put(&mut self, token: u32, key: &Key, value: Value) -> (NodeId, Ticket) {
        let bins = [as_bin!("v", value)];
        self.submit(token, key, 10_000, |out| {
            encode::write(&WritePolicy::default(), key, &bins, encode::WriteKind::Put, 0, out).unwrap();
        })
    }

    fn get(&mut self, token: u32, key: &Key, timeout: u64) -> (NodeId, Ticket) {
        self.submit(token, key, timeout, |out| {
            encode::read(&ReadPolicy::default().base_policy, key, &aerolane::Bins::All, 0, out).unwrap();
        })
    }

    /// One turn of the loop.
    fn turn(&mut self) {
        self.driver.flush(&mut self.outcomes);
        self.follow_changes();
        let timeout = self.driver.next_tick().map_or(50, |at| at.since(self.now()).min(50));
        let entry = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
        let mut polled = vec![entry(self.waker.as_raw_fd(), libc::POLLIN)];
        let watched = self.watched.iter();
        polled.extend(watched.map(|(fd, out)| entry(*fd, libc::POLLIN | if *out { libc::POLLOUT } else { 0 })));
        // SAFETY: the pointer and the length are those of a live vector of `pollfd`.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout as libc::c_int) };
        let now = self.now();
        let mut tick = self.driver.next_tick().is_some_and(|at| at <= now);
        for polled in polled {
            assert_eq!(polled.revents & libc::POLLNVAL, 0, "a socket was closed while it is watched");
            if polled.fd == self.waker.as_raw_fd() {
                tick |= self.waker.read(&mut [0; 64]).is_ok();
                continue;
            }
            if polled.revents & libc::POLLOUT != 0 {
                self.driver.writable(polled.fd, &mut self.outcomes);
            }
            if polled.revents & !libc::POLLOUT != 0 {
                self.driver.readable(polled.fd, now, &mut self.outcomes);
            }
        }
        if tick {
            self.driver.tick(now, &mut self.outcomes);
        }
        self.follow_changes();
    }

    fn follow_changes(&mut self) {
        while let Some(change) = self.driver.watch_change() {
            match change {
                WatchChange::Add(fd) => assert!(self.watched.insert(fd, false).is_none(), "{fd} is watched already"),
                WatchChange::Writable(fd, out) => *self.watched.get_mut(&fd).expect("it is watched") = out,
                WatchChange::Remove(fd) => {
                    assert!(self.watched.remove(&fd).is_some(), "{fd} is not watched");
                    assert!(is_open(fd), "closed before the loop was told");
                }
            }
        }
    }

    fn turn_until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let limit = Instant::now() + Duration::from_secs(10);
        while !holds(self) {
            assert!(Instant::now() < limit, "{what}");
            self.turn();
        }
    }
}

fn is_open(fd: RawFd) -> bool {
    // SAFETY: asks for the flags of a number; harmless for any number.
    unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

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
        let (to, ticket) = host.get(token, &target.key(i64::from(token)), 10_000);
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
        host.get(token, &target.key(i64::from(token)), 10_000);
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
    host.get(1, &key, 100);
    let begun = Instant::now();
    host.turn_until("expired", |host| host.outcomes.0.contains_key(&1));
    assert!(begun.elapsed() >= Duration::from_millis(100) && begun.elapsed() < Duration::from_secs(2));
    let failure = host.outcomes.0.remove(&1).unwrap().unwrap_err();
    assert!(failure.sent, "{failure:?}");
    // The blocked connection is replaced.
    target.faults().clear_faults();
    host.get(2, &key, 10_000);
    host.turn_until("answered on another connection", |host| host.outcomes.0.contains_key(&2));
    assert!(host.outcomes.0.remove(&2).unwrap().is_ok());
    // The node goes away: its sockets are taken off the watch list before they are closed.
    target.faults().stop_node(node).unwrap();
    host.turn_until("the connections have ended", |host| host.watched.is_empty());
    target.faults().start_node(node).unwrap();
    let id = host.cluster.topology().active_nodes().next().map(|node| node.id());
    if let Some(id) = id {
        host.driver.node_gone(id, &mut host.outcomes);
        host.driver.node_back(id);
    }
    host.driver.close(&mut host.outcomes);
    host.follow_changes();
    assert!(host.watched.is_empty());
    host.turn();
}
