//! Counts instead of times: heap allocations and instructions per operation. They do not depend on how busy the
//! machine is, so they can be compared with the last accepted figures.
//!
//! The program `aerolane-bench-counts` installs the counting allocator and prints the table; `counts.sh` builds and
//! runs it.

pub mod accepted;
pub mod client_calls;
pub mod heap;
pub mod instructions;

use crate::hot_paths;

/// Operations before heap allocations are counted: buffers have then reached their size.
const WARM_UP: u64 = 2_000;
/// Operations that are counted.
const COUNTED: u64 = 1_000;

/// Heap allocations per operation of every hot path whose name contains `only`. Needs the counting allocator.
#[must_use]
pub fn hot_path_allocations(only: &str) -> Vec<(String, f64)> {
    hot_paths::all()
        .into_iter()
        .filter(|path| path.name.contains(only))
        .map(|path| {
            let mut run = (path.prepare)();
            run(WARM_UP);
            let before = heap::allocations();
            run(COUNTED);
            let counted = heap::allocations() - before;
            (path.name.to_owned(), counted as f64 / COUNTED as f64)
        })
        .collect()
}
