//! Calls about one record that belong to a transaction.

use std::sync::Arc;

use aerolane::client::{RawClient, RecordId};
use pyo3::prelude::*;

use crate::call::Call;
use crate::client::twin::{Control, Twin};
use crate::core::ClientCore;

/// The call as one of the transaction that its policy names. The request is encoded as always, so that arguments are
/// checked as always.
#[cold]
pub(crate) fn in_transaction<E: FnOnce(&mut Vec<u8>) -> PyResult<()>>(
    core: &Arc<ClientCore>,
    call: Call,
    encode: E,
) -> PyResult<impl Twin + use<E>> {
    let mut request = Vec::new();
    encode(&mut request)?;
    let (client, policy, owned) = (RawClient::clone(&core.raw), call.policy.clone(), call.owned());
    let key = call.key.get();
    let (set, digest) = (Box::<str>::from(key.set()), *key.digest());
    Ok(Control {
        future: async move {
            let raw = owned.raw();
            let record = RecordId { namespace: raw.namespace, set: &set, digest: &digest };
            client.call_in_txn(policy.base(), raw, record, &request).await
        },
        convert: move |py: Python<'_>, answer: Vec<u8>| call.result(py, &answer),
    })
}
