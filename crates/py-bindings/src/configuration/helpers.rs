//! What programs can do with configuration files themselves: the functions of `aerolane.config_file`.

use std::path::PathBuf;
use std::time::Duration;

use aerolane_config::{BehaviorChanges, Config, DEFAULT, System, Transactions, parse, value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString};

use super::spec::{BehaviorSpec, LoadedConfig};
use super::{LOG, file, path};
use crate::system::{Dataclass, TransactionRules};
use crate::{behavior, errors};

/// Parses a number of bytes: an int, or text with a unit such as `"512b"`, `"10mb"` or `"1.5gb"`.
///
/// Raises `InvalidArgumentError` (a `ValueError`) for anything else.
#[pyfunction]
#[pyo3(signature = (value, /))]
fn parse_size(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let py = value.py();
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return value.extract().map_err(|_| errors::invalid_argument(py, format!("not a size: {value}")));
    }
    let Ok(text) = value.cast::<PyString>() else {
        let text = format!("not a size: {} (an int, or a str such as \"10mb\")", value.repr()?);
        return Err(errors::invalid_argument(py, text));
    };
    value::size(&text.to_cow()?).map_err(|text| errors::invalid_argument(py, text))
}

/// Parses a duration such as `"250ms"`, `"1s"` or `"5 minutes"` to a `timedelta`. Units range from nanoseconds to days;
/// anything below a microsecond is rounded up to one.
///
/// Raises `InvalidArgumentError` (a `ValueError`) for anything else.
#[pyfunction]
#[pyo3(signature = (value, /))]
fn parse_duration(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let py = value.py();
    let Ok(text) = value.cast::<PyString>() else {
        let text = format!("not a duration: {} (a str such as \"250ms\")", value.repr()?);
        return Err(errors::invalid_argument(py, text));
    };
    value::duration(&text.to_cow()?).map_err(|text| errors::invalid_argument(py, text))
}

/// The text of a file, parsed. What cannot be used is logged.
fn parsed(py: Python<'_>, text: &str) -> PyResult<Config> {
    let config = parse(text).map_err(|problem| errors::invalid_argument(py, problem.to_string()))?;
    for problem in &config.problems {
        log::warn!(target: LOG, "{problem}; this is not used");
    }
    Ok(config)
}

fn profiles(py: Python<'_>, config: &Config) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for (name, system) in &config.systems {
        dict.set_item(name, system.to_python(py)?)?;
    }
    Ok(dict.unbind())
}

fn specs(py: Python<'_>, config: &Config) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for behavior in &config.behaviors {
        dict.set_item(&behavior.name, BehaviorSpec(behavior.clone()))?;
    }
    Ok(dict.unbind())
}

/// The settings of clusters in the text of a configuration file: a dict from the name of a cluster, or `DEFAULT`, to
/// its `SystemSettings`. Invalid keys are logged.
///
/// Raises `InvalidArgumentError` (a `ValueError`) with the line if the text is not valid YAML.
#[pyfunction]
fn parse_sdk_config(py: Python<'_>, text: &str) -> PyResult<Py<PyDict>> {
    profiles(py, &parsed(py, text)?)
}

/// The behaviors in the text of a configuration file: a dict from name to `BehaviorSpec`. Invalid keys are logged.
///
/// Raises `InvalidArgumentError` (a `ValueError`) with the line if the text is not valid YAML.
#[pyfunction]
fn parse_behaviors(py: Python<'_>, text: &str) -> PyResult<Py<PyDict>> {
    specs(py, &parsed(py, text)?)
}

/// Creates behaviors and replaces the settings of existing ones, also for sessions that use them. Predefined behaviors
/// keep their own settings beneath the new ones.
///
/// `specs`: a dict from name to `BehaviorSpec`, as returned by `parse_behaviors`. A behavior whose parent does not
/// exist is derived from `DEFAULT`; behaviors whose parents form a cycle are not created. Both cases are logged.
#[pyfunction]
fn apply_behaviors(py: Python<'_>, specs: &Bound<'_, PyDict>) -> PyResult<()> {
    let mut behaviors: Vec<BehaviorChanges> = Vec::new();
    for spec in specs.values() {
        let spec = spec.cast::<BehaviorSpec>()?.get().0.clone();
        if spec.name.is_empty() {
            return Err(errors::invalid_argument(py, "a behavior needs a name"));
        }
        behaviors.push(spec);
    }
    let config = Config { behaviors, ..Config::default() };
    for problem in file::behavior_problems(py, &config)? {
        log::warn!(target: LOG, "{}: {}", problem.key, problem.message);
    }
    behavior::apply(py, &config.behaviors_in_order().0).map(drop)
}

