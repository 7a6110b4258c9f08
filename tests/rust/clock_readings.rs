//! An operation reads the clock once. (Counted in builds with debug assertions only; the counter is not in others.)
#![cfg(debug_assertions)]

mod common;

use std::num::NonZeroUsize;
use std::time::Instant;

use aerolane::raw::clock::readings;
use aerolane::{Bins, Client, LaneRuntime, ReadPolicy, SyncClient, WritePolicy, as_bin};
use common::{Patient, Target, policy};

const CALLS: u64 = 2000;
/// What the lane's ticker may read beside the calls, on a thread that it shares with them.
const BESIDE: u64 = 100;

macro_rules! readings_of {
    ($call:expr) => {{
        for _ in 0..100 {
            $call;
        }
        let before = readings();
        for _ in 0..CALLS {
            $call;
        }
        readings() - before
    }};
}

fn is_one_each(readings: u64, what: &str) {
    assert!((CALLS..=CALLS + BESIDE).contains(&readings), "{what}: {readings} readings for {CALLS} calls");
}

/// One call after the other: with several under way, a burst of answers needs fewer still.
#[test]
fn one_reading_per_call() {
    let target = Target::start();
    let (read, write, key, bins) = (ReadPolicy::patient(), WritePolicy::patient(), target.key(1), [as_bin!("n", 5)]);

    let sync = SyncClient::new(&policy(), target.seeds()).unwrap();
    is_one_each(readings_of!(sync.put(&write, &key, &bins).unwrap()), "put, blocking");
    is_one_each(readings_of!(sync.get(&read, &key, Bins::All).unwrap()), "get, blocking");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (client, put, get) = runtime.block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let put = readings_of!(client.put(&write, &key, &bins).await.unwrap());
        let get = readings_of!(client.get(&read, &key, Bins::All).await.unwrap());
        (client, put, get)
    });
    is_one_each(put, "put, async");
    is_one_each(get, "get, async");

    let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
    let task = lanes.spawn(move |client| async move {
        let put = readings_of!(client.put(&write, &key, &bins).await.unwrap());
        let get = readings_of!(client.get(&read, &key, Bins::All).await.unwrap());
        (put, get)
    });
    let (put, get) = task.wait().unwrap();
    is_one_each(put, "put, thread-local");
    is_one_each(get, "get, thread-local");
}

/// Calls of many threads share connections, and one of them waits for the answers of all. It looks at the clock again
/// only when nothing comes for a millisecond.
#[test]
fn one_reading_per_call_of_many_threads() {
    const THREADS: u64 = 24;
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let (read, key) = (ReadPolicy::patient(), target.key(1));
    client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 5)]).unwrap();
    let begun = Instant::now();
    let total: u64 = std::thread::scope(|scope| {
        let calls = || {
            let get = || client.get(&read, &key, Bins::All).unwrap();
            (0..100).for_each(|_| drop(get()));
            let before = readings();
            (0..CALLS).for_each(|_| drop(get()));
            readings() - before
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(calls)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let milliseconds = begun.elapsed().as_millis() as u64;
    let (calls, beside) = (THREADS * CALLS, total - THREADS * CALLS);
    println!("{beside} readings beside those of {calls} calls in {milliseconds} ms");
    // On the shared connections (one, or two at the start), and for threads that open connections of their own.
    assert!(beside <= 2 * milliseconds + calls / 100, "{beside} readings beside those of {calls} calls");
}
