//! A fast random number generator, for benchmarks.

use aerolane::sync::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A random number generator for benchmarks (xoshiro256++). An integer costs about a third of `random.randrange`. Do
/// not use it for secrets.
///
/// `FastRng(seed)`: the same seed (0 to 2**64 - 1) produces the same numbers. `FastRng()`: a random seed. Threads can
/// share one, but one per thread is faster.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct FastRng {
    // Never held while Python code can run.
    state: Mutex<Xoshiro256PlusPlus>,
}

impl FastRng {
    /// A number below `range`; 0 stands for 2**64.
    fn below(&self, range: u64) -> u64 {
        let mut state = self.state.lock();
        let word = state.next_u64();
        if range == 0 {
            return word;
        }
        let product = u128::from(word) * u128::from(range);
        let (high, low) = ((product >> 64) as u64, product as u64);
        // One more word makes the bias too small to be seen in any number of draws.
        if low > range.wrapping_neg() {
            let more = ((u128::from(state.next_u64()) * u128::from(range)) >> 64) as u64;
            return high + u64::from(low.checked_add(more).is_none());
        }
        high
    }
}

#[pymethods]
impl FastRng {
    #[new]
    #[pyo3(signature = (seed=None))]
    fn new(seed: Option<u64>) -> Self {
        // The hasher's keys are random in each process, and new for each one.
        let seed = seed.unwrap_or_else(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(0_u8)
        });
        Self { state: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)) }
    }

    /// A random integer from 0 to 2**64 - 1.
    fn next_u64(&self) -> u64 {
        self.state.lock().next_u64()
    }

    /// A random float, at least 0 and below 1.
    fn random(&self) -> f64 {
        (self.state.lock().next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random integer from 0 to `max - 1`. Raises `ValueError` if `max` is 0.
    fn gen_below(&self, max: u64) -> PyResult<u64> {
        if max == 0 {
            return Err(PyValueError::new_err("max must be at least 1"));
        }
        Ok(self.below(max))
    }

    /// A random integer from `lo` to `hi`, both inclusive (64 bits, signed). Raises `ValueError` if `lo > hi`.
    fn randint(&self, lo: i64, hi: i64) -> PyResult<i64> {
        if lo > hi {
            return Err(PyValueError::new_err(format!("the range from {lo} to {hi} is empty")));
        }
        Ok(lo.wrapping_add(self.below(hi.wrapping_sub(lo).wrapping_add(1) as u64) as i64))
    }

    /// A random integer from `start` to `stop - 1` (64 bits, signed); `randrange(n)`: from 0 to `n - 1`. Raises
    /// `ValueError` for an empty range.
    #[pyo3(signature = (start, stop=None))]
    fn randrange(&self, start: i64, stop: Option<i64>) -> PyResult<i64> {
        let (start, stop) = stop.map_or((0, start), |stop| (start, stop));
        if start >= stop {
            return Err(PyValueError::new_err(format!("the range from {start} to below {stop} is empty")));
        }
        Ok(start.wrapping_add(self.below(stop.wrapping_sub(start) as u64) as i64))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FastRng>()
}
