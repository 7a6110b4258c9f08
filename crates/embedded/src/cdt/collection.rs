//! A list or map, taken apart one level deep.

use super::Particle;
use super::order::{selected, sort, sorted_by};
use super::search::{Wanted, search};
use super::select::Run;
use super::value_order::ValueOrder;
use crate::code;
use crate::value::compare;
use aerolane_wire::msgpack::{Element, Ext, Reader, Writer, order};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// An element, or a key.
pub(super) type Bytes<'a> = Cow<'a, [u8]>;

/// What a collection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Map,
}

/// Which elements are among some values.
pub(super) struct Among {
    /// Of each value, the ranks of those elements that equal it and no value behind it; without meaning if ranks were not asked for.
    pub(super) runs: Vec<Run>,
    /// The places of the elements.
    pub(super) found: Vec<usize>,
}

/// The order flags that a map keeps.
const MAP_FLAGS: u8 = order::MAP_KEY_VALUE | order::PERSIST_INDEX;

/// A list or map.
#[derive(Debug)]
pub(super) struct Collection<'a> {
    pub(super) kind: Kind,
    /// Order flags, with [`order::PERSIST_INDEX`], which is kept in maps and hidden from who reads them.
    pub(super) flags: u8,
    /// The keys of a map, in order; maps are stored sorted by key, whatever their flags.
    pub(super) keys: Vec<Bytes<'a>>,
    /// The values of a map, or the elements of a list.
    pub(super) values: Vec<Bytes<'a>>,
    /// The order of the values, where it is at hand ([`Self::has_value_index`]).
    pub(super) value_order: ValueOrder,
}

impl<'a> Collection<'a> {
    /// An empty one.
    pub(super) const fn new(kind: Kind, flags: u8) -> Self {
        Self { kind, flags, keys: Vec::new(), values: Vec::new(), value_order: ValueOrder::Sorted }
    }

    /// Takes a stored value apart.
    pub(super) fn parse(value: &'a [u8]) -> Result<Self, u8> {
        let mut reader = Reader::new(value);
        // Stored values are well-formed, but those that expressions compute need not be.
        let next = |reader: &mut Reader<'a>| reader.skip().map(Cow::Borrowed).map_err(|_| code::PARAMETER);
        match reader.read() {
            Ok(Element::List(header)) => {
                let mut list = Self::new(Kind::List, header.flags() & order::LIST_ORDERED);
                list.values.reserve(header.len);
                for _ in 0..header.len {
                    list.values.push(next(&mut reader)?);
                }
                Ok(list)
            }
            Ok(Element::Map(header)) => {
                let mut map = Self::new(Kind::Map, header.flags() & MAP_FLAGS);
                map.keys.reserve(header.len);
                map.values.reserve(header.len);
                for _ in 0..header.len {
                    map.keys.push(next(&mut reader)?);
                    map.values.push(next(&mut reader)?);
                }
                if let Some(marker) = header.marker
                    && map.has_value_index()
                {
                    map.value_order = ValueOrder::parse(marker.data, map.len());
                }
                Ok(map)
            }
            _ => Err(code::BIN_TYPE),
        }
    }

