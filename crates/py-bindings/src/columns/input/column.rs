//! The values of a column, and their encoding.

use std::sync::Arc;

use aerolane_wire::msgpack::Writer;
use aerolane_wire::particle::particle_type;
use aerolane_wire::proto::MAX_BODY_SIZE;
use pyo3::ffi;
use pyo3::prelude::*;

use super::memory::{Bytes, Cells};
use crate::value;

/// Why a value cannot be written.
pub(crate) enum Unfit {
    Malformed(&'static str),
    /// The message of what a Python object has raised.
    Object(String),
}

impl Unfit {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Malformed(text) => text,
            Self::Object(text) => text,
        }
    }
}

/// The row lies beyond the memory that its column has handed over.
const BEYOND: Unfit = Unfit::Malformed("the column's memory ends before the value does");
const NOT_UTF8: Unfit = Unfit::Malformed("the text is not UTF-8");

/// What keys the values of a column can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Int,
    Text,
    Blob,
    /// That of each Python object.
    Each,
    None,
}

/// A number in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) kind: NumberKind,
    pub(super) size: u8,
    /// Its bytes stand in the other order than this machine's.
    pub(super) swapped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Bool,
    Int,
    Uint,
    Float,
    /// A time of numpy: an int, of which the lowest is null.
    Time,
}

/// The values of a column. Rows are counted from the start of what was handed over.
#[derive(Clone)]
pub(crate) struct Column {
    /// The place of the first row in all buffers.
    pub(super) offset: usize,
    pub(super) rows: usize,
    /// `None`: no row is null.
    pub(super) valid: Option<Bytes>,
    pub(super) values: Values,
    /// Keeps the memory.
    pub(super) _held: Option<Arc<dyn Send + Sync>>,
}

#[derive(Clone)]
pub(super) enum Values {
    Null,
    Bits(Bytes),
    Numbers(Number, Cells),
    /// Where values begin and end, and the bytes of all.
    Spans {
        text: bool,
        wide: bool,
        offsets: Bytes,
        data: Bytes,
    },
    Views {
        text: bool,
        views: Bytes,
        data: Box<[Bytes]>,
    },
    /// Blobs of one size; those of numpy's `S` without the zeros at their end.
    Blobs {
        cells: Cells,
        trimmed: bool,
    },
    /// Text in UCS-4, filled up with zeros.
    Ucs4 {
        cells: Cells,
        swapped: bool,
    },
    Lists {
        wide: bool,
        offsets: Bytes,
        items: Box<Column>,
    },
    ListViews {
        wide: bool,
        offsets: Bytes,
        sizes: Bytes,
        items: Box<Column>,
    },
    FixedLists {
        size: usize,
        items: Box<Column>,
    },
    Structs {
        names: Arc<[Box<str>]>,
        fields: Vec<Column>,
    },
    Maps {
        offsets: Bytes,
        keys: Box<Column>,
        values: Box<Column>,
    },
    Dictionary {
        index: Number,
        indices: Cells,
        values: Box<Column>,
    },
    /// A sequence of Python objects.
    Objects(Arc<Py<PyAny>>),
}

/// A number as the server knows it.
enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond what an `i64` holds.
    Uint(u64),
    Float(f64),
}

