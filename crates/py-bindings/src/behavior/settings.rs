//! `Settings`: what a behavior says about a kind of call. What is not set is left to others.

use aerolane_config::{Scope, Settings as Values};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::resolved::Patch;
use crate::policy::kinds::{Kind, Maybe, Member, Number, Span, Switch, TouchTtl, UpTo};

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $field:ident: $kind:ty;)*) => {
        /// Name and value of what is set.
        pub(super) fn set<'py>(py: Python<'py>, values: &Values) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
            let mut set = Vec::new();
            $(
                if values.$field.is_some() {
                    let value = <Maybe<$kind> as Kind<_>>::get(py, &values.$field)?;
                    set.push((stringify!($field), value.into_bound(py)));
                }
            )*
            Ok(set)
        }

        /// Settings of a behavior; None leaves one to the scopes before, to the parent, or to the default.
        ///
        /// Times are `datetime.timedelta`, rounded up to milliseconds when used. Immutable.
        ///
        /// Raises `TypeError` for a value of a wrong type, `InvalidArgumentError` for one out of bounds.
        #[pyclass(frozen, eq, module = "aerolane.policy")]
        #[derive(PartialEq)]
        pub(crate) struct Settings(pub(crate) Values);

        #[pymethods]
        impl Settings {
            #[new]
            #[pyo3(signature = ($($field=None),*))]
            #[allow(clippy::too_many_arguments)]
            fn new($($field: Option<Bound<'_, PyAny>>),*) -> PyResult<Self> {
                let mut values = Values::default();
                $(
                    if let Some(value) = $field {
                        values.$field = <Maybe<$kind> as Kind<_>>::set(&value, stringify!($field))?;
                    }
                )*
                Ok(Self(values))
            }

            $(
                $(#[doc = $doc])*
                #[getter]
                fn $field(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                    <Maybe<$kind> as Kind<_>>::get(py, &self.0.$field)
                }
            )*

            /// The settings of `base`, and over them those that `override` has. `override` may be passed by position only.
            #[staticmethod]
            #[pyo3(signature = (base, r#override))]
            fn merge(base: &Bound<'_, Self>, r#override: &Bound<'_, Self>) -> Self {
                Self(base.get().0.merge(&r#override.get().0))
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!("Settings({})", text(py, &self.0)?))
            }

            /// For `copy` and `pickle`.
            fn __getnewargs_ex__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
                let fields = PyDict::new(py);
                for (name, value) in set(py, &self.0)? {
                    fields.set_item(name, value)?;
                }
                Ok((PyTuple::empty(py), fields))
            }
        }
    };
}

settings! {
    /// Most time for the whole call with its retries. Zero: no limit.
    total_timeout: Span;
    /// Most time for one attempt; never more than the total one. Zero: as the total one.
    socket_timeout: Span;
    /// How long a connection whose answer is late is kept for it. Of no effect on lanes, which always read late answers.
    timeout_delay: Span;
    /// Most attempts after the first one.
    max_retries: Number;
    /// Pause between two attempts.
    retry_delay: Span;
    /// Whether the user key is stored with the record.
    send_key: Switch;
    /// Whether a delete leaves a tombstone (Enterprise Edition).
    durable_delete: Switch;
    /// Which copies must be written before a write succeeds.
    commit_level: Member;
    /// Which node is asked.
    replica: Member;
    /// Copies that a read consults in a namespace of the AP mode.
    read_mode_ap: Member;
    /// Consistency of a read in a namespace of the SC mode.
    read_mode_sc: Member;
    /// Whether requests are compressed, and answers may be (Enterprise Edition).
    use_compression: Switch;
    /// Bytes that a request must exceed to be compressed.
    compression_threshold: Number;
    /// Most nodes that a batch or a query asks at the same time. 0: all.
    max_concurrent_nodes: Number;
    /// Most records of a query that wait for the reader.
    record_queue_size: Number;
    /// Whether a query with a condition that no index serves may scan.
    allow_scans_with_where: Switch;
    /// Whether the server may handle rows of a batch in memory on the thread that received them.
    allow_inline: Switch;
    /// The same for namespaces on SSD.
    allow_inline_ssd: Switch;
    /// A read renews the record's time to live when this much of it, in percent (1 to 100), is left or less. 0: as the
    /// server is configured. -1: reads renew nothing.
    read_touch_ttl_percent: TouchTtl;
    /// How much the server tells about a failure: 0 the result code, 1 a sub-code, 2 a message, 3 also where in an
    /// expression.
    error_detail_verbosity: UpTo<3>;
}

/// What is set, as in the arguments of a call.
pub(super) fn text(py: Python<'_>, values: &Values) -> PyResult<String> {
    let mut parts = Vec::new();
    for (name, value) in set(py, values)? {
        parts.push(format!("{name}={}", value.repr()?));
    }
    Ok(parts.join(", "))
}

/// Adds settings that are given one by one, where `None` leaves one out, to what is said of a scope.
pub(super) fn add_alone(
    py: Python<'_>,
    given: &[(&str, Option<&Bound<'_, PyAny>>)],
    scope: Scope,
    patches: &mut Vec<Patch>,
) -> PyResult<()> {
    let fields = PyDict::new(py);
    for (name, value) in given {
        if let Some(value) = value {
            fields.set_item(name, value)?;
        }
    }
    if fields.is_empty() {
        return Ok(());
    }
    let alone = py.get_type::<Settings>().call((), Some(&fields))?.cast_into::<Settings>()?.get().0;
    match patches.iter_mut().find(|(known, _)| *known == scope) {
        Some((_, values)) => *values = values.merge(&alone),
        None => patches.insert(0, (scope, alone)),
    }
    Ok(())
}
