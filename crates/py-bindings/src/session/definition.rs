//! `ClusterDefinition`: where a cluster is and how to talk to it, step by step.

use std::sync::atomic::{AtomicBool, Ordering};

use aerolane::sync::Mutex;
use aerolane_config::System;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::awaitable::AwaitableContext;
use super::cluster::SyncCluster;
use super::connector::Connector;
use super::host::{DEFAULT_PORT, Host};
use super::seeds::Seeds;
use super::tls_builder::TlsBuilder;
use crate::errors;
use crate::policy::enums::{AuthKind, Named};
use crate::policy::{ClientPolicy, TlsConfig};
use crate::system::Dataclass;

/// The environment variable that turns on the alternate addresses of nodes.
const ALTERNATE: &str = "AEROSPIKE_USE_SERVICES_ALTERNATE";

/// What definitions of both kinds have in common: see `ClusterDefinition`.
///
/// Each method gives the definition itself, so that calls can be chained.
#[pyclass(frozen, subclass, module = "aerolane")]
pub(crate) struct ClusterDefinitionBase {
    hosts: Mutex<Vec<Host>>,
    policy: Py<ClientPolicy>,
    program: Mutex<System>,
    strict: AtomicBool,
}

impl ClusterDefinitionBase {
    fn create(py: Python<'_>, hostname: Option<String>, port: Option<i64>, hosts: Option<Vec<Host>>) -> PyResult<Self> {
        let hosts = match (hostname, port, hosts) {
            (Some(name), port, None) => vec![Host::checked(py, name, port.unwrap_or(i64::from(DEFAULT_PORT)), None)?],
            (None, None, Some(hosts)) if !hosts.is_empty() => hosts,
            (None, None, Some(_)) => return Err(errors::invalid_argument(py, "hosts is empty")),
            (None, ..) => return Err(errors::invalid_argument(py, "give a hostname, or hosts")),
            (Some(_), _, Some(_)) => return Err(errors::invalid_argument(py, "give a hostname or hosts, not both")),
        };
        let policy = py.get_type::<ClientPolicy>().call0()?.cast_into::<ClientPolicy>()?;
        if let Ok(value) = std::env::var(ALTERNATE) {
            let on = matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
            policy.setattr("use_services_alternate", on)?;
        }
        Ok(Self {
            hosts: Mutex::new(hosts),
            policy: policy.unbind(),
            program: Mutex::default(),
            strict: AtomicBool::new(false),
        })
    }

    fn set<'py>(slf: Bound<'py, Self>, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Bound<'py, Self>> {
        slf.get().policy.bind(slf.py()).setattr(name, value)?;
        Ok(slf)
    }

    fn login<'py>(
        slf: Bound<'py, Self>,
        mode: AuthKind,
        user_name: Option<&str>,
        password: Option<&str>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let (mode, user_name, password) = match user_name {
            // Such as from an environment variable that is not set.
            Some("") => (AuthKind::None, None, None),
            _ => (mode, user_name, password),
        };
        slf.get().policy.bind(py).call_method1("set_auth_mode", (mode.to_python(py)?, user_name, password))?;
        Ok(slf)
    }

    /// What has been said, checked as a whole.
    fn connector(&self, py: Python<'_>) -> PyResult<Connector> {
        self.policy.get().config(py)?;
        Ok(Connector {
            policy: self.policy.get().snapshot(),
            seeds: Seeds::Hosts(self.hosts.lock().clone()),
            program: self.program.lock().clone(),
            strict: self.strict.load(Ordering::Relaxed),
        })
    }
}

