//! From bytes to a checked tree.

use super::arithmetic::Arithmetic;
use super::call::Call;
use super::{Expression, pattern};
use crate::code;
use crate::value::{MAX_BIN_NAME, Type, Value};
use aerolane_wire::msgpack::{Element, ListHeader, Reader};
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;

/// Numbers of operations.
mod op {
    pub(super) const UNKNOWN: i64 = 0;
    pub(super) const EQ: i64 = 1;
    pub(super) const LE: i64 = 6;
    pub(super) const REGEX: i64 = 7;
    pub(super) const AND: i64 = 16;
    pub(super) const OR: i64 = 17;
    pub(super) const NOT: i64 = 18;
    pub(super) const EXCLUSIVE: i64 = 19;
    pub(super) const SCAN_LEFT: i64 = 40;
    pub(super) const SCAN_RIGHT: i64 = 41;
    pub(super) const DIGEST_MODULO: i64 = 64;
    pub(super) const DEVICE_SIZE: i64 = 65;
    pub(super) const LAST_UPDATE: i64 = 66;
    pub(super) const SINCE_UPDATE: i64 = 67;
    pub(super) const VOID_TIME: i64 = 68;
    pub(super) const TTL: i64 = 69;
    pub(super) const SET_NAME: i64 = 70;
    pub(super) const KEY_EXISTS: i64 = 71;
    pub(super) const IS_TOMBSTONE: i64 = 72;
    pub(super) const MEMORY_SIZE: i64 = 73;
    pub(super) const RECORD_SIZE: i64 = 74;
    pub(super) const GEO: i64 = 8;
    pub(super) const IN_LIST: i64 = 9;
    pub(super) const KEY: i64 = 80;
    pub(super) const BIN: i64 = 81;
    pub(super) const BIN_TYPE: i64 = 82;
    pub(super) const REMOVE: i64 = 100;
    pub(super) const MAP_KEYS: i64 = 101;
    pub(super) const MAP_VALUES: i64 = 102;
    pub(super) const ITEM: i64 = 122;
    pub(super) const COND: i64 = 123;
    pub(super) const VAR: i64 = 124;
    pub(super) const LET: i64 = 125;
    pub(super) const QUOTED: i64 = 126;
    pub(super) const CALL: i64 = 127;
}

/// Largest compiled regular expression, in bytes.
const REGEX_SIZE: usize = 256 * 1024;

/// Flags of regular expressions, as in POSIX.
const EXTENDED: i64 = 1;
const IGNORE_CASE: i64 = 2;
const NEWLINE: i64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

/// In the order of their numbers, from 1.
const COMPARISONS: [Comparison; 6] =
    [Comparison::Eq, Comparison::Ne, Comparison::Gt, Comparison::Ge, Comparison::Lt, Comparison::Le];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    DigestModulo(i64),
    DeviceSize,
    RecordSize,
    LastUpdate,
    SinceUpdate,
    VoidTime,
    Ttl,
    SetName,
    KeyExists,
    IsTombstone,
}

/// A loop variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemPart {
    Key,
    Value,
    Index,
}

