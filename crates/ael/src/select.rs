//! Which secondary index serves a text, and what is left to filter.
//!
//! A query reads the records that one index filter finds, and filters them by an expression. [`select`] takes the
//! conditions of a text that are joined by `and` at its top, finds those that an index answers, and chooses the index
//! that probably finds the fewest records. What the index answers is left out of the expression.
//!
//! Indexes answer: integers that are equal or in a range, strings and bytes that are equal, values that a list has
//! (`5 in $.list`), keys and values that a map has (`$.map.key.exists()`, `$.map.{=5}.exists()`), and points in regions
//! (`geoCompare`); each also inside of lists and maps, if the index has the same context.

use std::fmt::Write as _;

use crate::constant::Param;
use crate::emit::{self, Compiled, Level, op};
use crate::error::AelError;
use crate::parse::parse;
use crate::tree::{Kind, Many, Node, Path, PathResult, Root, Select, Tree, return_type};
use crate::types::Type;
use crate::version::Version;

/// What kind of values an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Integers.
    Numeric,
    /// Strings.
    String,
    /// Bytes.
    Blob,
    /// GeoJSON.
    Geo,
}

/// What of a bin an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collection {
    /// The value itself.
    #[default]
    Default,
    /// The items of a list.
    List,
    /// The keys of a map.
    MapKeys,
    /// The values of a map.
    MapValues,
}

/// A secondary index that queries can use.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Its name, if it is known.
    pub name: Option<String>,
    /// The bin.
    pub bin: String,
    /// The kind of its values.
    pub kind: IndexKind,
    /// What of the bin it has.
    pub collection: Collection,
    /// The steps to what it indexes inside the bin; empty for the bin itself.
    pub context: Vec<Level>,
    /// How many different values there are per entry, or any number that grows with it; `None`: not known. Of two
    /// indexes that serve alike, the one with more is chosen.
    pub selectivity: Option<f64>,
}

/// Which index is preferred, where it can serve the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hint<'h> {
    /// The index of this name.
    pub index: Option<&'h str>,
    /// Indexes of this bin.
    pub bin: Option<&'h str>,
}

/// What an index filter asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Bounds {
    /// Integers from the first to the second, both included.
    Range(i64, i64),
    /// A value: an integer, a string or bytes.
    Equal(Param),
    /// Points within a region, given as GeoJSON.
    WithinRegion(String),
    /// Regions around a point, given as GeoJSON.
    AroundPoint(String),
}

/// The index filter of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexFilter {
    /// Which of the given indexes.
    pub index: usize,
    /// What to ask it for.
    pub bounds: Bounds,
}

/// How a query is carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The index filter; `None`: no index serves the text, and the query reads the whole set.
    pub filter: Option<IndexFilter>,
    /// The expression that what is read is filtered by; `None`: the index answers all of the text.
    pub rest: Option<Compiled>,
    explanation: String,
}

impl Selection {
    /// Describes the choice: which index is used for which condition, what is filtered, and why others are not used.
    #[must_use]
    pub fn explain(&self) -> &str {
        &self.explanation
    }
}

/// A condition that an index could answer.
struct Term<'t> {
    path: IndexedPath<'t>,
    collection: Collection,
    bounds: Bounds,
    /// Which conditions of the text it answers.
    conditions: Vec<usize>,
}

/// Something that can be indexed.
#[derive(PartialEq)]
struct IndexedPath<'t> {
    bin: &'t str,
    context: Vec<Level>,
}

