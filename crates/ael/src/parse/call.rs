//! Functions: standing alone, and called on a value.

use super::{Parser, Result, depth};
use crate::constant::Param;
use crate::emit::op;
use crate::error::{AelErrorKind, Span};
use crate::functions::flag::{CREATE_ONLY, NO_FAIL, UPDATE_ONLY};
use crate::functions::{self, Method, Shape};
use crate::lexer::Token;
use crate::tree::{Kind, Node, Path, PathResult, Root};
use crate::types::{Class, Ty, Type};

/// A function that stands alone: its name, the names of its arguments (`None`: two or more without names), its
/// operation, and their type (`None`: numbers of one type).
type Function = (&'static str, Option<&'static [&'static str]>, u8, Option<Type>, Option<Type>);

const FUNCTIONS: [Function; 15] = [
    ("abs", Some(&["x"]), op::ABS, None, None),
    ("ceil", Some(&["x"]), op::CEIL, Some(Type::Float), Some(Type::Float)),
    ("floor", Some(&["x"]), op::FLOOR, Some(Type::Float), Some(Type::Float)),
    ("log", Some(&["value", "base"]), op::LOG, Some(Type::Float), Some(Type::Float)),
    ("pow", Some(&["base", "exponent"]), op::POW, Some(Type::Float), Some(Type::Float)),
    ("min", None, op::MIN, None, None),
    ("max", None, op::MAX, None, None),
    ("exclusive", None, op::EXCLUSIVE, Some(Type::Bool), Some(Type::Bool)),
    ("countOneBits", Some(&["x"]), op::COUNT, Some(Type::Int), Some(Type::Int)),
    ("findBitLeft", Some(&["x", "value"]), op::LSCAN, Some(Type::Int), Some(Type::Int)),
    ("findBitRight", Some(&["x", "value"]), op::RSCAN, Some(Type::Int), Some(Type::Int)),
    ("lscan", Some(&["x", "value"]), op::LSCAN, Some(Type::Int), Some(Type::Int)),
    ("rscan", Some(&["x", "value"]), op::RSCAN, Some(Type::Int), Some(Type::Int)),
    ("geoCompare", Some(&["a", "b"]), op::GEO, Some(Type::Geo), Some(Type::Bool)),
    ("count", Some(&["x"]), op::COUNT, Some(Type::Int), Some(Type::Int)),
];

impl<'a> Parser<'a, '_> {
    /// A function that stands alone, whose "(" comes next.
    #[inline(never)]
    pub(super) fn function(&mut self, name: &'a str, span: Span) -> Result<Node<'a>> {
        if name == "geoJson" || name == "geo" {
            return self.geo(span);
        }
        let Some((_, names, code, takes, gives)) = FUNCTIONS.iter().find(|function| function.0 == name) else {
            return Err(self.syntax(span, format!("there is no function \"{name}\"")));
        };
        let (arguments, end) = self.arguments_of(name, *names)?;
        let fits = names.map_or(arguments.len() >= 2, |names| arguments.len() == names.len());
        if !fits {
            let expected = names.map_or_else(|| "two or more".to_owned(), |names| names.len().to_string());
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

    /// Arguments of a function that stands alone, with or without names; those with names may stand in any order.
    fn arguments_of(&mut self, function: &str, names: Option<&[&str]>) -> Result<(Vec<Node<'a>>, Span)> {
        self.expect("(", "and arguments")?;
        let mut given: Vec<(usize, Node<'a>)> = Vec::new();
        let mut next = 0;
        let end = loop {
            if given.is_empty() && self.is(")")? {
                break self.next()?.1;
            }
            let position = |name: &str| names.unwrap_or_default().iter().position(|known| *known == name);
            let (place, at) = self.argument_place(function, position, &mut next)?;
            if given.iter().any(|(known, _)| *known == place) {
                return Err(self.syntax(at, "the argument is given twice"));
            }
            given.push((place, self.expression(0)?));
            if !self.take(",")? {
                break self.expect(")", "or \",\" behind an argument")?;
            }
        };
        given.sort_by_key(|(place, _)| *place);
        Ok((given.into_iter().map(|(_, argument)| argument).collect(), end))
    }

    /// `geoJson('..')`: a constant.
    #[inline(never)]
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

    /// What follows a value: functions that are called on it, and steps into it.
    pub(super) fn methods(&mut self, mut value: Node<'a>) -> Result<Node<'a>> {
        loop {
            // The path reads the text itself: what has been read ahead is given back.
            match &self.ahead {
                Some((Token::Symbol("."), span)) => {
                    self.lexer.at = span.start;
                    self.ahead = None;
                }
                Some(_) => return Ok(value),
                None => {
                    self.lexer.skip_space()?;
                    if self.lexer.byte() != Some(b'.') {
                        return Ok(value);
                    }
                }
            }
            let (ty, span) = (value.ty, value.span);
            value = self.steps(Root::Value(Box::new(value)), ty, span)?;
        }
    }

    /// Flags behind a call, as in `:NO_FAIL`: their bits, and where they end.
    #[inline(never)]
    pub(super) fn flags(&mut self, call: &str, allowed: &[(&str, u8)], mut end: Span) -> Result<(u8, Span)> {
        let mut bits = 0;
        while self.ahead.is_none() && self.lexer.eat(":")? {
            self.lexer.skip_space()?;
            let start = self.lexer.at;
            let word = self.lexer.word(&[]);
            let span = Span::new(start, self.lexer.at.max(start + 1));
            let Some((_, bit)) = allowed.iter().find(|(name, _)| *name == word) else {
                let names: Vec<String> = allowed.iter().map(|(name, _)| format!(":{name}")).collect();
                let hint = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(self.syntax(span, format!("{call}() has no flag \"{word}\"; it has {hint}")));
            };
            if bits & bit == *bit && word != "NO_FAIL" {
                return Err(self.syntax(span, format!("the flag \"{word}\" is given twice")));
            }
            bits |= bit;
            end = span;
        }
        let both = CREATE_ONLY.1 | UPDATE_ONLY.1;
        if bits & both == both && allowed.contains(&CREATE_ONLY) && allowed.contains(&UPDATE_ONLY) {
            return Err(self.syntax(end, "CREATE_ONLY and UPDATE_ONLY exclude each other"));
        }
        Ok((bits, end))
    }

    /// A function that is called on a value; its "(" comes next.
    pub(super) fn method(&mut self, value: Node<'a>, name: &'a str, span: Span) -> Result<Node<'a>> {
        match name {
            "toInt" | "toFloat" if self.types.known(value.ty).is_none() => {
                let text = format!(
                    "the type of the value is open, and {name}() parses strings and converts numbers: add it, as in \
                     $.a:STRING.{name}()"
                );
                return Err(self.error(AelErrorKind::Type, value.span, text));
            }
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
            let instead = match name {
                "set" | "put" => " (setTo() sets a value)",
                "increment" => " (add() adds to a number)",
                "prepend" | "concat" => " (\"+\" joins strings)",
                _ => "",
            };
            if !instead.is_empty() {
                return Err(self.syntax(span, format!("there is no function \"{name}\"{instead}")));
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
        let (flags, end) = self.flags(name, method.flags, end)?;
        if matches!(method.shape, Shape::ReadSigned | Shape::ModifySigned)
            && let Some(signed) = arguments.get(method.required)
            && !matches!(signed.kind, Kind::Constant(_))
        {
            return Err(self.syntax(signed.span, "this argument is true or false: a constant"));
        }
        let depth = depth(&arguments).max(value.depth);
        let span = value.span.to(end);
        let ty = Ty::Known(method.gives);
        if method.shape == Shape::Plain && self.types.known(value.ty) == Some(Type::String) {
            return Ok(value);
        }
        self.node(Kind::Method { method, receiver: Box::new(value), arguments, flags }, ty, span, depth)
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
            let position = |name: &str| method.arguments.iter().position(|(known, _)| *known == name);
            let (place, at) = self.argument_place(method.name, position, &mut next)?;
            let argument = self.inner()?;
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
    #[inline(never)]
    fn argument_place(
        &mut self,
        function: &str,
        position: impl Fn(&str) -> Option<usize>,
        next: &mut usize,
    ) -> Result<(usize, Span)> {
        self.peek()?;
        if let Some((Token::Ident(name), span)) = self.ahead.clone() {
            let after = self.lexer.rest().trim_start();
            if after.starts_with(':') {
                let Some(place) = position(name) else {
                    return Err(self.syntax(span, format!("{function}() has no argument \"{name}\"")));
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
    #[inline(never)]
    fn convert(&mut self, value: Node<'a>, to: Type) -> Result<Node<'a>> {
        let (arguments, end) = self.arguments()?;
        let (span, depth) = (value.span.to(end), value.depth);
        if !arguments.is_empty() {
            return Err(self.syntax(span, "a conversion takes no arguments"));
        }
        if self.types.known(value.ty) == Some(Type::String) {
            let method = if to == Type::Int { &PARSE_INT } else { &PARSE_FLOAT };
            let receiver = Box::new(value);
            return self.node(Kind::Method { method, receiver, arguments, flags: 0 }, Ty::Known(to), span, depth);
        }
        let (from, code) = if to == Type::Int { (Type::Float, op::TO_INT) } else { (Type::Int, op::TO_FLOAT) };
        self.expect_type(&value, from)?;
        self.node(Kind::Operation(code, vec![value]), Ty::Known(to), span, depth)
    }

    /// `regexReplace(pattern: /../, replace: '..')`
    #[inline(never)]
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
        let (write_flags, end) = self.flags("regexReplace", &[NO_FAIL], end)?;
        let (span, depth) = (value.span.to(end), value.depth.max(replacement.depth));
        let (receiver, replacement) = (Box::new(value), Box::new(replacement));
        let kind = Kind::RegexReplace { receiver, pattern, flags, replacement, write_flags };
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
    #[inline(never)]
    pub(super) fn counted(&mut self, mut path: Box<Path<'a>>, span: Span, exists: bool) -> Result<Node<'a>> {
        use crate::tree::return_type::{COUNT, EXISTS};
        let plural = path.steps.last().is_some_and(|step| step.select.is_plural());
        let ty = Ty::Known(if exists { Type::Bool } else { Type::Int });
        path.what = match (exists, &path.root) {
            (true, Root::Bin(_)) if path.steps.is_empty() => PathResult::BinExists,
            (true, _) if path.steps.is_empty() => {
                return Err(self.syntax(span, "exists() is for bins and what is in them: a value does exist"));
            }
            (true, _) => PathResult::Return(EXISTS),
            (false, _) if plural => PathResult::Return(COUNT),
            (false, _) => PathResult::Size,
        };
        let depth = path.depth;
        self.node(Kind::Path(path), ty, span, depth)
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
        flags: &[],
    }
}

static PARSE_INT: Method = parse_number("toInt", aerolane_wire::operation::string::code::TO_INTEGER, Type::Int);
static PARSE_FLOAT: Method = parse_number("toFloat", aerolane_wire::operation::string::code::TO_DOUBLE, Type::Float);
