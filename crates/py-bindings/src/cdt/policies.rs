//! The policies of operations on lists, maps, blobs and HLLs.

use aerolane::sync::Mutex;
use aerolane_wire::msgpack::order::PERSIST_INDEX;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::flags::map_write_flags;
use super::{ByteFlags, Choice, ListOrder, MapOrder, MapWriteMode};
use crate::policy::enums::Named;

/// Flags that fit into a byte, as policies have them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteFlags(u8);

impl WriteFlags {
    pub(crate) fn number(self) -> i64 {
        i64::from(self.0)
    }
}

impl<'py> FromPyObject<'_, 'py> for WriteFlags {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // They were checked: they fit.
        Ok(Self(value.extract::<ByteFlags>()?.0 as u8))
    }
}

/// How list operations create lists and what they refuse: the order of new lists (`ListOrderType`, default UNORDERED)
/// and write flags (`ListWriteFlags` or an int, default none).
///
/// An operation uses the settings as they are when the operation is created. Raises `TypeError` and
/// `InvalidArgumentError` for other values.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ListPolicy(Mutex<(ListOrder, WriteFlags)>);

impl ListPolicy {
    fn state(&self) -> (ListOrder, WriteFlags) {
        *self.0.lock()
    }

    /// The order of lists that are created, as requests say it.
    pub(crate) fn order_number(&self) -> i64 {
        i64::from(self.state().0 as u8)
    }

    /// The write flags, as requests say them.
    pub(crate) fn flags_number(&self) -> i64 {
        self.state().1.number()
    }
}

#[pymethods]
impl ListPolicy {
    #[new]
    #[pyo3(signature = (order=None, write_flags=None))]
    fn new(order: Option<Choice<ListOrder>>, write_flags: Option<WriteFlags>) -> Self {
        let order = order.map_or(ListOrder::Unordered, |order| order.0);
        Self(Mutex::new((order, write_flags.unwrap_or_default())))
    }

