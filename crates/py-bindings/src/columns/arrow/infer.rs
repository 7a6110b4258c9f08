//! The types of columns, found from the values of records.
//!
//! All types that occur at a place are noted, and settled when the last record was looked at:
//!
//! * ints and floats: floats; texts and GeoJSON: texts; bytes and HLLs: bytes
//! * lists: lists of the type of all items
//! * maps that have the same keys, all of them texts: structs. Other maps: maps of one type of keys and one of values, or
//!   else, if their keys are texts, structs of all keys
//! * anything else is mixed: an error, or JSON

use std::sync::Arc;

use aerolane_wire::WireResult;
use aerolane_wire::message::MessageReader;
use aerolane_wire::msgpack::Reader;

use super::chunk::Identity;
use super::types::{Field, Kind};
use super::value::Value;
use crate::columns::plain::Plain;

/// The most keys that the fields of a struct are made of.
const MAX_KEYS: usize = 256;
/// How deep values are looked into; deeper ones are mixed.
const MAX_DEPTH: usize = super::types::MAX_DEPTH;

/// What columns tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    List,
    Map,
    Other,
}

const TYPES: [(Type, &str); 8] = [
    (Type::Bool, "bool"),
    (Type::Int, "int"),
    (Type::Float, "float"),
    (Type::Text, "str"),
    (Type::Bytes, "bytes"),
    (Type::List, "list"),
    (Type::Map, "dict"),
    (Type::Other, "a type that Aerolane does not know"),
];

/// The values at one place.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// For each type the first record that has it.
    firsts: [Option<Arc<str>>; TYPES.len()],
    items: Option<Box<Seen>>,
    maps: Option<Box<Maps>>,
}

#[derive(Debug, Clone, Default)]
struct Maps {
    count: usize,
    /// Keys that are texts, how many maps have them, and their values.
    fields: Vec<(Box<[u8]>, usize, Seen)>,
    keys: Seen,
    /// The values of other keys, and whether there are any.
    others: Seen,
    has_others: bool,
}

/// The record whose values are looked at. It becomes text when its values are the first of their kind.
struct RecordOrigin<'a> {
    message: &'a [u8],
    identity: Option<Identity<'a>>,
    text: Option<Arc<str>>,
}

impl RecordOrigin<'_> {
    fn text(&mut self) -> Arc<str> {
        let text = self.text.get_or_insert_with(|| {
            let read = || {
                MessageReader::new(self.message).and_then(|mut reader| Identity::read(&mut reader)).unwrap_or_default()
            };
            self.identity.unwrap_or_else(read).text().into()
        });
        Arc::clone(text)
    }
}

/// What was seen of some records.
#[derive(Debug, Default)]
pub(crate) struct Inference {
    bins: Vec<(Box<[u8]>, Seen)>,
    key: Seen,
}

impl Inference {
    /// Looks at a record. `identity`: that of the record, if its message does not say it.
    ///
    /// # Errors
    /// The message is malformed.
    pub(crate) fn look(&mut self, message: &[u8], identity: Option<Identity<'_>>) -> WireResult<()> {
        let mut whose = RecordOrigin { message, identity, text: None };
        let mut reader = MessageReader::new(message)?;
        let identity = match identity {
            Some(identity) => identity,
            None => Identity::read(&mut reader)?,
        };
        self.look_at_key(identity, &mut whose)?;
        let (mut expected, mut packed) = (0, Reader::new(&[]));
        while let Some(op) = reader.next_op()? {
            let value = Value::of_bin(&op, &mut packed)?;
            let is = |place: &usize| self.bins.get(*place).is_some_and(|(name, _)| **name == *op.name);
            let found = Some(expected).filter(is).or_else(|| (0..self.bins.len()).find(is));
            let place = found.unwrap_or_else(|| {
                self.bins.push((op.name.into(), Seen::default()));
                self.bins.len() - 1
            });
            self.bins[place].1.look(&value, &mut packed, &mut whose, 0)?;
            expected = place + 1;
        }
        Ok(())
    }

    /// Looks at a row without a record.
    pub(crate) fn look_at_missing(&mut self, identity: Identity<'_>) -> WireResult<()> {
        self.look_at_key(identity, &mut RecordOrigin { message: &[], identity: Some(identity), text: None })
    }

