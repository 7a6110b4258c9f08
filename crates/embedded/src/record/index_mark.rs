//! The mark of a persisted index in stored maps: kept in the order flags of the value, and shown to nobody but scripts.

use crate::store::{BIN_HEADER, Namespace};
use aerolane_wire::msgpack::{Element, Reader, Writer, order};
use aerolane_wire::particle::particle_type;
use std::sync::atomic::Ordering;

/// The order marker of a map: an ext and nil.
#[derive(Debug, Clone, Copy)]
struct Marker {
    /// Where it stands, behind the map's size.
    at: usize,
    size: usize,
    flags: u8,
}

/// The order marker of a map, if it has one.
fn marker(map: &[u8]) -> Option<Marker> {
    let at = match map.first()? {
        0x80..=0x8f => 1,
        0xde => 3,
        0xdf => 5,
        _ => return None,
    };
    if let [0xc7, 0, flags, ..] = *map.get(at..)? {
        return Some(Marker { at, size: 4, flags });
    }
    // One with data: the order of values.
    let mut reader = Reader::new(map.get(at..)?);
    match reader.read() {
        Ok(Element::Ext(ext)) => Some(Marker { at, size: reader.offset() + 1, flags: ext.kind }),
        _ => None,
    }
}

/// Notes that the namespace has a map with the mark, if this is one.
#[inline]
pub(super) fn note(namespace: &Namespace, kind: u8, value: &[u8]) {
    if kind == particle_type::MAP && marker(value).is_some_and(|marker| marker.flags & order::PERSIST_INDEX != 0) {
        namespace.persists_indexes.store(true, Ordering::Relaxed);
    }
}

/// Takes the mark out of the maps among the operations of an answer, which begin at `start`.
#[inline]
pub(crate) fn hide(namespace: &Namespace, out: &mut Vec<u8>, start: usize) {
    if namespace.persists_indexes.load(Ordering::Relaxed) {
        take_out(out, start);
    }
}

fn take_out(out: &mut Vec<u8>, start: usize) {
    let mut at = start;
    while let Some(head) = out.get(at..).and_then(|ops| ops.first_chunk::<BIN_HEADER>()) {
        let size = 4 + u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let (kind, value) = (head[5], at + BIN_HEADER + usize::from(head[7]));
        let Some(map) = out.get(value..at + size) else { return };
        let mut shown = size;
        if kind == particle_type::MAP
            && let Some(marker) = marker(map)
            && marker.flags & order::PERSIST_INDEX != 0
        {
            let flags = marker.flags & !order::PERSIST_INDEX;
            let mut head = Vec::new();
            if marker.flags == order::PERSIST_INDEX {
                // A map that has nothing else to say of its order is one without a marker.
                let Ok(Element::Map(header)) = Reader::new(map).read() else { return };
                Writer::new(&mut head).map(header.len);
            } else {
                head.extend_from_slice(&map[..marker.at]);
                head.extend_from_slice(&[0xc7, 0, flags, 0xc0]);
            }
            let old = marker.at + marker.size;
            shown = size - old + head.len();
            out.splice(value..value + old, head);
            out[at..at + 4].copy_from_slice(&(shown as u32 - 4).to_be_bytes());
        }
        at += shown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::append_bin;
    use aerolane_wire::msgpack::Ext;

    #[test]
    fn answers_do_not_show_it() {
        let namespace = Namespace::new("test");
        let map = |flags: u8, n: u8| {
            let mut out = Vec::new();
            Writer::new(&mut out).map_with_order(flags, n.into());
            (0..n).for_each(|key| out.extend_from_slice(&[key, 5]));
            out
        };
        let ops = |hidden: bool| {
            let (ordered, plain) = if hidden { (3, 0) } else { (0x13, 0x10) };
            let mut out = b"before".to_vec();
            append_bin(b"map", particle_type::MAP, &map(ordered, 20), &mut out);
            append_bin(b"blob", particle_type::BLOB, &map(0x13, 1), &mut out);
            append_bin(b"small", particle_type::MAP, &map(ordered, 2), &mut out);
            append_bin(b"", particle_type::MAP, &map(plain, 15), &mut out);
            append_bin(b"plain", particle_type::MAP, &map(plain, 0), &mut out);
            append_bin(b"usual", particle_type::MAP, &map(1, 3), &mut out);
            // With an order of values of its own.
            for data in [&[0xff][..], &[1, 0, 2]] {
                let mut value = Vec::new();
                let marker = Ext { kind: ordered, data: if hidden { &[] } else { data } };
                Writer::new(&mut value).map_with_marker(Some(marker), 3);
                value.extend_from_slice(&[0, 5, 1, 5, 2, 5]);
                append_bin(b"kept", particle_type::MAP, &value, &mut out);
            }
            out
        };
        let mut shown = ops(false);
        note(&namespace, particle_type::MAP, &map(3, 1));
        note(&namespace, particle_type::BLOB, &map(0x13, 1));
        hide(&namespace, &mut shown, 6);
        assert_eq!(shown, ops(false), "there is none");
        note(&namespace, particle_type::MAP, &map(0x10, 0));
        hide(&namespace, &mut shown, 6);
        assert_eq!(shown, ops(true));
    }
}