/// The settings for a cluster: those for its name override those for `DEFAULT`. `None` if there are neither.
#[pyfunction]
#[pyo3(signature = (profiles, cluster_name))]
fn resolve_for_cluster<'py>(
    profiles: &Bound<'py, PyDict>,
    cluster_name: Option<&str>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut found = None;
    for name in std::iter::once(DEFAULT).chain(cluster_name.filter(|name| *name != DEFAULT)) {
        if let Some(settings) = profiles.get_item(name)? {
            let settings = System::from_python(&settings)?;
            found = Some(found.map_or_else(|| settings.clone(), |below: System| below.merge(&settings)));
        }
    }
    found.map(|settings| settings.to_python(profiles.py())).transpose()
}

fn read(py: Python<'_>, path: &std::path::Path) -> Option<(String, Config)> {
    let result = py.detach(|| {
        let text = file::read(path)?;
        let config = parse(&text).map_err(|problem| problem.to_string())?;
        Ok::<_, String>((text, config))
    });
    let problems = match &result {
        Ok((_, config)) => config.problems.iter().map(ToString::to_string).collect(),
        Err(text) => vec![text.clone()],
    };
    for problem in problems {
        log::warn!(target: LOG, "configuration file {}: {problem}; this is not used", path.display());
    }
    result.ok()
}

/// The contents of a configuration file: a `LoadedConfig`. `None` if it cannot be read or is not valid YAML, which is
/// logged.
#[pyfunction]
fn load_config(py: Python<'_>, path: PathBuf) -> PyResult<Option<LoadedConfig>> {
    let Some((text, config)) = read(py, &path) else { return Ok(None) };
    let raw = PyBytes::new(py, text.as_bytes()).unbind();
    Ok(Some(LoadedConfig { raw, profiles: profiles(py, &config)?, behaviors: specs(py, &config)? }))
}

/// What the program says, what the file says over it, and the defaults of transactions below both.
fn resolved<'py>(
    py: Python<'py>,
    path: Option<&std::path::Path>,
    cluster_name: Option<&str>,
    programmatic: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let program = programmatic.map(System::from_python).transpose()?.unwrap_or_default();
    let of_file = path.and_then(|path| read(py, path)).map(|(_, config)| config.system(cluster_name));
    let mut system = program.merge(&of_file.unwrap_or_default());
    let transactions: Transactions = TransactionRules::of(&system.transactions).settings();
    system.transactions = transactions;
    system.to_python(py)
}

/// The settings of a cluster: those in a file override `programmatic` (a `SystemSettings`), which overrides the
/// defaults. A file that cannot be used is logged.
#[pyfunction]
#[pyo3(signature = (path, cluster_name, programmatic))]
fn load_and_resolve<'py>(
    py: Python<'py>,
    path: PathBuf,
    cluster_name: Option<&str>,
    programmatic: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    resolved(py, Some(&path), cluster_name, programmatic)
}

/// Calls `load_and_resolve` with the file that the environment variable `AEROSPIKE_SDK_CONFIG_URL` names. Returns the
/// settings and the path of the file, or `None` if it is not set.
#[pyfunction]
#[pyo3(signature = (cluster_name, programmatic))]
fn resolve_from_env<'py>(
    py: Python<'py>,
    cluster_name: Option<&str>,
    programmatic: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Option<String>)> {
    let path = path().unwrap_or_else(|text| {
        log::warn!(target: LOG, "{text}; the file is not used");
        None
    });
    let settings = resolved(py, path.as_deref(), cluster_name, programmatic)?;
    Ok((settings, path.map(|path| path.to_string_lossy().into_owned())))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_size, module)?)?;
    module.add_function(wrap_pyfunction!(parse_duration, module)?)?;
    module.add_function(wrap_pyfunction!(parse_sdk_config, module)?)?;
    module.add_function(wrap_pyfunction!(parse_behaviors, module)?)?;
    module.add_function(wrap_pyfunction!(apply_behaviors, module)?)?;
    module.add_function(wrap_pyfunction!(resolve_for_cluster, module)?)?;
    module.add_function(wrap_pyfunction!(load_config, module)?)?;
    module.add_function(wrap_pyfunction!(load_and_resolve, module)?)?;
    module.add_function(wrap_pyfunction!(resolve_from_env, module)?)
}
