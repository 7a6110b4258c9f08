//! Ranges of bits in bytes. Bit 0 is the highest bit of the first byte.

/// Copies `size` bits from `offset` on to the front of as many bytes as they need; the rest of the last byte is 0.
pub(super) fn extract(bytes: &[u8], offset: usize, size: usize) -> Vec<u8> {
    let (first, shift) = (offset / 8, offset % 8);
    let at = |i: usize| u16::from(bytes.get(i).copied().unwrap_or(0));
    let mut out: Vec<u8> =
        (first..first + size.div_ceil(8)).map(|i| ((at(i) << 8 | at(i + 1)) << shift >> 8) as u8).collect();
    if let (Some(last), used @ 1..) = (out.last_mut(), size % 8) {
        *last &= high_bits(used);
    }
    out
}

/// Overwrites `size` bits from `offset` on with the first bits of `bits`.
pub(super) fn deposit(bytes: &mut [u8], offset: usize, size: usize, bits: &[u8]) {
    for (i, &byte) in bits.iter().enumerate().take(size.div_ceil(8)) {
        let at = offset + i * 8;
        let mask = high_bits((size - i * 8).min(8));
        let spread = |byte: u8| (u16::from(byte) << 8 >> (at % 8)).to_be_bytes();
        for (k, (mask, value)) in spread(mask).into_iter().zip(spread(byte & mask)).enumerate() {
            if let Some(target) = bytes.get_mut(at / 8 + k) {
                *target = *target & !mask | value;
            }
        }
    }
}

/// A byte whose highest `n` bits (1 to 8) are set.
fn high_bits(n: usize) -> u8 {
    0xff << (8 - n)
}

/// The unsigned integer of up to 64 bits.
pub(super) fn load(bytes: &[u8], offset: usize, size: usize) -> u64 {
    let bits = extract(bytes, offset, size);
    let value = bits.iter().fold(0_u128, |value, byte| value << 8 | u128::from(*byte));
    (value >> (bits.len() * 8 - size)) as u64
}

/// Overwrites `size` bits (1 to 64) with the lowest bits of an integer.
pub(super) fn store(bytes: &mut [u8], offset: usize, size: usize, value: u64) {
    deposit(bytes, offset, size, &(value << (64 - size)).to_be_bytes());
}

/// An integer of `size` bits (1 to 64) with its sign.
pub(super) fn signed(value: u64, size: usize) -> i64 {
    let unused = 64 - size;
    (value << unused) as i64 >> unused
}

/// Position of the first bit, or the last one, that is `wanted`; -1 if there is none.
pub(super) fn scan(bytes: &[u8], offset: usize, size: usize, wanted: bool, from_left: bool) -> i64 {
    let is_wanted = |&i: &usize| (bytes[(offset + i) / 8] >> (7 - (offset + i) % 8) & 1 == 1) == wanted;
    let found = if from_left { (0..size).find(is_wanted) } else { (0..size).rev().find(is_wanted) };
    found.map_or(-1, |i| i as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_out_as_they_went_in() {
        for offset in 0..20 {
            for size in 1..40 {
                let mut bytes = [0b1010_0101; 8];
                let bits = [0xe7, 0x3c, 0x5a, 0x99, 0xff];
                let wanted = extract(&bits, 0, size);
                deposit(&mut bytes, offset, size, &bits);
                assert_eq!(extract(&bytes, offset, size), wanted, "{size} bits at {offset}");
                let before = extract(&[0b1010_0101; 8], 0, offset);
                assert_eq!(extract(&bytes, 0, offset), before, "{size} bits at {offset}: what is in front");
                let rest = 64 - offset - size;
                let after = extract(&[0b1010_0101; 8], offset + size, rest);
                assert_eq!(extract(&bytes, offset + size, rest), after, "{size} bits at {offset}: what follows");
            }
        }
    }

    #[test]
    fn integers_of_all_sizes_are_loaded_and_stored() {
        for size in 1..=64 {
            let mut bytes = [0xff; 10];
            let value = 0x0123_4567_89ab_cdef & u64::MAX >> (64 - size);
            store(&mut bytes, 5, size, value);
            assert_eq!(load(&bytes, 5, size), value);
        }
        assert_eq!((signed(0b1000, 4), signed(0b0111, 4), signed(u64::MAX, 64)), (-8, 7, -1));
    }
}
