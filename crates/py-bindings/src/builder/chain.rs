//! A chain: what a builder has been told so far. It is checked with each call, so that what does not fit is refused where it is said.

use std::ops::Range;
use std::sync::Arc;

use aerolane::ael::Version;
use aerospike_core::Expiration;
use aerospike_core::expressions::Expression;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::background::Task;
use super::context::Context;
use super::dataset::Query;
pub(super) use super::link::Shared;
use super::ops::Ops;
use super::verb::Verb;
use super::whole::{Defaults, Whole};
use crate::ael;
use crate::batch::rows::checked_key;
use crate::errors;
use crate::expression::Exp;
use crate::key::Key;
use crate::operation::checked_name;
use crate::query::statement::Function;
use crate::request::bin_names;

/// The records that an operation is about.
pub(super) enum Keys {
    One(Py<Key>),
    Many(Vec<Py<Key>>),
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(keys) => keys.len(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Py<Key>> + Clone {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
        .iter()
    }

    /// The first one. There is one always.
    pub(super) fn first(&self) -> &Py<Key> {
        match self {
            Self::One(key) => key,
            Self::Many(keys) => &keys[0],
        }
    }

    /// The first one, taken out; none is left.
    #[inline]
    pub(super) fn take_first(&mut self) -> Py<Key> {
        match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::One(key) => key,
            Self::Many(mut keys) => keys.swap_remove(0),
        }
    }

    /// A `Key`, several, or a list of keys and perhaps more.
    pub(super) fn of(verb: &str, keys: &Bound<'_, PyAny>, more: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if let Ok(key) = keys.cast::<Key>() {
            if more.is_empty() {
                return Ok(Self::One(key.clone().unbind()));
            }
            let mut all = Vec::with_capacity(1 + more.len());
            all.push(key.clone().unbind());
            return Self::and(all, more);
        }
        let Ok(list) = keys.cast::<PyList>() else {
            let kind = keys.get_type();
            let text = format!("{verb}() takes a Key, several, or a list of keys, not {}", kind.name()?);
            return Err(PyTypeError::new_err(text));
        };
        let mut all = Vec::with_capacity(list.len() + more.len());
        for (place, item) in list.iter().enumerate() {
            all.push(checked_key(place, item)?.unbind());
        }
        Self::and(all, more)
    }

    fn and(mut all: Vec<Py<Key>>, more: &Bound<'_, PyTuple>) -> PyResult<Self> {
        for item in more.iter() {
            all.push(checked_key(all.len(), item)?.unbind());
        }
        match all.len() {
            0 => Err(errors::invalid_argument(more.py(), "the list of keys is empty: there is nothing to carry out")),
            1 => Ok(Self::One(all.remove(0))),
            _ => Ok(Self::Many(all)),
        }
    }
}

/// The bins that a query reads.
#[derive(Default)]
pub(super) enum Projection {
    #[default]
    All,
    /// Those that the operations name.
    Named(Box<Ops>),
    /// None: generation and expiration only.
    Nothing,
}

/// One operation of a chain: a verb, its records, and what was said of it.
pub(super) struct Segment {
    pub(super) verb: Verb,
    pub(super) keys: Keys,
    pub(super) ops: Ops,
    pub(super) projection: Projection,
    /// Boxed, as are other rare ones: chains are moved about.
    pub(super) filter: Option<Box<Expression>>,
    pub(super) generation: Option<u32>,
    pub(super) expiration: Option<Expiration>,
    pub(super) durable_delete: Option<bool>,
    /// The function that is applied.
    pub(super) function: Option<Box<Function>>,
}

impl Segment {
    #[inline]
    pub(super) fn new(verb: Verb, keys: Keys) -> Self {
        Self {
            verb,
            keys,
            ops: Ops::default(),
            projection: Projection::All,
            filter: None,
            generation: None,
            expiration: None,
            durable_delete: None,
            function: None,
        }
    }

    /// Whether it has been told what to do.
    fn check_whole(&self, py: Python<'_>) -> PyResult<()> {
        if self.verb.takes_bins() && self.ops.is_empty() {
            let verb = self.verb.name();
            let text = format!("{verb}() has nothing to write: give it bins with put({{..}}) or bin(name)");
            return Err(errors::invalid_argument(py, text));
        }
        if self.verb == Verb::Udf && self.function.is_none() {
            let text = "execute_udf() has no function to apply: name it with function(package, name)";
            return Err(errors::invalid_argument(py, text));
        }
        Ok(())
    }
}

