//! Nothing waits for what does not come: the low-water mark, flushes that are put off, wake-ups.

use super::*;

/// How long after now each of these calls has its answer.
async fn times(lane: &Arc<SharedLane>, asks: impl IntoIterator<Item = Ask>) -> Vec<Duration> {
    let begun = Instant::now();
    let spawn = |ask| {
        let lane = Arc::clone(lane);
        tokio::spawn(async move {
            call(lane, ask).await.unwrap();
            begun.elapsed()
        })
    };
    let tasks: Vec<_> = asks.into_iter().map(spawn).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times
}

#[test]
fn the_low_water_mark_never_stalls() {
    let server = Server::start();
    for runtime in [current_thread(), multi_thread()] {
        let lane = server.lane(sizing(), &runtime);
        runtime.block_on(async {
            let dribbled = || async {
                let times = times(&lane, (0..16).map(|id| Ask { dribble: true, ..Ask::id(id) })).await;
                times.into_iter().max().unwrap()
            };
            shortest(dribbled, Duration::from_millis(600)).await;
        });
        runtime.block_on(async {
            // One after the other, so far apart that a mark of several answers would show. On two workers the callers
            // submit in any order.
            let slow = || async {
                let times = times(&lane, (0..8).map(|id| Ask { delay: 60, ..Ask::id(id) })).await;
                times.into_iter().min().unwrap()
            };
            shortest(slow, Duration::from_millis(180)).await;
        });
        runtime.block_on(async {
            // The last answer is held back: those before it must not wait for it.
            let first = Ask { delay: 60, ..Ask::id(0) };
            let before = tokio::spawn({
                let lane = Arc::clone(&lane);
                async move { times(&lane, [first].into_iter().chain((1..31).map(Ask::id))).await }
            });
            // Behind all the others.
            tokio::time::sleep(Duration::from_millis(30)).await;
            let held = tokio::spawn(call(Arc::clone(&lane), Ask { delay: HELD, timeout: None, ..Ask::id(31) }));
            assert_eq!(before.await.unwrap().len(), 31);
            assert!(!held.is_finished());
            held.abort();
        });
    }
}

#[test]
fn answers_are_read_while_a_write_waits() {
    let server = Server::start();
    let runtime = multi_thread();
    let lane = server.lane(sizing(), &runtime);
    runtime.block_on(async {
        // The time to the first answer, or the longest from one to the next: were they read when the write ends, they
        // would all come at once, after 640 ms.
        let longest = || async {
            let slow = (0..16).map(|id| Ask { delay: 40, ..Ask::id(id) });
            let small = times(&lane, slow);
            // The server reads none of it before it has answered the others.
            let large = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                call(Arc::clone(&lane), Ask { padding: 16 << 20, ..Ask::id(99) }).await.unwrap();
            };
            let (mut times, ()) = tokio::join!(small, large);
            times.push(Duration::ZERO);
            times.sort();
            times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap()
        };
        shortest(longest, Duration::from_millis(200)).await;
    });
}

#[test]
fn a_batch_larger_than_the_socket_takes_is_written_to_its_end() {
    let server = Server::start();
    for runtime in [current_thread(), multi_thread()] {
        let lane = server.lane(LaneSizing { max_batch: 2, ..sizing() }, &runtime);
        runtime.block_on(async {
            // Four on two connections; from the third on they are open, and the callers write.
            for round in 0..3 {
                let batch = |id| Ask { batch: true, padding: 6 << 20, ..Ask::id(id) };
                let calls = (round * 4..round * 4 + 4).map(|id| (id, tokio::spawn(call(Arc::clone(&lane), batch(id)))));
                for (id, call) in calls.collect::<Vec<_>>() {
                    assert_eq!(call.await.unwrap().unwrap(), id);
                }
            }
        });
    }
}

