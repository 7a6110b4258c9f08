//! Changed lists and maps to bytes.

use std::convert::Infallible;

use aerolane_wire::operation::{list, map, path as select};

use super::path::{LIST_REMOVE, MAP_REMOVE};
use super::{CDT, Emitter, MODIFY, Result_, V7_0, V8_1_1, op};
use crate::functions::flag::NO_FAIL;
use crate::tree::{Change, Node, Operand, Select, Verb};

/// Flag of a modifying path operation: what cannot be changed stays as it is.
const PATH_NO_FAIL: i64 = 16;

impl Emitter<'_, '_> {
    pub(super) fn change(&mut self, change: &Change<'_>, node: &Node<'_>) -> Result_ {
        let Change { path, verb, value, flags } = change;
        let gives = self.known(node.ty, node.span)?;
        if let Some(span) = path.persist {
            self.need(V7_0, span, "an index that is stored with a map")?;
        }
        let removes = *verb == Verb::Remove;
        if *verb == Verb::Modify || (removes && (path.has_wildcard() || *flags != 0)) {
            return self.change_all(change, node);
        }
        self.call(gives, CDT | MODIFY);
        let Some((last, before)) = path.steps.split_last() else {
            self.change_container(change, path.root_create.map_or(0, |create| create.order))?;
            return self.root(path);
        };
        let in_map = last.in_map == Some(true);
        if removes {
            self.nested(before)?;
            self.select(path, last, if in_map { &MAP_REMOVE } else { &LIST_REMOVE }, 0)?;
            return self.root(path);
        }
        let place = match &last.select {
            Select::Key(place) | Select::Index(place)
                if matches!(verb, Verb::SetTo | Verb::Insert | Verb::Update | Verb::Add)
                    || (*verb == Verb::InsertItems && !in_map) =>
            {
                place
            }
            _ => {
                self.nested(&path.steps)?;
                self.change_container(change, last.create.map_or(0, |create| create.order))?;
                return self.root(path);
            }
        };
        self.nested(before)?;
        let container = before.last().map_or(path.root_create, |step| step.create);
        let order = container.map_or(0, |create| create.order);
        match (in_map, verb, value) {
            (true, Verb::Add, Some(amount)) => {
                self.change_place(map::code::INCREMENT, place, amount, Some(order), None)
            }
            (true, _, Some(value)) => {
                let flags = Some(*flags).filter(|flags| *flags != 0);
                self.change_place(map::code::PUT, place, value, Some(order), flags)
            }
            (false, Verb::Add, Some(amount)) => {
                self.change_place(list::code::INCREMENT, place, amount, Some(order), Some(*flags))
            }
            (false, _, Some(value)) => {
                let code = match verb {
                    Verb::Insert => list::code::INSERT,
                    Verb::InsertItems => list::code::INSERT_ITEMS,
                    _ => list::code::SET,
                };
                self.change_place(code, place, value, None, Some(*flags))
            }
            (_, _, None) => Ok(()),
        }?;
        self.root(path)
    }

    /// What is at one place of a list or map.
    fn change_place(
        &mut self,
        code: u8,
        place: &Operand<'_>,
        value: &Node<'_>,
        order: Option<u8>,
        flags: Option<u8>,
    ) -> Result_ {
        self.head(3 + usize::from(order.is_some()) + usize::from(flags.is_some()), code);
        self.operand(place)?;
        self.node(value)?;
        let mut writer = self.writer();
        order.into_iter().chain(flags).for_each(|number| writer.uint(u64::from(number)));
        Ok(())
    }

    /// A list or map as a whole. `order` is that of one that is created.
    fn change_container(&mut self, change: &Change<'_>, order: u8) -> Result_ {
        let flags = change.flags;
        let (code, numbers) = match change.verb {
            Verb::Append => (list::code::APPEND, [Some(order), Some(flags)]),
            Verb::AppendItems => (list::code::APPEND_ITEMS, [Some(order), Some(flags)]),
            Verb::Sort => (list::code::SORT, [Some(flags), None]),
            Verb::Clear if self.is_map(change) => (map::code::CLEAR, [None; 2]),
            Verb::Clear => (list::code::CLEAR, [None; 2]),
            _ => (map::code::PUT_ITEMS, [Some(order), Some(flags).filter(|flags| *flags != 0)]),
        };
        let count = numbers.iter().flatten().count();
        self.head(1 + usize::from(change.value.is_some()) + count, code);
        if let Some(value) = &change.value {
            self.node(value)?;
        }
        let mut writer = self.writer();
        numbers.into_iter().flatten().for_each(|number| writer.uint(u64::from(number)));
        Ok(())
    }

    fn is_map(&self, change: &Change<'_>) -> bool {
        self.tree.types.known(change.path.value_ty) == Some(crate::types::Type::Map)
    }

    /// All that a path selects.
    fn change_all(&mut self, change: &Change<'_>, node: &Node<'_>) -> Result_ {
        let Change { path, value, flags, .. } = change;
        let gives = self.known(node.ty, node.span)?;
        let levels = self.levels(&path.steps)?;
        self.need(V8_1_1, node.span, "changing what a path selects")?;
        let before = std::mem::take(&mut self.out);
        let written = if let Some(value) = value {
            self.node(value)
        } else {
            self.head(1, op::REMOVE);
            Ok(())
        };
        let expression = std::mem::replace(&mut self.out, before);
        written?;
        self.call(gives, CDT | MODIFY);
        let flags = if flags & NO_FAIL.1 != 0 { PATH_NO_FAIL } else { 0 };
        let levels = levels.iter().map(|level| (level.id, &*level.value));
        let made = select::modify::<Infallible>(&mut self.out, levels, flags, |writer| {
            writer.raw(&expression);
            Ok(())
        });
        made.map_or_else(|never| match never {}, |_| ());
        self.root(path)
    }
}
