//! What one record does: read, write, delete, touch, exists, operate.
//!
//! [`answer`] serves single-record frames; [`execute`] is the same without framing, for batch rows and background
//! queries.

use crate::code;
use crate::service::{Request, error_answer};
use crate::store::Namespace;
use aerolane_wire::message::Message;

/// One record's part of a request: a whole single-record message, or one row of a batch.
#[derive(Debug, Clone)]
pub(crate) struct RecordRequest<'a> {
    /// Read flags.
    pub(crate) info1: u8,
    /// Write flags.
    pub(crate) info2: u8,
    /// More flags.
    pub(crate) info3: u8,
    /// Generation word.
    pub(crate) generation: u32,
    /// TTL word (reads: read-touch percentage).
    pub(crate) record_ttl: u32,
    /// Set name; `None` if there is no such field.
    pub(crate) set: Option<&'a [u8]>,
    /// Digest.
    pub(crate) digest: &'a [u8; 20],
    /// User key with its type byte in front, if the request carries one.
    pub(crate) key: Option<&'a [u8]>,
    /// Filter expression.
    pub(crate) filter: Option<&'a [u8]>,
    /// The operations.
    pub(crate) ops: aerolane_wire::message::Ops<'a>,
    /// How many operations there are.
    pub(crate) n_ops: u16,
}

/// What goes into the header of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RecordOutcome {
    /// Result code.
    pub(crate) code: u8,
    /// Generation word of the answer.
    pub(crate) generation: u32,
    /// Void time of the answer, seconds since 2010, 0 = never.
    pub(crate) void_time: u32,
    /// How many operations were appended.
    pub(crate) n_ops: u16,
}

/// Executes one request on one record. Appends the operations of the answer to `out` (none if it fails); the caller
/// writes the message header around them.
pub(crate) fn execute(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    let _ = (namespace, request, now_ms, out);
    RecordOutcome { code: code::UNSUPPORTED, ..RecordOutcome::default() }
}

/// Answers a single-record message with one frame.
pub(crate) fn answer(request: &Request<'_>, message: &Message<'_>, out: &mut Vec<u8>) {
    let _ = (request, message);
    error_answer(out, code::UNSUPPORTED);
}
