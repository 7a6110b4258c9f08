//! Random numbers that a seed repeats.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of its own for each purpose, so that what one draws does not change what another one draws.
pub(super) fn generator(seed: u64, node: u64, purpose: u64) -> Xoshiro256PlusPlus {
    // Odd constants spread neighbouring numbers over all bits.
    let mixed = seed ^ node.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.wrapping_mul(0xd1b5_4a32_d192_ed03);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// A number from 0 to below 1.
pub(super) fn fraction(generator: &mut Xoshiro256PlusPlus) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
