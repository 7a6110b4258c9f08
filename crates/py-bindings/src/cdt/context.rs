//! `CTX`: the way to a nested list or map.

use std::hash::{DefaultHasher, Hash, Hasher};

use aerolane_wire::msgpack::{Element, Reader, Writer};
use aerolane_wire::operation::context::{self, Level, NESTED, create};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::{Choice, ListOrder, MapOrder};
use crate::errors;
use crate::expression::Exp;
use crate::small_bytes::SmallBytes;
use crate::value::{self, Refused};

/// Most levels of a context.
const MAX_LEVELS: usize = 256;

/// One step of the path to a nested list or map: `[CTX.map_key("orders"), CTX.list_index(-1)]` is the last item of the
/// list stored under `"orders"`.
///
/// Created by static methods, immutable, and encoded on creation. Negative indexes and ranks count from the end.
///
/// The methods raise `TypeError` for an argument of the wrong type, `OverflowError` for ints of more than 64 bits, and
/// `InvalidArgumentError` for values that cannot be sent.
#[pyclass(frozen, module = "aerolane.native", name = "CTX")]
#[derive(Clone)]
pub(crate) struct Context {
    id: u16,
    /// One msgpack element.
    value: SmallBytes<40>,
    /// Nesting of the expression in it.
    depth: u16,
}

impl Context {
    fn of(encode: impl FnOnce(&mut Vec<u8>) -> u16) -> Self {
        let mut value = Vec::with_capacity(16);
        let id = encode(&mut value);
        Self { id, value: SmallBytes::concat([&value]), depth: 0 }
    }

    fn with_value(
        given: &Bound<'_, PyAny>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<u16, Refused>,
    ) -> PyResult<Self> {
        let mut value = Vec::with_capacity(32);
        let id = encode(&mut value).map_err(|refused| refused.into_py(given.py(), "the value of a CTX"))?;
        Ok(Self { id, value: SmallBytes::concat([&value]), depth: 0 })
    }

    /// A step without an expression in it.
    pub(crate) fn from_level(id: u16, value: &[u8]) -> Self {
        Self { id, value: SmallBytes::concat([value]), depth: 0 }
    }

    /// [`all_children`](Self::all_children), for builders.
    pub(crate) fn each_child() -> Self {
        Self::of(context::all_children)
    }

    /// [`all_children_with_filter`](Self::all_children_with_filter), for builders.
    pub(crate) fn each_child_where(exp: &Exp) -> Self {
        let depth = exp.depth();
        Self { depth, ..Self::of(|value| context::all_children_with_filter(value, exp.bytes())) }
    }

    /// [`map_keys_in`](Self::map_keys_in), for builders.
    pub(crate) fn keys_in(keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::map_keys_in(keys)
    }

    /// [`and_filter`](Self::and_filter), for builders.
    pub(crate) fn filtered(exp: &Exp) -> Self {
        let depth = exp.depth();
        Self { depth, ..Self::of(|value| context::and_filter(value, exp.bytes())) }
    }

    fn level(&self) -> Level<'_> {
        (self.id, &self.value)
    }
}

#[pymethods]
impl Context {
    /// The item of a list at an index.
    #[staticmethod]
    pub(crate) fn list_index(index: i64) -> Self {
        Self::of(|value| context::list_index(value, index))
    }

    /// The item of a list at an index; if there is none, creates a list of this order. `pad`: if the enclosing list is
    /// shorter than the index, pads it with nil (no effect on an ordered list).
    #[staticmethod]
    pub(crate) fn list_index_create(index: i64, order: Choice<ListOrder>, pad: bool) -> Self {
        Self::of(|value| context::list_index_create(value, index, create::list(order.0 as u8, pad)))
    }

    /// The item of a list at a rank: 0 is the smallest.
    #[staticmethod]
    pub(crate) fn list_rank(rank: i64) -> Self {
        Self::of(|value| context::list_rank(value, rank))
    }

    /// The first item of a list that is equal to a value.
    #[staticmethod]
    pub(crate) fn list_value(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(value, |out| context::list_value(out, |writer| value::pack_comparable(writer, value)))
    }

