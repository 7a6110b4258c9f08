//! Checked big-endian reads from a slice, with the offset kept for errors.

use crate::{WireError, WireResult};

/// A reading position in a slice. All words of the protocol are big-endian unless said otherwise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// From a place in `bytes` on, which must be there.
    pub(crate) const fn at_offset(bytes: &'a [u8], at: usize) -> Self {
        debug_assert!(at <= bytes.len());
        Self { bytes, at }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> WireResult<&'a [u8]> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) {
            Some(taken) => {
                self.at += n;
                Ok(taken)
            }
            None => Err(WireError::truncated(n - self.remaining(), self.at)),
        }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> WireResult<[u8; N]> {
        match self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => Err(WireError::truncated(N - self.remaining(), self.at)),
        }
    }

    pub(crate) fn u8(&mut self) -> WireResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> WireResult<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> WireResult<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> WireResult<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }
}
