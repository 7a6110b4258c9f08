//! The classes of builders, each in two kinds: for asyncio, where a terminal gives an awaitable, and for code without it.

use std::borrow::Borrow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::awaitable::AwaitableStream;
use super::bin::{QueryBinBuilder, WriteBinBuilder};
use super::bin_target::BinTarget;
use super::chain::{self, Chain, Cut, Keys, Projection, Shared, Target, expression, named, spent};
use super::context::Context;
use super::dataset::Query;
use super::early::{self, early_chain, early_query, early_segment};
use super::execute::{TerminalKind, execute, execute_plainly};
use super::hint::QueryHint;
use super::methods::{chain_methods, conditional, durable, expiring, expression_writes, row_methods};
use super::ops::Ops;
use super::steps::scalar;
use super::stream::{RecordStream, Results, Source, SyncRecordStream};
use super::verb::{Verb, verbs};
use super::whole::Membership;
use super::{background, expiration, rows, selection};
use crate::ael::IndexContext;
use crate::command::Executable;
use crate::core::ClientCore;
use crate::fast_call::fast_call;
use crate::instance::{Instance, instance};
use crate::key::Key;
use crate::operation::BaseOperation;
use crate::policy::enums::Named;
use crate::policy::kinds::{self, at_least_one, whole_number};
use crate::policy::{BasePolicy, QueryPolicy, ReadPolicy};
use crate::query::PartitionFilter;
use crate::query::filter::Filter;
use crate::query::statement::function;
use crate::txn::Txn;
use crate::{errors, host};

/// Which of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    Async,
    Sync,
}

impl Surface {
    /// Runs what a method does. In asyncio, an error is raised where the method's result is awaited.
    #[inline]
    pub(crate) fn guard(
        self,
        py: Python<'_>,
        name: &'static str,
        call: impl FnOnce() -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match self {
            Self::Async => host::at_await(py, name, call),
            Self::Sync => call(),
        }
    }

    /// Carries a command out, or starts it.
    #[inline]
    pub(crate) fn carry_out(
        self,
        py: Python<'_>,
        core: &Arc<ClientCore>,
        command: impl Executable,
    ) -> PyResult<Py<PyAny>> {
        match self {
            Self::Async => command.start(py, core),
            Self::Sync => command.block(py, core),
        }
    }

    /// Makes a command and carries it out, or starts it: what a method does that comes down to one.
    pub(crate) fn run<T: Executable>(
        self,
        py: Python<'_>,
        core: &Arc<ClientCore>,
        name: &'static str,
        command: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<Py<PyAny>> {
        self.guard(py, name, || self.carry_out(py, core, command()?))
    }

    /// A result that is there.
    pub(crate) fn ready(self, py: Python<'_>, result: Py<PyAny>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Async => host::ready(py, result),
            Self::Sync => Ok(result),
        }
    }

    /// What `stream()` of a builder gives.
    pub(super) fn start_stream<S: Borrow<Shared>>(
        self,
        py: Python<'_>,
        chain: impl FnOnce() -> PyResult<S>,
        on_error: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match self {
            Self::Async => {
                Ok(Py::new(py, AwaitableStream::new(chain().map(|chain| Shared::clone(chain.borrow())), on_error))?
                    .into_any())
            }
            Self::Sync => execute(py, chain, on_error, self, TerminalKind::Live),
        }
    }

    /// A stream of results.
    #[inline]
    pub(super) fn stream(self, py: Python<'_>, source: impl FnOnce() -> Source) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Self::Async => instance(py, || RecordStream(Results::new(source())))?.into_any(),
            Self::Sync => instance(py, || SyncRecordStream(Results::new(source())))?.into_any(),
        })
    }
}

