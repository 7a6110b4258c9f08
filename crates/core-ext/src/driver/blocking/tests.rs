//! The blocking driver against a server of a few lines.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::lane::FailureKind;
use crate::topology::Breaker;

/// Answers each request (one byte behind a frame header: how many ms to wait, or [`HELD`]) with a message frame that ends
/// in the same byte.
struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    answers: Arc<Answers>,
}

/// A request that is answered when the server is told to.
const HELD: u8 = 255;

#[derive(Default)]
struct Answers {
    released: AtomicBool,
    /// The bytes of the requests that were answered, in order.
    given: Mutex<Vec<u8>>,
    /// The connections of those that were held.
    held: Mutex<Vec<SocketAddr>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, streams) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<TcpStream>>>::default());
        let answers = Arc::<Answers>::default();
        let (count, kept, shared) = (Arc::clone(&accepted), Arc::clone(&streams), Arc::clone(&answers));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                kept.lock().unwrap().push(stream.try_clone().unwrap());
                let answers = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &answers));
            }
        });
        Self { address, accepted, streams, answers }
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    fn pools(&self, sizing: PoolSizing) -> Pools {
        Pools::new(Box::new(Connect(self.address)), sizing)
    }

    fn close_all(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
    }
}

fn serve(mut stream: TcpStream, answers: &Answers) {
    let mut request = [0; 9];
    while stream.read_exact(&mut request).is_ok() {
        if request[8] == HELD {
            answers.held.lock().unwrap().push(stream.peer_addr().unwrap());
            while !answers.released.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        } else {
            thread::sleep(Duration::from_millis(request[8].into()));
        }
        answers.given.lock().unwrap().push(request[8]);
        let mut answer = vec![2, 3, 0, 0, 0, 0, 0, 23, 22];
        answer.extend([0; 21]);
        answer.push(request[8]);
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

struct Connect(SocketAddr);

impl BlockingOpener for Connect {
    fn open(&self, _node: &NodeInfo, _timeout: Option<Duration>) -> Result<BlockingStream, Error> {
        let connected = TcpStream::connect(self.0).and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        connected.map(BlockingStream::Plain).map_err(|e| Error::connection_io("connect", e))
    }

    fn lost(&self, _node: NodeId) {}
}

fn node() -> NodeInfo {
    NodeInfo::new(NodeId::from_index(0), "A1", "test:1", vec![], Arc::new(Breaker::new(0, 1)))
}

fn sizing(max: u32) -> PoolSizing {
    PoolSizing { min: 0, max, ..PoolSizing::default() }
}

fn call(pools: &Pools, wait_ms: u8, timeout_ms: u64) -> Result<u8, ExchangeError> {
    call_at(Instant::now(), pools, wait_ms, timeout_ms)
}

/// A call whose caller has read this time from the clock.
fn call_at(now: Instant, pools: &Pools, wait_ms: u8, timeout_ms: u64) -> Result<u8, ExchangeError> {
    let request = [2, 3, 0, 0, 0, 0, 0, 1, wait_ms];
    let deadline = (timeout_ms > 0).then(|| now + Duration::from_millis(timeout_ms));
    let job = Job {
        request: &request,
        now,
        deadline,
        reads: true,
        metric_key: MetricKey::NONE,
        interrupt: Interrupt::default(),
    };
    pools.exchange(&node(), job, |body| body[22])
}

#[test]
fn each_thread_keeps_a_connection_of_its_own() {
    let server = Server::start();
    let pools = server.pools(sizing(100));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(call(&pools, 1, 0).unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(server.accepted(), 3);
    let counters = pools.counters(NodeId::from_index(0));
    assert_eq!((counters.open, counters.idle, counters.requests, counters.answers), (3, 3, 150, 150));
    assert_eq!((counters.bytes_sent, counters.bytes_received), (150 * 9, 150 * 31));
}

#[test]
fn the_line_is_first_come_first_served() {
    let server = Server::start();
    let pools = server.pools(sizing(1));
    let pools = &pools;
    let waiting = || pools.counters(NodeId::from_index(0)).queued;
    let under_way = || pools.counters(NodeId::from_index(0)).requests;
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let limit = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < limit, "{what}");
            thread::sleep(Duration::from_millis(1));
        }
    };
    thread::scope(|scope| {
        for index in 0..6 {
            scope.spawn(move || {
                call(pools, if index == 0 { HELD } else { index }, 0).unwrap();
                // Who comes again stands at the end.
                call(pools, 10 + index, 0).unwrap();
            });
            until("it is in line", &|| if index == 0 { under_way() == 1 } else { waiting() == u64::from(index) });
        }
        server.answers.released.store(true, Ordering::SeqCst);
    });
    let mut given = server.answers.given.lock().unwrap().clone();
    given[6..].sort_unstable();
    assert_eq!(given, [HELD, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn an_answer_that_comes_too_late_is_nobodys() {
    let server = Server::start();
    let pools = server.pools(sizing(1));
    let start = Instant::now();
    let error = call(&pools, HELD, 30).unwrap_err();
    let ExchangeError::Failed(failure) = error else { panic!("{error:?}") };
    assert!(matches!(failure.kind, FailureKind::Expired) && failure.sent, "{failure:?}");
    assert!((30..30_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert_eq!(call(&pools, 7, 0).unwrap(), 7);
    assert_eq!(server.accepted(), 2);
    let counters = pools.counters(NodeId::from_index(0));
    assert_eq!((counters.open, counters.closed, counters.timeouts), (1, 1, 1));
}

#[test]
fn a_write_that_blocks_ends_in_time_and_counts_as_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let pools = Pools::new(Box::new(Connect(listener.local_addr().unwrap())), sizing(1));
    let request = vec![0; 64 << 20];
    let now = Instant::now();
    let job = Job {
        request: &request,
        now,
        deadline: Some(now + Duration::from_millis(100)),
        reads: false,
        metric_key: MetricKey::NONE,
        interrupt: Interrupt::default(),
    };
    let error = pools.exchange(&node(), job, |_| ()).unwrap_err();
    let ExchangeError::Failed(failure) = error else { panic!("{error:?}") };
    assert!(matches!(failure.kind, FailureKind::Expired) && !failure.sent, "{failure:?}");
    assert!((100..30_000).contains(&now.elapsed().as_millis()), "{:?}", now.elapsed());
}

#[test]
fn connections_that_died_at_rest_are_noticed() {
    let server = Server::start();
    let pools = server.pools(sizing(10));
    // The times are what the callers say.
    let now = Instant::now();
    assert_eq!(call_at(now, &pools, 1, 0).unwrap(), 1);
    server.close_all();
    // Used soon again: the reset shows when it is used. A read that got nothing counts as not sent.
    let error = call_at(now, &pools, 1, 0).unwrap_err();
    let ExchangeError::Failed(failure) = error else { panic!("{error:?}") };
    assert!(matches!(failure.kind, FailureKind::ConnectionLost(_)) && !failure.sent, "{failure:?}");
    assert_eq!(call(&pools, 2, 0).unwrap(), 2);
    server.close_all();
    // After a rest it is looked at first.
    assert_eq!(call_at(Instant::now() + LOOK_AFTER, &pools, 3, 0).unwrap(), 3);
    assert_eq!(server.accepted(), 3);
}

#[test]
fn trimming_keeps_the_minimum_and_closing_everything_nothing() {
    let server = Server::start();
    let pools = server.pools(PoolSizing { min: 1, max: 10, ..PoolSizing::default() });
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| call(&pools, 50, 0).unwrap());
        }
    });
    let open = || pools.counters(NodeId::from_index(0)).open;
    assert_eq!(open(), 4);
    pools.trim(Some(Duration::from_secs(60)), |_| true);
    assert_eq!(open(), 4);
    pools.trim(Some(Duration::ZERO), |_| true);
    assert_eq!(open(), 1);
    // The node is gone, and comes back.
    pools.trim(None, |_| false);
    assert_eq!(open(), 0);
    let error = call(&pools, 1, 0).unwrap_err();
    let ExchangeError::Failed(failure) = error else { panic!("{error:?}") };
    assert!(matches!(failure.kind, FailureKind::NodeGone) && !failure.sent, "{failure:?}");
    pools.trim(None, |_| true);
    assert_eq!(call(&pools, 1, 0).unwrap(), 1);
    pools.close();
    assert_eq!(open(), 0);
    let error = call(&pools, 1, 0).unwrap_err();
    let ExchangeError::Failed(failure) = error else { panic!("{error:?}") };
    assert!(matches!(failure.kind, FailureKind::Closed) && !failure.sent, "{failure:?}");
}

