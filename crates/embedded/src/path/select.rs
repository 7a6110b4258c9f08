//! Answering what a path finds.

use super::collection::Collection;
use super::{Mode, Path};
use crate::code;
use crate::exp::Work;
use crate::value::Value;
use aerolane_wire::msgpack::Writer;
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// Carries out a selecting operation on a bin. The error is a result code.
pub(crate) fn select(payload: &[u8], kind: u8, value: &[u8]) -> Result<Value<'static>, u8> {
    let _work = Work::begin();
    let path = Path::parse(payload, kind)?;
    let mut out = Vec::new();
    match path.mode {
        Mode::Apply => return Err(code::PARAMETER),
        Mode::Tree => {
            path.tree(value, 0, &mut out)?;
            if kind == particle_type::MAP {
                return Ok(Value::Map(Cow::Owned(out)));
            }
        }
        Mode::Leaves { keys, values } => {
            let mut found = Vec::new();
            path.leaves(value, 0, keys, values, &mut found)?;
            let mut writer = Writer::new(&mut out);
            writer.list(found.len());
            for element in found {
                writer.raw(element);
            }
        }
    }
    Ok(Value::List(Cow::Owned(out)))
}

impl Path<'_> {
    /// Appends a collection with nothing but what is found in it. Scalars on the way are taken as they are.
    fn tree(&self, value: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), u8> {
        let collection = Collection::parse(value).ok_or(code::BIN_TYPE)?;
        if collection.entries.is_empty() {
            out.extend_from_slice(value);
            return Ok(());
        }
        let (_, is_last) = self.level(depth);
        let chosen = self.chosen(depth, &collection)?;
        collection.write_header(None, chosen.places.len(), out);
        for i in chosen.places {
            let entry = collection.entries[i];
            out.extend_from_slice(entry.key.unwrap_or_default());
            if !is_last && entry.is_collection() {
                self.tree(entry.value, depth + 1, out)?;
            } else {
                out.extend_from_slice(entry.value);
            }
        }
        chosen.end
    }

    /// Gathers what is found at the last level.
    fn leaves<'v>(
        &self,
        value: &'v [u8],
        depth: usize,
        keys: bool,
        values: bool,
        found: &mut Vec<&'v [u8]>,
    ) -> Result<(), u8> {
        let collection = Collection::parse(value).ok_or(code::BIN_TYPE)?;
        let (_, is_last) = self.level(depth);
        let chosen = self.chosen(depth, &collection)?;
        for i in chosen.places {
            let entry = collection.entries[i];
            if is_last {
                found.extend(entry.key.filter(|_| keys));
                found.extend(values.then_some(entry.value));
            } else if entry.is_collection() {
                self.leaves(entry.value, depth + 1, keys, values, found)?;
            }
        }
        chosen.end
    }
}
