//! The expression language: from text to the bytes of a filter.

mod common;

use std::hint::black_box;

use aerolane::ael::{self, Param};

const FIVE_TERMS: &str = "$.age >= ?0 and $.age < 65 and $.country == ?1 and ($.score > 1.5 or $.tags.[0] == 'vip') and $.profile.level != 3";

fn main() {
    let mut criterion = common::criterion();
    let params = [Param::from(18), Param::from("US")];
    criterion.bench_function("ael/compile a filter of five terms", |bencher| {
        bencher.iter(|| ael::condition(black_box(FIVE_TERMS), black_box(&params)).expect("the filter compiles"));
    });
    criterion.bench_function("ael/compile one comparison", |bencher| {
        bencher.iter(|| ael::condition(black_box("$.age > 21"), &[]).expect("the filter compiles"));
    });
    criterion.final_summary();
}
