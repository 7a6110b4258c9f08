//! What a behavior says about calls.

use std::time::Duration;

use aerospike_core::policy::{CommitLevel, ReadModeAp, ReadModeSc, ReadTouchTtl, Replica};

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $field:ident: $type:ty;)*) => {
        /// What a behavior says about calls. `None` leaves a setting to wider scopes, to the parent, or to the default.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct Settings {
            $($(#[doc = $doc])* pub $field: Option<$type>,)*
        }

        impl Settings {
            /// These, and over them what the others say.
            #[must_use]
            pub fn merge(&self, over: &Self) -> Self {
                Self { $($field: over.$field.or(self.$field),)* }
            }
        }
    };
}

settings! {
    /// Most time for the whole call with its retries. Zero: no limit.
    total_timeout: Duration;
    /// Most time for one attempt; never more than the total one. Zero: as the total one.
    socket_timeout: Duration;
    /// How long a connection whose answer is late is kept for it.
    timeout_delay: Duration;
    /// Most attempts after the first one.
    max_retries: u32;
    /// Pause between two attempts.
    retry_delay: Duration;
    /// Whether the user key is stored with the record.
    send_key: bool;
    /// Whether a delete leaves a tombstone (Enterprise Edition).
    durable_delete: bool;
    /// Which copies must be written before a write succeeds.
    commit_level: CommitLevel;
    /// Which node is asked.
    replica: Replica;
    /// Copies that a read consults in a namespace of the AP mode.
    read_mode_ap: ReadModeAp;
    /// Consistency of a read in a namespace of the SC mode.
    read_mode_sc: ReadModeSc;
    /// Whether requests are compressed, and answers may be (Enterprise Edition).
    use_compression: bool;
    /// Bytes that a request must exceed to be compressed.
    compression_threshold: u32;
    /// Most nodes that a batch or a query asks at the same time. 0: all.
    max_concurrent_nodes: u32;
    /// Most records of a query that wait for the reader.
    record_queue_size: u32;
    /// Whether a query with a condition that no index serves may scan.
    allow_scans_with_where: bool;
    /// Whether the server may handle rows of a batch in memory on the thread that received them.
    allow_inline: bool;
    /// The same for namespaces on SSD.
    allow_inline_ssd: bool;
    /// Whether a read renews the record's time to live.
    read_touch_ttl_percent: ReadTouchTtl;
    /// How much the server tells about a failure: 0 the result code, 1 a sub-code, 2 a message, 3 also where in an
    /// expression.
    error_detail_verbosity: u8;
}
