//! Replays the golden exchanges.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod line;
