//! The Aerospike Expression Language: text to filters, for every server.
//!
//! ```
//! use aerolane::ael;
//!
//! let filter = ael::filter("$.age > ?0 and $.country == 'US'", &[25.into()])?;
//! let policy = aerolane::QueryPolicy {
//!     base_policy: aerolane::BasePolicy { filter_expression: Some(filter), ..Default::default() },
//!     ..Default::default()
//! };
//! # let _ = policy;
//! # Ok::<(), ael::AelError>(())
//! ```
//!
//! The compiler is the crate `aerolane-ael`; all of it is here too.

pub use aerolane_ael::*;

use aerospike_core::expressions::{Expression, from_packed_bytes};

/// Compiles a text to an expression of aerospike-core: a filter, or the value of an expression operation.
///
/// # Errors
/// Those of [`compile`].
pub fn expression(text: &str, params: &[Param]) -> Result<Expression, AelError> {
    compile(text, params).map(|compiled| from_packed_bytes(compiled.into_bytes().into()))
}

/// Returns the version of a node as the compiler takes it.
#[must_use]
pub fn version(node: &aerospike_core::Version) -> Version {
    let part = |part: u64| u16::try_from(part).unwrap_or(u16::MAX);
    Version::new(part(node.major), part(node.minor), part(node.patch))
}

/// Compiles a text to a filter of aerospike-core.
///
/// # Errors
/// Those of [`condition`].
pub fn filter(text: &str, params: &[Param]) -> Result<Expression, AelError> {
    condition(text, params).map(|compiled| from_packed_bytes(compiled.into_bytes().into()))
}