#[test]
fn many_threads_share_connections_and_get_their_own_answers() {
    let server = Server::start();
    let pools = server.pools(sizing(256));
    let lost = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..40_usize {
            let (pools, lost) = (&pools, &lost);
            scope.spawn(move || {
                for round in 0..200_usize {
                    let byte = ((thread * 7 + round) % 3) as u8;
                    // Some give up early, and their late answers are nobody's.
                    let hurried = (thread + round).is_multiple_of(50);
                    match call(pools, if hurried { 30 } else { byte }, if hurried { 3 } else { 60_000 }) {
                        Ok(answer) => assert_eq!(answer, if hurried { 30 } else { byte }),
                        Err(ExchangeError::Failed(failure)) => {
                            assert!(hurried && matches!(failure.kind, FailureKind::Expired), "{failure:?}");
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                }
            });
        }
    });
    let counters = pools.counters(NodeId::from_index(0));
    let lost = lost.into_inner() as u64;
    assert!(lost > 100, "{lost}");
    // Some of those who give up may still wait for their connection to open.
    assert_eq!((counters.answers + lost, counters.timeouts + counters.open_failures), (8000, lost), "{counters:?}");
    assert_eq!((counters.in_flight, counters.queued), (0, 0), "{counters:?}");
    assert!(counters.requests >= 8000 - lost && counters.requests <= 8000, "{counters:?}");
    pools.trim(Some(Duration::ZERO), |_| true);
    pools.trim(Some(Duration::ZERO), |_| true);
    assert_eq!(pools.counters(NodeId::from_index(0)).open, 0);
}

