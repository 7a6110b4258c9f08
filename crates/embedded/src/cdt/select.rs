//! Which elements of a collection an operation is about.

use super::collection::{Bytes, Collection, Kind, is_nan};
use super::order::sorted_by;
use crate::value::compare;
use std::cell::OnceCell;

/// A run of indexes or ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) count: usize,
}

impl Run {
    /// `count` from `start` on among `n`, cut to what is there. What would lie before the beginning (by way of
    /// `origin`, which a relative range begins from) counts, and is cut off.
    pub(super) fn cut(origin: usize, start: i64, count: u64, n: usize) -> Self {
        let (n, start) = (n as i128, origin as i128 + i128::from(start));
        let end = (start + i128::from(count)).clamp(0, n);
        let start = start.clamp(0, n);
        Self { start: start as usize, count: (end - start).max(0) as usize }
    }

    /// The same for an index that counts from the end if it is negative.
    pub(super) fn at(index: i64, count: u64, n: usize) -> Self {
        Self::cut(if index < 0 { n } else { 0 }, index, count, n)
    }

    /// From one boundary to another; none, if they are the wrong way round.
    pub(super) const fn between(start: usize, end: usize) -> Self {
        Self { start, count: end.saturating_sub(start) }
    }

    /// Its end.
    pub(super) const fn end(self) -> usize {
        self.start + self.count
    }

    /// It, or what lies around it.
    fn segments(self, n: usize, inverted: bool) -> [Self; 2] {
        const NONE: Run = Run { start: 0, count: 0 };
        match (inverted, self.count) {
            (false, _) => [self, NONE],
            (true, 0) => [Self::between(0, n), NONE],
            (true, _) => [Self::between(0, self.start), Self::between(self.end(), n)],
        }
    }

    /// What lies around it, if that is a run itself.
    fn around(self, n: usize) -> Option<Self> {
        let [before, after] = self.segments(n, true);
        match (before.count, after.count) {
            (0, _) if self.count > 0 => Some(after),
            (_, 0) => Some(before),
            _ => None,
        }
    }

    pub(super) fn iter(self) -> std::ops::Range<usize> {
        self.start..self.end()
    }

    /// Its numbers counted from the other end, still ascending.
    fn reversed(self, n: usize) -> std::ops::Range<usize> {
        n - self.end()..n - self.start
    }
}

/// How elements were asked for.
#[derive(Debug)]
pub(super) enum Chosen {
    /// One by index or key; `None`: there is no such key.
    Index(Option<usize>),
    /// One by rank or value: where it is, if it is there, and its rank.
    Rank(Option<usize>, usize),
    /// A run of indexes; of those that two keys of an unordered map bound, which are looked for one by one.
    Indexes { run: Run, scanned: bool },
    /// A run of ranks; by a value or two values, or by ranks. Where values are looked at one by one, also the places of those that
    /// were found.
    Ranks { run: Run, found: Option<Vec<usize>>, by_value: bool },
    /// The runs of ranks of some values, in the order in which they were asked for; where the elements have no order, also the
    /// places of those that are among the values.
    Values { runs: Vec<Run>, found: Option<Vec<usize>> },
    /// The indexes of some keys, in the order in which they were asked for.
    Keys { found: Vec<usize>, any: bool },
}

/// Elements of a collection.
#[derive(Debug)]
pub(super) struct Selection<'c, 'a> {
    pub(super) of: &'c Collection<'a>,
    pub(super) chosen: Chosen,
    /// All others are meant.
    pub(super) inverted: bool,
    ranking: OnceCell<Vec<usize>>,
}

impl<'c, 'a> Selection<'c, 'a> {
    pub(super) fn new(of: &'c Collection<'a>, mut chosen: Chosen, mut inverted: bool) -> Self {
        // In a sorted list ranks are indexes.
        if let Chosen::Ranks { run, .. } = chosen
            && of.is_ordered_list()
        {
            chosen = Chosen::Indexes { run, scanned: false };
        }
        if matches!(chosen, Chosen::Index(None)) && of.is_ordered_map() {
            inverted = false;
        }
        // In a map all but a run may be a run; it is treated as that then. Nothing is inverted in an empty map.
        if let Chosen::Indexes { run, scanned: false } | Chosen::Ranks { run, by_value: false, .. } = &mut chosen
            && of.kind == Kind::Map
            && inverted
        {
            if of.len() == 0 {
                inverted = false;
            } else if let Some(around) = run.around(of.len()) {
                (*run, inverted) = (around, false);
            }
        }
        Self { of, chosen, inverted, ranking: OnceCell::new() }
    }

    fn n(&self) -> usize {
        self.of.len()
    }

    /// All places in the order of ranks.
    pub(super) fn ranking(&self) -> &[usize] {
        self.ranking.get_or_init(|| self.of.ranking())
    }

    fn is_map(&self) -> bool {
        self.of.kind == Kind::Map
    }