impl Number {
    #[inline]
    fn read(self, bytes: &[u8]) -> Option<Scalar> {
        let mut word = [0; 8];
        let size = usize::from(self.size);
        word.get_mut(..size)?.copy_from_slice(bytes.get(..size)?);
        if self.swapped {
            word[..size].reverse();
        }
        // The number stands in the first bytes, in this machine's order.
        let [a, b, c, d, ..] = word;
        Some(match (self.kind, self.size) {
            (NumberKind::Bool, _) => Scalar::Bool(a != 0),
            (NumberKind::Int, 1) => Scalar::Int(i64::from(a as i8)),
            (NumberKind::Int, 2) => Scalar::Int(i64::from(i16::from_ne_bytes([a, b]))),
            (NumberKind::Int, 4) => Scalar::Int(i64::from(i32::from_ne_bytes([a, b, c, d]))),
            (NumberKind::Int, 8) => Scalar::Int(i64::from_ne_bytes(word)),
            (NumberKind::Uint, 1) => Scalar::Int(i64::from(a)),
            (NumberKind::Uint, 2) => Scalar::Int(i64::from(u16::from_ne_bytes([a, b]))),
            (NumberKind::Uint, 4) => Scalar::Int(i64::from(u32::from_ne_bytes([a, b, c, d]))),
            (NumberKind::Uint, 8) => {
                let number = u64::from_ne_bytes(word);
                i64::try_from(number).map_or(Scalar::Uint(number), Scalar::Int)
            }
            (NumberKind::Float, 2) => Scalar::Float(half(u16::from_ne_bytes([a, b]))),
            (NumberKind::Float, 4) => Scalar::Float(f64::from(f32::from_ne_bytes([a, b, c, d]))),
            (NumberKind::Float, 8) => Scalar::Float(f64::from_ne_bytes(word)),
            (NumberKind::Time, 8) => match i64::from_ne_bytes(word) {
                i64::MIN => Scalar::Null,
                time => Scalar::Int(time),
            },
            _ => return None,
        })
    }
}

/// A number of IEEE 754's 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// A number as a place in a dictionary.
fn place(index: Number, cell: &[u8]) -> Option<usize> {
    match index.read(cell)? {
        Scalar::Int(place) => usize::try_from(place).ok(),
        Scalar::Uint(place) => usize::try_from(place).ok(),
        _ => None,
    }
}

impl Column {
    /// The rows from `first` on.
    pub(super) fn slice(&self, first: usize, rows: usize) -> Self {
        let first = first.min(self.rows);
        Self { offset: self.offset + first, rows: rows.min(self.rows - first), ..self.clone() }
    }

    /// Appends the value of a row as a whole bin; gives its particle type: `NIL` for a null.
    ///
    /// # Errors
    /// It cannot be sent. The caller truncates what was appended.
    #[inline]
    pub(crate) fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<u8, Unfit> {
        let at = self.offset + row;
        if row >= self.rows {
            return Err(BEYOND);
        }
        if self.is_null_at(at)? {
            return Ok(particle_type::NIL);
        }
        match &self.values {
            Values::Numbers(number, cells) => {
                match number.read(cells.get(at).ok_or(BEYOND)?).ok_or(BEYOND)? {
                    Scalar::Null => return Ok(particle_type::NIL),
                    Scalar::Bool(value) => {
                        out.push(u8::from(value));
                        return Ok(particle_type::BOOL);
                    }
                    Scalar::Int(value) => out.extend_from_slice(&value.to_be_bytes()),
                    // As of Python's ints: the signed number with the same bits.
                    Scalar::Uint(value) => out.extend_from_slice(&value.to_be_bytes()),
                    Scalar::Float(value) => {
                        out.extend_from_slice(&value.to_be_bytes());
                        return Ok(particle_type::FLOAT);
                    }
                }
                Ok(particle_type::INTEGER)
            }
            Values::Null => Ok(particle_type::NIL),
            Values::Bits(bits) => {
                out.push(u8::from(bits.bit(at).ok_or(BEYOND)?));
                Ok(particle_type::BOOL)
            }
            Values::Spans { .. } | Values::Views { .. } | Values::Blobs { .. } => {
                let (kind, bytes) = self.bytes(at)?;
                out.extend_from_slice(bytes);
                Ok(kind)
            }
            Values::Ucs4 { cells, swapped } => {
                ucs4(cells.get(at).ok_or(BEYOND)?, *swapped, out)?;
                Ok(particle_type::STRING)
            }
            Values::Dictionary { index, indices, values } => {
                let row = place(*index, indices.get(at).ok_or(BEYOND)?).ok_or(BEYOND)?;
                values.encode(row, out)
            }
            Values::Objects(objects) => with_item(objects, at, |item| {
                value::encode_value(item, out).map_err(|refused| refused.into_py(item.py(), ""))
            }),
            Values::Lists { .. } | Values::ListViews { .. } | Values::FixedLists { .. } => {
                self.pack(row, &mut Writer::new(out))?;
                Ok(particle_type::LIST)
            }
            Values::Structs { .. } | Values::Maps { .. } => {
                self.pack(row, &mut Writer::new(out))?;
                Ok(particle_type::MAP)
            }
        }
    }

