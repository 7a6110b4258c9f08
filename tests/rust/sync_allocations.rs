//! The blocking client allocates nothing for a call, beside the record that it returns.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use aerolane::{Bins, ReadPolicy, SyncClient, WritePolicy, as_bin};
use common::{Target, policy};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed to the system's allocator; counting touches only a thread-local cell without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this thread per call, after a warm-up.
fn per_call(mut call: impl FnMut()) -> f64 {
    (0..50).for_each(|_| call());
    let before = ALLOCATIONS.with(Cell::get);
    (0..1000).for_each(|_| call());
    (ALLOCATIONS.with(Cell::get) - before) as f64 / 1000.0
}

#[test]
fn a_call_allocates_nothing_but_the_record() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let (read, write, key, bins) = (ReadPolicy::default(), WritePolicy::default(), target.key(1), [as_bin!("n", 1)]);
    let put = per_call(|| client.put(&write, &key, &bins).unwrap());
    let exists = per_call(|| assert!(client.exists(&read, &key).unwrap()));
    let header = per_call(|| drop(client.get(&read, &key, Bins::None).unwrap()));
    let get = per_call(|| drop(client.get(&read, &key, Bins::All).unwrap()));
    println!("allocations per call: put {put}, exists {exists}, header {header}, get of one bin {get}");
    assert!(put == 0.0 && exists == 0.0 && header == 0.0, "{put} {exists} {header}");
    // The map of bins (its table and its entries) and the bin's name.
    assert!(get <= 3.0, "{get}");
}
