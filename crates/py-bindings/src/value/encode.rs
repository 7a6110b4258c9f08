//! Python objects as bytes of a request: as whole bins, and as msgpack inside of lists and maps.
//!
//! Exact types are recognised by the pointer to their type; all others (subclasses, our wrappers, numpy scalars,
//! buffers) go through [`look`].

use std::ffi::c_int;

use aerolane_wire::msgpack::{MAX_DEPTH, Writer, order};
use aerolane_wire::particle::{Particle, particle_type};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};

use super::buffer::View;
use super::pairs::{each_pair, items, of_items};
use super::wrappers::{GeoJson, Hll, SpecialValue, UnknownValue, is_sorted_map};
use super::{Refused, numpy};

/// Appends the value as a whole bin; gives its particle type.
///
/// If it cannot be sent, what has been appended until then stays: the caller truncates.
#[inline]
pub(crate) fn encode_value(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<u8, Refused> {
    let kind = value.get_type_ptr();
    if kind == type_of::int() {
        out.extend_from_slice(&integer(value)?.to_be_bytes());
        Ok(particle_type::INTEGER)
    } else if kind == type_of::str() {
        out.extend_from_slice(utf8(value)?);
        Ok(particle_type::STRING)
    } else if kind == type_of::float() {
        out.extend_from_slice(&float(value).to_be_bytes());
        Ok(particle_type::FLOAT)
    } else if kind == type_of::bytes() {
        out.extend_from_slice(bytes(value));
        Ok(particle_type::BLOB)
    } else if kind == type_of::bool() {
        out.push(u8::from(truth(value)));
        Ok(particle_type::BOOL)
    } else if kind == type_of::list() || kind == type_of::dict() {
        pack::<false>(&mut Writer::new(out), value, 0)?;
        Ok(if kind == type_of::list() { particle_type::LIST } else { particle_type::MAP })
    } else {
        encode_look(value, out)
    }
}

#[inline(never)]
fn encode_look(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<u8, Refused> {
    let py = value.py();
    let look = look(value)?;
    let (text, hll);
    let particle = match &look {
        ValueKind::Nil | ValueKind::Special(SpecialValue::Null) => Particle::Nil,
        ValueKind::Bool(v) => Particle::Bool(*v),
        ValueKind::Int(v) => Particle::Integer(*v),
        ValueKind::Float(v) => Particle::Float(*v),
        ValueKind::Str => Particle::String(utf8(value)?),
        ValueKind::Bytes => Particle::Blob(bytes(value)),
        ValueKind::GeoJson(v) => {
            text = v.get().text(py);
            Particle::GeoJson(utf8(&text)?)
        }
        ValueKind::Hll(v) => {
            hll = v.get().bytes(py);
            Particle::Hll(hll.as_bytes())
        }
        ValueKind::Unknown(v) => Particle::Unknown(v.get().kind(), v.get().bytes(py)),
        ValueKind::Buffer(view) => {
            view.copy_to(py, out)?;
            return Ok(particle_type::BLOB);
        }
        ValueKind::List | ValueKind::Tuple => {
            pack::<false>(&mut Writer::new(out), value, 0)?;
            return Ok(particle_type::LIST);
        }
        ValueKind::Map | ValueKind::SortedMap => {
            pack::<false>(&mut Writer::new(out), value, 0)?;
            return Ok(particle_type::MAP);
        }
        ValueKind::Special(_) => {
            let text = "infinity and the wildcard are bounds for collection operations; they can be no value of a bin";
            return Err(Refused::value(text));
        }
    };
    particle.encode(out);
    Ok(particle.particle_type())
}

/// Appends a value inside of a collection that is `depth` levels deep.
///
/// `SORTED`: dicts are written in the order of their keys, as the server compares maps; else in their own.
fn pack<const SORTED: bool>(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Refused> {
    let kind = value.get_type_ptr();
    if kind == type_of::int() {
        writer.int(integer(value)?);
    } else if kind == type_of::str() {
        writer.str(utf8(value)?);
    } else if kind == type_of::float() {
        writer.float(float(value));
    } else if kind == type_of::bool() {
        writer.bool(truth(value));
    } else if kind == type_of::bytes() {
        writer.blob(bytes(value));
    } else if kind == type_of::dict() {
        pack_dict::<SORTED>(writer, value, depth)?;
    } else if kind == type_of::list() {
        pack_list::<SORTED>(writer, value, depth)?;
    } else {
        pack_look::<SORTED>(writer, value, depth)?;
    }
    Ok(())
}

fn pack_look<const SORTED: bool>(
    writer: &mut Writer<'_>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(), Refused> {
    let py = value.py();
    match look(value)? {
        ValueKind::Nil | ValueKind::Special(SpecialValue::Null) => writer.nil(),
        ValueKind::Bool(v) => writer.bool(v),
        ValueKind::Int(v) => writer.int(v),
        ValueKind::Float(v) => writer.float(v),
        ValueKind::Str => writer.str(utf8(value)?),
        ValueKind::Bytes => writer.blob(bytes(value)),
        ValueKind::Buffer(view) => pack_buffer(writer, py, &view)?,
        ValueKind::GeoJson(v) => writer.geojson(utf8(&v.get().text(py))?),
        ValueKind::Hll(v) => writer.hll(v.get().bytes(py).as_bytes()),
        ValueKind::Special(SpecialValue::Infinity) => writer.infinity(),
        ValueKind::Special(SpecialValue::Wildcard) => writer.wildcard(),
        ValueKind::List => pack_list::<SORTED>(writer, value, depth)?,
        ValueKind::Tuple => pack_tuple::<SORTED>(writer, value, depth)?,
        ValueKind::Map => pack_dict::<SORTED>(writer, value, depth)?,
        ValueKind::SortedMap => pack_sorted::<SORTED>(writer, value, order::MAP_KEY, depth)?,
        ValueKind::Unknown(v) => {
            let kind = v.get().kind();
            return Err(Refused::value(format!(
                "a value of the unknown particle type {kind} can be written only as a whole bin"
            )));
        }
    }
    Ok(())
}

/// The view's bytes as a blob: its header wants the length, its tag is part of it.
fn pack_buffer(writer: &mut Writer<'_>, py: Python<'_>, view: &View) -> Result<(), Refused> {
    let mut plain = Vec::new();
    view.copy_to(py, &mut plain)?;
    writer.blob(&plain);
    Ok(())
}

fn pack_list<const SORTED: bool>(
    writer: &mut Writer<'_>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(), Refused> {
    let depth = deeper(depth)?;
    // A list by its type, or `look` has said so.
    let list = value.cast::<PyList>().map_err(PyErr::from)?;
    let len = list.len();
    writer.list(len);
    for index in 0..len {
        let item = list.get_item(index).map_err(|_| Refused::changed("list"))?;
        pack::<SORTED>(writer, &item, depth).map_err(|refused| refused.inside(|| format!("[{index}]")))?;
    }
    // Code of its elements may have run, and other threads.
    if list.len() == len { Ok(()) } else { Err(Refused::changed("list")) }
}

fn pack_tuple<const SORTED: bool>(
    writer: &mut Writer<'_>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(), Refused> {
    let depth = deeper(depth)?;
    let tuple = value.cast::<PyTuple>().map_err(PyErr::from)?;
    writer.list(tuple.len());
    for (index, item) in tuple.iter_borrowed().enumerate() {
        pack::<SORTED>(writer, &item, depth).map_err(|refused| refused.inside(|| format!("[{index}]")))?;
    }
    Ok(())
}

/// A dict, or a subclass of it, as an unordered map.
fn pack_dict<const SORTED: bool>(
    writer: &mut Writer<'_>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(), Refused> {
    if SORTED {
        return pack_sorted::<SORTED>(writer, value, order::UNORDERED, depth);
    }
    let depth = deeper(depth)?;
    let Ok(dict) = value.cast_exact::<PyDict>() else {
        let items = items(value)?;
        writer.map(items.len());
        return of_items(&items, |key, value| pack_pair::<SORTED>(writer, key, value, depth)).map(drop);
    };
    let len = dict.len();
    writer.map(len);
    let written = each_pair::<Refused>(value, |key, value| pack_pair::<SORTED>(writer, key, value, depth))?;
    if written == len { Ok(()) } else { Err(Refused::changed("dict")) }
}

#[inline]
fn pack_pair<const SORTED: bool>(
    writer: &mut Writer<'_>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> Result<(), Refused> {
    pack_key(writer, key)?;
    pack::<SORTED>(writer, value, depth).map_err(|refused| refused.inside(|| step(key)))
}

/// The server takes integers, strings and blobs.
pub(crate) fn pack_key(writer: &mut Writer<'_>, key: &Bound<'_, PyAny>) -> Result<(), Refused> {
    let kind = key.get_type_ptr();
    if kind == type_of::str() {
        writer.str(utf8(key)?);
    } else if kind == type_of::int() {
        writer.int(integer(key)?);
    } else {
        match look(key)? {
            ValueKind::Int(v) => writer.int(v),
            ValueKind::Str => writer.str(utf8(key)?),
            ValueKind::Bytes => writer.blob(bytes(key)),
            ValueKind::Buffer(view) => pack_buffer(writer, key.py(), &view)?,
            _ => {
                let kind = key.get_type().name()?;
                let text = format!("a map key is an int, a str or bytes, not {kind} ({})", short_repr(key));
                return Err(Refused::wrong_type(text));
            }
        }
    }
    Ok(())
}

/// A key of a map that declares its order, as the server sorts them: integers, then strings, then blobs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    Int(i64),
    Str(Vec<u8>),
    Blob(Vec<u8>),
}

/// A mapping in the order of its keys, which a map that declares its order must have: the server refuses others.
fn pack_sorted<const SORTED: bool>(
    writer: &mut Writer<'_>,
    value: &Bound<'_, PyAny>,
    declared: u8,
    depth: usize,
) -> Result<(), Refused> {
    let depth = deeper(depth)?;
    let mut pairs = Vec::new();
    of_items::<Refused>(&items(value)?, |key, value| {
        let sort_key = match look(key)? {
            ValueKind::Int(v) => SortKey::Int(v),
            ValueKind::Str => SortKey::Str(utf8(key)?.to_vec()),
            ValueKind::Bytes => SortKey::Blob(bytes(key).to_vec()),
            _ => {
                let kind = key.get_type().name()?;
                let text = format!("a map key is an int, a str or bytes, not {kind} ({})", short_repr(key));
                return Err(Refused::wrong_type(text));
            }
        };
        pairs.push((sort_key, key.clone(), value.clone()));
        Ok(())
    })?;
    pairs.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    writer.map_with_order(declared, pairs.len());
    for (sort_key, key, value) in &pairs {
        match sort_key {
            SortKey::Int(v) => writer.int(*v),
            SortKey::Str(v) => writer.str(v),
            SortKey::Blob(v) => writer.blob(v),
        }
        pack::<SORTED>(writer, value, depth).map_err(|refused| refused.inside(|| step(key)))?;
    }
    Ok(())
}

/// Appends a value as an argument of an operation.
pub(crate) fn pack_value(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>) -> Result<(), Refused> {
    pack::<false>(writer, value, 0)
}

/// Appends a value to compare with: dicts in it are sorted.
pub(crate) fn pack_comparable(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>) -> Result<(), Refused> {
    pack::<true>(writer, value, 0)
}

/// Appends a mapping to compare with, as a map that declares its order.
pub(crate) fn pack_comparable_map(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>) -> Result<(), Refused> {
    pack_sorted::<true>(writer, value, order::MAP_KEY, 0)
}

/// Appends a mapping whose pairs are arguments of an operation; `ordered`: as a map that declares its order.
pub(crate) fn pack_mapping(writer: &mut Writer<'_>, value: &Bound<'_, PyAny>, ordered: bool) -> Result<(), Refused> {
    if ordered {
        return pack_sorted::<false>(writer, value, order::MAP_KEY, 0);
    }
    if value.is_instance_of::<PyDict>() {
        return pack_dict::<false>(writer, value, 0);
    }
    let items = items(value)?;
    writer.map(items.len());
    of_items(&items, |key, value| pack_pair::<false>(writer, key, value, 1)).map(drop)
}

fn deeper(depth: usize) -> Result<usize, Refused> {
    if depth >= MAX_DEPTH {
        return Err(Refused::value(format!("lists and maps are nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(depth + 1)
}

/// The step to the value of this key: `['x']`.
#[cold]
fn step(key: &Bound<'_, PyAny>) -> String {
    format!("[{}]", short_repr(key))
}

#[cold]
fn short_repr(object: &Bound<'_, PyAny>) -> String {
    let Ok(text) = object.repr() else { return "?".to_owned() };
    let text = text.to_string_lossy().into_owned();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What a Python object is for us.
pub(crate) enum ValueKind<'a, 'py> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A str or a subclass: take its text.
    Str,
    /// Bytes or a subclass: take its bytes.
    Bytes,
    Buffer(View),
    /// A list or a subclass.
    List,
    /// A tuple or a subclass.
    Tuple,
    /// A dict or a subclass.
    Map,
    SortedMap,
    GeoJson(&'a Bound<'py, GeoJson>),
    Hll(&'a Bound<'py, Hll>),
    Unknown(&'a Bound<'py, UnknownValue>),
    Special(SpecialValue),
}

/// Finds out what an object is: exact types and subclasses, our wrappers, numpy scalars, `__index__`, buffers.
#[inline(never)]
pub(crate) fn look<'a, 'py>(value: &'a Bound<'py, PyAny>) -> Result<ValueKind<'a, 'py>, Refused> {
    if value.is_none() {
        return Ok(ValueKind::Nil);
    }
    // Before int: bool is a subclass of it.
    if value.get_type_ptr() == type_of::bool() {
        return Ok(ValueKind::Bool(truth(value)));
    }
    if value.is_instance_of::<PyInt>() {
        return integer(value).map(ValueKind::Int);
    }
    if value.is_instance_of::<PyString>() {
        return Ok(ValueKind::Str);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(ValueKind::Float(float(value)));
    }
    if value.is_instance_of::<PyBytes>() {
        return Ok(ValueKind::Bytes);
    }
    if value.is_instance_of::<PyTuple>() {
        return Ok(ValueKind::Tuple);
    }
    if value.is_instance_of::<PyList>() {
        return Ok(ValueKind::List);
    }
    if value.is_instance_of::<PyDict>() {
        return Ok(if is_sorted_map(value)? { ValueKind::SortedMap } else { ValueKind::Map });
    }
    if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        return View::of(value).map(ValueKind::Buffer);
    }
    if let Ok(geo) = value.cast::<GeoJson>() {
        return Ok(ValueKind::GeoJson(geo));
    }
    if let Ok(hll) = value.cast::<Hll>() {
        return Ok(ValueKind::Hll(hll));
    }
    if let Ok(special) = value.cast::<SpecialValue>() {
        return Ok(ValueKind::Special(*special.get()));
    }
    if let Ok(unknown) = value.cast::<UnknownValue>() {
        return Ok(ValueKind::Unknown(unknown));
    }
    look_by_protocol(value)
}

/// An object of a foreign type, by what it can do.
fn look_by_protocol<'a, 'py>(value: &'a Bound<'py, PyAny>) -> Result<ValueKind<'a, 'py>, Refused> {
    let py = value.py();
    let scalar = numpy::look(value)?;
    match scalar {
        numpy::Scalar::Bool(v) => return Ok(ValueKind::Bool(v)),
        numpy::Scalar::Float(v) => return Ok(ValueKind::Float(v)),
        numpy::Scalar::Int | numpy::Scalar::No => {}
    }
    // An array has `__index__`, too; its bytes go before.
    if matches!(scalar, numpy::Scalar::No) && View::is_offered(value) {
        return View::of(value).map(ValueKind::Buffer);
    }
    // SAFETY: the object is alive, the thread attached.
    if unsafe { ffi::PyIndex_Check(value.as_ptr()) } != 0 {
        // SAFETY: as above; a new reference comes back, or null with an exception.
        let number = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(value.as_ptr()))? };
        return integer(&number).map(ValueKind::Int);
    }
    Err(Refused::wrong_type(format!("{} is not supported", value.get_type().name()?)))
}

/// The number in an int, or in an instance of a subclass.
#[inline]
pub(crate) fn integer(value: &Bound<'_, PyAny>) -> Result<i64, Refused> {
    let mut overflow: c_int = 0;
    // SAFETY: the object is alive, the thread attached. For an int this runs no Python code.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &raw mut overflow) };
    if overflow != 0 {
        return unsigned(value, overflow);
    }
    if number == -1
        && let Some(error) = PyErr::take(value.py())
    {
        return Err(error.into());
    }
    Ok(number)
}

/// The number of 64 unsigned bits, as the signed one with the same bits; beyond that there is none.
#[cold]
fn unsigned(value: &Bound<'_, PyAny>, overflow: c_int) -> Result<i64, Refused> {
    if overflow > 0
        && let Ok(number) = value.extract::<u64>()
    {
        return Ok(number.cast_signed());
    }
    Err(Refused::range(format!("the integer {} does not fit into 64 bits", short_repr(value))))
}

/// The number in a float, or in an instance of a subclass.
#[inline]
fn float(value: &Bound<'_, PyAny>) -> f64 {
    // SAFETY: the object is alive and a float by its type, for which this cannot fail.
    unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) }
}

#[inline]
fn truth(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: `True` lives as long as the interpreter.
    value.as_ptr() == unsafe { ffi::Py_True() }
}

/// The text of a str, or of an instance of a subclass, as UTF-8. The str keeps it.
#[inline]
pub(crate) fn utf8<'a>(value: &'a Bound<'_, PyAny>) -> Result<&'a [u8], Refused> {
    let mut len = 0;
    // SAFETY: the object is alive, the thread attached; for anything but a str it fails.
    let text = unsafe { ffi::PyUnicode_AsUTF8AndSize(value.as_ptr(), &raw mut len) };
    if text.is_null() {
        return Err(no_utf8(value));
    }
    // SAFETY: `len` bytes that the str keeps unchanged as long as it lives, and it is borrowed for 'a.
    Ok(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len as usize) })
}

#[cold]
fn no_utf8(value: &Bound<'_, PyAny>) -> Refused {
    let py = value.py();
    let error = PyErr::fetch(py);
    if error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return Refused::value(format!("the str {} has lone surrogates: it is no UTF-8", short_repr(value)));
    }
    error.into()
}

/// The bytes of a bytes object, or of an instance of a subclass.
#[inline]
fn bytes<'a>(value: &'a Bound<'_, PyAny>) -> &'a [u8] {
    // SAFETY: bytes by its type; immutable, and borrowed for 'a.
    unsafe { value.cast_unchecked::<PyBytes>() }.as_bytes()
}

/// Where the types are that are recognised by their pointer.
mod type_of {
    use pyo3::ffi;

    macro_rules! pointers {
        ($($name:ident: $type:ident),* $(,)?) => {$(
            #[inline(always)]
            pub(super) fn $name() -> *mut ffi::PyTypeObject {
                &raw mut ffi::$type
            }
        )*};
    }

    pointers! {
        int: PyLong_Type,
        str: PyUnicode_Type,
        float: PyFloat_Type,
        bytes: PyBytes_Type,
        bool: PyBool_Type,
        list: PyList_Type,
        dict: PyDict_Type,
    }
}
