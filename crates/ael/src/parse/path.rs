//! Paths: `$.bin.key.[0]`, what the server knows of a record (`$.ttl()`), and what a filter looks at (`@`).

use std::borrow::Cow;

use super::{Parser, Result};
use crate::constant::Param;
use crate::emit::op;
use crate::error::{AelErrorKind, Span};
use crate::lexer::Token;
use crate::tree::{Kind, Node, Operand, Path, PathResult, Root, Select, Step, return_type};
use crate::types::{Class, Ty, Type};

/// Most bytes of a bin's name.
const MAX_BIN_NAME: usize = 15;

/// What the server knows of a record: names, the operation, and the type.
const RECORD: [(&[&str], u8, Type); 10] = [
    (&["ttl"], op::TTL, Type::Int),
    (&["voidTime"], op::VOID_TIME, Type::Int),
    (&["lastUpdateTime", "lastUpdate"], op::LAST_UPDATE, Type::Int),
    (&["timeSinceLastUpdate", "sinceUpdate"], op::SINCE_UPDATE, Type::Int),
    (&["setName"], op::SET_NAME, Type::String),
    (&["keyExists"], op::KEY_EXISTS, Type::Bool),
    (&["isTombstone"], op::IS_TOMBSTONE, Type::Bool),
    (&["recordSize"], op::RECORD_SIZE, Type::Int),
    (&["deviceSize"], op::DEVICE_SIZE, Type::Int),
    (&["memorySize"], op::MEMORY_SIZE, Type::Int),
];

/// What `get(return: ..)` names, an older way to say what a path answers.
const RETURNS: [(&str, i64); 11] = [
    ("VALUE", return_type::VALUE),
    ("COUNT", return_type::COUNT),
    ("EXISTS", return_type::EXISTS),
    ("INDEX", return_type::INDEX),
    ("REVERSE_INDEX", return_type::REVERSE_INDEX),
    ("RANK", return_type::RANK),
    ("REVERSE_RANK", return_type::REVERSE_RANK),
    ("KEY", return_type::KEY),
    ("KEY_VALUE", return_type::KEY_VALUE),
    ("ORDERED_MAP", return_type::ORDERED_MAP),
    ("UNORDERED_MAP", return_type::UNORDERED_MAP),
];

