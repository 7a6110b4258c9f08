//! `TlsBuilder`: how connections are encrypted, said step by step.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::lock::LockAttached;

/// How connections are encrypted: `definition.with_tls_config_of().ca_file("ca.pem").done()`, for code written for the first
/// versions of the SDK of Aerospike. `with_tls_config` takes the same in one call.
///
/// Nothing is read before `done()`, which gives the definition.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct TlsBuilder {
    definition: Py<PyAny>,
    /// What `with_tls_config` is called with.
    said: aerolane::sync::Mutex<Vec<(&'static str, Py<PyAny>)>>,
}

impl TlsBuilder {
    pub(super) fn of(definition: Py<PyAny>) -> Self {
        Self { definition, said: aerolane::sync::Mutex::default() }
    }

    fn say<'py>(slf: Bound<'py, Self>, name: &'static str, value: Bound<'py, PyAny>) -> Bound<'py, Self> {
        // What was said before is dropped when nothing is locked any more.
        let before = {
            let mut said = slf.get().said.lock_py_attached(slf.py());
            if let Some((_, known)) = said.iter_mut().find(|(known, _)| *known == name) {
                Some(std::mem::replace(known, value.unbind()))
            } else {
                said.push((name, value.unbind()));
                None
            }
        };
        drop(before);
        slf
    }
}

#[pymethods]
impl TlsBuilder {
    /// For annotations: the class of the definition.
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _item: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }

    /// The name in the certificates of the nodes, where it is not the host name.
    fn tls_name<'py>(slf: Bound<'py, Self>, tls_name: Bound<'py, PyAny>) -> Bound<'py, Self> {
        Self::say(slf, "tls_name", tls_name)
    }

    /// A PEM file with the authorities that are trusted.
    fn ca_file<'py>(slf: Bound<'py, Self>, ca_file: Bound<'py, PyAny>) -> Bound<'py, Self> {
        Self::say(slf, "ca_file", ca_file)
    }

    /// A PEM file with the certificate of the client; `client_key_file` goes with it.
    fn client_cert_file<'py>(slf: Bound<'py, Self>, cert_file: Bound<'py, PyAny>) -> Bound<'py, Self> {
        Self::say(slf, "client_cert_file", cert_file)
    }

    /// A PEM file with the key of that certificate.
    fn client_key_file<'py>(slf: Bound<'py, Self>, key_file: Bound<'py, PyAny>) -> Bound<'py, Self> {
        Self::say(slf, "client_key_file", key_file)
    }

    /// The versions of TLS that are allowed, see `TlsConfig`.
    #[pyo3(signature = (*protocols))]
    fn protocols<'py>(slf: Bound<'py, Self>, protocols: &Bound<'py, PyTuple>) -> Bound<'py, Self> {
        Self::say(slf, "protocols", protocols.to_list().into_any())
    }

    /// The cipher suites that are allowed, see `TlsConfig`.
    #[pyo3(signature = (*ciphers))]
    fn ciphers<'py>(slf: Bound<'py, Self>, ciphers: &Bound<'py, PyTuple>) -> Bound<'py, Self> {
        Self::say(slf, "ciphers", ciphers.to_list().into_any())
    }

    /// Whether only the login is encrypted.
    #[pyo3(signature = (for_login_only=true))]
    fn for_login_only(slf: Bound<'_, Self>, for_login_only: bool) -> Bound<'_, Self> {
        let value = pyo3::types::PyBool::new(slf.py(), for_login_only).to_owned().into_any();
        Self::say(slf, "for_login_only", value)
    }

    /// Reads the files, and gives the definition.
    ///
    /// Raises what `with_tls_config` raises.
    fn done<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let said: Vec<_> =
            self.said.lock_py_attached(py).iter().map(|(name, value)| (*name, value.clone_ref(py))).collect();
        let named = PyDict::new(py);
        for (name, value) in said {
            named.set_item(name, value)?;
        }
        self.definition.bind(py).call_method("with_tls_config", (), Some(&named))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.definition)
    }
}
