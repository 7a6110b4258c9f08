//! The configuration file of clients, which `AEROSPIKE_CLIENT_CONFIG_URL` names: settings that go over the policies of
//! calls, and some over that of the client.
//!
//! ```
//! use aerospike_core::WritePolicy;
//!
//! let file = aerolane_config::client::parse(
//!     "
//! version: 1.0.0
//! static:
//!   client:
//!     max_connections_per_node: 64
//! dynamic:
//!   write:
//!     total_timeout: 250
//!     send_key: true
//! ",
//! )
//! .map_err(|problems| format!("{problems:?}"))?;
//! let mut policy = WritePolicy::default();
//! file.dynamic.write.apply(&mut policy);
//! assert!(policy.send_key && policy.base_policy.total_timeout == 250);
//! # Ok::<(), String>(())
//! ```
//!
//! * [`parse`]: text to a [`ClientFile`]. Keys that are not known are named and ignored, as other clients share the file;
//!   a value that is wrong is an error, and nothing of the file is used then.
//! * [`patch`]: what each section may say, and how it goes over a policy

pub mod patch;
mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use aerospike_core::ClientPolicy;

use crate::problem::Problem;
use patch::set;
pub use patch::{BasePatch, BatchPatch, MetricsPatch, QueryPatch, ReadPatch, RowPatch, WritePatch};
pub use read::parse;

/// The name of the environment variable that names the file: a path, or a URL that begins with `file://`.
pub const VARIABLE: &str = "AEROSPIKE_CLIENT_CONFIG_URL";
/// How often clients look whether the file has changed, unless it says so itself; also the least that it may say.
pub const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientFile {
    /// The client itself.
    pub client: ClientPatch,
    /// What is used for each call.
    pub dynamic: Dynamic,
    /// What is ignored: keys that this client does not know or has elsewhere, keys without a value. In the order of the file.
    pub ignored: Vec<Problem>,
    /// Each setting that is used and its text, by its place: `dynamic.read.max_retries`.
    pub settings: BTreeMap<String, String>,
}

/// Settings of the client itself: `static.client`, and `dynamic.client`. All are used when a client connects; those that
/// [`is_fixed`] leaves also while it is open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientPatch {
    /// How often it is looked whether the file has changed.
    pub config_interval: Option<Duration>,
    /// `ClientPolicy::min_conns_per_node`.
    pub min_connections_per_node: Option<u32>,
    /// `ClientPolicy::max_conns_per_node`; 0: no limit.
    pub max_connections_per_node: Option<u32>,
    /// `ClientPolicy::timeout`, in ms.
    pub timeout: Option<u32>,
    /// `ClientPolicy::login_timeout`, in ms.
    pub login_timeout: Option<u32>,
    /// `ClientPolicy::idle_timeout`; seconds in the file, milliseconds here.
    pub max_socket_idle: Option<u32>,
    /// `ClientPolicy::tend_interval`, in ms.
    pub tend_interval: Option<u32>,
    /// `ClientPolicy::use_services_alternate`.
    pub use_service_alternate: Option<bool>,
    /// `ClientPolicy::rack_ids`, never empty.
    pub rack_ids: Option<Vec<usize>>,
    /// `ClientPolicy::application_id`.
    pub app_id: Option<String>,
    /// `ClientPolicy::max_error_rate`.
    pub max_error_rate: Option<u32>,
    /// `ClientPolicy::error_rate_window`.
    pub error_rate_window: Option<u32>,
}

impl ClientPatch {
    /// Sets the properties of a policy that the file has, for a client that connects.
    pub fn apply(&self, policy: &mut ClientPolicy) {
        set(&mut policy.min_conns_per_node, self.min_connections_per_node.map(|n| n as usize));
        set(&mut policy.max_conns_per_node, self.max_connections_per_node.map(|n| n as usize));
        set(&mut policy.tend_interval, self.tend_interval);
        set(&mut policy.use_services_alternate, self.use_service_alternate);
        set(&mut policy.application_id, self.app_id.clone().map(Some));
        self.apply_later(policy);
    }

    /// Sets those properties of a policy that the file has and that may change while a client is open.
    pub fn apply_later(&self, policy: &mut ClientPolicy) {
        set(&mut policy.timeout, self.timeout);
        set(&mut policy.login_timeout, self.login_timeout);
        set(&mut policy.idle_timeout, self.max_socket_idle);
        set(&mut policy.rack_ids, self.rack_ids.clone().map(Some));
        set(&mut policy.max_error_rate, self.max_error_rate.map(|n| n as usize));
        set(&mut policy.error_rate_window, self.error_rate_window.map(|n| n as usize));
    }
}