#[test]
fn a_caller_that_is_never_polled_again_holds_nobody_up() {
    let server = Server::start();
    for runtime in [current_thread(), multi_thread()] {
        // A connection for each: no answer to another comes along and ends the wait.
        let lane = server.lane(LaneSizing { depth: 1, max: 4, ..sizing() }, &runtime);
        runtime.block_on(async {
            // Answered and not taken, one after the other as of a stream with a busy consumer.
            let mut kept = Vec::new();
            let mut calls = Vec::new();
            for id in 0..200 {
                let mut future = Box::pin(call(Arc::clone(&lane), Ask::id(id)));
                assert!(future.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())).is_pending());
                kept.push(future);
                tokio::time::sleep(Duration::from_millis(2)).await;
                let begun = Instant::now();
                // Two at a time: the second one is not written directly.
                let both =
                    async { tokio::join!(call(Arc::clone(&lane), Ask::id(1)), call(Arc::clone(&lane), Ask::id(2))) };
                let (one, two) = both.await;
                assert_eq!((one.unwrap(), two.unwrap()), (1, 2));
                calls.push(begun.elapsed());
            }
            // A busy machine may hold up many of them, a flush that waits for the tick holds up all.
            calls.sort();
            assert!(calls[20] < Duration::from_micros(1500), "{:?}", calls[20]);
        });
    }
}

/// Where callers are with several workers, one that has been woken may not run for long, and the server would wait with the others.
#[test]
fn on_several_workers_no_flush_waits_for_a_caller() {
    let server = Server::start();
    for (runtime, waits) in [(current_thread(), true), (multi_thread(), false)] {
        let lane = server.lane(sizing(), &runtime);
        runtime.block_on(async {
            call(Arc::clone(&lane), Ask::id(0)).await.unwrap();
            // Has its answer, and does not take it.
            let mut kept = Box::pin(call(Arc::clone(&lane), Ask::id(1)));
            assert!(kept.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())).is_pending());
            eventually("it is answered", || lane.state.lock().slots.untaken() == 1).await;
            // The second one is not written by its caller, and no answer comes along.
            let first = call(Arc::clone(&lane), Ask { delay: 50, ..Ask::id(2) });
            let (first, second) = tokio::join!(first, call(Arc::clone(&lane), Ask::id(3)));
            assert_eq!((first.unwrap(), second.unwrap()), (2, 3));
            assert_eq!(lane.state.lock().cut_short > 0, waits);
        });
    }
}

#[test]
fn giving_up_lets_those_behind_go_at_once() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(LaneSizing { max_bytes_in_flight: 1000, ..sizing() }, &runtime);
    runtime.block_on(async {
        call(Arc::clone(&lane), Ask::id(0)).await.unwrap();
        let asked = |ask| tokio::spawn(call(Arc::clone(&lane), ask));
        let (sent, queued) = (|| lane.counters(0).bytes_sent, || lane.counters(0).queued);
        let before = sent();
        let first = asked(Ask { delay: HELD, ..Ask::id(1) });
        eventually("the first is sent", || sent() - before == Ask::id(1).len() as u64).await;
        let large = asked(Ask { padding: 2000, ..Ask::id(2) });
        eventually("the large one is in line", || queued() == 1).await;
        let small = asked(Ask::id(3));
        eventually("the small one is in line", || queued() == 2).await;
        let before = sent();
        large.abort();
        eventually("the small one is sent", || sent() > before).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(sent() - before, Ask::id(3).len() as u64, "nobody wrote it");
        server.release();
        assert_eq!((first.await.unwrap().unwrap(), small.await.unwrap().unwrap()), (1, 3));
    });
}

/// What waits for room is not held up to the node, whenever the deadline falls: in the middle of a turn of the runtime, or
/// by chance when the ticker is in time.
#[test]
fn requests_in_line_outlive_a_runtime_whose_turns_are_long() {
    const TURN: Duration = Duration::from_millis(30);
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(LaneSizing { depth: 1, ..sizing() }, &runtime);
    runtime.block_on(async {
        call(Arc::clone(&lane), Ask::id(0)).await.unwrap();
        let busy = tokio::spawn(async {
            loop {
                std::thread::sleep(TURN);
                tokio::task::yield_now().await;
            }
        });
        let ask = |id| Ask { timeout: Some(TURN * 4 + Duration::from_millis(u64::from(id) * 3)), ..Ask::id(id) };
        let calls: Vec<_> = (1..40).map(|id| tokio::spawn(call(Arc::clone(&lane), ask(id)))).collect();
        for (call, id) in calls.into_iter().zip(1..) {
            assert_eq!(call.await.unwrap().unwrap(), id);
        }
        busy.abort();
    });
}
