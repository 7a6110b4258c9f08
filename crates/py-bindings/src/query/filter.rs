//! What of a secondary index is wanted.

use aerolane::raw::RawQuery;
use aerolane_wire::message::field;
use aerolane_wire::particle::particle_type;
use aerospike_core::CollectionIndexType;
use aerospike_core::expressions::{self, Expression};
use aerospike_core::operations::CdtContext;
use aerospike_core::operations::cdt_context::ctx_from_bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::errors;
use crate::operation::checked_name;
use crate::policy::enums::Named;
use crate::value;

/// The longest name of an index, in bytes.
pub(crate) const MAX_INDEX_NAME: usize = 255;

/// A range of a secondary index, for `Statement.filters`: `Filter.range("age", 18, 30)`, `Filter.equal("name", "ann")`.
///
/// The constructors ending in `_by_index` take the name of the index; the others take the name of the bin, and the
/// server finds the index. If no index fits the filter, the query fails with `IndexNotFoundError`. Filters are
/// immutable.
///
/// Raises `TypeError` for a value whose type cannot be indexed, `OverflowError` for an int of more than 64 bits,
/// `InvalidArgumentError` (a `ValueError`) for a bin name of more than 15 bytes.
#[pyclass(frozen, module = "aerolane.native", eq)]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Filter(IndexFilter);

/// A range of a secondary index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct IndexFilter {
    /// Number of the collection type: 0 the bin itself, 1 list elements, 2 map keys, 3 map values.
    collection: u8,
    /// Name of the bin; empty when the index is named instead, or an expression is given.
    bin: Vec<u8>,
    particle_type: u8,
    /// The bounds, encoded as a bin's value.
    begin: Vec<u8>,
    end: Vec<u8>,
    /// Name of the index; empty: found by the bin.
    index_name: Vec<u8>,
    /// The way to what is indexed within the bin, packed; empty: the bin itself.
    context: Vec<u8>,
    /// The expression that is indexed, packed; empty: none.
    expression: Vec<u8>,
}

impl Filter {
    /// Adds its fields (golden group `query`).
    pub(crate) fn add(&self, mut query: RawQuery) -> RawQuery {
        let filter = &self.0;
        if filter.collection != 0 {
            query = query.field(field::INDEX_TYPE, &[filter.collection]);
        }
        // One range; a bin's name has at most 15 bytes.
        let mut range = vec![1, filter.bin.len() as u8];
        range.extend_from_slice(&filter.bin);
        range.push(filter.particle_type);
        for bound in [&filter.begin, &filter.end] {
            range.extend_from_slice(&(bound.len() as u32).to_be_bytes());
            range.extend_from_slice(bound);
        }
        query = query.field(field::INDEX_RANGE, &range);
        let others = [
            (field::INDEX_CONTEXT, &filter.context),
            (field::INDEX_NAME, &filter.index_name),
            (field::INDEX_EXPRESSION, &filter.expression),
        ];
        let others = others.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        others.fold(query, |query, (kind, bytes)| query.field(kind, bytes))
    }

    /// Of bounds that are encoded as a bin's value, over the index of a name or else the one of the bin. `context` is
    /// packed.
    pub(crate) fn of_values(
        collection: CollectionIndexType,
        bin: &str,
        index_name: Option<&str>,
        particle_type: u8,
        (begin, end): (Vec<u8>, Vec<u8>),
        context: Vec<u8>,
    ) -> Self {
        let (bin, index_name) = match index_name {
            Some(name) => (Vec::new(), name.into()),
            None => (bin.into(), Vec::new()),
        };
        let expression = Vec::new();
        let collection = collection as u8;
        Self(IndexFilter { collection, bin, particle_type, begin, end, index_name, context, expression })
    }

    /// Of an index's name and a range as it is on the wire, whatever bin that names; `None`: it has another form.
    pub(super) fn of_range(collection: CollectionIndexType, index_name: &str, range: &[u8]) -> Option<Self> {
        let [1, length, rest @ ..] = range else { return None };
        let (particle_type, mut rest) = rest.get(usize::from(*length)..)?.split_first()?;
        let (begin, end) = (sized(&mut rest)?, sized(&mut rest)?);
        rest.is_empty().then(|| {
            Self(IndexFilter {
                collection: collection as u8,
                particle_type: *particle_type,
                begin: begin.to_vec(),
                end: end.to_vec(),
                index_name: index_name.into(),
                ..IndexFilter::default()
            })
        })
    }
}

