//! Constants: literals of the text, and the values of parameters.

use aerolane_wire::msgpack::{Element, Ext, Reader, Writer, compare, order};
use aerolane_wire::particle::particle_type;

use crate::types::Type;

/// The number of a list that is a constant in an expression.
const QUOTED: u64 = 126;

/// A constant: the value of a parameter, or a literal.
///
/// It is msgpack already, so it is never pasted into text and never parsed again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Param {
    /// `None`: nil, infinity or the wildcard.
    kind: Option<Type>,
    packed: Box<[u8]>,
    /// A map that does not say that it is sorted by key.
    unordered: bool,
}

impl Param {
    pub(crate) fn new(kind: Option<Type>, write: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut packed = Vec::with_capacity(16);
        write(&mut Writer::new(&mut packed));
        Self { kind, packed: packed.into(), unordered: false }
    }

    /// Takes a value that is msgpack already, of one element; lists without the quoting that expressions put around
    /// them. Gives `None` if it is no value that an expression can have.
    #[must_use]
    pub fn packed(packed: impl Into<Box<[u8]>>) -> Option<Self> {
        let packed = packed.into();
        let mut reader = Reader::new(&packed);
        let kind = match reader.read().ok()? {
            Element::Nil | Element::Infinity | Element::Wildcard => None,
            element => Some(kind_of(&element, &mut reader)?),
        };
        reader.finish().ok()?;
        Some(Self { kind, packed: unmarked(&packed).unwrap_or(packed), unordered: false })
    }

    /// Makes nil: for bounds and values inside selectors, and for lists.
    #[must_use]
    pub fn nil() -> Self {
        Self::sentinel(Element::Nil)
    }

    fn sentinel(element: Element<'_>) -> Self {
        Self::new(None, |writer| writer.element(&element))
    }

    pub(crate) fn infinity() -> Self {
        Self::sentinel(Element::Infinity)
    }

    pub(crate) fn wildcard() -> Self {
        Self::sentinel(Element::Wildcard)
    }

    /// Makes bytes.
    #[must_use]
    pub fn blob(bytes: &[u8]) -> Self {
        Self::new(Some(Type::Blob), |writer| writer.blob(bytes))
    }

    /// Makes GeoJSON from its text.
    #[must_use]
    pub fn geo(text: &str) -> Self {
        Self::new(Some(Type::Geo), |writer| writer.geojson(text.as_bytes()))
    }

    /// Makes a list.
    #[must_use]
    pub fn list<'a>(items: impl ExactSizeIterator<Item = &'a Self>) -> Self {
        Self::new(Some(Type::List), |writer| {
            writer.list(items.len());
            items.for_each(|item| writer.raw(&item.packed));
        })
    }

    /// Makes a list that is sorted and says so.
    pub(crate) fn sorted_list(mut items: Vec<Self>) -> Self {
        items.sort_by(|left, right| compare(&left.packed, &right.packed));
        Self::new(Some(Type::List), |writer| {
            writer.list_with_marker(Some(Ext { kind: order::LIST_ORDERED, data: &[] }), items.len());
            for item in &items {
                writer.raw(&item.packed);
            }
        })
    }

    /// Returns the map without an order.
    pub(crate) fn without_order(self) -> Self {
        Self { unordered: true, ..self }
    }

    /// Makes a map of pairs that are sorted by key.
    pub(crate) fn sorted_map(pairs: &[(MapKey, Self)]) -> Self {
        Self::new(Some(Type::Map), |writer| {
            writer.map(pairs.len());
            for (key, value) in pairs {
                writer.raw(&key.constant().packed);
                writer.raw(&value.packed);
            }
        })
    }

    /// Returns the type; `None`: nil, infinity or the wildcard.
    #[must_use]
    pub fn kind(&self) -> Option<Type> {
        self.kind
    }

    /// Returns the msgpack of the value; of a map without order marker.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.packed
    }

    /// Returns the integer, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match Reader::new(&self.packed).read() {
            Ok(Element::Int(value)) if self.kind == Some(Type::Int) => Some(value),
            _ => None,
        }
    }

    /// Returns whether it is true, if it is a boolean.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match Reader::new(&self.packed).read() {
            Ok(Element::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the text, if it is a string or GeoJSON.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match (self.kind, Reader::new(&self.packed).read()) {
            (Some(Type::String | Type::Geo), Ok(Element::Bytes(text))) => std::str::from_utf8(text.get(1..)?).ok(),
            _ => None,
        }
    }

    /// Appends it as an expression has it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.kind == Some(Type::List) {
            let mut writer = Writer::new(out);
            writer.list(2);
            writer.uint(QUOTED);
        }
        self.write_element(out);
    }

    /// Appends it as a context has it. A map says that it is sorted by key; one inside of it does not.
    pub(crate) fn write_element(&self, out: &mut Vec<u8>) {
        let mut reader = Reader::new(&self.packed);
        let mut writer = Writer::new(out);
        match reader.read() {
            Ok(Element::Map(map)) if map.marker.is_none() && !self.unordered => {
                writer.map_with_marker(Some(Ext { kind: order::MAP_KEY, data: &[] }), map.len);
                writer.raw(&self.packed[reader.offset()..]);
            }
            _ => writer.raw(&self.packed),
        }
    }

    /// Returns the text that stands for it inside another string; `None` for what has none.
    pub(crate) fn text(&self) -> Option<String> {
        match (self.kind?, Reader::new(&self.packed).read().ok()?) {
            (Type::String | Type::Geo, _) => self.as_str().map(str::to_owned),
            (Type::Int, Element::Int(value)) => Some(value.to_string()),
            (Type::Float, Element::Float(value)) => Some(format!("{value:?}")),
            (Type::Bool, Element::Bool(value)) => Some(value.to_string()),
            _ => None,
        }
    }

    /// Returns the item of a list of one.
    pub(crate) fn only_item(&self) -> Option<Self> {
        let mut reader = Reader::new(&self.packed);
        match reader.read() {
            Ok(Element::List(list)) if list.len == 1 => Self::packed(&self.packed[reader.offset()..]),
            _ => None,
        }
    }

    /// Returns the type of the items, if it is a list whose items have one type.
    pub(crate) fn item_kind(&self) -> Option<Type> {
        let mut reader = Reader::new(&self.packed);
        let Ok(Element::List(list)) = reader.read() else { return None };
        let mut found = None;
        for _ in 0..list.len {
            let kind = kind_of(&reader.read().ok()?, &mut reader)?;
            if found.is_some_and(|found| found != kind) {
                return None;
            }
            found = Some(kind);
        }
        found
    }
}

