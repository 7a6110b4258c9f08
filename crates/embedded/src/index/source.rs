//! From a record to the values that an index has of it.

use super::{Definition, IndexLookup, Origin, Part, Places, ValueKind, hash};
use crate::cdt;
use crate::exp::{Context, Expression};
use crate::geo::Shape;
use crate::store::{Record, Sets};
use crate::value::Value;
use aerolane_wire::msgpack::{self, Element, Reader};
use aerolane_wire::particle::{GeoJson, Particle, particle_type};

/// A value that an index may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Indexed<'a> {
    Int(i64),
    Str(&'a [u8]),
    Blob(&'a [u8]),
    /// The text, and the cells if they are known.
    Geo(&'a [u8], &'a [u8]),
}

/// Shows the values of a record to `visit` until it answers `true`; answers whether it did.
pub(super) fn each(
    definition: &Definition,
    sets: &Sets,
    record: &Record,
    mut visit: impl FnMut(Indexed<'_>) -> bool,
) -> bool {
    match &definition.origin {
        Origin::Bin { name, context } => {
            let Some(bin) = record.bin(name) else { return false };
            let Some(context) = context else { return each_part(definition.part, bin.kind, bin.value, &mut visit) };
            let Ok(element) = cdt::element(context, bin.kind, bin.value) else { return false };
            match (definition.part, Reader::new(element).read()) {
                (Part::Whole, _) => scalar(element).is_some_and(visit),
                (part, Ok(Element::List(_))) => each_part(part, particle_type::LIST, element, &mut visit),
                (part, Ok(Element::Map(_))) => each_part(part, particle_type::MAP, element, &mut visit),
                _ => false,
            }
        }
        Origin::Expression(bytes) => {
            let Ok(expression) = Expression::parse(bytes) else { return false };
            let context = Context {
                bins: record,
                record: Some(record),
                digest: record.digest(),
                set_name: sets.name(record.set_id()),
                // An entry follows from its record alone, so that it is found again when the record goes.
                now_ms: record.last_update_ms(),
            };
            let Some(value) = expression.evaluate(&context) else { return false };
            match (definition.part, &value) {
                (Part::Whole, Value::Int(v)) => visit(Indexed::Int(*v)),
                (Part::Whole, Value::Str(v)) => visit(Indexed::Str(v)),
                (Part::Whole, Value::Blob(v)) => visit(Indexed::Blob(v)),
                (Part::Whole, Value::Geo(v)) => visit(Indexed::Geo(v, &[])),
                (part, Value::List(v)) => each_part(part, particle_type::LIST, v, &mut visit),
                (part, Value::Map(v)) => each_part(part, particle_type::MAP, v, &mut visit),
                _ => false,
            }
        }
    }
}

fn each_part(part: Part, kind: u8, value: &[u8], visit: &mut impl FnMut(Indexed<'_>) -> bool) -> bool {
    match (part, kind) {
        (Part::Whole, _) => whole(kind, value).is_some_and(visit),
        (Part::ListElements, particle_type::LIST) => elements(value, 0, visit).unwrap_or(false),
        (Part::MapKeys, particle_type::MAP) => elements(value, 1, visit).unwrap_or(false),
        (Part::MapValues, particle_type::MAP) => elements(value, 2, visit).unwrap_or(false),
        _ => false,
    }
}

fn whole(kind: u8, value: &[u8]) -> Option<Indexed<'_>> {
    if kind == particle_type::GEOJSON {
        let geo = GeoJson::decode(value).ok()?;
        return Some(Indexed::Geo(geo.text, geo.cells));
    }
    match Particle::decode(kind, value).ok()? {
        Particle::Integer(v) => Some(Indexed::Int(v)),
        Particle::String(v) => Some(Indexed::Str(v)),
        Particle::Blob(v) => Some(Indexed::Blob(v)),
        _ => None,
    }
}

/// Shows the elements of a list (`which` 0), or the keys (1) or values (2) of a map.
fn elements(value: &[u8], which: usize, visit: &mut impl FnMut(Indexed<'_>) -> bool) -> Option<bool> {
    let mut reader = Reader::new(value);
    let count = match reader.read().ok()? {
        Element::List(header) if which == 0 => header.len,
        Element::Map(header) if which > 0 => header.len * 2,
        _ => return None,
    };
    for at in 0..count {
        let bytes = reader.skip().ok()?;
        if which > 0 && at % 2 != which - 1 {
            continue;
        }
        if scalar(bytes).is_some_and(&mut *visit) {
            return Some(true);
        }
    }
    Some(false)
}

/// An element of a collection.
fn scalar(bytes: &[u8]) -> Option<Indexed<'_>> {
    match Reader::new(bytes).read().ok()? {
        Element::Int(v) => Some(Indexed::Int(v)),
        // Numbers above those of an index stand where their bits do.
        Element::Uint(v) => Some(Indexed::Int(v as i64)),
        Element::Bytes(payload) => match msgpack::particle(payload).ok()? {
            Particle::String(v) => Some(Indexed::Str(v)),
            Particle::Blob(v) => Some(Indexed::Blob(v)),
            Particle::GeoJson(v) => Some(Indexed::Geo(v, &[])),
            _ => None,
        },
        _ => None,
    }
}

/// Adds the places at which a value stands; none if it is of another kind.
pub(super) fn places(kind: ValueKind, value: Indexed<'_>, places: &mut Places) {
    match (kind, value) {
        (ValueKind::Numeric, Indexed::Int(v)) => places.push(v),
        (ValueKind::String, Indexed::Str(v)) | (ValueKind::Blob, Indexed::Blob(v)) => places.push(hash::hash(v) as i64),
        (ValueKind::Geo, Indexed::Geo(text, [])) => {
            places.extend(Shape::parse(text).into_iter().flat_map(|g| g.cells()).map(|cell| cell as i64));
        }
        (ValueKind::Geo, Indexed::Geo(_, cells)) => {
            places.extend(cells.as_chunks::<8>().0.iter().map(|cell| i64::from_be_bytes(*cell)));
        }
        _ => {}
    }
}

/// Whether a value is what a query looks for.
pub(super) fn is_sought(kind: ValueKind, value: Indexed<'_>, sought: &IndexLookup) -> bool {
    match (kind, value, sought) {
        (ValueKind::Numeric, Indexed::Int(v), IndexLookup::Range(begin, end)) => (*begin..=*end).contains(&v),
        (ValueKind::String, Indexed::Str(v), IndexLookup::Bytes(sought))
        | (ValueKind::Blob, Indexed::Blob(v), IndexLookup::Bytes(sought)) => v == sought,
        (ValueKind::Geo, Indexed::Geo(text, _), IndexLookup::Geo(sought)) => {
            Shape::parse(text).is_some_and(|geometry| geometry.matches(sought))
        }
        _ => false,
    }
}

/// Where points within a region stand: between the first and the last leaf of each of its cells. Where regions stand
/// that contain a point: at all cells that the point is in, those of whole faces excepted.
pub(super) fn geo_ranges(geometry: &Shape) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(u64, u64)> = match geometry {
        Shape::Region(area) => area.covering().iter().map(|c| (c.range_min().0, c.range_max().0)).collect(),
        Shape::Point(leaf) => {
            let cells = (1..=leaf.level()).map(|level| leaf.parent(level).0);
            cells.map(|cell| (cell, cell)).collect()
        }
    };
    ranges.sort_unstable();
    ranges.into_iter().map(|(begin, end)| (begin as i64, end as i64)).collect()
}
