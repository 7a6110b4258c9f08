//! The bins of a record while a write works on them.

use crate::exp::BinSource;
use crate::store::{BIN_HEADER, Bin, Record};
use aerolane_wire::message::op;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;

/// From this many bins on they are found by an index.
const INDEX_FROM: usize = 32;

/// One bin: borrowed from the stored record or the request, or a value that was computed.
#[derive(Debug, Clone)]
pub(super) struct WorkBin<'a> {
    pub(super) name: &'a [u8],
    pub(super) kind: u8,
    pub(super) value: Cow<'a, [u8]>,
}

/// Bins in the order they were created; the place of a removed one is taken by the last.
#[derive(Debug, Default)]
pub(super) struct BinSet<'a> {
    bins: SmallVec<[WorkBin<'a>; 4]>,
    /// Places by name, once there are many.
    index: Option<HashMap<&'a [u8], usize>>,
}

impl<'a> BinSet<'a> {
    /// The bins that a record has.
    #[inline]
    pub(super) fn of(record: &'a Record) -> Self {
        let mut set = Self::default();
        for Bin { name, kind, value, .. } in record.bins() {
            set.push(WorkBin { name, kind, value: Cow::Borrowed(value) });
        }
        set
    }

    pub(super) fn len(&self) -> usize {
        self.bins.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    #[inline]
    fn push(&mut self, bin: WorkBin<'a>) {
        if let Some(index) = &mut self.index {
            index.insert(bin.name, self.bins.len());
        } else if self.bins.len() == INDEX_FROM {
            let mut index: HashMap<_, _> = self.bins.iter().enumerate().map(|(at, bin)| (bin.name, at)).collect();
            index.insert(bin.name, self.bins.len());
            self.index = Some(index);
        }
        self.bins.push(bin);
    }

    #[inline]
    fn place(&self, name: &[u8]) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.bins.iter().position(|bin| bin.name == name),
        }
    }

    /// The bin with this name.
    pub(super) fn get(&self, name: &[u8]) -> Option<&WorkBin<'a>> {
        self.place(name).map(|at| &self.bins[at])
    }

    /// Sets a bin.
    #[inline]
    pub(super) fn set(&mut self, name: &'a [u8], kind: u8, value: Cow<'a, [u8]>) {
        match self.place(name) {
            Some(at) => (self.bins[at].kind, self.bins[at].value) = (kind, value),
            None => self.push(WorkBin { name, kind, value }),
        }
    }

    /// Removes a bin, if it is there.
    pub(super) fn remove(&mut self, name: &[u8]) {
        let Some(at) = self.place(name) else { return };
        self.bins.swap_remove(at);
        if let Some(index) = &mut self.index {
            index.remove(name);
            if let Some(moved) = self.bins.get(at) {
                index.insert(moved.name, at);
            }
        }
    }

    /// Removes all bins.
    pub(super) fn clear(&mut self) {
        self.bins.clear();
        self.index = None;
    }

    /// Number of bytes that [`BinSet::encode`] appends.
    pub(super) fn encoded_len(&self) -> usize {
        self.bins.iter().map(|bin| BIN_HEADER + bin.name.len() + bin.value.len()).sum()
    }

    /// Appends all bins as they are stored and sent.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for bin in &self.bins {
            bin.encode(out);
        }
    }
}

impl BinSource for BinSet<'_> {
    fn bin(&self, name: &[u8]) -> Option<(u8, &[u8])> {
        self.get(name).map(|bin| (bin.kind, &*bin.value))
    }
}

impl WorkBin<'_> {
    /// Appends the bin as it is stored and sent.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        // Records are limited to far less than 4 GiB.
        let [s0, s1, s2, s3] = (4 + self.name.len() as u32 + self.value.len() as u32).to_be_bytes();
        out.extend_from_slice(&[s0, s1, s2, s3, op::READ, self.kind, 0, self.name.len() as u8]);
        out.extend_from_slice(self.name);
        out.extend_from_slice(&self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_found_in_order_whatever_their_number() {
        for n in [3_usize, INDEX_FROM, INDEX_FROM + 1, 500] {
            let names: Vec<_> = (0..n).map(|i| i.to_string()).collect();
            let mut set = BinSet::default();
            for (i, name) in names.iter().enumerate() {
                set.set(name.as_bytes(), 1, Cow::Owned(vec![i as u8]));
            }
            set.set(b"1", 2, Cow::Borrowed(b"new"));
            assert_eq!((set.len(), set.get(b"1").unwrap().kind), (n, 2));
            set.remove(b"0");
            set.remove(b"none");
            assert_eq!(set.len(), n - 1);
            assert!(set.get(b"0").is_none());
            let last = names[n - 1].as_bytes();
            assert_eq!(set.bins[0].name, last, "the last bin has taken the free place");
            for name in &names[1..] {
                assert_eq!(set.get(name.as_bytes()).unwrap().name, name.as_bytes());
            }
            set.clear();
            assert!(set.is_empty() && set.get(b"2").is_none());
        }
    }
}
