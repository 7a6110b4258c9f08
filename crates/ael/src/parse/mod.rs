//! From text to a checked tree: operators, control structures, functions, literals.
//!
//! Recursive descent, with precedence climbing for operators. Types are made one as soon as two parts meet, so that an
//! error points at the place where they meet. Every descent is counted: nothing recurses deeper than [`MAX_DEPTH`].

mod call;
mod change;
mod path;
mod selector;
mod spread;

use crate::constant::{MapKey, Param};
use crate::emit::op;
use crate::error::{AelError, AelErrorKind, Span};
use crate::lexer::{Lexer, Token};
use crate::tree::{Kind, Node, Tree};
use crate::types::{Class, Mismatch, Ty, Type, Types};
use crate::{MAX_DEPTH, MAX_NODES, MAX_TEXT};

type Result<T> = std::result::Result<T, AelError>;

/// An operator between two operands.
#[derive(Debug, Clone, Copy)]
struct Infix {
    symbol: &'static str,
    /// Higher ones bind tighter.
    binds: u8,
    right: bool,
    code: u8,
    what: Operands,
}

/// What operands an operator takes, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Booleans; a chain of one operator is one operation.
    Logic,
    /// Two of one type, giving a boolean; not to be chained.
    Compare,
    In,
    Regex,
    Numbers,
    Add,
    Ints,
    Floats,
}

const fn infix(symbol: &'static str, binds: u8, code: u8, what: Operands) -> Infix {
    Infix { symbol, binds, right: false, code, what }
}

/// How tightly `not` binds.
const UNARY: u8 = 11;

static INFIX: [Infix; 22] = [
    infix("or", 1, op::OR, Operands::Logic),
    infix("and", 2, op::AND, Operands::Logic),
    infix("==", 3, op::EQ, Operands::Compare),
    infix("!=", 3, op::NE, Operands::Compare),
    infix(">", 3, op::GT, Operands::Compare),
    infix(">=", 3, op::GE, Operands::Compare),
    infix("<", 3, op::LT, Operands::Compare),
    infix("<=", 3, op::LE, Operands::Compare),
    infix("in", 3, 0, Operands::In),
    infix("=~", 3, 0, Operands::Regex),
    infix("&", 6, op::INT_AND, Operands::Ints),
    infix("|", 4, op::INT_OR, Operands::Ints),
    infix("^", 5, op::INT_XOR, Operands::Ints),
    infix("<<", 7, op::LSHIFT, Operands::Ints),
    infix(">>", 7, op::ARSHIFT, Operands::Ints),
    infix(">>>", 7, op::RSHIFT, Operands::Ints),
    infix("+", 8, op::ADD, Operands::Add),
    infix("-", 8, op::SUB, Operands::Numbers),
    infix("*", 9, op::MUL, Operands::Numbers),
    infix("/", 9, op::DIV, Operands::Numbers),
    infix("%", 9, op::MOD, Operands::Ints),
    Infix { symbol: "**", binds: 10, right: true, code: op::POW, what: Operands::Floats },
];

const COMPARE_BINDS: u8 = 3;

/// What filters of paths cannot look at.
const UNSEEN: &str = "cannot be seen from the filter of a path, or from modify(): servers give them only @, @key and \
                      @index (a value from outside can be a parameter: ?0)";

