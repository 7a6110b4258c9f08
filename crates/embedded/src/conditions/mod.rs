//! Conditions of a production cluster, per node: requests that take time, and a network that does.
//!
//! An embedded cluster answers in a few microseconds over loopback. The clusters that people run do not, and a client that
//! is fast on the one can be slow on the other. [`Conditions`] add what makes the difference:
//!
//! * **Service time**: how long the server works on a request, for each [`ServiceKind`] a distribution ([`ServiceTime`]).
//!   It **occupies the connection**: a node works on one request of a connection at a time and answers strictly in order,
//!   so `k` requests that are pipelined on one connection take the sum of their service times. It uses no processor.
//! * **Limit of requests in service** ([`Conditions::in_service`]): the others wait in line, in order of arrival over all
//!   connections of the node.
//! * **Latency** ([`Latency`]): how long bytes are on the way, each way. It occupies nothing: any number of requests and
//!   answers can be on the way at once. Their order on a connection is kept.
//!
//! A request that arrives at a node waits until the connection has answered those before it, then in the node's line, then
//! it is executed and in service. The answer leaves at the end of the service. So a lone request is answered after
//! `latency + service time + latency`.
//!
//! Set them with [`Builder::conditions`](crate::Builder::conditions) and, while the cluster runs, with
//! [`set_conditions`](crate::EmbeddedCluster::set_conditions) or by the info command `aerolane-conditions`. A change
//! concerns requests that arrive after it; those in service or in line keep their times. [`faults`](crate::faults) work as
//! ever: what they delay, they delay in addition.
//!
//! # Exactness
//!
//! No answer comes before its time. How much later it comes is up to the system: on Linux, timers have the resolution of
//! the hardware (they are timerfds, which have no slack), and a thread that sleeps until one goes off wakes some 10 to 50 µs
//! later, depending on the processor's idle states and on who else wants the processors. Errors do not add up: a request
//! that was there already when the one before it was done begins at that time, not when a thread has come to it. On other
//! systems, timers are as exact as the kernel's way to wait for sockets: microseconds to a millisecond on macOS.
//! `cargo run --release -p aerolane-embedded --example conditions` measures it.
//!
//! # What this models, and what it does not
//!
//! Queueing is modelled at two places: on the connection, and in the node's line. Everything else has no queue of its own:
//!
//! * There is no disk, no cache, no replication between nodes and no CPU cost of the server. Their time is part of the
//!   service time, and independent of load, key, record size and number of rows: a distribution is all there is.
//! * A batch is one service, as long for a thousand rows as for one. A query has its service time before the first record;
//!   its records then come as fast as they are read. A stream takes no place in the line.
//! * Info requests, logins and user administration have no service time. They do have latency, and wait for their turn on
//!   the connection.
//! * Latency is between client and node only, the same for all clients of a node. There is no bandwidth, no loss and no
//!   congestion. About 1 MiB per connection can be on the way in each direction, as with a TCP window. A connection's
//!   handshake is done by the system at once; in its place, the first request arrives a round trip later than others if it
//!   is sent right away. The handshake of TLS is not delayed, nor is the end of a connection that a client closes.
//! * What the embedded cluster itself costs (some µs of processor time per request, more under conditions as each request
//!   then needs a timer) comes on top. If client and cluster share the processors, a busy client makes the cluster late.

mod command;
mod duration;
mod error;
mod kind;
mod latency;
mod node;
mod service_time;
mod settings;

pub(crate) use command::handle as handle_command;
#[cfg(feature = "control")]
pub(crate) use duration::parse as parse_duration;
pub use error::ConditionsError;
use kind::KINDS;
pub use kind::{ServiceKind, ServiceTimes};
pub use latency::Latency;
pub(crate) use node::{Booking, NodeConditions, Share};
pub use service_time::ServiceTime;
pub use settings::{Conditions, DEFAULT_IN_SERVICE, MAX_IN_SERVICE};
