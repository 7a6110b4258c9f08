//! The writers: for asyncio, and for code without it.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use aerolane::raw::RawShape;
use aerolane::writer::{Progress, RawWriter, shape};
use aerospike_core::WritePolicy as CoreWrite;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::export::Exporters;
use super::key::WrittenKey;
use super::metrics;
use super::options::{WriterArguments, limit};
use super::outcome::Outcome;
use super::stream::Outcomes;
use super::usual::UsualPuts;
use crate::argument::{argument, optional};
use crate::batch::rows::RowKey;
use crate::batch::shape as rows;
use crate::builder::context::Context;
use crate::command::block_on;
use crate::command::single::Overrides;
use crate::core::ClientCore;
use crate::host::{MakeResult, Pace};
use crate::key::Key;
use crate::policy::WritePolicy;
use crate::query::statement::function;
use crate::{errors, host};

pub(super) type Object<'a, 'py> = &'a Bound<'py, PyAny>;
pub(super) type Handed = aerolane::Outcome<WrittenKey>;

/// Where the policies of records come from that have none of their own.
enum Policies {
    /// The behavior of a session.
    Of(Arc<Context>),
    /// The defaults of the native client.
    Default,
}

/// A record that is handed over.
enum Handing {
    /// It was, and this is what that gives.
    Over(Py<PyAny>),
    /// It is to be, and does this.
    Record(RawShape),
}

fn shaped(py: Python<'_>, shape: aerolane::Result<RawShape>) -> PyResult<Handing> {
    shape.map(Handing::Record).map_err(|error| errors::to_py(py, &error))
}

/// What both writers are made of.
pub(super) struct Common {
    pub(super) raw: ManuallyDrop<RawWriter<WrittenKey>>,
    pub(super) core: Arc<ClientCore>,
    policies: Policies,
    /// Nobody looks at outcomes.
    pub(super) failures_only: bool,
    pub(super) pace: Pace,
    pub(super) usual: UsualPuts,
    exporters: ManuallyDrop<Exporters>,
}

impl Common {
    fn new(
        py: Python<'_>,
        core: &Arc<ClientCore>,
        policies: Policies,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        core.check_open(py)?;
        let WriterArguments { options, on_outcome, on_progress } = WriterArguments::of(named)?;
        let failures_only = options.failures_only;
        let raw = RawWriter::new(&core.raw, options).map_err(|error| errors::to_py(py, &error))?;
        if let Some(callback) = on_outcome {
            let core = Arc::downgrade(core);
            raw.on_outcomes(move |outcomes: &[Handed]| {
                // Without an interpreter (it is ending), or a client, there is nobody to tell.
                let Some(core) = core.upgrade() else { return };
                Python::try_attach(|py| {
                    for outcome in outcomes {
                        let told = Outcome::object(py, outcome.clone(), None, &core)
                            .and_then(|outcome| callback.call1(py, (outcome,)));
                        if let Err(error) = told {
                            error.write_unraisable(py, Some(callback.bind(py)));
                        }
                    }
                });
            });
        }
        if let Some(callback) = on_progress {
            raw.on_progress(move |count| {
                Python::try_attach(|py| {
                    if let Err(error) = callback.call1(py, (count,)) {
                        error.write_unraisable(py, Some(callback.bind(py)));
                    }
                });
            });
        }
        let raw = ManuallyDrop::new(raw);
        Ok(Self {
            raw,
            core: Arc::clone(core),
            policies,
            failures_only,
            pace: Pace::default(),
            usual: UsualPuts::default(),
            exporters: ManuallyDrop::new(Exporters::default()),
        })
    }

    /// The policy of the records of a namespace, with what goes over it.
    pub(super) fn policy(
        &self,
        namespace: &str,
        policy: Option<&Bound<'_, WritePolicy>>,
        overrides: &Overrides<'_, '_>,
    ) -> PyResult<Arc<CoreWrite>> {
        let policy = match (policy, &self.policies) {
            (None, Policies::Of(context)) => context.write_in(namespace),
            (policy, _) => WritePolicy::in_force(policy),
        };
        overrides.apply(self.core.writes_by(policy))
    }

