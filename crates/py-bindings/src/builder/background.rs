//! Tasks in the background: what the servers do with all records of a set, said step by step.
//!
//! A builder of a task is a chain of one operation, whose records no keys name. `execute` starts the task, and gives the
//! handle that asks for it: the `ExecuteTask` of the native client.

use std::sync::Arc;

use aerolane::raw::RawQuery;
use aerolane_wire::message::field;
use aerospike_core::WritePolicy;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::bin::WriteBinBuilder;
use super::chain::{self, Chain, Keys, Segment, Shared, Target, expression, spent, takes_no_bins};
use super::context::Context;
use super::dataset::Query;
use super::expiration;
use super::methods::{conditional, durable, expiring};
use super::ops::Ops;
use super::steps::scalar;
use super::surface::Surface;
use super::verb::Verb;
use crate::dataset::DataSet;
use crate::errors;
use crate::operation::BaseOperation;
use crate::policy::kinds::whole_number;
use crate::query::commands;
use crate::query::filter::Filter;
use crate::query::statement::{Function, FunctionMode, function};

/// What is done with the records of a set.
pub(super) struct Task {
    namespace: Box<str>,
    set: Box<str>,
    pub(super) segment: Segment,
    /// A range of a secondary index.
    index: Option<Filter>,
    records_per_second: u32,
}

impl Task {
    fn new((namespace, set): (&str, &str), verb: Verb) -> Self {
        Self {
            namespace: namespace.into(),
            set: set.into(),
            segment: Segment::new(verb, Keys::Many(Vec::new())),
            index: None,
            records_per_second: 0,
        }
    }

    /// A task about the records that a query of a data set chooses.
    fn of_query(query: Query, verb: Verb) -> Self {
        let mut task = Self::new(query.names(), verb);
        task.segment.filter = query.filter_expression;
        task.index = query.index;
        task.records_per_second = query.records_per_second.unwrap_or(0);
        task
    }

    /// Has it do something with bins.
    pub(super) fn add(&mut self, py: Python<'_>, method: &str, ops: Ops) -> PyResult<()> {
        let verb = self.segment.verb;
        if !verb.takes_bins() {
            return Err(takes_no_bins(py, verb, method));
        }
        if ops.asked.reads != 0 {
            return Err(only_writes(py, method));
        }
        self.segment.ops.add(py, ops)
    }

