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
    /// As `Modify`, with another 0 behind the flags: of a size any change is allowed.
    Resize,
    /// As `Modify`; the last argument, a constant, is a bit behind the flags.
    ModifySigned,
    /// As `Read`; the last argument, a constant, is 1 or missing.
    ReadSigned,
    /// As `Modify`, with -1 for the arguments that are missing.
    Padded,
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
    /// The flags that may stand behind the call.
    pub(crate) flags: &'static [(&'static str, u8)],
}

/// Flags behind a call that changes a value, with their bits.
pub(crate) mod flag {
    pub(crate) const CREATE_ONLY: (&str, u8) = ("CREATE_ONLY", 1);
    pub(crate) const UPDATE_ONLY: (&str, u8) = ("UPDATE_ONLY", 2);
    pub(crate) const NO_FAIL: (&str, u8) = ("NO_FAIL", 4);
    pub(crate) const PARTIAL: (&str, u8) = ("PARTIAL", 8);
    /// Of lists.
    pub(crate) const ADD_UNIQUE: (&str, u8) = ("ADD_UNIQUE", 1);
    /// Of lists: nothing behind the end is filled up with nil. It has no name: it is there if nothing says otherwise.
    pub(crate) const BOUNDED: u8 = 2;
    /// Of sorting.
    pub(crate) const DROP_DUPS: (&str, u8) = ("DROP_DUPS", 2);
    /// For bulk operations, whose single ones may fail.
    pub(crate) const PARTIAL_NO_FAIL: (&str, u8) = ("PARTIAL", PARTIAL.1 | NO_FAIL.1);
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
const Y: Option<Type> = Some(Type::Blob);

const fn text(
    name: &'static str,
    code: u8,
    shape: Shape,
    arguments: &'static [Argument],
    required: usize,
    gives: Type,
) -> Method {
    let receiver = Some(Type::String);
    let flags: &[(&str, u8)] = match shape {
        Shape::Modify | Shape::ModifyOpen | Shape::ModifyPair => &[flag::NO_FAIL],
        _ => &[],
    };
    Method { name, receiver, module: STRING, code, shape, arguments, required, gives, since: V8_2, flags }
}

const fn sketch(name: &'static str, code: u8, arguments: &'static [Argument], gives: Type) -> Method {
    let (receiver, required) = (Some(Type::Hll), arguments.len());
    Method {
        name,
        receiver,
        module: HLL,
        code,
        shape: Shape::Read,
        arguments,
        required,
        gives,
        since: V5_2,
        flags: &[],
    }
}

const fn bits(name: &'static str, code: u8, arguments: &'static [Argument], gives: Type) -> Method {
    Method { receiver: Y, module: BITS, ..sketch(name, code, arguments, gives) }
}

/// A function that changes bits.
const fn changed(
    name: &'static str,
    code: u8,
    arguments: &'static [Argument],
    flags: &'static [(&'static str, u8)],
) -> Method {
    Method { shape: Shape::Modify, flags, ..bits(name, code, arguments, Type::Blob) }
}

/// The flags of what can create a blob, of what changes bits, and of what changes numbers.
const CREATES: &[(&str, u8)] = &[flag::CREATE_ONLY, flag::UPDATE_ONLY, flag::NO_FAIL];
const CLIPS: &[(&str, u8)] = &[flag::UPDATE_ONLY, flag::NO_FAIL, flag::PARTIAL];
const COUNTS: &[(&str, u8)] = &[flag::UPDATE_ONLY, flag::NO_FAIL];
/// The arguments that most functions of bits have.
const OFFSET: Argument = ("offset", I);
const SIZE: Argument = ("size", I);
const MASK: &[Argument] = &[OFFSET, SIZE, ("value", Y)];
const SHIFT: &[Argument] = &[OFFSET, SIZE, ("shift", I)];
const SIGNED: &[Argument] = &[OFFSET, SIZE, ("value", I), ("signed", B)];

use Shape::{Modify, ModifyOpen, ModifyPair, ModifySigned, Padded, Plain, Read, ReadSigned, Resize};
use string::code as str_code;

static METHODS: &[Method] = &[
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
    Method {
        shape: ReadSigned,
        required: 2,
        ..bits("bitGetInt", bit::code::GET_INT, &[OFFSET, SIZE, ("signed", B)], Type::Int)
    },
    Method { since: V8_2, ..bits("b64Encode", bit::code::B64_ENCODE, &[], Type::String) },
    Method { shape: Resize, ..changed("bitResize", bit::code::RESIZE, &[("byteSize", I)], CREATES) },
    changed("bitInsert", bit::code::INSERT, &[("byteOffset", I), ("value", Y)], CREATES),
    changed("bitRemove", bit::code::REMOVE, &[("byteOffset", I), ("byteSize", I)], CLIPS),
    changed("bitSet", bit::code::SET, MASK, CLIPS),
    changed("bitOr", bit::code::OR, MASK, CLIPS),
    changed("bitXor", bit::code::XOR, MASK, CLIPS),
    changed("bitAnd", bit::code::AND, MASK, CLIPS),
    changed("bitNot", bit::code::NOT, &[OFFSET, SIZE], CLIPS),
    changed("bitLshift", bit::code::LSHIFT, SHIFT, CLIPS),
    changed("bitRshift", bit::code::RSHIFT, SHIFT, CLIPS),
    Method { shape: ModifySigned, required: 3, ..changed("bitAdd", bit::code::ADD, SIGNED, COUNTS) },
    Method { shape: ModifySigned, required: 3, ..changed("bitSubtract", bit::code::SUBTRACT, SIGNED, COUNTS) },
    changed("bitSetInt", bit::code::SET_INT, &[OFFSET, SIZE, ("value", I)], COUNTS),
    Method {
        shape: Padded,
        required: 1,
        flags: CREATES,
        ..sketch("hllInit", hll::code::INIT, &[("indexBits", I), ("minHashBits", I)], Type::Hll)
    },
    Method {
        shape: Padded,
        required: 1,
        flags: &[flag::CREATE_ONLY, flag::NO_FAIL],
        ..sketch("hllAdd", hll::code::ADD, &[("values", L), ("indexBits", I), ("minHashBits", I)], Type::Hll)
    },
];

/// Returns the function of a name.
pub(crate) fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