impl<'a> Parser<'a, '_> {
    /// A path, or something of the record; its "$" has been read.
    pub(super) fn path(&mut self, start: Span) -> Result<Node<'a>> {
        self.no_record(start)?;
        if !self.lexer.eat(".")? {
            let at = self.lexer.at;
            return Err(self.syntax(Span::new(at, at + 1), "expected \".\" and the name of a bin behind \"$\""));
        }
        self.lexer.skip_space()?;
        let at = self.lexer.at;
        let quoted = matches!(self.lexer.byte(), Some(b'\'' | b'"'));
        let name = self.bin_name(at)?;
        let span = start.to(Span::new(at, self.lexer.at));
        if let (Cow::Borrowed(name), false) = (&name, quoted)
            && self.lexer.eat("(")?
        {
            return self.record(name, span);
        }
        if name.is_empty() || name.len() > MAX_BIN_NAME {
            let text = format!("the name of a bin has 1 to {MAX_BIN_NAME} bytes, this one has {}", name.len());
            return Err(self.syntax(span, text));
        }
        let ty = self.bin_ty(name.clone())?;
        self.steps(Root::Bin(name), ty, span)
    }

    #[inline(never)]
    fn bin_name(&mut self, at: usize) -> Result<Cow<'a, str>> {
        match self.lexer.byte() {
            Some(b'\'' | b'"') => self.lexer.text(),
            Some(b'?' | b'%') => {
                let (value, span) = self.param()?;
                let name = value.as_str().map(str::to_owned).map(Cow::Owned);
                name.ok_or_else(|| self.error(AelErrorKind::Parameter, span, "the name of a bin is a string"))
            }
            _ => {
                let name = self.lexer.word(b"@");
                if name.is_empty() {
                    let text = "expected the name of a bin; names with other characters than letters, digits, _ and @ \
                                stand in quotes";
                    return Err(self.syntax(Span::new(at, at + 1), text));
                }
                Ok(Cow::Borrowed(name))
            }
        }
    }

    /// A placeholder that comes next.
    fn param(&mut self) -> Result<(Param, Span)> {
        match self.next()? {
            (Token::Param(index), span) => Ok((self.lexer.params[index].clone(), span)),
            (token, span) => Err(self.syntax(span, format!("expected a parameter, found {}", token.describe()))),
        }
    }

    /// The type of a bin, which is one in the whole text: unless `:local:` says that it is another here.
    fn bin_ty(&mut self, name: Cow<'a, str>) -> Result<Ty> {
        let before = self.lexer.at;
        if self.lexer.eat(":")? {
            self.lexer.skip_space()?;
            if matches!(self.lexer.word(&[]), "local" | "LOCAL") && self.lexer.eat(":")? {
                return self.type_name().map(Ty::Known);
            }
            self.lexer.at = before;
        }
        if let Some((_, ty)) = self.bins.iter().find(|(known, _)| *known == name) {
            return Ok(*ty);
        }
        let ty = self.types.open(Class::Any);
        self.bins.push((name, ty));
        Ok(ty)
    }

    #[inline(never)]
    fn type_name(&mut self) -> Result<Type> {
        self.lexer.skip_space()?;
        let start = self.lexer.at;
        let name = self.lexer.word(&[]);
        let span = Span::new(start, self.lexer.at.max(start + 1));
        match name {
            "BOOLEAN" => return Ok(Type::Bool),
            "INTEGER" => return Ok(Type::Int),
            _ => {}
        }
        Type::of_name(name).ok_or_else(|| {
            let text = "expected a type: INT, STRING, FLOAT, BOOL, BLOB, LIST, MAP, GEO or HLL";
            self.syntax(span, text)
        })
    }

    /// Something that the server knows of a record; its "(" has been read.
    #[inline(never)]
    fn record(&mut self, name: &str, span: Span) -> Result<Node<'a>> {
        if name == "digestModulo" {
            let (token, at) = self.next()?;
            let (value, at) = self.literal(token, at, false)?;
            let Some(modulo) = value.as_int().filter(|modulo| *modulo > 0) else {
                return Err(self.syntax(at, "digestModulo() takes a positive integer"));
            };
            let end = self.expect(")", "behind the divisor")?;
            return self.node(Kind::DigestModulo(modulo), Ty::Known(Type::Int), span.to(end), 0);
        }
        let end = self.expect(")", "(this takes no arguments)")?;
        let span = span.to(end);
        if name == "key" {
            let ty = if self.lexer.eat(":")? { Ty::Known(self.type_name()?) } else { self.types.open(Class::Any) };
            return self.node(Kind::Key, ty, span, 0);
        }
        let Some((_, code, kind)) = RECORD.iter().find(|(names, ..)| names.contains(&name)) else {
            return Err(self.syntax(span, format!("a record has no function \"{name}\"")));
        };
        if self.lexer.eat(":")? {
            let given = self.type_name()?;
            self.unify(Ty::Known(*kind), Ty::Known(given), span)?;
        }
        self.node(Kind::Record(*code), Ty::Known(*kind), span, 0)
    }

    /// What a filter looks at; its "@" has been read.
    pub(super) fn item(&mut self, span: Span) -> Result<Node<'a>> {
        if !self.in_filter {
            return Err(self.syntax(span, "\"@\" is what a filter looks at: $.list.*[?(@ > 1)]"));
        }
        let word = self.lexer.word(&[]);
        let span = span.to(Span::new(span.end, self.lexer.at));
        let (part, ty) = match word {
            "" => (1, self.types.open(Class::Any)),
            "key" => (0, self.types.open(Class::Any)),
            "index" => match self.no_index {
                Some(what) => {
                    let text = format!(
                        "the index of an item is not known behind {what}: write a filter on @index alone, as in \
                         .*[?(@index > 1)]"
                    );
                    return Err(self.error(AelErrorKind::Unsupported, span, text));
                }
                None => (2, Ty::Known(Type::Int)),
            },
            _ => return Err(self.syntax(span, "expected @, @key or @index")),
        };
        self.steps(Root::Item(part), ty, span)
    }

    pub(super) fn steps(&mut self, root: Root<'a>, root_ty: Ty, start: Span) -> Result<Node<'a>> {
        let depth = if let Root::Value(node) = &root { node.depth } else { 0 };
        let mut path = Box::new(Path {
            root,
            root_ty,
            root_span: start,
            steps: Vec::new(),
            value_ty: root_ty,
            what: PathResult::Value,
            depth,
            root_create: None,
            create_span: None,
            persist: None,
        });
        if let Some((name, at)) = self.walk(&mut path, start)? {
            return self.end(path, name, start, at);
        }
        let end = Span::new(start.start, self.lexer.at);
        self.value(path, trimmed(self.lexer.text, end))
    }

    /// Reads steps, to the end of the path or to the name of a function, which it gives with its place. Apart, so that
    /// what the function has for arguments does not find this on the stack.
    #[inline(never)]
    fn walk(&mut self, path: &mut Path<'a>, start: Span) -> Result<Option<(&'a str, usize)>> {
        loop {
            self.lexer.skip_space()?;
            let at = self.lexer.at;
            let span = |parser: &Self| start.to(Span::new(at, parser.lexer.at));
            match self.lexer.byte() {
                Some(b':') => {
                    self.lexer.at += 1;
                    if self.create(path)? {
                        continue;
                    }
                    let kind = self.type_name()?;
                    let whole = span(self);
                    self.unify(path.value_ty, Ty::Known(kind), whole)?;
                }
                Some(b'[') if matches!(path.steps.last(), Some(Step { select: Select::Each(None), .. })) => {
                    self.lexer.at += 1;
                    let filter = self.filter_of_step(path)?;
                    path.depth = path.depth.max(filter.depth);
                    if let Some(step) = path.steps.last_mut() {
                        step.select = Select::Each(Some(Box::new(filter)));
                    }
                }
                Some(b'&') if self.lexer.rest().starts_with("&[?") => {
                    self.lexer.at += 2;
                    self.and_filter(path, at)?;
                }
                Some(b'.') => {
                    self.lexer.at += 1;
                    self.lexer.skip_space()?;
                    if let Some(name) = self.function_name()? {
                        self.spread_wild(path)?;
                        return Ok(Some((name, at)));
                    }
                    self.step(path, start)?;
                }
                _ => {
                    self.spread_wild(path)?;
                    return Ok(None);
                }
            }
        }
    }

    /// The name of a function whose call comes next; nothing is taken if it is none.
    fn function_name(&mut self) -> Result<Option<&'a str>> {
        let before = self.lexer.at;
        let name = self.lexer.word(&[]);
        let end = self.lexer.at;
        if !name.is_empty() && self.lexer.eat("(")? {
            self.lexer.at = end;
            return Ok(Some(name));
        }
        self.lexer.at = before;
        Ok(None)
    }

    /// The next step; its point has been read.
    fn step(&mut self, path: &mut Path<'a>, start: Span) -> Result<()> {
        let at = self.lexer.at;
        let (in_map, select) = match self.lexer.byte() {
            Some(open @ (b'{' | b'[')) => {
                self.lexer.at += 1;
                if let Some(selected) = self.selector(open == b'{', &mut path.depth)? {
                    selected
                } else {
                    // An older way to say that it is a map or list.
                    let kind = if open == b'{' { Type::Map } else { Type::List };
                    return self.unify(path.value_ty, Ty::Known(kind), Span::new(at, self.lexer.at));
                }
            }
            Some(b'*') => {
                self.lexer.at += 1;
                (None, Select::Each(None))
            }
            Some(b'(') => {
                self.lexer.at += 1;
                let (key, _) = self.parenthesized(Span::new(at, at + 1), &mut path.depth)?;
                (Some(true), Select::Key(key))
            }
            _ => (Some(true), Select::Key(Operand::Constant(self.key(at)?))),
        };
        let span = Span::new(at, self.lexer.at);
        self.count(span)?;
        if path.steps.len() >= usize::from(crate::MAX_DEPTH) {
            return Err(self.too_deep(span));
        }
        if let Some(Step { select: Select::Value(_), .. }) = path.steps.last() {
            // On the way to something else it is the first item with this value.
            path.value_ty = self.types.open(Class::Any);
        }
        self.follow(path)?;
        if path.steps.last().is_some_and(|before| before.select.keys().is_some()) {
            // What the keys select is looked at one by one.
            path.value_ty = self.types.open(Class::Any);
        }
        if path.steps.last().is_some_and(|before| before.select.is_dynamic()) {
            self.fold(path)?;
        }
        if let Some(in_map) = in_map {
            let kind = if in_map { Type::Map } else { Type::List };
            self.unify(path.value_ty, Ty::Known(kind), start.to(span))?;
        }
        path.value_ty = match select {
            // Of a map the values, or a map: as what it is compared with.
            Select::Many { .. } | Select::Value(_) if in_map == Some(true) => self.types.open(Class::Collection),
            Select::Many { .. } | Select::Value(_) => Ty::Known(Type::List),
            _ => self.types.open(Class::Any),
        };
        path.steps.push(Step { in_map, select, span, create: None });
        Ok(())
    }

    #[inline(never)]
    fn key(&mut self, at: usize) -> Result<Param> {
        match self.lexer.byte() {
            Some(b'\'' | b'"') => Ok(Param::from(self.lexer.text()?.as_ref())),
            Some(b'?' | b'%' | b'+' | b'-') => {
                let (token, span) = self.next()?;
                let (value, span) = self.literal(token, span, false)?;
                match value.kind() {
                    Some(Type::Int | Type::String | Type::Blob) => Ok(value),
                    _ => Err(self.error(AelErrorKind::Type, span, "a key of a map is a string, an integer or bytes")),
                }
            }
            _ => {
                let word = self.lexer.word(&[]);
                if word.is_empty() {
                    let text = "expected a key, {..} (in a map), [..] (in a list), * or a function";
                    return Err(self.syntax(Span::new(at, at + 1), text));
                }
                if !word.as_bytes()[0].is_ascii_digit() {
                    return Ok(Param::from(word));
                }
                let based = word.get(2..).unwrap_or_default();
                let number = match word.get(..2) {
                    Some("0x" | "0X") => i64::from_str_radix(based, 16),
                    Some("0b" | "0B") => i64::from_str_radix(based, 2),
                    _ => word.parse(),
                };
                match number {
                    Ok(number) => Ok(Param::from(number)),
                    Err(_) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                        let span = Span::new(at, self.lexer.at);
                        Err(self.syntax(span, "the key does not fit into 64 bits; a string of digits stands in quotes"))
                    }
                    Err(_) => Ok(Param::from(word)),
                }
            }
        }
    }

    /// `[?(..)]`, of which the "[" has been read.
    pub(super) fn filter(&mut self) -> Result<Node<'a>> {
        let at = Span::new(self.lexer.at, self.lexer.at + 1);
        if !self.lexer.eat("?")? {
            return Err(self.syntax(at, "expected a filter behind \"*\", as in *[?(@ > 1)]"));
        }
        if self.in_filter {
            return Err(self.syntax(at, "a filter cannot stand in another one"));
        }
        self.expect("(", "behind \"[?\"")?;
        let filter = self.looking_at_items(|parser| parser.expression(0))?;
        self.expect_type(&filter, Type::Bool)?;
        self.expect(")", "at the end of the filter")?;
        self.expect("]", "at the end of the filter")?;
        Ok(filter)
    }

    /// A path that ends with no function.
    fn value(&mut self, mut path: Box<Path<'a>>, span: Span) -> Result<Node<'a>> {
        self.no_create(&path)?;
        let depth = path.depth;
        let mut ty = path.value_ty;
        if path.steps.is_empty()
            && let Root::Value(node) = path.root
        {
            return Ok(*node);
        }
        if path.has_wildcard() {
            path.what = PathResult::Select(1);
            ty = Ty::Known(Type::List);
        }
        self.node(Kind::Path(path), ty, span, depth)
    }

    /// A path that ends with a function; its name has been read.
    fn end(&mut self, mut path: Box<Path<'a>>, name: &'a str, start: Span, at: usize) -> Result<Node<'a>> {
        let name_span = Span::new(self.lexer.at - name.len(), self.lexer.at);
        let before = trimmed(self.lexer.text, Span::new(start.start, at));
        if let Some((verb, flags)) = super::change::verb(name) {
            return self.change(path, verb, flags, name_span);
        }
        self.no_create(&path)?;
        let flags = match name {
            "getValues" => Some((PathResult::Value, PathResult::Select(1))),
            "getKeys" => Some((PathResult::Return(return_type::KEY), PathResult::Select(2))),
            "getKeyValues" => Some((PathResult::Return(return_type::KEY_VALUE), PathResult::Select(3))),
            "getTree" => Some((PathResult::Return(return_type::ORDERED_MAP), PathResult::Select(0))),
            _ => None,
        };
        if let Some((plain, wild)) = flags {
            return self.getter(path, name, start, plain, wild);
        }
        match name {
            "count" | "exists" if path.has_wildcard() => {
                let value = self.value(path, before)?;
                if name == "count" {
                    return self.method(value, name, name_span);
                }
                let span = start.to(self.no_arguments(name)?);
                let depth = value.depth;
                let size = self.node(Kind::ListSize(Box::new(value)), Ty::Known(Type::Int), span, depth)?;
                let none = self.constant(Param::from(0), span)?;
                self.operation_of(op::GT, vec![size, none], Ty::Known(Type::Bool))
            }
            "count" if matches!(path.root, Root::Value(_)) && path.steps.is_empty() && !self.is_map(&path) => {
                let value = self.value(path, before)?;
                self.method(value, name, name_span)
            }
            "count" | "exists" => {
                let end = self.no_arguments(name)?;
                self.counted(path, start.to(end), name == "exists")
            }
            "getMaps" | "getIndexes" | "getRanks" => self.placed(path, name, start),
            "type" if path.steps.is_empty() => {
                let end = self.no_arguments(name)?;
                match path.root {
                    Root::Bin(name) => self.node(Kind::BinType(name), Ty::Known(Type::Int), start.to(end), 0),
                    _ => Err(self.syntax(name_span, "type() is for bins")),
                }
            }
            "get" => {
                let ty = self.get(&mut path, name_span)?;
                let span = Span::new(start.start, self.lexer.at);
                if path.what == PathResult::Return(return_type::KEY_VALUE) {
                    return self.pairs(path, span);
                }
                let depth = path.depth;
                self.node(Kind::Path(path), ty, span, depth)
            }
            _ => {
                let value = self.value(path, before)?;
                self.method(value, name, name_span)
            }
        }
    }

    fn no_arguments(&mut self, name: &str) -> Result<Span> {
        self.expect("(", "")?;
        self.expect(")", &format!("({name}() takes no arguments)"))
    }

    #[inline(never)]
    fn getter(
        &mut self,
        mut path: Box<Path<'a>>,
        name: &str,
        start: Span,
        plain: PathResult,
        wild: PathResult,
    ) -> Result<Node<'a>> {
        let end = self.no_arguments(name)?;
        let depth = path.depth;
        let span = start.to(end);
        let in_map = path.steps.last().and_then(|step| step.in_map);
        if wild == PathResult::Select(0) {
            // It is that of the bin, and of what is around the range.
            self.no_range(&path)?;
        }
        path.what = match path.has_wildcard() {
            true => wild,
            false if path.steps.is_empty() && plain != PathResult::Value => {
                return Err(self.unsupported(span, &format!("{name}() of a whole bin")));
            }
            false if in_map == Some(false) && plain != PathResult::Value => match wild {
                // The tree of a list is a list.
                PathResult::Select(0) => PathResult::Value,
                _ => return Err(self.syntax(span, format!("{name}() is for maps"))),
            },
            false => plain,
        };
        let ty = match path.what {
            PathResult::Return(return_type::KEY_VALUE) => return self.pairs(path, span),
            PathResult::Value => path.value_ty,
            PathResult::Return(return_type::ORDERED_MAP) => Ty::Known(Type::Map),
            // The key of a single step is no list.
            PathResult::Return(return_type::KEY) if !path.steps.last().is_some_and(|step| step.select.is_plural()) => {
                self.types.open(Class::Any)
            }
            PathResult::Select(0) => path.root_ty,
            _ => Ty::Known(Type::List),
        };
        self.node(Kind::Path(path), ty, span, depth)
    }

    /// What `getMaps()`, `getIndexes()` and `getRanks()` give; the name has been read.
    #[inline(never)]
    fn placed(&mut self, mut path: Box<Path<'a>>, name: &str, start: Span) -> Result<Node<'a>> {
        let end = self.no_arguments(name)?;
        let maps = name == "getMaps";
        let allowed: &[(&str, u8)] = if maps { &[("UNORDERED", 1)] } else { &[("REVERSE", 1)] };
        let (flags, end) = self.flags(name, allowed, end)?;
        let span = start.to(end);
        let (plural, in_map) = match path.steps.last() {
            Some(step) if !path.has_wildcard() => (step.select.is_plural(), step.in_map == Some(true)),
            _ => return Err(self.syntax(span, format!("{name}() is for what one selector selects, as in {{0:3}}"))),
        };
        if maps && !(plural && in_map) {
            return Err(self.syntax(span, "getMaps() is for several pairs of a map, as in {@a,b}"));
        }
        let number = match (name, flags) {
            ("getMaps", 0) => return_type::ORDERED_MAP,
            ("getMaps", _) => return_type::UNORDERED_MAP,
            ("getIndexes", 0) => return_type::INDEX,
            ("getIndexes", _) => return_type::REVERSE_INDEX,
            (_, 0) => return_type::RANK,
            _ => return_type::REVERSE_RANK,
        };
        path.what = PathResult::Return(number);
        let kind = match (maps, plural) {
            (true, _) => Type::Map,
            (false, true) => Type::List,
            (false, false) => Type::Int,
        };
        let depth = path.depth;
        self.node(Kind::Path(path), Ty::Known(kind), span, depth)
    }

    /// Keys and values in turn. Servers answer those of a selector as a map, of which a path gives the list.
    #[inline(never)]
    fn pairs(&mut self, mut path: Box<Path<'a>>, span: Span) -> Result<Node<'a>> {
        path.what = PathResult::Return(return_type::ORDERED_MAP);
        let (depth, map) = (path.depth, Ty::Known(Type::Map));
        let node = self.node(Kind::Path(path), map, span, depth)?;
        let depth = node.depth;
        let all = Step { in_map: None, select: Select::Each(None), span, create: None };
        let pairs = Path {
            root: Root::Value(Box::new(node)),
            root_ty: map,
            root_span: span,
            steps: vec![all],
            value_ty: map,
            what: PathResult::Select(3),
            depth,
            root_create: None,
            create_span: None,
            persist: None,
        };
        self.node(Kind::Path(Box::new(pairs)), Ty::Known(Type::List), span, depth)
    }

    /// Whether what the path names is known to be a map.
    fn is_map(&self, path: &Path<'a>) -> bool {
        self.types.known(path.value_ty) == Some(Type::Map)
    }

    /// Makes the path so far the value that the rest of it starts with: expressions cannot stand in contexts.
    #[inline(never)]
    pub(super) fn fold(&mut self, path: &mut Path<'a>) -> Result<()> {
        let (ty, span) = (path.value_ty, path.root_span.to(path.steps.last().map_or(path.root_span, |step| step.span)));
        // Stands in until the next line.
        let root = std::mem::replace(&mut path.root, Root::Item(1));
        let first = Box::new(Path {
            root,
            root_ty: path.root_ty,
            root_span: path.root_span,
            steps: std::mem::take(&mut path.steps),
            value_ty: ty,
            what: PathResult::Value,
            depth: path.depth,
            root_create: path.root_create,
            create_span: path.create_span,
            persist: path.persist,
        });
        let node = self.value(first, span)?;
        path.depth = node.depth;
        path.root = Root::Part(Box::new(node));
        (path.root_ty, path.root_span) = (ty, span);
        Ok(())
    }

    /// `get(type: INT, return: COUNT)`: an older way to say the type, and what is answered.
    #[inline(never)]
    fn get(&mut self, path: &mut Path<'a>, name: Span) -> Result<Ty> {
        self.expect("(", "")?;
        let mut kind = None;
        let mut what = None;
        while !self.is(")")? {
            let (token, span) = self.next()?;
            let argument = match token {
                Token::Ident(argument @ ("type" | "return")) => argument,
                Token::Symbol("{" | "[") => {
                    return Err(self.unsupported(span, "get() with a selector (the path itself can have it)"));
                }
                token => {
                    let found = token.describe();
                    return Err(self.syntax(span, format!("expected \"type\" or \"return\", found {found}")));
                }
            };
            self.expect(":", "behind the name of an argument")?;
            if argument == "type" {
                kind = Some(self.type_name()?);
            } else {
                let (token, span) = self.next()?;
                let Some((_, number)) = RETURNS.iter().find(|(name, _)| token == Token::Ident(name)) else {
                    return Err(self.syntax(span, format!("there is no return type {}", token.describe())));
                };
                what = Some(*number);
            }
            if !self.take(",")? {
                break;
            }
        }
        let end = self.expect(")", "or \",\" behind an argument")?;
        let span = name.to(end);
        if path.has_wildcard() {
            path.what = PathResult::Select(1);
            return Ok(Ty::Known(Type::List));
        }
        let plural = path.steps.last().is_some_and(|step| step.select.is_plural());
        let ty = match what {
            None | Some(return_type::VALUE) => path.value_ty,
            Some(number) => {
                let Some(step) = path.steps.last() else {
                    return Err(self.syntax(span, "what is returned can be chosen for a part of a bin only"));
                };
                let of_map = matches!(
                    number,
                    return_type::KEY | return_type::KEY_VALUE | return_type::ORDERED_MAP | return_type::UNORDERED_MAP
                );
                if of_map && step.in_map == Some(false) {
                    return Err(self.syntax(span, "a list has no keys"));
                }
                path.what = PathResult::Return(number);
                match number {
                    return_type::COUNT => Ty::Known(Type::Int),
                    return_type::EXISTS => Ty::Known(Type::Bool),
                    return_type::ORDERED_MAP | return_type::UNORDERED_MAP => Ty::Known(Type::Map),
                    _ if plural => Ty::Known(Type::List),
                    return_type::KEY => self.types.open(Class::Any),
                    return_type::KEY_VALUE => Ty::Known(Type::List),
                    _ => Ty::Known(Type::Int),
                }
            }
        };
        if let Some(kind) = kind {
            self.unify(ty, Ty::Known(kind), span)?;
        }
        Ok(ty)
    }

    /// A path as a context: the steps to a list or map inside a bin.
    pub(crate) fn context(&mut self) -> Result<Path<'a>> {
        let (token, span) = self.next()?;
        if token != Token::Record {
            return Err(self.syntax(span, format!("expected a path, as in $.bin.key, found {}", token.describe())));
        }
        let node = self.path(span)?;
        let (token, end) = self.next()?;
        if token != Token::End {
            return Err(self.syntax(end, format!("expected the end of the path, found {}", token.describe())));
        }
        self.all_params_used()?;
        match node.kind {
            Kind::Path(path) if matches!(path.what, PathResult::Value | PathResult::Select(1)) => {
                if let Some(step) = path.steps.iter().find(|step| matches!(step.select, Select::Many { .. })) {
                    return Err(self.syntax(step.span, "a context names one item per step: no ranges, no lists"));
                }
                let filters = |select: &Select<'a>| matches!(select, Select::Each(Some(_)) | Select::And(_));
                self.no_range(&path)?;
                let dynamic = matches!(path.root, Root::Part(_)) || path.steps.iter().any(|s| s.select.is_dynamic());
                if dynamic || !matches!(path.root, Root::Bin(_)) {
                    return Err(self.syntax(node.span, "a context has constants only: no expressions"));
                }
                if let Some(step) = path.steps.iter().find(|step| filters(&step.select)) {
                    return Err(self.syntax(step.span, "a context has no filters here"));
                }
                if path.steps.is_empty() {
                    return Err(self.syntax(node.span, "a context has steps behind the bin, as in $.bin.key"));
                }
                Ok(*path)
            }
            _ => Err(self.syntax(node.span, "a context is a path without a function at its end")),
        }
    }
}

/// A span without white space at its end.
fn trimmed(text: &str, span: Span) -> Span {
    let len = text.get(span.start..span.end).map_or(0, |part| part.trim_end().len());
    Span::new(span.start, span.start + len)
}
