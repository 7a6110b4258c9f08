//! Which columns somebody wants, as Python says it.

use std::ffi::CString;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use super::abi::ArrowSchema;
use super::infer::Inference;
use super::schema::{Bin, ColumnSource, Schema, not_a_column};
use super::types::{Field, string};
use crate::errors;
use crate::operation::checked_name;

/// Columns that are wanted.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// `None`: those that the records have.
    bins: Option<Vec<Field>>,
    /// Columns whose types are not to be found out.
    overrides: Vec<Field>,
    key: Option<KeyColumn>,
    /// Behind those.
    more: Vec<Bin>,
    strict: bool,
    /// Bins of mixed types become JSON.
    json: bool,
}

#[derive(Debug)]
enum KeyColumn {
    Typed(Field),
    /// Of the type that the keys have.
    Named(String),
}

/// What methods take beside a schema.
#[derive(Default)]
pub(crate) struct Options<'a, 'py> {
    pub(crate) schema_overrides: Option<&'a Bound<'py, PyAny>>,
    pub(crate) key: Option<&'a Bound<'py, PyAny>>,
    pub(crate) digest: Option<&'a Bound<'py, PyAny>>,
    pub(crate) generation: Option<String>,
    pub(crate) ttl: Option<String>,
    pub(crate) expiration: Option<String>,
    pub(crate) misfits: Option<&'a str>,
    pub(crate) mixed: Option<&'a str>,
}

impl Options<'_, '_> {
    const fn is_empty(&self) -> bool {
        let Self { schema_overrides, key, digest, generation, ttl, expiration, misfits, mixed } = self;
        schema_overrides.is_none()
            && key.is_none()
            && digest.is_none()
            && generation.is_none()
            && ttl.is_none()
            && expiration.is_none()
            && misfits.is_none()
            && mixed.is_none()
    }
}

