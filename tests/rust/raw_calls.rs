//! Calls whose request the caller encodes: on a thread, with retries, interrupted, in a forked child.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::metrics::CommandType;
use aerolane::policy::BasePolicy;
use aerolane::raw::command::{decode, encode};
use aerolane::raw::lane::{Failure, FailureKind};
use aerolane::raw::{RawCall, RawClient, RawFailure};
use aerolane::{
    Bins, ClientConfig, ClientPolicy, Error, ErrorKind, Key, PoolSizing, ReadPolicy, Value, WritePolicy, as_bin,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

fn client(target: &Target) -> RawClient {
    RawClient::connect_blocking(&ClientConfig::from(policy()), target.seeds()).unwrap()
}

fn within(ms: u32, retries: usize) -> BasePolicy {
    BasePolicy { total_timeout: ms, max_retries: retries, ..ReadPolicy::patient().base_policy }
}

fn call(key: &Key, writes: bool) -> RawCall<'_> {
    let partition = aerolane_wire::digest::partition_id(&key.digest());
    let kind = if writes { CommandType::Put } else { CommandType::Get };
    RawCall { namespace: key.namespace(), set: key.set_name(), partition, kind, writes, may_be_missing: false }
}

fn reading(key: &Key) -> Vec<u8> {
    let mut request = Vec::new();
    encode::read(&ReadPolicy::patient().base_policy, key, &Bins::All, 0, &mut request).unwrap();
    request
}

fn writing(key: &Key, n: i64) -> Vec<u8> {
    let (mut request, bins) = (Vec::new(), [as_bin!("v", n)]);
    encode::write(&WritePolicy::patient(), key, &bins, encode::WriteKind::Put, 0, &mut request).unwrap();
    request
}

fn value(body: &[u8]) -> Value {
    let want = decode::Want { bins: true, results: false, nil_bins: false };
    decode::record(body, want, &Arc::from("test")).unwrap().bins["v"].clone()
}

fn put(client: &RawClient, key: &Key, n: i64) -> Result<(), Error> {
    client.call_blocking(&within(60_000, 0), call(key, true), &writing(key, n), |_| ())
}

fn get(client: &RawClient, policy: &BasePolicy, key: &Key) -> Result<Value, Error> {
    client.call_blocking(policy, call(key, false), &reading(key), value)
}

#[test]
fn answers_errors_and_timeouts() {
    let target = Target::embedded(3);
    let client = client(&target);
    for n in 0..50 {
        put(&client, &target.key(n), n).unwrap();
    }
    for n in 0..50 {
        assert_eq!(get(&client, &within(60_000, 0), &target.key(n)).unwrap(), Value::Int(n));
    }
    let missing = target.key(1000);
    let error = get(&client, &within(60_000, 3), &missing).unwrap_err();
    assert!(error.is_not_found() && error.attempts() == 1, "{error:?}");
    let lenient = RawCall { may_be_missing: true, ..call(&missing, false) };
    let code = client.call_blocking(&within(60_000, 0), lenient, &reading(&missing), |body| body[5]).unwrap();
    assert_eq!(code, 2);
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall)).unwrap();
    let begun = Instant::now();
    let error = get(&client, &within(100, 0), &target.key(1)).unwrap_err();
    assert!(error.is_client_timeout() && !error.in_doubt(), "{error:?}");
    assert!((100..30_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
}

#[test]
fn reads_survive_the_loss_of_a_node() {
    let target = Target::embedded(3);
    let client = client(&target);
    for n in 0..60 {
        put(&client, &target.key(n), n).unwrap();
    }
    target.faults().stop_node(target.faults().nodes()[0].id).unwrap();
    for n in 0..60 {
        assert_eq!(get(&client, &within(60_000, 10), &target.key(n)).unwrap(), Value::Int(n));
    }
}

/// The connection was lost after the request had been sent.
fn lost() -> RawFailure {
    RawFailure::Lost(Failure::new(FailureKind::ConnectionLost(std::io::ErrorKind::BrokenPipe), true))
}

#[test]
fn a_call_goes_on_where_its_first_attempt_ended() {
    let target = Target::embedded(3);
    let client = client(&target);
    let key = target.key(1);
    put(&client, &key, 7).unwrap();
    let (policy, raw) = (within(60_000, 2), call(&key, false));
    let attempt = client.begin(&policy, raw, Instant::now()).unwrap();
    assert!(client.finish(&policy, raw, &attempt, lost(), Instant::now()).is_none());
    let request = reading(&key);
    let again = client.resume(&policy, raw, &request, Some((attempt.clone(), lost())));
    assert_eq!(value(&aerolane::raw::connect::block_on(again).unwrap()), Value::Int(7));
    // Without retries it ends there, and a write is in doubt.
    let error = client.finish(&within(60_000, 0), call(&key, true), &attempt, lost(), Instant::now()).unwrap();
    assert!(error.in_doubt() && matches!(error.kind(), ErrorKind::Connection), "{error:?}");
}

/// One failure is one error to the node's breaker, although the call is taken up elsewhere.
#[test]
fn a_failed_attempt_counts_once() {
    let target = Target::embedded(1);
    let strict = ClientPolicy { max_error_rate: 1, error_rate_window: 1000, ..policy() };
    let client = RawClient::connect_blocking(&ClientConfig::from(strict), target.seeds()).unwrap();
    let key = target.key(1);
    put(&client, &key, 7).unwrap();
    let (policy, raw) = (within(60_000, 2), call(&key, false));
    let attempt = client.begin(&policy, raw, Instant::now()).unwrap();
    assert!(client.finish(&policy, raw, &attempt, lost(), Instant::now()).is_none());
    let request = reading(&key);
    let again = client.resume(&policy, raw, &request, Some((attempt, lost())));
    assert_eq!(value(&aerolane::raw::connect::block_on(again).unwrap()), Value::Int(7));
    let attempt = client.begin(&policy, raw, Instant::now()).expect("the breaker is closed");
    // The second one opens it.
    assert!(client.finish(&policy, raw, &attempt, lost(), Instant::now()).is_none());
    assert!(client.begin(&policy, raw, Instant::now()).is_none());
}

#[test]
fn an_attempt_belongs_to_the_client_that_began_it() {
    let (three, one) = (Target::embedded(3), Target::embedded(1));
    let (ours, theirs) = (client(&three), client(&one));
    let policy = within(60_000, 2);
    let elsewhere = |key: &Key| {
        let attempt = ours.begin(&policy, call(key, false), Instant::now()).unwrap();
        (attempt.node_id().index() > 0).then_some(attempt)
    };
    let (key, attempt) = (0..).map(|n| three.key(n)).find_map(|key| Some((key.clone(), elsewhere(&key)?))).unwrap();
    let lost = lost();
    let error = theirs.finish(&policy, call(&key, false), &attempt, lost.clone(), Instant::now()).unwrap();
    assert!(matches!(error.kind(), ErrorKind::InvalidNode), "{error:?}");
    assert!(ours.finish(&policy, call(&key, false), &attempt, lost, Instant::now()).is_none());
    let error =
        theirs.accept(call(&key, false), &attempt, Cow::Borrowed(b"no message"), |body| body.len()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNode), "{error:?}");
    let error = ours.accept(call(&key, false), &attempt, Cow::Borrowed(b"no message"), |body| body.len()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadResponse) && error.node().is_some(), "{error:?}");
}

