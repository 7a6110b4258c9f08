//! What makes a request one of a transaction, and what its answer tells of it.

use aerolane_wire::WireResult;
use aerolane_wire::batch::{BatchRows, BatchWriter};
use aerolane_wire::digest::Digest;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageWriter, field, info2};

use super::ledger::Ledger;
use crate::command::compress::with_plain_body;
use crate::command::encode::too_big;
use crate::error::{Error, Result};

/// Size of a version: the low bytes of a number, little-endian.
const VERSION_SIZE: usize = 7;

/// The fields that a request of a transaction has beside those of a plain one.
pub(super) struct TxnFields {
    bytes: Vec<u8>,
    count: u32,
}

impl TxnFields {
    /// Those of a request about this record.
    pub(super) fn of(ledger: &Ledger, digest: &Digest, writes: bool) -> Self {
        let (version, deadline) = ledger.known_of(digest);
        let mut fields = Self::with_id(ledger.id());
        if let Some(version) = version {
            fields.version(version);
        }
        if writes && deadline != 0 {
            fields.push(field::MRT_DEADLINE, &deadline.to_le_bytes());
        }
        fields
    }

    /// The transaction alone.
    pub(super) fn with_id(id: i64) -> Self {
        let mut fields = Self { bytes: Vec::with_capacity(40), count: 0 };
        fields.push(field::MRT_ID, &id.to_le_bytes());
        fields
    }

    /// A version alone.
    pub(super) fn with_version(version: u64) -> Self {
        let mut fields = Self { bytes: Vec::with_capacity(12), count: 0 };
        fields.version(version);
        fields
    }

    fn version(&mut self, version: u64) {
        self.push(field::RECORD_VERSION, &version.to_le_bytes()[..VERSION_SIZE]);
    }

    fn push(&mut self, kind: u8, value: &[u8]) {
        self.bytes.extend_from_slice(&(1 + value.len() as u32).to_be_bytes());
        self.bytes.push(kind);
        self.bytes.extend_from_slice(value);
        self.count += 1;
    }

    pub(super) fn write(&self, writer: &mut MessageWriter<'_>) {
        writer.encoded_fields(&self.bytes, self.count);
    }
}

/// A request about one record (a whole frame, compressed or not) with these fields; not compressed.
pub(super) fn with_fields(request: &[u8], fields: &TxnFields) -> Result<Vec<u8>> {
    with_fields_and_set(request, fields).map(|(request, _)| request)
}

/// The same, and the set that is in the request.
pub(super) fn with_fields_and_set(request: &[u8], fields: &TxnFields) -> Result<(Vec<u8>, Box<str>)> {
    with_plain_body(request, |body| {
        let message = Message::decode(body)?;
        let set = std::str::from_utf8(message.field(field::SET).unwrap_or_default())?.into();
        let mut out = Vec::with_capacity(request.len() + fields.bytes.len() + MESSAGE_HEADER_SIZE);
        let mut writer = MessageWriter::frame(&mut out, &message.header);
        for field in message.fields() {
            writer.field(field.kind, field.value);
        }
        fields.write(&mut writer);
        for op in message.ops() {
            writer.raw_op(&op)?;
        }
        writer.finish().map_err(too_big)?;
        Ok((out, set))
    })
}

/// A batch (a whole frame) in which each row has the fields of a transaction. `seen` is told of each row: its place among
/// the rows, and its set.
pub(super) fn batch_with_fields(request: &[u8], ledger: &Ledger, mut seen: impl FnMut(u32, &str)) -> Result<Vec<u8>> {
    with_plain_body(request, |body| {
        let message = Message::decode(body)?;
        let mut out = Vec::with_capacity(request.len() * 2);
        let mut writer = MessageWriter::frame(&mut out, &message.header);
        for field in message.fields() {
            if field.kind != field::BATCH {
                writer.field(field.kind, field.value);
                continue;
            }
            let rows = BatchRows::decode(field.value)?;
            writer.field_with(field::BATCH, |out| {
                let mut batch = BatchWriter::begin(out, rows.flags);
                for row in rows {
                    let row = row?;
                    let set = row.field(field::SET).unwrap_or_default();
                    seen(row.index, std::str::from_utf8(set)?);
                    let fields = TxnFields::of(ledger, row.digest, row.header.info2 & info2::WRITE != 0);
                    batch.row(row.index, row.digest, &row.header, |writer| {
                        for field in row.fields() {
                            writer.field(field.kind, field.value);
                        }
                        writer.encoded_fields(&fields.bytes, fields.count);
                        row.ops().try_for_each(|op| writer.raw_op(&op))
                    })?;
                }
                batch.finish();
                Ok::<_, Error>(())
            })?;
        }
        for op in message.ops() {
            writer.raw_op(&op)?;
        }
        writer.finish().map_err(too_big)?;
        Ok(out)
    })
}

