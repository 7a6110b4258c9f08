//! The functions that are called on a value: `$.name.lower()`.

use aerolane_wire::operation::{bit, hll, list, string};

use crate::Version;
use crate::types::Type;

/// A number that operations do not have, only expressions.
const HLL_MAY_CONTAIN: u8 = 56;

/// How a function's operation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The number, and the arguments.
    Read,
    /// It gives a changed value: the number, the arguments, and write flags (0).
    Modify,
    /// As `Modify`, but without flags if an argument is missing.
    ModifyOpen,
    /// As `Modify`, with the arguments in a list.
    ModifyPair,
    /// An expression of its own, not an operation of a module.
    Plain,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// What it is called on; `None`: any type that has text.
    pub(crate) receiver: Option<Type>,
    /// The number of the module.
    pub(crate) module: u8,
    pub(crate) code: u8,
    pub(crate) shape: Shape,
    /// Names and types of the arguments; `None`: a list, or one HLL.
    pub(crate) arguments: &'static [(&'static str, Option<Type>)],
    /// How many arguments must be given.
    pub(crate) required: usize,
    pub(crate) gives: Type,
    pub(crate) since: Version,
}

const CDT: u8 = 0;
const BITS: u8 = 1;
const HLL: u8 = 2;
const STRING: u8 = 3;
const V5_2: Version = Version::new(5, 2, 0);
const V8_2: Version = Version::new(8, 2, 0);