    /// Whether it has been told what to do.
    pub(super) fn check_whole(&self, py: Python<'_>) -> PyResult<()> {
        if self.segment.verb.takes_bins() && self.segment.ops.is_empty() {
            let text = "the task has nothing to write: give it a step with bin(name), or add_operation(..)";
            return Err(errors::invalid_argument(py, text));
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let Self { namespace, set, segment, .. } = self;
        let of = if set.is_empty() { format!("{namespace:?}") } else { format!("{namespace:?}, {set:?}") };
        format!("{} of {of}", segment.verb.name())
    }

    /// Which records it is about.
    fn selects(&self) -> RawQuery {
        let mut query = RawQuery::new(&*self.namespace);
        if !self.set.is_empty() {
            query = query.field(field::SET, self.set.as_bytes());
        }
        match &self.index {
            Some(index) => index.add(query),
            None => query,
        }
    }

    /// The request.
    fn query(&mut self) -> RawQuery {
        let query = self.selects();
        let ops = match (self.segment.verb, self.segment.function.take()) {
            (_, Some(function)) => return function.add(query, FunctionMode::Background),
            (Verb::Delete, None) => Ops::of(&scalar::delete_record()),
            (Verb::Touch, None) => Ops::of(&scalar::touch_record()),
            (_, None) => std::mem::take(&mut self.segment.ops),
        };
        query.ops(ops.raw)
    }
}

impl Chain {
    /// The policy of a task.
    fn task_policy(&self, context: &Context, task: &mut Task) -> Arc<WritePolicy> {
        let mut policy = context.background(&task.namespace);
        policy.base_policy.filter_expression =
            task.segment.filter.take().map(|filter| *filter).or_else(|| self.whole.default_filter());
        policy.records_per_second = task.records_per_second;
        if let Some(expiration) = task.segment.expiration {
            policy.expiration = expiration;
        }
        if let Some(durable) = task.segment.durable_delete.or_else(|| self.whole.default_durable_delete()) {
            policy.durable_delete = durable;
        }
        Arc::new(policy)
    }
}

/// Starts the task of a chain.
fn execute(py: Python<'_>, shared: &Shared, surface: Surface) -> PyResult<Py<PyAny>> {
    surface.guard(py, "execute", || {
        let mut chain = {
            let mut chain = shared.lock_py_attached(py);
            chain.check_whole(py)?;
            chain.take()
        };
        let Target::Background(task) = std::mem::replace(&mut chain.target, Target::Taken) else {
            return Err(PyRuntimeError::new_err("this builder describes no task in the background"));
        };
        start(py, &shared.context, &chain, *task, surface)
    })
}

fn start(py: Python<'_>, context: &Context, chain: &Chain, mut task: Task, surface: Surface) -> PyResult<Py<PyAny>> {
    let policy = chain.task_policy(context, &mut task);
    let core = &context.core;
    surface.carry_out(py, core, commands::background(py, core, task.query(), policy)?)
}

/// Starts a task about what a query of a data set chooses: the writes that it was given, or a function.
pub(super) fn execute_query(
    py: Python<'_>,
    shared: &Shared,
    name: &'static str,
    apply: impl FnOnce() -> PyResult<Option<Function>>,
    surface: Surface,
) -> PyResult<Py<PyAny>> {
    surface.guard(py, name, || {
        check_transaction(&shared.context)?;
        let function = apply()?;
        let mut chain = shared.lock_py_attached(py);
        let wrong = match chain.query(py)? {
            None => Some(format!("{name}() is for queries of a data set: session.query(dataset)")),
            Some(query) => match (query.only_reads(), query.writes.is_some(), function.is_some()) {
                (Some(method), ..) => Some(format!(
                    "{name}() changes all records that where() and filter() choose: {method}() is for reading them"
                )),
                (None, false, false) => {
                    Some(format!("{name}() has nothing to write: say it with with_write_operations()"))
                }
                (None, true, true) => Some(format!("{name}() applies a function: leave with_write_operations() out")),
                (None, ..) => None,
            },
        };
        if let Some(text) = wrong {
            return Err(errors::invalid_argument(py, text));
        }
        let mut chain = {
            let taken = chain.take();
            drop(chain);
            taken
        };
        let Target::DataSet(mut query) = std::mem::replace(&mut chain.target, Target::Taken) else {
            return Err(spent(py));
        };
        let writes = query.writes.take();
        let mut task = Task::of_query(*query, if function.is_some() { Verb::Udf } else { Verb::Update });
        task.segment.function = function.map(Box::new);
        if let Some(writes) = writes {
            task.segment.ops = *writes;
        }
        start(py, &shared.context, &chain, task, surface)
    })
}

/// Refuses a task of a session that belongs to a transaction.
fn check_transaction(context: &Context) -> PyResult<()> {
    if context.txn.is_some() {
        let text = "a task in the background is not part of transactions, which could not take back what it changes: \
                    begin it with a session that has none";
        return Err(PyRuntimeError::new_err(text));
    }
    Ok(())
}

/// Operations that a task can carry out: they write, and answer nothing.
pub(super) fn writing(py: Python<'_>, operations: &Bound<'_, PyAny>) -> PyResult<Ops> {
    let mut all = Ops::default();
    for operation in operations.try_iter()? {
        let ops = Ops::of(operation?.cast::<BaseOperation>()?.get());
        if ops.asked.reads != 0 {
            return Err(only_writes(py, "with_write_operations"));
        }
        all.add(py, ops)?;
    }
    if all.is_empty() {
        let text = "with_write_operations() takes at least one operation, such as Operation.put(..)";
        return Err(errors::invalid_argument(py, text));
    }
    Ok(all)
}

#[cold]
fn only_writes(py: Python<'_>, method: &str) -> PyErr {
    let text = format!(
        "nobody gets what a task in the background reads: {method}() goes with query(dataset), and a task only writes"
    );
    errors::invalid_argument(py, text)
}

/// What of the builders of records makes no sense for tasks.
#[cold]
fn only_foreground(method: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a task in the background has no results, of which {method}() says something: leave it out; the records that are \
         changed are those for which where() is true"
    ))
}

