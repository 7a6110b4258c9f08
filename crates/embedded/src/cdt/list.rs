//! List operations that put elements, or order them.

use super::args::{Addend, stored};
use super::collection::{Bytes, Collection, Kind, float, is_nan};
use super::number::list as number;
use super::op::{Op, elements};
use super::order::{sort, sort_with, sorted_by};
use super::search::Wanted;
use super::{Particle, integer};
use crate::code;
use crate::value::compare;
use aerolane_wire::msgpack::order;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Write flags.
mod flag {
    pub(super) const UNIQUE: i64 = 1;
    pub(super) const BOUNDED: i64 = 2;
    pub(super) const NO_FAIL: i64 = 4;
    pub(super) const PARTIAL: i64 = 8;
}

/// Flags of sorting.
mod sorting {
    pub(super) const DESCENDING: i64 = 1;
    pub(super) const DROP_DUPLICATES: i64 = 2;
}

/// Order words that can be: sorted, with a persisted index.
const ORDER_WORDS: i64 = (order::LIST_ORDERED | order::PERSIST_INDEX) as i64;
/// From here on an index is refused, whatever the size limit.
const MAX_INDEX: i64 = 1 << 31;
/// Nil.
const PADDING: Bytes<'static> = Cow::Borrowed(&[0xc0]);

/// Order flags for a list that is created; words that cannot be count as none.
fn flags_of(word: i64) -> u8 {
    if word & !ORDER_WORDS == 0 { word as u8 } else { order::UNORDERED }
}

/// Whether the operation makes a list where there is none.
pub(super) const fn creates(number: u64) -> bool {
    matches!(
        number,
        number::SET_TYPE
            | number::APPEND
            | number::APPEND_ITEMS
            | number::INSERT
            | number::INSERT_ITEMS
            | number::SET
            | number::INCREMENT
    )
}

/// Carries out an operation on a list, or on none.
pub(super) fn put<'a>(
    op: &Op<'a>,
    list: Option<Collection<'a>>,
    max_size: usize,
) -> Result<(Option<Particle>, Collection<'a>), u8> {
    let or_new =
        |list: Option<Collection<'a>>, word: i64| list.unwrap_or_else(|| Collection::new(Kind::List, flags_of(word)));
    match op.number.0 {
        number::SET_TYPE => {
            op.at_most(1)?;
            set_type(op.int(0)?, list).map(|list| (None, list))
        }
        number::SORT => {
            let list = list.ok_or(code::BIN_TYPE)?;
            op.at_most(1)?;
            sort_by(op.int_or(0, 0)?, list).map(|list| (None, list))
        }
        number::APPEND | number::APPEND_ITEMS => {
            op.at_most(3)?;
            let list = or_new(list, op.int_or(1, 0)?);
            let at = list.len() as i64;
            let write = Write { max_size, flags: op.int_or(2, 0)? };
            write.insert(list, at, values(op, 0, op.number.0 == number::APPEND_ITEMS)?)
        }
        number::INSERT | number::INSERT_ITEMS => {
            op.at_most(3)?;
            let list = or_new(list, 0);
            let write = Write { max_size, flags: op.int_or(2, 0)? };
            let (index, items) = (op.int(0)?, values(op, 1, op.number.0 == number::INSERT_ITEMS)?);
            if list.is_ordered_list() {
                return Err(code::NOT_APPLICABLE);
            }
            write.insert(list, index, items)
        }
        number::SET => {
            op.at_most(3)?;
            let list = or_new(list, 0);
            let write = Write { max_size, flags: op.int_or(2, 0)? };
            let (index, value) = (op.int(0)?, op.stored(1)?);
            if list.is_ordered_list() {
                return Err(code::NOT_APPLICABLE);
            }
            write.set(list, index, value).map(|list| (None, list))
        }
        number::INCREMENT => {
            op.at_most(4)?;
            let list = or_new(list, op.int_or(2, 0)?);
            let by = Addend::or_one(op.args.get(1).copied());
            let write = Write { max_size, flags: op.int_or(3, 0)? };
            write.increment(list, op.int(0)?, by)
        }
        _ => Err(code::PARAMETER),
    }
}

