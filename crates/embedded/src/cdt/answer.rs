//! What an operation says of the elements that it selects.

use super::collection::{Kind, particle_of};
use super::select::{Chosen, Run, Selection};
use super::{Particle, integer};
use crate::code;
use aerolane_wire::msgpack::{Writer, order};
use aerolane_wire::particle::particle_type;

/// Return types.
mod kind {
    pub(super) const NONE: u16 = 0;
    pub(super) const INDEX: u16 = 1;
    pub(super) const REVERSE_INDEX: u16 = 2;
    pub(super) const RANK: u16 = 3;
    pub(super) const REVERSE_RANK: u16 = 4;
    pub(super) const COUNT: u16 = 5;
    pub(super) const KEY: u16 = 6;
    pub(super) const VALUE: u16 = 7;
    pub(super) const KEY_VALUE: u16 = 8;
    pub(super) const INDEX_RANGE: u16 = 9;
    pub(super) const REVERSE_INDEX_RANGE: u16 = 10;
    pub(super) const RANK_RANGE: u16 = 11;
    pub(super) const REVERSE_RANK_RANGE: u16 = 12;
    pub(super) const EXISTS: u16 = 13;
    pub(super) const UNORDERED_MAP: u16 = 16;
    pub(super) const ORDERED_MAP: u16 = 17;
}

/// All but the chosen elements are meant.
const INVERTED: i64 = 0x1_0000;

/// The word that says what is to be answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReturnWord(pub(super) i64);

impl ReturnWord {
    pub(super) const fn inverted(self) -> bool {
        self.0 & INVERTED != 0
    }

    /// Whether ranks are answered, one by one.
    pub(super) const fn is_ranks(self) -> bool {
        matches!(self.0 as u16, kind::RANK | kind::REVERSE_RANK)
    }

    /// Whether elements are answered, rather than something about them.
    pub(super) const fn is_elements(self) -> bool {
        matches!(self.0 as u16, kind::KEY | kind::VALUE | kind::KEY_VALUE | kind::UNORDERED_MAP | kind::ORDERED_MAP)
    }
}

/// What the word asks for; `None` if that is nothing.
pub(super) fn answer(selection: &Selection<'_, '_>, word: ReturnWord) -> Result<Option<Particle>, u8> {
    let is_map = selection.of.kind == Kind::Map;
    let one = match &selection.chosen {
        Chosen::Index(found) | Chosen::Rank(found, _) => Some(*found),
        _ => None,
    };
    if one.is_some() && selection.inverted {
        return Err(code::NOT_APPLICABLE);
    }
    let keys = matches!(selection.chosen, Chosen::Keys { .. });
    Ok(match word.0 as u16 {
        kind::NONE => None,
        kind @ (kind::INDEX | kind::REVERSE_INDEX) => Some(match one {
            Some(at) => number_at(selection, at, kind == kind::REVERSE_INDEX, |at| at),
            None => numbers(&selection.indexes(kind == kind::REVERSE_INDEX)),
        }),
        kind::RANK | kind::REVERSE_RANK if keys => return Err(code::NOT_APPLICABLE),
        kind @ (kind::RANK | kind::REVERSE_RANK) => Some(match one {
            Some(at) => number_at(selection, at, kind == kind::REVERSE_RANK, |at| rank(selection, at)),
            None => numbers(&selection.ranks(kind == kind::REVERSE_RANK)),
        }),
        kind::COUNT => Some(integer(selection.count() as i64)),
        kind::EXISTS => Some((particle_type::BOOL, vec![u8::from(selection.exists())])),
        kind @ (kind::INDEX_RANGE | kind::REVERSE_INDEX_RANGE) => {
            Some(range(selection, true, kind == kind::REVERSE_INDEX_RANGE)?)
        }
        kind @ (kind::RANK_RANGE | kind::REVERSE_RANK_RANGE) => {
            Some(range(selection, false, kind == kind::REVERSE_RANK_RANGE)?)
        }
        kind::VALUE => match one {
            Some(at) => at.and_then(|at| present(particle_of(&selection.of.values[at]))),
            None => Some(list(selection.value_places().iter().map(|at| &*selection.of.values[*at]))),
        },
        kind::KEY if is_map => match one {
            Some(at) => at.and_then(|at| present(particle_of(&selection.of.keys[at]))),
            None => Some(list(selection.value_places().iter().map(|at| &*selection.of.keys[*at]))),
        },
        kind::KEY_VALUE if is_map => Some(pairs(selection, order::PRESERVE, &selection.value_places())),
        kind::UNORDERED_MAP if is_map => Some(pairs(selection, order::UNORDERED, &selection.value_places())),
        kind::ORDERED_MAP if is_map => Some(pairs(selection, order::MAP_KEY, &selection.places())),
        _ => return Err(code::NOT_APPLICABLE),
    })
}

