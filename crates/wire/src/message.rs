//! Messages: the 22-byte message header, then fields, then operations. Requests and answers have the same form.
//!
//! Layout of the header (big-endian; checked against the golden group `record`): header size (22), info1, info2,
//! info3, info4, result code (1 byte each), generation, record TTL, transaction TTL (4 bytes each), number of fields,
//! number of operations (2 bytes each). In requests the record TTL is seconds and the transaction TTL the timeout in
//! milliseconds; in answers they are the void time (seconds since 2010-01-01 UTC) and the batch index.

mod reader;

pub use reader::{MessageReader, pass_message, pass_message_with};

use crate::bytes::Cursor;
use crate::particle::Particle;
use crate::proto::{self, FrameType};
use crate::{WireError, WireErrorKind, WireResult};

/// Size of the message header in bytes.
pub const MESSAGE_HEADER_SIZE: usize = 22;

/// Bits of the first info byte: reads.
pub mod info1 {
    /// The message reads.
    pub const READ: u8 = 0x01;
    /// Read all bins.
    pub const GET_ALL: u8 = 0x02;
    /// A query that is expected to be short.
    pub const SHORT_QUERY: u8 = 0x04;
    /// The message is a batch.
    pub const BATCH: u8 = 0x08;
    /// Sent by (or as) cross-datacentre replication.
    pub const XDR: u8 = 0x10;
    /// Read no bins: existence and metadata only.
    pub const NO_BIN_DATA: u8 = 0x20;
    /// AP namespaces: ask all replicas while partitions migrate.
    pub const READ_MODE_AP_ALL: u8 = 0x40;
    /// The client takes compressed answers (Enterprise Edition).
    pub const COMPRESS_RESPONSE: u8 = 0x80;
}

/// Bits of the second info byte: writes.
pub mod info2 {
    /// The message writes.
    pub const WRITE: u8 = 0x01;
    /// Delete the record.
    pub const DELETE: u8 = 0x02;
    /// Write only if the generation is equal.
    pub const GENERATION: u8 = 0x04;
    /// Write only if the request's generation is greater.
    pub const GENERATION_GT: u8 = 0x08;
    /// Leave a tombstone (Enterprise Edition).
    pub const DURABLE_DELETE: u8 = 0x10;
    /// Fail if the record exists.
    pub const CREATE_ONLY: u8 = 0x20;
    /// Long queries: partitions may be in migration (`QueryDuration::LongRelaxAp`).
    pub const RELAX_AP_LONG_QUERY: u8 = 0x40;
    /// Answer for each operation, also where it has nothing to say.
    pub const RESPOND_ALL_OPS: u8 = 0x80;
}

/// Bits of the third info byte.
pub mod info3 {
    /// Last message of a multi-message answer.
    pub const LAST: u8 = 0x01;
    /// Acknowledge once the master has written.
    pub const COMMIT_MASTER: u8 = 0x02;
    /// Queries: in a request, the client understands partition-done messages; in an answer, this is one.
    pub const PARTITION_DONE: u8 = 0x04;
    /// Fail if the record does not exist; merge bins.
    pub const UPDATE_ONLY: u8 = 0x08;
    /// Create, or replace all bins.
    pub const CREATE_OR_REPLACE: u8 = 0x10;
    /// Fail if the record does not exist; replace all bins.
    pub const REPLACE_ONLY: u8 = 0x20;
    /// Strong consistency: first bit of the read mode (linearize or allow replica).
    pub const SC_READ_TYPE: u8 = 0x40;
    /// Strong consistency: second bit of the read mode (allow replica or unavailable).
    pub const SC_READ_RELAX: u8 = 0x80;
}

/// Bits of the fourth info byte: transactions (server 8.0 and later).
pub mod info4 {
    /// Verify a read of a transaction.
    pub const TXN_VERIFY_READ: u8 = 0x01;
    /// Roll a write of a transaction forward.
    pub const TXN_ROLL_FORWARD: u8 = 0x02;
    /// Roll a write of a transaction back.
    pub const TXN_ROLL_BACK: u8 = 0x04;
    /// Write the monitor record only if the record is locked.
    pub const TXN_ON_LOCKING_ONLY: u8 = 0x10;
    /// Two bits: how much an error is to tell about itself (server 8.2 and later), see
    /// [`field::ERROR_DETAIL`](super::field::ERROR_DETAIL).
    pub const ERROR_VERBOSITY: u8 = 0x60;
}