#[pymethods]
impl ClusterDefinitionBase {
    /// The application's name, shown in the server's statistics.
    fn app_id<'py>(slf: Bound<'py, Self>, app_id: &str) -> PyResult<Bound<'py, Self>> {
        Self::set(slf, "application_id", app_id)
    }

    /// Logs in with a user and a password that the cluster knows; an empty user name: without logging in.
    fn with_native_credentials<'py>(
        slf: Bound<'py, Self>,
        user_name: &str,
        password: &str,
    ) -> PyResult<Bound<'py, Self>> {
        Self::login(slf, AuthKind::Internal, Some(user_name), Some(password))
    }

    /// Logs in with a user and a password of an outside directory (LDAP). Needs TLS.
    fn with_external_credentials<'py>(
        slf: Bound<'py, Self>,
        user_name: &str,
        password: &str,
    ) -> PyResult<Bound<'py, Self>> {
        Self::login(slf, AuthKind::External, Some(user_name), Some(password))
    }

    /// `with_external_credentials` without TLS, for tests: the password is readable on the network.
    fn with_external_insecure_credentials<'py>(
        slf: Bound<'py, Self>,
        user_name: &str,
        password: &str,
    ) -> PyResult<Bound<'py, Self>> {
        Self::login(slf, AuthKind::ExternalInsecure, Some(user_name), Some(password))
    }

    /// Logs in with the client's TLS certificate.
    fn with_certificate_credentials(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        Self::login(slf, AuthKind::Pki, None, None)
    }

    /// How it logs in, an `AuthMode`.
    #[getter]
    fn auth_mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.policy.bind(py).getattr("auth_mode")
    }

    /// The name that the cluster must have.
    fn cluster_name<'py>(slf: Bound<'py, Self>, cluster_name: &str) -> PyResult<Bound<'py, Self>> {
        Self::set(slf, "cluster_name", cluster_name)
    }

    /// The racks of this client in order of preference, for reads with `Replica.PREFER_RACK`.
    #[pyo3(signature = (*racks))]
    fn preferring_racks<'py>(slf: Bound<'py, Self>, racks: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        // The racks of a configuration that has none: no preference.
        let racks = (!racks.is_empty()).then(|| racks.to_list());
        Self::set(slf, "rack_ids", racks)
    }

    /// Whether the addresses that nodes give for outside networks are used. Off by default, or as the environment
    /// variable `AEROSPIKE_USE_SERVICES_ALTERNATE` says.
    #[pyo3(signature = (enabled=true))]
    fn using_services_alternate(slf: Bound<'_, Self>, enabled: bool) -> PyResult<Bound<'_, Self>> {
        Self::set(slf, "use_services_alternate", enabled)
    }

    /// Whether only the seeds are used, and no other nodes looked for: for tests.
    #[pyo3(signature = (enabled=true))]
    fn force_single_node(slf: Bound<'_, Self>, enabled: bool) -> PyResult<Bound<'_, Self>> {
        Self::set(slf, "seed_only_cluster", enabled)
    }

    /// Whether connecting fails when no seed can be reached. Default True.
    fn fail_if_not_connected(slf: Bound<'_, Self>, fail: bool) -> PyResult<Bound<'_, Self>> {
        Self::set(slf, "fail_if_not_connected", fail)
    }

    /// Addresses that the nodes give, and those to use in their place.
    fn ip_map<'py>(slf: Bound<'py, Self>, ip_map: &Bound<'py, PyDict>) -> PyResult<Bound<'py, Self>> {
        Self::set(slf, "ip_map", ip_map)
    }

    /// As `cluster_name`, for code written for the first versions of the SDK of Aerospike.
    fn validate_cluster_name_is<'py>(slf: Bound<'py, Self>, cluster_name: &str) -> PyResult<Bound<'py, Self>> {
        Self::cluster_name(slf, cluster_name)
    }

    /// As `ip_map`, for code written for the first versions of the SDK of Aerospike.
    fn with_ip_map<'py>(slf: Bound<'py, Self>, ip_map: &Bound<'py, PyDict>) -> PyResult<Bound<'py, Self>> {
        Self::ip_map(slf, ip_map)
    }

    /// What `with_tls_config` takes, said step by step, for code written for the first versions of the SDK of Aerospike:
    /// a `TlsBuilder`, whose `done()` gives this definition.
    fn with_tls_config_of(slf: Bound<'_, Self>) -> TlsBuilder {
        TlsBuilder::of(slf.into_any().unbind())
    }

    /// Takes over what `settings`, a `SystemSettings`, says of connections, tends, the circuit breaker, transactions and
    /// metrics.
    ///
    /// Raises `TypeError` for something else, `InvalidArgumentError` for what is out of bounds.
    fn with_system_settings<'py>(slf: Bound<'py, Self>, settings: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let system = System::from_python(settings)?;
        settings.call_method1("apply_to", (slf.get().policy.bind(py),))?;
        *slf.get().program.lock() = system;
        Ok(slf)
    }

    /// Whether connecting fails when the configuration file (`AEROSPIKE_SDK_CONFIG_URL`) cannot be read, or has something
    /// that cannot be used. Without it, that is logged, and the rest is used. What is wrong with a file that changes
    /// later is logged in any case.
    #[pyo3(signature = (strict=true))]
    fn with_strict_config(slf: Bound<'_, Self>, strict: bool) -> Bound<'_, Self> {
        slf.get().strict.store(strict, Ordering::Relaxed);
        slf
    }

    /// Encrypts the connections.
    ///
    /// `tls_name`: the name in the nodes' certificates, where it is not the host name. `ca_file`, `client_cert_file`,
    /// `client_key_file`: PEM files; without `ca_file` the authorities that Python's `ssl` trusts. `protocols`,
    /// `ciphers`: names, see `TlsConfig`. `for_login_only`: only the login is encrypted.
    #[pyo3(signature = (*, tls_name=None, ca_file=None, client_cert_file=None, client_key_file=None, protocols=None,
        ciphers=None, for_login_only=false))]
    #[allow(clippy::too_many_arguments)] // the arguments of the Python method
    fn with_tls_config<'py>(
        slf: Bound<'py, Self>,
        tls_name: Option<String>,
        ca_file: Option<Bound<'py, PyAny>>,
        client_cert_file: Option<Bound<'py, PyAny>>,
        client_key_file: Option<Bound<'py, PyAny>>,
        protocols: Option<Bound<'py, PyAny>>,
        ciphers: Option<Bound<'py, PyAny>>,
        for_login_only: bool,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let class = py.get_type::<TlsConfig>();
        let options = PyDict::new(py);
        options.set_item("protocols", protocols)?;
        options.set_item("ciphers", ciphers)?;
        options.set_item("for_login_only", for_login_only)?;
        let config = match (client_cert_file, client_key_file) {
            (None, None) => class.call((ca_file,), Some(&options))?,
            (Some(cert), Some(key)) => class.call_method("with_client_auth", (ca_file, cert, key), Some(&options))?,
            _ => {
                let text = "client_cert_file and client_key_file go together: give both, or none";
                return Err(errors::invalid_argument(py, text));
            }
        };
        slf.get().policy.bind(py).setattr("tls_config", config)?;
        if tls_name.is_some() {
            for host in &mut *slf.get().hosts.lock() {
                host.set_tls_name(tls_name.clone());
            }
        }
        Ok(slf)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let hosts: Vec<_> = slf.get().hosts.lock().iter().map(Host::address).collect();
        Ok(format!("{}({})", slf.get_type().name()?, hosts.join(", ")))
    }
}

