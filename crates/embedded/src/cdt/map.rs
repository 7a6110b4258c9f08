//! Map operations that put elements, or order them.

use super::args::{Addend, stored};
use super::collection::{Bytes, Collection, Kind, particle_of};
use super::number::map as number;
use super::op::Op;
use super::{Particle, integer};
use crate::code;
use crate::value::{compare, is_map_key};
use aerolane_wire::msgpack::order;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Write flags.
mod flag {
    pub(super) const CREATE_ONLY: i64 = 1;
    pub(super) const UPDATE_ONLY: i64 = 2;
    pub(super) const NO_FAIL: i64 = 4;
    pub(super) const PARTIAL: i64 = 8;
    /// Update what is there, and say nothing of the rest.
    pub(super) const ALL_UPDATED: i64 = UPDATE_ONLY | NO_FAIL | PARTIAL;
}

/// Order words that can be: by key, by value too, with a persisted index.
const ORDER_WORDS: i64 = (order::MAP_KEY_VALUE | order::PERSIST_INDEX) as i64;

/// Order flags for a map that is created by what is put into it; words that cannot be count as none, and so does an index
/// without an order.
fn flags_of(word: i64) -> u8 {
    const INDEX_ALONE: i64 = order::PERSIST_INDEX as i64;
    if word & !ORDER_WORDS == 0 && word != INDEX_ALONE { word as u8 } else { order::UNORDERED }
}

/// Whether the operation makes a map where there is none.
pub(super) const fn creates(number: u64) -> bool {
    matches!(number, number::SET_TYPE..=number::DECREMENT)
}

/// Carries out an operation on a map, or on none.
pub(super) fn put<'a>(op: &Op<'a>, map: Option<Collection<'a>>) -> Result<(Option<Particle>, Collection<'a>), u8> {
    let or_new =
        |map: Option<Collection<'a>>, word: i64| map.unwrap_or_else(|| Collection::new(Kind::Map, flags_of(word)));
    // Most arguments, where the order is, and the write flags, if the operation does not imply them.
    let (most, order_at, implied) = match op.number.0 {
        number::SET_TYPE => {
            op.at_most(1)?;
            return set_type(op.int(0)?, map).map(|map| (None, map));
        }
        number::INCREMENT | number::DECREMENT => {
            op.at_most(3)?;
            return increment(op, or_new(map, op.int_or(2, 0)?));
        }
        number::PUT => (4, 2, None),
        number::PUT_ITEMS => (3, 1, None),
        number::ADD => (3, 2, Some(flag::CREATE_ONLY)),
        number::ADD_ITEMS => (2, 1, Some(flag::CREATE_ONLY)),
        number::REPLACE => (2, 2, Some(flag::UPDATE_ONLY)),
        number::REPLACE_ITEMS => (1, 1, Some(flag::UPDATE_ONLY)),
        _ => return Err(code::PARAMETER),
    };
    op.at_most(most)?;
    let mut flags = match implied {
        Some(flags) => flags,
        None => op.int_or(order_at + 1, 0)?,
    };
    let is_missing = map.is_none();
    let map = or_new(map, op.int_or(order_at, 0)?);
    let several = matches!(op.number.0, number::PUT_ITEMS | number::ADD_ITEMS | number::REPLACE_ITEMS);
    if several && map.len() == 0 && flags & flag::ALL_UPDATED == flag::ALL_UPDATED {
        // An oddity of the recorded server: it puts them all.
        flags = 0;
    }
    let (keys, values) = if several { items(op.arg(0)?)? } else { (vec![key(op, 0)?], vec![op.stored(1)?]) };
    if is_missing && implied == Some(flag::UPDATE_ONLY) {
        return Err(code::ELEMENT_NOT_FOUND);
    }
    let map = merge(map, keys, values, flags, several)?;
    Ok((Some(integer(map.len() as i64)), map))
}

/// A key to be stored.
fn key<'a>(op: &Op<'a>, at: usize) -> Result<Bytes<'a>, u8> {
    let key = op.stored(at)?;
    if is_map_key(&key) { Ok(key) } else { Err(code::PARAMETER) }
}