    #[inline]
    fn is_null_at(&self, at: usize) -> Result<bool, Unfit> {
        match &self.valid {
            None => Ok(false),
            Some(valid) => valid.bit(at).map(|valid| !valid).ok_or(BEYOND),
        }
    }

    /// The bytes of a text or blob, and which of the two it is.
    #[inline]
    fn bytes(&self, at: usize) -> Result<(u8, &[u8]), Unfit> {
        let (text, bytes) = match &self.values {
            Values::Spans { text, wide, offsets, data } => {
                let (from, to) =
                    (offsets.offset(at, *wide).ok_or(BEYOND)?, offsets.offset(at + 1, *wide).ok_or(BEYOND)?);
                (*text, data.get(from, to.checked_sub(from).ok_or(BEYOND)?).ok_or(BEYOND)?)
            }
            Values::Views { text, views, data } => (*text, view(views, data, at).ok_or(BEYOND)?),
            Values::Blobs { cells, trimmed } => {
                let cell = cells.get(at).ok_or(BEYOND)?;
                let len =
                    if *trimmed { cell.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1) } else { cell.len() };
                (false, &cell[..len])
            }
            _ => return Err(BEYOND),
        };
        if text && std::str::from_utf8(bytes).is_err() {
            return Err(NOT_UTF8);
        }
        Ok((if text { particle_type::STRING } else { particle_type::BLOB }, bytes))
    }

    /// Appends the value of a row inside of a collection. The depth was bounded when the type was read.
    fn pack(&self, row: usize, writer: &mut Writer<'_>) -> Result<(), Unfit> {
        let at = self.offset + row;
        if row >= self.rows {
            return Err(BEYOND);
        }
        if self.is_null_at(at)? {
            writer.nil();
            return Ok(());
        }
        match &self.values {
            Values::Null => writer.nil(),
            Values::Bits(bits) => writer.bool(bits.bit(at).ok_or(BEYOND)?),
            Values::Numbers(number, cells) => match number.read(cells.get(at).ok_or(BEYOND)?).ok_or(BEYOND)? {
                Scalar::Null => writer.nil(),
                Scalar::Bool(value) => writer.bool(value),
                Scalar::Int(value) => writer.int(value),
                Scalar::Uint(value) => writer.uint(value),
                Scalar::Float(value) => writer.float(value),
            },
            Values::Spans { .. } | Values::Views { .. } | Values::Blobs { .. } => match self.bytes(at)? {
                (particle_type::STRING, text) => writer.str(text),
                (_, blob) => writer.blob(blob),
            },
            Values::Ucs4 { cells, swapped } => {
                let mut text = Vec::new();
                ucs4(cells.get(at).ok_or(BEYOND)?, *swapped, &mut text)?;
                writer.str(&text);
            }
            Values::Dictionary { index, indices, values } => {
                let row = place(*index, indices.get(at).ok_or(BEYOND)?).ok_or(BEYOND)?;
                values.pack(row, writer)?;
            }
            Values::Objects(objects) => with_item(objects, at, |item| {
                value::pack_value(writer, item).map_err(|refused| refused.into_py(item.py(), ""))
            })?,
            Values::Lists { wide, offsets, items } => {
                let (from, to) =
                    (offsets.offset(at, *wide).ok_or(BEYOND)?, offsets.offset(at + 1, *wide).ok_or(BEYOND)?);
                items.pack_list(from, to.checked_sub(from).ok_or(BEYOND)?, writer)?;
            }
            Values::ListViews { wide, offsets, sizes, items } => {
                let (from, len) = (offsets.offset(at, *wide).ok_or(BEYOND)?, sizes.offset(at, *wide).ok_or(BEYOND)?);
                items.pack_list(from, len, writer)?;
            }
            Values::FixedLists { size, items } => {
                items.pack_list(at.checked_mul(*size).ok_or(BEYOND)?, *size, writer)?;
            }
            Values::Structs { names, fields } => {
                writer.map(fields.len());
                for (name, field) in names.iter().zip(fields) {
                    writer.str(name.as_bytes());
                    field.pack(at, writer)?;
                }
            }
            Values::Maps { offsets, keys, values } => {
                let (from, to) =
                    (offsets.offset(at, false).ok_or(BEYOND)?, offsets.offset(at + 1, false).ok_or(BEYOND)?);
                if from > to || to > keys.rows.min(values.rows) {
                    return Err(BEYOND);
                }
                writer.map(to - from);
                for pair in from..to {
                    keys.pack(pair, writer)?;
                    values.pack(pair, writer)?;
                }
            }
        }
        Ok(())
    }

    fn pack_list(&self, from: usize, len: usize, writer: &mut Writer<'_>) -> Result<(), Unfit> {
        if from.checked_add(len).is_none_or(|end| end > self.rows) {
            return Err(BEYOND);
        }
        writer.list(len);
        for item in from..from + len {
            // Views may overlap, and nulls take no memory: lists can be larger than what they are made of.
            if writer.buffer().len() > MAX_BODY_SIZE {
                return Err(Unfit::Malformed("the value is larger than any request can be"));
            }
            self.pack(item, writer)?;
        }
        Ok(())
    }
}