/// The most of 40 calls at a time that went on one connection, after other calls had warmed up what is shared.
fn most_on_a_connection(depth: u32) -> usize {
    let server = Server::start();
    let pools = server.pools(PoolSizing { depth, ..sizing(256) });
    let limit = Instant::now() + Duration::from_secs(60);
    let shared = &pools.pools_of(NodeId::from_index(0)).unwrap().combiners;
    let in_use = shared.len().min(40_usize.div_ceil(depth.min(32) as usize));
    let is_warm = || shared[..in_use].iter().all(|combiner| combiner.counts().2);
    let warm = Barrier::new(41);
    let all_wait = || pools.counters(NodeId::from_index(0)).in_flight == 40;
    let all_waited = thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                while !is_warm() && Instant::now() < limit {
                    assert_eq!(call(&pools, 1, 0).unwrap(), 1);
                }
                warm.wait();
                assert_eq!(call(&pools, HELD, 0).unwrap(), HELD);
            });
        }
        // From here on, what is in flight is held.
        warm.wait();
        while !all_wait() && Instant::now() < limit {
            thread::sleep(Duration::from_millis(1));
        }
        let all_waited = all_wait();
        server.answers.released.store(true, Ordering::SeqCst);
        all_waited
    });
    assert!(all_waited, "{:?}", pools.counters(NodeId::from_index(0)));
    let held = server.answers.held.lock().unwrap();
    assert_eq!(held.len(), 40);
    held.iter().map(|on| held.iter().filter(|other| *other == on).count()).max().unwrap()
}