    /// The order of lists that an operation creates.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.state().0.to_python(py)
    }

    #[setter]
    fn set_order(&self, value: Choice<ListOrder>) {
        self.0.lock().0 = value.0;
    }

    /// What is refused, and how: bits of `ListWriteFlags`.
    #[getter]
    fn write_flags(&self) -> i64 {
        self.flags_number()
    }

    #[setter]
    fn set_write_flags(&self, value: WriteFlags) {
        self.0.lock().1 = value;
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.state() == other.state()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (order, flags) = self.state();
        Ok(format!("ListPolicy(order={}, write_flags={})", order.to_python(py)?.bind(py), flags.0))
    }

    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, i64)> {
        Ok((self.order(py)?, self.write_flags()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapState {
    order: MapOrder,
    flags: WriteFlags,
    persist_index: bool,
}

/// How map operations create maps and what they refuse: the order of new maps (`MapOrder`, default UNORDERED), how keys
/// are written (`MapWriteMode`, or `MapWriteFlags`, which take precedence), and whether the index of a new map is
/// stored with it (default False).
///
/// An operation uses the settings as they are when the operation is created. Raises `TypeError` and
/// `InvalidArgumentError` for other values.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct MapPolicy(Mutex<MapState>);

impl MapPolicy {
    fn of(order: Option<Choice<MapOrder>>, flags: WriteFlags, persist_index: bool) -> Self {
        let order = order.map_or(MapOrder::Unordered, |order| order.0);
        Self(Mutex::new(MapState { order, flags, persist_index }))
    }

    fn state(&self) -> MapState {
        *self.0.lock()
    }

    /// The order of maps that are created, as requests say it.
    pub(crate) fn order_number(&self) -> i64 {
        i64::from(self.state().order as u8)
    }

    /// The order, and whether the index is stored.
    pub(crate) fn attributes(&self) -> i64 {
        let MapState { order, persist_index, .. } = self.state();
        i64::from(order as u8 | if persist_index { PERSIST_INDEX } else { 0 })
    }

    /// The write flags, as requests say them; none are left out.
    pub(crate) fn flags_number(&self) -> Option<i64> {
        Some(self.state().flags.number()).filter(|flags| *flags != 0)
    }

    /// Whether pairs are sent in the order of their keys.
    pub(crate) fn is_ordered(&self) -> bool {
        self.state().order != MapOrder::Unordered
    }
}

#[pymethods]
impl MapPolicy {
    #[new]
    #[pyo3(signature = (order=None, write_mode=None, flags=None, persist_index=None))]
    fn new(
        order: Option<Choice<MapOrder>>,
        write_mode: Option<Choice<MapWriteMode>>,
        flags: Option<WriteFlags>,
        persist_index: Option<bool>,
    ) -> Self {
        let flags = flags.unwrap_or_else(|| WriteFlags(write_mode.map_or(0, |mode| mode.0 as u8)));
        Self::of(order, flags, persist_index.unwrap_or(false))
    }

    /// A policy with an order and write flags.
    #[classmethod]
    fn new_with_flags(_class: &Bound<'_, PyType>, order: Option<Choice<MapOrder>>, flags: WriteFlags) -> Self {
        Self::of(order, flags, false)
    }

    /// A policy with an order, write flags, and a stored index.
    #[classmethod]
    fn new_with_flags_and_persisted_index(
        _class: &Bound<'_, PyType>,
        order: Option<Choice<MapOrder>>,
        flags: WriteFlags,
    ) -> Self {
        Self::of(order, flags, true)
    }

    /// The order of maps that an operation creates.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.state().order.to_python(py)
    }

    #[setter]
    fn set_order(&self, value: Choice<MapOrder>) {
        self.0.lock().order = value.0;
    }

    /// How keys are written; the same as two bits of `flags`.
    #[getter]
    fn write_mode(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let WriteFlags(flags) = self.state().flags;
        let mode = [MapWriteMode::UpdateOnly, MapWriteMode::CreateOnly];
        let mode = mode.into_iter().find(|mode| flags & *mode as u8 != 0);
        mode.unwrap_or(MapWriteMode::Update).to_python(py)
    }

    #[setter]
    fn set_write_mode(&self, value: Choice<MapWriteMode>) {
        const MODES: u8 = MapWriteMode::CreateOnly as u8 | MapWriteMode::UpdateOnly as u8;
        let WriteFlags(flags) = &mut self.0.lock().flags;
        *flags = *flags & !MODES | value.0 as u8;
    }

    /// The write flags: a member of `MapWriteFlags`, or an int for several.
    #[getter]
    fn flags(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let flags = self.raw_flags();
        match map_write_flags(py)?.call1((flags,)) {
            Ok(member) => Ok(member.unbind()),
            Err(_) => flags.into_py_any(py),
        }
    }

    #[setter]
    fn set_flags(&self, value: WriteFlags) {
        self.0.lock().flags = value;
    }

    /// The write flags as an int.
    #[getter]
    fn raw_flags(&self) -> i64 {
        self.state().flags.number()
    }

    /// Whether the index of a new map is stored with it.
    #[getter]
    fn persist_index(&self) -> bool {
        self.state().persist_index
    }

    #[setter]
    fn set_persist_index(&self, value: bool) {
        self.0.lock().persist_index = value;
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.state() == other.state()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let MapState { order, flags, persist_index } = self.state();
        let persist_index = if persist_index { "True" } else { "False" };
        let order = order.to_python(py)?;
        Ok(format!("MapPolicy(order={}, flags={}, persist_index={persist_index})", order.bind(py), flags.0))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.order(py)?, py.None(), self.raw_flags(), self.persist_index()).into_bound_py_any(py)
    }
}

/// Write flags of bit operations: what they refuse (`BitWriteFlags` or an int, default none).
///
/// An operation uses the settings as they are when the operation is created. Raises `TypeError` and
/// `InvalidArgumentError` for other values.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct BitPolicy(Mutex<WriteFlags>);

impl BitPolicy {
    pub(crate) fn flags_number(&self) -> i64 {
        self.0.lock().number()
    }
}

#[pymethods]
impl BitPolicy {
    #[new]
    #[pyo3(signature = (write_flags=None))]
    fn new(write_flags: Option<WriteFlags>) -> Self {
        Self(Mutex::new(write_flags.unwrap_or_default()))
    }

    /// What is refused, and how: bits of `BitWriteFlags`.
    #[getter(write_flags)]
    fn flags(&self) -> i64 {
        self.flags_number()
    }

    /// The same.
    fn get_write_flags(&self) -> i64 {
        self.flags_number()
    }

    /// Sets `write_flags`.
    fn set_write_flags(&self, flags: WriteFlags) {
        *self.0.lock() = flags;
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.flags_number() == other.flags_number()
    }

    fn __repr__(&self) -> String {
        format!("BitPolicy(write_flags={})", self.flags_number())
    }

    fn __getnewargs__(&self) -> (i64,) {
        (self.flags_number(),)
    }
}

/// Write flags of HLL operations: what they refuse (`HLLWriteFlags` or an int, default none).
///
/// An operation uses the settings as they are when the operation is created. Raises `TypeError` and
/// `InvalidArgumentError` for other values.
#[pyclass(frozen, module = "aerolane.native", name = "HLLPolicy")]
pub(crate) struct HllPolicy(Mutex<WriteFlags>);

impl HllPolicy {
    pub(crate) fn flags_number(&self) -> i64 {
        self.0.lock().number()
    }
}

#[pymethods]
impl HllPolicy {
    #[new]
    #[pyo3(signature = (write_flags=None))]
    fn new(write_flags: Option<WriteFlags>) -> Self {
        Self(Mutex::new(write_flags.unwrap_or_default()))
    }

    /// What is refused, and how: bits of `HLLWriteFlags`.
    #[getter]
    fn write_flags(&self) -> i64 {
        self.flags_number()
    }

    #[setter(write_flags)]
    fn change_write_flags(&self, value: WriteFlags) {
        *self.0.lock() = value;
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.flags_number() == other.flags_number()
    }

    fn __repr__(&self) -> String {
        format!("HLLPolicy(write_flags={})", self.flags_number())
    }

    fn __getnewargs__(&self) -> (i64,) {
        (self.flags_number(),)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ListPolicy>()?;
    module.add_class::<MapPolicy>()?;
    module.add_class::<BitPolicy>()?;
    module.add_class::<HllPolicy>()
}