/// Which of the keys of a query are read.
#[derive(Default)]
pub(super) struct Cut {
    /// The first ones, of all that the chain has.
    pub(super) limit: Option<u64>,
    /// Those of some partitions.
    pub(super) partitions: Option<Range<usize>>,
}

/// What a chain is about.
#[allow(clippy::large_enum_variant)] // It lives in the allocation of its chain.
pub(super) enum Target {
    /// Records, by their keys: the operations before the last one, and that.
    Keys { before: Vec<Segment>, last: Segment },
    /// Rows of a table, of which there is none yet.
    NoRows,
    /// A set.
    DataSet(Box<Query>),
    /// Nothing any more: a terminal has taken it.
    Taken,
    /// All records of a set, which the servers change in the background.
    Background(Box<Task>),
}

/// What a builder has been told.
pub(crate) struct Chain {
    pub(super) target: Target,
    pub(super) whole: Whole,
    pub(super) fail_on_filtered_out: bool,
    pub(super) include_missing_keys: bool,
    cut: Option<Box<Cut>>,
}

#[cold]
pub(super) fn spent(py: Python<'_>) -> PyErr {
    let text = "this builder has been executed: begin another one with a method of the session";
    errors::to_py(py, &aerolane::Error::client_error(text))
}

#[cold]
fn no_rows(py: Python<'_>, method: &str) -> PyErr {
    errors::invalid_argument(py, format!("{method}() needs a row: call row() or rows() before"))
}

#[cold]
pub(super) fn only_keys(py: Python<'_>, method: &str) -> PyErr {
    let text = format!("{method}() is for records that are given by their keys; this builder queries a data set");
    errors::invalid_argument(py, text)
}

/// The expression of a filter: a `FilterExpression`, or a text that every node of the cluster can evaluate.
pub(super) fn expression(
    chain: &Shared,
    value: &Bound<'_, PyAny>,
    params: &Bound<'_, PyTuple>,
) -> PyResult<Expression> {
    let py = value.py();
    if let Ok(text) = value.cast::<PyString>() {
        let oldest = chain.context.oldest_server();
        return Ok(ael::filter(py, text.to_str()?, params, oldest)?.get().to_core());
    }
    if !params.is_empty() {
        let text = "parameters go with a filter that is a text; a FilterExpression has its values inside";
        return Err(PyTypeError::new_err(text));
    }
    let Ok(exp) = value.extract::<Exp>() else {
        let text = format!(
            "a condition is a FilterExpression or a text such as \"$.age > 30\", not {}",
            value.get_type().name()?
        );
        return Err(PyTypeError::new_err(text));
    };
    Ok(exp.to_core())
}

/// The text of a filter of a query of a data set, which an index may serve.
pub(super) fn text(
    chain: &Shared,
    value: &Bound<'_, PyAny>,
    params: &Bound<'_, PyTuple>,
) -> PyResult<Option<Arc<ael::Text>>> {
    let Ok(text) = value.cast::<PyString>() else { return Ok(None) };
    let of_set = matches!(chain.lock_py_attached(value.py()).target, Target::DataSet(_));
    if !of_set {
        return Ok(None);
    }
    Ok(Some(Arc::new(ael::Text::new(text.to_str()?, params)?)))
}

/// The expression that a step evaluates: a `FilterExpression`, or a text that every node of the cluster can evaluate.
pub(super) fn value_expression(value: &Bound<'_, PyAny>, oldest: Option<Version>) -> PyResult<Exp> {
    match value.cast::<PyString>() {
        Ok(text) => ael::expression(value.py(), text.to_str()?, oldest)?.into_bound(value.py()).into_any().extract(),
        Err(_) => value.extract(),
    }
}

impl Chain {
    /// A chain that begins with an operation on records.
    #[inline]
    pub(super) fn of_keys(context: &Arc<Context>, verb: Verb, keys: Keys) -> Shared {
        Shared::new(context, || Self::about(Target::Keys { before: Vec::new(), last: Segment::new(verb, keys) }))
    }

    pub(super) fn of(context: &Arc<Context>, target: Target) -> Shared {
        Shared::new(context, || Self::about(target))
    }

