//! Record keys.

use std::borrow::Cow;
use std::fmt::Write as _;

use aerolane::raw::RawKey;
use aerolane::raw::command::check::{MAX_NAMESPACE, MAX_SET};
use aerolane_wire::digest::{DIGEST_SIZE, Digest, digest, partition_id};
use aerolane_wire::message::field;
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyType};

use crate::errors;
use crate::instance::{Instance, instance, prepare};
use crate::small_bytes::SmallBytes;
use crate::value::{self, Refused, ValueKind};

/// What a key was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserKey<'a> {
    /// Known by its digest only.
    None,
    Int(i64),
    Str(&'a str),
    Blob(&'a [u8]),
}

/// Size and type of a field, in front of its value.
const FIELD_HEADER: usize = 5;
/// What a digest takes as a field.
const DIGEST_FIELD: usize = FIELD_HEADER + DIGEST_SIZE;
/// Particle type of a key that is known by its digest only: none has this one.
const NO_USER_KEY: u8 = particle_type::NIL;

/// Identifies a record: `Key(namespace, set, key)`.
///
/// `namespace`: 1 to 31 bytes. `set`: at most 63 bytes; `None` and `""` are the null set. `key`: an int (64 bits; an
/// unsigned one is stored as the signed one with the same bits), a str, or bytes (or another bytes-like object); numpy
/// integers are ints. The digest, by which the server identifies the record, is computed once, here. Keys are immutable
/// and hashable; two keys are equal if their namespaces and digests are.
///
/// Raises `TypeError` for a key of another type (including `bool`), `OverflowError` for an int of more than 64 bits,
/// and `InvalidArgumentError` (a `ValueError`) if the namespace is empty or too long, the set name is too long, or a
/// str cannot be encoded as UTF-8.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Key {
    digest: Digest,
    namespace_len: u8,
    set_len: u8,
    /// Particle type of the user key.
    kind: u8,
    /// Fields of a request: namespace, set (if there is one), digest, user key (if it is known).
    fields: SmallBytes<100>,
}

impl Instance for Key {
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, _: Python<'_>) -> bool {
        true
    }
}

impl RawKey for Key {
    #[inline]
    fn namespace(&self) -> &str {
        self.namespace()
    }

    #[inline]
    fn digest(&self) -> &Digest {
        self.digest()
    }

    #[inline]
    fn names(&self) -> (&[u8], u32) {
        self.names()
    }

    #[inline]
    fn user_key(&self) -> &[u8] {
        self.user_key_field()
    }
}

impl Key {
    #[inline]
    fn from_user_key(namespace: &str, set: &str, kind: u8, user_key: &[u8]) -> PyResult<Self> {
        check_names(namespace, set)?;
        Ok(Self::build(namespace, set, digest(set.as_bytes(), kind, user_key), kind, user_key))
    }

    /// The lengths of the names have been checked.
    #[inline]
    fn build(namespace: &str, set: &str, digest: Digest, kind: u8, user_key: &[u8]) -> Self {
        let header = |kind: u8, len: usize| {
            let [a, b, c, d] = (len as u32 + 1).to_be_bytes();
            [a, b, c, d, kind]
        };
        let set_header = header(field::SET, set.len());
        let [k0, k1, k2, k3, k4] = header(field::KEY, user_key.len() + 1);
        let key_header = [k0, k1, k2, k3, k4, kind];
        let fields = SmallBytes::concat([
            &header(field::NAMESPACE, namespace.len()),
            namespace.as_bytes(),
            if set.is_empty() { &[] } else { &set_header },
            set.as_bytes(),
            &header(field::DIGEST, DIGEST_SIZE),
            &digest,
            if kind == NO_USER_KEY { &[] } else { &key_header },
            user_key,
        ]);
        Self { digest, namespace_len: namespace.len() as u8, set_len: set.len() as u8, kind, fields }
    }

    /// The key of a record as a server has sent it; `user_key`: particle type, value. `None`: a text is not UTF-8, or a
    /// name too long.
    pub(crate) fn received(namespace: &str, set: &[u8], digest: &Digest, user_key: Option<&[u8]>) -> Option<Self> {
        let set = std::str::from_utf8(set).ok().filter(|set| set.len() <= MAX_SET)?;
        if namespace.is_empty() || namespace.len() > MAX_NAMESPACE {
            return None;
        }
        let (kind, value) = match user_key.and_then(<[u8]>::split_first) {
            Some((&particle_type::STRING, text)) => {
                std::str::from_utf8(text).ok()?;
                (particle_type::STRING, text)
            }
            Some((&kind, value)) if kind == particle_type::INTEGER || kind == particle_type::BLOB => (kind, value),
            _ => (NO_USER_KEY, &[][..]),
        };
        Some(Self::build(namespace, set, *digest, kind, value))
    }

