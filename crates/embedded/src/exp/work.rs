//! A bound on the work of an expression: paths and calls inside one another multiply.

use std::cell::Cell;

/// Steps that an expression, or a path, may take: nodes, and 8 bytes each of the values that they go through. That is
/// enough to look at each element of a record of 1 MiB, and less than a second.
const LIMIT: u64 = 4_000_000;

thread_local! {
    /// How many evaluations are inside one another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// An evaluation. The outermost one begins with all steps; those inside share them.
#[derive(Debug)]
pub(crate) struct Work(());

impl Work {
    pub(crate) fn begin() -> Self {
        if DEPTH.get() == 0 {
            LEFT.set(LIMIT);
        }
        DEPTH.set(DEPTH.get() + 1);
        Self(())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Takes one step, and those through a value of so many bytes; `None` if none is left.
pub(super) fn step(bytes: usize) -> Option<()> {
    let left = LEFT.get().checked_sub(1 + bytes as u64 / 8);
    LEFT.set(left.unwrap_or(0));
    left.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_evaluations_share_the_steps_and_the_next_one_begins_anew() {
        let outer = Work::begin();
        step(8 * (LIMIT as usize - 3)).unwrap();
        let inner = Work::begin();
        assert!(step(0).is_some());
        drop(inner);
        assert!(step(0).is_some() && step(0).is_none());
        drop(outer);
        let _next = Work::begin();
        assert!(step(0).is_some());
    }
}
