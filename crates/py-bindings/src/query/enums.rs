//! Enumerations of indexes, functions and tasks.

use aerospike_core as core;
use pyo3::prelude::*;

use crate::policy::enums::{Named, python_enum};

python_enum! {
    /// Which part of a bin an index covers.
    ///
    /// DEFAULT: the bin's value. LIST: each element of a list. MAP_KEYS, MAP_VALUES: each key or each value of a map.
    /// SET: the records of a set (`create_set_index`).
    "CollectionIndexType": core::CollectionIndexType {
        DEFAULT = 0 => Self::Default, LIST = 1 => Self::List, MAP_KEYS = 2 => Self::MapKeys,
        MAP_VALUES = 3 => Self::MapValues, SET = 4 => Self::Set,
    }
}
python_enum! {
    /// The type of the values in an index.
    ///
    /// NUMERIC: ints. INTEGER: the same, under its name since server 8.2. STRING, BLOB. GEO2D_SPHERE: points and
    /// regions in GeoJSON.
    "IndexType": Indexed {
        NUMERIC = 0 => Self::Numeric, STRING = 1 => Self::String, GEO2D_SPHERE = 2 => Self::Geo2DSphere,
        INTEGER = 3 => Self::Integer, BLOB = 4 => Self::Blob,
    }
}

/// The type of the values in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexed {
    Numeric,
    String,
    Geo2DSphere,
    Integer,
    Blob,
}

impl From<Indexed> for core::IndexType {
    fn from(kind: Indexed) -> Self {
        match kind {
            Indexed::Numeric => Self::Numeric,
            Indexed::String => Self::String,
            Indexed::Geo2DSphere => Self::Geo2DSphere,
            Indexed::Integer => Self::Integer,
            Indexed::Blob => Self::Blob,
        }
    }
}

python_enum! {
    /// How the servers find the records for a condition (`Client.query_explain`).
    ///
    /// PRIMARY_INDEX: they read all records. SECONDARY_INDEX: they read a range of an index. FILTERED_OUT: no record
    /// can match.
    "QuerySelection": core::QuerySelection {
        PRIMARY_INDEX = 0 => Self::PrimaryIndex, SECONDARY_INDEX = 1 => Self::SecondaryIndex,
        FILTERED_OUT = 2 => Self::FilteredOut,
    }
}

/// The language of a UDF module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Lua,
}

python_enum! {
    /// The language of a UDF module. There is one.
    "UDFLang": Language { LUA = 0 => Self::Lua }
}

python_enum! {
    /// The status of a task. NOT_FOUND: the servers do not know it, or not any more. IN_PROGRESS: it is running.
    /// COMPLETE: it has finished.
    "TaskStatus": core::task::Status {
        NOT_FOUND = 0 => Self::NotFound, IN_PROGRESS = 1 => Self::InProgress, COMPLETE = 2 => Self::Complete,
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fn add<T: Named>(module: &Bound<'_, PyModule>) -> PyResult<()> {
        T::class(module.py())?.setattr("__module__", "aerolane.native")?; // where pickle finds it
        module.add(T::NAME, T::class(module.py())?)
    }
    add::<core::CollectionIndexType>(module)?;
    add::<Indexed>(module)?;
    add::<core::QuerySelection>(module)?;
    add::<Language>(module)?;
    add::<core::task::Status>(module)
}
