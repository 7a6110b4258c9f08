//! Functions of UDF modules: registering them, running them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aerolane::raw::RawClient;
use aerolane::raw::command::value as core_value;
use aerolane_wire::particle::particle_type;
use aerospike_core::{AdminPolicy as CoreAdmin, Key as CoreKey, Value, WritePolicy as CoreWrite};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::command::{Control, Executable, timed};
use crate::core::ClientCore;
use crate::key::{Key, UserKey};
use crate::policy::enums::Named;
use crate::policy::{AdminPolicy, WritePolicy};
use crate::query::enums::Language;
use crate::query::statement::{Function, function};
use crate::query::tasks::{RegisterTask, UdfRemoveTask};
use crate::{errors, value};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;
type Policy<'a, 'py> = Option<&'a Bound<'py, AdminPolicy>>;

/// The largest module that a server takes, in bytes, before it is encoded for the info command.
const MAX_MODULE: usize = 1024 * 1024;

fn check_language(language: Option<Object<'_, '_>>) -> PyResult<()> {
    language.map_or(Ok(()), |language| Language::from_python(language, "language").map(drop))
}

fn path(py: Python<'_>, server_path: &str) -> PyResult<String> {
    let bad = server_path.chars().find(|c| matches!(c, ';' | ':' | '=' | '/') || c.is_control());
    if let Some(bad) = bad {
        let text = format!("the name of a UDF module, {server_path:?}, has the character {bad:?} in it");
        return Err(errors::invalid_argument(py, text));
    }
    if server_path.is_empty() || server_path.len() > 127 {
        let size = server_path.len();
        return Err(errors::invalid_argument(py, format!("the name of a UDF module has 1 to 127 bytes, not {size}")));
    }
    Ok(server_path.to_owned())
}

fn module(py: Python<'_>, body: Vec<u8>) -> PyResult<Vec<u8>> {
    if body.is_empty() || body.len() > MAX_MODULE {
        let size = body.len();
        return Err(errors::invalid_argument(py, format!("a UDF module has 1 to {MAX_MODULE} bytes, not {size}")));
    }
    Ok(body)
}

fn registering(
    core: &Arc<ClientCore>,
    body: Vec<u8>,
    server_path: String,
    policy: Policy<'_, '_>,
) -> impl Executable + use<> {
    let (client, policy) = (RawClient::clone(&core.raw), AdminPolicy::in_force(policy));
    let core = Arc::clone(core);
    Control {
        future: async move { client.put_udf(&policy, &body, &server_path).await.map(|()| server_path) },
        convert: move |py: Python<'_>, module| Ok(Py::new(py, RegisterTask::of(core, module))?.into_any()),
    }
}

/// Registers a module from its source.
pub(crate) fn register(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    udf_body: Object<'_, '_>,
    server_path: &str,
    lang: Option<Object<'_, '_>>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let body = if let Ok(text) = udf_body.cast::<PyString>() {
        text.to_cow()?.as_bytes().to_vec()
    } else if let Ok(bytes) = udf_body.cast::<PyBytes>() {
        bytes.as_bytes().to_vec()
    } else {
        udf_body.extract().map_err(|_| match udf_body.get_type().name() {
            Ok(kind) => PyTypeError::new_err(format!("the source of a UDF module is a str or bytes, not {kind}")),
            Err(error) => error,
        })?
    };
    check_language(lang)?;
    Ok(registering(core, module(py, body)?, path(py, server_path)?, policy))
}

/// Registers a module from a file.
pub(crate) fn register_from_file(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    client_path: PathBuf,
    server_path: &str,
    lang: Option<Object<'_, '_>>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    check_language(lang)?;
    let server_path = path(py, server_path)?;
    let body = py.detach(|| std::fs::read(&client_path)).map_err(|error| match error.raw_os_error() {
        // As `open` raises it: `FileNotFoundError` and its like.
        Some(code) => PyOSError::new_err((code, error.to_string(), client_path.to_string_lossy().into_owned())),
        None => error.into(),
    })?;
    Ok(registering(core, module(py, body)?, server_path, policy))
}

/// The source of a module, from a file that a Python package has in it.
pub(crate) fn resource<'py>(package: &Bound<'py, PyAny>, resource: &str) -> PyResult<Bound<'py, PyAny>> {
    let files = package.py().import("importlib.resources")?.call_method1("files", (package,))?;
    files.call_method1("joinpath", (resource,))?.call_method0("read_bytes")
}

/// Removes a module.
pub(crate) fn remove(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    server_path: &str,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    let server_path = path(py, server_path)?;
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    let core = Arc::clone(core);
    Ok(Control {
        future: async move { client.remove_udf(&policy, &server_path).await },
        convert: move |py: Python<'_>, task| Ok(Py::new(py, UdfRemoveTask::new(core, task))?.into_any()),
    })
}