/// Types of message fields.
pub mod field {
    /// Namespace name.
    pub const NAMESPACE: u8 = 0;
    /// Set name.
    pub const SET: u8 = 1;
    /// User key: particle type (1 byte), value.
    pub const KEY: u8 = 2;
    /// Version of the record in a transaction (7 bytes, little-endian).
    pub const RECORD_VERSION: u8 = 3;
    /// Record digest (20 bytes).
    pub const DIGEST: u8 = 4;
    /// Transaction id (8 bytes, little-endian).
    pub const MRT_ID: u8 = 5;
    /// Transaction deadline (4 bytes, little-endian).
    pub const MRT_DEADLINE: u8 = 6;
    /// Query id (8 bytes).
    pub const QUERY_ID: u8 = 7;
    /// Socket timeout of a query in milliseconds (4 bytes).
    pub const SOCKET_TIMEOUT: u8 = 9;
    /// Records per second of a query (4 bytes).
    pub const RECORDS_PER_SECOND: u8 = 10;
    /// Partition ids (2 bytes each, little-endian).
    pub const PARTITIONS: u8 = 11;
    /// Digests to go on after.
    pub const DIGESTS: u8 = 12;
    /// Most records that a query is to answer (8 bytes).
    pub const MAX_RECORDS: u8 = 13;
    /// Last update time of a record (8 bytes; replication between clusters).
    pub const LAST_UPDATE_TIME: u8 = 14;
    /// Index values to go on after, with their digests.
    pub const BVALS: u8 = 15;
    /// Name of a secondary index.
    pub const INDEX_NAME: u8 = 21;
    /// Range of a secondary-index query.
    pub const INDEX_RANGE: u8 = 22;
    /// Context of a secondary index.
    pub const INDEX_CONTEXT: u8 = 23;
    /// Expression of a secondary index.
    pub const INDEX_EXPRESSION: u8 = 24;
    /// Collection type of a secondary index.
    pub const INDEX_TYPE: u8 = 26;
    /// UDF module.
    pub const UDF_PACKAGE: u8 = 30;
    /// UDF function.
    pub const UDF_FUNCTION: u8 = 31;
    /// UDF arguments (msgpack list).
    pub const UDF_ARGUMENTS: u8 = 32;
    /// UDF operation of a query.
    pub const UDF_OPERATION: u8 = 33;
    /// Bin names of an old-style query projection.
    pub const QUERY_BINS: u8 = 40;
    /// Batch-index rows, see [`crate::batch`].
    pub const BATCH: u8 = 41;
    /// The same, as older clients call it; the server takes both for the same (golden group `batch`).
    pub const BATCH_WITH_SET: u8 = 42;
    /// Filter expression (msgpack).
    pub const FILTER: u8 = 43;
    /// Condition of a query as text (server 8.2 and later).
    pub const QUERY_WHERE: u8 = 44;
    /// In an answer: more about an error (msgpack map; server 8.2 and later, on request).
    pub const ERROR_DETAIL: u8 = 45;
}

/// Flags in the byte in front of the text of [`field::QUERY_WHERE`] (server 8.2 and later; checked against what
/// aerospike-core 3.0.0 sends). Bit 0 is reserved: another byte of flags follows.
pub mod query_where {
    /// Only say which index serves the condition.
    pub const EXPLAIN: u8 = 0x02;
    /// With [`EXPLAIN`]: fail if no secondary index serves it.
    pub const REQUIRE_INDEX: u8 = 0x04;
    /// With [`EXPLAIN`]: fail if the index that the request names does not serve it.
    pub const HARD_HINT: u8 = 0x08;
}

