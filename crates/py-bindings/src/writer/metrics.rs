//! What a writer has counted, as Python objects.

use aerolane::writer::{CLASSES, FIGURES, Figure, FigureKind, NODE_FIGURES, Progress, WriterMetrics};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList};

use crate::errors::result_code;

/// `WriterProgress`, a named tuple.
pub(super) fn progress_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let int = py.get_type::<PyInt>();
        let fields = [
            ("handed_over", &int),
            ("ok", &int),
            ("failed", &int),
            ("outstanding", &int),
            ("outstanding_bytes", &int),
            ("elapsed", &py.get_type::<PyFloat>()),
        ];
        let class = py.import("typing")?.getattr("NamedTuple")?.call1(("WriterProgress", fields.to_vec()))?;
        class.setattr("__module__", "aerolane")?;
        class.setattr(
            "__doc__",
            "The progress of a writer: the number of records that were passed to it, how many of them are confirmed (`ok`), \
             `failed` or `outstanding` (with their bytes), and the seconds since the writer was created.",
        )?;
        Ok::<_, PyErr>(class.unbind())
    })?;
    Ok(class.bind(py))
}

pub(super) fn progress(py: Python<'_>, of: &Progress) -> PyResult<Py<PyAny>> {
    let Progress { handed_over, ok, failed, outstanding, outstanding_bytes, elapsed } = *of;
    let fields = (handed_over, ok, failed, outstanding, outstanding_bytes, elapsed.as_secs_f64());
    Ok(progress_class(py)?.call1(fields)?.unbind())
}

pub(super) fn snapshot<'py>(py: Python<'py>, of: &WriterMetrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("handed_over", of.progress.handed_over)?;
    dict.set_item("ok", of.progress.ok)?;
    dict.set_item("failed", of.progress.failed)?;
    dict.set_item("outstanding", of.progress.outstanding)?;
    dict.set_item("outstanding_bytes", of.progress.outstanding_bytes)?;
    dict.set_item("elapsed", of.progress.elapsed.as_secs_f64())?;
    dict.set_item("bytes", of.bytes)?;
    dict.set_item("in_doubt", of.in_doubt)?;
    dict.set_item("expired", of.expired)?;
    dict.set_item("requests", of.requests)?;
    dict.set_item("single_requests", of.single_requests)?;
    dict.set_item("attempts", of.attempts)?;
    dict.set_item("retries", of.retries)?;
    dict.set_item("moved", of.moved)?;
    dict.set_item("throttled", of.throttled)?;
    dict.set_item("transient", of.transient)?;
    dict.set_item("permanent", of.permanent)?;
    let nodes = PyList::empty(py);
    for node in &of.nodes {
        let each = PyDict::new(py);
        each.set_item("node", &*node.node)?;
        each.set_item("requests", node.requests)?;
        each.set_item("records", node.records)?;
        each.set_item("queued", node.queued)?;
        each.set_item("in_flight", node.in_flight)?;
        each.set_item("records_per_second_limit", node.records_per_second_limit)?;
        each.set_item("throttled", node.throttled)?;
        nodes.append(each)?;
    }
    dict.set_item("nodes", nodes)?;
    Ok(dict)
}

type Described = (&'static str, &'static str, &'static str);

/// The figures of a writer's `metrics()` and those of its nodes, as lists of (name, `"counter"` or `"gauge"`,
/// description), for exporters.
#[pyfunction]
pub(super) fn writer_figures() -> (Vec<Described>, Vec<Described>) {
    (described(FIGURES), described(NODE_FIGURES))
}

/// What a writer makes of each result code of the server that is worth another attempt: its class (`"moved"`, `"throttled"` or
/// `"transient"`), and whether it speaks for the whole node, so that the rate of records to that falls. All other codes are
/// permanent: the record has failed.
#[pyfunction]
pub(super) fn writer_retry_classes(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let classes = PyDict::new(py);
    for (code, class, slows_node) in CLASSES {
        classes.set_item(result_code(py, i32::from(u8::from(*code)))?, (class.name(), *slows_node))?;
    }
    Ok(classes)
}

fn described<M>(figures: &'static [Figure<M>]) -> Vec<Described> {
    let kind = |figure: &Figure<M>| match figure.kind {
        FigureKind::Counter => "counter",
        FigureKind::Gauge => "gauge",
    };
    figures.iter().map(|figure| (figure.name, kind(figure), figure.help)).collect()
}
