//! The policy of a batch row, in little room.

use std::ops::Deref;
use std::sync::LazyLock;

use aerospike_core::{BatchDeletePolicy, BatchReadPolicy, BatchWritePolicy};

/// A row's policy. Aerospike-core's policies have some 200 bytes, which every row of every batch would carry along;
/// nearly all rows have the default one, of which nothing is kept here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowPolicy<P>(Option<Box<P>>);

/// A policy with a default that lives for ever.
pub(crate) trait Standard: Clone + PartialEq + 'static {
    fn standard() -> &'static Self;
}

impl<P: Standard> RowPolicy<P> {
    #[inline]
    pub(crate) fn of(policy: &P) -> Self {
        Self(unless_standard(policy))
    }
}

/// A copy of a policy that is not the default one. Of the C convention because nothing unwinds through that: the compiler
/// then builds a row in its place, and does not keep what it has of the row aside until the policy is known. That saves
/// some 80 instructions a row (`client/make batch of 128` of `crates/bench/counts.sh`). Comparing and copying policies
/// does not panic; if it did, the process would end here.
extern "C" fn unless_standard<P: Standard>(policy: &P) -> Option<Box<P>> {
    if policy == P::standard() { None } else { Some(Box::new(policy.clone())) }
}

impl<P: Standard> Deref for RowPolicy<P> {
    type Target = P;

    fn deref(&self) -> &P {
        self.0.as_deref().unwrap_or_else(|| P::standard())
    }
}

macro_rules! standard {
    ($($policy:ident),+) => {$(
        impl Standard for $policy {
            fn standard() -> &'static Self {
                static STANDARD: LazyLock<$policy> = LazyLock::new(<$policy>::default);
                &STANDARD
            }
        }
    )+};
}

standard!(BatchReadPolicy, BatchWritePolicy, BatchDeletePolicy);

#[cfg(test)]
mod tests {
    use aerospike_core::ReadTouchTtl;

    use super::*;

    #[test]
    fn a_row_has_the_policy_it_was_given() {
        let standard = BatchReadPolicy::default();
        let other = BatchReadPolicy { read_touch_ttl: ReadTouchTtl::Percent(7), ..BatchReadPolicy::default() };
        assert_eq!((&*RowPolicy::of(&standard), &*RowPolicy::of(&other)), (&standard, &other));
        assert_ne!(RowPolicy::of(&standard), RowPolicy::of(&other));
        assert!(RowPolicy::of(&standard).0.is_none());
    }
}
