//! A configuration file as this process knows it: read at most once a second, whatever number of clusters follow it.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use aerolane::sync::Mutex;
use aerolane_config::{Config, MAX_BYTES, Problem, parse};
use pyo3::prelude::*;

use super::LOG;
use crate::behavior;
use crate::fork::PerProcess;

/// Between two looks at a file. Less than the second after which clusters ask, so that each second has its look.
const PAUSE: Duration = Duration::from_millis(800);

/// A file of one path.
pub(super) struct File {
    pub(super) path: PathBuf,
    /// Of the cluster that looks: they take turns, so that one helper thread does for all.
    pub(super) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// The version whose behaviors have been applied.
    applied: AtomicU64,
}

#[derive(Default)]
struct State {
    looked: Option<Instant>,
    stamp: Option<Stamp>,
    loaded: Option<Arc<Loaded>>,
    versions: u64,
}

/// What differs when a file has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
}

/// What was read.
pub(super) struct Loaded {
    pub(super) config: Config,
    pub(super) version: u64,
    text: String,
}

/// The files of this process.
static FILES: PerProcess<Mutex<Vec<Arc<File>>>> = PerProcess::new();

impl File {
    /// The file of this path.
    pub(super) fn at(path: PathBuf) -> Arc<Self> {
        let files = FILES.current();
        let mut files = files.lock();
        // Those that no cluster follows any more.
        files.retain(|file| Arc::strong_count(file) > 1 || file.path == path);
        if let Some(file) = files.iter().find(|file| file.path == path) {
            return Arc::clone(file);
        }
        let file = Arc::new(Self {
            path,
            turn: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            applied: AtomicU64::new(0),
        });
        files.push(Arc::clone(&file));
        file
    }

    /// What was read last without an error.
    pub(super) fn loaded(&self) -> Option<Arc<Loaded>> {
        self.state.lock().loaded.clone()
    }

    /// Reads the file. What is the same text is the same version.
    ///
    /// # Errors
    /// Why nothing of it can be used.
    pub(super) fn load(&self) -> Result<Arc<Loaded>, String> {
        let mut state = self.state.lock();
        state.looked = Some(Instant::now());
        state.stamp = self.stamp();
        self.read(&mut state)
    }

    /// Looks whether the file has changed, and reads it then. An error is logged, and what was read before stays.
    pub(super) fn look(&self) -> Option<Arc<Loaded>> {
        let mut state = self.state.lock();
        let now = Instant::now();
        if state.looked.is_some_and(|looked| now.duration_since(looked) < PAUSE) {
            return state.loaded.clone();
        }
        state.looked = Some(now);
        let stamp = self.stamp();
        // While an editor replaces a file there may be none.
        if stamp.is_none() || stamp == state.stamp {
            return state.loaded.clone();
        }
        state.stamp = stamp;
        let before = state.versions;
        match self.read(&mut state) {
            Ok(loaded) if loaded.version > before => {
                log::info!(target: LOG, "{}: read again", self.path.display());
                self.log_problems(&loaded);
            }
            Ok(_) => {}
            Err(text) => {
                log::warn!(target: LOG, "{}; what was read before stays in force", self.describe(&[text]));
            }
        }
        state.loaded.clone()
    }

    fn stamp(&self) -> Option<Stamp> {
        let data = std::fs::metadata(&self.path).ok()?;
        Some(Stamp { modified: data.modified().ok(), size: data.len() })
    }

    fn read(&self, state: &mut State) -> Result<Arc<Loaded>, String> {
        let text = read(&self.path)?;
        if let Some(loaded) = state.loaded.as_ref().filter(|loaded| loaded.text == text) {
            return Ok(Arc::clone(loaded));
        }
        let config = parse(&text).map_err(|problem| problem.to_string())?;
        state.versions += 1;
        let loaded = Arc::new(Loaded { config, version: state.versions, text });
        state.loaded = Some(Arc::clone(&loaded));
        Ok(loaded)
    }

    /// Applies the behaviors of what was read last, unless that has been done.
    pub(super) fn apply_behaviors(&self, py: Python<'_>) -> PyResult<()> {
        // Somebody else may apply an earlier version meanwhile: who ends last has seen that there is no later one.
        while let Some(loaded) = self.loaded() {
            if self.applied.load(Ordering::Acquire) == loaded.version {
                break;
            }
            let (ordered, _) = loaded.config.behaviors_in_order();
            for problem in behavior::problems(py, &ordered)? {
                log::warn!(target: LOG, "{}", self.describe(&[problem.to_string()]));
            }
            let applied = behavior::apply(py, &ordered)?;
            self.applied.store(loaded.version, Ordering::Release);
            if !applied.is_empty() {
                log::info!(target: LOG, "{}: behaviors {} are in force", self.path.display(), applied.join(", "));
            }
        }
        Ok(())
    }

    /// What is wrong with the file, one thing a line.
    pub(super) fn describe(&self, problems: &[String]) -> String {
        format!("configuration file {}: {}", self.path.display(), problems.join("; "))
    }

    pub(super) fn log_problems(&self, loaded: &Loaded) {
        let circle = loaded.config.behaviors_in_order().1;
        for problem in loaded.config.problems.iter().chain(&circle) {
            log::warn!(target: LOG, "{}; this is not used", self.describe(&[problem.to_string()]));
        }
    }
}

/// The problems of behaviors that only the process as a whole can see, and parents that lead in a circle.
pub(super) fn behavior_problems(py: Python<'_>, config: &Config) -> PyResult<Vec<Problem>> {
    let (ordered, mut problems) = config.behaviors_in_order();
    problems.extend(behavior::problems(py, &ordered)?);
    Ok(problems)
}

/// The text of a file.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(path: &std::path::Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    // Nobody should wait for what a pipe may give.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err("cannot be read: it is not a file".into());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        Problem { line, key: String::new(), message: "the text is not UTF-8".into(), harmless: false }.to_string()
    })
}
