//! Contexts: the way down to a nested collection, which is made on the way if it is to be.

use super::collection::{Collection, Kind};
use super::number::{list as list_number, map as map_number};
use super::op::{Level, Op};
use super::{Modified, list, map, pick};
use crate::code;
use crate::value::{compare, is_map_key, stored_element};
use aerolane_wire::msgpack::order;
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// What a level's key is: the low bits of its kind.
mod by {
    pub(super) const INDEX: u32 = 0;
    pub(super) const RANK: u32 = 1;
    pub(super) const KEY: u32 = 2;
    pub(super) const VALUE: u32 = 3;
}
/// The key is one of a list.
const LIST: u32 = 0x10;
/// The key is one of a map.
const MAP: u32 = 0x20;
/// What is missing is to be created, in one of three orders.
const CREATE: u32 = 0xc0;
const CREATE_SECOND: u32 = 0x80;
const CREATE_THIRD: u32 = 0xc0;
/// What is created is to persist an index, which only a map that is the whole bin can.
const PERSIST_INDEX: u32 = 0x100;

/// The particle type of elements that are no collections, whatever else they are.
const SCALAR: u8 = particle_type::NIL;

/// Where a level leads.
enum Step {
    /// To an element.
    Found(usize),
    /// To none: it would have this place, and this index in a list.
    Missing(usize),
}

impl Level<'_> {
    const fn by(self) -> u32 {
        self.kind & 0x0f
    }

    const fn creates(self) -> bool {
        self.kind & CREATE != 0
    }

    /// The collection that the level is one of, made anew; `top`: as the whole bin.
    fn create(self, top: bool) -> Result<Collection<'static>, u8> {
        let persists = self.kind & PERSIST_INDEX != 0;
        if persists && !top {
            return Err(code::NOT_APPLICABLE);
        }
        let index = if persists { order::PERSIST_INDEX } else { 0 };
        match (self.kind & (LIST | MAP), self.by(), self.kind & CREATE) {
            (LIST, by::INDEX, CREATE_THIRD) => Ok(Collection::new(Kind::List, order::LIST_ORDERED)),
            (LIST, by::INDEX, _) => Ok(Collection::new(Kind::List, order::UNORDERED)),
            (MAP, by::KEY, CREATE_THIRD) => Ok(Collection::new(Kind::Map, order::MAP_KEY_VALUE | index)),
            (MAP, by::KEY, CREATE_SECOND) => Ok(Collection::new(Kind::Map, order::MAP_KEY | index)),
            (MAP, by::KEY, _) => Ok(Collection::new(Kind::Map, order::UNORDERED | index)),
            _ => Err(code::NOT_APPLICABLE),
        }
    }

    /// The step behind the end of a list: at its end, wherever that is in a sorted one; farther only in the second order,
    /// as that fills it up.
    fn behind(self, list: &Collection<'_>) -> Result<Step, u8> {
        let index = super::args::int(self.key).ok_or(code::NOT_APPLICABLE)?;
        // The last of an empty list is its first; but the recorded server dies of that in the second order.
        let first = list.len() == 0 && index == -1 && self.kind & CREATE != CREATE_SECOND;
        let index = if first { 0 } else { usize::try_from(index).map_err(|_| code::NOT_APPLICABLE)? };
        if list.is_ordered_list() {
            return Ok(Step::Missing(list.len()));
        }
        if index > list.len() && self.kind & CREATE != CREATE_SECOND {
            return Err(code::NOT_APPLICABLE);
        }
        Ok(Step::Missing(index))
    }

    fn step(self, collection: &Collection<'_>) -> Result<Step, u8> {
        let fits = match self.kind & (LIST | MAP) {
            LIST => collection.kind == Kind::List,
            MAP => collection.kind == Kind::Map,
            // An index alone is one of either.
            0 => self.by() == by::INDEX && !self.creates(),
            _ => false,
        };
        if !fits {
            return Err(code::NOT_APPLICABLE);
        }
        let n = collection.len();
        let place = match self.by() {
            by::INDEX => match pick::place_of(self.key, n) {
                Ok(at) => Some(at),
                Err(code) if !self.creates() || collection.kind == Kind::Map => return Err(code),
                Err(_) => return self.behind(collection),
            },
            by::RANK if collection.is_ordered_list() && self.creates() => match pick::place_of(self.key, n) {
                Ok(at) => Some(at),
                Err(_) => return self.behind(collection),
            },
            by::RANK => Some(collection.by_rank(pick::place_of(self.key, n)?)),
            by::KEY if collection.kind == Kind::Map => {
                // What creates takes anything for a key that can be stored.
                if !(is_map_key(self.key) || self.creates() && stored_element(self.key).is_some()) {
                    return Err(code::NOT_APPLICABLE);
                }
                match collection.find_key(self.key) {
                    None if self.creates() => return Ok(Step::Missing(collection.index_of(self.key))),
                    found => found,
                }
            }
            by::VALUE => collection.values.iter().position(|value| compare(value, self.key).is_eq()),
            _ => None,
        };
        place.map(Step::Found).ok_or(code::NOT_APPLICABLE)
    }
}

/// A nested collection, by type and value.
pub(super) fn find<'v>(levels: &[Level<'_>], kind: u8, value: &'v [u8]) -> Result<(u8, &'v [u8]), u8> {
    let (mut kind, mut value) = (kind, value);
    for level in levels {
        let (mut collection, Step::Found(at)) = open(level, kind, value)? else { return Err(code::NOT_APPLICABLE) };
        let Cow::Borrowed(nested) = collection.values.swap_remove(at) else { return Err(code::NOT_APPLICABLE) };
        (kind, value) = (kind_of(nested), nested);
    }
    Ok((kind, value))
}