/// Defines the classes of a surface.
macro_rules! tasks {
    (
        $surface:ident: $session:ident named $session_name:literal, $builder:ident named $builder_name:literal,
        $udf:ident named $udf_name:literal from $function:ident named $function_name:literal in $module:literal
    ) => {
        /// Background tasks, which the servers apply to all records of a set: `session.background_task()`.
        ///
        /// Each method describes a task. `execute()` starts it and returns a handle to check on it and wait for it.
        #[pyclass(frozen, name = $session_name, module = $module)]
        pub(crate) struct $session(Arc<Context>);

        /// A background task: `session.background_task().update(dataset).bin("a").add(1)`.
        ///
        /// Each method returns the builder; `execute` starts the task, once.
        #[pyclass(frozen, name = $builder_name, module = $module)]
        pub(crate) struct $builder {
            chain: Shared,
        }

        /// The set whose records a background task applies a function to. `function(package_name, function_name)` names
        /// the function.
        #[pyclass(frozen, name = $function_name, module = $module)]
        pub(crate) struct $function {
            chain: Shared,
        }

        /// A background task that applies a function of a UDF module to all records of a set. `execute` starts it,
        /// once.
        #[pyclass(frozen, name = $udf_name, module = $module)]
        pub(crate) struct $udf {
            chain: Shared,
            package: String,
            function: String,
        }

        impl $session {
            /// The tasks of a session.
            ///
            /// # Errors
            /// The session belongs to a transaction, which tasks cannot be part of.
            pub(crate) fn of(context: &Arc<Context>) -> PyResult<Self> {
                check_transaction(context)?;
                Ok(Self(Arc::clone(context)))
            }

            fn begin(&self, dataset: &Bound<'_, DataSet>, verb: Verb) -> Shared {
                Chain::of(&self.0, Target::Background(Box::new(Task::new(dataset.get().names(), verb))))
            }
        }

        #[pymethods]
        impl $session {
            /// Changes bins of records: `bin(name)` of the builder says how. Creates no records.
            fn update(&self, dataset: &Bound<'_, DataSet>) -> $builder {
                $builder { chain: self.begin(dataset, Verb::Update) }
            }

            /// Deletes records.
            fn delete(&self, dataset: &Bound<'_, DataSet>) -> $builder {
                $builder { chain: self.begin(dataset, Verb::Delete) }
            }

            /// Resets the time to live of records.
            fn touch(&self, dataset: &Bound<'_, DataSet>) -> $builder {
                $builder { chain: self.begin(dataset, Verb::Touch) }
            }

            /// Applies a function of a UDF module to records: `execute_udf(dataset).function("module", "name")`.
            fn execute_udf(&self, dataset: &Bound<'_, DataSet>) -> $function {
                $function { chain: self.begin(dataset, Verb::Udf) }
            }
        }

        #[pymethods]
        impl $builder {
            /// Selects a bin. The methods of the returned object change it.
            fn bin<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyString>) -> PyResult<WriteBinBuilder> {
                WriteBinBuilder::new(slf.as_any(), &slf.get().chain, name)
            }

            /// Adds an operation of `aerolane.native` that writes (`ListOperation`, `MapOperation`, and so on).
            fn add_operation<'py>(slf: Bound<'py, Self>, op: &Bound<'py, BaseOperation>) -> PyResult<Bound<'py, Self>> {
                let ops = Ops::of(op.get());
                slf.get().chain.lock_py_attached(slf.py()).add(slf.py(), "add_operation", ops)?;
                Ok(slf)
            }
        }

        #[pymethods]
        impl $function {
            /// Names the function: its module (without `.lua`) and its name.
            fn function(&self, py: Python<'_>, package_name: String, function_name: String) -> PyResult<$udf> {
                let call = function(py, &package_name, &function_name, None)?;
                self.chain.lock_py_attached(py).apply(py, call)?;
                Ok($udf { chain: Shared::clone(&self.chain), package: package_name, function: function_name })
            }
        }

        #[pymethods]
        impl $udf {
            /// Sets the arguments of the function. It gets them after the record.
            #[pyo3(signature = (*args))]
            fn passing<'py>(slf: Bound<'py, Self>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
                let (py, this) = (slf.py(), slf.get());
                let call = function(py, &this.package, &this.function, Some(args.as_any()))?;
                this.chain.lock_py_attached(py).apply(py, call)?;
                Ok(slf)
            }
        }

        expiring!($builder);
        durable!($udf);
        task_methods!($builder, $surface);
        task_methods!($udf, $surface);
    };
}

