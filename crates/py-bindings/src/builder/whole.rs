//! What was said of a chain as a whole.

use std::sync::Arc;

use aerospike_core::expressions::Expression;
use aerospike_core::{Expiration, ReadPolicy, Txn};

use super::context::Context;

/// What holds for all operations of a chain that say nothing else.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) filter: Option<Expression>,
    pub(super) expiration: Option<Expiration>,
    pub(super) durable_delete: Option<bool>,
    /// How records are read, in place of what the behavior says.
    pub(super) reads_by: Option<Arc<ReadPolicy>>,
}

/// The transaction of a chain.
#[derive(Default)]
pub(super) enum Membership {
    /// That of its session.
    #[default]
    Session,
    /// This one, or none.
    Own(Option<Arc<Txn>>),
}

impl Membership {
    /// Whether the chain says so itself.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

/// What holds for the whole of a chain: apart from its operations, which are taken out while this is looked at.
#[derive(Default)]
pub(super) struct Whole {
    /// `None`: nothing has been said for all operations.
    defaults: Option<Box<Defaults>>,
    pub(super) txn: Membership,
}

impl Whole {
    /// What holds for all operations that say nothing else, to be changed.
    pub(super) fn defaults_mut(&mut self) -> &mut Defaults {
        self.defaults.get_or_insert_default()
    }

    /// Whether each operation is as it says itself, in the transaction of the session.
    pub(super) fn says_nothing(&self) -> bool {
        self.defaults.is_none() && !self.txn.is_own()
    }

    /// The filter of operations that have none of their own.
    pub(super) fn default_filter(&self) -> Option<Expression> {
        self.defaults.as_ref()?.filter.clone()
    }

    /// How records are read, in place of what the behavior says.
    pub(super) fn reads_by(&self) -> Option<&Arc<ReadPolicy>> {
        self.defaults.as_ref()?.reads_by.as_ref()
    }

    /// When records expire of which an operation does not say it.
    pub(super) fn default_expiration(&self) -> Option<Expiration> {
        self.defaults.as_ref()?.expiration
    }

    /// Whether deletes leave a tombstone, if their operation does not say it.
    pub(super) fn default_durable_delete(&self) -> Option<bool> {
        self.defaults.as_ref()?.durable_delete
    }

    /// The transaction of the chain.
    pub(super) fn transaction<'a>(&'a self, context: &'a Context) -> Option<&'a Arc<Txn>> {
        match &self.txn {
            Membership::Session => context.txn.as_ref(),
            Membership::Own(txn) => txn.as_ref(),
        }
    }
}
