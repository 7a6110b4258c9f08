//! Operations, for `operate` and batches.
//!
//! * this module: what all of them are, and those on whole bins and on the record
//! * [`list`], [`map`], [`bit`], [`hll`], [`string`], [`path`], [`exp`]: the others, as tables
//! * [`table`]: how they are defined

pub(crate) mod bit;
pub(crate) mod exp;
pub(crate) mod hll;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod path;
pub(crate) mod string;
pub(crate) mod table;

use std::cell::Cell;

use aerolane::raw::command::check;
use aerolane_wire::message::op;
use aerolane_wire::operation::{self, context};
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cdt::Ctx;
use crate::small_bytes::SmallBytes;
use crate::value::Refused;
use crate::{errors, value};

/// The base class of all operations; it cannot be instantiated.
///
/// An operation is encoded when it is created: changing a list or a policy afterwards has no effect, and values that
/// cannot be sent raise at once. Operations are immutable and can be reused, from any number of threads.
///
/// Constructors raise `TypeError` for arguments of the wrong type, `OverflowError` for ints of more than 64 bits, and
/// `InvalidArgumentError` (a `ValueError`) for values that cannot be sent and bin names of more than 15 bytes.
#[pyclass(frozen, subclass, module = "aerolane.native")]
pub(crate) struct BaseOperation {
    what: OperationKind,
    /// See [`op`].
    kind: u8,
    particle_type: u8,
    name_len: u8,
    /// Whether it asks for an answer where it has nothing to say.
    answers: bool,
    sets_type: Option<SetsType>,
    /// How much of the value is the context.
    context_len: u32,
    /// Bin name, value.
    bytes: SmallBytes<48>,
}

/// An operation of an `operate` call on a whole bin or on the record: `Operation.put("a", 1)`,
/// `Operation.get_bin("a")`, ...
#[pyclass(frozen, extends = BaseOperation, module = "aerolane")]
pub(crate) struct Operation;

/// What an operation asks for in the header of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationKind {
    /// Reads all bins.
    ReadAll,
    /// Reads no bins.
    ReadHeader,
    /// Reads a bin.
    Read,
    /// Changes the record.
    Write,
}

/// An operation that sets the type of a list or map is written otherwise inside of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SetsType {
    /// See [`context::create`].
    create: u8,
    /// The last byte of the operation, as it is without a context.
    order: u8,
}

/// What encodes an operation gives its type.
pub(crate) trait Kind {
    fn kind(self) -> Result<u8, Refused>;
}

impl Kind for u8 {
    fn kind(self) -> Result<u8, Refused> {
        Ok(self)
    }
}

impl Kind for Result<u8, Refused> {
    fn kind(self) -> Result<u8, Refused> {
        self
    }
}

