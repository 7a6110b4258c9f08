//! A column that grows by values, without Python.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

use aerolane_wire::WireResult;
use aerolane_wire::msgpack::Reader;

use super::half::half;
use super::json;
use super::types::{Field, Kind};
use super::value::Value;
use crate::columns::plain::Plain;

/// A value that would take a column beyond this has no place there.
const COLUMN_BYTES: usize = i32::MAX as usize;

/// What is to become of values that do not fit, and what came of those of one record.
#[derive(Debug)]
pub(super) struct Filling {
    /// Whether the first one is to be told.
    strict: bool,
    /// Whether a key that no field of a struct has does not fit.
    closed: bool,
    pub(super) misfit: Option<Box<str>>,
    /// Bytes that the values took.
    pub(super) bytes: usize,
}

impl Filling {
    pub(super) const fn new(strict: bool, closed: bool) -> Self {
        Self { strict, closed, misfit: None, bytes: 0 }
    }

    #[cold]
    fn misfit(&mut self, text: impl FnOnce() -> String) {
        if self.strict && self.misfit.is_none() {
            self.misfit = Some(text().into());
        }
    }
}

/// Where each value ends, and before them a 0.
#[derive(Debug)]
pub(super) enum Ends {
    Small(Vec<i32>),
    Large(Vec<i64>),
}

impl Ends {
    fn new(wide: bool) -> Self {
        if wide { Self::Large(vec![0]) } else { Self::Small(vec![0]) }
    }

    /// Whether a value can end there.
    const fn takes(&self, end: usize) -> bool {
        matches!(self, Self::Large(_)) || end <= COLUMN_BYTES
    }

    fn push(&mut self, end: usize) {
        match self {
            Self::Small(ends) => ends.push(end as i32),
            Self::Large(ends) => ends.push(end as i64),
        }
    }

    /// Leaves so many values; gives where the last of them ends.
    fn truncate(&mut self, rows: usize) -> usize {
        match self {
            Self::Small(ends) => {
                ends.truncate(rows + 1);
                ends.last().map_or(0, |end| *end as usize)
            }
            Self::Large(ends) => {
                ends.truncate(rows + 1);
                ends.last().map_or(0, |end| *end as usize)
            }
        }
    }

    fn clear(&mut self) {
        self.leave(0);
    }

    /// Leaves so many numbers.
    fn leave(&mut self, numbers: usize) {
        match self {
            Self::Small(ends) => ends.truncate(numbers),
            Self::Large(ends) => ends.truncate(numbers),
        }
    }

    fn at(&self, place: usize) -> usize {
        match self {
            Self::Small(ends) => ends[place] as usize,
            Self::Large(ends) => ends[place] as usize,
        }
    }

    fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Small(ends) => ends.as_ptr().cast(),
            Self::Large(ends) => ends.as_ptr().cast(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Column {
    values: Values,
    /// A bit for each row, the lowest first.
    valid: Vec<u8>,
    pub(super) rows: usize,
    pub(super) nulls: usize,
}

#[derive(Debug)]
enum Values {
    Null,
    Bits(Vec<u8>),
    /// Ints with and without a sign, by their size.
    Bytes(Vec<i8>),
    Shorts(Vec<i16>),
    Words(Vec<i32>),
    Ints(Vec<i64>),
    Halves(Vec<u16>),
    Singles(Vec<f32>),
    Floats(Vec<f64>),
    /// The ends of texts or bytes, and the bytes of all.
    Spans(Ends, Vec<u8>),
    /// A view of each value, the bytes of those that are longer than a view, and how many these are.
    Views(Vec<u128>, Vec<u8>, Box<i64>),
    /// Bytes of one size, one behind the other.
    Fixed(usize, Vec<u8>),
    /// Of lists and maps, the ends and the items.
    Lists(Ends, Box<Column>),
    /// The ends, the sizes, the items.
    ListViews(Ends, Ends, Box<Column>),
    FixedLists(usize, Box<Column>),
    Structs(Vec<Column>),
    Dictionary(Box<Dictionary>),
}

/// Places in values, each of which is there once.
#[derive(Debug)]
struct Dictionary {
    /// Ints of the size of the column's type.
    indices: Column,
    values: Column,
    /// The place of each value, by its type and bytes.
    places: HashMap<Box<[u8]>, i64>,
}

/// An int that a column of this size can hold; of unsigned ones of 64 bits, that with the same bits.
fn sized(value: &Value<'_>, size: u8, signed: bool) -> Option<i64> {
    let Value::Int(value) = *value else { return None };
    let bits = 8 * u32::from(size);
    let (least, most) = match (bits, signed) {
        (64.., _) => (i64::MIN, i64::MAX),
        (_, true) => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        (_, false) => (0, (1 << bits) - 1),
    };
    (least..=most).contains(&value).then_some(value)
}

/// A float, or an int that floats have.
fn float(value: &Value<'_>) -> Option<f64> {
    match *value {
        Value::Float(value) => Some(value),
        // Beyond, floats skip ints.
        Value::Int(value) => (value.unsigned_abs() <= 1 << 53).then_some(value as f64),
        _ => None,
    }
}

/// The bytes of a value that fits a column of texts or bytes.
fn bytes<'a>(text: bool, value: &Value<'a>) -> Option<&'a [u8]> {
    match *value {
        Value::Text(bytes) | Value::GeoJson(bytes) => (!text || std::str::from_utf8(bytes).is_ok()).then_some(bytes),
        Value::Blob(bytes) | Value::Hll(bytes) => (!text).then_some(bytes),
        _ => None,
    }
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

/// Leaves so many bits.
fn truncate_bits(bits: &mut Vec<u8>, left: usize) {
    bits.truncate(left.div_ceil(8));
    if let Some(last) = bits.last_mut().filter(|_| !left.is_multiple_of(8)) {
        *last &= (1 << (left % 8)) - 1;
    }
}

impl Column {
    pub(super) fn new(kind: &Kind) -> Self {
        let boxed = |field: &Field| Box::new(Self::new(&field.kind));
        let values = match kind {
            Kind::Plain(Plain::Null) => Values::Null,
            Kind::Plain(Plain::Bool) => Values::Bits(Vec::new()),
            Kind::Plain(Plain::Int { size: 1, .. }) => Values::Bytes(Vec::new()),
            Kind::Plain(Plain::Int { size: 2, .. }) => Values::Shorts(Vec::new()),
            Kind::Plain(Plain::Int { size: 4, .. }) => Values::Words(Vec::new()),
            Kind::Plain(Plain::Int { .. }) => Values::Ints(Vec::new()),
            Kind::Plain(Plain::Float { size: 2 }) => Values::Halves(Vec::new()),
            Kind::Plain(Plain::Float { size: 4 }) => Values::Singles(Vec::new()),
            Kind::Plain(Plain::Float { .. }) => Values::Floats(Vec::new()),
            Kind::Plain(Plain::Spans { wide, .. }) => Values::Spans(Ends::new(*wide), Vec::new()),
            Kind::Json => Values::Spans(Ends::new(false), Vec::new()),
            Kind::Plain(Plain::Views { .. }) => Values::Views(Vec::new(), Vec::new(), Box::new(0)),
            Kind::Fixed(size) => Values::Fixed(*size, Vec::new()),
            Kind::List { wide, item } => Values::Lists(Ends::new(*wide), boxed(item)),
            Kind::Map(entries) => Values::Lists(Ends::new(false), boxed(entries)),
            Kind::ListViews { wide, item } => {
                let (mut starts, mut sizes) = (Ends::new(*wide), Ends::new(*wide));
                // These have no 0 before them.
                starts.clear();
                sizes.clear();
                Values::ListViews(starts, sizes, boxed(item))
            }
            Kind::FixedList { size, item } => Values::FixedLists(*size, boxed(item)),
            Kind::Struct(fields) => Values::Structs(fields.iter().map(|field| Self::new(&field.kind)).collect()),
            Kind::Dictionary { size, signed, values } => Values::Dictionary(Box::new(Dictionary {
                indices: Self::new(&Kind::Plain(Plain::Int { size: *size, signed: *signed })),
                values: Self::new(&values.kind),
                places: HashMap::new(),
            })),
        };
        Self { values, valid: Vec::new(), rows: 0, nulls: 0 }
    }

