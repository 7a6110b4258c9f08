//! Paths to bytes.

use aerolane_wire::operation::{context, list, map, path as select};

use super::{CDT, Emitter, Level, Result_, V5_6, V8_1_1, V8_1_2, op};
use crate::error::{AelError, AelErrorKind, Span};
use crate::tree::{Create, Extent, Many, Node, Operand, Path, PathResult, Root, Select, Step, return_type};
use crate::types::Type;

/// The particle type of maps.
const MAP_PARTICLE: i64 = 19;

/// The codes of operations on one kind of collection.
pub(super) struct Codes {
    key: u8,
    keys: u8,
    key_range: u8,
    key_relative: u8,
    index: u8,
    rank: u8,
    value: u8,
    values: u8,
    index_range: u8,
    value_range: u8,
    rank_range: u8,
    value_relative: u8,
}

const LIST: Codes = Codes {
    key: map::code::GET_BY_KEY,
    keys: map::code::GET_BY_KEY_LIST,
    key_range: map::code::GET_BY_KEY_INTERVAL,
    key_relative: map::code::GET_BY_KEY_REL_INDEX_RANGE,
    index: list::code::GET_BY_INDEX,
    rank: list::code::GET_BY_RANK,
    value: list::code::GET_BY_VALUE,
    values: list::code::GET_BY_VALUE_LIST,
    index_range: list::code::GET_BY_INDEX_RANGE,
    value_range: list::code::GET_BY_VALUE_INTERVAL,
    rank_range: list::code::GET_BY_RANK_RANGE,
    value_relative: list::code::GET_BY_VALUE_REL_RANK_RANGE,
};

const MAP: Codes = Codes {
    key: map::code::GET_BY_KEY,
    keys: map::code::GET_BY_KEY_LIST,
    key_range: map::code::GET_BY_KEY_INTERVAL,
    key_relative: map::code::GET_BY_KEY_REL_INDEX_RANGE,
    index: map::code::GET_BY_INDEX,
    rank: map::code::GET_BY_RANK,
    value: map::code::GET_BY_VALUE,
    values: map::code::GET_BY_VALUE_LIST,
    index_range: map::code::GET_BY_INDEX_RANGE,
    value_range: map::code::GET_BY_VALUE_INTERVAL,
    rank_range: map::code::GET_BY_RANK_RANGE,
    value_relative: map::code::GET_BY_VALUE_REL_RANK_RANGE,
};

pub(super) const LIST_REMOVE: Codes = Codes {
    key: map::code::REMOVE_BY_KEY,
    keys: map::code::REMOVE_BY_KEY_LIST,
    key_range: map::code::REMOVE_BY_KEY_INTERVAL,
    key_relative: map::code::REMOVE_BY_KEY_REL_INDEX_RANGE,
    index: list::code::REMOVE_BY_INDEX,
    rank: list::code::REMOVE_BY_RANK,
    value: list::code::REMOVE_BY_VALUE,
    values: list::code::REMOVE_BY_VALUE_LIST,
    index_range: list::code::REMOVE_BY_INDEX_RANGE,
    value_range: list::code::REMOVE_BY_VALUE_INTERVAL,
    rank_range: list::code::REMOVE_BY_RANK_RANGE,
    value_relative: list::code::REMOVE_BY_VALUE_REL_RANK_RANGE,
};

pub(super) const MAP_REMOVE: Codes = Codes {
    index: map::code::REMOVE_BY_INDEX,
    rank: map::code::REMOVE_BY_RANK,
    value: map::code::REMOVE_BY_VALUE,
    values: map::code::REMOVE_BY_VALUE_LIST,
    index_range: map::code::REMOVE_BY_INDEX_RANGE,
    value_range: map::code::REMOVE_BY_VALUE_INTERVAL,
    rank_range: map::code::REMOVE_BY_RANK_RANGE,
    value_relative: map::code::REMOVE_BY_VALUE_REL_RANK_RANGE,
    ..LIST_REMOVE
};

