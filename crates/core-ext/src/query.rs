//! What queries ask for and what they give: aerospike-core's module, with types of ours where our operations and errors are
//! in them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use aerospike_core::Value;
// `Statement`, `Recordset` and `RecordStream` below go before those of the same name in it.
pub use aerospike_core::query::*;
use aerospike_core::{Bins, Record, query as core};
use futures_core::Stream;

use crate::error::{Error, Result};
use crate::operations::{self, Operation};

/// What a query asks for: all records of a set (a scan), or those that a secondary-index filter selects.
///
/// ```
/// use aerolane::{Bins, Statement, query::Filter};
///
/// let mut statement = Statement::new("test", "users", Bins::from(["name", "age"]));
/// statement.set_filter(Filter::range("age", 18, 30));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statement {
    /// Name of the namespace.
    pub namespace: String,
    /// Name of the set; empty: all sets of the namespace.
    pub set_name: String,
    /// The bins that are read of each record.
    pub bins: Bins,
    /// The secondary-index filter; `None`: a scan.
    pub filter: Option<Filter>,
    /// What is done with each record instead of reading `bins`: operations that read in a query, operations that write in
    /// [`query_operate`](crate::Client::query_operate).
    pub operations: Option<Vec<Operation>>,
    function: Option<(String, String, Vec<Value>)>,
}

impl Statement {
    /// A scan of a set.
    pub fn new(namespace: impl Into<String>, set_name: impl Into<String>, bins: Bins) -> Self {
        let (namespace, set_name) = (namespace.into(), set_name.into());
        Self { namespace, set_name, bins, filter: None, operations: None, function: None }
    }

    /// Sets [`operations`](Self::operations).
    pub fn set_operations(&mut self, operations: impl Into<Vec<Operation>>) {
        self.operations = Some(operations.into());
    }

    /// Sets [`filter`](Self::filter).
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = Some(filter);
    }

    #[doc(hidden)] // as in aerospike-core
    pub fn set_aggregate_function(
        &mut self,
        package_name: impl Into<String>,
        function_name: impl Into<String>,
        function_args: &[Value],
    ) {
        self.function = Some((package_name.into(), function_name.into(), function_args.to_vec()));
    }

    /// # Errors
    /// `InvalidArgument` for operations that cannot be sent.
    pub(crate) fn into_core(self) -> Result<core::Statement> {
        let mut statement = core::Statement::new(self.namespace, self.set_name, self.bins);
        statement.filter = self.filter;
        statement.operations = self.operations.as_deref().map(operations::to_core).transpose()?;
        if let Some((package, function, args)) = &self.function {
            statement.set_aggregate_function(package, function, args);
        }
        Ok(statement)
    }
}

/// The records of a query. Dropping it ends the query.
///
/// Records come at least once: after an early [`close`](Self::close), another query can go on from
/// [`partition_filter`](Self::partition_filter).
pub struct Recordset(Arc<core::Recordset>);

impl Recordset {
    pub(crate) fn new(records: Arc<core::Recordset>) -> Arc<Self> {
        Arc::new(Self(records))
    }

    /// Ends the query. Records that have arrived can still be read.
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether the query is under way.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.0.is_active()
    }

    /// Where to go on with another query; `None` while this one is under way.
    #[must_use]
    pub fn partition_filter(&self) -> Option<PartitionFilter> {
        self.0.partition_filter()
    }

    /// The records as a stream. A failure of one node is an item of its own; items of other nodes may follow it.
    #[must_use]
    pub fn into_stream(self: Arc<Self>) -> RecordStream {
        RecordStream { stream: Arc::clone(&self.0).into_stream(), records: self }
    }
}

impl fmt::Debug for Recordset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recordset").field("active", &self.is_active()).finish_non_exhaustive()
    }
}

/// The stream of [`Recordset::into_stream`].
pub struct RecordStream {
    stream: core::RecordStream,
    records: Arc<Recordset>,
}

impl RecordStream {
    /// Where to go on with another query; `None` while this one is under way.
    #[must_use]
    pub fn partition_filter(&self) -> Option<PartitionFilter> {
        self.stream.partition_filter()
    }
}

impl AsRef<Recordset> for RecordStream {
    fn as_ref(&self) -> &Recordset {
        &self.records
    }
}

impl Stream for RecordStream {
    type Item = Result<Record>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.stream).poll_next(cx).map(|record| record.map(|record| record.map_err(Error::from)))
    }
}

impl fmt::Debug for RecordStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordStream").field(&self.records).finish()
    }
}
