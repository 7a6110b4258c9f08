//! Requests, from Python objects straight into wire bytes.
//!
//! Each function appends one whole frame to a buffer. If anything is wrong with the arguments, it raises and the buffer
//! is as it was. Flags and fields are those of [`aerolane::raw::command::encode`].

use aerolane::Error;
use aerolane::raw::RawOps;
use aerolane::raw::command::encode::{
    OperateHeader, WriteKind, expression, operate_header, read_header, too_big, write_header,
};
use aerolane::raw::command::{check, compress};
use aerolane_wire::WireError;
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::particle_type;
use aerospike_core::{BasePolicy, ReadPolicy, WritePolicy};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors;
use crate::key::Key;
use crate::operation::{BaseOperation, OperationKind, Operations, checked_name};
use crate::value::{self, Refused};

/// Reads bins. `None`: all of them; an empty sequence: none, only generation and expiration; else those named.
///
/// Raises `TypeError` if the names are no sequence of str, and `InvalidArgumentError` for a name beyond 15 bytes or
/// too many of them.
pub(crate) fn get(
    policy: &ReadPolicy,
    key: &Key,
    bins: Option<&Bound<'_, PyAny>>,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let base = &policy.base_policy;
    let names = bins.map(bin_names).transpose()?;
    let how = match names.as_deref() {
        None => info1::READ | info1::GET_ALL,
        Some([]) => info1::READ | info1::NO_BIN_DATA,
        Some(_) => info1::READ,
    };
    message(out, base, &read_header(base, how, 0, timeout_ms), (key, false), |writer| match names.as_deref() {
        None => Ok(()),
        Some([]) => bare_op(writer, op::READ, ""),
        Some(names) => names.iter().try_for_each(|name| bare_op(writer, op::READ, checked_name(name)?)),
    })
}

/// The names of a projection.
pub(crate) fn bin_names<'py>(names: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
    let py = names.py();
    if names.is_instance_of::<PyString>() || names.is_instance_of::<PyBytes>() {
        let kind = names.get_type().name()?;
        return Err(PyTypeError::new_err(format!("bins is a sequence of bin names, not {kind}")));
    }
    let mut list = Vec::new();
    for name in names.try_iter()? {
        list.push(name?.cast_into::<PyString>().map_err(|e| wrong_name(&e.into_inner()))?);
        check::count(list.len(), "bins").map_err(|e| errors::to_py(py, &e))?;
    }
    Ok(list)
}

