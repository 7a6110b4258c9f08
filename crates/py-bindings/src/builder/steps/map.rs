//! Steps on maps.

use aerolane_wire::msgpack::order::PERSIST_INDEX;
use aerolane_wire::operation::map;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cdt::{Choice, MapOrder};
use crate::operation::map::pairs;
use crate::operation::{BaseOperation, Kind};

/// Bits of `MapWriteFlags`.
pub(in crate::builder) const CREATE_ONLY: i64 = 1;
pub(in crate::builder) const UPDATE_ONLY: i64 = 2;
const NO_FAIL: i64 = 4;
const PARTIAL: i64 = 8;

/// An operation on a map.
pub(in crate::builder) fn map_op<K: Kind>(
    name: &Bound<'_, PyString>,
    encode: impl FnOnce(&mut Vec<u8>) -> K,
) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, encode)
}

/// How pairs are put into a map.
pub(in crate::builder) struct Putting {
    /// Which keys are refused.
    pub(in crate::builder) refuses: i64,
    pub(in crate::builder) order: Option<Choice<MapOrder>>,
    pub(in crate::builder) persist_index: bool,
    pub(in crate::builder) no_fail: bool,
    pub(in crate::builder) partial: bool,
}

/// Puts pairs into a map.
pub(in crate::builder) fn put_items(
    name: &Bound<'_, PyString>,
    items: &Bound<'_, PyAny>,
    how: &Putting,
) -> PyResult<BaseOperation> {
    let order = how.order.map_or(MapOrder::Unordered, |order| order.0);
    let attributes = order as u8 | if how.persist_index { PERSIST_INDEX } else { 0 };
    let flags = how.refuses | if how.no_fail { NO_FAIL } else { 0 } | if how.partial { PARTIAL } else { 0 };
    let ordered = order != MapOrder::Unordered;
    map_op(name, |out| {
        map::put_items(out, pairs(items, ordered), i64::from(attributes), Some(flags).filter(|flags| *flags != 0))
    })
}

macro_rules! map_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads the number of entries.
            map_size() = |name| map_op(name, wire::map::size);
        }
    };
}

macro_rules! map_writes {
    ($class:ident) => {
        $crate::builder::steps::map::map_writes! {
            @ $class;
            /// Writes entries, given as a mapping or a sequence of pairs. Creates the map if it is missing. Returns the
            /// new size.
            ///
            /// `order` and `persist_index` apply to a map that is created. `no_fail` turns an entry that cannot be
            /// written into a no-op; with `partial` as well, the other entries are still written.
            map_upsert_items: 0;
            /// Writes entries whose keys the map does not have. Fails for the others. Takes the same arguments as
            /// `map_upsert_items`.
            map_insert_items: CREATE_ONLY;
            /// Writes entries whose keys the map has. Fails for the others. Takes the same arguments as
            /// `map_upsert_items`.
            map_update_items: UPDATE_ONLY;
        }
        $crate::builder::steps::steps! {
            $class;
            /// Removes all entries.
            map_clear() = |name| map_op(name, wire::map::clear);
            /// Creates the map if it is missing.
            map_create(order: Choice<MapOrder>)
                = |name| map_operation::creation(name, order.0, false);
            /// Sets the order of the map. Creates the map if it is missing.
            map_set_policy(order: Choice<MapOrder>)
                = |name| map_op(name, |out| {
                    wire::map::set_type(out, i64::from(order.0 as u8))
                });
        }
    };
    (@ $class:ident; $( $(#[$doc:meta])* $name:ident: $refuses:expr; )*) => {
        $crate::builder::steps::steps! {
            $class;
            $(
                $(#[$doc])*
                #[pyo3(signature = (items, *, order=None, persist_index=false, no_fail=false, partial=false))]
                $name(
                    items: Bound<'py, PyAny>, order: Option<Choice<MapOrder>>,
                    persist_index: bool, no_fail: bool, partial: bool
                ) = |name| {
                    let how = Putting {
                        refuses: $refuses, order, persist_index, no_fail, partial
                    };
                    name.check_persisted(persist_index)?;
                    put_items(name, &items, &how)
                };
            )*
        }
    };
}

pub(in crate::builder) use {map_reads, map_writes};
