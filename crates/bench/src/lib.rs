//! The load harness: the same workload on aerospike-core and on every front door of Aerolane.
//!
//! The binary `aerolane-bench` starts one child process per measured client, so that CPU time, memory and warm-up
//! state belong to that client alone, and prints their figures side by side. Read in this order:
//!
//! * [`cli`]: options and environment variables; [`spec`]: one run; [`client_kind`]: the clients
//! * [`workload`]: what is asked of the database; [`worker`]: the loops that ask
//! * [`doors`]: the clients; [`conductor`]: the phases of a run; [`measure`]: counters and latencies;
//!   [`process`]: CPU time and memory; [`ticker`]: the line per second
//! * [`hot`]: the hot paths without network; [`counts`]: their allocations and instructions
//! * [`report`], [`table`]: the figures; [`session`]: all runs of one invocation; [`embedded`]: the cluster to run on

pub mod cli;
pub mod client_kind;
pub mod conductor;
pub mod counts;
pub mod doors;
pub mod embedded;
pub mod hot;
pub mod measure;
pub mod process;
pub mod report;
pub mod session;
pub mod spec;
pub mod table;
pub mod ticker;
pub mod worker;
pub mod workload;