    fn put(&self, key: &Bound<'_, Key>, bins: Object<'_, '_>, policy: &Arc<CoreWrite>) -> PyResult<Handing> {
        let py = key.py();
        self.core.check(py)?;
        match self.usual.put(&self.raw, key.get(), bins, policy)? {
            Ok(outcome) => self.made(py, outcome, Some(key)).map(Handing::Over),
            Err(shape) => Ok(Handing::Record(shape)),
        }
    }

    fn operate(&self, key: &Bound<'_, Key>, operations: Object<'_, '_>, policy: &CoreWrite) -> PyResult<Handing> {
        let py = key.py();
        let ((what, ops), writes) = rows::operations(operations)?;
        if !writes {
            return Err(errors::invalid_argument(py, "none of the operations writes: a writer is not for reads"));
        }
        shaped(py, shape::write(self.raw.batch_policy(), policy, what, ops))
    }

    fn udf(
        &self,
        py: Python<'_>,
        (package, name): (&str, &str),
        args: Option<Object<'_, '_>>,
        policy: &CoreWrite,
    ) -> PyResult<Handing> {
        let function = function(py, package, name, args)?;
        let (batch, names) = (self.raw.batch_policy(), (&*function.package, &*function.name));
        shaped(py, shape::udf(batch, policy, names, &function.arguments))
    }

    /// Hands a record over if there is room.
    fn try_hand_over(
        &self,
        key: &Bound<'_, Key>,
        handing: Handing,
    ) -> PyResult<Result<Py<PyAny>, (WrittenKey, RawShape)>> {
        let py = key.py();
        let shape = match handing {
            Handing::Over(made) => return Ok(Ok(made)),
            Handing::Record(shape) => shape,
        };
        self.core.check(py)?;
        let row = WrittenKey::Object(RowKey { key: key.clone().unbind(), operate: true });
        match self.raw.try_hand_over(row, shape).map_err(|error| errors::to_py(py, &error))? {
            Ok(outcome) => self.made(py, outcome, Some(key)).map(Ok),
            Err(record) => Ok(Err(record)),
        }
    }

    /// What handing over gives: the outcome, or, where only failures are looked at, nothing.
    fn made(&self, py: Python<'_>, outcome: Handed, key: Option<&Bound<'_, Key>>) -> PyResult<Py<PyAny>> {
        if self.failures_only {
            return Ok(py.None());
        }
        Ok(Outcome::object(py, outcome, key, &self.core)?.into_any())
    }

    /// Hands a record over, on the calling thread.
    fn hand_over(&self, key: &Bound<'_, Key>, handing: Handing) -> PyResult<Py<PyAny>> {
        let py = key.py();
        match self.try_hand_over(key, handing)? {
            Ok(made) => Ok(made),
            Err((row, shape)) => {
                let outcome = block_on(py, &self.core, self.raw.hand_over(row, shape))?;
                self.made(py, outcome.map_err(|error| errors::to_py(py, &error))?, Some(key))
            }
        }
    }

