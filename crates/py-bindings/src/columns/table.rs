//! Rows that are filled from answers, without Python.

use aerolane::Error;
use aerolane_wire::WireResult;
use aerolane_wire::message::{MessageReader, Op};
use aerolane_wire::particle::particle_type;

use super::dtype::{Field, Kind, Layout};
use super::failures::RowFailures;

/// Rows of one layout. What is not valid is 0, in float fields not-a-number.
#[derive(Debug)]
pub(crate) struct Table {
    pub(super) layout: Layout,
    pub(super) rows: Vec<u8>,
    /// A bool for each field of each row.
    pub(super) valid: Vec<u8>,
    pub(super) result_codes: Vec<i32>,
    pub(super) generations: Vec<u32>,
    pub(super) expirations: Vec<u32>,
    pub(super) failures: RowFailures,
    /// A row without a bin.
    empty: Vec<u8>,
}

impl Table {
    pub(crate) fn new(layout: Layout) -> Self {
        let mut empty = vec![0; layout.stride];
        for field in layout.fields.iter().filter(|field| field.kind == Kind::Float) {
            field.put(&mut empty, f64::NAN.to_bits(), f32::NAN.to_bits());
        }
        Self {
            layout,
            rows: Vec::new(),
            valid: Vec::new(),
            result_codes: Vec::new(),
            generations: Vec::new(),
            expirations: Vec::new(),
            failures: RowFailures::default(),
            empty,
        }
    }

    /// Makes room for more rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows * self.layout.stride);
        self.valid.reserve(rows * self.layout.fields.len());
        self.result_codes.reserve(rows);
        self.generations.reserve(rows);
        self.expirations.reserve(rows);
    }

    pub(crate) fn len(&self) -> usize {
        self.result_codes.len()
    }

    /// Appends a row that has failed; `None`: the server has left it out.
    pub(crate) fn push_failed(&mut self, error: Option<&Error>) {
        let code = self.failures.add(self.len(), error);
        self.push_missing(code);
    }

    /// Appends a row without a record.
    fn push_missing(&mut self, result_code: i32) {
        self.rows.extend_from_slice(&self.empty);
        self.valid.resize(self.valid.len() + self.layout.fields.len(), 0);
        self.result_codes.push(result_code);
        self.generations.push(0);
        self.expirations.push(0);
    }

    /// Appends the record in a message.
    ///
    /// # Errors
    /// The message is malformed.
    pub(crate) fn push(&mut self, message: &[u8]) -> WireResult<()> {
        let mut reader = MessageReader::new(message)?;
        let header = reader.header();
        self.push_missing(0);
        let Self { layout, rows, valid, generations, expirations, .. } = self;
        if let (Some(generation), Some(expiration)) = (generations.last_mut(), expirations.last_mut()) {
            (*generation, *expiration) = (header.generation, header.record_ttl);
        }
        let (at, marks) = (rows.len() - layout.stride, valid.len() - layout.fields.len());
        let (row, valid) = (&mut rows[at..], &mut valid[marks..]);
        // Bins mostly come in the order in which they were asked for.
        let mut expected = 0;
        while let Some(op) = reader.next_op()? {
            let fields = &layout.fields;
            let is = |field: &Field| field.name.as_bytes() == op.name;
            let found = if fields.get(expected).is_some_and(is) { Some(expected) } else { fields.iter().position(is) };
            if let Some(place) = found {
                valid[place] = u8::from(fields[place].fill(row, &op));
                expected = place + 1;
            }
        }
        Ok(())
    }
}

impl Field {
    /// Puts a bin's value into its place. False: it does not fit there, and the place stays as it is.
    fn fill(&self, row: &mut [u8], op: &Op<'_>) -> bool {
        let int =
            || op.value.try_into().ok().map(i64::from_be_bytes).filter(|_| op.particle_type == particle_type::INTEGER);
        match self.kind {
            Kind::Bool => match (op.particle_type, op.value) {
                (particle_type::BOOL, &[value]) => {
                    row[self.offset] = u8::from(value != 0);
                    true
                }
                _ => false,
            },
            Kind::Int => {
                let Some(value) = int() else { return false };
                let spare = 64 - 8 * self.size as u32;
                // What comes back is what went in.
                let fits = (value << spare) >> spare == value;
                if fits {
                    self.put(row, value as u64, value as u32);
                }
                fits
            }
            Kind::Uint => {
                let Some(value) = int().and_then(|value| u64::try_from(value).ok()) else { return false };
                let fits = self.size == 8 || value >> (8 * self.size) == 0;
                if fits {
                    self.put(row, value, value as u32);
                }
                fits
            }
            Kind::Float => {
                let value = match (op.particle_type, op.value.try_into()) {
                    (particle_type::FLOAT, Ok(bytes)) => f64::from_be_bytes(bytes),
                    (particle_type::INTEGER, Ok(bytes)) => {
                        let value = i64::from_be_bytes(bytes);
                        // Beyond, floats skip ints.
                        if value.unsigned_abs() > 1 << 53 {
                            return false;
                        }
                        value as f64
                    }
                    _ => return false,
                };
                self.put(row, value.to_bits(), (value as f32).to_bits());
                true
            }
            Kind::Bytes => {
                let fits = matches!(op.particle_type, particle_type::STRING | particle_type::BLOB)
                    && op.value.len() <= self.size;
                if fits {
                    row[self.offset..][..op.value.len()].copy_from_slice(op.value);
                }
                fits
            }
            Kind::Text => {
                let text = match std::str::from_utf8(op.value) {
                    Ok(text) if op.particle_type == particle_type::STRING => text,
                    _ => return false,
                };
                if text.len() > self.size / 4 && text.chars().count() > self.size / 4 {
                    return false;
                }
                for (place, c) in row[self.offset..][..self.size].as_chunks_mut::<4>().0.iter_mut().zip(text.chars()) {
                    let number = if self.swapped { u32::from(c).swap_bytes() } else { u32::from(c) };
                    *place = number.to_ne_bytes();
                }
                true
            }
        }
    }

    /// Writes a number of the field's size: `wide` for 8 bytes, else the lower bytes of `narrow`.
    fn put(&self, row: &mut [u8], wide: u64, narrow: u32) {
        let place = &mut row[self.offset..][..self.size];
        let bits = if self.size == 8 { wide } else { u64::from(narrow) };
        let bytes = bits.to_le_bytes();
        place.copy_from_slice(&bytes[..self.size]);
        if cfg!(target_endian = "big") != self.swapped {
            place.reverse();
        }
    }
}
