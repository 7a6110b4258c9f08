//! `Behavior`: a named set of settings for all kinds of calls.
//!
//! What a behavior comes to is worked out when it is made, so a call of a session costs no more than one with a policy
//! of its own. Programs cannot change one; a configuration file can, and then whoever uses it goes by the new settings.

mod changes;
mod predefined;
mod registry;
mod resolved;
mod scope;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aerolane_config::Scope;
use arc_swap::{ArcSwap, Guard};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::errors;
use crate::policy::enums::Named;
use crate::policy::{BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy};
pub(crate) use changes::{apply, problems};
use registry::Names;
use resolved::Patch;
pub(crate) use resolved::Resolved;
pub(crate) use scope::OpKind;
use scope::{Mode, OpShape};
pub(crate) use settings::Settings;

/// A named set of settings for all kinds of calls, derived from another one by `derive_with_changes`.
///
/// Predefined: `DEFAULT`; `READ_FAST` (reads have 200 ms in total); `STRICTLY_CONSISTENT` (linearized reads in
/// namespaces in SC mode); `FAST_RACK_AWARE` (as `READ_FAST`, preferring nodes on the client's racks). A behavior never
/// changes, except by a configuration file.
#[pyclass(frozen, weakref, module = "aerolane.policy")]
pub(crate) struct Behavior {
    name: String,
    parent: Option<Py<Behavior>>,
    resolved: ArcSwap<Resolved>,
    /// How often it has changed.
    generation: AtomicU64,
    children: Names,
}

impl Behavior {
    fn of(py: Python<'_>, name: &str, parent: Option<&Py<Self>>, patches: Vec<Patch>) -> PyResult<Py<Self>> {
        let above = parent.map(|parent| parent.get().resolved.load_full());
        let behavior = Self {
            name: name.into(),
            parent: parent.map(|parent| parent.clone_ref(py)),
            resolved: ArcSwap::from_pointee(Resolved::new(above.as_deref(), patches)),
            generation: AtomicU64::new(0),
            children: Names::default(),
        };
        let behavior = Py::new(py, behavior)?;
        if let Some(parent) = parent {
            parent.get().children.put(behavior.bind(py))?;
            changes::catch_up(py, &behavior, above.as_ref());
        }
        registry::add(behavior.bind(py))?;
        Ok(behavior)
    }

    /// The behavior in force: the given one, or `Behavior.DEFAULT`.
    pub(crate) fn in_force(py: Python<'_>, behavior: Option<&Bound<'_, Self>>) -> PyResult<Py<Self>> {
        behavior.map_or_else(|| registry::default_behavior(py), |behavior| Ok(behavior.clone().unbind()))
    }

    /// The policies of its calls, as of now.
    pub(crate) fn policies(&self) -> Guard<Arc<Resolved>> {
        self.resolved.load()
    }

    /// Differs after each change: what was made of [`policies`](Self::policies) is to be made anew.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A setting of reads of one record.
    fn of_reads<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let settings = Settings(*self.policies().settings(OpKind::Read, OpShape::Point, Mode::Ap));
        Bound::new(py, settings)?.getattr(name)
    }

    fn derive(slf: &Bound<'_, Self>, name: &str, patches: Vec<Patch>) -> PyResult<Py<Self>> {
        let py = slf.py();
        if name.is_empty() || registry::is_predefined(py, name)? {
            let text = format!("a behavior cannot be named {name:?}: the name is empty or that of a predefined one");
            return Err(errors::invalid_argument(py, text));
        }
        Self::of(py, name, Some(slf.as_unbound()), patches)
    }
}

/// A behavior as an argument.
pub(crate) struct BehaviorArgument(pub(crate) Py<Behavior>);

