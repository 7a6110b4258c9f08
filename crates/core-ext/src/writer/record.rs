//! Records of Rust callers, encoded when they are handed over.

use aerolane_wire::digest::{Digest, partition_id};
use aerolane_wire::message::{encode_field, field, op};
use aerolane_wire::operation;
use aerolane_wire::particle::particle_type;
use aerospike_core::{BatchPolicy, Bin, Key, Value, WritePolicy};

use super::shape;
use crate::batch::write_flags;
use crate::client::{RawKey, RawOps, RawShape};
use crate::command::encode::{self, Shape};
use crate::command::{check, value};
use crate::error::{Error, Result};
use crate::operations::Operation;

/// The key of a record that was handed over: encoded, in one piece of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordKey {
    digest: Digest,
    /// Fields of a request: namespace, set (if there is one), user key (if it is known).
    fields: Box<[u8]>,
    namespace_len: u8,
    names_len: u16,
    has_set: bool,
}

/// Size and type of a field, in front of its value. The size counts the type, too.
const FIELD_HEADER: usize = SIZE + 1;
const SIZE: usize = 4;
/// How many bytes a value takes; exact for numbers, strings and bytes. So most records are encoded without growing their
/// memory.
fn about(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Int(_) | Value::Float(_) => 8,
        _ => 16,
    }
}

impl RecordKey {
    /// # Errors
    /// `InvalidArgument`: a name is too long, or the user key cannot be sent.
    pub(super) fn of(key: &Key) -> Result<Self> {
        check::key(key)?;
        let (namespace, set) = (key.namespace(), key.set_name());
        let names_len = FIELD_HEADER + namespace.len() + if set.is_empty() { 0 } else { FIELD_HEADER + set.len() };
        let key_len = key.user_key().map_or(0, |user_key| FIELD_HEADER + 1 + about(user_key));
        let mut fields = Vec::with_capacity(names_len + key_len);
        encode_field(&mut fields, field::NAMESPACE, namespace.as_bytes());
        if !set.is_empty() {
            encode_field(&mut fields, field::SET, set.as_bytes());
        }
        if let Some(user_key) = key.user_key() {
            encode_field(&mut fields, field::KEY, &[]);
            encode::user_key_value(user_key, &mut fields)?;
            let size = (fields.len() - names_len - SIZE) as u32;
            fields[names_len..][..SIZE].copy_from_slice(&size.to_be_bytes());
        }
        Ok(Self {
            digest: key.digest(),
            fields: fields.into(),
            namespace_len: namespace.len() as u8,
            names_len: names_len as u16,
            has_set: !set.is_empty(),
        })
    }

    fn text(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.fields[from..to]).unwrap_or_default()
    }

    /// The name of the set; empty: none.
    #[must_use]
    pub fn set_name(&self) -> &str {
        if !self.has_set {
            return "";
        }
        self.text(2 * FIELD_HEADER + usize::from(self.namespace_len), usize::from(self.names_len))
    }

    /// The key as it was handed over.
    #[must_use]
    pub fn key(&self) -> Key {
        let user_key = match self.user_key().get(FIELD_HEADER..) {
            Some([kind, bytes @ ..]) => value::decode(*kind, bytes).ok(),
            _ => None,
        };
        Key::with_digest(self.namespace(), self.set_name(), user_key, self.digest)
    }

    /// The key of another record of the set. `user_key`: as a field of a request.
    pub(super) fn sibling(&self, digest: &Digest, user_key: &[u8]) -> Self {
        Self { digest: *digest, fields: [self.names().0, user_key].concat().into(), ..*self }
    }

    /// The partition of the key, 0 to 4095.
    #[must_use]
    pub fn partition(&self) -> u16 {
        partition_id(&self.digest)
    }
}

impl RawKey for RecordKey {
    fn namespace(&self) -> &str {
        self.text(FIELD_HEADER, FIELD_HEADER + usize::from(self.namespace_len))
    }

    fn digest(&self) -> &Digest {
        &self.digest
    }

    fn names(&self) -> (&[u8], u32) {
        (&self.fields[..usize::from(self.names_len)], 1 + u32::from(self.has_set))
    }

    fn user_key(&self) -> &[u8] {
        &self.fields[usize::from(self.names_len)..]
    }
}

/// What is to be done to a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    Operate(&'a [Operation]),
    Delete,
    Touch,
    Udf { package: &'a str, function: &'a str, args: &'a [Value] },
}

impl Change<'_> {
    /// Encodes it.
    ///
    /// # Errors
    /// `InvalidArgument`: an argument cannot be sent, or the policy asks for what writers do not do.
    pub(super) fn shape(&self, batch: &BatchPolicy, policy: &WritePolicy) -> Result<RawShape> {
        let mut ops = RawOps::default();
        match *self {
            Self::Operate(operations) => {
                if operations.is_empty() {
                    return Err(Error::invalid_argument("there are no operations to carry out"));
                }
                let reads = write_flags(operations)?;
                for operation in operations {
                    push_operation(&mut ops, operation)?;
                }
                shape::write(batch, policy, reads, ops)
            }
            Self::Touch => shape::touch(batch, policy),
            Self::Delete => shape::delete(batch, policy),
            Self::Udf { package, function, args } => {
                let mut bytes = Vec::new();
                value::encode_arguments(args, &mut bytes)
                    .map_err(|e| Error::invalid_argument(format!("an argument of the UDF cannot be sent: {e}")))?;
                shape::udf(batch, policy, (package, function), &bytes)
            }
        }
    }
}

