//! Work that the servers do in the background: handles to ask for it and to wait for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::raw::RawClient;
use aerospike_core as core;
use aerospike_core::task::Status;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::errors;
use crate::policy::enums::Named;

/// How long a node may take to say where a task stands, in ms.
const ASK: u32 = 3_000;
/// The longest wait, in seconds: beyond it the clock would overflow.
const LONGEST: f64 = 1e9;

/// How a task is asked for.
#[derive(Clone)]
enum Asks {
    /// A job of the servers, by its number.
    Job(u64),
    /// A UDF module that all nodes are to have.
    Module(Arc<str>),
    Core(Arc<dyn core::Task + Send + Sync>),
}

impl Asks {
    async fn status(&self, client: &RawClient) -> aerolane::Result<Status> {
        let id = match self {
            Self::Core(task) => return Ok(task.query_status().await?),
            Self::Module(name) => return has_module(client, name).await,
            Self::Job(id) => id,
        };
        let all = client.asynchronous();
        all.random_node()?; // Says that the client is closed, or that it knows no node.
        for node in all.nodes() {
            let key = if node.version() >= &core::Version::new(8, 1, 0, 0) { "id" } else { "trid" };
            let command = format!("query-show:{key}={id}");
            let answers = client.ask(&node, &core::AdminPolicy { timeout: ASK }, &[&command]).await?;
            let answer = answers.get(&command).map_or("", String::as_str);
            // A node that has never had it, or that has forgotten it, has done its part.
            let over = answer.starts_with("ERROR:2:") || answer == "ERROR:2" || answer.contains("status=done");
            if !over && answer.starts_with("ERROR") {
                let text = format!("the node does not say where task {id} stands: {answer}");
                return Err(aerolane::Error::bad_response(text).with_node(node.to_string()));
            }
            if !over {
                return Ok(Status::InProgress);
            }
        }
        Ok(Status::Complete)
    }

    async fn wait(&self, client: &RawClient, every: Duration, until: Option<Instant>) -> aerolane::Result<bool> {
        let begun = Instant::now();
        loop {
            match self.status(client).await? {
                Status::Complete => return Ok(true),
                Status::NotFound => return Err(aerolane::Error::bad_response("the servers do not know the task")),
                Status::InProgress => {}
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                let text = format!("the task was not over after {:.1} s; it goes on", begun.elapsed().as_secs_f64());
                return Err(aerolane::Error::timeout(text));
            }
            tokio::time::sleep(until.map_or(every, |until| every.min(until - now))).await;
        }
    }
}

/// Whether all nodes have a UDF module.
async fn has_module(client: &RawClient, name: &str) -> aerolane::Result<Status> {
    const COMMAND: &str = "udf-list";
    let all = client.asynchronous();
    all.random_node()?; // Says that the client is closed, or that it knows no node.
    let wanted = format!("filename={name}");
    for node in all.nodes() {
        let answers = client.ask(&node, &core::AdminPolicy { timeout: ASK }, &[COMMAND]).await?;
        let answer = answers.get(COMMAND).map_or("", String::as_str);
        if !answer.split([';', ',']).any(|part| part == wanted) {
            return Ok(Status::InProgress);
        }
    }
    Ok(Status::Complete)
}

fn status(_py: Python<'_>, core: &Arc<ClientCore>, asks: &Asks) -> PyResult<impl Executable + use<>> {
    let (client, asks) = (RawClient::clone(&core.raw), asks.clone());
    Ok(Control {
        future: async move { asks.status(&client).await },
        convert: |py: Python<'_>, status: Status| status.to_python(py),
    })
}

fn wait(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    asks: &Asks,
    sleep_time: f64,
    timeout: Option<f64>,
) -> PyResult<impl Executable + use<>> {
    let seconds = |what: &str, value: f64| {
        if value.is_nan() || value < 0.0 {
            return Err(errors::invalid_argument(py, format!("{what} is {value}, it must be 0 or more seconds")));
        }
        Ok(Duration::from_secs_f64(value.min(LONGEST)))
    };
    // Asking without a pause would only keep the servers busy.
    let every = seconds("sleep_time", sleep_time)?.max(Duration::from_millis(1));
    let until = timeout.map(|timeout| seconds("timeout", timeout)).transpose()?.map(|timeout| Instant::now() + timeout);
    let (client, asks) = (RawClient::clone(&core.raw), asks.clone());
    Ok(Control {
        future: async move { asks.wait(&client, every, until).await },
        convert: |py: Python<'_>, done: bool| done.into_py_any(py),
    })
}

