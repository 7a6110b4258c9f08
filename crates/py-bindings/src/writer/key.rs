//! The keys of records that were handed over.

use std::sync::Arc;

use aerolane::raw::RawKey;
use aerolane_wire::digest::{Digest, digest};
use aerolane_wire::message::{encode_field, field};
use aerolane_wire::particle::particle_type;
use pyo3::prelude::*;

use crate::batch::rows::RowKey;
use crate::errors;
use crate::key::Key;
use crate::small_bytes::SmallBytes;

/// The key of a record of a writer.
pub(crate) enum WrittenKey {
    /// A key object.
    Object(RowKey),
    /// A row of a table.
    Row(TableKey),
}

impl WrittenKey {
    /// Namespace and set.
    pub(super) fn set(&self) -> (&str, &str) {
        match self {
            Self::Object(row) => (row.key.get().namespace(), row.key.get().set()),
            Self::Row(row) => (row.names.namespace(), row.names.set()),
        }
    }

    /// The key as an object, made anew for the row of a table.
    pub(super) fn object(&self, py: Python<'_>) -> PyResult<Py<Key>> {
        match self {
            Self::Object(row) => Ok(row.key.clone_ref(py)),
            Self::Row(row) => Py::new(py, row.key().ok_or_else(|| errors::invalid_argument(py, "the key of a row"))?),
        }
    }
}

impl RawKey for WrittenKey {
    #[inline]
    fn namespace(&self) -> &str {
        match self {
            Self::Object(row) => row.namespace(),
            Self::Row(row) => &row.names.namespace,
        }
    }

    #[inline]
    fn digest(&self) -> &Digest {
        match self {
            Self::Object(row) => row.digest(),
            Self::Row(row) => &row.digest,
        }
    }

    #[inline]
    fn names(&self) -> (&[u8], u32) {
        match self {
            Self::Object(row) => row.names(),
            Self::Row(row) => row.names.fields(),
        }
    }

    #[inline]
    fn user_key(&self) -> &[u8] {
        match self {
            Self::Object(row) => row.user_key(),
            Self::Row(row) => &row.user_key,
        }
    }
}

/// Namespace and set of the rows of a table.
pub(super) struct Names {
    namespace: Box<str>,
    set: Box<str>,
    /// Both as fields of a request, and how many these are.
    fields: Box<[u8]>,
    count: u32,
}

impl Names {
    pub(super) fn new(namespace: &str, set: &str) -> Arc<Self> {
        let mut fields = Vec::new();
        encode_field(&mut fields, field::NAMESPACE, namespace.as_bytes());
        if !set.is_empty() {
            encode_field(&mut fields, field::SET, set.as_bytes());
        }
        let count = if set.is_empty() { 1 } else { 2 };
        Arc::new(Self { namespace: namespace.into(), set: set.into(), fields: fields.into(), count })
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    fn set(&self) -> &str {
        &self.set
    }

    /// As fields of a request, and how many these are.
    pub(super) fn fields(&self) -> (&[u8], u32) {
        (&self.fields, self.count)
    }

    /// The digest of a user key: INTEGER, STRING or BLOB.
    #[inline]
    pub(super) fn digest(&self, kind: u8, value: &[u8]) -> Digest {
        digest(self.set.as_bytes(), kind, value)
    }
}

/// The key of a row of a table: no Python object.
pub(crate) struct TableKey {
    names: Arc<Names>,
    digest: Digest,
    /// The row's number in its table.
    pub(super) row: u64,
    /// As a field of a request.
    user_key: SmallBytes<30>,
}

/// Size, type and particle type, in front of the value of a user key.
pub(super) const USER_KEY_HEADER: usize = 6;

/// Makes a field of a user key's value, in front of which there is room for the header.
#[inline]
pub(super) fn make_user_key(field: &mut [u8], kind: u8) {
    let size = field.len() as u32 - 4;
    if let Some((header, _)) = field.split_first_chunk_mut::<USER_KEY_HEADER>() {
        let [a, b, c, d] = size.to_be_bytes();
        *header = [a, b, c, d, field::KEY, kind];
    }
}

impl TableKey {
    /// `user_key`: as a field of a request.
    pub(super) fn new(names: &Arc<Names>, row: u64, digest: &Digest, user_key: &[u8]) -> Self {
        Self { names: Arc::clone(names), digest: *digest, row, user_key: SmallBytes::concat([user_key]) }
    }

    /// Particle type and bytes of the user key.
    pub(super) fn value(&self) -> (u8, &[u8]) {
        let kind = self.user_key.get(USER_KEY_HEADER - 1).copied().unwrap_or(particle_type::NIL);
        (kind, self.user_key.get(USER_KEY_HEADER..).unwrap_or_default())
    }

    fn key(&self) -> Option<Key> {
        let user_key = self.user_key.get(USER_KEY_HEADER - 1..);
        Key::received(&self.names.namespace, self.names.set.as_bytes(), &self.digest, user_key)
    }
}
