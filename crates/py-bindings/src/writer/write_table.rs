//! `write_table`, of writers and of whoever has one only for this.

use std::sync::Arc;

use aerolane::raw::RawOps;
use aerolane::writer::{RawWriter, shape};
use pyo3::prelude::*;

use super::table::{Arguments, Job, Plan, Stop};
use super::writer::{Common, SyncWriter, Writer};
use crate::argument::{argument, optional};
use crate::builder::expiration;
use crate::columns::Input;
use crate::command::single::Overrides;
use crate::dataset::DataSet;
use crate::policy::WritePolicy;
use crate::{errors, host};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// The arguments of `write_table`, as Python has given them.
pub(crate) struct TableArguments<'a, 'py> {
    pub(crate) table: Object<'a, 'py>,
    pub(crate) dataset: Object<'a, 'py>,
    pub(crate) key: Object<'a, 'py>,
    pub(crate) bins: Option<Object<'a, 'py>>,
    pub(crate) nulls: Option<Object<'a, 'py>>,
    pub(crate) ttl: Option<Object<'a, 'py>>,
    pub(crate) policy: Option<Object<'a, 'py>>,
    pub(crate) record_exists_action: Option<Object<'a, 'py>>,
    pub(crate) durable_delete: Option<Object<'a, 'py>>,
    pub(crate) keep_failures: Option<Object<'a, 'py>>,
}

/// Failed rows that are kept, if nobody says how many.
const KEPT: usize = 100_000;

impl Common {
    /// The job of a table, whose arguments are checked, and its columns.
    fn job(&self, arguments: &TableArguments<'_, '_>) -> PyResult<Job> {
        let py = arguments.table.py();
        self.core.check_open(py)?;
        let dataset: &Bound<'_, DataSet> = argument("dataset", arguments.dataset)?;
        let namespace = dataset.get().names().0;
        let policy: Option<&Bound<'_, WritePolicy>> =
            optional("policy", arguments.policy.filter(|policy| !policy.is_none()))?;
        let overrides = Overrides {
            record_exists_action: arguments.record_exists_action.filter(|action| !action.is_none()),
            durable_delete: optional("durable_delete", arguments.durable_delete.filter(|delete| !delete.is_none()))?,
            ..Overrides::default()
        };
        let mut policy = self.policy(namespace, policy, &overrides)?;
        if let Some(ttl) = arguments.ttl.filter(|ttl| !ttl.is_none()) {
            Arc::make_mut(&mut policy).expiration = expiration::any(ttl)?;
        }
        let keep_failures = match arguments.keep_failures {
            None => KEPT,
            Some(keep) => argument("keep_failures", keep)?,
        };
        let named = Arguments {
            dataset,
            key: argument("key", arguments.key)?,
            bins: arguments.bins.filter(|bins| !bins.is_none()),
            nulls: arguments.nulls.map_or(Ok("omit"), |nulls| argument("nulls", nulls))?,
            keep_failures,
        };
        let raw = RawWriter::clone(&self.raw);
        if raw.is_closed() {
            return Err(errors::to_py(py, &aerolane::Error::writer_closed("the writer is closed")));
        }
        let template = shape::write(raw.batch_policy(), &policy, 0, RawOps::default());
        let template = template.map_err(|error| errors::to_py(py, &error))?;
        // Before anything is written, and before a stream is asked for rows.
        if self.core.mode(namespace).is_none() {
            return Err(errors::to_py(py, &aerolane::Error::invalid_namespace(namespace, [])));
        }
        let input = Input::open(arguments.table)?;
        let plan = Plan::new(&input, &named, template)?;
        Ok(Job { core: Arc::clone(&self.core), writer: raw, plan, input })
    }
}

impl SyncWriter {
    /// Writes a table on the calling thread.
    pub(crate) fn table(&self, arguments: &TableArguments<'_, '_>) -> PyResult<Py<PyAny>> {
        let py = arguments.table.py();
        let job = self.0.job(arguments)?;
        let made = py.detach(|| job.run(&Stop::Signals));
        made(py)
    }

    /// Writes a table with a writer of its own.
    pub(crate) fn write_once(
        _py: Python<'_>,
        writer: impl FnOnce() -> PyResult<Self>,
        arguments: &TableArguments<'_, '_>,
    ) -> PyResult<Py<PyAny>> {
        writer()?.table(arguments)
    }
}

impl Writer {
    /// The awaitable of writing a table.
    pub(crate) fn table(&self, arguments: &TableArguments<'_, '_>) -> PyResult<Py<PyAny>> {
        let py = arguments.table.py();
        host::at_await(py, "write_table", || {
            let job = self.0.job(arguments)?;
            host::drive_by(py, &self.0.core, move |_| job.on_thread())
        })
    }

    /// The awaitable of writing a table with a writer of its own.
    pub(crate) fn write_once(
        py: Python<'_>,
        writer: impl FnOnce() -> PyResult<Self>,
        arguments: &TableArguments<'_, '_>,
    ) -> PyResult<Py<PyAny>> {
        host::at_await(py, "write_table", || writer()?.table(arguments))
    }
}

/// Defines the method.
macro_rules! write_table {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Writes a table: each row is a record of `dataset`, whose user key is in the column `key`.
            ///
            /// `table`: anything with `__arrow_c_stream__` or `__arrow_c_array__` (tables, record batches and readers
            /// of pyarrow, frames of polars and pandas, relations of `DuckDB`), a structured numpy array, or a dict of
            /// sequences (lists, numpy arrays, Arrow arrays). Columns are encoded without a Python object for each
            /// value and without the GIL, and the parts of a stream are freed as they are written.
            ///
            /// `bins`: the names of the columns to write, or a dict from names of columns to names of bins; by default
            /// all columns but the key. `nulls`: for a null, `"omit"` (the default) does not change the bin, `"delete"`
            /// removes it. `ttl`: seconds, a `timedelta` or an `Expiration`. `keep_failures`: how many failed rows the
            /// summary keeps (100,000).
            ///
            /// Returns a `TableSummary`; in asyncio, an awaitable of it. Rows that fail are listed in it and do not
            /// raise. Before anything is written, it raises `KeyError` for a column that the table does not have, and
            /// `TypeError` or `InvalidArgumentError` for columns that cannot be written. An exception that ends it
            /// later has the `TableSummary` of the rows so far as `summary`; so has the `CancelledError` of a call that is
            /// cancelled.
            #[pyo3(signature = (table, dataset, *, key, bins=None, nulls=None, ttl=None, policy=None, record_exists_action=None, durable_delete=None, keep_failures=None))]
            #[allow(clippy::too_many_arguments)] // the arguments of the Python method
            fn write_table(
                &self,
                table: Object<'_, '_>,
                dataset: Object<'_, '_>,
                key: Object<'_, '_>,
                bins: Option<Object<'_, '_>>,
                nulls: Option<Object<'_, '_>>,
                ttl: Option<Object<'_, '_>>,
                policy: Option<Object<'_, '_>>,
                record_exists_action: Option<Object<'_, '_>>,
                durable_delete: Option<Object<'_, '_>>,
                keep_failures: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.table(&TableArguments {
                    table,
                    dataset,
                    key,
                    bins,
                    nulls,
                    ttl,
                    policy,
                    record_exists_action,
                    durable_delete,
                    keep_failures,
                })
            }
        }
    };
}

write_table!(Writer);
write_table!(SyncWriter);
