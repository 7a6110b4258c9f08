//! Lua states: what they offer, what they are not allowed, and how errors read.
//!
//! A state belongs to one thread and one module, and is kept for the next call. Scripts have no access to files, the
//! system or compiled code; time and memory of a call are limited.

use super::registry::{Module, Registry};
use super::value::class_of;
use super::{budget, bytes, geojson, list, map, pattern, record, stream};
use crate::clock::{EPOCH_2010, Now};
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// How much processor time a call may take: what the machine does meanwhile beside it does not count.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// Memory of one state.
const MEMORY_LIMIT: usize = 64 * 1024 * 1024;
/// What an error says when that is over.
pub(super) const TOO_LATE: &str = "the script takes too long";
/// Memory with which a state is kept for the next call.
const KEEP_MEMORY: usize = 8 * 1024 * 1024;
/// How many instructions pass between two looks at the clock.
const INSTRUCTIONS: u32 = 10_000;
/// States that a thread keeps; the one not used for longest goes first.
const KEEP_STATES: usize = 16;
/// Where the server keeps modules; errors of scripts name it.
const DIRECTORY: &str = "/opt/aerospike/usr/udf/lua/";

thread_local! {
    /// In processor time of the thread.
    static DEADLINE: Cell<Option<Duration>> = const { Cell::new(None) };
    /// When the call began that this thread carries out.
    static BEGUN: Cell<Option<Now>> = const { Cell::new(None) };
    static STATES: RefCell<Vec<State>> = const { RefCell::new(Vec::new()) };
}

/// Why a call has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is no such module, or it cannot be loaded.
    NoModule,
    /// The module has no such function.
    NoFunction,
    /// The script has failed, with Lua's words.
    Script(String),
}

struct State {
    registry: u64,
    version: u64,
    package: Vec<u8>,
    lua: Lua,
}

/// The time of a call begins now. Streams call this for every record, so that a long one may take long.
pub(super) fn start_clock() {
    DEADLINE.set(Some(processor_time() + TIME_LIMIT));
}

pub(super) fn is_late() -> bool {
    DEADLINE.get().is_some_and(|deadline| processor_time() > deadline)
}

/// Of this thread, since some time.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Compiles a module; the error is a line and a message.
pub(super) fn compile(name: &str, source: &[u8]) -> Result<(), (u32, String)> {
    let lua = new_lua().map_err(|e| (0, e.to_string()))?;
    let chunk = lua.load(source).set_name(format!("@{name}")).set_mode(ChunkMode::Text);
    let Err(error) = chunk.into_function() else { return Ok(()) };
    let text = match &error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    };
    // Lua writes `<name>:<line>: <message>`; a long name is shortened, but has no such pattern in it.
    let mut parts = text.splitn(3, ':');
    match (parts.next(), parts.next().and_then(|line| line.parse().ok()), parts.next()) {
        (Some(_), Some(line), Some(message)) => Err((line, message.trim_start().to_owned())),
        _ => Err((0, text)),
    }
}

fn new_lua() -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8 | StdLib::COROUTINE;
    let lua = Lua::new_with(libraries, LuaOptions::default())?;
    lua.set_memory_limit(MEMORY_LIMIT)?;
    Ok(lua)
}

/// Calls a function of a module, with the arguments that `run` makes, and gives `run`'s result.
pub(super) fn with_function<R>(
    registry: &Arc<Registry>,
    package: &[u8],
    function: &[u8],
    now: Now,
    run: impl FnOnce(&Lua, Function) -> mlua::Result<R>,
) -> Result<R, Failure> {
    start_clock();
    BEGUN.set(Some(now));
    let version = registry.version();
    let state = if let Some(state) = take_state(registry, version, package) {
        state
    } else {
        let module = registry.module(package).ok_or(Failure::NoModule)?;
        let lua = load_module(registry, &module).map_err(|_| Failure::NoModule)?;
        State { registry: registry.id, version, package: package.to_vec(), lua }
    };
    budget::set_running(Some(&state.lua));
    let name = state.lua.create_string(function).map_err(|e| Failure::Script(message(&e)))?;
    let outcome = match state.lua.globals().get::<Value>(name) {
        Ok(Value::Function(function)) => run(&state.lua, function).map_err(|e| Failure::Script(message(&e))),
        _ => Err(Failure::NoFunction),
    };
    budget::set_running(None);
    // A state that ran out of time or memory may be in any condition.
    if !is_late() && outcome.as_ref().err() != Some(&Failure::Script("not enough memory".to_owned())) {
        keep(state);
    }
    DEADLINE.set(None);
    outcome
}

/// Keeps a state for the next call, unless it holds much: a script may have put what it likes into globals.
fn keep(state: State) {
    let is_large = || state.lua.used_memory() > KEEP_MEMORY || budget::used() > KEEP_MEMORY;
    if is_large() {
        let collected = state.lua.gc_collect();
        if collected.is_err() || is_large() {
            return;
        }
    }
    let _ = state.lua.gc_step();
    STATES.with_borrow_mut(|states| {
        if states.len() >= KEEP_STATES {
            states.remove(0);
        }
        states.push(state);
    });
}