/// Defines both classes of a kind.
macro_rules! builders {
    (
        $surface:ident: $query:ident named $query_name:literal, $segment:ident named $segment_name:literal,
        $udf:ident named $udf_name:literal from $function:ident named $function_name:literal,
        $rows:ident named $rows_name:literal from $table:ident named $table_name:literal in $module:literal
    ) => {
        /// The set that rows are written to: `session.upsert(dataset)`. `bins` names the bins of each row.
        #[pyclass(frozen, name = $table_name, module = $module)]
        pub(crate) struct $table(rows::Target);

        /// Rows to write, each as a record of its own: `session.upsert(dataset).bins("a", "b").row(1, "x", "y")`.
        /// `execute`, `first` and `first_or_raise` execute it, once.
        #[pyclass(frozen, name = $rows_name, module = $module)]
        pub(crate) struct $rows(rows::Rows);

        impl $table {
            /// The records of a data set.
            pub(crate) fn of_set(
                py: Python<'_>,
                context: &Arc<Context>,
                verb: Verb,
                names: (&str, &str),
                more: &Bound<'_, PyTuple>,
            ) -> PyResult<Self> {
                rows::Target::new(py, context, verb, names, more).map(Self)
            }
        }

        #[pymethods]
        impl $table {
            /// Names the bins of the rows.
            #[pyo3(signature = (*bin_names))]
            fn bins(&self, bin_names: &Bound<'_, PyTuple>) -> PyResult<$rows> {
                self.0.bins(bin_names).map($rows)
            }
        }

        #[pymethods]
        impl $rows {
            /// Adds a row: the user key of its record, and a value for each bin. `None` removes a bin.
            #[pyo3(signature = (identifier, *values))]
            fn row<'py>(
                slf: Bound<'py, Self>,
                identifier: &Bound<'py, PyAny>,
                values: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                slf.get().0.row(identifier, &values.iter().collect::<Vec<_>>())?;
                Ok(slf)
            }

            /// Adds rows: sequences of a user key and a value for each bin.
            fn rows<'py>(slf: Bound<'py, Self>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                for row in rows.try_iter()? {
                    let row: Vec<_> = row?.try_iter()?.collect::<PyResult<_>>()?;
                    let Some((identifier, values)) = row.split_first() else {
                        let text = "a row is a sequence of a user key and a value for each bin; one is empty";
                        return Err(errors::invalid_argument(slf.py(), text));
                    };
                    slf.get().0.row(identifier, values)?;
                }
                Ok(slf)
            }

            /// Makes the last row fail unless its record has this generation, 1 or more.
            fn ensure_generation_is<'py>(
                slf: Bound<'py, Self>,
                generation: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let (py, generation) = (slf.py(), kinds::generation(generation)?);
                slf.get().0.chain().lock_py_attached(py).expect(py, generation)?;
                Ok(slf)
            }
        }

        impl $rows {
            #[allow(clippy::unnecessary_wraps)] // as that of chains
            fn shared(&self, _py: Python<'_>, _method: &str) -> PyResult<&Shared> {
                Ok(self.0.chain())
            }
        }
        row_methods!($rows, $surface);
        expiring!($rows);

        /// Records to read: `session.query(keys)` or `session.query(dataset)`. Each method returns the builder;
        /// `execute`, `first` and `first_or_raise` execute it, once.
        #[pyclass(frozen, name = $query_name, module = $module)]
        pub(crate) struct $query {
            chain: Shared,
        }

        /// Operations on records: `session.upsert(keys)`, and the same for the other verbs. Each method returns the
        /// builder; `execute`, `first` and `first_or_raise` execute it, once.
        #[pyclass(frozen, name = $segment_name, module = $module)]
        pub(crate) struct $segment {
            chain: Shared,
        }

        /// The records to apply a function to: `session.execute_udf(keys)`. `function(package, name)` names the
        /// function.
        #[pyclass(frozen, name = $function_name, module = $module)]
        pub(crate) struct $function {
            chain: Shared,
        }

        /// A function of a UDF module to apply to records: `session.execute_udf(keys).function(package, name)`.
        /// `execute`, `first` and `first_or_raise` execute it, once; `udf_result` of a result is what the function
        /// returned.
        #[pyclass(frozen, name = $udf_name, module = $module)]
        pub(crate) struct $udf {
            chain: Shared,
            package: String,
            function: String,
        }

        impl Instance for $query {
            #[cfg(Py_GIL_DISABLED)]
            #[inline]
            fn let_go(&mut self, py: Python<'_>) -> bool {
                self.chain.let_go(py)
            }
        }

        impl Instance for $segment {
            #[cfg(Py_GIL_DISABLED)]
            #[inline]
            fn let_go(&mut self, py: Python<'_>) -> bool {
                self.chain.let_go(py)
            }
        }

        impl $function {
            /// Records that a function is applied to.
            pub(crate) fn of_keys(
                context: &Arc<Context>,
                keys: &Bound<'_, PyAny>,
                more: &Bound<'_, PyTuple>,
            ) -> PyResult<Self> {
                Ok(Self { chain: Chain::of_keys(context, Verb::Udf, Keys::of("execute_udf", keys, more)?) })
            }

            /// Records that a function is applied to, as the next operation of a chain.
            fn follow(
                py: Python<'_>,
                chain: &Shared,
                keys: &Bound<'_, PyAny>,
                more: &Bound<'_, PyTuple>,
            ) -> PyResult<Self> {
                let keys = Keys::of("execute_udf", keys, more)?;
                chain.lock_py_attached(py).begin(py, Verb::Udf, keys)?;
                Ok(Self { chain: Shared::clone(chain) })
            }
        }

        #[pymethods]
        impl $function {
            /// Names the function: its module (without `.lua`) and its name.
            fn function(&self, py: Python<'_>, package: String, function_name: String) -> PyResult<$udf> {
                let function = function(py, &package, &function_name, None)?;
                self.chain.lock_py_attached(py).apply(py, function)?;
                Ok($udf { chain: Shared::clone(&self.chain), package, function: function_name })
            }
        }

        impl $udf {
            fn begin<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: &Bound<'py, PyAny>,
                more: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, $segment>> {
                let chain = &slf.get().chain;
                let keys = Keys::of(verb.name(), keys, more)?;
                chain.lock_py_attached(slf.py()).begin(slf.py(), verb, keys)?;
                Bound::new(slf.py(), $segment { chain: Shared::clone(chain) })
            }
        }

        #[pymethods]
        impl $udf {
            /// Sets the arguments of the function. It gets them after the record.
            #[pyo3(signature = (*args))]
            fn passing<'py>(slf: Bound<'py, Self>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
                let (py, this) = (slf.py(), slf.get());
                let function = function(py, &this.package, &this.function, Some(args.as_any()))?;
                this.chain.lock_py_attached(slf.py()).apply(py, function)?;
                Ok(slf)
            }

            /// Continues the chain with records to read.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn query(
                &self,
                py: Python<'_>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$query> {
                let keys = Keys::of("query", keys, more_keys)?;
                self.chain.lock_py_attached(py).begin(py, Verb::Query, keys)?;
                Ok($query { chain: Shared::clone(&self.chain) })
            }

            /// Continues the chain with a function to apply to records.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn execute_udf(
                &self,
                py: Python<'_>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$function> {
                $function::follow(py, &self.chain, keys, more_keys)
            }
        }

        impl $query {
            /// A query of one record.
            #[inline]
            pub(crate) fn of_key(context: &Arc<Context>, key: &Bound<'_, Key>) -> Self {
                Self { chain: Chain::of_keys(context, Verb::Query, Keys::One(key.clone().unbind())) }
            }

            /// A query of records, or of a data set.
            pub(crate) fn of_keys(
                context: &Arc<Context>,
                keys: &Bound<'_, PyAny>,
                more: &Bound<'_, PyTuple>,
            ) -> PyResult<Self> {
                Ok(Self { chain: Chain::of_keys(context, Verb::Query, Keys::of("query", keys, more)?) })
            }

            pub(crate) fn of_dataset(context: &Arc<Context>, (namespace, set): (&str, &str)) -> Self {
                let query = Query::new(namespace, set);
                Self { chain: Chain::of(context, Target::DataSet(Box::new(query))) }
            }

            fn begin<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: &Bound<'py, PyAny>,
                more: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, $segment>> {
                let chain = &slf.get().chain;
                let keys = Keys::of(verb.name(), keys, more)?;
                chain.lock_py_attached(slf.py()).begin(slf.py(), verb, keys)?;
                Bound::new(slf.py(), $segment { chain: Shared::clone(chain) })
            }

            /// Changes what queries of data sets have, and queries of records by their keys, too.
            fn of_set_or_keys(
                &self,
                py: Python<'_>,
                of_set: impl FnOnce(&mut Query),
                of_keys: impl FnOnce(&mut Cut),
            ) -> PyResult<()> {
                let mut chain = self.chain.lock_py_attached(py);
                match chain.query(py)? {
                    Some(query) => {
                        of_set(query);
                        Ok(())
                    }
                    None => chain.cut(py, of_keys),
                }
            }

            /// Changes what only queries of data sets have.
            fn of_set(
                &self,
                py: Python<'_>,
                method: &str,
                change: impl FnOnce(&mut Query) -> PyResult<()>,
            ) -> PyResult<()> {
                match self.chain.lock_py_attached(py).query(py)? {
                    Some(query) => change(query),
                    None => {
                        let text = format!(
                            "{method}() is for queries of a data set: session.query(dataset); this one reads records by their keys"
                        );
                        Err(errors::invalid_argument(py, text))
                    }
                }
            }
        }

        impl $segment {
            /// An operation on one record.
            #[inline]
            pub(crate) fn of_key(context: &Arc<Context>, verb: Verb, key: &Bound<'_, Key>) -> Self {
                Self { chain: Chain::of_keys(context, verb, Keys::One(key.clone().unbind())) }
            }

            /// Installs fast calls for what programs call most.
            pub(super) fn install_fast_calls(py: Python<'_>) -> PyResult<()> {
                fast_call!(py, $query::execute, |slf, on_error| {
                    if on_error.is_some() { Ok(None) } else { execute_plainly(slf.py(), &slf.get().chain, Surface::$surface) }
                })?;
                fast_call!(py, $segment::execute, |slf, on_error| {
                    if on_error.is_some() { Ok(None) } else { execute_plainly(slf.py(), &slf.get().chain, Surface::$surface) }
                })?;
                fast_call!(py, $segment::put, |slf, bins| {
                    let Some(bins) = bins else { return Ok(None) };
                    let ops = Ops::of_bins(bins)?;
                    slf.get().chain.lock_py_attached(slf.py()).add(slf.py(), "put", ops)?;
                    Ok(Some(slf.clone().into_any().unbind()))
                })
            }

            /// An operation on records.
            pub(crate) fn of_keys(
                context: &Arc<Context>,
                verb: Verb,
                keys: &Bound<'_, PyAny>,
                more: &Bound<'_, PyTuple>,
            ) -> PyResult<Self> {
                Ok(Self { chain: Chain::of_keys(context, verb, Keys::of(verb.name(), keys, more)?) })
            }

            fn begin<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: &Bound<'py, PyAny>,
                more: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                let keys = Keys::of(verb.name(), keys, more)?;
                slf.get().chain.lock_py_attached(slf.py()).begin(slf.py(), verb, keys)?;
                Ok(slf.clone())
            }

            /// Adds an operation.
            fn does(&self, py: Python<'_>, method: &str, operation: &BaseOperation) -> PyResult<()> {
                self.chain.lock_py_attached(py).add(py, method, Ops::of(operation))
            }
        }

        verbs!($query => Bound<'py, $segment>);
        verbs!($segment => Bound<'py, Self>);
        chain_methods!($query, $surface);
        chain_methods!($segment, $surface);
        expiring!($segment);
        verbs!($udf => Bound<'py, $segment>);
        chain_methods!($udf, $surface);
        expiring!($udf);
        early_query!($query, $surface);
        early_segment!($segment);
        early_chain!($udf);

        #[pymethods]
        impl $query {
            /// Adds records to read in the same call.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn query<'py>(
                slf: Bound<'py, Self>,
                keys: &Bound<'py, PyAny>,
                more_keys: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                let keys = Keys::of("query", keys, more_keys)?;
                slf.get().chain.lock_py_attached(slf.py()).begin(slf.py(), Verb::Query, keys)?;
                Ok(slf)
            }

            /// Continues the chain with a function to apply to records.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn execute_udf(
                &self,
                py: Python<'_>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$function> {
                $function::follow(py, &self.chain, keys, more_keys)
            }

            /// Reads only these bins: `bins("a", "b")` or `bins(["a", "b"])`.
            #[pyo3(signature = (*bin_names))]
            fn bins<'py>(slf: Bound<'py, Self>, bin_names: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
                let projection = named(bin_names)?;
                slf.get().chain.lock_py_attached(slf.py()).project(slf.py(), projection)?;
                Ok(slf)
            }

            /// Reads no bins, only the generation and the expiration.
            fn with_no_bins(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().chain.lock_py_attached(slf.py()).project(slf.py(), Projection::Nothing)?;
                Ok(slf)
            }

            /// Reads what operations of `aerolane.native` return, instead of bins.
            #[pyo3(signature = (*ops))]
            fn with_op_projection<'py>(slf: Bound<'py, Self>, ops: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
                for op in ops.iter() {
                    let ops = Ops::of(op.cast::<BaseOperation>()?.get());
                    slf.get().chain.lock_py_attached(slf.py()).add(slf.py(), "with_op_projection", ops)?;
                }
                Ok(slf)
            }

            /// Selects a bin to read. The methods of the returned object say how.
            fn bin<'py>(slf: &Bound<'py, Self>, bin_name: &Bound<'py, PyString>) -> PyResult<QueryBinBuilder> {
                QueryBinBuilder::new(slf.as_any(), &slf.get().chain, bin_name)
            }

            /// Reads what a secondary index finds for a `Filter`. Only for queries of a data set, once.
            fn filter<'py>(slf: Bound<'py, Self>, filter_obj: &Bound<'py, Filter>) -> PyResult<Bound<'py, Self>> {
                let (py, filter) = (slf.py(), filter_obj.get().clone());
                slf.get().of_set(py, "filter", |query| {
                    if query.index.replace(filter).is_some() {
                        let text = "a query takes one filter over an index: where() takes other conditions";
                        return Err(errors::invalid_argument(py, text));
                    }
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Sets the preferences of a query of a data set, a `QueryHint`. Only once.
            fn with_hint<'py>(slf: Bound<'py, Self>, hint: &Bound<'py, QueryHint>) -> PyResult<Bound<'py, Self>> {
                let (py, hint) = (slf.py(), hint.get().clone());
                slf.get().of_set(py, "with_hint", |query| {
                    if query.hint.replace(hint).is_some() {
                        let text = "with_hint() can be called once for a query: one QueryHint says all of it";
                        return Err(errors::invalid_argument(py, text));
                    }
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Returns whether the query may read all records of its set if no index serves the text of `where()`. Its
            /// hint decides, otherwise the behavior (`allow_scans_with_where`).
            fn effective_allow_scans_with_where(&self, py: Python<'_>) -> PyResult<bool> {
                let chain = self.chain.lock_py_attached(py);
                match &chain.target {
                    Target::DataSet(query) => Ok(query.allow_scans(&self.chain.context)),
                    Target::Keys { last, .. } => {
                        Ok(self.chain.context.allow_scans_with_where(last.keys.first().get().namespace()))
                    }
                    // It is no query.
                    Target::Background(_) | Target::NoRows => Ok(true),
                    Target::Taken => Err(spent(py)),
                }
            }

            /// Returns how the query finds its records, a `QueryExplanation`: the secondary index that it uses, and
            /// what is left to filter. Does not execute the query. With asyncio, an awaitable. Only for queries of a
            /// data set.
            fn explain(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                selection::explain(py, &self.chain, Surface::$surface)
            }

            /// Reads only these partitions. If the query is about keys, reads only those in these partitions.
            fn partition<'py>(
                slf: Bound<'py, Self>,
                partition_filter: &Bound<'py, PartitionFilter>,
            ) -> PyResult<Bound<'py, Self>> {
                let (first, count) = partition_filter.get().extent();
                slf.get().of_set_or_keys(
                    slf.py(),
                    |query| query.partitions = Some(partition_filter.clone().unbind()),
                    |cut| cut.partitions = Some(first..first.saturating_add(count)),
                )?;
                Ok(slf)
            }

            /// Reads only one partition, 0 to 4095.
            fn on_partition<'py>(slf: Bound<'py, Self>, part_id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let part = whole_number(part_id, "part_id", 0, 4095)? as usize;
                let filter = Py::new(slf.py(), PartitionFilter::range(slf.py(), part, 1)?)?;
                Self::partition(slf, filter.bind(part_id.py()))
            }

            /// Reads only the partitions from `start_incl` up to, but not including, `end_excl`.
            fn on_partition_range<'py>(
                slf: Bound<'py, Self>,
                start_incl: &Bound<'py, PyAny>,
                end_excl: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let py = slf.py();
                let start = whole_number(start_incl, "start_incl", 0, 4095)?;
                let end = whole_number(end_excl, "end_excl", 1, 4096)?;
                if start >= end {
                    let text = format!("the partitions from {start} to before {end} are none: the end is behind the start");
                    return Err(errors::invalid_argument(py, text));
                }
                let filter = Py::new(py, PartitionFilter::range(py, start as usize, (end - start) as usize)?)?;
                Self::partition(slf, filter.bind(py))
            }

            /// Reads at most this many records at a time. `has_more_chunks()` of the stream continues with the next
            /// ones.
            fn chunk_size<'py>(slf: Bound<'py, Self>, chunk_size: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let size = at_least_one(chunk_size, "chunk_size")?;
                slf.get().of_set(slf.py(), "chunk_size", |query| {
                    query.chunk_size = Some(size);
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Reads at most this many records in total. If the query is about keys, reads the first ones of all keys
            /// of the chain.
            fn limit<'py>(slf: Bound<'py, Self>, limit: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let limit = at_least_one(limit, "limit")?;
                slf.get().of_set_or_keys(
                    slf.py(),
                    |query| query.limit = Some(limit),
                    |cut| cut.limit = Some(limit),
                )?;
                Ok(slf)
            }

            /// Reads at most this many records per second from each node. 0 means no limit.
            fn records_per_second<'py>(slf: Bound<'py, Self>, rps: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let rate = whole_number(rps, "rps", 0, i64::from(u32::MAX))? as u32;
                slf.get().of_set(slf.py(), "records_per_second", |query| {
                    query.records_per_second = Some(rate);
                    Ok(())
                })?;
                Ok(slf)
            }
        }

        #[pymethods]
        impl $segment {
            /// Continues the chain with records to read.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn query(
                &self,
                py: Python<'_>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$query> {
                let keys = Keys::of("query", keys, more_keys)?;
                self.chain.lock_py_attached(py).begin(py, Verb::Query, keys)?;
                Ok($query { chain: Shared::clone(&self.chain) })
            }

            /// Continues the chain with a function to apply to records.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn execute_udf(
                &self,
                py: Python<'_>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$function> {
                $function::follow(py, &self.chain, keys, more_keys)
            }

            /// Writes bins, given as a dict. A value of `None` removes its bin.
            fn put<'py>(slf: Bound<'py, Self>, bins: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let ops = Ops::of_bins(bins)?;
                slf.get().chain.lock_py_attached(slf.py()).add(slf.py(), "put", ops)?;
                Ok(slf)
            }

            /// Selects a bin. The methods of the returned object read or change it.
            fn bin<'py>(slf: &Bound<'py, Self>, bin_name: &Bound<'py, PyString>) -> PyResult<WriteBinBuilder> {
                WriteBinBuilder::new(slf.as_any(), &slf.get().chain, bin_name)
            }

            /// Writes a bin. `None` removes it.
            fn set_to<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                value: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                slf.get().does(slf.py(), "set_to", &scalar::set(bin_name, value)?)?;
                Ok(slf)
            }

            /// Adds to an int or float bin. Creates the bin if it is missing.
            fn add<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                value: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let operation = BaseOperation::with_value(aerolane_wire::message::op::INCR, bin_name, value)?;
                slf.get().does(slf.py(), "add", &operation)?;
                Ok(slf)
            }

            /// Appends to a str or bytes bin. Creates the bin if it is missing.
            fn append<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                value: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let operation = BaseOperation::with_value(aerolane_wire::message::op::APPEND, bin_name, value)?;
                slf.get().does(slf.py(), "append", &operation)?;
                Ok(slf)
            }

            /// Prepends to a str or bytes bin. Creates the bin if it is missing.
            fn prepend<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                value: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let operation = BaseOperation::with_value(aerolane_wire::message::op::PREPEND, bin_name, value)?;
                slf.get().does(slf.py(), "prepend", &operation)?;
                Ok(slf)
            }

            /// Reads a bin.
            fn get<'py>(slf: Bound<'py, Self>, bin_name: &Bound<'py, PyString>) -> PyResult<Bound<'py, Self>> {
                slf.get().does(slf.py(), "get", &scalar::get(bin_name)?)?;
                Ok(slf)
            }

            /// Removes a bin.
            fn remove_bin<'py>(slf: Bound<'py, Self>, bin_name: &Bound<'py, PyString>) -> PyResult<Bound<'py, Self>> {
                slf.get().does(slf.py(), "remove_bin", &scalar::remove(bin_name)?)?;
                Ok(slf)
            }

            /// Deletes the record, as one of several operations on it.
            fn delete_record(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().does(slf.py(), "delete_record", &scalar::delete_record())?;
                Ok(slf)
            }

            /// Resets the time to live of the record, as one of several operations on it.
            fn touch_record(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().does(slf.py(), "touch_record", &scalar::touch_record())?;
                Ok(slf)
            }

            /// Evaluates an expression and returns its value under this name. With `ignore_eval_failure`, an expression
            /// that cannot be evaluated returns `None`.
            #[pyo3(signature = (bin_name, expression, *, ignore_eval_failure=false))]
            fn select_from<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                expression: &Bound<'py, PyAny>,
                ignore_eval_failure: bool,
            ) -> PyResult<Bound<'py, Self>> {
                let target = BinTarget::new(&slf.get().chain, bin_name);
                target.check("select_from")?;
                let operation = scalar::select(&target, expression, ignore_eval_failure)?;
                slf.get().does(slf.py(), "select_from", &operation)?;
                Ok(slf)
            }

            /// Makes the current operation fail unless the record has this generation, 1 or more.
            fn ensure_generation_is<'py>(
                slf: Bound<'py, Self>,
                generation: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let generation = kinds::generation(generation)?;
                slf.get().chain.lock_py_attached(slf.py()).expect(slf.py(), generation)?;
                Ok(slf)
            }

            /// Makes `replace` fail for records that do not exist.
            fn replace_only(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().chain.lock_py_attached(slf.py()).replace_only(slf.py())?;
                Ok(slf)
            }
        }

        expression_writes!($segment:
            /// Writes the value of an expression if the bin does not exist. Takes the same flags as
            /// `bin(name).insert_from`.
            insert_from scalar::exp_flags::CREATE_ONLY;
            /// Writes the value of an expression if the bin exists. Takes the same flags as `bin(name).insert_from`.
            update_from scalar::exp_flags::UPDATE_ONLY;
            /// Writes the value of an expression. Takes the same flags as `bin(name).insert_from`.
            upsert_from 0;
        );
    };
}

builders!(
    Async: QueryBuilder named "QueryBuilder", WriteSegmentBuilder named "WriteSegmentBuilder",
    UdfBuilder named "UdfBuilder" from UdfFunctionBuilder named "UdfFunctionBuilder",
    RowWriteBuilder named "RowWriteBuilder" from DataSetWriteBuilder named "DataSetWriteBuilder" in "aerolane"
);
builders!(
    Sync: SyncQueryBuilder named "QueryBuilder", SyncWriteSegmentBuilder named "WriteSegmentBuilder",
    SyncUdfBuilder named "UdfBuilder" from SyncUdfFunctionBuilder named "UdfFunctionBuilder",
    SyncRowWriteBuilder named "RowWriteBuilder" from SyncDataSetWriteBuilder named "DataSetWriteBuilder" in "aerolane.sync"
);
