//! Settings that go over the policies of calls while the client is open, from the file that `AEROSPIKE_CLIENT_CONFIG_URL`
//! names, or [`ClientConfig::config_file`](crate::ClientConfig). With the feature `dynamic-config`; without it no file is
//! read.
//!
//! ```yaml
//! version: 1.0.0
//! static:                             # used when a client connects
//!   client:
//!     config_interval: 5              # seconds between two looks at the file, at least 1 (the default)
//!     max_connections_per_node: 64
//! dynamic:                            # used for each call, also after a change
//!   read:
//!     total_timeout: 200              # milliseconds
//!     replica: PREFER_RACK
//!   batch_write:
//!     send_key: true
//! ```
//!
//! The file is read before the client connects, and again when it changes; keys and units are those of aerospike-core 3.0.
//! What a section says goes over the policy of every call of its kind, whatever the program has set there; what it does
//! not say stays as the program has it. A file that cannot be read, or has a value that is wrong, is not used: what was read
//! before stays in force. What has changed, and what is wrong, is one line of the log (target `aerolane::configuration`).
//!
//! | section | goes over |
//! |---|---|
//! | `static.client` | `config_interval`, `min_connections_per_node`, `max_connections_per_node`, when connecting |
//! | `dynamic.client` | `timeout`, `login_timeout`, `max_socket_idle`, `rack_ids`, `max_error_rate`, `error_rate_window` of the `ClientPolicy`, at any time; `tend_interval`, `use_service_alternate`, `app_id` when connecting |
//! | `read`, `write` | `get` and `exists`; `put`, `add`, `append`, `prepend`, `delete`, `touch`, `operate` |
//! | `query` | queries and scans, and asking for their plans; not background queries |
//! | `batch`; `batch_read` | batches as a whole; over that, the read modes and `allow_inline`, `allow_inline_ssd`, `respond_all_keys` |
//! | `batch_write`, `batch_delete`, `batch_udf` | `send_key` and `durable_delete` of the rows |
//! | `txn_verify`, `txn_roll` | the steps of `commit` and `abort` |
//! | `metrics` | whether metrics are on, and their policy, when the section changes |
//!
//! How it is done: each call asks its cluster's [`Overlay`] once. While no file is named that is one relaxed load of a word
//! that is never written.

#[cfg(feature = "dynamic-config")]
mod file;
#[cfg(feature = "dynamic-config")]
mod follow;

use std::sync::Arc;
#[cfg(feature = "dynamic-config")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "dynamic-config")]
use aerolane_config::client::Dynamic;
use aerospike_core::{BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy};

use crate::batch::RowPatches;
#[cfg(feature = "dynamic-config")]
pub(crate) use follow::{Followed, at_connect, follow, follows};

/// What goes over the policies of calls. Each method gives the policy that is in force in the place of the given one, or
/// `None` if that is the given one itself: always, while no file says anything.
#[derive(Debug, Default)]
pub struct Overlay {
    /// There is something to look at.
    #[cfg(feature = "dynamic-config")]
    active: AtomicBool,
    #[cfg(feature = "dynamic-config")]
    sections: arc_swap::ArcSwapOption<Dynamic>,
    #[cfg(feature = "dynamic-config")]
    switched: std::sync::OnceLock<follow::Switched>,
}

/// Defines how a policy is asked for: `name(its section): policy`.
macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident: $policy:ident;)+) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline]
        pub fn $name(&self, policy: &$policy) -> Option<Arc<$policy>> {
            #[cfg(feature = "dynamic-config")]
            if self.is_active() {
                return self.changed(policy, |sections| {
                    let section = sections.$name;
                    (!section.is_empty()).then_some(move |policy: &mut $policy| section.apply(policy))
                });
            }
            let _ = policy;
            None
        }
    )+};
}

impl Overlay {
    asked! {
        /// The policy of a read of one record.
        read: ReadPolicy;
        /// The policy of a write of one record.
        write: WritePolicy;
        /// The policy of a query.
        query: QueryPolicy;
        /// The policy of verifying when a transaction is committed.
        txn_verify: BatchPolicy;
        /// The policy of rolling when a transaction is ended.
        txn_roll: BatchPolicy;
    }

    /// The policy of a batch.
    #[must_use]
    #[inline]
    pub fn batch(&self, policy: &BatchPolicy) -> Option<Arc<BatchPolicy>> {
        #[cfg(feature = "dynamic-config")]
        if self.is_active() {
            return self.changed(policy, |sections| {
                let (all, read) = (sections.batch, sections.batch_read);
                (!all.is_empty() || !read.is_empty()).then_some(move |policy: &mut BatchPolicy| {
                    all.apply(policy);
                    read.apply(policy);
                })
            });
        }
        let _ = policy;
        None
    }

    /// What goes over the policies of the rows of a batch.
    #[allow(clippy::unused_self)] // without the feature
    pub(crate) fn rows(&self) -> RowPatches {
        #[cfg(feature = "dynamic-config")]
        if self.is_active()
            && let Some(sections) = &*self.sections.load()
        {
            let Dynamic { batch, batch_read, batch_write, batch_delete, batch_udf, .. } = &**sections;
            let rows = [batch_write, batch_delete, batch_udf];
            let [write, delete, udf] =
                rows.map(|row| crate::batch::RowPatch { send_key: row.send_key, durable_delete: row.durable_delete });
            let active = !(batch.is_empty() && batch_read.is_empty() && rows.iter().all(|row| row.is_empty()));
            return RowPatches { active, write, delete, udf };
        }
        RowPatches::default()
    }
}

#[cfg(feature = "dynamic-config")]
impl Overlay {
    #[inline]
    fn is_active(&self) -> bool {
        // Only whether to look: what is there comes with the load behind it.
        self.active.load(Ordering::Relaxed)
    }

    #[cold]
    fn changed<P: Clone, F: FnOnce(&mut P)>(
        &self,
        policy: &P,
        section: impl FnOnce(&Dynamic) -> Option<F>,
    ) -> Option<Arc<P>> {
        let apply = section(self.sections.load().as_deref()?)?;
        let mut policy = policy.clone();
        apply(&mut policy);
        Some(Arc::new(policy))
    }

    /// Has calls from now on go by these sections.
    fn replace(&self, sections: Dynamic) {
        let says_something = sections != Dynamic { metrics: sections.metrics.clone(), ..Dynamic::default() };
        self.sections.store(says_something.then(|| Arc::new(sections)));
        self.active.store(says_something, Ordering::Release);
    }
}

#[cfg(not(feature = "dynamic-config"))]
mod without {
    use std::sync::Arc;

    use crate::cluster::Cluster;
    use crate::config::ClientConfig;

    /// No file.
    #[derive(Debug)]
    pub(crate) struct Followed;

    pub(crate) fn follows(_config: &ClientConfig) -> bool {
        false
    }

    pub(crate) fn at_connect(config: ClientConfig) -> (ClientConfig, Followed) {
        const VARIABLE: &str = "AEROSPIKE_CLIENT_CONFIG_URL";
        if std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty()) {
            crate::logging::warn!(
                target: "aerolane::configuration",
                "{VARIABLE} is set, and the file is not used: aerolane was built without its feature dynamic-config"
            );
        }
        (config, Followed)
    }

    pub(crate) fn follow(_cluster: &Arc<Cluster>, _file: Followed) {}
}
#[cfg(not(feature = "dynamic-config"))]
pub(crate) use without::{Followed, at_connect, follow, follows};
