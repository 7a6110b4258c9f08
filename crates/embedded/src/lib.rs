//! An in-process cluster that speaks the Aerospike wire protocol on loopback ports.
//!
//! For tests and for trying things out, never for production: everything is in memory. Its specification is the real
//! server, by way of the recorded exchanges in `tests/golden`; what is not implemented answers with the server's
//! "unsupported" error, never silently.
//!
//! * [`EmbeddedCluster`]: starting, stopping and changing a cluster
//! * [`conditions`]: service times and latency, as production clusters have them
//! * [`faults`]: faults on demand
//! * [`schedule`]: what is to happen after so many requests, or so much time
//! * `control` (with the feature of that name): all of it by lines of JSON, for tests in any language
//!
//! Inside: `service` moves bytes (plain threads, one epoll each) and sends a frame to the module that answers it; `batch`,
//! `scan`, `info` and `admin` answer, `record` and `udf` do what one record does; `store`, `index` and `transaction` keep
//! records; `cdt`, `path`, `bits`, `hll`, `exp` and `geo` (regions on the sphere) are operations on values; `value` is what these
//! have in common, and `request` what `service` and those that answer hand to each other. `cluster` is the nodes and who owns
//! what; those that answer know it, and it keeps state of theirs. Only those that move bytes or time read a clock (`service`,
//! `cluster` and what controls them): a request is answered in the time that it comes with (`clock::Now`).

mod admin;
mod batch;
mod bits;
mod cdt;
mod clock;
mod cluster;
mod code;
mod command_line;
pub mod conditions;
#[cfg(feature = "control")]
pub mod control;
mod exp;
pub mod faults;
mod geo;
mod hll;
mod index;
mod info;
mod particle;
mod path;
mod payload;
mod random;
mod record;
mod request;
mod scan;
pub mod schedule;
mod service;
mod store;
#[cfg(feature = "tls")]
mod tls;
mod transaction;
mod udf;
mod value;

pub use cluster::{Builder, ClusterError, EmbeddedCluster, NamespaceOptions, NodeId, NodeInfo, NodeStats};
pub use store::{ConflictResolution, DeviceLimit};
#[cfg(feature = "tls")]
pub use tls::TlsOptions;
