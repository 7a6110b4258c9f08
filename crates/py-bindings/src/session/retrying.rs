//! `do_in_transaction`: a function of the caller, carried out in a transaction, and once more when it met another one.
//!
//! [`blocking`] calls it on the calling thread. For asyncio, [`TransactionRun`] is a coroutine that goes through the same
//! steps, each of which is an awaitable: the caller's own, the commit or abort, and the pause.

use std::sync::Arc;
use std::time::Duration;

use aerolane::sync::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::iterator::PySendResult;
use pyo3::types::{PyBool, PyDelta, PyIterator};

use super::transaction::{SyncTransactionalSession, TransactionalSession};
use crate::builder::context::Context;
use crate::command::block_on;
use crate::core::ClientCore;
use crate::errors;
use crate::policy::kinds::{whole_number, wrong_type};
use crate::txn::retry;

/// The longest pause that can be asked for: 32 bits of milliseconds.
const LONGEST: Duration = Duration::from_millis(u32::MAX as u64);

/// How often, and how long after each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// The most attempts, with the first one: 1 or more.
    attempts: u32,
    /// The mean pause before another one.
    pause: Duration,
}

impl Plan {
    /// What the arguments say; otherwise the cluster's settings.
    ///
    /// # Errors
    /// `TypeError`, `InvalidArgumentError`: the arguments cannot be used.
    pub(super) fn of(
        core: &ClientCore,
        max_attempts: Option<&Bound<'_, PyAny>>,
        sleep_between_retries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rules = core.transaction_rules();
        let attempts = match max_attempts {
            Some(value) => whole_number(value, "max_attempts", 1, i64::from(u32::MAX))? as u32,
            None => rules.attempts,
        };
        let pause = sleep_between_retries.map_or(Ok(rules.sleep_between_attempts), pause)?;
        Ok(Self { attempts, pause })
    }

    /// The pause after an attempt that has failed; `None`: it was the last one.
    fn pause_after(&self, py: Python<'_>, attempt: u32, error: &PyErr) -> Option<Duration> {
        retry::pause_after(py, error, self.pause).filter(|_| attempt < self.attempts)
    }
}

/// Seconds, or a timedelta.
fn pause(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let what = "sleep_between_retries";
    let pause = if value.is_instance_of::<PyDelta>() {
        value.extract::<Duration>().ok()
    } else if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(value, what, "a number of seconds or a timedelta"));
    } else {
        let seconds = value.extract::<f64>();
        let seconds = seconds.map_err(|_| wrong_type(value, what, "a number of seconds or a timedelta"))?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    pause.filter(|pause| *pause <= LONGEST).ok_or_else(|| {
        let text = format!("{what} is {value}, it must be 0 to {} seconds", LONGEST.as_secs());
        errors::invalid_argument(value.py(), text)
    })
}

/// Refuses what cannot be called.
pub(super) fn check_callable(operation: &Bound<'_, PyAny>) -> PyResult<()> {
    if operation.is_callable() {
        return Ok(());
    }
    Err(wrong_type(operation, "operation", "a callable that takes the session of the transaction"))
}

/// Refuses a result that somebody would have to await.
pub(super) fn check_plain(result: &Bound<'_, PyAny>) -> PyResult<()> {
    if !result.hasattr(intern!(result.py(), "__await__"))? {
        return Ok(());
    }
    // Otherwise Python warns of it, too.
    if let Ok(close) = result.getattr(intern!(result.py(), "close")) {
        close.call0()?;
    }
    let text = "do_in_transaction() of this session takes a plain function, and got one whose result is to be awaited: a \
                session for asyncio takes those";
    Err(PyTypeError::new_err(text))
}

/// Calls `operation` with a session in a transaction of its own, and commits it.
pub(super) fn blocking(
    py: Python<'_>,
    context: &Arc<Context>,
    operation: &Bound<'_, PyAny>,
    plan: Plan,
) -> PyResult<Py<PyAny>> {
    check_callable(operation)?;
    context.core.check_open(py)?;
    let mut attempt = 1;
    loop {
        let session = SyncTransactionalSession::of(py, context)?;
        let outcome = operation.call1((session.clone_ref(py),)).and_then(|result| {
            check_plain(&result)?;
            Ok(result.unbind())
        });
        let ending = session.get().ending();
        let error = match outcome {
            Err(error) => error,
            Ok(result) if !ending.is_active(py) => return Ok(result),
            Ok(result) => match ending.commit_blocking(py) {
                Ok(_) => return Ok(result),
                // What may have gone through is left to the server.
                Err(error) if retry::pause_after(py, &error, Duration::ZERO).is_none() => return Err(error),
                Err(error) => error,
            },
        };
        if ending.is_active(py) {
            // The failure that led here is what the caller has to know; what is left of it, the server takes back.
            drop(ending.abort_blocking(py));
        }
        let Some(pause) = plan.pause_after(py, attempt, &error) else { return Err(error) };
        attempt += 1;
        if !pause.is_zero() {
            block_on(py, &context.core, async { tokio::time::sleep(pause).await })?;
        }
    }
}

