//! Evaluates checked expressions. `None` is "unknown".

use super::arithmetic::scan;
use super::build::{Comparison, ItemPart, Metadata, Node};
use super::work::{Work, step};
use crate::clock::EPOCH_2010;
use crate::geo::Shape;
use crate::path::Collection;
use crate::store::Record;
use crate::value::{self, Value};
use aerolane_wire::msgpack::{Element, Reader, Writer, order};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Where expressions find bins: a record, or the bins of a write in progress.
pub(crate) trait BinSource {
    /// Particle type and value of a bin.
    fn bin(&self, name: &[u8]) -> Option<(u8, &[u8])>;
}

impl BinSource for Record {
    fn bin(&self, name: &[u8]) -> Option<(u8, &[u8])> {
        Record::bin(self, name).map(|bin| (bin.kind, bin.value))
    }
}

/// What an expression can look at.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The bins.
    pub(crate) bins: &'a dyn BinSource,
    /// The record as it is stored; `None` if it is about to be created.
    pub(crate) record: Option<&'a Record>,
    /// The record's digest.
    pub(crate) digest: &'a [u8; 20],
    /// Name of its set; empty if it has none.
    pub(crate) set_name: &'a [u8],
    /// Milliseconds since 2010.
    pub(crate) now_ms: u64,
}

/// The value of an expression.
pub(super) fn evaluate<'v>(
    root: &'v Node<'_>,
    variables: usize,
    context: &'v Context<'v>,
    item: Option<Item<'v>>,
) -> Option<Value<'v>> {
    let _work = Work::begin();
    Evaluation { context, item, variables: vec![None; variables] }.node(root)
}

/// What a path is looking at: the values of an expression's loop variables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    /// In a map: the key.
    pub(crate) key: Option<&'a [u8]>,
    /// The value.
    pub(crate) value: &'a [u8],
    /// In a list: the index.
    pub(crate) index: Option<usize>,
}

/// Expressions on an item see no record.
struct NoBins;

impl BinSource for NoBins {
    fn bin(&self, _name: &[u8]) -> Option<(u8, &[u8])> {
        None
    }
}

/// What expressions on an item see beside it.
pub(super) const NO_RECORD: Context<'static> =
    Context { bins: &NoBins, record: None, digest: &[0; 20], set_name: &[], now_ms: 0 };

pub(super) struct Evaluation<'v> {
    context: &'v Context<'v>,
    item: Option<Item<'v>>,
    /// Values of variables, by slot.
    variables: Vec<Option<Value<'v>>>,
}

