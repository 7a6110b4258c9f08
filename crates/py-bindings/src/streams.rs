//! What streams of results have in common.

/// Defines how a class with `anext` (the operation of the next item) and `close` is iterated over in event loops, and that
/// its blocks close it.
macro_rules! stream_methods {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            fn __iter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __aiter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __anext__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::anext(slf).or_else(|error| crate::host::failed(slf.py(), error))
            }

            fn __enter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
                self.close(py);
                false
            }

            fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
                crate::host::ready_as(py, "__aenter__", slf.into_any())
            }

            #[pyo3(signature = (*_exception))]
            fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.close(py);
                crate::host::ready(py, false.into_pyobject(py)?.to_owned().into_any().unbind())
            }
        }
    };
}

pub(crate) use stream_methods;
