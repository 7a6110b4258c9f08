//! Selectors: what stands between `{` and `}` (in a map) or `[` and `]` (in a list).

use super::{Parser, Result};
use crate::constant::Param;
use crate::error::{AelErrorKind, Span};
use crate::lexer::Token;
use crate::tree::{Extent, Many, Operand, Select};
use crate::types::{Ty, Type};

/// By what a selector selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Index,
    Key,
    Value,
    Rank,
}

/// Whether it is in a map, and what it selects.
type Selected<'a> = (Option<bool>, Select<'a>);
type Bound<'a> = (Operand<'a>, Span);

impl<'a> Parser<'a, '_> {
    /// A selector whose opening bracket has been read; `None`: it is empty. `depth` is raised to the levels that are
    /// in it.
    pub(super) fn selector(&mut self, map: bool, depth: &mut u16) -> Result<Option<Selected<'a>>> {
        let close = if map { "}" } else { "]" };
        let start = self.lexer.at - 1;
        if self.lexer.eat(close)? {
            return Ok(None);
        }
        let inverted = self.lexer.eat("!")?;
        let by = if map && self.lexer.eat("@")? {
            By::Key
        } else if self.lexer.eat("=")? {
            By::Value
        } else if self.lexer.eat("#")? {
            By::Rank
        } else {
            By::Index
        };
        let first = self.bound(depth)?;
        let kind = first.as_ref().and_then(|(first, _)| self.kind(first));
        let is_expression = first.as_ref().is_some_and(|(first, _)| first.constant().is_none());
        let selected = match first {
            // The type of an expression tells what it is; one that is open is an index.
            Some((key, _)) if by == By::Index && is_expression && matches!(kind, Some(Type::String | Type::Blob)) => {
                self.expect(close, "behind the key")?;
                return if inverted { Err(self.single(start)) } else { Ok(Some((Some(true), Select::Key(key)))) };
            }
            Some((keys, _)) if by == By::Index && is_expression && map && kind == Some(Type::List) => {
                self.values(By::Key, Some(keys), close, true, inverted, depth)?
            }
            // An older way to write keys: without "@".
            Some((key, _))
                if by == By::Index && !is_expression && map && (kind != Some(Type::Int) || self.is_keys()?) =>
            {
                self.values(By::Key, Some(key), close, true, inverted, depth)?
            }
            // Another way to write a key: $.map.["key"].
            Some((key, _)) if by == By::Index && !map && kind == Some(Type::String) => {
                self.expect(close, "behind the key")?;
                return Ok(Some((Some(true), Select::Key(key))));
            }
            first if matches!(by, By::Key | By::Value) => {
                self.values(by, first.map(|(value, _)| value), close, false, inverted, depth)?
            }
            first => self.places(by, first, map, close, depth)?,
        };
        let selected = match selected {
            Select::Many { many, .. } => Select::Many { many, inverted },
            _ if inverted => return Err(self.single(start)),
            single => single,
        };
        Ok(Some((Some(map), selected)))
    }

    fn single(&self, start: usize) -> crate::AelError {
        let span = Span::new(start, self.lexer.at);
        self.syntax(span, "a single item cannot be inverted; a list of one can: {!@a,}")
    }

    /// The type of an operand, as far as it is known by now.
    fn kind(&self, operand: &Operand<'a>) -> Option<Type> {
        match operand {
            Operand::Constant(constant) => constant.kind(),
            Operand::Expression(node) => self.types.known(node.ty),
        }
    }

    /// Whether numbers are keys, in the older way: {1,2} or {1-5}.
    fn is_keys(&mut self) -> Result<bool> {
        if self.is("-")? {
            return Ok(true);
        }
        // {1,} is a list of one index.
        Ok(self.is(",")? && !self.lexer.rest().trim_start().starts_with('}'))
    }

    /// A constant, or an expression in parentheses, if one comes next.
    fn bound(&mut self, depth: &mut u16) -> Result<Option<Bound<'a>>> {
        if matches!(self.peek()?, Token::Symbol(":" | "~" | "," | "}" | "]")) {
            return Ok(None);
        }
        let (token, span) = self.next()?;
        if matches!(token, Token::Symbol("(")) {
            return self.parenthesized(span, depth).map(Some);
        }
        self.literal(token, span, true).map(|(value, span)| Some((Operand::Constant(value), span)))
    }

    /// An expression whose opening parenthesis has been read.
    pub(super) fn parenthesized(&mut self, start: Span, depth: &mut u16) -> Result<Bound<'a>> {
        let node = self.inner()?;
        let end = self.expect(")", "at the end of the expression")?;
        *depth = (*depth).max(node.depth);
        Ok((Operand::Expression(Box::new(node)), start.to(end)))
    }

    fn missing(&mut self, what: &str) -> Result<crate::AelError> {
        let (token, span) = self.next()?;
        Ok(self.syntax(span, format!("expected {what}, found {}", token.describe())))
    }

    /// Keys or values: one, a list, or a range. `old`: a range is written with "-".
    fn values(
        &mut self,
        by: By,
        first: Option<Operand<'a>>,
        close: &str,
        old: bool,
        inverted: bool,
        depth: &mut u16,
    ) -> Result<Select<'a>> {
        let range = if old { "-" } else { ":" };
        let many = if self.take(range)? {
            let end = self.bound(depth)?.map(|(value, _)| value);
            if first.is_none() && end.is_none() {
                return Err(self.missing("a bound of the range")?);
            }
            match by {
                By::Key => Many::KeyRange(first, end),
                _ => Many::ValueRange(first, end),
            }
        } else {
            let Some(first) = first else { return Err(self.missing("a value")?) };
            let list = match first {
                // An expression can be the whole list; inverted it has to be.
                Operand::Expression(node) => {
                    if inverted {
                        self.expect_type(&node, Type::List)?;
                    }
                    let is_list = self.types.known(node.ty) == Some(Type::List);
                    let operand = Operand::Expression(node);
                    if !is_list {
                        self.expect(close, "at the end of the selector (a list of several has constants only)")?;
                        return Ok(if by == By::Key { Select::Key(operand) } else { Select::Value(operand) });
                    }
                    operand
                }
                first if !old && !self.is(",")? => {
                    self.expect(close, "at the end of the selector")?;
                    return Ok(if by == By::Key { Select::Key(first) } else { Select::Value(first) });
                }
                Operand::Constant(first) => Operand::Constant(self.list_of(first, depth)?),
            };
            if by == By::Key { Many::Keys(list) } else { Many::Values(list) }
        };
        self.expect(close, "at the end of the selector")?;
        Ok(Select::Many { many, inverted: false })
    }

    /// The rest of a list of constants.
    fn list_of(&mut self, first: Param, depth: &mut u16) -> Result<Param> {
        let mut list = vec![first];
        while self.take(",")? {
            match self.bound(depth)? {
                Some((Operand::Constant(value), _)) => list.push(value),
                Some((Operand::Expression(_), span)) => {
                    let text =
                        "a list of several has constants only; an expression can be the whole list: {@($.keys:LIST)}";
                    return Err(self.syntax(span, text));
                }
                // A comma at the end makes a list of one.
                None => break,
            }
        }
        Ok(Param::list(list.iter()))
    }

    /// Indexes or ranks: one, or a range, which can be relative to a key or value.
    fn places(
        &mut self,
        by: By,
        first: Option<Bound<'a>>,
        map: bool,
        close: &str,
        depth: &mut u16,
    ) -> Result<Select<'a>> {
        let what = if by == By::Rank { "a rank" } else { "an index" };
        let at = Span::new(self.lexer.at, self.lexer.at + 1);
        let span = first.as_ref().map_or(at, |(_, span)| *span);
        let start = first.map(|first| self.whole(first, what)).transpose()?;
        if !self.take(":")? {
            let Some(start) = start else { return Err(self.missing(what)?) };
            if self.take(",")? {
                self.expect(close, "(indexes and ranks have no lists of several)")?;
                let Some(index) = start.as_int() else {
                    return Err(self.syntax(span, "an expression stands alone here: without a comma"));
                };
                let end = Some(Operand::Constant(Param::from(index.wrapping_add(1))));
                let extent = Extent { start, end };
                let many = if by == By::Rank { Many::RankRange(extent) } else { Many::IndexRange(extent) };
                return Ok(Select::Many { many, inverted: false });
            }
            self.expect(close, "at the end of the selector")?;
            return Ok(if by == By::Rank { Select::Rank(start) } else { Select::Index(start) });
        }
        let end = self.bound(depth)?.map(|end| self.whole(end, what)).transpose()?;
        let relative = if self.take("~")? {
            match self.bound(depth)? {
                Some((value, _)) => Some(value),
                None => return Err(self.missing("what the range is relative to")?),
            }
        } else {
            None
        };
        let close_span = self.expect(close, "at the end of the selector")?;
        if start.is_none() && end.is_none() {
            return Err(self.syntax(span, "expected a bound of the range"));
        }
        let start = start.unwrap_or_else(|| Operand::Constant(Param::from(0)));
        if let (Some(first), Some(Some(last))) = (start.as_int(), end.as_ref().map(Operand::as_int)) {
            // Where one bound counts from the start and the other from the end, the size of the list or map decides; a
            // relative range counts from what it is relative to.
            let apart = relative.is_none() && (first < 0) != (last < 0);
            if last.checked_sub(first).is_none_or(|count| count < 0 && !apart) {
                return Err(self.syntax(span.to(close_span), "the range ends before it starts"));
            }
        }
        let extent = Extent { start, end };
        let many = match (by, relative) {
            (By::Rank, None) => Many::RankRange(extent),
            (By::Rank, Some(value)) => Many::ValueRelative(value, extent),
            (_, None) => Many::IndexRange(extent),
            (_, Some(key)) if map => Many::KeyRelative(key, extent),
            (_, Some(_)) => {
                return Err(self.syntax(span.to(close_span), "a list has no keys that indexes can be relative to"));
            }
        };
        Ok(Select::Many { many, inverted: false })
    }

    fn whole(&mut self, (operand, span): Bound<'a>, what: &str) -> Result<Operand<'a>> {
        match &operand {
            Operand::Constant(value) if value.as_int().is_some() => {}
            Operand::Expression(node) => {
                let ty = node.ty;
                self.types.unify(ty, Ty::Known(Type::Int)).map_err(|error| {
                    let text = format!("expected {what}, which is an integer, found {}", error.left);
                    self.error(AelErrorKind::Type, span, text)
                })?;
            }
            Operand::Constant(_) => {
                let text =
                    format!("expected {what}, which is an integer (keys begin with @, values with =, ranks with #)");
                return Err(self.syntax(span, text));
            }
        }
        Ok(operand)
    }
}
