//! Bytes of an answer as Python objects.
//!
//! Lists become lists, unordered maps dicts in the order of the wire (which can be part of the answer), key-ordered maps
//! `SortedMap`s. How deep collections may be nested is bounded by the reader (512 levels).

use std::ffi::c_char;

use aerolane_wire::WireError;
use aerolane_wire::msgpack::{self, Element, MapHeader, Reader, order};
use aerolane_wire::particle::{Particle, particle_type};
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat};

use super::wrappers::{GeoJson, Hll, SpecialValue, UnknownValue, new_sorted_map};
use crate::errors;

/// Why an answer could not be decoded.
enum Bad {
    Wire(WireError),
    /// Not the answer's fault: there is no memory left.
    Python(PyErr),
}

impl From<WireError> for Bad {
    #[cold]
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<PyErr> for Bad {
    #[cold]
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

type Result<T> = std::result::Result<T, Bad>;

/// The value of an operation of an answer.
#[inline]
pub(crate) fn decode(py: Python<'_>, kind: u8, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    match decode_value(py, kind, bytes) {
        Ok(value) => Ok(value.unbind()),
        Err(Bad::Wire(error)) => Err(errors::malformed(py, &error)),
        Err(Bad::Python(error)) => Err(error),
    }
}

#[inline]
fn decode_value<'py>(py: Python<'py>, kind: u8, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    match kind {
        particle_type::STRING => text(py, bytes, 0),
        particle_type::BLOB => Ok(PyBytes::new(py, bytes).into_any()),
        _ => match Particle::decode(kind, bytes)? {
            Particle::Nil => Ok(py.None().into_bound(py)),
            Particle::Integer(v) => integer(py, v),
            Particle::Float(v) => Ok(PyFloat::new(py, v).into_any()),
            Particle::Bool(v) => Ok(boolean(py, v)),
            Particle::String(v) => text(py, v, 0),
            Particle::Blob(v) => Ok(PyBytes::new(py, v).into_any()),
            Particle::Hll(v) => Hll::of(py, v).map_err(Bad::Python),
            Particle::GeoJson(v) => Ok(GeoJson::of(py, text(py, v, bytes.len() - v.len())?)?),
            Particle::List(v) => collection(py, v, |e| matches!(e, Element::List(_)), "a list particle holds no list"),
            Particle::Map(v) => collection(py, v, |e| matches!(e, Element::Map(_)), "a map particle holds no map"),
            Particle::Unknown(kind, v) => Ok(UnknownValue::of(py, kind, v)?),
            _ => Err(WireError::invalid("a particle type that this version does not know", 0).into()),
        },
    }
}

fn collection<'py>(
    py: Python<'py>,
    bytes: &[u8],
    expected: impl Fn(&Element<'_>) -> bool,
    message: &'static str,
) -> Result<Bound<'py, PyAny>> {
    let mut reader = Reader::new(bytes);
    let element = reader.read()?;
    if !expected(&element) {
        return Err(WireError::invalid(message, 0).into());
    }
    let value = unpack(py, &mut reader, element)?;
    reader.finish()?;
    Ok(value)
}

/// The value that starts with `element`. The reader bounds depth and counts.
fn unpack<'py>(py: Python<'py>, reader: &mut Reader<'_>, element: Element<'_>) -> Result<Bound<'py, PyAny>> {
    match element {
        Element::Int(v) => integer(py, v),
        Element::Bytes(payload) => {
            let at = reader.offset() - payload.len();
            unpack_bytes(py, payload).map_err(|bad| match bad {
                Bad::Wire(error) => Bad::Wire(error.shifted(at)),
                Bad::Python(error) => Bad::Python(error),
            })
        }
        // What is no value at all (an order marker in a wrong place) reads as nil, as in aerospike-core.
        Element::Nil | Element::Ext(_) => Ok(py.None().into_bound(py)),
        Element::Bool(v) => Ok(boolean(py, v)),
        // The same 64 bits, as in aerospike-core: the server's integers are signed.
        Element::Uint(v) => integer(py, v as i64),
        Element::Float32(v) => Ok(PyFloat::new(py, f64::from(v)).into_any()),
        Element::Float(v) => Ok(PyFloat::new(py, v).into_any()),
        Element::List(header) => unpack_list(py, reader, header.len),
        Element::Map(header) => unpack_map(py, reader, header),
        Element::Infinity => special(py, SpecialValue::Infinity),
        Element::Wildcard => special(py, SpecialValue::Wildcard),
        _ => Err(WireError::invalid("an element that this version does not know", reader.offset()).into()),
    }
}

