//! Requests, from Python objects straight into wire bytes.

use aerolane::command::encode::{read_header, write_header};
use aerolane_wire::WireError;
use aerolane_wire::message::{MessageWriter, info1, info2, op};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;
use crate::key::Key;
use crate::value;

/// Reads all bins of a record.
pub(crate) fn get(policy: &aerospike_core::ReadPolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> PyResult<()> {
    let header = read_header(&policy.base_policy, info1::READ | info1::GET_ALL, 0, timeout_ms);
    let mut writer = MessageWriter::frame(out, &header);
    let (fields, count) = key.fields();
    writer.encoded_fields(fields, count);
    writer.finish().map_err(|e| Python::attach(|py| errors::malformed(py, &e)))
}

/// Writes bins.
pub(crate) fn put(
    policy: &aerospike_core::WritePolicy,
    key: &Key,
    bins: &Bound<'_, PyDict>,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
    let mut writer = MessageWriter::frame(out, &header);
    let (fields, count) = key.fields();
    writer.encoded_fields(fields, count);
    for (name, item) in bins.iter() {
        let name = name.cast::<PyString>()?.to_cow()?;
        let mut scratch = Vec::new();
        let kind = value::encode(&item, &mut scratch)?;
        writer
            .op_with(op::WRITE, kind, name.as_bytes(), |out| {
                out.extend_from_slice(&scratch);
                Ok::<(), WireError>(())
            })
            .map_err(|e| errors::malformed(bins.py(), &e))?;
    }
    writer.finish().map_err(|e| errors::malformed(bins.py(), &e))
}
