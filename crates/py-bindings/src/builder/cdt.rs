//! What is done with a part of a list or map: `bin(name).on_map_key("a").on_list_index(-1)...`.
//!
//! A place is what the last step of navigation selects, inside of the context that those before it make. What selects one
//! element can be gone on from; what selects several can be inverted.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit};

use super::bin::Bin;
use super::bin_target::{BinTarget, check_step};
use super::steps::make::exp_flags;
#[allow(clippy::wildcard_imports)] // the types of the tables
use super::steps::types::*;
use super::steps::{list_reads, list_writes, map_reads, map_writes, navigations, string_reads, string_writes};
use crate::cdt::{Choice, Context, Ctx, ExpType};
use crate::errors;
use crate::expression::{Exp, values_of_bin};
use crate::operation::{BaseOperation, path};

/// Makes the operation that answers (or, if so told, removes), given what it is to answer with.
pub(super) type Select = Arc<dyn Fn(&Bound<'_, PyString>, i64, bool) -> PyResult<BaseOperation> + Send + Sync>;

/// Makes the operation that writes a value.
pub(super) type Write = Arc<dyn Fn(&Bound<'_, PyString>, &Bound<'_, PyAny>) -> PyResult<BaseOperation> + Send + Sync>;

/// What a step of navigation selects.
pub(super) struct Selected {
    pub(super) select: Select,
    pub(super) map: bool,
    /// The step as part of a context; `None`: it selects several, and nothing goes on from there.
    pub(super) step: Option<Context>,
    /// Whether a filter can follow it.
    pub(super) filterable: bool,
    /// What sets it and adds to it: of the value of a map's key.
    pub(super) writes: Option<(Write, Write)>,
}

impl Selected {
    /// One element.
    pub(super) fn one(map: bool, step: Context, select: Select) -> Self {
        Self { select, map, step: Some(step), filterable: true, writes: None }
    }

    /// Several.
    pub(super) fn several(map: bool, select: Select) -> Self {
        Self { select, map, step: None, filterable: false, writes: None }
    }
}

/// What steps of navigation have selected inside of a bin.
pub(super) struct NestedTarget {
    bin: Bin,
    /// The way to the list or map that the last step selects from.
    around: Ctx,
    last: Selected,
}

/// What operations answer with, in numbers of requests: alike for lists and maps.
mod answers {
    pub(super) const NONE: i64 = 0;
    pub(super) const INDEX: i64 = 1;
    pub(super) const REVERSE_INDEX: i64 = 2;
    pub(super) const RANK: i64 = 3;
    pub(super) const REVERSE_RANK: i64 = 4;
    pub(super) const COUNT: i64 = 5;
    pub(super) const KEY: i64 = 6;
    pub(super) const VALUE: i64 = 7;
    pub(super) const KEY_VALUE: i64 = 8;
    pub(super) const EXISTS: i64 = 13;
    pub(super) const UNORDERED_MAP: i64 = 16;
    pub(super) const ORDERED_MAP: i64 = 17;
    /// For all that is not selected.
    pub(super) const INVERTED: i64 = 0x1_0000;
}

/// The operation inside of a context, if there is one.
fn inside(operation: BaseOperation, ctx: &Ctx) -> BaseOperation {
    if ctx.is_empty() { operation } else { operation.nested(ctx) }
}

impl NestedTarget {
    pub(super) fn new(bin: Bin, around: Ctx, last: Selected) -> Self {
        Self { bin, around, last }
    }

    /// Answers with, or removes, what is selected.
    fn select<'py>(&self, py: Python<'py>, method: &str, answer: i64, removes: bool) -> PyResult<Bound<'py, PyAny>> {
        let of_maps = [answers::KEY, answers::KEY_VALUE, answers::UNORDERED_MAP, answers::ORDERED_MAP];
        if !self.last.map && of_maps.contains(&(answer & !answers::INVERTED)) {
            let text = format!("{method}() is for maps, and this step selects from a list: get_values() reads it");
            return Err(PyTypeError::new_err(text));
        }
        self.bin.add(py, method, |name| Ok(inside((self.last.select)(name, answer, removes)?, &self.around)))
    }

    /// The context that what is selected makes.
    fn within(&self, method: &str, py: Python<'_>) -> PyResult<Ctx> {
        let Some(step) = &self.last.step else {
            let text = format!(
                "{method}() needs one element, and this step selects several: use on_map_key(), on_list_index()"
            );
            return Err(PyTypeError::new_err(text));
        };
        self.around.and(py, step.clone())
    }

    /// An operation on what is selected.
    fn nested<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        make: impl FnOnce(&BinTarget<'_, 'py>) -> PyResult<BaseOperation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ctx = self.within(method, py)?;
        self.bin.add(py, method, |name| Ok(inside(make(name)?, &ctx)))
    }

    fn write<'py>(&self, py: Python<'py>, method: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some((set, add)) = &self.last.writes else {
            let text = format!(
                "{method}() sets the value of a map's key: go there with on_map_key(); list_set() sets an item of a list"
            );
            return Err(PyTypeError::new_err(text));
        };
        let write = if method == "add" { add } else { set };
        self.bin.add(py, method, |name| Ok(inside(write(name, value)?, &self.around)))
    }

    fn path(&self, py: Python<'_>, method: &str, step: Context) -> PyResult<CdtPathBuilder> {
        check_step(py, &self.bin.chain, method)?;
        let ctx = self.within(method, py)?.and(py, step)?;
        Ok(CdtPathBuilder { bin: self.bin.clone_ref(py), ctx })
    }
}

