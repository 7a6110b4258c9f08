//! `RecordResult`: what became of one record.

use aerolane::Error;
use aerolane::raw::RawOutcome;
use aerospike_core::ResultCode;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::hll_config::HllConfig;
use super::operation_result::OperationResult;
use super::verb::Verb;
use crate::errors;
use crate::instance::{Instance, instance};
use crate::key::Key;
use crate::record::{Body, Once, Record};

/// What became of one record, before Python sees it.
pub(super) struct Row {
    pub(super) key: Option<Py<Key>>,
    /// The position of the key in the call; -1 in queries.
    pub(super) index: i32,
    pub(super) outcome: Outcome,
}

impl Row {
    /// The exception for the row's failure.
    pub(super) fn raised(&self, py: Python<'_>, error: &Error) -> PyErr {
        match &self.key {
            Some(key) => errors::of_record(py, error, key),
            None => errors::to_py(py, error),
        }
    }
}

/// What came of the call.
pub(super) enum Outcome {
    /// It succeeded, and there is nothing to read.
    Done,
    /// A record.
    Answered {
        body: Body,
        operate: bool,
    },
    /// A record of a query.
    Record(Py<Record>),
    /// What a function returned: the record has it as the bin `SUCCESS`.
    Returned {
        body: Body,
    },
    /// What a function returned.
    Value(Py<PyAny>),
    Failed(Error),
}

/// The bin in which servers send what a function returned.
const SUCCESS: &str = "SUCCESS";

impl Outcome {
    /// Of a row of a batch. `operate`: its record is one of results; `None`: it has none.
    #[inline]
    pub(super) fn of(outcome: &RawOutcome<'_>, verb: Verb, operate: Option<bool>) -> Self {
        match (outcome, operate) {
            (RawOutcome::Answered(body), _) if verb == Verb::Udf => Self::Returned { body: Body::concat([body]) },
            (RawOutcome::Answered(_), None) => Self::Done,
            (RawOutcome::Answered(body), Some(operate)) => Self::Answered { body: Body::concat([body]), operate },
            (RawOutcome::Failed(error), _) => Self::Failed((*error).clone()),
            _ => Self::Failed(Error::bad_response("the server left a row of the batch out")),
        }
    }
}

impl Row {
    #[inline]
    pub(super) fn into_python(self, py: Python<'_>) -> PyResult<Py<RecordResult>> {
        instance(py, || RecordResult { row: self, made: Once::new() })
    }

    /// A record of a query.
    pub(super) fn of_query(py: Python<'_>, record: Py<Record>) -> Self {
        Self { key: record.get().key(py), index: -1, outcome: Outcome::Record(record) }
    }

    /// Drops it where it is known that the thread is attached, if `PyO3` has not been told (`fast_call`): it would wait with that.
    pub(super) fn let_go(mut self, py: Python<'_>) {
        if let Some(key) = self.key.take() {
            drop(key.into_bound(py));
        }
    }

    pub(super) fn error(&self) -> Option<&Error> {
        if let Outcome::Failed(error) = &self.outcome { Some(error) } else { None }
    }
}

/// The result for one record: its `record` if `is_ok`, otherwise its failure.
///
/// The record is decoded on first access. `index` is the position of its key in the call; -1 in queries.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct RecordResult {
    row: Row,
    made: Once,
}

impl Instance for RecordResult {
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        if let Some(key) = self.row.key.take() {
            drop(key.into_bound(py));
        }
        self.made.let_go(py);
        matches!(self.row.outcome, Outcome::Done | Outcome::Answered { .. } | Outcome::Returned { .. })
    }
}

impl RecordResult {
    /// Why it failed.
    pub(super) fn failure(&self) -> Option<&Error> {
        self.row.error()
    }

    /// The place of its key in the call, if it has one.
    pub(super) fn place(&self) -> Option<usize> {
        usize::try_from(self.row.index).ok()
    }

    /// Raises its failure.
    pub(super) fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.row.error().map_or(Ok(()), |error| Err(self.row.raised(py, error)))
    }

    fn detail<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.to_exception(py).map(|error| error.getattr(name)).transpose()
    }

    fn made<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Record>>> {
        let (body, operate) = match &self.row.outcome {
            Outcome::Record(record) => return Ok(Some(record.bind(py).clone())),
            Outcome::Answered { body, operate } => (body, *operate),
            Outcome::Returned { body } => (body, false),
            Outcome::Done | Outcome::Value(_) | Outcome::Failed(_) => return Ok(None),
        };
        if let Some(record) = self.made.get(py) {
            return Ok(Some(record.cast_into()?));
        }
        let key = self.row.key.as_ref().map(|key| key.clone_ref(py));
        let record = Record::new(py, key, body.clone(), operate)?.into_bound(py);
        Ok(Some(self.made.set(py, record.into_any()).cast_into()?))
    }
}

#[pymethods]
impl RecordResult {
    /// The key. In the results of a query, it has the digest, and the user key if that is stored with the record.
    #[getter]
    fn key(&self, py: Python<'_>) -> Option<Py<Key>> {
        self.row.key.as_ref().map(|key| key.clone_ref(py))
    }

