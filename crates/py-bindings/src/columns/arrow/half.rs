//! Floats of 16 bits.

/// The nearest float of 16 bits, of two that are equally near the even one; infinite beyond the largest.
pub(super) fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48 & 0x8000) as u16;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    match exponent {
        1024 if fraction != 0 => sign | 0x7e00,
        16.. => sign | 0x7c00,
        -14.. => {
            // The exponent stands above the fraction: rounding up may carry into it, and into infinity.
            let biased = ((exponent + 15) as u64) << 10;
            sign | (biased + rounded(fraction, 42)) as u16
        }
        // Without a leading 1, and in steps of 2**-24.
        -25.. => sign | rounded(fraction | 1 << 52, (28 - exponent) as u32) as u16,
        _ => sign,
    }
}

/// `bits` without its last `away` bits, rounded to the nearest, of two to the even one.
fn rounded(bits: u64, away: u32) -> u64 {
    let (kept, rest, tie) = (bits >> away, bits & ((1 << away) - 1), 1 << (away - 1));
    kept + u64::from(rest > tie || (rest == tie && kept & 1 == 1))
}
