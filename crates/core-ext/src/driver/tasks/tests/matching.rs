//! Each caller gets its own answer, whatever the others do.

use std::task::Wake;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

async fn storm(lane: Arc<SharedLane>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut tasks = Vec::new();
    for id in 0..3000 {
        let lane = Arc::clone(&lane);
        let (patience, delay) = (random.next_u32() % 40, u16::from(random.next_u32() % 200 == 0));
        let ask = Ask { delay, dribble: random.next_u32() % 50 == 0, ..Ask::id(id) };
        tasks.push(tokio::spawn(async move {
            if patience > 20 {
                return tokio::time::timeout(Duration::from_millis((patience - 20).into()), call(lane, ask)).await.ok();
            }
            Some(call(lane, ask).await)
        }));
        if id % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let mut answered = 0;
    for (id, task) in tasks.into_iter().enumerate() {
        if let Some(outcome) = task.await.unwrap() {
            assert_eq!(outcome.unwrap(), id as u32, "the answer of another");
            answered += 1;
        }
    }
    assert!(answered >= 1400, "{answered}");
    let counters = lane.counters(0);
    assert_eq!((counters.queued, counters.timeouts), (0, 0));
}

#[test]
fn a_storm_of_cancellations() {
    let server = Server::start();
    for runtime in [current_thread(), multi_thread()] {
        let lane = server.lane(LaneSizing { max: 4, depth: 16, ..sizing() }, &runtime);
        runtime.block_on(async { runtime.spawn(storm(lane)).await }).unwrap();
    }
}

#[test]
fn large_requests_and_answers_both_ways_at_once() {
    let server = Server::start();
    for runtime in [current_thread(), multi_thread()] {
        let lane = server.lane(sizing(), &runtime);
        runtime.block_on(async {
            let large = |id| Ask { padding: 3 << 20, answer: 3 << 20, ..Ask::id(id) };
            let tasks: Vec<_> = (0..8).map(|id| tokio::spawn(call(Arc::clone(&lane), large(id)))).collect();
            for (id, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap().unwrap(), id as u32);
            }
        });
    }
}

#[test]
fn a_direct_write_never_lands_in_the_middle_of_another_request() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(sizing(), &runtime);
    runtime.block_on(async {
        // Answered before it is written out: nothing is in flight any more, and the connection's task still writes.
        let early = Ask { early: true, padding: 16 << 20, ..Ask::id(1) };
        assert_eq!(call(Arc::clone(&lane), early).await.unwrap(), 1);
        assert_eq!(call(Arc::clone(&lane), Ask::id(2)).await.unwrap(), 2);
    });
}

#[test]
fn callers_on_any_executor() {
    let server = Server::start();
    let runtime = multi_thread();
    let lane = server.lane(sizing(), &runtime);
    let ask = |id| call(Arc::clone(&lane), Ask::id(id));
    // One at a time, a set in one task, and one that is polled needlessly.
    assert_eq!(futures::executor::block_on(ask(1)).unwrap(), 1);
    let all: Vec<_> = futures::executor::block_on(futures::future::join_all((0..300).map(ask)));
    assert!(all.into_iter().enumerate().all(|(id, outcome)| outcome.unwrap() == id as u32));
    let mut pool = futures::executor::LocalPool::new();
    let sum: u32 = pool.run_until(async {
        use futures::StreamExt;
        futures::stream::iter(0..300)
            .map(ask)
            .buffer_unordered(50)
            .map(Result::unwrap)
            .fold(0, |a, b| async move { a + b })
            .await
    });
    assert_eq!(sum, (0..300).sum::<u32>());
    let local = tokio::task::LocalSet::new();
    let other = current_thread();
    let tasks: Vec<_> = (0..300).map(|id| local.spawn_local(ask(id))).collect();
    let ids = local.block_on(&other, async {
        let mut ids = Vec::new();
        for task in tasks {
            ids.push(task.await.unwrap().unwrap());
        }
        ids
    });
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}

/// A waker with the last hold on a task that has an exchange of the same lane.
struct Holds {
    _task: Mutex<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
}

impl Wake for Holds {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_drops_an_exchange_does_not_deadlock() {
    without_deadlock(|| {
        let server = Server::start();
        let runtime = multi_thread();
        let lane = server.lane(sizing(), &runtime);
        let pending = |id| Box::pin(call(Arc::clone(&lane), Ask { delay: 50, ..Ask::id(id) }));
        let poll = |future: Pin<&mut dyn Future<Output = _>>, waker: &Waker| {
            assert!(future.poll(&mut std::task::Context::from_waker(waker)).is_pending());
        };
        for replaced in [true, false] {
            let (mut held, mut other) = (pending(1), pending(2));
            poll(held.as_mut(), Waker::noop());
            let waker = Waker::from(Arc::new(Holds { _task: Mutex::new(held) }));
            poll(other.as_mut(), &waker);
            drop(waker);
            if replaced {
                poll(other.as_mut(), Waker::noop());
            }
            drop(other);
        }
        assert_eq!(runtime.block_on(call(lane, Ask::id(3))).unwrap(), 3);
    });
}
