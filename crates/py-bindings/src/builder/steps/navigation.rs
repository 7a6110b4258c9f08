//! Steps into lists and maps.

use std::sync::Arc;

use aerolane_wire::operation::{list, map};
use pyo3::prelude::*;

use super::list::list_op;
use super::map::map_op;
use crate::builder::cdt::{Select, Selected, check_values};
use crate::cdt::{Choice, Context, ListOrder, MapOrder};
use crate::operation::table::{element, elements, end, key as packed_key, number};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// Makes the pair of operations, one that answers and one that removes, on a list or map: `$arg`s are objects of Python that
/// are kept for it.
macro_rules! select {
    ($op:ident, $module:ident: $get:ident / $remove:ident ($($arg:expr),*) keeping $($kept:ident),*) => {{
        $(let $kept = $kept.clone().unbind();)*
        let select: Select = Arc::new(move |name, answer, removes| {
            $(let $kept = $kept.bind(name.py());)*
            if removes {
                $op(name, |out| $module::$remove(out, answer, $($arg),*))
            } else {
                $op(name, |out| $module::$get(out, answer, $($arg),*))
            }
        });
        select
    }};
}

pub(in crate::builder) fn map_key(key: Object<'_, '_>, create: Option<Choice<MapOrder>>) -> PyResult<Selected> {
    let step = match create {
        Some(order) => Context::map_key_create(key, order)?,
        None => Context::map_key(key)?,
    };
    let select = select!(map_op, map: get_by_key / remove_by_key (element(key)) keeping key);
    let (set, add) = (key.clone().unbind(), key.clone().unbind());
    let writes = (
        Arc::new(move |name: &Bound<'_, pyo3::types::PyString>, value: Object<'_, '_>| {
            map_op(name, |out| map::put(out, packed_key(set.bind(name.py())), Some(element(value)), 0, None))
        }) as crate::builder::cdt::Write,
        Arc::new(move |name: &Bound<'_, pyo3::types::PyString>, value: Object<'_, '_>| {
            let by: i64 = value.extract()?;
            map_op(name, |out| map::increment(out, packed_key(add.bind(name.py())), Some(number(by)), Some(0)))
        }) as crate::builder::cdt::Write,
    );
    Ok(Selected { writes: Some(writes), ..Selected::one(true, step, select) })
}

pub(in crate::builder) fn map_index(index: i64) -> Selected {
    let select = select!(map_op, map: get_by_index / remove_by_index (index) keeping);
    Selected { filterable: false, ..Selected::one(true, Context::map_index(index), select) }
}

pub(in crate::builder) fn map_rank(rank: i64) -> Selected {
    let select = select!(map_op, map: get_by_rank / remove_by_rank (rank) keeping);
    Selected { filterable: false, ..Selected::one(true, Context::map_rank(rank), select) }
}

pub(in crate::builder) fn map_value(value: Object<'_, '_>) -> PyResult<Selected> {
    let select = select!(map_op, map: get_by_value / remove_by_value (element(value)) keeping value);
    // Not all that can be selected can be gone on from.
    Ok(match Context::map_value(value) {
        Ok(step) => Selected::one(true, step, select),
        Err(_) => Selected::several(true, select),
    })
}

pub(in crate::builder) fn map_index_range(index: i64, count: Option<i64>) -> Selected {
    Selected::several(true, select!(map_op, map: get_by_index_range / remove_by_index_range (index, count) keeping))
}

pub(in crate::builder) fn map_rank_range(rank: i64, count: Option<i64>) -> Selected {
    Selected::several(true, select!(map_op, map: get_by_rank_range / remove_by_rank_range (rank, count) keeping))
}

pub(in crate::builder) fn map_key_range(start: Object<'_, '_>, stop: Object<'_, '_>) -> Selected {
    let select =
        select!(map_op, map: get_by_key_range / remove_by_key_range (element(start), end(stop)) keeping start, stop);
    Selected::several(true, select)
}

pub(in crate::builder) fn map_value_range(start: Object<'_, '_>, stop: Object<'_, '_>) -> Selected {
    let select = select!(map_op, map: get_by_value_range / remove_by_value_range (element(start), end(stop)) keeping start, stop);
    Selected::several(true, select)
}

pub(in crate::builder) fn map_near_key(key: Object<'_, '_>, index: i64, count: Option<i64>) -> Selected {
    let select = select!(
        map_op,
        map: get_by_key_relative_index_range / remove_by_key_relative_index_range (element(key), index, count) keeping key
    );
    Selected::several(true, select)
}