/// The level of a context that a step is; `None` for what is none.
pub(super) fn plain_level(step: &Step<'_>) -> Option<Level> {
    let mut value = Vec::with_capacity(8);
    let in_map = step.in_map.unwrap_or(true);
    let create = match step.create {
        Some(Create { map: true, order, .. }) => context::create::map(order),
        Some(Create { order, pad, .. }) => context::create::list(order, pad),
        None => context::create::NONE,
    };
    let id = match &step.select {
        Select::Key(key) => {
            key.constant()?.write_element(&mut value);
            context::id::MAP_KEY | u16::from(create)
        }
        Select::Index(index) if in_map => context::map_index(&mut value, index.as_int()?),
        Select::Index(index) => context::list_index_create(&mut value, index.as_int()?, create),
        Select::Rank(rank) if in_map => context::map_rank(&mut value, rank.as_int()?),
        Select::Rank(rank) => context::list_rank(&mut value, rank.as_int()?),
        Select::Value(constant) => {
            constant.constant()?.write_element(&mut value);
            if in_map { context::id::MAP_VALUE } else { context::id::LIST_VALUE }
        }
        Select::Each(None) => context::all_children(&mut value),
        Select::Each(Some(_)) | Select::And(_) | Select::Many { .. } => return None,
    };
    Some(Level { id, value })
}

impl Emitter<'_, '_> {
    pub(super) fn path(&mut self, path: &Path<'_>, node: &Node<'_>) -> Result_ {
        match path.what {
            PathResult::Value if path.steps.is_empty() => self.root(path),
            PathResult::BinExists => {
                self.head(3, op::NE);
                if let Root::Bin(name) = &path.root {
                    self.bin_type(name);
                }
                self.writer().int(0);
                Ok(())
            }
            PathResult::Size => self.size(path, node.span),
            PathResult::Value | PathResult::Return(_) => {
                let number = if let PathResult::Return(number) = path.what { number } else { return_type::VALUE };
                if number == return_type::EXISTS {
                    let what = self.whether(node.span)?;
                    let gives = if what == return_type::EXISTS { Type::Bool } else { Type::Int };
                    self.selected(path, gives, what)?;
                    self.more_than_none(what);
                    return Ok(());
                }
                let (gives, number) = match (path.what, path.steps.last(), self.tree.known(node)) {
                    // What is selected of a map is a list of the values, where nothing says otherwise.
                    (PathResult::Value, Some(step), None) if step.select.is_plural() => (Type::List, number),
                    (PathResult::Value, Some(step), Some(Type::Map)) if step.select.is_plural() => {
                        (Type::Map, return_type::ORDERED_MAP)
                    }
                    _ => (self.known(node.ty, node.span)?, number),
                };
                self.selected(path, gives, number)
            }
            PathResult::Select(flags) => {
                let gives = self.known(node.ty, node.span)?;
                let levels = self.levels(&path.steps)?;
                self.need(V8_1_1, node.span, "a path with a wildcard")?;
                self.call(gives, CDT);
                select::select(&mut self.out, levels.iter().map(|level| (level.id, &*level.value)), flags);
                self.root(path)
            }
        }
    }

    pub(super) fn root(&mut self, path: &Path<'_>) -> Result_ {
        if let Root::Value(node) | Root::Part(node) = &path.root {
            return self.node(node);
        }
        let span = path.root_span;
        let Some(kind) = self.tree.types.known(path.root_ty) else {
            let part = self.tree.text.get(span.start..span.end).unwrap_or_default();
            let example = if path.steps.is_empty() { "INT" } else { "LIST" };
            let text = format!("the type of {part} is open: add it, as in {part}:{example}");
            return Err(self.error(AelErrorKind::Type, span, text));
        };
        match &path.root {
            Root::Bin(name) => {
                if kind == Type::Bool {
                    self.need(V5_6, span, "a bin of booleans")?;
                }
                self.bin(kind, name);
            }
            Root::Item(part) => {
                self.head(3, op::ITEM);
                self.writer().uint(kind as u64);
                self.writer().uint(u64::from(*part));
            }
            Root::Value(_) | Root::Part(_) => {}
        }
        Ok(())
    }

    fn bin(&mut self, kind: Type, name: &str) {
        self.head(3, op::BIN);
        self.writer().uint(kind as u64);
        self.writer().bare(name.as_bytes());
    }