    /// Appends a value, or a null if it does not fit. If it is a collection, it is read to its end.
    ///
    /// # Errors
    /// The value is malformed. The column is to be truncated.
    #[inline]
    pub(super) fn push<'a>(
        &mut self,
        field: &Field,
        value: &Value<'a>,
        reader: &mut Reader<'a>,
        filling: &mut Filling,
    ) -> WireResult<()> {
        if matches!(value, Value::Nil) {
            self.push_null();
            return Ok(());
        }
        if self.put(&field.kind, value, reader, filling)? {
            push_bit(&mut self.valid, self.rows, true);
            self.rows += 1;
        } else {
            filling.misfit(|| format!("{} does not fit {}", value.text(), field.type_name()));
            self.push_null();
        }
        Ok(())
    }

    /// Appends a value without its bit. False: it does not fit, and the column is as it was, if it is no collection.
    fn put<'a>(
        &mut self,
        kind: &Kind,
        value: &Value<'a>,
        reader: &mut Reader<'a>,
        filling: &mut Filling,
    ) -> WireResult<bool> {
        let number = || match *kind {
            Kind::Plain(Plain::Int { size, signed }) => sized(value, size, signed),
            _ => None,
        };
        let put = match &mut self.values {
            Values::Null => None,
            Values::Bits(bits) => match value {
                Value::Bool(value) => {
                    push_bit(bits, self.rows, *value);
                    Some(())
                }
                _ => None,
            },
            // They fit, with the sign that their column says.
            Values::Bytes(ints) => number().map(|value| ints.push(value as i8)),
            Values::Shorts(ints) => number().map(|value| ints.push(value as i16)),
            Values::Words(ints) => number().map(|value| ints.push(value as i32)),
            Values::Ints(ints) => number().map(|value| ints.push(value)),
            Values::Halves(floats) => {
                let rounded = float(value).map(|value| (value, half(value)));
                rounded
                    .filter(|(value, half)| half & 0x7fff != 0x7c00 || value.is_infinite())
                    .map(|(_, half)| floats.push(half))
            }
            Values::Singles(floats) => {
                let fits = |value: &f64| (*value as f32).is_finite() || !value.is_finite();
                float(value).filter(fits).map(|value| floats.push(value as f32))
            }
            Values::Floats(floats) => float(value).map(|value| floats.push(value)),
            Values::Views(views, all, len) => {
                let room = COLUMN_BYTES - all.len();
                bytes(kind.is_text(), value).filter(|value| value.len() <= room).map(|value| {
                    filling.bytes += value.len();
                    views.push(view(value, all));
                    **len = all.len() as i64;
                })
            }
            Values::Spans(ends, all) if matches!(kind, Kind::Json) => {
                let before = all.len();
                if json::write(all, value, reader, 0)? && ends.takes(all.len()) {
                    filling.bytes += all.len() - before;
                    ends.push(all.len());
                    return Ok(true);
                }
                all.truncate(before);
                return Ok(false);
            }
            Values::Spans(ends, all) => {
                let fits = |value: &&[u8]| ends.takes(all.len() + value.len());
                bytes(kind.is_text(), value).filter(fits).map(|value| {
                    filling.bytes += value.len();
                    all.extend_from_slice(value);
                    ends.push(all.len());
                })
            }
            Values::Fixed(size, all) => bytes(false, value).filter(|value| value.len() == *size).map(|value| {
                filling.bytes += value.len();
                all.extend_from_slice(value);
            }),
            Values::Dictionary(dictionary) => {
                let Kind::Dictionary { size, signed, values } = kind else { return Ok(false) };
                dictionary.put((*size, *signed), values, value, reader, filling)?.then_some(())
            }
            Values::Lists(..) | Values::ListViews(..) | Values::FixedLists(..) | Values::Structs(_) => {
                return self.put_collection(kind, value, reader, filling);
            }
        };
        if put.is_none() {
            value.pass(reader)?;
        }
        Ok(put.is_some())
    }

    fn put_collection<'a>(
        &mut self,
        kind: &Kind,
        value: &Value<'a>,
        reader: &mut Reader<'a>,
        filling: &mut Filling,
    ) -> WireResult<bool> {
        match (&mut self.values, kind, value) {
            (Values::Lists(ends, items), Kind::List { item, .. }, Value::List(len)) => {
                for _ in 0..*len {
                    items.push_next(item, reader, filling)?;
                }
                if ends.takes(items.rows) {
                    ends.push(items.rows);
                    return Ok(true);
                }
            }
            (Values::ListViews(starts, sizes, items), Kind::ListViews { item, .. }, Value::List(len)) => {
                let start = items.rows;
                for _ in 0..*len {
                    items.push_next(item, reader, filling)?;
                }
                if starts.takes(items.rows) {
                    starts.push(start);
                    sizes.push(*len);
                    return Ok(true);
                }
            }
            (Values::FixedLists(size, items), Kind::FixedList { item, .. }, Value::List(len)) if len == size => {
                for _ in 0..*len {
                    items.push_next(item, reader, filling)?;
                }
                return Ok(true);
            }
            (Values::Lists(ends, entries), Kind::Map(of), Value::Map(len)) => {
                if entries.put_pairs(of, *len, reader, filling)? && ends.takes(entries.rows) {
                    ends.push(entries.rows);
                    return Ok(true);
                }
            }
            (Values::Structs(columns), Kind::Struct(fields), Value::Map(len)) => {
                return put_struct((self.rows, columns), fields, *len, reader, filling);
            }
            _ => value.pass(reader)?,
        }
        self.truncate(self.rows);
        Ok(false)
    }

    fn push_next(&mut self, field: &Field, reader: &mut Reader<'_>, filling: &mut Filling) -> WireResult<()> {
        let value = Value::next(reader)?;
        filling.bytes += field.kind.cell_bytes();
        self.push(field, &value, reader, filling)
    }

    /// Appends the pairs of a map to a column of entries. False: a key does not fit.
    fn put_pairs(
        &mut self,
        entries: &Field,
        len: usize,
        reader: &mut Reader<'_>,
        filling: &mut Filling,
    ) -> WireResult<bool> {
        let (Values::Structs(columns), Kind::Struct(fields)) = (&mut self.values, &entries.kind) else {
            return Ok(false);
        };
        let ([keys, values], [key_field, value_field]) = (&mut columns[..], &fields[..]) else { return Ok(false) };
        let nulls = keys.nulls;
        for _ in 0..len {
            keys.push_next(key_field, reader, filling)?;
            values.push_next(value_field, reader, filling)?;
            push_bit(&mut self.valid, self.rows, true);
            self.rows += 1;
        }
        Ok(keys.nulls == nulls)
    }

    pub(super) fn push_null(&mut self) {
        match &mut self.values {
            Values::Null => {}
            Values::Bits(bits) => push_bit(bits, self.rows, false),
            Values::Bytes(ints) => ints.push(0),
            Values::Shorts(ints) => ints.push(0),
            Values::Words(ints) => ints.push(0),
            Values::Ints(ints) => ints.push(0),
            Values::Halves(floats) => floats.push(0),
            Values::Singles(floats) => floats.push(0.0),
            Values::Floats(floats) => floats.push(0.0),
            Values::Views(views, ..) => views.push(0),
            Values::Spans(ends, all) => ends.push(all.len()),
            Values::Fixed(size, all) => all.resize(all.len() + *size, 0),
            Values::Lists(ends, items) => ends.push(items.rows),
            Values::ListViews(starts, sizes, items) => {
                starts.push(items.rows);
                sizes.push(0);
            }
            Values::FixedLists(size, items) => (0..*size).for_each(|_| items.push_null()),
            Values::Structs(columns) => columns.iter_mut().for_each(Self::push_null),
            Values::Dictionary(dictionary) => dictionary.indices.push_null(),
        }
        push_bit(&mut self.valid, self.rows, false);
        self.rows += 1;
        self.nulls += 1;
    }

    /// Takes back what is beyond so many rows, half a row included.
    pub(super) fn truncate(&mut self, rows: usize) {
        let rows = rows.min(self.rows);
        let is_null = |row: &usize| self.valid[row / 8] >> (row % 8) & 1 == 0;
        self.nulls -= (rows..self.rows).filter(is_null).count();
        self.rows = rows;
        truncate_bits(&mut self.valid, rows);
        match &mut self.values {
            Values::Null => {}
            Values::Bits(bits) => truncate_bits(bits, rows),
            Values::Bytes(ints) => ints.truncate(rows),
            Values::Shorts(ints) => ints.truncate(rows),
            Values::Words(ints) => ints.truncate(rows),
            Values::Ints(ints) => ints.truncate(rows),
            Values::Halves(floats) => floats.truncate(rows),
            Values::Singles(floats) => floats.truncate(rows),
            Values::Floats(floats) => floats.truncate(rows),
            // Their bytes stay: nothing points to them.
            Values::Views(views, ..) => views.truncate(rows),
            Values::Spans(ends, all) => all.truncate(ends.truncate(rows)),
            Values::Fixed(size, all) => all.truncate(rows * *size),
            Values::Lists(ends, items) => items.truncate(ends.truncate(rows)),
            Values::ListViews(starts, sizes, items) => {
                // Lists stand one behind the other, and of no list the first item is there.
                let left = if rows == 0 { 0 } else { starts.at(rows - 1) + sizes.at(rows - 1) };
                starts.leave(rows);
                sizes.leave(rows);
                items.truncate(left);
            }
            Values::FixedLists(size, items) => items.truncate(rows * *size),
            Values::Structs(columns) => columns.iter_mut().for_each(|column| column.truncate(rows)),
            Values::Dictionary(dictionary) => dictionary.indices.truncate(rows),
        }
    }

    /// The buffers in the order of Arrow's columnar format. They stay where they are until the column is dropped.
    pub(super) fn buffers(&self) -> Vec<*const c_void> {
        // No bitmap: all are valid.
        let valid = if self.nulls == 0 { ptr::null() } else { self.valid.as_ptr().cast() };
        match &self.values {
            Values::Null => Vec::new(),
            Values::Bits(bits) => vec![valid, bits.as_ptr().cast()],
            Values::Bytes(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Shorts(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Words(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Ints(ints) => vec![valid, ints.as_ptr().cast()],
            Values::Halves(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Singles(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Floats(floats) => vec![valid, floats.as_ptr().cast()],
            Values::Views(views, all, len) => {
                vec![valid, views.as_ptr().cast(), all.as_ptr().cast(), ptr::from_ref(&**len).cast()]
            }
            Values::Spans(ends, all) => vec![valid, ends.as_ptr(), all.as_ptr().cast()],
            Values::Fixed(_, all) => vec![valid, all.as_ptr().cast()],
            Values::Lists(ends, _) => vec![valid, ends.as_ptr()],
            Values::ListViews(starts, sizes, _) => vec![valid, starts.as_ptr(), sizes.as_ptr()],
            Values::FixedLists(..) | Values::Structs(_) => vec![valid],
            Values::Dictionary(dictionary) => dictionary.indices.buffers(),
        }
    }

    /// The columns that this one is made of.
    pub(super) fn children(&self) -> &[Self] {
        match &self.values {
            Values::Lists(_, items) | Values::ListViews(_, _, items) | Values::FixedLists(_, items) => {
                std::slice::from_ref(items)
            }
            Values::Structs(columns) => columns,
            _ => &[],
        }
    }

    /// The values of a dictionary.
    pub(super) fn dictionary(&self) -> Option<&Self> {
        match &self.values {
            Values::Dictionary(dictionary) => Some(&dictionary.values),
            _ => None,
        }
    }
}

/// Appends the fields of a struct to its columns, which have so many rows.
fn put_struct(
    (rows, columns): (usize, &mut Vec<Column>),
    fields: &[Field],
    len: usize,
    reader: &mut Reader<'_>,
    filling: &mut Filling,
) -> WireResult<bool> {
    // Keys mostly come in the order of the fields.
    let mut expected = 0;
    for _ in 0..len {
        let (key, is_text) = match Value::next(reader)? {
            Value::Text(text) => (text, true),
            other => {
                other.pass(reader)?;
                (&[][..], false)
            }
        };
        let is = |place: &usize| fields.get(*place).is_some_and(|field| is_text && field.name.to_bytes() == key);
        let Some(place) = Some(expected).filter(is).or_else(|| (0..fields.len()).find(is)) else {
            reader.skip()?;
            if filling.closed {
                filling.misfit(|| match std::str::from_utf8(key) {
                    Ok(key) if is_text => format!("the key {key:?} is no field of the struct"),
                    _ => "a key that is no str does not fit a struct".to_owned(),
                });
            }
            continue;
        };
        if columns[place].rows > rows {
            // Of equal keys the last one counts.
            columns[place].truncate(rows);
        }
        columns[place].push_next(&fields[place], reader, filling)?;
        expected = place + 1;
    }
    columns.iter_mut().filter(|column| column.rows == rows).for_each(Column::push_null);
    Ok(true)
}

impl Dictionary {
    fn put<'a>(
        &mut self,
        (size, signed): (u8, bool),
        field: &Field,
        value: &Value<'a>,
        reader: &mut Reader<'a>,
        filling: &mut Filling,
    ) -> WireResult<bool> {
        let Some(key) = dictionary_key(value) else { return Ok(false) };
        let place = if let Some(place) = self.places.get(&key[..]) {
            *place
        } else {
            let place = self.values.rows as i64;
            if sized(&Value::Int(place), size, signed).is_none()
                || !self.values.put(&field.kind, value, reader, filling)?
            {
                return Ok(false);
            }
            push_bit(&mut self.values.valid, self.values.rows, true);
            self.values.rows += 1;
            self.places.insert(key.into(), place);
            place
        };
        let fits = self.indices.put(&Kind::Plain(Plain::Int { size, signed }), &Value::Int(place), reader, filling)?;
        push_bit(&mut self.indices.valid, self.indices.rows, true);
        self.indices.rows += 1;
        Ok(fits)
    }
}

/// What tells values apart: their types and bytes.
fn dictionary_key(value: &Value<'_>) -> Option<Vec<u8>> {
    let tagged = |tag: u8, bytes: &[u8]| Some([&[tag], bytes].concat());
    match value {
        Value::Bool(value) => tagged(1, &[u8::from(*value)]),
        Value::Int(value) => tagged(2, &value.to_be_bytes()),
        Value::Float(value) => tagged(3, &value.to_be_bytes()),
        Value::Text(bytes) | Value::GeoJson(bytes) => tagged(4, bytes),
        Value::Blob(bytes) | Value::Hll(bytes) => tagged(5, bytes),
        _ => None,
    }
}