    /// The value of a map at an index, in the order of keys.
    #[staticmethod]
    pub(crate) fn map_index(index: i64) -> Self {
        Self::of(|value| context::map_index(value, index))
    }

    /// The value of a map at a rank: 0 is the smallest.
    #[staticmethod]
    pub(crate) fn map_rank(rank: i64) -> Self {
        Self::of(|value| context::map_rank(value, rank))
    }

    /// The value of a key of a map.
    #[staticmethod]
    pub(crate) fn map_key(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(key, |out| context::map_key(out, |writer| value::pack_key(writer, key)))
    }

    /// The value of a key of a map; if there is none, creates a map of this order.
    #[staticmethod]
    pub(crate) fn map_key_create(key: &Bound<'_, PyAny>, order: Choice<MapOrder>) -> PyResult<Self> {
        let create = create::map(order.0 as u8);
        Self::with_value(key, |out| context::map_key_create(out, |writer| value::pack_key(writer, key), create))
    }

    /// The first value of a map that equals this one. A dict stands for a key-ordered map.
    #[staticmethod]
    pub(crate) fn map_value(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(value, |out| context::map_value(out, |writer| pack_map_value(writer, value)))
    }

    /// All items of a list, or values of a map. Only on paths; server 8.1.1 and later.
    #[staticmethod]
    fn all_children() -> Self {
        Self::each_child()
    }

    /// The items of a list, or values of a map, for which an expression is true. It sees them through
    /// `FilterExpression.int_loop_var` and its like. Only on paths; server 8.1.1 and later.
    #[staticmethod]
    fn all_children_with_filter(exp: Exp) -> Self {
        Self::each_child_where(&exp)
    }

    /// The values of some keys of a map. Only on paths; server 8.1.2 and later.
    #[staticmethod]
    fn map_keys_in(keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(keys, |out| {
            context::map_keys_in(out, |writer| value::pack_items(writer, keys, value::pack_key))
        })
    }

    /// Keeps only those elements selected by the previous step for which an expression is true. Only on paths;
    /// server 8.1.2 and later.
    #[staticmethod]
    fn and_filter(exp: Exp) -> Self {
        Self::filtered(&exp)
    }

    /// Encodes a sequence of CTX as bytes, for `from_bytes` and other clients. Settings for creating lists and maps are
    /// not included.
    #[staticmethod]
    fn to_bytes(py: Python<'_>, ctx: Ctx) -> Bound<'_, PyBytes> {
        PyBytes::new(py, &ctx.address())
    }

    /// The same as `to_bytes`, as base64 text.
    #[staticmethod]
    fn to_base64(ctx: Ctx) -> String {
        STANDARD.encode(ctx.address())
    }

    /// Decodes the output of `to_bytes` to a list of CTX.
    ///
    /// Raises `TypeError` for anything but a bytes-like object, `InvalidArgumentError` for bytes that are not a valid
    /// context.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        from_slice(py, value::bytes_of(bytes)?.as_bytes())
    }

    /// Decodes the output of `to_base64` to a list of CTX.
    ///
    /// Raises `Base64DecodeError` for text that is not base64, `InvalidArgumentError` for bytes that are not a valid
    /// context. Both are `ValueError`s.
    #[staticmethod]
    fn from_base64(py: Python<'_>, b64: &str) -> PyResult<Vec<Self>> {
        let bytes = STANDARD
            .decode(b64)
            .map_err(|e| errors::no_base64(py, format!("this is not the base64 of a context: {e}")))?;
        from_slice(py, &bytes)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.id == other.id && *self.value == *other.value
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.id, &*self.value).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let kind = match self.id & !create::MASK {
            context::id::LIST_INDEX => "list_index",
            context::id::LIST_RANK => "list_rank",
            context::id::LIST_VALUE => "list_value",
            context::id::MAP_INDEX => "map_index",
            context::id::MAP_RANK => "map_rank",
            context::id::MAP_KEY => "map_key",
            context::id::MAP_VALUE => "map_value",
            context::id::MAP_KEYS_IN => "map_keys_in",
            context::id::EXPRESSION => "all_children_with_filter",
            _ => "and_filter",
        };
        let created = if self.id & create::MASK == 0 { "" } else { "_create" };
        format!("<CTX {kind}{created}: {}>", Shown(&self.value))
    }
}

