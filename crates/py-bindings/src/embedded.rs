//! The embedded cluster as Python has it: `aerolane.testing.EmbeddedCluster`.

mod conditions;
mod fault;

use std::mem::ManuallyDrop;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use aerolane_embedded::{ClusterError, EmbeddedCluster, NamespaceOptions, NodeId, NodeInfo, TlsOptions};
use parking_lot::Mutex;
use pyo3::exceptions::{PyLookupError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::fork;
use fault::Fault;

/// A node of an embedded cluster, as it was when it was asked for.
#[pyclass(frozen, eq, module = "aerolane.testing", name = "EmbeddedNode")]
#[derive(PartialEq)]
struct Node(NodeInfo);

#[pymethods]
impl Node {
    /// The node's id, hexadecimal: `"A0AE000000000001"`.
    #[getter]
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    /// Where the node listens: `"127.0.0.1:40001"`. A stopped node will listen there when it is started again.
    #[getter]
    fn address(&self) -> String {
        self.0.address.to_string()
    }

    /// The IP address that the node listens on.
    #[getter]
    fn host(&self) -> String {
        self.0.address.ip().to_string()
    }

    /// The port that the node listens on.
    #[getter]
    fn port(&self) -> u16 {
        self.0.address.port()
    }

    /// Where the node listens with TLS; `None` without TLS.
    #[getter]
    fn tls_address(&self) -> Option<String> {
        self.0.tls_address.map(|address| address.to_string())
    }

    /// Whether the node ran when it was asked for.
    #[getter]
    fn live(&self) -> bool {
        self.0.live
    }

    fn __repr__(&self) -> String {
        let live = if self.0.live { "" } else { ", stopped" };
        format!("<EmbeddedNode {} at {}{live}>", self.0.id, self.0.address)
    }
}

/// `EmbeddedCluster(nodes=3, replication_factor=2, namespace="test", ...)`: an Aerospike-compatible cluster in this
/// process, in memory, on loopback ports. For tests and for trying things out, never for production.
///
/// It runs as soon as it is made, until `close()`, the end of its `with` block, or its garbage collection. All methods
/// may be called from any thread; none waits for clients. A forked child cannot use its parent's cluster.
///
/// * `nodes`: 1 to 128. Default 3.
/// * `replication_factor`: how many nodes hold each partition. Default 2.
/// * `namespace`: a name, or several. Default `"test"`.
/// * `strong_consistency`: whether the namespaces are in strong-consistency mode: then transactions work, and deletes have
///   to be durable. Default False.
/// * `default_ttl`: seconds until records written with the default TTL expire. Default 0: never.
/// * `nsup_period`: seconds between two sweeps that remove expired records. Default 1; with 0 only `sweep` does. Expired
///   records are not shown, whether they were removed or not.
/// * `host`, `port`: where the first node listens, the next ones on the ports above. Default 127.0.0.1 and 0: free ports.
/// * `cluster_name`: default none.
/// * `build`: the build that nodes say they are, for what clients make of it. Default "8.1.2.0". What nodes can do stays the
///   same.
/// * `users`: passwords by user name. Given any, clients have to log in. Default none.
/// * `tls_name`, `tls_port`: with a name, nodes listen with TLS, too, with a certificate for it that is made on the spot.
/// * `tls_client_ca`: certificates (PEM text); on the TLS ports, clients have to show one that one of these has signed.
///   With `users`, a client can log in with it (`AuthMode.PKI`): its Common Name is the user.
///   Default none: clients need no certificate.
/// * `threads`: threads that serve all nodes. Default: as many as cores, at most 4.
/// * `service_time`, `in_service`, `latency`, `seed`: how long requests take, as `set_conditions`. Default: no time.
///
/// Raises `ValueError` for a setting out of range and `OSError` for a port in use.
#[pyclass(frozen, weakref, module = "aerolane.testing", name = "EmbeddedCluster")]
pub(crate) struct Cluster(Mutex<Option<Running>>);

/// A running cluster of this process.
#[derive(Clone)]
struct Running {
    cluster: ManuallyDrop<Arc<EmbeddedCluster>>,
    /// As it was when the cluster was started.
    forks: u32,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.forks == fork::forks() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.cluster) }
        }
        // In a forked child its threads are not there to be waited for.
    }
}

