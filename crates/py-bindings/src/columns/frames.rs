//! Columns as frames of libraries that are imported when somebody asks for one.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

/// A library, or an `ImportError` that says what to install.
fn library<'py>(py: Python<'py>, name: &str, method: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        if !error.is_instance_of::<PyImportError>(py) {
            return error;
        }
        let missing =
            PyImportError::new_err(format!("{method}() needs {name}, which is not installed: pip install {name}"));
        missing.set_cause(py, Some(error));
        missing
    })
}

/// What hands Arrow columns over, as a `polars.DataFrame`.
pub(crate) fn polars<'py>(columns: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    library(columns.py(), "polars", "to_polars")?.call_method1("DataFrame", (columns,))
}

/// What hands Arrow columns over, as a `pandas.DataFrame`; its columns are those of pyarrow.
pub(crate) fn pandas<'py>(columns: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = columns.py();
    let pandas = library(py, "pandas", "to_pandas")?;
    let pyarrow = library(py, "pyarrow", "to_pandas")?;
    let named = PyDict::new(py);
    // Ints with nulls stay ints.
    named.set_item("types_mapper", pandas.getattr("ArrowDtype")?)?;
    pyarrow.call_method1("table", (columns,))?.call_method("to_pandas", (), Some(&named))
}

/// What hands Arrow columns over, as a `pyarrow.Table`.
pub(crate) fn pyarrow<'py>(columns: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    library(columns.py(), "pyarrow", "to_pyarrow")?.call_method1("table", (columns,))
}

/// Defines the methods of a class that hands Arrow columns over. `before`: what to call on it first.
macro_rules! frames {
    ($class:ident $(, $before:ident)?) => {
        #[pymethods]
        impl $class {
            /// The columns as a `polars.DataFrame`. Raises `ImportError` if polars is not installed.
            fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                $(slf.get().$before();)?
                $crate::columns::frames::polars(slf.as_any())
            }

            /// The columns as a `pandas.DataFrame` with Arrow types (`pandas.ArrowDtype`), so that integer columns with
            /// nulls stay integers. Raises `ImportError` if pandas or pyarrow is not installed.
            fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                $(slf.get().$before();)?
                $crate::columns::frames::pandas(slf.as_any())
            }

            /// The columns as a `pyarrow.Table`, without a copy. Raises `ImportError` where pyarrow is not installed.
            fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                $(slf.get().$before();)?
                $crate::columns::frames::pyarrow(slf.as_any())
            }
        }
    };
}

pub(crate) use frames;
