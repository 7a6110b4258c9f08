//! Secondary indexes.
//!
//! * [`builder`]: what sessions say of an index, step by step

pub(crate) mod builder;

use std::sync::Arc;

use aerolane::raw::RawClient;
use aerospike_core::expressions::Expression;
use aerospike_core::operations::CdtContext;
use aerospike_core::{CollectionIndexType, IndexType};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::client::control;
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::errors;
use crate::operation::checked_name;
use crate::policy::AdminPolicy;
use crate::policy::enums::Named;
use crate::query::enums::Indexed;
use crate::query::filter::{MAX_INDEX_NAME, core_context, core_expression};
use crate::query::statement::{check_namespace, check_set};
use crate::query::tasks::{DropIndexTask, IndexTask};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;
type Policy<'a, 'py> = Option<&'a Bound<'py, AdminPolicy>>;

/// Where an index is, and how it is called.
struct Names {
    namespace: String,
    set_name: String,
    index_name: String,
}

impl Names {
    fn checked(py: Python<'_>, namespace: &str, set_name: Option<&str>, index_name: &str) -> PyResult<Self> {
        let set_name = set_name.unwrap_or_default();
        check_namespace(py, namespace)?;
        check_set(py, set_name)?;
        // They become part of an info command, in which these separate.
        for (what, text) in [("set name", set_name), ("index name", index_name)] {
            if let Some(bad) = text.chars().find(|c| matches!(c, ';' | ':' | '=') || c.is_control()) {
                return Err(errors::invalid_argument(
                    py,
                    format!("the {what} {text:?} has the character {bad:?} in it"),
                ));
            }
        }
        if index_name.is_empty() || index_name.len() > MAX_INDEX_NAME {
            let size = index_name.len();
            return Err(errors::invalid_argument(
                py,
                format!("an index name has 1 to {MAX_INDEX_NAME} bytes, not {size}"),
            ));
        }
        Ok(Self { namespace: namespace.to_owned(), set_name: set_name.to_owned(), index_name: index_name.to_owned() })
    }
}

/// What an index covers.
#[derive(Clone)]
pub(crate) enum IndexTarget {
    /// A bin, or what a context selects in it.
    Bin(String, Option<Vec<CdtContext>>),
    /// What an expression evaluates to.
    Expression(Expression),
    /// The records of the set.
    Set,
}

fn collection(cit: Option<Object<'_, '_>>) -> PyResult<CollectionIndexType> {
    cit.map_or(Ok(CollectionIndexType::Default), |cit| CollectionIndexType::from_python(cit, "cit"))
}

/// The name of a bin that is indexed.
fn bin(name: &Bound<'_, PyString>) -> PyResult<String> {
    let bin = checked_name(name)?.to_owned();
    if bin.is_empty() {
        return Err(errors::invalid_argument(name.py(), "the bin name of an index must not be empty"));
    }
    Ok(bin)
}

/// Creates an index. `kind` and `cit` say what of the values it holds; an index of a set has none of either.
fn creating(
    core: &Arc<ClientCore>,
    names: Names,
    on: IndexTarget,
    (kind, cit): (IndexType, CollectionIndexType),
    policy: Policy<'_, '_>,
) -> impl Executable + use<> {
    let (raw, policy) = (RawClient::clone(&core.raw), AdminPolicy::in_force(policy));
    let core = Arc::clone(core);
    let future = async move {
        let Names { namespace, set_name, index_name } = &names;
        control::check_known(&raw, namespace)?;
        let client = raw.asynchronous();
        match &on {
            IndexTarget::Bin(bin, ctx) => {
                let ctx = ctx.as_deref();
                client.create_index_on_bin(&policy, namespace, set_name, bin, index_name, kind, cit, ctx).await
            }
            IndexTarget::Expression(exp) => {
                client.create_index_using_expression(&policy, namespace, set_name, index_name, kind, cit, exp).await
            }
            IndexTarget::Set => client.create_set_index(&policy, namespace, set_name, index_name).await,
        }
    };
    let convert = move |py: Python<'_>, task| {
        core.indexes.changed();
        Ok(Py::new(py, IndexTask::new(core, task))?.into_any())
    };
    Control { future, convert }
}

/// An index on a bin, or on what a context selects in it.
#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn create(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    set_name: Option<&str>,
    bin_name: &Bound<'_, PyString>,
    index_name: &str,
    index_type: Object<'_, '_>,
    cit: Option<Object<'_, '_>>,
    ctx: Option<Object<'_, '_>>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let (names, bin) = (Names::checked(py, namespace, set_name, index_name)?, bin(bin_name)?);
    let of = (Indexed::from_python(index_type, "index_type")?.into(), collection(cit)?);
    Ok(creating(core, names, IndexTarget::Bin(bin, ctx.map(core_context).transpose()?), of, policy))
}

/// An index on the value of an expression.
#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn create_using_expression(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    set_name: Option<&str>,
    index_name: &str,
    index_type: Object<'_, '_>,
    expression: Object<'_, '_>,
    cit: Option<Object<'_, '_>>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let names = Names::checked(py, namespace, set_name, index_name)?;
    let of = (Indexed::from_python(index_type, "index_type")?.into(), collection(cit)?);
    Ok(creating(core, names, IndexTarget::Expression(core_expression(expression)?), of, policy))
}

/// An index of the records of a set.
pub(crate) fn create_of_set(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    set_name: &str,
    index_name: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let names = Names::checked(py, namespace, Some(set_name), index_name)?;
    Ok(creating(core, names, IndexTarget::Set, (IndexType::Numeric, CollectionIndexType::Default), policy))
}

/// Drops an index.
pub(crate) fn drop_index(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    set_name: Option<&str>,
    index_name: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let names = Names::checked(py, namespace, set_name, index_name)?;
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    let core = Arc::clone(core);
    Ok(Control {
        future: async move { client.drop_index(&policy, &names.namespace, &names.set_name, &names.index_name).await },
        convert: move |py: Python<'_>, task| {
            core.indexes.changed();
            Ok(Py::new(py, DropIndexTask::new(core, task))?.into_any())
        },
    })
}
