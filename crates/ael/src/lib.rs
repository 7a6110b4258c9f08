//! The Aerospike Expression Language (AEL): text to the expressions that every server understands.
//!
//! ```
//! use aerolane_ael::{Param, compile};
//!
//! let filter = compile("$.age > ?0 and $.country == ?1", &[Param::from(25), Param::from("US")])?;
//! assert!(filter.is_condition());
//! # Ok::<(), aerolane_ael::AelError>(())
//! ```
//!
//! [`compile`] gives the bytes of an expression: the same that the constructors of a client give. Servers since 5.2
//! evaluate them; only servers from 8.2 on understand the text itself. Parameters are bound as values: whatever is in
//! them, it is never read as text of the language. [`Compiled::needs`] tells which server an expression needs, and
//! [`compile_for`] refuses what a server does not have.
//!
//! [`context`] compiles a path to the steps of a context, and [`select()`](select::select) finds the secondary index
//! that serves a text, of those that the nodes of a cluster [list](listed).
//!
//! Functions that change something (`$.list.append(1)`, `$.map.key.setTo(2)`, `$.list.*.modify(@ + 1)`) give the whole
//! list, map, blob or sketch, changed. Nothing is written by them: operations of records write what an expression gives.
//! What this compiler lacks of the language is [`AelErrorKind::Unsupported`].

mod constant;
mod emit;
mod error;
mod functions;
mod lexer;
pub mod listed;
mod parse;
pub mod select;
mod tree;
mod types;
mod version;

pub use constant::Param;
pub use emit::{Compiled, Level};
pub use error::{AelError, AelErrorKind, Span};
pub use types::Type;
pub use version::Version;

/// Most bytes of a text.
pub const MAX_TEXT: usize = 64 * 1024;
/// Deepest nesting, of the text and of the expression: little enough for the stacks of small threads (128 KiB).
pub const MAX_DEPTH: u16 = 48;
/// Most parts of an expression: literals, steps of paths, operators.
pub const MAX_NODES: u32 = 10_000;

/// Compiles a text, for servers of any version.
///
/// `params` are the values of the placeholders: `?0`, `?1`, .. or `$1`, `$2`, .. by number, or `%s` one after the other.
/// A `%s` between quotes becomes part of the string. All parameters have to be used.
///
/// # Errors
/// An [`AelError`] that says what is wrong, and where.
pub fn compile(text: &str, params: &[Param]) -> Result<Compiled, AelError> {
    emit::compile(&parse::parse(text, params)?, None)
}

/// Compiles a text for servers from this version on.
///
/// # Errors
/// As [`compile`], and with [`AelErrorKind::Version`] for what these servers do not have.
pub fn compile_for(text: &str, params: &[Param], server: Version) -> Result<Compiled, AelError> {
    emit::compile(&parse::parse(text, params)?, Some(server))
}

/// Compiles a text that filters records, for servers of any version.
///
/// # Errors
/// As [`compile`], and with [`AelErrorKind::Type`] for a text whose value is neither true nor false.
pub fn condition(text: &str, params: &[Param]) -> Result<Compiled, AelError> {
    let tree = parse::parse(text, params)?;
    emit::condition(&tree, None)
}

/// Compiles a text that filters records, for servers from this version on.
///
/// # Errors
/// As [`condition`] and [`compile_for`].
pub fn condition_for(text: &str, params: &[Param], server: Version) -> Result<Compiled, AelError> {
    let tree = parse::parse(text, params)?;
    emit::condition(&tree, Some(server))
}

/// Compiles a path, as in `$.bin.key.[0]`, to the steps behind the bin: a context.
///
/// # Errors
/// An [`AelError`], for a path without steps too, and for one with ranges or functions.
pub fn context(path: &str, params: &[Param]) -> Result<Vec<Level>, AelError> {
    let mut parser = parse::Parser::new(path, params)?;
    let path = parser.context()?;
    Ok(emit::levels_of(&path.steps))
}