    fn look_at_key(&mut self, identity: Identity<'_>, whose: &mut RecordOrigin<'_>) -> WireResult<()> {
        if let Some((kind, bytes)) = identity.key.split_first() {
            let mut none = Reader::new(&[]);
            let value = Value::of_particle(*kind, bytes, &mut none)?;
            self.key.look(&value, &mut none, whose, 0)?;
        }
        Ok(())
    }

    /// The columns of the bins that are not `known`, in the order in which they came. `json`: bins of mixed types become
    /// JSON.
    ///
    /// # Errors
    /// A bin has values of types that no column has together: which bin, and which types.
    pub(super) fn bins(&self, json: bool, known: impl Fn(&str) -> bool) -> Result<Vec<Field>, String> {
        let mut fields = Vec::new();
        for (name, seen) in &self.bins {
            let Ok(name) = std::str::from_utf8(name) else {
                return Err(format!(
                    "a record has a bin whose name is not UTF-8: {:?}: name the bins of the query",
                    String::from_utf8_lossy(name)
                ));
            };
            if known(name) {
                continue;
            }
            let settled = settled(seen, name, json).map_err(|mixed| {
                format!(
                    "the bin {name:?} {mixed}: give its column a type (schema_overrides={{{name:?}: 'utf8'}}: others are \
                     null, 'json': all as JSON texts), or let such bins become JSON (mixed='json')"
                )
            })?;
            fields.push(settled);
        }
        Ok(fields)
    }

    /// The column of the user keys.
    ///
    /// # Errors
    /// They are of several types.
    pub(super) fn key(&self, name: &str, json: bool) -> Result<Field, String> {
        settled(&self.key, name, json)
            .map_err(|mixed| format!("the keys {mixed}: give their column a type (key=({name:?}, 'int64'))"))
    }
}

fn settled(seen: &Seen, name: &str, json: bool) -> Result<Field, String> {
    let kind = match seen.settle("") {
        Err(_) if json => Kind::Json,
        settled => settled?,
    };
    Field::new(name, kind).ok_or_else(|| "has a name with a NUL".to_owned())
}

impl Type {
    const fn of(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Nil => return None,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) | Value::GeoJson(_) => Self::Text,
            Value::Blob(_) | Value::Hll(_) => Self::Bytes,
            Value::List(_) => Self::List,
            Value::Map(_) => Self::Map,
            Value::Other => Self::Other,
        })
    }
}

impl Seen {
    fn look<'a>(
        &mut self,
        value: &Value<'a>,
        reader: &mut Reader<'a>,
        whose: &mut RecordOrigin<'_>,
        depth: usize,
    ) -> WireResult<()> {
        let Some(mut kind) = Type::of(value) else { return Ok(()) };
        if depth > MAX_DEPTH {
            value.pass(reader)?;
            kind = Type::Other;
        }
        self.note(kind, whose);
        match (kind, value) {
            (Type::List, Value::List(len)) => {
                let items = self.items.get_or_insert_default();
                for _ in 0..*len {
                    let item = Value::next(reader)?;
                    items.look(&item, reader, whose, depth + 1)?;
                }
            }
            (Type::Map, Value::Map(len)) => {
                let maps = self.maps.get_or_insert_default();
                maps.look(*len, reader, whose, depth + 1)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, kind: Type, whose: &mut RecordOrigin<'_>) {
        let first = &mut self.firsts[kind as usize];
        if first.is_none() {
            *first = Some(whose.text());
        }
    }

    /// What holds all of these values; else what they are, for a message. `path`: where in a bin they are.
    fn settle(&self, path: &str) -> Result<Kind, String> {
        let seen =
            || TYPES.iter().zip(&self.firsts).filter_map(|((kind, name), first)| Some((*kind, name, first.as_ref()?)));
        let kinds: Vec<_> = seen().map(|(kind, ..)| kind).collect();
        Ok(match kinds[..] {
            [] => Kind::Plain(Plain::Null),
            [Type::Bool] => Kind::Plain(Plain::Bool),
            [Type::Int] => Kind::Plain(Plain::Int { size: 8, signed: true }),
            [Type::Float] | [Type::Int, Type::Float] => Kind::Plain(Plain::Float { size: 8 }),
            [Type::Text] => Kind::Plain(Plain::Spans { text: true, wide: false }),
            [Type::Bytes] => Kind::Plain(Plain::Spans { text: false, wide: false }),
            [Type::List] => {
                let item = self
                    .items
                    .as_ref()
                    .map_or(Ok(Kind::Plain(Plain::Null)), |items| items.settle(&format!("{path}[]")));
                let item = Field::new("item", item?).map(Box::new);
                Kind::List { wide: false, item: item.ok_or("has a name with a NUL")? }
            }
            [Type::Map] => match &self.maps {
                Some(maps) => maps.settle(path)?,
                None => Kind::Plain(Plain::Null),
            },
            _ => {
                let at = if path.is_empty() { String::new() } else { format!(", at {path}") };
                let types = seen().map(|(_, name, first)| format!("{name} (first in {first})"));
                let types: Vec<_> = types.collect();
                return Err(match &types[..] {
                    [one] => format!("has values of {one}{at}"),
                    _ => format!("has values of several types{at}: {}", types.join(", ")),
                });
            }
        })
    }

    /// Adds what another one has seen.
    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.firsts.iter_mut().zip(&other.firsts) {
            if mine.is_none() {
                mine.clone_from(theirs);
            }
        }
        if let Some(items) = &other.items {
            self.items.get_or_insert_default().merge(items);
        }
        if let Some(maps) = &other.maps {
            self.maps.get_or_insert_default().merge(maps);
        }
    }
}