/// Defines a class of places: which class its steps of navigation give for one element, and which for several.
macro_rules! place_class {
    ($(#[$meta:meta])* $class:ident) => {
        $(#[$meta])*
        #[pyclass(frozen, subclass, module = "aerolane")]
        pub(crate) struct $class(pub(super) NestedTarget);

        impl $class {
            /// A step on what is selected.
            fn step<'py>(
                slf: &Bound<'py, Self>,
                method: &str,
                make: impl FnOnce(&BinTarget<'_, 'py>) -> PyResult<BaseOperation>,
            ) -> PyResult<Bound<'py, PyAny>> {
                slf.get().0.nested(slf.py(), method, make)
            }

            /// Where a step of navigation begins: the bin, and the way to what it selects from.
            fn way(&self, py: Python<'_>, method: &str) -> PyResult<(Bin, Ctx)> {
                Ok((self.0.bin.clone_ref(py), self.0.within(method, py)?))
            }
        }

        #[pymethods]
        impl $class {
            /// Accepts a type in annotations: the class of the builder that the steps return to.
            #[classmethod]
            fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _item: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
                class.clone()
            }

            fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
                visit.call(&self.0.bin.parent)
            }

            /// Selects all items of the list, or all values of the map. Requires server 8.1.1 or later.
            fn on_each_child(&self, py: Python<'_>) -> PyResult<CdtPathBuilder> {
                self.0.path(py, "on_each_child", Context::each_child())
            }

            /// Selects the items or values for which an expression is true. Requires server 8.1.1 or later.
            fn on_each_child_where(&self, py: Python<'_>, predicate: Exp) -> PyResult<CdtPathBuilder> {
                self.0.path(py, "on_each_child_where", Context::each_child_where(&predicate))
            }

            /// Selects the values of these map keys. Requires server 8.1.2 or later.
            fn on_map_keys_in(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<CdtPathBuilder> {
                self.0.path(py, "on_map_keys_in", Context::keys_in(keys)?)
            }

            /// Keeps what is selected only where an expression is true. Requires server 8.1.2 or later.
            fn and_filter(&self, py: Python<'_>, predicate: Exp) -> PyResult<CdtPathBuilder> {
                if !self.0.last.filterable {
                    let text = "and_filter() follows a step to one element: on_map_key(), on_list_index()";
                    return Err(PyTypeError::new_err(text));
                }
                self.0.path(py, "and_filter", Context::filtered(&predicate))
            }
        }

        place_class! {
            @ $class;
            /// Returns the selected values.
            get_values = answers::VALUE;
            /// Returns the selected keys. Only for maps.
            get_keys = answers::KEY;
            /// Returns the selected keys and values. Only for maps.
            get_keys_and_values = answers::KEY_VALUE;
            /// Returns the selected entries as a dict. Only for maps.
            get_as_map = answers::UNORDERED_MAP;
            /// Returns the selected entries as a `SortedMap`. Only for maps.
            get_as_ordered_map = answers::ORDERED_MAP;
            /// Returns the number of selected elements.
            count = answers::COUNT;
            /// Returns the indexes of the selected elements.
            get_indexes = answers::INDEX;
            /// Returns the indexes of the selected elements, counted from the end.
            get_reverse_indexes = answers::REVERSE_INDEX;
            /// Returns the ranks of the selected elements: 0 is the smallest.
            get_ranks = answers::RANK;
            /// Returns the ranks of the selected elements, where 0 is the largest.
            get_reverse_ranks = answers::REVERSE_RANK;
            /// Returns whether anything is selected.
            exists = answers::EXISTS;
        }
        list_reads!($class);
        map_reads!($class);
        string_reads!($class);
    };
    (@ $class:ident; $( $(#[$doc:meta])* $name:ident = $answer:expr; )*) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.0.select(py, stringify!($name), $answer, false)
                }
            )*
        }
    };
}

