//! Selectors: what stands between `{` and `}` (in a map) or `[` and `]` (in a list).

use super::{Parser, Result};
use crate::constant::Param;
use crate::error::{AelErrorKind, Span};
use crate::lexer::Token;
use crate::tree::{Many, Select};
use crate::types::Type;

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

impl<'a> Parser<'a, '_> {
    /// A selector whose opening bracket has been read; `None`: it is empty.
    pub(super) fn selector(&mut self, map: bool) -> Result<Option<Selected<'a>>> {
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
        let first = self.bound()?;
        let selected = match first {
            // An older way to write keys: without "@".
            Some((key, _)) if by == By::Index && map && (key.kind() != Some(Type::Int) || self.is_keys()?) => {
                self.values(By::Key, Some(key), close, true)?
            }
            // Another way to write a key: $.map.["key"].
            Some((key, _)) if by == By::Index && !map && key.kind() == Some(Type::String) => {
                self.expect(close, "behind the key")?;
                return Ok(Some((Some(true), Select::Key(key))));
            }
            first if matches!(by, By::Key | By::Value) => {
                self.values(by, first.map(|(value, _)| value), close, false)?
            }
            first => self.places(by, first.as_ref(), map, close)?,
        };
        let span = Span::new(start, self.lexer.at);
        let selected = match selected {
            Select::Many { many, .. } => Select::Many { many, inverted },
            _ if inverted => {
                let text = "a single item cannot be inverted; a list of one can: {!@a,}";
                return Err(self.syntax(span, text));
            }
            single => single,
        };
        Ok(Some((Some(map), selected)))
    }

    /// Whether numbers are keys, in the older way: {1,2} or {1-5}.
    fn is_keys(&mut self) -> Result<bool> {
        if self.is("-")? {
            return Ok(true);
        }
        // {1,} is a list of one index.
        Ok(self.is(",")? && !self.lexer.rest().trim_start().starts_with('}'))
    }

    /// A constant, if one comes next.
    fn bound(&mut self) -> Result<Option<(Param, Span)>> {
        if matches!(self.peek()?, Token::Symbol(":" | "~" | "," | "}" | "]")) {
            return Ok(None);
        }
        let (token, span) = self.next()?;
        if matches!(token, Token::Symbol("(")) {
            return Err(self.unsupported(span, "a selector with an expression inside"));
        }
        self.literal(token, span, true).map(Some)
    }

    fn missing(&mut self, what: &str) -> Result<crate::AelError> {
        let (token, span) = self.next()?;
        Ok(self.syntax(span, format!("expected {what}, found {}", token.describe())))
    }

    /// Keys or values: one, a list, or a range. `old`: a range is written with "-".
    fn values(&mut self, by: By, first: Option<Param>, close: &str, old: bool) -> Result<Select<'a>> {
        let range = if old { "-" } else { ":" };
        let many = if self.take(range)? {
            let end = self.bound()?.map(|(value, _)| value);
            if first.is_none() && end.is_none() {
                return Err(self.missing("a bound of the range")?);
            }
            match by {
                By::Key => Many::KeyRange(first, end),
                _ => Many::ValueRange(first, end),
            }
        } else {
            let Some(first) = first else { return Err(self.missing("a value")?) };
            if !old && !self.is(",")? {
                self.expect(close, "at the end of the selector")?;
                return Ok(if by == By::Key { Select::Key(first) } else { Select::Value(first) });
            }
            let mut list = vec![first];
            while self.take(",")? {
                match self.bound()? {
                    Some((value, _)) => list.push(value),
                    // A comma at the end makes a list of one.
                    None => break,
                }
            }
            let list = Param::list(list.iter());
            if by == By::Key { Many::Keys(list) } else { Many::Values(list) }
        };
        self.expect(close, "at the end of the selector")?;
        Ok(Select::Many { many, inverted: false })
    }

    /// Indexes or ranks: one, or a range, which can be relative to a key or value.
    fn places(&mut self, by: By, first: Option<&(Param, Span)>, map: bool, close: &str) -> Result<Select<'a>> {
        let what = if by == By::Rank { "a rank" } else { "an index" };
        let at = Span::new(self.lexer.at, self.lexer.at + 1);
        let span = first.map_or(at, |(_, span)| *span);
        let start = match first {
            Some((value, span)) => Some(self.whole(value, *span, what)?),
            None => None,
        };
        if !self.take(":")? {
            let Some(start) = start else { return Err(self.missing(what)?) };
            if self.take(",")? {
                self.expect(close, "(indexes and ranks have no lists of several)")?;
                let many = match by {
                    By::Rank => Many::RankRange(start, Some(1)),
                    _ => Many::IndexRange(start, Some(1)),
                };
                return Ok(Select::Many { many, inverted: false });
            }
            self.expect(close, "at the end of the selector")?;
            return Ok(if by == By::Rank { Select::Rank(start) } else { Select::Index(start) });
        }
        let end = match self.bound()? {
            Some((value, span)) => Some(self.whole(&value, span, what)?),
            None => None,
        };
        let relative = if self.take("~")? {
            match self.bound()? {
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
        let start = start.unwrap_or(0);
        // Both count from the start, or both from the end; a relative range counts from what it is relative to.
        let same_side = relative.is_some() || end.is_none_or(|end| (start < 0) == (end < 0));
        let count = end.and_then(|end| end.checked_sub(start));
        if !same_side {
            let text = "one bound counts from the start and the other from the end: this cannot be sent to servers";
            return Err(self.unsupported(span.to(close_span), text));
        }
        if end.is_some() && count.is_none_or(|count| count < 0) {
            return Err(self.syntax(span.to(close_span), "the range ends before it starts"));
        }
        let many = match (by, relative) {
            (By::Rank, None) => Many::RankRange(start, count),
            (By::Rank, Some(value)) => Many::ValueRelative(value, start, count),
            (_, None) => Many::IndexRange(start, count),
            (_, Some(key)) if map => Many::KeyRelative(key, start, count),
            (_, Some(_)) => {
                return Err(self.syntax(span.to(close_span), "a list has no keys that indexes can be relative to"));
            }
        };
        Ok(Select::Many { many, inverted: false })
    }

    fn whole(&self, value: &Param, span: Span, what: &str) -> Result<i64> {
        value.as_int().ok_or_else(|| {
            let text = format!("expected {what}, which is an integer (keys begin with @, values with =, ranks with #)");
            self.error(AelErrorKind::Syntax, span, text)
        })
    }
}
