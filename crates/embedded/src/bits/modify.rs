//! Operations that change bits.

use super::{MAX_BYTES, MAX_INT_BITS, SIGNED, flags, offset, op, place, range, size};
use crate::code;
use crate::payload::Payload;
use aerolane_wire::particle::particle_type;

/// Flags that say what may be done.
mod flag {
    pub(super) const CREATE_ONLY: u64 = 1;
    pub(super) const UPDATE_ONLY: u64 = 2;
    pub(super) const NO_FAIL: u64 = 4;
    pub(super) const PARTIAL: u64 = 8;
}

/// Flags of resize.
mod resize_flag {
    pub(super) const FROM_FRONT: u64 = 1;
    pub(super) const GROW_ONLY: u64 = 2;
    pub(super) const SHRINK_ONLY: u64 = 4;
    pub(super) const ALL: u64 = 7;
}

/// What add and subtract do when the result does not fit.
mod overflow {
    pub(super) const SATURATE: u64 = 2;
    pub(super) const WRAP: u64 = 4;
    pub(super) const ALL: u64 = super::SIGNED | SATURATE | WRAP;
}

/// A checked operation.
#[derive(Debug)]
struct Modify<'a> {
    number: u8,
    /// Bits; bytes for insert and remove.
    offset: i64,
    /// Bits; bytes for resize and remove.
    size: usize,
    /// Of add, subtract, set integer and the shifts.
    value: u64,
    /// Of insert, set, or, xor and and.
    bits: &'a [u8],
    flags: u64,
    /// Of resize, add and subtract.
    special: u64,
}

impl<'a> Modify<'a> {
    fn parse(payload: &'a [u8]) -> Result<Self, u8> {
        let mut payload = Payload::open(payload)?;
        let number = payload.number;
        let mut parsed = Self { number, offset: 0, size: 0, value: 0, bits: &[], flags: 0, special: 0 };
        payload.takes(match number {
            op::RESIZE => 1..=3,
            op::INSERT | op::REMOVE | op::NOT => 2..=3,
            op::SET..=op::AND | op::LSHIFT | op::RSHIFT | op::SET_INT => 3..=4,
            op::ADD | op::SUBTRACT => 3..=5,
            _ => return Err(code::PARAMETER),
        })?;
        let max_offset = if matches!(number, op::INSERT | op::REMOVE) { MAX_BYTES } else { MAX_BYTES * 8 };
        if number != op::RESIZE {
            parsed.offset = offset(&mut payload, max_offset)?;
        }
        parsed.size = match number {
            op::RESIZE => size(&mut payload, 0, MAX_BYTES)?,
            op::INSERT => 0,
            op::REMOVE => size(&mut payload, 1, MAX_BYTES)?,
            op::ADD | op::SUBTRACT | op::SET_INT => size(&mut payload, 1, MAX_INT_BITS)?,
            _ => size(&mut payload, 1, MAX_BYTES * 8)?,
        };
        match number {
            op::INSERT | op::SET..=op::AND => {
                parsed.bits = payload.bytes()?;
                if parsed.bits.is_empty() || parsed.bits.len() * 8 < parsed.size {
                    return Err(code::PARAMETER);
                }
            }
            op::LSHIFT | op::RSHIFT => parsed.value = size(&mut payload, 0, MAX_BYTES * 8)? as u64,
            op::ADD | op::SUBTRACT | op::SET_INT => parsed.value = payload.uint()?,
            _ => {}
        }
        parsed.flags = flags(&mut payload, parsed.allowed_flags())?;
        let special = match number {
            op::RESIZE => resize_flag::ALL,
            op::ADD | op::SUBTRACT => overflow::ALL,
            _ => 0,
        };
        parsed.special = flags(&mut payload, special)?;
        let excluding = match number {
            op::RESIZE => resize_flag::GROW_ONLY | resize_flag::SHRINK_ONLY,
            _ => overflow::SATURATE | overflow::WRAP,
        };
        let create_and_update = flag::CREATE_ONLY | flag::UPDATE_ONLY;
        if parsed.special & excluding == excluding || parsed.flags & create_and_update == create_and_update {
            return Err(code::PARAMETER);
        }
        Ok(parsed)
    }

