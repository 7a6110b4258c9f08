//! The load harness: the same workload on aerospike-core and on every client type of Aerolane.
//!
//! The binary `aerolane-bench` starts one child process per measured client, so that CPU time, memory and warm-up
//! state belong to that client alone, and prints their figures side by side. Read in this order:
//!
//! * [`cli`]: options and environment variables; [`spec`]: one run; [`client_kind`]: the clients
//! * [`workload`]: what is asked of the database; [`worker`]: the loops that ask
//! * [`schedule`], [`pacer`]: when the operations of an open loop are due; [`background`]: large reads beside the others
//! * [`clients`]: the clients; [`conductor`]: the phases of a run; [`measure`]: counters, [`latency`]: histograms;
//!   [`process`]: CPU time and memory; [`ticker`]: the line per second
//! * [`hot_paths`]: the hot paths without network; [`counts`]: their allocations and instructions
//! * [`report`], [`table`]: the figures; [`session`]: all runs of one invocation; [`embedded`]: the cluster to run on,
//!   under which [`conditions`] and over [`tls`]

pub mod background;
pub mod cli;
pub mod client_kind;
pub mod clients;
pub mod conditions;
pub mod conductor;
pub mod counts;
pub mod embedded;
pub mod hot_paths;
pub mod latency;
pub mod measure;
pub mod pacer;
pub mod process;
pub mod report;
pub mod schedule;
pub mod session;
pub mod spec;
pub mod table;
pub mod ticker;
pub mod tls;
pub mod worker;
pub mod workload;