impl Cluster {
    fn running(&self) -> PyResult<Running> {
        let running = self.0.lock().clone();
        let running = running.ok_or_else(|| PyRuntimeError::new_err("the embedded cluster is closed"))?;
        if running.forks != fork::forks() {
            let text = "the embedded cluster belongs to the process that this one was forked from";
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(running)
    }
}

#[pymethods]
impl Cluster {
    #[new]
    #[pyo3(signature = (
        nodes=3, replication_factor=2, namespace=None, *, default_ttl=0, nsup_period=1, host="127.0.0.1", port=0, cluster_name=None,
        users=None, tls_name=None, tls_port=0, threads=None, strong_consistency=false, tls_client_ca=None,
        service_time=None, in_service=64, latency=None, seed=0, build=None,
    ))]
    #[pyo3(text_signature = "(nodes=3, replication_factor=2, namespace=\"test\", *, default_ttl=0, \
        nsup_period=1, host=\"127.0.0.1\", port=0, cluster_name=None, users=None, tls_name=None, tls_port=0, threads=None, \
        strong_consistency=False, tls_client_ca=None, service_time=None, in_service=64, latency=None, seed=0, build=None)")]
    #[allow(clippy::too_many_arguments)] // One per keyword.
    fn new(
        py: Python<'_>,
        nodes: usize,
        replication_factor: usize,
        namespace: Option<&Bound<'_, PyAny>>,
        default_ttl: u32,
        nsup_period: u32,
        host: &str,
        port: u16,
        cluster_name: Option<&str>,
        users: Option<std::collections::BTreeMap<String, String>>,
        tls_name: Option<&str>,
        tls_port: u16,
        threads: Option<usize>,
        strong_consistency: bool,
        tls_client_ca: Option<&str>,
        service_time: Option<&Bound<'_, PyAny>>,
        in_service: usize,
        latency: Option<&Bound<'_, PyAny>>,
        seed: u64,
        build: Option<&str>,
    ) -> PyResult<Self> {
        fork::watch();
        let mut builder = EmbeddedCluster::builder().nodes(nodes).replication_factor(replication_factor);
        for name in names(namespace)? {
            let options = NamespaceOptions::new(name).default_ttl(default_ttl).nsup_period(nsup_period);
            builder = builder.namespace_with(options.strong_consistency(strong_consistency));
        }
        let address: IpAddr = host.parse().map_err(|_| {
            PyValueError::new_err(format!("host {host:?}: an IP address such as \"127.0.0.1\" expected"))
        })?;
        builder = builder.host(address);
        builder = builder.conditions(conditions::conditions(service_time, in_service, latency, seed)?);
        if let Some(name) = cluster_name {
            builder = builder.cluster_name(name);
        }
        if let Some(build) = build {
            builder = builder.build(build);
        }
        for (name, password) in users.unwrap_or_default() {
            builder = builder.user(name, password);
        }
        if let Some(name) = tls_name {
            let tls = TlsOptions::self_signed(name);
            let tls = match tls_client_ca {
                Some(authorities) => tls.require_client_certificate(authorities),
                None => tls,
            };
            builder = builder.tls(tls).tls_port(tls_port);
        } else if tls_client_ca.is_some() {
            return Err(PyValueError::new_err("tls_client_ca goes with tls_name"));
        }
        if let Some(threads) = threads {
            if threads == 0 {
                return Err(PyValueError::new_err("threads: at least 1 expected"));
            }
            builder = builder.service_threads(threads);
        }
        let cluster = py.detach(|| builder.port(port).start()).map_err(|e| to_py(&e))?;
        let running = Running { cluster: ManuallyDrop::new(Arc::new(cluster)), forks: fork::forks() };
        Ok(Self(Mutex::new(Some(running))))
    }

    /// Seeds of all live nodes, as clients take them: `"127.0.0.1:40001,127.0.0.1:40002"`.
    #[getter]
    fn seeds(&self) -> PyResult<String> {
        Ok(self.running()?.cluster.seeds())
    }

    /// The same for TLS; empty without TLS.
    #[getter]
    fn tls_seeds(&self) -> PyResult<String> {
        Ok(self.running()?.cluster.tls_seeds())
    }

    /// The certificate that clients of the TLS ports have to trust (PEM); `None` without TLS.
    #[getter]
    fn certificate_pem(&self) -> PyResult<Option<String>> {
        Ok(self.running()?.cluster.certificate_pem().map(str::to_owned))
    }

    /// All nodes, stopped ones included, in the order they were added.
    #[getter]
    fn nodes(&self) -> PyResult<Vec<Node>> {
        Ok(self.running()?.cluster.nodes().into_iter().map(Node).collect())
    }

    /// Whether the cluster was closed.
    #[getter]
    fn is_closed(&self) -> bool {
        self.0.lock().is_none()
    }

    /// Stops a node (an `EmbeddedNode` or an id): its connections are closed, and its partitions move to the others at
    /// once. Records of partitions that no other node holds are lost. Raises `LookupError` for an unknown node.
    fn stop_node(&self, py: Python<'_>, node: &Bound<'_, PyAny>) -> PyResult<()> {
        let (running, id) = (self.running()?, node_id(node)?);
        py.detach(|| running.cluster.stop_node(id)).map_err(|e| to_py(&e))
    }

    /// Stops several nodes at once: partitions all of whose owners are among them lose their records.
    fn stop_nodes(&self, py: Python<'_>, nodes: &Bound<'_, PyAny>) -> PyResult<()> {
        let ids = nodes.try_iter()?.map(|node| node_id(&node?)).collect::<PyResult<Vec<_>>>()?;
        let running = self.running()?;
        py.detach(|| running.cluster.stop_nodes(&ids)).map_err(|e| to_py(&e))
    }

    /// Starts a stopped node on its old port. Raises `OSError` if something else has taken the port.
    fn start_node(&self, py: Python<'_>, node: &Bound<'_, PyAny>) -> PyResult<()> {
        let (running, id) = (self.running()?, node_id(node)?);
        py.detach(|| running.cluster.start_node(id)).map_err(|e| to_py(&e))
    }

    /// Adds a node, starts it and gives it.
    fn add_node(&self, py: Python<'_>) -> PyResult<Node> {
        let running = self.running()?;
        py.detach(|| running.cluster.add_node()).map(Node).map_err(|e| to_py(&e))
    }

    /// The id of the node that is master of a partition (0 to 4095); `None` if no node runs.
    fn master(&self, partition: u16) -> PyResult<Option<String>> {
        if partition > 4095 {
            return Err(PyValueError::new_err(format!("partition {partition}: 0 to 4095 expected")));
        }
        Ok(self.running()?.cluster.master(partition).map(|id| id.to_string()))
    }

    /// Makes a node the master of a partition for as long as it lives; `None` gives the partition back.
    #[pyo3(signature = (partition, node))]
    fn set_master(&self, partition: u16, node: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let node = node.map(node_id).transpose()?;
        self.running()?.cluster.set_master(partition, node).map_err(|e| to_py(&e))
    }

    /// While `hold` is true, no partition moves: those of a node that stops have no owner until it starts again, as in a
    /// real cluster until the other nodes have agreed that it is gone. With `False` they move, and what moves without a
    /// copy on a live node loses its records. `clear_faults` does the same.
    fn hold_partitions(&self, hold: bool) -> PyResult<()> {
        self.running()?.cluster.hold_partitions(hold);
        Ok(())
    }

    /// Counts of a node since the cluster was started: `connections_opened`, `connections_closed`, `infos`, `logins`,
    /// `records`, `batches`, `batch_rows`, `queries`, `query_records`.
    fn stats<'py>(&self, node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let id = node_id(node)?;
        let stats = self.running()?.cluster.stats(id).ok_or_else(|| to_py(&ClusterError::UnknownNode(id)))?;
        let dict = PyDict::new(node.py());
        for (name, count) in [
            ("connections_opened", stats.connections_opened),
            ("connections_closed", stats.connections_closed),
            ("infos", stats.infos),
            ("logins", stats.logins),
            ("records", stats.records),
            ("batches", stats.batches),
            ("batch_rows", stats.batch_rows),
            ("queries", stats.queries),
            ("query_records", stats.query_records),
        ] {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// How many records a namespace has, each counted once. Raises `LookupError` for an unknown namespace.
    #[pyo3(signature = (namespace="test"))]
    fn record_count(&self, py: Python<'_>, namespace: &str) -> PyResult<u64> {
        let running = self.running()?;
        let count = py.detach(|| running.cluster.record_count(namespace));
        count.ok_or_else(|| PyLookupError::new_err(format!("the cluster has no namespace {namespace:?}")))
    }

    /// Puts the cluster's clock forward by so many seconds, so that tests of TTLs need not wait: records expire, and what
    /// is written from now on has the new time. There is no way back, and ten years in all is the most.
    ///
    /// Clients tell how long a record has left by their own clock: they show records that are written later as living
    /// longer by as much as the clock is ahead.
    ///
    /// Raises `ValueError` for negative seconds and for more than ten years.
    fn advance_clock(&self, seconds: f64) -> PyResult<()> {
        let by = Duration::try_from_secs_f64(seconds)
            .map_err(|_| PyValueError::new_err(format!("{seconds} s: a clock is put forward by 0 s to ten years")))?;
        self.running()?.cluster.advance_clock(by).map_err(|e| to_py(&e))
    }

    /// Removes all records that have expired, now, whatever the `nsup_period`; gives how many those were.
    fn sweep(&self, py: Python<'_>) -> PyResult<u64> {
        let running = self.running()?;
        Ok(py.detach(|| running.cluster.sweep()))
    }

    /// Sets how long requests take, of one node or of all nodes (default; also of nodes that are added later). It replaces
    /// all that was set before: without arguments, nothing takes time any more. Requests that are in service or in line
    /// keep their times.
    ///
    /// * `service_time`: how long the server works on a request. It occupies the connection, whose next request is looked at
    ///   afterwards, and uses no processor. A text such as `"80us"` or a number of seconds for all kinds of requests; or a
    ///   mapping of kinds to them: `"read"`, `"write"`, `"batch"`, `"query"`, `"udf"`, and `"all"` for those not listed.
    ///   `"exp:80us"` is exponentially distributed with that mean, `"99%:80us+1%:20ms"` is 80 µs for 99 % of the requests
    ///   and 20 ms for the others. Units are `us`, `ms` and `s`.
    /// * `in_service`: how many requests a node has in service at once, 1 to 65,536; the others wait in line, in order of
    ///   arrival. Default 64. Without a service time it has no effect.
    /// * `latency`: how long bytes are on the way, each way: a text such as `"150us"`, with jitter `"150us~30us"`, or a
    ///   number of seconds. A round trip takes twice as long. It occupies nothing.
    /// * `seed`: of the random numbers. Default 0.
    ///
    /// Raises `ValueError` for what is out of range or cannot be read, and `LookupError` for an unknown node.
    #[pyo3(signature = (*, service_time=None, in_service=64, latency=None, seed=0, node=None))]
    fn set_conditions(
        &self,
        service_time: Option<&Bound<'_, PyAny>>,
        in_service: usize,
        latency: Option<&Bound<'_, PyAny>>,
        seed: u64,
        node: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let conditions = conditions::conditions(service_time, in_service, latency, seed)?;
        let node = node.map(node_id).transpose()?;
        self.running()?.cluster.set_conditions(node, &conditions).map_err(|e| to_py(&e))
    }

    /// The conditions of a node, as the keyword arguments of `set_conditions` that make them: `service_time`, `in_service`,
    /// `latency`, `seed`. Raises `LookupError` for an unknown node.
    fn conditions<'py>(&self, node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let conditions = self.running()?.cluster.conditions(node_id(node)?).map_err(|e| to_py(&e))?;
        conditions::arguments(node.py(), &conditions)
    }

    /// Injects a fault, gives the `Fault` by which it can be taken back (also by a `with` block).
    ///
    /// `action`, with its `value`:
    ///
    /// * `"delay"`, `"answer-delay"`: waits that many seconds before executing, or between executing and answering
    /// * `"stall"`: nothing more on this connection until the faults are taken back
    /// * `"drop-before"`, `"drop-after"`: resets the connection in place of executing, or of answering
    /// * `"truncate"`: sends that many bytes of the answer, then closes
    /// * `"split"`: the answer in pieces of one byte
    /// * `"result"`: answers with that result code (0 to 255), executes nothing
    /// * `"garbage"`: executes, and sends those bytes in place of the answer
    /// * `"refuse"`: resets new connections
    /// * `"reject-unowned"`: result 11 for partitions that the node does not own
    ///
    /// `on`: the kinds of requests that it strikes, one or several of `"info"`, `"admin"`, `"read"`, `"write"`,
    /// `"batch"`, `"query"`, `"other"` (default: all). `node`: where (default: all nodes that there are). `skip`: requests
    /// that pass first (default 0). `times`: ends after that many (default: never). `probability`: 0 to 1 (default 1),
    /// from a fixed seed.
    ///
    /// Raises `ValueError` or `TypeError` for what does not fit.
    #[pyo3(signature = (action, value=None, *, on=None, node=None, skip=0, times=None, probability=1.0))]
    #[allow(clippy::too_many_arguments)] // One per keyword.
    fn inject(
        slf: &Bound<'_, Self>,
        action: &str,
        value: Option<&Bound<'_, PyAny>>,
        on: Option<&Bound<'_, PyAny>>,
        node: Option<&Bound<'_, PyAny>>,
        skip: u64,
        times: Option<u64>,
        probability: f64,
    ) -> PyResult<Fault> {
        let rule = fault::rule(action, value, on, skip, times, probability)?;
        let running = slf.get().running()?;
        let nodes = match node {
            Some(node) => vec![node_id(node)?],
            None => running.cluster.nodes().iter().map(|node| node.id).collect(),
        };
        Fault::install(slf, &running, &nodes, &rule)
    }

    /// Takes all faults back, and gives partitions back that `set_master` or `hold_partitions` moved or held.
    fn clear_faults(&self) -> PyResult<()> {
        self.running()?.cluster.clear_faults();
        Ok(())
    }

    /// Stops all nodes; their records are gone. Closing a closed cluster does nothing.
    fn close(&self, py: Python<'_>) {
        let running = self.0.lock().take();
        py.detach(|| drop(running));
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().running()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        match self.running() {
            Ok(running) => format!("<EmbeddedCluster at {}>", running.cluster.seeds()),
            Err(_) => "<EmbeddedCluster, closed>".to_owned(),
        }
    }
}

