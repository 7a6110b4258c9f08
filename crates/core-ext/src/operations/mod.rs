//! Operations of `operate` and of batch rows.
//!
//! The modules and functions are those of [`aerospike_core::operations`], with an [`Operation`] of our own: the
//! vendor's cannot be looked into, so its bytes could not be put on our own connections. Ours is encoded when it is
//! made, by the [encoders of the wire crate](aerolane_wire::operation). A call goes to aerospike-core only if it holds an
//! operation that was made there (`Operation::from`).
//!
//! What is wrong with the arguments of an operation is told by the call that it is given to, before anything is sent.

pub mod bitwise;
mod encoded;
pub mod exp;
pub mod hll;
mod levels;
pub mod lists;
mod macros;
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

use aerospike_core::operations as core;
use aerospike_core::{Bin, Value};

pub(crate) use self::encoded::Encoded;
use self::encoded::Traits;
use crate::error::{Error, Result};

/// One operation, for `operate` and for batch rows. Built by the functions of [this module](self).
///
/// Equal operations in neighbouring rows of a batch are sent once. Ours are equal when their contents are;
/// aerospike-core's as it defines it (clones of one operation are equal).
#[derive(Clone, Debug, PartialEq)]
pub struct Operation(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Scalar(Scalar),
    Encoded(Encoded),
    Core(Box<core::Operation>),
    Refused(Refused),
}

/// An operation that cannot be sent: why.
#[derive(Clone, Debug)]
struct Refused(Error);

impl PartialEq for Refused {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
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

/// An operation whose bytes we write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ours<'a> {
    Scalar(&'a Scalar),
    Encoded(&'a Encoded),
}

impl Ours<'_> {
    /// Whether the record may be changed.
    #[inline]
    pub(crate) const fn is_write(self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is_write(),
            Self::Encoded(encoded) => encoded.is_write(),
        }
    }

    /// Whether the answer must have a place for each operation because of this one.
    #[inline]
    pub(crate) fn wants_all_answers(self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is_write(),
            Self::Encoded(encoded) => encoded.is_write() || encoded.wants_all_answers(),
        }
    }
}

impl Operation {
    pub(crate) const fn scalar(scalar: Scalar) -> Self {
        Self(Kind::Scalar(scalar))
    }

    fn encoded(
        bin: String,
        traits: Traits,
        kind: Result<u8>,
        value: Vec<u8>,
        core: impl Fn(&str) -> core::Operation + Send + Sync + 'static,
    ) -> Self {
        Self::of(Encoded::new(bin, traits, kind, value, core))
    }

    fn of(encoded: Result<Encoded>) -> Self {
        Self(encoded.map_or_else(|e| Kind::Refused(Refused(e)), Kind::Encoded))
    }

    /// The operation, if its bytes are ours to write.
    ///
    /// # Errors
    /// It is aerospike-core's, or it cannot be sent.
    #[inline]
    pub(crate) fn ours(&self) -> Result<Ours<'_>> {
        match &self.0 {
            Kind::Scalar(scalar) => Ok(Ours::Scalar(scalar)),
            Kind::Encoded(encoded) => Ok(Ours::Encoded(encoded)),
            Kind::Core(_) | Kind::Refused(_) => Err(self.not_ours()),
        }
    }

    #[cold]
    fn not_ours(&self) -> Error {
        match &self.0 {
            Kind::Refused(Refused(e)) => e.clone(),
            _ => Error::client_error("the operation can only be encoded by aerospike-core"),
        }
    }

    /// Whether the record may be changed. Operations that cannot be looked into count as writes.
    pub(crate) fn is_write(&self) -> bool {
        self.ours().map_or(true, Ours::is_write)
    }

    /// The operation of aerospike-core that this one was made from; `None` for those of this module.
    #[must_use]
    pub fn as_core(&self) -> Option<&core::Operation> {
        match &self.0 {
            Kind::Core(op) => Some(op),
            _ => None,
        }
    }

    /// Sets the context: which nested collection an operation works on, in place of one that was set before.
    ///
    /// Operations on whole bins (scalar ones, those of HLLs, expressions, paths) have no use for one: if there is any
    /// level in it, the call that gets such an operation refuses it.
    #[must_use]
    pub fn context(self, ctx: impl Into<Vec<CdtContext>>) -> Self {
        match self.0 {
            Kind::Encoded(encoded) => Self::of(encoded.nest(ctx.into())),
            Kind::Core(op) => Self::from(op.context(ctx)),
            Kind::Scalar(_) if !ctx.into().is_empty() => {
                let text = "a scalar operation works on whole bins; a context is for operations of collections";
                Self(Kind::Refused(Refused(Error::invalid_argument(text))))
            }
            kind => Self(kind),
        }
    }

    /// The same operation for aerospike-core.
    ///
    /// # Errors
    /// It cannot be sent.
    pub(crate) fn to_core(&self) -> Result<core::Operation> {
        match &self.0 {
            Kind::Scalar(scalar) => Ok(scalar.to_core()),
            Kind::Encoded(encoded) => Ok(encoded.to_core()),
            Kind::Core(op) => Ok((**op).clone()),
            Kind::Refused(Refused(e)) => Err(e.clone()),
        }
    }
}