/// The modules that are registered.
pub(crate) fn list(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    policy: Policy<'_, '_>,
) -> PyResult<impl Executable + use<>> {
    Ok(listing(core, policy, FILE_NAME))
}

/// The modules that are registered, as sessions show them: a module's name is its `name`.
pub(crate) fn list_named(core: &Arc<ClientCore>) -> impl Executable + use<> {
    listing(core, None, "name")
}

/// What servers call the name of a module.
const FILE_NAME: &str = "filename";

fn listing(core: &Arc<ClientCore>, policy: Policy<'_, '_>, name: &'static str) -> impl Executable + use<> {
    let (client, policy) = (RawClient::clone(&core.raw).asynchronous(), AdminPolicy::in_force(policy));
    Control {
        future: async move { list_of(&client, &policy, name).await },
        convert: |py: Python<'_>, list: Vec<BTreeMap<String, String>>| Ok(list.into_pyobject(py)?.into_any().unbind()),
    }
}

async fn list_of(
    client: &aerolane::Client,
    policy: &CoreAdmin,
    name: &str,
) -> aerolane::Result<Vec<BTreeMap<String, String>>> {
    const COMMAND: &str = "udf-list";
    let answers = client.info(policy, &[COMMAND]).await?;
    let answer = answers.get(COMMAND).map_or("", String::as_str);
    if answer.starts_with("ERROR") || answer.starts_with("FAIL") {
        return Err(aerolane::Error::bad_response(format!("the list of UDF modules was refused: {answer}")));
    }
    let modules = answer.split(';').filter(|module| !module.is_empty());
    let pairs = |module: &str| {
        let pairs = module.split(',').filter_map(|pair| pair.split_once('='));
        let called = |theirs: &str| if theirs == FILE_NAME { name.to_owned() } else { theirs.to_owned() };
        pairs.map(|(name, value)| (called(name), value.to_owned())).collect()
    };
    Ok(modules.map(pairs).collect())
}

/// The key as a Rust client takes it.
fn core_key(key: &Key) -> CoreKey {
    let user_key = match key.user_key() {
        UserKey::None => None,
        UserKey::Int(v) => Some(Value::Int(v)),
        UserKey::Str(v) => Some(Value::String(v.to_owned())),
        UserKey::Blob(v) => Some(Value::Blob(v.to_vec())),
    };
    CoreKey::with_digest(key.namespace(), key.set(), user_key, *key.digest())
}

/// Applies a function to one record.
pub(crate) fn execute(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    key: &Bound<'_, Key>,
    server_path: &str,
    function_name: &str,
    args: Option<Object<'_, '_>>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Executable + use<>> {
    let call = function(py, server_path, function_name, args)?;
    let about = key.clone().unbind();
    let raised = move |py: Python<'_>, returned: aerolane::Result<Py<PyAny>>| {
        returned.map_err(|error| errors::of_record(py, &error, &about))
    };
    applying(py, core, key.get(), call, WritePolicy::in_force(policy), raised)
}

/// Applies a function to one record; `made` makes something of what it returns, or of its failure.
pub(crate) fn applying<F>(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    key: &Key,
    call: Function,
    policy: Arc<CoreWrite>,
    made: F,
) -> PyResult<impl Executable + use<F>>
where
    F: FnOnce(Python<'_>, aerolane::Result<Py<PyAny>>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    let args = match core_value::decode(particle_type::LIST, &call.arguments) {
        Ok(Value::List(args)) => args,
        Ok(_) => Vec::new(),
        Err(error) => return Err(errors::invalid_argument(py, format!("the arguments of the UDF: {error}"))),
    };
    let key = core_key(key);
    let client = RawClient::clone(&core.raw).asynchronous();
    Ok(Control {
        future: async move { Ok(timed(client.execute_udf(&policy, &key, &call.package, &call.name, &args)).await) },
        convert: move |py: Python<'_>, returned: aerolane::Result<Option<Value>>| {
            let value = match returned {
                Err(error) => Err(error),
                Ok(None) => Ok(py.None()),
                Ok(Some(value)) => {
                    let refused =
                        |e| errors::to_py(py, &aerolane::Error::bad_response(format!("the UDF's result: {e}")));
                    let mut bytes = Vec::new();
                    let kind = core_value::particle_type_of(&value).map_err(refused)?;
                    core_value::encode(&value, &mut bytes).map_err(refused)?;
                    Ok(value::decode(py, kind, &bytes)?)
                }
            };
            made(py, value)
        },
    })
}
