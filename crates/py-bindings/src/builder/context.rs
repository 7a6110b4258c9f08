//! What a session is, to those who carry something out for it: a cluster, and the policies of a behavior.

use std::sync::Arc;

use aerolane::ael::{self, Version};
use aerospike_core::{BasePolicy, BatchPolicy, QueryPolicy, ReadPolicy, Txn, WritePolicy};
use arc_swap::ArcSwapOption;
use pyo3::prelude::*;

use crate::behavior::{Behavior, OpKind};
use crate::core::ClientCore;
use crate::key::Key;
use crate::txn;

/// A cluster, and the policies of a behavior.
pub(crate) struct Context {
    pub(crate) core: Arc<ClientCore>,
    pub(crate) behavior: Py<Behavior>,
    points: Points,
    /// In the place of these once a configuration file has changed the behavior.
    changed: ArcSwapOption<Points>,
    /// What its calls belong to.
    pub(crate) txn: Option<Arc<Txn>>,
    /// The client or cluster that opened the session.
    pub(crate) opened_by: Option<Py<PyAny>>,
}

/// The policies of calls about one record.
struct Points {
    /// Of the behavior that they were made from.
    generation: u64,
    read: ByMode<ReadPolicy>,
    write: ByMode<WritePolicy>,
}

impl Points {
    fn of(behavior: &Behavior, txn: Option<&Arc<Txn>>) -> Self {
        // Before the settings: what changes in between is seen as a change.
        let generation = behavior.generation();
        let settings = behavior.policies();
        let of_txn = |base: &mut BasePolicy| base.txn = txn.cloned();
        let read = [false, true].map(|consistent| {
            let mut policy = ReadPolicy::clone(&settings.read_point(consistent));
            of_txn(&mut policy.base_policy);
            policy
        });
        let write = [false, true].map(|consistent| {
            let mut policy = WritePolicy::clone(&settings.write_point(consistent));
            of_txn(&mut policy.base_policy);
            policy
        });
        let ([read_ap, read_sc], [write_ap, write_sc]) = (read, write);
        Self { generation, read: ByMode::new(read_ap, read_sc), write: ByMode::new(write_ap, write_sc) }
    }
}

/// A policy for namespaces that are available in partitions, and one for those that are strongly consistent.
struct ByMode<P> {
    available: Arc<P>,
    consistent: Arc<P>,
    /// They are alike: no need to look.
    alike: bool,
}

impl<P: PartialEq + Clone> ByMode<P> {
    /// Takes copies: every call counts a reference, and sessions of several threads must not count on one cache line.
    fn new(available: P, consistent: P) -> Self {
        let alike = available == consistent;
        Self { available: Arc::new(available), consistent: Arc::new(consistent), alike }
    }

    #[inline]
    fn of(&self, core: &ClientCore, namespace: &str) -> Arc<P> {
        let consistent = !self.alike && core.mode(namespace) == Some(true);
        Arc::clone(if consistent { &self.consistent } else { &self.available })
    }
}

impl Context {
    /// The version of the oldest active node; `None` while none is known.
    pub(crate) fn oldest_server(&self) -> Option<Version> {
        self.core.raw.asynchronous().core().nodes().iter().map(|node| ael::version(node.version())).min()
    }

    /// Of a session that `opened_by` opens, with the policies of a behavior (`None`: the default one).
    pub(crate) fn new(
        py: Python<'_>,
        core: &Arc<ClientCore>,
        opened_by: Option<Py<PyAny>>,
        behavior: Option<Py<Behavior>>,
    ) -> PyResult<Arc<Self>> {
        Self::with(py, core, opened_by, behavior, None)
    }

    /// Of the same client, with the policies of another behavior, for calls that belong to `txn`.
    pub(crate) fn derived(&self, py: Python<'_>, behavior: Py<Behavior>, txn: Option<Arc<Txn>>) -> PyResult<Arc<Self>> {
        let opened_by = self.opened_by.as_ref().map(|client| client.clone_ref(py));
        Self::with(py, &self.core, opened_by, Some(behavior), txn)
    }

