//! Faults of an embedded cluster: from Python's words to rules, and back.

use std::time::Duration;

use aerolane_embedded::NodeId;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind, RuleId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::{Cluster, Running, one_or_several, to_py};

/// Longest delay, in seconds.
const MAX_DELAY: f64 = 600.0;

/// A fault that was injected. As a context manager it is taken back at the end of its block.
#[pyclass(frozen, module = "aerolane.testing")]
pub(super) struct Fault {
    cluster: Py<Cluster>,
    rule: FaultRule,
    installed: Vec<(NodeId, RuleId)>,
}

impl Fault {
    /// Installs a rule on these nodes.
    pub(super) fn install(
        cluster: &Bound<'_, Cluster>,
        running: &Running,
        nodes: &[NodeId],
        rule: &FaultRule,
    ) -> PyResult<Self> {
        let mut installed = Vec::with_capacity(nodes.len());
        for node in nodes {
            match running.cluster.set_fault(Some(*node), rule) {
                Ok(ids) => installed.extend(ids.into_iter().map(|id| (*node, id))),
                Err(error) => {
                    for (node, id) in installed {
                        // Nodes never go, so there is nothing to fail.
                        let _ = running.cluster.remove_fault(node, id);
                    }
                    return Err(to_py(&error));
                }
            }
        }
        Ok(Self { cluster: cluster.clone().unbind(), rule: rule.clone(), installed })
    }
}

#[pymethods]
impl Fault {
    /// Takes the fault back. Does nothing if it is gone already, or if the cluster is closed.
    fn remove(&self) -> PyResult<()> {
        if self.cluster.get().is_closed() {
            return Ok(());
        }
        let running = self.cluster.get().running()?;
        for (node, id) in &self.installed {
            running.cluster.remove_fault(*node, *id).map_err(|e| to_py(&e))?;
        }
        Ok(())
    }

    /// How many requests it has struck, on all nodes together; 0 once it was taken back.
    #[getter]
    fn struck(&self) -> PyResult<u64> {
        let running = self.cluster.get().running()?;
        let mut sum = 0;
        for (node, id) in &self.installed {
            sum += running.cluster.fault_struck(*node, *id).map_err(|e| to_py(&e))?.unwrap_or(0);
        }
        Ok(sum)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.remove()
    }

    fn __repr__(&self) -> String {
        format!("<Fault {}>", self.rule)
    }
}

/// The rule for what `EmbeddedCluster.inject` was given.
pub(super) fn rule(
    action: &str,
    value: Option<&Bound<'_, PyAny>>,
    on: Option<&Bound<'_, PyAny>>,
    skip: u64,
    times: Option<u64>,
    probability: f64,
) -> PyResult<FaultRule> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(PyValueError::new_err(format!("probability {probability}: 0 to 1 expected")));
    }
    let mut rule = FaultRule::new(parse_action(action, value)?).skip(skip).probability(probability);
    if let Some(times) = times {
        rule = rule.times(times);
    }
    for kind in kinds(on)? {
        rule = rule.on(kind);
    }
    Ok(rule)
}

fn parse_action(action: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<FaultAction> {
    let needed =
        |what: &str| value.ok_or_else(|| PyTypeError::new_err(format!("the fault {action:?} needs a value: {what}")));
    let parsed = match action {
        "delay" => return seconds(needed("seconds")?).map(FaultAction::Delay),
        "answer-delay" => return seconds(needed("seconds")?).map(FaultAction::AnswerDelay),
        "truncate" => return needed("a number of bytes")?.extract().map(FaultAction::Truncate),
        "result" => return needed("a result code")?.extract().map(FaultAction::Result),
        "garbage" => {
            let bytes = needed("bytes")?;
            let bytes = bytes.cast::<PyBytes>().map_err(|_| PyTypeError::new_err("garbage is given as bytes"))?;
            return Ok(FaultAction::Garbage(bytes.as_bytes().to_vec()));
        }
        "stall" => FaultAction::Stall,
        "drop-before" => FaultAction::DropBefore,
        "drop-after" => FaultAction::DropAfter,
        "split" => FaultAction::Split,
        "refuse" => FaultAction::Refuse,
        "reject-unowned" => FaultAction::RejectUnowned,
        _ => {
            return Err(PyValueError::new_err(format!(
                "unknown fault {action:?}: delay, answer-delay, stall, drop-before, drop-after, truncate, split, result, \
                 garbage, refuse or reject-unowned expected"
            )));
        }
    };
    if value.is_some() {
        return Err(PyTypeError::new_err(format!("the fault {action:?} takes no value")));
    }
    Ok(parsed)
}

fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds: f64 = value.extract()?;
    if (0.0..=MAX_DELAY).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(PyValueError::new_err(format!("a delay of {seconds} s: 0 to {MAX_DELAY} expected")))
    }
}

/// One kind of request, or several.
fn kinds(on: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<RequestKind>> {
    let Some(on) = on else { return Ok(Vec::new()) };
    let names = one_or_several(on, "on", "kind of request")?;
    let kind = |name: &String| {
        RequestKind::from_name(name).ok_or_else(|| {
            let text = format!("unknown kind {name:?}: info, admin, read, write, batch, query or other expected");
            PyValueError::new_err(text)
        })
    };
    names.iter().map(kind).collect()
}
