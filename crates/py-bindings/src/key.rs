//! Record keys.

use std::hash::{Hash, Hasher};

use aerolane_wire::digest::{DIGEST_SIZE, Digest, digest, digest_integer, partition_id};
use aerolane_wire::message::field;
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

/// What a key was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UserKey {
    /// Known by its digest only.
    None,
    Int(i64),
    Str(Box<str>),
    Blob(Box<[u8]>),
}

/// Names a record: `Key(namespace, set, user_key)`.
///
/// The user key is an `int` (64 bits), a `str` or `bytes`. The digest, by which the server knows the record, is
/// computed once, here. Keys are immutable, hashable, and equal when namespace and digest are.
///
/// Raises `TypeError` for other types and `ValueError` for an integer beyond 64 bits, an empty or too long namespace
/// (31 bytes) or a too long set name (63 bytes).
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Key {
    namespace: Box<str>,
    set: Box<str>,
    digest: Digest,
    user_key: UserKey,
    /// Namespace, set and digest as fields of a request.
    fields: Box<[u8]>,
}

impl Key {
    fn build(namespace: &str, set: &str, user_key: UserKey, digest: Digest) -> PyResult<Self> {
        check_length("namespace", namespace, 31)?;
        check_length("set name", set, 63)?;
        if namespace.is_empty() {
            return Err(PyValueError::new_err("the namespace of a key must not be empty"));
        }
        let mut fields = Vec::with_capacity(15 + namespace.len() + set.len() + DIGEST_SIZE);
        let mut add = |kind: u8, value: &[u8]| {
            fields.extend_from_slice(&(value.len() as u32 + 1).to_be_bytes());
            fields.push(kind);
            fields.extend_from_slice(value);
        };
        add(field::NAMESPACE, namespace.as_bytes());
        if !set.is_empty() {
            add(field::SET, set.as_bytes());
        }
        add(field::DIGEST, &digest);
        Ok(Self { namespace: namespace.into(), set: set.into(), digest, user_key, fields: fields.into() })
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) fn set(&self) -> &str {
        &self.set
    }

    pub(crate) fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(crate) fn partition(&self) -> u16 {
        partition_id(&self.digest)
    }

    pub(crate) fn user_key(&self) -> &UserKey {
        &self.user_key
    }

    /// Namespace, set and digest as fields of a request, and how many they are.
    pub(crate) fn fields(&self) -> (&[u8], u32) {
        (&self.fields, if self.set.is_empty() { 2 } else { 3 })
    }
}

fn check_length(what: &str, text: &str, most: usize) -> PyResult<()> {
    if text.len() <= most {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("the {what} {text:?} has {} bytes, it must have at most {most}", text.len())))
}

#[pymethods]
impl Key {
    #[new]
    #[pyo3(signature = (namespace, set, user_key))]
    fn new(namespace: &str, set: Option<&str>, user_key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let set = set.unwrap_or_default();
        if let Ok(text) = user_key.cast::<PyString>() {
            let text = text.to_cow()?;
            let digest = digest(set.as_bytes(), particle_type::STRING, text.as_bytes());
            return Self::build(namespace, set, UserKey::Str(text.as_ref().into()), digest);
        }
        if let Ok(number) = user_key.cast::<PyInt>() {
            let number: i64 = number
                .extract()
                .map_err(|_| PyValueError::new_err(format!("the user key {number} does not fit into 64 bits")))?;
            return Self::build(namespace, set, UserKey::Int(number), digest_integer(set.as_bytes(), number));
        }
        if let Ok(bytes) = user_key.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            let digest = digest(set.as_bytes(), particle_type::BLOB, bytes);
            return Self::build(namespace, set, UserKey::Blob(bytes.into()), digest);
        }
        let kind = user_key.get_type();
        Err(PyTypeError::new_err(format!("a user key is an int, a str or bytes, not {}", kind.name()?)))
    }

    /// The namespace.
    #[getter]
    #[pyo3(name = "namespace")]
    fn py_namespace(&self) -> &str {
        &self.namespace
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.digest.hash(&mut hasher);
        hasher.finish()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.digest == other.digest && self.namespace == other.namespace
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Key>()
}