/// Chooses the index filter for a text that filters records.
///
/// # Errors
/// Those of [`condition`](crate::condition) and, with `server`, of [`condition_for`](crate::condition_for).
pub fn select(
    text: &str,
    params: &[Param],
    indexes: &[Index],
    hint: Hint<'_>,
    server: Option<Version>,
) -> Result<Selection, AelError> {
    let tree = parse(text, params)?;
    // The whole text is checked, whatever part of it an index answers.
    let whole = emit::condition(&tree, server)?;
    let mut conditions = Vec::new();
    conjuncts(&tree.root, &mut conditions);
    let terms = terms(&tree, &conditions);
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for (at, index) in indexes.iter().enumerate() {
        candidates.extend(terms.iter().enumerate().filter(|(_, term)| serves(index, term)).map(|(term, _)| (at, term)));
    }
    let best = candidates.iter().copied().min_by(|left, right| {
        let rank = |(index, term): (usize, usize)| rank(&indexes[index], &terms[term], hint);
        rank(*left).partial_cmp(&rank(*right)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let Some((index, term)) = best else {
        let explanation = explain(&tree, indexes, None, &conditions, &[]);
        return Ok(Selection { filter: None, rest: Some(whole), explanation });
    };
    let term = &terms[term];
    // The index finds what is near; whether it is in the region stays part of the expression.
    let exact = matches!(term.bounds, Bounds::Range(..) | Bounds::Equal(_));
    let is_left = |at: usize| !exact || !term.conditions.contains(&at);
    let left: Vec<&Node<'_>> =
        conditions.iter().enumerate().filter(|(at, _)| is_left(*at)).map(|(_, node)| *node).collect();
    let rest = match left.len() {
        0 => None,
        len if len == conditions.len() => Some(whole),
        _ => Some(emit::compile_part(&tree, &left, server)?),
    };
    let explanation = explain(&tree, indexes, Some((index, term)), &left, &terms);
    Ok(Selection { filter: Some(IndexFilter { index, bounds: term.bounds.clone() }), rest, explanation })
}

/// The conditions that all have to be true.
fn conjuncts<'t, 'a>(node: &'t Node<'a>, conditions: &mut Vec<&'t Node<'a>>) {
    match &node.kind {
        Kind::Operation(op::AND, parts) => parts.iter().for_each(|part| conjuncts(part, conditions)),
        _ => conditions.push(node),
    }
}

fn terms<'t>(tree: &'t Tree<'_>, conditions: &[&'t Node<'_>]) -> Vec<Term<'t>> {
    let mut terms: Vec<Term<'t>> = Vec::new();
    for (at, condition) in conditions.iter().enumerate() {
        let Some((path, collection, bounds)) = term(tree, condition) else { continue };
        // Ranges of one bin are one range.
        if let Bounds::Range(begin, end) = bounds
            && collection == Collection::Default
            && let Some(known) = terms.iter_mut().find(|known| known.path == path && known.collection == collection)
            && let Bounds::Range(first, last) = &mut known.bounds
        {
            (*first, *last) = ((*first).max(begin), (*last).min(end));
            known.conditions.push(at);
            continue;
        }
        terms.push(Term { path, collection, bounds, conditions: vec![at] });
    }
    // Nothing is in an empty range, which no index filter can say.
    terms.retain(|term| !matches!(term.bounds, Bounds::Range(begin, end) if begin > end));
    terms
}

/// What an index would have to answer for a condition.
fn term<'t>(tree: &'t Tree<'_>, node: &'t Node<'_>) -> Option<(IndexedPath<'t>, Collection, Bounds)> {
    match &node.kind {
        Kind::Operation(code @ op::EQ..=op::LE, parts) if *code != op::NE => {
            let [left, right] = parts.as_slice() else { return None };
            let (path, constant, code) = match (&left.kind, &right.kind) {
                (Kind::Path(path), Kind::Constant(constant)) => (path, constant, *code),
                (Kind::Constant(constant), Kind::Path(path)) => (path, constant, turned(*code)),
                _ => return None,
            };
            let place = place(path, path.steps.len())?;
            (path.what == PathResult::Value).then_some(())?;
            Some((place, Collection::Default, compared(code, constant)?))
        }
        Kind::Operation(op::GEO, parts) => {
            let [left, right] = parts.as_slice() else { return None };
            let ((Kind::Path(path), Kind::Constant(constant)) | (Kind::Constant(constant), Kind::Path(path))) =
                (&left.kind, &right.kind)
            else {
                return None;
            };
            let text = constant.as_str()?.to_owned();
            let place = place(path, path.steps.len())?;
            let point = text.contains("\"Point\"");
            let bounds = if point { Bounds::AroundPoint(text) } else { Bounds::WithinRegion(text) };
            Some((place, Collection::Default, bounds))
        }
        Kind::In(parts) => match (&parts[0].kind, &parts[1].kind) {
            (Kind::Constant(constant), Kind::Path(path)) if path.what == PathResult::Value => {
                Some((place(path, path.steps.len())?, Collection::List, equal(constant)?))
            }
            // A list of one value.
            (Kind::Path(path), Kind::Constant(list)) if path.what == PathResult::Value => {
                let only = list.only_item()?;
                (tree.known(&parts[0]) == only.kind()).then_some(())?;
                Some((place(path, path.steps.len())?, Collection::Default, equal(&only)?))
            }
            _ => None,
        },
        Kind::Path(path) if path.what == PathResult::Return(return_type::EXISTS) => {
            let (last, before) = path.steps.split_last()?;
            let in_map = last.in_map == Some(true);
            let of_values = if in_map { Collection::MapValues } else { Collection::List };
            let (collection, constant) = match &last.select {
                Select::Key(key) => (Collection::MapKeys, key.constant()?.clone()),
                Select::Value(value) => (of_values, value.constant()?.clone()),
                Select::Many { many: Many::Keys(keys), inverted: false } => {
                    (Collection::MapKeys, keys.constant()?.only_item()?)
                }
                Select::Many { many: Many::Values(values), inverted: false } => {
                    (of_values, values.constant()?.only_item()?)
                }
                _ => return None,
            };
            Some((place(path, before.len())?, collection, equal(&constant)?))
        }
        _ => None,
    }
}

/// What the first steps of a path lead to.
fn place<'t>(path: &'t Path<'_>, steps: usize) -> Option<IndexedPath<'t>> {
    let Root::Bin(bin) = &path.root else { return None };
    let single = |select: &Select<'_>| {
        !matches!(select, Select::Each(_) | Select::And(_) | Select::Many { .. } | Select::Value(_))
            && !select.is_dynamic()
    };
    path.steps.iter().take(steps).all(|step| single(&step.select)).then_some(())?;
    Some(IndexedPath { bin, context: emit::levels_of(&path.steps[..steps]) })
}

/// A comparison with its sides exchanged.
fn turned(code: u8) -> u8 {
    match code {
        op::GT => op::LT,
        op::GE => op::LE,
        op::LT => op::GT,
        op::LE => op::GE,
        other => other,
    }
}

fn compared(code: u8, constant: &Param) -> Option<Bounds> {
    if let Some(value) = constant.as_int() {
        let (begin, end) = match code {
            op::EQ => (value, value),
            op::GT => (value.checked_add(1)?, i64::MAX),
            op::GE => (value, i64::MAX),
            op::LT => (i64::MIN, value.checked_sub(1)?),
            op::LE => (i64::MIN, value),
            _ => return None,
        };
        return Some(Bounds::Range(begin, end));
    }
    if code == op::EQ { equal(constant) } else { None }
}

fn equal(constant: &Param) -> Option<Bounds> {
    matches!(constant.kind(), Some(Type::Int | Type::String | Type::Blob)).then(|| Bounds::Equal(constant.clone()))
}

fn serves(index: &Index, term: &Term<'_>) -> bool {
    let kind = match &term.bounds {
        Bounds::Range(..) => Some(IndexKind::Numeric),
        Bounds::Equal(constant) => match constant.kind() {
            Some(Type::Int) => Some(IndexKind::Numeric),
            Some(Type::String) => Some(IndexKind::String),
            Some(Type::Blob) => Some(IndexKind::Blob),
            _ => None,
        },
        Bounds::WithinRegion(_) | Bounds::AroundPoint(_) => Some(IndexKind::Geo),
    };
    Some(index.kind) == kind
        && index.bin == term.path.bin
        && index.collection == term.collection
        && index.context == term.path.context
}

/// What orders candidates: the smallest is the best.
fn rank<'i>(index: &'i Index, term: &Term<'_>, hint: Hint<'_>) -> (u8, u8, f64, &'i str, &'i str) {
    let hinted = match (&index.name, hint) {
        (Some(name), Hint { index: Some(wanted), .. }) if name == wanted => 0,
        (_, Hint { bin: Some(wanted), .. }) if index.bin == wanted => 1,
        _ => 2,
    };
    let shape = match &term.bounds {
        Bounds::Equal(_) => 0,
        Bounds::Range(begin, end) if begin == end => 0,
        Bounds::Range(begin, end) if *begin > i64::MIN && *end < i64::MAX => 1,
        Bounds::WithinRegion(_) | Bounds::AroundPoint(_) => 2,
        Bounds::Range(..) => 3,
    };
    (hinted, shape, -index.selectivity.unwrap_or(0.0), &index.bin, index.name.as_deref().unwrap_or_default())
}