thread_local! {
    /// Where operations are encoded: most then fit into their object, so that making one allocates nothing else.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl BaseOperation {
    pub(crate) fn bare(what: OperationKind, kind: u8) -> Self {
        Self::of(what, kind, particle_type::NIL, "", &[])
    }

    pub(crate) fn of(what: OperationKind, kind: u8, particle_type: u8, name: &str, value: &[u8]) -> Self {
        let bytes = SmallBytes::concat([name.as_bytes(), value]);
        let name_len = name.len() as u8; // It was checked, or is empty.
        Self { what, kind, particle_type, name_len, answers: false, sets_type: None, context_len: 0, bytes }
    }

    /// An operation on a bin; `encode` appends its value and gives its type.
    pub(crate) fn encoded<K: Kind>(
        name: &Bound<'_, PyString>,
        answers: bool,
        encode: impl FnOnce(&mut Vec<u8>) -> K,
    ) -> PyResult<Self> {
        Self::with_scratch(name, |out| encode(out).kind()).map(|(kind, name, value)| {
            let what = if operation::is_write(kind) { OperationKind::Write } else { OperationKind::Read };
            let made = Self::of(what, kind, operation::particle_type(kind), name, &value);
            keep(value);
            Self { answers, ..made }
        })
    }

    /// Writes a whole bin.
    pub(crate) fn with_value(kind: u8, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_scratch(name, |out| value::encode_value(value, out)).map(|(particle_type, name, value)| {
            let made = Self::of(OperationKind::Write, kind, particle_type, name, &value);
            keep(value);
            made
        })
    }

    /// Encodes into a buffer of the thread. It is taken, not borrowed: code of Python may run, and make operations.
    fn with_scratch<'a, T>(
        name: &'a Bound<'_, PyString>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<T, Refused>,
    ) -> PyResult<(T, &'a str, Vec<u8>)> {
        let text = checked_name(name)?;
        let mut out = SCRATCH.take();
        match encode(&mut out) {
            Ok(encoded) => Ok((encoded, text, out)),
            Err(refused) => {
                keep(out);
                Err(refused.into_py(name.py(), &format!("bin '{text}'")))
            }
        }
    }

    /// The same operation inside of a context.
    pub(crate) fn nested(&self, ctx: &Ctx) -> Self {
        let (_, value) = self.value();
        let mut operation = value[self.context_len as usize..].to_vec();
        if let (Some(SetsType { order, .. }), Some(last)) = (self.sets_type, operation.last_mut()) {
            *last = order;
        }
        let mut out = Vec::with_capacity(operation.len() + 32);
        context::nest(&mut out, ctx.levels(), self.sets_type.map_or(0, |sets| sets.create), &operation);
        let made = Self::of(self.what, self.kind, self.particle_type, self.name_text(), &out);
        let context_len = (out.len() - operation.len()) as u32;
        Self { answers: self.answers, sets_type: self.sets_type, context_len, ..made }
    }

    pub(crate) fn what(&self) -> OperationKind {
        self.what
    }

    /// See [`op`].
    pub(crate) fn kind(&self) -> u8 {
        self.kind
    }

    /// Whether it asks for an answer where it has nothing to say, as other clients do for some kinds of operations.
    pub(crate) fn answers(&self) -> bool {
        self.answers
    }

    /// The bin's name; empty for the whole record.
    pub(crate) fn name(&self) -> &[u8] {
        &self.bytes[..usize::from(self.name_len)]
    }

    fn name_text(&self) -> &str {
        std::str::from_utf8(self.name()).unwrap_or_default() // It was copied out of a str.
    }

    /// Particle type and bytes of the value.
    pub(crate) fn value(&self) -> (u8, &[u8]) {
        (self.particle_type, &self.bytes[usize::from(self.name_len)..])
    }
}

/// The buffer of the thread, which is empty; `keep` gives it back.
pub(crate) fn scratch() -> Vec<u8> {
    SCRATCH.take()
}

/// Gives a buffer back to the thread, unless it has become large.
pub(crate) fn keep(mut buffer: Vec<u8>) {
    const MOST: usize = 4096;
    if (1..=MOST).contains(&buffer.capacity()) {
        buffer.clear();
        SCRATCH.set(buffer);
    }
}

/// A bin name that is not too long.
pub(crate) fn checked_name<'a>(name: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let text = value::utf8(name).map_err(|refused| refused.into_py(name.py(), "bin name"))?;
    // SAFETY: UTF-8, as CPython has made it from a str.
    let text = unsafe { std::str::from_utf8_unchecked(text) };
    check::bin_name(text).map_err(|e| errors::to_py(name.py(), &e))?;
    Ok(text)
}

#[pymethods]
impl BaseOperation {
    /// The name of the bin; `None` for operations on the whole record.
    #[getter]
    fn bin_name(&self) -> Option<&str> {
        Some(self.name_text()).filter(|name| !name.is_empty())
    }

    fn __eq__(&self, other: &Self) -> bool {
        let parts = |o: &Self| (o.what, o.kind, o.particle_type, o.name_len);
        parts(self) == parts(other) && *self.bytes == *other.bytes
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.kind, self.particle_type, self.name_len, &*self.bytes).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let name = slf.get_type().name()?;
        let this = slf.get();
        let bin = PyString::new(slf.py(), this.name_text()).repr()?;
        Ok(format!("<{name} on {bin}, {} bytes>", this.value().1.len()))
    }
}

fn made(py: Python<'_>, base: BaseOperation) -> PyResult<Py<Operation>> {
    Py::new(py, (Operation, base))
}

#[pymethods]
impl Operation {
    /// Reads all bins.
    #[staticmethod]
    fn get(py: Python<'_>) -> PyResult<Py<Self>> {
        made(py, BaseOperation::bare(OperationKind::ReadAll, op::READ))
    }

    /// Reads one bin.
    #[staticmethod]
    fn get_bin(bin_name: &Bound<'_, PyString>) -> PyResult<Py<Self>> {
        let name = checked_name(bin_name)?;
        made(bin_name.py(), BaseOperation::of(OperationKind::Read, op::READ, particle_type::NIL, name, &[]))
    }

    /// Reads no bins, only the generation and expiration.
    #[staticmethod]
    fn get_header(py: Python<'_>) -> PyResult<Py<Self>> {
        made(py, BaseOperation::bare(OperationKind::ReadHeader, op::READ))
    }