/// The namespaces asked for: one name or several.
fn names(namespace: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    namespace.map_or_else(|| Ok(vec!["test".to_owned()]), |namespace| one_or_several(namespace, "namespace", "name"))
}

/// A str, or at least one of them in a sequence: `argument` takes each as a `what`.
fn one_or_several(value: &Bound<'_, PyAny>, argument: &str, what: &str) -> PyResult<Vec<String>> {
    if let Ok(one) = value.cast::<PyString>() {
        return Ok(vec![one.extract()?]);
    }
    let several: Vec<String> = value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{argument}: a {what} or a sequence of them expected")))?;
    if several.is_empty() {
        return Err(PyValueError::new_err(format!("{argument}: at least one {what} expected")));
    }
    Ok(several)
}

/// The id of an `EmbeddedNode`, or an id as text.
fn node_id(node: &Bound<'_, PyAny>) -> PyResult<NodeId> {
    if let Ok(node) = node.cast::<Node>() {
        return Ok(node.get().0.id);
    }
    let Ok(text) = node.cast::<PyString>() else {
        let kind = node.get_type();
        return Err(PyTypeError::new_err(format!("a node is an EmbeddedNode or a node id, not {}", kind.name()?)));
    };
    let text = text.to_cow()?;
    text.parse().map_err(|_| PyLookupError::new_err(format!("the cluster has no node {text:?}")))
}

fn to_py(error: &ClusterError) -> PyErr {
    let text = error.to_string();
    match error {
        ClusterError::Setting(_) | ClusterError::Conditions(_) => PyValueError::new_err(text),
        ClusterError::UnknownNode(_) => PyLookupError::new_err(text),
        ClusterError::Bind { error, .. } | ClusterError::Io(error) => match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        _ => PyRuntimeError::new_err(text),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Node>()?;
    module.add_class::<Fault>()?;
    module.add_class::<Cluster>()
}