pub(crate) struct Parser<'a, 'p> {
    lexer: Lexer<'a, 'p>,
    ahead: Option<(Token<'a>, Span)>,
    types: Types,
    /// The bins that the text has named, and their types.
    bins: Vec<(std::borrow::Cow<'a, str>, Ty)>,
    /// The variables that can be seen; one whose value is being read has no type yet.
    scope: Vec<(&'a str, Option<Ty>)>,
    /// How deep the parser is in itself.
    level: u16,
    nodes: u32,
    /// Inside the filter of a path, or in `modify()`, where `@` is something.
    in_filter: bool,
    /// Behind what the filter stands that is read, where items have another index than before.
    no_index: Option<&'static str>,
    /// How many variables are around that filter: it does not see them.
    hidden: usize,
}

/// Parses a text and checks its types.
pub(crate) fn parse<'a>(text: &'a str, params: &[Param]) -> Result<Tree<'a>> {
    let mut parser = Parser::new(text, params)?;
    let root = parser.expression(0)?;
    let (token, span) = parser.next()?;
    if token != Token::End {
        let found = token.describe();
        let hint = match token {
            Token::Symbol("=") => " (equality is \"==\")",
            Token::Symbol("==" | "!=" | "<" | "<=" | ">" | ">=" | "=~") => {
                " (comparisons cannot be chained: join them with \"and\")"
            }
            _ => "",
        };
        return Err(parser.syntax(span, format!("expected an operator or the end of the text, found {found}{hint}")));
    }
    parser.all_params_used()?;
    let is_bin = matches!(&root.kind, Kind::Path(path) if path.is_bin());
    if is_bin && parser.types.known(root.ty).is_none() {
        // A bin and nothing else is a condition.
        parser.unify(root.ty, Ty::Known(Type::Bool), root.span)?;
    }
    Ok(Tree { text, root, types: parser.types })
}

impl<'a, 'p> Parser<'a, 'p> {
    pub(crate) fn new(text: &'a str, params: &'p [Param]) -> Result<Self> {
        let lexer = Lexer::new(text, params);
        if text.len() > MAX_TEXT {
            let message = format!("the text has {} bytes, at most {MAX_TEXT} are allowed", text.len());
            return Err(lexer.error(AelErrorKind::Limit, Span::new(0, 1), message));
        }
        Ok(Self {
            lexer,
            ahead: None,
            types: Types::default(),
            bins: Vec::new(),
            scope: Vec::new(),
            level: 0,
            nodes: 0,
            in_filter: false,
            no_index: None,
            hidden: 0,
        })
    }

    fn all_params_used(&self) -> Result<()> {
        match self.lexer.used.iter().position(|used| !used) {
            None => Ok(()),
            Some(index) => {
                let given = self.lexer.params.len();
                let message =
                    format!("parameter {index} (from 0) of {given} is not used: the text has no placeholder for it");
                Err(self.lexer.error(AelErrorKind::Parameter, Span::new(0, self.lexer.text.len()), message))
            }
        }
    }

    fn error(&self, kind: AelErrorKind, span: Span, message: impl Into<String>) -> AelError {
        self.lexer.error(kind, span, message)
    }

    fn syntax(&self, span: Span, message: impl Into<String>) -> AelError {
        self.error(AelErrorKind::Syntax, span, message)
    }

    fn unsupported(&self, span: Span, what: &str) -> AelError {
        let message = format!("{what}: only servers from 8.2 on compile this, from the text itself");
        self.error(AelErrorKind::Unsupported, span, message).needing(crate::Version::new(8, 2, 0))
    }

    fn mismatch(&self, span: Span, mismatch: &Mismatch) -> AelError {
        let Mismatch { left, right } = mismatch;
        let hint = match (*left, *right) {
            ("INT", "FLOAT") | ("FLOAT", "INT") => " (convert with asFloat() or asInt(), and write 2.0 for a float)",
            _ => "",
        };
        self.error(AelErrorKind::Type, span, format!("types do not fit: {left} and {right}{hint}"))
    }

    fn unify(&mut self, left: Ty, right: Ty, span: Span) -> Result<()> {
        self.types.unify(left, right).map_err(|error| self.mismatch(span, &error))
    }

    fn expect_type(&mut self, node: &Node<'a>, kind: Type) -> Result<()> {
        self.types.unify(node.ty, Ty::Known(kind)).map_err(|error| {
            let found = error.left;
            self.error(AelErrorKind::Type, node.span, format!("expected {kind}, found {found}"))
        })
    }

    fn peek(&mut self) -> Result<&Token<'a>> {
        if self.ahead.is_none() {
            self.ahead = Some(self.lexer.token()?);
        }
        Ok(self.ahead.as_ref().map_or(&Token::End, |(token, _)| token))
    }

    fn next(&mut self) -> Result<(Token<'a>, Span)> {
        match self.ahead.take() {
            Some(next) => Ok(next),
            None => self.lexer.token(),
        }
    }

