//! Rows of a table as records: `session.upsert(dataset).bins("a", "b").row(1, "x", "y")`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::chain::{Chain, Keys, Shared, Target as ChainTarget};
use super::context::Context;
use super::ops::Ops;
use super::steps::scalar;
use super::verb::Verb;
use crate::errors;
use crate::key::Key;
use crate::operation::checked_name;

/// The records of a data set that rows are written to.
pub(super) struct Target {
    context: Arc<Context>,
    verb: Verb,
    namespace: Box<str>,
    set: Box<str>,
}

impl Target {
    /// The records of a data set, for a verb that writes bins.
    pub(super) fn new(
        py: Python<'_>,
        context: &Arc<Context>,
        verb: Verb,
        (namespace, set): (&str, &str),
        more: &Bound<'_, PyTuple>,
    ) -> PyResult<Self> {
        let name = verb.name();
        if !matches!(verb, Verb::Upsert | Verb::Insert | Verb::Update | Verb::Replace) {
            let text = format!("{name}() takes keys: dataset.id(..) makes one, dataset.ids(..) makes several");
            return Err(PyTypeError::new_err(text));
        }
        if !more.is_empty() {
            let text = format!("{name}() takes a DataSet alone, or keys: dataset.id(..) makes a key");
            return Err(errors::invalid_argument(py, text));
        }
        Ok(Self { context: Arc::clone(context), verb, namespace: namespace.into(), set: set.into() })
    }

    /// The rows with these bins.
    pub(super) fn bins(&self, names: &Bound<'_, PyTuple>) -> PyResult<Rows> {
        if names.is_empty() {
            return Err(errors::invalid_argument(names.py(), "bins() takes at least one name"));
        }
        let names = names.iter().map(|name| {
            let name = name.cast_into::<PyString>().map_err(|error| {
                PyTypeError::new_err(format!("a bin name is a str, not {}", error.into_inner().get_type()))
            })?;
            checked_name(&name)?;
            Ok(name.unbind())
        });
        let Self { context, verb, namespace, set } = self;
        Ok(Rows {
            verb: *verb,
            names: names.collect::<PyResult<_>>()?,
            namespace: namespace.clone(),
            set: set.clone(),
            chain: Chain::of(context, ChainTarget::NoRows),
        })
    }
}

/// Rows of a chain.
pub(super) struct Rows {
    verb: Verb,
    names: Vec<Py<PyString>>,
    namespace: Box<str>,
    set: Box<str>,
    chain: Shared,
}

impl Rows {
    /// Adds a row: the user key of its record, and a value for each bin.
    pub(super) fn row(&self, identifier: &Bound<'_, PyAny>, values: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let py = identifier.py();
        if values.len() != self.names.len() {
            let (given, wanted) = (values.len(), self.names.len());
            let text = format!("the row {identifier} has {given} values for {wanted} bins");
            return Err(errors::invalid_argument(py, text));
        }
        let key = py.get_type::<Key>().call1((&*self.namespace, &*self.set, identifier))?.cast_into::<Key>()?;
        let mut ops = Ops::default();
        for (name, value) in self.names.iter().zip(values) {
            ops.add(py, Ops::of(&scalar::set(name.bind(py), value)?))?;
        }
        let keys = Keys::One(key.unbind());
        let mut chain = self.chain.lock_py_attached(py);
        chain.begin(py, self.verb, keys)?;
        chain.add(py, "row", ops)
    }

    /// The chain of the rows.
    pub(super) fn chain(&self) -> &Shared {
        &self.chain
    }
}
