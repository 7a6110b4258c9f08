//! Expressions: filters of requests, and the values of expression reads.
//!
//! An expression is msgpack: a constant, or a list of an operation's number and its arguments. It is built first
//! ([`Expression::parse`] finds type errors, result 4), then evaluated on a record; a missing bin, a bin of another
//! type or a division by integer 0 gives "unknown". Semantics follow the golden group `exp`.
//!
//! Where it differs from the server, beyond what is recorded there:
//!
//! * text in the expression language is compiled, as servers from 8.2 on do; what only they can evaluate is refused
//! * regular expressions with back-references are refused
//! * maps that are constants are sorted by key when an operation works on them, or when they are written
//! * an expression that takes too many steps is unknown (see [`work`])
//! * a division of the smallest integer by -1, or an operation on nil that reads, has a result, or none, and kills nobody

mod arithmetic;
mod build;
mod call;
mod eval;
mod pattern;
mod text;
mod work;

pub(crate) use eval::{BinSource, Context, Item};
pub(crate) use text::compiled;
pub(crate) use work::Work;

use crate::code;
use crate::value::{Type, Value};
use build::Node;

/// An expression that has been checked.
#[derive(Debug)]
pub(crate) struct Expression<'a> {
    root: Node<'a>,
    variables: usize,
}

impl<'a> Expression<'a> {
    /// Checks an expression. The error is a result code.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, u8> {
        build::build(bytes)
    }

    /// Checks an expression that has to say true or false.
    pub(crate) fn parse_filter(bytes: &'a [u8]) -> Result<Self, u8> {
        let expression = Self::parse(bytes)?;
        match expression.root.kind() {
            Type::Bool => Ok(expression),
            _ => Err(code::PARAMETER),
        }
    }

    /// The value for a record; `None` is "unknown".
    pub(crate) fn evaluate<'v>(&'v self, context: &'v Context<'v>) -> Option<Value<'v>> {
        let value = eval::evaluate(&self.root, self.variables, context, None);
        value.filter(|value| *value != Value::Remove)
    }

    /// The value for an item that a path has found, `None` being "unknown". Such an expression sees no record.
    pub(crate) fn evaluate_on<'v>(&'v self, item: Item<'v>) -> Option<Value<'v>> {
        eval::evaluate(&self.root, self.variables, &eval::NO_RECORD, Some(item))
    }

    /// The type of the value as secondary indexes name it; `None` for types that cannot be indexed, or are not known.
    pub(crate) fn index_type(&self) -> Option<&'static str> {
        match self.root.kind() {
            Type::Int => Some("numeric"),
            Type::Str => Some("string"),
            Type::Blob => Some("blob"),
            Type::Geo => Some("geo2dsphere"),
            _ => None,
        }
    }

    /// Whether a filter lets a record pass: unknown does not.
    pub(crate) fn matches(&self, context: &Context<'_>) -> bool {
        matches!(self.evaluate(context), Some(Value::Bool(true)))
    }
}