/// Types of operations.
pub mod op {
    /// Read a bin (empty name: all bins).
    pub const READ: u8 = 1;
    /// Write a bin.
    pub const WRITE: u8 = 2;
    /// Read from a collection.
    pub const CDT_READ: u8 = 3;
    /// Modify a collection.
    pub const CDT_MODIFY: u8 = 4;
    /// Add to a number.
    pub const INCR: u8 = 5;
    /// Evaluate an expression.
    pub const EXP_READ: u8 = 7;
    /// Evaluate an expression and store its result.
    pub const EXP_MODIFY: u8 = 8;
    /// Append to a string or blob.
    pub const APPEND: u8 = 9;
    /// Prepend to a string or blob.
    pub const PREPEND: u8 = 10;
    /// Reset the TTL, count up the generation.
    pub const TOUCH: u8 = 11;
    /// Read bits.
    pub const BITS_READ: u8 = 12;
    /// Modify bits.
    pub const BITS_MODIFY: u8 = 13;
    /// Delete the record.
    pub const DELETE: u8 = 14;
    /// Read from a HyperLogLog.
    pub const HLL_READ: u8 = 15;
    /// Modify a HyperLogLog.
    pub const HLL_MODIFY: u8 = 16;
    /// Read from a string (server 8.2 and later).
    pub const STRING_READ: u8 = 17;
    /// Modify a string (server 8.2 and later).
    pub const STRING_MODIFY: u8 = 18;
    /// Read a bin as text (server 8.2 and later).
    pub const TO_STRING: u8 = 19;
}

/// The message header. Two of its words mean different things in requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageHeader {
    /// Read flags, see [`info1`].
    pub info1: u8,
    /// Write flags, see [`info2`].
    pub info2: u8,
    /// More flags, see [`info3`].
    pub info3: u8,
    /// Transaction flags, see [`info4`].
    pub info4: u8,
    /// Result code of an answer; 0 in requests.
    pub result_code: u8,
    /// Generation.
    pub generation: u32,
    /// Requests: TTL in seconds (0 namespace default, `u32::MAX` never, `u32::MAX - 1` do not change).
    /// Answers: void time, in seconds since 2010-01-01 UTC; 0 never expires.
    pub record_ttl: u32,
    /// Requests: timeout in milliseconds. Batch answers: index of the row.
    pub transaction_ttl: u32,
    /// Number of fields that follow.
    pub n_fields: u16,
    /// Number of operations that follow the fields.
    pub n_ops: u16,
}

impl MessageHeader {
    /// The 22 bytes of the header.
    #[must_use]
    #[inline]
    pub fn encode(&self) -> [u8; MESSAGE_HEADER_SIZE] {
        let mut b = [0; MESSAGE_HEADER_SIZE];
        b[0] = MESSAGE_HEADER_SIZE as u8;
        b[1] = self.info1;
        b[2] = self.info2;
        b[3] = self.info3;
        b[4] = self.info4;
        b[5] = self.result_code;
        b[6..10].copy_from_slice(&self.generation.to_be_bytes());
        b[10..14].copy_from_slice(&self.record_ttl.to_be_bytes());
        b[14..18].copy_from_slice(&self.transaction_ttl.to_be_bytes());
        b[18..20].copy_from_slice(&self.n_fields.to_be_bytes());
        b[20..22].copy_from_slice(&self.n_ops.to_be_bytes());
        b
    }

    /// Decodes the header at the front of `bytes`. The header-size byte is not looked at, as in the server.
    pub fn decode(bytes: &[u8]) -> WireResult<Self> {
        header_bytes(bytes).map(Self::of)
    }

    #[inline]
    fn of(b: &[u8; MESSAGE_HEADER_SIZE]) -> Self {
        let word = |at: usize| u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        Self {
            info1: b[1],
            info2: b[2],
            info3: b[3],
            info4: b[4],
            result_code: b[5],
            generation: word(6),
            record_ttl: word(10),
            transaction_ttl: word(14),
            n_fields: u16::from_be_bytes([b[18], b[19]]),
            n_ops: u16::from_be_bytes([b[20], b[21]]),
        }
    }
}

/// The header at the front of `bytes`.
#[inline]
fn header_bytes(bytes: &[u8]) -> WireResult<&[u8; MESSAGE_HEADER_SIZE]> {
    bytes.first_chunk().ok_or_else(|| WireError::truncated(MESSAGE_HEADER_SIZE - bytes.len(), bytes.len()))
}

/// A field, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The type, see [`field`].
    pub kind: u8,
    /// The value without size and type.
    pub value: &'a [u8],
}

