//! `ClientPolicy`.

use std::sync::Arc;
use std::time::Duration;

use aerolane::config::{MAX_BYTES, MAX_CONNECTIONS, MAX_DEPTH};
use aerolane::{AuthMode, ClientConfig, PoolSizing, WhenFull};
use aerolane_config::System;
use aerospike_core::ClientPolicy as Core;
use aerospike_core::policy::TEND_INTERVAL_MIN_MS;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use super::define::{Hook, policy};
use super::enums::{AuthKind, Named};
use super::kinds::{Addresses, Kind, Maybe, Member, Millis, Number, Racks, Switch, Text, UpTo, Within, wrong_type};
use super::tls::{Ready, TlsConfig};
use crate::errors;

/// What a client is made from, property by property.
#[derive(Clone, PartialEq)] // no Debug: it holds the password
pub(crate) struct Settings {
    core: Core,
    auth: AuthKind,
    user: Option<String>,
    password: Option<String>,
    tls: Option<Arc<Ready>>,
    workers: Option<u32>,
    spread: Option<u32>,
    depth: Option<u32>,
    bytes_in_flight: Option<usize>,
    batch_max: Option<u32>,
    max_waiting: Option<usize>,
    waiting_bytes: Option<usize>,
    batch_answer: Option<usize>,
    when_full: WhenFull,
    slow: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        let client_id = concat!("python-aerolane-", env!("CARGO_PKG_VERSION"));
        let core = Core { custom_client_id: Some(client_id.into()), ..Core::default() };
        Self {
            core,
            auth: AuthKind::None,
            user: None,
            password: None,
            tls: None,
            workers: None,
            spread: None,
            depth: None,
            bytes_in_flight: None,
            batch_max: None,
            max_waiting: None,
            waiting_bytes: None,
            batch_answer: None,
            when_full: WhenFull::Wait,
            slow: None,
        }
    }
}

impl Hook for Settings {
    fn changed(&mut self, property: &'static str) {
        // As in aerospike-native: who names a user wants to log in.
        if self.auth == AuthKind::None && matches!(property, "user" | "password") {
            self.auth = AuthKind::Internal;
        }
    }
}

impl Settings {
    /// The name that the cluster must have.
    pub(crate) fn cluster_name(&self) -> Option<&str> {
        self.core.cluster_name.as_deref()
    }

    /// What a client is made from, with other settings in the place of these.
    ///
    /// Raises `InvalidArgumentError` for properties that do not go together.
    pub(crate) fn config_with(&self, py: Python<'_>, system: &System) -> PyResult<ClientConfig> {
        let mut settings = self.clone();
        system.apply_to(&mut settings.core);
        settings.config().map_err(|error| errors::to_py(py, &error))
    }

    fn config(&self) -> aerolane::Result<ClientConfig> {
        let login = || (self.user.clone().unwrap_or_default(), self.password.clone().unwrap_or_default());
        let mut policy = self.core.clone();
        policy.auth_mode = match self.auth {
            AuthKind::None => AuthMode::None,
            AuthKind::Pki => AuthMode::Pki,
            AuthKind::Internal => {
                let (user, password) = login();
                AuthMode::Internal(user, password)
            }
            AuthKind::External => {
                let (user, password) = login();
                AuthMode::External(user, password)
            }
            AuthKind::ExternalInsecure => {
                let (user, password) = login();
                AuthMode::ExternalInsecure(user, password)
            }
        };
        policy.tls_policy = self.tls.as_ref().map(|tls| tls.policy());
        let mut pool = PoolSizing::from_policy(&policy);
        pool.spread = self.spread.unwrap_or(pool.spread);
        pool.depth = self.depth.unwrap_or(pool.depth);
        pool.max_bytes_in_flight = self.bytes_in_flight.unwrap_or(pool.max_bytes_in_flight);
        pool.batch_max = self.batch_max.unwrap_or(pool.batch_max);
        pool.max_waiting = self.max_waiting.unwrap_or(pool.max_waiting);
        pool.max_waiting_bytes = self.waiting_bytes.unwrap_or(pool.max_waiting_bytes);
        pool.max_batch_answer_bytes = self.batch_answer.unwrap_or(pool.max_batch_answer_bytes);
        pool.when_full = self.when_full;
        let slow = self.slow.map(|millis| Duration::from_millis(millis.into()));
        let config = ClientConfig::from(policy).with_pool(pool).with_slow_operation_threshold(slow);
        config.validate()?;
        Ok(config)
    }
}

