//! `IndexBuilder`: an index, said step by step. Each step is checked when it is said.

use std::sync::Arc;

use aerolane::ael::Version;
use aerolane::sync::Mutex;
use aerospike_core::expressions::Expression;
use aerospike_core::operations::CdtContext;
use aerospike_core::{CollectionIndexType, IndexType};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::{IndexTarget, Names, bin, creating, drop_index};
use crate::ael;
use crate::builder::context::Context;
use crate::builder::surface::Surface;
use crate::command::Executable;
use crate::core::ClientCore;
use crate::dataset::DataSet;
use crate::errors;
use crate::lock::LockAttached;
use crate::policy::enums::Named;
use crate::query::enums::Indexed;
use crate::query::filter::{core_context, core_expression};

/// Servers from this version on call an index of ints `INTEGER`; before that it is `NUMERIC`.
const INTEGERS: Version = Version::new(8, 2, 0);

const ONE_SUBJECT: &str = "what the index covers has been said: an index is on one bin, or one expression, or a set";
const SET_HAS_NO_TYPE: &str = "an index of a set holds records, not values: it takes no type, collection or context";
const EXPRESSION_HAS_NO_CONTEXT: &str =
    "an index on an expression takes no context: the way to what is nested is part of the expression";

/// What an index has been told to be.
struct Plan {
    namespace: Box<str>,
    set: Box<str>,
    /// A bin has no context here.
    on: Option<IndexTarget>,
    within: Option<Vec<CdtContext>>,
    kind: Option<IndexType>,
    collection: Option<CollectionIndexType>,
    name: Option<String>,
}

#[cold]
fn wrong<T>(py: Python<'_>, text: &str) -> PyResult<T> {
    Err(errors::invalid_argument(py, text))
}

impl Plan {
    fn new(dataset: &Bound<'_, DataSet>) -> Self {
        let (namespace, set) = dataset.get().names();
        Self {
            namespace: namespace.into(),
            set: set.into(),
            on: None,
            within: None,
            kind: None,
            collection: None,
            name: None,
        }
    }

    fn covers_set(&self) -> bool {
        matches!(self.on, Some(IndexTarget::Set))
    }

    /// Says what it covers.
    fn cover(&mut self, py: Python<'_>, what: IndexTarget) -> PyResult<()> {
        if self.on.is_some() {
            return wrong(py, ONE_SUBJECT);
        }
        match what {
            IndexTarget::Set if self.kind.is_some() || self.collection.is_some() || self.within.is_some() => {
                return wrong(py, SET_HAS_NO_TYPE);
            }
            IndexTarget::Expression(_) if self.within.is_some() => return wrong(py, EXPRESSION_HAS_NO_CONTEXT),
            _ => self.on = Some(what),
        }
        Ok(())
    }

    fn on_set(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.set.is_empty() {
            return wrong(py, "an index of a set needs one: begin with a DataSet that names a set");
        }
        self.cover(py, IndexTarget::Set)
    }

    fn kind(&mut self, py: Python<'_>, kind: IndexType) -> PyResult<()> {
        if self.covers_set() {
            return wrong(py, SET_HAS_NO_TYPE);
        }
        if self.kind.is_some() {
            let text = "the type of the index has been said: call integer(), string(), geo2dsphere() or blob() once";
            return wrong(py, text);
        }
        self.kind = Some(kind);
        Ok(())
    }

    fn collection(&mut self, py: Python<'_>, collection: CollectionIndexType) -> PyResult<()> {
        if collection == CollectionIndexType::Set {
            return wrong(py, "CollectionIndexType.SET is for the records of a set: on_set() says that");
        }
        if self.covers_set() {
            return wrong(py, SET_HAS_NO_TYPE);
        }
        if self.collection.is_some() {
            return wrong(py, "which items of a collection are indexed has been said: call collection() once");
        }
        self.collection = Some(collection);
        Ok(())
    }

    fn within(&mut self, py: Python<'_>, ctx: Vec<CdtContext>) -> PyResult<()> {
        let text = match &self.on {
            Some(IndexTarget::Set) => SET_HAS_NO_TYPE,
            Some(IndexTarget::Expression(_)) => EXPRESSION_HAS_NO_CONTEXT,
            _ if self.within.is_some() => "the context has been said: give all its steps in one call of context()",
            _ => {
                self.within = Some(ctx);
                return Ok(());
            }
        };
        wrong(py, text)
    }

