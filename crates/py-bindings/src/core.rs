//! What the objects of one Python client share.

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use aerolane::raw::RawClient;
use aerospike_core::{ReadPolicy, WritePolicy};
use arc_swap::ArcSwap;
use pyo3::exceptions::PyResourceWarning;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, ffi};

use crate::host::Lanes;
use crate::metrics::Exporters;
use crate::query::indexes::Indexes;
use crate::system::TransactionRules;
use crate::{errors, fork};

/// Where a client was made, for the warning about one that nobody closed.
pub(crate) struct Origin {
    /// An object without a use but that it was made there: tracemalloc, if it traces, knows where.
    made: Py<PyAny>,
    seeds: CString,
}

impl Origin {
    /// Here: to be made while the caller's frame runs.
    pub(crate) fn here(py: Python<'_>, seeds: &str) -> PyResult<Self> {
        let made = PyAny::type_object(py).call0()?.unbind();
        Ok(Self { made, seeds: CString::new(seeds.replace('\0', "?"))? })
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { made: self.made.clone_ref(py), seeds: self.seeds.clone() }
    }

    /// Warns of a client that was dropped without having been closed, as asyncio and aiohttp do of theirs.
    #[cold]
    fn warn(&self) {
        // Without an interpreter (it is ending) there is nobody to warn.
        Python::try_attach(|py| {
            // It may be dropped while an exception is on its way, which stays what it is.
            let pending = PyErr::take(py);
            // SAFETY: the GIL is held, the source is an object, and the format takes one C string, which it gets. The
            // API's own `PyErr::warn` cannot name a source.
            let raised = unsafe {
                let text = c"unclosed client of %s (close it, or use it as a context manager)".as_ptr();
                ffi::PyErr_ResourceWarning(self.made.as_ptr(), 1, text, self.seeds.as_ptr()) < 0
            };
            if raised && let Some(error) = PyErr::take(py) {
                error.write_unraisable(py, Some(&PyResourceWarning::type_object(py)));
            }
            if let Some(pending) = pending {
                pending.restore(py);
            }
        });
    }
}

/// One cluster, and the lanes of the event loops that use it.
pub(crate) struct ClientCore {
    pub(crate) raw: ManuallyDrop<RawClient>,
    pub(crate) lanes: Lanes,
    /// The secondary indexes.
    pub(crate) indexes: Indexes,
    /// Who gets its metrics.
    pub(crate) exporters: ManuallyDrop<Exporters>,
    transactions: ArcSwap<TransactionRules>,
    /// As it was when the client was made.
    forks: u32,
    /// `None` for a client that cannot be closed.
    origin: Option<Origin>,
}

impl ClientCore {
    pub(crate) fn new(raw: RawClient, origin: Option<Origin>) -> Arc<Self> {
        fork::watch();
        Arc::new(Self {
            raw: ManuallyDrop::new(raw),
            lanes: Lanes::default(),
            indexes: Indexes::default(),
            exporters: ManuallyDrop::default(),
            transactions: ArcSwap::default(),
            forks: fork::forks(),
            origin,
        })
    }

    /// The policy of a read of one record that is in force in the place of the given one: with what the configuration file
    /// of the client says over it.
    #[inline]
    pub(crate) fn reads_by(&self, policy: Arc<ReadPolicy>) -> Arc<ReadPolicy> {
        self.raw.overlay().read(&policy).unwrap_or(policy)
    }

    /// As [`reads_by`](Self::reads_by), of a write.
    #[inline]
    pub(crate) fn writes_by(&self, policy: Arc<WritePolicy>) -> Arc<WritePolicy> {
        self.raw.overlay().write(&policy).unwrap_or(policy)
    }

    /// How sessions carry out transactions of their own, as of now: it may change while the client is open.
    pub(crate) fn transaction_rules(&self) -> TransactionRules {
        **self.transactions.load()
    }

    /// Changes how sessions carry out transactions of their own.
    pub(crate) fn set_transaction_rules(&self, rules: TransactionRules) {
        self.transactions.store(Arc::new(rules));
    }

    /// Whether the client belongs to a process that this one was forked from. Nothing of it may be used then: its
    /// threads do not exist here, its locks may be held for ever, and its sockets are the parent's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.forks != fork::forks()
    }

    /// Whether the client is connected. In a forked child it is not.
    pub(crate) fn is_connected(&self) -> bool {
        !self.is_foreign() && self.raw.asynchronous().is_connected()
    }

    /// Open or closed, for texts.
    pub(crate) fn state(&self) -> &'static str {
        match () {
            () if self.is_foreign() => "of the parent process",
            () if self.raw.cluster().is_closed() => "closed",
            () => "open",
        }
    }

    /// Whether a namespace is in strong-consistency mode, by the partition map; `None`: there is no such namespace.
    pub(crate) fn mode(&self, namespace: &str) -> Option<bool> {
        self.raw.cluster().strong_consistency(namespace)
    }

    /// Refuses a call of a client that is closed, or in a forked child.
    pub(crate) fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        self.check(py)?;
        if self.raw.cluster().is_closed() {
            return Err(errors::to_py(py, &aerolane::Error::client_closed()));
        }
        Ok(())
    }

    /// Refuses a call in a forked child.
    #[inline]
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_foreign() { Err(forked(py)) } else { Ok(()) }
    }
}

#[cold]
fn forked(py: Python<'_>) -> PyErr {
    let text = "the client was made before this process was forked, and belongs to the parent process: make a new one in \
                the child (for example in gunicorn's post_fork, or multiprocessing's initializer)";
    errors::to_py(py, &aerolane::Error::client_error(text))
}

impl Drop for ClientCore {
    fn drop(&mut self) {
        // SAFETY: dropped once, here.
        let raw = unsafe { ManuallyDrop::take(&mut self.raw) };
        if self.is_foreign() {
            // Closing would wait for threads that are not here.
            raw.forget_after_fork();
            // Its locks may be held for ever.
            return;
        }
        // SAFETY: dropped once, here.
        drop(unsafe { ManuallyDrop::take(&mut self.exporters) });
        if let Some(origin) = self.origin.as_ref().filter(|_| !raw.cluster().is_closed()) {
            origin.warn();
        }
    }
}