    fn left<'py>(&self, py: Python<'py>, left: Vec<Handed>) -> PyResult<Bound<'py, PyList>> {
        let left = left.into_iter().map(|outcome| Outcome::object(py, outcome, None, &self.core));
        PyList::new(py, left.collect::<PyResult<Vec<_>>>()?)
    }

    fn outcomes(&self, py: Python<'_>) -> PyResult<Outcomes> {
        self.core.check(py)?;
        let stream = self.raw.outcomes().map_err(|error| errors::to_py(py, &error))?;
        Ok(Outcomes::new(stream, &self.core))
    }

    fn close_blocking<'py>(&self, py: Python<'py>, limit: Option<Duration>) -> PyResult<Bound<'py, PyList>> {
        self.core.check(py)?;
        let left = if self.core.raw.cluster().is_closed() {
            // All outcomes are there.
            PyList::empty(py)
        } else {
            let left = block_on(py, &self.core, self.raw.close(limit))?;
            self.left(py, left)?
        };
        self.exporters.finish(py, &self.raw).wait(py);
        Ok(left)
    }

    /// [`close_blocking`](Self::close_blocking) for tasks of a loop, without the list.
    async fn closed(self: Arc<Self>, limit: Option<Duration>) -> Vec<Handed> {
        let left = self.raw.close(limit).await;
        let last = Python::try_attach(|py| self.exporters.finish(py, &self.raw));
        if let Some(last) = last {
            last.waited(Arc::clone(&self.core)).await;
        }
        left
    }

    /// Adds to an exception that leaves the writer's block what has become of the records.
    fn tell(&self, error: Option<&Bound<'_, PyAny>>) {
        let Some(error) = error.filter(|error| !error.is_none()) else { return };
        let Progress { handed_over, ok, failed, outstanding, .. } = self.raw.progress();
        let rest = match outstanding {
            0 => String::new(),
            _ => format!(", and {outstanding} have no outcome yet"),
        };
        let text =
            format!("the writer has taken {handed_over} records: {ok} are confirmed, {failed} have failed{rest}");
        // An exception that takes no note stays as it is.
        drop(error.call_method1(intern!(error.py(), "add_note"), (text,)));
    }

    fn add_exporter(&self, exporter: &Bound<'_, PyAny>, interval: f64, on_loop: bool) -> PyResult<()> {
        let py = exporter.py();
        self.core.check_open(py)?;
        if self.raw.is_closed() {
            return Err(errors::to_py(py, &aerolane::Error::writer_closed("the writer is closed")));
        }
        let interval = Duration::try_from_secs_f64(interval).map_err(|_| {
            errors::invalid_argument(
                py,
                format!("the interval of an exporter must be a time in seconds, not {interval}"),
            )
        })?;
        self.exporters.add(&self.raw, exporter, interval, on_loop)
    }

    fn repr(&self, name: &str) -> String {
        if self.core.is_foreign() {
            return format!("<{name} {}>", self.core.state());
        }
        let progress = self.raw.progress();
        let state = if self.raw.is_closed() { "closed" } else { "open" };
        format!(
            "<{name} {state}: {} ok, {} failed, {} outstanding>",
            progress.ok, progress.failed, progress.outstanding
        )
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        // In a forked child its locks may be held for ever, and its records are the parent's.
        if !self.core.is_foreign() {
            // SAFETY: dropped once, here.
            drop(unsafe { (ManuallyDrop::take(&mut self.exporters), ManuallyDrop::take(&mut self.raw)) });
        }
    }
}

/// Writes records in bulk from asyncio and reports the outcome of each one. Created by `session.writer()`.
///
/// Records are passed to it one by one. The writer collects the records of a node into batches, sends a lone record at
/// once, retries failures that may pass, and limits what is outstanding: `await writer.put(..)` returns an `Outcome` at
/// once, and waits only while `max_outstanding_records` or `max_outstanding_bytes` is reached. Two writes of the same
/// key take effect in the order in which they were passed to the writer.
///
/// Use it as a context manager: leaving it waits for all outcomes.
#[pyclass(frozen, weakref, module = "aerolane")]
pub(crate) struct Writer(pub(super) Arc<Common>);

/// Writes records in bulk and reports the outcome of each one, for code without asyncio. Created by `session.writer()`.
///
/// The same as `aerolane.Writer`, but its methods block the calling thread. Can be used from any number of threads.
#[pyclass(frozen, weakref, name = "Writer", module = "aerolane.sync")]
pub(crate) struct SyncWriter(pub(super) Arc<Common>);

