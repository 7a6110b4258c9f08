//! Comparing names.

/// Whether two names are equal. Names are short, and are compared for every row of a batch: this stands in line where
/// `==` is a call, which costs a row a fifth more (`client/encode batch of 128` of `crates/bench/counts.sh`).
#[inline]
pub(crate) fn same(a: &str, b: &str) -> bool {
    same_bytes(a.as_bytes(), b.as_bytes())
}

/// [`same`] of names that may not be UTF-8.
#[inline]
pub(crate) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0..4 => a.iter().eq(b),
        // The two ends, which overlap.
        4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
        8..17 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_at_every_length() {
        for len in 0..40 {
            let name: Vec<u8> = (0..len).collect();
            assert!(same_bytes(&name, &name.clone()), "{len}");
            for place in 0..usize::from(len) {
                let mut other = name.clone();
                other[place] ^= 0x80;
                assert!(!same_bytes(&name, &other), "{len}, {place}");
            }
            assert!(!same_bytes(&name, &[&name[..], b"x"].concat()), "{len}");
        }
        assert!(same("users", "users") && !same("users", "orders"));
    }
}
