//! Operations on maps.

use aerolane_wire::msgpack::{Writer, order};
use aerolane_wire::operation::context::create;
use aerolane_wire::operation::map;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::table::{element, elements, end as bound, key, number, operations};
use super::{BaseOperation, SetsType};
use crate::cdt::{Choice, Ctx, MapOrder, MapPolicy, MapReturnType};
use crate::value::{self, Refused};

/// Operations on map bins, and with `set_context` on maps nested in bins.
///
/// Negative indexes and ranks count from the end. Operations that select entries return what `return_type` says.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct MapOperation;

/// Creates a map of an order.
pub(crate) fn creation(name: &Bound<'_, PyString>, order: MapOrder, persist_index: bool) -> PyResult<BaseOperation> {
    let order = order as u8;
    let attributes = if persist_index { order | order::PERSIST_INDEX } else { order };
    let made = BaseOperation::encoded(name, true, |out| map::set_type(out, i64::from(attributes)))?;
    let sets_type = Some(SetsType { create: create::map(order), order: attributes });
    Ok(BaseOperation { sets_type, ..made })
}

/// Pairs as one argument: a mapping, or a sequence of pairs, of which a later one goes before an earlier one.
pub(crate) fn pairs<'a>(
    items: &'a Bound<'_, PyAny>,
    ordered: bool,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    move |writer| {
        if items.hasattr("items")? {
            return value::pack_mapping(writer, items, ordered);
        }
        let dict = PyDict::new(items.py());
        for pair in items.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            dict.set_item(key, value)?;
        }
        value::pack_mapping(writer, &dict, ordered)
    }
}

#[pymethods]
impl MapOperation {
    /// Creates the map if it is missing.
    #[staticmethod]
    fn create(bin_name: Bound<'_, PyString>, order: Choice<MapOrder>) -> PyResult<Py<Self>> {
        Py::new(bin_name.py(), (Self, creation(&bin_name, order.0, false)?))
    }

    /// Creates the map if it is missing, with a stored index (not inside a context).
    #[staticmethod]
    fn create_with_index(bin_name: Bound<'_, PyString>, order: Choice<MapOrder>) -> PyResult<Py<Self>> {
        Py::new(bin_name.py(), (Self, creation(&bin_name, order.0, true)?))
    }

    /// Returns the same operation for a map nested in the bin: `ctx` is the path to it. This operation does not change.
    fn set_context(slf: &Bound<'_, Self>, ctx: Ctx) -> PyResult<Py<Self>> {
        Py::new(slf.py(), (Self, slf.as_super().get().nested(&ctx)))
    }
}

