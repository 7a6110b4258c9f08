//! Changing what a path finds.

use super::collection::Collection;
use super::level::Chosen;
use super::{Mode, Path};
use crate::cdt::sorted_by;
use crate::code;
use crate::exp::{Expression, Item, Work};
use crate::value::{Value, compare, stored_element};
use aerolane_wire::msgpack::order;

/// Carries out a changing operation on a bin; gives the new value. The error is a result code.
pub(crate) fn modify(payload: &[u8], kind: u8, value: &[u8]) -> Result<Vec<u8>, u8> {
    let _work = Work::begin();
    let path = Path::parse(payload, kind)?;
    if path.mode != Mode::Apply {
        return Err(code::PARAMETER);
    }
    let change = Expression::parse(path.change)?;
    path.apply(&change, value, 0)
}

impl Path<'_> {
    fn apply(&self, change: &Expression<'_>, value: &[u8], depth: usize) -> Result<Vec<u8>, u8> {
        let collection = Collection::parse(value).ok_or(code::BIN_TYPE)?;
        let (_, is_last) = self.level(depth);
        let Chosen { places, end } = self.chosen(depth, &collection)?;
        let mut chosen = places.into_iter().peekable();
        let mut entries: Vec<(Option<&[u8]>, Vec<u8>)> = Vec::with_capacity(collection.entries.len());
        for (i, entry) in collection.entries.iter().enumerate() {
            let new = if chosen.next_if_eq(&i).is_none() {
                entry.value.to_vec()
            } else if is_last {
                let item = Item { key: entry.key, value: entry.value, index: (!collection.is_map).then_some(i) };
                match self.changed(change, item)? {
                    Some(new) => new,
                    None => continue,
                }
            } else if entry.is_collection() {
                self.apply(change, entry.value, depth + 1)?
            } else {
                entry.value.to_vec()
            };
            entries.push((entry.key, new));
        }
        end?;
        if !collection.is_map && collection.flags() & order::LIST_ORDERED != 0 {
            entries = sorted_by(entries, |(_, a), (_, b)| compare(a, b));
        }
        let mut out = Vec::with_capacity(value.len());
        collection.write_header(collection.marker, entries.len(), &mut out);
        for (key, new) in entries {
            out.extend_from_slice(key.unwrap_or_default());
            out.extend_from_slice(&new);
        }
        Ok(out)
    }

    /// What takes the place of an item; `None`: nothing, it is removed.
    fn changed(&self, change: &Expression<'_>, item: Item<'_>) -> Result<Option<Vec<u8>>, u8> {
        let mut new = Vec::new();
        match change.evaluate_on(item) {
            Some(Value::Remove) => return Ok(None),
            Some(Value::List(nested) | Value::Map(nested)) => {
                new.extend_from_slice(&stored_element(&nested).ok_or(code::BIN_TYPE)?);
            }
            Some(value) => value.write(&mut new).ok_or(code::BIN_TYPE)?,
            None if self.no_fail => new.extend_from_slice(item.value),
            None => return Err(code::UNKNOWN),
        }
        Ok(Some(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerolane_wire::particle::particle_type::MAP;

    /// Asked of a real server.
    #[test]
    fn what_goes_wrong_first_counts() {
        // Entries whose value is true, or whose key is not: the value is to be what it is as a string.
        let payload = b"\x94\xcc\xfe\x92\x04\x93\x11\x93\x7a\x01\x01\x92\x12\x93\x7a\x01\x00\x04\x93\x7a\x03\x01";
        // {1: true, 3: false}: the first is chosen and is no string; of the second it is not known whether it is chosen.
        assert_eq!(modify(payload, MAP, b"\x82\x01\xc3\x03\xc2"), Err(code::UNKNOWN));
        assert_eq!(modify(payload, MAP, b"\x82\x01\xc2\x03\xc3"), Err(code::PARAMETER));
    }
}
