//! Arrays of Arrow's C data interface as columns, checked.

use std::sync::Arc;

use super::column::{Column, Values};
use super::memory::{Bytes, Cells};
use super::types::Type;
use crate::columns::arrow::abi::ArrowArray;

/// What keeps the memory of an array.
type Held = Arc<dyn Send + Sync>;

/// An array that was moved here; released when it is dropped.
pub(super) struct Owned(ArrowArray);

// SAFETY: only read while it is shared, and released by the last owner.
unsafe impl Sync for Owned {}

impl Owned {
    pub(super) const fn new(array: ArrowArray) -> Self {
        Self(array)
    }

    /// The array as a column.
    ///
    /// # Errors
    /// It is malformed.
    pub(super) fn column(self: Arc<Self>, of: &Type) -> Result<Column, String> {
        let held: Held = Arc::clone(&self) as Held;
        // SAFETY: it was not released, and `held` keeps it.
        unsafe { column(&self.0, of, &held) }
    }
}

const fn malformed(what: &'static str) -> impl FnOnce() -> String {
    move || format!("the array is malformed: {what}")
}

/// The array's children.
///
/// # Safety
/// `array` was not released.
unsafe fn children(array: &ArrowArray, expected: usize) -> Result<Vec<&ArrowArray>, String> {
    if usize::try_from(array.n_children) != Ok(expected) || (expected > 0 && array.children.is_null()) {
        return Err(format!("the array is malformed: it has {} children, not {expected}", array.n_children));
    }
    // SAFETY: it has so many pointers to children, each of which it owns.
    let child = |place| unsafe { (*array.children.add(place)).as_ref() };
    (0..expected).map(|place| child(place).ok_or_else(malformed("a child is missing"))).collect()
}

/// One of the array's buffers.
///
/// # Safety
/// `array` was not released, has so many buffers, and this one has so many bytes unless it is null.
unsafe fn buffer(array: &ArrowArray, place: usize, len: Option<usize>) -> Result<Bytes, String> {
    let len = len.ok_or_else(malformed("its length overflows"))?;
    // SAFETY: promised by the caller.
    unsafe { Bytes::new((*array.buffers.add(place)).cast(), len) }.ok_or_else(malformed("a buffer is missing"))
}

/// How many bytes of data there are: where the last value ends.
fn end_of(offsets: Bytes, places: usize, wide: bool) -> Result<usize, String> {
    if offsets.len() == 0 {
        return Ok(0);
    }
    offsets.offset(places, wide).ok_or_else(malformed("its last offset is negative"))
}

