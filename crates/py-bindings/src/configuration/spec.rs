//! What is read from configuration files, as Python objects.

use aerolane_config::{BehaviorChanges, Scope};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::behavior::Settings;
use crate::policy::enums::Named;

/// A behavior as described in a configuration file.
#[pyclass(frozen, eq, module = "aerolane.config_file")]
#[derive(PartialEq)]
pub(crate) struct BehaviorSpec(pub(super) BehaviorChanges);

#[pymethods]
impl BehaviorSpec {
    /// `patches`: a `Settings` by each `Scope` that it has.
    #[new]
    #[pyo3(signature = (name, parent=None, patches=None))]
    fn new(name: String, parent: Option<String>, patches: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut changes = Vec::new();
        for (scope, settings) in patches.into_iter().flatten() {
            changes.push((Scope::from_python(&scope, "a key of patches")?, settings.cast::<Settings>()?.get().0));
        }
        Ok(Self(BehaviorChanges { name, parent, changes, line: 0 }))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The name of the behavior that it is derived from; `None` means `DEFAULT`.
    #[getter]
    fn parent(&self) -> Option<&str> {
        self.0.parent.as_deref()
    }

    /// Its own settings: a dict from `Scope` to `Settings`.
    #[getter]
    fn patches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (scope, values) in &self.0.changes {
            dict.set_item(scope.to_python(py)?, Settings(*values))?;
        }
        Ok(dict)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let parent = self.0.parent.as_ref().map_or_else(|| "None".to_owned(), |parent| format!("{parent:?}"));
        Ok(format!("BehaviorSpec({:?}, {parent}, {})", self.0.name, self.patches(py)?.repr()?))
    }
}

/// The contents of a configuration file.
#[pyclass(frozen, get_all, module = "aerolane.config_file")]
pub(crate) struct LoadedConfig {
    /// The bytes of the file.
    pub(super) raw: Py<PyBytes>,
    /// A dict from the name of each cluster, or `DEFAULT`, to its `SystemSettings`.
    pub(super) profiles: Py<PyDict>,
    /// A dict from the name of each behavior to its `BehaviorSpec`.
    pub(super) behaviors: Py<PyDict>,
}

#[pymethods]
impl LoadedConfig {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (profiles, behaviors) = (self.profiles.bind(py).keys(), self.behaviors.bind(py).keys());
        Ok(format!("<LoadedConfig profiles={} behaviors={}>", profiles.repr()?, behaviors.repr()?))
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BehaviorSpec>()?;
    module.add_class::<LoadedConfig>()
}
