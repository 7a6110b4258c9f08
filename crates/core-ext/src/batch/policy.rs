//! The policy of a batch row, in little room.

use std::ops::Deref;
use std::sync::LazyLock;

use aerospike_core::{
    BatchDeletePolicy, BatchReadPolicy, BatchWritePolicy, CommitLevel, Expiration, GenerationPolicy, ReadTouchTtl,
    RecordExistsAction,
};

/// A row's policy. Aerospike-core's policies have some 200 bytes, which every row of every batch would carry along;
/// nearly all rows have the default one, of which nothing is kept here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowPolicy<P>(Option<Box<P>>);

/// A policy with a default that lives for ever.
pub(crate) trait Standard: Clone + PartialEq + 'static {
    fn standard() -> &'static Self;

    /// Whether this is the default policy. Made of plain comparisons: it is asked for every row.
    fn is_standard(&self) -> bool;
}

impl<P: Standard> RowPolicy<P> {
    #[inline]
    pub(crate) fn of(policy: &P) -> Self {
        Self(if policy.is_standard() { None } else { Some(keep(policy)) })
    }
}

/// A copy on the heap. Of the C convention because nothing unwinds through that: the compiler then builds a row in its
/// place, and does not keep what it has of the row aside until the policy is known. (Copying a policy cannot panic.)
#[cold]
#[allow(clippy::unnecessary_box_returns)] // the policy would go over the caller's stack
extern "C" fn keep<P: Clone>(policy: &P) -> Box<P> {
    Box::new(policy.clone())
}

impl<P: Standard> Deref for RowPolicy<P> {
    type Target = P;

    fn deref(&self) -> &P {
        self.0.as_deref().unwrap_or_else(|| P::standard())
    }
}

/// `$policy` with its default values. All fields are named, so that a later one cannot be forgotten.
macro_rules! standard {
    ($policy:ident { $($field:ident: $default:expr),+ $(,)? }) => {
        impl Standard for $policy {
            fn standard() -> &'static Self {
                static STANDARD: LazyLock<$policy> = LazyLock::new(<$policy>::default);
                &STANDARD
            }

            #[inline]
            fn is_standard(&self) -> bool {
                let Self { filter_expression, $($field),+ } = self;
                filter_expression.is_none() $(&& *$field == $default)+
            }
        }
    };
}

standard!(BatchReadPolicy { read_touch_ttl: ReadTouchTtl::ServerDefault });
standard!(BatchWritePolicy {
    record_exists_action: RecordExistsAction::Update,
    generation_policy: GenerationPolicy::None,
    commit_level: CommitLevel::CommitAll,
    generation: 0,
    expiration: Expiration::NamespaceDefault,
    send_key: false,
    durable_delete: false,
    on_locking_only: false,
});
standard!(BatchDeletePolicy {
    generation_policy: GenerationPolicy::None,
    commit_level: CommitLevel::CommitAll,
    generation: 0,
    send_key: false,
    durable_delete: false,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_aerospike_core() {
        assert!(BatchReadPolicy::default().is_standard());
        assert!(BatchWritePolicy::default().is_standard());
        assert!(BatchDeletePolicy::default().is_standard());
        assert!(!BatchWritePolicy { generation: 1, ..BatchWritePolicy::default() }.is_standard());
        assert!(!BatchDeletePolicy { send_key: true, ..BatchDeletePolicy::default() }.is_standard());
    }

    #[test]
    fn a_row_has_the_policy_it_was_given() {
        let standard = BatchReadPolicy::default();
        let other = BatchReadPolicy { read_touch_ttl: ReadTouchTtl::Percent(7), ..BatchReadPolicy::default() };
        assert_eq!((&*RowPolicy::of(&standard), &*RowPolicy::of(&other)), (&standard, &other));
        assert_ne!(RowPolicy::of(&standard), RowPolicy::of(&other));
        assert!(RowPolicy::of(&standard).0.is_none());
    }
}
