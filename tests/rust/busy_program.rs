//! A program that works for long between its calls, or stands still, on the thread that has the sockets, too: what it
//! takes its time for is not held against the server. No call fails that a server answered in time.

mod common;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aerolane::{Bins, Client, LaneRuntime, ReadPolicy, Value, WritePolicy, as_bin};
use common::{Target, policy};
use tokio::runtime::{Builder, Runtime};

/// Each call has less time than the program takes for one round of its tasks.
const TIMEOUT: u32 = 400;
const TASKS: i64 = 300;
const WORK: Duration = Duration::from_millis(2);

/// Each keeps a processor busy, and the server needs one: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn read() -> ReadPolicy {
    let mut policy = ReadPolicy::default();
    policy.base_policy.total_timeout = TIMEOUT;
    policy.base_policy.socket_timeout = TIMEOUT;
    policy
}

fn write() -> WritePolicy {
    let mut policy = WritePolicy::default();
    policy.base_policy.total_timeout = TIMEOUT;
    policy.base_policy.socket_timeout = TIMEOUT;
    policy
}

/// Keeps the thread busy, and does not give it away.
fn work(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

#[test]
fn tasks_that_work_between_their_calls_on_a_current_thread_runtime() {
    let _alone = ALONE.lock();
    let target = Arc::new(Target::start());
    current_thread().block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let tasks: Vec<_> = (0..TASKS)
            .map(|id| {
                let (client, target) = (client.clone(), Arc::clone(&target));
                tokio::spawn(async move {
                    let key = target.key(id);
                    for round in 0..3 {
                        client.put(&write(), &key, &[as_bin!("n", round)]).await.unwrap();
                        work(WORK);
                        let record = client.get(&read(), &key, Bins::All).await.unwrap();
                        assert_eq!(record.bins["n"], Value::Int(round));
                        work(WORK);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_current_thread_runtime_that_stands_still() {
    let _alone = ALONE.lock();
    let target = Arc::new(Target::start());
    current_thread().block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let key = target.key(1);
        client.put(&write(), &key, &[as_bin!("n", 1)]).await.unwrap();
        // Before the requests are written, and after some were.
        for turns in [0, 1, 3] {
            let tasks: Vec<_> = (0..200)
                .map(|_| {
                    let (client, key) = (client.clone(), key.clone());
                    tokio::spawn(async move { client.get(&read(), &key, Bins::All).await })
                })
                .collect();
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            std::thread::sleep(Duration::from_millis(u64::from(TIMEOUT) + 300));
            for task in tasks {
                assert_eq!(task.await.unwrap().unwrap().bins["n"], Value::Int(1));
            }
        }
    });
}

#[test]
fn tasks_that_work_between_their_calls_on_a_lane_runtime() {
    let _alone = ALONE.lock();
    let target = Arc::new(Target::start());
    current_thread().block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
        let tasks: Vec<_> = (0..TASKS)
            .map(|id| {
                let target = Arc::clone(&target);
                lanes.spawn(async move |local| {
                    let key = target.key(id);
                    for round in 0..3 {
                        local.put(&write(), &key, &[as_bin!("n", round)]).await.unwrap();
                        work(WORK);
                        local.get(&read(), &key, Bins::All).await.unwrap();
                        work(WORK);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}