/// Whether the setting of this place (`dynamic.client.app_id`) is used when a client connects, and not later.
#[must_use]
pub fn is_fixed(place: &str) -> bool {
    const FIXED: [&str; 3] = ["tend_interval", "use_service_alternate", "app_id"];
    place.starts_with("static.") || place.strip_prefix("dynamic.client.").is_some_and(|key| FIXED.contains(&key))
}

/// The sections of `dynamic` that are about calls. One that the file does not have changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dynamic {
    /// Reads of single records.
    pub read: ReadPatch,
    /// Writes of single records.
    pub write: WritePatch,
    /// Queries.
    pub query: QueryPatch,
    /// Batches as a whole.
    pub batch: BatchPatch,
    /// Rows of batches that read, over [`batch`](Self::batch).
    pub batch_read: BatchPatch,
    /// Rows of batches that write.
    pub batch_write: RowPatch,
    /// Rows of batches that delete.
    pub batch_delete: RowPatch,
    /// Rows of batches that apply functions.
    pub batch_udf: RowPatch,
    /// Verifying, when a transaction is committed.
    pub txn_verify: BatchPatch,
    /// Rolling forward or back, when a transaction is ended.
    pub txn_roll: BatchPatch,
    /// Metrics.
    pub metrics: MetricsPatch,
}

/// The path that the value of [`VARIABLE`] names; `None`: it names none.
///
/// # Errors
/// It is a URL of another kind.
pub fn path(value: &str) -> Result<Option<&str>, String> {
    let value = value.trim();
    match value.split_once("://") {
        _ if value.is_empty() => Ok(None),
        None => Ok(Some(value)),
        Some(("file", "")) => Err(format!("{value:?} has no path: use a path or file://<path>")),
        Some(("file", path)) => Ok(Some(path)),
        Some((scheme, _)) => Err(format!("{value:?}: {scheme:?} is not supported, use a path or file://<path>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fixed_is_what_applying_later_leaves() {
        let text = "version: 1\nstatic: {client: {min_connections_per_node: 3, max_connections_per_node: 4}}\ndynamic: {client: \
                    {timeout: 1, login_timeout: 2, max_socket_idle: 3, tend_interval: 300, use_service_alternate: true, \
                    rack_ids: [5], app_id: a, max_error_rate: 6, error_rate_window: 7}}";
        let file = parse(text).unwrap();
        let (mut all, mut later) = (ClientPolicy::default(), ClientPolicy::default());
        file.client.apply(&mut all);
        file.client.apply_later(&mut later);
        let fixed = |policy: &ClientPolicy| {
            let conns = (policy.min_conns_per_node, policy.max_conns_per_node);
            (conns, policy.tend_interval, policy.use_services_alternate, policy.application_id.clone())
        };
        let free = |policy: &ClientPolicy| {
            let times = (policy.timeout, policy.login_timeout, policy.idle_timeout);
            (times, policy.rack_ids.clone(), policy.max_error_rate, policy.error_rate_window)
        };
        assert_eq!(fixed(&all), ((3, 4), 300, true, Some("a".into())));
        assert_eq!(free(&all), ((1, 2, 3000), Some(vec![5]), 6, 7));
        assert_eq!((free(&later), fixed(&later)), (free(&all), fixed(&ClientPolicy::default())));
        let places: Vec<_> = file.settings.keys().filter(|place| is_fixed(place)).cloned().collect();
        assert_eq!(places.len(), 5, "{places:?}");
        assert!(!is_fixed("dynamic.client.timeout") && !is_fixed("dynamic.read.tend_interval"));
    }

    #[test]
    fn paths_and_urls() {
        assert_eq!(path("file:///etc/a.yaml"), Ok(Some("/etc/a.yaml")));
        assert_eq!(path(" /etc/a.yaml "), Ok(Some("/etc/a.yaml")));
        assert_eq!(path("a.yaml"), Ok(Some("a.yaml")));
        assert_eq!((path(""), path("  ")), (Ok(None), Ok(None)));
        assert!(path("http://host/a.yaml").unwrap_err().contains("\"http\" is not supported"));
        assert!(path("file://").unwrap_err().contains("no path"));
    }
}
