//! Tests of whole clusters in one program, as a program of its own for each file would be linked for longer than it runs.

mod batch;
mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod conditions;
#[cfg(feature = "control")]
mod control;
#[cfg(feature = "tls")]
mod core_client;
mod expiry;
mod faults;
mod indexes;
#[path = "../../../../tests/rust/common/patient.rs"]
mod patient;
mod service;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
mod udf;
mod users;
