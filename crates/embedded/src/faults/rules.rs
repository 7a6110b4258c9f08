//! The rules behind [`Faults`](super::Faults).

use super::{RequestFault, RequestKind};

/// Installed rules of one node.
#[derive(Debug, Default)]
pub(crate) struct Rules {}

impl Rules {
    pub(crate) fn next_request(&self, _kind: RequestKind) -> Option<RequestFault> {
        None
    }

    pub(crate) fn refuses_connections(&self) -> bool {
        false
    }
}
