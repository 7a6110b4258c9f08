//! How policy classes are defined: once per property.
//!
//! A policy is read by many threads while one changes it, so each holds an immutable snapshot that a setter replaces.
//! A call keeps the snapshot that it began with.

use pyo3::prelude::*;

use super::kinds::Kind;

/// What a policy does when a property has been set.
pub(crate) trait Hook {
    /// Called with the property's name.
    fn changed(&mut self, _property: &'static str) {}
}

/// The value from Python for the field that `_field` shows (it fixes the type).
pub(crate) fn convert<K: Kind<T>, S, T>(
    _field: fn(&S) -> &T,
    value: &Bound<'_, PyAny>,
    property: &'static str,
) -> PyResult<T> {
    K::set(value, property)
}

/// What a switch comes to that is given under two names: on if either is, and the other one where one is missing.
pub(crate) fn either<'py>(
    value: Option<Bound<'py, PyAny>>,
    also: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match (value, also) {
        (Some(value), Some(also)) => Ok(Some(if also.is_truthy()? { also } else { value })),
        (value, also) => Ok(value.or(also)),
    }
}

/// Defines a policy class over a Rust policy: `property / its setter: Kind = path in the Rust policy;`. `also [a sets b]`: the
/// constructor takes the switch `b` under the name `a`, too.
macro_rules! policy {
    (@init PyAny $value:expr) => { pyo3::PyClassInitializer::from($value) };
    (@init BasePolicy $value:expr) => { pyo3::PyClassInitializer::from($crate::policy::BasePolicy).add_subclass($value) };
    (
        $(#[doc = $doc:literal])*
        $name:ident($state:ty) extends $base:ident $(also [$($also:ident sets $target:ident),*])? {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident / $setter:ident: $kind:ty = $($path:ident).+;
            )*
        }
        $($extra:tt)*
    ) => {
        $(#[doc = $doc])*
        #[pyo3::pyclass(frozen, module = "aerolane.policy", extends = $base)]
        pub(crate) struct $name(arc_swap::ArcSwap<$state>);

        impl $name {
            /// The policy as it is now.
            pub(crate) fn snapshot(&self) -> std::sync::Arc<$state> {
                self.0.load_full()
            }

            /// A policy object of its own over a snapshot.
            #[allow(dead_code)] // not every class is made from Rust
            pub(crate) fn from_snapshot(
                py: pyo3::Python<'_>,
                snapshot: std::sync::Arc<$state>,
            ) -> pyo3::PyResult<pyo3::Py<Self>> {
                let policy = Self(arc_swap::ArcSwap::new(snapshot));
                pyo3::Py::new(py, $crate::policy::define::policy!(@init $base policy))
            }

            /// The properties that differ from the defaults.
            fn changed<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<Vec<(&'static str, pyo3::Bound<'py, pyo3::PyAny>, bool)>> {
                use pyo3::types::PyAnyMethods as _;
                use $crate::policy::kinds::Kind;
                let state = self.0.load_full();
                let default = <$state>::default();
                let mut changed = Vec::new();
                $(
                    let value = <$kind as Kind<_>>::get(py, &state.$($path).+)?.into_bound(py);
                    if value.ne(<$kind as Kind<_>>::get(py, &default.$($path).+)?)? {
                        changed.push((stringify!($field), value, stringify!($field) == "password"));
                    }
                )*
                Ok(changed)
            }

            #[allow(clippy::too_many_arguments)]
            fn build(
                $($field: Option<pyo3::Bound<'_, pyo3::PyAny>>),*
            ) -> pyo3::PyResult<pyo3::PyClassInitializer<Self>> {
                use $crate::policy::{define::Hook, kinds::Kind};
                let mut state = <$state>::default();
                $(
                    if let Some(value) = $field {
                        state.$($path).+ = <$kind as Kind<_>>::set(&value, stringify!($field))?;
                        state.changed(stringify!($field));
                    }
                )*
                Ok($crate::policy::define::policy!(@init $base Self(arc_swap::ArcSwap::from_pointee(state))))
            }
        }

        #[pyo3::pymethods]
        impl $name {
            /// With the properties given, the others at their defaults (as those that are None).
            ///
            /// Raises `TypeError` for a value of the wrong type, `InvalidArgumentError` for a value that is out of
            /// range.
            #[new]
            #[pyo3(signature = (*, $($field=None,)* $($($also=None),*)?))]
            #[allow(clippy::too_many_arguments)]
            fn new(
                $($field: Option<pyo3::Bound<'_, pyo3::PyAny>>,)*
                $($($also: Option<pyo3::Bound<'_, pyo3::PyAny>>),*)?
            ) -> pyo3::PyResult<pyo3::PyClassInitializer<Self>> {
                $($(let $target = $crate::policy::define::either($target, $also)?;)*)?
                Self::build($($field),*)
            }

            /// The same as the constructor.
            #[staticmethod]
            #[pyo3(signature = (*, $($field=None,)* $($($also=None),*)?))]
            #[allow(clippy::too_many_arguments)]
            fn from_fields(
                py: pyo3::Python<'_>,
                $($field: Option<pyo3::Bound<'_, pyo3::PyAny>>,)*
                $($($also: Option<pyo3::Bound<'_, pyo3::PyAny>>),*)?
            ) -> pyo3::PyResult<pyo3::Py<Self>> {
                $($(let $target = $crate::policy::define::either($target, $also)?;)*)?
                pyo3::Py::new(py, Self::build($($field),*)?)
            }

            $(
                $(#[doc = $field_doc])*
                #[getter]
                fn $field(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> {
                    <$kind as $crate::policy::kinds::Kind<_>>::get(py, &self.0.load().$($path).+)
                }

                #[setter($field)]
                fn $setter(&self, value: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<()> {
                    use $crate::policy::define::{Hook, convert};
                    let value = convert::<$kind, $state, _>(|state| &state.$($path).+, value, stringify!($field))?;
                    self.0.rcu(|state| {
                        let mut state = <$state>::clone(state);
                        state.$($path).+ = value.clone();
                        state.changed(stringify!($field));
                        state
                    });
                    Ok(())
                }
            )*

            fn __eq__(&self, other: &pyo3::Bound<'_, pyo3::PyAny>) -> bool {
                other.cast::<Self>().is_ok_and(|other| *self.0.load_full() == *other.get().0.load_full())
            }

            fn __repr__(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<String> {
                use pyo3::types::PyAnyMethods as _;
                let mut parts = Vec::new();
                for (name, value, secret) in self.changed(py)? {
                    parts.push(if secret { format!("{name}='***'") } else { format!("{name}={}", value.repr()?) });
                }
                Ok(format!("{}({})", stringify!($name), parts.join(", ")))
            }

            /// For `copy` and `pickle`.
            fn __getnewargs_ex__<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<(pyo3::Bound<'py, pyo3::types::PyTuple>, pyo3::Bound<'py, pyo3::types::PyDict>)> {
                use pyo3::types::PyDictMethods as _;
                let fields = pyo3::types::PyDict::new(py);
                for (name, value, _) in self.changed(py)? {
                    fields.set_item(name, value)?;
                }
                Ok((pyo3::types::PyTuple::empty(py), fields))
            }

            $($extra)*
        }
    };
}
pub(crate) use policy;

/// Defines a policy class that has the properties of every call, beside its own.
macro_rules! call_policy {
    (
        $(#[doc = $doc:literal])*
        $name:ident($state:ty) { $($own:tt)* }
        $($extra:tt)*
    ) => {
        $crate::policy::define::policy! {
            $(#[doc = $doc])*
            $name($state) extends BasePolicy {
                /// Timeout of the whole call, retries included, in ms. 0: no limit.
                total_timeout / set_total_timeout: Millis = base_policy.total_timeout;
                /// Timeout of one attempt in ms; `total_timeout` limits it, too. 0: the same as `total_timeout`.
                /// Default 30,000.
                socket_timeout / set_socket_timeout: Millis = base_policy.socket_timeout;
                /// How long a connection waits for a late answer, in ms. Default 0. Has no effect on lanes, which
                /// always read late answers.
                timeout_delay / set_timeout_delay: Millis = base_policy.timeout_delay;
                /// The maximum number of retries.
                max_retries / set_max_retries: Number = base_policy.max_retries;
                /// The pause between two attempts in ms. Default 0.
                sleep_between_retries / set_sleep_between_retries: Millis = base_policy.sleep_between_retries;
                /// The factor by which the pause grows after each attempt. Default 1.0: it stays the same.
                sleep_multiplier / set_sleep_multiplier: Factor = base_policy.sleep_multiplier;
                /// Which node the request goes to. Default `Replica.SEQUENCE`.
                replica / set_replica: Member = base_policy.replica;
                /// How many copies a read consults in a namespace in AP mode. Default `ReadModeAP.ONE`.
                read_mode_ap / set_read_mode_ap: Member = base_policy.read_mode_ap;
                /// How consistent a read is in a namespace in SC mode. Default `ReadModeSC.SESSION`.
                read_mode_sc / set_read_mode_sc: Member = base_policy.read_mode_sc;
                /// A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the
                /// default): as configured on the server. -1: reads never reset it.
                read_touch_ttl / set_read_touch_ttl: TouchTtl = base_policy.read_touch_ttl;
                /// Whether requests are compressed and the server may compress its answers (Enterprise Edition).
                /// Default False.
                use_compression / set_use_compression: Switch = base_policy.use_compression;
                /// The size in bytes above which requests are compressed. Default 128.
                compression_threshold / set_compression_threshold: Number = base_policy.compression_threshold;
                /// How much detail the server reports about a failure (server 8.2 and later). 0 (the default): the
                /// result code. 1: also a sub-code. 2: also a message. 3: also where in an expression it failed.
                error_detail_verbosity / set_error_detail_verbosity: UpTo<3> = base_policy.error_detail_verbosity;
                /// A `FilterExpression`: records for which it is not true are left unchanged (`FilteredOutError`).
                /// Default None.
                filter_expression / set_filter_expression: Filter = base_policy.filter_expression;
                /// The `Txn` that the call belongs to. Default None. Single-record calls and batches can be part of a
                /// transaction; queries cannot (`InvalidArgumentError`).
                txn / set_txn: OfTxn = base_policy.txn;
                $($own)*
            }
            $($extra)*
        }
    };
}
pub(super) use call_policy;

/// Gives the classes of a list their default snapshot. `each thread`: one for each, for what every call about one record
/// counts a reference to: threads must not count on one cache line. Not for all, as each takes room in the block of
/// thread-local storage that all extension modules of a process share (1.6 KB with glibc).
macro_rules! in_force {
    (each thread: $($name:ident($state:ty)),* $(,)?) => {$(
        $crate::policy::define::in_force!(@ $name($state), {
            thread_local! {
                static DEFAULT: std::sync::Arc<$state> = std::sync::Arc::default();
            }
            DEFAULT.try_with(std::sync::Arc::clone).unwrap_or_default()
        });
    )*};
    (@ $name:ident($state:ty), $default:block) => {
        impl $crate::policy::define::Hook for $state {}

        impl $name {
            /// The policy in force: the given one, or the default.
            #[allow(dead_code)] // some classes are used by calls that are still to come
            pub(crate) fn in_force(policy: Option<&pyo3::Bound<'_, Self>>) -> std::sync::Arc<$state> {
                match policy {
                    Some(policy) => policy.get().snapshot(),
                    None => $default,
                }
            }
        }
    };
    ($($name:ident($state:ty)),* $(,)?) => {$(
        $crate::policy::define::in_force!(@ $name($state), {
            static DEFAULT: std::sync::LazyLock<std::sync::Arc<$state>> =
                std::sync::LazyLock::new(std::sync::Arc::default);
            std::sync::Arc::clone(&DEFAULT)
        });
    )*};
}
pub(crate) use in_force;
