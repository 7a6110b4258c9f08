//! What metrics cost a blocking `get` of one integer bin.
//!
//! ```text
//! cargo build --profile fast -p aerolane-embedded -p aerolane-bench --examples
//! target/fast/aerolane-embedded --nodes 1 &                      # prints its seeds
//! target/fast/examples/metrics_cost 127.0.0.1:PORT               # CPU time, in pairs
//! valgrind --tool=callgrind target/fast/examples/metrics_cost 127.0.0.1:PORT on 1200   # instructions; also: off
//! ```
//!
//! In pairs: one process and one connection, metrics off and on in turn, so that what changes on the machine meets both. The
//! CPU time is that of the calling thread, the kernel's share included.

use std::time::{Duration, Instant};

use aerolane::metrics::MetricsPolicy;
use aerolane::{Bins, ClientPolicy, Key, ReadPolicy, SyncClient, Value, WritePolicy, as_bin};

/// Pairs of slices.
const PAIRS: usize = 1001;
/// How long one half of a pair takes: short, so that what changes on the machine rarely comes between two halves.
const SLICE: Duration = Duration::from_millis(20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(seeds) = arguments.first() else { return Err("usage: metrics_cost SEEDS [on|off CALLS]".into()) };
    let client = SyncClient::new(&ClientPolicy::default(), seeds)?;
    let key = Key::new("test", "metrics_cost", Value::from(1))?;
    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 42)])?;
    let policy = ReadPolicy::default();
    let get = || client.get(&policy, &key, Bins::All).map(drop);
    let switch = |on: bool| {
        if on {
            client.enable_metrics(MetricsPolicy::micros().with_operational(true));
        } else {
            client.disable_metrics();
        }
    };
    if let [_, word, calls] = &*arguments {
        switch(word == "on");
        for _ in 0..calls.parse()? {
            get()?;
        }
        return Ok(());
    }
    let mut slices = [Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS)];
    let mut ratios = Vec::with_capacity(PAIRS);
    for pair in 0..=PAIRS {
        let mut per_call = [0.0; 2];
        // Each comes first in every other pair.
        for half in 0..2 {
            let on = (pair + half) % 2;
            switch(on == 1);
            per_call[on] = slice(&get)?;
        }
        // The first pair warms up.
        if pair > 0 {
            ratios.push(per_call[1] / per_call[0]);
            slices[0].push(per_call[0]);
            slices[1].push(per_call[1]);
        }
    }
    let [off, on] = slices.map(|mut all| quantiles(&mut all)[1]);
    let [low, middle, high] = quantiles(&mut ratios);
    println!("CPU of one call, medians of {PAIRS}: off {off:.0} ns, on {on:.0} ns");
    println!("on to off, median of pairs: {middle:.4} (95 %: {low:.4} to {high:.4})");
    Ok(())
}

/// CPU nanoseconds of a call.
fn slice(get: &impl Fn() -> aerolane::Result<()>) -> aerolane::Result<f64> {
    const AT_ONCE: u32 = 64;
    let (begun, cpu) = (Instant::now(), cpu_nanos());
    let mut calls = 0;
    while begun.elapsed() < SLICE {
        for _ in 0..AT_ONCE {
            get()?;
        }
        calls += AT_ONCE;
    }
    Ok((cpu_nanos() - cpu) as f64 / f64::from(calls))
}

/// The lower end of the median's confidence interval (95 %), the median, and the upper end.
fn quantiles(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let half = values.len() as f64 / 2.0;
    let reach = 0.98 * (values.len() as f64).sqrt();
    [half - reach, half, half + reach].map(|at| values[(at as usize).min(values.len() - 1)])
}

/// CPU time of this thread so far.
fn cpu_nanos() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable of the right type.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "this clock exists on Linux and macOS");
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