/// Takes the length and the bytes behind it off the front.
fn sized<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (taken, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *bytes = rest;
    Some(taken)
}

/// Whether the first argument of a constructor names a bin or an index.
#[derive(Clone, Copy)]
enum By {
    Bin,
    Index,
}

type Name<'a, 'py> = &'a Bound<'py, PyString>;
type Object<'a, 'py> = &'a Bound<'py, PyAny>;

fn make(
    by: By,
    name: Name<'_, '_>,
    cit: Option<Object<'_, '_>>,
    particle_type: u8,
    begin: Vec<u8>,
    end: Vec<u8>,
) -> PyResult<Filter> {
    let collection = match cit {
        None => CollectionIndexType::Default,
        Some(cit) => CollectionIndexType::from_python(cit, "cit")?,
    };
    let mut filter = IndexFilter { collection: collection as u8, particle_type, begin, end, ..IndexFilter::default() };
    match by {
        By::Bin => filter.bin = checked_name(name)?.into(),
        By::Index => {
            let text = name.to_cow()?;
            if text.is_empty() || text.len() > MAX_INDEX_NAME {
                let size = text.len();
                let text = format!("an index name has 1 to {MAX_INDEX_NAME} bytes, not {size}");
                return Err(errors::invalid_argument(name.py(), text));
            }
            filter.index_name = text.as_bytes().into();
        }
    }
    Ok(Filter(filter))
}

/// A value that an index can hold.
fn encoded(value: Object<'_, '_>) -> PyResult<(u8, Vec<u8>)> {
    let mut bytes = Vec::new();
    let kind = value::encode_value(value, &mut bytes).map_err(|refused| refused.into_py(value.py(), "filter value"))?;
    match kind {
        particle_type::INTEGER | particle_type::STRING | particle_type::BLOB => Ok((kind, bytes)),
        _ => {
            let kind = value.get_type();
            Err(PyTypeError::new_err(format!("a filter's value is an int, a str or bytes, not {}", kind.name()?)))
        }
    }
}

fn same(by: By, name: Name<'_, '_>, value: Object<'_, '_>, cit: Option<Object<'_, '_>>) -> PyResult<Filter> {
    let (kind, bytes) = encoded(value)?;
    make(by, name, cit, kind, bytes.clone(), bytes)
}

fn between(
    by: By,
    name: Name<'_, '_>,
    (begin, end): (Object<'_, '_>, Object<'_, '_>),
    cit: Option<Object<'_, '_>>,
) -> PyResult<Filter> {
    let int = |value: Object<'_, '_>| match encoded(value)? {
        (particle_type::INTEGER, bytes) => Ok(bytes),
        _ => Err(PyTypeError::new_err(format!("the bounds of a range are ints, not {}", value.get_type().name()?))),
    };
    let (first, last) = (int(begin)?, int(end)?);
    let signed = |bytes: &[u8]| bytes.first_chunk().map(|bytes| i64::from_be_bytes(*bytes));
    // A bound of 64 unsigned bits may be smaller as the signed one that it stands for.
    if signed(&first) > signed(&last) {
        return Err(errors::invalid_argument(begin.py(), format!("the range from {begin} to {end} is empty")));
    }
    make(by, name, cit, particle_type::INTEGER, first, last)
}

/// A region or a point: GeoJSON as a str, a dict or a `GeoJSON`.
fn shape(by: By, name: Name<'_, '_>, shape: Object<'_, '_>, cit: Option<Object<'_, '_>>) -> PyResult<Filter> {
    let text = value::geojson_text(shape)?;
    geo(by, name, text.to_str()?, cit)
}

fn geo(by: By, name: Name<'_, '_>, json: &str, cit: Option<Object<'_, '_>>) -> PyResult<Filter> {
    make(by, name, cit, particle_type::GEOJSON, json.into(), json.into())
}

