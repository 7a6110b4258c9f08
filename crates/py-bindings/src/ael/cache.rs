//! What was compiled before, by text and parameters.
//!
//! Bounded by two generations: what is used moves to the younger one; when that is full, the older one is dropped. Nobody
//! waits for the cache: who finds it locked (by another thread, or for good in a fork) compiles the text once more.

use std::collections::HashMap;

use aerolane::ael::{Param, Version};
use aerolane::sync::Mutex;
use pyo3::prelude::*;

use crate::expression::FilterExpression;

/// Most entries of a generation.
const MOST: usize = 256;
/// Longer keys are compiled each time: their texts are made by programs, and do not come again.
const LONGEST: usize = 4096;

/// A text, its parameters, and the server that it is for.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    bytes: Box<[u8]>,
    server: Option<Version>,
}

impl Key {
    pub(super) fn new(text: &str, params: &[Param], server: Option<Version>) -> Self {
        let size = text.len() + params.iter().map(|param| param.bytes().len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(4 + size);
        // A value of msgpack says itself where it ends.
        bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        for param in params {
            bytes.extend_from_slice(param.bytes());
        }
        Self { bytes: bytes.into(), server }
    }
}

/// A compiled text.
pub(super) struct Cached {
    pub(super) expression: Py<FilterExpression>,
    /// Whether it is true or false.
    pub(super) is_condition: bool,
}

impl Cached {
    fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { expression: self.expression.clone_ref(py), is_condition: self.is_condition }
    }
}

struct Generations {
    young: HashMap<Key, Cached>,
    old: HashMap<Key, Cached>,
}

static CACHE: Mutex<Option<Generations>> = Mutex::new(None);

pub(super) fn get(py: Python<'_>, key: &Key) -> Option<Cached> {
    let mut cache = CACHE.try_lock()?;
    let cache = cache.as_mut()?;
    if let Some(found) = cache.young.get(key) {
        return Some(found.clone_ref(py));
    }
    let (key, found) = cache.old.remove_entry(key)?;
    let again = found.clone_ref(py);
    // It is in one generation at a time, so that both together stay bounded.
    cache.young.insert(key, found);
    Some(again)
}

pub(super) fn put(py: Python<'_>, key: Key, cached: &Cached) {
    if key.bytes.len() > LONGEST {
        return;
    }
    let dropped;
    {
        let Some(mut cache) = CACHE.try_lock() else { return };
        let cache = cache.get_or_insert_with(|| Generations { young: HashMap::new(), old: HashMap::new() });
        dropped = (cache.young.len() >= MOST).then(|| {
            let young = std::mem::take(&mut cache.young);
            std::mem::replace(&mut cache.old, young)
        });
        cache.young.insert(key, cached.clone_ref(py));
    }
    // Behind the lock: dropping objects can run code of others.
    drop(dropped);
}