    fn allowed_flags(&self) -> u64 {
        match self.number {
            op::RESIZE | op::INSERT => flag::CREATE_ONLY | flag::UPDATE_ONLY | flag::NO_FAIL,
            op::ADD | op::SUBTRACT | op::SET_INT => flag::UPDATE_ONLY | flag::NO_FAIL,
            _ => flag::UPDATE_ONLY | flag::NO_FAIL | flag::PARTIAL,
        }
    }

    fn creates(&self) -> bool {
        matches!(self.number, op::RESIZE | op::INSERT) && self.flags & flag::UPDATE_ONLY == 0
    }

    /// An error that the flags may forgive.
    fn refuse(&self, code: u8) -> Result<Option<Vec<u8>>, u8> {
        if self.flags & flag::NO_FAIL != 0 { Ok(None) } else { Err(code) }
    }

    fn resize(&self, old: &[u8], max_size: usize) -> Result<Option<Vec<u8>>, u8> {
        let grows = self.size > old.len();
        let forbidden = if grows { resize_flag::SHRINK_ONLY } else { resize_flag::GROW_ONLY };
        if self.size == old.len() {
            return Ok(None);
        }
        if self.special & forbidden != 0 {
            return self.refuse(code::PARAMETER);
        }
        if self.size > max_size {
            return Err(code::RECORD_TOO_BIG);
        }
        let front = self.special & resize_flag::FROM_FRONT != 0;
        let zeros = vec![0; self.size.saturating_sub(old.len())];
        let cut = old.len().saturating_sub(self.size);
        Ok(Some(if front { [&zeros, &old[cut..]].concat() } else { [&old[..old.len() - cut], &zeros].concat() }))
    }

    fn insert(&self, old: &[u8], max_size: usize) -> Result<Option<Vec<u8>>, u8> {
        let at = place(self.offset, old.len())?;
        if at.max(old.len()) + self.bits.len() > max_size {
            return Err(code::RECORD_TOO_BIG);
        }
        let (head, tail) = old.split_at(at.min(old.len()));
        let gap = vec![0; at - head.len()];
        Ok(Some([head, &gap, self.bits, tail].concat()))
    }

    /// The size that fits into `len` units behind `at`; `None` if there is no room for the wanted one.
    fn fitting(&self, at: usize, len: usize) -> Option<usize> {
        let room = len.checked_sub(at).filter(|room| *room > 0)?;
        if self.size <= room { Some(self.size) } else { (self.flags & flag::PARTIAL != 0).then_some(room) }
    }

    fn remove(&self, old: &[u8]) -> Result<Option<Vec<u8>>, u8> {
        let at = place(self.offset, old.len())?;
        match self.fitting(at, old.len()) {
            Some(size) => Ok(Some([&old[..at], &old[at + size..]].concat())),
            None => self.refuse(code::PARAMETER),
        }
    }

    fn overwrite(&self, old: &[u8]) -> Result<Option<Vec<u8>>, u8> {
        let at = place(self.offset, old.len() * 8)?;
        let Some(size) = self.fitting(at, old.len() * 8) else { return self.refuse(code::NOT_APPLICABLE) };
        let mut new = old.to_vec();
        let combine = |f: fn(u8, u8) -> u8| -> Vec<u8> {
            range::extract(old, at, size).iter().zip(self.bits).map(|(a, b)| f(*a, *b)).collect()
        };
        let by = (self.value as usize).min(size);
        match self.number {
            op::SET => range::deposit(&mut new, at, size, self.bits),
            op::OR => range::deposit(&mut new, at, size, &combine(|a, b| a | b)),
            op::XOR => range::deposit(&mut new, at, size, &combine(|a, b| a ^ b)),
            op::AND => range::deposit(&mut new, at, size, &combine(|a, b| a & b)),
            op::NOT => {
                let inverted: Vec<u8> = range::extract(old, at, size).iter().map(|byte| !byte).collect();
                range::deposit(&mut new, at, size, &inverted);
            }
            op::LSHIFT => {
                let kept = range::extract(old, at + by, size - by);
                range::deposit(&mut new, at, size - by, &kept);
                range::deposit(&mut new, at + size - by, by, &vec![0; by.div_ceil(8)]);
            }
            op::RSHIFT => {
                let kept = range::extract(old, at, size - by);
                range::deposit(&mut new, at + by, size - by, &kept);
                range::deposit(&mut new, at, by, &vec![0; by.div_ceil(8)]);
            }
            op::SET_INT => range::store(&mut new, at, size, self.value),
            _ => match self.sum(range::load(old, at, size)) {
                Some(sum) => range::store(&mut new, at, size, sum),
                None => return self.refuse(code::NOT_APPLICABLE),
            },
        }
        Ok(Some(new))
    }