/// Defines the classes, each with the same methods.
macro_rules! tasks {
    ($($(#[doc = $doc:literal])* $name:ident { $($extra:tt)* })*) => {
        $(
            $(#[doc = $doc])*
            #[pyclass(frozen, module = "aerolane.native")]
            pub(crate) struct $name {
                core: Arc<ClientCore>,
                asks: Asks,
            }

            #[pymethods]
            impl $name {
                /// The status of the task: a `TaskStatus`. Awaitable. Raises an error if a node does not answer.
                fn query_status(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                    $crate::host::at_await(py, "query_status", || {
                        status(py, &self.core, &self.asks)?.start(py, &self.core)
                    })
                }

                /// The status of the task: a `TaskStatus`. Raises an error if a node does not answer.
                fn query_status_blocking(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                    status(py, &self.core, &self.asks)?.block(py, &self.core)
                }

                /// Waits until the task is complete; returns `True`. Awaitable. Asks every `sleep_time` seconds, for at
                /// most `timeout` seconds (`None`: without a limit), and then raises `TimeoutError`; the task itself
                /// continues.
                ///
                /// `max_attempts`: how often to ask, instead of `timeout`, as in the first versions of Aerospike's SDK.
                #[pyo3(
                    signature = (sleep_time=0.25, timeout=Some(60.0), *, max_attempts=None),
                    text_signature = "($self, sleep_time=0.25, timeout=60.0, *, max_attempts=None)"
                )]
                fn wait_till_complete(
                    &self,
                    py: Python<'_>,
                    sleep_time: f64,
                    timeout: Option<f64>,
                    max_attempts: Option<u32>,
                ) -> PyResult<Py<PyAny>> {
                    let timeout = max_attempts.map(|attempts| sleep_time * f64::from(attempts)).or(timeout);
                    $crate::host::at_await(py, "wait_till_complete", || {
                        wait(py, &self.core, &self.asks, sleep_time, timeout)?.start(py, &self.core)
                    })
                }

                /// Waits until the task is complete; returns `True`. Asks every `sleep_time` seconds, for at most
                /// `timeout` seconds (`None`: without a limit), and then raises `TimeoutError`; the task itself
                /// continues.
                ///
                /// `max_attempts`: how often to ask, instead of `timeout`, as in the first versions of Aerospike's SDK.
                #[pyo3(
                    signature = (sleep_time=0.25, timeout=Some(60.0), *, max_attempts=None),
                    text_signature = "($self, sleep_time=0.25, timeout=60.0, *, max_attempts=None)"
                )]
                fn wait_till_complete_blocking(
                    &self,
                    py: Python<'_>,
                    sleep_time: f64,
                    timeout: Option<f64>,
                    max_attempts: Option<u32>,
                ) -> PyResult<Py<PyAny>> {
                    let timeout = max_attempts.map(|attempts| sleep_time * f64::from(attempts)).or(timeout);
                    wait(py, &self.core, &self.asks, sleep_time, timeout)?.block(py, &self.core)
                }

                $($extra)*
            }
        )*

        pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_class::<$name>()?;)*
            Ok(())
        }
    };
}

tasks! {
    /// A background task: operations or a function that the servers apply to all records that a query finds.
    ExecuteTask {
        /// The number of the task on the servers.
        #[getter]
        fn task_id(&self) -> u64 {
            match self.asks {
                Asks::Job(id) => id,
                Asks::Module(_) | Asks::Core(_) => 0,
            }
        }
    }
    /// An index that is being built.
    IndexTask {}
    /// An index that is being dropped.
    DropIndexTask {}
    /// A UDF module that is being registered.
    RegisterTask {}
    /// A UDF module that is being removed.
    UdfRemoveTask {}
}

impl ExecuteTask {
    pub(super) fn new(core: Arc<ClientCore>, id: u64) -> Self {
        Self { core, asks: Asks::Job(id) }
    }
}

macro_rules! of_core {
    ($($name:ident),*) => {$(
        impl $name {
            pub(crate) fn new(core: Arc<ClientCore>, task: core::$name) -> Self {
                Self { core, asks: Asks::Core(Arc::new(task)) }
            }
        }
    )*};
}
of_core!(IndexTask, DropIndexTask, UdfRemoveTask);

impl RegisterTask {
    pub(crate) fn of(core: Arc<ClientCore>, module: String) -> Self {
        Self { core, asks: Asks::Module(module.into()) }
    }
}
