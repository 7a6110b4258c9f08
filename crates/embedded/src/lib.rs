//! An in-process cluster that speaks the Aerospike wire protocol on loopback ports.
//!
//! For tests and for trying things out, never for production: everything is in memory. Its specification is the real
//! server, by way of the recorded exchanges in `tests/golden`; what is not implemented answers with the server's
//! "unsupported" error, never silently.
//!
//! * [`EmbeddedCluster`]: starting, stopping and changing a cluster
//! * [`conditions`]: service times and latency, as production clusters have them
//! * [`faults`]: faults on demand
//! * `control` (with the feature of that name): all of it by lines of JSON, for tests in any language
//!
//! Inside: `service` moves bytes (plain threads, one epoll each), `dispatch` sends a frame to the module that answers
//! it, `record` holds what one record does, `cdt`, `path`, `bits`, `hll` and `exp` what operations do with a value,
//! `geo` regions on the sphere, `store` keeps the records, and `cluster`, `info`, `batch`, `scan` and `admin` the rest.

mod admin;
mod batch;
mod bits;
mod cdt;
mod clock;
mod cluster;
mod code;
pub mod conditions;
#[cfg(feature = "control")]
pub mod control;
mod exp;
pub mod faults;
mod geo;
mod hll;
mod index;
mod info;
mod path;
mod payload;
mod record;
mod scan;
mod service;
mod store;
#[cfg(feature = "tls")]
mod tls;
mod transaction;
mod udf;

pub use cluster::{Builder, ClusterError, EmbeddedCluster, NamespaceOptions, NodeId, NodeInfo, NodeStats};
#[cfg(feature = "tls")]
pub use tls::TlsOptions;
