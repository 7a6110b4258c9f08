//! Functions: standing alone, and called on a value.

use super::{Parser, Result, depth};
use crate::constant::Param;
use crate::emit::op;
use crate::error::{AelErrorKind, Span};
use crate::functions::{self, Method, Shape};
use crate::lexer::Token;
use crate::tree::{Kind, Node, Path, Root, What};
use crate::types::{Class, Ty, Type};

/// A function that stands alone: its name, how many arguments it has (`None`: two or more), its operation, and their
/// type (`None`: numbers of one type).
type Function = (&'static str, Option<usize>, u8, Option<Type>, Option<Type>);

const FUNCTIONS: [Function; 15] = [
    ("abs", Some(1), op::ABS, None, None),
    ("ceil", Some(1), op::CEIL, Some(Type::Float), Some(Type::Float)),
    ("floor", Some(1), op::FLOOR, Some(Type::Float), Some(Type::Float)),
    ("log", Some(2), op::LOG, Some(Type::Float), Some(Type::Float)),
    ("pow", Some(2), op::POW, Some(Type::Float), Some(Type::Float)),
    ("min", None, op::MIN, None, None),
    ("max", None, op::MAX, None, None),
    ("exclusive", None, op::EXCLUSIVE, Some(Type::Bool), Some(Type::Bool)),
    ("countOneBits", Some(1), op::COUNT, Some(Type::Int), Some(Type::Int)),
    ("findBitLeft", Some(2), op::LSCAN, Some(Type::Int), Some(Type::Int)),
    ("findBitRight", Some(2), op::RSCAN, Some(Type::Int), Some(Type::Int)),
    ("lscan", Some(2), op::LSCAN, Some(Type::Int), Some(Type::Int)),
    ("rscan", Some(2), op::RSCAN, Some(Type::Int), Some(Type::Int)),
    ("geoCompare", Some(2), op::GEO, Some(Type::Geo), Some(Type::Bool)),
    ("count", Some(1), op::COUNT, Some(Type::Int), Some(Type::Int)),
];

impl<'a> Parser<'a, '_> {
    /// A function that stands alone, whose "(" comes next.
    pub(super) fn function(&mut self, name: &'a str, span: Span) -> Result<Node<'a>> {
        if name == "geoJson" || name == "geo" {
            return self.geo(span);
        }
        let Some((_, count, code, takes, gives)) = FUNCTIONS.iter().find(|function| function.0 == name) else {
            return Err(self.syntax(span, format!("there is no function \"{name}\"")));
        };
        let (arguments, end) = self.arguments()?;
        let fits = count.map_or(arguments.len() >= 2, |count| arguments.len() == count);
        if !fits {
            let expected = count.map_or_else(|| "two or more".to_owned(), |count| count.to_string());
            let text = format!("{name}() takes {expected} arguments, {} given", arguments.len());
            return Err(self.syntax(span.to(end), text));
        }
        let mut ty = gives.map(Ty::Known);
        for (at, argument) in arguments.iter().enumerate() {
            match takes {
                _ if at == 1 && matches!(*code, op::LSCAN | op::RSCAN) => self.expect_type(argument, Type::Bool)?,
                Some(kind) => self.expect_type(argument, *kind)?,
                None => {
                    let narrowed = self.types.narrow(argument.ty, Class::Numeric);
                    narrowed.map_err(|error| self.mismatch(argument.span, &error))?;
                    self.unify(arguments[0].ty, argument.ty, argument.span)?;
                    ty = Some(arguments[0].ty);
                }
            }
        }
        let depth = depth(&arguments);
        let ty = ty.unwrap_or(Ty::Known(Type::Int));
        self.node(Kind::Operation(*code, arguments), ty, span.to(end), depth)
    }

    fn arguments(&mut self) -> Result<(Vec<Node<'a>>, Span)> {
        self.expect("(", "and arguments")?;
        let mut arguments = Vec::new();
        if self.is(")")? {
            return Ok((arguments, self.next()?.1));
        }
        loop {
            arguments.push(self.expression(0)?);
            if !self.take(",")? {
                return Ok((arguments, self.expect(")", "or \",\" behind an argument")?));
            }
        }
    }

    /// `geoJson('..')`: a constant.
    fn geo(&mut self, start: Span) -> Result<Node<'a>> {
        self.expect("(", "and GeoJSON text")?;
        let (token, span) = self.next()?;
        let (value, span) = self.literal(token, span, false)?;
        let Some(text) = value.as_str() else {
            return Err(self.error(AelErrorKind::Type, span, "GeoJSON is given as a string"));
        };
        let value = Param::geo(text);
        let end = self.expect(")", "behind the GeoJSON text")?;
        self.constant(value, start.to(end))
    }

    /// Functions that are called on a value: `.name(..)`, any number of them.
    pub(super) fn methods(&mut self, mut value: Node<'a>) -> Result<Node<'a>> {
        // A number that follows a point is no function: tokens are read by the path itself.
        loop {
            // "1.asFloat()": the lexer leaves the point alone where no digit follows.
            if self.ahead.is_none() {
                self.lexer.skip_space()?;
                if self.lexer.byte() != Some(b'.') {
                    return Ok(value);
                }
            } else if !self.is(".")? {
                return Ok(value);
            }
            self.ahead = None;
            if self.lexer.byte() == Some(b'.') {
                self.lexer.at += 1;
            }
            let (token, span) = self.next()?;
            match token {
                Token::Ident(name) if self.is("(")? => value = self.method(value, name, span)?,
                Token::Ident(_) | Token::Str(_) | Token::Symbol("[" | "{" | "*") => {
                    return Err(self.unsupported(span, "a path into the result of a function or of an expression"));
                }
                token => {
                    return Err(
                        self.syntax(span, format!("expected the name of a function, found {}", token.describe()))
                    );
                }
            }
        }
    }

    /// A function that is called on a value; its "(" comes next.
    pub(super) fn method(&mut self, value: Node<'a>, name: &'a str, span: Span) -> Result<Node<'a>> {
        match name {
            "asInt" | "toInt" => return self.convert(value, Type::Int),
            "asFloat" | "toFloat" => return self.convert(value, Type::Float),
            "regexReplace" => return self.regex_replace(value),
            "count" => {
                let (arguments, end) = self.arguments()?;
                if !arguments.is_empty() {
                    return Err(self.syntax(span, "count() takes no arguments"));
                }
                self.expect_type(&value, Type::List)?;
                let (span, depth) = (value.span.to(end), value.depth);
                return self.node(Kind::ListSize(Box::new(value)), Ty::Known(Type::Int), span, depth);
            }
            _ => {}
        }
        let Some(method) = functions::method(name) else {
            if functions::WRITES.contains(&name) {
                return Err(self.unsupported(span, &format!("{name}(), which changes a value")));
            }
            return Err(self.syntax(span, format!("there is no function \"{name}\" to call on a value")));
        };
        match method.receiver {
            Some(kind) => self.expect_type(&value, kind)?,
            None if self.types.known(value.ty).is_none() => {
                let text = "the type of the value is open: add it, as in $.a:INT.toString()";
                return Err(self.error(AelErrorKind::Type, value.span, text));
            }
            None => {}
        }
        let (arguments, end) = self.named_arguments(method, span)?;
        let depth = depth(&arguments).max(value.depth);
        let span = value.span.to(end);
        let ty = Ty::Known(method.gives);
        if method.shape == Shape::Plain && self.types.known(value.ty) == Some(Type::String) {
            return Ok(value);
        }
        self.node(Kind::Method { method, receiver: Box::new(value), arguments }, ty, span, depth)
    }

    /// Arguments with or without names; those with names may stand in any order.
    fn named_arguments(&mut self, method: &'static Method, span: Span) -> Result<(Vec<Node<'a>>, Span)> {
        self.expect("(", "and arguments")?;
        let mut given: Vec<Option<Node<'a>>> = method.arguments.iter().map(|_| None).collect();
        let mut next = 0;
        let end = loop {
            if self.is(")")? {
                break self.next()?.1;
            }
            let (place, at) = self.argument_place(method, &mut next)?;
            let argument = self.expression(0)?;
            match method.arguments.get(place) {
                Some((_, Some(kind))) => self.expect_type(&argument, *kind)?,
                Some((_, None)) if self.types.known(argument.ty).is_none() => self.expect_type(&argument, Type::Hll)?,
                _ => {}
            }
            match given.get_mut(place) {
                Some(slot @ None) => *slot = Some(argument),
                Some(Some(_)) => return Err(self.syntax(at, "the argument is given twice")),
                None => {
                    let most = method.arguments.len();
                    return Err(self.syntax(argument.span, format!("{}() takes at most {most} arguments", method.name)));
                }
            }
            if !self.take(",")? {
                break self.expect(")", "or \",\" behind an argument")?;
            }
        };
        let count = given.iter().take_while(|argument| argument.is_some()).count();
        if count < method.required || given.iter().skip(count).any(Option::is_some) {
            let names: Vec<&str> = method.arguments.iter().map(|(name, _)| *name).collect();
            let text = format!("{}() needs {} of its arguments ({})", method.name, method.required, names.join(", "));
            return Err(self.syntax(span.to(end), text));
        }
        Ok((given.into_iter().flatten().collect(), end))
    }

    /// Which argument comes next; takes its name if it has one.
    fn argument_place(&mut self, method: &Method, next: &mut usize) -> Result<(usize, Span)> {
        self.peek()?;
        if let Some((Token::Ident(name), span)) = self.ahead.clone() {
            let after = self.lexer.rest().trim_start();
            if after.starts_with(':') {
                let Some(place) = method.arguments.iter().position(|(known, _)| *known == name) else {
                    return Err(self.syntax(span, format!("{}() has no argument \"{name}\"", method.name)));
                };
                self.ahead = None;
                self.expect(":", "behind the name of an argument")?;
                return Ok((place, span));
            }
        }
        *next += 1;
        Ok((*next - 1, Span::new(self.lexer.at, self.lexer.at + 1)))
    }

    /// Numbers become other numbers, and text that is typed as such is parsed.
    fn convert(&mut self, value: Node<'a>, to: Type) -> Result<Node<'a>> {
        let (arguments, end) = self.arguments()?;
        let (span, depth) = (value.span.to(end), value.depth);
        if !arguments.is_empty() {
            return Err(self.syntax(span, "a conversion takes no arguments"));
        }
        if self.types.known(value.ty) == Some(Type::String) {
            let method = if to == Type::Int { &PARSE_INT } else { &PARSE_FLOAT };
            let receiver = Box::new(value);
            return self.node(Kind::Method { method, receiver, arguments }, Ty::Known(to), span, depth);
        }
        let (from, code) = if to == Type::Int { (Type::Float, op::TO_INT) } else { (Type::Int, op::TO_FLOAT) };
        self.expect_type(&value, from)?;
        self.node(Kind::Operation(code, vec![value]), Ty::Known(to), span, depth)
    }

    /// `regexReplace(pattern: /../, replace: '..')`
    fn regex_replace(&mut self, value: Node<'a>) -> Result<Node<'a>> {
        self.expect_type(&value, Type::String)?;
        self.expect("(", "and a regular expression")?;
        self.take_name("pattern")?;
        let (pattern, flags, _) = self.pattern(true)?;
        self.expect(",", "and what to put in place of it")?;
        self.take_name("replace")?;
        let replacement = self.expression(0)?;
        self.expect_type(&replacement, Type::String)?;
        let end = self.expect(")", "behind the arguments")?;
        let (span, depth) = (value.span.to(end), value.depth.max(replacement.depth));
        let kind = Kind::RegexReplace { receiver: Box::new(value), pattern, flags, replacement: Box::new(replacement) };
        self.node(kind, Ty::Known(Type::String), span, depth)
    }

    /// Takes the name of an argument and its colon, if they come next.
    fn take_name(&mut self, name: &str) -> Result<()> {
        if self.ahead.is_some() {
            return Ok(());
        }
        self.lexer.skip_space()?;
        let before = self.lexer.at;
        if self.lexer.word(&[]) != name || !self.lexer.eat(":")? {
            self.lexer.at = before;
        }
        Ok(())
    }

    /// How many items a path has, or whether there are any: what `count()` and `exists()` of a path give.
    pub(super) fn counted(&mut self, mut path: Path<'a>, span: Span, exists: bool, depth: u16) -> Result<Node<'a>> {
        use crate::tree::return_type::{COUNT, EXISTS};
        let plural = path.steps.last().is_some_and(|step| step.select.is_plural());
        let ty = Ty::Known(if exists { Type::Bool } else { Type::Int });
        path.what = match (exists, &path.root) {
            (true, Root::Bin(_)) if path.steps.is_empty() => What::BinExists,
            (true, _) if path.steps.is_empty() => {
                return Err(self.syntax(span, "what a filter looks at does exist"));
            }
            (true, _) => What::Return(EXISTS),
            (false, _) if plural => What::Return(COUNT),
            (false, _) => What::Size,
        };
        self.node(Kind::Path(Box::new(path)), ty, span, depth)
    }
}

const fn parse_number(name: &'static str, code: u8, gives: Type) -> Method {
    Method {
        name,
        receiver: Some(Type::String),
        module: 3,
        code,
        shape: Shape::Read,
        arguments: &[],
        required: 0,
        gives,
        since: crate::Version::new(8, 2, 0),
    }
}

static PARSE_INT: Method = parse_number("toInt", aerolane_wire::operation::string::code::TO_INTEGER, Type::Int);
static PARSE_FLOAT: Method = parse_number("toFloat", aerolane_wire::operation::string::code::TO_DOUBLE, Type::Float);
