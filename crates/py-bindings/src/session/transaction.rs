//! Sessions whose calls belong to a transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerospike_core as core;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::retrying::{self, Plan, TransactionRun};
use super::session::{Common, Session, SyncSession};
use crate::builder::context::Context;
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::host;
use crate::policy::enums::{Named, python_enum};
use crate::txn::commands::{self, Ended};
use crate::txn::{self, Txn};

/// How a transaction has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Committed,
    Aborted,
    AlreadyCommitted,
    AlreadyAborted,
    RollForwardCloseAbandoned,
    RollBackAbandoned,
    RollBackCloseAbandoned,
}

python_enum! {
    /// How a transaction has ended: what `commit` and `abort` of a `TransactionalSession` give.
    ///
    /// COMMITTED, ABORTED: it is done. ALREADY_COMMITTED, ALREADY_ABORTED: it was done before.
    /// ROLL_FORWARD_CLOSE_ABANDONED, ROLL_BACK_CLOSE_ABANDONED: it is done, but the server must clean up.
    /// ROLL_BACK_ABANDONED: the server will bring the abort to its end.
    "TxnStatus": Status {
        COMMITTED = "committed" => Self::Committed, ABORTED = "aborted" => Self::Aborted,
        ALREADY_COMMITTED = "already_committed" => Self::AlreadyCommitted,
        ALREADY_ABORTED = "already_aborted" => Self::AlreadyAborted,
        ROLL_FORWARD_CLOSE_ABANDONED = "roll_forward_close_abandoned" => Self::RollForwardCloseAbandoned,
        ROLL_BACK_ABANDONED = "roll_back_abandoned" => Self::RollBackAbandoned,
        ROLL_BACK_CLOSE_ABANDONED = "roll_back_close_abandoned" => Self::RollBackCloseAbandoned,
    }
}

impl From<Ended> for Status {
    fn from(ended: Ended) -> Self {
        use crate::txn::enums::{AbortOutcome, CommitOutcome};
        match ended {
            Ended::Committed(CommitOutcome::AlreadyCommitted) => Self::AlreadyCommitted,
            Ended::Committed(CommitOutcome::CloseAbandoned) => Self::RollForwardCloseAbandoned,
            Ended::Committed(CommitOutcome::Ok | CommitOutcome::RollForwardAbandoned) => Self::Committed,
            Ended::Aborted(AbortOutcome::AlreadyAborted) => Self::AlreadyAborted,
            Ended::Aborted(AbortOutcome::RollBackAbandoned) => Self::RollBackAbandoned,
            Ended::Aborted(AbortOutcome::CloseAbandoned) => Self::RollBackCloseAbandoned,
            Ended::Aborted(AbortOutcome::Ok | AbortOutcome::CommitFailed) => Self::Aborted,
        }
    }
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    Abort,
}

/// The transaction of a session.
pub(super) struct Ending {
    txn: Py<Txn>,
    context: Arc<Context>,
    /// Its block has been entered.
    entered: AtomicBool,
    /// It is left to the server, or to the caller.
    alone: AtomicBool,
}

impl Ending {
    fn core(&self) -> &Arc<ClientCore> {
        &self.context.core
    }

