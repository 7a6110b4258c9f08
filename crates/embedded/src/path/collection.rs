//! A list or map taken apart.

use aerolane_wire::msgpack::{Element, Ext, Reader, Writer};

/// An element of a list, or a pair of a map: msgpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// `None` in lists.
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: &'a [u8],
}

/// A list or map: its order, and its entries as they are stored.
#[derive(Debug)]
pub(crate) struct Collection<'a> {
    pub(crate) is_map: bool,
    pub(crate) marker: Option<Ext<'a>>,
    pub(crate) entries: Vec<Entry<'a>>,
}

impl<'a> Collection<'a> {
    /// Takes a value apart; `None` if it is no list and no map.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (is_map, len, marker) = match reader.read().ok()? {
            Element::List(header) => (false, header.len, header.marker),
            Element::Map(header) => (true, header.len, header.marker),
            _ => return None,
        };
        let mut entries = Vec::with_capacity(len);
        for _ in 0..len {
            let key = if is_map { Some(reader.skip().ok()?) } else { None };
            entries.push(Entry { key, value: reader.skip().ok()? });
        }
        // An order of its values that a map has stored is not that of what is made of it.
        let marker = marker.map(|marker| Ext { data: &[], ..marker });
        Some(Self { is_map, marker, entries })
    }

    /// The flags of its order.
    pub(crate) fn flags(&self) -> u8 {
        self.marker.map_or(0, |marker| marker.kind)
    }

    /// Appends a header for a collection of the same kind.
    pub(crate) fn write_header(&self, marker: Option<Ext<'_>>, len: usize, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        if self.is_map { writer.map_with_marker(marker, len) } else { writer.list_with_marker(marker, len) }
    }
}

impl<'a> Entry<'a> {
    /// Key and value.
    pub(crate) fn parts(self) -> [Option<&'a [u8]>; 2] {
        [self.key, Some(self.value)]
    }

    /// Whether the value is a collection itself.
    pub(crate) fn is_collection(&self) -> bool {
        matches!(Reader::new(self.value).read(), Ok(Element::List(_) | Element::Map(_)))
    }
}
