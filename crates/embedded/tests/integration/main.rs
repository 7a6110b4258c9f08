//! Tests of whole clusters in one program, so that the server is linked once.

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
mod found;
mod indexes;
mod limits;
#[path = "../../../../tests/rust/common/patient.rs"]
mod patient;
mod plans;
mod refusals;
mod replication;
mod schedule;
mod service;
mod split;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
mod udf;
mod users;
