//! RIPEMD-160 of short messages.
//!
//! Nearly every key fits into one block. The two lines of the function do not depend on each other: step by step side by
//! side they take three quarters of the time that they take one after the other, as in the crate `ripemd`, which does
//! the longer ones (decision 0008).

/// Size of a block in bytes.
const BLOCK: usize = 64;
/// Longest message of one block: behind it stand a marker byte and the length.
pub(crate) const LONGEST: usize = BLOCK - 9;

const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The hash of the parts, one behind the other: at most [`LONGEST`] bytes; `None` if there are more.
#[inline]
pub(crate) fn short(parts: [&[u8]; 3]) -> Option<[u8; 20]> {
    let mut block = [0; BLOCK];
    let mut len = 0;
    for part in parts {
        let end = len + part.len();
        if end > LONGEST {
            return None;
        }
        block[len..end].copy_from_slice(part);
        len = end;
    }
    block[len] = 0x80;
    block[BLOCK - 8..BLOCK - 4].copy_from_slice(&(len as u32 * 8).to_le_bytes());
    let mut hash = [0; 20];
    for (bytes, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(compress(&block)) {
        *bytes = word.to_le_bytes();
    }
    Some(hash)
}

#[allow(clippy::many_single_char_names)] // The names of the function's definition.
fn compress(block: &[u8; BLOCK]) -> [u32; 5] {
    let mut x = [0; 16];
    for (word, bytes) in x.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d, mut e] = START;
    let [mut l, mut m, mut n, mut o, mut p] = START;
    // One round of 16 steps: of each step the word and the shift of the left line, then of the right one.
    macro_rules! round {
        ($f:ident $k:literal, $g:ident $q:literal: $($word:literal $shift:literal $word2:literal $shift2:literal),* $(,)?) => {$(
            let t = a.wrapping_add(x[$word]).wrapping_add($k).wrapping_add($f(b, c, d)).rotate_left($shift).wrapping_add(e);
            (a, e, d, c, b) = (e, d, c.rotate_left(10), b, t);
            let t = l.wrapping_add(x[$word2]).wrapping_add($q).wrapping_add($g(m, n, o)).rotate_left($shift2).wrapping_add(p);
            (l, p, o, n, m) = (p, o, n.rotate_left(10), m, t);
        )*};
    }
    round!(f1 0x0000_0000, f5 0x50a2_8be6:
        0 11 5 8, 1 14 14 9, 2 15 7 9, 3 12 0 11, 4 5 9 13, 5 8 2 15, 6 7 11 15, 7 9 4 5,
        8 11 13 7, 9 13 6 7, 10 14 15 8, 11 15 8 11, 12 6 1 14, 13 7 10 14, 14 9 3 12, 15 8 12 6);
    round!(f2 0x5a82_7999, f4 0x5c4d_d124:
        7 7 6 9, 4 6 11 13, 13 8 3 15, 1 13 7 7, 10 11 0 12, 6 9 13 8, 15 7 5 9, 3 15 10 11,
        12 7 14 7, 0 12 15 7, 9 15 8 12, 5 9 12 7, 2 11 4 6, 14 7 9 15, 11 13 1 13, 8 12 2 11);
    round!(f3 0x6ed9_eba1, f3 0x6d70_3ef3:
        3 11 15 9, 10 13 5 7, 14 6 1 15, 4 7 3 11, 9 14 7 8, 15 9 14 6, 8 13 6 6, 1 15 9 14,
        2 14 11 12, 7 8 8 13, 0 13 12 5, 6 6 2 14, 13 5 10 13, 11 12 0 13, 5 7 4 7, 12 5 13 5);
    round!(f4 0x8f1b_bcdc, f2 0x7a6d_76e9:
        1 11 8 15, 9 12 6 5, 11 14 4 8, 10 15 1 11, 0 14 3 14, 8 15 11 14, 12 9 15 6, 4 8 0 14,
        13 9 5 6, 3 14 12 9, 7 5 2 12, 15 6 13 9, 14 8 9 12, 5 6 7 5, 6 5 10 15, 2 12 14 8);
    round!(f5 0xa953_fd4e, f1 0x0000_0000:
        4 9 12 8, 0 15 15 5, 5 5 10 12, 9 11 4 9, 7 6 1 12, 12 8 5 5, 2 13 8 14, 10 12 7 6,
        14 5 6 8, 1 12 2 13, 3 13 13 6, 8 14 14 5, 11 11 0 15, 6 8 3 13, 15 5 9 11, 13 6 11 11);
    let [h0, h1, h2, h3, h4] = START;
    [
        h1.wrapping_add(c).wrapping_add(o),
        h2.wrapping_add(d).wrapping_add(p),
        h3.wrapping_add(e).wrapping_add(l),
        h4.wrapping_add(a).wrapping_add(m),
        h0.wrapping_add(b).wrapping_add(n),
    ]
}

#[inline]
fn f1(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

#[inline]
fn f2(x: u32, y: u32, z: u32) -> u32 {
    z ^ (x & (y ^ z))
}

#[inline]
fn f3(x: u32, y: u32, z: u32) -> u32 {
    (x | !y) ^ z
}

#[inline]
fn f4(x: u32, y: u32, z: u32) -> u32 {
    y ^ (z & (x ^ y))
}

#[inline]
fn f5(x: u32, y: u32, z: u32) -> u32 {
    x ^ (y | !z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripemd::{Digest as _, Ripemd160};

    #[test]
    fn every_length_of_one_block_is_as_the_other_implementation_has_it() {
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        for len in 0..=LONGEST {
            for _ in 0..20 {
                let message: Vec<u8> = (0..len).map(|_| noise()).collect();
                let (first, rest) = message.split_at(usize::from(noise()) % (len + 1));
                let (second, third) = rest.split_at(rest.len() / 2);
                let expected: [u8; 20] = Ripemd160::digest(&message).into();
                assert_eq!(short([first, second, third]), Some(expected), "{message:?}");
            }
        }
        assert_eq!(short([&[0; 55], &[0], &[]]), None);
    }
}