/// The version that an answer tells.
pub(super) fn version_of(message: &Message<'_>) -> Option<u64> {
    let bytes: &[u8; VERSION_SIZE] = message.field(field::RECORD_VERSION)?.try_into().ok()?;
    let mut wide = [0; 8];
    wide[..VERSION_SIZE].copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

/// Version and result code in the message that `bytes` begin with.
pub(super) fn version_in(bytes: &[u8]) -> WireResult<(Option<u64>, u8)> {
    Message::decode_prefix(bytes).map(|(message, _)| (version_of(&message), message.header.result_code))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aerolane_wire::batch::RowHeader;
    use aerolane_wire::message::{MessageHeader, info1, op};
    use aerolane_wire::particle::Particle;
    use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};
    use aerospike_core::Txn;

    use super::super::RecordId;
    use super::*;
    use crate::command::compress;

    fn plain() -> Vec<u8> {
        let mut out = Vec::new();
        let header = MessageHeader { info2: info2::WRITE, transaction_ttl: 1000, ..MessageHeader::default() };
        let mut writer = MessageWriter::frame(&mut out, &header);
        writer.field(field::NAMESPACE, b"test");
        writer.field(field::DIGEST, &[1; 20]);
        writer.op(op::WRITE, b"a", Particle::Integer(7)).unwrap();
        writer.op(op::WRITE, b"b", Particle::String(&[b'x'; 300])).unwrap();
        writer.finish().unwrap();
        out
    }

    fn ledger() -> Arc<Ledger> {
        let ledger = Ledger::of(&Arc::new(Txn::new()));
        ledger.told(RecordId { namespace: "test", set: "", digest: &[1; 20] }, false, Some(0x0011_2233_4455_6677), 0);
        ledger.announced(&[], 0x0102_0304);
        ledger
    }

    #[test]
    fn fields_stand_behind_those_of_the_request() {
        let ledger = ledger();
        let mut packed = plain();
        compress::request(&mut packed, 0, 10);
        assert_ne!(packed, plain());
        for request in [plain(), packed] {
            let out = with_fields(&request, &TxnFields::of(&ledger, &[1; 20], true)).unwrap();
            let (frame, size) = split_frame(&out, MAX_BODY_SIZE).unwrap().unwrap();
            assert_eq!(size, out.len());
            let message = Message::decode(frame.body).unwrap();
            let kinds: Vec<_> = message.fields().map(|field| field.kind).collect();
            assert_eq!(
                kinds,
                [field::NAMESPACE, field::DIGEST, field::MRT_ID, field::RECORD_VERSION, field::MRT_DEADLINE]
            );
            assert_eq!(message.field(field::MRT_ID), Some(&ledger.id().to_le_bytes()[..]));
            assert_eq!(message.field(field::RECORD_VERSION), Some(&[0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11][..]));
            assert_eq!(message.field(field::MRT_DEADLINE), Some(&[4, 3, 2, 1][..]));
            assert_eq!(version_of(&message), Some(0x0011_2233_4455_6677));
            let (before, _) = split_frame(&request, MAX_BODY_SIZE).unwrap().unwrap();
            let mut scratch = Vec::new();
            let before = Message::decode(compress::message_body(&before, &mut scratch).unwrap()).unwrap();
            assert!(message.ops().eq(before.ops()) && message.header.transaction_ttl == 1000);
        }
        let reads = with_fields(&plain(), &TxnFields::of(&ledger, &[2; 20], false)).unwrap();
        let (frame, _) = split_frame(&reads, MAX_BODY_SIZE).unwrap().unwrap();
        assert_eq!(Message::decode(frame.body).unwrap().header.n_fields, 3, "neither version nor deadline");
    }

    #[test]
    fn each_row_of_a_batch_gets_its_own() {
        let ledger = ledger();
        let mut request = Vec::new();
        let header = MessageHeader { info1: info1::READ | info1::BATCH, ..MessageHeader::default() };
        let mut writer = MessageWriter::frame(&mut request, &header);
        writer
            .field_with(field::BATCH, |out| {
                let mut batch = BatchWriter::begin(out, 9);
                for row in 0..3_u8 {
                    let header = RowHeader::read(info1::READ | info1::GET_ALL, 0, 0);
                    batch.row(u32::from(row), &[row; 20], &header, |writer| {
                        writer.field(field::NAMESPACE, b"test");
                        writer.field(field::SET, b"s");
                        WireResult::Ok(())
                    })?;
                }
                batch.finish();
                WireResult::Ok(())
            })
            .unwrap();
        writer.finish().unwrap();
        let mut sets = Vec::new();
        let out = batch_with_fields(&request, &ledger, |row, set| sets.push((row, set.to_owned()))).unwrap();
        assert_eq!(sets, (0..3).map(|row| (row, "s".to_owned())).collect::<Vec<_>>());
        let (frame, _) = split_frame(&out, MAX_BODY_SIZE).unwrap().unwrap();
        let message = Message::decode(frame.body).unwrap();
        let rows = BatchRows::decode(message.field(field::BATCH).unwrap()).unwrap();
        assert_eq!(rows.flags, 9);
        let rows: Vec<_> = rows.collect::<WireResult<_>>().unwrap();
        for (place, row) in rows.iter().enumerate() {
            assert_eq!(row.field(field::MRT_ID), Some(&ledger.id().to_le_bytes()[..]), "{place}");
            assert_eq!(row.field(field::RECORD_VERSION).is_some(), place == 1, "{place}");
            assert_eq!(row.field(field::MRT_DEADLINE), None);
        }
    }
}
