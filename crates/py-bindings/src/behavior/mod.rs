//! `Behavior`: a named set of settings for all kinds of calls.
//!
//! A behavior is immutable, and what it comes to is worked out when it is made, so a call of a session costs no more
//! than one with a policy of its own.

mod predefined;
mod registry;
mod resolved;
mod scope;
mod settings;

use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors;
use crate::policy::enums::Named;
use crate::policy::{BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy};
use resolved::Patch;
pub(crate) use resolved::Resolved;
pub(crate) use scope::OpKind;
use scope::{Mode, OpShape, Scope};
use settings::Settings;

/// A named set of settings for all kinds of calls, made from another one by `derive_with_changes`.
///
/// `DEFAULT`; `READ_FAST`: reads of 200 ms in all; `STRICTLY_CONSISTENT`: linearized reads in namespaces of the SC
/// mode; `FAST_RACK_AWARE`: as `READ_FAST`, from the client's racks first. Immutable.
#[pyclass(frozen, module = "aerolane.policy")]
pub(crate) struct Behavior {
    name: String,
    parent: Option<Py<Behavior>>,
    patches: Vec<Patch>,
    children: Mutex<Vec<Py<Behavior>>>,
    resolved: Resolved,
}

impl Behavior {
    /// The behavior in force: the given one, or `Behavior.DEFAULT`.
    pub(crate) fn in_force(py: Python<'_>, behavior: Option<&Bound<'_, Self>>) -> PyResult<Py<Self>> {
        behavior.map_or_else(|| registry::default_behavior(py), |behavior| Ok(behavior.clone().unbind()))
    }

    /// The policies of its calls.
    pub(crate) fn policies(&self) -> &Resolved {
        &self.resolved
    }

    fn derive(slf: &Bound<'_, Self>, name: &str, patches: Vec<Patch>) -> PyResult<Py<Self>> {
        let py = slf.py();
        if name.is_empty() || registry::predefined(py)?.iter().any(|(taken, _)| *taken == name) {
            let text = format!("a behavior cannot be named {name:?}: the name is empty or that of a predefined one");
            return Err(errors::invalid_argument(py, text));
        }
        let behavior = Py::new(
            py,
            Self {
                name: name.into(),
                parent: Some(slf.clone().unbind()),
                resolved: Resolved::new(Some(&slf.get().resolved), &patches),
                patches,
                children: Mutex::default(),
            },
        )?;
        registry::put(py, &slf.get().children, &behavior);
        registry::add(py, &behavior);
        Ok(behavior)
    }

    fn children_now(&self, py: Python<'_>) -> Vec<Py<Self>> {
        self.children.lock().iter().map(|child| child.clone_ref(py)).collect()
    }
}