/// Defines what both have in common.
macro_rules! common {
    ($class:ident, $name:literal, $on_loop:literal) => {
        #[pymethods]
        impl $class {
            /// The outcomes of records as they arrive, from now on. Only one reader is allowed.
            fn outcomes(&self, py: Python<'_>) -> PyResult<Outcomes> {
                self.0.outcomes(py)
            }

            /// The writer's progress: a `WriterProgress`.
            fn progress(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.0.core.check(py)?;
                metrics::progress(py, &self.0.raw.progress())
            }

            /// The writer's counters since it was created, as a dict; `nodes` is a list with a dict for each node.
            fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                self.0.core.check(py)?;
                metrics::snapshot(py, &self.0.raw.metrics())
            }

            /// Adds an exporter of the writer's metrics: an object with a method `export(snapshot)`. It is called with
            /// the result of `metrics()` every `interval` seconds, and once more by `close()`, which waits for it for
            /// at most 5 s. Each exporter runs on a thread of its own, so a slow or stuck one does not delay records.
            /// With a writer for asyncio, `export` may be an `async def`, which runs on the event loop.
            /// `aerolane.exporters` has ready-made exporters.
            ///
            /// Exceptions of the exporter are logged (`aerolane.metrics.export`). After three failures in a row it is
            /// suspended and retried every ten intervals.
            ///
            /// Raises `TypeError` if the object has no such method, `ValueError` if the interval is below 1 ms, and
            /// `WriterClosedError`.
            #[pyo3(signature = (exporter, interval=30.0))]
            fn add_exporter(&self, exporter: &Bound<'_, PyAny>, interval: f64) -> PyResult<()> {
                self.0.add_exporter(exporter, interval, $on_loop)
            }

            /// Removes an exporter; an export in progress is completed. Returns `False` if there is no such exporter.
            fn remove_exporter(&self, exporter: &Bound<'_, PyAny>) -> PyResult<bool> {
                self.0.core.check(exporter.py())?;
                Ok(self.0.exporters.remove(exporter))
            }

            /// Whether the writer has stopped accepting records.
            #[getter]
            fn closed(&self) -> bool {
                self.0.raw.is_closed()
            }

            fn __repr__(&self) -> String {
                self.0.repr($name)
            }
        }

        impl $class {
            /// A writer with the policies of a session.
            pub(crate) fn of(
                py: Python<'_>,
                context: &Arc<Context>,
                named: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Self> {
                if context.txn.is_some() {
                    let text = "writer() is not part of transactions: query(keys) and upsert(keys) are, with one batch";
                    return Err(errors::invalid_argument(py, text));
                }
                let policies = Policies::Of(Arc::clone(context));
                Common::new(py, &context.core, policies, named).map(|common| Self(Arc::new(common)))
            }

            /// A writer with the native client's default policies.
            pub(crate) fn native(
                py: Python<'_>,
                core: &Arc<ClientCore>,
                named: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Self> {
                Common::new(py, core, Policies::Default, named).map(|common| Self(Arc::new(common)))
            }
        }
    };
}

common!(Writer, "Writer", true);
common!(SyncWriter, "Writer", false);

impl Writer {
    /// The awaitable of handing a record over.
    fn hand_over(
        &self,
        py: Python<'_>,
        name: &'static str,
        key: Object<'_, '_>,
        handing: impl FnOnce(&Bound<'_, Key>) -> PyResult<Handing>,
    ) -> PyResult<Py<PyAny>> {
        host::at_await(py, name, || {
            let key: &Bound<'_, Key> = argument("key", key)?;
            let handing = handing(key)?;
            let common = &self.0;
            let handed = match common.try_hand_over(key, handing)? {
                // Other tasks of the loop have a turn, however many records there are.
                Ok(made) if common.pace.wants_a_turn() => {
                    return host::drive(py, &common.core, move |_| async move {
                        tokio::task::yield_now().await;
                        let made: MakeResult = Box::new(move |_| Ok(made));
                        made
                    });
                }
                Ok(made) => return host::ready(py, made),
                Err(record) => record,
            };
            let (key, shape) = handed;
            let writer = Arc::clone(common);
            host::drive(py, &common.core, move |_| async move {
                let outcome = writer.raw.hand_over(key, shape).await;
                let made: MakeResult = Box::new(move |py| match outcome {
                    Ok(outcome) => writer.made(py, outcome, None),
                    Err(error) => Err(errors::to_py(py, &error)),
                });
                made
            })
        })
    }

    fn closing(&self, py: Python<'_>, limit: Option<Duration>) -> PyResult<Py<PyAny>> {
        self.0.core.check(py)?;
        if self.0.core.raw.cluster().is_closed() {
            // All outcomes are there.
            return host::ready(py, PyList::empty(py).into_any().unbind());
        }
        let writer = Arc::clone(&self.0);
        host::drive(py, &self.0.core, move |_| async move {
            let left = Arc::clone(&writer).closed(limit).await;
            let made: MakeResult = Box::new(move |py| Ok(writer.left(py, left)?.into_any().unbind()));
            made
        })
    }
}

/// Defines the methods that hand records over, which each class carries out by its own `hand_over`.
macro_rules! handing_over {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Writes a record. `bins`: a dict of values by name; a value of `None` removes the bin. Returns an
            /// `Outcome`, or `None` if the writer reports failures only; in asyncio, an awaitable of it.
            ///
            /// `policy`: by default that of the session's behavior. Its timeouts and retries are ignored in favor of
            /// the writer's. `record_exists_action`, `expiration`, `generation` (which the record must have) and
            /// `durable_delete` override it. Raises what `put` of a session raises for invalid arguments,
            /// `InvalidNamespaceError`, and `WriterClosedError`; in asyncio, when it is awaited.
            #[pyo3(signature = (key, bins, *, policy=None, record_exists_action=None, expiration=None, generation=None, durable_delete=None))]
            #[allow(clippy::too_many_arguments)] // the arguments of the Python method
            fn put(
                &self,
                py: Python<'_>,
                key: Object<'_, '_>,
                bins: Object<'_, '_>,
                policy: Option<Object<'_, '_>>,
                record_exists_action: Option<Object<'_, '_>>,
                expiration: Option<Object<'_, '_>>,
                generation: Option<Object<'_, '_>>,
                durable_delete: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.hand_over(py, "put", key, |key| {
                    let over = overrides(record_exists_action, expiration, generation, durable_delete)?;
                    let policy = self.0.policy(key.get().namespace(), optional("policy", policy)?, &over)?;
                    self.0.put(key, bins, &policy)
                })
            }

            /// Executes several operations on a record, at least one of which must write. Their results are in `record`
            /// of the `Written`. Otherwise the same as `put`.
            #[pyo3(signature = (key, operations, *, policy=None, record_exists_action=None, expiration=None, generation=None, durable_delete=None))]
            #[allow(clippy::too_many_arguments)] // the arguments of the Python method
            fn operate(
                &self,
                py: Python<'_>,
                key: Object<'_, '_>,
                operations: Object<'_, '_>,
                policy: Option<Object<'_, '_>>,
                record_exists_action: Option<Object<'_, '_>>,
                expiration: Option<Object<'_, '_>>,
                generation: Option<Object<'_, '_>>,
                durable_delete: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.hand_over(py, "operate", key, |key| {
                    let over = overrides(record_exists_action, expiration, generation, durable_delete)?;
                    let policy = self.0.policy(key.get().namespace(), optional("policy", policy)?, &over)?;
                    self.0.operate(key, operations, &policy)
                })
            }

            /// Deletes a record. A missing record counts as deleted; `existed` of the `Written` tells the difference.
            /// Otherwise the same as `put`.
            #[pyo3(signature = (key, *, policy=None, generation=None, durable_delete=None))]
            fn delete(
                &self,
                py: Python<'_>,
                key: Object<'_, '_>,
                policy: Option<Object<'_, '_>>,
                generation: Option<Object<'_, '_>>,
                durable_delete: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.hand_over(py, "delete", key, |key| {
                    let over = overrides(None, None, generation, durable_delete)?;
                    let policy = self.0.policy(key.get().namespace(), optional("policy", policy)?, &over)?;
                    shaped(py, shape::delete(self.0.raw.batch_policy(), &policy))
                })
            }

            /// Resets the TTL of a record to `expiration` or that of the policy. Otherwise the same as `put`.
            #[pyo3(signature = (key, *, policy=None, expiration=None, generation=None))]
            fn touch(
                &self,
                py: Python<'_>,
                key: Object<'_, '_>,
                policy: Option<Object<'_, '_>>,
                expiration: Option<Object<'_, '_>>,
                generation: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.hand_over(py, "touch", key, |key| {
                    let over = overrides(None, expiration, generation, None)?;
                    let policy = self.0.policy(key.get().namespace(), optional("policy", policy)?, &over)?;
                    shaped(py, shape::touch(self.0.raw.batch_policy(), &policy))
                })
            }

            /// Applies a function of a UDF module to a record, with `args` (a list, or `None`). The function's return
            /// value is in the bin `SUCCESS` of `record` of the `Written`. Otherwise the same as `put`.
            #[pyo3(signature = (key, package_name, function_name, args=None, *, policy=None))]
            fn execute_udf(
                &self,
                py: Python<'_>,
                key: Object<'_, '_>,
                package_name: Object<'_, '_>,
                function_name: Object<'_, '_>,
                args: Option<Object<'_, '_>>,
                policy: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.hand_over(py, "execute_udf", key, |key| {
                    let names = (argument("package_name", package_name)?, argument("function_name", function_name)?);
                    let policy = self.0.policy(key.get().namespace(), optional("policy", policy)?, &Overrides::default())?;
                    self.0.udf(py, names, args, &policy)
                })
            }
        }
    };
}

