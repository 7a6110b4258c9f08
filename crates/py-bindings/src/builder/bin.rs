//! What is done with one bin: `bin(name)` of a builder. Each step goes back to that builder.

use pyo3::PyTraverseError;
use pyo3::PyVisit;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::bin_target::BinTarget;
use super::cdt::{
    CdtPathBuilder, CdtReadBuilder, CdtReadInvertableBuilder, CdtWriteBuilder, CdtWriteInvertableBuilder,
};
use super::chain::Shared;
use super::ops::Ops;
#[allow(clippy::wildcard_imports)] // the types of the tables
use super::steps::types::*;
use super::steps::{
    bit_reads, bit_writes, hll_reads, hll_writes, list_reads, list_writes, map_reads, map_writes, navigations,
    scalar_reads, scalar_writes, string_reads, string_writes,
};
use super::verb::{Verb, verbs};
use crate::cdt::{Context, Ctx};
use crate::expression::Exp;
use crate::operation::{BaseOperation, checked_name};

/// A bin of a builder.
pub(super) struct Bin {
    /// The builder that each step goes back to.
    pub(super) parent: Py<PyAny>,
    pub(super) chain: Shared,
    pub(super) name: Py<PyString>,
}

impl Bin {
    pub(super) fn new(parent: &Bound<'_, PyAny>, chain: &Shared, name: &Bound<'_, PyString>) -> PyResult<Self> {
        checked_name(name)?;
        Ok(Self { parent: parent.clone().unbind(), chain: Shared::clone(chain), name: name.clone().unbind() })
    }

    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        let Self { parent, chain, name } = self;
        Self { parent: parent.clone_ref(py), chain: Shared::clone(chain), name: name.clone_ref(py) }
    }

    /// Adds an operation; gives the builder.
    pub(super) fn add<'py>(
        &self,
        py: Python<'py>,
        step: &str,
        make: impl FnOnce(&BinTarget<'_, 'py>) -> PyResult<BaseOperation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = BinTarget::new(&self.chain, self.name.bind(py));
        target.check(step)?;
        let ops = Ops::of(&make(&target)?);
        self.chain.lock_py_attached(py).add(py, step, ops)?;
        Ok(self.parent.bind(py).clone())
    }
}

/// Says of a name that is no step what it may have been meant to be.
#[cold]
pub(super) fn unknown_step(bin: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<PyErr> {
    let (py, class) = (bin.py(), bin.get_type());
    let kind = class.name()?;
    let text = name.to_str()?;
    // What asks for such names only wants to know whether they are there.
    if text.starts_with('_') {
        return Ok(PyAttributeError::new_err(format!("'{kind}' object has no attribute '{text}'")));
    }
    let hint = if bin.is_instance_of::<QueryBinBuilder>() && py.get_type::<WriteBinBuilder>().hasattr(name)? {
        format!(
            "it writes, and a query only reads: begin with a verb that writes, as in session.update(key).bin(..).{text}(..)"
        )
    } else {
        let close = py.import("difflib")?.call_method1("get_close_matches", (name, class.dir()?, 1))?;
        match close.get_item(0) {
            Ok(other) => format!("did you mean {other}?"),
            Err(_) => {
                format!("dir({kind}) lists its steps; each gives back the builder, which has the verbs and terminals")
            }
        }
    };
    Ok(PyAttributeError::new_err(format!("{kind} has no step '{text}': {hint}")))
}

/// Defines a class of bins.
macro_rules! bin_class {
    ($(#[$meta:meta])* $class:ident) => {
        $(#[$meta])*
        #[pyclass(frozen, module = "aerolane")]
        pub(crate) struct $class(Bin);

        impl $class {
            pub(super) fn new(
                parent: &Bound<'_, PyAny>,
                chain: &Shared,
                name: &Bound<'_, PyString>,
            ) -> PyResult<Self> {
                Bin::new(parent, chain, name).map(Self)
            }

            /// A step.
            fn step<'py>(
                slf: &Bound<'py, Self>,
                step: &str,
                make: impl FnOnce(&BinTarget<'_, 'py>) -> PyResult<BaseOperation>,
            ) -> PyResult<Bound<'py, PyAny>> {
                slf.get().0.add(slf.py(), step, make)
            }

            /// Where a step of navigation begins.
            fn way(&self, py: Python<'_>, _step: &str) -> PyResult<(Bin, Ctx)> {
                Ok((self.0.clone_ref(py), Ctx::default()))
            }
        }

        #[pymethods]
        impl $class {
            /// Accepts a type in annotations: the class of the builder that the steps return to.
            #[classmethod]
            fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _item: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
                class.clone()
            }

            /// Selects all items of the list, or all values of the map. Requires server 8.1.1 or later.
            fn on_each_child(&self, py: Python<'_>) -> PyResult<CdtPathBuilder> {
                CdtPathBuilder::begin(py, self.0.clone_ref(py), "on_each_child", Context::each_child())
            }

            /// Selects the items or values for which an expression is true. Requires server 8.1.1 or later.
            fn on_each_child_where(&self, py: Python<'_>, predicate: Exp) -> PyResult<CdtPathBuilder> {
                CdtPathBuilder::begin(py, self.0.clone_ref(py), "on_each_child_where", Context::each_child_where(&predicate))
            }

            /// Selects the values of these map keys. Requires server 8.1.2 or later.
            fn on_map_keys_in(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<CdtPathBuilder> {
                CdtPathBuilder::begin(py, self.0.clone_ref(py), "on_map_keys_in", Context::keys_in(keys)?)
            }

            fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
                visit.call(&self.0.parent)
            }

            /// For names that are no steps: says what to do.
            fn __getattr__(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
                Err(unknown_step(slf.as_any(), name)?)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!("<{} {}>", stringify!($class), self.0.name.bind(py).repr()?))
            }
        }
    };
}

