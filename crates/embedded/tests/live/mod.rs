//! What tests use that ask a real server and the embedded cluster the same.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod answers;
pub(crate) mod nodes;
pub(crate) mod shrink;
