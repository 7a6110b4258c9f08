//! The value of an HLL bin: registers, with or without min-hash bits.
//!
//! Which register an element belongs to, and what it would put there, is read off the `MurmurHash3` of its msgpack form:
//! the lowest bits of the first half are the register's number, those above them the min-hash bits, and the number of
//! zeros at the low end of the second half, plus one, is the HyperLogLog value.

use super::murmur;

/// Flags, index bits, min-hash bits, cached count.
const HEADER: usize = 11;
/// Bits of a register's HyperLogLog value.
const VALUE_BITS: u32 = 6;
/// Largest HyperLogLog value that is counted.
pub(super) const MAX_VALUE: usize = 1 << VALUE_BITS;
const INDEX_BITS: std::ops::RangeInclusive<u8> = 4..=16;
const MINHASH_BITS: std::ops::RangeInclusive<u8> = 4..=51;
/// Most index and min-hash bits together.
const MAX_BITS: u8 = 64;

/// How an HLL is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) index_bits: u8,
    /// 0: none.
    pub(super) minhash_bits: u8,
}

impl Shape {
    pub(super) fn index_bits_are_valid(bits: u8) -> bool {
        INDEX_BITS.contains(&bits)
    }

    pub(super) fn minhash_bits_are_valid(bits: u8) -> bool {
        bits == 0 || MINHASH_BITS.contains(&bits)
    }

    /// Whether a bin may have this shape.
    pub(super) fn is_valid(self) -> bool {
        Self::index_bits_are_valid(self.index_bits)
            && Self::minhash_bits_are_valid(self.minhash_bits)
            && self.index_bits + self.minhash_bits <= MAX_BITS
    }

    /// The shape of a value from outside, whose size has to fit; its bits together are not limited.
    pub(super) fn of(value: &[u8]) -> Option<Self> {
        let &[0, index_bits, minhash_bits] = value.first_chunk::<3>()? else { return None };
        let shape = Self { index_bits, minhash_bits };
        let valid = Self::index_bits_are_valid(index_bits) && Self::minhash_bits_are_valid(minhash_bits);
        (valid && value.len() == shape.encoded_len()).then_some(shape)
    }

    fn registers(self) -> usize {
        1 << self.index_bits
    }

    fn register_bits(self) -> u32 {
        VALUE_BITS + u32::from(self.minhash_bits)
    }

    fn encoded_len(self) -> usize {
        HEADER + (self.registers() * self.register_bits() as usize).div_ceil(8)
    }
}

/// Whether a value can be stored as an HLL.
pub(crate) fn is_sound(value: &[u8]) -> bool {
    Shape::of(value).is_some_and(Shape::is_valid)
}

/// Whether the server finds data in a value: it looks at as many bytes as there are registers, though registers with
/// min-hash bits are wider.
pub(super) fn has_data(value: &[u8]) -> bool {
    let Some(shape) = Shape::of(value) else { return false };
    value[HEADER..].iter().take(shape.registers()).any(|byte| *byte != 0)
}

/// An HLL that has been taken apart.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    pub(super) shape: Shape,
    /// The count, if it is known.
    pub(super) cached: u64,
    /// HyperLogLog value, then min-hash bits.
    pub(super) registers: Vec<u64>,
}

