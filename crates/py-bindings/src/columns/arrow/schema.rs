//! The columns that were asked for.

use std::ffi::{CStr, CString};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::abi::ArrowSchema;
use crate::errors;
use crate::operation::checked_name;

/// Columns, each of a bin.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The bin's name.
    pub(super) name: CString,
    pub(super) kind: Kind,
    /// The type in the C data interface.
    pub(super) format: CString,
    pub(super) from: From,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Bin,
    /// The user key, if the server keeps it.
    Key,
    Generation,
    /// The seconds that are left.
    Ttl,
}

/// How the values of a column lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    /// Ints, and times, of so many bytes.
    Int {
        size: u8,
        signed: bool,
    },
    /// Floats of so many bytes.
    Float {
        size: u8,
    },
    /// Texts or bytes one behind the other, with offsets of 32 or (`wide`) 64 bits.
    Spans {
        text: bool,
        wide: bool,
    },
    /// Texts or bytes that views point to.
    Views {
        text: bool,
    },
}

const UNITS: [(&str, char); 4] = [("s", 's'), ("ms", 'm'), ("us", 'u'), ("ns", 'n')];

impl Kind {
    /// Of a type in the C data interface.
    fn of_format(format: &str) -> Option<Self> {
        let int = |size, signed| Self::Int { size, signed };
        Some(match format {
            "b" => Self::Bool,
            "c" => int(1, true),
            "C" => int(1, false),
            "s" => int(2, true),
            "S" => int(2, false),
            "i" | "tdD" | "tts" | "ttm" => int(4, true),
            "I" => int(4, false),
            "l" | "tdm" | "ttu" | "ttn" | "tDs" | "tDm" | "tDu" | "tDn" => int(8, true),
            "L" => int(8, false),
            "f" => Self::Float { size: 4 },
            "g" => Self::Float { size: 8 },
            "u" => Self::Spans { text: true, wide: false },
            "U" => Self::Spans { text: true, wide: true },
            "z" => Self::Spans { text: false, wide: false },
            "Z" => Self::Spans { text: false, wide: true },
            "vu" => Self::Views { text: true },
            "vz" => Self::Views { text: false },
            _ if ["tss:", "tsm:", "tsu:", "tsn:"].iter().any(|unit| format.starts_with(unit)) => int(8, true),
            _ => return None,
        })
    }
}

/// The type in the C data interface of a type by its name, which is that of pyarrow.
fn format_of(name: &str) -> Option<String> {
    let format = match name {
        "bool" => "b",
        "int8" => "c",
        "uint8" => "C",
        "int16" => "s",
        "uint16" => "S",
        "int32" => "i",
        "uint32" => "I",
        "int64" => "l",
        "uint64" => "L",
        "float32" => "f",
        "float64" => "g",
        "utf8" | "string" => "u",
        "large_utf8" | "large_string" => "U",
        "string_view" => "vu",
        "binary" => "z",
        "large_binary" => "Z",
        "binary_view" => "vz",
        "date32" => "tdD",
        "date64" => "tdm",
        _ => {
            let (of, within) = name.strip_suffix(']')?.split_once('[')?;
            let (unit, zone) = within.split_once(", tz=").unwrap_or((within, ""));
            let letter = UNITS.iter().find(|(name, _)| *name == unit)?.1;
            return match (of, letter) {
                ("timestamp", _) => Some(format!("ts{letter}:{zone}")),
                ("duration", _) if zone.is_empty() => Some(format!("tD{letter}")),
                ("time32", 's' | 'm') | ("time64", 'u' | 'n') if zone.is_empty() => Some(format!("tt{letter}")),
                _ => None,
            };
        }
    };
    Some(format.to_owned())
}

fn not_a_column(name: &str, what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "the column '{name}' is {what}: bins become bool, int8 to int64, uint8 to uint64, float32, float64, utf8, large_utf8, \
         string_view, binary, large_binary, binary_view, date32, date64, time32, time64, timestamp or duration"
    ))
}

impl Field {
    fn of_format(name: &str, format: &str) -> Option<Self> {
        let kind = Kind::of_format(format)?;
        Some(Self { name: CString::new(name).ok()?, kind, format: CString::new(format).ok()?, from: From::Bin })
    }
}

impl Schema {
    /// Of pairs of names and names of types.
    pub(crate) fn named(columns: &[(&str, &str)]) -> PyResult<Self> {
        let fields = columns.iter().map(|(name, kind)| {
            let field = format_of(kind).and_then(|format| Field::of_format(name, &format));
            field.ok_or_else(|| not_a_column(name, &format!("'{kind}'")))
        });
        Ok(Self { fields: fields.collect::<PyResult<_>>()? })
    }

