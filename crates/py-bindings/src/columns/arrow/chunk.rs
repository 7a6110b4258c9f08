//! Columns that are filled from answers, without Python.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use aerolane_wire::WireResult;
use aerolane_wire::message::{MessageReader, Op};
use aerolane_wire::particle::particle_type;

use super::schema::{Kind, Schema};

/// A chunk ends when it has so many bytes. Offsets of 32 bits reach far beyond this and one more record.
const CHUNK_BYTES: usize = 32 << 20;
/// A value that would take a column beyond this has no place there.
const COLUMN_BYTES: usize = i32::MAX as usize;

/// Columns of some rows, complete.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(super) columns: Vec<Column>,
    pub(super) rows: usize,
}

#[derive(Debug)]
pub(super) struct Column {
    kind: Kind,
    values: Values,
    /// A bit for each row, the lowest first.
    valid: Vec<u8>,
    rows: usize,
    pub(super) nulls: usize,
}

#[derive(Debug)]
enum Values {
    Bits(Vec<u8>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// Where each value ends, and before them a 0; the bytes of all.
    Small(Vec<i32>, Vec<u8>),
    Large(Vec<i64>, Vec<u8>),
}

/// Gathers rows into chunks.
#[derive(Debug)]
pub(crate) struct Builder {
    schema: Arc<Schema>,
    chunk: Chunk,
    /// Rows of a chunk, at most.
    limit: usize,
    bytes: usize,
}

impl Builder {
    /// Of chunks of at most `limit` rows.
    pub(crate) fn new(schema: Arc<Schema>, limit: usize) -> Self {
        let chunk = Chunk::new(&schema);
        Self { schema, chunk, limit, bytes: 0 }
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Whether the chunk is to be taken before more is pushed.
    pub(crate) fn is_full(&self) -> bool {
        self.chunk.rows >= self.limit || self.bytes >= CHUNK_BYTES
    }

    /// The rows since the last take, if there are any.
    pub(crate) fn take(&mut self) -> Option<Arc<Chunk>> {
        if self.chunk.rows == 0 {
            return None;
        }
        self.bytes = 0;
        Some(Arc::new(std::mem::replace(&mut self.chunk, Chunk::new(&self.schema))))
    }

    /// Appends a row without a record.
    pub(crate) fn push_missing(&mut self) {
        self.end_row();
    }

    /// Appends the record in a message.
    ///
    /// # Errors
    /// The message is malformed. No row is appended.
    pub(crate) fn push(&mut self, message: &[u8]) -> WireResult<()> {
        let filled = self.fill(message);
        if filled.is_ok() {
            self.end_row();
        } else {
            let rows = self.chunk.rows;
            self.chunk.columns.iter_mut().filter(|column| column.rows > rows).for_each(Column::pop);
        }
        filled
    }

    fn fill(&mut self, message: &[u8]) -> WireResult<()> {
        let mut reader = MessageReader::new(message)?;
        let fields = &self.schema.fields;
        let row = self.chunk.rows;
        // Bins mostly come in the order in which they were asked for.
        let mut expected = 0;
        while let Some(op) = reader.next_op()? {
            let is = |place: &usize| fields.get(*place).is_some_and(|field| field.name.to_bytes() == op.name);
            let found = Some(expected).filter(is).or_else(|| (0..fields.len()).find(is));
            if let Some(place) = found {
                let column = &mut self.chunk.columns[place];
                if column.rows > row {
                    // Of several results of a bin the last one counts, as in arrays.
                    column.pop();
                }
                self.bytes += column.push(&op);
                expected = place + 1;
            }
        }
        Ok(())
    }

    /// Columns that have no value in this row have a null.
    fn end_row(&mut self) {
        self.chunk.rows += 1;
        for column in &mut self.chunk.columns {
            if column.rows < self.chunk.rows {
                column.push_null();
            }
        }
        // At most, of numbers, offsets and bits.
        self.bytes += 9 * self.chunk.columns.len();
    }
}

impl Chunk {
    fn new(schema: &Schema) -> Self {
        Self { columns: schema.fields.iter().map(|field| Column::new(field.kind)).collect(), rows: 0 }
    }
}

fn int(op: &Op<'_>) -> Option<i64> {
    op.value.try_into().ok().map(i64::from_be_bytes).filter(|_| op.particle_type == particle_type::INTEGER)
}

fn float(op: &Op<'_>) -> Option<f64> {
    if op.particle_type == particle_type::FLOAT {
        return op.value.try_into().ok().map(f64::from_be_bytes);
    }
    // Beyond, floats skip ints.
    int(op).filter(|value| value.unsigned_abs() <= 1 << 53).map(|value| value as f64)
}

fn boolean(op: &Op<'_>) -> Option<bool> {
    match op.value {
        &[value] if op.particle_type == particle_type::BOOL => Some(value != 0),
        _ => None,
    }
}

/// The bytes of a value that fits a column of texts or bytes.
fn bytes<'a>(kind: Kind, op: &Op<'a>) -> Option<&'a [u8]> {
    let fits = match (kind, op.particle_type) {
        (Kind::Text | Kind::LargeText, particle_type::STRING) => std::str::from_utf8(op.value).is_ok(),
        (Kind::Bytes | Kind::LargeBytes, particle_type::STRING | particle_type::BLOB) => true,
        _ => false,
    };
    fits.then_some(op.value)
}