impl Sketch {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, cached: 0, registers: vec![0; shape.registers()] }
    }

    /// Takes a value apart; `None` if it is no HLL.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let shape = Shape::of(value)?;
        let cached = u64::from_le_bytes(value[3..HEADER].try_into().ok()?);
        let width = shape.register_bits();
        let mut registers = Vec::with_capacity(shape.registers());
        let (mut window, mut filled) = (0_u128, 0);
        for byte in &value[HEADER..] {
            window = window << 8 | u128::from(*byte);
            filled += 8;
            while filled >= width && registers.len() < shape.registers() {
                filled -= width;
                registers.push((window >> filled) as u64 & low_bits(width));
            }
            window &= (1 << filled) - 1;
        }
        Some(Self { shape, cached, registers })
    }

    /// The value as it is stored.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.shape.encoded_len());
        out.extend_from_slice(&[0, self.shape.index_bits, self.shape.minhash_bits]);
        out.extend_from_slice(&self.cached.to_le_bytes());
        let width = self.shape.register_bits();
        let (mut window, mut filled) = (0_u128, 0);
        for register in &self.registers {
            window = window << width | u128::from(*register);
            filled += width;
            while filled >= 8 {
                filled -= 8;
                out.push((window >> filled) as u8);
            }
            window &= (1 << filled) - 1;
        }
        if filled > 0 {
            out.push((window << (8 - filled)) as u8);
        }
        out
    }

    /// Where an element belongs, and what it would put there.
    fn locate(&self, element: &[u8]) -> (usize, u64) {
        let (h1, h2) = murmur::hash(element);
        let index = h1 & low_bits(u32::from(self.shape.index_bits));
        let minhash = h1 >> self.shape.index_bits & low_bits(u32::from(self.shape.minhash_bits));
        let value = (u64::from(h2.trailing_zeros()) + 1) & low_bits(VALUE_BITS);
        (index as usize, value << self.shape.minhash_bits | minhash)
    }

    /// Adds an element, a msgpack value in its shortest form; says whether that changed anything.
    pub(super) fn add(&mut self, element: &[u8]) -> bool {
        let (index, value) = self.locate(element);
        let changes = self.registers[index] < value;
        if changes {
            self.registers[index] = value;
            self.cached = 0;
        }
        changes
    }

    /// Whether an element may have been added.
    pub(super) fn may_contain(&self, element: &[u8]) -> bool {
        let (index, value) = self.locate(element);
        value <= self.registers[index]
    }

    /// Takes over what another one has, which has at least as many index bits, and as many min-hash bits if this one
    /// has any.
    pub(super) fn merge(&mut self, other: &Self) {
        let mask = self.registers.len() - 1;
        let drop = if self.shape.minhash_bits == 0 { other.shape.minhash_bits } else { 0 };
        for (i, register) in other.registers.iter().enumerate() {
            let own = &mut self.registers[i & mask];
            *own = (*own).max(register >> drop);
        }
        self.cached = 0;
    }

    /// Keeps what each of another's registers has too, in order; the others become 0.
    pub(super) fn keep_common(&mut self, other: &Self) {
        let mask = self.registers.len() - 1;
        for (i, register) in other.registers.iter().enumerate() {
            let own = &mut self.registers[i & mask];
            if own != register {
                *own = 0;
            }
        }
    }

    /// How many registers have something in them.
    pub(super) fn used(&self) -> usize {
        self.registers.iter().filter(|register| **register != 0).count()
    }

    /// How many registers have each HyperLogLog value.
    pub(super) fn histogram(&self) -> [u32; MAX_VALUE + 1] {
        let mut counts = [0; MAX_VALUE + 1];
        for register in &self.registers {
            counts[(register >> self.shape.minhash_bits) as usize] += 1;
        }
        counts
    }
}

/// A word whose lowest `n` bits (at most 63) are set.
fn low_bits(n: u32) -> u64 {
    (1 << n) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shapes_survive_encoding() {
        for index_bits in INDEX_BITS {
            for minhash_bits in [0, 4, 5, 10, 33, 48, 51] {
                let mut sketch = Sketch::new(Shape { index_bits, minhash_bits });
                for i in 0..200_u8 {
                    sketch.add(&[i]);
                }
                sketch.cached = 0x0123;
                let value = sketch.encode();
                let back = Sketch::parse(&value).unwrap();
                assert_eq!((back.shape, back.cached), (sketch.shape, 0x0123));
                assert_eq!(back.registers, sketch.registers, "{index_bits}, {minhash_bits}");
                assert!((0..200).all(|i| back.may_contain(&[i])));
                assert_eq!(is_sound(&value), index_bits + minhash_bits <= 64);
                assert!(Sketch::parse(&value[1..]).is_none());
            }
        }
    }

    #[test]
    fn what_is_no_hll_is_refused() {
        for bad in [&[][..], &[0, 4], &[0, 4, 0], &[0; 23], &[1, 4, 0, 0], &[0, 255, 255, 0]] {
            assert!(!is_sound(bad) && Sketch::parse(bad).is_none(), "{bad:x?}");
        }
    }
}
