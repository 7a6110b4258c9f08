//! Who hears of the records for which a call has failed.

use aerospike_core::ResultCode;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::result::{Outcome, Row};
use super::verb::Verb;
use crate::key::Key;

/// Who hears of failures.
pub(super) enum OnError {
    /// The caller, by an exception.
    Raise,
    /// Whoever reads the results.
    InStream,
    /// This callable.
    Handler(Py<PyAny>),
}

/// What the enumeration says of itself.
const STRATEGY_DOC: &str = "\
What happens to failures of single records: the argument `on_error` of `execute` and the other terminals.

IN_STREAM: they are returned among the results, as `RecordResult`s that are not `is_ok`. This is the default for calls
about several records; a call about one record raises its failure.";

/// `ErrorStrategy`.
pub(super) fn strategy(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let named = pyo3::types::PyDict::new(py);
        named.set_item("module", "aerolane")?;
        let members = vec![("IN_STREAM", "in_stream")];
        let class = py.import("enum")?.getattr("Enum")?.call(("ErrorStrategy", members), Some(&named))?;
        class.setattr("__doc__", STRATEGY_DOC)?;
        Ok::<_, PyErr>(class.unbind())
    })?;
    Ok(class.bind(py))
}

/// `ErrorHandler`: a name for annotations.
pub(super) fn handler(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let error = py.import("builtins")?.getattr("Exception")?;
    let arguments = pyo3::types::PyList::new(
        py,
        [py.get_type::<Key>().into_any(), py.get_type::<pyo3::types::PyInt>().into_any(), error],
    )?;
    py.import("collections.abc")?.getattr("Callable")?.get_item((arguments, py.None()))
}

impl OnError {
    /// The argument `on_error`; `None`: nothing was said.
    pub(super) fn of(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(None) };
        if value.is_instance(strategy(value.py())?)? {
            return Ok(Some(Self::InStream));
        }
        if value.is_callable() {
            return Ok(Some(Self::Handler(value.clone().unbind())));
        }
        let kind = value.get_type();
        Err(PyTypeError::new_err(format!(
            "on_error is ErrorStrategy.IN_STREAM or a callable that takes (key, index, exception), not {}",
            kind.name()?
        )))
    }
}

/// Says of each result whether it is one that the caller sees.
pub(super) struct Judge {
    pub(super) on_error: OnError,
    pub(super) fail_on_filtered_out: bool,
    pub(super) include_missing_keys: bool,
    /// The call is a chain of several operations.
    pub(super) chained: bool,
    /// The call is about one record.
    pub(super) one: bool,
    /// The caller hears of each record, also of those that are missing, or for which a filter is not true: `stream()`.
    pub(super) each: bool,
}

/// What is done with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The caller sees it.
    Give,
    /// He does not.
    LeaveOut,
    /// It is raised.
    Raise,
    /// The handler hears of it, in his place.
    Tell,
}

impl Judge {
    /// That of a call about one record of which nothing was said.
    pub(super) const fn of_one(each: bool) -> Self {
        Self {
            on_error: OnError::Raise,
            fail_on_filtered_out: false,
            include_missing_keys: false,
            one: true,
            chained: false,
            each,
        }
    }

    /// Whether it is [`of_one`](Self::of_one).
    pub(super) const fn is_plain(&self) -> bool {
        matches!(self.on_error, OnError::Raise) && self.one && !self.fail_on_filtered_out && !self.include_missing_keys
    }

    /// What is done with a result.
    pub(super) fn verdict(&self, verb: Verb, outcome: &Outcome) -> Verdict {
        let Outcome::Failed(error) = outcome else { return Verdict::Give };
        // That there is no such record is an answer, unless the verb needs one.
        let missing = error.matches(&[ResultCode::KeyNotFoundError]) && !verb.needs_record();
        let filtered = error.matches(&[ResultCode::FilteredOut]);
        if self.each && (missing || filtered) {
            let told = matches!(self.on_error, OnError::Handler(_)) && !(self.one && missing && verb.writes());
            return if told { Verdict::Tell } else { Verdict::Give };
        }
        let shown = if missing {
            self.include_missing_keys || (self.one || self.chained) && verb == Verb::Exists || verb.writes()
        } else if filtered && !self.fail_on_filtered_out {
            verb != Verb::Query
        } else {
            return match self.on_error {
                OnError::InStream => Verdict::Give,
                OnError::Raise => Verdict::Raise,
                OnError::Handler(_) => Verdict::Tell,
            };
        };
        if shown { Verdict::Give } else { Verdict::LeaveOut }
    }

    /// The result for the caller to see; `None`: he does not.
    ///
    /// # Errors
    /// The failure is to be raised, or the handler has raised something.
    pub(super) fn admit(&self, py: Python<'_>, verb: Verb, row: Row) -> PyResult<Option<Row>> {
        match (self.verdict(verb, &row.outcome), &row.outcome, &self.on_error) {
            (Verdict::LeaveOut, ..) => {
                row.let_go(py);
                Ok(None)
            }
            (Verdict::Raise, Outcome::Failed(error), _) => {
                let error = row.raised(py, error);
                row.let_go(py);
                Err(error)
            }
            (Verdict::Tell, Outcome::Failed(error), OnError::Handler(handler)) => {
                let exception = row.raised(py, error).into_value(py);
                handler.call1(py, (row.key, row.index, exception))?;
                Ok(None)
            }
            _ => Ok(Some(row)),
        }
    }
}
