//! Runtimes that end, lanes that are closed, nodes that leave, answers that do not come.

use super::*;

#[test]
fn the_end_of_a_runtime_is_heard_on_others() {
    let server = Server::start();
    for sent in [true, false] {
        let runtime = multi_thread();
        let lane = server.lane(LaneSizing { depth: 1, ..sizing() }, &runtime);
        runtime.block_on(call(Arc::clone(&lane), Ask::id(0))).unwrap();
        let caller = |id| {
            let lane = Arc::clone(&lane);
            std::thread::spawn(move || {
                let asked = Ask { delay: HELD, timeout: None, ..Ask::id(id) };
                failure(futures::executor::block_on(call(lane, asked)))
            })
        };
        let first = caller(0);
        let two = 2 * Ask::id(0).len() as u64;
        runtime.block_on(eventually("it is on the connection", || lane.counters(0).bytes_sent == two));
        let second = caller(1);
        runtime.block_on(eventually("it is in line", || lane.counters(0).queued == 1));
        let callers = [first, second];
        if sent {
            drop(runtime);
        } else {
            runtime.shutdown_background();
        }
        let failures: Vec<_> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        assert_eq!(failures[0], ("Closed".into(), true));
        assert!(!failures[1].1, "{failures:?}");
        // Later callers hear it, too, instead of waiting for ever.
        let later = futures::executor::block_on(call(lane, Ask { timeout: None, ..Ask::id(9) }));
        assert!(!failure(later).1);
    }
}

#[test]
fn closing_ends_all_that_waits() {
    let server = Server::start();
    let runtime = multi_thread();
    let lane = server.lane(LaneSizing { depth: 4, ..sizing() }, &runtime);
    let asked = |id| call(Arc::clone(&lane), Ask { delay: HELD, timeout: None, ..Ask::id(id) });
    let tasks: Vec<_> = (0..100).map(|id| runtime.spawn(asked(id))).collect();
    runtime.block_on(async {
        eventually("requests are sent", || lane.counters(0).in_flight == 4 && lane.counters(0).queued == 96).await;
        let four = 4 * Ask::id(0).len() as u64;
        eventually("and written", || lane.counters(0).bytes_sent == four).await;
        lane.close();
        let mut sent = 0;
        for task in tasks {
            let (kind, was_sent) = failure(task.await.unwrap());
            assert_eq!(kind, "Closed");
            sent += u32::from(was_sent);
        }
        assert_eq!(sent, 4);
        assert_eq!(failure(asked(100).await), ("Closed".into(), false));
    });
    // No task of ours is left, and with them go the sockets and the lane.
    runtime.block_on(eventually("all tasks end", || runtime.metrics().num_alive_tasks() == 0));
    assert_eq!(Arc::strong_count(&lane), 1);
}

#[test]
fn a_node_leaves_and_comes_back() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(LaneSizing { depth: 1, ..sizing() }, &runtime);
    runtime.block_on(async {
        let asked = |id, delay| tokio::spawn(call(Arc::clone(&lane), Ask { delay, timeout: None, ..Ask::id(id) }));
        let (under_way, in_line) = (asked(1, HELD), asked(2, 0));
        eventually("sent", || lane.counters(0).bytes_sent > 0 && lane.counters(0).queued == 1).await;
        lane.node_gone(0);
        assert_eq!(failure(in_line.await.unwrap()), ("NodeGone".into(), false));
        server.release();
        assert_eq!(under_way.await.unwrap().unwrap(), 1, "it is still answered");
        eventually("the connection is closed", || lane.counters(0).open == 0).await;
        // There is no connection, and no timer that runs for one.
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert_eq!(failure(asked(3, 0).await.unwrap()), ("NodeGone".into(), false));
        lane.node_back(0);
        assert_eq!(asked(4, 0).await.unwrap().unwrap(), 4);
    });
}

#[test]
fn a_connection_that_an_orphan_blocks_is_replaced() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(sizing(), &runtime);
    runtime.block_on(async {
        let asked = Ask { delay: HELD, timeout: Some(Duration::from_millis(50)), ..Ask::id(1) };
        assert_eq!(failure(call(Arc::clone(&lane), asked).await), ("Expired".into(), true));
        let begun = Instant::now();
        assert_eq!(call(Arc::clone(&lane), Ask::id(2)).await.unwrap(), 2);
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert_eq!((server.accepted(), server.lost()), (2, 0));
    });
}

#[test]
fn more_connections_after_a_resize() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(LaneSizing { depth: 1, ..sizing() }, &runtime);
    runtime.block_on(async {
        let round = || async {
            let tasks: Vec<_> =
                (0..8).map(|id| tokio::spawn(call(Arc::clone(&lane), Ask { delay: 20, ..Ask::id(id) }))).collect();
            for task in tasks {
                task.await.unwrap().unwrap();
            }
        };
        round().await;
        assert_eq!(server.accepted(), 1);
        lane.resize(LaneSizing { depth: 1, max: 4, ..sizing() });
        round().await;
        eventually("four connections", || server.accepted() == 4).await;
    });
}

#[test]
fn a_runtime_that_is_not_turned_concerns_only_its_own_lane() {
    let server = Server::start();
    let (idle, turned) = (current_thread(), current_thread());
    let lanes = [&idle, &turned].map(|runtime| server.lane(sizing(), runtime));
    for (lane, runtime) in lanes.iter().zip([&idle, &turned]) {
        runtime.block_on(call(Arc::clone(lane), Ask::id(0))).unwrap();
    }
    for id in 0..100 {
        assert_eq!(turned.block_on(call(Arc::clone(&lanes[1]), Ask::id(id))).unwrap(), id);
    }
    // Closing does not wait for it.
    lanes[0].close();
    let outcome = turned.block_on(call(Arc::clone(&lanes[0]), Ask::id(1)));
    assert_eq!(failure(outcome), ("Closed".into(), false));
}

/// A task writes without the lane's lock. What a caller wrote meanwhile would stand in the middle of its request.
#[test]
fn callers_do_not_write_to_a_connection_whose_task_is_writing() {
    let server = Server::start();
    let runtime = current_thread();
    let lane = server.lane(sizing(), &runtime);
    runtime.block_on(async {
        assert_eq!(call(Arc::clone(&lane), Ask::id(0)).await.unwrap(), 0);
        for held in [true, false] {
            let id = {
                let state = lane.state.lock();
                state.connections[0].held.store(held, Ordering::Relaxed);
                state.connections[0].id
            };
            let mut next = std::pin::pin!(call(Arc::clone(&lane), Ask::id(1)));
            let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(next.as_mut().poll(cx))).await;
            assert!(polled.is_pending());
            // The task has not run yet.
            assert_eq!(lane.state.lock().lane.has_output(id), held);
            assert_eq!(next.await.unwrap(), 1);
        }
    });
}
