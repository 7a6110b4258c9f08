//! Operations that get or remove elements.

use super::answer::{ReturnWord, answer, list as list_of, present};
use super::args::int;
use super::collection::{Among, Collection, Kind, particle_of};
use super::number::{list, map};
use super::op::{Op, elements};
use super::select::{Chosen, Run, Selection};
use super::{Particle, integer};
use crate::code;
use crate::value::compare;

/// Carries out a reading operation.
pub(super) fn get(op: &Op<'_>, collection: &Collection<'_>) -> Result<Option<Particle>, u8> {
    let n = collection.len();
    Ok(match op.number.0 {
        list::SIZE | map::SIZE => Some(integer(n as i64)),
        list::GET => {
            op.at_most(1)?;
            present(particle_of(&collection.values[place(op.int(0)?, n)?]))
        }
        list::GET_RANGE => {
            op.at_most(2)?;
            let run = Run::at(op.int(0)?, op.count(1)?, n);
            Some(list_of(collection.values[run.iter()].iter().map(|value| &**value)))
        }
        _ => {
            let (selection, word) = select(op, collection)?;
            answer(&selection, word)?
        }
    })
}

/// Carries out an operation that removes elements; says also whether there were any.
pub(super) fn remove(op: &Op<'_>, collection: &mut Collection<'_>) -> Result<(Option<Particle>, bool), u8> {
    let n = collection.len();
    let mut keeps_a_middle = false;
    let (told, places) = match op.number.0 {
        list::POP => {
            op.at_most(1)?;
            let at = place(op.int(0)?, n)?;
            (present(particle_of(&collection.values[at])), vec![at])
        }
        list::REMOVE => {
            op.at_most(1)?;
            (Some(integer(1)), vec![place(op.int(0)?, n)?])
        }
        list::POP_RANGE => {
            op.at_most(2)?;
            let run = Run::at(op.int(0)?, op.count(1)?, n);
            (Some(list_of(collection.values[run.iter()].iter().map(|value| &**value))), run.iter().collect())
        }
        list::REMOVE_RANGE => {
            op.at_most(2)?;
            let run = Run::at(op.int(0)?, op.count(1)?, n);
            (Some(integer(run.count as i64)), run.iter().collect())
        }
        list::TRIM => {
            op.at_most(2)?;
            let kept = Run::at(op.int(0)?, op.int(1)? as u64, n);
            (Some(integer((n - kept.count) as i64)), (0..kept.start).chain(kept.end()..n).collect())
        }
        list::CLEAR | map::CLEAR => (None, (0..n).collect()),
        _ => {
            let (selection, word) = select(op, collection)?;
            let by_value = selection.is_by_value();
            keeps_a_middle = selection.is_around_a_middle();
            let found = (answer(&selection, word)?, selection.places());
            if by_value {
                collection.note_ranked();
            }
            found
        }
    };
    collection.remove(&places);
    if keeps_a_middle {
        // The server has a way of its own for this, which leaves the order of the values open.
        collection.forget_value_order();
    }
    Ok((told, !places.is_empty()))
}

/// The place of an index or rank, which has to be there.
fn place(index: i64, n: usize) -> Result<usize, u8> {
    let at = if index < 0 { index.saturating_add(n as i64) } else { index };
    usize::try_from(at).ok().filter(|at| *at < n).ok_or(code::NOT_APPLICABLE)
}

