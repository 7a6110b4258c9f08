//! Operations whose bytes are ours: everything but the scalar ones.

use std::fmt;
use std::sync::Arc;

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation;
use aerospike_core::Value;
use aerospike_core::expressions::{self, Expression};
use aerospike_core::operations as core;
use aerospike_core::operations::CdtContext;

use super::levels::Levels;
use crate::command::check::cut;
use crate::command::encode;
use crate::command::value::{self, ValueError};
use crate::error::{Error, Result};

/// Room for the value of an operation with a small argument or two.
const VALUE_CAPACITY: usize = 48;

/// An operation as it stands on the wire, made when it is constructed.
///
/// Equal when the bytes are.
#[derive(Clone)]
pub(crate) struct Encoded {
    /// The op type.
    kind: u8,
    traits: Traits,
    bin: String,
    /// The value without a context.
    value: Vec<u8>,
    context: Option<Box<Context>>,
    /// Makes the same operation of aerospike-core, for the calls that only aerospike-core carries out.
    core: Arc<dyn Fn(&str) -> core::Operation + Send + Sync>,
}

/// An empty buffer for the value of an operation.
pub(super) fn room() -> Vec<u8> {
    Vec::with_capacity(VALUE_CAPACITY)
}

/// What is to be known of an operation beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits {
    /// Whether it works inside a context.
    pub(super) nests: bool,
    /// What it creates at the end of its context, see [`operation::context::nest`].
    pub(super) create: u8,
}

impl Traits {
    pub(super) const NESTS: Self = Self { nests: true, create: 0 };
    pub(super) const WHOLE_BIN: Self = Self { nests: false, create: 0 };
}

#[derive(Clone)]
struct Context {
    levels: Vec<CdtContext>,
    /// The operation's value inside of this context.
    value: Vec<u8>,
}

impl Encoded {
    /// An operation of this op type (or why it has none), with this value.
    pub(super) fn new(
        bin: String,
        traits: Traits,
        kind: Result<u8>,
        value: Vec<u8>,
        core: impl Fn(&str) -> core::Operation + Send + Sync + 'static,
    ) -> Result<Self> {
        match kind {
            Ok(kind) => Ok(Self { kind, traits, bin, value, context: None, core: Arc::new(core) }),
            Err(e) => Err(about_bin(&bin, &e)),
        }
    }

    /// The same operation inside of a context, in place of the one that it has.
    pub(super) fn nest(mut self, levels: Vec<CdtContext>) -> Result<Self> {
        if !self.traits.nests && !levels.is_empty() {
            let text = "it works on whole bins; a context is for operations of lists, maps, bits and strings";
            return Err(about_bin(&self.bin, &Error::invalid_argument(text)));
        }
        let mut value = Vec::new();
        let packed = Levels::of(&levels).map_err(|e| about_bin(&self.bin, &e))?;
        operation::context::nest(&mut value, packed.iter(), self.traits.create, &self.value);
        self.context = Some(Box::new(Context { levels, value }));
        Ok(self)
    }

    pub(crate) const fn kind(&self) -> u8 {
        self.kind
    }

    pub(crate) const fn bin(&self) -> &str {
        self.bin.as_str()
    }

    /// The value as it stands on the wire.
    pub(crate) fn value(&self) -> &[u8] {
        self.context.as_ref().map_or(&self.value, |context| &context.value)
    }

    pub(crate) const fn is_write(&self) -> bool {
        operation::is_write(self.kind)
    }

    /// Whether the answer must have a place for each operation because of this one.
    pub(crate) fn wants_all_answers(&self) -> bool {
        operation::wants_all_answers(self.kind, &self.value)
    }

    pub(super) fn to_core(&self) -> core::Operation {
        let operation = (self.core)(&self.bin);
        match &self.context {
            Some(context) => operation.context(context.levels.clone()),
            None => operation,
        }
    }
}

impl PartialEq for Encoded {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.bin == other.bin
            && self.traits == other.traits
            && self.value() == other.value()
            && self.value == other.value
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoded")
            .field("kind", &self.kind)
            .field("bin", &self.bin)
            .field("context", &self.context.as_ref().map(|context| &context.levels))
            .field("value", &format_args!("{:02x?}", self.value))
            .finish_non_exhaustive()
    }
}

/// The error of an operation that cannot be sent, with the name of its bin.
#[cold]
fn about_bin(bin: &str, e: &Error) -> Error {
    Error::invalid_argument(format!("an operation on bin '{}' cannot be sent: {}", cut(bin), e.base_message()))
}

/// What the encoders give, as one type: those without values cannot fail.
pub(super) trait Outcome {
    fn outcome(self) -> Result<u8>;
}

impl Outcome for u8 {
    fn outcome(self) -> Result<u8> {
        Ok(self)
    }
}

impl Outcome for Result<u8> {
    fn outcome(self) -> Result<u8> {
        self
    }
}

/// Writes one value, for the encoders.
pub(super) fn one(value: &Value) -> impl FnOnce(&mut Writer<'_>) -> Result<()> {
    |writer| value::encode_element(value, writer).map_err(bad_value)
}

/// Writes one value, unless it is nil, which stands for "none" there.
pub(super) fn unless_nil(value: &Value) -> Option<impl FnOnce(&mut Writer<'_>) -> Result<()>> {
    (!matches!(value, Value::Nil)).then(|| one(value))
}

/// Writes a list of values, for the encoders.
pub(super) fn all(values: &[Value]) -> impl FnOnce(&mut Writer<'_>) -> Result<()> {
    |writer| value::encode_elements(values, writer).map_err(bad_value)
}

/// Writes what is encoded already, for the encoders.
pub(super) fn raw(bytes: &[u8]) -> impl FnOnce(&mut Writer<'_>) -> Result<()> {
    |writer| {
        writer.raw(bytes);
        Ok(())
    }
}

#[cold]
fn bad_value(e: ValueError) -> Error {
    Error::invalid_argument(e.to_string())
}

/// The bytes of an expression, which aerospike-core can be given back.
pub(super) struct Packed(Result<Vec<u8>>);

impl Packed {
    pub(super) fn of(expression: &Expression) -> Self {
        let mut bytes = Vec::new();
        Self(encode::expression(expression, &mut bytes).map(|()| bytes))
    }

    pub(super) fn bytes(&self) -> Result<&[u8]> {
        self.0.as_deref().map_err(Clone::clone)
    }

    pub(super) fn to_core(&self) -> Expression {
        // An operation without the bytes was refused.
        expressions::from_packed_bytes(self.0.as_deref().unwrap_or_default().to_vec())
    }
}
