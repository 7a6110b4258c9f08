//! What answers are made of.

use crate::conditions::{Conditions, ConditionsError};
use crate::{ClusterError, NodeInfo, NodeStats};
use serde_json::{Value, json};

/// Why a request was not carried out.
#[derive(Debug)]
pub(super) struct Refusal {
    kind: &'static str,
    text: String,
    errno: Option<i32>,
}

impl Refusal {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), errno: None }
    }

    /// The request cannot be read.
    pub(super) fn unread(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let kind = if text.starts_with("invalid type") { "type" } else { "request" };
        Self::new(kind, text)
    }

    /// A value is of the wrong type, or missing.
    pub(super) fn of_type(text: impl Into<String>) -> Self {
        Self::new("type", text)
    }

    /// A value is out of range.
    pub(super) fn setting(text: impl Into<String>) -> Self {
        Self::new("setting", text)
    }

    /// There is no such node or namespace.
    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self::new("unknown", text)
    }

    /// Not while it is as it is.
    pub(super) fn state(text: &str) -> Self {
        Self::new("state", text)
    }

    /// The conditions of this argument cannot be read.
    pub(super) fn conditions(argument: &str, error: &ConditionsError) -> Self {
        Self::setting(format!("{argument}: {error}"))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn json(&self) -> Value {
        let Self { kind, text, errno } = self;
        match errno {
            None => json!({ "kind": kind, "text": text }),
            Some(errno) => json!({ "kind": kind, "text": text, "errno": errno }),
        }
    }
}

impl From<ClusterError> for Refusal {
    fn from(error: ClusterError) -> Self {
        let text = error.to_string();
        match error {
            ClusterError::Setting(_) | ClusterError::Conditions(_) => Self::setting(text),
            ClusterError::UnknownNode(_) | ClusterError::UnknownNamespace(_) => Self::unknown(text),
            ClusterError::Bind { error, .. } | ClusterError::Io(error) => {
                Self { errno: error.raw_os_error(), ..Self::new("os", text) }
            }
            ClusterError::Tls(_) => Self::new("other", text),
        }
    }
}

pub(super) fn node_json(node: &NodeInfo) -> Value {
    json!({
        "id": node.id.to_string(),
        "address": node.address.to_string(),
        "tls_address": node.tls_address.map(|address| address.to_string()),
        "live": node.live,
    })
}

pub(super) fn stats_json(stats: &NodeStats) -> Value {
    json!({
        "connections_opened": stats.connections_opened,
        "connections_closed": stats.connections_closed,
        "infos": stats.infos,
        "logins": stats.logins,
        "records": stats.records,
        "batches": stats.batches,
        "batch_rows": stats.batch_rows,
        "queries": stats.queries,
        "query_records": stats.query_records,
    })
}

/// As `set_conditions` takes them.
pub(super) fn conditions_json(conditions: &Conditions) -> Value {
    json!({
        "service_time": conditions.times().to_string(),
        "in_service": conditions.limit(),
        "latency": conditions.network().to_string(),
        "seed": conditions.first_seed(),
    })
}