/// Encodes the bins of a put.
///
/// # Errors
/// `InvalidArgument`: there are none, or one cannot be sent.
pub(super) fn encode_bins(bins: &[Bin], ops: &mut RawOps) -> Result<()> {
    check::count(bins.len(), "bins")?;
    if bins.is_empty() {
        return Err(Error::invalid_argument("there are no bins to write"));
    }
    for bin in bins {
        check::bin_name(&bin.name)?;
        push_bin(ops, op::WRITE, bin)?;
    }
    Ok(())
}

fn push_bin(ops: &mut RawOps, kind: u8, bin: &Bin) -> Result<()> {
    value::particle_type_of(&bin.value)
        .and_then(|particle| ops.push(kind, particle, bin.name.as_bytes(), |out| value::encode(&bin.value, out)))
        .map_err(|e| encode::bad_bin(bin, e))
}

fn push_bare(ops: &mut RawOps, kind: u8, name: &str) -> Result<()> {
    ops.push(kind, particle_type::NIL, name.as_bytes(), |_| Ok::<_, aerolane_wire::WireError>(()))
        .map_err(encode::too_big)
}

fn push_operation(ops: &mut RawOps, one: &Operation) -> Result<()> {
    match encode::shape_of(one.ours()?)? {
        Shape::Bare(kind, name) => push_bare(ops, kind, name),
        Shape::Bin(kind, bin) => push_bin(ops, kind, bin),
        Shape::Encoded(encoded) => {
            let (kind, particle) = (encoded.kind(), operation::particle_type(encoded.kind()));
            let value = |out: &mut Vec<u8>| {
                out.extend_from_slice(encoded.value());
                Ok::<_, aerolane_wire::WireError>(())
            };
            ops.push(kind, particle, encoded.bin().as_bytes(), value).map_err(encode::too_big)
        }
    }
}

#[cfg(test)]
mod tests {
    use aerospike_core::{GenerationPolicy, RecordExistsAction, as_bin};

    use super::*;
    use crate::operations;

    fn put(bins: &[Bin], policy: &WritePolicy) -> Result<RawShape> {
        let mut ops = RawOps::default();
        encode_bins(bins, &mut ops)?;
        shape::write(&BatchPolicy::default(), policy, 0, ops)
    }

    #[test]
    fn keys_come_back_as_they_were() {
        for (set, user_key) in [("s", Value::Int(-7)), ("", Value::from("alice")), ("set", Value::Blob(vec![1, 2]))] {
            let key = Key::new("test", set, user_key).unwrap();
            let encoded = RecordKey::of(&key).unwrap();
            assert_eq!((encoded.namespace(), encoded.set_name()), ("test", set));
            assert_eq!(encoded.key(), key);
            assert_eq!(encoded.key().user_key(), key.user_key());
        }
        let bare = Key::with_digest("test", "s", None, [7; 20]);
        assert_eq!(RecordKey::of(&bare).unwrap().key().user_key(), None);
        assert!(RecordKey::of(&Key::with_digest("n".repeat(32), "", None, [0; 20])).is_err());
    }

    #[test]
    fn what_is_safe_to_repeat_is_told_from_what_is_not() {
        let (batch, plain) = (BatchPolicy::default(), WritePolicy::default());
        let bins = [as_bin!("a", 1)];
        let safe = |change: Change<'_>, policy: &WritePolicy| change.shape(&batch, policy).unwrap().repeats_safely();
        let put_safe = |policy: &WritePolicy| put(&bins, policy).unwrap().repeats_safely();
        assert!(put_safe(&plain));
        assert!(safe(Change::Delete, &plain));
        assert!(safe(Change::Touch, &plain));
        assert!(safe(Change::Operate(&[operations::put(&bins[0]), operations::get()]), &plain));
        assert!(!safe(Change::Operate(&[operations::put(&bins[0]), operations::add(&bins[0])]), &plain));
        assert!(!safe(Change::Operate(&[operations::append(&as_bin!("a", "b"))]), &plain));
        assert!(!safe(Change::Udf { package: "p", function: "f", args: &[] }, &plain));
        let checked = WritePolicy {
            generation_policy: GenerationPolicy::ExpectGenEqual,
            generation: 1,
            ..WritePolicy::default()
        };
        assert!(!put_safe(&checked));
        assert!(!safe(Change::Delete, &checked));
        let create = WritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..WritePolicy::default() };
        assert!(!put_safe(&create));
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_its_name() {
        let (batch, plain) = (BatchPolicy::default(), WritePolicy::default());
        let refused = |change: Change<'_>| change.shape(&batch, &plain).unwrap_err().to_string();
        let put_refused = |bins: &[Bin]| put(bins, &plain).unwrap_err().to_string();
        assert!(put_refused(&[]).contains("no bins"));
        assert!(put_refused(&[as_bin!("a name of sixteen", 1)]).contains("a name of sixteen"));
        assert!(refused(Change::Operate(&[])).contains("no operations"));
        assert!(refused(Change::Operate(&[operations::get()])).contains("no operation that writes"));
        let endless = Bin::new("bin".to_owned(), Value::Infinity);
        assert!(put_refused(&[endless]).contains("bin 'bin'"));
    }
}