    fn named(&mut self, py: Python<'_>, name: &str) -> PyResult<()> {
        Names::checked(py, &self.namespace, Some(&self.set), name)?;
        if self.name.is_some() {
            return wrong(py, "the index has a name: call named() once");
        }
        self.name = Some(name.to_owned());
        Ok(())
    }

    fn name(&self, py: Python<'_>) -> PyResult<&str> {
        match &self.name {
            Some(name) => Ok(name),
            None => wrong(py, "the index has no name: say it with named(index_name)"),
        }
    }

    fn create(&self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<impl Executable + use<>> {
        let names = Names::checked(py, &self.namespace, Some(&self.set), self.name(py)?)?;
        let on = match self.on.clone() {
            Some(IndexTarget::Bin(name, _)) => IndexTarget::Bin(name, self.within.clone()),
            Some(on) => on,
            None => {
                let text = "the index covers nothing: say on_bin(name), on_expression(expression) or on_set()";
                return wrong(py, text);
            }
        };
        let kind = match &self.kind {
            Some(kind) => kind.clone(),
            None if self.covers_set() => IndexType::Numeric, // not sent
            None => return wrong(py, "the index has no type: say integer(), string(), geo2dsphere() or blob()"),
        };
        let of = (kind, self.collection.unwrap_or(CollectionIndexType::Default));
        Ok(creating(core, names, on, of, None))
    }

    fn dropping(&self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<impl Executable + use<>> {
        drop_index(py, core, &self.namespace, Some(&self.set), self.name(py)?, None)
    }
}

/// An expression that is indexed: a `FilterExpression`, or a text that every node of the cluster can evaluate.
fn expression(context: &Context, value: &Bound<'_, PyAny>) -> PyResult<Expression> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(ael::expression(value.py(), text.to_str()?, context.oldest_server())?.get().to_core()),
        Err(_) => core_expression(value),
    }
}

/// The type of an index of ints, as the servers call it.
fn integers(context: &Context) -> IndexType {
    match context.oldest_server() {
        Some(oldest) if oldest >= INTEGERS => IndexType::Integer,
        _ => IndexType::Numeric,
    }
}

/// What `create_index` of a session takes.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) index_name: &'a str,
    pub(crate) bin_name: Option<&'a Bound<'py, PyString>>,
    pub(crate) index_type: Option<&'a Bound<'py, PyAny>>,
    pub(crate) collection_type: Option<&'a Bound<'py, PyAny>>,
    pub(crate) ctx: Option<&'a Bound<'py, PyAny>>,
    pub(crate) expression: Option<&'a Bound<'py, PyAny>>,
}

impl Arguments<'_, '_> {
    /// Creates the index that they describe: of the whole set if they name neither a bin nor an expression.
    pub(crate) fn create(
        self,
        py: Python<'_>,
        context: &Arc<Context>,
        dataset: &Bound<'_, DataSet>,
    ) -> PyResult<impl Executable + use<>> {
        let mut plan = Plan::new(dataset);
        plan.named(py, self.index_name)?;
        if let Some(name) = self.bin_name {
            plan.cover(py, IndexTarget::Bin(bin(name)?, None))?;
        }
        if let Some(value) = self.expression {
            plan.cover(py, IndexTarget::Expression(expression(context, value)?))?;
        }
        if plan.on.is_none() {
            plan.on_set(py)?;
        }
        if let Some(kind) = self.index_type {
            plan.kind(py, Indexed::from_python(kind, "index_type")?.into())?;
        }
        if let Some(collection) = self.collection_type {
            plan.collection(py, CollectionIndexType::from_python(collection, "collection_type")?)?;
        }
        if let Some(ctx) = self.ctx {
            plan.within(py, core_context(ctx)?)?;
        }
        plan.create(py, &context.core)
    }
}