fn push_bit(bits: &mut Vec<u8>, place: usize, bit: bool) {
    if place.is_multiple_of(8) {
        bits.push(0);
    }
    if let Some(last) = bits.last_mut() {
        *last |= u8::from(bit) << (place % 8);
    }
}

fn pop_bit(bits: &mut Vec<u8>, place: usize) -> bool {
    let was = bits[place / 8] >> (place % 8) & 1 == 1;
    if place.is_multiple_of(8) {
        bits.pop();
    } else {
        bits[place / 8] &= !(1 << (place % 8));
    }
    was
}

impl Column {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Bool => Values::Bits(Vec::new()),
            Kind::Int => Values::Ints(Vec::new()),
            Kind::Float => Values::Floats(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Small(vec![0], Vec::new()),
            Kind::LargeText | Kind::LargeBytes => Values::Large(vec![0], Vec::new()),
        };
        Self { kind, values, valid: Vec::new(), rows: 0, nulls: 0 }
    }

    /// Appends a bin's value, or a null if it does not fit; gives the bytes that it took beside its fixed place.
    fn push(&mut self, op: &Op<'_>) -> usize {
        let Some(taken) = self.push_value(op) else {
            self.push_null();
            return 0;
        };
        push_bit(&mut self.valid, self.rows, true);
        self.rows += 1;
        taken
    }

    fn push_value(&mut self, op: &Op<'_>) -> Option<usize> {
        match &mut self.values {
            Values::Bits(bits) => push_bit(bits, self.rows, boolean(op)?),
            Values::Ints(ints) => ints.push(int(op)?),
            Values::Floats(floats) => floats.push(float(op)?),
            Values::Small(ends, all) => {
                let value = bytes(self.kind, op).filter(|value| value.len() <= COLUMN_BYTES - all.len())?;
                all.extend_from_slice(value);
                ends.push(all.len() as i32);
                return Some(value.len());
            }
            Values::Large(ends, all) => {
                let value = bytes(self.kind, op)?;
                all.extend_from_slice(value);
                ends.push(all.len() as i64);
                return Some(value.len());
            }
        }
        Some(0)
    }

    fn push_null(&mut self) {
        match &mut self.values {
            Values::Bits(bits) => push_bit(bits, self.rows, false),
            Values::Ints(ints) => ints.push(0),
            Values::Floats(floats) => floats.push(0.0),
            Values::Small(ends, all) => ends.push(all.len() as i32),
            Values::Large(ends, all) => ends.push(all.len() as i64),
        }
        push_bit(&mut self.valid, self.rows, false);
        self.rows += 1;
        self.nulls += 1;
    }

    /// Takes the last value back.
    fn pop(&mut self) {
        self.rows -= 1;
        self.nulls -= usize::from(!pop_bit(&mut self.valid, self.rows));
        match &mut self.values {
            Values::Bits(bits) => drop(pop_bit(bits, self.rows)),
            Values::Ints(ints) => drop(ints.pop()),
            Values::Floats(floats) => drop(floats.pop()),
            Values::Small(ends, all) => {
                ends.pop();
                all.truncate(ends.last().map_or(0, |end| *end as usize));
            }
            Values::Large(ends, all) => {
                ends.pop();
                all.truncate(ends.last().map_or(0, |end| *end as usize));
            }
        }
    }

    /// The buffers in the order of Arrow's columnar format. They stay where they are until the column is dropped.
    pub(super) fn buffers(&self) -> Vec<*const c_void> {
        // No bitmap: all are valid.
        let valid = if self.nulls == 0 { ptr::null() } else { self.valid.as_ptr().cast() };
        match &self.values {
            Values::Bits(bits) => vec![valid, bits.as_ptr().cast()],
            Values::Ints(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Floats(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Small(ends, all) => vec![valid, ends.as_ptr().cast(), all.as_ptr().cast()],
            Values::Large(ends, all) => vec![valid, ends.as_ptr().cast(), all.as_ptr().cast()],
        }
    }
}
