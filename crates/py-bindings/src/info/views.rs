//! Dicts of what nodes say, with typed properties: the classes of `aerolane.info_types`.
//!
//! Subclasses of `dict` cannot be written with `PyO3` for the stable ABI of 3.11: they are made from these tables.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PyList, PyString, PyTuple, PyType};

use super::answer::{fields, fill, is_nothing};
use super::merge;

/// A class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    NamespaceDetail,
    SetDetail,
    Sindex,
    SindexDetail,
    StorageEngine,
    StorageFileDetail,
}

/// How a property is read.
enum Reads {
    /// The text of a key, or this one.
    Text(&'static str, &'static str),
    /// The int of a key, or this one.
    Number(&'static str, i64),
    /// Whether the value of a key is `true`.
    Flag(&'static str),
    /// Something else, a bool.
    Whether(fn(&Bound<'_, PyDict>) -> PyResult<bool>),
    Other(fn(&Bound<'_, PyDict>) -> PyResult<Py<PyAny>>),
}

/// A property: its name, its docstring, and how it is read.
struct Property(&'static str, &'static str, Reads);

use Reads::{Flag, Number, Other, Text, Whether};

const NAMESPACE_DETAIL: &[Property] = &[
    Property(
        "exists",
        "Whether the node has the namespace.",
        Whether(|dict| Ok(text(dict, "type")?.as_deref() != Some("unknown"))),
    ),
    Property("storage_engine", "How records are stored, as a `StorageEngine`.", Other(storage_engine)),
    Property("strong_consistency", "Whether the namespace is in strong-consistency mode.", Whether(is_consistent)),
    Property("strong_consistency_reported", "Whether the node reports the mode at all.", Whether(says_mode)),
    Property(
        "strong_consistency_allow_expunge",
        "Whether deletes without a tombstone are allowed in strong-consistency mode.",
        Flag("strong-consistency-allow-expunge"),
    ),
    Property("disallow_expunge", "Whether deletes must leave a tombstone.", Flag("disallow-expunge")),
    Property(
        "nsup_period",
        "The interval in seconds at which expired records are removed; 0: never.",
        Number("nsup-period", 0),
    ),
    Property("default_ttl", "The default time to live in seconds; 0: records do not expire.", Number("default-ttl", 0)),
    Property(
        "allow_ttl_without_nsup",
        "Whether records may have a TTL although `nsup` does not remove expired records.",
        Flag("allow-ttl-without-nsup"),
    ),
    Property(
        "effective_replication_factor",
        "The number of copies of each record.",
        Number("effective_replication_factor", 0),
    ),
    Property("objects", "The number of records on the node, replicas included.", Number("objects", 0)),
    Property("master_objects", "The number of records whose master is this node.", Number("master_objects", 0)),
    Property("prole_objects", "The number of records of which the node has a replica.", Number("prole_objects", 0)),
    Property(
        "non_replica_objects",
        "The number of records that the node has as neither master nor replica.",
        Number("non_replica_objects", 0),
    ),
    Property(
        "unreplicated_records",
        "The number of records whose replicas are not written yet.",
        Number("unreplicated_records", 0),
    ),
    Property("dead_partitions", "The number of partitions whose records are lost.", Number("dead_partitions", 0)),
    Property(
        "unavailable_partitions",
        "The number of partitions that are unavailable.",
        Number("unavailable_partitions", 0),
    ),
    Property("stop_writes", "Whether the node refuses writes.", Flag("stop_writes")),
    Property("current_time", "The node's clock: seconds since 2010.", Number("current_time", 0)),
    Property("expired_objects", "The number of records expired since the node started.", Number("expired_objects", 0)),
    Property("evicted_objects", "The number of records evicted since the node started.", Number("evicted_objects", 0)),
    Property("index_used_bytes", "The size of the primary index in bytes.", Number("index_used_bytes", 0)),
    Property("set_index_used_bytes", "The size of the set indexes in bytes.", Number("set_index_used_bytes", 0)),
    Property("sindex_used_bytes", "The size of the secondary indexes in bytes.", Number("sindex_used_bytes", 0)),
    Property("data_total_bytes", "The size in bytes of the storage for records.", Number("data_total_bytes", 0)),
    Property("data_used_bytes", "The bytes that records use.", Number("data_used_bytes", 0)),
    Property("cache_read_pct", "The percentage of reads that the cache answers.", Number("cache_read_pct", 0)),
];

const SET_DETAIL: &[Property] = &[
    Property("name", "The name.", Text("set", "")),
    Property("namespace", "The namespace.", Text("ns", "")),
    Property("objects", "The number of records on the node, replicas included.", Number("objects", 0)),
    Property("tombstones", "The number of tombstones on the node.", Number("tombstones", 0)),
    Property("data_used_bytes", "The bytes that records use.", Number("data_used_bytes", 0)),
    Property("truncating", "Whether a truncate is in progress.", Flag("truncating")),
    Property("sindexes", "The number of secondary indexes of the set.", Number("sindexes", 0)),
    Property("index_populating", "Whether an index of the set is being built.", Flag("index_populating")),
    Property("default_ttl", "The default time to live in seconds; 0: that of the namespace.", Number("default-ttl", 0)),
    Property("disable_eviction", "Whether records are never evicted.", Flag("disable-eviction")),
    Property(
        "stop_writes_count",
        "The number of records above which writes are refused; 0: no limit.",
        Number("stop-writes-count", 0),
    ),
    Property(
        "stop_writes_size",
        "The size in bytes above which writes are refused; 0: no limit.",
        Number("stop-writes-size", 0),
    ),
];

const SINDEX: &[Property] = &[
    Property("name", "The name.", Text("name", "")),
    Property("namespace", "The namespace.", Text("namespace", "")),
    Property("set_name", "The set.", Text("set", "")),
    Property("bin_name", "The bin; empty for an index of a set.", Text("bin", "")),
    Property("index_type", "The type of its values: `integer`, `string`, `blob` or `geo2dsphere`.", Text("type", "")),
    Property(
        "collection_type",
        "Which part of the bin it covers: `default`, `list`, `mapkeys`, `mapvalues`, or `set`.",
        Text("index_type", ""),
    ),
    Property("state", "`RW` once it is built, `WO` before.", Text("state", "")),
    Property("is_set_index", "Whether it is a set index.", Whether(is_set_index)),
    Property(
        "is_ready",
        "Whether it is built.",
        Whether(|dict| Ok(text(dict, "state")?.as_deref() == Some("RW") || is_set_index(dict)?)),
    ),
];

const SINDEX_DETAIL: &[Property] = &[
    Property("entries", "The number of entries on the node.", Number("entries", 0)),
    Property("used_bytes", "The bytes that the index uses on the node.", Number("used_bytes", 0)),
    Property("entries_per_bval", "The average number of entries per value.", Number("entries_per_bval", 0)),
    Property("entries_per_rec", "The average number of entries per record.", Number("entries_per_rec", 0)),
    Property(
        "load_pct",
        "The percentage of records that have been indexed; 100: the index is built.",
        Number("load_pct", 0),
    ),
    Property("is_ready", "Whether it is built.", Whether(|dict| Ok(number(dict, "load_pct", 0)? >= 100))),
];

const STORAGE_ENGINE: &[Property] = &[
    Property("engine", "Where records are stored: `memory`, `device` or `pmem`.", Text("engine", "")),
    Property(
        "is_memory",
        "Whether records are stored in memory.",
        Whether(|dict| Ok(text(dict, "engine")?.as_deref() == Some("memory"))),
    ),
    Property(
        "is_device",
        "Whether records are stored on devices or in files.",
        Whether(|dict| Ok(text(dict, "engine")?.as_deref() == Some("device"))),
    ),
    Property("compression", "How records are compressed.", Text("compression", "none")),
    Property("commit_to_device", "Whether a write waits for the device.", Flag("commit-to-device")),
    Property(
        "defrag_lwm_pct",
        "Blocks that are less full than this percentage are defragmented.",
        Number("defrag-lwm-pct", 0),
    ),
    Property("files", "The devices and files: a list of `StorageFileDetail`.", Other(files)),
];

const STORAGE_FILE_DETAIL: &[Property] = &[
    Property("path", "The path of the device or file.", Text("path", "")),
    Property("age", "The percentage of the device's lifetime that is used up; -1: unknown.", Number("age", -1)),
    Property("used_bytes", "The bytes that records use.", Number("used_bytes", 0)),
    Property("free_wblocks", "The number of free blocks.", Number("free_wblocks", 0)),
    Property("write_q", "The number of blocks waiting to be written.", Number("write_q", 0)),
    Property("writes", "The number of blocks written.", Number("writes", 0)),
    Property("partial_writes", "The number of blocks written before they were full.", Number("partial_writes", 0)),
    Property("defrag_q", "The number of blocks waiting to be defragmented.", Number("defrag_q", 0)),
    Property("defrag_reads", "The number of blocks read by defragmentation.", Number("defrag_reads", 0)),
    Property("defrag_writes", "The number of blocks written by defragmentation.", Number("defrag_writes", 0)),
    Property(
        "defrag_partial_writes",
        "The number of blocks that defragmentation wrote before they were full.",
        Number("defrag_partial_writes", 0),
    ),
    Property("read_errors", "The number of failed reads.", Number("read_errors", 0)),
];

/// The text of a key; `None`: there is none.
fn text(dict: &Bound<'_, PyDict>, key: &str) -> PyResult<Option<String>> {
    let Some(value) = dict.get_item(key)? else { return Ok(None) };
    value.cast::<PyString>().map_or(Ok(None), |text| text.to_str().map(|text| Some(text.to_owned())))
}

fn number(dict: &Bound<'_, PyDict>, key: &str, otherwise: i64) -> PyResult<i128> {
    Ok(text(dict, key)?.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| i128::from(otherwise)))
}

fn flag(dict: &Bound<'_, PyDict>, key: &str) -> PyResult<bool> {
    Ok(text(dict, key)?.as_deref() == Some("true"))
}

fn is_consistent(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(flag(dict, "strong-consistency")? || flag(dict, "strong_consistency")?)
}

fn says_mode(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(dict.contains("strong-consistency")? || dict.contains("strong_consistency")?)
}

fn is_set_index(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(text(dict, "index_type")?.as_deref() == Some("set"))
}

/// What a namespace says about its storage, without the name in front.
fn storage_engine(dict: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    let engine = PyDict::new(dict.py());
    for (key, value) in dict.iter() {
        let Ok(key) = key.cast::<PyString>() else { continue };
        match key.to_str()?.strip_prefix("storage-engine") {
            Some("") => engine.set_item("engine", value)?,
            Some(rest) => {
                if let Some(name) = rest.strip_prefix('.') {
                    engine.set_item(name, value)?;
                }
            }
            None => {}
        }
    }
    View::StorageEngine.of(&engine)
}

/// The devices and files: `device[0]`, with `device[0].age` and so on.
fn files(dict: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    let py = dict.py();
    let mut all: BTreeMap<(String, u32), Bound<'_, PyDict>> = BTreeMap::new();
    for (key, value) in dict.iter() {
        let Ok(key) = key.cast::<PyString>() else { continue };
        let Some((kind, rest)) = key.to_str()?.split_once('[') else { continue };
        let Some((place, name)) = rest.split_once(']') else { continue };
        let (true, Ok(place)) = (matches!(kind, "device" | "file"), place.parse()) else { continue };
        let name = if name.is_empty() { Some("path") } else { name.strip_prefix('.') };
        let Some(name) = name else { continue };
        all.entry((kind.to_owned(), place)).or_insert_with(|| PyDict::new(py)).set_item(name, value)?;
    }
    let list = PyList::empty(py);
    for file in all.values().filter(|file| file.contains("path").unwrap_or(false)) {
        list.append(View::StorageFileDetail.of(file)?)?;
    }
    Ok(list.into_any().unbind())
}

impl Reads {
    fn read(&self, dict: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
        let py = dict.py();
        let whether = |is: bool| Ok(is.into_pyobject(py)?.to_owned().into_any().unbind());
        match self {
            Text(key, otherwise) => {
                Ok(text(dict, key)?.as_deref().unwrap_or(otherwise).into_pyobject(py)?.into_any().unbind())
            }
            Number(key, otherwise) => Ok(number(dict, key, *otherwise)?.into_pyobject(py)?.into_any().unbind()),
            Flag(key) => whether(flag(dict, key)?),
            Whether(is) => whether(is(dict)?),
            Other(what) => what(dict),
        }
    }
}

impl View {
    const ALL: [Self; 6] = [
        Self::NamespaceDetail,
        Self::SetDetail,
        Self::Sindex,
        Self::SindexDetail,
        Self::StorageEngine,
        Self::StorageFileDetail,
    ];

    /// The name, the docstring, and the properties.
    const fn describe(self) -> (&'static str, &'static str, &'static [Property]) {
        match self {
            Self::NamespaceDetail => {
                let doc = "A node's details of a namespace: a dict of everything that the node reports, with properties for some of it.";
                ("NamespaceDetail", doc, NAMESPACE_DETAIL)
            }
            Self::SetDetail => (
                "SetDetail",
                "A node's details of a set: a dict of everything that the node reports, with properties for some of it.",
                SET_DETAIL,
            ),
            Self::Sindex => (
                "Sindex",
                "A secondary index: a dict of what the nodes report, with properties for some of it.",
                SINDEX,
            ),
            Self::SindexDetail => {
                let doc = "A node's statistics of a secondary index: a dict of everything that the node reports, with properties for some of it.";
                ("SindexDetail", doc, SINDEX_DETAIL)
            }
            Self::StorageEngine => {
                let doc = "How a namespace stores records: a dict of everything that the node reports, with properties for some of it.";
                ("StorageEngine", doc, STORAGE_ENGINE)
            }
            Self::StorageFileDetail => {
                let doc = "A device or file that stores records: a dict of what the node reports, with properties for some of it.";
                ("StorageFileDetail", doc, STORAGE_FILE_DETAIL)
            }
        }
    }

    /// The class.
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
        static CLASSES: [PyOnceLock<Py<PyAny>>; 6] = [const { PyOnceLock::new() }; 6];
        CLASSES[self as usize].get_or_try_init(py, || self.make(py)).map(|class| class.bind(py))
    }

    fn make(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (name, doc, properties) = self.describe();
        let (body, builtins) = (PyDict::new(py), py.import("builtins")?);
        body.set_item("__doc__", doc)?;
        body.set_item("__module__", "aerolane.info_types")?;
        body.set_item("__slots__", PyTuple::empty(py))?;
        for Property(name, doc, reads) in properties {
            let read = move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
                reads.read(arguments.get_item(0)?.cast::<PyDict>()?)
            };
            let getter = PyCFunction::new_closure(py, None, None, read)?;
            body.set_item(name, builtins.getattr("property")?.call1((getter, py.None(), py.None(), doc))?)?;
        }
        let makers = match self {
            Self::NamespaceDetail => vec![
                ("from_body", wrap_pyfunction!(namespace_detail, py)?),
                ("from_response", wrap_pyfunction!(namespace_of_response, py)?),
            ],
            Self::SetDetail => vec![("from_body", wrap_pyfunction!(set_details, py)?)],
            Self::SindexDetail => vec![("from_response", wrap_pyfunction!(index_of_response, py)?)],
            Self::StorageEngine => vec![("from_namespace", wrap_pyfunction!(engine_of_namespace, py)?)],
            Self::Sindex | Self::StorageFileDetail => Vec::new(),
        };
        for (name, function) in makers {
            body.set_item(name, builtins.getattr("staticmethod")?.call1((function,))?)?;
        }
        let bases = PyTuple::new(py, [py.get_type::<PyDict>()])?;
        Ok(py.get_type::<PyType>().call1((name, bases, body))?.unbind())
    }

    /// A dict as one of this class.
    pub(super) fn of(self, dict: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
        Ok(self.class(dict.py())?.call1((dict,))?.unbind())
    }
}

/// Parses the answer to `namespace/<name>`.
#[pyfunction(name = "from_body")]
fn namespace_detail(py: Python<'_>, body: &str) -> PyResult<Py<PyAny>> {
    merge::detail(py, View::NamespaceDetail, body)
}

/// Takes the details from a node's answers by command; `None` if the node does not have the namespace.
#[pyfunction(name = "from_response")]
fn namespace_of_response(response: Option<&Bound<'_, PyDict>>, namespace: &str) -> PyResult<Option<Py<PyAny>>> {
    of_response(View::NamespaceDetail, response, &format!("namespace/{namespace}"))
}

/// Takes the statistics from a node's answers by command; `None` if the node does not have the index.
#[pyfunction(name = "from_response")]
fn index_of_response(
    response: Option<&Bound<'_, PyDict>>,
    namespace: &str,
    index_name: &str,
) -> PyResult<Option<Py<PyAny>>> {
    of_response(View::SindexDetail, response, &format!("sindex/{namespace}/{index_name}"))
}

/// The view of the answer to a command; without that, of the first one.
fn of_response(view: View, response: Option<&Bound<'_, PyDict>>, command: &str) -> PyResult<Option<Py<PyAny>>> {
    let Some(response) = response else { return Ok(None) };
    let answer = match response.get_item(command)? {
        Some(answer) => answer,
        None => match response.iter().next() {
            Some((_, answer)) => answer,
            None => return Ok(None),
        },
    };
    let text = answer.cast::<PyString>()?.to_str()?;
    if is_nothing(text) { Ok(None) } else { merge::detail(response.py(), view, text).map(Some) }
}

/// Parses the answer to `sets`: a list of `SetDetail`.
#[pyfunction(name = "from_body")]
fn set_details(py: Python<'_>, body: &str) -> PyResult<Vec<Py<PyAny>>> {
    let mut all = Vec::new();
    for row in super::answer::rows(body).filter(|row| super::answer::field(row, "set").is_some()) {
        let dict = PyDict::new(py);
        fill(&dict, fields(row, ':'))?;
        all.push(View::SetDetail.of(&dict)?);
    }
    Ok(all)
}

/// Takes the storage engine from a `NamespaceDetail`.
#[pyfunction(name = "from_namespace")]
fn engine_of_namespace(detail: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    storage_engine(detail)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for view in View::ALL {
        module.add(view.describe().0, view.class(module.py())?)?;
    }
    Ok(())
}