handing_over!(Writer);
handing_over!(SyncWriter);

#[pymethods]
impl Writer {
    /// Waits until all records that were passed to the writer before have an outcome, success or failure. Awaitable of
    /// `None`.
    fn flush(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "flush", || {
            let writer = Arc::clone(&self.0);
            host::drive(py, &self.0.core, move |_| async move {
                writer.raw.flush().await;
                let made: MakeResult = Box::new(|py| Ok(py.None()));
                made
            })
        })
    }

    /// Stops accepting records and waits for the outstanding ones, for at most `timeout` seconds (`None`: until each
    /// record has an outcome, which `record_ttl` limits). Awaitable of a list: the `Outcome`s of the records that are
    /// not confirmed by then, in the order in which they were passed to the writer. They have failed with
    /// `WriterClosedError`, in doubt if they were in flight.
    #[pyo3(signature = (timeout=None))]
    fn close(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "close", || self.closing(py, limit("timeout", timeout)?))
    }

    fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::ready_as(py, "__aenter__", slf.into_any())
    }

    #[pyo3(signature = (*exception))]
    fn __aexit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let (writer, error) = (Arc::clone(&self.0), exception.get_item(1).ok().map(Bound::unbind));
        if self.0.core.raw.cluster().is_closed() {
            return host::ready(py, py.None());
        }
        host::drive(py, &self.0.core, move |_| async move {
            Arc::clone(&writer).closed(None).await;
            let made: MakeResult = Box::new(move |py| {
                writer.tell(error.as_ref().map(|error| error.bind(py)));
                Ok(py.None())
            });
            made
        })
    }
}

