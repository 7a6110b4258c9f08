//! Levels of a path: which entries of a collection they choose.

use super::collection::{Collection, Entry};
use super::{MAX_LEVELS, Mode, Path};
use crate::cdt::sorted_by;
use crate::code;
use crate::exp::{Expression, Item};
use crate::value::{Value, compare};
use aerolane_wire::msgpack::{Element, Reader, order};
use aerolane_wire::operation::context::id;

/// The bits of an id that say how a level chooses.
const BASE: u64 = 0x0f;
/// The bits of an id that say in what kind of collection.
const KIND: u64 = 0xf0;
/// Those of them that count in lists.
const LIST_KIND: u64 = 0x30;
/// Ids without the kind of collection.
mod base {
    pub(super) const INDEX: u64 = 0;
    pub(super) const RANK: u64 = 1;
    pub(super) const KEY: u64 = 2;
    pub(super) const VALUE: u64 = 3;
    pub(super) const EXPRESSION: u64 = 4;
    pub(super) const KEYS_IN: u64 = 10;
}
const LIST: u64 = 0x10;
const MAP: u64 = 0x20;

/// How a level chooses.
#[derive(Debug)]
enum Choice<'a> {
    Index(i64),
    Rank(i64),
    Key(&'a [u8]),
    Value(&'a [u8]),
    KeysIn(&'a [u8]),
    Where(Condition<'a>),
}

/// What an entry has to be.
#[derive(Debug)]
enum Condition<'a> {
    /// Anything.
    Always,
    If(Expression<'a>),
}

impl<'a> Condition<'a> {
    /// An expression, or `true`.
    fn parse(value: &'a [u8]) -> Result<Self, u8> {
        match Reader::new(value).read() {
            Ok(Element::List(_)) => Expression::parse(value).map(Self::If),
            Ok(Element::Bool(true)) => Ok(Self::Always),
            _ => Err(code::PARAMETER),
        }
    }

    /// Whether it holds for an item, `None` being "unknown"; what is no boolean is false.
    fn holds(&self, item: Item<'_>) -> Option<bool> {
        match self {
            Self::Always => Some(true),
            Self::If(expression) => expression.evaluate_on(item).map(|value| value == Value::Bool(true)),
        }
    }
}

/// A level of a path.
#[derive(Debug)]
pub(super) struct Level<'a> {
    /// 0 for any, or the kind of collection.
    kind: u64,
    choice: Choice<'a>,
    /// What the chosen entries have to be, too.
    and: Option<Condition<'a>>,
}

impl<'a> Level<'a> {
    /// Reads a path. The error is a result code.
    pub(super) fn read_all(reader: &mut Reader<'a>) -> Result<Vec<Self>, u8> {
        let bad = |_| code::PARAMETER;
        let Element::List(header) = reader.read().map_err(bad)? else { return Err(code::PARAMETER) };
        if header.len == 0 || !header.len.is_multiple_of(2) || header.len / 2 > MAX_LEVELS {
            return Err(code::PARAMETER);
        }
        let mut levels: Vec<Self> = Vec::new();
        for _ in 0..header.len / 2 {
            let Element::Int(number) = reader.read().map_err(bad)? else { return Err(code::PARAMETER) };
            let value = reader.skip().map_err(bad)?;
            let number = number as u64;
            if number & u64::from(id::AND) == 0 {
                levels.push(Self { kind: number & KIND, choice: Choice::parse(number & BASE, value)?, and: None });
                continue;
            }
            if number != u64::from(id::AND | id::EXPRESSION) {
                return Err(code::PARAMETER);
            }
            let before = levels.last_mut().ok_or(code::PARAMETER)?;
            if before.and.is_some() || matches!(before.choice, Choice::Where(_)) {
                return Err(code::PARAMETER);
            }
            before.and = Some(Condition::parse(value)?);
        }
        Ok(levels)
    }
}

impl<'a> Choice<'a> {
    fn parse(number: u64, value: &'a [u8]) -> Result<Self, u8> {
        let position = || match Reader::new(value).read() {
            Ok(Element::Int(position)) => Ok(position),
            _ => Err(code::PARAMETER),
        };
        Ok(match number {
            base::INDEX => Self::Index(position()?),
            base::RANK => Self::Rank(position()?),
            base::KEY => Self::Key(value),
            base::VALUE => Self::Value(value),
            base::EXPRESSION => Self::Where(Condition::parse(value)?),
            base::KEYS_IN => Self::KeysIn(value),
            _ => return Err(code::PARAMETER),
        })
    }
}

/// Which entries of a collection a level chooses.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Their places, ascending.
    pub(super) places: Vec<usize>,
    /// What went wrong behind the last of them, if anything: a result code. The server goes into each entry before it looks at the
    /// next one, so what goes wrong there comes first.
    pub(super) end: Result<(), u8>,
}

impl Chosen {
    const fn all(places: Vec<usize>) -> Self {
        Self { places, end: Ok(()) }
    }
}

impl Path<'_> {
    /// Which entries of a collection the level at this depth chooses.
    pub(super) fn chosen(&self, depth: usize, collection: &Collection<'_>) -> Result<Chosen, u8> {
        let (level, is_last) = self.level(depth);
        let entries = &collection.entries;
        let is_empty = entries.is_empty();
        if is_last && !collection.is_map && matches!(self.mode, Mode::Leaves { keys: true, .. }) {
            // There are no keys. An empty list says so if it has an order.
            let nothing = self.no_fail || (is_empty && collection.marker.is_none());
            return if nothing { Ok(Chosen::all(Vec::new())) } else { Err(code::BIN_TYPE) };
        }
        if is_empty {
            return Ok(Chosen::all(Vec::new()));
        }
        let (kind, wanted) = if collection.is_map { (level.kind, MAP) } else { (level.kind & LIST_KIND, LIST) };
        if kind != 0 && kind != wanted {
            return Err(code::PARAMETER);
        }
        let item = |i: usize| {
            let Entry { key, value } = entries[i];
            Item { key, value, index: (!collection.is_map).then_some(i) }
        };
        let and = |i: usize| level.and.as_ref().map_or(Some(true), |and| and.holds(item(i)));
        let by_position = match level.choice {
            Choice::Index(index) => Some(place(index, entries.len()).map(|index| collection.nth_by_key(index))),
            Choice::Rank(rank) => Some(place(rank, entries.len()).map(|rank| collection.nth_by_value(rank))),
            _ => None,
        };
        if let Some(found) = by_position {
            return Ok(Chosen::all(found.into_iter().filter(|i| and(*i) == Some(true)).collect()));
        }
        let keys_in = match level.choice {
            Choice::KeysIn(list) if collection.is_map => match Collection::parse(list) {
                Some(list) if !list.is_map => sorted_by(list.entries, |a, b| compare(a.value, b.value)),
                _ => return Err(code::PARAMETER),
            },
            _ => Vec::new(),
        };
        let mut places = Vec::new();
        for (i, entry) in entries.iter().enumerate() {
            let first = match (&level.choice, entry.key) {
                (Choice::Where(condition), _) => condition.holds(item(i)),
                (Choice::Value(wanted), _) => Some(compare(entry.value, wanted).is_eq()),
                (Choice::Key(wanted), Some(key)) => Some(compare(key, wanted).is_eq()),
                (Choice::KeysIn(_), Some(key)) => {
                    Some(keys_in.binary_search_by(|wanted| compare(wanted.value, key)).is_ok())
                }
                // By key in a list.
                _ => None,
            };
            match if first == Some(true) { and(i) } else { first } {
                Some(true) => places.push(i),
                Some(false) => {}
                None if self.no_fail => {}
                None => return Ok(Chosen { places, end: Err(code::PARAMETER) }),
            }
        }
        Ok(Chosen::all(places))
    }
}

/// The place that a position means, from the end if it is negative.
fn place(position: i64, len: usize) -> Option<usize> {
    let place = if position < 0 { position.checked_add(len as i64)? } else { position };
    usize::try_from(place).ok().filter(|place| *place < len)
}

impl Collection<'_> {
    /// The place of the entry with this index: maps are indexed by key.
    fn nth_by_key(&self, index: usize) -> usize {
        if !self.is_map || self.flags() & order::MAP_KEY != 0 {
            return index;
        }
        self.sorted(index, |entry| entry.key.unwrap_or(entry.value))
    }

    /// The place of the entry with this rank.
    fn nth_by_value(&self, rank: usize) -> usize {
        if !self.is_map && self.flags() & order::LIST_ORDERED != 0 {
            return rank;
        }
        self.sorted(rank, |entry| entry.value)
    }

    fn sorted(&self, nth: usize, by: for<'e> fn(&Entry<'e>) -> &'e [u8]) -> usize {
        let places = (0..self.entries.len()).collect();
        sorted_by(places, |a, b| compare(by(&self.entries[*a]), by(&self.entries[*b])))[nth]
    }
}
