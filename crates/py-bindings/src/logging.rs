//! Log records of the Rust crates, as records of Python's `logging`.
//!
//! Whoever logs may hold locks, and no thread of ours waits for the interpreter: a record is put in line, and a thread of
//! its own brings it to Python. That thread ends when nothing has been logged for a while. A record from the module
//! `aerolane::cluster` comes from the logger `aerolane.cluster`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::{Duration, Instant};

use aerolane::sync::{Mutex, MutexGuard};
use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fork;

/// The loggers of the crates whose records are passed on.
const ROOTS: [&str; 2] = ["aerolane", "aerospike_core"];
/// Records that wait in line at most.
const MOST_WAITING: usize = 1024;
/// The thread ends after this time without a record.
const IDLE: Duration = Duration::from_millis(500);
/// A record that cannot be put in line within this time is dropped: in a process that was forked while another thread held
/// the lock, nobody releases it.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long a thread sleeps between two tries to get the lock.
const TRY_AGAIN: Duration = Duration::from_micros(50);

/// A record on its way to Python.
struct Entry {
    level: u8,
    target: String,
    message: String,
    file: Option<String>,
    line: u32,
}

/// The number of forks, and the side where records go in.
type Line = (u32, SyncSender<Entry>);

/// The line of the process with this number of forks, while its thread runs.
static LINE: Mutex<Option<Line>> = Mutex::new(None);
/// Records that found no place in line.
static LOST: AtomicU64 = AtomicU64::new(0);

struct Bridge;

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let root = metadata.target().split("::").next();
        metadata.level() <= log::max_level() && root.is_some_and(|root| ROOTS.contains(&root))
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let entry = Entry {
            level: number(record.level()),
            target: record.target().replace("::", "."),
            message: record.args().to_string(),
            file: record.file().map(str::to_owned),
            line: record.line().unwrap_or(0),
        };
        if !put(entry) {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}

/// The level of Python's `logging`.
const fn number(level: Level) -> u8 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
        Level::Trace => 5,
    }
}

/// The lock of the line, unless it is not to be had.
fn line() -> Option<MutexGuard<'static, Option<Line>>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match LINE.try_lock() {
            None if Instant::now() < deadline => std::thread::sleep(TRY_AGAIN),
            lock => return lock,
        }
    }
}

/// Puts a record in line, and has a thread that takes it. False: there is no room.
fn put(mut entry: Entry) -> bool {
    let Some(mut line) = line() else { return false };
    let forks = fork::forks();
    if let Some((of, sender)) = &*line
        && *of == forks
    {
        match sender.try_send(entry) {
            Ok(()) => return true,
            Err(TrySendError::Full(_)) => return false,
            Err(TrySendError::Disconnected(back)) => entry = back,
        }
    }
    let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
    let thread = std::thread::Builder::new().name("aerolane-log".to_owned());
    if sender.try_send(entry).is_err() || thread.spawn(move || pass_on(&receiver)).is_err() {
        return false;
    }
    // What a parent process had there stays its own.
    std::mem::forget(line.replace((forks, sender)));
    true
}

/// Brings records to Python until none come any more.
fn pass_on(receiver: &Receiver<Entry>) {
    loop {
        let entry = match receiver.recv_timeout(IDLE) {
            Ok(entry) => entry,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let mut line = LINE.lock();
                // One may have come at the last moment.
                let Ok(entry) = receiver.try_recv() else {
                    drop(line.take());
                    return;
                };
                drop(line);
                entry
            }
        };
        // Without an interpreter, or at its end, nobody reads it.
        let _ = Python::try_attach(|py| {
            let lost = LOST.swap(0, Ordering::Relaxed);
            let lost = (lost > 0).then(|| Entry {
                level: number(Level::Warn),
                target: "aerolane".to_owned(),
                message: format!("{lost} log records were lost: they came faster than the log takes them"),
                file: None,
                line: 0,
            });
            for entry in lost.iter().chain([&entry]) {
                if let Err(error) = emit(py, entry) {
                    error.write_unraisable(py, None);
                }
            }
            // If this fails, `threading` lists the thread, which does no harm.
            let _ = forget_thread(py);
        });
    }
}

/// Has `threading` forget this thread. A record has the name of its thread: `threading` makes an object for it, which before
/// Python 3.13 stays when the thread is gone.
fn forget_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import(intern!(py, "threading"))?;
    let ident = threading.call_method0(intern!(py, "get_ident"))?;
    let active = threading.getattr(intern!(py, "_active"))?.cast_into::<PyDict>()?;
    match active.get_item(&ident)? {
        Some(thread) if thread.is_instance(&threading.getattr(intern!(py, "_DummyThread"))?)? => active.del_item(ident),
        _ => Ok(()),
    }
}

