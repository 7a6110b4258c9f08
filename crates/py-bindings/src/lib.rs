//! The Python module `aerolane._aerolane`.
//!
//! No value stands between: Python objects are written straight into request bytes, and answers are turned straight
//! into Python objects. What is not about Python (routing, pools, lanes, retries) is the crate `aerolane`.
//!
//! * [`value`], [`key`], [`dataset`], [`operation`], [`record`], [`request`]: Python objects to and from wire bytes
//! * [`cdt`], [`expression`]: what operations on collections, and expressions, are made of
//! * [`ael`]: expressions from text
//! * [`batch`]: many records at a time
//! * [`columns`]: records as numpy arrays and Arrow columns
//! * [`query`], [`index`], [`udf`], [`admin`]: queries, indexes, functions, users and roles; [`streams`]: their results
//! * [`info`]: what nodes say about themselves
//! * [`txn`][]: transactions
//! * [`writer`]: writing in bulk, with the outcome of each record known
//! * [`metrics`]: what the client measures; [`logging`]: what it logs
//! * [`system`], [`configuration`]: settings of a whole cluster, and the file that they may be in
//! * [`argument`]: what async methods are given
//! * [`fast_call`], [`instance`], [`recycled`]: what makes frequent calls, and objects, cheap
//! * [`host`]: the async side, a lane on each event loop
//! * [`blocking`]: the sync side
//! * [`policy`], [`behavior`], [`errors`]: policies, named sets of settings, and exceptions

// Nothing is public here: these links are for the crate's developers.
#![allow(rustdoc::private_intra_doc_links)]
// What Python sees is documented in docstrings; what Rust sees is private.
#![allow(missing_docs)]
// PyO3 hands arguments over by value, and functions of one macro have one shape.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
// `slf` beside `self`, `op` beside `ops`: PyO3's and the database's own words.
#![allow(clippy::unit_arg)] // What writes one element of a request is one expression.
#![allow(clippy::similar_names)]

mod admin;
mod ael;
mod argument;
mod batch;
mod behavior;
mod blocking;
mod builder;
mod call;
mod cdt;
mod client;
mod columns;
mod command;
mod configuration;
mod core;
mod dataset;
mod errors;
mod expression;
mod fast_call;
mod fork;
mod host;
mod index;
mod info;
mod instance;
mod key;
mod lock;
mod logging;
mod metrics;
mod operation;
mod policy;
mod query;
mod record;
mod recycled;
mod request;
mod rng;
mod sequence;
mod session;
mod small_bytes;
mod streams;
mod system;
mod txn;
mod udf;
mod value;
mod writer;

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How this module was built, as a dict: `version`, `profile` (Cargo's: `"release"`, `"fast"`, ..), `opt_level`,
/// `features` (Cargo's, a list), `target`, `rustc`, `abi3` (one build for several versions of Python) and
/// `free_threaded` (built for Python without the GIL).
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", env!("AEROLANE_PROFILE"))?;
    info.set_item("opt_level", env!("AEROLANE_OPT_LEVEL"))?;
    let features: Vec<&str> = env!("AEROLANE_FEATURES").split(',').filter(|name| !name.is_empty()).collect();
    info.set_item("features", features)?;
    info.set_item("target", env!("AEROLANE_TARGET"))?;
    info.set_item("rustc", env!("AEROLANE_RUSTC"))?;
    info.set_item("abi3", cfg!(Py_LIMITED_API))?;
    info.set_item("free_threaded", cfg!(Py_GIL_DISABLED))?;
    Ok(info)
}

/// Aerolane: a client for the Aerospike database. Import `aerolane`, not this module.
#[pymodule(gil_used = false)]
fn _aerolane(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    key::register(module)?;
    module.add_class::<dataset::DataSet>()?;
    record::register(module)?;
    cdt::register(module)?;
    expression::register(module)?;
    operation::register(module)?;
    rng::register(module)?;
    value::register(module)?;
    errors::register(module)?;
    ael::register(module)?;
    policy::register(module)?;
    behavior::register(module)?;
    system::register(module)?;
    host::register(module)?;
    client::register(module)?;
    builder::register(module)?;
    session::register(module)?;
    configuration::register(module)?;
    batch::register(module)?;
    query::register(module)?;
    index::builder::register(module)?;
    info::register(module)?;
    columns::register(module)?;
    admin::register(module)?;
    txn::register(module)?;
    metrics::register(module)?;
    writer::register(module)?;
    logging::register(module)?;
    Ok(())
}