operations! {
    MapOperation, answers: true;

    /// Returns how many pairs there are.
    size(bin_name) = map::size;
    /// Removes all pairs.
    clear(bin_name) = map::clear;
    /// Sets the value of a key; creates the map if it is missing. Returns the new size.
    put(bin_name; key: Bound<'_, PyAny>, value: Bound<'_, PyAny>, policy: PyRef<'_, MapPolicy>)
        = |out| map::put(out, self::key(&key), Some(element(&value)), policy.attributes(), policy.flags_number());
    /// Sets the values of several keys; creates the map if it is missing. `items`: a sequence of pairs, or a mapping.
    /// Returns the new size.
    put_items(bin_name; items: Bound<'_, PyAny>, policy: PyRef<'_, MapPolicy>)
        = |out| map::put_items(out, pairs(&items, policy.is_ordered()), policy.attributes(), policy.flags_number());
    /// Adds to the number of a key; creates the map and the key if they are missing. Returns the sum.
    increment_value(bin_name; key: Bound<'_, PyAny>, value: i64, policy: PyRef<'_, MapPolicy>)
        = |out| map::increment(out, self::key(&key), Some(number(value)), Some(policy.attributes()));
    /// Subtracts from the number of a key; creates the map and the key if they are missing. Returns the difference.
    decrement_value(bin_name; key: Bound<'_, PyAny>, value: i64, policy: PyRef<'_, MapPolicy>)
        = |out| map::decrement(out, self::key(&key), Some(number(value)), Some(policy.attributes()));
    /// Sets the order of the map; creates it if it is missing.
    set_map_policy(bin_name; policy: PyRef<'_, MapPolicy>) = |out| map::set_type(out, policy.order_number());
    /// Sets the order of the map, and whether its index is stored; creates it if it is missing.
    set_policy(bin_name; policy: PyRef<'_, MapPolicy>) = |out| map::set_type(out, policy.attributes());
    /// Selects the pair of a key.
    get_by_key(bin_name; key: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_key(out, return_type.number(), element(&key));
    /// Selects the pairs with keys from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
    /// bound).
    get_by_key_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_key_range(out, return_type.number(), element(&begin), bound(&end));
    /// Selects all pairs whose keys are among these.
    get_by_key_list(bin_name; keys: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_key_list(out, return_type.number(), elements(&keys));
    /// Selects the pairs starting at an index relative to that of a key; `count`: how many, None: all.
    get_by_key_relative_index_range(
        bin_name; key: Bound<'_, PyAny>, index: i64, count: Option<i64>, return_type: MapReturnType
    ) = |out| map::get_by_key_relative_index_range(out, return_type.number(), element(&key), index, count);
    /// Selects the pair at an index, in the order of keys.
    get_by_index(bin_name; index: i64, return_type: MapReturnType)
        = |out| map::get_by_index(out, return_type.number(), index);
    /// Selects `count` pairs starting at an index.
    get_by_index_range(bin_name; index: i64, count: i64, return_type: MapReturnType)
        = |out| map::get_by_index_range(out, return_type.number(), index, Some(count));
    /// Selects the pairs starting at an index.
    get_by_index_range_from(bin_name; index: i64, return_type: MapReturnType)
        = |out| map::get_by_index_range(out, return_type.number(), index, None);
    /// Selects the pair at a rank: 0 has the smallest value.
    get_by_rank(bin_name; rank: i64, return_type: MapReturnType)
        = |out| map::get_by_rank(out, return_type.number(), rank);
    /// Selects `count` pairs starting at a rank.
    get_by_rank_range(bin_name; rank: i64, count: i64, return_type: MapReturnType)
        = |out| map::get_by_rank_range(out, return_type.number(), rank, Some(count));
    /// Selects the pairs starting at a rank.
    get_by_rank_range_from(bin_name; rank: i64, return_type: MapReturnType)
        = |out| map::get_by_rank_range(out, return_type.number(), rank, None);
    /// Selects all pairs whose values are equal to one.
    get_by_value(bin_name; value: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_value(out, return_type.number(), element(&value));
    /// Selects the pairs with values from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
    /// bound).
    get_by_value_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_value_range(out, return_type.number(), element(&begin), bound(&end));
    /// Selects all pairs whose values are among these.
    get_by_value_list(bin_name; values: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::get_by_value_list(out, return_type.number(), elements(&values));
    /// Selects the pairs starting at a rank relative to that of a value; `count`: how many, None: all.
    get_by_value_relative_rank_range(
        bin_name; value: Bound<'_, PyAny>, rank: i64, count: Option<i64>, return_type: MapReturnType
    ) = |out| map::get_by_value_relative_rank_range(out, return_type.number(), element(&value), rank, count);
    /// Removes the pair of a key.
    remove_by_key(bin_name; key: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_key(out, return_type.number(), element(&key));
    /// Removes the pairs with keys from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
    /// bound).
    remove_by_key_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_key_range(out, return_type.number(), element(&begin), bound(&end));
    /// Removes all pairs whose keys are among these.
    remove_by_key_list(bin_name; keys: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_key_list(out, return_type.number(), elements(&keys));
    /// Removes the pairs starting at an index relative to that of a key; `count`: how many, None: all.
    remove_by_key_relative_index_range(
        bin_name; key: Bound<'_, PyAny>, index: i64, count: Option<i64>, return_type: MapReturnType
    ) = |out| map::remove_by_key_relative_index_range(out, return_type.number(), element(&key), index, count);
    /// Removes the pair at an index, in the order of keys.
    remove_by_index(bin_name; index: i64, return_type: MapReturnType)
        = |out| map::remove_by_index(out, return_type.number(), index);
    /// Removes `count` pairs starting at an index.
    remove_by_index_range(bin_name; index: i64, count: i64, return_type: MapReturnType)
        = |out| map::remove_by_index_range(out, return_type.number(), index, Some(count));
    /// Removes the pairs starting at an index.
    remove_by_index_range_from(bin_name; index: i64, return_type: MapReturnType)
        = |out| map::remove_by_index_range(out, return_type.number(), index, None);
    /// Removes the pair at a rank: 0 has the smallest value.
    remove_by_rank(bin_name; rank: i64, return_type: MapReturnType)
        = |out| map::remove_by_rank(out, return_type.number(), rank);
    /// Removes `count` pairs starting at a rank.
    remove_by_rank_range(bin_name; rank: i64, count: i64, return_type: MapReturnType)
        = |out| map::remove_by_rank_range(out, return_type.number(), rank, Some(count));
    /// Removes the pairs starting at a rank.
    remove_by_rank_range_from(bin_name; rank: i64, return_type: MapReturnType)
        = |out| map::remove_by_rank_range(out, return_type.number(), rank, None);
    /// Removes all pairs whose values are equal to one.
    remove_by_value(bin_name; value: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_value(out, return_type.number(), element(&value));
    /// Removes the pairs with values from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
    /// bound).
    remove_by_value_range(bin_name; begin: Bound<'_, PyAny>, end: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_value_range(out, return_type.number(), element(&begin), bound(&end));
    /// Removes all pairs whose values are among these.
    remove_by_value_list(bin_name; values: Bound<'_, PyAny>, return_type: MapReturnType)
        = |out| map::remove_by_value_list(out, return_type.number(), elements(&values));
    /// Removes the pairs starting at a rank relative to that of a value; `count`: how many, None: all.
    remove_by_value_relative_rank_range(
        bin_name; value: Bound<'_, PyAny>, rank: i64, count: Option<i64>, return_type: MapReturnType
    ) = |out| map::remove_by_value_relative_rank_range(out, return_type.number(), element(&value), rank, count);
}
