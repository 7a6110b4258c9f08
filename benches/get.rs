//! `get` of one integer bin from end to end, with every client type and through aerospike-core, on the embedded
//! cluster in this process or on the one that `AEROSPIKE_HOST` names.

mod common;

use common::cluster::{Async, CoreAsync, CoreSync, Door, Local, Sync, Target};
use criterion::Criterion;

fn time<D: Door>(criterion: &mut Criterion, target: &Target) {
    let client = D::connect(target, None);
    for callers in [1, 32] {
        let callers_name = if callers == 1 { "1 caller" } else { "32 callers" };
        criterion.bench_function(&format!("get/{}, {callers_name}", D::NAME), |bencher| {
            bencher.iter_custom(|n| client.gets(target, callers, n));
        });
    }
}

fn main() {
    let mut criterion = common::criterion();
    let target = Target::start();
    time::<CoreAsync>(&mut criterion, &target);
    time::<Async>(&mut criterion, &target);
    time::<Local>(&mut criterion, &target);
    time::<CoreSync>(&mut criterion, &target);
    time::<Sync>(&mut criterion, &target);
    criterion.final_summary();
}
