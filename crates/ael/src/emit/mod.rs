//! From a checked tree to bytes.
//!
//! The bytes are those that the constructors of clients give: msgpack, a list of an operation's number and its
//! arguments. What stands in the tree without a known type is an error here: nothing is guessed.

mod change;
pub(crate) mod op;
mod path;

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::{list, string};

use crate::MAX_NODES;
use crate::constant::Param;
use crate::error::{AelError, AelErrorKind, Span};
use crate::functions::{Method, Shape};
use crate::tree::{Kind, Node, Step, Tree, return_type};
use crate::types::{Ty, Type};
use crate::version::Version;

/// The modules of operations on values.
const CDT: u8 = 0;
const STRING: u8 = 3;
/// The bit of a module's number that says that the operation gives a changed value.
const MODIFY: u8 = 0x40;

const V5_2: Version = Version::new(5, 2, 0);
const V5_6: Version = Version::new(5, 6, 0);
/// Operations on lists and maps answer whether there is anything.
const V6_1: Version = Version::new(6, 1, 0);
const V7_0: Version = Version::new(7, 0, 0);
const V8_1_1: Version = Version::new(8, 1, 1);
/// Several keys, and filters of what is selected, in paths.
const V8_1_2: Version = Version::new(8, 1, 2);
const V8_2: Version = Version::new(8, 2, 0);

/// An expression, as servers take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    bytes: Box<[u8]>,
    kind: Option<Type>,
    needs: Version,
    depth: u16,
}

impl Compiled {
    /// Returns the bytes: msgpack, as filters and expression operations have them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Box<[u8]> {
        self.bytes
    }

    /// Returns the type of the value; `None` for `unknown`, which has none.
    #[must_use]
    pub fn kind(&self) -> Option<Type> {
        self.kind
    }

    /// Returns whether it is true or false, so that it can filter records.
    #[must_use]
    pub fn is_condition(&self) -> bool {
        matches!(self.kind, None | Some(Type::Bool))
    }

    /// Returns the oldest version of servers that can evaluate it.
    #[must_use]
    pub fn needs(&self) -> Version {
        self.needs
    }

    /// Returns how many levels of expressions are in it.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.depth
    }
}

/// A step of a context: its id, and its value as msgpack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The id, one of [`aerolane_wire::operation::context::id`].
    pub id: u16,
    /// One msgpack element.
    pub value: Vec<u8>,
}

/// Compiles a whole text.
pub(crate) fn compile(tree: &Tree<'_>, server: Option<Version>) -> Result<Compiled, AelError> {
    compile_part(tree, &[&tree.root], server)
}

/// Compiles a whole text that has to be true or false.
pub(crate) fn condition(tree: &Tree<'_>, server: Option<Version>) -> Result<Compiled, AelError> {
    let compiled = compile(tree, server)?;
    match compiled.kind.filter(|kind| *kind != Type::Bool) {
        None => Ok(compiled),
        Some(kind) => {
            let text = format!("a filter is true or false, and this is of type {kind}: compare it with something");
            Err(AelError::new(AelErrorKind::Type, tree.text, tree.root.span, text))
        }
    }
}

/// Compiles some conditions of a tree, of which all have to be true.
pub(crate) fn compile_part(
    tree: &Tree<'_>,
    parts: &[&Node<'_>],
    server: Option<Version>,
) -> Result<Compiled, AelError> {
    let mut emitter = Emitter { tree, out: Vec::with_capacity(64), needs: V5_2, server, nodes: 0 };
    let (kind, deepest) = if let [root] = parts {
        (tree.known(root), root.depth)
    } else {
        emitter.head(parts.len() + 1, op::AND);
        (Some(Type::Bool), 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0))
    };
    for part in parts {
        emitter.node(part)?;
    }
    // A path is some levels of expressions: the operation and the bin.
    Ok(Compiled { bytes: emitter.out.into(), kind, needs: emitter.needs, depth: 2 * deepest + 2 })
}

