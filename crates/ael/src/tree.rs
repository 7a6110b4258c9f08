//! The checked syntax tree.

use std::borrow::Cow;

use crate::constant::Param;
use crate::error::Span;
use crate::functions::Method;
use crate::types::{Ty, Type};

/// A part of an expression.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    /// How many levels of parts are in it, with itself.
    pub(crate) depth: u16,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Constant(Param),
    /// Cannot be evaluated, whatever the record.
    Unknown,
    Path(Box<Path<'a>>),
    /// An operation without arguments, of this number: something that the server knows of the record.
    Record(u8),
    DigestModulo(i64),
    Key,
    /// The particle type of a bin.
    BinType(Cow<'a, str>),
    Variable(&'a str),
    /// An operation of this number, and its arguments.
    Operation(u8, Vec<Node<'a>>),
    In(Box<[Node<'a>; 2]>),
    /// `+`: of strings it is another operation than of numbers.
    Add(Box<[Node<'a>; 2]>),
    Regex {
        text: Box<Node<'a>>,
        pattern: String,
        flags: i64,
    },
    Let {
        names: Vec<(&'a str, Node<'a>)>,
        body: Box<Node<'a>>,
    },
    Method {
        method: &'static Method,
        receiver: Box<Node<'a>>,
        arguments: Vec<Node<'a>>,
    },
    RegexReplace {
        receiver: Box<Node<'a>>,
        pattern: String,
        flags: i64,
        replacement: Box<Node<'a>>,
    },
    /// The length of what is a list in any case.
    ListSize(Box<Node<'a>>),
}

/// Where a path starts.
#[derive(Debug)]
pub(crate) enum Root<'a> {
    Bin(Cow<'a, str>),
    /// What a filter inside a path looks at: 0 its key, 1 its value, 2 its index.
    Item(u8),
}

/// A value inside a bin, or the bin itself.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    pub(crate) root: Root<'a>,
    pub(crate) root_ty: Ty,
    /// Where the root stands, and what is behind it up to the first step.
    pub(crate) root_span: Span,
    pub(crate) steps: Vec<Step<'a>>,
    /// The type of what the last step names.
    pub(crate) value_ty: Ty,
    pub(crate) what: What,
}

/// What a path answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The value, or those of all that is selected.
    Value,
    /// How many items the list or map has that one step names.
    Size,
    /// Whether there is such a bin.
    BinExists,
    /// Something of what the last step selects: a number of `return_type`.
    Return(i64),
    /// Something of what a path with wildcards selects: flags of the operation.
    Select(i64),
}

/// Numbers of what operations on lists and maps answer with.
pub(crate) mod return_type {
    pub(crate) const INDEX: i64 = 1;
    pub(crate) const REVERSE_INDEX: i64 = 2;
    pub(crate) const RANK: i64 = 3;
    pub(crate) const REVERSE_RANK: i64 = 4;
    pub(crate) const COUNT: i64 = 5;
    pub(crate) const KEY: i64 = 6;
    pub(crate) const VALUE: i64 = 7;
    pub(crate) const KEY_VALUE: i64 = 8;
    pub(crate) const EXISTS: i64 = 13;
    pub(crate) const UNORDERED_MAP: i64 = 16;
    pub(crate) const ORDERED_MAP: i64 = 17;
    pub(crate) const INVERTED: i64 = 0x1_0000;
}

/// One step of a path.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// Whether it is a step in a map; otherwise in a list. `None`: in either.
    pub(crate) in_map: Option<bool>,
    pub(crate) select: Select<'a>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Select<'a> {
    Key(Param),
    Index(i64),
    Rank(i64),
    Value(Param),
    /// Several: only the last step of a path.
    Many {
        many: Many,
        inverted: bool,
    },
    /// All children, or those for which a filter is true.
    Each(Option<Box<Node<'a>>>),
}

#[derive(Debug)]
pub(crate) enum Many {
    Keys(Param),
    Values(Param),
    KeyRange(Option<Param>, Option<Param>),
    ValueRange(Option<Param>, Option<Param>),
    /// From the first number on, so many.
    IndexRange(i64, Option<i64>),
    RankRange(i64, Option<i64>),
    /// Relative to a key or value.
    KeyRelative(Param, i64, Option<i64>),
    ValueRelative(Param, i64, Option<i64>),
}

impl Select<'_> {
    /// Whether it can select more than one.
    pub(crate) fn is_plural(&self) -> bool {
        matches!(self, Self::Many { .. } | Self::Value(_))
    }
}

impl Path<'_> {
    /// The bin and nothing else.
    pub(crate) fn is_bin(&self) -> bool {
        self.steps.is_empty() && self.what == What::Value && matches!(self.root, Root::Bin(_))
    }

    pub(crate) fn has_wildcard(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.select, Select::Each(_)))
    }
}

/// A text that has been parsed and checked.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) text: &'a str,
    pub(crate) root: Node<'a>,
    pub(crate) types: crate::types::Types,
}

impl Tree<'_> {
    pub(crate) fn known(&self, node: &Node<'_>) -> Option<Type> {
        self.types.known(node.ty)
    }
}