macro_rules! derive_with_changes {
    ($($keyword:ident $scope:ident),*) => {
        #[pymethods]
        impl Behavior {
            /// The name.
            #[getter]
            fn name(&self) -> &str {
                &self.name
            }

            /// The behavior that this one was made from; None for `DEFAULT`.
            #[getter]
            fn parent(&self, py: Python<'_>) -> Option<Py<Behavior>> {
                self.parent.as_ref().map(|parent| parent.clone_ref(py))
            }

            /// The behaviors that were made from this one.
            #[getter]
            fn children(&self, py: Python<'_>) -> Vec<Py<Behavior>> {
                self.children_now(py)
            }

            /// A new behavior: this one with changes. It can then be found by its name; one that had the name before is
            /// replaced there.
            ///
            /// Each argument is a `Settings` for a part of the calls. For reads apply `all`, `reads`, `reads_ap` or
            /// `reads_sc`, and `reads_point`, `reads_batch` or `reads_query`; for writes `all`, `writes`, `writes_ap`
            /// or `writes_sc`, `writes_retryable` or `writes_non_retryable`, and `writes_point`, `writes_batch` or
            /// `writes_query`. Later ones win, and all of them over what the parent says.
            ///
            /// Raises `InvalidArgumentError` for an empty name and the names of predefined behaviors.
            #[pyo3(signature = (name, *, $($keyword=None),*))]
            #[allow(clippy::too_many_arguments)]
            fn derive_with_changes(
                slf: &Bound<'_, Self>,
                name: &str,
                $($keyword: Option<Bound<'_, Settings>>),*
            ) -> PyResult<Py<Behavior>> {
                let mut patches = Vec::new();
                $(
                    if let Some(settings) = $keyword {
                        patches.push((Scope::$scope, settings.get().0));
                    }
                )*
                Self::derive(slf, name, patches)
            }

            /// The settings of a kind of call.
            #[pyo3(signature = (kind, shape, mode=None))]
            fn get_settings(
                &self,
                kind: &Bound<'_, PyAny>,
                shape: &Bound<'_, PyAny>,
                mode: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Settings> {
                let kind = OpKind::from_python(kind, "kind")?;
                let shape = OpShape::from_python(shape, "shape")?;
                Ok(Settings(*self.resolved.settings(kind, shape, mode_or_ap(mode)?)))
            }

            /// The settings of the step of a commit that checks what was read.
            fn get_txn_verify_settings(&self) -> Settings {
                Settings(self.resolved.txn_verify)
            }

            /// The settings of the step that ends a transaction at each record.
            fn get_txn_roll_settings(&self) -> Settings {
                Settings(self.resolved.txn_roll)
            }

            /// The policy of reads of single records.
            #[pyo3(signature = (mode=None))]
            fn read_policy(&self, py: Python<'_>, mode: Option<&Bound<'_, PyAny>>) -> PyResult<Py<ReadPolicy>> {
                ReadPolicy::from_snapshot(py, self.resolved.read_point(mode_or_ap(mode)? == Mode::Sc))
            }

            /// The policy of writes of single records. `kind`: default `OpKind.WRITE_NON_RETRYABLE`, as for all writes
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
                    OpKind::Read => return Err(PyTypeError::new_err("kind must be one of writes, not OpKind.READ")),
                    OpKind::WriteRetryable => self.resolved.write_point_retryable(sc),
                    OpKind::WriteNonRetryable => self.resolved.write_point(sc),
                };
                WritePolicy::from_snapshot(py, policy)
            }

            /// The policy of batches of a kind.
            #[pyo3(signature = (kind, mode=None))]
            fn batch_policy(
                &self,
                py: Python<'_>,
                kind: &Bound<'_, PyAny>,
                mode: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<BatchPolicy>> {
                let kind = OpKind::from_python(kind, "kind")?;
                BatchPolicy::from_snapshot(py, self.resolved.batch(kind, mode_or_ap(mode)? == Mode::Sc))
            }

            /// The policy of queries.
            #[pyo3(signature = (mode=None))]
            fn query_policy(&self, py: Python<'_>, mode: Option<&Bound<'_, PyAny>>) -> PyResult<Py<QueryPolicy>> {
                QueryPolicy::from_snapshot(py, self.resolved.query(mode_or_ap(mode)? == Mode::Sc))
            }

            /// This behavior or one made from it (from one made from it, ...) that has the name, or None.
            fn find_behavior(slf: &Bound<'_, Self>, name: &str) -> Option<Py<Behavior>> {
                let py = slf.py();
                let mut left = vec![slf.clone().unbind()];
                while let Some(behavior) = left.pop() {
                    if behavior.get().name == name {
                        return Some(behavior);
                    }
                    left.extend(behavior.get().children_now(py));
                }
                None
            }

            /// A text with the changes of this behavior and the settings that it comes to.
            fn explain(&self, py: Python<'_>) -> PyResult<String> {
                let mut lines = vec![format!("behavior {}", self.name)];
                if let Some(parent) = &self.parent {
                    lines.push(format!("parent {}", parent.get().name));
                }
                lines.push("changes:".into());
                for (scope, values) in &self.patches {
                    lines.push(format!("  {}: {}", scope.keyword(), values.text(py)?));
                }
                lines.push("settings:".into());
                for kind in OpKind::ALL {
                    for shape in OpShape::ALL {
                        for mode in Mode::ALL {
                            let values = self.resolved.settings(kind, shape, mode);
                            lines.push(format!("  {kind:?} {shape:?} {mode:?}: {}", values.text(py)?));
                        }
                    }
                }
                lines.push(format!("  {}: {}", Scope::SystemTxnVerify.keyword(), self.resolved.txn_verify.text(py)?));
                lines.push(format!("  {}: {}", Scope::SystemTxnRoll.keyword(), self.resolved.txn_roll.text(py)?));
                Ok(lines.join("\n"))
            }

            /// Does nothing: a behavior is immutable and keeps no cache. Here for code written for the SDK of Aerospike.
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
                for (scope, values) in &this.patches {
                    changes.set_item(scope.keyword(), Settings(*values))?;
                }
                if registry::predefined(py)?.iter().any(|(name, _)| *name == this.name) {
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
                    same &= this.patches.len() == changes.len();
                    for (scope, values) in &this.patches {
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
