//! The modules of a cluster, and the info commands about them.
//!
//! Texts and hashes are those of the golden group `udf`. A module's hash is the SHA-1 of the JSON text under which the
//! server keeps it.

use crate::command_line::{CommandLine, ParameterError};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use parking_lot::{Mutex, RwLock};
use sha1::{Digest, Sha1};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest file name.
const MAX_NAME: usize = 127;
/// Largest module in bytes of Lua, as in the server.
const MAX_SOURCE: usize = 1024 * 1024;
/// Most modules.
const MAX_MODULES: usize = 1024;
/// Lines of the log that are kept.
const MAX_LOG: usize = 1000;
/// Longest line of the log.
const MAX_LOG_LINE: usize = 1024;

/// One module.
#[derive(Debug)]
pub(super) struct Module {
    /// File name, ends in `.lua`.
    pub(super) name: String,
    pub(super) source: Vec<u8>,
    /// The source as it came.
    content: String,
    hash: String,
}

/// All modules of a cluster, in the order they were first put.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Tells the registries of several clusters apart.
    pub(super) id: u64,
    modules: RwLock<Vec<Arc<Module>>>,
    version: AtomicU64,
    log: Mutex<VecDeque<String>>,
}

impl Default for Registry {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            modules: RwLock::default(),
            version: AtomicU64::new(0),
            log: Mutex::default(),
        }
    }
}

impl Registry {
    /// Changes with every module that comes or goes.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The module of a package: its file name without `.lua`.
    pub(super) fn module(&self, package: &[u8]) -> Option<Arc<Module>> {
        let modules = self.modules.read();
        modules.iter().find(|m| m.name.strip_suffix(".lua").is_some_and(|name| name.as_bytes() == package)).cloned()
    }

    /// Keeps a line that a script has logged.
    pub(super) fn write_log(&self, level: &str, text: &str) {
        let mut line = format!("{level}: {text}");
        if line.len() > MAX_LOG_LINE {
            let end = (0..=MAX_LOG_LINE).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(end);
        }
        let mut log = self.log.lock();
        if log.len() >= MAX_LOG {
            log.pop_front();
        }
        log.push_back(line);
    }

    /// The last lines that scripts have logged, oldest first.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().iter().cloned().collect()
    }

    fn put(&self, name: &str, content: &str, source: Vec<u8>) -> Result<(), &'static str> {
        let mut modules = self.modules.write();
        let json = format!(r#"{{"content64": "{content}", "type": "LUA", "name": {}}}"#, serde_json::Value::from(name));
        let mut hash = String::new();
        for byte in Sha1::digest(json.as_bytes()) {
            let _ = write!(hash, "{byte:02x}");
        }
        let module = Arc::new(Module { name: name.to_owned(), source, content: content.to_owned(), hash });
        match modules.iter().position(|m| m.name == name) {
            Some(old) => modules[old] = module,
            None if modules.len() >= MAX_MODULES => return Err("error=too_many_modules"),
            None => modules.push(module),
        }
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

fn file_name<'a>(command: &CommandLine<'a>) -> Option<&'a str> {
    command.get_bounded("filename", MAX_NAME).ok()
}

/// `udf-put:filename=..;content=<base64>;content-len=..[;udf-type=LUA]`
pub(crate) fn put(registry: &Registry, command: &CommandLine<'_>) -> String {
    match checked_module(command) {
        Ok((name, content, source)) => match super::lua::compile(name, &source) {
            Ok(()) => registry.put(name, content, source).map_or_else(str::to_owned, |()| "ok".to_owned()),
            Err((line, message)) => {
                format!("error=compile_error;file={name};line={line};message={}", BASE64.encode(message))
            }
        },
        Err(answer) => answer.to_owned(),
    }
}

/// In the server's order.
fn checked_module<'a>(command: &CommandLine<'a>) -> Result<(&'a str, &'a str, Vec<u8>), &'static str> {
    let name = file_name(command).filter(|name| name.strip_suffix(".lua").is_some()).ok_or("error=invalid_filename")?;
    let content = command.get("content").map_err(|_| "error=invalid_content")?;
    let announced = command.get("content-len").ok().and_then(|len| len.parse::<usize>().ok());
    if announced != Some(content.len()) {
        return Err("error=invalid_content_len");
    }
    match command.get("udf-type") {
        Ok("LUA") | Err(ParameterError::Missing | ParameterError::Empty) => {}
        _ => return Err("error=invalid_udf_type"),
    }
    let source = BASE64.decode(content).map_err(|_| "error=invalid_base64_content")?;
    if source.len() > MAX_SOURCE {
        return Err("error=invalid_content_len");
    }
    Ok((name, content, source))
}

/// `udf-get:filename=..`
pub(crate) fn get(registry: &Registry, command: &CommandLine<'_>) -> String {
    let Some(name) = file_name(command) else { return "error=invalid_filename".to_owned() };
    let modules = registry.modules.read();
    let found = modules.iter().find(|m| m.name == name);
    found.map_or_else(|| "error=not_found".to_owned(), |m| format!("type=LUA;content={};", m.content))
}

/// `udf-remove:filename=..`; "ok" also for what is not there.
pub(crate) fn remove(registry: &Registry, command: &CommandLine<'_>) -> String {
    let Some(name) = file_name(command) else { return "error=invalid_filename".to_owned() };
    registry.modules.write().retain(|m| m.name != name);
    registry.version.fetch_add(1, Ordering::Release);
    "ok".to_owned()
}

/// `udf-list`
pub(crate) fn list(registry: &Registry) -> String {
    let row = |m: &Arc<Module>| format!("filename={},hash={},type=LUA;", m.name, m.hash);
    registry.modules.read().iter().map(row).collect()
}