    #[inline]
    fn about(target: Target) -> Self {
        Self { target, whole: Whole::default(), fail_on_filtered_out: false, include_missing_keys: false, cut: None }
    }

    pub(super) fn check(&self, py: Python<'_>) -> PyResult<()> {
        if matches!(self.target, Target::Taken) { Err(spent(py)) } else { Ok(()) }
    }

    /// What holds for all operations that say nothing else, to be changed.
    pub(super) fn defaults_mut(&mut self) -> &mut Defaults {
        self.whole.defaults_mut()
    }

    /// The operation that is being described.
    pub(super) fn last(&mut self, py: Python<'_>, method: &str) -> PyResult<&mut Segment> {
        match &mut self.target {
            Target::Keys { last, .. } => Ok(last),
            Target::Background(task) => Ok(&mut task.segment),
            Target::DataSet(_) => Err(only_keys(py, method)),
            Target::NoRows => Err(no_rows(py, method)),
            Target::Taken => Err(spent(py)),
        }
    }

    /// The query of a data set; `None`: it is about keys.
    pub(super) fn query(&mut self, py: Python<'_>) -> PyResult<Option<&mut Query>> {
        match &mut self.target {
            Target::Keys { .. } | Target::NoRows | Target::Background(_) => Ok(None),
            Target::DataSet(query) => Ok(Some(query)),
            Target::Taken => Err(spent(py)),
        }
    }

    /// Goes on with another operation.
    pub(super) fn begin(&mut self, py: Python<'_>, verb: Verb, keys: Keys) -> PyResult<()> {
        self.check(py)?;
        if matches!(self.target, Target::NoRows) {
            self.target = Target::Keys { before: Vec::new(), last: Segment::new(verb, keys) };
            return Ok(());
        }
        let Target::Keys { before, last } = &mut self.target else { return Err(only_keys(py, verb.name())) };
        last.check_whole(py)?;
        if self.cut.is_some() && verb.writes() {
            return Err(cut_writes(py, verb));
        }
        before.push(std::mem::replace(last, Segment::new(verb, keys)));
        Ok(())
    }

    /// Has the present operation do something with bins. What reads only can be part of a query, too.
    pub(super) fn add(&mut self, py: Python<'_>, method: &str, ops: Ops) -> PyResult<()> {
        let segment = match &mut self.target {
            Target::Keys { last, .. } => last,
            Target::DataSet(query) => return query.add(py, method, ops),
            Target::NoRows => return Err(no_rows(py, method)),
            Target::Taken => return Err(spent(py)),
            Target::Background(task) => return task.add(py, method, ops),
        };
        let verb = segment.verb;
        if verb == Verb::Query {
            if ops.asked.writes {
                return Err(writes_in_query(py, method));
            }
            if !matches!(segment.projection, Projection::All) {
                return Err(bins_and_steps(py));
            }
        } else if !verb.takes_bins() {
            return Err(takes_no_bins(py, verb, method));
        }
        segment.ops.add(py, ops)
    }

    /// What a query reads.
    pub(super) fn project(&mut self, py: Python<'_>, projection: Projection) -> PyResult<()> {
        let (place, empty) = match &mut self.target {
            Target::Keys { last, .. } => (&mut last.projection, last.ops.is_empty()),
            Target::DataSet(query) => (&mut query.projection, query.ops.is_empty()),
            Target::NoRows => return Err(no_rows(py, "bins")),
            Target::Taken => return Err(spent(py)),
            Target::Background(task) => (&mut task.segment.projection, false),
        };
        if !empty {
            return Err(bins_and_steps(py));
        }
        if !matches!(place, Projection::All) {
            let text = "which bins are read has been said: call bins() or with_no_bins() once";
            return Err(errors::invalid_argument(py, text));
        }
        *place = projection;
        Ok(())
    }

