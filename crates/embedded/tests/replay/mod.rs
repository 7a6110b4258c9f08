//! Replays the golden exchanges.

pub mod client;
pub mod compare;
pub mod line;