    /// What add or subtract makes of an integer; `None` if it does not fit and may not be changed to fit.
    fn sum(&self, old: u64) -> Option<u64> {
        let mask = u64::MAX >> (64 - self.size);
        let value = self.value & mask;
        let added = if self.number == op::ADD { value } else { value.wrapping_neg() };
        let result = old.wrapping_add(added) & mask;
        let highest = 1 << (self.size - 1);
        let limit = if self.special & overflow::WRAP != 0 {
            None
        } else if self.special & SIGNED != 0 {
            let sign = |value: u64| range::signed(value, self.size).signum();
            match (sign(old), sign(added), sign(result)) {
                // Two smallest integers make a 0, which the server takes for a sum that fits.
                (-1, -1, 1) => Some(highest),
                (1, 1, -1) => Some(mask >> 1),
                _ => None,
            }
        } else if self.number == op::ADD {
            (result < old).then_some(mask)
        } else {
            (result > old).then_some(0)
        };
        match limit {
            Some(_) if self.special & overflow::SATURATE == 0 => None,
            Some(limit) => Some(limit),
            None => Some(result),
        }
    }
}

/// Carries out a modifying operation on a bin, `None` being one that is missing. Gives the new blob, or `None` if
/// nothing changes. The error is a result code.
pub(crate) fn modify(payload: &[u8], bin: Option<(u8, &[u8])>, max_size: usize) -> Result<Option<Vec<u8>>, u8> {
    let parsed = Modify::parse(payload)?;
    let old = match bin {
        Some(_) if parsed.flags & flag::CREATE_ONLY != 0 => return parsed.refuse(code::BIN_EXISTS),
        Some((particle_type::BLOB, blob)) => blob,
        Some(_) => return Err(code::BIN_TYPE),
        None if !parsed.creates() => return parsed.refuse(code::BIN_NOT_FOUND),
        None => &[],
    };
    match parsed.number {
        op::RESIZE => parsed.resize(old, max_size),
        op::INSERT => parsed.insert(old, max_size),
        op::REMOVE => parsed.remove(old),
        _ => parsed.overwrite(old),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_huge_is_refused_before_it_is_made() {
        let resize = [0x92, 0, 0xce, 0x08, 0, 0, 0];
        assert_eq!(modify(&resize, Some((particle_type::BLOB, b"x")), 1000), Err(code::RECORD_TOO_BIG));
        let insert = [0x93, 1, 0xce, 0x08, 0, 0, 0, 0xa2, 4, 1];
        assert_eq!(modify(&insert, None, 1000), Err(code::RECORD_TOO_BIG));
        let shift = [0x94, 8, 0, 8, 0xce, 0x40, 0, 0, 0];
        assert_eq!(modify(&shift, Some((particle_type::BLOB, b"x")), 1000), Ok(Some(vec![0])));
    }

    #[test]
    fn a_partial_operation_ends_with_the_blob() {
        // not, 8 bits at 12 of 16, flags "partial"
        let not = [0x94, 7, 12, 8, 8];
        assert_eq!(modify(&not, Some((particle_type::BLOB, &[0, 0])), 1000), Ok(Some(vec![0, 0x0f])));
    }
}
