//! The tables that the operations' constructors are written as.

/// Defines constructors: `name(argument: kind, ...) |out| encode;`.
///
/// Each has the name and the arguments of the one in aerospike-core's module, encodes its operation with the
/// expression (an encoder of the wire crate, with `out` as its buffer), and remembers how to make aerospike-core's. At the
/// head: aerospike-core's module, what the operations have in common, and the name of the argument that names the bin.
///
/// Kinds of arguments: `bin`, `text` (a string), `value`, `values`, `expression`, `path` (a context); the policies; and
/// all types that are copied.
macro_rules! constructors {
    (
        $module:ident, $traits:expr, $bin:ident;
        $( $(#[$note:meta])* $name:ident($($arg:ident: $kind:ident),*) |$out:ident| $encode:expr; )*
    ) => {$(
        #[doc = concat!(
            "As [`aerospike_core::operations::", stringify!($module), "::", stringify!($name), "`]."
        )]
        $(#[$note])*
        #[must_use]
        pub fn $name($($arg: $crate::operations::macros::parameter!(type $kind)),*) -> $crate::operations::Operation {
            $( $crate::operations::macros::parameter!(own $arg $kind); )*
            let mut value = $crate::operations::encoded::room();
            let encode = |$out: &mut Vec<u8>| -> $crate::Result<u8> {
                $crate::operations::encoded::Outcome::outcome($encode)
            };
            let kind = encode(&mut value);
            let core = move |$bin: &str| {
                aerospike_core::operations::$module::$name(
                    $($crate::operations::macros::parameter!(lend $arg $kind)),*
                )
            };
            $crate::operations::Operation::encoded($bin, $traits, kind, value, core)
        }
    )*};
}

macro_rules! parameter {
    (type bin) => { impl Into<String> };
    (type text) => { impl Into<String> };
    (type value) => { aerospike_core::Value };
    (type values) => { Vec<aerospike_core::Value> };
    (type expression) => { aerospike_core::expressions::Expression };
    (type path) => { &[aerospike_core::operations::CdtContext] };
    (type ListPolicy) => { &ListPolicy };
    (type MapPolicy) => { &MapPolicy };
    (type BitPolicy) => { &BitPolicy };
    (type HllPolicy) => { &HllPolicy };
    (type StringPolicy) => { &StringPolicy };
    (type $copied:ident) => { $copied };

    (own $arg:ident bin) => { let $arg: String = $arg.into(); };
    (own $arg:ident text) => { let $arg: String = $arg.into(); };
    (own $arg:ident expression) => { let $arg = $crate::operations::encoded::Packed::of(&$arg); };
    (own $arg:ident path) => { let $arg = $arg.to_vec(); };
    (own $arg:ident ListPolicy) => { let $arg = *$arg; };
    (own $arg:ident MapPolicy) => { let $arg = *$arg; };
    (own $arg:ident BitPolicy) => { let $arg = *$arg; };
    (own $arg:ident HllPolicy) => { let $arg = *$arg; };
    (own $arg:ident StringPolicy) => { let $arg = *$arg; };
    (own $arg:ident $kind:ident) => {};

    (lend $arg:ident bin) => { $arg };
    (lend $arg:ident text) => { $arg.as_str() };
    (lend $arg:ident value) => { $arg.clone() };
    (lend $arg:ident values) => { $arg.clone() };
    (lend $arg:ident expression) => { $arg.to_core() };
    (lend $arg:ident path) => { &$arg };
    (lend $arg:ident ListPolicy) => { &$arg };
    (lend $arg:ident MapPolicy) => { &$arg };
    (lend $arg:ident BitPolicy) => { &$arg };
    (lend $arg:ident HllPolicy) => { &$arg };
    (lend $arg:ident StringPolicy) => { &$arg };
    (lend $arg:ident BitwiseOverflowActions) => { $arg.clone() };
    (lend $arg:ident $copied:ident) => { $arg };
}

pub(super) use {constructors, parameter};