#[test]
fn interrupted_calls_end_soon_and_nobody_gets_their_answers() {
    let target = Target::embedded(1);
    let client = client(&target);
    let key = target.key(1);
    put(&client, &key, 1).unwrap();
    // Nobody is asked by a call that is answered.
    let never = || -> bool { panic!("asked without need") };
    let fast = client.call_interruptible(&within(0, 0), call(&key, false), &reading(&key), &never, value);
    assert_eq!(fast.unwrap(), Value::Int(1));
    // The answers come late: when the faults are cleared.
    for kind in [RequestKind::Read, RequestKind::Write] {
        target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(kind)).unwrap();
    }
    for timeout in [0, 60_000] {
        for (writes, request) in [(false, reading(&key)), (true, writing(&key, 2))] {
            let look = || {
                let (asked, begun) = (Cell::new(0), Instant::now());
                let third = || {
                    asked.set(asked.get() + 1);
                    asked.get() == 3
                };
                let policy = within(timeout, 5);
                let result = client.call_interruptible(&policy, call(&key, writes), &request, &third, |_| ());
                let (error, took) = (result.unwrap_err(), begun.elapsed());
                assert!(matches!(error.kind(), ErrorKind::Interrupted), "{error:?}");
                assert_eq!((error.in_doubt(), asked.get(), error.attempts()), (writes, 3, 1), "{error:?}");
                assert!(took >= Duration::from_millis(100), "{took:?}");
                took
            };
            // Three slices of 50 ms; a busy machine may hold some of the calls up.
            assert!((0..10).any(|_| look() < Duration::from_millis(500)), "not once soon");
        }
    }
    target.faults().clear_faults();
    for n in 2..50 {
        put(&client, &target.key(n), n).unwrap();
        assert_eq!(get(&client, &within(60_000, 0), &target.key(n)).unwrap(), Value::Int(n));
    }
}

#[test]
fn interrupted_between_attempts_and_in_line() {
    let target = Target::embedded(1);
    let pool = PoolSizing::default().with_min(0).with_max(1);
    let config = ClientConfig::from(policy()).with_pool(pool);
    let client = RawClient::connect_blocking(&config, target.seeds()).unwrap();
    let key = target.key(1);
    put(&client, &key, 1).unwrap();
    let yes = || true;
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Result(18)).on(RequestKind::Write)).unwrap();
    let pause = BasePolicy { sleep_between_retries: 30_000, ..within(120_000, 5) };
    let begun = Instant::now();
    let error = client.call_interruptible(&pause, call(&key, true), &writing(&key, 2), &yes, |_| ()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Interrupted), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    target.faults().clear_faults();
    // All places are taken.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read)).unwrap();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| get(&client, &within(60_000, 0), &key));
        while client.sync().stats().total.in_flight == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let error = client.call_interruptible(&within(0, 0), call(&key, true), &writing(&key, 2), &yes, |_| ());
        let error = error.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Interrupted) && !error.in_doubt(), "{error:?}");
        target.faults().clear_faults();
        assert_eq!(slow.join().unwrap().unwrap(), Value::Int(1));
    });
    assert_eq!(get(&client, &within(60_000, 0), &key).unwrap(), Value::Int(1));
}

