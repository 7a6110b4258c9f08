//! What the front doors of one Python client share.

use std::sync::Arc;

use aerolane::client::RawClient;

/// One cluster, and the lanes of the event loops that use it.
pub(crate) struct ClientCore {
    pub(crate) raw: RawClient,
}

impl ClientCore {
    pub(crate) fn new(raw: RawClient) -> Arc<Self> {
        Arc::new(Self { raw })
    }
}
