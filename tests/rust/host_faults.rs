//! Host drivers when things go wrong, or change: marks, faults, nodes, closing, several drivers of one client.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::common::Target;
use crate::poll_loop::{Loop, client};
use aerolane::Value;
use aerolane::raw::lane::{Class, FailureKind, Millis};
use aerolane_embedded::faults::{FaultAction, FaultRule};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const KEYS: u32 = 64;

fn random(state: &mut Xoshiro256PlusPlus, below: u32) -> u32 {
    (state.next_u64() % u64::from(below)) as u32
}

/// Writes to each key its own number.
fn fill(host: &mut Loop, target: &Target) {
    for token in 0..KEYS {
        host.put(token, &target.key(i64::from(token)), Value::Int(token.into()));
    }
    host.turn_until("filled", |host| host.outcomes.0.len() == KEYS as usize);
    for outcome in std::mem::take(&mut host.outcomes.0).into_values() {
        outcome.unwrap();
    }
}

#[cfg(target_os = "linux")]
fn low_water_mark(fd: std::os::fd::RawFd) -> libc::c_int {
    let (mut value, mut len): (libc::c_int, _) = (0, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the pointers are those of live variables of the sizes given.
    let result =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, (&raw mut value).cast(), &raw mut len) };
    assert_eq!(result, 0);
    value
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_comes_alone_under_a_raised_mark_is_not_held_back() {
    use aerolane_embedded::faults::RequestKind;

    let target = Target::embedded(1);
    let mut host = Loop::of(&client(&target, 1));
    fill(&mut host, &target);
    // Three are answered, far fewer than the mark waits for, and then none.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read).skip(3)).unwrap();
    for token in 0..16 {
        host.get(token, &target.key(i64::from(token)), 60_000);
    }
    host.driver.flush(&mut host.outcomes);
    let fd = *host.watched.keys().next().unwrap();
    assert!(low_water_mark(fd) >= 8 * 30, "the mark is raised: {}", low_water_mark(fd));
    let soon = host.driver.next_tick().unwrap().since(host.now());
    assert!(soon <= 3, "a tick is due in {soon} ms");
    let before = host.ticks;
    host.turn_until("three are answered", |host| host.outcomes.0.len() == 3);
    // Without the ticks of the patience the next one would be that of the trim, after up to a second.
    let ticks = host.ticks - before;
    assert!(ticks <= 20, "{ticks} ticks until the answers were seen");
    for token in 0..3 {
        assert_eq!(host.value(token), Value::Int(token.into()));
    }
    // In vain: the mark is taken back, and nothing ticks on without need.
    host.turn_until("the mark is taken back", |_| low_water_mark(fd) == 1);
    let before = host.ticks;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(300) {
        host.turn();
    }
    assert!(host.ticks - before <= 10, "{} ticks in 300 ms without need", host.ticks - before);
}

#[cfg(target_os = "linux")]
fn set_low_water_mark(fd: std::os::fd::RawFd, bytes: libc::c_int) {
    // SAFETY: the pointer and the length are those of a live variable.
    let result = unsafe {
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, (&raw const bytes).cast(), len)
    };
    assert_eq!(result, 0);
}

/// How many bytes lie in the socket, unread.
#[cfg(target_os = "linux")]
fn unread(fd: std::os::fd::RawFd) -> libc::c_int {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the pointer is that of a live variable of the type that the request takes.
    assert_eq!(unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) }, 0);
    bytes
}

/// Whatever the mark says: what lies in the socket when a deadline passes is delivered. A loop that comes late reads at
/// once; one that is on time reads before it expires anything.
#[test]
#[cfg(target_os = "linux")]
fn an_answer_under_a_mark_that_is_too_high_does_not_time_out() {
    for on_time in [true, false] {
        let target = Target::embedded(1);
        let mut host = Loop::of(&client(&target, 1));
        fill(&mut host, &target);
        let fd = *host.watched.keys().next().unwrap();
        let delay = FaultRule::new(FaultAction::Delay(Duration::from_millis(50)));
        target.faults().set_fault(None, &delay).unwrap();
        let deadline = host.driver.deadline(Some(Instant::now() + Duration::from_secs(5)));
        host.get(0, &target.key(0), 5000);
        host.driver.flush(&mut host.outcomes);
        if on_time {
            // In less than 50 ms, by a clock of the test's own: every tick until the deadline comes in time.
            for at in (host.now().0..deadline.0 - 5).step_by(5) {
                host.driver.tick(Millis(at), &mut host.outcomes);
            }
        }
        set_low_water_mark(fd, 64 * 1024);
        let limit = Instant::now() + Duration::from_secs(60);
        while unread(fd) < 30 && host.outcomes.0.is_empty() {
            assert!(Instant::now() < limit, "no answer came");
            std::thread::sleep(Duration::from_millis(1));
        }
        host.driver.tick(deadline.plus(2), &mut host.outcomes);
        assert_eq!(host.value(0), Value::Int(0), "on time: {on_time}");
    }
}

