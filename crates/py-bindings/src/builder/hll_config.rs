//! `HllConfig`.

use pyo3::prelude::*;

use crate::errors;

/// The settings of an HLL: the number of its index bits (4 to 16) and of its min-hash bits (4 to 51, or -1 for none,
/// which is the default).
#[pyclass(frozen, eq, hash, module = "aerolane")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct HllConfig {
    pub(super) index_bits: i64,
    pub(super) min_hash_bits: i64,
}

#[pymethods]
impl HllConfig {
    #[new]
    #[pyo3(signature = (index_bit_count, min_hash_bit_count=-1))]
    fn new(py: Python<'_>, index_bit_count: i64, min_hash_bit_count: i64) -> PyResult<Self> {
        if !(4..=16).contains(&index_bit_count) {
            let text = format!("index_bit_count is {index_bit_count}, it must be 4 to 16");
            return Err(errors::invalid_argument(py, text));
        }
        if !matches!(min_hash_bit_count, -1 | 0 | 4..=51) {
            let text = format!("min_hash_bit_count is {min_hash_bit_count}, it must be 4 to 51, or -1 for none");
            return Err(errors::invalid_argument(py, text));
        }
        Ok(Self { index_bits: index_bit_count, min_hash_bits: min_hash_bit_count })
    }

    /// Same as the constructor.
    #[staticmethod]
    #[pyo3(name = "of", signature = (index_bit_count, min_hash_bit_count=-1))]
    fn of_python(py: Python<'_>, index_bit_count: i64, min_hash_bit_count: i64) -> PyResult<Self> {
        Self::new(py, index_bit_count, min_hash_bit_count)
    }

    /// The number of index bits.
    #[getter]
    fn index_bit_count(&self) -> i64 {
        self.index_bits
    }

    /// The number of min-hash bits; -1 for none.
    #[getter]
    fn min_hash_bit_count(&self) -> i64 {
        self.min_hash_bits
    }

    fn __repr__(&self) -> String {
        let Self { index_bits, min_hash_bits } = self;
        format!("HllConfig(index_bit_count={index_bits}, min_hash_bit_count={min_hash_bits})")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (i64, i64)) {
        (py.get_type::<Self>().into_any(), (self.index_bits, self.min_hash_bits))
    }
}

impl HllConfig {
    /// As a server has answered.
    #[allow(clippy::unnecessary_wraps)] // as its callers use it
    pub(super) fn of(index_bits: i64, min_hash_bits: i64) -> PyResult<Self> {
        Ok(Self { index_bits, min_hash_bits })
    }
}