    /// As it is stored.
    pub(super) fn particle(&self) -> Particle {
        let payload: usize = self.keys.iter().chain(&self.values).map(|bytes| bytes.len()).sum();
        let mut out = Vec::with_capacity(payload + 9);
        match self.kind {
            Kind::List => {
                Writer::new(&mut out).list_with_order(self.flags, self.values.len());
                self.values.iter().for_each(|value| out.extend_from_slice(value));
                (particle_type::LIST, out)
            }
            Kind::Map => {
                let data = if self.has_value_index() {
                    self.value_order.data(|| self.sorted())
                } else {
                    Cow::Borrowed(&[][..])
                };
                let marker = (self.flags != order::UNORDERED).then_some(Ext { kind: self.flags, data: &data });
                Writer::new(&mut out).map_with_marker(marker, self.values.len());
                for (key, value) in self.keys.iter().zip(&self.values) {
                    out.extend_from_slice(key);
                    out.extend_from_slice(value);
                }
                (particle_type::MAP, out)
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it is a list that is kept sorted: index and rank are the same.
    pub(super) fn is_ordered_list(&self) -> bool {
        self.kind == Kind::List && self.flags & order::LIST_ORDERED != 0
    }

    /// Whether it is a map that is kept in an order, or has an index of its keys.
    pub(super) fn is_ordered_map(&self) -> bool {
        self.kind == Kind::Map && self.flags != order::UNORDERED
    }

    /// Whether it is a map that has its values in order at hand: the server does not look through them then. Of one pair
    /// there is no order.
    pub(super) fn has_value_index(&self) -> bool {
        self.kind == Kind::Map && self.flags & MAP_FLAGS == MAP_FLAGS && self.len() > 1
    }

    /// Places of all elements in the order of their values, then places.
    pub(super) fn ranking(&self) -> Vec<usize> {
        match &self.value_order {
            _ if self.is_ordered_list() => (0..self.len()).collect(),
            ValueOrder::Kept(places) => places.clone(),
            ValueOrder::Sorted | ValueOrder::Unknown => self.sorted(),
        }
    }

    fn sorted(&self) -> Vec<usize> {
        sorted_by((0..self.len()).collect(), |a, b| compare(&self.values[*a], &self.values[*b]))
    }

    /// Notes that a value is going to be put at a place: instead of the one that is there, or before it.
    pub(super) fn note_put(&mut self, at: usize, replaces: bool, value: &[u8]) {
        if self.has_value_index() {
            self.value_order = self.value_order.after_put(&self.values, || self.ranking(), at, replaces, value);
        }
    }

    /// Keeps a map in another order. What it had of an order of its values stays if that is still of use.
    pub(super) fn set_flags(&mut self, flags: u8) {
        self.flags = flags;
        self.note_ranked();
        if !self.has_value_index() {
            self.value_order = ValueOrder::Sorted;
        }
    }

    /// Notes that the order of the values is not known any more.
    pub(super) fn forget_value_order(&mut self) {
        self.value_order = ValueOrder::Unknown;
    }

    /// Notes that the values have been looked at in their order.
    pub(super) fn note_ranked(&mut self) {
        if self.value_order == ValueOrder::Unknown {
            self.value_order = ValueOrder::Sorted;
        }
    }

    /// Places of the elements of these ranks, in the order in which they are answered.
    pub(super) fn by_ranks(&self, run: Run) -> Vec<usize> {
        if self.is_ordered_list() {
            run.iter().collect()
        } else if self.kind == Kind::List {
            selected(self.len(), run.start, run.count, |a, b| compare(&self.values[a], &self.values[b]))
        } else if self.has_value_index() {
            self.ranking()[run.iter()].to_vec()
        } else {
            let by_value = |a: usize, b: usize| compare(&self.values[a], &self.values[b]).then(a.cmp(&b));
            let mut places = selected(self.len(), run.start, run.count, by_value);
            // They are answered from the least on.
            if run.start <= self.len() - run.end() {
                places.reverse();
            }
            places
        }
    }

    /// The place of the element of this rank, which has to be there.
    pub(super) fn by_rank(&self, rank: usize) -> usize {
        self.by_ranks(Run { start: rank, count: 1 })[0]
    }

    /// Where an element that is put into a sorted list goes, and whether it is there already.
    pub(super) fn place_of(&self, value: &[u8], wanted: Wanted) -> (usize, bool) {
        search(0..self.len(), wanted, |rank| rank, |at| compare(value, &self.values[at]))
    }

    /// Whether it has its values in order at hand. If not, the server looks at them one by one.
    pub(super) fn has_order_of_values(&self) -> bool {
        self.is_ordered_list() || self.has_value_index()
    }

    /// How many values are less than this one.
    pub(super) fn rank_of(&self, value: &[u8]) -> usize {
        if self.has_order_of_values() {
            return self.find_in(&self.ranking(), value, 0, Wanted::First).0;
        }
        self.values.iter().filter(|v| compare(v, value).is_lt()).count()
    }

    /// Looks for a value in the ranking of a collection that has its values in order at hand, from this rank on.
    fn find_in(&self, ranking: &[usize], value: &[u8], from: usize, wanted: Wanted) -> (usize, bool) {
        search(from..self.len(), wanted, |rank| ranking[rank], |at| compare(value, &self.values[at]))
    }

    /// The ranks of the values that equal this one, where the values are in order at hand and this is their ranking.
    pub(super) fn equal_to(&self, ranking: &[usize], value: &[u8]) -> Run {
        let (start, found) = self.find_in(ranking, value, 0, Wanted::First);
        let end = match self.kind {
            _ if !found => start,
            Kind::Map => self.find_in(ranking, value, 0, Wanted::BehindLast).0,
            Kind::List => match self.find_in(ranking, value, start + 1, Wanted::BehindLast) {
                (end, true) => end,
                (_, false) => start + 1,
            },
        };
        Run::between(start, end)
    }

    /// The ranks of the values from this one on and below the other one, where the values are in order at hand.
    pub(super) fn in_interval(&self, start: &[u8], end: Option<&[u8]>) -> Run {
        let ranking = self.ranking();
        let first = self.find_in(&ranking, start, 0, Wanted::First).0;
        let behind = match (end, self.kind) {
            (None, _) => self.len(),
            (Some(end), Kind::Map) => self.find_in(&ranking, end, 0, Wanted::First).0,
            (Some(end), Kind::List) if compare(start, end).is_ge() => first,
            (Some(end), Kind::List) => self.find_in(&ranking, end, first, Wanted::First).0,
        };
        Run::between(first, behind)
    }

    /// The elements that are among these values, where the values are not in order at hand: the server looks for each element among
    /// the values. If it is asked for ranks, it looks for another one of the values that are equal.
    pub(super) fn among(&self, values: &[&[u8]], ranks: bool) -> Among {
        let order = sorted_by((0..values.len()).collect(), |a: &usize, b: &usize| compare(values[*a], values[*b]));
        let wanted = if ranks { Wanted::BehindLast } else { Wanted::Any };
        let mut among = Among { runs: vec![Run { start: 0, count: 0 }; values.len()], found: Vec::new() };
        // How many elements belong before each of the sorted values, but not before the one before it.
        let mut before = vec![0; values.len() + 1];
        for (at, element) in self.values.iter().enumerate() {
            let (place, found) = search(0..values.len(), wanted, |at| order[at], |at| compare(element, values[at]));
            before[place] += 1;
            if found {
                among.found.push(at);
            }
            if found && ranks {
                among.runs[order[place - 1]].count += 1;
            }
        }
        let mut rank = 0;
        for (place, at) in order.into_iter().enumerate() {
            rank += before[place];
            among.runs[at].start = rank;
        }
        among
    }

    /// How many keys are less than this one: where it is, or would be.
    pub(super) fn index_of(&self, key: &[u8]) -> usize {
        self.keys.partition_point(|k| compare(k, key).is_lt())
    }

    /// Where a key is.
    pub(super) fn find_key(&self, key: &[u8]) -> Option<usize> {
        let at = self.index_of(key);
        self.keys.get(at).filter(|k| compare(k, key).is_eq()).map(|_| at)
    }

    /// Sorts an ordered list again.
    pub(super) fn restore_order(&mut self) {
        if self.is_ordered_list() {
            sort(&mut self.values);
        }
    }

    /// Removes the elements at these places, which are sorted.
    pub(super) fn remove(&mut self, places: &[usize]) {
        if self.has_value_index() && !places.is_empty() {
            self.value_order = self.value_order.after_removal(&self.values, || self.ranking(), places);
        }
        drop_places(&mut self.values, places);
        if self.kind == Kind::Map {
            drop_places(&mut self.keys, places);
        }
    }
}

fn drop_places(from: &mut Vec<Bytes<'_>>, places: &[usize]) {
    let (mut at, mut next) = (0, places.iter().copied().peekable());
    from.retain(|_| {
        let drop = next.next_if_eq(&at).is_some();
        at += 1;
        !drop
    });
}

/// The value of an element that is a float. NaN equals every float.
pub(super) fn float(element: &[u8]) -> Option<f64> {
    match Reader::new(element).read() {
        Ok(Element::Float(value)) => Some(value),
        Ok(Element::Float32(value)) => Some(f64::from(value)),
        _ => None,
    }
}

/// Whether an element is NaN.
pub(super) fn is_nan(element: &[u8]) -> bool {
    float(element).is_some_and(f64::is_nan)
}

/// An element as a particle of its own: of a read that asks for one value.
pub(super) fn particle_of(element: &[u8]) -> Particle {
    use particle_type as t;
    match Reader::new(element).read() {
        Ok(Element::Bool(value)) => (t::BOOL, vec![u8::from(value)]),
        Ok(Element::Int(value)) => (t::INTEGER, value.to_be_bytes().to_vec()),
        Ok(Element::Uint(value)) => (t::INTEGER, value.to_be_bytes().to_vec()),
        Ok(Element::Float(value)) => (t::FLOAT, value.to_be_bytes().to_vec()),
        Ok(Element::Float32(value)) => (t::FLOAT, f64::from(value).to_be_bytes().to_vec()),
        Ok(Element::List(_)) => (t::LIST, element.to_vec()),
        Ok(Element::Map(_)) => (t::MAP, element.to_vec()),
        Ok(Element::Bytes(payload)) => match payload.split_first() {
            // Flags and the number of cells: there are none in collections.
            Some((&t::GEOJSON, text)) => (t::GEOJSON, [&[0, 0, 0], text].concat()),
            Some((&tag, value)) => (tag, value.to_vec()),
            None => (t::NIL, Vec::new()),
        },
        _ => (t::NIL, Vec::new()),
    }
}