/// The same operations for aerospike-core.
///
/// # Errors
/// One of them cannot be sent.
pub(crate) fn to_core(operations: &[Operation]) -> Result<Vec<core::Operation>> {
    operations.iter().map(Operation::to_core).collect()
}

/// An operation that aerospike-core refuses when it is to send it, with an error of its own.
fn refused_by_core() -> core::Operation {
    core::put(&Bin::new("refused", Value::MultiResult(Vec::new())))
}

impl From<core::Operation> for Operation {
    fn from(op: core::Operation) -> Self {
        Self(Kind::Core(Box::new(op)))
    }
}

/// For calls of aerospike-core itself. What cannot be sent, it then refuses.
impl From<&Operation> for core::Operation {
    fn from(op: &Operation) -> Self {
        op.to_core().unwrap_or_else(|_| refused_by_core())
    }
}

/// As for a reference.
impl From<Operation> for core::Operation {
    fn from(op: Operation) -> Self {
        match op.0 {
            Kind::Core(op) => *op,
            _ => Self::from(&op),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use aerospike_core::{as_bin, expressions};

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
            assert!(ours.as_core().is_none());
            assert_eq!(ours.is_write(), writes);
            assert_eq!(core::Operation::from(&ours), theirs);
            assert_eq!(core::Operation::from(ours.clone().context(vec![])), theirs);
        }
    }

    #[test]
    fn operations_are_equal_when_their_contents_are() {
        let append = |n: i64| lists::append(&ListPolicy::default(), "l", Value::from(n));
        let ctx = || vec![cdt_context::ctx_map_key(Value::from("k"))];
        assert!(append(1).is_write() && !lists::size("l").is_write());
        assert_eq!(append(1), append(1));
        assert_ne!(append(1), append(2));
        assert_ne!(append(1), append(1).context(ctx()));
        assert_eq!(append(1).context(ctx()), append(1).context(ctx()));
        assert_eq!(append(1).context(ctx()).context(vec![]), append(1), "the context is replaced");
        let list = |pad| lists::create("l", ListOrderType::Unordered, pad);
        assert_ne!(list(true), list(false), "inside of a context they are different");
    }

    #[test]
    fn those_of_aerospike_core_stay_as_they_are() {
        let theirs = core::lists::size("l");
        let op = Operation::from(theirs.clone());
        assert_eq!(op.as_core(), Some(&theirs));
        assert!(op.is_write(), "it cannot be looked into");
        assert_eq!(core::Operation::from(op.clone()), theirs);
        assert_eq!(op.clone(), op);
        assert!(op.ours().is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_told() {
        let ctx = vec![cdt_context::ctx_list_index(0)];
        let policy = ListPolicy::default();
        let text = string::StringPolicy::new(string::StringWriteFlags::from_bits(256));
        let bad_key = [(Value::from(1.5), Value::from(1))].into_iter().collect();
        let path = [cdt_context::ctx_list_value(Value::MultiResult(vec![]))];
        let cases = [
            (lists::append_items(&policy, "l", vec![]), "empty"),
            (lists::insert_items(&policy, "l", 0, vec![]), "empty"),
            (lists::set("l", 0, Value::Nil), "nil"),
            (lists::set_with_policy(&policy, "l", 0, Value::Nil), "nil"),
            (lists::append(&policy, "l", Value::OrderedMap(bad_key)), "map key"),
            (lists::append(&policy, "l", Value::KeyValueList(vec![])), "answers"),
            (lists::size("l").context(path.to_vec()), "bin 'l'"),
            (path::select_values("l", &path), "bin 'l'"),
            (string::upper(&text, "s"), "write flags"),
            (get_bin("b").context(ctx.clone()), "scalar"),
            (hll::get_count("h").context(ctx.clone()), "context"),
            (path::select_values("l", &ctx).context(ctx.clone()), "context"),
            (exp::read_exp("e", expressions::int_val(1), exp::ExpReadFlags::DEFAULT).context(ctx.clone()), "context"),
            (string::to_string("s").context(ctx), "context"),
        ];
        for (operation, word) in cases {
            let error = operation.ours().expect_err(word);
            assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
            assert!(error.to_string().contains(word), "{error}");
            assert!(operation.to_core().is_err());
            assert_eq!(core::Operation::from(&operation), refused_by_core());
        }
    }

    #[test]
    fn an_operation_is_small() {
        assert!(size_of::<Operation>() <= size_of::<Bin>() + 8, "{}", size_of::<Operation>());
    }
}