#[test]
fn interrupted_among_many_threads() {
    let target = Target::embedded(1);
    let client = client(&target);
    for n in 0..32 {
        put(&client, &target.key(n), n).unwrap();
    }
    let slow = FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(20))).probability(0.2);
    target.faults().set_fault(None, &slow).unwrap();
    // Long enough to be asked in.
    let slower = FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(160))).probability(0.1);
    target.faults().set_fault(None, &slower).unwrap();
    let interrupted = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..24)
            .map(|thread| {
                let (client, target) = (&client, &target);
                scope.spawn(move || {
                    let mut interrupted = 0;
                    for n in (thread..).take(60).map(|n| n % 32) {
                        let key = target.key(n);
                        let yes = || thread % 3 == 0;
                        let result = client.call_interruptible(
                            &within(30_000, 5),
                            call(&key, false),
                            &reading(&key),
                            &yes,
                            value,
                        );
                        match result {
                            Ok(value) => assert_eq!(value, Value::Int(n)),
                            Err(error) => {
                                assert!(thread % 3 == 0 && matches!(error.kind(), ErrorKind::Interrupted), "{error:?}");
                                interrupted += 1;
                            }
                        }
                    }
                    interrupted
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    });
    assert!(interrupted > 5, "{interrupted}");
    target.faults().clear_faults();
    for n in 0..32 {
        assert_eq!(get(&client, &within(60_000, 0), &target.key(n)).unwrap(), Value::Int(n));
    }
}

/// A signal whose handler does not restart system calls is heard at once, not only after a slice.
#[test]
fn signals_are_heard_at_once() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler does nothing, and the structure is whole: zeros are valid, and mean no flags.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    let target = Target::embedded(1);
    let client = client(&target);
    let key = target.key(1);
    put(&client, &key, 1).unwrap();
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall)).unwrap();
    // SAFETY: asks for the calling thread's own name.
    let me = unsafe { libc::pthread_self() };
    // Without the signals a slice of 50 ms lies between two questions. A busy machine may hold some of them up, too.
    let (begun, last, soon) = (Instant::now(), Cell::new(Instant::now()), Cell::new(0));
    let ten_times_soon = || {
        let before = last.replace(Instant::now());
        soon.set(soon.get() + u32::from(before.elapsed() < Duration::from_millis(40)));
        soon.get() == 10 || begun.elapsed() > Duration::from_secs(60)
    };
    let done = &std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let signaller = scope.spawn(move || {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                // SAFETY: the thread lives: it waits for this one.
                unsafe { libc::pthread_kill(me, libc::SIGUSR1) };
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let result =
            client.call_interruptible(&within(0, 0), call(&key, false), &reading(&key), &ten_times_soon, value);
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        signaller.join().unwrap();
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::Interrupted));
    });
    assert_eq!(soon.get(), 10, "in {:?}", begun.elapsed());
}

/// The descriptors that are connected to one of these ports.
fn connected_to(ports: &BTreeSet<u16>) -> usize {
    let peer = |fd| {
        // SAFETY: an address of zeros is valid; the call writes at most the size given, and fails for what is no socket.
        unsafe {
            let mut address: libc::sockaddr_in = std::mem::zeroed();
            let mut len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
            let result = libc::getpeername(fd, (&raw mut address).cast(), &raw mut len);
            (result == 0).then(|| u16::from_be(address.sin_port))
        }
    };
    (3..512).filter_map(peer).filter(|port| ports.contains(port)).count()
}

#[test]
fn a_forked_child_leaves_the_connections_to_its_parent() {
    let target = Target::embedded(2);
    let client = client(&target);
    let key = target.key(1);
    for n in 0..20 {
        put(&client, &target.key(n), n).unwrap();
    }
    let before = client.sync().stats().total;
    let ports: BTreeSet<u16> = target.faults().nodes().iter().map(|node| node.address.port()).collect();
    let all = connected_to(&ports);
    assert!(before.open >= 2 && all >= before.open as usize, "{before:?} {all}");
    // SAFETY: the child only does what is safe without the other threads, and ends with `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let stale = client.clone();
        client.forget_after_fork();
        let left = connected_to(&ports);
        // What is left over fails, and may be dropped.
        let failed = get(&stale, &within(1000, 0), &key).is_err();
        drop(stale);
        let code = i32::from(left + before.open as usize != all) + 2 * i32::from(!failed);
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the pointer is that of a live integer.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child's findings");
    for n in 0..20 {
        assert_eq!(get(&client, &within(60_000, 0), &target.key(n)).unwrap(), Value::Int(n));
    }
    let after = client.sync().stats().total;
    assert_eq!((after.opened, after.closed), (before.opened, before.closed), "the parent noticed nothing");
}