/// Nil is no answer.
pub(super) fn present(particle: Particle) -> Option<Particle> {
    (particle.0 != particle_type::NIL).then_some(particle)
}

/// Index or rank of one element; -1 if it is not there.
fn number_at(
    selection: &Selection<'_, '_>,
    at: Option<usize>,
    reverse: bool,
    number: impl Fn(usize) -> usize,
) -> Particle {
    let n = selection.of.len();
    integer(at.map_or(-1, |at| if reverse { n - 1 - number(at) } else { number(at) } as i64))
}

fn rank(selection: &Selection<'_, '_>, at: usize) -> usize {
    match selection.chosen {
        Chosen::Rank(_, rank) => rank,
        _ => selection.rank_at(at),
    }
}

/// Start and number of what was asked for, if it was asked for by that and stands together. Where nothing was found the
/// recorded server has its own ways.
fn range(selection: &Selection<'_, '_>, of_indexes: bool, reverse: bool) -> Result<Particle, u8> {
    let n = selection.of.len();
    let (is_list, ordered) = (selection.of.kind == Kind::List, selection.of.is_ordered_list());
    let fits = |by_index: bool| if by_index == of_indexes || ordered { Ok(()) } else { Err(code::NOT_APPLICABLE) };
    let told = |run: Run| {
        let start = if reverse && run.count > 0 { n - run.end() } else { run.start };
        Ok(start_and_count(start as i64, run.count))
    };
    match selection.chosen {
        Chosen::Index(found) => {
            fits(true)?;
            found.map_or_else(|| Ok(start_and_count(-1, 0)), |start| told(Run { start, count: 1 }))
        }
        Chosen::Rank(found, rank) => {
            fits(false)?;
            match found {
                Some(_) => told(Run { start: rank, count: 1 }),
                None if ordered => Ok(start_and_count(0, 0)),
                None if !is_list && n == 0 => Ok(start_and_count(-1, 0)),
                None if is_list && reverse => Ok(start_and_count((n - rank) as i64, 0)),
                None => Ok(start_and_count(rank as i64, 0)),
            }
        }
        Chosen::Indexes { run, .. } if is_list => {
            if selection.inverted {
                return Err(code::NOT_APPLICABLE);
            }
            if run.count > 0 {
                fits(true)?;
            }
            told(run)
        }
        Chosen::Ranks { run, by_value: false, .. } if is_list => {
            if selection.count() > 0 {
                fits(false)?;
            }
            match selection.inverted {
                true if selection.count() == 0 => Ok(start_and_count(0, 0)),
                true => Err(code::NOT_APPLICABLE),
                false => told(run),
            }
        }
        Chosen::Indexes { run, scanned } => {
            fits(true)?;
            match (selection.inverted, scanned && reverse) {
                (true, _) => Err(code::NOT_APPLICABLE),
                (false, true) => Ok(start_and_count((n - run.end()) as i64, run.count)),
                (false, false) => told(run),
            }
        }
        Chosen::Ranks { run, by_value, .. } => {
            fits(false)?;
            match selection.inverted {
                _ if by_value && !is_list && n == 0 => Ok(start_and_count(-1, 0)),
                true if by_value && !is_list && run.count == 0 && !selection.of.has_value_index() => {
                    Ok(start_and_count(0, n))
                }
                true => Err(code::NOT_APPLICABLE),
                false if reverse && (is_list || by_value && selection.of.has_value_index()) => {
                    Ok(start_and_count((n - run.end()) as i64, run.count))
                }
                false => told(run),
            }
        }
        Chosen::Values { .. } | Chosen::Keys { .. } => Err(code::NOT_APPLICABLE),
    }
}

fn start_and_count(start: i64, count: usize) -> Particle {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.list(2);
    writer.int(start);
    writer.uint(count as u64);
    (particle_type::LIST, out)
}

fn numbers(numbers: &[usize]) -> Particle {
    let mut out = Vec::with_capacity(numbers.len() * 3 + 5);
    let mut writer = Writer::new(&mut out);
    writer.list(numbers.len());
    for number in numbers {
        writer.uint(*number as u64);
    }
    (particle_type::LIST, out)
}

/// A list of these elements.
pub(super) fn list<'v>(elements: impl ExactSizeIterator<Item = &'v [u8]>) -> Particle {
    let mut out = Vec::new();
    Writer::new(&mut out).list(elements.len());
    elements.for_each(|element| out.extend_from_slice(element));
    (particle_type::LIST, out)
}

/// A map of the pairs at these places.
fn pairs(selection: &Selection<'_, '_>, flags: u8, places: &[usize]) -> Particle {
    let mut out = Vec::new();
    Writer::new(&mut out).map_with_order(flags, places.len());
    for &at in places {
        out.extend_from_slice(&selection.of.keys[at]);
        out.extend_from_slice(&selection.of.values[at]);
    }
    (particle_type::MAP, out)
}