/// An operation of a request, or a bin of an answer; borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op<'a> {
    /// What is done, see [`op`].
    pub kind: u8,
    /// Particle type of the value, see [`crate::particle::particle_type`].
    pub particle_type: u8,
    /// The flags byte between particle type and name length; 0 in all that clients send. Bit 0: an update time follows
    /// the name; the other bits mean nothing (golden group `malformed`, scenario ops).
    pub version: u8,
    /// Bin name, up to 255 bytes on the wire. Not necessarily UTF-8.
    pub name: &'a [u8],
    /// The bin's last update time, if bit 0 of `version` announces it (replication between clusters).
    pub update_time: Option<&'a [u8; 8]>,
    /// The value, uninterpreted.
    pub value: &'a [u8],
}

/// A message, borrowed from a frame body (or from a batch answer that holds several).
///
/// [`Message::decode`] walks all fields and operations once, so that the iterators cannot fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The header.
    pub header: MessageHeader,
    fields: &'a [u8],
    ops: &'a [u8],
}

impl<'a> Message<'a> {
    /// Decodes the message at the front of `body`; also says how many bytes it has.
    pub fn decode_prefix(body: &'a [u8]) -> WireResult<(Self, usize)> {
        let mut reader = MessageReader::new(body)?;
        let header = reader.header();
        let mut fields_end = MESSAGE_HEADER_SIZE;
        while let Some(field) = reader.next_field()? {
            fields_end += FIELD_OVERHEAD + field.value.len();
        }
        let end = reader.finish()?;
        Ok((Self { header, fields: &body[MESSAGE_HEADER_SIZE..fields_end], ops: &body[fields_end..end] }, end))
    }

    /// Decodes a body that holds exactly one message.
    pub fn decode(body: &'a [u8]) -> WireResult<Self> {
        let (message, end) = Self::decode_prefix(body)?;
        if end == body.len() {
            Ok(message)
        } else {
            Err(WireError::new(WireErrorKind::Trailing { extra: body.len() - end }, end))
        }
    }

    /// The fields in order.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields::checked(self.fields)
    }

    /// The first field of this type: of two fields of one type the first counts, as in the server.
    #[must_use]
    pub fn field(&self, kind: u8) -> Option<&'a [u8]> {
        self.fields().find(|f| f.kind == kind).map(|f| f.value)
    }

    /// The operations in order.
    #[must_use]
    pub fn ops(&self) -> Ops<'a> {
        Ops::checked(self.ops)
    }
}

/// What a field has beside its value: size and type.
const FIELD_OVERHEAD: usize = 5;
/// What an operation has beside name and value: size, type, particle type, flags, name length.
const OP_OVERHEAD: usize = 8;

#[inline]
pub(crate) fn read_field<'a>(cursor: &mut Cursor<'a>) -> WireResult<Field<'a>> {
    let at = cursor.at();
    let [s0, s1, s2, s3, kind] = cursor.array()?;
    match (u32::from_be_bytes([s0, s1, s2, s3]) as usize).checked_sub(1) {
        Some(len) => Ok(Field { kind, value: cursor.take(len)? }),
        None => Err(WireError::new(WireErrorKind::TooSmall { what: "field size", value: 0 }, at)),
    }
}

#[inline]
pub(crate) fn read_op<'a>(cursor: &mut Cursor<'a>) -> WireResult<Op<'a>> {
    let at = cursor.at();
    let [s0, s1, s2, s3, kind, particle_type, version, name_len] = cursor.array()?;
    let size = u32::from_be_bytes([s0, s1, s2, s3]) as usize;
    let name_len = usize::from(name_len);
    let too_small = || WireError::new(WireErrorKind::TooSmall { what: "operation size", value: size as u64 }, at);
    if size < 4 + name_len {
        return Err(too_small());
    }
    let (name, mut value) = cursor.take(size - 4)?.split_at(name_len);
    let mut update_time = None;
    if version & OP_HAS_UPDATE_TIME != 0 {
        let (time, rest) = value.split_first_chunk().ok_or_else(too_small)?;
        (update_time, value) = (Some(time), rest);
    }
    Ok(Op { kind, particle_type, version, name, update_time, value })
}

/// Bit of an operation's flags byte: 8 bytes of update time follow the name.
const OP_HAS_UPDATE_TIME: u8 = 0x01;