    fn is(&mut self, symbol: &str) -> Result<bool> {
        Ok(matches!(self.peek()?, Token::Symbol(found) if *found == symbol))
    }

    fn take(&mut self, symbol: &str) -> Result<bool> {
        let found = self.is(symbol)?;
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str, what: &str) -> Result<Span> {
        let (token, span) = self.next()?;
        if matches!(token, Token::Symbol(found) if found == symbol) {
            return Ok(span);
        }
        Err(self.syntax(span, format!("expected \"{symbol}\" {what}, found {}", token.describe())))
    }

    fn node(&mut self, kind: Kind<'a>, ty: Ty, span: Span, children: u16) -> Result<Node<'a>> {
        self.count(span)?;
        let depth = children + 1;
        if depth > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        Ok(Node { kind, ty, span, depth })
    }

    fn count(&mut self, span: Span) -> Result<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("the expression has more than {MAX_NODES} parts");
            return Err(self.error(AelErrorKind::Limit, span, message));
        }
        Ok(())
    }

    fn too_deep(&self, span: Span) -> AelError {
        self.error(AelErrorKind::Limit, span, format!("the expression is nested more than {MAX_DEPTH} levels deep"))
    }

    /// Goes one level down in the text, as long as `inside` runs.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.level += 1;
        if self.level > MAX_DEPTH {
            let at = self.lexer.at;
            return Err(self.too_deep(Span::new(at, at + 1)));
        }
        let result = inside(self);
        self.level -= 1;
        result
    }

    fn infix(&mut self) -> Result<Option<&'static Infix>> {
        let symbol = match self.peek()? {
            Token::Symbol(symbol) => symbol,
            Token::Ident(name) if name.eq_ignore_ascii_case("in") => "in",
            Token::Ident(name @ ("and" | "or")) => name,
            _ => return Ok(None),
        };
        // What ends an operand most often is no operator.
        if matches!(symbol, ")" | "," | "]" | "=>") {
            return Ok(None);
        }
        Ok(INFIX.iter().find(|infix| infix.symbol == symbol))
    }

    /// An expression of operators that bind at least so tightly.
    fn expression(&mut self, binds: u8) -> Result<Node<'a>> {
        self.deeper(|parser| {
            let mut left = parser.unary()?;
            let mut compared = false;
            while let Some(infix) = parser.infix()?.filter(|infix| infix.binds >= binds) {
                if compared && infix.binds == COMPARE_BINDS {
                    break;
                }
                let (_, span) = parser.next()?;
                left = match infix.what {
                    Operands::Regex => parser.regex(left)?,
                    Operands::Logic => parser.logic(infix, left)?,
                    _ => {
                        let right = parser.expression(infix.binds + u8::from(!infix.right))?;
                        parser.combine(infix, span, left, right)?
                    }
                };
                if infix.binds == COMPARE_BINDS {
                    // Comparisons are not chained: what follows one binds less tightly, or is an error of the caller.
                    compared = true;
                }
            }
            Ok(left)
        })
    }

    /// What is read by `inside` looks at items, one by one, and sees nothing else.
    fn looking_at_items<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        (self.in_filter, self.hidden) = (true, self.scope.len());
        let read = inside(self);
        (self.in_filter, self.hidden) = (false, 0);
        read
    }

    /// Refuses what is of the record where only items are seen.
    fn no_record(&self, span: Span) -> Result<()> {
        if self.in_filter { Err(self.syntax(span, format!("the record {UNSEEN}"))) } else { Ok(()) }
    }

    /// An expression inside a path. It counts as two levels: as deep, it needs twice the stack of others.
    fn inner(&mut self) -> Result<Node<'a>> {
        self.deeper(|parser| parser.expression(0))
    }

    fn logic(&mut self, infix: &Infix, first: Node<'a>) -> Result<Node<'a>> {
        let mut parts = vec![first];
        loop {
            parts.push(self.expression(infix.binds + 1)?);
            if self.infix()?.is_none_or(|next| next.code != infix.code || next.binds != infix.binds) {
                break;
            }
            self.ahead = None;
        }
        self.operation(infix.code, parts, Type::Bool, Type::Bool)
    }

    /// An operation on arguments of one type.
    fn operation(&mut self, code: u8, parts: Vec<Node<'a>>, takes: Type, gives: Type) -> Result<Node<'a>> {
        for part in &parts {
            self.expect_type(part, takes)?;
        }
        self.operation_of(code, parts, Ty::Known(gives))
    }

    fn operation_of(&mut self, code: u8, parts: Vec<Node<'a>>, gives: Ty) -> Result<Node<'a>> {
        let span = parts.first().map_or_else(Span::default, |part| part.span);
        let span = parts.last().map_or(span, |part| span.to(part.span));
        let depth = depth(&parts);
        self.node(Kind::Operation(code, parts), gives, span, depth)
    }

    #[inline(never)]
    fn combine(&mut self, infix: &Infix, at: Span, left: Node<'a>, right: Node<'a>) -> Result<Node<'a>> {
        let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
        match infix.what {
            Operands::Compare => {
                self.unify(left.ty, right.ty, at)?;
                self.operation_of(infix.code, vec![left, right], Ty::Known(Type::Bool))
            }
            Operands::In => {
                self.expect_type(&right, Type::List)?;
                if let Kind::Constant(list) = &right.kind
                    && let Some(kind) = list.item_kind()
                {
                    self.unify(left.ty, Ty::Known(kind), at)?;
                }
                self.node(Kind::In(Box::new([left, right])), Ty::Known(Type::Bool), span, depth)
            }
            Operands::Add | Operands::Numbers => {
                let class = if infix.what == Operands::Add { Class::Addable } else { Class::Numeric };
                for part in [&left, &right] {
                    self.types.narrow(part.ty, class).map_err(|error| self.mismatch(part.span, &error))?;
                }
                self.unify(left.ty, right.ty, at)?;
                let ty = left.ty;
                if infix.what == Operands::Add {
                    return self.node(Kind::Add(Box::new([left, right])), ty, span, depth);
                }
                self.operation_of(infix.code, vec![left, right], ty)
            }
            Operands::Ints => self.operation(infix.code, vec![left, right], Type::Int, Type::Int),
            Operands::Floats => self.operation(infix.code, vec![left, right], Type::Float, Type::Float),
            Operands::Logic | Operands::Regex => Err(self.syntax(at, "this operator takes no right-hand expression")),
        }
    }

    #[inline(never)]
    fn regex(&mut self, text: Node<'a>) -> Result<Node<'a>> {
        self.expect_type(&text, Type::String)?;
        let (pattern, flags, span) = self.pattern(false)?;
        let (span, depth) = (text.span.to(span), text.depth);
        self.node(Kind::Regex { text: Box::new(text), pattern, flags }, Ty::Known(Type::Bool), span, depth)
    }

    /// A regular expression between slashes, and the number of its flags.
    fn pattern(&mut self, replaces: bool) -> Result<(String, i64, Span)> {
        let (mut pattern, letters, span) = self.lexer.regex()?;
        let mut flags = 0;
        let mut inside = String::new();
        for letter in letters.chars() {
            flags |= match letter {
                'i' => 1,
                'm' => 2,
                's' => 4,
                'g' if replaces => 16,
                // The operations have no bits for these; the pattern itself can say them.
                'x' | 'w' if inside.contains(letter) => 0,
                'x' | 'w' => {
                    inside.push(letter);
                    0
                }
                _ => {
                    let has = if replaces { "g, i, m, s, w and x" } else { "i, m, s, w and x" };
                    let text = format!("a regular expression has no flag \"{letter}\" here: it has {has}");
                    return Err(self.syntax(span, text));
                }
            };
        }
        if !inside.is_empty() {
            pattern.insert_str(0, &format!("(?{inside})"));
        }
        Ok((pattern, flags, span))
    }

    fn unary(&mut self) -> Result<Node<'a>> {
        let Token::Symbol(symbol @ ("-" | "+" | "~")) = *self.peek()? else {
            let operand = self.operand()?;
            return self.methods(operand);
        };
        let (_, span) = self.next()?;
        let magnitude = match (symbol, self.peek()?) {
            ("-", Token::Int(magnitude)) => Some(0_i64.checked_sub_unsigned(*magnitude).map(Param::from)),
            ("-", Token::Float(value)) => Some(Some(Param::from(-*value))),
            _ => None,
        };
        if let Some(value) = magnitude {
            let (_, end) = self.next()?;
            let value = value.ok_or_else(|| self.syntax(end, "the number does not fit into 64 bits"))?;
            let constant = self.constant(value, span.to(end))?;
            return self.methods(constant);
        }
        let operand = self.deeper(Self::unary)?;
        if symbol == "~" {
            return self.operation(op::INT_NOT, vec![operand], Type::Int, Type::Int);
        }
        self.types.narrow(operand.ty, Class::Numeric).map_err(|error| self.mismatch(operand.span, &error))?;
        if symbol == "+" {
            return Ok(operand);
        }
        let ty = operand.ty;
        self.operation_of(op::SUB, vec![operand], ty)
    }

    #[inline(never)]
    fn constant(&mut self, value: Param, span: Span) -> Result<Node<'a>> {
        let Some(kind) = value.kind() else {
            let text = "NIL, INF and * have no type, so that nothing can be compared with them; \
                        whether a value is there says exists()";
            return Err(self.error(AelErrorKind::Type, span, text));
        };
        self.node(Kind::Constant(value), Ty::Known(kind), span, 0)
    }

    fn operand(&mut self) -> Result<Node<'a>> {
        let (token, span) = self.next()?;
        match token {
            Token::Symbol("(") => {
                let inside = self.expression(0)?;
                self.expect(")", "at the end of the group")?;
                Ok(inside)
            }
            Token::Record => self.path(span),
            Token::Item => self.item(span),
            Token::Variable(name) => {
                let place = self.scope.iter().position(|(known, _)| *known == name);
                if place.is_some_and(|place| place < self.hidden) {
                    let text = format!("the variable \"{name}\" {UNSEEN}");
                    return Err(self.syntax(span, text));
                }
                let ty = match place.map(|place| self.scope[place]) {
                    Some((_, Some(ty))) => ty,
                    Some((_, None)) => {
                        return Err(self.syntax(span, format!("the variable \"{name}\" has no value yet")));
                    }
                    None => {
                        let text = format!("there is no variable \"{name}\": let ({name} = ..) defines one");
                        return Err(self.syntax(span, text));
                    }
                };
                self.node(Kind::Variable(name), ty, span, 0)
            }
            Token::Ident("not") => self.not(),
            Token::Ident("let") => self.local(span),
            Token::Ident("when") => self.when(span),
            Token::Ident("unknown" | "error") => {
                let ty = self.types.open(Class::Any);
                self.node(Kind::Unknown, ty, span, 0)
            }
            Token::Ident(name) if !matches!(name, "true" | "false" | "NIL" | "INF") => {
                if self.is("(")? {
                    return self.function(name, span);
                }
                if let Some(kind) = Type::of_name(name) {
                    // What type() of a bin gives.
                    return self.constant(Param::from(kind.particle()), span);
                }
                let text = format!("\"{name}\" is no value: a bin is $.{name}, a string is '{name}'");
                Err(self.syntax(span, text))
            }
            token => {
                let (value, span) = self.literal(token, span, false)?;
                self.constant(value, span)
            }
        }
    }

    #[inline(never)]
    fn not(&mut self) -> Result<Node<'a>> {
        let operand = if self.take("(")? {
            let operand = self.expression(0)?;
            self.expect(")", "at the end of not(..)")?;
            operand
        } else {
            self.expression(UNARY)?
        };
        self.operation(op::NOT, vec![operand], Type::Bool, Type::Bool)
    }

    /// `let (x = .., y = ..) then (..)`
    #[inline(never)]
    fn local(&mut self, start: Span) -> Result<Node<'a>> {
        self.expect("(", "behind \"let\"")?;
        let outer = self.scope.len();
        let mut names: Vec<(&'a str, Node<'a>)> = Vec::new();
        loop {
            let (token, span) = self.next()?;
            let Token::Ident(name) = token else {
                return Err(self.syntax(span, format!("expected the name of a variable, found {}", token.describe())));
            };
            // Servers refuse a name that is taken, also by a variable around this one.
            if self.scope.iter().any(|(known, _)| *known == name) {
                return Err(self.syntax(span, format!("the variable \"{name}\" is defined twice")));
            }
            self.expect("=", "and a value for the variable")?;
            let place = self.scope.len();
            self.scope.push((name, None));
            let value = self.expression(0)?;
            self.scope[place].1 = Some(value.ty);
            names.push((name, value));
            if !self.take(",")? {
                break;
            }
        }
        self.expect(")", "or \",\" behind the variables")?;
        match self.next()? {
            (Token::Ident("then"), _) => {}
            (token, span) => {
                return Err(self.syntax(span, format!("expected \"then\" behind let (..), found {}", token.describe())));
            }
        }
        self.expect("(", "behind \"then\"")?;
        let body = self.expression(0)?;
        let end = self.expect(")", "at the end of then (..)")?;
        self.scope.truncate(outer);
        let depth = names.iter().map(|(_, value)| value.depth).fold(body.depth, u16::max);
        let ty = body.ty;
        self.node(Kind::Let { names, body: Box::new(body) }, ty, start.to(end), depth)
    }

    /// `when (condition => value, .., default => value)`
    #[inline(never)]
    fn when(&mut self, start: Span) -> Result<Node<'a>> {
        self.expect("(", "behind \"when\"")?;
        let mut parts: Vec<Node<'a>> = Vec::new();
        loop {
            let last = matches!(self.peek()?, Token::Ident("default"));
            if last {
                let (_, span) = self.next()?;
                if parts.is_empty() {
                    return Err(self.syntax(span, "expected a condition: when (condition => value, default => value)"));
                }
            } else {
                let condition = self.expression(0)?;
                self.expect_type(&condition, Type::Bool)?;
                parts.push(condition);
            }
            let arrow = self.expect("=>", "behind the condition")?;
            let value = self.expression(0)?;
            if let Some(first) = parts.get(1) {
                let ty = first.ty;
                self.unify(ty, value.ty, arrow)?;
            }
            parts.push(value);
            if last {
                break;
            }
            self.expect(",", "and the next case, at last \"default => ..\"")?;
        }
        let end = self.expect(")", "behind the default, which is the last case")?;
        let ty = parts[1].ty;
        let depth = depth(&parts);
        self.node(Kind::Operation(op::COND, parts), ty, start.to(end), depth)
    }

    /// A constant whose first token is given. `bare`: a name is a string.
    #[inline(never)]
    fn literal(&mut self, token: Token<'a>, span: Span, bare: bool) -> Result<(Param, Span)> {
        self.count(span)?;
        let value = match token {
            Token::Int(value) => match i64::try_from(value) {
                Ok(value) => Param::from(value),
                Err(_) => return Err(self.syntax(span, "the number does not fit into 64 bits")),
            },
            Token::Symbol(sign @ ("-" | "+")) => return self.signed(sign, span),
            Token::Float(value) => Param::from(value),
            Token::Str(text) => Param::from(text.as_ref()),
            Token::Blob(bytes) => Param::blob(&bytes),
            Token::Param(index) => self.lexer.params[index].clone(),
            Token::Ident("true") => Param::from(true),
            Token::Ident("false") => Param::from(false),
            Token::Ident("NIL") => Param::nil(),
            Token::Ident("INF") => Param::infinity(),
            Token::Symbol("*") if bare => Param::wildcard(),
            Token::Ident(name) if bare => Param::from(name),
            Token::Symbol("[") => return self.deeper(|parser| parser.list(span)),
            Token::Symbol("{") => return self.deeper(|parser| parser.map(span)),
            token => {
                return Err(self.syntax(span, format!("expected a value, found {}", token.describe())));
            }
        };
        Ok((value, span))
    }

    #[inline(never)]
    fn signed(&mut self, sign: &str, start: Span) -> Result<(Param, Span)> {
        let (token, span) = self.next()?;
        let value = match token {
            Token::Int(value) if sign == "-" => 0_i64.checked_sub_unsigned(value).map(Param::from),
            Token::Int(value) => i64::try_from(value).ok().map(Param::from),
            Token::Float(value) => Some(Param::from(if sign == "-" { -value } else { value })),
            _ => return Err(self.syntax(span, format!("expected a number, found {}", token.describe()))),
        };
        let span = start.to(span);
        value.map(|value| (value, span)).ok_or_else(|| self.syntax(span, "the number does not fit into 64 bits"))
    }

    #[inline(never)]
    fn list(&mut self, start: Span) -> Result<(Param, Span)> {
        let mut items = Vec::new();
        let end = loop {
            let (token, span) = self.next()?;
            if token == Token::Symbol("]") && items.is_empty() {
                break span;
            }
            items.push(self.item_of_literal(token, span, "list")?);
            if !self.take(",")? {
                break self.expect("]", "or \",\" in the list")?;
            }
        };
        match self.order(&["SORTED", "UNSORTED"])? {
            Some(("SORTED", end)) => Ok((Param::sorted_list(items), start.to(end))),
            sorted => Ok((Param::list(items.iter()), start.to(sorted.map_or(end, |(_, end)| end)))),
        }
    }

    /// The order behind a literal, if it is one of these words.
    fn order(&mut self, words: &[&str]) -> Result<Option<(&'a str, Span)>> {
        let before = self.lexer.at;
        if self.ahead.is_some() || !self.lexer.eat(":")? {
            return Ok(None);
        }
        self.lexer.skip_space()?;
        let start = self.lexer.at;
        let word = self.lexer.word(&[]);
        let span = Span::new(start, self.lexer.at.max(start + 1));
        if words.contains(&word) {
            return Ok(Some((word, span)));
        }
        if matches!(word, "SORTED" | "UNSORTED" | "UNSORTED_PAD" | "UNORDERED" | "KEY_ORDERED" | "KEY_VALUE_ORDERED") {
            let text = match words {
                ["UNORDERED"] => {
                    "a map in the text is sorted by key, or :UNORDERED; others are created by a path: \
                                  $.m:KEY_VALUE_ORDERED.putItems({..})"
                }
                _ => "a list in the text can be :SORTED or :UNSORTED",
            };
            return Err(self.syntax(span, text));
        }
        // Perhaps a range of values, in a selector.
        self.lexer.at = before;
        Ok(None)
    }

    fn item_of_literal(&mut self, token: Token<'a>, span: Span, of: &str) -> Result<Param> {
        if matches!(token, Token::Record | Token::Variable(_) | Token::Item | Token::Symbol("(")) {
            let message = format!("a {of} in the text has constants only: no bins, no variables, no expressions");
            return Err(self.syntax(span, message));
        }
        Ok(self.literal(token, span, true)?.0)
    }

    #[inline(never)]
    fn map(&mut self, start: Span) -> Result<(Param, Span)> {
        let mut pairs: Vec<(MapKey, Param)> = Vec::new();
        let end = loop {
            let (token, span) = self.next()?;
            if token == Token::Symbol("}") && pairs.is_empty() {
                break span;
            }
            let key = self.item_of_literal(token, span, "map")?;
            let Some(key) = MapKey::of(&key) else {
                return Err(self.syntax(span, "a key of a map is a string, an integer or bytes"));
            };
            self.expect(":", "and a value behind the key of a map")?;
            let (token, span) = self.next()?;
            let value = self.item_of_literal(token, span, "map")?;
            pairs.push((key, value));
            if !self.take(",")? {
                break self.expect("}", "or \",\" in the map")?;
            }
        };
        pairs.sort_by(|left, right| left.0.cmp(&right.0));
        if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(self.syntax(start.to(end), "the map has a key twice"));
        }
        let map = Param::sorted_map(&pairs);
        match self.order(&["UNORDERED"])? {
            Some((_, end)) => Ok((map.without_order(), start.to(end))),
            None => Ok((map, start.to(end))),
        }
    }
}

/// The depth of the deepest part.
fn depth(parts: &[Node<'_>]) -> u16 {
    parts.iter().map(|part| part.depth).max().unwrap_or(0)
}