    fn with(
        py: Python<'_>,
        core: &Arc<ClientCore>,
        opened_by: Option<Py<PyAny>>,
        behavior: Option<Py<Behavior>>,
        txn: Option<Arc<Txn>>,
    ) -> PyResult<Arc<Self>> {
        let behavior = Behavior::in_force(py, behavior.as_ref().map(|behavior| behavior.bind(py)))?;
        let points = Points::of(behavior.get(), txn.as_ref());
        let changed = ArcSwapOption::empty();
        Ok(Arc::new(Self { core: Arc::clone(core), behavior, points, changed, txn, opened_by }))
    }

    /// Refuses calls that would belong to a transaction that has ended.
    ///
    /// # Errors
    /// As [`txn::check_open`].
    #[inline]
    pub(crate) fn check_txn(&self, py: Python<'_>) -> PyResult<()> {
        self.txn.as_deref().map_or(Ok(()), |txn| txn::check_open(py, txn))
    }

    /// What `take` takes of the policies of calls about one record, which are those of the behavior as of now.
    #[inline]
    fn of_points<P>(&self, take: impl FnOnce(&Points) -> P) -> P {
        if self.behavior.get().generation() == self.points.generation {
            return take(&self.points);
        }
        self.of_changed_points(take)
    }

    #[cold]
    fn of_changed_points<P>(&self, take: impl FnOnce(&Points) -> P) -> P {
        let behavior = self.behavior.get();
        let present = self.changed.load();
        if let Some(points) = present.as_ref().filter(|points| points.generation == behavior.generation()) {
            return take(points);
        }
        let points = Arc::new(Points::of(behavior, self.txn.as_ref()));
        self.changed.store(Some(Arc::clone(&points)));
        take(&points)
    }

    /// The policy of reads of a record.
    #[inline]
    pub(crate) fn read(&self, key: &Key) -> Arc<ReadPolicy> {
        self.of_points(|points| points.read.of(&self.core, key.namespace()))
    }

    /// The policy of writes of a record.
    #[inline]
    pub(crate) fn write(&self, key: &Key) -> Arc<WritePolicy> {
        self.write_in(key.namespace())
    }

    /// The policy of writes of the records of a namespace.
    #[inline]
    pub(crate) fn write_in(&self, namespace: &str) -> Arc<WritePolicy> {
        self.of_points(|points| points.write.of(&self.core, namespace))
    }

    /// What batches do with each record that they write.
    pub(super) fn write_of_batch(&self, key: &Key) -> Arc<WritePolicy> {
        let consistent = self.core.mode(key.namespace()) == Some(true);
        self.behavior.get().policies().write_of_batch(consistent)
    }

    /// The policy of batches in a namespace. `txn`: what they belong to.
    pub(super) fn batch(&self, namespace: &str, writes: bool, txn: Option<&Arc<Txn>>) -> Arc<BatchPolicy> {
        let consistent = self.core.mode(namespace) == Some(true);
        let kind = if writes { OpKind::WriteNonRetryable } else { OpKind::Read };
        let mut policy = self.behavior.get().policies().batch(kind, consistent);
        if let Some(txn) = txn {
            Arc::make_mut(&mut policy).base_policy.txn = Some(Arc::clone(txn));
        }
        policy
    }

    /// Whether queries of a namespace may read all records when no index serves their text.
    pub(super) fn allow_scans_with_where(&self, namespace: &str) -> bool {
        let consistent = self.core.mode(namespace) == Some(true);
        self.behavior.get().policies().allow_scans_with_where(consistent)
    }

    /// The policy of queries of a namespace.
    pub(super) fn query(&self, namespace: &str) -> Arc<QueryPolicy> {
        let consistent = self.core.mode(namespace) == Some(true);
        self.behavior.get().policies().query(consistent)
    }

    /// The policy of writes to all records of a set, in the background.
    pub(super) fn background(&self, namespace: &str) -> WritePolicy {
        let consistent = self.core.mode(namespace) == Some(true);
        self.behavior.get().policies().write_query(consistent)
    }
}