/// Returns a map without its order marker, if it has one.
fn unmarked(packed: &[u8]) -> Option<Box<[u8]>> {
    let mut reader = Reader::new(packed);
    let Ok(Element::Map(map)) = reader.read() else { return None };
    map.marker?;
    let mut plain = Vec::with_capacity(packed.len());
    let mut writer = Writer::new(&mut plain);
    writer.map(map.len);
    writer.raw(&packed[reader.offset()..]);
    Some(plain.into())
}

/// Returns the type of an element, and skips what belongs to it.
fn kind_of(element: &Element<'_>, reader: &mut Reader<'_>) -> Option<Type> {
    let (kind, inside) = match element {
        Element::Bool(_) => (Type::Bool, 0),
        Element::Int(_) => (Type::Int, 0),
        Element::Float(_) => (Type::Float, 0),
        Element::List(list) => (Type::List, list.len),
        Element::Map(map) => (Type::Map, 2 * map.len),
        Element::Bytes([particle_type::STRING, ..]) => (Type::String, 0),
        Element::Bytes([particle_type::BLOB, ..]) => (Type::Blob, 0),
        Element::Bytes([particle_type::GEOJSON, ..]) => (Type::Geo, 0),
        Element::Bytes([particle_type::HLL, ..]) => (Type::Hll, 0),
        _ => return None,
    };
    for _ in 0..inside {
        reader.skip().ok()?;
    }
    Some(kind)
}

impl From<i64> for Param {
    fn from(value: i64) -> Self {
        Self::new(Some(Type::Int), |writer| writer.int(value))
    }
}

impl From<f64> for Param {
    fn from(value: f64) -> Self {
        Self::new(Some(Type::Float), |writer| writer.float(value))
    }
}

impl From<bool> for Param {
    fn from(value: bool) -> Self {
        Self::new(Some(Type::Bool), |writer| writer.bool(value))
    }
}

impl From<&str> for Param {
    fn from(value: &str) -> Self {
        Self::new(Some(Type::String), |writer| writer.str(value.as_bytes()))
    }
}

/// A key of a map, in the order of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKey {
    Int(i64),
    String(String),
    Blob(Vec<u8>),
}

impl MapKey {
    fn constant(&self) -> Param {
        match self {
            Self::Int(value) => Param::from(*value),
            Self::String(value) => Param::from(value.as_str()),
            Self::Blob(value) => Param::blob(value),
        }
    }

    /// Returns the key that a constant is, if it can be one.
    pub(crate) fn of(constant: &Param) -> Option<Self> {
        match constant.kind {
            Some(Type::Int) => constant.as_int().map(Self::Int),
            Some(Type::String) => constant.as_str().map(|text| Self::String(text.to_owned())),
            Some(Type::Blob) => match Reader::new(&constant.packed).read() {
                Ok(Element::Bytes(bytes)) => Some(Self::Blob(bytes.get(1..)?.to_vec())),
                _ => None,
            },
            _ => None,
        }
    }
}