/// Where a cluster is and how to talk to it: `ClusterDefinition("localhost", 3000)`, or with several
/// `hosts=[Host(..), ..]`. The default port is 3000.
///
/// `connect()` connects; one definition may be used any number of times.
#[pyclass(frozen, extends = ClusterDefinitionBase, module = "aerolane")]
pub(crate) struct ClusterDefinition;

#[pymethods]
impl ClusterDefinition {
    #[new]
    #[pyo3(signature = (hostname=None, port=None, hosts=None))]
    fn new(
        py: Python<'_>,
        hostname: Option<String>,
        port: Option<i64>,
        hosts: Option<Vec<Host>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let base = ClusterDefinitionBase::create(py, hostname, port, hosts)?;
        Ok(PyClassInitializer::from(base).add_subclass(Self))
    }

    /// Connects: `await definition.connect()` gives a `Cluster`, `async with definition.connect() as cluster` also
    /// closes it.
    ///
    /// Raises `ConnectionError` when no seed can be used, with the reason of each.
    fn connect(slf: &Bound<'_, Self>) -> PyResult<AwaitableContext> {
        AwaitableContext::new(slf.py(), slf.as_super().get().connector(slf.py())?)
    }
}

/// `aerolane.ClusterDefinition` for code without async.
#[pyclass(frozen, extends = ClusterDefinitionBase, name = "ClusterDefinition", module = "aerolane.sync")]
pub(crate) struct SyncClusterDefinition;

#[pymethods]
impl SyncClusterDefinition {
    #[new]
    #[pyo3(signature = (hostname=None, port=None, hosts=None))]
    fn new(
        py: Python<'_>,
        hostname: Option<String>,
        port: Option<i64>,
        hosts: Option<Vec<Host>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let base = ClusterDefinitionBase::create(py, hostname, port, hosts)?;
        Ok(PyClassInitializer::from(base).add_subclass(Self))
    }

    /// Connects, and gives a `Cluster`, which is a context manager.
    ///
    /// Raises `ConnectionError` when no seed can be used, with the reason of each.
    fn connect(slf: &Bound<'_, Self>) -> PyResult<SyncCluster> {
        let connector = slf.as_super().get().connector(slf.py())?;
        Ok(SyncCluster::new(connector.connect(slf.py(), connector.origin(slf.py())?)?))
    }
}
