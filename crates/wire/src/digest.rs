//! Record digests and partition ids.
//!
//! A record is found by the RIPEMD-160 of its set name and key; the namespace is not part of it. Both clients of the
//! golden exchanges compute it this way, so it is a fact of the protocol, not a choice.

use ripemd::{Digest as _, Ripemd160};

/// Size of a digest in bytes.
pub const DIGEST_SIZE: usize = 20;
/// Number of partitions of every namespace.
pub const PARTITIONS: usize = 4096;

/// A record digest.
pub type Digest = [u8; DIGEST_SIZE];

/// The digest of a key: RIPEMD-160 over set name, particle type byte of the key, key bytes.
///
/// `key_type` is a [`particle_type`](crate::particle::particle_type); integer keys are 8 bytes big-endian (see
/// [`digest_integer`]), string and blob keys their bytes. Does not allocate.
#[must_use]
pub fn digest(set: &[u8], key_type: u8, key: &[u8]) -> Digest {
    if let Some(digest) = crate::ripemd::short([set, &[key_type], key]) {
        return digest;
    }
    let mut hash = Ripemd160::new();
    hash.update(set);
    hash.update([key_type]);
    hash.update(key);
    hash.finalize().into()
}

/// The digest of an integer key.
#[must_use]
pub fn digest_integer(set: &[u8], key: i64) -> Digest {
    digest(set, crate::particle::particle_type::INTEGER, &key.to_be_bytes())
}

/// The partition of a digest, `0..4096`: the low 12 bits of its first two bytes, read little-endian.
#[must_use]
pub const fn partition_id(digest: &Digest) -> u16 {
    u16::from_le_bytes([digest[0], digest[1]]) & (PARTITIONS as u16 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particle::particle_type;

    fn hex(digest: Digest) -> String {
        use std::fmt::Write as _;
        digest.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    #[test]
    fn digests_are_those_of_the_recorded_clients() {
        // Golden group `batch`, scenarios by-hand (keys k0, k1) and read (key k2), set g.
        let of = |key: &str| hex(digest(b"g", particle_type::STRING, key.as_bytes()));
        assert_eq!(of("by-hand:k0"), "b72d52983f9fd7b0993ac8fdfbd6490ff22e39f7");
        assert_eq!(of("by-hand:k1"), "4c6c9d26732dcd3d7c84aa32420a769b065afc01");
        assert_eq!(of("read:k2"), "b7651d85743a33cdbf99f320f00e9747fb63bd75");
    }

    #[test]
    fn integer_keys_are_eight_bytes_big_endian() {
        assert_eq!(digest_integer(b"s", 258), digest(b"s", 1, &[0, 0, 0, 0, 0, 0, 1, 2]));
        assert_ne!(digest_integer(b"s", 1), digest_integer(b"s", -1));
    }

    #[test]
    fn partitions_are_twelve_little_endian_bits() {
        let mut digest = [0; DIGEST_SIZE];
        digest[..2].copy_from_slice(&[0x34, 0xf2]);
        assert_eq!(partition_id(&digest), 0x234);
        digest[..2].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(partition_id(&digest), 4095);
    }
}
