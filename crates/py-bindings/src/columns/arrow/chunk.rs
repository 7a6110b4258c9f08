//! Columns that are filled from answers, without Python.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::SystemTime;

use aerolane_wire::WireResult;
use aerolane_wire::message::{MessageReader, Op, field};
use aerolane_wire::particle::particle_type;
use aerospike_core::CITRUSLEAF_EPOCH_UNIX_SECS;

use super::schema::{Field, From, Kind, Schema};

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
    /// Ints with and without a sign, by their size.
    Bytes(Vec<i8>),
    Shorts(Vec<i16>),
    Words(Vec<i32>),
    Ints(Vec<i64>),
    Singles(Vec<f32>),
    Floats(Vec<f64>),
    /// Where each value ends, and before them a 0; the bytes of all.
    Small(Vec<i32>, Vec<u8>),
    Large(Vec<i64>, Vec<u8>),
    /// A view of each value, the bytes of those that are longer than a view, and how many these are.
    Views(Vec<u128>, Vec<u8>, Box<i64>),
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

    /// Appends a row of values, one for each column: particle types and bytes.
    pub(crate) fn push_values<'a>(&mut self, values: impl Iterator<Item = (u8, &'a [u8])>) {
        for (column, (particle_type, value)) in self.chunk.columns.iter_mut().zip(values) {
            self.bytes += column.push(&bare(particle_type, value));
        }
        self.end_row();
    }

    fn fill(&mut self, message: &[u8]) -> WireResult<()> {
        let mut reader = MessageReader::new(message)?;
        let fields = &self.schema.fields;
        let row = self.chunk.rows;
        if fields.iter().any(|field| field.from != From::Bin) {
            self.bytes += beside_bins(&mut reader, &self.schema, &mut self.chunk)?;
        }
        // Bins mostly come in the order in which they were asked for.
        let mut expected = 0;
        while let Some(op) = reader.next_op()? {
            let named = |field: &Field| field.from == From::Bin && field.name.to_bytes() == op.name;
            let is = |place: &usize| fields.get(*place).is_some_and(named);
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
        self.bytes += 17 * self.chunk.columns.len();
    }
}

/// Fills the columns of what a record has beside its bins; gives the bytes that it took.
fn beside_bins(reader: &mut MessageReader<'_>, schema: &Schema, chunk: &mut Chunk) -> WireResult<usize> {
    let header = reader.header();
    let mut key = None;
    while let Some(field) = reader.next_field()? {
        if field.kind == field::KEY {
            key = field.value.split_first();
        }
    }
    let mut taken = 0;
    for (column, from) in chunk.columns.iter_mut().zip(schema.fields.iter().map(|field| field.from)) {
        let number = match from {
            From::Bin => continue,
            From::Key => {
                taken += key.map_or(0, |(particle_type, value)| column.push(&bare(*particle_type, value)));
                continue;
            }
            From::Generation => i64::from(header.generation),
            // Such a column is null for records that never expire.
            From::Ttl if header.record_ttl == 0 => continue,
            From::Ttl => seconds_left(header.record_ttl),
        };
        column.push(&bare(particle_type::INTEGER, &number.to_be_bytes()));
    }
    Ok(taken)
}

/// The seconds until a moment, counted since 2010, as a record tells it; 1 at least.
fn seconds_left(expiration: u32) -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let expires = CITRUSLEAF_EPOCH_UNIX_SECS + u64::from(expiration);
    expires.saturating_sub(now).max(1).cast_signed()
}

/// A value without a name.
const fn bare(particle_type: u8, value: &[u8]) -> Op<'_> {
    Op { kind: 0, particle_type, version: 0, name: b"", update_time: None, value }
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

/// The int of a column of this size; of unsigned ones of 64 bits, that with the same bits.
fn sized(op: &Op<'_>, size: u8, signed: bool) -> Option<i64> {
    let value = int(op)?;
    let bits = 8 * u32::from(size);
    let (least, most) = match (bits, signed) {
        (64.., _) => (i64::MIN, i64::MAX),
        (_, true) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        (_, false) => (0, (1 << bits) - 1),
    };
    (least..=most).contains(&value).then_some(value)
}