fn logger<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "logging"))?.call_method1(intern!(py, "getLogger"), (name,))
}

fn emit(py: Python<'_>, entry: &Entry) -> PyResult<()> {
    let logger = logger(py, &entry.target)?;
    if !logger.call_method1(intern!(py, "isEnabledFor"), (entry.level,))?.is_truthy()? {
        return Ok(());
    }
    let (file, line) = (entry.file.as_deref().unwrap_or("(unknown file)"), entry.line);
    let arguments = (entry.target.as_str(), entry.level, file, line, entry.message.as_str(), (), py.None());
    let record = logger.call_method1(intern!(py, "makeRecord"), arguments)?;
    logger.call_method1(intern!(py, "handle"), (record,))?;
    Ok(())
}

/// Makes the Rust crates log at the levels of Python's loggers `aerolane` and `aerospike_core` and the loggers below
/// them. Each client does this when it connects; call it after changing levels later.
#[pyfunction]
pub(crate) fn refresh_log_levels(py: Python<'_>) -> PyResult<()> {
    let known = py.import(intern!(py, "logging"))?.getattr("root")?.getattr("manager")?.getattr("loggerDict")?;
    let mut names: Vec<String> = ROOTS.iter().map(|&root| root.to_owned()).collect();
    // A copy: other threads may make loggers meanwhile.
    for name in known.cast::<PyDict>()?.copy()?.keys() {
        let name: String = name.extract()?;
        if name.split_once('.').is_some_and(|(root, _)| ROOTS.contains(&root)) {
            names.push(name);
        }
    }
    let mut least = i64::MAX;
    for name in names {
        least = least.min(logger(py, &name)?.call_method0(intern!(py, "getEffectiveLevel"))?.extract()?);
    }
    log::set_max_level(match least {
        ..=9 => LevelFilter::Trace,
        10..=19 => LevelFilter::Debug,
        20..=29 => LevelFilter::Info,
        30..=39 => LevelFilter::Warn,
        40..=49 => LevelFilter::Error,
        _ => LevelFilter::Off,
    });
    Ok(())
}

/// The names of this package's loggers, for setting levels and handlers. All of them are below `"aerolane"`. The
/// vendor's crate, which discovers the nodes, logs to `"aerospike_core"`.
///
/// COMMAND: calls. LIFECYCLE: connecting, nodes that join and leave, closing. QUERY, BACKGROUND: queries. INFO: info
/// commands. BEHAVIOR, POOL, `RECORD_STREAM`: behaviors, `AsyncPool`, results. Not all of them are used in this
/// version.
#[pyclass(frozen, module = "aerolane.loggers")]
struct SdkLoggers;

#[pymethods]
#[allow(non_upper_case_globals)]
impl SdkLoggers {
    /// Calls.
    #[classattr]
    const COMMAND: &'static str = "aerolane.client";
    /// Connecting, nodes that come and go, closing.
    #[classattr]
    const LIFECYCLE: &'static str = "aerolane.cluster";
    /// Queries.
    #[classattr]
    const QUERY: &'static str = "aerolane.client.query";
    /// Work on the servers in the background.
    #[classattr]
    const BACKGROUND: &'static str = "aerolane.client.query";
    /// Commands to nodes.
    #[classattr]
    const INFO: &'static str = "aerolane.client.info";
    /// Behaviors.
    #[classattr]
    const BEHAVIOR: &'static str = "aerolane.behavior";
    /// `AsyncPool`.
    #[classattr]
    const POOL: &'static str = "aerolane.pool";
    /// Results of queries and batches.
    #[classattr]
    const RECORD_STREAM: &'static str = "aerolane.record_stream";
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<SdkLoggers>()?;
    module.add_function(wrap_pyfunction!(refresh_log_levels, module)?)?;
    // As libraries do: nothing is printed unless the program sets up logging.
    for root in ROOTS {
        let silent = py.import(intern!(py, "logging"))?.call_method0("NullHandler")?;
        logger(py, root)?.call_method1("addHandler", (silent,))?;
    }
    fork::watch();
    // Another module of this process may have set a logger of its own: then the records are that one's.
    if log::set_logger(&Bridge).is_ok() {
        refresh_log_levels(py)?;
    }
    Ok(())
}
