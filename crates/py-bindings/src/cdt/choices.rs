//! Settings that are one of a few names.

use pyo3::prelude::*;

use crate::policy::enums::{self, Named, python_enum};

/// A member of an enumeration as an argument. Raises `TypeError` for what is none.
#[derive(Clone, Copy)]
pub(crate) struct Choice<T>(pub(crate) T);

impl<'py, T: Named> FromPyObject<'_, 'py> for Choice<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        T::from_python(&value, "this").map(Self)
    }
}

/// The type of an expression's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpType {
    Nil = 0,
    Bool = 1,
    Int = 2,
    String = 3,
    List = 4,
    Map = 5,
    Blob = 6,
    Float = 7,
    Geo = 8,
    Hll = 9,
}

python_enum! {
    /// The type of an expression's value, for `FilterExpression` constructors that cannot infer it.
    "ExpType": ExpType {
        NIL = 0 => Self::Nil, BOOL = 1 => Self::Bool, INT = 2 => Self::Int, STRING = 3 => Self::String,
        LIST = 4 => Self::List, MAP = 5 => Self::Map, BLOB = 6 => Self::Blob, FLOAT = 7 => Self::Float,
        GEO = 8 => Self::Geo, HLL = 9 => Self::Hll,
    }
}

/// The order of a list. Numbers are those of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListOrder {
    Unordered = 0,
    Ordered = 1,
}

python_enum! {
    /// The order of a list. UNORDERED (the default): items stay where they were put. ORDERED: sorted by value.
    "ListOrderType": ListOrder { UNORDERED = 0 => Self::Unordered, ORDERED = 1 => Self::Ordered }
}

/// How a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSort {
    Default = 0,
    Descending = 1,
    DropDuplicates = 2,
}

python_enum! {
    /// How a list is sorted. DEFAULT: ascending, keeping duplicates. DESCENDING: in the opposite order.
    /// DROP_DUPLICATES: ascending, keeping one of several equal items.
    "ListSortFlags": ListSort {
        DEFAULT = 0 => Self::Default, DESCENDING = 1 => Self::Descending, DROP_DUPLICATES = 2 => Self::DropDuplicates,
    }
}

/// The order of a map. Numbers are those of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapOrder {
    Unordered = 0,
    KeyOrdered = 1,
    KeyValueOrdered = 3,
}

python_enum! {
    /// The order of a map. UNORDERED (the default). KEY_ORDERED: sorted by key. KEY_VALUE_ORDERED: sorted by key, with
    /// an additional index by value.
    "MapOrder": MapOrder {
        UNORDERED = 0 => Self::Unordered, KEY_ORDERED = 1 => Self::KeyOrdered, KEY_VALUE_ORDERED = 3 => Self::KeyValueOrdered,
    }
}

/// What a map operation does with keys that exist, or do not. Numbers are those of write flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapWriteMode {
    Update = 0,
    CreateOnly = 1,
    UpdateOnly = 2,
}

python_enum! {
    /// How a map operation writes keys. UPDATE (the default): creates or replaces entries. UPDATE_ONLY: fails for a key
    /// that does not exist. CREATE_ONLY: fails for a key that exists.
    "MapWriteMode": MapWriteMode {
        UPDATE = 0 => Self::Update, UPDATE_ONLY = 1 => Self::UpdateOnly, CREATE_ONLY = 2 => Self::CreateOnly,
    }
}

/// What happens when the result of bit arithmetic does not fit. Numbers are those of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    Fail = 0,
    Saturate = 2,
    Wrap = 4,
}

impl Overflow {
    /// As requests say it.
    pub(crate) const fn number(self, signed: bool) -> i64 {
        self as i64 | signed as i64
    }
}

python_enum! {
    /// What happens if the result of bit arithmetic does not fit. FAIL: an error. SATURATE: the result becomes the
    /// largest or smallest number that fits. WRAP: its high bits are cut off.
    "BitwiseOverflowActions": Overflow { FAIL = 0 => Self::Fail, SATURATE = 2 => Self::Saturate, WRAP = 4 => Self::Wrap }
}

/// How a blob is resized. Numbers are those of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resize {
    Default = 0,
    FromFront = 1,
    GrowOnly = 2,
    ShrinkOnly = 4,
}

python_enum! {
    /// How a blob is resized. DEFAULT: bytes are added or removed at the end. FROM_FRONT: at the front. GROW_ONLY: it
    /// never gets shorter. SHRINK_ONLY: it never gets longer.
    "BitwiseResizeFlags": Resize {
        DEFAULT = 0 => Self::Default, FROM_FRONT = 1 => Self::FromFront, GROW_ONLY = 2 => Self::GrowOnly,
        SHRINK_ONLY = 4 => Self::ShrinkOnly,
    }
}

/// What counts as a number in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumericType {
    Any = 0,
    Int = 1,
    Float = 2,
}

python_enum! {
    /// What counts as a number in a string: ANY, integers (INT), or floating-point numbers (FLOAT).
    "StringNumericType": NumericType { ANY = 0 => Self::Any, INT = 1 => Self::Int, FLOAT = 2 => Self::Float }
}

/// What of the current element of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopVarPart {
    MapKey = 0,
    Value = 1,
    Index = 2,
}

python_enum! {
    /// Which part of the current element an expression inside a path uses: its key (in a map), its value, or its index
    /// (in a list). Server 8.1.1 and later.
    "LoopVarPart": LoopVarPart { MAP_KEY = 0 => Self::MapKey, VALUE = 1 => Self::Value, INDEX = 2 => Self::Index }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fn add<T: Named>(module: &Bound<'_, PyModule>) -> PyResult<()> {
        T::class(module.py())?.setattr("__module__", "aerolane.native")?; // where pickle finds it
        enums::add::<T>(module)
    }
    add::<ExpType>(module)?;
    add::<ListOrder>(module)?;
    add::<ListSort>(module)?;
    add::<MapOrder>(module)?;
    add::<MapWriteMode>(module)?;
    add::<Overflow>(module)?;
    add::<Resize>(module)?;
    add::<NumericType>(module)?;
    add::<LoopVarPart>(module)
}
