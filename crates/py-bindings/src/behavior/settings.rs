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

        /// Settings of a behavior. For a setting that is None, the value of an earlier scope, the parent or the default
        /// applies.
        ///
        /// Times are `datetime.timedelta`, rounded up to milliseconds. Immutable.
        ///
        /// Raises `TypeError` for a value of the wrong type, `InvalidArgumentError` for a value that is out of range.
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

            /// The settings of `base`, overridden by those of `override`. Pass `override` by position.
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
    /// Timeout of the whole call, retries included. Zero: no limit.
    total_timeout: Span;
    /// Timeout of one attempt; `total_timeout` limits it, too. Zero: the same as `total_timeout`.
    socket_timeout: Span;
    /// How long a connection waits for a late answer. Has no effect on lanes, which always read late answers.
    timeout_delay: Span;
    /// The maximum number of retries.
    max_retries: Number;
    /// The pause between two attempts.
    retry_delay: Span;
    /// Whether the user key is stored with the record.
    send_key: Switch;
    /// Whether a delete leaves a tombstone (Enterprise Edition).
    durable_delete: Switch;
    /// Which copies must be written before a write succeeds.
    commit_level: Member;
    /// Which node the request goes to.
    replica: Member;
    /// How many copies a read consults in a namespace in AP mode.
    read_mode_ap: Member;
    /// How consistent a read is in a namespace in SC mode.
    read_mode_sc: Member;
    /// Whether requests are compressed and the server may compress its answers (Enterprise Edition).
    use_compression: Switch;
    /// The size in bytes above which requests are compressed.
    compression_threshold: Number;
    /// The maximum number of nodes that a batch or a query asks at the same time. 0: all.
    max_concurrent_nodes: Number;
    /// The maximum number of records of a query that are buffered for the reader.
    record_queue_size: Number;
    /// Whether a query may read all records if no index fits its condition.
    allow_scans_with_where: Switch;
    /// Whether the server may process rows of a batch on in-memory namespaces on the thread that received the batch.
    allow_inline: Switch;
    /// The same for namespaces on SSD.
    allow_inline_ssd: Switch;
    /// A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0: as configured on
    /// the server. -1: reads never reset it.
    read_touch_ttl_percent: TouchTtl;
    /// How much detail the server reports about a failure. 0: the result code. 1: also a sub-code. 2: also a message.
    /// 3: also where in an expression it failed.
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