/// A value of a column of views: up to 12 bytes stand in the view itself, of more it says where.
fn view<'a>(views: &'a Bytes, data: &'a [Bytes], at: usize) -> Option<&'a [u8]> {
    const SIZE: usize = 16;
    const INLINE: usize = 12;
    let view = views.get(at.checked_mul(SIZE)?, SIZE)?;
    let word = |at: usize| {
        let bytes = view.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(i32::from_ne_bytes(bytes)).ok()
    };
    let len = word(0)?;
    if len <= INLINE {
        return view.get(4..4 + len);
    }
    data.get(word(8)?)?.get(word(12)?, len)
}

/// Appends text in UCS-4, up to the zeros at its end, as UTF-8.
fn ucs4(cell: &[u8], swapped: bool, out: &mut Vec<u8>) -> Result<(), Unfit> {
    let code = |bytes: &[u8]| {
        let code = u32::from_ne_bytes(bytes.try_into().unwrap_or_default());
        if swapped { code.swap_bytes() } else { code }
    };
    let len = cell.chunks_exact(4).rposition(|bytes| code(bytes) != 0).map_or(0, |at| at + 1);
    for bytes in cell.chunks_exact(4).take(len) {
        let letter = char::from_u32(code(bytes)).ok_or(NOT_UTF8)?;
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(())
}

/// An item of a sequence; what is wrong with it becomes text. Where there are many, the thread is attached already.
fn with_item<R>(
    objects: &Py<PyAny>,
    at: usize,
    take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> Result<R, Unfit> {
    Python::attach(|py| {
        // SAFETY: a live object, the thread is attached; gives a new reference or null.
        let item = unsafe {
            let item = ffi::PySequence_GetItem(objects.as_ptr(), at as ffi::Py_ssize_t);
            Bound::from_owned_ptr_or_err(py, item)
        };
        item.and_then(|item| take(&item)).map_err(|error| Unfit::Object(error.value(py).to_string()))
    })
}