/// The elements that the operation is about, and what it asks for.
fn select<'c, 'a>(op: &Op<'_>, of: &'c Collection<'a>) -> Result<(Selection<'c, 'a>, ReturnWord), u8> {
    // Too many arguments are found before an index that is out of bounds.
    op.at_most(most_arguments(op.number.0))?;
    let word = ReturnWord(op.int(0)?);
    let n = of.len();
    let chosen = match op.number.0 {
        list::GET_BY_INDEX | list::REMOVE_BY_INDEX | map::GET_BY_INDEX | map::REMOVE_BY_INDEX => {
            Chosen::Index(Some(place(op.int(1)?, n)?))
        }
        list::GET_BY_RANK | list::REMOVE_BY_RANK | map::GET_BY_RANK | map::REMOVE_BY_RANK => {
            let rank = place(op.int(1)?, n)?;
            Chosen::Rank(Some(of.by_rank(rank)), rank)
        }
        list::GET_BY_VALUE | list::REMOVE_BY_VALUE | map::GET_BY_VALUE | map::REMOVE_BY_VALUE => {
            let value = op.arg(1)?;
            if of.has_order_of_values() {
                let ranking = of.ranking();
                let run = of.equal_to(&ranking, value);
                Chosen::Rank((run.count > 0).then(|| ranking[run.start]), run.start)
            } else {
                let found = of.values.iter().position(|v| compare(v, value).is_eq());
                Chosen::Rank(found, of.rank_of(value))
            }
        }
        map::GET_BY_KEY | map::REMOVE_BY_KEY => Chosen::Index(of.find_key(op.arg(1)?)),
        list::GET_ALL_BY_VALUE | list::REMOVE_ALL_BY_VALUE | map::GET_ALL_BY_VALUE | map::REMOVE_ALL_BY_VALUE => {
            by_value(of, op.arg(1)?)
        }
        list::GET_BY_INDEX_RANGE
        | list::REMOVE_BY_INDEX_RANGE
        | map::GET_BY_INDEX_RANGE
        | map::REMOVE_BY_INDEX_RANGE => Chosen::Indexes { run: Run::at(op.int(1)?, op.count(2)?, n), scanned: false },
        list::GET_BY_RANK_RANGE | list::REMOVE_BY_RANK_RANGE | map::GET_BY_RANK_RANGE | map::REMOVE_BY_RANK_RANGE => {
            Chosen::Ranks { run: Run::at(op.int(1)?, op.count(2)?, n), found: None, by_value: false }
        }
        list::GET_BY_VALUE_INTERVAL
        | list::REMOVE_BY_VALUE_INTERVAL
        | map::GET_BY_VALUE_INTERVAL
        | map::REMOVE_BY_VALUE_INTERVAL => {
            let (start, end) = (op.arg(1)?, op.args.get(2).copied());
            if of.has_order_of_values() {
                Chosen::Ranks { run: of.in_interval(start, end), found: None, by_value: true }
            } else {
                let below = |value: &[u8]| end.is_none_or(|end| compare(value, end).is_lt());
                scanned(of, start, |value| compare(value, start).is_ge() && below(value))
            }
        }
        map::GET_BY_KEY_INTERVAL | map::REMOVE_BY_KEY_INTERVAL => {
            let start = of.index_of(op.arg(1)?);
            let end = op.args.get(2).map_or(n, |end| of.index_of(end));
            Chosen::Indexes { run: Run::between(start, end), scanned: !of.is_ordered_map() }
        }
        list::GET_BY_VALUE_REL_RANK_RANGE
        | list::REMOVE_BY_VALUE_REL_RANK_RANGE
        | map::GET_BY_VALUE_REL_RANK_RANGE
        | map::REMOVE_BY_VALUE_REL_RANK_RANGE => {
            let run = Run::cut(of.rank_of(op.arg(1)?), op.int(2)?, op.count(3)?, n);
            Chosen::Ranks { run, found: None, by_value: false }
        }
        map::GET_BY_KEY_REL_INDEX_RANGE | map::REMOVE_BY_KEY_REL_INDEX_RANGE => {
            let run = Run::cut(of.index_of(op.arg(1)?), op.int(2)?, op.count(3)?, n);
            Chosen::Indexes { run, scanned: false }
        }
        list::GET_BY_VALUE_LIST | list::REMOVE_BY_VALUE_LIST | map::GET_BY_VALUE_LIST | map::REMOVE_BY_VALUE_LIST => {
            let values = elements(op.arg(1)?)?;
            refuse_deadly(of, word, values.is_empty())?;
            // A map of one pair counts as sorted here, but not where single values or intervals are looked for.
            if of.has_order_of_values() || of.kind == Kind::Map && n <= 1 {
                let ranking = of.ranking();
                let runs = values.iter().map(|value| of.equal_to(&ranking, value)).collect();
                Chosen::Values { runs, found: None }
            } else {
                let Among { runs, found } = of.among(&values, word.is_ranks());
                Chosen::Values { runs, found: Some(found) }
            }
        }
        map::GET_BY_KEY_LIST | map::REMOVE_BY_KEY_LIST => {
            let keys = elements(op.arg(1)?)?;
            refuse_deadly(of, word, keys.is_empty())?;
            let found = keys.iter().filter_map(|key| of.find_key(key)).collect();
            Chosen::Keys { found, any: !keys.is_empty() }
        }
        _ => return Err(code::PARAMETER),
    };
    Ok((Selection::new(of, chosen, word.inverted()), word))
}

