//! What the front doors of one Python client share.

use std::sync::Arc;

use aerolane::client::RawClient;

use crate::host::Lanes;

/// One cluster, and the lanes of the event loops that use it.
pub(crate) struct ClientCore {
    pub(crate) raw: RawClient,
    pub(crate) lanes: Lanes,
}

impl ClientCore {
    pub(crate) fn new(raw: RawClient) -> Arc<Self> {
        Arc::new(Self { raw, lanes: Lanes::default() })
    }
}
