//! What a client tells of single operations, if it is asked to: a log event for slow ones, and spans.
//!
//! Both are off by default. An operation that succeeds then looks at one flag ([`Watch::is_on`]), and reads no clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use aerospike_core::CommandType;

use crate::config::ClientConfig;
use crate::error::Error;
use crate::logging::event;

/// What is to be told of operations. Set once, before the client has any.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Something is to be told.
    on: AtomicBool,
    spans: AtomicBool,
    /// The threshold for slow operations in ns; `u64::MAX`: there is none.
    slow: AtomicU64,
}

impl Default for Watch {
    fn default() -> Self {
        Self { on: AtomicBool::new(false), spans: AtomicBool::new(false), slow: AtomicU64::new(u64::MAX) }
    }
}

impl Watch {
    pub(crate) fn set(&self, config: &ClientConfig) {
        let slow = config.slow_operation_threshold;
        self.slow.store(slow.map_or(u64::MAX, |slow| slow.as_nanos() as u64), Ordering::Relaxed);
        self.spans.store(config.wants_spans(), Ordering::Relaxed);
        self.on.store(slow.is_some() || config.wants_spans(), Ordering::Relaxed);
    }

    /// Whether the end of an operation is to be told of.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Whether operations have spans.
    #[cfg(feature = "tracing")]
    #[inline]
    pub(crate) fn has_spans(&self) -> bool {
        self.spans.load(Ordering::Relaxed)
    }

    /// Tells of an operation that has ended.
    #[cold]
    pub(crate) fn ended(&self, operation: &Ended<'_>) {
        #[cfg(feature = "tracing")]
        if self.has_spans() {
            super::span::record(operation);
        }
        if operation.elapsed.as_nanos() >= u128::from(self.slow.load(Ordering::Relaxed)) {
            operation.log_slow();
        }
    }
}

/// An operation that has ended, as far as logs and spans may know it: nothing of keys, bins and values.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    pub(crate) command: CommandType,
    pub(crate) namespace: &'a str,
    /// Empty: the null set.
    pub(crate) set: &'a str,
    /// Of a batch: how many there are.
    pub(crate) rows: Option<usize>,
    /// `NAME: host:port` of the node that answered.
    pub(crate) node: Option<&'a str>,
    pub(crate) attempts: u32,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<&'a Error>,
}

impl Ended<'_> {
    /// `NAME: host:port` of the last node that was tried.
    pub(super) fn node(&self) -> Option<&str> {
        self.node.or_else(|| self.error.and_then(Error::node))
    }

    /// Errors are given by their number alone: their text may hold what a UDF has said of a value.
    fn log_slow(&self) {
        let node = self.node().unwrap_or("-");
        let phase = self.error.map_or_else(|| "answered".to_owned(), |error| error.phase().to_string());
        let (attempts, result_code) = (self.attempts, self.error.map_or(0, Error::result_code));
        // µs, and not whole ms: thresholds may be below one.
        let elapsed_us = self.elapsed.as_micros();
        match self.rows {
            None => event!(
                warn,
                "slow operation",
                command = format_args!("{:?}", self.command),
                namespace = self.namespace,
                set = self.set,
                node = node,
                attempts = attempts,
                phase = phase,
                elapsed_us = elapsed_us,
                result_code = result_code
            ),
            Some(rows) => event!(
                warn,
                "slow operation",
                command = format_args!("{:?}", self.command),
                namespace = self.namespace,
                set = self.set,
                rows = rows,
                node = node,
                attempts = attempts,
                phase = phase,
                elapsed_us = elapsed_us,
                result_code = result_code
            ),
        }
    }
}
