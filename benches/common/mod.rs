//! What the microbenchmarks share.

#![allow(dead_code, reason = "each benchmark uses a part of this")]

pub(crate) mod cluster;

use std::time::{Duration, Instant};

use aerolane_bench::hot_paths;
use criterion::Criterion;

/// Settings for all benchmarks: short enough to be run often. Criterion's own options still apply.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// Times one hot path.
pub(crate) fn time(criterion: &mut Criterion, name: &str) {
    let path = hot_paths::find(name).unwrap_or_else(|| panic!("there is no hot_paths path `{name}`"));
    let mut run = (path.prepare)();
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|n| {
            let started = Instant::now();
            run(n);
            started.elapsed()
        });
    });
}

/// Times every hot path of a group.
pub(crate) fn time_group(group: &str) {
    let mut criterion = criterion();
    for path in hot_paths::all() {
        if path.group() == group {
            time(&mut criterion, path.name);
        }
    }
    criterion.final_summary();
}
