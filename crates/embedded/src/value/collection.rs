//! Lists and maps that come as bin values: checked, and brought into the form in which they are answered.
//!
//! Ordered collections have to be sorted and keep only their order flags; unordered maps are sorted by key; the same
//! holds inside.

use aerolane_wire::WireResult;
use aerolane_wire::msgpack::{Element, Reader, Writer, compare, order};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A list value to be stored; `None` if it is not one.
pub(crate) fn stored_list(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    stored(value, |element| matches!(element, Element::List(_)), order::UNORDERED)
}

/// A map value to be stored; `None` if it is not one. It may persist an index.
pub(crate) fn stored_map(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    stored(value, |element| matches!(element, Element::Map(_)), order::PERSIST_INDEX)
}

/// An element of a list, or a key or value of a map, to be stored; `None` if it cannot be one.
pub(crate) fn stored_element(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    stored(value, |_| true, order::UNORDERED)
}

/// `also`: an order flag that the whole value may keep, beside its order.
fn stored(value: &[u8], is_kind: fn(&Element<'_>) -> bool, also: u8) -> Option<Cow<'_, [u8]>> {
    let mut reader = Reader::new(value);
    if !is_kind(&reader.read().ok()?) {
        return None;
    }
    match walk(value).ok()? {
        Walk::AsItIs => Some(Cow::Borrowed(value)),
        Walk::Bad => None,
        Walk::Rewrite => {
            let mut out = Vec::with_capacity(value.len());
            rewrite(&mut Reader::new(value), also, &mut out).ok()??;
            Some(Cow::Owned(out))
        }
    }
}

enum Walk {
    /// Nothing in it needs a second look.
    AsItIs,
    /// It has a map, an order marker, or a scalar that is not in its shortest form.
    Rewrite,
    /// It has something that cannot be stored.
    Bad,
}

/// Looks at all elements once, without recursion.
fn walk(value: &[u8]) -> WireResult<Walk> {
    let mut reader = Reader::new(value);
    let mut rewrite = false;
    loop {
        match reader.read()? {
            Element::Infinity | Element::Wildcard | Element::Ext(_) => return Ok(Walk::Bad),
            Element::List(header) => rewrite |= header.marker.is_some(),
            Element::Map(header) => rewrite |= header.marker.is_some() || header.len > 0,
            scalar => rewrite |= !is_shortest(&scalar, reader.form()),
        }
        if reader.depth() == 0 {
            break;
        }
    }
    reader.finish()?;
    Ok(if rewrite { Walk::Rewrite } else { Walk::AsItIs })
}

/// Whether a scalar with this marker byte is written the way the server writes it.
fn is_shortest(element: &Element<'_>, form: u8) -> bool {
    match (form, element) {
        (0xcc, Element::Int(v)) => *v >= 0x80,
        (0xcd, Element::Int(v)) => *v > 0xff,
        (0xce, Element::Int(v)) => *v > 0xffff,
        (0xcf, Element::Int(v)) => *v > 0xffff_ffff,
        (0xd0, Element::Int(v)) => *v < -32,
        (0xd1, Element::Int(v)) => *v < i64::from(i8::MIN),
        (0xd2, Element::Int(v)) => *v < i64::from(i16::MIN),
        (0xd3, Element::Int(v)) => *v < i64::from(i32::MIN),
        (0xc4..=0xc6, _) => false,
        (0xd9, Element::Bytes(b)) => b.len() >= 32,
        (0xda, Element::Bytes(b)) => b.len() > 0xff,
        (0xdb, Element::Bytes(b)) => b.len() > 0xffff,
        _ => true,
    }
}

/// Copies the next value in its stored form; `None` if it cannot be stored. The reader bounds the depth.
fn rewrite(reader: &mut Reader<'_>, also: u8, out: &mut Vec<u8>) -> WireResult<Option<()>> {
    let element = reader.read()?;
    match element {
        Element::List(header) => {
            let ordered = header.flags() & order::LIST_ORDERED != 0;
            if ordered {
                Writer::new(out).list_with_order(order::LIST_ORDERED, header.len);
            } else {
                Writer::new(out).list(header.len);
            }
            let mut last: Option<(usize, usize)> = None;
            for _ in 0..header.len {
                let start = out.len();
                if rewrite(reader, order::UNORDERED, out)?.is_none() {
                    return Ok(None);
                }
                if let (true, Some((from, to))) = (ordered, last)
                    && compare(&out[from..to], &out[start..]).is_gt()
                {
                    return Ok(None);
                }
                last = Some((start, out.len()));
            }
            Ok(Some(()))
        }
        Element::Map(header) => map(reader, header.len, header.flags() & (order::MAP_KEY_VALUE | also), out),
        scalar => {
            Writer::new(out).element(&scalar);
            Ok(Some(()))
        }
    }
}

/// One pair of a map: where its key and its value lie.
struct Pair {
    start: usize,
    value: usize,
    end: usize,
}

fn map(reader: &mut Reader<'_>, len: usize, flags: u8, out: &mut Vec<u8>) -> WireResult<Option<()>> {
    let mut pairs = Vec::with_capacity(len);
    let mut bytes = Vec::new();
    for _ in 0..len {
        let start = bytes.len();
        if rewrite(reader, order::UNORDERED, &mut bytes)?.is_none() || !is_key(&bytes[start..]) {
            return Ok(None);
        }
        let value = bytes.len();
        if rewrite(reader, order::UNORDERED, &mut bytes)?.is_none() {
            return Ok(None);
        }
        pairs.push(Pair { start, value, end: bytes.len() });
    }
    let by_key = |a: &Pair, b: &Pair| compare(&bytes[a.start..a.value], &bytes[b.start..b.value]);
    if flags & order::MAP_KEY_VALUE == order::UNORDERED {
        pairs.sort_by(by_key);
    }
    // Each key once; ordered maps come sorted.
    if !pairs.is_sorted_by(|a, b| by_key(a, b) == Ordering::Less) {
        return Ok(None);
    }
    if flags == order::UNORDERED {
        Writer::new(out).map(len);
    } else {
        Writer::new(out).map_with_order(flags, len);
    }
    for pair in &pairs {
        out.extend_from_slice(&bytes[pair.start..pair.end]);
    }
    Ok(Some(()))
}

/// Integers, strings and blobs can be map keys.
pub(crate) fn is_key(key: &[u8]) -> bool {
    match Reader::new(key).read() {
        Ok(Element::Int(_) | Element::Uint(_)) => true,
        Ok(Element::Bytes(payload)) => {
            matches!(payload.first(), Some(&(particle_type::STRING | particle_type::BLOB)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unordered_maps_are_sorted_inside_too() {
        // {2: {"b": 1, "a": 2}, 1: 0}
        let value = [0x82, 2, 0x82, 0xa2, 3, b'b', 1, 0xa2, 3, b'a', 2, 1, 0];
        let expected = [0x82, 1, 0, 2, 0x82, 0xa2, 3, b'a', 2, 0xa2, 3, b'b', 1];
        assert_eq!(stored_map(&value).unwrap()[..], expected);
        let list: Vec<u8> = [&[0x91][..], &value].concat();
        assert_eq!(stored_list(&list).unwrap()[1..], expected);
    }

    #[test]
    fn ordered_ones_have_to_be_sorted() {
        assert!(stored_list(&[0x93, 0xc7, 0, 1, 3, 1]).is_none());
        assert_eq!(stored_list(&[0x93, 0xc7, 0, 0x11, 1, 3]).unwrap()[..], [0x93, 0xc7, 0, 1, 1, 3]);
        assert!(stored_map(&[0x83, 0xc7, 0, 1, 0xc0, 5, 1, 3, 2]).is_none());
        assert!(stored_map(&[0x82, 1, 2, 1, 3]).is_none(), "a key twice");
    }

    /// From the golden scenario `record/value-raw-particles`.
    #[test]
    fn scalars_get_their_shortest_form() {
        let long = [0x93, 0xcd, 0, 1, 0xd3, 0, 0, 0, 0, 0, 0, 0, 2, 0xce, 0, 0, 0, 3];
        assert_eq!(stored_list(&long).unwrap()[..], [0x93, 1, 2, 3]);
        assert_eq!(stored_list(&[0x91, 0xc4, 3, 4, b'a', b'b']).unwrap()[..], [0x91, 0xa3, 4, b'a', b'b']);
        let float32 = [0x91, 0xca, 0x3f, 0x80, 0, 0];
        assert_eq!(stored_list(&float32).unwrap()[..], float32);
    }

    #[test]
    fn what_is_no_collection_is_refused() {
        for bad in [&[][..], &[0xc1], &[0x93, 1, 2], &[0x91, 1, 0], &[0x81, 1, 2], &[0x91, 0xd4, 0xff, 0]] {
            assert!(stored_list(bad).is_none(), "{bad:x?}");
        }
        for bad in [&[][..], &[0x91, 1], &[0x82, 1, 2, 3], &[0x81, 0xc0, 1], &[0x81, 0xc3, 1], &[0x81, 0x90, 1]] {
            assert!(stored_map(bad).is_none(), "{bad:x?}");
        }
        let deep = vec![0x91; 100_000];
        assert!(stored_list(&deep).is_none());
    }

    #[test]
    fn deep_nesting_is_walked() {
        let nested = |depth: usize| [[0x91, 0x81, 1].repeat(depth), vec![0x91, 5]].concat();
        assert_eq!(stored_list(&nested(200)).unwrap()[..], nested(200));
        assert!(stored_list(&nested(5000)).is_none());
    }
}