/// Defines what else a place has that selects what can be inverted.
macro_rules! inverted {
    ($class:ident) => {
        place_class! {
            @ $class;
            /// Returns the values that are not selected.
            get_all_other_values = answers::VALUE | answers::INVERTED;
            /// Returns the keys that are not selected. Only for maps.
            get_all_other_keys = answers::KEY | answers::INVERTED;
            /// Returns the keys and values that are not selected. Only for maps.
            get_all_other_keys_and_values = answers::KEY_VALUE | answers::INVERTED;
            /// Returns the number of elements that are not selected.
            count_all_others = answers::COUNT | answers::INVERTED;
            /// Returns the indexes of the elements that are not selected.
            get_all_other_indexes = answers::INDEX | answers::INVERTED;
            /// Returns the indexes of the elements that are not selected, counted from the end.
            get_all_other_reverse_indexes = answers::REVERSE_INDEX | answers::INVERTED;
            /// Returns the ranks of the elements that are not selected.
            get_all_other_ranks = answers::RANK | answers::INVERTED;
            /// Returns the ranks of the elements that are not selected, where 0 is the largest.
            get_all_other_reverse_ranks = answers::REVERSE_RANK | answers::INVERTED;
        }
    };
}

/// Defines what else a place has that is part of a write.
macro_rules! written {
    ($class:ident) => {
        list_writes!($class);
        map_writes!($class);
        string_writes!($class);

        #[pymethods]
        impl $class {
            /// Sets the value of the selected map key.
            fn set_to<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.0.write(value.py(), "set_to", value)
            }

            /// Adds to the number at the selected map key.
            fn add<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.0.write(value.py(), "add", value)
            }

            /// Removes what is selected. Returns what `return_type` (a `ListReturnType` or `MapReturnType`) asks for,
            /// by default nothing.
            #[pyo3(signature = (*, return_type=None))]
            fn remove<'py>(
                &self,
                py: Python<'py>,
                return_type: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.0.select(py, "remove", number_of(return_type)?, true)
            }
        }
    };
}

/// A return type as requests say it.
fn number_of(return_type: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
    let Some(kind) = return_type.filter(|kind| !kind.is_none()) else { return Ok(answers::NONE) };
    if let Ok(list) = kind.extract::<crate::cdt::ListReturnType>() {
        return Ok(list.number());
    }
    kind.extract::<crate::cdt::MapReturnType>()
        .map(crate::cdt::MapReturnType::number)
        .map_err(|_| PyTypeError::new_err(format!("return_type is a ListReturnType or a MapReturnType, not {kind}")))
}