/// Defines the class of a surface.
macro_rules! builder {
    ($surface:ident: $class:ident in $module:literal) => {
        /// A secondary index: `session.index(dataset).on_bin("age").named("by_age").integer()`.
        ///
        /// `create()` creates it, `drop()` drops the index of that name. All other methods return the builder, and
        /// raise `InvalidArgumentError` if they do not fit what was said before.
        #[pyclass(frozen, name = "IndexBuilder", module = $module)]
        pub(crate) struct $class {
            context: Arc<Context>,
            plan: Mutex<Plan>,
        }

        impl $class {
            pub(crate) fn of(context: &Arc<Context>, dataset: &Bound<'_, DataSet>) -> Self {
                Self { context: Arc::clone(context), plan: Mutex::new(Plan::new(dataset)) }
            }

            fn told<'py>(
                slf: Bound<'py, Self>,
                tell: impl FnOnce(&mut Plan, Python<'py>) -> PyResult<()>,
            ) -> PyResult<Bound<'py, Self>> {
                tell(&mut slf.get().plan.lock_py_attached(slf.py()), slf.py())?;
                Ok(slf)
            }
        }

        #[pymethods]
        impl $class {
            /// Indexes the values of a bin.
            fn on_bin<'py>(slf: Bound<'py, Self>, bin_name: &Bound<'py, PyString>) -> PyResult<Bound<'py, Self>> {
                let name = bin(bin_name)?;
                Self::told(slf, |plan, py| plan.cover(py, IndexTarget::Bin(name, None)))
            }

            /// Indexes the value of an expression: a `FilterExpression`, or text in the Aerospike Expression Language.
            /// Requires server 8.1 or later.
            ///
            /// Raises `AelParseException` if the text is not valid, or needs a newer server than the cluster has.
            fn on_expression<'py>(slf: Bound<'py, Self>, expression: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let expression = self::expression(&slf.get().context, expression)?;
                Self::told(slf, |plan, py| plan.cover(py, IndexTarget::Expression(expression)))
            }

            /// Indexes the records of the set, so that queries of the set do not have to look at others. Requires
            /// server 8.1.2 or later.
            fn on_set(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                Self::told(slf, |plan, py| plan.on_set(py))
            }

            /// Sets the name of the index, 1 to 255 bytes.
            fn named<'py>(slf: Bound<'py, Self>, index_name: &str) -> PyResult<Bound<'py, Self>> {
                Self::told(slf, |plan, py| plan.named(py, index_name))
            }

            /// Indexes ints.
            fn integer(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let kind = integers(&slf.get().context);
                Self::told(slf, |plan, py| plan.kind(py, kind))
            }

            /// Same as `integer`. For code written for the first versions of the Aerospike SDK.
            fn numeric(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                Self::integer(slf)
            }

            /// Indexes strs.
            fn string(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                Self::told(slf, |plan, py| plan.kind(py, IndexType::String))
            }

            /// Indexes GeoJSON points and regions.
            fn geo2dsphere(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                Self::told(slf, |plan, py| plan.kind(py, IndexType::Geo2DSphere))
            }

            /// Indexes bytes.
            fn blob(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                Self::told(slf, |plan, py| plan.kind(py, IndexType::Blob))
            }

            /// Indexes the items of a list or map instead of the value itself, as a `CollectionIndexType` says.
            fn collection<'py>(
                slf: Bound<'py, Self>,
                collection_index_type: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let items = CollectionIndexType::from_python(collection_index_type, "collection_index_type")?;
                Self::told(slf, |plan, py| plan.collection(py, items))
            }

            /// Sets the path from the bin to the value to index, a list of `CTX`.
            fn context<'py>(slf: Bound<'py, Self>, ctx: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let ctx = core_context(ctx)?;
                Self::told(slf, |plan, py| plan.within(py, ctx))
            }

            /// Creates the index. Returns an `IndexTask`, which can wait until it is built; with asyncio, an awaitable
            /// of it.
            fn create(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let core = &self.context.core;
                Surface::$surface.run(py, core, "create", || self.plan.lock_py_attached(py).create(py, core))
            }

            /// Drops the index of this name. Returns a `DropIndexTask`; with asyncio, an awaitable of it.
            fn drop(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let core = &self.context.core;
                Surface::$surface.run(py, core, "drop", || self.plan.lock_py_attached(py).dropping(py, core))
            }
        }
    };
}

builder!(Async: IndexBuilder in "aerolane");
builder!(Sync: SyncIndexBuilder in "aerolane.sync");

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IndexBuilder>()?;
    module.add("SyncIndexBuilder", module.py().get_type::<SyncIndexBuilder>())
}