/// What is being awaited.
enum Step {
    /// Nothing yet: another attempt begins.
    Begin,
    /// What the caller's function gave.
    Operation,
    /// The commit, behind which this is the result.
    Commit(Py<PyAny>),
    /// The abort, behind which this is the failure.
    Abort(PyErr),
    Pause,
}

/// The state of a coroutine between its steps.
struct CoroutineState {
    operation: Py<PyAny>,
    plan: Plan,
    attempt: u32,
    step: Step,
    /// What the present step waits for.
    awaited: Option<Py<PyAny>>,
    session: Option<Session>,
}

/// Whose session the caller's function gets.
enum Session {
    /// One of a transaction that is begun and ended here.
    Own(Open),
    /// One that has its transaction already, which goes on.
    Joined(Py<TransactionalSession>),
}

/// A transaction that nobody has ended is taken back: its coroutine was closed or dropped.
struct Open(Py<TransactionalSession>);

impl Drop for Open {
    fn drop(&mut self) {
        Python::try_attach(|py| self.0.get().ending().abandon(py));
    }
}

/// What a step of the coroutine gets.
enum Input<'py> {
    Value(Bound<'py, PyAny>),
    Error(PyErr),
}

/// What comes of it.
enum Output<'py> {
    /// Something for the event loop.
    Yielded(Bound<'py, PyAny>),
    Returned(Bound<'py, PyAny>),
}

/// `session.do_in_transaction(..)` for asyncio: a coroutine.
#[pyclass(frozen, module = "aerolane._aerolane")]
pub(super) struct TransactionRun {
    context: Arc<Context>,
    /// Taken out while it runs. Its lock is never held while Python code can run.
    state: Mutex<Option<CoroutineState>>,
}

impl TransactionRun {
    /// To be carried out in a transaction of its own.
    pub(super) fn new(context: &Arc<Context>, operation: &Bound<'_, PyAny>, plan: Plan) -> PyResult<Self> {
        Self::with(context, operation, plan, None)
    }

    /// To be carried out in the transaction of a session.
    pub(super) fn joining(
        context: &Arc<Context>,
        operation: &Bound<'_, PyAny>,
        plan: Plan,
        session: Py<TransactionalSession>,
    ) -> PyResult<Self> {
        Self::with(context, operation, plan, Some(Session::Joined(session)))
    }

    fn with(
        context: &Arc<Context>,
        operation: &Bound<'_, PyAny>,
        plan: Plan,
        session: Option<Session>,
    ) -> PyResult<Self> {
        check_callable(operation)?;
        context.core.check_open(operation.py())?;
        let operation = operation.clone().unbind();
        let state = CoroutineState { operation, plan, attempt: 1, step: Step::Begin, awaited: None, session };
        Ok(Self { context: Arc::clone(context), state: Mutex::new(Some(state)) })
    }

    fn resume<'py>(&self, py: Python<'py>, input: Input<'py>) -> PyResult<Bound<'py, PyAny>> {
        let taken = self.state.lock().take();
        let Some(mut state) = taken else {
            let text = "do_in_transaction() is over, or awaited by another task";
            return Err(PyRuntimeError::new_err(text));
        };
        match state.resume(py, &self.context, input)? {
            Output::Yielded(value) => {
                *self.state.lock() = Some(state);
                Ok(value)
            }
            Output::Returned(value) => Err(PyStopIteration::new_err((value.unbind(),))),
        }
    }
}

impl CoroutineState {
    fn resume<'py>(&mut self, py: Python<'py>, context: &Arc<Context>, mut input: Input<'py>) -> PyResult<Output<'py>> {
        loop {
            if matches!(self.step, Step::Begin) {
                if let Input::Error(error) = input {
                    return Err(error);
                }
                input = self.begin(py, context)?;
            }
            // An error with nothing to be awaited is the outcome of the step.
            let outcome = match self.awaited.take() {
                None => match input {
                    Input::Value(value) => Ok(Output::Returned(value)),
                    Input::Error(error) => Err(error),
                },
                Some(awaited) => {
                    let outcome = advance(awaited.bind(py), input);
                    if matches!(outcome, Ok(Output::Yielded(_))) {
                        self.awaited = Some(awaited);
                    }
                    outcome
                }
            };
            let outcome = match outcome {
                Ok(Output::Yielded(value)) => return Ok(Output::Yielded(value)),
                Ok(Output::Returned(value)) => Ok(value),
                Err(error) => Err(error),
            };
            if let Some(result) = self.next(py, outcome)? {
                return Ok(Output::Returned(result));
            }
            input = Input::Value(py.None().into_bound(py));
        }
    }

    /// Calls the caller's function; what it gives is to be awaited.
    fn begin<'py>(&mut self, py: Python<'py>, context: &Arc<Context>) -> PyResult<Input<'py>> {
        self.step = Step::Operation;
        let session = if let Some(Session::Joined(session)) = &self.session {
            session.clone_ref(py)
        } else {
            let session = TransactionalSession::of(py, context)?;
            self.session = Some(Session::Own(Open(session.clone_ref(py))));
            session
        };
        let called = self.operation.bind(py).call1((session,)).and_then(|given| iterator(&given));
        Ok(match called {
            Ok(awaited) => {
                self.awaited = Some(awaited.unbind());
                Input::Value(py.None().into_bound(py))
            }
            Err(error) => Input::Error(error),
        })
    }

    /// What follows on the outcome of a step; the result if nothing does.
    fn next<'py>(
        &mut self,
        py: Python<'py>,
        outcome: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(Session::Own(Open(session))) = &self.session else { return outcome.map(Some) };
        let ending = session.get().ending();
        match (std::mem::replace(&mut self.step, Step::Begin), outcome) {
            (Step::Operation, Ok(result)) => {
                if !ending.is_active(py) {
                    return Ok(Some(result));
                }
                self.awaited = Some(iterator(ending.commit(py)?.bind(py))?.unbind());
                self.step = Step::Commit(result.unbind());
                Ok(None)
            }
            (Step::Commit(result), Ok(_)) => Ok(Some(result.into_bound(py))),
            // What may have gone through is left to the server.
            (Step::Commit(_), Err(error)) if retry::pause_after(py, &error, Duration::ZERO).is_none() => {
                ending.leave_alone();
                Err(error)
            }
            (Step::Operation | Step::Commit(_), Err(error)) if ending.is_active(py) => {
                self.awaited = Some(iterator(ending.abort(py)?.bind(py))?.unbind());
                self.step = Step::Abort(error);
                Ok(None)
            }
            // The failure that led here is what the caller has to know; what is left of it, the server takes back.
            (Step::Abort(error), _) | (Step::Operation | Step::Commit(_), Err(error)) => self.again(py, error),
            (Step::Pause | Step::Begin, outcome) => outcome.map(|_| None),
        }
    }

    /// Another attempt, if there is to be one.
    fn again<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(pause) = self.plan.pause_after(py, self.attempt, &error) else { return Err(error) };
        self.attempt += 1;
        if !pause.is_zero() {
            let asyncio = py.import(intern!(py, "asyncio"))?;
            let sleep = asyncio.call_method1(intern!(py, "sleep"), (pause.as_secs_f64(),))?;
            self.awaited = Some(iterator(&sleep)?.unbind());
            self.step = Step::Pause;
        }
        Ok(None)
    }
}