impl<'v> Evaluation<'v> {
    pub(super) fn node(&mut self, node: &'v Node<'_>) -> Option<Value<'v>> {
        step(0)?;
        match node {
            Node::Constant(value) => Some(borrowed(value)),
            Node::Unknown => None,
            Node::Bin { kind, name } => {
                let (tag, value) = self.context.bins.bin(name)?;
                Value::from_bin(tag, value).filter(|value| value.kind() == *kind)
            }
            // Without a record there is nothing to say of it.
            Node::BinType(_) | Node::Metadata(_) if self.item.is_some() => None,
            Node::BinType(name) => {
                let kind = self.context.bins.bin(name).map_or(particle_type::NIL, |(tag, _)| tag);
                Some(Value::Int(i64::from(kind)))
            }
            Node::Key(kind) => {
                let (tag, value) = self.context.record?.key()?.split_first()?;
                Value::from_bin(*tag, value).filter(|value| value.kind() == *kind)
            }
            Node::Metadata(what) => Some(self.metadata(*what)),
            Node::Compare(comparison, sides) => {
                let (a, b) = (self.node(&sides[0])?, self.node(&sides[1])?);
                step(a.len().min(b.len()))?;
                if let (Value::List(a) | Value::Map(a), Value::List(b) | Value::Map(b)) = (&a, &b)
                    && meets_unordered_map(a, b)
                {
                    return None;
                }
                Some(Value::Bool(compare(*comparison, &a, &b)))
            }
            Node::Regex(regex, text) => match self.node(text)? {
                Value::Str(text) => step(text.len()).map(|()| Value::Bool(regex.is_match(&text))),
                _ => None,
            },
            Node::Geo(sides) => {
                let (Value::Geo(a), Value::Geo(b)) = (self.node(&sides[0])?, self.node(&sides[1])?) else {
                    return None;
                };
                Some(Value::Bool(Shape::parse(&a)?.matches(&Shape::parse(&b)?)))
            }
            Node::And(nodes) => self.any_is(nodes, false),
            Node::Or(nodes) => self.any_is(nodes, true),
            Node::Exclusive(nodes) => {
                let mut found = false;
                for node in nodes {
                    if self.bool(node)? && std::mem::replace(&mut found, true) {
                        return Some(Value::Bool(false));
                    }
                }
                Some(Value::Bool(found))
            }
            Node::Not(node) => self.bool(node).map(|v| Value::Bool(!v)),
            Node::Arithmetic { what, arguments, .. } => {
                let values: Option<Vec<_>> = arguments.iter().map(|node| self.node(node)).collect();
                what.compute(&values?)
            }
            Node::Scan { from_left, arguments } => match (self.node(&arguments[0])?, self.node(&arguments[1])?) {
                (Value::Int(value), Value::Bool(wanted)) => Some(Value::Int(scan(value, wanted, *from_left))),
                _ => None,
            },
            Node::Cond { cases, default, .. } => {
                for (condition, value) in cases {
                    if self.bool(condition)? {
                        return self.node(value);
                    }
                }
                self.node(default)
            }
            Node::Let { variables, body } => {
                for (slot, value) in variables {
                    self.variables[*slot] = self.node(value);
                }
                self.node(body)
            }
            Node::Variable { slot, .. } => self.variables[*slot].clone(),
            Node::Item { part, kind } => self.item(*part).filter(|value| value.kind() == *kind),
            Node::Remove => Some(Value::Remove),
            Node::InList(arguments) => {
                let mut wanted = Vec::new();
                self.node(&arguments[0])?.write(&mut wanted)?;
                let Value::List(list) = self.node(&arguments[1])? else { return None };
                step(list.len() + wanted.len())?;
                let elements = Collection::parse(&list)?.entries;
                Some(Value::Bool(elements.iter().any(|entry| value::compare(&wanted, entry.value).is_eq())))
            }
            Node::MapParts { keys, map } => {
                let Value::Map(map) = self.node(map)? else { return None };
                step(map.len())?;
                let entries = Collection::parse(&map)?.entries;
                let mut list = Vec::new();
                let mut writer = Writer::new(&mut list);
                writer.list(entries.len());
                for entry in entries {
                    writer.raw(if *keys { entry.key? } else { entry.value });
                }
                Some(Value::List(Cow::Owned(list)))
            }
            Node::Call(call) => self.call(call),
        }
    }

    fn item(&self, part: ItemPart) -> Option<Value<'v>> {
        let item = self.item?;
        match part {
            ItemPart::Key => Value::from_msgpack(item.key?),
            ItemPart::Value => Value::from_msgpack(item.value),
            ItemPart::Index => Some(Value::Int(item.index? as i64)),
        }
    }

    fn bool(&mut self, node: &'v Node<'_>) -> Option<bool> {
        match self.node(node)? {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// `decisive` if any is that, else unknown if any is unknown, else the opposite.
    fn any_is(&mut self, nodes: &'v [Node<'_>], decisive: bool) -> Option<Value<'v>> {
        let mut unknown = false;
        for node in nodes {
            match self.bool(node) {
                Some(value) if value == decisive => return Some(Value::Bool(decisive)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(Value::Bool(!decisive))
    }

    fn metadata(&self, what: Metadata) -> Value<'v> {
        let Context { record, set_name, now_ms, digest, .. } = *self.context;
        let void_time = record.map_or(0, Record::void_time);
        let last_update_ms = record.map_or(0, Record::last_update_ms);
        let nanoseconds = |ms: u64| (ms + EPOCH_2010 * 1000) as i64 * 1_000_000;
        Value::Int(match what {
            Metadata::SetName => return Value::Str(Cow::Borrowed(set_name)),
            Metadata::KeyExists => return Value::Bool(record.is_some_and(|r| r.key().is_some())),
            Metadata::IsTombstone => return Value::Bool(false),
            Metadata::DigestModulo(modulus) => {
                let [.., a, b, c, d] = *digest;
                i64::from(u32::from_le_bytes([a, b, c, d])) % modulus
            }
            Metadata::DeviceSize => 0,
            Metadata::RecordSize => record.map_or(0, |r| stored_size(r, set_name)) as i64,
            Metadata::LastUpdate => nanoseconds(last_update_ms),
            Metadata::SinceUpdate => now_ms.saturating_sub(last_update_ms) as i64,
            Metadata::VoidTime | Metadata::Ttl if void_time == 0 => -1,
            Metadata::VoidTime => nanoseconds(u64::from(void_time) * 1000),
            Metadata::Ttl => i64::from(void_time) - (now_ms / 1000) as i64,
        })
    }
}

fn borrowed<'v>(value: &'v Value<'_>) -> Value<'v> {
    let cow = |bytes: &'v Cow<'_, [u8]>| Cow::Borrowed(&**bytes);
    match value {
        Value::Nil => Value::Nil,
        Value::Bool(v) => Value::Bool(*v),
        Value::Int(v) => Value::Int(*v),
        Value::Float(v) => Value::Float(*v),
        Value::Str(v) => Value::Str(cow(v)),
        Value::Blob(v) => Value::Blob(cow(v)),
        Value::List(v) => Value::List(cow(v)),
        Value::Map(v) => Value::Map(cow(v)),
        Value::Geo(v) => Value::Geo(cow(v)),
        Value::Hll(v) => Value::Hll(cow(v)),
        Value::Remove => Value::Remove,
    }
}

/// Whether the comparison of two collections comes across an unordered map before it is decided: it has no answer.
fn meets_unordered_map(a: &[u8], b: &[u8]) -> bool {
    let unordered = |bytes: &[u8]| match Reader::new(bytes).read() {
        // An empty map has nothing to be in order only if it has no marker; one in the order of values alone counts as unordered.
        Ok(Element::Map(header)) => (header.len > 0 || header.marker.is_some()) && header.flags() & order::MAP_KEY == 0,
        _ => false,
    };
    if unordered(a) || unordered(b) {
        return true;
    }
    let (Some(x), Some(y)) = (Collection::parse(a), Collection::parse(b)) else { return false };
    if x.is_map != y.is_map || (x.is_map && x.entries.len() != y.entries.len()) {
        return false;
    }
    for (x, y) in x.entries.into_iter().zip(y.entries) {
        for (x, y) in x.parts().into_iter().zip(y.parts()) {
            let (Some(x), Some(y)) = (x, y) else { continue };
            if meets_unordered_map(x, y) {
                return true;
            }
            if value::compare(x, y).is_ne() {
                return false;
            }
        }
    }
    false
}

fn compare(comparison: Comparison, a: &Value<'_>, b: &Value<'_>) -> bool {
    let order = a.compare(b);
    match comparison {
        Comparison::Eq => order.is_some_and(Ordering::is_eq),
        Comparison::Ne => order.is_none_or(Ordering::is_ne),
        Comparison::Gt => order.is_some_and(Ordering::is_gt),
        Comparison::Ge => order.is_some_and(Ordering::is_ge),
        Comparison::Lt => order.is_some_and(Ordering::is_lt),
        Comparison::Le => order.is_some_and(Ordering::is_le),
    }
}

/// The size that the server's own storage format gives a record: it tells it in steps of 16 bytes.
fn stored_size(record: &Record, set_name: &[u8]) -> usize {
    // Marks, digest, last update, generation, number of bins, end mark.
    const FIXED: usize = 40;
    let name = |bytes: &[u8]| 1 + bytes.len();
    let bins = record.bins().map(|bin| {
        let value = match (bin.kind, <[u8; 8]>::try_from(bin.value)) {
            (particle_type::INTEGER, Ok(value)) => {
                1 + match u64::from_be_bytes(value) {
                    0..=0xff => 1,
                    0x100..=0xffff => 2,
                    0x1_0000..=0xffff_ffff => 4,
                    _ => 8,
                }
            }
            (particle_type::FLOAT, _) => 8,
            (particle_type::BOOL, _) => 1,
            _ => 4 + bin.value.len(),
        };
        name(bin.name) + 1 + value
    });
    let void_time = if record.void_time() == 0 { 0 } else { 4 };
    let set = if set_name.is_empty() { 0 } else { name(set_name) };
    (FIXED + void_time + set + record.key().map_or(0, name) + bins.sum::<usize>()).next_multiple_of(16)
}

#[cfg(test)]
mod tests {
    use super::super::Expression;
    use super::*;
    use crate::store::{RecordParts, SetId};

    fn truth(expression: &[u8]) -> Option<bool> {
        let parts = RecordParts {
            digest: &[0; 20],
            generation: 1,
            set_id: SetId::NONE,
            void_time: 0,
            last_update_ms: 1000,
            key: &[],
            n_bins: 0,
        };
        let mut bytes = Vec::new();
        Record::encode(&parts, &mut bytes);
        let record = Record::from_bytes(&bytes);
        let context =
            Context { bins: &record, record: Some(&record), digest: record.digest(), set_name: b"s", now_ms: 5000 };
        match Expression::parse_filter(expression).unwrap().evaluate(&context) {
            Some(Value::Bool(value)) => Some(value),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn logic_has_three_values() {
        // and(unknown, false), and(unknown, true), or(unknown, true), or(unknown, false), not(unknown)
        assert_eq!(truth(&[0x93, 16, 0x91, 0, 0xc2]), Some(false));
        assert_eq!(truth(&[0x93, 16, 0x91, 0, 0xc3]), None);
        assert_eq!(truth(&[0x93, 17, 0x91, 0, 0xc3]), Some(true));
        assert_eq!(truth(&[0x93, 17, 0x91, 0, 0xc2]), None);
        assert_eq!(truth(&[0x92, 18, 0x91, 0]), None);
    }

    #[test]
    fn deep_expressions_are_evaluated_or_refused() {
        for depth in [2, 200, 300] {
            assert_eq!(truth(&[[0x92, 18].repeat(depth), vec![0xc3]].concat()), Some(true));
        }
        let too_deep = [[0x92, 18].repeat(5000), vec![0xc3]].concat();
        assert!(Expression::parse(&too_deep).is_err());
    }

    /// Each level of these takes more of the stack than those above: parsing, calling, walking a path, evaluating.
    #[test]
    fn deep_calls_and_paths_are_evaluated_on_the_stack_of_a_service_thread() {
        let thread = std::thread::Builder::new().stack_size(crate::service::STACK_SIZE);
        thread.spawn(deep_calls_and_paths).unwrap().join().unwrap();
    }

    fn deep_calls_and_paths() {
        let mut calls = vec![0xa2, 4, 0x0f];
        for _ in 0..500 {
            calls = [&[0x95, 127, 6, 0x41, 0x93, 7, 0, 8][..], &calls].concat();
        }
        assert_eq!(truth(&[&[0x93, 1, 0xa2, 4, 0x0f][..], &calls].concat()), Some(true), "inverted 500 times");
        let mut paths = vec![0xc3];
        for _ in 0..100 {
            // How many elements of [1] the filter takes: more than 0?
            let path = [&[0x93, 0xcc, 0xfe, 0x92, 4][..], &paths, &[1]].concat();
            let select = [&[0x95, 127, 4, 0][..], &path, &[0x92, 126, 0x91, 1]].concat();
            paths = [&[0x93, 3, 0x95, 127, 2, 0, 0x91, 16][..], &select, &[0]].concat();
        }
        assert_eq!(truth(&paths), Some(true));
    }

    #[test]
    fn text_that_changes_values_is_evaluated() {
        for (text, expected) in [
            ("[1, 2].append(3).append(4) == [1, 2, 3, 4]", Some(true)),
            ("[1, 2].[0].setTo(9) == [9, 2]", Some(true)),
            ("[1, 2].[2].setTo(3) == [1, 2, 3]", Some(true)),
            ("[1, 2].[3].setTo(3) == [1, 2, NIL, 3]", None),
            ("[2, 1, 2].sort():DROP_DUPS == [1, 2]", Some(true)),
            ("[1, 2].appendItems([2, 3]):ADD_UNIQUE == [1, 2, 3]", None),
            ("[1, 2].appendItems([2, 3]):ADD_UNIQUE:PARTIAL == [1, 2, 3]", Some(true)),
            ("[1, 2, 3].*[?(@ > 1)].modify(@ * 10) == [1, 20, 30]", Some(true)),
            ("[1, 2, 3].*[?(@index < 2)].remove() == [3]", Some(true)),
            ("[[1], [2]].[1].append(3) == [[1], [2, 3]]", Some(true)),
            ("{a: 1}.b.insert(2) == {a: 1, b: 2}", Some(true)),
            ("{a: 1}.a.insert(2) == {a: 1}", None),
            ("{a: 1}.a.add(4).a:INT == 5", Some(true)),
            ("{a: {b: 1}}.a.b.remove().a:MAP.count() == 0", Some(true)),
            ("{a: 1, b: 2, c: 3}.{@a,b}&[?(@ > 1)].getKeys() == ['b']", Some(true)),
            ("{a: 1, b: 2}.{0:2}.getKeyValues() == ['a', 1, 'b', 2]", Some(true)),
            ("let (i = 1) then ([5, 6, 7].[(${i})]:INT == 6)", Some(true)),
            ("let (i = 1) then ([5, 6, 7].[(${i}):(${i} + 2)] == [6, 7])", Some(true)),
            ("{a: 1, b: 2}.(when (1 == 1 => 'b', default => 'a')):INT == 2", Some(true)),
            ("{a: 1, b: 2, c: 3}.{!@(['a', 'b'])}.remove() == {a: 1, b: 2}", Some(true)),
            ("x'0102'.bitSet(offset: 0, size: 8, value: x'ff').bitGetInt(offset: 0, size: 16) == 0xff02", Some(true)),
            ("x'ff'.bitGetInt(offset: 0, size: 8, signed: true) == -1", Some(true)),
            ("x'ff'.bitAdd(offset: 0, size: 8, value: 1) == x'00'", None),
        ] {
            let compiled = aerolane_ael::compile(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(truth(compiled.bytes()), expected, "{text}");
        }
    }

    /// Asked of a real server: an empty map in the order of values alone counts as unordered, one without any order does not.
    #[test]
    fn empty_maps_in_the_order_of_values_are_not_compared() {
        for (flags, expected) in [(0, Some(true)), (1, Some(true)), (2, None), (3, Some(true))] {
            let map: &[u8] = if flags == 0 { &[0x80] } else { &[0x81, 0xc7, 0, flags, 0xc0] };
            for (one, other) in [(map, &[0x80][..]), (&[0x80], map)] {
                assert_eq!(truth(&[&[0x93, 1][..], one, other].concat()), expected, "order {flags}");
            }
        }
    }

    #[test]
    fn metadata_is_told() {
        assert_eq!(truth(&[0x93, 1, 0x91, 70, 0xa2, 3, b's']), Some(true), "set name");
        assert_eq!(truth(&[0x93, 1, 0x91, 67, 0xcd, 0x0f, 0xa0]), Some(true), "4000 ms since the update");
        assert_eq!(truth(&[0x93, 1, 0x91, 69, 0xff]), Some(true), "no TTL");
    }
}
