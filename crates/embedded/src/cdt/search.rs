//! Looking for a value in a sorted sequence, step by step as the server does it.
//!
//! For most values every search finds the same. Not for those that equal others than themselves: NaN equals every float, and a
//! wildcard equals everything. Which of their equals is found depends on the way of the search.

use std::cmp::Ordering;
use std::ops::Range;

/// Which of several equal elements is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any.
    Any,
    /// The one at the first place, which is the first of its equals.
    First,
    /// The one at this place, or where it would belong among its equals, which are in the order of their places.
    Nearest(usize),
    /// The one behind the last place: the search ends behind the last of the equals.
    BehindLast,
}

/// Looks for a value among the sorted elements of these ranks. `place` says which element has a rank, `compare` how the value
/// compares with it. Answers the rank at which the search has ended, and whether it has met an equal element.
pub(super) fn search(
    ranks: Range<usize>,
    wanted: Wanted,
    place: impl Fn(usize) -> usize,
    compare: impl Fn(usize) -> Ordering,
) -> (usize, bool) {
    if ranks.is_empty() {
        return (ranks.end, false);
    }
    let (mut lower, mut upper, mut found) = (ranks.start, ranks.end, false);
    let mut rank = usize::midpoint(lower, upper);
    loop {
        let at = place(rank);
        let order = match compare(at) {
            Ordering::Equal => {
                found = true;
                match wanted {
                    Wanted::BehindLast => Ordering::Greater,
                    Wanted::First if at != 0 => Ordering::Less,
                    Wanted::Nearest(place) if at != place => place.cmp(&at),
                    Wanted::First | Wanted::Nearest(_) | Wanted::Any => return (rank, true),
                }
            }
            order => order,
        };
        if order.is_gt() {
            if rank + 1 >= upper {
                return (rank + 1, found);
            }
            lower = if found { rank } else { rank + 1 };
            rank = usize::midpoint(rank, upper);
        } else {
            if rank == lower {
                return (rank, found);
            }
            upper = rank;
            rank = usize::midpoint(rank, lower);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bounds_of_equal_elements() {
        for n in 0..12_usize {
            let sorted: Vec<usize> = (0..n).map(|i| i / 3).collect();
            for value in 0..6 {
                let look = |wanted| search(0..n, wanted, |rank| rank, |at| value.cmp(&sorted[at]));
                let first = sorted.partition_point(|v| *v < value);
                let behind = sorted.partition_point(|v| *v <= value);
                assert_eq!(look(Wanted::First), (first, first < behind), "{value} of {n}");
                assert_eq!(look(Wanted::BehindLast), (behind, first < behind), "{value} of {n}");
                let (rank, found) = look(Wanted::Any);
                assert_eq!(found, first < behind);
                assert!(if found { (first..behind).contains(&rank) } else { rank == first });
            }
        }
    }

    #[test]
    fn what_equals_everything_is_found_where_the_first_place_is_met() {
        // The order of five values, of which the second least is the first one stored.
        let places = [4, 0, 2, 1, 3];
        let look = |wanted| search(0..5, wanted, |rank| places[rank], |_| Ordering::Equal);
        assert_eq!(look(Wanted::First), (1, true));
        assert_eq!(look(Wanted::BehindLast), (5, true));
    }
}