impl<'py> FromPyObject<'_, 'py> for BehaviorArgument {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(behavior) = value.cast::<Behavior>() {
            return Ok(Self(behavior.to_owned().unbind()));
        }
        if value.is_instance_of::<PyString>() {
            let text = format!(
                "a behavior is a Behavior, not a str: there may be one named {}, which aerolane.policy.get_behavior(name) finds",
                value.repr()?
            );
            return Err(PyTypeError::new_err(text));
        }
        let text = format!(
            "a behavior is a Behavior, not {}: such as Behavior.DEFAULT, or what derive_with_changes() makes of one",
            value.get_type().name()?
        );
        Err(PyTypeError::new_err(text))
    }
}

macro_rules! derive_with_changes {
    ($($keyword:ident $scope:ident),*) => {
        #[pymethods]
        impl Behavior {
            /// The name.
            #[getter]
            pub(crate) fn name(&self) -> &str {
                &self.name
            }

            /// The behavior that this one was derived from; None for `DEFAULT`.
            #[getter]
            fn parent(&self, py: Python<'_>) -> Option<Py<Behavior>> {
                self.parent.as_ref().map(|parent| parent.clone_ref(py))
            }

            /// The behaviors that were derived from this one and are still in use.
            #[getter]
            fn children(&self, py: Python<'_>) -> Vec<Py<Behavior>> {
                self.children.all(py)
            }

            /// Returns a new behavior: this one with changes. It can be found by name for as long as the program, a
            /// session or a behavior derived from it uses it. An earlier behavior of the same name can no longer be
            /// found.
            ///
            /// Each argument is a `Settings` for some of the calls. Reads use `all`, `reads`, `reads_ap` or `reads_sc`,
            /// and `reads_point`, `reads_batch` or `reads_query`; writes use `all`, `writes`, `writes_ap` or
            /// `writes_sc`, `writes_retryable` or `writes_non_retryable`, and `writes_point`, `writes_batch` or
            /// `writes_query`. In this order, later ones override earlier ones, and all of them override the parent.
            ///
            /// A single setting (`total_timeout`, `max_retries`, ..) applies to all calls, as in the first versions of
            /// Aerospike's SDK.
            ///
            /// Raises `InvalidArgumentError` for an empty name and for the name of a predefined behavior.
            #[pyo3(signature = (
                name, *, $($keyword=None,)* total_timeout=None, socket_timeout=None, max_retries=None, retry_delay=None,
                send_key=None, use_compression=None, compression_threshold=None
            ))]
            #[allow(clippy::too_many_arguments)]
            fn derive_with_changes(
                slf: &Bound<'_, Self>,
                name: &str,
                $($keyword: Option<Bound<'_, Settings>>,)*
                total_timeout: Option<&Bound<'_, PyAny>>,
                socket_timeout: Option<&Bound<'_, PyAny>>,
                max_retries: Option<&Bound<'_, PyAny>>,
                retry_delay: Option<&Bound<'_, PyAny>>,
                send_key: Option<&Bound<'_, PyAny>>,
                use_compression: Option<&Bound<'_, PyAny>>,
                compression_threshold: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<Behavior>> {
                let mut patches = Vec::new();
                $(
                    if let Some(settings) = $keyword {
                        patches.push((Scope::$scope, settings.get().0));
                    }
                )*
                let alone = [
                    ("total_timeout", total_timeout),
                    ("socket_timeout", socket_timeout),
                    ("max_retries", max_retries),
                    ("retry_delay", retry_delay),
                    ("send_key", send_key),
                    ("use_compression", use_compression),
                    ("compression_threshold", compression_threshold),
                ];
                settings::add_alone(slf.py(), &alone, Scope::All, &mut patches)?;
                Self::derive(slf, name, patches)
            }

            /// Timeout of a single-record read, retries included, a timedelta. This property and the other settings of
            /// such reads exist for code written for the first versions of Aerospike's SDK.
            #[getter]
            fn total_timeout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.of_reads(py, "total_timeout")
            }

            /// Timeout of one attempt, a timedelta.
            #[getter]
            fn socket_timeout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.of_reads(py, "socket_timeout")
            }

            /// The maximum number of retries.
            #[getter]
            fn max_retries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.of_reads(py, "max_retries")
            }

            /// The pause between two attempts, a timedelta.
            #[getter]
            fn retry_delay<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.of_reads(py, "retry_delay")
            }

            /// Whether user keys are sent.
            #[getter]
            fn send_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.of_reads(py, "send_key")
            }

            /// The settings for a kind of call.
            #[pyo3(signature = (kind, shape, mode=None))]
            fn get_settings(
                &self,
                kind: &Bound<'_, PyAny>,
                shape: &Bound<'_, PyAny>,
                mode: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Settings> {
                let kind = OpKind::from_python(kind, "kind")?;
                let shape = OpShape::from_python(shape, "shape")?;
                Ok(Settings(*self.policies().settings(kind, shape, mode_or_ap(mode)?)))
            }

            /// The settings for the step of a commit that checks the records that were read.
            fn get_txn_verify_settings(&self) -> Settings {
                Settings(self.policies().txn_verify)
            }

            /// The settings for the step that ends a transaction at each record.
            fn get_txn_roll_settings(&self) -> Settings {
                Settings(self.policies().txn_roll)
            }

            /// The policy for single-record reads.
            #[pyo3(signature = (mode=None))]
            fn read_policy(&self, py: Python<'_>, mode: Option<&Bound<'_, PyAny>>) -> PyResult<Py<ReadPolicy>> {
                ReadPolicy::from_snapshot(py, self.policies().read_point(mode_or_ap(mode)? == Mode::Sc))
            }

            /// The policy for single-record writes. `kind`: `OpKind.WRITE_NON_RETRYABLE` by default, as for all writes
            /// of sessions.
            #[pyo3(signature = (mode=None, kind=None))]
            fn write_policy(
                &self,
                py: Python<'_>,
                mode: Option<&Bound<'_, PyAny>>,
                kind: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<WritePolicy>> {
                let sc = mode_or_ap(mode)? == Mode::Sc;
                let kind = kind.map_or(Ok(OpKind::WriteNonRetryable), |kind| OpKind::from_python(kind, "kind"))?;
                let policy = match kind {
                    OpKind::Read => return Err(PyTypeError::new_err("kind must be a kind of write, not OpKind.READ")),
                    OpKind::WriteRetryable => self.policies().write_point_retryable(sc),
                    OpKind::WriteNonRetryable => self.policies().write_point(sc),
                };
                WritePolicy::from_snapshot(py, policy)
            }

            /// The policy for a kind of batch.
            #[pyo3(signature = (kind, mode=None))]
            fn batch_policy(
                &self,
                py: Python<'_>,
                kind: &Bound<'_, PyAny>,
                mode: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<BatchPolicy>> {
                let kind = OpKind::from_python(kind, "kind")?;
                BatchPolicy::from_snapshot(py, self.policies().batch(kind, mode_or_ap(mode)? == Mode::Sc))
            }

            /// The policy for queries.
            #[pyo3(signature = (mode=None))]
            fn query_policy(&self, py: Python<'_>, mode: Option<&Bound<'_, PyAny>>) -> PyResult<Py<QueryPolicy>> {
                QueryPolicy::from_snapshot(py, self.policies().query(mode_or_ap(mode)? == Mode::Sc))
            }

            /// The behavior of this name, searched for in this one and everything derived from it, or None.
            fn find_behavior(slf: &Bound<'_, Self>, name: &str) -> Option<Py<Behavior>> {
                let py = slf.py();
                let mut left = vec![slf.clone().unbind()];
                while let Some(behavior) = left.pop() {
                    if behavior.get().name == name {
                        return Some(behavior);
                    }
                    left.extend(behavior.get().children.all(py));
                }
                None
            }

            /// A text that lists the changes of this behavior and the resulting settings.
            fn explain(&self, py: Python<'_>) -> PyResult<String> {
                let resolved = self.policies();
                let mut lines = vec![format!("behavior {}", self.name)];
                if let Some(parent) = &self.parent {
                    lines.push(format!("parent {}", parent.get().name));
                }
                lines.push("changes:".into());
                for (scope, values) in &resolved.patches {
                    lines.push(format!("  {}: {}", scope.keyword(), settings::text(py, values)?));
                }
                lines.push("settings:".into());
                for kind in OpKind::ALL {
                    for shape in OpShape::ALL {
                        for mode in Mode::ALL {
                            let values = settings::text(py, resolved.settings(kind, shape, mode))?;
                            lines.push(format!("  {kind:?} {shape:?} {mode:?}: {values}"));
                        }
                    }
                }
                let (verify, roll) = (Scope::SystemTxnVerify.keyword(), Scope::SystemTxnRoll.keyword());
                lines.push(format!("  {verify}: {}", settings::text(py, &resolved.txn_verify)?));
                lines.push(format!("  {roll}: {}", settings::text(py, &resolved.txn_roll)?));
                Ok(lines.join("\n"))
            }

            /// Does nothing, since a behavior is always up to date. It exists for code written for Aerospike's SDK.
            #[allow(clippy::unused_self)]
            fn clear_cache(&self) {}

            fn __repr__(&self) -> String {
                match &self.parent {
                    Some(parent) => format!("<Behavior {:?} parent={:?}>", self.name, parent.get().name),
                    None => format!("<Behavior {:?}>", self.name),
                }
            }

            fn __copy__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                slf
            }

            /// For `pickle`: by name when predefined, else by parent and changes.
            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
                let py = slf.py();
                let this = slf.get();
                let changes = PyDict::new(py);
                for (scope, values) in &this.policies().patches {
                    changes.set_item(scope.keyword(), Settings(*values))?;
                }
                if registry::is_predefined(py, &this.name)? {
                    let get = py.import("builtins")?.getattr("getattr")?;
                    return Ok((get, (slf.get_type(), this.name.as_str()).into_pyobject(py)?));
                }
                let parent = this.parent(py);
                let arguments = (parent, this.name.as_str(), changes).into_pyobject(py)?;
                Ok((slf.get_type().getattr("_restore")?, arguments))
            }

            /// For `pickle`: the behavior that has this name, when it is the same, else a new one.
            #[staticmethod]
            fn _restore<'py>(
                parent: &Bound<'py, Behavior>,
                name: &str,
                changes: &Bound<'py, PyDict>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let py = parent.py();
                if let Some(known) = registry::get_behavior(py, name) {
                    let this = known.get();
                    let mut same = this.parent.as_ref().is_some_and(|of| of.is(parent));
                    let patches = &this.policies().patches;
                    same &= patches.len() == changes.len();
                    for (scope, values) in patches {
                        let other = changes.get_item(scope.keyword())?;
                        same &= other.is_some_and(|other| {
                            other.cast::<Settings>().is_ok_and(|other| other.get().0 == *values)
                        });
                    }
                    if same {
                        return Ok(known.into_bound(py).into_any());
                    }
                }
                parent.call_method("derive_with_changes", (name,), Some(changes))
            }
        }
    };
}

derive_with_changes! {
    all All, reads Reads, reads_point ReadsPoint, reads_batch ReadsBatch, reads_query ReadsQuery, reads_ap ReadsAp,
    reads_sc ReadsSc, writes Writes, writes_retryable WritesRetryable, writes_non_retryable WritesNonRetryable,
    writes_point WritesPoint, writes_batch WritesBatch, writes_query WritesQuery, writes_ap WritesAp,
    writes_sc WritesSc, system_txn_verify SystemTxnVerify, system_txn_roll SystemTxnRoll
}

fn mode_or_ap(mode: Option<&Bound<'_, PyAny>>) -> PyResult<Mode> {
    mode.map_or(Ok(Mode::Ap), |mode| Mode::from_python(mode, "mode"))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    scope::register(module)?;
    module.add_class::<Settings>()?;
    module.add_class::<Behavior>()?;
    registry::register(module)
}
