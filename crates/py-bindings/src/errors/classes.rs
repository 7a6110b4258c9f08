//! The exception classes: one table.

use pyo3::exceptions::{PyException, PySystemError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use pyo3::{ffi, intern};

use super::codes;

/// What a class derives from.
enum Base {
    Ours(Family),
    /// A class of Python, so that a plain `except ValueError` works, too.
    Builtin(&'static str),
}

struct Row {
    name: &'static str,
    bases: &'static [Base],
    doc: &'static str,
}

macro_rules! families {
    ($($name:ident ( $($base:ident),* $(; $builtin:literal)? ) $doc:literal;)*) => {
        /// An exception class. Bases stand before what derives from them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names)] // they are the names of the classes
        pub(super) enum Family { $($name),* }

        const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            bases: &[$(Base::Ours(Family::$base),)* $(Base::Builtin($builtin),)?],
            doc: $doc,
        }),*];
    };
}

// The classes with a constructor of their own are written out in _python/errors.py; their rows must agree with it.
families! {
    AerospikeError(; "Exception") "";
    ServerError(AerospikeError) "The server answered that a request failed.";
    ClientError(AerospikeError) "";
    TimeoutError(AerospikeError; "TimeoutError") "";
    TransactionError(AerospikeError) "";
    CommitError(TransactionError) "";
    ServerTransactionError(TransactionError, ServerError) "The server refused a command of a transaction.";
    BadResponseError(ClientError) "The server's answer cannot be understood.";
    ParseIntError(BadResponseError) "A number in the server's answer cannot be parsed.";
    InvalidUTF8(BadResponseError) "A string in the server's answer is not UTF-8.";
    SerializationError(AerospikeError) "A value cannot be encoded.";
    InvalidArgumentError(AerospikeError; "ValueError") "An argument cannot be used. Nothing was sent.";
    ParseAddressError(InvalidArgumentError) "The text is not a valid address.";
    Base64DecodeError(InvalidArgumentError, BadResponseError) "The text is not valid base64, or does not encode what is expected.";
    ConnectionError(AerospikeError; "ConnectionError") "A connection was refused, reset or closed, or could not be opened.";
    IoError(ConnectionError) "The operating system reported an error while connecting, sending or receiving.";
    ClientClosedError(ConnectionError) "The client is closed. Nothing was sent.";
    ExpiredError(AerospikeError) "A record that was handed to a writer had no outcome within its time to live (`record_ttl`).";
    WriterClosedError(AerospikeError) "The writer is closed. Records that were not sent by then will not be sent.";
    InvalidNodeError(AerospikeError) "No active node can take the request: no node owns the partition, or the node has left the cluster.";
    InvalidNamespaceError(AerospikeError) "The cluster has no such namespace.";
    SecurityError(ServerError) "Access control refused the request, or is not enabled.";
    SecurityNotEnabled(SecurityError) "Access control is not enabled on the server.";
    AuthenticationError(SecurityError) "The login was refused, or the client did not log in.";
    NotAuthenticated(AuthenticationError) "The connection has not logged in.";
    AuthorizationError(SecurityError) "The user is not allowed to do this.";
    QuotaError(ServerError) "A quota of the user is exceeded or invalid.";
    InvalidRequest(ServerError) "The server does not accept the parameters of the request.";
    RecordError(ServerError) "The record or one of its bins is not in the state that the request requires.";
    RecordNotFoundError(RecordError) "The record does not exist.";
    RecordExistsError(RecordError) "The record already exists.";
    RecordTooBigError(RecordError) "The record is larger than the namespace allows.";
    GenerationError(RecordError) "The record's generation is not the one asked for.";
    BinError(ServerError) "A bin is not in the state that the request requires.";
    BinExistsError(BinError) "The bin already exists.";
    BinNotFoundError(BinError, RecordError) "The bin does not exist.";
    BinTypeError(BinError, RecordError) "The operation does not support the type of the bin's value.";
    BinOpInvalidError(BinError) "The operation cannot be applied to the bin's current value.";
    ElementError(ServerError) "An element of a list or map is not in the state that the request requires.";
    ElementNotFoundError(ElementError) "The list or map has no such element.";
    ElementExistsError(ElementError) "The list or map already has this element.";
    FilteredOutError(ServerError) "The filter expression is false for the record.";
    SecondaryIndexError(ServerError) "A secondary index failed.";
    IndexNotFoundError(SecondaryIndexError) "The secondary index does not exist.";
    IndexAlreadyExistsError(SecondaryIndexError) "The secondary index already exists.";
    QueryError(ServerError) "A query failed.";
    QueryTerminatedError(QueryError) "The query was terminated.";
    UDFBadResponse(AerospikeError) "A user-defined function failed.";
    UdfError(ServerError, UDFBadResponse) "A user-defined function failed.";
    BatchError(ServerError) "The server refused a batch as a whole.";
    CapacityError(AerospikeError) "The server or the client has no capacity left.";
    ServerCapacityError(CapacityError, ServerError) "The server has no capacity left.";
    QueryCapacityError(ServerCapacityError, QueryError) "The server has no capacity for more queries.";
    BatchCapacityError(ServerCapacityError, BatchError) "The server has no capacity for the batch.";
    KeyBusyError(ServerCapacityError) "Too many requests are waiting for the same record.";
    PoolExhaustedError(CapacityError) "All connections to the node are full, and the client is configured to fail instead of waiting.";
    BackoffError(AerospikeError) "The client is holding requests back for a while. Nothing was sent.";
    MaxErrorRateError(BackoffError) "The node's circuit breaker is open: too many errors in the current window.";
    BatchFailedError(ClientError) "";
    BatchTimeoutError(TimeoutError, BatchFailedError) "No row of a batch was answered in time.";
    BatchConnectionError(ConnectionError, BatchFailedError) "A batch failed because a connection failed, before any row was answered.";
    BatchPoolExhaustedError(PoolExhaustedError, BatchFailedError) "A batch failed because all connections to a node are full.";
    BatchMaxErrorRateError(MaxErrorRateError, BatchFailedError) "A batch failed because a node's circuit breaker is open.";
}

