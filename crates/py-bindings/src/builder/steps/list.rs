//! Steps on lists.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::operation::{BaseOperation, Kind};
use crate::value::Refused;

/// Bits of `ListWriteFlags`.
const UNIQUE: i64 = 1;
const BOUNDED: i64 = 2;
const NO_FAIL: i64 = 4;
const PARTIAL: i64 = 8;

/// The write flags that are set.
#[allow(clippy::fn_params_excessive_bools)] // the arguments of the Python methods
pub(in crate::builder) const fn flags(unique: bool, bounded: bool, no_fail: bool, partial: bool) -> Option<i64> {
    Some(
        if unique { UNIQUE } else { 0 }
            | if bounded { BOUNDED } else { 0 }
            | if no_fail { NO_FAIL } else { 0 }
            | if partial { PARTIAL } else { 0 },
    )
}

/// An operation on a list; one that reads answers only where it has something to say.
pub(in crate::builder) fn list_op<K: Kind>(
    name: &Bound<'_, PyString>,
    encode: impl FnOnce(&mut Vec<u8>) -> K,
) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, false, encode)
}

/// A number to add to an item; `None`: 1.
pub(in crate::builder) fn increment(name: &Bound<'_, PyString>, index: i64, value: i64) -> PyResult<BaseOperation> {
    use aerolane_wire::msgpack::Writer;
    use aerolane_wire::operation::list::increment;
    list_op(name, |out| -> Result<u8, Refused> {
        if value == 1 {
            return increment(out, index, None::<fn(&mut Writer<'_>) -> Result<(), Refused>>, None, None);
        }
        increment(out, index, Some(crate::operation::table::number(value)), Some(0), Some(0))
    })
}

macro_rules! list_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads the number of items.
            list_size() = |name| list_op(name, wire::list::size);
            /// Joins the str items, with `separator` between them. Requires server 8.2 or later.
            #[pyo3(signature = (separator=None))]
            list_join(separator: Option<Bound<'py, PyString>>)
                = |name| list_op(name, |out| {
                    Ok(wire::list::join(out, text(separator.as_ref())?))
                });
            /// Reads the item at an index.
            list_get(index: i64)
                = |name| list_op(name, |out| wire::list::get(out, index));
            /// Reads `count` items starting at an index, or all of them if `count` is `None`.
            #[pyo3(signature = (index, count=None))]
            list_get_range(index: i64, count: Option<i64>)
                = |name| list_op(name, |out| {
                    wire::list::get_range(out, index, count)
                });
        }
    };
}

