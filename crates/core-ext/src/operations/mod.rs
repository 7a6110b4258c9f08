//! Operations of `operate` and of batch rows.
//!
//! The modules and functions are those of [`aerospike_core::operations`], with an [`Operation`] of our own: the
//! vendor's cannot be looked into, so its bytes could not be put on our own connections. The scalar operations
//! ([`get`], [`put`], [`add`] and their like) are ours and take the short way; all the others are wrapped, and a call
//! that holds one of them is carried out by aerospike-core.

pub mod bitwise;
pub mod exp;
pub mod hll;
pub mod lists;
pub mod maps;
pub mod path;
pub mod scalar;
pub mod string;

pub use aerospike_core::operations::cdt_context;
pub use aerospike_core::operations::{
    CdtContext, ListOrderType, ListPolicy, ListReturnType, ListSortFlags, ListWriteFlags, MapOrder, MapPolicy,
    MapReturnType, MapWriteFlags,
};

pub use self::scalar::{add, append, delete, get, get_bin, get_header, prepend, put, touch};

use aerospike_core::Bin;
use aerospike_core::operations as core;

/// One operation, for `operate` and for batch rows. Built by the functions of [this module](self).
///
/// Equal operations in neighbouring rows of a batch are sent once. Scalar operations are equal when their contents
/// are; the others as aerospike-core defines it (clones of one operation are equal).
#[derive(Clone, Debug, PartialEq)]
pub struct Operation(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Scalar(Scalar),
    Core(Box<core::Operation>),
}

/// What a scalar operation does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// Read all bins.
    Get,
    /// Read no bins: generation and expiration only.
    GetHeader,
    /// Read one bin.
    GetBin(String),
    /// Write a bin.
    Put(Bin),
    /// Add to a number.
    Add(Bin),
    /// Append to a string or blob.
    Append(Bin),
    /// Prepend to a string or blob.
    Prepend(Bin),
    /// Reset the TTL.
    Touch,
    /// Delete the record.
    Delete,
}

impl Scalar {
    /// Whether the record may be changed.
    pub(crate) const fn is_write(&self) -> bool {
        !matches!(self, Self::Get | Self::GetHeader | Self::GetBin(_))
    }

    fn to_core(&self) -> core::Operation {
        match self {
            Self::Get => core::get(),
            Self::GetHeader => core::get_header(),
            Self::GetBin(name) => core::get_bin(name.as_str()),
            Self::Put(bin) => core::put(bin),
            Self::Add(bin) => core::add(bin),
            Self::Append(bin) => core::append(bin),
            Self::Prepend(bin) => core::prepend(bin),
            Self::Touch => core::touch(),
            Self::Delete => core::delete(),
        }
    }
}

impl Operation {
    pub(crate) const fn scalar(scalar: Scalar) -> Self {
        Self(Kind::Scalar(scalar))
    }

    /// Whether this is one of the scalar operations, which need no help of aerospike-core.
    #[must_use]
    pub const fn is_scalar(&self) -> bool {
        matches!(self.0, Kind::Scalar(_))
    }

    pub(crate) const fn as_scalar(&self) -> Option<&Scalar> {
        match &self.0 {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::Core(_) => None,
        }
    }

    /// The wrapped operation of aerospike-core; `None` for scalar operations.
    #[must_use]
    pub fn as_core(&self) -> Option<&core::Operation> {
        match &self.0 {
            Kind::Scalar(_) => None,
            Kind::Core(op) => Some(op),
        }
    }

    /// Sets the context: which nested collection a collection operation works on. Scalar operations have no use for it.
    #[must_use]
    pub fn context(self, ctx: impl Into<Vec<CdtContext>>) -> Self {
        match self.0 {
            Kind::Scalar(scalar) => Self(Kind::Scalar(scalar)),
            Kind::Core(op) => Self::from(op.context(ctx)),
        }
    }
}

impl From<core::Operation> for Operation {
    fn from(op: core::Operation) -> Self {
        Self(Kind::Core(Box::new(op)))
    }
}

impl From<&Operation> for core::Operation {
    fn from(op: &Operation) -> Self {
        match &op.0 {
            Kind::Scalar(scalar) => scalar.to_core(),
            Kind::Core(op) => (**op).clone(),
        }
    }
}

impl From<Operation> for core::Operation {
    fn from(op: Operation) -> Self {
        match op.0 {
            Kind::Scalar(scalar) => scalar.to_core(),
            Kind::Core(op) => *op,
        }
    }
}

/// Defines functions that wrap the operations of the function of the same name in aerospike-core.
macro_rules! forward {
    ($module:ident; $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        #[doc = concat!(
            "As [`aerospike_core::operations::", stringify!($module), "::", stringify!($name),
            "`], for this crate's `operate` and `batch`."
        )]
        #[must_use]
        pub fn $name($($arg: $ty),*) -> Operation {
            Operation::from(aerospike_core::operations::$module::$name($($arg),*))
        }
    )*};
}
use forward;

#[cfg(test)]
mod tests {
    use super::*;
    use aerospike_core::{Value, as_bin};

    #[test]
    fn scalar_operations_become_the_same_ones_of_aerospike_core() {
        let bin = as_bin!("b", 7);
        let pairs: [(Operation, core::Operation, bool); 9] = [
            (get(), core::get(), false),
            (get_header(), core::get_header(), false),
            (get_bin("b"), core::get_bin("b"), false),
            (put(&bin), core::put(&bin), true),
            (add(&bin), core::add(&bin), true),
            (append(&bin), core::append(&bin), true),
            (prepend(&bin), core::prepend(&bin), true),
            (touch(), core::touch(), true),
            (delete(), core::delete(), true),
        ];
        for (ours, theirs, writes) in pairs {
            assert!(ours.is_scalar() && ours.as_core().is_none());
            assert_eq!(ours.as_scalar().map(Scalar::is_write), Some(writes));
            assert_eq!(core::Operation::from(&ours), theirs);
            assert_eq!(core::Operation::from(ours.clone().context(vec![])), theirs);
        }
    }

    #[test]
    fn other_operations_are_wrapped_with_their_context() {
        let ctx = vec![cdt_context::ctx_map_key(Value::from("k"))];
        let op = lists::append(&ListPolicy::default(), "l", Value::from(1)).context(ctx.clone());
        assert!(!op.is_scalar());
        let text = format!("{:?}", op.as_core().unwrap());
        assert!(text.contains(&format!("{:?}", ctx[0])), "{text}");
        assert_eq!(op.clone(), op, "clones are equal, so that batches can repeat them");
        let back: core::Operation = op.clone().into();
        assert_eq!(Operation::from(back), op);
    }

    #[test]
    fn an_operation_is_small() {
        assert!(size_of::<Operation>() <= size_of::<Bin>() + 8, "{}", size_of::<Operation>());
    }
}
