//! The hash under which strings and blobs stand in an index: wyhash, final version 3, with the server's seed. Clients
//! see it (field 15) and send it back to go on with a query.

const SECRET: [u64; 4] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];
const SEED: u64 = 0x0002_9fbb_14cc_886f;

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn word8(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn word4(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, |b| u64::from(u32::from_le_bytes(b)))
}

/// The hash of `bytes`.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut seed = SEED ^ SECRET[0];
    let (a, b) = match len {
        0 => (0, 0),
        1..=3 => {
            let middle = u64::from(bytes[len >> 1]) << 8;
            (u64::from(bytes[0]) << 16 | middle | u64::from(bytes[len - 1]), 0)
        }
        4..=16 => {
            let step = (len >> 3) << 2;
            let a = word4(bytes, 0) << 32 | word4(bytes, step);
            (a, word4(bytes, len - 4) << 32 | word4(bytes, len - 4 - step))
        }
        _ => {
            let mut at = 0;
            if len > 48 {
                let (mut second, mut third) = (seed, seed);
                while len - at > 48 {
                    seed = mix(word8(bytes, at) ^ SECRET[1], word8(bytes, at + 8) ^ seed);
                    second = mix(word8(bytes, at + 16) ^ SECRET[2], word8(bytes, at + 24) ^ second);
                    third = mix(word8(bytes, at + 32) ^ SECRET[3], word8(bytes, at + 40) ^ third);
                    at += 48;
                }
                seed ^= second ^ third;
            }
            while len - at > 16 {
                seed = mix(word8(bytes, at) ^ SECRET[1], word8(bytes, at + 8) ^ seed);
                at += 16;
            }
            (word8(bytes, len - 16), word8(bytes, len - 8))
        }
    };
    mix(SECRET[1] ^ len as u64, mix(a ^ SECRET[1], b ^ seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the golden scenarios `query/string`, `query/blob` and `query/collections`.
    #[test]
    fn hashes_are_those_of_the_server() {
        for (text, expected) in [
            ("", -2_723_515_086_152_880_595),
            ("apple", 5_873_516_816_206_310_028),
            ("Apple", 2_611_774_100_148_424_363),
            ("abc", 6_950_277_668_693_737_238),
            ("k2", -8_286_229_143_956_237_870),
            ("\u{0}\u{1}", -5_035_562_646_516_130_309),
        ] {
            assert_eq!(hash(text.as_bytes()) as i64, expected, "{text:?}");
        }
    }

    #[test]
    fn any_length_is_hashed() {
        let bytes: Vec<u8> = (0..200).collect();
        let all: std::collections::HashSet<u64> = (0..200).map(|len| hash(&bytes[..len])).collect();
        assert_eq!(all.len(), 200);
    }
}
