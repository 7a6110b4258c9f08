//! A foreign event loop of a few lines, over `poll(2)`, that drives a lane.

#![allow(dead_code, unreachable_pub)] // each test file uses a part of it

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::raw::RawClient;
use aerolane::raw::command::{decode, encode};
use aerolane::raw::driver::host::{HostDriver, WatchChange};
use aerolane::raw::lane::{Class, Failure, Millis, Sink, Ticket};
use aerolane::raw::topology::{NodeId, Route};
use aerolane::{ClientConfig, Key, PoolSizing, ReadPolicy, Value, WritePolicy, as_bin};

use crate::common::{PATIENCE_MS, Patient, Target, policy};

/// What became of the requests, by token.
#[derive(Default)]
pub struct Outcomes(pub BTreeMap<u32, Result<Vec<u8>, Failure>>);

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

pub struct Loop {
    pub client: Option<RawClient>,
    pub driver: HostDriver<u32>,
    pub outcomes: Outcomes,
    waker: UnixStream,
    /// Descriptors, and whether they are watched for writing.
    pub watched: BTreeMap<RawFd, bool>,
    pub ticks: u64,
    /// Sockets with an error are told of once and not watched any more, as libuv does.
    pub errors_once: bool,
    forgotten: BTreeSet<RawFd>,
}

/// A client with at most so many connections per node.
pub fn client(target: &Target, max: u32) -> RawClient {
    let pool = PoolSizing::default().with_min(1).with_max(max).with_depth(16);
    let config = ClientConfig::from(policy()).with_pool(pool);
    RawClient::connect_blocking(&config, target.seeds()).unwrap()
}

impl Loop {
    pub fn new(target: &Target) -> Self {
        Self::of(&client(target, 2))
    }

    pub fn of(client: &RawClient) -> Self {
        let (waker, other) = UnixStream::pair().unwrap();
        waker.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        let driver = client.host_driver(move || {
            // A full pipe wakes, too.
            let _ = (&other).write(&[1]);
        });
        let client = Some(client.clone());
        Self {
            client,
            driver,
            outcomes: Outcomes::default(),
            waker,
            watched: BTreeMap::new(),
            ticks: 0,
            errors_once: false,
            forgotten: BTreeSet::new(),
        }
    }

    /// The master of a key; waits while the map is not yet rebuilt after the loss of a node.
    pub fn master(&self, key: &Key) -> NodeId {
        let partition = aerolane_wire::digest::partition_id(&key.digest());
        let cluster = self.client.as_ref().unwrap().cluster();
        let last = Instant::now() + Duration::from_secs(60);
        loop {
            let topology = cluster.topology();
            let map = topology.namespace(key.namespace()).unwrap();
            match map.route(partition, &mut Route::write(aerolane::Replica::Master), 0) {
                Ok(node) => return node,
                Err(error) => assert!(Instant::now() < last, "{error}"),
            }
            cluster.request_refresh();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The value that was read by this token.
    pub fn value(&mut self, token: u32) -> Value {
        let want = decode::Want { bins: true, results: false, nil_bins: false };
        let answer = self.outcomes.0.remove(&token).unwrap().unwrap();
        decode::record(&answer, want, &Arc::from("test")).unwrap().bins["v"].clone()
    }

    pub fn now(&self) -> Millis {
        self.driver.millis(Instant::now())
    }

    /// Submits what `encode` writes for the master of the key.
    pub fn submit(
        &mut self,
        token: u32,
        key: &Key,
        timeout: u64,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> (NodeId, Ticket) {
        let node = self.master(key);
        let (mut request, now) = (Vec::new(), self.now());
        encode(&mut request);
        let deadline = self.driver.deadline(Some(Instant::now() + Duration::from_millis(timeout)));
        let ticket = self.driver.submit(node, Class::Single, &request, deadline, now, token);
        (node, ticket.expect("there is room"))
    }

    pub fn put(&mut self, token: u32, key: &Key, value: Value) -> (NodeId, Ticket) {
        let bins = [as_bin!("v", value)];
        self.submit(token, key, PATIENCE_MS.into(), |out| {
            encode::write(&WritePolicy::patient(), key, &bins, encode::WriteKind::Put, 0, out).unwrap();
        })
    }

    pub fn get(&mut self, token: u32, key: &Key, timeout: u64) -> (NodeId, Ticket) {
        self.submit(token, key, timeout, |out| {
            encode::read(&ReadPolicy::patient().base_policy, key, &aerolane::Bins::All, 0, out).unwrap();
        })
    }

    /// One turn of the loop.
    pub fn turn(&mut self) {
        self.driver.flush(&mut self.outcomes);
        self.follow_changes();
        let timeout = self.driver.next_tick().map_or(50, |at| at.since(self.now()).min(50));
        let entry = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
        let mut polled = vec![entry(self.waker.as_raw_fd(), libc::POLLIN)];
        let watched = self.watched.iter().filter(|(fd, _)| !self.forgotten.contains(fd));
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
            if self.errors_once && polled.revents & libc::POLLERR != 0 {
                self.forgotten.insert(polled.fd);
            }
            if polled.revents & !libc::POLLOUT != 0 {
                self.driver.readable(polled.fd, now, &mut self.outcomes);
            }
        }
        if tick {
            self.ticks += 1;
            self.driver.tick(now, &mut self.outcomes);
        }
        self.follow_changes();
    }

    pub fn follow_changes(&mut self) {
        while let Some(change) = self.driver.watch_change() {
            match change {
                WatchChange::Add(fd) => assert!(self.watched.insert(fd, false).is_none(), "{fd} is watched already"),
                WatchChange::Writable(fd, out) => *self.watched.get_mut(&fd).expect("it is watched") = out,
                WatchChange::Remove(fd) => {
                    self.forgotten.remove(&fd);
                    assert!(self.watched.remove(&fd).is_some(), "{fd} is not watched");
                    assert!(is_open(fd), "closed before the loop was told");
                }
            }
        }
    }

    pub fn turn_until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let limit = Instant::now() + Duration::from_secs(60);
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