type Argument = (&'static str, Option<Type>);
const I: Option<Type> = Some(Type::Int);
const S: Option<Type> = Some(Type::String);
const B: Option<Type> = Some(Type::Bool);
const L: Option<Type> = Some(Type::List);

const fn text(
    name: &'static str,
    code: u8,
    shape: Shape,
    arguments: &'static [Argument],
    required: usize,
    gives: Type,
) -> Method {
    let receiver = Some(Type::String);
    Method { name, receiver, module: STRING, code, shape, arguments, required, gives, since: V8_2 }
}

const fn sketch(name: &'static str, code: u8, arguments: &'static [Argument], gives: Type) -> Method {
    let required = arguments.len();
    let receiver = Some(Type::Hll);
    Method { name, receiver, module: HLL, code, shape: Shape::Read, arguments, required, gives, since: V5_2 }
}

const fn bits(name: &'static str, code: u8, arguments: &'static [Argument], gives: Type) -> Method {
    let required = arguments.len();
    let receiver = Some(Type::Blob);
    Method { name, receiver, module: BITS, code, shape: Shape::Read, arguments, required, gives, since: V5_2 }
}

use Shape::{Modify, ModifyOpen, ModifyPair, Plain, Read};
use string::code as str_code;

static METHODS: [Method; 47] = [
    text("strlen", str_code::STRLEN, Read, &[], 0, Type::Int),
    text("length", str_code::STRLEN, Read, &[], 0, Type::Int),
    text("substr", str_code::SUBSTR, Read, &[("from", I), ("to", I)], 1, Type::String),
    text("charAt", str_code::CHAR_AT, Read, &[("index", I)], 1, Type::String),
    text("find", str_code::FIND, Read, &[("needle", S), ("occurrence", I)], 1, Type::Int),
    text("indexOf", str_code::FIND, Read, &[("needle", S), ("occurrence", I)], 1, Type::Int),
    text("contains", str_code::CONTAINS, Read, &[("needle", S)], 1, Type::Bool),
    text("startsWith", str_code::STARTS_WITH, Read, &[("prefix", S)], 1, Type::Bool),
    text("endsWith", str_code::ENDS_WITH, Read, &[("suffix", S)], 1, Type::Bool),
    text("bytesLength", str_code::BYTE_LENGTH, Read, &[], 0, Type::Int),
    text("isNumeric", str_code::IS_NUMERIC, Read, &[], 0, Type::Bool),
    text("isUpper", str_code::IS_UPPER, Read, &[], 0, Type::Bool),
    text("isLower", str_code::IS_LOWER, Read, &[], 0, Type::Bool),
    text("toBlob", str_code::TO_BLOB, Read, &[], 0, Type::Blob),
    text("split", str_code::SPLIT, Read, &[("separator", S)], 0, Type::List),
    text("b64Decode", str_code::B64_DECODE, Read, &[], 0, Type::Blob),
    text("fromBase64", str_code::B64_DECODE, Read, &[], 0, Type::Blob),
    text("splice", str_code::INSERT, Modify, &[("offset", I), ("value", S)], 2, Type::String),
    text("overwrite", str_code::OVERWRITE, Modify, &[("offset", I), ("value", S)], 2, Type::String),
    text("snip", str_code::SNIP, ModifyOpen, &[("from", I), ("to", I)], 1, Type::String),
    text("replace", str_code::REPLACE, ModifyPair, &[("find", S), ("replace", S)], 2, Type::String),
    text("replaceAll", str_code::REPLACE_ALL, ModifyPair, &[("find", S), ("replace", S)], 2, Type::String),
    text("upper", str_code::UPPER, Modify, &[], 0, Type::String),
    text("uppercase", str_code::UPPER, Modify, &[], 0, Type::String),
    text("lower", str_code::LOWER, Modify, &[], 0, Type::String),
    text("lowercase", str_code::LOWER, Modify, &[], 0, Type::String),
    text("caseFold", str_code::CASE_FOLD, Modify, &[], 0, Type::String),
    text("normalizeNFC", str_code::NORMALIZE_NFC, Modify, &[], 0, Type::String),
    text("trim", str_code::TRIM, Modify, &[], 0, Type::String),
    text("trimStart", str_code::TRIM_START, Modify, &[], 0, Type::String),
    text("trimEnd", str_code::TRIM_END, Modify, &[], 0, Type::String),
    text("padStart", str_code::PAD_START, Modify, &[("length", I), ("pad", S)], 2, Type::String),
    text("padEnd", str_code::PAD_END, Modify, &[("length", I), ("pad", S)], 2, Type::String),
    text("repeat", str_code::REPEAT, Modify, &[("count", I)], 1, Type::String),
    Method { receiver: None, ..text("toString", 99, Plain, &[], 0, Type::String) },
    Method { receiver: L, module: CDT, ..text("join", list::code::JOIN, Read, &[("separator", S)], 0, Type::String) },
    sketch("hllCount", hll::code::GET_COUNT, &[], Type::Int),
    sketch("hllDescribe", hll::code::DESCRIBE, &[], Type::List),
    sketch("hllMayContain", HLL_MAY_CONTAIN, &[("values", L)], Type::Int),
    sketch("hllUnion", hll::code::GET_UNION, &[("hlls", None)], Type::Hll),
    sketch("hllUnionCount", hll::code::GET_UNION_COUNT, &[("hlls", None)], Type::Int),
    sketch("hllIntersectCount", hll::code::GET_INTERSECT_COUNT, &[("hlls", None)], Type::Int),
    sketch("hllSimilarity", hll::code::GET_SIMILARITY, &[("hlls", None)], Type::Float),
    bits("bitGet", bit::code::GET, &[("offset", I), ("size", I)], Type::Blob),
    bits("bitCount", bit::code::COUNT, &[("offset", I), ("size", I)], Type::Int),
    bits("bitLscan", bit::code::LSCAN, &[("offset", I), ("size", I), ("value", B)], Type::Int),
    bits("bitRscan", bit::code::RSCAN, &[("offset", I), ("size", I), ("value", B)], Type::Int),
];

/// Returns the function of a name.
pub(crate) fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// What ends a path and writes: operations on records have it, filters do not.
pub(crate) const WRITES: [&str; 15] = [
    "remove",
    "insert",
    "set",
    "setTo",
    "update",
    "append",
    "appendItems",
    "insertItems",
    "putItems",
    "increment",
    "add",
    "clear",
    "sort",
    "modify",
    "prepend",
];