impl Maps {
    fn look(
        &mut self,
        len: usize,
        reader: &mut Reader<'_>,
        whose: &mut RecordOrigin<'_>,
        depth: usize,
    ) -> WireResult<()> {
        self.count += 1;
        let mut expected = 0;
        for _ in 0..len {
            let key = Value::next(reader)?;
            self.keys.look(&key, reader, whose, depth)?;
            let place = match key {
                Value::Text(text) => self.field(text, expected),
                _ => None,
            };
            let value = Value::next(reader)?;
            if let Some(place) = place {
                let (_, count, seen) = &mut self.fields[place];
                *count += 1;
                seen.look(&value, reader, whose, depth)?;
                expected = place + 1;
            } else {
                self.others.look(&value, reader, whose, depth)?;
                self.has_others = true;
            }
        }
        Ok(())
    }

    /// The place of a key; `None`: there are too many.
    fn field(&mut self, key: &[u8], expected: usize) -> Option<usize> {
        let is = |place: &usize| self.fields.get(*place).is_some_and(|(name, ..)| **name == *key);
        let found = Some(expected).filter(is).or_else(|| (0..self.fields.len()).find(is));
        if found.is_some() || self.fields.len() == MAX_KEYS {
            return found;
        }
        self.fields.push((key.into(), 0, Seen::default()));
        Some(self.fields.len() - 1)
    }

    fn settle(&self, path: &str) -> Result<Kind, String> {
        let texts = !self.has_others;
        let uniform = texts && !self.fields.is_empty() && self.fields.iter().all(|(_, count, _)| *count == self.count);
        if uniform && let Some(fields) = self.structure(path) {
            return fields;
        }
        let mut values = self.others.clone();
        for (_, _, seen) in &self.fields {
            values.merge(seen);
        }
        let key = match self.keys.settle(&format!("{path} (keys)"))? {
            // No key at all.
            Kind::Plain(Plain::Null) => Kind::Plain(Plain::Spans { text: true, wide: false }),
            key => key,
        };
        match (values.settle(&format!("{path}{{}}")), self.structure(path).filter(|_| texts)) {
            (Err(_), Some(fields)) => fields,
            (values, _) => {
                let map = Field::map("", key, values?);
                map.map(|field| field.kind).ok_or_else(|| "has a name with a NUL".to_owned())
            }
        }
    }

    /// All keys as fields of a struct; `None`: they are no names that fields can have.
    fn structure(&self, path: &str) -> Option<Result<Kind, String>> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (name, _, seen) in &self.fields {
            let name = std::str::from_utf8(name).ok()?;
            match seen.settle(&format!("{path}.{name}")) {
                Ok(kind) => fields.push(Field::new(name, kind)?),
                Err(mixed) => return Some(Err(mixed)),
            }
        }
        Some(Ok(Kind::Struct(fields)))
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.keys.merge(&other.keys);
        self.others.merge(&other.others);
        self.has_others |= other.has_others;
        for (name, count, seen) in &other.fields {
            if let Some(place) = self.field(name, usize::MAX) {
                let mine = &mut self.fields[place];
                mine.1 += count;
                mine.2.merge(seen);
            } else {
                self.others.merge(seen);
                self.has_others = true;
            }
        }
    }
}