/// Iterator over the messages of a frame body: answers to batches and queries put several into one frame.
///
/// After an error it ends.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Messages<'a> {
    /// Over the messages of this body.
    #[must_use]
    pub const fn new(body: &'a [u8]) -> Self {
        Self { body, at: 0 }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = WireResult<Message<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.body.get(self.at..).filter(|rest| !rest.is_empty())?;
        match Message::decode_prefix(rest) {
            Ok((message, size)) => {
                self.at += size;
                Some(Ok(message))
            }
            Err(error) => {
                let error = error.shifted(self.at);
                self.at = self.body.len();
                Some(Err(error))
            }
        }
    }
}

/// Iterator over the fields of a [`Message`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Fields<'a> {
    /// Over bytes that have been walked already.
    pub(crate) const fn checked(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes) }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        read_field(&mut self.cursor).ok()
    }
}

/// Iterator over the operations of a [`Message`].
#[derive(Debug, Clone)]
pub struct Ops<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Ops<'a> {
    /// Over bytes that have been walked already.
    pub(crate) const fn checked(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes) }
    }
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    fn next(&mut self) -> Option<Op<'a>> {
        read_op(&mut self.cursor).ok()
    }
}

/// Writes one message in one pass: sizes and counts are filled in behind the values, so they cannot disagree.
///
/// Fields come first, then operations. If anything fails, truncate the buffer to its old length
/// ([`MessageWriter::abort`] does).
#[derive(Debug)]
pub struct MessageWriter<'b> {
    out: &'b mut Vec<u8>,
    /// Where the proto header stands; `None` for messages that share a frame.
    frame_start: Option<usize>,
    start: usize,
    n_fields: u32,
    n_ops: u32,
}

impl<'b> MessageWriter<'b> {
    /// Starts a message in a frame of its own. The counts in `header` are ignored.
    pub fn frame(out: &'b mut Vec<u8>, header: &MessageHeader) -> Self {
        let frame_start = proto::begin_frame(out, FrameType::Message);
        let mut writer = Self::bare(out, header);
        writer.frame_start = Some(frame_start);
        writer
    }

    /// Starts a message without a proto header (multi-record answers put several into one frame).
    pub fn bare(out: &'b mut Vec<u8>, header: &MessageHeader) -> Self {
        let start = out.len();
        out.extend_from_slice(&header.encode());
        Self { out, frame_start: None, start, n_fields: 0, n_ops: 0 }
    }

    /// Appends a field.
    #[inline]
    pub fn field(&mut self, kind: u8, value: &[u8]) {
        encode_field(self.out, kind, value);
        self.n_fields += 1;
    }

    /// Appends `count` fields that stand in `fields` as they are to be sent (size, type, value): a key is written once
    /// and sent often.
    #[inline]
    pub fn encoded_fields(&mut self, fields: &[u8], count: u32) {
        self.out.extend_from_slice(fields);
        self.n_fields += count;
    }

    /// Appends a field whose value `write` appends.
    pub fn field_with<E>(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.out.len();
        self.out.extend_from_slice(&[0, 0, 0, 0, kind]);
        write(self.out)?;
        patch_size(self.out, start);
        self.n_fields += 1;
        Ok(())
    }

    /// Appends an operation. Fails if the bin name has more than 255 bytes.
    #[inline]
    pub fn op(&mut self, kind: u8, name: &[u8], value: Particle<'_>) -> WireResult<()> {
        self.op_with(kind, value.particle_type(), name, |out| {
            value.encode(out);
            Ok(())
        })
    }

    /// Appends an operation whose value `write` appends. Fails as [`MessageWriter::op`] does, or with `write`'s error.
    pub fn op_with<E: From<WireError>>(
        &mut self,
        kind: u8,
        particle_type: u8,
        name: &[u8],
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.n_ops += 1;
        encode_op(self.out, kind, particle_type, name, write)
    }

    /// Appends `count` operations that stand in `ops` as [`encode_op`] has written them.
    #[inline]
    pub fn encoded_ops(&mut self, ops: &[u8], count: u32) {
        self.out.extend_from_slice(ops);
        self.n_ops += count;
    }

    /// Appends an operation as it was received.
    pub fn raw_op(&mut self, op: &Op<'_>) -> WireResult<()> {
        self.n_ops += 1;
        write_raw_op(self.out, op)
    }

