//! `MurmurHash3`, the 128-bit variant for 64-bit machines with seed 0: a public-domain algorithm by Austin Appleby.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Both halves of the hash.
pub(super) fn hash(bytes: &[u8]) -> (u64, u64) {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 = (h1 ^ first(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ second(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let mut block = [0; 16];
    block[..tail.len()].copy_from_slice(tail);
    let (k1, k2) = halves(&block);
    h1 ^= first(k1) ^ bytes.len() as u64;
    h2 ^= second(k2) ^ bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (mix(h1), mix(h2));
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

fn first(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn second(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn mix(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with the Python package mmh3 5.3.
    #[test]
    fn known_hashes() {
        assert_eq!(hash(b""), (0, 0));
        assert_eq!(hash(b"v0"), (0x1c25_67cb_444e_3b6f, 0x171d_f0ee_cf77_86a3));
        assert_eq!(hash(b"0123456789abcdef0123"), (0x8047_0581_42d9_440a, 0x8e8d_677a_ff9a_9087));
    }
}