/// Keys and values of an argument, sorted by key.
fn items(argument: &[u8]) -> Result<(Vec<Bytes<'_>>, Vec<Bytes<'_>>), u8> {
    let owned = |all: Vec<Bytes<'_>>| all.into_iter().map(|bytes| Cow::Owned(bytes.into_owned())).collect();
    let items = match stored(argument)? {
        Cow::Borrowed(argument) => Collection::parse(argument),
        Cow::Owned(argument) => Collection::parse(&argument).map(|items| Collection {
            keys: owned(items.keys),
            values: owned(items.values),
            ..Collection::new(items.kind, items.flags)
        }),
    };
    match items {
        Ok(Collection { kind: Kind::Map, keys, values, .. }) => Ok((keys, values)),
        _ => Err(code::PARAMETER),
    }
}

/// Puts pairs, sorted by key, into a map, as far as the flags let it; `several`: by an operation that puts more than one.
fn merge<'a>(
    mut map: Collection<'a>,
    keys: Vec<Bytes<'a>>,
    values: Vec<Bytes<'a>>,
    flags: i64,
    several: bool,
) -> Result<Collection<'a>, u8> {
    let has = |flag: i64| flags & flag != 0;
    let places: Vec<(usize, bool)> = keys
        .iter()
        .map(|key| {
            let at = map.index_of(key);
            (at, map.keys.get(at).is_some_and(|k| compare(k, key) == Ordering::Equal))
        })
        .collect();
    let refused = |there: bool| match there {
        true if has(flag::CREATE_ONLY) => Some(code::ELEMENT_EXISTS),
        false if has(flag::UPDATE_ONLY) => Some(code::ELEMENT_NOT_FOUND),
        _ => None,
    };
    if let Some(code) = places.iter().find_map(|(_, there)| refused(*there)) {
        if !has(flag::NO_FAIL) {
            return Err(code);
        }
        if !(several && has(flag::PARTIAL)) {
            return Ok(map);
        }
    }
    match (&*places, &*values) {
        ([], _) => return Ok(map),
        ([(at, there)], [value]) if !several => map.note_put(*at, *there, value),
        _ => map.forget_value_order(),
    }
    let mut merged = Collection::new(Kind::Map, map.flags);
    merged.value_order = std::mem::take(&mut map.value_order);
    merged.keys.reserve(map.len() + keys.len());
    merged.values.reserve(map.len() + keys.len());
    let mut old = std::mem::take(&mut map.keys).into_iter().zip(std::mem::take(&mut map.values));
    let mut taken = 0;
    for ((key, value), (at, there)) in keys.into_iter().zip(values).zip(places) {
        for (old_key, old_value) in old.by_ref().take(at - taken) {
            merged.keys.push(old_key);
            merged.values.push(old_value);
        }
        taken = at;
        if refused(there).is_some() {
            continue;
        }
        if there {
            taken += usize::from(old.next().is_some());
        }
        merged.keys.push(key);
        merged.values.push(value);
    }
    for (old_key, old_value) in old {
        merged.keys.push(old_key);
        merged.values.push(old_value);
    }
    Ok(merged)
}

fn set_type(word: i64, map: Option<Collection<'_>>) -> Result<Collection<'_>, u8> {
    if word & !ORDER_WORDS != 0 {
        return Err(code::NOT_APPLICABLE);
    }
    let mut map = map.unwrap_or_else(|| Collection::new(Kind::Map, order::UNORDERED));
    map.set_flags(word as u8);
    Ok(map)
}

/// Adds to a number, or subtracts from it; write flags are not looked at.
fn increment<'a>(op: &Op<'a>, mut map: Collection<'a>) -> Result<(Option<Particle>, Collection<'a>), u8> {
    let key = key(op, 0)?;
    let by = Addend::or_one(op.args.get(1).copied()).ok_or(code::PARAMETER)?;
    let by = if op.number.0 == number::DECREMENT { by.negated() } else { by };
    let (element, there) = match map.find_key(&key) {
        Some(at) => {
            let sum = Addend::parse(&map.values[at]).ok_or(code::PARAMETER)?.plus(by);
            map.note_put(at, true, &sum.encode());
            map.values[at] = Cow::Owned(sum.encode());
            (sum.encode(), true)
        }
        None => (by.alone().encode(), false),
    };
    let answer = Some(particle_of(&element));
    if !there {
        let at = map.index_of(&key);
        map.note_put(at, false, &element);
        map.keys.insert(at, key);
        map.values.insert(at, Cow::Owned(element));
    }
    Ok((answer, map))
}