    /// The record. `None` for a failure and for functions, and for `delete`, `touch` and `exists` of one record. Of several
    /// records, `delete` and `touch` have one without bins; so has `exists` in a chain with other operations, and in `stream()`.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Record>>> {
        if matches!(self.row.outcome, Outcome::Returned { .. }) { Ok(None) } else { self.made(py) }
    }

    /// The `ResultCode`: `OK`, or that of the failure.
    #[getter]
    fn result_code<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        errors::result_code(py, self.row.error().map_or(0, Error::result_code))
    }

    /// Whether a write that failed may have been applied.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.row.error().is_some_and(Error::in_doubt)
    }

    /// The position of the key in the call; -1 in queries.
    #[getter]
    fn index(&self) -> i32 {
        self.row.index
    }

    /// The failure as an exception, which is not raised. `None` if there is none.
    #[getter]
    fn exception<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.to_exception(py)
    }

    /// What a function returned. `None` for other operations.
    #[getter]
    pub(super) fn udf_result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.row.outcome {
            Outcome::Value(value) => Ok(Some(value.bind(py).clone())),
            Outcome::Returned { .. } => match self.made(py)? {
                Some(record) => record.get().bin(py, &PyString::new(py, SUCCESS)),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The server's sub-code of the failure, if it was requested (`error_detail_verbosity`) and sent.
    #[getter]
    fn sub_code<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.detail(py, "sub_code")
    }

    /// The server's message about the failure, if it was requested (`error_detail_verbosity`) and sent.
    #[getter]
    fn server_message(&self) -> Option<&str> {
        self.row.error().and_then(Error::server_message)
    }

    /// Where in an expression the failure occurred, an `ExpressionTrace`, if it was requested
    /// (`error_detail_verbosity`) and sent.
    #[getter]
    fn exp_trace<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.detail(py, "exp_trace")
    }

    /// Whether the operation succeeded for this record.
    #[getter]
    pub(super) fn is_ok(&self) -> bool {
        self.row.error().is_none()
    }

    /// Returns this result, or raises the failure.
    fn or_raise(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().check(py)?;
        Ok(slf)
    }

    /// Returns the failure as an exception, without raising it. `None` if there is none.
    fn to_exception<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.row.error().map(|error| self.row.raised(py, error).into_value(py).into_bound(py).into_any())
    }

    /// Returns the record, or raises the failure.
    ///
    /// Raises `ValueError` if the operation reads no record.
    fn record_or_raise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Record>> {
        self.check(py)?;
        let none = "this call succeeded, but it reads no record: query() does, and bin(name).get() in a write";
        self.record(py)?.ok_or_else(|| PyValueError::new_err(none))
    }

    /// Returns the value of the `i`-th operation, counted from 0. `None` if there is no such operation, or it returned
    /// nothing.
    fn operation_result<'py>(&self, py: Python<'py>, i: isize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match (self.record(py)?, usize::try_from(i)) {
            (Some(record), Ok(i)) => record.get().operation_result(py, i),
            _ => Ok(None),
        }
    }

    /// Returns the value of the `i`-th operation as an `OperationResult`, whose methods check its type. `None` if there
    /// is no such operation.
    fn typed_operation_result(&self, py: Python<'_>, i: isize) -> PyResult<Option<OperationResult>> {
        let (Some(record), Ok(i)) = (self.record(py)?, usize::try_from(i)) else { return Ok(None) };
        match record.get().results(py)? {
            Some(results) if i < results.len() => Ok(Some(OperationResult::new(results.get_item(i)?.unbind()))),
            _ => Ok(None),
        }
    }

    /// Returns the settings of an HLL that `hll_describe()` of this bin read. `None` if it was not read.
    ///
    /// Raises `TypeError` if the bin holds something else.
    fn get_hll_config(&self, py: Python<'_>, bin_name: &Bound<'_, PyString>) -> PyResult<Option<HllConfig>> {
        let Some(record) = self.record(py)? else { return Ok(None) };
        let Some(mut value) = record.get().bin(py, bin_name)?.filter(|value| !value.is_none()) else { return Ok(None) };
        // Several operations on the bin make a list of answers.
        if let Ok(list) = value.cast::<PyList>()
            && let Some(last) = list.iter().filter(PyAnyMethods::is_instance_of::<PyList>).last()
        {
            value = last;
        }
        match value.extract::<Vec<i64>>().as_deref() {
            Ok([index_bits, min_hash_bits]) => HllConfig::of(*index_bits, *min_hash_bits).map(Some),
            _ => Err(PyTypeError::new_err(format!("the bin {bin_name} has no answer of hll_describe()"))),
        }
    }

    /// Returns whether the record exists: for a result of `exists()`.
    ///
    /// Raises the failure, unless it is that the record does not exist.
    fn as_bool(&self, py: Python<'_>) -> PyResult<bool> {
        match self.row.error() {
            None => Ok(true),
            Some(error) if error.matches(&[ResultCode::KeyNotFoundError]) => Ok(false),
            Some(error) => Err(self.row.raised(py, error)),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        if self.row.index >= 0 {
            parts.push(format!("index={}", self.row.index));
        }
        let code = self.result_code(py)?;
        parts.push(format!("result_code={}", code.getattr("name").unwrap_or(code)));
        if let Some(record) = self.record(py)? {
            parts.push(format!("bins={}", record.get().all_bins(py)?.repr()?));
        }
        if let Some(result) = self.udf_result(py)? {
            parts.push(format!("udf_result={}", result.repr()?));
        }
        if self.in_doubt() {
            parts.push("in_doubt=True".to_owned());
        }
        Ok(format!("RecordResult({})", parts.join(", ")))
    }
}