    pub(crate) fn namespace(&self) -> &str {
        let at = FIELD_HEADER;
        text(&self.fields[at..at + usize::from(self.namespace_len)])
    }

    pub(crate) fn set(&self) -> &str {
        if self.set_len == 0 {
            return "";
        }
        let at = 2 * FIELD_HEADER + usize::from(self.namespace_len);
        text(&self.fields[at..at + usize::from(self.set_len)])
    }

    pub(crate) fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(crate) fn partition(&self) -> u16 {
        partition_id(&self.digest)
    }

    pub(crate) fn user_key(&self) -> UserKey<'_> {
        let value = || &self.fields[self.fields_len() + FIELD_HEADER + 1..];
        match self.kind {
            particle_type::INTEGER => {
                UserKey::Int(value().try_into().map_or(0, |bytes: &[u8; 8]| i64::from_be_bytes(*bytes)))
            }
            particle_type::STRING => UserKey::Str(text(value())),
            particle_type::BLOB => UserKey::Blob(value()),
            _ => UserKey::None,
        }
    }

    /// Namespace, set and digest as fields of a request, and how many they are.
    #[inline]
    pub(crate) fn fields(&self) -> (&[u8], u32) {
        (&self.fields[..self.fields_len()], if self.set_len == 0 { 2 } else { 3 })
    }

    /// As [`fields`](Self::fields), and the user key, if it is known: for policies with `send_key`.
    #[inline]
    pub(crate) fn fields_with_user_key(&self) -> (&[u8], u32) {
        let (fields, count) = self.fields();
        if self.kind == NO_USER_KEY { (fields, count) } else { (&self.fields, count + 1) }
    }

    /// Namespace and set as fields of a request, and how many they are.
    #[inline]
    pub(crate) fn names(&self) -> (&[u8], u32) {
        (&self.fields[..self.fields_len() - DIGEST_FIELD], if self.set_len == 0 { 1 } else { 2 })
    }

    /// The user key as a field of a request; empty if it is not known.
    pub(crate) fn user_key_field(&self) -> &[u8] {
        if self.kind == NO_USER_KEY { &[] } else { &self.fields[self.fields_len()..] }
    }

    /// The particle type and the bytes of the user key; empty if it is not known.
    pub(crate) fn typed_user_key(&self) -> &[u8] {
        self.user_key_field().get(FIELD_HEADER..).unwrap_or_default()
    }

    #[inline]
    fn fields_len(&self) -> usize {
        let set = if self.set_len == 0 { 0 } else { FIELD_HEADER + usize::from(self.set_len) };
        FIELD_HEADER + usize::from(self.namespace_len) + set + DIGEST_FIELD
    }

    /// The key as its `repr`, for messages; a long user key is left out for the digest.
    pub(crate) fn shown(&self, py: Python<'_>) -> PyResult<String> {
        /// The most bytes of a user key that a message shows.
        const MOST: usize = 100;
        let short = self.user_key_field().len() <= FIELD_HEADER + 1 + MOST;
        let user_key = if short { self.value_object(py)? } else { py.None().into_bound(py) };
        self.repr_with(&user_key)
    }

    /// `repr()`, with this user key; of `None` the digest.
    fn repr_with(&self, user_key: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = user_key.py();
        let namespace = PyString::new(py, self.namespace()).repr()?.to_string();
        let set = PyString::new(py, self.set()).repr()?.to_string();
        Ok(if user_key.is_none() {
            format!("Key.key_with_digest({namespace}, {set}, '{}')", hex(&self.digest))
        } else {
            format!("Key({namespace}, {set}, {})", user_key.repr()?)
        })
    }

    fn value_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.user_key() {
            UserKey::None => py.None().into_bound(py),
            UserKey::Int(v) => v.into_pyobject(py)?.into_any(),
            UserKey::Str(v) => PyString::new(py, v).into_any(),
            UserKey::Blob(v) => PyBytes::new(py, v).into_any(),
        })
    }
}

