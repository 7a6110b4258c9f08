//! Pool checkout under contention: 64 callers share 4 connections per node, so most calls wait for their turn.
//! Beside it, the same callers with the client's default pool; the difference is what the contention costs.

mod common;

use common::cluster::{Async, CoreAsync, CoreSync, Door, Sync, Target};
use criterion::Criterion;

const CALLERS: u64 = 64;
const CONNECTIONS: usize = 4;

fn time<D: Door>(criterion: &mut Criterion, target: &Target) {
    for (connections, name) in [(Some(CONNECTIONS), "4 connections"), (None, "default pool")] {
        let client = D::connect(target, connections);
        criterion.bench_function(&format!("pool/{}, 64 callers, {name}", D::NAME), |bencher| {
            bencher.iter_custom(|n| client.gets(target, CALLERS, n));
        });
    }
}

fn main() {
    let mut criterion = common::criterion();
    let target = Target::start();
    time::<CoreAsync>(&mut criterion, &target);
    time::<Async>(&mut criterion, &target);
    time::<CoreSync>(&mut criterion, &target);
    time::<Sync>(&mut criterion, &target);
    common::time(&mut criterion, "lane/submit and complete, 512 callers on 64 places");
    criterion.final_summary();
}
