//! The tables that the operations are written as.

/// Defines the operations of one module and the constants of their codes.
///
/// `CODE = number: way name(argument: kind, ...);` becomes a function `name` that writes the code and the arguments in
/// their order and gives the op type: `read` or `modify`, as named at the table's head. The functions of `values` take
/// closures and hand their errors on; those of `plain` cannot fail.
///
/// Kinds of arguments: `int` (`i64`), `bool`, `text` (`&[u8]`, written as a string value), `value` (a closure that
/// writes one element); with `_opt` an `Option` of it.
macro_rules! operations {
    (
        read $read:ident, modify $modify:ident;
        $( $(#[$doc:meta])* $const:ident = $code:literal: $fallible:ident $way:ident $name:ident(
            $($arg:ident: $kind:ident),* $(,)?
        ); )*
    ) => {
        /// The codes of the operations: the first element of each one's list.
        pub mod code {
            $(
                #[doc = concat!("[`", stringify!($name), "`](super::", stringify!($name), "()).")]
                pub const $const: u8 = $code;
            )*
        }

        $( $crate::operation::macros::operation! {
            $fallible; $(#[$doc])*
            $const $name($($arg: $kind),*) -> $crate::operation::macros::way!($way $read $modify)
        } )*
    };
}

macro_rules! way {
    (read $read:ident $modify:ident) => {
        $crate::message::op::$read
    };
    (modify $read:ident $modify:ident) => {
        $crate::message::op::$modify
    };
}

macro_rules! operation {
    (plain; $(#[$doc:meta])* $const:ident $name:ident($($arg:ident: $kind:ident),*) -> $way:expr) => {
        $(#[$doc])*
        #[allow(clippy::must_use_candidate, reason = "appends; the op type may be known")]
        pub fn $name(
            out: &mut Vec<u8>,
            $($arg: $crate::operation::macros::argument!(type $kind)),*
        ) -> u8 {
            let arguments = 0 $( + $crate::operation::macros::argument!(count $arg $kind) )*;
            #[allow(unused_mut, unused_variables, reason = "some operations have no arguments")]
            let mut writer = $crate::operation::begin(out, code::$const, arguments);
            $( $crate::operation::macros::argument!(write writer $arg $kind); )*
            $way
        }
    };
    (values; $(#[$doc:meta])* $const:ident $name:ident($($arg:ident: $kind:ident),*) -> $way:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// Those of the closures.
        pub fn $name<E>(
            out: &mut Vec<u8>,
            $($arg: $crate::operation::macros::argument!(type $kind)),*
        ) -> Result<u8, E> {
            let arguments = 0 $( + $crate::operation::macros::argument!(count $arg $kind) )*;
            let mut writer = $crate::operation::begin(out, code::$const, arguments);
            $( $crate::operation::macros::argument!(write writer $arg $kind); )*
            Ok($way)
        }
    };
}

macro_rules! argument {
    (type int) => { i64 };
    (type int_opt) => { Option<i64> };
    (type bool) => { bool };
    (type text) => { &[u8] };
    (type text_opt) => { Option<&[u8]> };
    (type value) => { impl FnOnce(&mut $crate::msgpack::Writer<'_>) -> Result<(), E> };
    (type value_opt) => { Option<impl FnOnce(&mut $crate::msgpack::Writer<'_>) -> Result<(), E>> };

    (count $arg:ident int_opt) => { usize::from($arg.is_some()) };
    (count $arg:ident text_opt) => { usize::from($arg.is_some()) };
    (count $arg:ident value_opt) => { usize::from($arg.is_some()) };
    (count $arg:ident $kind:ident) => { 1 };

    (write $writer:ident $arg:ident int) => { $writer.int($arg) };
    (write $writer:ident $arg:ident bool) => { $writer.bool($arg) };
    (write $writer:ident $arg:ident text) => { $writer.str($arg) };
    (write $writer:ident $arg:ident value) => { $arg(&mut $writer)? };
    (write $writer:ident $arg:ident int_opt) => { if let Some($arg) = $arg { $writer.int($arg) } };
    (write $writer:ident $arg:ident text_opt) => { if let Some($arg) = $arg { $writer.str($arg) } };
    (write $writer:ident $arg:ident value_opt) => { if let Some($arg) = $arg { $arg(&mut $writer)? } };
}

pub(crate) use {argument, operation, operations, way};