impl SyncWriter {
    /// Hands a record over, now.
    fn hand_over(
        &self,
        _py: Python<'_>,
        _name: &'static str,
        key: Object<'_, '_>,
        handing: impl FnOnce(&Bound<'_, Key>) -> PyResult<Handing>,
    ) -> PyResult<Py<PyAny>> {
        let key: &Bound<'_, Key> = argument("key", key)?;
        self.0.hand_over(key, handing(key)?)
    }
}

#[pymethods]
impl SyncWriter {
    /// Waits until all records that were passed to the writer before have an outcome, success or failure.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        block_on(py, &self.0.core, self.0.raw.flush())
    }

    /// Stops accepting records and waits for the outstanding ones, for at most `timeout` seconds (`None`: until each
    /// record has an outcome, which `record_ttl` limits). Returns the `Outcome`s of the records that are not confirmed
    /// by then, in the order in which they were passed to the writer. They have failed with `WriterClosedError`, in
    /// doubt if they were in flight.
    #[pyo3(signature = (timeout=None))]
    fn close<'py>(&self, py: Python<'py>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        self.0.close_blocking(py, limit("timeout", timeout)?)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.0.close_blocking(py, None).inspect_err(|interrupted| self.0.tell(Some(interrupted.value(py))))?;
        self.0.tell(exception.get_item(1).ok().as_ref());
        Ok(false)
    }
}

/// What goes over a policy, from arguments.
fn overrides<'a, 'py>(
    record_exists_action: Option<Object<'a, 'py>>,
    expiration: Option<Object<'a, 'py>>,
    generation: Option<Object<'a, 'py>>,
    durable_delete: Option<Object<'a, 'py>>,
) -> PyResult<Overrides<'a, 'py>> {
    Ok(Overrides {
        record_exists_action,
        expiration: optional("expiration", expiration)?,
        generation: optional("generation", generation)?,
        durable_delete: optional("durable_delete", durable_delete)?,
    })
}