/// The levels of steps without ranges and filters.
pub(crate) fn levels_of(steps: &[Step<'_>]) -> Vec<Level> {
    steps.iter().filter_map(path::plain_level).collect()
}

pub(crate) struct Emitter<'t, 'a> {
    tree: &'t Tree<'a>,
    out: Vec<u8>,
    needs: Version,
    server: Option<Version>,
    /// How many parts have been written: some stand in the tree once and in the bytes twice.
    nodes: u32,
}

type Result_ = Result<(), AelError>;

impl Emitter<'_, '_> {
    fn writer(&mut self) -> Writer<'_> {
        Writer::new(&mut self.out)
    }

    /// Starts a list of so many elements, the first of which is a number.
    fn head(&mut self, len: usize, code: u8) {
        let mut writer = self.writer();
        writer.list(len);
        writer.uint(u64::from(code));
    }

    /// Starts an operation on a value, which follows behind the operation.
    fn call(&mut self, gives: Type, module: u8) {
        self.head(5, op::CALL);
        let mut writer = self.writer();
        writer.uint(gives as u64);
        writer.uint(u64::from(module));
    }

    fn error(&self, kind: AelErrorKind, span: Span, message: impl Into<String>) -> AelError {
        AelError::new(kind, self.tree.text, span, message)
    }

    fn unsupported(&self, span: Span, what: &str) -> AelError {
        let message = format!("{what}: only servers from 8.2 on compile this, from the text itself");
        self.error(AelErrorKind::Unsupported, span, message).needing(V8_2)
    }

    /// Notes that only servers from a version on have this.
    fn need(&mut self, version: Version, span: Span, what: &str) -> Result_ {
        if let Some(server) = self.server.filter(|server| *server < version) {
            let message = format!("{what} needs server {version} or later, and this one is {server}");
            return Err(self.error(AelErrorKind::Version, span, message).needing(version));
        }
        self.needs = self.needs.max(version);
        Ok(())
    }

    /// Whether the server, if it is known, is too old for this.
    fn is_before(&self, version: Version) -> bool {
        self.server.is_some_and(|server| server < version)
    }

    fn known(&self, ty: Ty, span: Span) -> Result<Type, AelError> {
        self.tree.types.known(ty).ok_or_else(|| {
            let text = "the type of this is open: add one, as in $.a:INT or $.a.key:STRING";
            self.error(AelErrorKind::Type, span, text)
        })
    }

    fn node(&mut self, node: &Node<'_>) -> Result_ {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let text = format!("the expression has more than {MAX_NODES} parts");
            return Err(self.error(AelErrorKind::Limit, node.span, text));
        }
        match &node.kind {
            Kind::Constant(constant) => constant.write(&mut self.out),
            Kind::Unknown => {
                self.need(V5_6, node.span, "unknown")?;
                self.head(1, op::UNKNOWN);
            }
            Kind::Path(path) => self.path(path, node)?,
            Kind::Record(code) => {
                if *code == op::RECORD_SIZE {
                    self.need(V7_0, node.span, "recordSize()")?;
                }
                self.head(1, *code);
            }
            Kind::DigestModulo(modulo) => {
                self.head(2, op::DIGEST_MODULO);
                self.writer().int(*modulo);
            }
            Kind::Key => {
                let kind = self.known(node.ty, node.span)?;
                self.head(2, op::KEY);
                self.writer().uint(kind as u64);
            }
            Kind::BinType(name) => self.bin_type(name),
            Kind::Variable(name) => {
                self.head(2, op::VAR);
                self.writer().bare(name.as_bytes());
            }
            Kind::Operation(code, parts) => {
                if op::FIRST_OF_5_6.contains(code) || matches!(*code, op::COND | op::EXCLUSIVE) {
                    self.need(V5_6, node.span, "this operation")?;
                }
                self.head(parts.len() + 1, *code);
                parts.iter().try_for_each(|part| self.node(part))?;
            }
            Kind::In(parts) => self.is_in(parts, node.span)?,
            Kind::Add(parts) => self.add(parts, node)?,
            Kind::Regex { text, pattern, flags } => {
                self.need(V8_2, node.span, "a Perl-compatible regular expression")?;
                self.call(Type::Bool, STRING);
                self.head(if *flags == 0 { 2 } else { 3 }, string::code::REGEX_COMPARE);
                self.writer().str(pattern.as_bytes());
                if *flags != 0 {
                    self.writer().int(*flags);
                }
                self.node(text)?;
            }
            Kind::Let { names, body } => {
                self.need(V5_6, node.span, "let")?;
                self.head(2 * names.len() + 2, op::LET);
                for (name, value) in names {
                    self.writer().bare(name.as_bytes());
                    self.node(value)?;
                }
                self.node(body)?;
            }
            Kind::Method { method, receiver, arguments, flags } => {
                self.need(method.since, node.span, &format!("{}()", method.name))?;
                self.method(method, receiver, arguments, *flags)?;
            }
            Kind::RegexReplace { receiver, pattern, flags, replacement, write_flags } => {
                self.need(V8_2, node.span, "regexReplace()")?;
                self.call(Type::String, STRING | MODIFY);
                self.head(4, string::code::REGEX_REPLACE);
                self.head(2, op::QUOTED);
                self.writer().list(2);
                self.writer().str(pattern.as_bytes());
                self.quoted(replacement)?;
                self.writer().int(*flags);
                self.writer().uint(u64::from(*write_flags));
                self.node(receiver)?;
            }
            Kind::ListSize(value) => {
                self.call(Type::Int, CDT);
                self.head(1, list::code::SIZE);
                self.node(value)?;
            }
            Kind::Change(change) => self.change(change, node)?,
        }
        Ok(())
    }

    /// A part of what the server does not take for an expression: only a constant can stand there.
    fn quoted(&mut self, node: &Node<'_>) -> Result_ {
        match &node.kind {
            Kind::Constant(constant) => {
                self.out.extend_from_slice(constant.bytes());
                Ok(())
            }
            _ => Err(self.unsupported(node.span, "a replacement that is no constant")),
        }
    }

    fn bin_type(&mut self, name: &str) {
        self.head(2, op::BIN_TYPE);
        self.writer().bare(name.as_bytes());
    }

    fn is_in(&mut self, parts: &[Node<'_>; 2], span: Span) -> Result_ {
        let [value, list] = parts;
        self.known(value.ty, value.span)?;
        let what = self.whether(span)?;
        self.call(if what == return_type::EXISTS { Type::Bool } else { Type::Int }, CDT);
        self.head(3, list::code::GET_BY_VALUE);
        self.writer().int(what);
        self.node(value)?;
        self.node(list)?;
        self.more_than_none(what);
        Ok(())
    }

    /// Starts an answer to whether there is anything: what operations answer with. Older servers count.
    fn whether(&mut self, span: Span) -> Result<i64, AelError> {
        if self.is_before(V6_1) {
            self.head(3, op::GT);
            return Ok(return_type::COUNT);
        }
        self.need(V6_1, span, "whether there is anything")?;
        Ok(return_type::EXISTS)
    }

    /// Ends what [`Self::whether`] started.
    fn more_than_none(&mut self, what: i64) {
        if what == return_type::COUNT {
            self.writer().int(0);
        }
    }

    fn add(&mut self, parts: &[Node<'_>; 2], node: &Node<'_>) -> Result_ {
        let [left, right] = parts;
        if self.known(node.ty, node.span)? == Type::String {
            self.need(V8_2, node.span, "joining strings with +")?;
            self.call(Type::String, STRING | MODIFY);
            self.head(3, string::code::APPEND);
            self.node(right)?;
            self.writer().uint(0);
            return self.node(left);
        }
        self.need(V5_6, node.span, "arithmetic")?;
        self.head(3, op::ADD);
        self.node(left)?;
        self.node(right)
    }

    fn method(&mut self, method: &Method, receiver: &Node<'_>, arguments: &[Node<'_>], flags: u8) -> Result_ {
        let count = arguments.len();
        // The last argument of these is a constant that stands elsewhere.
        let (arguments, signed) = match method.shape {
            Shape::ReadSigned | Shape::ModifySigned => {
                let (plain, signed) = arguments.split_at(method.required.min(count));
                let is_true = |node: &Node<'_>| matches!(&node.kind, Kind::Constant(c) if c.as_bool() == Some(true));
                (plain, signed.first().is_some_and(is_true))
            }
            _ => (arguments, false),
        };
        let missing = method.arguments.len() - count;
        // Numbers behind the arguments: flags, and what is fixed.
        let behind: &[i64] = match method.shape {
            Shape::Plain => {
                self.head(2, method.code);
                return self.node(receiver);
            }
            Shape::ReadSigned if signed => &[1],
            Shape::Read | Shape::ReadSigned => &[],
            Shape::ModifyOpen if missing > 0 && flags == 0 => &[],
            Shape::Modify | Shape::ModifyOpen | Shape::ModifyPair => &[i64::from(flags)],
            Shape::Resize => &[i64::from(flags), 0],
            Shape::ModifySigned => &[i64::from(flags), i64::from(signed)],
            Shape::Padded => &[&[-1; 2][..missing.min(2)], &[i64::from(flags)]].concat(),
        };
        let reads = matches!(method.shape, Shape::Read | Shape::ReadSigned);
        self.call(method.gives, method.module | if reads { 0 } else { MODIFY });
        if method.shape == Shape::ModifyPair {
            self.head(3, method.code);
            self.head(2, op::QUOTED);
            self.writer().list(arguments.len());
            arguments.iter().try_for_each(|argument| self.quoted(argument))?;
        } else {
            // Servers read arguments by their places, so flags need an end: that of the string.
            let to_end = method.shape == Shape::ModifyOpen && missing > 0 && flags != 0;
            self.head(1 + arguments.len() + usize::from(to_end) + behind.len(), method.code);
            arguments.iter().try_for_each(|argument| self.node(argument))?;
            if to_end {
                self.call(Type::Int, STRING);
                self.head(1, string::code::STRLEN);
                self.node(receiver)?;
            }
        }
        let mut writer = self.writer();
        for number in behind {
            writer.int(*number);
        }
        self.node(receiver)
    }

    fn constant(&mut self, constant: &Param) {
        constant.write(&mut self.out);
    }
}
