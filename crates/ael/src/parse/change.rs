//! What changes a list or map: functions at the end of a path, and what a path creates.
//!
//! Nothing is written: the value of such an expression is the whole list or map, changed. Operations of records can
//! write it into a bin.

use aerolane_wire::msgpack::order::PERSIST_INDEX;

use super::{Parser, Result};
use crate::error::{AelErrorKind, Span};
use crate::functions::flag::{ADD_UNIQUE, BOUNDED, CREATE_ONLY, DROP_DUPS, NO_FAIL, PARTIAL_NO_FAIL, UPDATE_ONLY};
use crate::tree::{Change, Create, Kind, Node, Path, Root, Select, Verb};
use crate::types::{Class, Ty, Type};

type Flags = &'static [(&'static str, u8)];

/// Flags of what changes one place, or several: those of lists are checked later.
const ONE: Flags = &[NO_FAIL, ADD_UNIQUE];
const BULK: Flags = &[NO_FAIL, ADD_UNIQUE, PARTIAL_NO_FAIL];
const MAPS: Flags = &[NO_FAIL, PARTIAL_NO_FAIL];

/// What a path creates, by its words.
const CREATES: [(&str, Create); 7] = [
    ("KEY_ORDERED", Create { map: true, order: 1, pad: false }),
    ("KEY_VALUE_ORDERED", Create { map: true, order: 3, pad: false }),
    ("UNORDERED", Create { map: true, order: 0, pad: false }),
    ("SORTED", Create { map: false, order: 1, pad: false }),
    ("UNSORTED", Create { map: false, order: 0, pad: false }),
    ("UNSORTED_PAD", Create { map: false, order: 0, pad: true }),
    ("UNSORTED_UNBOUND", Create { map: false, order: 0, pad: true }),
];

/// What a function changes, if it changes something, and the flags that it has.
pub(super) fn verb(name: &str) -> Option<(Verb, Flags)> {
    Some(match name {
        "setTo" => (Verb::SetTo, ONE),
        "insert" => (Verb::Insert, ONE),
        "update" => (Verb::Update, &[NO_FAIL]),
        "add" => (Verb::Add, ONE),
        "append" => (Verb::Append, ONE),
        "appendItems" => (Verb::AppendItems, BULK),
        "putItems" => (Verb::PutItems, MAPS),
        "insertItems" => (Verb::InsertItems, BULK),
        "updateItems" => (Verb::UpdateItems, MAPS),
        "remove" => (Verb::Remove, &[NO_FAIL]),
        "clear" => (Verb::Clear, &[]),
        "sort" => (Verb::Sort, &[DROP_DUPS]),
        "modify" => (Verb::Modify, &[NO_FAIL]),
        _ => return None,
    })
}

