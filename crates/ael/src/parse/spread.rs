//! Selections of several as filters, where something else follows them: servers go on behind a filter, and change what
//! it chooses, but not behind a range.
//!
//! A filter sees each item with its key or its index in a list, and nothing of what is around it. So what is said by
//! keys, by values, or by indexes from the start of a list can be a filter; what is said by ranks, from the end of a
//! list, by places in a map, or relative to something cannot.

use super::{Parser, Result, depth};
use crate::constant::Param;
use crate::emit::op;
use crate::error::{AelErrorKind, Span};
use crate::tree::{Extent, Kind, Many, Node, Operand, Path, Root, Select, Step, What};
use crate::types::{Class, Ty, Type};

/// What a filter looks at.
const KEY: u8 = 0;
const VALUE: u8 = 1;
const INDEX: u8 = 2;

impl<'a> Parser<'a, '_> {
    /// A filter on what the step before selects, of which the "&[" has been read.
    pub(super) fn and_filter(&mut self, path: &mut Path<'a>, at: usize) -> Result<()> {
        self.spread(path)?;
        let filter = self.filter()?;
        let span = Span::new(at, self.lexer.at);
        let Some(step) = path.steps.pop() else {
            return Err(self.syntax(span, "a filter stands behind what is selected: $.m.{@a,b}&[?(@ > 1)]"));
        };
        let whole = step.span.to(span);
        path.depth = path.depth.max(filter.depth);
        let select = match step.select {
            Select::Each(None) => Select::Each(Some(Box::new(filter))),
            // Servers take one filter per step: both have to be true.
            Select::Each(Some(first)) => {
                Select::Each(Some(Box::new(self.condition(op::AND, vec![*first, filter], whole)?)))
            }
            Select::And(first) => Select::And(Box::new(self.condition(op::AND, vec![*first, filter], whole)?)),
            select if select.is_dynamic() => return Err(self.no_filter(step.span, "what an expression selects")),
            select => {
                path.steps.push(Step { select, ..step });
                path.value_ty = self.types.open(Class::Any);
                path.steps.push(Step { in_map: None, select: Select::And(Box::new(filter)), span, create: None });
                return Ok(());
            }
        };
        if let Select::Each(Some(both)) | Select::And(both) = &select {
            path.depth = path.depth.max(both.depth);
        }
        path.steps.push(Step { select, ..step });
        Ok(())
    }

    /// Makes the last step a filter if it selects several behind a wildcard.
    pub(super) fn spread_wild(&mut self, path: &mut Path<'a>) -> Result<()> {
        if path.has_wildcard() { self.spread(path) } else { Ok(()) }
    }

    /// Makes the last step a filter if it selects several in a way that nothing can follow.
    #[inline(never)]
    pub(super) fn spread(&mut self, path: &mut Path<'a>) -> Result<()> {
        let Some(step) = path.steps.pop_if(|step| step.select.is_several()) else { return Ok(()) };
        if self.in_filter {
            return Err(self.syntax(step.span, "a selection of several ends a path in a filter, or in modify()"));
        }
        let (in_map, span) = (step.in_map, step.span);
        let filter = self.as_filter(step)?;
        path.depth = path.depth.max(filter.depth);
        path.value_ty = self.types.open(Class::Any);
        path.steps.push(Step { in_map, select: Select::Each(Some(Box::new(filter))), span, create: None });
        Ok(())
    }

    /// The filter that chooses what a step selects.
    fn as_filter(&mut self, step: Step<'a>) -> Result<Node<'a>> {
        let span = step.span;
        let Select::Many { many, inverted } = step.select else { return Err(self.no_filter(span, "this")) };
        let chosen = match many {
            Many::Keys(Operand::Constant(list)) => self.one_of(KEY, list, span)?,
            Many::Values(Operand::Constant(list)) => self.one_of(VALUE, list, span)?,
            Many::KeyRange(from, to) => self.between(KEY, from, to, span)?,
            Many::ValueRange(from, to) => self.between(VALUE, from, to, span)?,
            Many::IndexRange(extent) if step.in_map == Some(false) => self.indexes(extent, span)?,
            Many::IndexRange(_) => return Err(self.no_filter(span, "a range of places in a map")),
            Many::RankRange(_) => return Err(self.no_filter(span, "a range of ranks")),
            Many::KeyRelative(..) | Many::ValueRelative(..) => return Err(self.no_filter(span, "a relative range")),
            Many::Keys(_) | Many::Values(_) => return Err(self.no_filter(span, "what an expression selects")),
        };
        if inverted {
            return self.condition(op::NOT, vec![chosen], span);
        }
        Ok(chosen)
    }

    pub(super) fn no_filter(&self, span: Span, what: &str) -> crate::AelError {
        let text = format!(
            "{what} can only end a path that is read or removed: servers filter and modify by @, @key and @index; write \
             a filter, as in .*[?(@key == 'a' or @ > 1)]"
        );
        self.error(AelErrorKind::Unsupported, span, text)
    }

    /// What a filter looks at, of a type.
    fn looked_at(&mut self, part: u8, kind: Type, span: Span) -> Result<Node<'a>> {
        let ty = Ty::Known(kind);
        let path = Path {
            root: Root::Item(part),
            root_ty: ty,
            root_span: span,
            steps: Vec::new(),
            value_ty: ty,
            what: What::Value,
            depth: 0,
            root_create: None,
            create_span: None,
            persist: None,
        };
        self.node(Kind::Path(Box::new(path)), ty, span, 0)
    }

    fn condition(&mut self, code: u8, parts: Vec<Node<'a>>, span: Span) -> Result<Node<'a>> {
        let depth = depth(&parts);
        self.node(Kind::Operation(code, parts), Ty::Known(Type::Bool), span, depth)
    }

    fn compared(&mut self, code: u8, part: u8, with: Param, span: Span) -> Result<Node<'a>> {
        let kind = with.kind().unwrap_or(Type::Int);
        let parts = vec![self.looked_at(part, kind, span)?, self.constant(with, span)?];
        self.condition(code, parts, span)
    }

    fn one_of(&mut self, part: u8, list: Param, span: Span) -> Result<Node<'a>> {
        let Some(kind) = list.item_kind() else {
            return Err(self.no_filter(span, "a list of several types"));
        };
        let (item, list) = (self.looked_at(part, kind, span)?, self.constant(list, span)?);
        let depth = item.depth.max(list.depth);
        self.node(Kind::In(Box::new([item, list])), Ty::Known(Type::Bool), span, depth)
    }

    /// From a bound to before another one; NIL and INF are none.
    fn between(
        &mut self,
        part: u8,
        from: Option<Operand<'a>>,
        to: Option<Operand<'a>>,
        span: Span,
    ) -> Result<Node<'a>> {
        let mut parts = Vec::new();
        let mut kind = None;
        for (code, bound) in [(op::GE, from), (op::LT, to)] {
            let bound = match bound {
                None => continue,
                Some(Operand::Expression(_)) => return Err(self.no_filter(span, "what an expression selects")),
                Some(Operand::Constant(bound)) => bound,
            };
            let open = if code == op::GE { Param::nil() } else { Param::infinity() };
            if bound == open {
                continue;
            }
            let comparable = matches!(bound.kind(), Some(Type::Int | Type::Float | Type::String | Type::Blob));
            if !comparable || kind.is_some_and(|kind| bound.kind() != Some(kind)) {
                return Err(self.no_filter(span, "a range over several types"));
            }
            kind = bound.kind();
            parts.push(self.compared(code, part, bound, span)?);
        }
        self.all_of(parts, span)
    }

    /// From an index to before another one.
    fn indexes(&mut self, extent: Extent<'a>, span: Span) -> Result<Node<'a>> {
        let mut parts = Vec::new();
        let from_start = extent.start.as_int() == Some(0) && extent.end.is_some();
        let start = if from_start { None } else { Some(extent.start) };
        for (code, bound) in [(op::GE, start), (op::LT, extent.end)] {
            let Some(bound) = bound else { continue };
            match bound.as_int() {
                None => return Err(self.no_filter(span, "what an expression selects")),
                Some(index) if index < 0 => return Err(self.no_filter(span, "a range that counts from the end")),
                Some(index) => parts.push(self.compared(code, INDEX, Param::from(index), span)?),
            }
        }
        self.all_of(parts, span)
    }

    fn all_of(&mut self, mut parts: Vec<Node<'a>>, span: Span) -> Result<Node<'a>> {
        match parts.len() {
            0 => Err(self.no_filter(span, "a range without bounds")),
            1 => Ok(parts.remove(0)),
            _ => self.condition(op::AND, parts, span),
        }
    }
}