    /// Fills in the counts (and the frame size). Fails if there are more than 65,535 fields or operations, or if the
    /// frame is larger than [`MAX_BODY_SIZE`](proto::MAX_BODY_SIZE).
    pub fn finish(self) -> WireResult<()> {
        let n_fields = count("number of fields", self.n_fields)?;
        let n_ops = count("number of operations", self.n_ops)?;
        self.out[self.start + 18..self.start + 20].copy_from_slice(&n_fields.to_be_bytes());
        self.out[self.start + 20..self.start + 22].copy_from_slice(&n_ops.to_be_bytes());
        match self.frame_start {
            Some(start) => proto::end_frame(self.out, start),
            None => Ok(()),
        }
    }

    /// Takes back all that was written.
    pub fn abort(self) {
        self.out.truncate(self.frame_start.unwrap_or(self.start));
    }
}

/// Appends a field: size, type, value.
pub fn encode_field(out: &mut Vec<u8>, kind: u8, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32 + 1).to_be_bytes());
    out.push(kind);
    out.extend_from_slice(value);
}

/// Appends an operation: size, type, particle type, version, name length, name, value (which `write` appends). Fails if
/// the bin name has more than 255 bytes; then truncate the buffer.
pub fn encode_op<E: From<WireError>>(
    out: &mut Vec<u8>,
    kind: u8,
    particle_type: u8,
    name: &[u8],
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    if name.len() > 255 {
        return Err(too_large("bin name length", name.len() as u64, 255).into());
    }
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, kind, particle_type, 0, name.len() as u8]);
    out.extend_from_slice(name);
    write(out)?;
    patch_size(out, start);
    Ok(())
}

/// Appends an operation with the flags byte and update time of `op`.
pub(crate) fn write_raw_op(out: &mut Vec<u8>, op: &Op<'_>) -> WireResult<()> {
    if (op.version & OP_HAS_UPDATE_TIME != 0) != op.update_time.is_some() {
        return Err(WireError::invalid("bit 0 of an operation's flags byte goes with an update time", 0));
    }
    let start = out.len();
    encode_op(out, op.kind, op.particle_type, op.name, |out| {
        if let Some(time) = op.update_time {
            out.extend_from_slice(time);
        }
        out.extend_from_slice(op.value);
        Ok::<_, WireError>(())
    })?;
    out[start + 6] = op.version;
    Ok(())
}

/// A count as the 16-bit word that it travels in.
pub(crate) fn count(what: &'static str, value: u32) -> WireResult<u16> {
    u16::try_from(value).map_err(|_| too_large(what, u64::from(value), u64::from(u16::MAX)))
}

/// Fills in the 4-byte size at `start` of an item that reaches to the end of `out`.
fn patch_size(out: &mut [u8], start: usize) {
    let size = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

fn too_large(what: &'static str, value: u64, limit: u64) -> WireError {
    WireError::new(WireErrorKind::TooLarge { what, value, limit }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_back_as_written() {
        let mut out = vec![0xaa];
        let header = MessageHeader { info2: info2::WRITE, transaction_ttl: 1000, ..MessageHeader::default() };
        let mut writer = MessageWriter::frame(&mut out, &header);
        writer.field(field::NAMESPACE, b"test");
        writer.field(field::DIGEST, &[9; 20]);
        writer.op(op::WRITE, b"a", Particle::Integer(-1)).unwrap();
        writer.op(op::READ, b"", Particle::Nil).unwrap();
        writer.finish().unwrap();

        let (frame, size) = proto::split_frame(&out[1..], proto::MAX_BODY_SIZE).unwrap().unwrap();
        assert_eq!(size, out.len() - 1);
        let message = Message::decode(frame.body).unwrap();
        assert_eq!(message.header, MessageHeader { n_fields: 2, n_ops: 2, ..header });
        assert_eq!(message.field(field::NAMESPACE), Some(&b"test"[..]));
        let ops: Vec<_> = message.ops().collect();
        assert_eq!((ops[0].name, ops[0].value), (&b"a"[..], &[0xff; 8][..]));
        assert_eq!((ops[1].kind, ops[1].value), (op::READ, &b""[..]));
        for cut in 0..frame.body.len() {
            assert!(Message::decode(&frame.body[..cut]).is_err());
        }
    }
}
