//! Batches: rows of all kinds, each on a record of its own, as rows are done in any order.

use super::requests::{Request, Scenario, encoded, operation, particle_of_op};
use super::{expressions, values};
use crate::live::nodes::Ends;
use aerolane_wire::WireError;
use aerolane_wire::batch::{BatchWriter, RowHeader, RowWriter, flags};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::particle_type;

/// What one row does.
struct Row {
    digest: [u8; 20],
    header: RowHeader,
    /// Operations as they stand in a message, and how many.
    ops: (Vec<u8>, u32),
    filter: Option<Vec<u8>>,
}

impl Row {
    fn write(&self, set: &str, row: &mut RowWriter<'_>) {
        row.field(field::NAMESPACE, b"test");
        row.field(field::SET, set.as_bytes());
        if let Some(filter) = &self.filter {
            row.field(field::FILTER, filter);
        }
        row.encoded_ops(&self.ops.0, self.ops.1);
    }
}

impl Scenario {
    /// A batch over some of the records, and one that never is there.
    pub(super) fn batch(&mut self) -> Request {
        let mut digests = self.digests();
        let mut missing = digests[0];
        missing[19] = 0xee;
        digests.push(missing);
        let mut rows = Vec::new();
        for digest in digests {
            if !self.random.once_in(3) {
                rows.push(self.row(digest, digest == missing));
            }
        }
        if rows.is_empty() {
            rows.push(self.row(missing, true));
        }
        let random = &mut self.random;
        // Without this flag, the first row that is not found ends the batch, and which one that is depends on threads.
        let all = if rows.len() > 1 || random.once_in(2) { flags::RESPOND_ALL_KEYS } else { 0 };
        let inline = if random.once_in(2) { flags::INLINE } else { 0 };
        let filter = random.once_in(12).then(|| expressions::filter(random));
        let mut bytes = Vec::new();
        let header = MessageHeader { info1: info1::READ | info1::BATCH, ..MessageHeader::default() };
        let mut message = MessageWriter::frame(&mut bytes, &header);
        if let Some(filter) = &filter {
            message.field(field::FILTER, filter);
        }
        message
            .field_with(field::BATCH, |out| {
                let mut writer = BatchWriter::begin(out, all | inline);
                for (index, row) in rows.iter().enumerate() {
                    writer.row(index as u32, &row.digest, &row.header, |out| {
                        row.write(&self.set, out);
                        Ok::<_, WireError>(())
                    })?;
                }
                writer.finish();
                Ok::<_, WireError>(())
            })
            .unwrap();
        message.finish().unwrap();
        let of_row = |row: &Row| {
            let h = row.header;
            format!("{:02x}/{:02x}/{:02x} {:02x?} {:02x?}", h.info1, h.info2, h.info3, row.ops.0, row.filter)
        };
        let note = format!("batch {filter:02x?} of {:?}", rows.iter().map(of_row).collect::<Vec<_>>());
        let digests = rows.iter().map(|row| row.digest).filter(|digest| *digest != missing).collect();
        Request { digests, ..Request::new(bytes, Ends::Rows, note) }
    }

    fn row(&mut self, digest: [u8; 20], reads: bool) -> Row {
        let random = &mut self.random;
        let filter = random.once_in(8).then(|| expressions::filter(random));
        let none = (Vec::new(), 0);
        let (header, ops) = match random.below(if reads { 4 } else { 8 }) {
            0 => (RowHeader::read(info1::READ | info1::GET_ALL, 0, 0), none),
            1 => (RowHeader::read(info1::READ | info1::NO_BIN_DATA, 0, 0), none),
            2 => {
                let names = ["i", "l", "none"].map(|name| (op::READ, particle_type::NIL, name, &[][..]));
                (RowHeader::read(info1::READ, 0, 0), (encoded(names.into_iter()), 3))
            }
            3 => {
                let (kind, name, value) = operation(random, false, &self.hlls);
                (
                    RowHeader::read(info1::READ, 0, 0),
                    (encoded([(kind, particle_of_op(kind), name, &value[..])].into_iter()), 1),
                )
            }
            4 => {
                let value = values::int(random).to_be_bytes();
                let ops = encoded([(op::WRITE, particle_type::INTEGER, "i", &value[..])].into_iter());
                let generation = if random.once_in(3) { random.below(4) as u16 } else { 0 };
                let policy = if generation == 0 { 0 } else { info2::GENERATION };
                (RowHeader::write(0, info2::WRITE | policy, 0, generation, 0), (ops, 1))
            }
            5 if random.once_in(3) => (RowHeader::write(0, info2::WRITE | info2::DELETE, 0, 0, 0), none),
            _ => {
                let (kind, name, value) = operation(random, true, &self.hlls);
                let reads = matches!(kind, op::READ | op::CDT_READ | op::BITS_READ | op::HLL_READ | op::EXP_READ);
                let header = RowHeader::write(
                    if reads { info1::READ } else { 0 },
                    info2::WRITE | info2::RESPOND_ALL_OPS,
                    0,
                    0,
                    0,
                );
                (header, (encoded([(kind, particle_of_op(kind), name, &value[..])].into_iter()), 1))
            }
        };
        Row { digest, header, ops, filter }
    }
}
