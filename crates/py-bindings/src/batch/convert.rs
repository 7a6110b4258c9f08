//! Rows between Python and the Rust client's batches.

use std::time::{SystemTime, UNIX_EPOCH};

use aerolane::operations::{self as ops, Operation as CoreOperation};
use aerolane::{Bin, Key as CoreKey, Record as CoreRecord, Value};
use aerolane_wire::message::{MessageHeader, MessageWriter, op};
use aerospike_core::CITRUSLEAF_EPOCH_UNIX_SECS;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;
use crate::key::{Key, UserKey};
use crate::operation::{Operation, Operations, What, checked_name};
use crate::record::Record;
use crate::value;

/// The key for the Rust client, with the digest as it was computed.
pub(super) fn key(key: &Key) -> CoreKey {
    let user_key = match key.user_key() {
        UserKey::None => None,
        UserKey::Int(number) => Some(Value::Int(number)),
        UserKey::Str(text) => Some(Value::String(text.to_owned())),
        UserKey::Blob(bytes) => Some(Value::Blob(bytes.to_vec())),
    };
    CoreKey::with_digest(key.namespace(), key.set(), user_key, *key.digest())
}

/// Bins as operations that write them; at least one.
pub(super) fn bins(bins: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<CoreOperation>> {
    let py = bins.py();
    let Ok(bins) = bins.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!("{what} must be a dict of bins, not {}", bins.get_type().name()?)));
    };
    if bins.is_empty() {
        return Err(errors::invalid_argument(py, format!("{what} has no bins")));
    }
    let mut operations = Vec::with_capacity(bins.len());
    let mut bytes = Vec::new();
    for (name, item) in bins.iter() {
        let name = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("a bin name is a str"))?;
        let name = checked_name(name)?;
        bytes.clear();
        let kind = value::encode_value(&item, &mut bytes)
            .map_err(|refused| refused.into_py(py, &format!("bin '{name}' of {what}")))?;
        operations.push(ops::put(&bin(py, name, kind, &bytes)?));
    }
    Ok(operations)
}

fn bin(py: Python<'_>, name: &str, kind: u8, bytes: &[u8]) -> PyResult<Bin> {
    let value = aerolane::command::value::decode(kind, bytes).map_err(|e| errors::malformed(py, &e))?;
    Ok(Bin::new(name.to_owned(), value))
}

/// Operations for the Rust client.
pub(super) fn operations(py: Python<'_>, operations: &Operations<'_>) -> PyResult<Vec<CoreOperation>> {
    operations.iter().map(|operation| one(py, operation)).collect()
}

fn one(py: Python<'_>, operation: &Operation) -> PyResult<CoreOperation> {
    let name = String::from_utf8_lossy(operation.name());
    Ok(match (operation.what(), operation.kind()) {
        (What::ReadAll, _) => ops::get(),
        (What::ReadHeader, _) => ops::get_header(),
        (What::Read, _) => ops::get_bin(name),
        (What::Write, op::TOUCH) => ops::touch(),
        (What::Write, op::DELETE) => ops::delete(),
        (What::Write, kind) => {
            let (particle_type, bytes) = operation.value();
            let bin = bin(py, &name, particle_type, bytes)?;
            match kind {
                op::INCR => ops::add(&bin),
                op::APPEND => ops::append(&bin),
                op::PREPEND => ops::prepend(&bin),
                _ => ops::put(&bin),
            }
        }
    })
}

/// A record of a row. `operate`: several results of one bin make a list.
pub(super) fn record(py: Python<'_>, key: Py<Key>, record: &CoreRecord, operate: bool) -> PyResult<Record> {
    let left = record.time_to_live().map_or(0, |left| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        (now + left.as_secs()).saturating_sub(CITRUSLEAF_EPOCH_UNIX_SECS)
    });
    let header = MessageHeader { generation: record.generation, record_ttl: left as u32, ..MessageHeader::default() };
    let mut body = Vec::with_capacity(128);
    let mut writer = MessageWriter::bare(&mut body, &header);
    for (name, value) in &record.bins {
        match value {
            Value::MultiResult(values) => values.iter().try_for_each(|value| add(py, &mut writer, name, value))?,
            value => add(py, &mut writer, name, value)?,
        }
    }
    writer.finish().map_err(|e| errors::malformed(py, &e))?;
    Record::new(key, &body, operate)
}

fn add(py: Python<'_>, writer: &mut MessageWriter<'_>, name: &str, value: &Value) -> PyResult<()> {
    use aerolane::command::value as wire;
    let refused = |text: String| errors::to_py(py, &aerolane::Error::bad_response(text));
    let kind = wire::particle_type_of(value).map_err(|e| refused(e.to_string()))?;
    let mut bytes = Vec::new();
    wire::encode(value, &mut bytes).map_err(|e| refused(e.to_string()))?;
    let write = |out: &mut Vec<u8>| {
        out.extend_from_slice(&bytes);
        Ok::<_, aerolane_wire::WireError>(())
    };
    writer.op_with(op::READ, kind, name.as_bytes(), write).map_err(|e| errors::malformed(py, &e))
}