/// The state of this thread for a module, taken out so that nobody else uses it. States of modules that have changed go.
fn take_state(registry: &Registry, version: u64, package: &[u8]) -> Option<State> {
    STATES.with_borrow_mut(|states| {
        states.retain(|s| s.registry != registry.id || s.version == version);
        let place = states.iter().position(|s| s.registry == registry.id && s.package == package)?;
        Some(states.remove(place))
    })
}

/// A state in which a module has run.
fn load_module(registry: &Arc<Registry>, module: &Module) -> mlua::Result<Lua> {
    let lua = new_lua()?;
    let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS);
    lua.set_global_hook(triggers, |_, _| {
        if is_late() { Err(mlua::Error::RuntimeError(TOO_LATE.to_owned())) } else { Ok(VmState::Continue) }
    })?;
    let globals = lua.globals();
    globals.set("list", list::api(&lua)?)?;
    globals.set("map", map::api(&lua)?)?;
    globals.set("bytes", bytes::api(&lua)?)?;
    globals.set("geojson", geojson::api(&lua)?)?;
    globals.set("record", record::api(&lua)?)?;
    let aerospike = lua.create_table()?;
    record::aerospike(&lua, &aerospike)?;
    aerospike.set("get_current_time", lua.create_function(|_, _: Value| unix_ms())?)?;
    globals.set("aerospike", aerospike)?;
    globals.set("os", clocks(&lua)?)?;
    globals.set("require", require(&lua, registry)?)?;
    let log_to = Arc::clone(registry);
    let log = lua.create_function(move |_, (level, text): (String, LuaString)| {
        log_to.write_log(&level, &text.to_string_lossy());
        Ok(())
    })?;
    let late = lua.create_function(|_, ()| Ok(is_late()))?;
    globals.set("aerolane_class", lua.create_function(|_, value: Value| Ok(class_of(&value)))?)?;
    lua.load(include_str!("prelude.lua")).set_name("=prelude.lua").call::<()>((late, log, pattern::api(&lua)?))?;
    stream::install(&lua)?;
    run_module(&lua, module)?;
    Ok(lua)
}

fn run_module(lua: &Lua, module: &Module) -> mlua::Result<Value> {
    let name = format!("@{DIRECTORY}{}", module.name);
    lua.load(&module.source[..]).set_name(name).set_mode(ChunkMode::Text).call(())
}

/// Loads other modules of the cluster, each once.
fn require(lua: &Lua, registry: &Arc<Registry>) -> mlua::Result<Function> {
    let loaded = lua.create_table()?;
    let registry = Arc::clone(registry);
    lua.create_function(move |lua, name: LuaString| {
        let found: Value = loaded.get(&name)?;
        if !found.is_nil() {
            return Ok(found);
        }
        let Some(module) = registry.module(&name.as_bytes()) else {
            let text = format!("module '{}' not found", name.to_string_lossy());
            return Err(mlua::Error::RuntimeError(text));
        };
        // What requires itself gets this.
        loaded.set(&name, true)?;
        let value = match run_module(lua, &module)? {
            Value::Nil => Value::Boolean(true),
            value => value,
        };
        loaded.set(name, &value)?;
        Ok(value)
    })
}

/// The harmless part of Lua's `os`.
fn clocks(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("time", lua.create_function(|_, ()| Ok(unix_ms()? / 1000))?)?;
    let started = time()?.instant;
    let passed = move || Ok(time()?.instant.saturating_duration_since(started));
    table.set("clock", lua.create_function(move |_, ()| passed().map(|time| time.as_secs_f64()))?)?;
    table.set("difftime", lua.create_function(|_, (a, b): (f64, f64)| Ok(a - b))?)?;
    Ok(table)
}

/// What time it is for the call that this thread carries out.
fn time() -> mlua::Result<Now> {
    let begun = BEGUN.get().ok_or_else(|| mlua::Error::RuntimeError("no call".to_owned()))?;
    Ok(begun.after_work())
}

fn unix_ms() -> mlua::Result<i64> {
    Ok((time()?.system_ms + EPOCH_2010 * 1000) as i64)
}

/// The text of an error: with file and line, without a traceback.
pub(super) fn message(error: &mlua::Error) -> String {
    match error {
        mlua::Error::RuntimeError(text) => {
            let text = text.split("\nstack traceback:").next().unwrap_or_default();
            // What Lua cannot show: an error that is no string.
            if text == "<unprintable error>" { "result value type unexpected".to_owned() } else { text.to_owned() }
        }
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::MemoryError(_) => "not enough memory".to_owned(),
        mlua::Error::CallbackError { traceback, cause } => match &**cause {
            // An error of a Lua function that a function of ours has called.
            mlua::Error::RuntimeError(text) if text.contains("\nstack traceback:") => message(cause),
            mlua::Error::CallbackError { .. } | mlua::Error::MemoryError(_) => message(cause),
            mlua::Error::RuntimeError(text) if text == "not enough memory" => text.clone(),
            _ => format!("{}{}", location(traceback), message(cause)),
        },
        other => other.to_string(),
    }
}

/// `<file>:<line>: ` of the innermost Lua function in a traceback.
fn location(traceback: &str) -> &str {
    let lines = traceback.lines().map(str::trim_start).filter(|line| !line.starts_with("[C]"));
    let mut places = lines.filter_map(|line| line.find(": in ").map(|end| &line[..end + 2]));
    places.next().unwrap_or_default()
}