    /// Writes a bin; `None` removes it.
    #[staticmethod]
    fn put(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        made(bin_name.py(), BaseOperation::with_value(op::WRITE, bin_name, value)?)
    }

    /// Adds to an int or float bin; creates the bin if it is missing.
    #[staticmethod]
    fn add(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        made(bin_name.py(), BaseOperation::with_value(op::INCR, bin_name, value)?)
    }

    /// Appends to a str or bytes bin; creates the bin if it is missing.
    #[staticmethod]
    fn append(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        made(bin_name.py(), BaseOperation::with_value(op::APPEND, bin_name, value)?)
    }

    /// Prepends to a str or bytes bin; creates the bin if it is missing.
    #[staticmethod]
    fn prepend(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        made(bin_name.py(), BaseOperation::with_value(op::PREPEND, bin_name, value)?)
    }

    /// Resets the TTL and increments the generation. Fails if the record does not exist.
    #[staticmethod]
    fn touch(py: Python<'_>) -> PyResult<Py<Self>> {
        made(py, BaseOperation::bare(OperationKind::Write, op::TOUCH))
    }

    /// Deletes the record.
    #[staticmethod]
    fn delete(py: Python<'_>) -> PyResult<Py<Self>> {
        made(py, BaseOperation::bare(OperationKind::Write, op::DELETE))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, this) = (slf.py(), slf.as_super().get());
        let name = PyString::new(py, this.name_text()).repr()?;
        let call = match (this.what, this.kind) {
            (OperationKind::ReadAll, _) => return Ok("Operation.get()".to_owned()),
            (OperationKind::ReadHeader, _) => return Ok("Operation.get_header()".to_owned()),
            (OperationKind::Read, _) => return Ok(format!("Operation.get_bin({name})")),
            (OperationKind::Write, op::TOUCH) => return Ok("Operation.touch()".to_owned()),
            (OperationKind::Write, op::DELETE) => return Ok("Operation.delete()".to_owned()),
            (OperationKind::Write, op::INCR) => "add",
            (OperationKind::Write, op::APPEND) => "append",
            (OperationKind::Write, op::PREPEND) => "prepend",
            (OperationKind::Write, _) => "put",
        };
        let (kind, bytes) = this.value();
        let value = value::decode(py, kind, bytes)?;
        Ok(format!("Operation.{call}({name}, {})", value.bind(py).repr()?))
    }
}

/// The operations of a call, taken out of a sequence.
pub(crate) struct Operations<'py>(Vec<Bound<'py, BaseOperation>>);

impl<'py> Operations<'py> {
    /// From an iterable of operations.
    ///
    /// Raises `TypeError` if one is none, and `InvalidArgumentError` if there are none or too many.
    pub(crate) fn of(operations: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = operations.py();
        let mut list = Vec::with_capacity(operations.len().unwrap_or(0).min(check::MAX_OPS));
        for (index, operation) in operations.try_iter()?.enumerate() {
            list.push(operation?.cast_into::<BaseOperation>().map_err(|e| {
                let kind = e.into_inner().get_type();
                PyTypeError::new_err(format!("operations[{index}] must be an operation, not {kind}"))
            })?);
            check::count(list.len(), "operations").map_err(|e| errors::to_py(py, &e))?;
        }
        if list.is_empty() {
            return Err(errors::invalid_argument(py, "there are no operations to carry out"));
        }
        Ok(Self(list))
    }

    /// Whether any of them can change the record: then the call goes to the master and can be in doubt.
    pub(crate) fn write(&self) -> bool {
        self.iter().any(|operation| operation.what == OperationKind::Write)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BaseOperation> {
        self.0.iter().map(Bound::get)
    }
}

/// Whether any of the operations can change a record. Takes the same operations as `operate`.
///
/// Raises `TypeError` if one of them is not an operation, and `InvalidArgumentError` if there are none.
#[pyfunction]
fn has_any_write_op(operations: &Bound<'_, PyAny>) -> PyResult<bool> {
    Operations::of(operations).map(|operations| operations.write())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BaseOperation>()?;
    module.add_class::<Operation>()?;
    module.add_class::<list::ListOperation>()?;
    module.add_class::<map::MapOperation>()?;
    module.add_class::<bit::BitOperation>()?;
    module.add_class::<hll::HllOperation>()?;
    module.add_class::<string::StringOperation>()?;
    module.add_class::<path::CdtOperation>()?;
    module.add_class::<exp::ExpOperation>()?;
    module.add_function(wrap_pyfunction!(has_any_write_op, module)?)
}
