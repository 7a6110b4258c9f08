//! In the steady state an async call allocates nothing but the record it returns.

mod common;
#[path = "common/counting.rs"]
mod counting;

use std::num::NonZeroUsize;
use std::sync::Arc;

use aerolane::raw::command::decode;
use aerolane::{Bins, Client, LaneRuntime, ReadPolicy, WritePolicy, as_bin};
use common::{Patient, Target, policy};
use counting::{allocated, allocations_of};

const CALLS: usize = 1000;

/// The allocations of `CALLS` calls, after as many to warm up. What runs beside them on the thread (the lane's timer once
/// a second) may allocate, so the best of several looks counts.
macro_rules! allocations {
    ($call:expr) => {{
        let mut least = usize::MAX;
        for look in 0..6 {
            let before = allocated();
            for _ in 0..CALLS {
                $call;
            }
            if look > 0 {
                least = least.min(allocated() - before);
            }
        }
        least
    }};
}

/// The allocations of decoding an answer with one int bin.
fn decoding() -> usize {
    let mut body = vec![22, 1, 0, 0, 0, 0];
    body.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    body.extend([0, 0, 0, 13, 1, 1, 0, 1, b'n', 0, 0, 0, 0, 0, 0, 0, 5]);
    let node: Arc<str> = Arc::from("A1");
    let want = decode::Want { bins: true, results: false, nil_bins: false };
    let (count, record) = allocations_of(|| decode::record(&body, want, &node).unwrap());
    assert_eq!(record.bins["n"], aerolane::Value::Int(5));
    count
}

#[test]
fn nothing_but_the_record() {
    let target = Target::start();
    let (read, write, key, bins) = (ReadPolicy::patient(), WritePolicy::patient(), target.key(1), [as_bin!("n", 5)]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (client, counts) = runtime.block_on(async {
        let client = Client::new(&policy(), target.seeds()).await.unwrap();
        let put = allocations!(client.put(&write, &key, &bins).await.unwrap());
        let get = allocations!(client.get(&read, &key, Bins::All).await.unwrap());
        let exists = allocations!(assert!(client.exists(&read, &key).await.unwrap()));
        (client, (put, get, exists))
    });
    assert_eq!(counts, (0, CALLS * decoding(), 0), "put, get, exists");
    let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
    let local = lanes.spawn(move |client| async move {
        let put = allocations!(client.put(&write, &key, &bins).await.unwrap());
        let get = allocations!(client.get(&read, &key, Bins::All).await.unwrap());
        let exists = allocations!(assert!(client.exists(&read, &key).await.unwrap()));
        (put, get, exists)
    });
    assert_eq!(local.wait().unwrap(), (0, CALLS * decoding(), 0), "put, get, exists on a lane's own thread");
}
