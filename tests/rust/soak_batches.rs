//! Many tasks with batches while the machine is busy with other things: nothing times out, nothing stands still.
//!
//! Some seconds by default; `AEROLANE_SOAK_SECONDS` says how many. `AEROLANE_SOAK_BUSY` is how many threads keep the
//! processors busy beside it (one per processor by default).

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, Key, ResultCode, Value, WritePolicy, as_bin,
};
use common::{Patient, Target, policy};

const TASKS: u64 = 32;
const ROWS: u64 = 128;
const KEYS: u64 = 2000;
/// Longer than any stall that is to be found, so that it is measured rather than cut short.
const TIMEOUT_MS: u32 = 60_000;
/// One that takes this much longer than the worst delay of a task that only sleeps, and than batches take on average
/// here, did not move for most of it.
const STALL: Duration = Duration::from_secs(2);

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    }
}

/// Threads that only use up processor time, until dropped.
struct Pressure(Arc<AtomicBool>);

impl Pressure {
    fn start(threads: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let mut n = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    n = black_box(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
                }
            });
        }
        Self(over)
    }
}

impl Drop for Pressure {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn batches_go_on_under_pressure() {
    let target = Target::start();
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let length = Duration::from_secs(setting("AEROLANE_SOAK_SECONDS", 5));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let keys: Arc<[Key]> = (0..KEYS).map(|id| target.key(id as i64)).collect();
    let client = runtime.block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        for (id, key) in keys.iter().enumerate() {
            client.put(&WritePolicy::patient(), key, &[as_bin!("n", id as i64)]).await.unwrap();
        }
        client
    });

    // How late tasks run here at all: what the machine does to everybody.
    let over = Arc::new(AtomicBool::new(false));
    let delays = {
        let over = Arc::clone(&over);
        runtime.spawn(async move {
            let mut worst = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let begun = Instant::now();
                tokio::time::sleep(Duration::from_millis(5)).await;
                worst = worst.max(begun.elapsed());
            }
            worst
        })
    };
    let pressure = Pressure::start(setting("AEROLANE_SOAK_BUSY", processors));
    let begun = Instant::now();
    let until = begun + length;
    let batches = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (client, keys, batches) = (client.clone(), Arc::clone(&keys), Arc::clone(&batches));
            runtime.spawn(async move {
                let (mut policy, read) = (BatchPolicy::patient(), BatchReadPolicy::default());
                policy.base_policy.total_timeout = TIMEOUT_MS;
                policy.base_policy.socket_timeout = TIMEOUT_MS;
                let (mut first, mut slowest) = (task * 61, Duration::ZERO);
                while Instant::now() < until {
                    let ids = (0..ROWS).map(|row| (first + row * 7) % KEYS);
                    let mut rows: Vec<_> = ids
                        .clone()
                        .map(|id| BatchOperation::read(&read, keys[id as usize].clone(), Bins::All))
                        .collect();
                    let begun = Instant::now();
                    client.batch(&policy, &mut rows).await.unwrap();
                    slowest = slowest.max(begun.elapsed());
                    for (row, id) in rows.iter().zip(ids) {
                        assert_eq!(row.result_code(), Some(ResultCode::Ok));
                        assert_eq!(row.record().unwrap().bins["n"], Value::Int(id as i64));
                    }
                    first += ROWS;
                    batches.fetch_add(1, Ordering::Relaxed);
                }
                slowest
            })
        })
        .collect();
    let slowest = runtime.block_on(async {
        let mut slowest = Duration::ZERO;
        for task in tasks {
            slowest = slowest.max(task.await.unwrap());
        }
        slowest
    });
    drop(pressure);
    let total = client.stats().total;
    over.store(true, Ordering::Relaxed);
    let delay = runtime.block_on(delays).unwrap();
    println!("{} batches, the slowest in {slowest:?}; tasks ran {delay:?} late", batches.load(Ordering::Relaxed));
    assert_eq!((total.timeouts, total.retries), (0, 0), "no request was late");
    let mean = begun.elapsed() * TASKS as u32 / batches.load(Ordering::Relaxed).max(1) as u32;
    let most = STALL + 5 * (delay + mean);
    assert!(slowest < most, "a batch took {slowest:?}, mean {mean:?}, while tasks ran at most {delay:?} late");
    assert!(batches.load(Ordering::Relaxed) >= TASKS, "each task went on");
}