#[test]
fn answers_reach_their_callers_under_faults_cancels_and_node_loss() {
    let target = Target::embedded(3);
    let mut host = Loop::new(&target);
    fill(&mut host, &target);
    let faults = target.faults();
    let seldom = |action| FaultRule::new(action).probability(0.01);
    for action in [FaultAction::DropAfter, FaultAction::DropBefore, FaultAction::Truncate(9)] {
        faults.set_fault(None, &seldom(action)).unwrap();
    }
    faults.set_fault(None, &FaultRule::new(FaultAction::Split).probability(0.2)).unwrap();
    faults
        .set_fault(None, &FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(3))).probability(0.05))
        .unwrap();
    let node = faults.nodes()[1].id;
    let mut state = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut token, mut asked, mut given_up) = (1000, BTreeMap::new(), BTreeSet::new());
    let (mut answered, mut failed) = (0, 0);
    // More rounds on a machine that is busy: there more is given up before it can be answered.
    let seen_enough = |answered, failed, given_up| answered > 1000 && failed > 10 && given_up > 100;
    for round in 0.. {
        if round >= 300 && seen_enough(answered, failed, given_up.len()) {
            break;
        }
        assert!(round < 30_000, "{answered} {failed} {}", given_up.len());
        match round {
            100 => faults.stop_node(node).unwrap(),
            200 => faults.start_node(node).unwrap(),
            _ => {}
        }
        for _ in 0..random(&mut state, 40) {
            let key = random(&mut state, KEYS);
            let ticket = host.get(token, &target.key(i64::from(key)), 2000);
            asked.insert(token, (key, ticket));
            token += 1;
        }
        // A storm of cancels now and then: before the flush, and while answers are on their way.
        let stormy = if round % 7 == 0 { 2 } else { 20 };
        if round % 2 == 0 {
            host.turn();
        }
        for (&token, &(_, (to, ticket))) in &asked {
            if random(&mut state, stormy) == 0 && !host.outcomes.0.contains_key(&token) && !given_up.contains(&token) {
                let now = host.now();
                assert_eq!(host.driver.cancel(to, Class::Single, ticket, now), Some(token));
                given_up.insert(token);
            }
        }
        host.turn();
        for token in host.outcomes.0.keys().copied().collect::<Vec<_>>() {
            let (key, _) = asked.remove(&token).expect("an outcome of what was asked");
            assert!(!given_up.contains(&token), "an outcome for {token}, which was cancelled");
            match &host.outcomes.0[&token] {
                // The result code is the sixth byte of a message.
                Ok(answer) if answer[5] == 0 => {
                    assert_eq!(host.value(token), Value::Int(key.into()));
                    answered += 1;
                }
                // A partition between two owners.
                Ok(_) => drop(host.outcomes.0.remove(&token)),
                Err(_) => {
                    host.outcomes.0.remove(&token);
                    failed += 1;
                }
            }
        }
        asked.retain(|token, _| !given_up.contains(token));
    }
    faults.clear_faults();
    host.turn_until("all have an outcome", |host| asked.keys().all(|token| host.outcomes.0.contains_key(token)));
    // The node that was away is met again by itself.
    host.outcomes.0.clear();
    host.turn_until("all works again", |host| {
        host.outcomes.0.clear();
        for token in 0..KEYS {
            host.get(token, &target.key(i64::from(token)), 60_000);
        }
        while host.outcomes.0.len() < KEYS as usize {
            host.turn();
        }
        let active = host.client.as_ref().unwrap().cluster().topology().active_nodes().count();
        active == 3 && host.outcomes.0.values().all(|outcome| outcome.as_ref().is_ok_and(|answer| answer[5] == 0))
    });
}

#[test]
fn the_minimum_is_opened_ahead_and_counts_are_published() {
    let target = Target::embedded(3);
    let client = client(&target, 4);
    let mut host = Loop::of(&client);
    host.turn_until("a connection to each node", |host| host.watched.len() == 3);
    fill(&mut host, &target);
    host.turn_until("the counts are published", |_| {
        let total = client.sync().stats().total;
        total.answers == u64::from(KEYS) && total.open >= 3 && total.in_flight == 0
    });
    drop(host);
    let total = client.sync().stats().total;
    assert_eq!((total.answers, total.requests, total.open), (u64::from(KEYS), u64::from(KEYS), 0));
    assert_eq!(total.opened, total.closed, "{total:?}");
}

