//! Which values a bin takes, and in what form they are kept.

use crate::value::{stored_list, stored_map};
use crate::{code, geo};
use aerolane_wire::particle::particle_type as t;
use std::borrow::Cow;

/// Whether values of this type can be stored.
pub(crate) const fn is_type(kind: u8) -> bool {
    matches!(
        kind,
        t::INTEGER | t::FLOAT | t::STRING | t::BLOB | 7..=12 | 16 | t::BOOL | t::HLL | t::MAP | t::LIST | t::GEOJSON
    )
}

/// The value to be stored for a particle from outside. The error is a result code.
pub(crate) fn checked(kind: u8, value: &[u8]) -> Result<Cow<'_, [u8]>, u8> {
    match kind {
        t::INTEGER => match value.len() {
            8 => Ok(Cow::Borrowed(value)),
            // Short integers are taken and not sign-extended.
            n @ (1 | 2 | 4) => {
                let mut wide = [0; 8];
                wide[8 - n..].copy_from_slice(value);
                Ok(Cow::Owned(wide.to_vec()))
            }
            _ => Err(code::PARAMETER),
        },
        t::FLOAT if value.len() == 8 => Ok(Cow::Borrowed(value)),
        t::BOOL if matches!(value, [0 | 1]) => Ok(Cow::Borrowed(value)),
        // 7 to 12 are the blobs of old language clients, 16 an unused one.
        t::STRING | t::BLOB | 7..=12 | 16 => Ok(Cow::Borrowed(value)),
        t::HLL if crate::hll::is_sound(value) => Ok(Cow::Borrowed(value)),
        t::LIST => stored_list(value).ok_or(code::UNKNOWN),
        t::MAP => stored_map(value).ok_or(code::UNKNOWN),
        t::GEOJSON => geo::stored(value).map(Cow::Owned).ok_or(code::GEO_INVALID),
        _ => Err(code::PARAMETER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_widened_without_sign() {
        assert_eq!(checked(t::INTEGER, &[0xff]).unwrap()[..], [0, 0, 0, 0, 0, 0, 0, 0xff]);
        assert_eq!(checked(t::INTEGER, &[0xff, 0xfe, 0, 1]).unwrap()[..], [0, 0, 0, 0, 0xff, 0xfe, 0, 1]);
        for size in [0, 3, 5, 7, 9, 16] {
            assert_eq!(checked(t::INTEGER, &vec![0; size]), Err(code::PARAMETER));
        }
    }

    #[test]
    fn other_scalars_are_checked() {
        assert_eq!(checked(t::FLOAT, &[0; 4]), Err(code::PARAMETER));
        assert_eq!(checked(t::BOOL, &[2]), Err(code::PARAMETER));
        assert_eq!(checked(t::HLL, &[1, 2, 3]), Err(code::PARAMETER));
        assert_eq!(checked(5, b"x"), Err(code::PARAMETER));
        assert_eq!(checked(t::LIST, &[0xc1]), Err(code::UNKNOWN));
        assert_eq!(checked(t::GEOJSON, b""), Err(code::GEO_INVALID));
    }
}
