//! Types of Arrow columns, read from the schemas of others.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use super::column::{KeyKind, Number, NumberKind};
use crate::columns::arrow::abi::ArrowSchema;
use crate::columns::plain::Plain;

/// The type of a column, as far as its values have to be found.
#[derive(Debug, Clone)]
pub(super) enum Type {
    Null,
    Bits,
    Number(Number),
    Spans {
        text: bool,
        wide: bool,
    },
    Views {
        text: bool,
    },
    Blobs(usize),
    List {
        wide: bool,
        item: Box<Self>,
    },
    ListViews {
        wide: bool,
        item: Box<Self>,
    },
    FixedList {
        size: usize,
        item: Box<Self>,
    },
    Struct {
        names: Arc<[Box<str>]>,
        fields: Vec<Self>,
    },
    Map {
        key: Box<Self>,
        value: Box<Self>,
    },
    Dictionary {
        index: Number,
        values: Box<Self>,
    },
    /// Values of this type cannot be written: why.
    Refused(String),
}

/// A column of a schema.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) of: Type,
    /// The type in the C data interface.
    pub(super) format: String,
}

/// How deep types may be nested.
const MAX_DEPTH: usize = 64;
/// The most columns, and fields of a struct.
const MAX_FIELDS: usize = 1 << 16;
/// The longest name or format, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// A text of a schema. `None`: there is none, it is too long, or it is not UTF-8.
///
/// # Safety
/// Null, or a C string that lives for `'a`.
unsafe fn text<'a>(start: *const c_char) -> Option<&'a str> {
    if start.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let text = unsafe { CStr::from_ptr(start) }.to_str().ok()?;
    (text.len() <= MAX_TEXT).then_some(text)
}

impl From<Plain> for Type {
    fn from(plain: Plain) -> Self {
        let number = |kind, size| Self::Number(Number { kind, size, swapped: false });
        match plain {
            Plain::Null => Self::Null,
            Plain::Bool => Self::Bits,
            Plain::Int { size, signed: true } => number(NumberKind::Int, size),
            Plain::Int { size, signed: false } => number(NumberKind::Uint, size),
            Plain::Float { size } => number(NumberKind::Float, size),
            Plain::Spans { text, wide } => Self::Spans { text, wide },
            Plain::Views { text } => Self::Views { text },
        }
    }
}

/// The children of a schema.
///
/// # Safety
/// `schema` was not released.
unsafe fn children(schema: &ArrowSchema) -> Result<Vec<&ArrowSchema>, String> {
    let count = usize::try_from(schema.n_children).ok().filter(|count| *count <= MAX_FIELDS);
    let count = count.ok_or_else(|| format!("the schema has {} children", schema.n_children))?;
    if count > 0 && schema.children.is_null() {
        return Err("the schema has no memory for its children".to_owned());
    }
    // SAFETY: a schema has so many pointers to children, each of which it owns.
    let child = |place| unsafe { (*schema.children.add(place)).as_ref() };
    let child = |place| child(place).filter(|child| child.release.is_some());
    (0..count).map(|place| child(place).ok_or_else(|| "a child of the schema is missing".to_owned())).collect()
}

impl Field {
    /// Of a column.
    ///
    /// # Safety
    /// `schema` was not released.
    pub(super) unsafe fn of(schema: &ArrowSchema) -> Result<Self, String> {
        // SAFETY: promised by the caller.
        unsafe { Self::at_depth(schema, 0) }
    }

    /// Of the columns of a table; `None`: it is the schema of something else.
    ///
    /// # Safety
    /// `schema` was not released.
    pub(super) unsafe fn of_table(schema: &ArrowSchema) -> Result<Option<Vec<Self>>, String> {
        // SAFETY: promised by the caller.
        unsafe {
            if text(schema.format) != Some("+s") {
                return Ok(None);
            }
            children(schema)?.into_iter().map(|child| Self::of(child)).collect::<Result<_, _>>().map(Some)
        }
    }