#[test]
fn two_drivers_share_the_pool_and_lose_nothing() {
    let target = Target::embedded(1);
    let client = client(&target, 4);
    let mut first = Loop::of(&client);
    fill(&mut first, &target);
    let mut token = 0;
    let mut burst = |host: &mut Loop| {
        host.outcomes.0.clear();
        for _ in 0..KEYS {
            host.get(token % KEYS + (token / KEYS) * KEYS, &target.key(i64::from(token % KEYS)), 60_000);
            token += 1;
        }
        host.driver.flush(&mut host.outcomes);
    };
    let check = |host: &mut Loop| {
        host.turn_until("all are answered", |host| host.outcomes.0.len() == KEYS as usize);
        for token in host.outcomes.0.keys().copied().collect::<Vec<_>>() {
            assert_eq!(host.value(token), Value::Int((token % KEYS).into()));
        }
    };
    let limit = Instant::now() + Duration::from_secs(60);
    while first.watched.len() < 4 {
        assert!(Instant::now() < limit, "alone it takes the whole pool: {}", first.watched.len());
        burst(&mut first);
        check(&mut first);
    }
    burst(&mut first);
    let mut second = Loop::of(&client);
    check(&mut first);
    first.turn_until("it gives half of them up", |host| host.watched.len() == 2);
    for _ in 0..20 {
        burst(&mut first);
        burst(&mut second);
        check(&mut first);
        check(&mut second);
        assert!(first.watched.len() <= 2 && second.watched.len() <= 2);
    }
    drop(second);
    let limit = Instant::now() + Duration::from_secs(60);
    while first.watched.len() < 4 {
        assert!(Instant::now() < limit, "it gets the whole pool back: {}", first.watched.len());
        burst(&mut first);
        check(&mut first);
    }
    // With more drivers than connections each has one all the same.
    let mut many: Vec<Loop> = (0..6).map(|_| Loop::of(&client)).collect();
    for host in &mut many {
        burst(host);
        check(host);
        host.turn_until("it keeps one connection", |host| host.watched.len() == 1);
    }
}

#[test]
fn closing_fails_what_is_in_flight() {
    let target = Target::embedded(1);
    let mut host = Loop::of(&client(&target, 1));
    fill(&mut host, &target);
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall)).unwrap();
    for token in 0..40 {
        host.get(token, &target.key(1), 60_000);
    }
    host.turn();
    let client = host.client.clone().unwrap();
    let closing = std::thread::spawn(move || client.close_blocking());
    host.turn_until("all have failed", |host| host.outcomes.0.len() == 40);
    let (mut sent, mut unsent) = (0, 0);
    for outcome in std::mem::take(&mut host.outcomes.0).into_values() {
        let failure = outcome.unwrap_err();
        assert!(matches!(failure.kind, FailureKind::Closed), "{failure:?}");
        *(if failure.sent { &mut sent } else { &mut unsent }) += 1;
    }
    assert_eq!((sent, unsent), (16, 24), "what was in line was not sent");
    assert!(host.watched.is_empty());
    closing.join().unwrap();
    // Late comers hear it in the next tick.
    let node = host.client.as_ref().unwrap().cluster().topology().active_nodes().next().unwrap().id();
    let now = host.now();
    host.driver.submit(node, Class::Single, &[2, 3, 0, 0, 0, 0, 0, 0], now.plus(60_000), now, 99).unwrap();
    host.turn_until("it fails at once", |host| host.outcomes.0.contains_key(&99));
    assert!(matches!(host.outcomes.0[&99].as_ref().unwrap_err().kind, FailureKind::Closed));
    // So does a driver that is made too late.
    let mut late = Loop::of(host.client.as_ref().unwrap());
    let now = late.now();
    late.driver.submit(node, Class::Single, &[2, 3, 0, 0, 0, 0, 0, 0], now.plus(60_000), now, 7).unwrap();
    late.turn_until("it fails at once", |host| host.outcomes.0.contains_key(&7));
}

#[test]
fn a_client_that_is_dropped_does_not_wait_for_its_drivers() {
    let target = Target::embedded(2);
    let mut host = Loop::new(&target);
    fill(&mut host, &target);
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall)).unwrap();
    host.get(1, &target.key(1), 60_000);
    let begun = Instant::now();
    host.client = None;
    // The request would wait twice as long.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    host.turn_until("it has failed", |host| host.outcomes.0.contains_key(&1) && host.watched.is_empty());
    assert!(matches!(host.outcomes.0[&1].as_ref().unwrap_err().kind, FailureKind::Closed));
}

/// libuv tells of a socket with an error once, and then watches it no more.
#[test]
fn an_error_behind_answers_is_met_although_it_is_told_once() {
    let target = Target::embedded(1);
    let mut host = Loop::of(&client(&target, 1));
    host.errors_once = true;
    fill(&mut host, &target);
    let rule = FaultRule::new(FaultAction::DropBefore).skip(2).times(1);
    target.faults().set_fault(None, &rule).unwrap();
    for token in 0..6 {
        host.get(token, &target.key(i64::from(token)), 600_000);
    }
    host.driver.flush(&mut host.outcomes);
    // Most often enough for the answers and the end to lie in the socket together.
    std::thread::sleep(Duration::from_millis(100));
    host.turn_until("all have an outcome", |host| host.outcomes.0.len() == 6);
    let lost = host.outcomes.0.values().filter(|outcome| outcome.is_err()).count();
    assert_eq!(lost, 4, "the third one ended the connection");
}