impl Wanted {
    /// Of what a method was given. `schema`: none, an `ArrowColumns`, or what [`bins_of`] takes.
    pub(crate) fn of(
        py: Python<'_>,
        schema: Option<&Bound<'_, PyAny>>,
        options: &Options<'_, '_>,
    ) -> PyResult<Arc<Self>> {
        if let Some(columns) = schema.and_then(|schema| schema.cast::<ArrowColumns>().ok()) {
            if !options.is_empty() {
                return Err(PyTypeError::new_err(
                    "an ArrowColumns says everything itself: leave out the other arguments",
                ));
            }
            return Ok(Arc::clone(&columns.get().0));
        }
        let bins = schema.map(bins_of).transpose()?;
        if bins.as_ref().is_some_and(Vec::is_empty) {
            return Err(errors::invalid_argument(py, "the schema has no columns"));
        }
        let overrides = options.schema_overrides.map(bins_of).transpose()?.unwrap_or_default();
        if bins.is_some() && !overrides.is_empty() {
            return Err(PyValueError::new_err("schema and schema_overrides exclude each other"));
        }
        let strict = match options.misfits {
            None => bins.is_none(),
            Some("raise") => true,
            Some("null") => false,
            Some(other) => return Err(PyValueError::new_err(format!("misfits is 'raise' or 'null', not {other:?}"))),
        };
        let json = match options.mixed {
            None | Some("raise") => false,
            Some("json") => true,
            Some(other) => return Err(PyValueError::new_err(format!("mixed is 'raise' or 'json', not {other:?}"))),
        };
        let key = options.key.map(key_column).transpose()?;
        let mut more = Vec::new();
        if let Some(digest) = options.digest {
            more.push(Bin { field: digest_column(digest)?, from: ColumnSource::Digest });
        }
        for (name, format, from) in [
            (&options.generation, "uint32", ColumnSource::Generation),
            (&options.ttl, "int64", ColumnSource::Ttl),
            (&options.expiration, "timestamp[s, tz=UTC]", ColumnSource::Expiration),
        ] {
            if let Some(name) = name {
                more.push(Bin { field: named(py, name, format)?, from });
            }
        }
        let wanted = Self { bins, overrides, key, more, strict, json };
        let known = wanted.bins.iter().flatten().chain(&wanted.overrides).map(|field| field.name.to_string_lossy());
        let mut names: Vec<_> = known.chain(wanted.own().map(|(name, _)| name.into())).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                Err(errors::invalid_argument(py, format!("a column of the schema is there twice: {}", pair[0])))
            }
            None => Ok(Arc::new(wanted)),
        }
    }

    /// The names of the columns that are not those of bins, and what each is of.
    fn own(&self) -> impl Iterator<Item = (String, &'static str)> {
        let key = self.key.iter().map(|key| match key {
            KeyColumn::Typed(field) => (field.name.to_string_lossy().into_owned(), "keys"),
            KeyColumn::Named(name) => (name.clone(), "keys"),
        });
        key.chain(self.more.iter().map(|bin| {
            let of = match bin.from {
                ColumnSource::Bin | ColumnSource::Key => "keys",
                ColumnSource::Digest => "digests",
                ColumnSource::Generation => "generations",
                ColumnSource::Ttl => "TTLs",
                ColumnSource::Expiration => "expirations",
            };
            (bin.name().into_owned(), of)
        }))
    }

    /// The names of the bins to read; `None`: all.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let names = |bins: &Vec<Field>| {
            let names: Vec<_> = bins.iter().map(|field| field.name.to_string_lossy()).collect();
            Ok(names.into_pyobject(py)?.into_any())
        };
        self.bins.as_ref().map(names).transpose()
    }

    /// The columns, if no record has to be looked at.
    pub(crate) fn known(&self) -> Option<Schema> {
        self.bins.as_ref().filter(|_| !matches!(self.key, Some(KeyColumn::Named(_))))?;
        self.settle(&Inference::default()).ok()
    }

    /// The columns of records that were looked at.
    ///
    /// # Errors
    /// Values of a bin, or keys, have no common type, or a bin has the name of another column: a message.
    pub(crate) fn settle(&self, seen: &Inference) -> Result<Schema, String> {
        let from_bin = |field| Bin { field, from: ColumnSource::Bin };
        let mut bins: Vec<Bin> = if let Some(bins) = &self.bins {
            bins.iter().cloned().map(from_bin).collect()
        } else {
            let known = |name: &str| self.overrides.iter().any(|field| field.name.to_bytes() == name.as_bytes());
            let found = seen.bins(self.json, known)?;
            for (name, of) in self.own() {
                if found.iter().any(|field| field.name.to_bytes() == name.as_bytes()) {
                    return Err(format!(
                        "the records have a bin {name:?}, which is also the name of the column of the {of}: give that \
                             column another name"
                    ));
                }
            }
            found.into_iter().chain(self.overrides.iter().cloned()).map(from_bin).collect()
        };
        match &self.key {
            Some(KeyColumn::Typed(field)) => bins.push(Bin { field: field.clone(), from: ColumnSource::Key }),
            Some(KeyColumn::Named(name)) => {
                bins.push(Bin { field: seen.key(name, self.json)?, from: ColumnSource::Key });
            }
            None => {}
        }
        bins.extend(self.more.iter().cloned());
        Ok(Schema { bins, strict: self.strict, closed: self.strict && self.bins.is_none() })
    }
}

