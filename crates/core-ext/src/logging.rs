//! How the crate logs: events of `tracing`, or records of the `log` crate without the feature `tracing`.
//!
//! The text and the target (the module's path) are the same either way. While the program has no `tracing` subscriber, its
//! events also go to the `log` crate, so a program that installs a logger there, as the Python package does, sees all of
//! them. Nothing is logged for a request that succeeds at its first attempt.

#[cfg(not(feature = "tracing"))]
pub(crate) use log::{debug, error, info, warn};
#[cfg(feature = "tracing")]
pub(crate) use tracing::{debug, error, info, warn};

/// Logs an event with fields: `event!(debug, "connection opened", node = label, after_ms = 3)`. In the `log` crate the
/// fields follow the text: `connection opened node=BB9 after_ms=3`. Values are shown by `Display`.
macro_rules! event {
    ($level:ident, $text:literal $(, $field:ident = $value:expr)* $(,)?) => {{
        #[cfg(feature = "tracing")]
        tracing::$level!($($field = %$value,)* $text);
        #[cfg(not(feature = "tracing"))]
        log::$level!(concat!($text $(, " ", stringify!($field), "={}")*), $($value),*);
    }};
}
pub(crate) use event;
