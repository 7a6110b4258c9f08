//! The Aerospike Expression Language: text to `FilterExpression`.
//!
//! The compiler is `aerolane::ael`. Here are Python's values for its parameters, and a cache by text and parameters.
//!
//! * [`filter`], [`expression`]: what `where()` and the steps of builders call
//! * [`error`](mod@error): the exception `AelParseException`
//! * [`param`]: Python objects as parameters
//! * [`cache`]: what was compiled before
//! * [`index`]: which secondary index serves a text
//! * [`monitor`]: the indexes that a cluster has

mod cache;
mod error;
mod index;
mod monitor;
mod param;

use aerolane::ael::{self, Param, Version};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::cdt::Context;
use crate::client;
use crate::expression::FilterExpression;
use cache::{Cached, Key};
pub(crate) use index::{IndexContext, filter as index_filter};
pub(crate) use monitor::IndexesMonitor;

/// The filter of a text, from the cache if it is there. `server`: the oldest server that is to evaluate it.
///
/// Raises `AelParseException` for a text that is none, or whose value is neither true nor false.
pub(crate) fn filter(
    py: Python<'_>,
    text: &str,
    params: &Bound<'_, PyTuple>,
    server: Option<Version>,
) -> PyResult<Py<FilterExpression>> {
    let params = param::params(params)?;
    let found = compiled(py, text, &params, server)?;
    if !found.is_condition {
        // Once more, for the error.
        ael::condition(text, &params).map_err(|error| error::to_py(py, &error))?;
    }
    Ok(found.expression)
}

/// The expression of a text, of whatever type its value is; otherwise as [`filter`], without parameters.
pub(crate) fn expression(py: Python<'_>, text: &str, server: Option<Version>) -> PyResult<Py<FilterExpression>> {
    Ok(compiled(py, text, &[], server)?.expression)
}

/// A text with its parameters, to be looked at once more.
pub(crate) struct Text {
    pub(crate) text: Box<str>,
    pub(crate) params: Vec<Param>,
}

impl Text {
    /// Of one that has been compiled.
    pub(crate) fn new(text: &str, params: &Bound<'_, PyTuple>) -> PyResult<Self> {
        Ok(Self { text: text.into(), params: param::params(params)? })
    }
}

fn compiled(py: Python<'_>, text: &str, params: &[Param], server: Option<Version>) -> PyResult<Cached> {
    let key = Key::new(text, params, server);
    if let Some(found) = cache::get(py, &key) {
        return Ok(found);
    }
    let compiled = match server {
        None => ael::compile(text, params),
        Some(server) => ael::compile_for(text, params, server),
    };
    let compiled = compiled.map_err(|error| error::to_py(py, &error))?;
    let is_condition = compiled.is_condition();
    let cached = Cached { expression: Py::new(py, FilterExpression::compiled(compiled))?, is_condition };
    cache::put(py, key, &cached);
    Ok(cached)
}

/// Compiles text in the Aerospike Expression Language to an expression: `parse_ael("$.age > ?0 and $.country == 'US'",
/// 25)`.
///
/// The result equals what the constructors of `FilterExpression` build. Servers since 5.2 can evaluate it; some
/// features require a later version. `args` are the values of the placeholders `?0`, `?1`, .. (or `$1`, `$2`, ..; or
/// `%s`, one after the other). They are bound as values, never parsed as text, and all of them must be used. With
/// `server`, the `Version` of the oldest node, features that it does not support are refused (`error.needs` names the
/// version that does).
///
/// Raises `AelParseException` (a `ValueError`) for text that is invalid or leaves a type open, for placeholders without
/// a value and values without a placeholder, and `TypeError` for a value that cannot be sent.
#[pyfunction]
#[pyo3(signature = (expression, /, *args, server=None))]
fn parse_ael(
    py: Python<'_>,
    expression: &str,
    args: &Bound<'_, PyTuple>,
    server: Option<&Bound<'_, client::Version>>,
) -> PyResult<Py<FilterExpression>> {
    let params = param::params(args)?;
    Ok(compiled(py, expression, &params, server.map(|server| server.get().for_ael()))?.expression)
}

/// Compiles a path to a context: `parse_ctx("$.bin.key.[0]")` is `[CTX.map_key("key"), CTX.list_index(0)]`. The bin is
/// not part of the context.
///
/// Raises `AelParseException` if the text is not a path, has no steps after the bin, or has a step that selects several
/// elements.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn parse_ctx(py: Python<'_>, path: &str) -> PyResult<Vec<Context>> {
    let levels = ael::context(path, &[]).map_err(|error| error::to_py(py, &error))?;
    Ok(levels.iter().map(|level| Context::from_level(level.id, &level.value)).collect())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::register(module)?;
    index::register(module)?;
    module.add_class::<IndexesMonitor>()?;
    module.add_function(wrap_pyfunction!(parse_ael, module)?)?;
    module.add_function(wrap_pyfunction!(parse_ctx, module)?)
}
