//! Sorting by value.
//!
//! The server's order is none in the strict sense: NaN equals every float. The sorts of the standard library may panic
//! over that, so this one is our own: a merge sort, stable, n log n, that takes any comparison.

use crate::value::compare;
use std::cmp::Ordering;

/// Sorts elements by value.
pub(super) fn sort<T: AsRef<[u8]> + Default>(values: &mut [T]) {
    sort_with(values, |a, b| compare(a.as_ref(), b.as_ref()));
}

/// Sorts elements as a comparison says.
pub(super) fn sort_with<T: Default>(values: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let places = sorted_by((0..values.len()).collect(), |a: &usize, b: &usize| compare(&values[*a], &values[*b]));
    let sorted: Vec<T> = places.into_iter().map(|at| std::mem::take(&mut values[at])).collect();
    for (place, value) in values.iter_mut().zip(sorted) {
        *place = value;
    }
}

/// Merge sort from the top down, with the smaller half first: this is what the server's library does, and where a comparison is
/// no order it matters.
pub(crate) fn sorted_by<T: Clone>(mut items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut merged = Vec::with_capacity(items.len());
    merge_sort(&mut items, &mut merged, &compare);
    items
}

fn merge_sort<T: Clone>(items: &mut [T], merged: &mut Vec<T>, compare: &impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    merge_sort(left, merged, compare);
    merge_sort(right, merged, compare);
    merged.clear();
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if compare(&right[r], &left[l]).is_lt() {
            merged.push(right[r].clone());
            r += 1;
        } else {
            merged.push(left[l].clone());
            l += 1;
        }
    }
    merged.extend_from_slice(&left[l..]);
    // What is left of the right half is in its place.
    items[..merged.len()].clone_from_slice(merged);
}

/// The `count` items behind the first `start` in the order of a comparison, found by a heap as the server finds them in
/// lists without order, and in maps that have no order of their values at hand: it takes items off the nearer end. So they
/// come descending if that is the low end, else ascending, and which of several equal items are among them depends on the way
/// of the heap (golden scenario `list/number-order`).
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
