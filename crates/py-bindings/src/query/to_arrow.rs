//! `to_arrow` of the classes that give the records of a query: the same arguments for all of them.

use pyo3::prelude::*;

use crate::columns::Options;

/// The arguments of `to_arrow`.
pub(crate) struct ArrowArguments<'a, 'py> {
    pub(crate) schema: Option<&'a Bound<'py, PyAny>>,
    pub(crate) batch_rows: i64,
    /// From how many records types are determined; `None`: the default.
    pub(crate) sample: Option<i64>,
    pub(crate) options: Options<'a, 'py>,
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