    /// Sets the filter of the present operation; `text`: the one that it comes from, for queries of a data set.
    pub(super) fn filter(&mut self, py: Python<'_>, filter: Expression, text: Option<Arc<ael::Text>>) -> PyResult<()> {
        let place = match &mut self.target {
            Target::Keys { last, .. } => &mut last.filter,
            Target::DataSet(query) => {
                if query.filter_expression.is_none() {
                    query.text = text;
                }
                &mut query.filter_expression
            }
            Target::NoRows => return Err(no_rows(py, "where")),
            Target::Taken => return Err(spent(py)),
            Target::Background(task) => &mut task.segment.filter,
        };
        if place.is_some() {
            let text = "where() has been called for this operation: combine both conditions with Exp.and_([..])";
            return Err(errors::invalid_argument(py, text));
        }
        *place = Some(Box::new(filter));
        Ok(())
    }

    /// Sets when the records of the present operation expire.
    pub(super) fn expire(&mut self, py: Python<'_>, method: &str, expiration: Expiration) -> PyResult<()> {
        let last = self.last(py, method)?;
        if !last.verb.sets_expiration() {
            let verb = last.verb.name();
            let text =
                format!("{verb}() leaves expirations alone: {method}() goes with verbs that write, and with touch()");
            return Err(errors::invalid_argument(py, text));
        }
        if last.expiration.replace(expiration).is_some() {
            let text = format!("when the records expire has been said: call {method}() or another of its kind once");
            return Err(errors::invalid_argument(py, text));
        }
        Ok(())
    }

    /// Changes which of the keys are read.
    pub(super) fn cut(&mut self, py: Python<'_>, change: impl FnOnce(&mut Cut)) -> PyResult<()> {
        self.check(py)?;
        let Target::Keys { before, last } = &self.target else { return Ok(()) };
        if let Some(segment) = before.iter().chain([last]).find(|segment| segment.verb.writes()) {
            return Err(cut_writes(py, segment.verb));
        }
        change(self.cut.get_or_insert_default());
        Ok(())
    }

    /// Leaves out the keys that are not read. Says whether any are left.
    pub(super) fn cut_keys(&mut self) -> bool {
        let Some(cut) = self.cut.take() else { return true };
        let mut segments = match std::mem::replace(&mut self.target, Target::Taken) {
            Target::Keys { mut before, last } => {
                before.push(last);
                before
            }
            other => {
                self.target = other;
                return true;
            }
        };
        let mut left = cut.limit.unwrap_or(u64::MAX);
        let is_read = |key: &Py<Key>| {
            let partition = usize::from(key.get().partition());
            cut.partitions.as_ref().is_none_or(|partitions| partitions.contains(&partition))
        };
        segments.retain_mut(|segment| {
            let mut keys = match std::mem::replace(&mut segment.keys, Keys::Many(Vec::new())) {
                Keys::One(key) => vec![key],
                Keys::Many(keys) => keys,
            };
            keys.retain(is_read);
            keys.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= keys.len() as u64;
            let any = !keys.is_empty();
            segment.keys = match keys.pop() {
                Some(only) if keys.is_empty() => Keys::One(only),
                last => {
                    keys.extend(last);
                    Keys::Many(keys)
                }
            };
            any
        });
        let Some(last) = segments.pop() else { return false };
        self.target = Target::Keys { before: segments, last };
        true
    }

    /// Sets the generation that the records must have.
    pub(super) fn expect(&mut self, py: Python<'_>, generation: u32) -> PyResult<()> {
        let last = self.last(py, "ensure_generation_is")?;
        if !last.verb.writes() {
            let verb = last.verb.name();
            let text = format!("{verb}() checks no generation: ensure_generation_is() goes with verbs that write");
            return Err(errors::invalid_argument(py, text));
        }
        last.generation = Some(generation);
        Ok(())
    }

    /// The function that is applied to the records.
    pub(super) fn apply(&mut self, py: Python<'_>, function: Function) -> PyResult<()> {
        self.last(py, "function")?.function = Some(Box::new(function));
        Ok(())
    }

    /// Makes it only replace records that exist.
    pub(super) fn replace_only(&mut self, py: Python<'_>) -> PyResult<()> {
        let last = self.last(py, "replace_only")?;
        if !last.verb.takes_bins() {
            let text = format!("{}() replaces nothing: replace_only() goes with replace()", last.verb.name());
            return Err(errors::invalid_argument(py, text));
        }
        last.verb = Verb::ReplaceIfExists;
        Ok(())
    }

