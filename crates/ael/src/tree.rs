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
        /// Bits of the flags behind the call.
        flags: u8,
    },
    RegexReplace {
        receiver: Box<Node<'a>>,
        pattern: String,
        flags: i64,
        replacement: Box<Node<'a>>,
        /// Bits of the flags behind the call.
        write_flags: u8,
    },
    /// The length of what is a list in any case.
    ListSize(Box<Node<'a>>),
    /// A list or map in which something has been changed.
    Change(Box<Change<'a>>),
}

/// Where a path starts.
#[derive(Debug)]
pub(crate) enum Root<'a> {
    Bin(Cow<'a, str>),
    /// What a filter inside a path looks at: 0 its key, 1 its value, 2 its index.
    Item(u8),
    /// The value of an expression.
    Value(Box<Node<'a>>),
    /// As `Value`, where the expression is the first part of the same path: no context can have it.
    Part(Box<Node<'a>>),
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
    pub(crate) what: PathResult,
    /// How many levels of expressions are in it.
    pub(crate) depth: u16,
    /// What the bin would be created as.
    pub(crate) root_create: Option<Create>,
    /// Where it first says what is to be created.
    pub(crate) create_span: Option<Span>,
    /// Where it says that the map that is the bin keeps an index.
    pub(crate) persist: Option<Span>,
}

/// What is created where a path leads to nothing: a word of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Create {
    /// Whether it is a map; otherwise a list.
    pub(crate) map: bool,
    /// The order, as operations have it.
    pub(crate) order: u8,
    /// Whether a list is filled up with nil.
    pub(crate) pad: bool,
}

/// What changes something in a list or map.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: Box<Path<'a>>,
    pub(crate) verb: Verb,
    pub(crate) value: Option<Node<'a>>,
    /// Bits of the flags behind the call.
    pub(crate) flags: u8,
}

/// How something is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    SetTo,
    Insert,
    Update,
    Add,
    Append,
    AppendItems,
    PutItems,
    InsertItems,
    UpdateItems,
    Remove,
    Clear,
    Sort,
    Modify,
}

/// What a path answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathResult {
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
    /// What is created if there is nothing at this place.
    pub(crate) create: Option<Create>,
}

/// What stands in a selector: a constant, or an expression in parentheses.
#[derive(Debug)]
pub(crate) enum Operand<'a> {
    Constant(Param),
    Expression(Box<Node<'a>>),
}

impl Operand<'_> {
    pub(crate) fn constant(&self) -> Option<&Param> {
        match self {
            Self::Constant(constant) => Some(constant),
            Self::Expression(_) => None,
        }
    }

    pub(crate) fn as_int(&self) -> Option<i64> {
        self.constant().and_then(Param::as_int)
    }
}

/// From a place to before another one; `None`: to the end.
#[derive(Debug)]
pub(crate) struct Extent<'a> {
    pub(crate) start: Operand<'a>,
    pub(crate) end: Option<Operand<'a>>,
}

#[derive(Debug)]
pub(crate) enum Select<'a> {
    Key(Operand<'a>),
    Index(Operand<'a>),
    Rank(Operand<'a>),
    Value(Operand<'a>),
    /// Several: only the last step of a path, unless they are keys.
    Many {
        many: Many<'a>,
        inverted: bool,
    },
    /// All children, or those for which a filter is true.
    Each(Option<Box<Node<'a>>>),
    /// Of what the step before selects, that for which a filter is true.
    And(Box<Node<'a>>),
}

#[derive(Debug)]
pub(crate) enum Many<'a> {
    Keys(Operand<'a>),
    Values(Operand<'a>),
    KeyRange(Option<Operand<'a>>, Option<Operand<'a>>),
    ValueRange(Option<Operand<'a>>, Option<Operand<'a>>),
    IndexRange(Extent<'a>),
    RankRange(Extent<'a>),
    /// Relative to a key or value.
    KeyRelative(Operand<'a>, Extent<'a>),
    ValueRelative(Operand<'a>, Extent<'a>),
}

impl Select<'_> {
    /// Whether it can select more than one.
    pub(crate) fn is_plural(&self) -> bool {
        matches!(self, Self::Many { .. } | Self::Value(_))
    }

    /// Whether it selects several in a way that nothing can follow: anything but some keys that are constants.
    pub(crate) fn is_several(&self) -> bool {
        matches!(self, Self::Many { .. }) && self.keys().is_none()
    }

    /// Whether an expression says which single item it is.
    pub(crate) fn is_dynamic(&self) -> bool {
        matches!(self, Self::Key(operand) | Self::Index(operand) | Self::Rank(operand) | Self::Value(operand)
            if operand.constant().is_none())
    }

    /// The keys of several pairs, if they are constants: other steps can follow them.
    pub(crate) fn keys(&self) -> Option<&Param> {
        match self {
            Self::Many { many: Many::Keys(keys), inverted: false } => keys.constant(),
            _ => None,
        }
    }
}

impl Path<'_> {
    /// The bin and nothing else.
    pub(crate) fn is_bin(&self) -> bool {
        self.steps.is_empty() && self.what == PathResult::Value && matches!(self.root, Root::Bin(_))
    }

    /// Whether it selects several places, so that operations on paths are needed.
    pub(crate) fn has_wildcard(&self) -> bool {
        let last = self.steps.len().saturating_sub(1);
        self.steps.iter().enumerate().any(|(at, step)| {
            matches!(step.select, Select::Each(_) | Select::And(_)) || (at < last && step.select.keys().is_some())
        })
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
