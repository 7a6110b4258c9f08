//! An owned msgpack value, for tests only: the crate itself has none.

use aerolane_wire::WireResult;
use aerolane_wire::msgpack::{Element, Ext, Reader, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) enum Item {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float32(f32),
    Float(f64),
    Bytes(Vec<u8>),
    /// Order flags, elements.
    List(u8, Vec<Item>),
    /// Order flags, pairs.
    Map(u8, Vec<(Item, Item)>),
    Infinity,
    Wildcard,
    Ext(u8, Vec<u8>),
}

impl PartialEq for Item {
    /// Floats are equal if their bits are.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nil, Self::Nil) | (Self::Infinity, Self::Infinity) | (Self::Wildcard, Self::Wildcard) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::Float32(a), Self::Float32(b)) => a.to_bits() == b.to_bits(),
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(f, a), Self::List(g, b)) => f == g && a == b,
            (Self::Map(f, a), Self::Map(g, b)) => f == g && a == b,
            (Self::Ext(f, a), Self::Ext(g, b)) => f == g && a == b,
            _ => false,
        }
    }
}

impl Item {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Nil => writer.nil(),
            Self::Bool(value) => writer.bool(*value),
            Self::Int(value) => writer.int(*value),
            Self::Uint(value) => writer.uint(*value),
            Self::Float32(value) => writer.float32(*value),
            Self::Float(value) => writer.float(*value),
            Self::Bytes(value) => writer.bare(value),
            Self::List(flags, items) => {
                writer.list_with_order(*flags, items.len());
                for item in items {
                    item.write(writer);
                }
            }
            Self::Map(flags, pairs) => {
                writer.map_with_order(*flags, pairs.len());
                for (key, value) in pairs {
                    key.write(writer);
                    value.write(writer);
                }
            }
            Self::Infinity => writer.infinity(),
            Self::Wildcard => writer.wildcard(),
            Self::Ext(kind, data) => writer.ext(Ext { kind: *kind, data }),
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> WireResult<Self> {
        Ok(match reader.read()? {
            Element::Nil => Self::Nil,
            Element::Bool(value) => Self::Bool(value),
            Element::Int(value) => Self::Int(value),
            Element::Uint(value) => Self::Uint(value),
            Element::Float32(value) => Self::Float32(value),
            Element::Float(value) => Self::Float(value),
            Element::Bytes(value) => Self::Bytes(value.to_vec()),
            Element::List(header) => {
                let mut items = Vec::with_capacity(header.len);
                for _ in 0..header.len {
                    items.push(Self::read(reader)?);
                }
                Self::List(header.flags(), items)
            }
            Element::Map(header) => {
                let mut pairs = Vec::with_capacity(header.len);
                for _ in 0..header.len {
                    pairs.push((Self::read(reader)?, Self::read(reader)?));
                }
                Self::Map(header.flags(), pairs)
            }
            Element::Infinity => Self::Infinity,
            Element::Wildcard => Self::Wildcard,
            Element::Ext(ext) => Self::Ext(ext.kind, ext.data.to_vec()),
            other => unreachable!("an element that the model does not know: {other:?}"),
        })
    }
}

/// Values of every kind. An ext that would read as an order marker (the first element of an unordered collection) or
/// as infinity or wildcard is left out.
pub(crate) fn items() -> impl Strategy<Value = Item> {
    let leaf = prop_oneof![
        Just(Item::Nil),
        any::<bool>().prop_map(Item::Bool),
        (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| Item::Int(value >> shift)),
        (1_u64 << 63..=u64::MAX).prop_map(Item::Uint),
        any::<u32>().prop_map(|bits| Item::Float32(f32::from_bits(bits))),
        any::<u64>().prop_map(|bits| Item::Float(f64::from_bits(bits))),
        vec(any::<u8>(), 0..40).prop_map(Item::Bytes),
        // Lengths of each width.
        prop_oneof![Just(31_usize), Just(32), Just(255), Just(256), Just(65_535), Just(65_536)]
            .prop_map(|size| Item::Bytes(vec![3; size])),
        Just(Item::Infinity),
        Just(Item::Wildcard),
        (0..0xff_u8, vec(any::<u8>(), 0..20)).prop_map(|(kind, data)| Item::Ext(kind, data)),
    ];
    leaf.prop_recursive(12, 60, 20, |inner| {
        prop_oneof![
            (any::<u8>(), vec(inner.clone(), 0..20)).prop_map(|(flags, items)| list(flags, items)),
            (any::<u8>(), vec((inner.clone(), inner), 0..20)).prop_map(|(flags, pairs)| map(flags, pairs)),
        ]
    })
}

fn list(flags: u8, mut items: Vec<Item>) -> Item {
    while flags == 0 && matches!(items.first(), Some(Item::Ext(..))) {
        items.remove(0);
    }
    Item::List(flags.min(0xfe), items)
}

fn map(flags: u8, mut pairs: Vec<(Item, Item)>) -> Item {
    while flags == 0 && matches!(pairs.first(), Some((Item::Ext(..), _))) {
        pairs.remove(0);
    }
    Item::Map(flags.min(0xfe), pairs)
}