place_class! {
    /// Reads a part of a list or map. Methods `on_..` navigate further; each other method adds one operation and
    /// returns the builder.
    CdtReadBuilder
}
place_class! {
    /// Like `CdtReadBuilder`, for steps that can be inverted: `get_all_other_..` read what is not selected.
    CdtReadInvertableBuilder
}
place_class! {
    /// Reads and changes a part of a list or map. Methods `on_..` navigate further; each other method adds one
    /// operation and returns the builder.
    CdtWriteBuilder
}
place_class! {
    /// Like `CdtWriteBuilder`, for steps that can be inverted: `get_all_other_..` and `remove_all_others` are about
    /// what is not selected.
    CdtWriteInvertableBuilder
}
inverted!(CdtReadInvertableBuilder);
inverted!(CdtWriteInvertableBuilder);
written!(CdtWriteBuilder);
written!(CdtWriteInvertableBuilder);
navigations!(CdtReadBuilder => CdtReadBuilder, CdtReadInvertableBuilder);
navigations!(CdtReadInvertableBuilder => CdtReadBuilder, CdtReadInvertableBuilder);
navigations!(CdtWriteBuilder => CdtWriteBuilder, CdtWriteInvertableBuilder);
navigations!(CdtWriteInvertableBuilder => CdtWriteBuilder, CdtWriteInvertableBuilder);

#[pymethods]
impl CdtWriteInvertableBuilder {
    /// Removes what is not selected. Returns what `return_type` (a `ListReturnType` or `MapReturnType`) asks for, by
    /// default nothing.
    #[pyo3(signature = (*, return_type=None))]
    fn remove_all_others<'py>(
        &self,
        py: Python<'py>,
        return_type: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.select(py, "remove_all_others", number_of(return_type)? | answers::INVERTED, true)
    }
}

/// Reads and changes what a path selects inside of a bin, which may be many elements. Requires server 8.1.1 or later.
/// Methods `on_..` navigate further; each other method adds one operation and returns the builder.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct CdtPathBuilder {
    bin: Bin,
    ctx: Ctx,
}

impl CdtPathBuilder {
    pub(super) fn begin(py: Python<'_>, bin: Bin, method: &str, step: Context) -> PyResult<Self> {
        check_step(py, &bin.chain, method)?;
        Ok(Self { bin, ctx: Ctx::default().and(py, step)? })
    }

    fn and(&self, py: Python<'_>, method: &str, step: Context) -> PyResult<Self> {
        check_step(py, &self.bin.chain, method)?;
        Ok(Self { bin: self.bin.clone_ref(py), ctx: self.ctx.and(py, step)? })
    }

    fn select<'py>(&self, py: Python<'py>, method: &str, flags: i64, no_fail: bool) -> PyResult<Bound<'py, PyAny>> {
        let flags = flags | if no_fail { path::NO_FAIL } else { 0 };
        self.bin.add(py, method, |name| path::selecting(name, flags, &self.ctx))
    }

    fn modify<'py>(&self, py: Python<'py>, method: &str, flags: i64, exp: &Exp) -> PyResult<Bound<'py, PyAny>> {
        self.bin.add(py, method, |name| path::modifying(name, flags, exp, &self.ctx))
    }
}