fn circle(
    by: By,
    name: Name<'_, '_>,
    (lng, lat, radius): (f64, f64, f64),
    cit: Option<Object<'_, '_>>,
) -> PyResult<Filter> {
    let fits = (-180.0..=180.0).contains(&lng) && (-90.0..=90.0).contains(&lat) && radius.is_finite() && radius >= 0.0;
    if !fits {
        let text = format!(
            "a circle around longitude {lng} (-180 to 180) and latitude {lat} (-90 to 90) with a radius of {radius} m"
        );
        return Err(errors::invalid_argument(name.py(), format!("{text} does not exist")));
    }
    // To the letter as other clients write it.
    let json = format!(r#"{{ "type": "AeroCircle", "coordinates": [[{lng:.8}, {lat:.8}], {radius}] }}"#);
    geo(by, name, &json, cit)
}

#[pymethods]
impl Filter {
    /// The bin has this value: an int, a str or bytes.
    #[staticmethod]
    fn equal(bin_name: Name<'_, '_>, value: Object<'_, '_>) -> PyResult<Self> {
        same(By::Bin, bin_name, value, None)
    }

    /// The index holds this value: an int, a str or bytes.
    #[staticmethod]
    fn equal_by_index(index_name: Name<'_, '_>, value: Object<'_, '_>) -> PyResult<Self> {
        same(By::Index, index_name, value, None)
    }

    /// The bin has an int from `begin` to `end`, both inclusive.
    #[staticmethod]
    fn range(bin_name: Name<'_, '_>, begin: Object<'_, '_>, end: Object<'_, '_>) -> PyResult<Self> {
        between(By::Bin, bin_name, (begin, end), None)
    }

    /// The index holds an int from `begin` to `end`, both inclusive.
    #[staticmethod]
    fn range_by_index(index_name: Name<'_, '_>, begin: Object<'_, '_>, end: Object<'_, '_>) -> PyResult<Self> {
        between(By::Index, index_name, (begin, end), None)
    }

    /// The list or map in the bin contains this value (`cit` says where: `CollectionIndexType`).
    #[staticmethod]
    #[pyo3(signature = (bin_name, value, cit=None))]
    fn contains(bin_name: Name<'_, '_>, value: Object<'_, '_>, cit: Option<Object<'_, '_>>) -> PyResult<Self> {
        same(By::Bin, bin_name, value, cit)
    }

    /// The same as `contains`, for an index given by name.
    #[staticmethod]
    #[pyo3(signature = (index_name, value, cit=None))]
    fn contains_by_index(
        index_name: Name<'_, '_>,
        value: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        same(By::Index, index_name, value, cit)
    }

    /// The list or map in the bin contains an int from `begin` to `end`, both inclusive.
    #[staticmethod]
    #[pyo3(signature = (bin_name, begin, end, cit=None))]
    fn contains_range(
        bin_name: Name<'_, '_>,
        begin: Object<'_, '_>,
        end: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        between(By::Bin, bin_name, (begin, end), cit)
    }

    /// The same as `contains_range`, for an index given by name.
    #[staticmethod]
    #[pyo3(signature = (index_name, begin, end, cit=None))]
    fn contains_range_by_index(
        index_name: Name<'_, '_>,
        begin: Object<'_, '_>,
        end: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        between(By::Index, index_name, (begin, end), cit)
    }

    /// The point in the bin lies within a region: GeoJSON of a polygon or an `AeroCircle`, as a str, a dict or a `GeoJSON`.
    #[staticmethod]
    #[pyo3(signature = (bin_name, region, cit=None))]
    fn within_region(bin_name: Name<'_, '_>, region: Object<'_, '_>, cit: Option<Object<'_, '_>>) -> PyResult<Self> {
        shape(By::Bin, bin_name, region, cit)
    }

    /// The same as `within_region`, for an index given by name.
    #[staticmethod]
    #[pyo3(signature = (index_name, region, cit=None))]
    fn within_region_by_index(
        index_name: Name<'_, '_>,
        region: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        shape(By::Index, index_name, region, cit)
    }

    /// The point in the bin lies within a circle. `lng`, `lat`: its centre in degrees; `radius` in metres.
    #[staticmethod]
    #[pyo3(signature = (bin_name, lng, lat, radius, cit=None))]
    fn within_radius(
        bin_name: Name<'_, '_>,
        lng: f64,
        lat: f64,
        radius: f64,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        circle(By::Bin, bin_name, (lng, lat, radius), cit)
    }

    /// The same as `within_radius`, for an index given by name.
    #[staticmethod]
    #[pyo3(signature = (index_name, lng, lat, radius, cit=None))]
    fn within_radius_by_index(
        index_name: Name<'_, '_>,
        lng: f64,
        lat: f64,
        radius: f64,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        circle(By::Index, index_name, (lng, lat, radius), cit)
    }

    /// The region in the bin contains a point: GeoJSON as a str, a dict or a `GeoJSON`.
    #[staticmethod]
    #[pyo3(signature = (bin_name, point, cit=None))]
    fn regions_containing_point(
        bin_name: Name<'_, '_>,
        point: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        shape(By::Bin, bin_name, point, cit)
    }

    /// The same as `regions_containing_point`, for an index given by name.
    #[staticmethod]
    #[pyo3(signature = (index_name, point, cit=None))]
    fn regions_containing_point_by_index(
        index_name: Name<'_, '_>,
        point: Object<'_, '_>,
        cit: Option<Object<'_, '_>>,
    ) -> PyResult<Self> {
        shape(By::Index, index_name, point, cit)
    }

    /// The same filter for an index on what a context selects inside the bin: `ctx` is a list of `CTX`.
    fn context(&self, ctx: Object<'_, '_>) -> PyResult<Self> {
        Ok(Self(IndexFilter { context: context_bytes(ctx)?, ..self.0.clone() }))
    }

    /// The same filter for an index on an expression: `exp` is the `FilterExpression` that the index was created with.
    fn expression(&self, exp: Object<'_, '_>) -> PyResult<Self> {
        let expression = expression_bytes(exp)?;
        // The server finds the index by its expression alone.
        Ok(Self(IndexFilter { expression, bin: Vec::new(), ..self.0.clone() }))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        let IndexFilter { bin, index_name, begin, end, .. } = &self.0;
        (bin, index_name, begin, end).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let IndexFilter { bin, index_name, begin, end, particle_type: kind, .. } = &self.0;
        let (what, name) = if index_name.is_empty() { ("bin", bin) } else { ("index", index_name) };
        // As a filter has it, GeoJSON is text alone.
        let kind = if *kind == particle_type::GEOJSON { particle_type::STRING } else { *kind };
        let begin_text = value::decode(py, kind, begin)?.bind(py).repr()?.to_string();
        let name = String::from_utf8_lossy(name);
        if begin == end {
            return Ok(format!("<Filter {what} {name:?}: {begin_text}>"));
        }
        let end = value::decode(py, kind, end)?;
        Ok(format!("<Filter {what} {name:?}: {begin_text} to {}>", end.bind(py).repr()?))
    }
}

/// The packed form of a list of `CTX`, as their class makes it.
fn context_bytes(ctx: Object<'_, '_>) -> PyResult<Vec<u8>> {
    let list: Vec<Bound<'_, PyAny>> = match ctx.cast::<PyList>() {
        Ok(list) => list.iter().collect(),
        // An int has such a method, too.
        Err(_) if ctx.hasattr("to_bytes")? && !ctx.is_instance_of::<PyInt>() => vec![ctx.clone()],
        Err(_) => ctx.try_iter()?.collect::<PyResult<_>>()?,
    };
    let Some(first) = list.first() else {
        return Err(errors::invalid_argument(ctx.py(), "the context is empty: leave it out, or name the way"));
    };
    let class = first.get_type();
    let Some(pack) = class.getattr_opt("to_bytes")? else {
        return Err(PyTypeError::new_err(format!("a context is a list of CTX, not of {}", class.name()?)));
    };
    let packed = pack.call1((PyList::new(ctx.py(), &list)?,))?;
    Ok(packed.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// The text form of a `FilterExpression`.
fn expression_text(exp: Object<'_, '_>) -> PyResult<String> {
    match exp.getattr_opt("base64")? {
        Some(method) if !exp.is_instance_of::<PyString>() => method.call0()?.extract(),
        _ => {
            let kind = exp.get_type();
            Err(PyTypeError::new_err(format!("an expression is a FilterExpression, not {}", kind.name()?)))
        }
    }
}

/// An expression, packed.
fn expression_bytes(exp: Object<'_, '_>) -> PyResult<Vec<u8>> {
    let mut packed = Vec::new();
    aerolane::raw::command::encode::expression(&core_expression(exp)?, &mut packed)
        .map_err(|e| errors::to_py(exp.py(), &e))?;
    Ok(packed)
}

/// The same for aerospike-core.
pub(crate) fn core_expression(exp: Object<'_, '_>) -> PyResult<Expression> {
    expressions::from_base64(&expression_text(exp)?).map_err(|e| errors::to_py(exp.py(), &e.into()))
}

/// A context for aerospike-core.
pub(crate) fn core_context(ctx: Object<'_, '_>) -> PyResult<Vec<CdtContext>> {
    ctx_from_bytes(&context_bytes(ctx)?).map_err(|e| errors::to_py(ctx.py(), &e.into()))
}
