//! The configuration file of Aerospike's SDKs: settings of clusters, and behaviors, from YAML.
//!
//! ```
//! use std::time::Duration;
//!
//! let config = aerolane_config::parse(
//!     "
//! system:
//!   DEFAULT:
//!     connections:
//!       maximum_connections_per_node: 64
//! behaviors:
//!   quick:
//!     parent: READ_FAST
//!     all_operations:
//!       abandon_call_after: 50ms
//! ",
//! )?;
//! assert_eq!(config.system(Some("payments")).max_connections_per_node, Some(64));
//! let (_, settings) = &config.behaviors[0].changes[0];
//! assert_eq!(settings.total_timeout, Some(Duration::from_millis(50)));
//! # Ok::<(), aerolane_config::Problem>(())
//! ```
//!
//! * [`parse`]: text to a [`Config`]. What is no YAML is an error; a key that cannot be used is a [`Problem`] beside the
//!   rest, with its line.
//! * [`Settings`], [`Scope`]: what a behavior says about calls, and about which ones
//! * [`System`]: what a cluster goes by
//! * [`value`]: durations and sizes with units
//!
//! Nothing here opens a file, keeps a behavior, or connects. What is read is bounded: [`MAX_BYTES`], [`MAX_DEPTH`],
//! [`MAX_NODES`].

pub mod client;
mod config;
mod problem;
mod read;
mod scope;
mod settings;
mod system;
pub mod value;
mod yaml;

pub use config::{BehaviorChanges, Config};
pub use problem::Problem;
pub use read::{DEFAULT, parse};
pub use scope::Scope;
pub use settings::Settings;
pub use system::{Exporter, LatencyUnit, Metrics, System, Transactions};
pub use yaml::{MAX_BYTES, MAX_DEPTH, MAX_NODES};
