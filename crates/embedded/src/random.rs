//! Random numbers that a seed repeats.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What the random numbers of one node come from: the cluster's seed, and the node's id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seed {
    /// The cluster's; see [`Builder::seed`](crate::Builder::seed).
    pub(crate) cluster: u64,
    pub(crate) node: u64,
}

impl Seed {
    /// A generator of its own for each purpose, so that what one draws does not change what another one draws. `own`: the seed of
    /// the setting that draws, which the cluster's seed changes.
    pub(crate) fn generator(self, own: u64, purpose: u64) -> Xoshiro256PlusPlus {
        // Odd constants spread neighbouring numbers over all bits.
        let mixed = own
            ^ self.cluster.wrapping_mul(0xa076_1d64_78bd_642f)
            ^ self.node.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ purpose.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Xoshiro256PlusPlus::seed_from_u64(mixed)
    }
}

/// A number from 0 to below 1.
pub(crate) fn fraction(generator: &mut Xoshiro256PlusPlus) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