    /// The end, as a command whose result `made` makes. The policies of a behavior apply.
    fn command<F>(&self, py: Python<'_>, end: End, made: F) -> impl Executable + use<F>
    where
        F: FnOnce(Python<'_>, Status) -> PyResult<Py<PyAny>> + Send + 'static,
    {
        let settings = self.context.behavior.get().policies();
        let (verify, roll) = (settings.txn_verify_policy(), settings.txn_roll_policy());
        let (client, txn) = (self.core().raw.asynchronous(), self.txn.bind(py).get().shared());
        Control {
            future: async move {
                match end {
                    End::Commit => commands::committing(&client, &txn, &verify, &roll).await,
                    End::Abort => commands::aborting(&client, &txn, &roll).await,
                }
            },
            convert: move |py: Python<'_>, ended: Ended| made(py, ended.into()),
        }
    }

    /// The end that the program asks for.
    ///
    /// # Errors
    /// `TransactionError`: it has ended the other way. Once more the same way gives a status.
    fn asked(&self, py: Python<'_>, end: End) -> PyResult<impl Executable + use<>> {
        let txn = self.txn.get().shared();
        let other = match end {
            End::Commit => core::TxnState::Aborted,
            End::Abort => core::TxnState::Committed,
        };
        if txn.state() == other {
            txn::check_open(py, &txn)?;
        }
        Ok(self.command(py, end, |py, status| status.to_python(py)))
    }

    /// The beginning of a block: there is one for a transaction.
    ///
    /// # Errors
    /// `TransactionError`: it has ended. `RuntimeError`: its block has been entered before.
    fn enter(&self, py: Python<'_>) -> PyResult<()> {
        txn::check_open(py, &self.txn.get().shared())?;
        if self.entered.swap(true, Ordering::Relaxed) {
            let text = "this transaction's block is entered already; session.transaction() begins another transaction";
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(())
    }

    /// The end of a block: an exception takes the writes back, unless the transaction is over, or a commit has failed in
    /// doubt: then it cannot be aborted, and the exception is what the caller has to know.
    fn leave(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> PyResult<Option<impl Executable + use<>>> {
        let failed = exception.get_item(0).is_ok_and(|kind| !kind.is_none());
        let in_doubt = self.txn.get().shared().state() == core::TxnState::CommitFailed;
        let open = self.is_active(py) && !(failed && in_doubt);
        let end = if failed { End::Abort } else { End::Commit };
        Ok(open.then(|| self.command(py, end, |py, _| Ok(false.into_pyobject(py)?.to_owned().into_any().unbind()))))
    }

    pub(super) fn is_active(&self, py: Python<'_>) -> bool {
        !self.txn.bind(py).get().is_over()
    }

    /// The commit, to be awaited.
    pub(super) fn commit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.command(py, End::Commit, |py, status| status.to_python(py)).start(py, self.core())
    }

    /// The abort, to be awaited.
    pub(super) fn abort(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.command(py, End::Abort, |py, status| status.to_python(py)).start(py, self.core())
    }

    pub(super) fn commit_blocking(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.command(py, End::Commit, |py, status| status.to_python(py)).block(py, self.core())
    }

    pub(super) fn abort_blocking(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.command(py, End::Abort, |py, status| status.to_python(py)).block(py, self.core())
    }

    /// Its end is not ours any more.
    pub(super) fn leave_alone(&self) {
        self.alone.store(true, Ordering::Relaxed);
    }

    /// Takes the writes back without anybody who waits for it, unless the transaction is over.
    pub(super) fn abandon(&self, py: Python<'_>) {
        let core = self.core();
        if self.alone.load(Ordering::Relaxed) || !self.is_active(py) || core.is_foreign() {
            return;
        }
        let roll = self.context.behavior.get().policies().txn_roll_policy();
        let (client, txn) = (core.raw.asynchronous(), self.txn.get().shared());
        // Without an answer to give; the server takes it back otherwise, once its time is over.
        core.raw.spawn(async move { drop(commands::aborting(&client, &txn, &roll).await) });
    }
}

/// Defines a class of sessions in a transaction.
macro_rules! transactional {
    (
        $(#[$meta:meta])* $class:ident extends $session:ident;
        commit: $(#[$commit:meta])*; abort: $(#[$abort:meta])*; run $run:ident
    ) => {
        $(#[$meta])*
        pub(crate) struct $class(Ending);

        impl $class {
            /// A session in a new transaction, with the behavior of another session.
            pub(super) fn of(py: Python<'_>, context: &Context) -> PyResult<Py<Self>> {
                let txn = Py::new(py, Txn::open())?;
                let shared = txn.get().shared();
                let context = context.derived(py, context.behavior.clone_ref(py), Some(shared))?;
                let base = $session(Common::of(Arc::clone(&context)));
                Py::new(py, (Self(Ending { txn, context, entered: AtomicBool::new(false), alone: AtomicBool::new(false) }), base))
            }

            pub(super) fn ending(&self) -> &Ending {
                &self.0
            }
        }

        #[pymethods]
        impl $class {
            /// The transaction.
            #[getter]
            fn txn(&self, py: Python<'_>) -> Py<Txn> {
                self.0.txn.clone_ref(py)
            }

            /// Returns the transaction, or `None` if it has ended. For code written for the first versions of the
            /// Aerospike SDK.
            fn get_current_transaction(&self, py: Python<'_>) -> Option<Py<Txn>> {
                self.0.is_active(py).then(|| self.txn(py))
            }

            /// Whether the transaction has not ended.
            #[getter]
            fn active(&self, py: Python<'_>) -> bool {
                self.0.is_active(py)
            }

            $(#[$commit])*
            fn commit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                $run(py, "commit", self.0.core(), |py| self.0.asked(py, End::Commit))
            }

            $(#[$abort])*
            fn abort(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                $run(py, "abort", self.0.core(), |py| self.0.asked(py, End::Abort))
            }

            /// Same as `abort`. For code written for the first versions of the Aerospike SDK.
            fn rollback(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.abort(py)
            }
        }
    };
}

fn start<T: Executable>(
    py: Python<'_>,
    name: &'static str,
    core: &Arc<ClientCore>,
    command: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> PyResult<Py<PyAny>> {
    host::at_await(py, name, || command(py)?.start(py, core))
}

fn block<T: Executable>(
    py: Python<'_>,
    _name: &'static str,
    core: &Arc<ClientCore>,
    command: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> PyResult<Py<PyAny>> {
    command(py)?.block(py, core)
}

transactional! {
    /// A session whose calls belong to one transaction (Enterprise Edition, namespaces in strong-consistency mode): all calls
    /// about records, and all builders that do not say `with_txn(..)`; queries of data sets do not.
    ///
    /// `async with session.transaction() as session:` commits at the end of the block, and takes all writes back when an
    /// exception leaves it. After that, its calls raise `TransactionError` with the code `TXN_ALREADY_COMMITTED` or
    /// `TXN_ALREADY_ABORTED`.
    #[pyclass(frozen, extends = Session, module = "aerolane")]
    TransactionalSession extends Session;
    commit:
    /// Verifies what was read, and makes the writes visible. Awaitable of a `TxnStatus`.
    ///
    /// Raises `CommitError` if it cannot be committed, and `TransactionError` if it was aborted.
    ;
    abort:
    /// Takes the writes back. Awaitable of a `TxnStatus`.
    ///
    /// Raises `TransactionError` if it was committed, or if a commit has failed in doubt.
    ;
    run start
}

transactional! {
    /// A session whose calls belong to one transaction (Enterprise Edition, namespaces in strong-consistency mode): all calls
    /// about records, and all builders that do not say `with_txn(..)`; queries of data sets do not.
    ///
    /// `with session.transaction() as session:` commits at the end of the block, and takes all writes back when an exception
    /// leaves it. After that, its calls raise `TransactionError` with the code `TXN_ALREADY_COMMITTED` or
    /// `TXN_ALREADY_ABORTED`.
    #[pyclass(frozen, extends = SyncSession, name = "TransactionalSession", module = "aerolane.sync")]
    SyncTransactionalSession extends SyncSession;
    commit:
    /// Verifies what was read, and makes the writes visible; gives a `TxnStatus`.
    ///
    /// Raises `CommitError` if it cannot be committed, and `TransactionError` if it was aborted.
    ;
    abort:
    /// Takes the writes back; gives a `TxnStatus`.
    ///
    /// Raises `TransactionError` if it was committed, or if a commit has failed in doubt.
    ;
    run block
}

#[pymethods]
impl TransactionalSession {
    /// Calls `operation` with this session, and is an awaitable of what it returns. It joins the current transaction,
    /// and does not end it. Raises `TransactionError` if the transaction has ended.
    #[pyo3(signature = (operation, *, max_attempts=None, sleep_between_retries=None))]
    fn do_in_transaction(
        slf: &Bound<'_, Self>,
        operation: &Bound<'_, PyAny>,
        max_attempts: Option<&Bound<'_, PyAny>>,
        sleep_between_retries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (py, context) = (slf.py(), &slf.get().0.context);
        host::at_await(py, "do_in_transaction", || {
            context.check_txn(py)?;
            let plan = Plan::of(&context.core, max_attempts, sleep_between_retries)?;
            let run = TransactionRun::joining(context, operation, plan, slf.clone().unbind())?;
            Ok(Py::new(py, run)?.into_any())
        })
    }

    fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "__aenter__", || {
            slf.get().0.enter(py)?;
            host::ready(py, slf.into_any())
        })
    }

    #[pyo3(signature = (*exception))]
    fn __aexit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match self.0.leave(py, exception)? {
            Some(command) => start(py, "__aexit__", self.0.core(), |_| Ok(command)),
            None => host::ready(py, false.into_pyobject(py)?.to_owned().into_any().unbind()),
        }
    }
}

#[pymethods]
impl SyncTransactionalSession {
    /// Calls `operation` with this session, and returns what it returns. It joins the current transaction, and does not
    /// end it. Raises `TransactionError` if the transaction has ended.
    #[pyo3(signature = (operation, *, max_attempts=None, sleep_between_retries=None))]
    fn do_in_transaction(
        slf: &Bound<'_, Self>,
        operation: &Bound<'_, PyAny>,
        max_attempts: Option<&Bound<'_, PyAny>>,
        sleep_between_retries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        slf.get().0.context.check_txn(slf.py())?;
        Plan::of(slf.get().0.core(), max_attempts, sleep_between_retries)?;
        retrying::check_callable(operation)?;
        let result = operation.call1((slf,))?;
        retrying::check_plain(&result)?;
        Ok(result.unbind())
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().0.enter(py)?;
        Ok(slf)
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Some(command) = self.0.leave(py, exception)? {
            block(py, "__exit__", self.0.core(), |_| Ok(command))?;
        }
        Ok(false)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    Status::class(py)?.setattr("__module__", "aerolane")?; // where pickle finds it
    module.add(Status::NAME, Status::class(py)?)?;
    module.add_class::<TransactionalSession>()?;
    module.add("SyncTransactionalSession", py.get_type::<SyncTransactionalSession>())
}