/// What awaiting an object goes through.
fn iterator<'py>(awaitable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = awaitable.py();
    if awaitable.hasattr(intern!(py, "__await__"))? {
        return awaitable.call_method0(intern!(py, "__await__"));
    }
    let kind = awaitable.get_type();
    let text = format!(
        "do_in_transaction() of this session takes a function whose result can be awaited (async def), it gave {}: a session \
         of aerolane.sync takes plain functions",
        kind.name()?
    );
    Err(PyTypeError::new_err(text))
}

/// One step of an iterator that is awaited.
fn advance<'py>(awaited: &Bound<'py, PyAny>, input: Input<'py>) -> PyResult<Output<'py>> {
    let py = awaited.py();
    let error = match input {
        Input::Value(value) => {
            return match awaited.cast::<PyIterator>()?.send(&value)? {
                PySendResult::Next(value) => Ok(Output::Yielded(value)),
                PySendResult::Return(value) => Ok(Output::Returned(value)),
            };
        }
        Input::Error(error) => error,
    };
    if !awaited.hasattr(intern!(py, "throw"))? {
        return Err(error);
    }
    match awaited.call_method1(intern!(py, "throw"), (error.into_value(py),)) {
        Ok(value) => Ok(Output::Yielded(value)),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
            Ok(Output::Returned(error.value(py).getattr(intern!(py, "value"))?))
        }
        Err(error) => Err(error),
    }
}

#[pymethods]
impl TransactionRun {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.resume(py, Input::Value(py.None().into_bound(py)))
    }

    fn send<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.resume(value.py(), Input::Value(value))
    }

    /// Raises an exception where it waits: a class, or an instance.
    #[pyo3(signature = (kind, value=None, traceback=None))]
    fn throw<'py>(
        &self,
        kind: Bound<'py, PyAny>,
        value: Option<Bound<'py, PyAny>>,
        traceback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = kind.py();
        let error = match value.filter(|value| !value.is_none()) {
            Some(value) if value.is_instance_of::<pyo3::exceptions::PyBaseException>() => value,
            Some(value) => kind.call1((value,))?,
            None if kind.is_instance_of::<pyo3::exceptions::PyBaseException>() => kind,
            None => kind.call0()?,
        };
        if let Some(traceback) = traceback.filter(|traceback| !traceback.is_none()) {
            error.setattr(intern!(py, "__traceback__"), traceback)?;
        }
        self.resume(py, Input::Error(PyErr::from_value(error)))
    }

    /// Ends it: what waits is closed, and an open transaction taken back.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.state.lock().take();
        let Some(state) = taken else { return Ok(()) };
        if let Some(awaited) = &state.awaited
            && let Ok(close) = awaited.bind(py).getattr(intern!(py, "close"))
        {
            close.call0()?;
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let over = self.state.lock().is_none();
        format!("<do_in_transaction of a session, {}>", if over { "running or over" } else { "waiting" })
    }
}