    /// Everything, because nothing was excluded: the server takes a short way then.
    fn is_whole(&self) -> bool {
        self.inverted
            && match &self.chosen {
                Chosen::Values { runs, .. } => runs.is_empty(),
                Chosen::Keys { any, .. } => !any,
                Chosen::Ranks { run, by_value, .. } => {
                    self.is_map() && *by_value && run.count == 0 && !self.of.has_value_index()
                }
                _ => false,
            }
    }

    /// Whether they were looked for in the order of the values.
    pub(super) const fn is_by_value(&self) -> bool {
        matches!(self.chosen, Chosen::Rank(..) | Chosen::Ranks { .. } | Chosen::Values { .. })
    }

    /// Whether they are what lies before and behind a run of indexes of an ordered map.
    pub(super) const fn is_around_a_middle(&self) -> bool {
        self.inverted && matches!(self.chosen, Chosen::Indexes { scanned: false, .. })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match &self.chosen {
            Chosen::Index(found) | Chosen::Rank(found, _) => usize::from(found.is_some()),
            Chosen::Indexes { run, .. } | Chosen::Ranks { run, .. } => {
                if self.inverted {
                    self.n() - run.count
                } else {
                    run.count
                }
            }
            Chosen::Values { .. } | Chosen::Keys { .. } => self.places().len(),
        }
    }

    /// Whether there are any, as the server says it: of inverted selections often whether the rest is empty.
    pub(super) fn exists(&self) -> bool {
        match &self.chosen {
            Chosen::Ranks { run, by_value, .. } => {
                (self.n() > 0 || *by_value && !self.is_map()) && (run.count > 0) != self.inverted
            }
            Chosen::Indexes { run, .. } if self.is_map() && !self.of.is_ordered_map() => {
                (run.count > 0) != self.inverted
            }
            _ => self.count() > 0,
        }
    }