/// Takes the collection of a level apart and takes the step.
fn open<'v>(level: &Level<'_>, kind: u8, value: &'v [u8]) -> Result<(Collection<'v>, Step), u8> {
    match kind {
        particle_type::LIST | particle_type::MAP => {}
        SCALAR => return Err(code::NOT_APPLICABLE),
        _ => return Err(code::PARAMETER),
    }
    let collection = Collection::parse(value)?;
    let step = level.step(&collection)?;
    Ok((collection, step))
}

/// The particle type of an element, as far as it matters here.
fn kind_of(element: &[u8]) -> u8 {
    match element.first() {
        Some(0x90..=0x9f | 0xdc | 0xdd) => particle_type::LIST,
        Some(0x80..=0x8f | 0xde | 0xdf) => particle_type::MAP,
        _ => SCALAR,
    }
}

/// Carries out a modifying operation where its context leads to.
pub(super) fn modify(op: &Op<'_>, bin: Option<(u8, &[u8])>, max_size: usize) -> Result<Modified, u8> {
    Walk { op, max_size, bin_is_there: bin.is_some() }.below(&op.levels, bin)
}

/// A modifying operation on its way down.
struct Walk<'o, 'a> {
    op: &'o Op<'a>,
    max_size: usize,
    bin_is_there: bool,
}

impl Walk<'_, '_> {
    fn below(&self, levels: &[Level<'_>], value: Option<(u8, &[u8])>) -> Result<Modified, u8> {
        let Some((level, deeper)) = levels.split_first() else { return self.apply(value) };
        let top = levels.len() == self.op.levels.len();
        let (mut collection, step) = match value {
            Some((kind, value)) => open(level, kind, value)?,
            None if level.creates() || !top => {
                let collection = level.create(top)?;
                let step = match level.by() {
                    by::KEY if stored_element(level.key).is_none() => return Err(code::NOT_APPLICABLE),
                    by::KEY => Step::Missing(0),
                    _ => level.behind(&collection)?,
                };
                (collection, step)
            }
            None => return Err(code::NOT_APPLICABLE),
        };
        let nested = match step {
            Step::Found(at) => Some((kind_of(&collection.values[at]), &*collection.values[at])),
            Step::Missing(_) => None,
        };
        let Modified { answer, value } = self.below(deeper, nested)?;
        let Some((_, new)) = value else { return Ok(Modified { answer, value: None }) };
        match step {
            Step::Found(at) => {
                collection.note_put(at, true, &new);
                collection.values[at] = Cow::Owned(new);
            }
            Step::Missing(at) => insert(&mut collection, level, at, new, self.max_size)?,
        }
        collection.restore_order();
        Ok(Modified { answer, value: Some(collection.particle()) })
    }

    /// Carries out the operation itself.
    fn apply(&self, value: Option<(u8, &[u8])>) -> Result<Modified, u8> {
        let (op, max_size) = (self.op, self.max_size);
        let number = op.number.0;
        let collection = match value {
            Some((kind, value)) => Some(op.collection(kind, value)?),
            None => None,
        };
        let puts = list::creates(number) || map::creates(number) || number == list_number::SORT;
        if number == list_number::SORT && collection.is_none() && self.bin_is_there {
            // Nothing is what a context leads to; a bin that is not there is an error.
            return Ok(Modified::default());
        }
        let (answer, collection) = match collection {
            collection if puts => {
                let is_new = collection.is_none();
                let (answer, mut collection) =
                    if op.number.is_list() { list::put(op, collection, max_size)? } else { map::put(op, collection)? };
                self.settle_mark(&mut collection, is_new);
                // A context creates nothing for an operation that was not to fail and has put nothing.
                if is_new && !op.levels.is_empty() && collection.len() == 0 && !op.puts_nothing() {
                    return Ok(Modified { answer, value: None });
                }
                (answer, collection)
            }
            // What takes away leaves what is not there.
            None => return Ok(Modified::default()),
            Some(mut collection) => match pick::remove(op, &mut collection)? {
                (answer, true) => (answer, collection),
                (answer, false) => return Ok(Modified { answer, value: None }),
            },
        };
        Ok(Modified { answer, value: Some(collection.particle()) })
    }

    /// Leaves the mark of a persisted index only where the server does: in maps that are the whole bin. And it forgets to
    /// take it out of what a context has made together with the bin, where it is of no use and shown to everyone.
    fn settle_mark(&self, collection: &mut Collection<'_>, is_new: bool) {
        let whole = self.op.levels.is_empty();
        let forgotten = !whole && !self.bin_is_there && is_new;
        let stays = match collection.kind {
            Kind::Map => whole || forgotten && self.op.number.0 == map_number::SET_TYPE,
            Kind::List => forgotten,
        };
        if !stays {
            collection.flags &= !order::PERSIST_INDEX;
        }
    }
}

/// Puts what was created at its place.
fn insert(
    collection: &mut Collection<'_>,
    level: &Level<'_>,
    at: usize,
    value: Vec<u8>,
    max_size: usize,
) -> Result<(), u8> {
    if collection.kind == Kind::Map {
        let key = stored_element(level.key).ok_or(code::PARAMETER)?.into_owned();
        collection.note_put(at, false, &value);
        collection.keys.insert(at, Cow::Owned(key));
        collection.values.insert(at, Cow::Owned(value));
        return Ok(());
    }
    list::pad(collection, at, max_size)?;
    collection.values.push(Cow::Owned(value));
    Ok(())
}