/// The columns that a batch or a query returns, and how their types are determined.
///
/// Pass it to `client.batch_read(keys, as_arrow=ArrowColumns(..))` or `Recordset.to_arrow(ArrowColumns(..))`. Without a
/// schema, there is a column for each bin that occurs, and its type depends on the values:
///
/// * int: `int64`; float, or int and float: `float64`
/// * bool: `bool`; str and GeoJSON: `utf8`; bytes and HLL: `binary`
/// * list: a list of the items' type
/// * dict: a struct if all records have the same keys, and all keys are str. Otherwise a map if all keys have one type
///   and all values have one type, or a struct of all keys if these are str.
/// * values of other types in one bin: `InvalidArgumentError`, which names the bin, the types and a record of each.
///   With `mixed="json"`, such bins become JSON text.
///
/// `schema` defines a column for each bin, as a dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema
/// (such as pyarrow's). `schema_overrides` does so for some bins; the types of the others are determined.
///
/// `misfits` says what happens to a value that does not fit its column. `"raise"` is the default without a schema: an
/// `InvalidArgumentError` that names the bin and the record, also for a bin without a column. `"null"` is the default
/// with a schema: the value is null, and a bin without a column is left out.
///
/// The other arguments add columns with these names. `key`: the user key, given as a name or as name and type (`("id",
/// "int64")`); null in queries if the server does not store it (`send_key`). `digest`: 20 bytes, or with `("digest",
/// "utf8")` 40 hexadecimal digits. `generation`: a `uint32`. `ttl`: the remaining seconds, an `int64`. `expiration`: a
/// `timestamp[s, tz=UTC]`. `ttl` and `expiration` are null if the record never expires.
///
/// Raises `TypeError` for types that bins cannot be converted to, `InvalidArgumentError` for invalid bin names and
/// duplicate column names, and `ValueError` for other values of `misfits` and `mixed`.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ArrowColumns(Arc<Wanted>);

#[pymethods]
impl ArrowColumns {
    #[new]
    #[pyo3(signature = (schema=None, *, schema_overrides=None, key=None, digest=None, generation=None, ttl=None, expiration=None,
        misfits=None, mixed=None))]
    #[allow(clippy::too_many_arguments)] // the arguments of the Python class
    fn new(
        py: Python<'_>,
        schema: Option<&Bound<'_, PyAny>>,
        schema_overrides: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
        digest: Option<&Bound<'_, PyAny>>,
        generation: Option<String>,
        ttl: Option<String>,
        expiration: Option<String>,
        misfits: Option<&str>,
        mixed: Option<&str>,
    ) -> PyResult<Self> {
        let options = Options { schema_overrides, key, digest, generation, ttl, expiration, misfits, mixed };
        Wanted::of(py, schema, &options).map(Self)
    }

    fn __repr__(&self) -> String {
        let bins = self
            .0
            .bins
            .as_ref()
            .map_or_else(|| "the records' own bins".to_owned(), |bins| format!("{} bins", bins.len()));
        format!("<ArrowColumns of {bins}, {} further columns>", self.0.own().count())
    }
}

/// What `as_arrow` asks for; `None`: nothing.
pub(crate) fn as_arrow(py: Python<'_>, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Wanted>>> {
    let schema = match value {
        None => return Ok(None),
        Some(value) => match value.cast::<PyBool>() {
            Ok(wanted) if !wanted.is_true() => return Ok(None),
            Ok(_) => None,
            Err(_) => Some(value),
        },
    };
    Wanted::of(py, schema, &Options::default()).map(Some)
}

fn named(py: Python<'_>, name: &str, kind: &str) -> PyResult<Field> {
    let field = Field::of_type(name, kind).filter(|_| !name.is_empty());
    field.ok_or_else(|| errors::invalid_argument(py, "a column has no name, or one with a NUL"))
}

/// A name, or a name and a type.
fn name_and_type(column: &Bound<'_, PyAny>, what: &str) -> PyResult<(String, Option<String>)> {
    if let Ok(name) = column.cast::<PyString>() {
        return Ok((name.to_str()?.to_owned(), None));
    }
    let pair = column.cast::<PyTuple>().ok().and_then(|pair| pair.extract::<(String, String)>().ok());
    let (name, kind) =
        pair.ok_or_else(|| PyTypeError::new_err(format!("{what} is a name, or a tuple of name and type")))?;
    Ok((name, Some(kind)))
}

fn key_column(column: &Bound<'_, PyAny>) -> PyResult<KeyColumn> {
    let py = column.py();
    let (name, kind) = name_and_type(column, "key")?;
    match kind {
        None => named(py, &name, "null").map(|_| KeyColumn::Named(name)),
        Some(kind) if ["int64", "utf8", "large_utf8", "string_view", "binary"].contains(&&*kind) => {
            named(py, &name, &kind).map(KeyColumn::Typed)
        }
        Some(kind) => Err(PyTypeError::new_err(format!(
            "the column '{name}' of the keys is '{kind}': it can be int64, utf8, large_utf8, string_view or binary"
        ))),
    }
}