/// An exception class, ready for use.
pub(super) struct Class {
    pub(super) python: Py<PyType>,
    /// What makes an instance without running Python code: its slot behind `__new__`.
    new: ffi::newfunc,
    /// Whether `args` must be set apart: `OSError.__new__` leaves that to `__init__`.
    args_apart: bool,
}

impl Class {
    /// An instance with these `args`; its `__init__` is not run.
    pub(super) fn instance<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.python.bind(py);
        // SAFETY: the class's own slot, with the class and a tuple that are alive.
        let instance = unsafe {
            let made = (self.new)(class.as_type_ptr(), arguments.as_ptr(), std::ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, made)?
        };
        if self.args_apart {
            instance.setattr(intern!(py, "args"), arguments)?;
        }
        Ok(instance)
    }
}

/// Everything that errors are made from.
pub(super) struct Classes {
    all: Vec<Class>,
    /// The arguments (the message) for each code that the server may send.
    arguments: Vec<Py<PyTuple>>,
    pub(super) result_code: Py<PyAny>,
    pub(super) base: Py<PyModule>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

impl Classes {
    /// The classes; made at the first call.
    pub(super) fn get(py: Python<'_>) -> PyResult<&'static Self> {
        CLASSES.get_or_try_init(py, || Self::make(py))
    }

    pub(super) fn class(&self, family: Family) -> &Class {
        &self.all[family as usize]
    }

    pub(super) fn arguments<'py>(&self, py: Python<'py>, code: u8) -> &Bound<'py, PyTuple> {
        self.arguments[usize::from(code)].bind(py)
    }

    /// Name and class, for each.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, &Py<PyType>)> {
        ROWS.iter().zip(&self.all).map(|(row, class)| (row.name, &class.python))
    }

    fn make(py: Python<'_>) -> PyResult<Self> {
        let base = py.import("aerolane._python.errors")?;
        let rows: Vec<_> =
            codes::CLIENT.iter().chain(codes::SERVER).map(|c| (c.name, c.value, c.description(), c.meaning)).collect();
        let result_code = base.getattr("_result_codes")?.call1((rows,))?.unbind();
        let mut classes: Vec<Class> = Vec::with_capacity(ROWS.len());
        for row in ROWS {
            let class = match base.getattr_opt(row.name)? {
                Some(written) => written.cast_into::<PyType>()?,
                None => create(py, row, &classes)?,
            };
            // SAFETY: a heap type, and the slot's own type; every type of exceptions inherits one.
            let new = unsafe {
                let slot = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new);
                std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::newfunc>>(slot)
            };
            let new = new.ok_or_else(|| PySystemError::new_err("an exception class without a slot for __new__"))?;
            let args_apart = class.is_subclass_of::<pyo3::exceptions::PyOSError>()?;
            classes.push(Class { python: class.unbind(), new, args_apart });
        }
        let arguments = (0..=255_u8)
            .map(|code| Ok(PyTuple::new(py, [codes::server_description(code)])?.unbind()))
            .collect::<PyResult<_>>()?;
        Ok(Self { all: classes, arguments, result_code, base: base.unbind() })
    }
}

fn create<'py>(py: Python<'py>, row: &Row, made: &[Class]) -> PyResult<Bound<'py, PyType>> {
    let builtins = py.import("builtins")?;
    let mut bases = Vec::new();
    for base in row.bases {
        bases.push(match base {
            Base::Ours(family) => made[*family as usize].python.bind(py).clone().into_any(),
            Base::Builtin(name) => builtins.getattr(*name)?,
        });
    }
    let body = PyDict::new(py);
    body.set_item("__doc__", row.doc)?;
    body.set_item("__module__", "aerolane.exceptions")?;
    let class = py.get_type::<PyType>().call1((row.name, PyTuple::new(py, bases)?, body))?.cast_into::<PyType>()?;
    debug_assert!(class.is_subclass_of::<PyException>().unwrap_or(false));
    Ok(class)
}
