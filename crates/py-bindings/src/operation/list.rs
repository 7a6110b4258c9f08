//! Operations on lists.

use aerolane_wire::msgpack::{Writer, order};
use aerolane_wire::operation::context::create;
use aerolane_wire::operation::list;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::table::{element, elements, end as bound, number, operations, text};
use super::{BaseOperation, SetsType};
use crate::cdt::{Choice, Ctx, ListOrder, ListPolicy, ListReturnType, ListSort};

/// Operations on list bins, and with `set_context` on lists nested in bins.
///
/// Negative indexes and ranks count from the end. Operations that select items return what `return_type` says.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct ListOperation;

/// The bit of an order for an index that is stored.
const PERSIST: i64 = order::PERSIST_INDEX as i64;

/// Creates a list of an order.
pub(crate) fn creation(
    name: &Bound<'_, PyString>,
    order: ListOrder,
    pad: bool,
    persist_index: bool,
) -> PyResult<BaseOperation> {
    let order = order as u8;
    let attributes = if persist_index { order | order::PERSIST_INDEX } else { order };
    let made = BaseOperation::encoded(name, false, |out| list::set_type(out, i64::from(attributes)))?;
    let sets_type = Some(SetsType { create: create::list(order, pad), order: attributes });
    Ok(BaseOperation { sets_type, ..made })
}

#[pymethods]
impl ListOperation {
    /// Creates the list if it is missing. `pad`: inside a context that ends with an index, pads the enclosing list with
    /// nil up to that index. `persist_index`: stores the list's index with it (not inside a context).
    #[staticmethod]
    fn create(
        bin_name: Bound<'_, PyString>,
        order: Choice<ListOrder>,
        pad: bool,
        persist_index: bool,
    ) -> PyResult<Py<Self>> {
        Py::new(bin_name.py(), (Self, creation(&bin_name, order.0, pad, persist_index)?))
    }

    /// Creates the list if it is missing, with a stored index.
    #[staticmethod]
    fn create_with_index(bin_name: Bound<'_, PyString>, order: Choice<ListOrder>) -> PyResult<Py<Self>> {
        Py::new(bin_name.py(), (Self, creation(&bin_name, order.0, false, true)?))
    }

    /// Returns the same operation for a list nested in the bin: `ctx` is the path to it. This operation does not
    /// change.
    fn set_context(slf: &Bound<'_, Self>, ctx: Ctx) -> PyResult<Py<Self>> {
        Py::new(slf.py(), (Self, slf.as_super().get().nested(&ctx)))
    }
}