fn digest_column(column: &Bound<'_, PyAny>) -> PyResult<Field> {
    let (name, kind) = name_and_type(column, "digest")?;
    let kind = kind.as_deref().unwrap_or("fixed_size_binary[20]");
    if !["fixed_size_binary[20]", "binary", "utf8"].contains(&kind) {
        return Err(PyTypeError::new_err(format!(
            "the column '{name}' of the digests is '{kind}': it can be fixed_size_binary[20], binary or utf8"
        )));
    }
    named(column.py(), &name, kind)
}

/// Columns of a dict or pairs of names and names of types, or of an object that has `__arrow_c_schema__`.
fn bins_of(schema: &Bound<'_, PyAny>) -> PyResult<Vec<Field>> {
    let py = schema.py();
    let fields = if schema.hasattr("__arrow_c_schema__")? {
        of_capsule(&schema.call_method0("__arrow_c_schema__")?)?
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
            fields.push(if let Ok(kind) = pair.1.extract::<&str>() {
                Field::of_type(text, kind).ok_or_else(|| not_a_column(text, &format!("'{kind}'")))?
            } else if pair.1.hasattr("__arrow_c_schema__")? {
                // A type of an Arrow library.
                let capsule = pair.1.call_method0("__arrow_c_schema__")?;
                // SAFETY: the capsule was not released.
                let field = unsafe { Field::of_schema(in_capsule(&capsule)?, 0) };
                let field = field.map_err(|what| not_a_column(text, &what))?;
                let name =
                    CString::new(text).map_err(|_| errors::invalid_argument(py, "a column has a name with a NUL"))?;
                Field { name, ..field }
            } else {
                return Err(not_a_column(text, &format!("{}", pair.1.repr()?)));
            });
        }
        fields
    };
    for (place, field) in fields.iter().enumerate() {
        let wrong = |what: &str| errors::invalid_argument(py, format!("a column of the schema {what}"));
        if field.name.is_empty() {
            return Err(wrong("has no name"));
        }
        if fields[..place].iter().any(|other| other.name == field.name) {
            return Err(wrong(&format!("is there twice: {}", field.name.to_string_lossy())));
        }
    }
    Ok(fields)
}

/// The schema in a capsule, which was not released.
fn in_capsule<'a>(capsule: &'a Bound<'_, PyAny>) -> PyResult<&'a ArrowSchema> {
    // SAFETY: a live object; the call checks that it is a capsule of this name.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"arrow_schema".as_ptr()) };
    if pointer.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: so the interface defines the name; the capsule outlives this look.
    let schema = unsafe { &*pointer.cast::<ArrowSchema>() };
    match schema.release {
        Some(_) => Ok(schema),
        None => Err(PyValueError::new_err("the Arrow schema was taken by somebody else already")),
    }
}

fn of_capsule(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<Field>> {
    let py = capsule.py();
    let broken = || PyTypeError::new_err("the Arrow schema must be one of a table: a struct of columns");
    let top = in_capsule(capsule)?;
    // SAFETY: strings of a schema end with a NUL and live as long as it does.
    let format = unsafe { string(top.format) };
    if format != Some(c"+s") || (top.n_children > 0 && top.children.is_null()) {
        return Err(broken());
    }
    let count = usize::try_from(top.n_children).map_err(|_| broken())?;
    let mut fields = Vec::new();
    for place in 0..count {
        // SAFETY: a schema has so many children, each of which it owns.
        let child = unsafe { (*top.children.add(place)).as_ref() }.ok_or_else(broken)?;
        // SAFETY: as above.
        let name = unsafe { string(child.name) }.and_then(|name| name.to_str().ok()).ok_or_else(broken)?;
        checked_name(&PyString::new(py, name))?;
        // SAFETY: as above.
        fields.push(unsafe { Field::of_schema(child, 0) }.map_err(|what| not_a_column(name, &what))?);
    }
    Ok(fields)
}