fn next<'py>(py: Python<'py>, reader: &mut Reader<'_>) -> Result<Bound<'py, PyAny>> {
    let element = reader.read()?;
    unpack(py, reader, element)
}

fn unpack_list<'py>(py: Python<'py>, reader: &mut Reader<'_>, len: usize) -> Result<Bound<'py, PyAny>> {
    // SAFETY: the thread is attached. The reader has checked that `len` is not more than there are bytes.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len as isize))? };
    for index in 0..len {
        let item = next(py, reader)?;
        // SAFETY: a list of `len` places that nobody else has seen; the reference to the item goes over to it. On an
        // error before the last one it is dropped with empty places, which lists allow.
        unsafe { ffi::PyList_SetItem(list.as_ptr(), index as isize, item.into_ptr()) };
    }
    Ok(list)
}

fn unpack_map<'py>(py: Python<'py>, reader: &mut Reader<'_>, header: MapHeader<'_>) -> Result<Bound<'py, PyAny>> {
    let flags = header.flags();
    let map = if flags & order::MAP_KEY != 0 { new_sorted_map(py)? } else { PyDict::new(py).into_any() };
    for _ in 0..header.len {
        let key = unpack_key(py, reader)?;
        let value = next(py, reader)?;
        // SAFETY: a dict or a subclass of it that nobody else has seen; the key is hashable by its type.
        if unsafe { ffi::PyDict_SetItem(map.as_ptr(), key.as_ptr(), value.as_ptr()) } != 0 {
            return Err(PyErr::fetch(py).into());
        }
    }
    // SAFETY: as above.
    let distinct = unsafe { ffi::PyDict_Size(map.as_ptr()) };
    if distinct as usize == header.len {
        return Ok(map);
    }
    Err(WireError::invalid("a map with two keys that are equal", reader.offset()).into())
}

/// A map key. Servers take integers, strings and blobs; nil stands for "none" in results. Records of old servers may
/// have booleans and floats, too.
fn unpack_key<'py>(py: Python<'py>, reader: &mut Reader<'_>) -> Result<Bound<'py, PyAny>> {
    let at = reader.offset();
    match reader.read()? {
        Element::List(_) | Element::Map(_) => Err(WireError::invalid("a collection as map key", at).into()),
        element => unpack(py, reader, element),
    }
}

fn unpack_bytes<'py>(py: Python<'py>, payload: &[u8]) -> Result<Bound<'py, PyAny>> {
    match msgpack::particle(payload)? {
        Particle::String(v) => text(py, v, 1),
        Particle::Blob(v) => Ok(PyBytes::new(py, v).into_any()),
        Particle::GeoJson(v) => Ok(GeoJson::of(py, text(py, v, 1)?)?),
        Particle::Hll(v) => Ok(Hll::of(py, v)?),
        Particle::Unknown(tag, v) => Ok(UnknownValue::of(py, tag, v)?),
        _ => Err(WireError::invalid("a particle type that this version does not know", 0).into()),
    }
}

#[inline]
fn integer(py: Python<'_>, value: i64) -> Result<Bound<'_, PyAny>> {
    // SAFETY: the thread is attached; a new reference comes back, or null with an exception.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromLongLong(value))? })
}

fn boolean(py: Python<'_>, value: bool) -> Bound<'_, PyAny> {
    PyBool::new(py, value).to_owned().into_any()
}

fn special(py: Python<'_>, value: SpecialValue) -> Result<Bound<'_, PyAny>> {
    Ok(Bound::new(py, value)?.into_any())
}

#[inline]
fn text<'py>(py: Python<'py>, bytes: &[u8], at: usize) -> Result<Bound<'py, PyAny>> {
    // SAFETY: the thread is attached, and there are that many bytes. Bytes that are no UTF-8 raise an exception.
    let string = unsafe { ffi::PyUnicode_FromStringAndSize(bytes.as_ptr().cast::<c_char>(), bytes.len() as isize) };
    if string.is_null() {
        return Err(no_text(py, bytes, at));
    }
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, string) })
}

#[cold]
fn no_text(py: Python<'_>, bytes: &[u8], at: usize) -> Bad {
    let error = PyErr::fetch(py);
    match std::str::from_utf8(bytes) {
        Err(e) if error.is_instance_of::<PyUnicodeDecodeError>(py) => {
            Bad::Wire(WireError::invalid("a string that is not UTF-8", at + e.valid_up_to()))
        }
        _ => Bad::Python(error),
    }
}