#[test]
fn no_more_share_a_connection_than_the_depth_allows() {
    assert_eq!(most_on_a_connection(1), 1);
    assert_eq!(most_on_a_connection(SHARE_FROM as u32 - 1), 1);
    let most = most_on_a_connection(SHARE_FROM as u32);
    assert!((2..=SHARE_FROM).contains(&most), "{most}");
    let most = most_on_a_connection(128);
    assert!((2..=combined::DEPTH).contains(&most), "{most}");
}

#[test]
fn closing_ends_calls_on_shared_connections() {
    let server = Server::start();
    let pools = server.pools(sizing(256));
    let start = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..40)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        if let Err(ExchangeError::Failed(failure)) = call(&pools, 20, 0) {
                            return failure;
                        }
                    }
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(200));
        pools.close();
        for thread in threads {
            let failure = thread.join().unwrap();
            assert!(matches!(failure.kind, FailureKind::Closed), "{failure:?}");
        }
    });
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let counters = pools.counters(NodeId::from_index(0));
    assert_eq!((counters.open, counters.in_flight), (0, 0), "{counters:?}");
}

#[test]
fn a_reset_fails_all_that_was_sent_on_a_shared_connection_and_work_goes_on() {
    let server = Server::start();
    let pools = server.pools(sizing(256));
    thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let mut failures = 0;
                for _ in 0..100 {
                    match call(&pools, 1, 60_000) {
                        Ok(answer) => assert_eq!(answer, 1),
                        Err(ExchangeError::Failed(failure)) => {
                            assert!(matches!(failure.kind, FailureKind::ConnectionLost(_)), "{failure:?}");
                            failures += 1;
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                }
                assert!(failures <= 60, "{failures}");
            });
        }
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(60));
            for stream in server.streams.lock().unwrap().drain(..) {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        }
    });
    // Connections that threads had for themselves may have died at rest: a call that meets one says so, and the next goes on.
    assert!((0..100).any(|_| call(&pools, 1, 0).is_ok_and(|answer| answer == 1)));
    assert_eq!(pools.counters(NodeId::from_index(0)).in_flight, 0);
}

/// The number of requests on the shared connection that is used first.
fn on_shared(pools: &Pools) -> usize {
    pools.pools_of(NodeId::from_index(0)).unwrap().combiners[0].counts().1
}

/// A call on the shared connection that is used first.
fn shared_call(pools: &Pools, byte: u8, interrupt: Interrupt<'_>) -> Result<u8, Failure> {
    let request = [2, 3, 0, 0, 0, 0, 0, 1, byte];
    let now = Instant::now();
    shared(pools, Job { request: &request, now, deadline: None, reads: true, metric_key: MetricKey::NONE, interrupt })
}

/// The same with any request. The combiner gets a connection if it has none.
fn shared(pools: &Pools, job: Job<'_>) -> Result<u8, Failure> {
    let NodePools { pools: [pool, _], combiners, .. } = pools.pools_of(NodeId::from_index(0)).unwrap();
    if let Some(joined) = combiners[0].join(pool, job.request, (job.now, Stamp::NONE)) {
        return joined.finish(pool, job, &mut Vec::new(), |body| body[22]);
    }
    let sent = pools.send(&node(), Class::Single, job).unwrap();
    sent.receive_for(Some(&combiners[0]), job.interrupt, |body| body[22])
}

/// Waits for a minute at most.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What a signal handler may do: it waits until so many other threads have their answers. Says how many do, after 20 s at most.
fn join(server: &Server, answered: &AtomicUsize, all: usize) -> usize {
    server.answers.released.store(true, Ordering::SeqCst);
    let limit = Instant::now() + Duration::from_secs(20);
    while answered.load(Ordering::SeqCst) < all && Instant::now() < limit {
        thread::sleep(Duration::from_millis(1));
    }
    answered.load(Ordering::SeqCst)
}