/// One value, or those of a list, as they are stored.
fn values<'a>(op: &Op<'a>, at: usize, several: bool) -> Result<Vec<Bytes<'a>>, u8> {
    if several { elements(op.arg(at)?)?.iter().map(|value| stored(value)).collect() } else { Ok(vec![op.stored(at)?]) }
}

fn set_type(word: i64, list: Option<Collection<'_>>) -> Result<Collection<'_>, u8> {
    if word & !ORDER_WORDS != 0 {
        return Err(code::NOT_APPLICABLE);
    }
    let mut list = list.unwrap_or_else(|| Collection::new(Kind::List, order::UNORDERED));
    let was_ordered = list.is_ordered_list();
    list.flags = flags_of(word);
    if !was_ordered {
        list.restore_order();
    }
    Ok(list)
}

fn sort_by(flags: i64, mut list: Collection<'_>) -> Result<Collection<'_>, u8> {
    let (descending, unique) = (flags & sorting::DESCENDING != 0, flags & sorting::DROP_DUPLICATES != 0);
    if !list.is_ordered_list() {
        sort_with(&mut list.values, |a, b| if descending { compare(b, a) } else { compare(a, b) });
    }
    if unique {
        let each: Vec<Ordering> = list.values.windows(2).map(|pair| compare(&pair[0], &pair[1])).collect();
        // So what is sorted from the greatest on cannot be cleared of duplicates.
        if each.contains(&Ordering::Greater) {
            return Err(code::PARAMETER);
        }
        let mut kept = std::iter::once(true).chain(each.into_iter().map(Ordering::is_lt));
        list.values.retain(|_| kept.next() == Some(true));
    }
    Ok(list)
}

/// How elements are put.
#[derive(Debug, Clone, Copy)]
struct Write {
    max_size: usize,
    flags: i64,
}

/// Where an element goes.
enum Position {
    At(usize),
    /// Nowhere: it was not to fail.
    Nowhere,
}

impl Write {
    const fn has(self, flag: i64) -> bool {
        self.flags & flag != 0
    }

    /// Inserts elements; answers the number of elements then.
    fn insert<'a>(
        self,
        mut list: Collection<'a>,
        index: i64,
        mut items: Vec<Bytes<'a>>,
    ) -> Result<(Option<Particle>, Collection<'a>), u8> {
        let unchanged = |list: Collection<'a>| Ok((Some(integer(list.len() as i64)), list));
        if items.is_empty() {
            return unchanged(list);
        }
        if list.is_ordered_list() {
            return unchanged(self.insert_sorted(list, items)?);
        }
        let Position::At(at) = self.place(&list, index)? else { return unchanged(list) };
        if self.has(flag::UNIQUE) {
            let there = there_before(&list.values, &items);
            let code = there.iter().flatten().next().map(|first| match first {
                Existing::AmongItems => code::NOT_APPLICABLE,
                Existing::InList => code::ELEMENT_EXISTS,
            });
            if let Some(code) = code {
                match (self.has(flag::NO_FAIL), self.has(flag::PARTIAL)) {
                    (true, true) => {
                        let mut there = there.iter();
                        items.retain(|_| there.next() == Some(&None));
                    }
                    (true, false) => return unchanged(list),
                    _ => return Err(code),
                }
            }
        }
        if !items.is_empty() {
            self.pad(&mut list, at)?;
            list.values.splice(at..at, items);
        }
        unchanged(list)
    }

    /// Puts elements into a sorted list, each where a search for it ends.
    fn insert_sorted<'a>(self, mut list: Collection<'a>, mut items: Vec<Bytes<'a>>) -> Result<Collection<'a>, u8> {
        let (unique, partial) = (self.has(flag::UNIQUE), self.has(flag::NO_FAIL) && self.has(flag::PARTIAL));
        sort(&mut items);
        // That the items are unique among themselves counts first.
        let twice = equal_to_the_one_before(&items);
        if unique && !partial && twice.contains(&true) {
            return if self.has(flag::NO_FAIL) { Ok(list) } else { Err(code::NOT_APPLICABLE) };
        }
        let mut placed = Vec::with_capacity(items.len());
        for (item, twice) in items.into_iter().zip(twice) {
            let (place, found) = list.place_of(&item, Wanted::Any);
            match unique && (twice || found) {
                false => placed.push((place, item)),
                true if partial => {}
                true if self.has(flag::NO_FAIL) => return Ok(list),
                true => return Err(code::ELEMENT_EXISTS),
            }
        }
        let mut values = Vec::with_capacity(list.len() + placed.len());
        let (mut old, mut taken) = (std::mem::take(&mut list.values).into_iter(), 0);
        for (place, item) in placed {
            // Of NaN among the items the next one may belong before the last one: it stands behind it.
            let before = place.saturating_sub(taken);
            values.extend(old.by_ref().take(before));
            taken += before;
            values.push(item);
        }
        values.extend(old);
        list.values = values;
        Ok(list)
    }

    fn set<'a>(self, mut list: Collection<'a>, index: i64, value: Bytes<'a>) -> Result<Collection<'a>, u8> {
        let Position::At(at) = self.place(&list, index)? else { return Ok(list) };
        if self.refuses(&list, at, &value)? {
            return Ok(list);
        }
        self.put(&mut list, at, value)?;
        Ok(list)
    }

    /// Adds to a number; answers the sum, even if it was not put.
    fn increment(
        self,
        mut list: Collection<'_>,
        index: i64,
        by: Option<Addend>,
    ) -> Result<(Option<Particle>, Collection<'_>), u8> {
        // The index is looked at before what is to be added, but whether it is bounded behind that.
        let bounded = (list.len() as i64..MAX_INDEX).contains(&index);
        let place = match self.place(&list, index) {
            Err(_) if bounded && by.is_none() => return Err(code::PARAMETER),
            place => place?,
        };
        let by = by.ok_or(code::PARAMETER)?;
        // A sorted list is not filled up, whatever the flags.
        let ordered = list.is_ordered_list();
        if ordered && index > list.len() as i64 {
            return Err(code::NOT_APPLICABLE);
        }
        let sum = match &place {
            Position::At(at) if *at < list.len() => Addend::parse(&list.values[*at]).ok_or(code::PARAMETER)?.plus(by),
            _ => by.alone(),
        };
        let element = sum.encode();
        let answer = Some(super::collection::particle_of(&element));
        match place {
            Position::At(at) if ordered => self.replace_sorted(&mut list, at, Cow::Owned(element))?,
            Position::At(at) if !self.refuses(&list, at, &element)? => self.put(&mut list, at, Cow::Owned(element))?,
            _ => {}
        }
        Ok((answer, list))
    }

    /// Puts an element into a sorted list in the place of another one, or behind the last one.
    fn replace_sorted<'a>(self, list: &mut Collection<'a>, at: usize, element: Bytes<'a>) -> Result<(), u8> {
        let (rank, found) = list.place_of(&element, Wanted::First);
        if self.has(flag::UNIQUE) && found {
            return if rank == at || self.has(flag::NO_FAIL) { Ok(()) } else { Err(code::ELEMENT_EXISTS) };
        }
        if at < list.len() {
            list.values.remove(at);
        }
        list.values.insert(if rank <= at { rank } else { rank - 1 }, element);
        Ok(())
    }

    /// The place of an index; it may be behind the end, unless the list is to be bounded.
    fn place(self, list: &Collection<'_>, index: i64) -> Result<Position, u8> {
        let n = list.len() as i64;
        let at = if index < 0 { index.saturating_add(n) } else { index };
        if !(0..MAX_INDEX).contains(&at) {
            return Err(code::NOT_APPLICABLE);
        }
        match (at > n && self.has(flag::BOUNDED), self.has(flag::NO_FAIL)) {
            (true, true) => Ok(Position::Nowhere),
            (true, false) => Err(code::NOT_APPLICABLE),
            _ => Ok(Position::At(at as usize)),
        }
    }

    /// Whether a value is not to be put at this place, as it is elsewhere already.
    fn refuses(self, list: &Collection<'_>, at: usize, value: &[u8]) -> Result<bool, u8> {
        let elsewhere = |(i, v): (usize, &Bytes<'_>)| i != at && compare(v, value).is_eq();
        if !self.has(flag::UNIQUE) || !list.values.iter().enumerate().any(elsewhere) {
            return Ok(false);
        }
        if self.has(flag::NO_FAIL) { Ok(true) } else { Err(code::ELEMENT_EXISTS) }
    }

    fn put<'a>(self, list: &mut Collection<'a>, at: usize, value: Bytes<'a>) -> Result<(), u8> {
        self.pad(list, at)?;
        match list.values.get_mut(at) {
            Some(place) => *place = value,
            None => list.values.push(value),
        }
        Ok(())
    }

    /// Fills a list up to this length.
    fn pad(self, list: &mut Collection<'_>, len: usize) -> Result<(), u8> {
        pad(list, len, self.max_size)
    }
}

