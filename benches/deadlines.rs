//! What a deadline costs: a number in an entry and a sweep per tick, against a timer of tokio's per request.
//!
//! With 512 requests in flight and one tick per millisecond, the sweep's time is shared by all requests of that
//! millisecond; a timer's is paid by every request.

mod common;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{Instant as TokioInstant, sleep};

const TIMEOUT: Duration = Duration::from_secs(1);

/// Polls a pending future once, so that a timer is registered.
async fn poll_once(mut future: std::pin::Pin<&mut impl Future>) {
    poll_fn(|context| {
        assert!(future.as_mut().poll(context).is_pending(), "the timer must not be due");
        Poll::Ready(())
    })
    .await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("runtime");
    let mut criterion = common::criterion();

    criterion.bench_function("deadlines/tokio: a new timer per request, dropped in time", |bencher| {
        bencher.iter_custom(|n| {
            runtime.block_on(async {
                let started = Instant::now();
                for _ in 0..n {
                    let timer = pin!(sleep(TIMEOUT));
                    poll_once(timer).await;
                }
                started.elapsed()
            })
        });
    });

    criterion.bench_function("deadlines/tokio: one timer per connection, reset for each request", |bencher| {
        bencher.iter_custom(|n| {
            runtime.block_on(async {
                let mut timer = pin!(sleep(TIMEOUT));
                let started = Instant::now();
                for _ in 0..n {
                    timer.as_mut().reset(TokioInstant::now() + TIMEOUT);
                    poll_once(timer.as_mut()).await;
                }
                started.elapsed()
            })
        });
    });

    common::time(&mut criterion, "lane/sweep of 512 deadlines, none due");
    common::time(&mut criterion, "lane/sweep of 512 deadlines, all due");
    criterion.final_summary();
}