pub(in crate::builder) fn map_near_value(value: Object<'_, '_>, rank: i64, count: Option<i64>) -> Selected {
    let select = select!(
        map_op,
        map: get_by_value_relative_rank_range / remove_by_value_relative_rank_range (element(value), rank, count)
        keeping value
    );
    Selected::several(true, select)
}

pub(in crate::builder) fn map_keys(keys: Object<'_, '_>) -> PyResult<Selected> {
    check_values(keys, "keys")?;
    Ok(Selected::several(
        true,
        select!(map_op, map: get_by_key_list / remove_by_key_list (elements(keys)) keeping keys),
    ))
}

pub(in crate::builder) fn map_values(values: Object<'_, '_>) -> PyResult<Selected> {
    check_values(values, "values")?;
    let select = select!(map_op, map: get_by_value_list / remove_by_value_list (elements(values)) keeping values);
    Ok(Selected::several(true, select))
}

pub(in crate::builder) fn list_index(index: i64, order: Option<Choice<ListOrder>>, pad: bool) -> Selected {
    let step = if order.is_some() || pad {
        Context::list_index_create(index, order.unwrap_or(Choice(ListOrder::Unordered)), pad)
    } else {
        Context::list_index(index)
    };
    Selected::one(false, step, select!(list_op, list: get_by_index / remove_by_index (index) keeping))
}

pub(in crate::builder) fn list_rank(rank: i64) -> Selected {
    Selected::one(false, Context::list_rank(rank), select!(list_op, list: get_by_rank / remove_by_rank (rank) keeping))
}

pub(in crate::builder) fn list_value(value: Object<'_, '_>) -> PyResult<Selected> {
    let select = select!(list_op, list: get_by_value / remove_by_value (element(value)) keeping value);
    Ok(match Context::list_value(value) {
        Ok(step) => Selected::one(false, step, select),
        Err(_) => Selected::several(false, select),
    })
}

pub(in crate::builder) fn list_index_range(index: i64, count: Option<i64>) -> Selected {
    Selected::several(false, select!(list_op, list: get_by_index_range / remove_by_index_range (index, count) keeping))
}

pub(in crate::builder) fn list_rank_range(rank: i64, count: Option<i64>) -> Selected {
    Selected::several(false, select!(list_op, list: get_by_rank_range / remove_by_rank_range (rank, count) keeping))
}

pub(in crate::builder) fn list_value_range(start: Object<'_, '_>, stop: Object<'_, '_>) -> Selected {
    let select = select!(
        list_op,
        list: get_by_value_range / remove_by_value_range (element(start), end(stop)) keeping start, stop
    );
    Selected::several(false, select)
}

pub(in crate::builder) fn list_near_value(value: Object<'_, '_>, rank: i64, count: Option<i64>) -> Selected {
    let select = select!(
        list_op,
        list: get_by_value_relative_rank_range / remove_by_value_relative_rank_range (element(value), rank, count)
        keeping value
    );
    Selected::several(false, select)
}

pub(in crate::builder) fn list_values(values: Object<'_, '_>) -> PyResult<Selected> {
    check_values(values, "values")?;
    let select = select!(list_op, list: get_by_value_list / remove_by_value_list (elements(values)) keeping values);
    Ok(Selected::several(false, select))
}