    /// Whether deletes of the present operation leave a tombstone.
    pub(super) fn durable_delete(&mut self, py: Python<'_>, method: &str, durable: bool) -> PyResult<()> {
        let last = self.last(py, method)?;
        if !last.verb.writes() {
            let text = format!("{}() deletes nothing: {method}() goes with verbs that write", last.verb.name());
            return Err(errors::invalid_argument(py, text));
        }
        last.durable_delete = Some(durable);
        Ok(())
    }

    /// For people.
    pub(super) fn describe(&self, class: &str) -> String {
        match &self.target {
            Target::Keys { before, last } => {
                let one = |segment: &Segment| format!("{} of {}", segment.verb.name(), segment.keys.len());
                let all: Vec<_> = before.iter().chain([last]).map(one).collect();
                format!("<{class}: {}>", all.join(", "))
            }
            Target::DataSet(query) => format!("<{class}: query of {:?}>", query.namespace()),
            Target::Background(task) => format!("<{class}: {}>", task.describe()),
            Target::NoRows => format!("<{class}: no rows>"),
            Target::Taken => format!("<{class}: executed>"),
        }
    }

    /// Whether it can be carried out: a terminal asks before it takes anything.
    pub(super) fn check_whole(&self, py: Python<'_>) -> PyResult<()> {
        match &self.target {
            Target::Keys { last, .. } => last.check_whole(py),
            Target::Background(task) => task.check_whole(py),
            Target::DataSet(_) => Ok(()),
            Target::NoRows => Err(no_rows(py, "execute")),
            Target::Taken => Err(spent(py)),
        }
    }

    /// See [`Instance`](crate::instance::Instance).
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    pub(super) fn let_go(&mut self, py: Python<'_>) -> bool {
        match &mut self.target {
            Target::Taken => true,
            Target::Keys { before, last } if before.is_empty() && matches!(last.keys, Keys::One(_)) => {
                drop(last.keys.take_first().into_bound(py));
                true
            }
            _ => false,
        }
    }

    /// All that it was told, for a terminal: there is one only.
    pub(super) fn take(&mut self) -> Self {
        Self {
            target: std::mem::replace(&mut self.target, Target::Taken),
            whole: std::mem::take(&mut self.whole),
            fail_on_filtered_out: self.fail_on_filtered_out,
            include_missing_keys: self.include_missing_keys,
            cut: self.cut.take(),
        }
    }
}

#[cold]
pub(super) fn takes_no_bins(py: Python<'_>, verb: Verb, method: &str) -> PyErr {
    let verb = verb.name();
    let text =
        format!("{verb}() takes no bins: {method}() goes with upsert(), update() and the other verbs that write");
    errors::invalid_argument(py, text)
}

#[cold]
pub(super) fn writes_in_query(py: Python<'_>, method: &str) -> PyErr {
    let text = format!("query() only reads: {method}() goes with update(), upsert() and the other verbs that write");
    errors::invalid_argument(py, text)
}

#[cold]
fn cut_writes(py: Python<'_>, verb: Verb) -> PyErr {
    let text = format!(
        "limit() and partitions choose among the keys of what is read: {}() goes into a chain of its own",
        verb.name()
    );
    errors::invalid_argument(py, text)
}

#[cold]
fn bins_and_steps(py: Python<'_>) -> PyErr {
    let text =
        "bins() and with_no_bins() exclude bin(name): use bin(name).get() for each bin that is read beside others";
    errors::invalid_argument(py, text)
}

/// The names of `bins("a", "b")` or `bins(["a", "b"])`, as operations.
pub(super) fn named(names: &Bound<'_, PyTuple>) -> PyResult<Projection> {
    use aerolane_wire::WireError;
    use aerolane_wire::message::op;
    use aerolane_wire::particle::particle_type;

    let py = names.py();
    let first = if names.len() == 1 { Some(names.get_item(0)?) } else { None };
    let names = match &first {
        Some(only) if !only.is_instance_of::<PyString>() => bin_names(only)?,
        _ => bin_names(names)?,
    };
    if names.is_empty() {
        let text = "bins() takes at least one name: with_no_bins() reads generation and expiration only";
        return Err(errors::invalid_argument(py, text));
    }
    let mut ops = Ops::default();
    for name in names {
        // The name has been checked.
        let _ = ops.raw.push(op::READ, particle_type::NIL, checked_name(&name)?.as_bytes(), |_| Ok::<_, WireError>(()));
    }
    Ok(Projection::Named(Box::new(ops)))
}
