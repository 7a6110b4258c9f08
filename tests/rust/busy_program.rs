//! A program that works for long between its calls, or stands still, on the thread that has the sockets, too: what it
//! takes its time for is not held against the server. No call fails that a server answered in time.

mod common;

use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use aerolane::{Bins, Client, ErrorKind, LaneRuntime, ReadPolicy, Value, WritePolicy, as_bin};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
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

#[test]
fn a_multi_thread_runtime_whose_workers_are_all_blocked() {
    const WORKERS: usize = 2;
    let _alone = ALONE.lock();
    let target = Arc::new(Target::start());
    let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let key = target.key(1);
        client.put(&write(), &key, &[as_bin!("n", 1)]).await.unwrap();
        for _ in 0..3 {
            let tasks: Vec<_> = (0..200)
                .map(|_| {
                    let (client, key) = (client.clone(), key.clone());
                    tokio::spawn(async move {
                        for _ in 0..2 {
                            let read = client.get(&read(), &key, Bins::All).await;
                            assert_eq!(read.unwrap().bins["n"], Value::Int(1));
                            client.put(&write(), &key, &[as_bin!("n", 1)]).await.unwrap();
                        }
                    })
                })
                .collect();
            // Each worker has one of these; none runs anything else until both are over.
            let all = Arc::new(Barrier::new(WORKERS));
            let blockers: Vec<_> = (0..WORKERS)
                .map(|_| {
                    let all = Arc::clone(&all);
                    tokio::spawn(async move {
                        all.wait();
                        std::thread::sleep(Duration::from_millis(u64::from(TIMEOUT) + 300));
                    })
                })
                .collect();
            for task in blockers.into_iter().chain(tasks) {
                task.await.unwrap();
            }
        }
    });
}

/// The node is silent, and the program busy: the error says both.
#[test]
fn an_error_says_that_the_loop_was_busy() {
    let _alone = ALONE.lock();
    let target = Target::embedded(1);
    current_thread().block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let key = target.key(1);
        client.put(&write(), &key, &[as_bin!("n", 1)]).await.unwrap();
        assert_eq!(client.stats().loop_busy.count, 0, "{}", client.stats());
        target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read)).unwrap();
        let call = {
            let (client, key) = (client.clone(), key.clone());
            let mut read = read();
            read.base_policy.max_retries = 0;
            tokio::spawn(async move { client.get(&read, &key, Bins::All).await })
        };
        // It is on its way.
        while client.stats().total.in_flight == 0 {
            tokio::task::yield_now().await;
        }
        std::thread::sleep(Duration::from_millis(u64::from(TIMEOUT) + 300));
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Timeout), "{error:?}");
        let busy = error.loop_busy().expect("the loop did not run");
        assert!(busy >= Duration::from_millis(250) && busy <= error.elapsed().unwrap(), "{error:?}");
        assert!(error.to_string().contains("the event loop was busy for"), "{error}");
        let stats = client.stats();
        assert!(stats.loop_busy.count >= 1 && stats.loop_busy.longest >= busy, "{stats}");
        assert!(stats.to_string().contains("event loop busy: "), "{stats}");
    });
}
