//! Sorting by value.
//!
//! The server's order is none in the strict sense: NaN equals every float. The sorts of the standard library may panic
//! over that, so this one is our own: a merge sort, stable, n log n, that takes any comparison.

use crate::value::compare;
use std::cmp::Ordering;

/// Sorts elements by value.
pub(super) fn sort<T: AsRef<[u8]> + Clone>(values: &mut Vec<T>) {
    let sorted = values.is_sorted_by(|a, b| compare(a.as_ref(), b.as_ref()).is_le());
    if !sorted {
        *values = sorted_by(std::mem::take(values), |a, b| compare(a.as_ref(), b.as_ref()));
    }
}

/// Merge sort, bottom up.
pub(crate) fn sorted_by<T: Clone>(mut items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let n = items.len();
    let mut width = 1;
    let mut merged = Vec::with_capacity(n);
    while width < n {
        merged.clear();
        for start in (0..n).step_by(2 * width) {
            let middle = (start + width).min(n);
            let end = (middle + width).min(n);
            let (mut left, mut right) = (start, middle);
            while left < middle && right < end {
                if compare(&items[right], &items[left]).is_lt() {
                    merged.push(items[right].clone());
                    right += 1;
                } else {
                    merged.push(items[left].clone());
                    left += 1;
                }
            }
            merged.extend_from_slice(&items[left..middle]);
            merged.extend_from_slice(&items[right..end]);
        }
        std::mem::swap(&mut items, &mut merged);
        width *= 2;
    }
    items
}

/// The `count` items behind the first `start` in the order of a comparison, found by a heap as the server finds them in
/// lists without order: it takes items off the nearer end. So they come descending if that is the low end, else
/// ascending, and which of several equal items are among them depends on the way of the heap (golden scenario
/// `list/number-order`).
pub(super) fn selected(n: usize, start: usize, count: usize, compare: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let behind = n - start - count;
    let (wanted, skipped) = if start <= behind { (Ordering::Less, start) } else { (Ordering::Greater, behind) };
    let mut heap: Vec<usize> = (0..n).collect();
    let sift = |heap: &mut [usize], mut at: usize| loop {
        let left = 2 * at + 1;
        let Some(mut best) = heap.get(left).map(|_| left) else { return };
        if heap.get(left + 1).is_some_and(|right| compare(*right, heap[left]) == wanted) {
            best = left + 1;
        }
        if compare(heap[best], heap[at]) != wanted {
            return;
        }
        heap.swap(at, best);
        at = best;
    };
    for at in (0..n / 2).rev() {
        sift(&mut heap, at);
    }
    for end in (n - skipped - count..n).rev() {
        heap.swap(0, end);
        sift(&mut heap[..end], 0);
    }
    heap.truncate(n - skipped);
    heap.split_off(n - skipped - count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library_and_is_stable() {
        for n in [0, 1, 2, 3, 7, 64, 1000] {
            let items: Vec<(u64, usize)> = (0..n).map(|i| (i as u64 * 7919 % 31, i)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            assert_eq!(sorted_by(items, |a, b| a.0.cmp(&b.0)), expected);
        }
    }

    #[test]
    fn a_heap_selects_what_sorting_does() {
        for n in [0, 1, 2, 3, 7, 64] {
            let items: Vec<u64> = (0..n).map(|i| i as u64 * 7919 % 31).collect();
            let mut sorted = items.clone();
            sorted.sort_unstable();
            for start in 0..=n {
                for count in 0..=n - start {
                    let places = selected(n, start, count, |a, b| items[a].cmp(&items[b]));
                    let mut found: Vec<u64> = places.iter().map(|at| items[*at]).collect();
                    if start <= n - start - count {
                        found.reverse();
                    }
                    assert_eq!(found, sorted[start..start + count], "{start} {count} of {n}");
                }
            }
        }
    }

    #[test]
    fn nan_makes_it_no_order_but_no_panic() {
        let floats: Vec<Vec<u8>> = (0..500_u32)
            .map(|i| [&[0xcb][..], &if i % 3 == 0 { f64::NAN } else { f64::from(i * 7 % 101) }.to_be_bytes()].concat())
            .collect();
        let mut sorted = floats.clone();
        sort(&mut sorted);
        assert_eq!(sorted.len(), floats.len());
    }
}
