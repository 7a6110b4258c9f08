//! The order of values in ordered collections.
//!
//! Types first: nil, booleans, integers, strings, lists, maps, blobs, floats, GeoJSON (golden groups `list` and `map`);
//! then values.

use super::{Element, Reader};
use crate::particle::particle_type;
use crate::{WireError, WireResult};
use std::cmp::Ordering;

/// Compares two well-formed values, one element each. What cannot be read counts as equal, and so does what follows a
/// wildcard.
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // Stored values were walked before, so reading them cannot fail; what cannot be read counts as equal. A wildcard ends
    // the comparison in the same way: whatever follows it is not looked at, on no level (golden group `list`).
    next(&mut Reader::new(a), &mut Reader::new(b)).unwrap_or(Ordering::Equal)
}

fn rank(element: &Element<'_>) -> u8 {
    match element {
        Element::Nil => 0,
        Element::Bool(_) => 1,
        Element::Int(_) | Element::Uint(_) => 2,
        Element::Bytes(payload) => match payload.first() {
            Some(&particle_type::STRING) | None => 3,
            Some(&particle_type::GEOJSON) => 8,
            Some(_) => 6,
        },
        Element::List(_) => 4,
        Element::Map(_) => 5,
        Element::Float32(_) | Element::Float(_) => 7,
        _ => 9,
    }
}

/// Compares the next values of two readers. They stand behind them only if the values are equal.
fn next(a: &mut Reader<'_>, b: &mut Reader<'_>) -> WireResult<Ordering> {
    let (x, y) = (a.read()?, b.read()?);
    if matches!(x, Element::Wildcard) || matches!(y, Element::Wildcard) {
        return Err(WireError::invalid("a wildcard", a.offset()));
    }
    let by_type = rank(&x).cmp(&rank(&y));
    if by_type.is_ne() {
        return Ok(by_type);
    }
    Ok(match (x, y) {
        (Element::Bool(x), Element::Bool(y)) => x.cmp(&y),
        (Element::Int(x), Element::Int(y)) => x.cmp(&y),
        (Element::Uint(x), Element::Uint(y)) => x.cmp(&y),
        (Element::Int(_), Element::Uint(_)) => Ordering::Less,
        (Element::Uint(_), Element::Int(_)) => Ordering::Greater,
        (Element::Bytes(x), Element::Bytes(y)) => x.get(1..).cmp(&y.get(1..)),
        (Element::List(x), Element::List(y)) => {
            let elements = all_equal(a, b, x.len.min(y.len))?;
            elements.then(x.len.cmp(&y.len))
        }
        (Element::Map(x), Element::Map(y)) => match x.len.cmp(&y.len) {
            Ordering::Equal => all_equal(a, b, x.len * 2)?,
            by_len => by_len,
        },
        (x, y) => match (float(&x), float(&y)) {
            // NaN equals everything it is compared with.
            (Some(x), Some(y)) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        },
    })
}

fn all_equal(a: &mut Reader<'_>, b: &mut Reader<'_>, n: usize) -> WireResult<Ordering> {
    for _ in 0..n {
        let order = next(a, b)?;
        if order.is_ne() {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

fn float(element: &Element<'_>) -> Option<f64> {
    match *element {
        Element::Float(v) => Some(v),
        Element::Float32(v) => Some(f64::from(v)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgpack::Writer;

    fn value(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = vec![];
        write(&mut Writer::new(&mut out));
        out
    }

    #[test]
    fn types_come_in_the_servers_order() {
        let sorted = [
            vec![0xc0],
            value(|w| w.bool(false)),
            value(|w| w.bool(true)),
            value(|w| w.int(-1)),
            value(|w| w.int(300)),
            value(|w| w.uint(u64::MAX)),
            value(|w| w.str(b"a")),
            value(|w| w.str(b"aa")),
            value(|w| w.str(b"b")),
            value(|w| w.list(0)),
            vec![0x91, 1],
            vec![0x92, 1, 0],
            vec![0x91, 2],
            vec![0x81, 5, 1],
            vec![0x81, 5, 2],
            vec![0x82, 1, 1, 2, 2],
            value(|w| w.blob(b"")),
            value(|w| w.float(-1.0)),
            value(|w| w.float32(0.5)),
            value(|w| w.geojson(b"{}")),
            vec![0xd4, 0xff, 1],
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:x?} and {b:x?}");
            }
        }
    }

    #[test]
    fn a_wildcard_ends_the_comparison() {
        let wild = |before: &[u8]| [&[0x90 + before.len() as u8 + 1], before, &[0xd4, 0xff, 0]].concat();
        assert!(compare(&[0x92, 1, 5], &wild(&[1])).is_eq());
        assert!(compare(&[0x93, 1, 5, 6], &wild(&[1])).is_eq());
        assert!(compare(&[0x91, 1], &wild(&[1])).is_lt(), "there has to be something");
        assert!(compare(&[0x92, 2, 5], &wild(&[1])).is_gt());
    }
}
