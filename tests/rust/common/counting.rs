//! A global allocator that counts the allocations of each thread. For the test files that are about allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The allocations of this thread so far; a reallocation counts as one.
pub(crate) fn allocated() -> usize {
    COUNT.get()
}

/// How many allocations some work of this thread makes.
#[allow(dead_code)] // not every test file works that way
pub(crate) fn allocations_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = allocated();
    let result = work();
    (allocated() - before, result)
}

// SAFETY: passes everything on to the system's allocator; the counter needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `at` is from `System`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`, which is the same.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