#[test]
fn who_leads_and_runs_a_signal_handler_keeps_nobody_from_an_answer() {
    let server = Server::start();
    let pools = server.pools(sizing(64));
    assert_eq!(shared_call(&pools, 1, Interrupt::default()).unwrap(), 1);
    let (answered, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let asked = AtomicUsize::new(0);
    let joins_the_others = || {
        // They have a slice's time to go to sleep.
        if on_shared(&pools) == 4 && asked.fetch_add(1, Ordering::SeqCst) == 1 {
            others.store(join(&server, &answered, 3), Ordering::SeqCst);
        }
        false
    };
    thread::scope(|scope| {
        for byte in 2..5 {
            let (pools, answered) = (&pools, &answered);
            scope.spawn(move || {
                wait_until("the leader is there", || on_shared(pools) > 0);
                assert_eq!(shared_call(pools, byte, Interrupt::default()).unwrap(), byte);
                answered.fetch_add(1, Ordering::SeqCst);
            });
        }
        assert_eq!(shared_call(&pools, HELD, Interrupt::by(&joins_the_others)).unwrap(), HELD);
    });
    assert_eq!(others.into_inner(), 3, "answers while the handler ran");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn who_runs_a_signal_handler_is_not_appointed() {
    let server = Server::start();
    let pools = server.pools(sizing(64));
    assert_eq!(shared_call(&pools, 1, Interrupt::default()).unwrap(), 1);
    let (answered, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let asked = AtomicUsize::new(0);
    let joins_the_others = || {
        if on_shared(&pools) == 3 && asked.fetch_add(1, Ordering::SeqCst) == 1 {
            others.store(join(&server, &answered, 2), Ordering::SeqCst);
        }
        false
    };
    thread::scope(|scope| {
        let call = |byte, before| {
            wait_until("it is its turn", || on_shared(&pools) == before);
            assert_eq!(shared_call(&pools, byte, Interrupt::default()).unwrap(), byte);
            answered.fetch_add(1, Ordering::SeqCst);
        };
        // The first leads until its answer is there; the last is answered after the one that runs the handler.
        scope.spawn(move || call(HELD, 0));
        scope.spawn(move || call(200, 2));
        wait_until("the leader is there", || on_shared(&pools) == 1);
        assert_eq!(shared_call(&pools, 100, Interrupt::by(&joins_the_others)).unwrap(), 100);
    });
    assert_eq!(others.into_inner(), 2, "answers while the handler ran");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn who_stands_in_line_and_runs_a_signal_handler_holds_up_nobody() {
    let server = Server::start();
    let pools = server.pools(sizing(1));
    let waiting = || pools.counters(NodeId::from_index(0)).queued;
    let in_flight = || pools.counters(NodeId::from_index(0)).in_flight;
    let (answered, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let joins_the_others = || {
        if waiting() == 2 {
            others.store(join(&server, &answered, 2), Ordering::SeqCst);
        }
        false
    };
    thread::scope(|scope| {
        let call = |byte| {
            assert_eq!(call(&pools, byte, 0).unwrap(), byte);
            answered.fetch_add(1, Ordering::SeqCst);
        };
        scope.spawn(move || call(HELD));
        wait_until("the only connection is in use", || in_flight() == 1 && waiting() == 0);
        scope.spawn(move || {
            wait_until("somebody stands in line", || waiting() == 1);
            call(2);
        });
        let request = [2, 3, 0, 0, 0, 0, 0, 1, 3];
        let job = Job {
            request: &request,
            now: Instant::now(),
            deadline: None,
            reads: true,
            metric_key: MetricKey::NONE,
            interrupt: Interrupt::by(&joins_the_others),
        };
        assert_eq!(pools.exchange(&node(), job, |body| body[22]).unwrap(), 3);
    });
    assert_eq!(others.into_inner(), 2, "answers while the handler ran");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn requests_leave_while_the_leader_reads_where_a_round_trip_takes_long() {
    let server = Server::start();
    let pools = server.pools(sizing(64));
    for _ in 0..5 {
        assert_eq!(shared_call(&pools, 5, Interrupt::default()).unwrap(), 5);
    }
    let stream = server.streams.lock().unwrap()[0].try_clone().unwrap();
    // A busy machine may hold some of them up. The leader looks around every 50 ms, without this.
    let soonest = (0..20).map(|round| {
        server.answers.released.store(false, Ordering::SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(shared_call(&pools, HELD, Interrupt::default()).unwrap(), HELD));
            wait_until("the leader's request is there", || server.answers.held.lock().unwrap().len() > round);
            scope.spawn(|| assert_eq!(shared_call(&pools, 1, Interrupt::default()).unwrap(), 1));
            wait_until("another one has joined", || on_shared(&pools) == 2);
            let begun = Instant::now();
            stream.peek(&mut [0; 9]).unwrap();
            let took = begun.elapsed();
            server.answers.released.store(true, Ordering::SeqCst);
            took
        })
    });
    let soonest = soonest.min().unwrap();
    assert!(soonest < Duration::from_millis(20), "{soonest:?}");
    assert_eq!(server.accepted(), 1);
}

/// The kernel doubles it.
const NARROW: usize = 32 * 1024;

/// Opens connections with small buffers.
struct Narrow(SocketAddr);

impl BlockingOpener for Narrow {
    fn open(&self, node: &NodeInfo, timeout: Option<Duration>) -> Result<BlockingStream, Error> {
        let stream = Connect(self.0).open(node, timeout)?;
        if let BlockingStream::Plain(tcp) = &stream {
            socket2::SockRef::from(tcp).set_send_buffer_size(NARROW).unwrap();
            socket2::SockRef::from(tcp).set_recv_buffer_size(2 * NARROW).unwrap();
        }
        Ok(stream)
    }

    fn lost(&self, _node: NodeId) {}
}

#[test]
fn a_leader_reads_while_the_server_takes_no_more() {
    const REQUEST: usize = 8 * 1024;
    // More than both ends' buffers hold.
    const ANSWER: usize = 4 * 1024 * 1024;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // What is accepted has the same.
    socket2::SockRef::from(&listener).set_recv_buffer_size(NARROW).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                // Takes in a request only when the last answer has been sent, as servers do.
                let mut stream = stream;
                let mut request = vec![0; REQUEST];
                while stream.read_exact(&mut request).is_ok() {
                    let size = if request[8] == 1 { ANSWER } else { 32 };
                    let mut answer = vec![2, 3, 0, 0];
                    answer.extend((size as u32 - 8).to_be_bytes());
                    answer.resize(size, request[8]);
                    if stream.write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let pools = Pools::new(Box::new(Narrow(address)), sizing(64));
    let shared_call = |byte: u8| {
        let mut request = vec![2, 3, 0, 0];
        request.extend((REQUEST as u32 - 8).to_be_bytes());
        request.resize(REQUEST, byte);
        let (now, interrupt) = (Instant::now(), Interrupt::default());
        let deadline = Some(now + Duration::from_secs(60));
        shared(&pools, Job { request: &request, now, deadline, reads: false, metric_key: MetricKey::NONE, interrupt })
    };
    assert_eq!(shared_call(0).unwrap(), 0);
    let (start, call) = (Barrier::new(32), &shared_call);
    thread::scope(|scope| {
        for thread in 0..32 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for round in 0..16 {
                    let byte = u8::from((thread + round) % 16 == 0);
                    assert_eq!(call(byte).unwrap(), byte);
                }
            });
        }
    });
    let counters = pools.counters(NodeId::from_index(0));
    assert_eq!((counters.open, counters.requests, counters.answers), (1, 513, 513), "{counters:?}");
}
