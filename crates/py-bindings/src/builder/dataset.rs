//! The query of a data set.

use std::sync::Arc;

use aerolane::ael::select::Index;
use aerolane::raw::RawQuery;
use aerolane_wire::message::{field, info1};
use aerospike_core::expressions::Expression;
use aerospike_core::{BasePolicy, QueryDuration, QueryPolicy, Replica};
use pyo3::prelude::*;

use super::chain::{Projection, writes_in_query};
use super::context::Context;
use super::hint::QueryHint;
use super::ops::Ops;
use super::selection::Wanted;
use crate::ael::Text;
use crate::errors;
use crate::query::PartitionFilter;
use crate::query::filter::Filter;
use crate::query::statement::QuerySpec;

/// What is asked of a data set.
pub(super) struct Query {
    namespace: Box<str>,
    set: Box<str>,
    pub(super) projection: Projection,
    pub(super) ops: Ops,
    /// A range of a secondary index.
    pub(super) index: Option<Filter>,
    pub(super) filter_expression: Option<Box<Expression>>,
    /// The text that this expression comes from.
    pub(super) text: Option<Arc<Text>>,
    pub(super) hint: Option<QueryHint>,
    pub(super) partitions: Option<Py<PartitionFilter>>,
    pub(super) chunk_size: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) records_per_second: Option<u32>,
    pub(super) duration: Option<QueryDuration>,
    pub(super) replica: Option<Replica>,
    /// The indexes that may serve its text, in place of those that the cluster has.
    pub(super) indexes: Option<Vec<Index>>,
    /// In place of the policy of the behavior.
    pub(super) given: Option<Arc<QueryPolicy>>,
    /// In place of what this policy has in common with others.
    pub(super) base: Option<Box<BasePolicy>>,
    /// What the servers do with the records in the background.
    pub(super) writes: Option<Box<Ops>>,
}

impl Query {
    pub(super) fn new(namespace: &str, set: &str) -> Self {
        Self {
            namespace: namespace.into(),
            set: set.into(),
            projection: Projection::All,
            ops: Ops::default(),
            index: None,
            filter_expression: None,
            text: None,
            hint: None,
            partitions: None,
            chunk_size: None,
            limit: None,
            records_per_second: None,
            duration: None,
            replica: None,
            indexes: None,
            given: None,
            base: None,
            writes: None,
        }
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Namespace and set.
    pub(super) fn names(&self) -> (&str, &str) {
        (&self.namespace, &self.set)
    }

    /// What was said of it that only reading has, by the name of a method that says so.
    pub(super) fn only_reads(&self) -> Option<&'static str> {
        let said = [
            (!matches!(self.projection, Projection::All), "bins"),
            (!self.ops.is_empty(), "bin"),
            (self.hint.is_some(), "with_hint"),
            (self.partitions.is_some(), "partition"),
            (self.chunk_size.is_some(), "chunk_size"),
            (self.limit.is_some(), "limit"),
            (self.given.is_some(), "with_policy"),
        ];
        said.into_iter().find_map(|(said, method)| said.then_some(method))
    }

    /// Has it carry out operations on each record, in place of reading bins.
    pub(super) fn add(&mut self, py: Python<'_>, method: &str, ops: Ops) -> PyResult<()> {
        if ops.asked.writes {
            return Err(writes_in_query(py, method));
        }
        if !matches!(self.projection, Projection::All) {
            let text = "bins() and with_no_bins() exclude bin(name): use bin(name).get() for each bin that is read";
            return Err(errors::invalid_argument(py, text));
        }
        self.ops.add(py, ops)
    }

    /// The most records in all; `None`: all there are.
    pub(super) fn most(&self) -> Option<u64> {
        let of_policy = self.given.as_ref().map(|policy| policy.max_records).filter(|most| *most > 0);
        self.limit.or(of_policy)
    }

    /// What its requests say.
    pub(super) fn asked(&self) -> QuerySpec {
        let mut query = RawQuery::new(&*self.namespace);
        if !self.set.is_empty() {
            query = query.field(field::SET, self.set.as_bytes());
        }
        if let Some(index) = &self.index {
            query = index.add(query);
        }
        let operate = !self.ops.is_empty();
        if operate {
            query = query.ops(self.ops.raw.clone());
            if self.ops.asked.reads & info1::NO_BIN_DATA != 0 {
                query = query.without_bins();
            }
        }
        query = match &self.projection {
            Projection::All => query,
            Projection::Named(names) => query.ops(names.raw.clone()),
            Projection::Nothing => query.without_bins(),
        };
        QuerySpec { query, operate, names: (self.namespace.to_string(), self.set.to_string()) }
    }

    /// What an index may serve; `None`: nothing, or the index has been said.
    pub(super) fn wanted(&self, context: &Context) -> Option<Wanted> {
        let text = self.text.as_ref().filter(|_| self.index.is_none())?;
        Some(Wanted {
            text: Arc::clone(text),
            names: (self.namespace.to_string(), self.set.to_string()),
            hint: self.hint.clone(),
            allow_scans: self.allow_scans(context),
            server: context.oldest_server(),
            given: self.indexes.clone(),
        })
    }

    /// Whether it may read all records when no index serves its text.
    pub(super) fn allow_scans(&self, context: &Context) -> bool {
        let of_hint = self.hint.as_ref().and_then(|hint| hint.allow_scans_with_where);
        of_hint.unwrap_or_else(|| context.allow_scans_with_where(&self.namespace))
    }

    /// Why its hint cannot be followed, whatever indexes there are.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        if !self.hint.as_ref().is_some_and(|hint| hint.hard_hint) {
            return None;
        }
        match (&self.index, &self.text) {
            (Some(_), _) => {
                Some("filter() chooses the index itself: a hard_hint goes with where(\"..\") and without it")
            }
            (None, None) => Some("a hard_hint needs a text that an index can serve: where(\"$.age > 30\")"),
            (None, Some(_)) => None,
        }
    }

    /// The policy that was given, or else that of the behavior, with what was said here.
    pub(super) fn policy(&self, policy: Arc<QueryPolicy>, default_filter: Option<Expression>) -> Arc<QueryPolicy> {
        let mut policy = self.given.clone().unwrap_or(policy);
        let changed = Arc::make_mut(&mut policy);
        if let Some(base) = &self.base {
            changed.base_policy = BasePolicy::clone(base);
        }
        if let Some(filter) = self.filter_expression.as_deref().cloned().or(default_filter) {
            changed.base_policy.filter_expression = Some(filter);
        }
        if let Some(duration) = self.duration.or_else(|| self.hint.as_ref().and_then(QueryHint::duration)) {
            changed.expected_duration = duration;
        }
        if let Some(replica) = self.replica {
            changed.base_policy.replica = replica;
        }
        if let Some(rate) = self.records_per_second {
            changed.records_per_second = rate;
        }
        policy
    }
}
