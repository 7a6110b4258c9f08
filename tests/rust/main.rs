//! The integration tests in one program, so that client and server are linked once. Tests that count the allocations,
//! threads or memory of a process, or keep it busy, are programs of their own.

mod administration;
mod adversity_cluster;
mod adversity_faults;
mod adversity_giving_up;
mod adversity_ledger;
mod adversity_nothing_lost;
mod adversity_outage;
#[path = "common/any_client.rs"]
mod any_client;
mod bad_input;
mod client_batch;
mod client_calls;
mod client_trouble;
mod common;
#[cfg(feature = "tls")]
mod control_plane;
mod host_driver;
mod host_faults;
#[cfg(feature = "tls")]
mod host_tls;
mod invalid_arguments;
mod large_batches;
mod metrics;
mod metrics_export;
mod one_line;
#[cfg(feature = "tls")]
mod pki;
#[path = "common/poll_loop.rs"]
mod poll_loop;
mod query_plan;
mod raw_batch;
mod raw_calls;
mod raw_query;
mod stats;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
mod writer;
mod writer_adversity;
mod writer_chaos;
mod writer_export;
mod writer_lone;
mod writer_puts;
