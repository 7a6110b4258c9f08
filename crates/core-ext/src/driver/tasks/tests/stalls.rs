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
            // The last answer is held back: those before it must not wait for it.
            let first = Ask { delay: 60, ..Ask::id(0) };
            let times = times(&lane, [first].into_iter().chain((1..31).map(Ask::id)));
            let held = async {
                // Behind all the others.
                tokio::time::sleep(Duration::from_millis(30)).await;
                call(Arc::clone(&lane), Ask { delay: 400, ..Ask::id(31) }).await.unwrap();
            };
            let (times, ()) = tokio::join!(times, held);
            assert!(times.iter().all(|time| *time < Duration::from_millis(300)), "{times:?}");
        });
        runtime.block_on(async {
            let dribbled = (0..16).map(|id| Ask { dribble: true, ..Ask::id(id) });
            let times = times(&lane, dribbled).await;
            assert!(times.iter().all(|time| *time < Duration::from_millis(600)), "{times:?}");
        });
        runtime.block_on(async {
            // One after the other, so far apart that a mark of several answers would show. On two workers the callers
            // submit in any order.
            let slow = (0..8).map(|id| Ask { delay: 60, ..Ask::id(id) });
            let mut times = times(&lane, slow).await;
            times.sort();
            assert!(times[0] < Duration::from_millis(180), "{times:?}");
        });
    }
}

#[test]
fn answers_are_read_while_a_write_waits() {
    let server = Server::start();
    let runtime = multi_thread();
    let lane = server.lane(sizing(), &runtime);
    runtime.block_on(async {
        let slow = (0..16).map(|id| Ask { delay: 40, ..Ask::id(id) });
        let small = times(&lane, slow);
        // The server reads none of it before it has answered the others.
        let large = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            call(Arc::clone(&lane), Ask { padding: 16 << 20, ..Ask::id(99) }).await.unwrap();
        };
        let (mut times, ()) = tokio::join!(small, large);
        times.sort();
        let longest = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap();
        assert!(times[0] < Duration::from_millis(250) && longest < Duration::from_millis(200), "{times:?}");
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
            // The median: a busy machine may hold up some of them, a flush that waits for the tick holds up all.
            calls.sort();
            assert!(calls[100] < Duration::from_micros(1500), "{:?}", calls[100]);
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
        let first = tokio::spawn(call(Arc::clone(&lane), Ask { delay: 500, ..Ask::id(1) }));
        tokio::time::sleep(Duration::from_millis(20)).await;
        let large = tokio::spawn(call(Arc::clone(&lane), Ask { padding: 2000, ..Ask::id(2) }));
        tokio::time::sleep(Duration::from_millis(5)).await;
        let small = tokio::spawn(call(Arc::clone(&lane), Ask::id(3)));
        tokio::time::sleep(Duration::from_millis(5)).await;
        let before = lane.counters(0).bytes_sent;
        large.abort();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(lane.counters(0).bytes_sent - before, Ask::id(3).len() as u64, "nobody wrote it");
        assert_eq!((first.await.unwrap().unwrap(), small.await.unwrap().unwrap()), (1, 3));
    });
}