/// Most arguments of an operation that selects.
const fn most_arguments(number: u64) -> usize {
    match number {
        list::GET_BY_VALUE_REL_RANK_RANGE
        | list::REMOVE_BY_VALUE_REL_RANK_RANGE
        | map::GET_BY_VALUE_REL_RANK_RANGE
        | map::REMOVE_BY_VALUE_REL_RANK_RANGE
        | map::GET_BY_KEY_REL_INDEX_RANGE
        | map::REMOVE_BY_KEY_REL_INDEX_RANGE => 4,
        list::GET_BY_INDEX_RANGE
        | list::REMOVE_BY_INDEX_RANGE
        | map::GET_BY_INDEX_RANGE
        | map::REMOVE_BY_INDEX_RANGE
        | list::GET_BY_RANK_RANGE
        | list::REMOVE_BY_RANK_RANGE
        | map::GET_BY_RANK_RANGE
        | map::REMOVE_BY_RANK_RANGE
        | list::GET_BY_VALUE_INTERVAL
        | list::REMOVE_BY_VALUE_INTERVAL
        | map::GET_BY_VALUE_INTERVAL
        | map::REMOVE_BY_VALUE_INTERVAL
        | map::GET_BY_KEY_INTERVAL
        | map::REMOVE_BY_KEY_INTERVAL => 3,
        _ => 2,
    }
}

/// All elements with this value.
fn by_value(of: &Collection<'_>, value: &[u8]) -> Chosen {
    if of.has_order_of_values() {
        return Chosen::Ranks { run: of.equal_to(&of.ranking(), value), found: None, by_value: true };
    }
    scanned(of, value, |element| compare(element, value).is_eq())
}

/// The elements of which this is true, found one by one; their ranks begin behind all that are less than `start`. These are the
/// ranks of other elements if there is NaN, which equals every float.
fn scanned(of: &Collection<'_>, start: &[u8], is_chosen: impl Fn(&[u8]) -> bool) -> Chosen {
    let found: Vec<usize> = (0..of.len()).filter(|at| is_chosen(&of.values[*at])).collect();
    let run = Run { start: of.rank_of(start), count: found.len() };
    Chosen::Ranks { run, found: Some(found), by_value: true }
}

/// Elements of a map but those of no keys or values at all: the recorded server dies of that. It is an error here.
fn refuse_deadly(of: &Collection<'_>, word: ReturnWord, none: bool) -> Result<(), u8> {
    let deadly = of.kind == Kind::Map && none && word.inverted() && word.is_elements();
    if deadly { Err(code::NOT_APPLICABLE) } else { Ok(()) }
}

/// An index, rank or other integer of a context level.
pub(super) fn place_of(key: &[u8], n: usize) -> Result<usize, u8> {
    place(int(key).ok_or(code::NOT_APPLICABLE)?, n)
}