    /// # Safety
    /// As of [`of`](Self::of).
    unsafe fn at_depth(schema: &ArrowSchema, depth: usize) -> Result<Self, String> {
        // SAFETY: strings of a schema live as long as it does.
        let (format, name) = unsafe { (text(schema.format), text(schema.name)) };
        let format = format.ok_or("a column of the schema has no type that can be read")?;
        if depth > MAX_DEPTH {
            return Err(format!("the types of the schema are nested more than {MAX_DEPTH} deep"));
        }
        // SAFETY: promised by the caller.
        let of = unsafe { Type::read(schema, format, depth) }?;
        let of = if schema.dictionary.is_null() {
            of
        } else {
            // SAFETY: not null: owned by the schema.
            let values = unsafe { Self::at_depth(&*schema.dictionary, depth + 1) }?.of;
            match of {
                Type::Number(index) if matches!(index.kind, NumberKind::Int | NumberKind::Uint) => {
                    Type::Dictionary { index, values: Box::new(values) }
                }
                _ => return Err(format!("a dictionary of the schema has the index type '{format}'")),
            }
        };
        Ok(Self { name: name.unwrap_or_default().into(), of, format: format.to_owned() })
    }
}

impl Type {
    /// # Safety
    /// `schema` was not released.
    unsafe fn read(schema: &ArrowSchema, format: &str, depth: usize) -> Result<Self, String> {
        if let Some(plain) = Plain::of_format(format) {
            return Ok(plain.into());
        }
        let nested = || {
            // SAFETY: promised by the caller.
            let fields = unsafe { children(schema)?.into_iter().map(|child| Field::at_depth(child, depth + 1)) };
            fields.collect::<Result<Vec<_>, _>>()
        };
        let only = || match <[Field; 1]>::try_from(nested()?) {
            Ok([item]) => Ok(Box::new(item.of)),
            Err(_) => Err(format!("the type '{format}' of the schema does not have one child")),
        };
        let malformed = || format!("the type '{format}' of the schema is malformed");
        Ok(match format {
            "+l" => Self::List { wide: false, item: only()? },
            "+L" => Self::List { wide: true, item: only()? },
            "+vl" => Self::ListViews { wide: false, item: only()? },
            "+vL" => Self::ListViews { wide: true, item: only()? },
            "+s" => {
                let fields = nested()?;
                let names = fields.iter().map(|field| field.name.clone()).collect();
                Self::Struct { names, fields: fields.into_iter().map(|field| field.of).collect() }
            }
            "+m" => match *only()? {
                Self::Struct { fields, .. } => match <[Self; 2]>::try_from(fields) {
                    Ok([key, value]) => Self::Map { key: Box::new(key), value: Box::new(value) },
                    Err(_) => return Err(malformed()),
                },
                _ => return Err(malformed()),
            },
            _ => {
                if let Some(size) = format.strip_prefix("w:") {
                    Self::Blobs(size.parse().ok().filter(|size| *size > 0).ok_or_else(malformed)?)
                } else if let Some(size) = format.strip_prefix("+w:") {
                    Self::FixedList { size: size.parse().map_err(|_| malformed())?, item: only()? }
                } else {
                    Self::Refused(refusal(format))
                }
            }
        })
    }

    /// Why values of this type, or those in them, cannot be written.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused(why) => Some(why),
            Self::List { item, .. } | Self::ListViews { item, .. } | Self::FixedList { item, .. } => item.refusal(),
            Self::Struct { names, fields } => {
                if (1..names.len()).any(|place| names[..place].contains(&names[place])) {
                    return Some("two fields of a struct have the same name");
                }
                fields.iter().find_map(Self::refusal)
            }
            Self::Map { key, value } => match key.key() {
                KeyKind::Int | KeyKind::Text | KeyKind::Blob => value.refusal(),
                _ => Some("the server takes ints, texts and blobs as keys of maps"),
            },
            Self::Dictionary { values, .. } => values.refusal(),
            _ => None,
        }
    }

    /// What keys values of this type can be.
    pub(super) fn key(&self) -> KeyKind {
        match self {
            Self::Number(number) if number.kind != NumberKind::Float => KeyKind::Int,
            Self::Spans { text: true, .. } | Self::Views { text: true } => KeyKind::Text,
            Self::Spans { .. } | Self::Views { .. } | Self::Blobs(_) => KeyKind::Blob,
            Self::Dictionary { values, .. } if !matches!(**values, Self::Dictionary { .. }) => values.key(),
            _ => KeyKind::None,
        }
    }
}

/// Why a type that is known, or not, has no value of the server.
fn refusal(format: &str) -> String {
    let what = match format {
        _ if format.starts_with("d:") => {
            "a decimal, which the server does not know: cast the column to float64, to text, or to an int of the smallest unit"
        }
        _ if format.starts_with("ti") => {
            "an interval, which the server does not know: cast the column to int64 or text"
        }
        _ if format.starts_with("+u") => "a union: split it into a column for each type",
        _ if format == "+r" => "run-end encoded: decode it first",
        _ => "a type that this version does not know",
    };
    format!("it is {what} (Arrow format '{format}')")
}
