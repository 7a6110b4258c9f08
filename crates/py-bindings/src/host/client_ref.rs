//! A client that is kept open by the operations of a lane.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use crate::core::ClientCore;

/// A client, held by operations that are under way.
///
/// Counted apart for each lane: loops on several threads that counted references to the client itself, twice for each
/// operation, would hold each other up.
pub(super) struct ClientRef(Arc<ClientCore>);

impl ClientRef {
    /// For an operation that has no lane yet.
    pub(super) fn new(client: &Arc<ClientCore>) -> Arc<Self> {
        Arc::new(Self(Arc::clone(client)))
    }

    pub(super) fn core(&self) -> &Arc<ClientCore> {
        &self.0
    }
}

impl Deref for ClientRef {
    type Target = ClientCore;

    fn deref(&self) -> &ClientCore {
        &self.0
    }
}

/// What a lane keeps of a [`ClientRef`]: nothing while nothing is under way, so that the lane itself keeps no client open.
#[derive(Default)]
pub(super) struct LaneClientRef(RefCell<Weak<ClientRef>>);

impl LaneClientRef {
    /// The client, for one more operation of the lane. It is always the same client.
    pub(super) fn on(&self, client: &Arc<ClientCore>) -> Arc<ClientRef> {
        let client_ref = self.0.borrow().upgrade();
        client_ref.unwrap_or_else(|| {
            let client_ref = ClientRef::new(client);
            *self.0.borrow_mut() = Arc::downgrade(&client_ref);
            client_ref
        })
    }
}