/// A `TlsConfig`, or None.
struct Tls;

impl Kind<Option<Arc<Ready>>> for Tls {
    fn get(py: Python<'_>, value: &Option<Arc<Ready>>) -> PyResult<Py<PyAny>> {
        value.as_ref().map(|ready| TlsConfig(Arc::clone(ready))).into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Arc<Ready>>> {
        if value.is_none() {
            return Ok(None);
        }
        let config = value.cast::<TlsConfig>().map_err(|_| wrong_type(value, what, "a TlsConfig or None"))?;
        Ok(Some(Arc::clone(&config.get().0)))
    }
}

type Connections = UpTo<{ MAX_CONNECTIONS as i64 }>;

policy! {
    /// How a client connects, logs in, and sizes its pools. It is read when the client is created.
    ClientPolicy(Settings) extends PyAny {
        /// How to log in. Default `AuthMode.NONE`; setting `user` or `password` makes it `INTERNAL`.
        auth_mode / set_auth_mode_property: Member = auth;
        /// The user, at most 63 bytes, or None.
        user / set_user: Text = user;
        /// The password, or None.
        password / set_password: Text = password;
        /// How connections are encrypted. None (the default): not at all.
        tls_config / set_tls_config: Tls = tls;
        /// Timeout of the commands that check the state of the cluster, in ms. Default 1,000.
        timeout / set_timeout: Millis = core.timeout;
        /// Timeout for opening a connection in ms. 0 (the default): the same as `timeout`.
        connect_timeout / set_connect_timeout: Millis = core.connect_timeout;
        /// Timeout of a login in ms. 0: the same as `connect_timeout`. Default 5,000.
        login_timeout / set_login_timeout: Millis = core.login_timeout;
        /// Connections that were idle for this many ms are closed. 0 (the default): after 55 s, before the server
        /// closes them.
        idle_timeout / set_idle_timeout: Millis = core.idle_timeout;
        /// The number of connections per node and lane that are opened at the start and kept open. Default 0, which
        /// means 1.
        min_conns_per_node / set_min_conns_per_node: Connections = core.min_conns_per_node;
        /// The maximum number of connections per node for single-record requests. Default 256; 0 means 65,535. The
        /// client decides at run time how many of them it uses; set `min_conns_per_node` to the same value to fix the
        /// number.
        max_conns_per_node / set_max_conns_per_node: Connections = core.max_conns_per_node;
        /// Deprecated: leave it at its default. The number of connections, over all nodes, for servers that answer in
        /// microseconds, 1 to 65,535; the search for a better number starts from it. None (the default): 3.
        connection_spread / set_connection_spread: Maybe<Within<1, { MAX_CONNECTIONS as i64 }>> = spread;
        /// The maximum number of requests in flight on one connection, 1 to 1,024. None (the default): 128; always 1
        /// over TLS. The client puts fewer requests on a connection if each of them takes long.
        pipeline_depth / set_pipeline_depth: Maybe<Within<1, { MAX_DEPTH as i64 }>> = depth;
        /// The maximum size in bytes of all unanswered requests on one connection, 1,024 to 1,073,741,824. None (the
        /// default): 1 MiB.
        max_bytes_in_flight / set_max_bytes_in_flight: Maybe<Within<1024, { 1 << 30 }>> = bytes_in_flight;
        /// The maximum number of connections per node for batches, 1 to 65,535. None (the default): 64, or
        /// `max_conns_per_node` if that is less.
        max_batch_conns_per_node / set_max_batch_conns_per_node: Maybe<Within<1, { MAX_CONNECTIONS as i64 }>> = batch_max;
        /// The maximum number of calls that wait for room on a connection, per node and lane. Further calls fail at
        /// once. None (the default): 1,048,576.
        max_waiting_per_node / set_max_waiting_per_node: Maybe<Within<1, { u32::MAX as i64 }>> = max_waiting;
        /// The maximum size in bytes of all requests that wait for room on a connection, per node and event loop, 1,024
        /// to 2**40. Further requests fail at once with `PoolExhaustedError`; a single larger request may still wait if
        /// no other does. None (the default): 256 MiB.
        max_waiting_bytes_per_node / set_max_waiting_bytes_per_node: Maybe<Within<1024, { MAX_BYTES as i64 }>> = waiting_bytes;
        /// The maximum size in bytes of a node's answer to one batch on an event loop, 1,024 to 2**40. The answer is
        /// collected before it is decoded; if it is larger, that node's rows fail with `CapacityError`. Blocking
        /// batches have no such limit. None (the default): 1 GiB.
        max_batch_answer_bytes / set_max_batch_answer_bytes: Maybe<Within<1024, { MAX_BYTES as i64 }>> = batch_answer;
        /// What happens if all connections to a node are full. Default `WhenFull.WAIT`.
        when_full / set_when_full: Member = when_full;
        /// Operations that take at least this many ms are logged at level WARNING: command, namespace, set, node,
        /// attempts, phase and time, but neither keys nor bins. None (the default): nothing is logged.
        slow_operation_threshold / set_slow_operation_threshold: Maybe<Within<1, { u32::MAX as i64 }>> = slow;
        /// The number of pools for the connections of rare commands (queries, administration), 1 to 255. Default 1.
        conn_pools_per_node / set_conn_pools_per_node: Within<1, 255> = core.conn_pools_per_node;
        /// The maximum number of connections for rare commands that are opened at the same time. 0 (the default): no
        /// limit.
        opening_connection_threshold / set_opening_connection_threshold: Number = core.opening_connection_threshold;
        /// Whether to use the alternate addresses that nodes report for external networks. Default False.
        use_services_alternate / set_use_services_alternate: Switch = core.use_services_alternate;
        /// The racks of this client in order of preference, for `Replica.PREFER_RACK`. None (the default): no
        /// preference.
        rack_ids / set_rack_ids: Racks = core.rack_ids;
        /// Whether connecting fails if no seed can be reached. Default True.
        fail_if_not_connected / set_fail_if_not_connected: Switch = core.fail_if_not_connected;
        /// Whether to use only the seeds and not look for other nodes. Default False.
        seed_only_cluster / set_seed_only_cluster: Switch = core.seed_only_cluster;
        /// The size in bytes above which buffers of rare commands are freed after use. Default 65,536.
        buffer_reclaim_threshold / set_buffer_reclaim_threshold: Number = core.buffer_reclaim_threshold;
        /// The number of errors within a window after which nothing is sent to a node until the window ends. Default
        /// 100; 0: no limit.
        max_error_rate / set_max_error_rate: Number = core.max_error_rate;
        /// The length of a window in `tend_interval`s. Default 1.
        error_rate_window / set_error_rate_window: Number = core.error_rate_window;
        /// How often the client checks the state of the cluster, in ms; at least 250. Default 1,000.
        tend_interval / set_tend_interval: Within<{ TEND_INTERVAL_MIN_MS as i64 }, { u32::MAX as i64 }> = core.tend_interval;
        /// A mapping from addresses that nodes report to the addresses to use instead. None (the default): no mapping.
        ip_map / set_ip_map: Addresses = core.ip_map;
        /// The name that the cluster must have. None (the default): any name.
        cluster_name / set_cluster_name: Text = core.cluster_name;
        /// The application's name, shown in the server's statistics. None (the default): the name of the user.
        application_id / set_application_id: Text = core.application_id;
        /// The client's name, shown in the server's statistics.
        custom_client_id / set_custom_client_id: Text = core.custom_client_id;
        /// 1 to 32, or None (the default). Accepted for code written for aerospike-native. It has no effect, since no
        /// runtime stands between a call and its connection.
        per_client_runtime_workers / set_per_client_runtime_workers: Maybe<Within<1, 32>> = workers;
    }

    /// Sets how to log in, and the credentials.
    #[pyo3(signature = (mode, user=None, password=None))]
    fn set_auth_mode(
        &self,
        mode: &Bound<'_, PyAny>,
        user: Option<&str>,
        password: Option<&str>,
    ) -> PyResult<()> {
        let mode = AuthKind::from_python(mode, "mode")?;
        // Nobody's name and password are kept for a login that needs none.
        let (user, password) = match mode {
            AuthKind::None | AuthKind::Pki => (None, None),
            _ => (user, password),
        };
        self.0.rcu(|state| Settings { auth: mode, user: user.map(Into::into), password: password.map(Into::into), ..Settings::clone(state) });
        Ok(())
    }

    /// Logs in with the client's TLS certificate (`AuthMode.PKI`).
    fn set_pki_auth(&self) {
        self.0.rcu(|state| Settings { auth: AuthKind::Pki, user: None, password: None, ..Settings::clone(state) });
    }
}

impl ClientPolicy {
    /// What a client is made from.
    ///
    /// Raises `InvalidArgumentError` for properties that do not go together.
    pub(crate) fn config(&self, py: Python<'_>) -> PyResult<ClientConfig> {
        self.snapshot().config_with(py, &System::default())
    }
}