/// Asks whether the record exists.
pub(crate) fn exists(policy: &ReadPolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> PyResult<()> {
    let base = &policy.base_policy;
    let header = read_header(base, info1::READ | info1::NO_BIN_DATA, 0, timeout_ms);
    message(out, base, &header, (key, false), |_| Ok(()))
}

/// Writes to bins. `bins` is a dict or another mapping of str to values, with at least one pair; a `put` of `None`
/// removes the bin.
///
/// Raises `TypeError`, `OverflowError` and `InvalidArgumentError` for what cannot be sent, naming the bin and the place
/// in its value; the last for no bins, too many, or a name beyond 15 bytes, too.
pub(crate) fn write(
    policy: &WritePolicy,
    key: &Key,
    kind: WriteKind,
    bins: &Bound<'_, PyAny>,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let py = bins.py();
    let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
    message(out, &policy.base_policy, &header, (key, policy.send_key), |writer| {
        let count = value::each_pair(bins, |name, value| {
            let name = name.cast::<PyString>().map_err(|_| Failed(wrong_name(name)))?;
            bin_op(writer, kind.op(), name, value).map_err(Failed)
        });
        let count = count.map_err(|Failed(error)| error)?;
        if count == 0 {
            return Err(errors::invalid_argument(py, "there are no bins to write"));
        }
        check::count(count, "bins").map_err(|e| errors::to_py(py, &e))
    })
}

/// Deletes the record.
pub(crate) fn delete(policy: &WritePolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> PyResult<()> {
    let header = write_header(policy, 0, info2::WRITE | info2::DELETE, false, timeout_ms);
    message(out, &policy.base_policy, &header, (key, false), |_| Ok(()))
}

/// Resets the TTL and increments the generation.
pub(crate) fn touch(policy: &WritePolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> PyResult<()> {
    let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
    message(out, &policy.base_policy, &header, (key, policy.send_key), |writer| bare_op(writer, op::TOUCH, ""))
}

/// Several operations on one record.
pub(crate) fn operate(
    policy: &WritePolicy,
    key: &Key,
    operations: &Operations<'_>,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let mut asked = OperateHeader::default();
    for operation in operations.iter() {
        match operation.what() {
            OperationKind::ReadAll => asked.read(info1::GET_ALL),
            OperationKind::ReadHeader => asked.read(info1::NO_BIN_DATA),
            OperationKind::Read => asked.read(0),
            OperationKind::Write => asked.writes = true,
        }
        asked.all_answers |= operation.answers();
    }
    let header = operate_header(policy, asked, timeout_ms);
    message(out, &policy.base_policy, &header, (key, policy.send_key && asked.writes), |writer| {
        operations.iter().try_for_each(|operation| encoded_op(writer, operation))
    })
}

/// Operations that have been encoded, on one record.
pub(crate) fn encoded(
    policy: &BasePolicy,
    header: &MessageHeader,
    key: (&Key, bool),
    ops: &RawOps,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    message(out, policy, header, key, |writer| {
        ops.write(writer);
        Ok(())
    })
}

/// Appends a frame with this header and key (and its user key, if it is to be sent), whose operations `ops` writes.
/// Takes everything back on an error, compresses if the policy says so.
#[inline]
fn message(
    out: &mut Vec<u8>,
    policy: &BasePolicy,
    header: &MessageHeader,
    (key, send_key): (&Key, bool),
    ops: impl FnOnce(&mut MessageWriter<'_>) -> PyResult<()>,
) -> PyResult<()> {
    let start = out.len();
    let mut writer = MessageWriter::frame(out, header);
    key_fields(&mut writer, key, send_key);
    let written = filter_field(&mut writer, policy)
        .and_then(|()| ops(&mut writer))
        .and_then(|()| writer.finish().map_err(too_large));
    match written {
        Ok(()) if policy.use_compression => compress::request(out, start, policy.compression_threshold),
        Ok(()) => {}
        Err(_) => out.truncate(start),
    }
    written
}

#[inline]
fn key_fields(writer: &mut MessageWriter<'_>, key: &Key, send_key: bool) {
    let (fields, count) = if send_key { key.fields_with_user_key() } else { key.fields() };
    writer.encoded_fields(fields, count);
}

#[inline]
fn filter_field(writer: &mut MessageWriter<'_>, policy: &BasePolicy) -> PyResult<()> {
    match &policy.filter_expression {
        None => Ok(()),
        Some(filter) => writer.field_with(field::FILTER, |out| expression(filter, out)).map_err(|e| refused(&e)),
    }
}

/// An operation without a value.
#[inline]
fn bare_op(writer: &mut MessageWriter<'_>, kind: u8, name: &str) -> PyResult<()> {
    writer.op_with(kind, particle_type::NIL, name.as_bytes(), |_| Ok(())).map_err(too_large)
}

/// An operation whose value has been encoded.
fn encoded_op(writer: &mut MessageWriter<'_>, operation: &BaseOperation) -> PyResult<()> {
    let (particle_type, value) = operation.value();
    let write = |out: &mut Vec<u8>| {
        out.extend_from_slice(value);
        Ok(())
    };
    writer.op_with(operation.kind(), particle_type, operation.name(), write).map_err(too_large)
}

/// An operation with a bin's value.
#[inline]
fn bin_op(
    writer: &mut MessageWriter<'_>,
    kind: u8,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let name = checked_name(name)?;
    writer
        .op_with(kind, particle_type::NIL, name.as_bytes(), bin_value(name, value))
        .map_err(|refused| refused.into_py(value.py(), &format!("bin '{name}'")))
}

/// Writes the value of an operation on the bin `name`, and its particle type in front of that.
#[inline]
pub(crate) fn bin_value<'a>(
    name: &'a str,
    value: &'a Bound<'_, PyAny>,
) -> impl FnOnce(&mut Vec<u8>) -> Result<(), Refused> {
    /// Behind the particle type: flags, length of the name.
    const BEHIND_TYPE: usize = 2;
    move |out| {
        let at = out.len() - name.len() - BEHIND_TYPE - 1;
        // The value is looked at once; only then its type is known.
        out[at] = value::encode_value(value, out)?;
        Ok(())
    }
}

/// An exception, where `From<Refused>` is asked for.
pub(crate) struct Failed(pub(crate) PyErr);

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self(Python::attach(|py| refused.into_py(py, "bins")))
    }
}

#[cold]
pub(crate) fn wrong_name(name: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a bin name is a str, not {}", name.get_type()))
}

/// What the wire crate refuses here is always a matter of size.
#[cold]
fn too_large(error: WireError) -> PyErr {
    refused(&too_big(error))
}

#[cold]
fn refused(error: &Error) -> PyErr {
    Python::attach(|py| errors::to_py(py, error))
}
