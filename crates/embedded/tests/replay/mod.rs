//! Replays the golden exchanges.

pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod line;
