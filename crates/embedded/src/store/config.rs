//! Settings of a namespace, changeable while running (`set-config`).

use std::sync::atomic::AtomicU32;

/// Settings of a namespace.
#[derive(Debug)]
pub(crate) struct NamespaceConfig {
    /// TTL in seconds of records written with TTL word 0; 0 = they never expire.
    pub(crate) default_ttl: AtomicU32,
    /// Seconds between reapings of expired records; 0 = never.
    pub(crate) nsup_period: AtomicU32,
    /// What read-touch percentage a read with TTL word 0 has; 0 = reads do not touch.
    pub(crate) default_read_touch_ttl_pct: AtomicU32,
    /// Largest record in bytes.
    pub(crate) max_record_size: AtomicU32,
}

impl Default for NamespaceConfig {
    fn default() -> Self {
        Self {
            default_ttl: AtomicU32::new(0),
            nsup_period: AtomicU32::new(1),
            default_read_touch_ttl_pct: AtomicU32::new(0),
            max_record_size: AtomicU32::new(1024 * 1024),
        }
    }
}
