//! The async driver against a server of a few lines.

mod matching;
mod server;
mod stalls;
mod trouble;

use std::time::Duration;

use super::*;
use server::{Ask, HELD, Server};

const SOON: Duration = Duration::from_secs(30);

fn sizing() -> LaneSizing {
    LaneSizing {
        spread: 1,
        fair_share: 8,
        min: 0,
        max: 1,
        depth: 128,
        max_bytes_in_flight: 64 << 20,
        max_batch: 1,
        max_waiting: 100_000,
        max_waiting_bytes: 1 << 30,
        max_batch_answer_bytes: 1 << 30,
        wait: true,
        idle_ms: 0,
        orphan_ms: 200,
    }
}

/// Sends one request; gives the id in the answer.
async fn call(lane: Arc<SharedLane>, ask: Ask) -> Outcome {
    let now = Instant::now();
    let deadline = lane.deadline(ask.timeout.map(|timeout| now + timeout));
    let (class, id) = if ask.batch { (Class::Batch, 14..18) } else { (Class::Single, 22..26) };
    let mut exchange = lane.exchange(0, class, now, deadline, |out: &mut Vec<u8>| {
        ask.encode(out);
        Ok(())
    });
    let answered = std::future::poll_fn(|cx| {
        exchange.poll_with(cx, |body| u32::from_be_bytes(body[id.clone()].try_into().unwrap()))
    });
    answered.await
}

type Outcome = Result<u32, ExchangeError>;

/// The failure of a call, and whether it was sent.
fn failure(outcome: Outcome) -> (String, bool) {
    match outcome {
        Err(ExchangeError::Failed(Failure { kind, sent, .. })) => (format!("{kind:?}"), sent),
        other => panic!("should have failed: {other:?}"),
    }
}

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs `test` on a thread of its own: a deadlock fails the test instead of holding it up.
fn without_deadlock(test: impl FnOnce() + Send + 'static) {
    let (done, over) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
        let _ = done.send(outcome);
    });
    if let Err(panic) = over.recv_timeout(SOON * 4).expect("it ends") {
        std::panic::resume_unwind(panic);
    }
}

/// The best of several looks: a busy machine holds up some of them, a fault of the driver all.
async fn shortest<F: Future<Output = Duration>>(look: impl Fn() -> F, bound: Duration) {
    let mut looks = Vec::new();
    while looks.last().is_none_or(|shortest| *shortest >= bound) {
        assert!(looks.len() < 50, "{looks:?}");
        looks.push(look().await);
    }
}

/// Waits until it holds.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