operations! {
    ListOperation, answers: false;

    /// Returns the item at an index.
    get(bin_name; index: i64) = |out| list::get(out, index);
    /// Returns how many items there are.
    size(bin_name) = list::size;
    /// Returns the str items, joined by `separator`. Server 8.2 and later.
    #[pyo3(signature = (bin_name, separator=None))]
    join(bin_name; separator: Option<Bound<'_, PyString>>) = |out| Ok(list::join(out, text(separator.as_ref())?));
    /// Removes and returns the item at an index.
    pop(bin_name; index: i64) = |out| list::pop(out, index);
    /// Removes all items.
    clear(bin_name) = list::clear;
    /// Returns `count` items starting at an index.
    get_range(bin_name; index: i64, count: i64) = |out| list::get_range(out, index, Some(count));
    /// Sets the item at an index.
    set(bin_name; index: i64, value: Bound<'_, PyAny>) = |out| list::set(out, index, element(&value), None);
    /// Sets the item at an index.
    set_with_policy(bin_name; policy: PyRef<'_, ListPolicy>, index: i64, value: Bound<'_, PyAny>)
        = |out| list::set(out, index, element(&value), Some(policy.flags_number()));
    /// Removes the item at an index. Returns how many were removed.
    remove(bin_name; index: i64) = |out| list::remove(out, index);
    /// Removes `count` items starting at an index. Returns how many were removed.
    remove_range(bin_name; index: i64, count: i64) = |out| list::remove_range(out, index, Some(count));
    /// Returns the items starting at an index.
    get_range_from(bin_name; index: i64) = |out| list::get_range(out, index, None);
    /// Removes and returns `count` items starting at an index.
    pop_range(bin_name; index: i64, count: i64) = |out| list::pop_range(out, index, Some(count));
    /// Removes and returns the items starting at an index.
    pop_range_from(bin_name; index: i64) = |out| list::pop_range(out, index, None);
    /// Removes the items starting at an index. Returns how many were removed.
    remove_range_from(bin_name; index: i64) = |out| list::remove_range(out, index, None);
    /// Removes all items except `count` items starting at an index. Returns how many were removed.
    trim(bin_name; index: i64, count: i64) = |out| list::trim(out, index, count);
    /// Appends a value; creates the list if it is missing. Returns the new size.
    append(bin_name; value: Bound<'_, PyAny>, policy: PyRef<'_, ListPolicy>)
        = |out| list::append(out, element(&value), Some(policy.order_number()), Some(policy.flags_number()));
    /// Appends values; creates the list if it is missing. Returns the new size.
    append_items(bin_name; values: Bound<'_, PyAny>, policy: PyRef<'_, ListPolicy>)
        = |out| list::append_items(out, elements(&values), Some(policy.order_number()), Some(policy.flags_number()));
    /// Inserts a value at an index. Returns the new size.
    insert(bin_name; index: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, ListPolicy>)
        = |out| list::insert(out, index, element(&value), Some(policy.flags_number()));
    /// Inserts values at an index. Returns the new size.
    insert_items(bin_name; index: i64, values: Bound<'_, PyAny>, policy: PyRef<'_, ListPolicy>)
        = |out| list::insert_items(out, index, elements(&values), Some(policy.flags_number()));
    /// Adds to the number at an index. Returns the sum.
    increment(bin_name; index: i64, value: i64, policy: PyRef<'_, ListPolicy>)
        = |out| list::increment(out, index, Some(number(value)), Some(policy.order_number()), Some(policy.flags_number()));
    /// Adds 1 to the number at an index. Returns the sum.
    increment_by_one(bin_name; index: i64)
        = |out| list::increment(out, index, None::<fn(&mut Writer<'_>) -> _>, None, None);
    /// Adds 1 to the number at an index. Returns the sum.
    increment_by_one_with_policy(bin_name; policy: PyRef<'_, ListPolicy>, index: i64)
        = |out| list::increment(out, index, Some(number(1)), Some(policy.order_number()), Some(policy.flags_number()));
    /// Sorts the list.
    sort(bin_name; flags: Choice<ListSort>) = |out| list::sort(out, flags.0 as i64);
    /// Sets the order of the list; creates it if it is missing.
    set_order(bin_name; order: Choice<ListOrder>) = |out| list::set_type(out, order.0 as i64);
    /// The same as `set_order`, and stores the index of an ordered list with it.
    set_order_with_index(bin_name; order: Choice<ListOrder>) = |out| list::set_type(out, order.0 as i64 | PERSIST);
    /// Selects the item at an index.
    get_by_index(bin_name; index: i64, return_type: ListReturnType)
        = |out| list::get_by_index(out, return_type.number(), index);
    /// Selects the items starting at an index; `count`: how many, None: all.
    get_by_index_range(bin_name; index: i64, count: Option<i64>, return_type: ListReturnType)
        = |out| list::get_by_index_range(out, return_type.number(), index, count);
    /// Selects the item at a rank: 0 is the smallest.
    get_by_rank(bin_name; rank: i64, return_type: ListReturnType)
        = |out| list::get_by_rank(out, return_type.number(), rank);
    /// Selects the items starting at a rank; `count`: how many, None: all.
    get_by_rank_range(bin_name; rank: i64, count: Option<i64>, return_type: ListReturnType)
        = |out| list::get_by_rank_range(out, return_type.number(), rank, count);
    /// Selects all items that are equal to a value.
    get_by_value(bin_name; value: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::get_by_value(out, return_type.number(), element(&value));
    /// Selects the items from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper bound).
    get_by_value_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::get_by_value_range(out, return_type.number(), element(&begin), bound(&end));
    /// Selects all items that are among some values.
    get_by_value_list(bin_name; values: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::get_by_value_list(out, return_type.number(), elements(&values));
    /// Selects the items starting at a rank relative to that of a value; `count`: how many, None: all.
    get_by_value_relative_rank_range(
        bin_name; value: Bound<'_, PyAny>, rank: i64, count: Option<i64>, return_type: ListReturnType
    ) = |out| list::get_by_value_relative_rank_range(out, return_type.number(), element(&value), rank, count);
    /// Removes the item at an index.
    remove_by_index(bin_name; index: i64, return_type: ListReturnType)
        = |out| list::remove_by_index(out, return_type.number(), index);
    /// Removes the items starting at an index; `count`: how many, None: all.
    remove_by_index_range(bin_name; index: i64, count: Option<i64>, return_type: ListReturnType)
        = |out| list::remove_by_index_range(out, return_type.number(), index, count);
    /// Removes the item at a rank: 0 is the smallest.
    remove_by_rank(bin_name; rank: i64, return_type: ListReturnType)
        = |out| list::remove_by_rank(out, return_type.number(), rank);
    /// Removes the items starting at a rank; `count`: how many, None: all.
    remove_by_rank_range(bin_name; rank: i64, count: Option<i64>, return_type: ListReturnType)
        = |out| list::remove_by_rank_range(out, return_type.number(), rank, count);
    /// Removes all items that are equal to a value.
    remove_by_value(bin_name; value: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::remove_by_value(out, return_type.number(), element(&value));
    /// Removes the items from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper bound).
    remove_by_value_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::remove_by_value_range(out, return_type.number(), element(&begin), bound(&end));
    /// Removes all items that are among some values.
    remove_by_value_list(bin_name; values: Bound<'_, PyAny>, return_type: ListReturnType)
        = |out| list::remove_by_value_list(out, return_type.number(), elements(&values));
    /// Removes the items starting at a rank relative to that of a value; `count`: how many, None: all.
    remove_by_value_relative_rank_range(
        bin_name; value: Bound<'_, PyAny>, rank: i64, count: Option<i64>, return_type: ListReturnType
    ) = |out| list::remove_by_value_relative_rank_range(out, return_type.number(), element(&value), rank, count);
}
