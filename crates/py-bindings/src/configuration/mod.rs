//! The configuration file of the SDK that the environment names: read when a cluster is connected, and again when it
//! changes. The one of clients, which goes over the policies of calls, is [`aerolane::dynamic`]'s.
//!
//! * [`file`]: a file as this process knows it
//! * [`follow`]: what a cluster takes over when the file changes
//! * [`helpers`], [`spec`]: what programs can do with such files themselves

mod file;
mod follow;
mod helpers;
mod spec;

use std::path::PathBuf;
use std::sync::Arc;

use aerolane_config::{Config, System};
use pyo3::prelude::*;

use crate::errors;
pub(crate) use follow::{Follow, take_over};

/// Where programs say which file it is: a path, or a URL that begins with `file://`.
const VARIABLE: &str = "AEROSPIKE_SDK_CONFIG_URL";
/// The logger is `aerolane.configuration`.
const LOG: &str = "aerolane::configuration";

/// The file that the environment names; `None`: it names none.
///
/// # Errors
/// What is wrong with the name.
fn path() -> Result<Option<PathBuf>, String> {
    let value = match std::env::var(VARIABLE) {
        Err(std::env::VarError::NotUnicode(_)) => return Err(format!("{VARIABLE} is not UTF-8")),
        value => value.unwrap_or_default(),
    };
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    if let Some(path) = value.strip_prefix("file://") {
        return Ok(Some(path.into()));
    }
    match value.split_once("://") {
        Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)) => {
            Err(format!("{VARIABLE} is {value:?}: {scheme} is not supported, use a path or file://<path>"))
        }
        _ => Ok(Some(value.into())),
    }
}

/// The configuration at the moment when a cluster is connected.
pub(crate) struct AtConnect {
    file: Arc<file::File>,
    loaded: Option<Arc<file::Loaded>>,
}

impl AtConnect {
    /// Reads the file that the environment names, and applies its behaviors; `None`: it names none. Gives up the GIL
    /// while it reads.
    ///
    /// What is wrong is logged. `strict`: it raises `InvalidArgumentError`, and nothing is applied.
    pub(crate) fn load(py: Python<'_>, strict: bool) -> PyResult<Option<Self>> {
        let path = match path() {
            Ok(None) => return Ok(None),
            Ok(Some(path)) => path,
            Err(text) if strict => return Err(errors::invalid_argument(py, text)),
            Err(text) => {
                log::warn!(target: LOG, "{text}; the file is not used");
                return Ok(None);
            }
        };
        let file = file::File::at(path);
        let result = py.detach(|| file.load());
        if strict {
            let mut wrong = match &result {
                Ok(loaded) => loaded.config.problems.iter().filter(|p| !p.harmless).map(ToString::to_string).collect(),
                Err(text) => vec![text.clone()],
            };
            if let Ok(loaded) = &result {
                wrong.extend(file::behavior_problems(py, &loaded.config)?.iter().map(ToString::to_string));
            }
            if !wrong.is_empty() {
                return Err(errors::invalid_argument(py, file.describe(&wrong)));
            }
        }
        match &result {
            Ok(loaded) => file.log_problems(loaded),
            Err(text) => log::warn!(target: LOG, "{}", file.describe(std::slice::from_ref(text))),
        }
        // What was read before is still in force.
        let loaded = result.ok().or_else(|| file.loaded());
        if loaded.is_some() {
            file.apply_behaviors(py)?;
        }
        Ok(Some(Self { file, loaded }))
    }

    /// What the file says for a cluster.
    pub(crate) fn system(&self, cluster: Option<&str>) -> System {
        self.config().map_or_else(System::default, |config| config.system(cluster))
    }

    /// Whether the file says something for a cluster of this name alone.
    pub(crate) fn names(&self, cluster: &str) -> bool {
        self.config().is_some_and(|config| config.systems.iter().any(|(name, _)| name == cluster))
    }

    /// Says that the settings for a cluster whose name was not known in time were not used to connect. `used`: those that
    /// were.
    pub(crate) fn warn_late(&self, name: &str, used: &System) {
        let late = self.system(Some(name));
        let of_connections =
            |system: &System| System { transactions: <_>::default(), metrics: <_>::default(), ..system.clone() };
        if of_connections(&late) != of_connections(used) {
            log::warn!(
                target: LOG,
                "{}",
                self.file.describe(&[format!(
                    "system.{name} is for this cluster, but its name was known only once it was connected: what is said of \
                     connections, the circuit breaker and refreshing is not used (name the cluster: \
                     ClusterDefinition.cluster_name({name:?}))"
                )])
            );
        }
    }

    fn config(&self) -> Option<&Config> {
        self.loaded.as_ref().map(|loaded| &loaded.config)
    }

    /// The error of settings that do not go together.
    pub(crate) fn refused(&self, py: Python<'_>, error: &PyErr, strict: bool) -> PyResult<()> {
        let text = self.file.describe(&[error.value(py).to_string()]);
        if strict {
            return Err(errors::invalid_argument(py, text));
        }
        log::warn!(target: LOG, "{text}; its settings of the cluster are not used");
        Ok(())
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    spec::register(module)?;
    helpers::register(module)
}
