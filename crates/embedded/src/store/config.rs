//! Settings of a namespace, changeable while running (`set-config`).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Settings of a namespace.
#[derive(Debug)]
pub(crate) struct NamespaceConfig {
    /// TTL in seconds of records written with TTL word 0; 0 = they never expire.
    pub(crate) default_ttl: AtomicU32,
    /// Seconds between sweeps for expired records; 0 = never.
    pub(crate) nsup_period: AtomicU32,
    /// Whether records may expire although nothing sweeps them.
    pub(crate) allow_ttl_without_nsup: AtomicBool,
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
            allow_ttl_without_nsup: AtomicBool::new(false),
            default_read_touch_ttl_pct: AtomicU32::new(0),
            max_record_size: AtomicU32::new(1024 * 1024),
        }
    }
}

impl NamespaceConfig {
    /// Whether nothing may be written that expires, as nothing would remove it.
    pub(crate) fn refuses_ttls(&self) -> bool {
        self.nsup_period.load(Ordering::Relaxed) == 0 && !self.allow_ttl_without_nsup.load(Ordering::Relaxed)
    }
}