/// A checked expression.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Constant(Value<'a>),
    Unknown,
    Bin {
        kind: Type,
        name: &'a [u8],
    },
    BinType(&'a [u8]),
    Key(Type),
    Metadata(Metadata),
    Compare(Comparison, Box<[Node<'a>; 2]>),
    Regex(Box<Regex>, Box<Node<'a>>),
    /// Whether one is a point in the other.
    Geo(Box<[Node<'a>; 2]>),
    And(Vec<Node<'a>>),
    Or(Vec<Node<'a>>),
    Exclusive(Vec<Node<'a>>),
    Not(Box<Node<'a>>),
    Arithmetic {
        what: Arithmetic,
        kind: Type,
        arguments: Vec<Node<'a>>,
    },
    /// Position of the first bit (of the value) that is as the second argument says.
    Scan {
        from_left: bool,
        arguments: Box<[Node<'a>; 2]>,
    },
    /// Pairs of condition and value; the value of the last one has no condition.
    Cond {
        kind: Type,
        cases: Vec<(Node<'a>, Node<'a>)>,
        default: Box<Node<'a>>,
    },
    Let {
        variables: Vec<(usize, Node<'a>)>,
        body: Box<Node<'a>>,
    },
    Variable {
        slot: usize,
        kind: Type,
    },
    Item {
        part: ItemPart,
        kind: Type,
    },
    /// What a path has found is to be removed.
    Remove,
    /// Whether the first value is in the second, a list.
    InList(Box<[Node<'a>; 2]>),
    /// The keys of a map, or its values.
    MapParts {
        keys: bool,
        map: Box<Node<'a>>,
    },
    Call(Box<Call<'a>>),
}

impl Node<'_> {
    /// Whether it is "unknown" as it is written, which has any type where "cond" results in it.
    fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Let { body, .. } => body.is_unknown(),
            _ => false,
        }
    }

    pub(super) fn kind(&self) -> Type {
        match self {
            Self::Constant(value) => value.kind(),
            Self::Bin { kind, .. }
            | Self::Key(kind)
            | Self::Arithmetic { kind, .. }
            | Self::Cond { kind, .. }
            | Self::Item { kind, .. }
            | Self::Variable { kind, .. } => *kind,
            Self::Metadata(Metadata::SetName) => Type::Str,
            Self::Metadata(Metadata::KeyExists | Metadata::IsTombstone)
            | Self::Compare(..)
            | Self::Regex(..)
            | Self::Geo(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::Exclusive(_)
            | Self::InList(_)
            | Self::Not(_)
            // Where something else is expected it does not fit, but as a result of "cond".
            | Self::Unknown => Type::Bool,
            Self::Metadata(_) | Self::BinType(_) | Self::Scan { .. } => Type::Int,
            Self::Let { body, .. } => body.kind(),
            Self::MapParts { .. } => Type::List,
            Self::Remove => Type::Remove,
            Self::Call(call) => call.kind(),
        }
    }
}

const BAD: u8 = code::PARAMETER;

/// Checks an expression.
pub(super) fn build(bytes: &[u8]) -> Result<Expression<'_>, u8> {
    let mut builder = Builder { bytes, reader: Reader::new(bytes), scope: Vec::new(), variables: 0 };
    let root = builder.node()?;
    builder.reader.finish().map_err(|_| BAD)?;
    Ok(Expression { root, variables: builder.variables })
}

fn exactly(n: usize, wanted: usize) -> Result<(), u8> {
    if n == wanted { Ok(()) } else { Err(BAD) }
}

pub(super) struct Builder<'a> {
    pub(super) bytes: &'a [u8],
    /// Bounds the depth, and with it the recursion.
    pub(super) reader: Reader<'a>,
    /// Variables that can be seen: name, slot and type; a name whose value is being built has no type yet.
    scope: Vec<(&'a [u8], usize, Option<Type>)>,
    variables: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn node(&mut self) -> Result<Node<'a>, u8> {
        let start = self.reader.offset();
        match self.reader.read().map_err(|_| BAD)? {
            Element::List(header) => self.list_node(&header),
            Element::Map(header) => self.map(start, header.len),
            scalar => Value::from_element(&scalar).map(Node::Constant).ok_or(BAD),
        }
    }

    /// A list whose header has been read.
    pub(super) fn list_node(&mut self, header: &ListHeader<'_>) -> Result<Node<'a>, u8> {
        if header.marker.is_some() || header.len == 0 {
            return Err(BAD);
        }
        let Element::Int(number) = self.scalar()? else { return Err(BAD) };
        self.operation(number, header.len - 1)
    }

    /// A map that begins at `start` and whose header has been read: a constant.
    fn map(&mut self, start: usize, len: usize) -> Result<Node<'a>, u8> {
        for _ in 0..len * 2 {
            self.reader.skip().map_err(|_| BAD)?;
        }
        let map = &self.bytes[start..self.reader.offset()];
        // As it came: the order of its pairs is not looked at.
        Ok(Node::Constant(Value::Map(Cow::Borrowed(map))))
    }

    /// Kept small, as everything on the way into a nested expression: the depth is bounded, the stack is too.
    fn operation(&mut self, number: i64, n: usize) -> Result<Node<'a>, u8> {
        match number {
            op::EQ..=op::LE => self.comparison(number, n),
            op::REGEX => self.regex(n),
            op::AND => self.bools(n).map(Node::And),
            op::OR => self.bools(n).map(Node::Or),
            op::EXCLUSIVE => self.bools(n).map(Node::Exclusive),
            op::NOT => {
                exactly(n, 1)?;
                self.expect(Type::Bool).map(|node| Node::Not(Box::new(node)))
            }
            op::SCAN_LEFT | op::SCAN_RIGHT => {
                exactly(n, 2)?;
                let arguments = Box::new([self.expect(Type::Int)?, self.expect(Type::Bool)?]);
                Ok(Node::Scan { from_left: number == op::SCAN_LEFT, arguments })
            }
            op::GEO => {
                exactly(n, 2)?;
                Ok(Node::Geo(Box::new([self.expect(Type::Geo)?, self.expect(Type::Geo)?])))
            }
            op::IN_LIST => {
                exactly(n, 2)?;
                Ok(Node::InList(Box::new([self.node()?, self.expect(Type::List)?])))
            }
            op::MAP_KEYS | op::MAP_VALUES => {
                exactly(n, 1)?;
                self.node().map(|map| Node::MapParts { keys: number == op::MAP_KEYS, map: Box::new(map) })
            }
            op::CALL => self.call(n),
            op::COND => self.cond(n),
            op::LET => self.bind(n),
            _ => match Arithmetic::from_number(number) {
                Some(what) => self.arithmetic(what, n),
                None => self.leaf(number, n),
            },
        }
    }

    /// Operations without expressions in them.
    fn leaf(&mut self, number: i64, n: usize) -> Result<Node<'a>, u8> {
        let metadata = |what: Metadata| exactly(n, 0).map(|()| Node::Metadata(what));
        match number {
            op::UNKNOWN => exactly(n, 0).map(|()| Node::Unknown),
            op::DIGEST_MODULO => {
                exactly(n, 1)?;
                match self.scalar()? {
                    Element::Int(modulus) if modulus != 0 => Ok(Node::Metadata(Metadata::DigestModulo(modulus))),
                    _ => Err(BAD),
                }
            }
            op::DEVICE_SIZE => metadata(Metadata::DeviceSize),
            op::RECORD_SIZE | op::MEMORY_SIZE => metadata(Metadata::RecordSize),
            op::LAST_UPDATE => metadata(Metadata::LastUpdate),
            op::SINCE_UPDATE => metadata(Metadata::SinceUpdate),
            op::VOID_TIME => metadata(Metadata::VoidTime),
            op::TTL => metadata(Metadata::Ttl),
            op::SET_NAME => metadata(Metadata::SetName),
            op::KEY_EXISTS => metadata(Metadata::KeyExists),
            op::IS_TOMBSTONE => metadata(Metadata::IsTombstone),
            op::KEY => {
                exactly(n, 1)?;
                Ok(Node::Key(self.named_type()?))
            }
            op::BIN => {
                exactly(n, 2)?;
                let kind = self.named_type()?;
                Ok(Node::Bin { kind, name: self.name()? })
            }
            op::BIN_TYPE => {
                exactly(n, 1)?;
                Ok(Node::BinType(self.name()?))
            }
            op::VAR => {
                exactly(n, 1)?;
                let Element::Bytes(name) = self.scalar()? else { return Err(BAD) };
                let found = self.scope.iter().rev().find(|(known, ..)| *known == name);
                found.and_then(|&(_, slot, kind)| kind.map(|kind| Node::Variable { slot, kind })).ok_or(BAD)
            }
            op::ITEM => {
                exactly(n, 2)?;
                self.item()
            }
            op::REMOVE => exactly(n, 0).map(|()| Node::Remove),
            op::QUOTED => {
                exactly(n, 1)?;
                let list = self.reader.skip().map_err(|_| BAD)?;
                match Reader::new(list).read() {
                    Ok(Element::List(_)) => Ok(Node::Constant(Value::List(Cow::Borrowed(list)))),
                    _ => Err(BAD),
                }
            }
            _ => Err(BAD),
        }
    }

    fn comparison(&mut self, number: i64, n: usize) -> Result<Node<'a>, u8> {
        exactly(n, 2)?;
        let sides = Box::new([self.node()?, self.node()?]);
        let kind = sides[0].kind();
        if kind != sides[1].kind() || matches!(kind, Type::Geo | Type::Hll) {
            return Err(BAD);
        }
        Ok(Node::Compare(COMPARISONS[(number - op::EQ) as usize], sides))
    }

    fn regex(&mut self, n: usize) -> Result<Node<'a>, u8> {
        exactly(n, 3)?;
        let regex = self.pattern()?;
        let text = self.expect(Type::Str)?;
        Ok(Node::Regex(regex, Box::new(text)))
    }

    fn pattern(&mut self) -> Result<Box<Regex>, u8> {
        let Element::Int(flags) = self.scalar()? else { return Err(BAD) };
        let Element::Bytes(pattern) = self.scalar()? else { return Err(BAD) };
        let newline = flags & NEWLINE != 0;
        let pattern = pattern::translate(pattern, flags & EXTENDED != 0, newline).ok_or(BAD)?;
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(flags & IGNORE_CASE != 0)
            .multi_line(newline)
            .unicode(false)
            .size_limit(REGEX_SIZE)
            .build();
        regex.map(Box::new).map_err(|_| BAD)
    }

    /// An argument that is no expression.
    pub(super) fn scalar(&mut self) -> Result<Element<'a>, u8> {
        self.reader.read().map_err(|_| BAD)
    }

    fn item(&mut self) -> Result<Node<'a>, u8> {
        let kind = self.named_type()?;
        let part = match self.scalar()? {
            Element::Int(0) => ItemPart::Key,
            Element::Int(1) => ItemPart::Value,
            Element::Int(2) if kind == Type::Int => ItemPart::Index,
            _ => return Err(BAD),
        };
        Ok(Node::Item { part, kind })
    }

    pub(super) fn named_type(&mut self) -> Result<Type, u8> {
        match self.scalar()? {
            Element::Int(number) => Type::from_number(number).ok_or(BAD),
            _ => Err(BAD),
        }
    }

    fn name(&mut self) -> Result<&'a [u8], u8> {
        match self.scalar()? {
            Element::Bytes(name) if name.len() <= MAX_BIN_NAME => Ok(name),
            _ => Err(BAD),
        }
    }

    fn expect(&mut self, kind: Type) -> Result<Node<'a>, u8> {
        let node = self.node()?;
        if node.kind() == kind { Ok(node) } else { Err(BAD) }
    }

    fn bools(&mut self, n: usize) -> Result<Vec<Node<'a>>, u8> {
        if n < 2 {
            return Err(BAD);
        }
        (0..n).map(|_| self.expect(Type::Bool)).collect()
    }

    fn arithmetic(&mut self, what: Arithmetic, n: usize) -> Result<Node<'a>, u8> {
        if !what.takes(n) {
            return Err(BAD);
        }
        let arguments: Vec<_> = (0..n).map(|_| self.node()).collect::<Result<_, _>>()?;
        let kind = arguments[0].kind();
        if arguments.iter().any(|argument| argument.kind() != kind) {
            return Err(BAD);
        }
        Ok(Node::Arithmetic { what, kind: what.result(kind).ok_or(BAD)?, arguments })
    }

    fn cond(&mut self, n: usize) -> Result<Node<'a>, u8> {
        if n < 3 || n.is_multiple_of(2) {
            return Err(BAD);
        }
        let mut kind = None;
        let mut value = |builder: &mut Self| {
            let node = builder.node()?;
            match node {
                _ if node.is_unknown() => {}
                _ if *kind.get_or_insert(node.kind()) != node.kind() => return Err(BAD),
                _ => {}
            }
            Ok(node)
        };
        let mut cases = Vec::new();
        for _ in 0..n / 2 {
            let condition = self.expect(Type::Bool)?;
            cases.push((condition, value(self)?));
        }
        let default = Box::new(value(self)?);
        Ok(Node::Cond { kind: kind.unwrap_or(Type::Bool), cases, default })
    }

    fn bind(&mut self, n: usize) -> Result<Node<'a>, u8> {
        if n < 3 || n.is_multiple_of(2) {
            return Err(BAD);
        }
        let outer = self.scope.len();
        let mut variables = Vec::new();
        for _ in 0..n / 2 {
            let Element::Bytes(name) = self.scalar()? else { return Err(BAD) };
            // A name that is taken already, here or outside, cannot be used again.
            if !is_variable_name(name) || self.scope.iter().any(|(known, ..)| *known == name) {
                return Err(BAD);
            }
            let slot = self.variables;
            self.variables += 1;
            let place = self.scope.len();
            self.scope.push((name, slot, None));
            let value = self.node()?;
            self.scope[place].2 = Some(value.kind());
            variables.push((slot, value));
        }
        let body = Box::new(self.node()?);
        self.scope.truncate(outer);
        Ok(Node::Let { variables, body })
    }
}

/// Letters, digits and underscores, no digit in front.
fn is_variable_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| !first.is_ascii_digit())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        let refused: [&[u8]; 9] = [
            b"",
            b"\xc1",
            b"\x90",
            b"\x91\xcc\xc8",
            b"\x92\x01\x01",
            b"\x93\x01\x01\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
            b"\x92\x10\xc3",
            b"\x92\x12\x01",
            b"\x93\x01\x01\x01\x00",
        ];
        for bytes in refused {
            assert_eq!(build(bytes).err(), Some(BAD), "{bytes:x?}");
        }
        let deep = [b"\x92\x12".repeat(100_000), vec![0xc3]].concat();
        assert_eq!(build(&deep).err(), Some(BAD));
    }
}