/// Defines the steps of navigation, in a class whose `way` gives the bin and the context that they begin in: `$one` is for what
/// selects one element, `$several` for what can be inverted.
macro_rules! navigations {
    ($class:ident => $one:ident, $several:ident) => {
        $crate::builder::steps::navigation::navigations! {
            @ $class;
            /// Selects the value of a map key. `create_type` creates a map of this order there if there is none, so
            /// that a write inside of it succeeds.
            #[pyo3(signature = (key, *, create_type=None))]
            on_map_key(key: &Bound<'_, pyo3::types::PyAny>, create_type: Option<Choice<MapOrder>>) -> $one
                = navigation::map_key(key, create_type)?;
            /// Selects the map entry at an index, in key order.
            on_map_index(index: i64) -> $one = navigation::map_index(index);
            /// Selects the map entry at a rank: 0 has the smallest value.
            on_map_rank(rank: i64) -> $one = navigation::map_rank(rank);
            /// Selects the map entries with this value.
            on_map_value(value: &Bound<'_, pyo3::types::PyAny>) -> $several = navigation::map_value(value)?;
            /// Selects `count` map entries starting at an index, or all of them if `count` is `None`.
            #[pyo3(signature = (index, count=None))]
            on_map_index_range(index: i64, count: Option<i64>) -> $several = navigation::map_index_range(index, count);
            /// Selects the map entries with keys from `start` up to, but not including, `end`. `None` leaves a side
            /// open.
            on_map_key_range(start: &Bound<'_, pyo3::types::PyAny>, end: &Bound<'_, pyo3::types::PyAny>) -> $several
                = navigation::map_key_range(start, end);
            /// Selects `count` map entries starting at a rank, or all of them if `count` is `None`.
            #[pyo3(signature = (rank, count=None))]
            on_map_rank_range(rank: i64, count: Option<i64>) -> $several = navigation::map_rank_range(rank, count);
            /// Selects the map entries with values from `start` up to, but not including, `end`. `None` leaves a side
            /// open.
            on_map_value_range(start: &Bound<'_, pyo3::types::PyAny>, end: &Bound<'_, pyo3::types::PyAny>) -> $several
                = navigation::map_value_range(start, end);
            /// Selects `count` map entries, or all of them, starting at an index relative to that of `key`.
            #[pyo3(signature = (key, index, count=None))]
            on_map_key_relative_index_range(key: &Bound<'_, pyo3::types::PyAny>, index: i64, count: Option<i64>) -> $several
                = navigation::map_near_key(key, index, count);
            /// Selects `count` map entries, or all of them, starting at a rank relative to that of `value`.
            #[pyo3(signature = (value, rank, count=None))]
            on_map_value_relative_rank_range(value: &Bound<'_, pyo3::types::PyAny>, rank: i64, count: Option<i64>) -> $several
                = navigation::map_near_value(value, rank, count);
            /// Selects the map entries with one of these keys.
            on_map_key_list(keys: &Bound<'_, pyo3::types::PyAny>) -> $several = navigation::map_keys(keys)?;
            /// Selects the map entries with one of these values.
            on_map_value_list(values: &Bound<'_, pyo3::types::PyAny>) -> $several = navigation::map_values(values)?;
            /// Selects the list item at an index. `order` creates a list of this order there if there is none. With
            /// `pad`, the list around it may be shorter than the index.
            #[pyo3(signature = (index, *, order=None, pad=false))]
            on_list_index(index: i64, order: Option<Choice<ListOrder>>, pad: bool) -> $one
                = navigation::list_index(index, order, pad);
            /// Selects the list item at a rank: 0 is the smallest.
            on_list_rank(rank: i64) -> $one = navigation::list_rank(rank);
            /// Selects the list items with this value.
            on_list_value(value: &Bound<'_, pyo3::types::PyAny>) -> $several = navigation::list_value(value)?;
            /// Selects `count` list items starting at an index, or all of them if `count` is `None`.
            #[pyo3(signature = (index, count=None))]
            on_list_index_range(index: i64, count: Option<i64>) -> $several = navigation::list_index_range(index, count);
            /// Selects `count` list items starting at a rank, or all of them if `count` is `None`.
            #[pyo3(signature = (rank, count=None))]
            on_list_rank_range(rank: i64, count: Option<i64>) -> $several = navigation::list_rank_range(rank, count);
            /// Selects the list items from `start` up to, but not including, `end`. `None` leaves a side open.
            on_list_value_range(start: &Bound<'_, pyo3::types::PyAny>, end: &Bound<'_, pyo3::types::PyAny>) -> $several
                = navigation::list_value_range(start, end);
            /// Selects `count` list items, or all of them, starting at a rank relative to that of `value`.
            #[pyo3(signature = (value, rank, count=None))]
            on_list_value_relative_rank_range(value: &Bound<'_, pyo3::types::PyAny>, rank: i64, count: Option<i64>) -> $several
                = navigation::list_near_value(value, rank, count);
            /// Selects the list items with one of these values.
            on_list_value_list(values: &Bound<'_, pyo3::types::PyAny>) -> $several = navigation::list_values(values)?;
        }
    };
    (@ $class:ident; $(
        $(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),*) -> $gives:ident = $selected:expr;
    )*) => {
        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[$meta])*
                fn $name(&self, py: pyo3::Python<'_>, $($arg: $type),*) -> pyo3::PyResult<$gives> {
                    use $crate::builder::steps::navigation;
                    let (bin, around) = self.way(py, stringify!($name))?;
                    Ok($gives($crate::builder::cdt::NestedTarget::new(bin, around, $selected)))
                }
            )*
        }
    };
}
pub(in crate::builder) use navigations;
