//! The blocking client allocates nothing for a call, beside the record that it returns.

mod common;
#[path = "common/counting.rs"]
mod counting;

use aerolane::{Bins, ReadPolicy, SyncClient, WritePolicy, as_bin};
use common::{Patient, Target, policy};
use counting::allocations_of;

/// Allocations of this thread per call, after a warm-up.
fn per_call(mut call: impl FnMut()) -> f64 {
    (0..50).for_each(|_| call());
    allocations_of(|| (0..1000).for_each(|_| call())).0 as f64 / 1000.0
}

#[test]
fn a_call_allocates_nothing_but_the_record() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let (read, write, key, bins) = (ReadPolicy::patient(), WritePolicy::patient(), target.key(1), [as_bin!("n", 1)]);
    let put = per_call(|| client.put(&write, &key, &bins).unwrap());
    let exists = per_call(|| assert!(client.exists(&read, &key).unwrap()));
    let header = per_call(|| drop(client.get(&read, &key, Bins::None).unwrap()));
    let get = per_call(|| drop(client.get(&read, &key, Bins::All).unwrap()));
    println!("allocations per call: put {put}, exists {exists}, header {header}, get of one bin {get}");
    assert!(put == 0.0 && exists == 0.0 && header == 0.0, "{put} {exists} {header}");
    // The map of bins (its table and its entries) and the bin's name.
    assert!(get <= 3.0, "{get}");
}
