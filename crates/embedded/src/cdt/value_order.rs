//! The order of the values that a map with a persisted index has at hand.
//!
//! The server stores it with the map and changes it with each pair, rather than sorting the values again. For most values that
//! comes to the same. Not for NaN, which equals every float: where it goes depends on what was there before. So an order that
//! sorting would not give is stored here, too: as the data of the map's order marker, a number of as few bytes as it
//! takes for each place.
//!
//! Not imitated: the server fills an index that it has not filled yet when it reads by rank or value, and where records are
//! in memory this stays. Here it stays unknown until the next change.

use super::collection::Bytes;
use super::search::{Wanted, search};
use crate::value::compare;
use aerolane_wire::msgpack::{Element, Reader};
use std::borrow::Cow;

/// The order of the values of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ValueOrder {
    /// The one that sorting gives.
    #[default]
    Sorted,
    /// None: the values are to be sorted when the map changes.
    Unknown,
    /// The places of the values, the least first.
    Kept(Vec<usize>),
}

/// What is stored instead of an order that is not known: too short for any.
const UNKNOWN: &[u8] = &[0xff];

impl ValueOrder {
    /// Reads the order of a map of `n` pairs. Data that is no such order counts as none.
    pub(super) fn parse(data: &[u8], n: usize) -> Self {
        if data == UNKNOWN {
            return Self::Unknown;
        }
        let width = width(n);
        if data.len() != n * width {
            return Self::Sorted;
        }
        let place = |bytes: &[u8]| bytes.iter().fold(0, |place, byte| place << 8 | usize::from(*byte));
        let places: Vec<usize> = data.chunks_exact(width).map(place).collect();
        let mut seen = vec![false; n];
        let is_new = |at: &usize| seen.get_mut(*at).is_some_and(|seen| !std::mem::replace(seen, true));
        if places.iter().all(is_new) { Self::Kept(places) } else { Self::Sorted }
    }

    /// As it is stored, beside values that have this order when they are sorted.
    pub(super) fn data(&self, sorted: impl FnOnce() -> Vec<usize>) -> Cow<'static, [u8]> {
        match self {
            Self::Unknown => Cow::Borrowed(UNKNOWN),
            Self::Kept(places) if *places != sorted() => {
                let width = width(places.len());
                Cow::Owned(
                    places
                        .iter()
                        .flat_map(|at| at.to_be_bytes().into_iter().skip(size_of::<usize>() - width))
                        .collect(),
                )
            }
            Self::Sorted | Self::Kept(_) => Cow::Borrowed(&[]),
        }
    }

    /// The order after a value was put at a place: instead of the one that was there, or before it. `ranking` is the order
    /// of the values that were there.
    pub(super) fn after_put(
        &self,
        values: &[Bytes<'_>],
        ranking: impl FnOnce() -> Vec<usize>,
        at: usize,
        replaces: bool,
        value: &[u8],
    ) -> Self {
        match self {
            // All are sorted, with the new one among them.
            Self::Unknown => return Self::Sorted,
            Self::Sorted if !holds_nan(value) && !any_holds_nan(values) => return Self::Sorted,
            Self::Sorted | Self::Kept(_) => {}
        }
        let mut places = ranking();
        let rank = |places: &[usize]| {
            let wanted = Wanted::Nearest(at);
            search(0..places.len(), wanted, |rank| places[rank], |place| compare(value, &values[place])).0
        };
        // The rank is looked for among the values that were there, the replaced one included.
        let mut rank = rank(&places);
        if !replaces {
            places.iter_mut().filter(|place| **place >= at).for_each(|place| *place += 1);
        } else if let Some(old) = places.iter().position(|place| *place == at) {
            places.remove(old);
            rank -= usize::from(old < rank);
        }
        places.insert(rank, at);
        Self::Kept(places)
    }

    /// The order after the values at these places, which are sorted, were removed. `ranking` is the order of all.
    pub(super) fn after_removal(
        &self,
        values: &[Bytes<'_>],
        ranking: impl FnOnce() -> Vec<usize>,
        removed: &[usize],
    ) -> Self {
        match self {
            Self::Unknown => return Self::Sorted,
            Self::Sorted if !any_holds_nan(values) => return Self::Sorted,
            Self::Sorted | Self::Kept(_) => {}
        }
        let left =
            ranking().into_iter().filter_map(|place| removed.binary_search(&place).err().map(|before| place - before));
        Self::Kept(left.collect())
    }
}

/// Bytes of a place among `n`, as many as the server takes.
const fn width(n: usize) -> usize {
    match n {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x100_0000 => 3,
        _ => 4,
    }
}

fn any_holds_nan(values: &[Bytes<'_>]) -> bool {
    values.iter().any(|value| holds_nan(value))
}

/// Whether NaN is in a value, however deep.
fn holds_nan(value: &[u8]) -> bool {
    let mut reader = Reader::new(value);
    while let Ok(element) = reader.read() {
        match element {
            Element::Float(float) if float.is_nan() => return true,
            Element::Float32(float) if float.is_nan() => return true,
            _ => {}
        }
        if reader.depth() == 0 {
            break;
        }
    }
    false
}