impl<'a> Parser<'a, '_> {
    /// What a path says of creation behind a ":", if it says something.
    #[inline(never)]
    pub(super) fn create(&mut self, path: &mut Path<'a>) -> Result<bool> {
        self.lexer.skip_space()?;
        let start = self.lexer.at;
        let word = self.lexer.word(&[]);
        let span = Span::new(start, self.lexer.at.max(start + 1));
        if word == "PERSIST_INDEX" {
            if !path.steps.is_empty() || !matches!(path.root, Root::Bin(_)) || path.persist.is_some() {
                let text = "only a map that is the bin keeps an index: $.m:KEY_ORDERED:PERSIST_INDEX.putItems({..})";
                return Err(self.syntax(span, text));
            }
            path.persist = Some(span);
            path.create_span.get_or_insert(span);
            return Ok(true);
        }
        let Some((_, create)) = CREATES.iter().find(|(name, _)| *name == word) else {
            self.lexer.at = start;
            return Ok(false);
        };
        let kind = if create.map { Type::Map } else { Type::List };
        let (slot, fits) = match path.steps.last_mut() {
            Some(step) => {
                let fits = matches!(step.select, Select::Key(_))
                    || (matches!(step.select, Select::Index(_)) && step.in_map == Some(false));
                (&mut step.create, fits && !step.select.is_dynamic())
            }
            None => (&mut path.root_create, matches!(path.root, Root::Bin(_))),
        };
        if !fits || slot.is_some() {
            let text = "what is created is said once, behind a bin, a key of a map or an index of a list";
            return Err(self.syntax(span, text));
        }
        *slot = Some(*create);
        path.create_span.get_or_insert(span);
        let ty = path.value_ty;
        self.unify(ty, Ty::Known(kind), span)?;
        Ok(true)
    }

    /// Refuses what a path says of creation, where nothing is created.
    pub(super) fn no_create(&self, path: &Path<'a>) -> Result<()> {
        match path.create_span {
            None => Ok(()),
            Some(span) => Err(self.syntax(span, "only what sets or adds values creates lists and maps on the way")),
        }
    }

    /// What `:PERSIST_INDEX` adds to the order of the map that the bin is created as.
    fn persists(&self, path: &mut Path<'a>) -> Result<()> {
        let Some(span) = path.persist else { return Ok(()) };
        match &mut path.root_create {
            Some(Create { map: true, order, .. }) if *order != 0 => {
                *order |= PERSIST_INDEX;
                Ok(())
            }
            _ => {
                let text = "only a map in order has an index to keep: :KEY_ORDERED:PERSIST_INDEX";
                Err(self.syntax(span, text))
            }
        }
    }

    /// A function that changes something; its name has been read.
    #[inline(never)]
    pub(super) fn change(&mut self, mut path: Box<Path<'a>>, verb: Verb, flags: Flags, name: Span) -> Result<Node<'a>> {
        let start = path.root_span;
        if verb == Verb::Modify {
            self.spread(&mut path)?;
        }
        self.persists(&mut path)?;
        self.changes(&path, verb, name)?;
        self.expect("(", "")?;
        let value = match verb {
            Verb::Remove | Verb::Clear | Verb::Sort => None,
            Verb::Modify => Some(self.with_item(name)?),
            _ => Some(self.inner()?),
        };
        let end = self.expect(")", "at the end of the call")?;
        let call = self.lexer.text.get(name.start..name.end).unwrap_or_default();
        let (flags, end) = self.flags(call, flags, end)?;
        if verb == Verb::Remove && flags != 0 {
            self.spread(&mut path)?;
        }
        let value_depth = value.as_ref().map_or(0, |value| value.depth);
        let mut change = Box::new(Change { path, verb, value, flags });
        self.check_value(&mut change, end)?;
        let (ty, depth) = (change.path.root_ty, change.path.depth.max(value_depth));
        self.node(Kind::Change(change), ty, start.to(end), depth)
    }

    /// What `modify()` makes of each item, which is "@" in it.
    fn with_item(&mut self, name: Span) -> Result<Node<'a>> {
        if self.in_filter {
            return Err(self.syntax(name, "modify() cannot stand in a filter, or in another one"));
        }
        self.looking_at_items(Self::inner)
    }

    /// Whether the path names what the function changes.
    #[inline(never)]
    fn changes(&mut self, path: &Path<'a>, verb: Verb, name: Span) -> Result<()> {
        self.no_range(path)?;
        if let Root::Part(_) = path.root {
            let text = "an expression can be the last step of a path that changes something, and no other one";
            return Err(self.syntax(path.root_span, text));
        }
        let last = path.steps.last();
        let in_list = last.is_some_and(|step| matches!(step.select, Select::Index(_)) && step.in_map == Some(false));
        let in_map = last.is_some_and(|step| matches!(step.select, Select::Key(_)));
        let wide = path.has_wildcard();
        if matches!(verb, Verb::Remove | Verb::Modify | Verb::Clear | Verb::Sort) {
            self.no_create(path)?;
        }
        let kind = match verb {
            Verb::Remove | Verb::Modify if path.steps.is_empty() => {
                return Err(self.syntax(name, "this changes parts of a list or map: the path has to name some"));
            }
            Verb::Remove => return Ok(()),
            Verb::Modify => {
                return match path.steps.iter().find(|step| step.select.is_dynamic()) {
                    Some(step) => Err(self.no_filter(step.span, "what an expression selects")),
                    None => Ok(()),
                };
            }
            _ if wide => {
                let text = "this changes one place: modify() and remove() change all that is selected";
                return Err(self.syntax(name, text));
            }
            Verb::SetTo | Verb::Insert | Verb::Add if in_list || in_map => return Ok(()),
            Verb::InsertItems if in_list => return Ok(()),
            Verb::Update if in_map => return Ok(()),
            Verb::SetTo | Verb::Insert | Verb::Add => {
                let text = "this changes what is at a key of a map or at an index of a list, as in $.m.key or $.l.[0]";
                return Err(self.syntax(name, text));
            }
            Verb::Update => {
                return Err(self.syntax(name, "update() changes what is at a key of a map, as in $.m.key"));
            }
            Verb::Append | Verb::AppendItems | Verb::Sort => Some(Type::List),
            Verb::PutItems | Verb::InsertItems | Verb::UpdateItems => Some(Type::Map),
            Verb::Clear => None,
        };
        if let Some(step) = path.steps.iter().find(|step| step.select.is_plural() || step.select.is_dynamic()) {
            return Err(self.syntax(step.span, "the list or map that is changed is named by single steps"));
        }
        let Some(kind) = kind else {
            let narrowed = self.types.narrow(path.value_ty, Class::Collection);
            return narrowed.map_err(|error| self.mismatch(name, &error));
        };
        self.types.unify(path.value_ty, Ty::Known(kind)).map_err(|error| {
            let text = format!("this changes a {kind}, found {}", error.left);
            self.error(AelErrorKind::Type, name, text)
        })
    }

    /// The types of what is put there, and the flags that are always given.
    #[inline(never)]
    fn check_value(&mut self, change: &mut Change<'a>, end: Span) -> Result<()> {
        let (path, verb) = (&change.path, change.verb);
        let last = path.steps.last();
        let element = matches!(verb, Verb::SetTo | Verb::Insert | Verb::Update | Verb::Add)
            || (verb == Verb::InsertItems && last.is_some_and(|step| matches!(step.select, Select::Index(_))));
        // Where the list or map is named that is changed.
        let container = path.steps.len().checked_sub(if element { 2 } else { 1 }).map(|at| path.steps[at].create);
        let container = container.unwrap_or(path.root_create);
        let in_list = matches!(verb, Verb::Append | Verb::AppendItems)
            || (element && last.is_some_and(|step| step.in_map == Some(false)));
        let leaf = if element { last.and_then(|step| step.create) } else { None };
        if leaf.is_some_and(|leaf| !leaf.pad) {
            return Err(self.syntax(end, "what stands at the last step is set: nothing else is created there"));
        }
        if let Some(value) = &change.value {
            match verb {
                Verb::Add => {
                    let narrowed = self.types.narrow(value.ty, Class::Numeric);
                    narrowed.map_err(|error| self.mismatch(value.span, &error))?;
                }
                Verb::AppendItems => self.expect_type(value, Type::List)?,
                Verb::InsertItems if in_list => self.expect_type(value, Type::List)?,
                Verb::PutItems | Verb::InsertItems | Verb::UpdateItems => self.expect_type(value, Type::Map)?,
                _ => {}
            }
        }
        if in_list {
            let appends = matches!(verb, Verb::Append | Verb::AppendItems);
            let pads = leaf.or(container).is_some_and(|create| create.pad);
            if element && !appends && !pads {
                change.flags |= BOUNDED;
            }
            return Ok(());
        }
        if change.flags & ADD_UNIQUE.1 != 0 && !matches!(verb, Verb::Remove | Verb::Modify | Verb::Sort) {
            return Err(self.syntax(end, "the flag ADD_UNIQUE is for lists"));
        }
        if verb == Verb::Add && change.flags != 0 {
            return Err(self.unsupported(end, "add() to a number in a map, with flags"));
        }
        change.flags |= match verb {
            Verb::Insert | Verb::InsertItems => CREATE_ONLY.1,
            Verb::Update | Verb::UpdateItems => UPDATE_ONLY.1,
            _ => 0,
        };
        Ok(())
    }
}