/// An array as a column. `held` keeps its memory.
///
/// # Safety
/// `array` was not released, and is what the type says.
unsafe fn column(array: &ArrowArray, of: &Type, held: &Held) -> Result<Column, String> {
    if array.release.is_none() {
        return Err("the array is malformed: it was released".to_owned());
    }
    let size = |number: i64| usize::try_from(number).ok();
    let (Some(rows), Some(offset)) = (size(array.length), size(array.offset)) else {
        return Err(format!("the array is malformed: length {}, offset {}", array.length, array.offset));
    };
    let end = offset.checked_add(rows).filter(|end| *end < isize::MAX as usize);
    let end = end.ok_or_else(malformed("its length overflows"))?;
    let buffers = match of {
        // polars exports one, which says nothing.
        Type::Null => size(array.n_buffers).filter(|count| *count <= 1).unwrap_or(0),
        Type::Struct { .. } | Type::FixedList { .. } => 1,
        Type::Spans { .. } | Type::ListViews { .. } => 3,
        Type::Views { .. } => size(array.n_buffers).filter(|count| *count >= 3).unwrap_or(3),
        _ => 2,
    };
    if array.n_buffers != buffers as i64 || (buffers > 0 && array.buffers.is_null()) {
        return Err(format!("the array is malformed: it has {} buffers, not {buffers}", array.n_buffers));
    }
    let bits = end.div_ceil(8);
    // SAFETY: the first of the buffers, if there are some; it may be null.
    let valid = unsafe {
        let first = if buffers == 0 || array.null_count == 0 || matches!(of, Type::Null) {
            std::ptr::null()
        } else {
            *array.buffers
        };
        Bytes::new(first.cast(), bits).filter(|_| !first.is_null())
    };
    if array.null_count > 0 && valid.is_none() && !matches!(of, Type::Null) {
        return Err("the array is malformed: it has nulls, and no buffer that says where".to_owned());
    }
    let dense = |place, size: usize| {
        // SAFETY: it has two buffers or more, and a value of this size for each row.
        unsafe { buffer(array, place, end.checked_mul(size)) }
    };
    // An array without rows may have no offsets.
    let offsets = |wide: bool| {
        let places = if end == 0 { Some(0) } else { end.checked_add(1) };
        // SAFETY: as above; there is one more offset than rows.
        unsafe { buffer(array, 1, places.and_then(|places| places.checked_mul(if wide { 8 } else { 4 }))) }
    };
    // SAFETY: promised by the caller, as are the children.
    let child = |place: usize, count: usize, of: &Type| unsafe {
        children(array, count).and_then(|children| column(children[place], of, held)).map(Box::new)
    };
    let values = match of {
        // Nobody reads the second.
        Type::Null | Type::Refused(_) => Values::Null,
        Type::Bits => {
            // SAFETY: it has two buffers, and a bit for each row.
            Values::Bits(unsafe { buffer(array, 1, Some(bits)) }?)
        }
        Type::Number(number) => {
            let size = usize::from(number.size);
            Values::Numbers(*number, Cells::dense(dense(1, size)?, size))
        }
        Type::Blobs(size) => Values::Blobs { cells: Cells::dense(dense(1, *size)?, *size), trimmed: false },
        Type::Spans { text, wide } => {
            let offsets = offsets(*wide)?;
            let len = end_of(offsets, end, *wide)?;
            // SAFETY: the third of three buffers; it ends where the last value ends.
            let data = unsafe { buffer(array, 2, Some(len)) }?;
            Values::Spans { text: *text, wide: *wide, offsets, data }
        }
        Type::Views { text } => {
            // SAFETY: promised by the caller.
            let data = unsafe { view_data(array, buffers) }?;
            Values::Views { text: *text, views: dense(1, 16)?, data }
        }
        Type::List { wide, item } => Values::Lists { wide: *wide, offsets: offsets(*wide)?, items: child(0, 1, item)? },
        Type::ListViews { wide, item } => {
            let size = if *wide { 8 } else { 4 };
            let (offsets, sizes) = (dense(1, size)?, dense(2, size)?);
            Values::ListViews { wide: *wide, offsets, sizes, items: child(0, 1, item)? }
        }
        Type::FixedList { size, item } => Values::FixedLists { size: *size, items: child(0, 1, item)? },
        Type::Struct { names, fields } => {
            let all =
                fields.iter().enumerate().map(|(place, field)| child(place, fields.len(), field).map(|field| *field));
            let all = all.collect::<Result<Vec<_>, _>>()?;
            if all.iter().any(|field| field.rows < end) {
                return Err("the array is malformed: a field of a struct has too few rows".to_owned());
            }
            Values::Structs { names: Arc::clone(names), fields: all }
        }
        Type::Map { key, value } => {
            let fields = vec![(**key).clone(), (**value).clone()];
            let pairs = child(0, 1, &Type::Struct { names: Arc::new(["key".into(), "value".into()]), fields })?;
            let (first, rows) = (pairs.offset, pairs.rows);
            let Values::Structs { fields, .. } = pairs.values else { return Err(malformed("its map")()) };
            let part = |field: &Column| Box::new(field.slice(first, rows));
            match &fields[..] {
                [keys, values] => Values::Maps { offsets: offsets(false)?, keys: part(keys), values: part(values) },
                _ => return Err(malformed("its map")()),
            }
        }
        Type::Dictionary { index, values } => {
            let size = usize::from(index.size);
            let indices = Cells::dense(dense(1, size)?, size);
            // SAFETY: null, or owned by the array.
            let dictionary = unsafe { array.dictionary.as_ref() }.ok_or_else(malformed("it has no dictionary"))?;
            // SAFETY: promised by the caller.
            let values = Box::new(unsafe { column(dictionary, values, held) }?);
            Values::Dictionary { index: *index, indices, values }
        }
    };
    Ok(Column { offset, rows, valid, values, _held: Some(Arc::clone(held)) })
}

/// The buffers that views point into: those between the views and the lengths of these buffers.
///
/// # Safety
/// `array` was not released, and has so many buffers, three at least.
unsafe fn view_data(array: &ArrowArray, buffers: usize) -> Result<Box<[Bytes]>, String> {
    let count = buffers - 3;
    // SAFETY: the last buffer has a length of 64 bits for each of the others.
    let lengths = unsafe { buffer(array, buffers - 1, count.checked_mul(8)) }?;
    let one = |place: usize| {
        let len = lengths.offset(place, true).ok_or_else(malformed("a buffer has a negative length"))?;
        // SAFETY: promised by the caller; its length is what the array says.
        unsafe { buffer(array, place + 2, Some(len)) }
    };
    (0..count).map(one).collect()
}
