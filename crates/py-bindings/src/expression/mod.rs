//! `FilterExpression`: expressions that the server evaluates, encoded when they are made.
//!
//! An expression is msgpack: a constant, or a list of an operation's number and its arguments, which are expressions
//! themselves. So an expression here *is* its bytes, and one that contains others copies theirs; nothing is left to do
//! when it is sent. Numbers and the order of arguments are those of aerospike-core 3.0.0 (`tests/python/test_peers.py`
//! compares each constructor with it).
//!
//! * [`table`]: how constructors are defined; the other modules are tables, by what the constructors are about
//! * [`part`]: what expressions are put together from

mod arithmetic;
mod bits;
mod hll;
mod lists;
mod literals;
mod logic;
mod loops;
mod maps;
mod part;
mod paths;
mod records;
mod strings;
mod table;

use std::hash::{DefaultHasher, Hash, Hasher};

use aerospike_core::expressions::{Expression, from_packed_bytes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pyo3::prelude::*;

use crate::errors;
pub(crate) use part::Exp;
pub(crate) use paths::values_of_bin;

/// Deepest nesting of expressions in expressions. (The reader of msgpack has a bound, too, for what comes from outside.)
const MAX_DEPTH: u16 = 256;
/// Most bytes of an expression: more do not fit into a request.
const MAX_BYTES: usize = aerolane_wire::proto::MAX_BODY_SIZE;

/// An expression that the server evaluates: `FilterExpression.gt(FilterExpression.int_bin("age"), FilterExpression.int_val(17))`.
///
/// As `filter_expression` of a policy, it decides for each record whether the call does anything. If it is false or
/// cannot be evaluated, the call raises `FilteredOutError`; a query leaves the record out of its results.
/// `ExpOperation` returns the value of an expression or writes it to a bin.
///
/// All constructors are static methods. The argument `ctx` selects a nested list or map: a sequence of `CTX`, empty for
/// the bin itself. The argument `bin` is the operand: a bin (`list_bin("a")`) or any expression of the right type. The
/// server checks the types and answers with `ResultCode.PARAMETER_ERROR` if they do not fit.
///
/// Expressions are immutable, encoded on creation, and can be reused, from any number of threads. Two expressions are
/// equal if their encodings are equal. They can be pickled.
///
/// Constructors raise `TypeError` for an argument of the wrong type, `OverflowError` for ints of more than 64 bits, and
/// `InvalidArgumentError` (a `ValueError`) for values that cannot be sent, empty sequences of expressions and nesting
/// of more than 256 levels.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct FilterExpression {
    bytes: Box<[u8]>,
    depth: u16,
    /// The name and value of a variable: no expression by itself, and good only for `exp_let`.
    definition: bool,
}

impl FilterExpression {
    /// The msgpack.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// From the compiler of texts.
    pub(crate) fn compiled(compiled: aerolane::ael::Compiled) -> Self {
        let depth = compiled.depth();
        Self { bytes: compiled.into_bytes(), depth, definition: false }
    }

    /// As aerospike-core takes it.
    pub(crate) fn to_core(&self) -> Expression {
        from_packed_bytes(self.bytes.to_vec())
    }

    /// From aerospike-core's.
    pub(crate) fn from_core(py: Python<'_>, expression: &Expression) -> PyResult<Self> {
        let text = expression.base64().map_err(|e| errors::invalid_argument(py, e.to_string()))?;
        Self::of_base64(py, &text)
    }

    fn of_base64(py: Python<'_>, text: &str) -> PyResult<Self> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|e| errors::no_base64(py, format!("this is not the base64 of an expression: {e}")))?;
        // What they mean is for the server to judge, also whether they mean something: it may know more than this version.
        Ok(Self { bytes: bytes.into(), depth: 1, definition: false })
    }
}

#[pymethods]
impl FilterExpression {
    /// The encoded expression as base64 text, as accepted by other clients and `from_base64`.
    fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// Decodes the text of `base64`, also of other clients.
    ///
    /// The bytes are not checked; the server refuses invalid ones. Raises `Base64DecodeError` (a `ValueError`) for text
    /// that is not base64.
    #[staticmethod]
    fn from_base64(py: Python<'_>, b64: &str) -> PyResult<Self> {
        Self::of_base64(py, b64)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.definition == other.definition
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("FilterExpression.from_base64('{}')", self.base64())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        if self.definition {
            return Err(errors::invalid_argument(py, "a definition can be pickled only inside its exp_let"));
        }
        Ok((py.get_type::<Self>().getattr("from_base64")?, (self.base64(),)))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FilterExpression>()?;
    module.add_function(wrap_pyfunction!(logic::in_list, module)?)?;
    module.add_function(wrap_pyfunction!(logic::map_keys, module)?)?;
    module.add_function(wrap_pyfunction!(logic::map_values, module)?)
}