    /// Of a dict or pairs of names and names of types, or of an object that has `__arrow_c_schema__`.
    pub(crate) fn of(schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = schema.py();
        let fields = if schema.hasattr("__arrow_c_schema__")? {
            Self::fields_of_capsule(&schema.call_method0("__arrow_c_schema__")?)?
        } else {
            let pairs = match schema.cast::<PyDict>() {
                Ok(dict) => dict.items().into_any(),
                Err(_) => schema.clone(),
            };
            let mut fields = Vec::new();
            for pair in pairs.try_iter()? {
                let pair: (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract().map_err(|_| {
                    PyTypeError::new_err("a schema is a dict of names and types, pairs of them, or an Arrow schema")
                })?;
                let name = pair.0.cast_into::<PyString>()?;
                let text = checked_name(&name)?;
                let Ok(kind) = pair.1.extract::<&str>() else {
                    return Err(not_a_column(text, &format!("{}", pair.1.repr()?)));
                };
                let format = format_of(kind).ok_or_else(|| not_a_column(text, &format!("'{kind}'")))?;
                fields.push((text.to_owned(), format));
            }
            fields
        };
        if fields.is_empty() {
            return Err(errors::invalid_argument(py, "the schema has no columns"));
        }
        let mut schema = Self { fields: Vec::with_capacity(fields.len()) };
        for (name, format) in fields {
            let named = |what| errors::invalid_argument(py, format!("a column of the schema {what}"));
            if name.is_empty() {
                return Err(named("has no name"));
            }
            if name.contains('\0') {
                return Err(named("has a name with a NUL"));
            }
            if schema.fields.iter().any(|field| field.name.to_bytes() == name.as_bytes()) {
                return Err(named(&format!("is there twice: {name}")));
            }
            let field = Field::of_format(&name, &format);
            schema.fields.push(field.ok_or_else(|| not_a_column(&name, &format!("'{format}'")))?);
        }
        Ok(schema)
    }

    fn fields_of_capsule(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
        let py = capsule.py();
        // SAFETY: a live object; the call checks that it is a capsule of this name.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"arrow_schema".as_ptr()) };
        if pointer.is_null() {
            return Err(PyErr::fetch(py));
        }
        let broken = || PyTypeError::new_err("the Arrow schema must be one of a table: a struct of columns");
        // SAFETY: so the interface defines the name; the capsule outlives this look.
        let top = unsafe { &*pointer.cast::<ArrowSchema>() };
        if top.release.is_none() || string(top.format) != Some(c"+s") {
            return Err(broken());
        }
        let count = usize::try_from(top.n_children).map_err(|_| broken())?;
        let mut fields = Vec::new();
        for place in 0..count {
            // SAFETY: a schema has so many children, each of which it owns.
            let child = unsafe { (*top.children.add(place)).as_ref() }.ok_or_else(broken)?;
            let (Some(name), Some(format)) = (string(child.name), string(child.format)) else { return Err(broken()) };
            let name = name.to_str().map_err(|_| broken())?;
            checked_name(&PyString::new(py, name))?;
            let known =
                format.to_str().ok().filter(|format| child.dictionary.is_null() && Kind::of_format(format).is_some());
            let what = || {
                format!(
                    "of the Arrow format {format:?}{}",
                    if child.dictionary.is_null() { "" } else { ", encoded by a dictionary" }
                )
            };
            fields.push((name.to_owned(), known.ok_or_else(|| not_a_column(name, &what()))?.to_owned()));
        }
        Ok(fields)
    }

    /// With further columns, of what a record has beside its bins: `key` as name and type, the others as names.
    pub(crate) fn with_more(
        mut self,
        py: Python<'_>,
        key: Option<(String, String)>,
        generation: Option<String>,
        ttl: Option<String>,
    ) -> PyResult<Self> {
        let named = |name: Option<String>, format: &str| name.map(|name| (name, format.to_owned()));
        let key = match key {
            None => None,
            Some((name, kind)) if ["int64", "utf8", "large_utf8", "string_view", "binary"].contains(&&*kind) => {
                let format = format_of(&kind).unwrap_or_default();
                Some((name, format))
            }
            Some((name, kind)) => {
                let text = format!(
                    "the column '{name}' of the keys is '{kind}': it can be int64, utf8, large_utf8, string_view or binary"
                );
                return Err(PyTypeError::new_err(text));
            }
        };
        for (more, from) in [(key, From::Key), (named(generation, "I"), From::Generation), (named(ttl, "l"), From::Ttl)]
        {
            let Some((name, format)) = more else { continue };
            if self.fields.iter().any(|field| field.name.to_bytes() == name.as_bytes()) {
                return Err(errors::invalid_argument(py, format!("a column of the schema is there twice: {name}")));
            }
            let field = Field::of_format(&name, &format).filter(|_| !name.is_empty());
            let field = field.ok_or_else(|| errors::invalid_argument(py, "a column has no name, or one with a NUL"))?;
            self.fields.push(Field { from, ..field });
        }
        Ok(self)
    }

    /// How many columns.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The names of the bins.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.to_string_lossy()).collect();
        Ok(names.into_pyobject(py)?.into_any())
    }
}

/// A string of a schema that is looked at.
fn string<'a>(start: *const std::ffi::c_char) -> Option<&'a CStr> {
    // SAFETY: strings of a schema end with a NUL and live as long as it does, which the callers of this see to.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) })
}
