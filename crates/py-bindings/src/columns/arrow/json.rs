//! Values as JSON, without loss: what JSON lacks is an object with one name that begins with `$`, as the command line
//! writes it.

use aerolane_wire::WireResult;
use aerolane_wire::msgpack::Reader;
use base64::prelude::{BASE64_STANDARD, Engine};

use super::value::Value;

/// How deep collections may be nested: as deep as msgpack may be.
const DEEPEST: usize = 512;

/// Appends a value; false: it has no JSON. What was appended then has to be taken back. The value is read to its end.
pub(super) fn write<'a>(
    out: &mut Vec<u8>,
    value: &Value<'a>,
    reader: &mut Reader<'a>,
    depth: usize,
) -> WireResult<bool> {
    if depth > DEEPEST {
        value.pass(reader)?;
        return Ok(false);
    }
    match *value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Float(value) if value.is_finite() => out.extend_from_slice(format!("{value:?}").as_bytes()),
        Value::Float(value) => {
            let name = if value.is_nan() {
                "nan"
            } else if value > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            out.extend_from_slice(format!("{{\"$float\":\"{name}\"}}").as_bytes());
        }
        Value::Text(text) => return Ok(string(out, text)),
        Value::GeoJson(text) => {
            if std::str::from_utf8(text).is_err() {
                return Ok(false);
            }
            out.extend_from_slice(b"{\"$geojson\":");
            out.extend_from_slice(text);
            out.push(b'}');
        }
        Value::Blob(bytes) => encoded(out, "$bytes", bytes),
        Value::Hll(bytes) => encoded(out, "$hll", bytes),
        Value::List(len) => {
            out.push(b'[');
            let mut whole = true;
            for place in 0..len {
                if place > 0 {
                    out.push(b',');
                }
                let item = Value::next(reader)?;
                whole &= write(out, &item, reader, depth + 1)?;
            }
            out.push(b']');
            return Ok(whole);
        }
        Value::Map(len) => return map(out, len, reader, depth),
        Value::Other => return Ok(false),
    }
    Ok(true)
}

/// An object, or pairs where an object would not be the same: keys that are not all texts, or one key that begins with `$`.
fn map(out: &mut Vec<u8>, len: usize, reader: &mut Reader<'_>, depth: usize) -> WireResult<bool> {
    let mut ahead = reader.clone();
    let (mut texts, mut dollar) = (true, false);
    for _ in 0..len {
        let key = Value::next(&mut ahead)?;
        dollar |= matches!(key, Value::Text([b'$', ..]));
        texts &= matches!(key, Value::Text(_));
        key.pass(&mut ahead)?;
        ahead.skip()?;
    }
    let object = texts && !(len == 1 && dollar);
    let (open, between, close): (&[u8], &[u8], &[u8]) =
        if object { (b"{", b":", b"}") } else { (b"{\"$map\":[", b",", b"]}") };
    out.extend_from_slice(open);
    let mut whole = true;
    for place in 0..len {
        if place > 0 {
            out.push(b',');
        }
        if !object {
            out.push(b'[');
        }
        let key = Value::next(reader)?;
        whole &= write(out, &key, reader, depth + 1)?;
        out.extend_from_slice(between);
        let value = Value::next(reader)?;
        whole &= write(out, &value, reader, depth + 1)?;
        if !object {
            out.push(b']');
        }
    }
    out.extend_from_slice(close);
    Ok(whole)
}

fn encoded(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    out.extend_from_slice(format!("{{\"{name}\":\"{}\"}}", BASE64_STANDARD.encode(bytes)).as_bytes());
}

/// Appends a text; false: it is not UTF-8.
fn string(out: &mut Vec<u8>, text: &[u8]) -> bool {
    if std::str::from_utf8(text).is_err() {
        return false;
    }
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    true
}