macro_rules! list_writes {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Adds a value at its sorted position in an ordered list. Creates the list if it is missing. Returns the
            /// new size.
            ///
            /// `unique` fails if the list already has the value, `bounded` fails for an index beyond the end of the
            /// list, and `no_fail` turns these failures into no-ops.
            #[pyo3(signature = (value, *, unique=false, bounded=false, no_fail=false))]
            list_add(value: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool)
                = |name| list_op(name, |out| wire::list::append(
                    out, element(&value), Some(1),
                    list_flags(unique, bounded, no_fail, false)));
            /// Appends a value. Creates the list if it is missing. Returns the new size. Takes the same flags as
            /// `list_add`.
            #[pyo3(signature = (value, *, unique=false, bounded=false, no_fail=false))]
            list_append(value: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool)
                = |name| list_op(name, |out| wire::list::append(
                    out, element(&value), Some(0),
                    list_flags(unique, bounded, no_fail, false)));
            /// Appends values. Creates the list if it is missing. Returns the new size. Takes the same flags as
            /// `list_add`; with `partial` and `no_fail`, the values that do not fail are still appended.
            #[pyo3(signature = (items, *, unique=false, bounded=false, no_fail=false, partial=false))]
            list_append_items(
                items: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool, partial: bool
            ) = |name| list_op(name, |out| wire::list::append_items(
                    out, elements(&items), Some(0),
                    list_flags(unique, bounded, no_fail, partial)));
            /// Adds values at their sorted positions in an ordered list. Creates the list if it is missing. Returns the
            /// new size. Takes the same flags as `list_append_items`.
            #[pyo3(signature = (items, *, unique=false, bounded=false, no_fail=false, partial=false))]
            list_add_items(
                items: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool, partial: bool
            ) = |name| list_op(name, |out| wire::list::append_items(
                    out, elements(&items), Some(1),
                    list_flags(unique, bounded, no_fail, partial)));
            /// Creates the list if it is missing. In a nested list, `pad` fills the gap up to the index with nil.
            /// `persist_index` stores the list's index with it.
            #[pyo3(signature = (order, *, pad=true, persist_index=false))]
            list_create(order: Choice<ListOrder>, pad: bool, persist_index: bool)
                = |name| {
                    name.check_persisted(persist_index)?;
                    list_operation::creation(name, order.0, pad, persist_index)
                };
            /// Sets the order of the list. Creates the list if it is missing.
            list_set_order(order: Choice<ListOrder>)
                = |name| list_op(name, |out| {
                    wire::list::set_type(out, order.0 as i64)
                });
            /// Removes all items.
            list_clear() = |name| list_op(name, wire::list::clear);
            /// Sorts the list.
            #[pyo3(signature = (flags=Choice(ListSort::Default)))]
            list_sort(flags: Choice<ListSort>)
                = |name| list_op(name, |out| {
                    wire::list::sort(out, flags.0 as i64)
                });
            /// Inserts a value at an index. Returns the new size. Takes the same flags as `list_add`.
            #[pyo3(signature = (index, value, *, unique=false, bounded=false, no_fail=false))]
            list_insert(index: i64, value: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool)
                = |name| list_op(name, |out| wire::list::insert(
                    out, index, element(&value),
                    list_flags(unique, bounded, no_fail, false)));
            /// Inserts values at an index. Returns the new size. Takes the same flags as `list_append_items`.
            #[pyo3(signature = (index, items, *, unique=false, bounded=false, no_fail=false, partial=false))]
            list_insert_items(
                index: i64, items: Bound<'py, PyAny>, unique: bool, bounded: bool, no_fail: bool,
                partial: bool
            ) = |name| list_op(name, |out| wire::list::insert_items(
                    out, index, elements(&items),
                    list_flags(unique, bounded, no_fail, partial)));
            /// Sets the item at an index.
            list_set(index: i64, value: Bound<'py, PyAny>)
                = |name| list_op(name, |out| wire::list::set(
                    out, index, element(&value), None));
            /// Adds to the number at an index. Returns the sum.
            #[pyo3(signature = (index, value=1))]
            list_increment(index: i64, value: i64)
                = |name| increment(name, index, value);
            /// Removes the item at an index. Returns the number of items removed.
            list_remove(index: i64)
                = |name| list_op(name, |out| {
                    wire::list::remove(out, index)
                });
            /// Removes `count` items starting at an index, or all of them if `count` is `None`. Returns the number of
            /// items removed.
            #[pyo3(signature = (index, count=None))]
            list_remove_range(index: i64, count: Option<i64>)
                = |name| list_op(name, |out| {
                    wire::list::remove_range(out, index, count)
                });
            /// Removes the item at an index and returns it.
            list_pop(index: i64)
                = |name| list_op(name, |out| {
                    wire::list::pop(out, index)
                });
            /// Removes `count` items starting at an index, or all of them if `count` is `None`, and returns them.
            #[pyo3(signature = (index, count=None))]
            list_pop_range(index: i64, count: Option<i64>)
                = |name| list_op(name, |out| {
                    wire::list::pop_range(out, index, count)
                });
            /// Keeps `count` items starting at an index and removes all others. Returns the number of items removed.
            list_trim(index: i64, count: i64)
                = |name| list_op(name, |out| {
                    wire::list::trim(out, index, count)
                });
        }
    };
}

pub(in crate::builder) use {list_reads, list_writes};
