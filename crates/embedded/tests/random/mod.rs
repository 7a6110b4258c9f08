//! Requests made up at random: commands on single records, operations on values of every kind, filters, batches, queries,
//! calls of scripts, and requests that are wrong.
//!
//! They come in scenarios, each with a set and digests of its own, so that none sees another one's records. From one
//! seed come the same requests every time, but for what is taken from answers (HLLs).

mod batches;
mod collections;
mod expressions;
mod malformed;
mod queries;
mod requests;
mod scripts;
mod singles;
mod values;

pub(crate) use requests::{Request, Scenario};

/// xorshift64*, and what holds for the whole scenario.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
    /// Whether maps persist indexes. The recorded server does not survive all changes inside of such maps, by path or in a
    /// context, so a scenario has one or the other.
    persists: bool,
    /// Whether records may expire. Then nothing computes with the time that they have left, which differs from one answer to
    /// the next.
    expires: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Close seeds begin far apart, and none is 0.
        let state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { state, persists: state & 0x1000 != 0, expires: state & 0x2000 != 0 }
    }

    /// From 0 to before `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// From one number to another, both included.
    pub(crate) fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below((last - first + 1) as usize) as i64
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