/// Fills a list with nils up to this length, if that can be stored.
pub(super) fn pad(list: &mut Collection<'_>, len: usize, max_size: usize) -> Result<(), u8> {
    if len > list.len() {
        if len > max_size {
            return Err(code::RECORD_TOO_BIG);
        }
        list.values.resize(len, PADDING);
    }
    Ok(())
}

/// Of each of these values, whether it equals the one before it.
fn equal_to_the_one_before(values: &[Bytes<'_>]) -> Vec<bool> {
    (0..values.len()).map(|at| at > 0 && compare(&values[at - 1], &values[at]).is_eq()).collect()
}

/// Where an item is already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    InList,
    AmongItems,
}

/// Of each item whether it is among `values`, or among the items before it.
fn there_before(values: &[Bytes<'_>], items: &[Bytes<'_>]) -> Vec<Option<Existing>> {
    let n = values.len();
    let value = |at: usize| if at < n { &values[at] } else { &items[at - n] };
    // NaN equals every float: the others are sorted without it.
    let others = (0..n + items.len()).filter(|at| !is_nan(value(*at))).collect();
    let sorted = sorted_by(others, |a, b| compare(value(*a), value(*b)));
    let mut there = vec![None; items.len()];
    let mut first = None;
    for &at in &sorted {
        // Of equal ones the first comes first.
        match first.filter(|first| compare(value(*first), value(at)).is_eq()) {
            None => first = Some(at),
            Some(_) if at < n => {}
            Some(first) => there[at - n] = Some(if first < n { Existing::InList } else { Existing::AmongItems }),
        }
    }
    if sorted.len() < n + items.len() {
        let first = |is: fn(&[u8]) -> bool| (0..n + items.len()).find(|at| is(value(*at)));
        let (first_float, first_nan) = (first(|value| float(value).is_some()), first(is_nan));
        for (item, there) in there.iter_mut().enumerate().filter(|(item, _)| float(&items[*item]).is_some()) {
            let equal = if is_nan(&items[item]) { first_float } else { first_nan };
            match equal.filter(|at| *at < n + item) {
                Some(at) if at < n => *there = Some(Existing::InList),
                Some(_) => *there = there.or(Some(Existing::AmongItems)),
                None => {}
            }
        }
    }
    there
}