/// A digest as 40 hex digits.
pub(crate) fn hex(digest: &Digest) -> String {
    digest.iter().fold(String::with_capacity(2 * DIGEST_SIZE), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes that were copied out of a str.
#[inline]
fn text(bytes: &[u8]) -> &str {
    // SAFETY: all callers slice `Key::fields` exactly where `Key::build` has put a `&str`: namespace, set, and a user
    // key of the kind STRING.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

/// Refuses names that no key can have.
#[inline]
pub(crate) fn check_names(namespace: &str, set: &str) -> PyResult<()> {
    check_namespace(namespace)?;
    check_set(set)
}

/// Refuses what cannot be the name of a namespace.
#[inline]
pub(crate) fn check_namespace(namespace: &str) -> PyResult<()> {
    if namespace.is_empty() || namespace.len() > MAX_NAMESPACE {
        return Err(bad_name("namespace", namespace, MAX_NAMESPACE));
    }
    Ok(())
}

/// Refuses what cannot be the name of a set; an empty one is the null set.
#[inline]
pub(crate) fn check_set(set: &str) -> PyResult<()> {
    if set.len() > MAX_SET {
        return Err(bad_name("set name", set, MAX_SET));
    }
    Ok(())
}

#[cold]
fn bad_name(what: &str, name: &str, most: usize) -> PyErr {
    let text = if name.is_empty() {
        format!("the {what} must not be empty")
    } else {
        let shown: String = name.chars().take(80).collect();
        format!("the {what} {shown:?} has {} bytes, it must have at most {most}", name.len())
    };
    Python::attach(|py| errors::invalid_argument(py, text))
}

/// Gives a user key to `with`: its particle type and its bytes.
///
/// # Errors
/// It is none, or `with` fails.
#[inline]
pub(crate) fn with_user_key<R>(key: &Bound<'_, PyAny>, with: impl FnOnce(u8, &[u8]) -> PyResult<R>) -> PyResult<R> {
    let refused = |refused: Refused| refused.into_py(key.py(), "user key");
    if key.is_exact_instance_of::<PyString>() {
        return with(particle_type::STRING, value::utf8(key).map_err(refused)?);
    }
    if key.is_exact_instance_of::<PyInt>() {
        return with(particle_type::INTEGER, &value::integer(key).map_err(refused)?.to_be_bytes());
    }
    let (kind, bytes) = other_user_key(key)?;
    with(kind, &bytes)
}

/// A user key that is neither an exact int nor an exact str.
#[inline(never)]
fn other_user_key<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<(u8, Cow<'a, [u8]>)> {
    let py = key.py();
    let refused = |refused: Refused| refused.into_py(py, "user key");
    Ok(match value::look(key).map_err(refused)? {
        ValueKind::Int(v) => (particle_type::INTEGER, Cow::Owned(v.to_be_bytes().to_vec())),
        ValueKind::Str => (particle_type::STRING, Cow::Borrowed(value::utf8(key).map_err(refused)?)),
        ValueKind::Bytes => (particle_type::BLOB, Cow::Borrowed(key.cast::<PyBytes>()?.as_bytes())),
        ValueKind::Buffer(view) => {
            let mut bytes = Vec::new();
            view.copy_to(py, &mut bytes)?;
            (particle_type::BLOB, Cow::Owned(bytes))
        }
        _ => {
            let kind = key.get_type();
            return Err(PyTypeError::new_err(format!("a user key is an int, a str or bytes, not {}", kind.name()?)));
        }
    })
}

#[pymethods]
impl Key {
    #[new]
    #[pyo3(signature = (namespace, set, key))]
    #[inline]
    pub(crate) fn new(namespace: &str, set: Option<&str>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let set = set.unwrap_or_default();
        with_user_key(key, |kind, user_key| Self::from_user_key(namespace, set, kind, user_key))
    }

    /// The key whose user key is the decimal digits of `key` as a **str**: the same as `Key(namespace, set, str(key))`,
    /// but faster.
    ///
    /// `key`: an int (64 bits, signed). Raises what `Key` raises.
    #[staticmethod]
    #[pyo3(signature = (namespace, set, key))]
    fn from_int_user_key(namespace: &str, set: Option<&str>, key: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let number = match value::look(key) {
            // A number of 64 unsigned bits has other digits than the signed one with its bits.
            Ok(ValueKind::Int(number)) if number < 0 && key.gt(0)? => {
                let text = format!("user key: the integer {key} does not fit into 64 bits with a sign");
                return Err(PyOverflowError::new_err(text));
            }
            Ok(ValueKind::Int(number)) => number,
            Ok(_) => {
                let kind = key.get_type();
                return Err(PyTypeError::new_err(format!("the number of a key is an int, not {}", kind.name()?)));
            }
            Err(refused) => return Err(refused.into_py(key.py(), "user key")),
        };
        let mut digits = [0; 20];
        let digits = decimal(number, &mut digits);
        let made = Self::from_user_key(namespace, set.unwrap_or_default(), particle_type::STRING, digits)?;
        instance(key.py(), || made)
    }

    /// The key of a record whose digest alone is known: 20 bytes (or another bytes-like object), or 40 hex digits as a
    /// str.
    ///
    /// Raises `InvalidArgumentError` (a `ValueError`) for any other length or text that is not hex, `TypeError` for any
    /// other type.
    #[staticmethod]
    #[pyo3(signature = (namespace, set, digest))]
    fn key_with_digest(namespace: &str, set: Option<&str>, digest: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let set = set.unwrap_or_default();
        check_names(namespace, set)?;
        let made = Self::build(namespace, set, digest_of(digest)?, NO_USER_KEY, &[]);
        instance(digest.py(), || made)
    }

    /// The namespace.
    #[getter(namespace)]
    fn py_namespace(&self) -> &str {
        self.namespace()
    }

    /// The set; `""` for the null set.
    #[getter(set_name)]
    fn py_set_name(&self) -> &str {
        self.set()
    }

    /// The user key: int, str or bytes; `None` if only the digest is known.
    #[getter(value)]
    fn py_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value_object(py)
    }

    /// The user key: the same as `value`.
    #[getter(user_key)]
    fn py_user_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value_object(py)
    }

    /// The digest as 40 hex digits.
    #[getter(digest)]
    fn py_digest(&self) -> String {
        hex(&self.digest)
    }

    /// The digest as 20 bytes.
    #[getter]
    fn digest_bytes(&self) -> &[u8] {
        &self.digest
    }

    /// The partition that holds the record, 0 to 4095.
    #[getter(partition_id)]
    fn py_partition_id(&self) -> u16 {
        self.partition()
    }

    fn __hash__(&self) -> u64 {
        // A digest is as good as random, in each of its bytes.
        self.digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.digest == other.digest && self.namespace() == other.namespace()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.repr_with(&self.value_object(py)?)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let class: Bound<'py, PyType> = py.get_type::<Self>();
        if self.kind == NO_USER_KEY {
            let args = ("key_with_digest", self.namespace(), self.set(), PyBytes::new(py, &self.digest));
            let call = py.import("operator")?.getattr("methodcaller")?.call1(args)?;
            return Ok((call, (class,).into_pyobject(py)?.into_any()));
        }
        let args = (self.namespace(), self.set(), self.value_object(py)?);
        Ok((class.into_any(), args.into_pyobject(py)?.into_any()))
    }
}

/// A number in decimal, as Python writes it.
fn decimal(number: i64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    &digits[at..]
}

fn digest_of(object: &Bound<'_, PyAny>) -> PyResult<Digest> {
    let py = object.py();
    let refused = |refused: Refused| refused.into_py(py, "digest");
    let mut bytes = Vec::new();
    match value::look(object).map_err(refused)? {
        ValueKind::Str => {
            let text = value::utf8(object).map_err(refused)?;
            if text.len() != 2 * DIGEST_SIZE {
                let len = text.len();
                return Err(errors::invalid_argument(
                    py,
                    format!("a digest has 40 hex digits or 20 bytes, not {len} digits"),
                ));
            }
            for pair in text.chunks_exact(2) {
                let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
                match (digit(pair[0]), digit(pair[1])) {
                    (Some(high), Some(low)) => bytes.push(high << 4 | low),
                    _ => return Err(errors::invalid_argument(py, "a digest as str has hex digits only")),
                }
            }
        }
        ValueKind::Bytes => bytes.extend_from_slice(object.cast::<PyBytes>()?.as_bytes()),
        ValueKind::Buffer(view) => view.copy_to(py, &mut bytes)?,
        _ => {
            let kind = object.get_type();
            return Err(PyTypeError::new_err(format!("a digest is bytes or hex text, not {}", kind.name()?)));
        }
    }
    bytes[..]
        .try_into()
        .map_err(|_| errors::invalid_argument(py, format!("a digest has 20 bytes, not {}", bytes.len())))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Key>()?;
    prepare::<Key>(module.py())
}