/// Defines what all tasks have.
macro_rules! task_methods {
    ($class:ident, $surface:ident) => {
        conditional!($class);

        #[pymethods]
        impl $class {
            /// Changes only what a secondary index finds for a `Filter`. Only once.
            fn filter<'py>(slf: Bound<'py, Self>, filter_obj: &Bound<'py, Filter>) -> PyResult<Bound<'py, Self>> {
                let (py, filter) = (slf.py(), filter_obj.get().clone());
                let second = slf.get().task(py, |task| task.index.replace(filter).is_some())?;
                if second {
                    let text = "a task takes one filter over an index: where() takes other conditions";
                    return Err(errors::invalid_argument(py, text));
                }
                Ok(slf)
            }

            /// Changes at most this many records per second on each node. 0 means no limit.
            fn records_per_second<'py>(slf: Bound<'py, Self>, rps: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let rate = whole_number(rps, "rps", 0, i64::from(u32::MAX))? as u32;
                slf.get().task(slf.py(), |task| task.records_per_second = rate)?;
                Ok(slf)
            }

            /// Raises `TypeError`: background tasks have no results.
            fn fail_on_filtered_out(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().task(slf.py(), |_| ())?;
                Err(only_foreground("fail_on_filtered_out"))
            }

            /// Raises `TypeError`: background tasks have no results.
            fn include_missing_keys(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().task(slf.py(), |_| ())?;
                Err(only_foreground("include_missing_keys"))
            }

            /// Raises `TypeError`: background tasks have no results.
            fn respond_all_keys(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().task(slf.py(), |_| ())?;
                Err(only_foreground("respond_all_keys"))
            }

            /// Starts the task and returns a handle, an `ExecuteTask`; with asyncio, an awaitable of it.
            /// `wait_till_complete()` of the handle waits until all servers are done; without asyncio, use
            /// `wait_till_complete_blocking()`.
            ///
            /// If it raises, `in_doubt` of the error says whether servers may be running the task anyway.
            fn execute(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                execute(py, &self.chain, Surface::$surface)
            }
        }

        impl $class {
            /// Changes what holds for the whole chain.
            fn with(&self, py: Python<'_>, _method: &str, change: impl FnOnce(&mut Chain)) -> PyResult<()> {
                let mut chain = self.chain.lock_py_attached(py);
                chain.check(py)?;
                change(&mut chain);
                Ok(())
            }

            /// Changes what only tasks have.
            fn task<T>(&self, py: Python<'_>, change: impl FnOnce(&mut Task) -> T) -> PyResult<T> {
                let mut chain = self.chain.lock_py_attached(py);
                chain.check(py)?;
                match &mut chain.target {
                    Target::Background(task) => Ok(change(task)),
                    _ => Err(PyRuntimeError::new_err("this builder describes no task in the background")),
                }
            }
        }
    };
}

tasks!(
    Async: BackgroundTaskSession named "BackgroundTaskSession",
    BackgroundOperationBuilder named "BackgroundOperationBuilder", BackgroundUdfBuilder named "BackgroundUdfBuilder"
    from BackgroundUdfFunctionBuilder named "BackgroundUdfFunctionBuilder" in "aerolane"
);
tasks!(
    Sync: SyncBackgroundTaskSession named "BackgroundTaskSession",
    SyncBackgroundOperationBuilder named "BackgroundOperationBuilder",
    SyncBackgroundUdfBuilder named "BackgroundUdfBuilder"
    from SyncBackgroundUdfFunctionBuilder named "BackgroundUdfFunctionBuilder" in "aerolane.sync"
);

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<BackgroundTaskSession>()?;
    module.add_class::<BackgroundOperationBuilder>()?;
    module.add_class::<BackgroundUdfFunctionBuilder>()?;
    module.add_class::<BackgroundUdfBuilder>()?;
    module.add("SyncBackgroundTaskSession", py.get_type::<SyncBackgroundTaskSession>())?;
    module.add("SyncBackgroundOperationBuilder", py.get_type::<SyncBackgroundOperationBuilder>())?;
    module.add("SyncBackgroundUdfFunctionBuilder", py.get_type::<SyncBackgroundUdfFunctionBuilder>())?;
    module.add("SyncBackgroundUdfBuilder", py.get_type::<SyncBackgroundUdfBuilder>())
}