    pub(super) fn levels(&mut self, steps: &[Step<'_>]) -> Result<Vec<Level>, AelError> {
        let mut levels = Vec::with_capacity(steps.len());
        for step in steps {
            levels.push(match (&step.select, plain_level(step)) {
                (_, Some(level)) => level,
                (Select::Each(Some(filter)) | Select::And(filter), None) => {
                    let before = std::mem::take(&mut self.out);
                    let written = self.node(filter);
                    let bytes = std::mem::replace(&mut self.out, before);
                    written?;
                    let mut value = Vec::with_capacity(bytes.len() + 3);
                    let id = if matches!(step.select, Select::And(_)) {
                        self.need(V8_1_2, step.span, "a filter on selected keys")?;
                        context::and_filter(&mut value, &bytes)
                    } else {
                        context::all_children_with_filter(&mut value, &bytes)
                    };
                    Level { id, value }
                }
                (select, None) if select.keys().is_some() => {
                    self.need(V8_1_2, step.span, "several keys in the middle of a path")?;
                    let mut value = Vec::with_capacity(16);
                    select.keys().into_iter().for_each(|keys| keys.write_element(&mut value));
                    Level { id: context::id::MAP_KEYS_IN, value }
                }
                _ => return Err(self.unsupported(step.span, "a selection of several, in a path with a wildcard")),
            });
        }
        Ok(levels)
    }

    /// Starts the list of an operation inside a context.
    pub(super) fn nested(&mut self, steps: &[Step<'_>]) -> Result_ {
        if steps.is_empty() {
            return Ok(());
        }
        let levels = self.levels(steps)?;
        let mut writer = self.writer();
        writer.list(3);
        writer.uint(u64::from(context::NESTED));
        context::list(&mut self.out, levels.iter().map(|level| (level.id, &*level.value)));
        Ok(())
    }

    /// How many items the list or map has that the path names.
    fn size(&mut self, path: &Path<'_>, span: Span) -> Result_ {
        let code = match (self.tree.types.known(path.value_ty), &path.root) {
            (Some(Type::List), _) => list::code::SIZE,
            (Some(Type::Map), _) => map::code::SIZE,
            (Some(other), _) => {
                return Err(self.error(
                    AelErrorKind::Type,
                    span,
                    format!("count() is for lists and maps, not for {other}"),
                ));
            }
            (None, Root::Bin(name)) if path.steps.is_empty() => return self.size_of_either(name, span),
            (None, _) => {
                let text = "whether this is a list or a map is open: write :LIST or :MAP before .count()";
                return Err(self.error(AelErrorKind::Type, span, text));
            }
        };
        self.call(Type::Int, CDT);
        self.nested(&path.steps)?;
        self.head(1, code);
        self.root(path)
    }

    /// The size of a bin that can be a list or a map, whatever it is in the record.
    fn size_of_either(&mut self, name: &str, span: Span) -> Result_ {
        self.need(V5_6, span, "count() of a bin whose type is open (write :LIST or :MAP before it)")?;
        self.head(4, op::COND);
        self.head(3, op::EQ);
        self.bin_type(name);
        self.writer().int(MAP_PARTICLE);
        for (kind, code) in [(Type::Map, map::code::SIZE), (Type::List, list::code::SIZE)] {
            self.call(Type::Int, CDT);
            self.head(1, code);
            self.bin(kind, name);
        }
        Ok(())
    }

    /// Something of what the last step selects.
    fn selected(&mut self, path: &Path<'_>, gives: Type, what: i64) -> Result_ {
        let Some((last, before)) = path.steps.split_last() else {
            return self.root(path);
        };
        self.call(gives, CDT);
        self.nested(before)?;
        self.select(path, last, if last.in_map == Some(true) { &MAP } else { &LIST }, what)?;
        self.root(path)
    }

    /// An operation on what a step, the last one of a path, selects.
    pub(super) fn select(&mut self, path: &Path<'_>, step: &Step<'_>, codes: &Codes, what: i64) -> Result_ {
        let (code, operand) = match &step.select {
            Select::Key(key) => (codes.key, key),
            Select::Index(index) => (codes.index, index),
            Select::Rank(rank) => (codes.rank, rank),
            Select::Value(value) => (codes.value, value),
            Select::Many { many, inverted } => {
                let inverted = if *inverted { return_type::INVERTED } else { 0 };
                return self.many(path, step, many, codes, what | inverted);
            }
            Select::Each(_) | Select::And(_) => return Err(self.unsupported(step.span, "a wildcard here")),
        };
        self.operation(code, 3, what);
        self.operand(operand)
    }

    pub(super) fn operand(&mut self, operand: &Operand<'_>) -> Result_ {
        match operand {
            Operand::Constant(constant) => {
                self.constant(constant);
                Ok(())
            }
            Operand::Expression(node) => {
                // An open type is told here, before it is told of a part of the expression.
                self.known(node.ty, node.span)?;
                self.node(node)
            }
        }
    }

    fn operation(&mut self, code: u8, len: usize, what: i64) {
        self.head(len, code);
        self.writer().int(what);
    }

    fn many(&mut self, path: &Path<'_>, step: &Step<'_>, many: &Many<'_>, codes: &Codes, what: i64) -> Result_ {
        let (code, relative, extent) = match many {
            Many::Keys(list) | Many::Values(list) => {
                self.operation(if matches!(many, Many::Keys(_)) { codes.keys } else { codes.values }, 3, what);
                return self.operand(list);
            }
            Many::KeyRange(begin, end) | Many::ValueRange(begin, end) => {
                let code = if matches!(many, Many::KeyRange(..)) { codes.key_range } else { codes.value_range };
                self.operation(code, 3 + usize::from(end.is_some()), what);
                match begin {
                    Some(begin) => self.operand(begin)?,
                    None => self.writer().nil(),
                }
                return end.as_ref().map_or(Ok(()), |end| self.operand(end));
            }
            Many::IndexRange(extent) => (codes.index_range, None, extent),
            Many::RankRange(extent) => (codes.rank_range, None, extent),
            Many::KeyRelative(key, extent) => (codes.key_relative, Some(key), extent),
            Many::ValueRelative(value, extent) => (codes.value_relative, Some(value), extent),
        };
        let len = 3 + usize::from(relative.is_some()) + usize::from(extent.end.is_some());
        self.operation(code, len, what);
        if let Some(relative) = relative {
            self.operand(relative)?;
            return self.extent(extent);
        }
        match (extent.start.as_int(), extent.end.as_ref().and_then(Operand::as_int)) {
            (Some(start), Some(end)) if (start < 0) != (end < 0) => self.extent_of_both_ends(path, step, start, end),
            _ => self.extent(extent),
        }
    }

    /// The first place of a range, and how many there are, if one bound counts from the start and the other from the
    /// end: by the size of the list or map that the step is in.
    fn extent_of_both_ends(&mut self, path: &Path<'_>, step: &Step<'_>, start: i64, end: i64) -> Result_ {
        self.need(V5_6, step.span, "a range that counts from both ends")?;
        self.writer().int(start);
        self.head(3, op::MAX);
        self.writer().int(0);
        let from_end = end - start;
        if end < 0 {
            self.head(3, op::ADD);
            self.size_around(path, step)?;
            self.writer().int(from_end);
            return Ok(());
        }
        self.head(3, op::SUB);
        self.writer().int(from_end);
        self.size_around(path, step)
    }

    /// The size of the list or map that the last step of a path is in.
    fn size_around(&mut self, path: &Path<'_>, step: &Step<'_>) -> Result_ {
        let before = path.steps.split_last().map_or(&[][..], |(_, before)| before);
        self.call(Type::Int, CDT);
        self.nested(before)?;
        self.head(1, if step.in_map == Some(true) { map::code::SIZE } else { list::code::SIZE });
        self.root(path)
    }

    /// The first place of a range, and how many there are.
    fn extent(&mut self, extent: &Extent<'_>) -> Result_ {
        let Extent { start, end } = extent;
        self.operand(start)?;
        let Some(end) = end else { return Ok(()) };
        match (start.as_int(), end) {
            (Some(start), Operand::Constant(end)) => {
                self.writer().int(end.as_int().unwrap_or(start).wrapping_sub(start));
                Ok(())
            }
            (Some(0), end) => self.operand(end),
            (_, _) => {
                let span = match (start, end) {
                    (Operand::Expression(node), _) | (_, Operand::Expression(node)) => node.span,
                    _ => Span::default(),
                };
                self.need(V5_6, span, "a range whose size is computed")?;
                self.head(3, op::SUB);
                self.operand(end)?;
                self.operand(start)
            }
        }
    }
}