/// The bytes of a value that fits a column of texts or bytes.
fn bytes<'a>(kind: Kind, op: &Op<'a>) -> Option<&'a [u8]> {
    let text = matches!(kind, Kind::Spans { text: true, .. } | Kind::Views { text: true });
    let fits = match op.particle_type {
        particle_type::STRING => !text || std::str::from_utf8(op.value).is_ok(),
        particle_type::BLOB => !text,
        _ => false,
    };
    fits.then_some(op.value)
}

/// The view of a value: its length, and up to 12 bytes, or else the first 4 and where all of them begin.
fn view(value: &[u8], all: &mut Vec<u8>) -> u128 {
    const INLINE: usize = 12;
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(value.len() as u32).to_ne_bytes());
    if value.len() <= INLINE {
        view[4..4 + value.len()].copy_from_slice(value);
    } else {
        view[4..8].copy_from_slice(&value[..4]);
        view[12..].copy_from_slice(&(all.len() as u32).to_ne_bytes());
        all.extend_from_slice(value);
    }
    u128::from_ne_bytes(view)
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
            Kind::Int { size: 1, .. } => Values::Bytes(Vec::new()),
            Kind::Int { size: 2, .. } => Values::Shorts(Vec::new()),
            Kind::Int { size: 4, .. } => Values::Words(Vec::new()),
            Kind::Int { .. } => Values::Ints(Vec::new()),
            Kind::Float { size: 4 } => Values::Singles(Vec::new()),
            Kind::Float { .. } => Values::Floats(Vec::new()),
            Kind::Spans { wide: false, .. } => Values::Small(vec![0], Vec::new()),
            Kind::Spans { wide: true, .. } => Values::Large(vec![0], Vec::new()),
            Kind::Views { .. } => Values::Views(Vec::new(), Vec::new(), Box::new(0)),
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
        let number = || match self.kind {
            Kind::Int { size, signed } => sized(op, size, signed),
            _ => None,
        };
        match &mut self.values {
            Values::Bits(bits) => push_bit(bits, self.rows, boolean(op)?),
            // They fit, with the sign that their column says.
            Values::Bytes(ints) => ints.push(number()? as i8),
            Values::Shorts(ints) => ints.push(number()? as i16),
            Values::Words(ints) => ints.push(number()? as i32),
            Values::Ints(ints) => ints.push(number()?),
            Values::Singles(floats) => floats.push(float(op)? as f32),
            Values::Floats(floats) => floats.push(float(op)?),
            Values::Views(views, all, len) => {
                let value = bytes(self.kind, op).filter(|value| value.len() <= COLUMN_BYTES - all.len())?;
                views.push(view(value, all));
                **len = all.len() as i64;
                return Some(value.len());
            }
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
            Values::Bytes(ints) => ints.push(0),
            Values::Shorts(ints) => ints.push(0),
            Values::Words(ints) => ints.push(0),
            Values::Ints(ints) => ints.push(0),
            Values::Singles(floats) => floats.push(0.0),
            Values::Floats(floats) => floats.push(0.0),
            Values::Views(views, ..) => views.push(0),
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
            Values::Bytes(ints) => drop(ints.pop()),
            Values::Shorts(ints) => drop(ints.pop()),
            Values::Words(ints) => drop(ints.pop()),
            Values::Ints(ints) => drop(ints.pop()),
            Values::Singles(floats) => drop(floats.pop()),
            Values::Floats(floats) => drop(floats.pop()),
            // Its bytes stay: nothing points to them.
            Values::Views(views, ..) => drop(views.pop()),
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
            Values::Bytes(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Shorts(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Words(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Ints(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Singles(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Floats(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Views(views, all, len) => {
                vec![valid, views.as_ptr().cast(), all.as_ptr().cast(), ptr::from_ref(&**len).cast()]
            }
            Values::Small(ends, all) => vec![valid, ends.as_ptr().cast(), all.as_ptr().cast()],
            Values::Large(ends, all) => vec![valid, ends.as_ptr().cast(), all.as_ptr().cast()],
        }
    }
}
