//! Estimates of counts and similarity.
//!
//! Counts: algorithm 6 of Otmar Ertl, "New cardinality estimation algorithms for `HyperLogLog` sketches" (2017), with
//! the classic constants of `HyperLogLog`. Similarity: Yu and Weber, "`HyperMinHash`: `MinHash` in `LogLog` space" (2017).
//! All functions take values that have been checked.

use super::sketch::{MAX_VALUE, Shape, Sketch, has_data};

/// The shape in which HLLs can be compared: the fewest index bits; min-hash bits only if all have as many.
pub(super) fn common_shape(values: &[&[u8]]) -> Option<Shape> {
    let mut shapes = values.iter().filter_map(|value| Shape::of(value));
    let first = shapes.next()?;
    Some(shapes.fold(first, |common, shape| Shape {
        index_bits: common.index_bits.min(shape.index_bits),
        minhash_bits: if common.minhash_bits == shape.minhash_bits { shape.minhash_bits } else { 0 },
    }))
}

/// The union of HLLs; `None` for none.
pub(super) fn union(values: &[&[u8]]) -> Option<Sketch> {
    let mut union = Sketch::new(common_shape(values)?);
    for value in values {
        union.merge(&Sketch::parse(value)?);
    }
    Some(union)
}

/// The number of elements, as it is cached or estimated.
pub(super) fn count(sketch: &Sketch) -> u64 {
    if sketch.cached != 0 {
        return sketch.cached;
    }
    let n = sketch.registers.len() as f64;
    let histogram = sketch.histogram();
    let mut z = n * tau(f64::from(histogram[MAX_VALUE]) / n);
    for count in histogram[1..].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += n * sigma(f64::from(histogram[0]) / n);
    let alpha = match sketch.shape.index_bits {
        4 => 0.673,
        5 => 0.697,
        6 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / n),
    };
    (alpha * n * n / z).round() as u64
}

/// The share of registers at the upper end, as Ertl's algorithm corrects for it.
#[expect(clippy::float_cmp, reason = "the sum is complete when a step no longer changes it")]
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        y *= 0.5;
        let next = z - (1.0 - x).powi(2) * y;
        if next == z {
            return z / 3.0;
        }
        z = next;
    }
}

/// The share of empty registers, as Ertl's algorithm corrects for it.
#[expect(clippy::float_cmp, reason = "the sum is complete when a step no longer changes it")]
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let next = z + x * y;
        y += y;
        if next == z {
            return z;
        }
        z = next;
    }
}

fn count_of(value: &[u8]) -> u64 {
    Sketch::parse(value).map_or(0, |sketch| count(&sketch))
}

/// Elements in any of the HLLs.
pub(super) fn union_count(values: &[&[u8]]) -> u64 {
    union(values).map_or(0, |union| count(&union))
}

fn has_minhash(values: &[&[u8]]) -> bool {
    common_shape(values).is_some_and(|shape| shape.minhash_bits != 0)
}

/// Elements in all of the HLLs (2 or 3 without min-hash bits).
pub(super) fn intersect_count(values: &[&[u8]]) -> u64 {
    if !has_minhash(values) {
        return intersect_by_counts(values);
    }
    let similarity = similarity(values);
    if similarity.is_nan() { 0 } else { (union_count(values) as f64 * similarity).round() as u64 }
}

/// Without min-hash bits: inclusion and exclusion.
fn intersect_by_counts(values: &[&[u8]]) -> u64 {
    let together = union_count(values);
    let sum = values.iter().fold(0_u64, |sum, value| sum.saturating_add(count_of(value)));
    let [a, b, c] = *values else { return sum.saturating_sub(together) };
    let pairs = [[a, b], [b, c], [a, c]].iter().fold(0_u64, |sum, pair| sum.wrapping_add(intersect_count(pair)));
    let rest = (sum as i64).wrapping_sub(pairs as i64);
    (together as i64).wrapping_sub(rest).max(0) as u64
}

/// The share of the union that is in all of the HLLs; not a number if they are all empty.
pub(super) fn similarity(values: &[&[u8]]) -> f64 {
    if !has_minhash(values) {
        let (common, together) = (intersect_by_counts(values), union_count(values));
        // What the server's machine makes of 0 by 0.
        return if together == 0 { -f64::NAN } else { common as f64 / together as f64 };
    }
    if !values.iter().all(|value| has_data(value)) {
        return if values.iter().any(|value| has_data(value)) { 0.0 } else { f64::NAN };
    }
    let Some(union) = union(values) else { return f64::NAN };
    let mut common = Sketch::new(union.shape);
    for (i, value) in values.iter().enumerate() {
        let Some(sketch) = Sketch::parse(value) else { return f64::NAN };
        if i == 0 {
            common.merge(&sketch);
        } else {
            common.keep_common(&sketch);
        }
    }
    let collisions = match *values {
        [a, b] => expected_collisions(union.shape, count_of(a), count_of(b)),
        _ => 0.0,
    };
    ((common.used() as f64 - collisions) / union.used() as f64).max(0.0)
}

/// How many registers of two HLLs with so many elements are expected to be alike by chance.
fn expected_collisions(shape: Shape, count_a: u64, count_b: u64) -> f64 {
    let registers = f64::from(1_u32 << shape.index_bits);
    let mut probability = 0.0;
    for i in 1..=MAX_VALUE as i32 {
        let lower = if i == MAX_VALUE as i32 { 0.0 } else { 2_f64.powi(-i) } / registers;
        let upper = 2_f64.powi(1 - i) / registers;
        let hit = |count: u64| (1.0 - lower).powf(count as f64) - (1.0 - upper).powf(count as f64);
        probability += hit(count_a) * hit(count_b);
    }
    probability * registers / 2_f64.powi(i32::from(shape.minhash_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(shape: Shape, elements: std::ops::Range<u32>) -> Vec<u8> {
        let mut sketch = Sketch::new(shape);
        for element in elements {
            sketch.add(&element.to_be_bytes());
        }
        sketch.encode()
    }

    #[test]
    fn counts_are_near_the_truth() {
        for n in [0, 1, 100, 5000] {
            let value = filled(Shape { index_bits: 12, minhash_bits: 0 }, 0..n);
            let estimate = count_of(&value) as f64;
            assert!((estimate - f64::from(n)).abs() <= f64::from(n) * 0.05, "{n}: {estimate}");
        }
    }

    #[test]
    fn similarity_is_near_the_truth_with_min_hash_bits_and_without() {
        for minhash_bits in [0, 20] {
            let shape = Shape { index_bits: 12, minhash_bits };
            let (a, b) = (filled(shape, 0..2000), filled(shape, 1000..3000));
            let similarity = similarity(&[&a, &b]);
            assert!((similarity - 1.0 / 3.0).abs() < 0.05, "{minhash_bits}: {similarity}");
            assert!(intersect_count(&[&a, &b]).abs_diff(1000) < 150);
        }
    }

    #[test]
    fn empty_ones_are_similar_to_nothing() {
        let shape = Shape { index_bits: 8, minhash_bits: 10 };
        let (empty, some) = (filled(shape, 0..0), filled(shape, 0..1000));
        assert!(similarity(&[&empty, &empty]).is_nan());
        assert_eq!(similarity(&[&empty, &some]).to_bits(), 0.0_f64.to_bits());
        assert_eq!(intersect_count(&[&empty, &empty]), 0);
    }
}
