//! `to_arrow` of the classes that give the records of a query: the same arguments for all of them.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::columns::{Options, Wanted};
use crate::errors;

/// Rows of a record batch, at most.
const MAX_BATCH_ROWS: i64 = 1 << 24;

/// The arguments of `to_arrow`.
pub(crate) struct ArrowArguments<'a, 'py> {
    pub(crate) schema: Option<&'a Bound<'py, PyAny>>,
    pub(crate) batch_rows: i64,
    /// From how many records types are determined; `None`: the default.
    pub(crate) sample: Option<i64>,
    pub(crate) options: Options<'a, 'py>,
}

/// The same, checked.
pub(crate) struct ArrowRequest {
    pub(crate) wanted: Arc<Wanted>,
    pub(crate) batch_rows: usize,
    pub(crate) sample: Option<u64>,
}

impl ArrowArguments<'_, '_> {
    pub(crate) fn checked(&self, py: Python<'_>) -> PyResult<ArrowRequest> {
        let Self { schema, batch_rows, sample, ref options } = *self;
        let wanted = Wanted::of(py, schema, options)?;
        let rows = Some(batch_rows).filter(|rows| (1..=MAX_BATCH_ROWS).contains(rows)).ok_or_else(|| {
            let text = format!("batch_rows must be 1 to {MAX_BATCH_ROWS}, it is {batch_rows}");
            errors::invalid_argument(py, text)
        })?;
        let sample = match sample.map(u64::try_from) {
            None => None,
            Some(Ok(sample @ 1..)) => Some(sample),
            _ => return Err(errors::invalid_argument(py, "infer_schema_length must be 1 at least")),
        };
        Ok(ArrowRequest { wanted, batch_rows: rows as usize, sample })
    }
}

/// Defines the method of a class: its docstring, and what makes an `ArrowStream` of the object and of what it is called with.
macro_rules! to_arrow {
    ($(#[$doc:meta])* $class:ident, |$slf:ident, $asked:ident| $stream:expr) => {
        #[pymethods]
        impl $class {
            $(#[$doc])*
            #[pyo3(signature = (schema=None, *, batch_rows=65536, infer_schema_length=None, schema_overrides=None, key=None,
                digest=None, generation=None, ttl=None, expiration=None, misfits=None, mixed=None))]
            #[allow(clippy::too_many_arguments)] // the arguments of the Python method
            fn to_arrow(
                $slf: &Bound<'_, Self>,
                schema: Option<&Bound<'_, PyAny>>,
                batch_rows: i64,
                infer_schema_length: Option<i64>,
                schema_overrides: Option<&Bound<'_, PyAny>>,
                key: Option<&Bound<'_, PyAny>>,
                digest: Option<&Bound<'_, PyAny>>,
                generation: Option<String>,
                ttl: Option<String>,
                expiration: Option<String>,
                misfits: Option<&str>,
                mixed: Option<&str>,
            ) -> PyResult<$crate::query::ArrowStream> {
                let options = $crate::columns::Options {
                    schema_overrides,
                    key,
                    digest,
                    generation,
                    ttl,
                    expiration,
                    misfits,
                    mixed,
                };
                let $asked =
                    $crate::query::to_arrow::ArrowArguments { schema, batch_rows, sample: infer_schema_length, options };
                $stream
            }
        }
    };
}

pub(crate) use to_arrow;