fn named(index: &Index) -> String {
    let context =
        if index.context.is_empty() { String::new() } else { format!(", {} steps inside", index.context.len()) };
    let collection = match index.collection {
        Collection::Default => "",
        Collection::List => ", items of a list",
        Collection::MapKeys => ", keys of a map",
        Collection::MapValues => ", values of a map",
    };
    let kind = match index.kind {
        IndexKind::Numeric => "numeric",
        IndexKind::String => "string",
        IndexKind::Blob => "blob",
        IndexKind::Geo => "geo",
    };
    let name = index.name.as_deref().unwrap_or("(without a name)");
    format!("{name} (bin {}, {kind}{collection}{context})", index.bin)
}

fn explain(
    tree: &Tree<'_>,
    indexes: &[Index],
    used: Option<(usize, &Term<'_>)>,
    left: &[&Node<'_>],
    terms: &[Term<'_>],
) -> String {
    let source = |node: &Node<'_>| {
        let part = tree.text.get(node.span.start..node.span.end).unwrap_or_default().trim();
        if matches!(node.kind, Kind::Operation(op::OR, _)) && left.len() > 1 {
            format!("({part})")
        } else {
            part.to_owned()
        }
    };
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = match used {
        None => writeln!(text, "reads the whole set: no index serves a condition that every record has to meet"),
        Some((index, term)) => {
            let _ = writeln!(text, "reads by index {}", named(&indexes[index]));
            match &term.bounds {
                Bounds::Range(i64::MIN, end) => writeln!(text, "  values up to {end}"),
                Bounds::Range(begin, i64::MAX) => writeln!(text, "  values from {begin}"),
                Bounds::Range(begin, end) if begin == end => writeln!(text, "  the value {begin}"),
                Bounds::Range(begin, end) => writeln!(text, "  values from {begin} to {end}"),
                Bounds::Equal(constant) => {
                    writeln!(text, "  the value {}", constant.text().unwrap_or_else(|| "given".to_owned()))
                }
                Bounds::WithinRegion(_) => writeln!(text, "  points within a region"),
                Bounds::AroundPoint(_) => writeln!(text, "  regions around a point"),
            }
        }
    };
    let _ = if left.is_empty() {
        writeln!(text, "filters nothing: the index answers all conditions")
    } else {
        let conditions: Vec<String> = left.iter().map(|node| source(node)).collect();
        writeln!(text, "filters what it reads by {}", conditions.join(" and "))
    };
    for (at, index) in indexes.iter().enumerate() {
        if used.is_some_and(|(used, _)| used == at) {
            continue;
        }
        let why = if terms.iter().any(|term| serves(index, term)) {
            "would serve, but probably finds more records"
        } else {
            "serves no condition"
        };
        let _ = writeln!(text, "does not use {}: {why}", named(index));
    }
    text.truncate(text.trim_end().len());
    text
}