/// A dict stands for a key-ordered map; the server does not compare unordered ones.
fn pack_map_value(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>) -> Result<(), Refused> {
    if value.is_instance_of::<PyDict>() {
        value::pack_comparable_map(writer, value)
    } else {
        value::pack_comparable(writer, value)
    }
}

/// A msgpack element, for people.
struct Shown<'a>(&'a [u8]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Reader::new(self.0).read() {
            Ok(Element::Int(number)) => write!(f, "{number}"),
            Ok(Element::Bytes([_, text @ ..])) if text.len() <= 64 => {
                write!(f, "'{}'", String::from_utf8_lossy(text))
            }
            _ => write!(f, "{} bytes", self.0.len()),
        }
    }
}

fn from_slice(py: Python<'_>, bytes: &[u8]) -> PyResult<Vec<Context>> {
    let levels =
        context::levels(bytes).map_err(|e| errors::invalid_argument(py, format!("not a valid context: {e}")))?;
    if levels.len() > MAX_LEVELS {
        return Err(too_long(py, levels.len()));
    }
    // How deep an expression in it is does not matter any more: the reader has its own bound.
    Ok(levels.into_iter().map(|(id, value)| Context { id, value: SmallBytes::concat([value]), depth: 0 }).collect())
}

#[cold]
fn too_long(py: Python<'_>, levels: usize) -> PyErr {
    errors::invalid_argument(py, format!("a context has {levels} levels, more than {MAX_LEVELS}"))
}

/// A context as an argument: a sequence of CTX, or None for none.
#[derive(Default)]
pub(crate) struct Ctx(Vec<Py<Context>>);

impl<'py> FromPyObject<'_, 'py> for Ctx {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self::default());
        }
        if value.is_instance_of::<PyString>() || value.is_instance_of::<Context>() {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a context is a sequence of CTX, not {kind}")));
        }
        let mut list = Vec::with_capacity(value.len().unwrap_or(0).min(8));
        for level in value.try_iter()? {
            list.push(level?.cast_into::<Context>()?.unbind());
        }
        if list.len() > MAX_LEVELS {
            return Err(too_long(value.py(), list.len()));
        }
        Ok(Self(list))
    }
}

impl Ctx {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// With another step behind its last one.
    pub(crate) fn and(&self, py: Python<'_>, step: Context) -> PyResult<Self> {
        if self.0.len() >= MAX_LEVELS {
            return Err(too_long(py, self.0.len() + 1));
        }
        let mut steps: Vec<_> = self.0.iter().map(|step| step.clone_ref(py)).collect();
        steps.push(Py::new(py, step)?);
        Ok(Self(steps))
    }

    pub(crate) fn levels(&self) -> impl ExactSizeIterator<Item = Level<'_>> {
        self.0.iter().map(|level| level.get().level())
    }

    /// Nesting of the deepest expression.
    pub(crate) fn depth(&self) -> u16 {
        self.0.iter().map(|level| level.get().depth).max().unwrap_or(0)
    }

    /// Whether the first step is one into a list; `None`: there is none.
    pub(crate) fn starts_in_list(&self) -> Option<bool> {
        const LIST: u16 = 0x10;
        self.0.first().map(|level| level.get().id & LIST != 0)
    }

    /// Without what is to be created, as indexes have it.
    fn address(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        context::list(&mut out, self.levels().map(|(id, value)| (id & !create::MASK, value)));
        out
    }

    /// What stands in an expression in front of the operation's list.
    pub(crate) fn begin(&self, writer: &mut Writer<'_>) {
        // With what is to be created: the server does that here, too (other clients leave it out).
        writer.list(3);
        writer.uint(u64::from(NESTED));
        context::list(writer.buffer(), self.levels());
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Context>()
}