#[pymethods]
impl CdtPathBuilder {
    /// Accepts a type in annotations: the class of the builder that the steps return to.
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _item: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.bin.parent)
    }

    /// Selects all items of the list, or all values of the map. Requires server 8.1.1 or later.
    fn on_each_child(&self, py: Python<'_>) -> PyResult<Self> {
        self.and(py, "on_each_child", Context::each_child())
    }

    /// Selects the items or values for which an expression is true. Requires server 8.1.1 or later.
    fn on_each_child_where(&self, py: Python<'_>, predicate: Exp) -> PyResult<Self> {
        self.and(py, "on_each_child_where", Context::each_child_where(&predicate))
    }

    /// Selects the value of a map key.
    fn on_map_key(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.and(py, "on_map_key", Context::map_key(key)?)
    }

    /// Selects the list item at an index.
    fn on_list_index(&self, py: Python<'_>, index: i64) -> PyResult<Self> {
        self.and(py, "on_list_index", Context::list_index(index))
    }

    /// Selects the first map entry with this value.
    fn on_map_value(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.and(py, "on_map_value", Context::map_value(value)?)
    }

    /// Selects the first list item with this value.
    fn on_list_value(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.and(py, "on_list_value", Context::list_value(value)?)
    }

    /// Selects the values of these map keys. Requires server 8.1.2 or later.
    fn on_map_keys_in(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.and(py, "on_map_keys_in", Context::keys_in(keys)?)
    }

    /// Keeps what is selected only where an expression is true. Requires server 8.1.2 or later.
    fn and_filter(&self, py: Python<'_>, predicate: Exp) -> PyResult<Self> {
        self.and(py, "and_filter", Context::filtered(&predicate))
    }

    /// Returns a list of the selected values. With `no_fail`, elements whose type does not fit the path are left out.
    #[pyo3(signature = (*, no_fail=false))]
    fn collect_values<'py>(&self, py: Python<'py>, no_fail: bool) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "collect_values", path::VALUES, no_fail)
    }

    /// Returns a list of the selected values, collected by an expression. `bin_type` is the type of the bin:
    /// `ExpType.MAP` or `ExpType.LIST`. `no_fail` works as in `collect_values`. With `ignore_eval_failure`, an
    /// expression that fails, as for a bin of the other type, returns `None`.
    #[pyo3(signature = (bin_type, *, no_fail=false, ignore_eval_failure=false))]
    fn collect_values_as_expression_read<'py>(
        &self,
        py: Python<'py>,
        bin_type: Choice<ExpType>,
        no_fail: bool,
        ignore_eval_failure: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(bin_type.0, ExpType::Map | ExpType::List) {
            let text = "bin_type says what the bin is: ExpType.MAP or ExpType.LIST, whose parts a path can select";
            return Err(errors::invalid_argument(py, text));
        }
        let flags = if ignore_eval_failure { exp_flags::EVAL_NO_FAIL } else { 0 };
        self.bin.add(py, "collect_values_as_expression_read", |name| {
            let exp = values_of_bin(name, bin_type.0, no_fail, &self.ctx)?;
            crate::operation::exp::reading(name, &exp, Flags(flags))
        })
    }

    /// Returns a list of the selected keys. `no_fail` works as in `collect_values`.
    #[pyo3(signature = (*, no_fail=false))]
    fn collect_map_keys<'py>(&self, py: Python<'py>, no_fail: bool) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "collect_map_keys", path::MAP_KEYS, no_fail)
    }

    /// Returns a flat list of the selected entries: a key, its value, the next key. `no_fail` works as in
    /// `collect_values`.
    #[pyo3(signature = (*, no_fail=false))]
    fn collect_map_entries<'py>(&self, py: Python<'py>, no_fail: bool) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "collect_map_entries", path::MAP_ENTRIES, no_fail)
    }

    /// Returns the whole collection, reduced to what is selected. `no_fail` works as in `collect_values`.
    #[pyo3(signature = (*, no_fail=false))]
    fn collect_matching_tree<'py>(&self, py: Python<'py>, no_fail: bool) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "collect_matching_tree", path::MATCHING_TREE, no_fail)
    }

    /// Returns what flags ask for: bits of `SelectFlags`.
    fn collect_by_path<'py>(&self, py: Python<'py>, flags: Flags) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "collect_by_path", flags.0, false)
    }

    /// Sets each selected element to the value of an expression. `flags` are bits of `ModifyFlags`.
    #[pyo3(signature = (expression, flags=None))]
    fn modify_by<'py>(&self, py: Python<'py>, expression: Exp, flags: Option<Flags>) -> PyResult<Bound<'py, PyAny>> {
        self.modify(py, "modify_by", flags.map_or(0, |flags| flags.0), &expression)
    }

    /// Like `modify_by`, but leaves elements alone whose type does not fit the path.
    fn modify_no_fail<'py>(&self, py: Python<'py>, expression: Exp) -> PyResult<Bound<'py, PyAny>> {
        self.modify(py, "modify_no_fail", path::NO_FAIL, &expression)
    }

    /// Removes what is selected.
    fn remove_matches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.modify(py, "remove_matches", 0, &Exp::removal()?)
    }
}

/// Refuses a list of values that is one value.
pub(super) fn check_values(values: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    use pyo3::types::{PyByteArray, PyBytes};
    if values.is_instance_of::<PyString>()
        || values.is_instance_of::<PyBytes>()
        || values.is_instance_of::<PyByteArray>()
    {
        let kind = values.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!("{what} is a list of them, not one {kind}: [{}]", values.repr()?)));
    }
    if values.is_instance_of::<PyDict>() {
        return Err(errors::invalid_argument(values.py(), format!("{what} is a list, not a dict")));
    }
    Ok(())
}
