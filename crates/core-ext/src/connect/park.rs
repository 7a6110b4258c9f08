//! Waiting for a future on a plain thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

/// Runs a future to its end on this thread, parking while it waits.
///
/// Unlike a runtime's `block_on` it may be called anywhere, also on a thread of a tokio runtime (which it then
/// blocks). The future brings its own reactor: sockets and timers must belong to a runtime that runs elsewhere.
pub fn block_on<F: Future>(future: F) -> F::Output {
    match block_on_until(None, future) {
        Some(output) => output,
        // Without a deadline only the output ends the loop.
        None => unreachable!("block_on_until without a deadline returns the output"),
    }
}

/// [`block_on`] with a deadline; `None` when it passes first, and the future is dropped.
pub fn block_on_until<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    // On a tokio task's thread the task's own budget would never be renewed here: tokio's resources would stay
    // "not ready, ask again" for ever.
    let mut future = pin!(tokio::task::unconstrained(future));
    let parker = Arc::new(Parker { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&parker));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        while !parker.woken.swap(false, Ordering::Acquire) {
            match deadline {
                None => thread::park(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    thread::park_timeout(left);
                }
            }
        }
    }
}

struct Parker {
    thread: Thread,
    /// Set before `unpark`: a stray token of `park` alone is no reason to poll.
    woken: AtomicBool,
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn waits_for_another_thread() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send(7).unwrap();
        });
        assert_eq!(block_on(receiver), Ok(7));
        other.join().unwrap();
    }

    #[test]
    fn gives_up_at_the_deadline() {
        let start = Instant::now();
        let deadline = start + Duration::from_millis(30);
        assert_eq!(block_on_until(Some(deadline), std::future::pending::<()>()), None);
        assert!(start.elapsed() >= Duration::from_millis(30));
    }

    #[tokio::test]
    async fn works_within_a_task_without_using_up_its_budget() {
        let semaphore = tokio::sync::Semaphore::new(1);
        // More than the 128 steps that tokio grants a task at a time.
        for _ in 0..1000 {
            drop(block_on(semaphore.acquire()).unwrap());
        }
    }
}
