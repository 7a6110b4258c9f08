//! What the microbenchmarks share.

#![allow(dead_code, reason = "each benchmark uses a part of this")]

use std::time::{Duration, Instant};

use aerolane_bench::hot;
use criterion::Criterion;

/// Settings for all benchmarks: short enough to be run often. `--` options of criterion still apply.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// Times every hot path of a group.
pub(crate) fn time_hot_paths(group: &str) {
    let mut criterion = criterion();
    for path in hot::all() {
        if path.group() == group {
            let mut run = (path.prepare)();
            criterion.bench_function(path.name, |bencher| {
                bencher.iter_custom(|n| {
                    let started = Instant::now();
                    run(n);
                    started.elapsed()
                });
            });
        }
    }
    criterion.final_summary();
}