bin_class! {
    /// Reads one bin: `query(keys).bin(name)`. Each step adds one operation and returns the builder.
    QueryBinBuilder
}

bin_class! {
    /// Reads and changes one bin: `upsert(keys).bin(name)`, and the same for the other verbs that write. Each step adds
    /// one operation and returns the builder.
    WriteBinBuilder
}

/// What both kinds of bins read.
macro_rules! reads {
    ($($class:ident),*) => {$(
        scalar_reads!($class);
        list_reads!($class);
        map_reads!($class);
        hll_reads!($class);
        bit_reads!($class);
        string_reads!($class);
    )*};
}

reads!(QueryBinBuilder, WriteBinBuilder);
scalar_writes!(WriteBinBuilder);
list_writes!(WriteBinBuilder);
map_writes!(WriteBinBuilder);
hll_writes!(WriteBinBuilder);
bit_writes!(WriteBinBuilder);
string_writes!(WriteBinBuilder);

/// Defines what goes on with the builder that the bin came from: a verb.
macro_rules! goes_on {
    ($class:ident) => {
        impl $class {
            fn begin<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: &Bound<'py, PyAny>,
                more_keys: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let all: Vec<_> = std::iter::once(keys.clone()).chain(more_keys.iter()).collect();
                slf.get().0.parent.bind(slf.py()).call_method1(verb.name(), PyTuple::new(slf.py(), all)?)
            }
        }

        verbs!($class => Bound<'py, PyAny>);
    };
}
goes_on!(QueryBinBuilder);
goes_on!(WriteBinBuilder);

#[pymethods]
impl WriteBinBuilder {
    /// Continues the chain with records to read.
    #[pyo3(signature = (keys, /, *more_keys))]
    fn query<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'py, PyAny>,
        more_keys: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::begin(slf, Verb::Query, keys, more_keys)
    }

    /// Continues the chain with a function to apply to records.
    #[pyo3(signature = (keys, /, *more_keys))]
    fn execute_udf<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'py, PyAny>,
        more_keys: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::begin(slf, Verb::Udf, keys, more_keys)
    }

    /// Continues with another bin of the same builder.
    fn bin<'py>(&self, py: Python<'py>, bin_name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.0.parent.bind(py).call_method1("bin", (bin_name,))
    }

    /// Executes the chain: `execute` of the builder.
    #[pyo3(signature = (on_error=None))]
    fn execute<'py>(&self, py: Python<'py>, on_error: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        match on_error {
            // Tasks in the background take nothing.
            None => self.0.parent.bind(py).call_method0("execute"),
            Some(on_error) => self.0.parent.bind(py).call_method1("execute", (on_error,)),
        }
    }

    /// Executes the chain and streams its results: `stream` of the builder.
    #[pyo3(signature = (on_error=None))]
    fn stream<'py>(&self, py: Python<'py>, on_error: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        self.0.parent.bind(py).call_method1("stream", (on_error,))
    }
}

navigations!(QueryBinBuilder => CdtReadBuilder, CdtReadInvertableBuilder);
navigations!(WriteBinBuilder => CdtWriteBuilder, CdtWriteInvertableBuilder);