    /// The places of all, ascending.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut chosen = vec![false; self.n()];
        match &self.chosen {
            Chosen::Index(found) | Chosen::Rank(found, _) => found.iter().for_each(|at| chosen[*at] = true),
            Chosen::Indexes { run, .. } => run.iter().for_each(|at| chosen[at] = true),
            Chosen::Ranks { run, by_value: false, .. } => {
                self.of.by_ranks(*run).iter().for_each(|at| chosen[*at] = true);
            }
            Chosen::Ranks { found: Some(found), .. }
            | Chosen::Values { found: Some(found), .. }
            | Chosen::Keys { found, .. } => found.iter().for_each(|at| chosen[*at] = true),
            Chosen::Ranks { run, .. } => self.ranking()[run.iter()].iter().for_each(|at| chosen[*at] = true),
            Chosen::Values { runs, .. } => {
                for run in runs {
                    self.ranking()[run.iter()].iter().for_each(|at| chosen[*at] = true);
                }
            }
        }
        (0..self.n()).filter(|at| chosen[*at] != self.inverted).collect()
    }

    /// The places of all in the order in which their values are answered.
    pub(super) fn value_places(&self) -> Vec<usize> {
        match &self.chosen {
            Chosen::Ranks { run, by_value, .. } if !self.inverted && (!by_value || self.of.has_value_index()) => {
                self.of.by_ranks(*run)
            }
            Chosen::Values { runs, .. } if self.of.is_ordered_list() && !self.inverted => {
                runs.iter().flat_map(|run| run.iter()).collect()
            }
            _ => self.places(),
        }
    }

    /// The indexes of all, as they are answered, counted from the end if `reverse`.
    pub(super) fn indexes(&self, reverse: bool) -> Vec<usize> {
        let n = self.n();
        let each = |places: Vec<usize>| -> Vec<usize> {
            if reverse { places.into_iter().map(|at| n - 1 - at).collect() } else { places }
        };
        if self.is_whole() {
            return (0..n).collect();
        }
        match &self.chosen {
            Chosen::Indexes { run, scanned: true } if self.inverted => {
                joined(n, &[Run::between(0, run.start), Run::between(run.end(), n)], reverse)
            }
            Chosen::Indexes { run, .. } => joined(n, &run.segments(n, self.inverted), reverse),
            // The one pair of a map is told as often as it was asked for.
            Chosen::Values { runs, .. } if self.is_map() && n == 1 && !self.inverted => joined(n, runs, reverse),
            Chosen::Ranks { .. } if self.is_map() => each(self.value_places()),
            Chosen::Values { runs, .. } if self.of.has_value_index() && !self.inverted => {
                each(runs.iter().flat_map(|run| &self.ranking()[run.iter()]).copied().collect())
            }
            Chosen::Values { runs, .. } if self.of.is_ordered_list() && !self.inverted => joined(n, runs, reverse),
            Chosen::Keys { found, .. } if !self.inverted => each(self.asked(found.clone())),
            Chosen::Keys { .. } if !self.of.is_ordered_map() => joined(n, &runs_of(&self.places()), reverse),
            _ => each(self.places()),
        }
    }

    /// The ranks of all, as they are answered, counted from the end if `reverse`; not of keys.
    pub(super) fn ranks(&self, reverse: bool) -> Vec<usize> {
        let n = self.n();
        if self.of.is_ordered_list() {
            return self.indexes(reverse);
        }
        if self.is_whole() {
            return (0..n).collect();
        }
        match &self.chosen {
            // Where there is no such value, its place still parts the ranks.
            Chosen::Ranks { run, .. } if self.inverted => {
                joined(n, &[Run::between(0, run.start), Run::between(run.end(), n)], reverse)
            }
            Chosen::Ranks { run, .. } => joined(n, &run.segments(n, self.inverted), reverse),
            Chosen::Values { runs, .. } if self.inverted && !self.of.has_value_index() => {
                let mut left = vec![true; n];
                for run in runs {
                    left[run.iter()].fill(false);
                }
                let left: Vec<usize> = (0..n).filter(|rank| left[*rank]).collect();
                joined(n, &runs_of(&left), reverse)
            }
            Chosen::Values { runs, .. } if self.of.has_value_index() && !self.inverted => joined(n, runs, reverse),
            Chosen::Values { runs, .. } if !self.inverted => {
                let ranks = self.asked(runs.iter().flat_map(|run| run.iter()).collect());
                if reverse { ranks.into_iter().map(|rank| n - 1 - rank).collect() } else { ranks }
            }
            Chosen::Indexes { scanned: false, .. } if self.count() == n => (0..n).collect(),
            _ => {
                let ranks = self.rank_by_place();
                self.places().into_iter().map(|at| if reverse { n - 1 - ranks[at] } else { ranks[at] }).collect()
            }
        }
    }

    /// The rank of each place: in maps all have their own, in lists it is how many are less.
    fn rank_by_place(&self) -> Vec<usize> {
        let values = &self.of.values;
        if self.is_map() {
            let mut ranks = vec![0; self.n()];
            self.ranking().iter().enumerate().for_each(|(rank, at)| ranks[*at] = rank);
            return ranks;
        }
        // NaN equals every float: the others are sorted without it.
        let (nans, others): (Vec<usize>, Vec<usize>) = (0..self.n()).partition(|at| is_nan(&values[*at]));
        let sorted = sorted_by(others, |a, b| compare(&values[*a], &values[*b]));
        let rank = |value: &Bytes<'_>| {
            let less = |at: &usize| compare(&values[*at], value).is_lt();
            sorted.partition_point(less) + nans.first().filter(|at| less(at)).map_or(0, |_| nans.len())
        };
        values.iter().map(rank).collect()
    }

    /// The rank of the element at this place.
    pub(super) fn rank_at(&self, at: usize) -> usize {
        if self.of.is_ordered_list() {
            return at;
        }
        if self.of.has_value_index() {
            return self.ranking().iter().position(|place| *place == at).unwrap_or_default();
        }
        let value = &self.of.values[at];
        let less = self.of.rank_of(value);
        if !self.is_map() {
            return less;
        }
        let equal = self.of.values[..at].iter().filter(|v| compare(v, value).is_eq()).count();
        less + equal
    }

    /// What was asked for in lists of keys or values: of what was asked for twice only the last counts, but in ordered
    /// collections every time does.
    fn asked(&self, found: Vec<usize>) -> Vec<usize> {
        let every_time = match self.chosen {
            Chosen::Keys { .. } => self.of.is_ordered_map(),
            _ => self.of.is_ordered_list() || self.is_map() && self.n() == 1,
        };
        if every_time {
            return found;
        }
        let mut seen = vec![false; self.n()];
        let mut last: Vec<usize> =
            found.into_iter().rev().filter(|at| !std::mem::replace(&mut seen[*at], true)).collect();
        last.reverse();
        last
    }
}

/// The numbers of runs one behind the other; each counted from the end, if `reverse`.
fn joined(n: usize, runs: &[Run], reverse: bool) -> Vec<usize> {
    runs.iter().flat_map(|run| if reverse { run.reversed(n) } else { run.iter() }).collect()
}

/// Ascending numbers as runs.
fn runs_of(numbers: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.end() == number => run.count += 1,
            _ => runs.push(Run { start: number, count: 1 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_to_what_is_there() {
        let run = |start, count| Run { start, count };
        assert_eq!(Run::at(1, 2, 5), run(1, 2));
        assert_eq!(Run::at(-2, u64::MAX, 5), run(3, 2));
        assert_eq!(Run::at(-7, 3, 5), run(0, 1));
        assert_eq!(Run::at(-7, 1, 5), run(0, 0));
        assert_eq!(Run::at(9, 1, 5), run(5, 0));
        assert_eq!(Run::at(i64::MIN, u64::MAX, 5), run(0, 5));
        assert_eq!(Run::at(i64::MAX, u64::MAX, 5), run(5, 0));
        assert_eq!(Run::cut(2, -3, 4, 5), run(0, 3));
        assert_eq!(Run::cut(5, i64::MAX, u64::MAX, 5), run(5, 0));
    }
}
