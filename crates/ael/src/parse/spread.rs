//! Selections of several, where something else follows them: servers go on behind a filter, and change what it chooses, but
//! not behind a range. So a range becomes one of these:
//!
//! * A filter. It sees each item with its key or its index in a list, and nothing of what is around it: so it says what is said
//!   by keys, by values, or by indexes from the start of a list.
//! * A list or map of its own, the value of an expression, in which the path goes on. That is for all else: what is said by
//!   ranks, from the end of a list, by places in a map, relative to something, or by an expression. It can be read, not changed,
//!   and is one: it cannot follow a wildcard.

use super::{Parser, Result, depth};
use crate::constant::Param;
use crate::emit::op;
use crate::error::{AelErrorKind, Span};
use crate::tree::{Extent, Kind, Many, Node, Operand, Path, PathResult, Root, Select, Step};
use crate::types::{Class, Ty, Type};

/// What a filter looks at.
const KEY: u8 = 0;
const VALUE: u8 = 1;
const INDEX: u8 = 2;

impl<'a> Parser<'a, '_> {
    /// A filter on what the step before selects, of which the "&[" has been read.
    pub(super) fn and_filter(&mut self, path: &mut Path<'a>, at: usize) -> Result<()> {
        self.follow(path)?;
        let filter = self.filter_of_step(path)?;
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

    /// Makes something of the last step that can be followed, if it selects several in a way that nothing can follow.
    #[inline(never)]
    pub(super) fn follow(&mut self, path: &mut Path<'a>) -> Result<()> {
        let Some(step) = path.steps.last().filter(|step| step.select.is_several()) else { return Ok(()) };
        if self.in_filter || path.has_wildcard() || no_filter_says(step).is_none() {
            return self.spread(path);
        }
        let (in_map, span) = (step.in_map, step.span);
        if in_map == Some(true) {
            // With the keys.
            self.unify(path.value_ty, Ty::Known(Type::Map), span)?;
        }
        self.fold(path)?;
        path.value_ty = self.types.open(Class::Any);
        path.steps.push(Step { in_map, select: Select::Each(None), span, create: None });
        Ok(())
    }

    /// A filter, which begins with "?", of the last step.
    pub(super) fn filter_of_step(&mut self, path: &Path<'a>) -> Result<Node<'a>> {
        self.no_index = if path.steps.len() == 1 { range_of(path).and_then(no_filter_says) } else { None };
        let filter = self.filter();
        self.no_index = None;
        filter
    }

    /// Refuses what a path cannot be that goes on in a list or map of its own.
    pub(super) fn no_range(&self, path: &Path<'a>) -> Result<()> {
        match range_of(path).and_then(|step| Some((step.span, no_filter_says(step)?))) {
            Some((span, what)) => Err(self.no_filter(span, what)),
            None => Ok(()),
        }
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
        if let Some(what) = no_filter_says(&step) {
            return Err(self.no_filter(span, what));
        }
        let Select::Many { many, inverted } = step.select else { return Err(self.no_filter(span, "this")) };
        let chosen = match many {
            Many::Keys(Operand::Constant(list)) => self.one_of(KEY, list, span)?,
            Many::Values(Operand::Constant(list)) => self.one_of(VALUE, list, span)?,
            Many::KeyRange(from, to) => self.between(KEY, from, to, span)?,
            Many::ValueRange(from, to) => self.between(VALUE, from, to, span)?,
            Many::IndexRange(extent) => self.indexes(extent, span)?,
            _ => return Err(self.no_filter(span, "this")),
        };
        if inverted {
            return self.condition(op::NOT, vec![chosen], span);
        }
        Ok(chosen)
    }

    pub(super) fn no_filter(&self, span: Span, what: &str) -> crate::AelError {
        let text = format!(
            "{what} can only be read or removed, and not behind a wildcard: servers filter and modify by @, @key and @index; \
             write a filter, as in .*[?(@key == 'a' or @ > 1)]"
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
            what: PathResult::Value,
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
        let kind = list.item_kind().unwrap_or(Type::Int);
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
        for (code, bound) in [(op::GE, from), (op::LT, to)] {
            if let Some(Operand::Constant(bound)) = bound
                && bound != unbounded(code)
            {
                parts.push(self.compared(code, part, bound, span)?);
            }
        }
        self.all_of(parts, span)
    }

    /// From an index to before another one.
    fn indexes(&mut self, extent: Extent<'a>, span: Span) -> Result<Node<'a>> {
        let mut parts = Vec::new();
        let from_start = extent.start.as_int() == Some(0) && extent.end.is_some();
        let start = if from_start { None } else { Some(extent.start) };
        for (code, bound) in [(op::GE, start), (op::LT, extent.end)] {
            if let Some(index) = bound.and_then(|bound| bound.as_int()) {
                parts.push(self.compared(code, INDEX, Param::from(index), span)?);
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

/// What a range is called that no filter can say; `None`: one can.
fn no_filter_says(step: &Step<'_>) -> Option<&'static str> {
    const EXPRESSION: &str = "what an expression selects";
    let Select::Many { many, .. } = &step.select else { return None };
    match many {
        Many::RankRange(_) => Some("a range of ranks"),
        Many::KeyRelative(..) | Many::ValueRelative(..) => Some("a relative range"),
        Many::IndexRange(_) if step.in_map != Some(false) => Some("a range of places in a map"),
        Many::IndexRange(extent) => match (extent.start.as_int(), extent.end.as_ref().map(Operand::as_int)) {
            (None, _) | (_, Some(None)) => Some(EXPRESSION),
            (Some(start), end) if start < 0 || end.flatten().is_some_and(|end| end < 0) => {
                Some("a range that counts from the end")
            }
            _ => None,
        },
        Many::Keys(Operand::Constant(list)) | Many::Values(Operand::Constant(list)) => {
            if list.item_kind().is_none() {
                Some("a list of several types")
            } else {
                None
            }
        }
        Many::KeyRange(from, to) | Many::ValueRange(from, to) => {
            let mut kind = None;
            for (code, bound) in [(op::GE, from), (op::LT, to)] {
                let Some(bound) = bound else { continue };
                let Some(bound) = bound.constant() else { return Some(EXPRESSION) };
                if *bound == unbounded(code) {
                    continue;
                }
                let comparable = matches!(bound.kind(), Some(Type::Int | Type::Float | Type::String | Type::Blob));
                if !comparable || kind.is_some_and(|kind| bound.kind() != Some(kind)) {
                    return Some("a range over several types");
                }
                kind = bound.kind();
            }
            if kind.is_none() { Some("a range without bounds") } else { None }
        }
        Many::Keys(_) | Many::Values(_) => Some(EXPRESSION),
    }
}

/// The bound that is none: of what begins with it, and of what ends with it.
fn unbounded(code: u8) -> Param {
    if code == op::GE { Param::nil() } else { Param::infinity() }
}

/// The range that a path begins with, if it goes on in the list or map that this gives.
fn range_of<'t, 'a>(path: &'t Path<'a>) -> Option<&'t Step<'a>> {
    let Root::Part(node) = &path.root else { return None };
    let Kind::Path(first) = &node.kind else { return None };
    first.steps.last().filter(|step| step.select.is_several())
}
