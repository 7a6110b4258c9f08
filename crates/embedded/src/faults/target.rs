//! What rules look at: a request, the records that it is about, and the connection that it came on.

use super::RequestKind;
use aerolane_wire::batch::BatchRows;
use aerolane_wire::message::{Message, field};

/// Particle type of strings, the first byte of a key.
const STRING: u8 = 3;

/// A request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) kind: RequestKind,
    /// The number of its connection.
    pub(crate) connection: u64,
    /// The body of its message; empty if it is none.
    pub(crate) message: &'a [u8],
}

/// A record that a request, or a row of a batch, is about. Of a query only the set is known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordTarget<'a> {
    pub(crate) set: Option<&'a [u8]>,
    /// The key as it is sent: its type, then its bytes.
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) digest: Option<&'a [u8]>,
}

impl Target<'_> {
    /// Whether any of the records that the request is about is such a one.
    pub(super) fn any_record(&self, mut is: impl FnMut(RecordTarget<'_>) -> bool) -> bool {
        let Ok(message) = Message::decode(self.message) else { return false };
        if self.kind != RequestKind::Batch {
            return is(RecordTarget {
                set: message.field(field::SET),
                key: message.field(field::KEY),
                digest: message.field(field::DIGEST),
            });
        }
        let Some(Ok(rows)) = message.field(field::BATCH).map(BatchRows::decode) else { return false };
        rows.flatten().any(|row| {
            let digest = row.field(field::DIGEST).unwrap_or(row.digest);
            is(RecordTarget { set: row.field(field::SET), key: row.field(field::KEY), digest: Some(digest) })
        })
    }
}

impl RecordTarget<'_> {
    /// Whether the key is known, and a string that begins like this.
    pub(super) fn has_key_prefix(&self, prefix: &[u8]) -> bool {
        matches!(self.key, Some([STRING, key @ ..]) if key.starts_with(prefix))
    }
}
