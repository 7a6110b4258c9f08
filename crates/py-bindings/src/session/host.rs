//! `Host`.

use aerospike_core::Host as CoreHost;
use pyo3::prelude::*;

use crate::errors;

/// Where a node listens: a seed of a cluster.
///
/// `tls_name` is the name in the node's certificate, where it is not `name`.
#[pyclass(frozen, eq, hash, from_py_object, module = "aerolane")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Host {
    /// Host name or address.
    #[pyo3(get)]
    name: String,
    /// Port, 1 to 65535.
    #[pyo3(get)]
    port: u16,
    /// The name in the node's certificate, or `None`.
    #[pyo3(get)]
    tls_name: Option<String>,
}

/// The port that the server listens on by default.
pub(super) const DEFAULT_PORT: u16 = 3000;
/// The most hosts that one text may hold.
const MAX_HOSTS: usize = 1024;

impl Host {
    pub(super) fn checked(py: Python<'_>, name: String, port: i64, tls_name: Option<String>) -> PyResult<Self> {
        if name.is_empty() {
            return Err(errors::invalid_argument(py, "the name of a host must not be empty"));
        }
        let Some(port) = u16::try_from(port).ok().filter(|port| *port != 0) else {
            return Err(errors::invalid_argument(py, format!("{port} is not a port, which is 1 to 65535")));
        };
        Ok(Self { name, port, tls_name })
    }

    pub(super) fn set_tls_name(&mut self, tls_name: Option<String>) {
        self.tls_name = tls_name;
    }

    pub(super) fn address(&self) -> String {
        if self.name.contains(':') {
            format!("[{}]:{}", self.name, self.port)
        } else {
            format!("{}:{}", self.name, self.port)
        }
    }

    pub(super) fn core(&self) -> CoreHost {
        CoreHost { name: self.name.clone(), tls_name: self.tls_name.clone(), port: self.port }
    }

    /// `name[:port]`, with an IPv6 address in brackets when a port follows.
    fn parse(py: Python<'_>, text: &str, default_port: i64) -> PyResult<Self> {
        let bad = || errors::invalid_argument(py, format!("{text:?} is not an address of the form host:port"));
        let (name, port) = if let Some(rest) = text.strip_prefix('[') {
            let (name, rest) = rest.split_once(']').ok_or_else(bad)?;
            match rest.strip_prefix(':') {
                Some(port) => (name, Some(port)),
                None if rest.is_empty() => (name, None),
                None => return Err(bad()),
            }
        } else if text.matches(':').count() > 1 {
            (text, None)
        } else {
            text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)))
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| bad())?,
            None => default_port,
        };
        Self::checked(py, name.to_owned(), port, None)
    }
}

#[pymethods]
impl Host {
    #[new]
    #[pyo3(signature = (name, port=i64::from(DEFAULT_PORT), tls_name=None))]
    fn new(py: Python<'_>, name: String, port: i64, tls_name: Option<String>) -> PyResult<Self> {
        Self::checked(py, name, port, tls_name)
    }

    /// A host by name and port.
    #[staticmethod]
    fn of(py: Python<'_>, name: String, port: i64) -> PyResult<Self> {
        Self::checked(py, name, port, None)
    }

    /// The hosts in a text like `"one:3000,two,[::1]:3100"`; `default_port` is the port of those without one.
    #[staticmethod]
    #[pyo3(signature = (host_string, default_port=i64::from(DEFAULT_PORT)))]
    fn parse_hosts(py: Python<'_>, host_string: &str, default_port: i64) -> PyResult<Vec<Self>> {
        let parts: Vec<_> = host_string.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() || parts.len() > MAX_HOSTS {
            let text = format!("{host_string:?} names {} hosts, 1 to {MAX_HOSTS} are taken", parts.len());
            return Err(errors::invalid_argument(py, text));
        }
        parts.into_iter().map(|part| Self::parse(py, part, default_port)).collect()
    }

    fn __repr__(&self) -> String {
        match &self.tls_name {
            Some(tls_name) => format!("Host('{}', {}, tls_name='{tls_name}')", self.name, self.port),
            None => format!("Host('{}', {})", self.name, self.port),
        }
    }
}
