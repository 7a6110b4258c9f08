//! The best fixed number of connections of each scenario: what an adaptive lane is measured against.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, Mutex};

use super::measure::Figures;
use super::params::{Load, MS, Params};
use super::world::{Extent, World};
use crate::lane::LaneSizing;

/// The numbers of connections that are tried.
const WIDTHS: [u16; 17] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256];

/// What the best fixed number of connections (per node) achieves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub(super) width: u16,
    /// Operations per second.
    pub(super) throughput: f64,
    /// Mean and 99th percentile of the latency in microseconds.
    pub(super) mean: f64,
    pub(super) p99: f64,
    /// Processor time of the client per operation in microseconds.
    pub(super) cpu: f64,
}

/// The sizing with a fixed number of connections per node.
pub(super) fn fixed(width: u16, nodes: usize) -> LaneSizing {
    LaneSizing {
        min: width,
        max: width,
        spread: width.saturating_mul(nodes as u16),
        fair_share: 1,
        depth: 1024,
        max_bytes_in_flight: 1 << 30,
        ..super::adaptive()
    }
}

/// How long a run with a fixed number of connections takes.
fn extent(params: &Params) -> Extent {
    let callers = match params.load {
        Load::Closed(callers) => callers,
        Load::Open(_) => 500,
    };
    Extent {
        warm_time: super::warm_time(params, false),
        warm_answers: 500 + 2 * callers,
        answers: super::answers(params),
        end: u64::MAX,
        window: 1000 * MS,
    }
}

/// A run with a fixed number of connections.
pub(super) fn measure(params: &Params, width: u16) -> Figures {
    let run = World::new(params, fixed(width, params.servers.len()), true, extent(params)).run();
    Figures::between(&run, run.warm.unwrap(), *run.checkpoints.last().unwrap())
}

/// Finds the best number of connections: that with the highest throughput, in an open loop with the lowest mean
/// latency. Of those within one percent of it, the smallest that costs the client hardly more processor time than the
/// cheapest.
pub(super) fn find(params: &Params) -> Best {
    let widest = match params.load {
        Load::Closed(callers) => 2 * callers,
        Load::Open(_) => usize::MAX,
    };
    let tried: Vec<(u16, Figures)> = WIDTHS
        .into_iter()
        .filter(|&width| usize::from(width) <= widest)
        .map(|width| (width, measure(params, width)))
        .collect();
    let open = matches!(params.load, Load::Open(_));
    let goodness = |f: &Figures| if open { 1.0 / f.all.mean } else { f.throughput };
    let top = tried.iter().map(|(_, f)| goodness(f)).fold(0.0, f64::max);
    let good = || tried.iter().filter(|(_, f)| goodness(f) >= 0.99 * top);
    let cheapest = good().map(|(_, f)| f.client_cpu).fold(f64::MAX, f64::min);
    let (width, figures) = good().find(|(_, f)| f.client_cpu <= 1.02 * cheapest).unwrap();
    Best {
        width: *width,
        throughput: if open { figures.throughput } else { top },
        mean: if open { 1.0 / top } else { figures.all.mean },
        p99: figures.all.p99,
        cpu: figures.client_cpu,
    }
}

/// The stored results, by the name of the scenario.
static TABLE: LazyLock<Mutex<BTreeMap<String, Best>>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(PATH).unwrap();
    Mutex::new(parse(&text))
});

/// Where they are stored. The file is read by the tests as they run, so that it can be written without a build.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lane/tests/sizing/best.txt");

fn parse(text: &str) -> BTreeMap<String, Best> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [name, width, throughput, mean, p99, cpu] = columns[..] else { panic!("not an entry: {line}") };
            let number = |text: &str| text.parse::<f64>().unwrap();
            let (throughput, mean) = (number(throughput), number(mean));
            let best = Best { width: width.parse().unwrap(), throughput, mean, p99: number(p99), cpu: number(cpu) };
            (name.to_owned(), best)
        })
        .collect()
}

fn table_text<'a>(entries: impl Iterator<Item = (&'a String, &'a Best)>) -> String {
    let mut text = String::from(
        "# The best fixed number of connections of each scenario, written by the test `write_table`.\n\
         # name, connections per node, operations per second, mean and p99 latency (us), client processor time (us)\n",
    );
    for (name, Best { width, throughput, mean, p99, cpu }) in entries {
        writeln!(text, "{name} {width} {throughput:.0} {mean:.2} {p99:.1} {cpu:.3}").unwrap();
    }
    text
}

/// The stored result of a scenario.
pub(super) fn stored(name: &str) -> Option<Best> {
    TABLE.lock().unwrap().get(name).copied()
}

/// Finds all results again, and stores them.
pub(super) fn rewrite(find_all: impl FnOnce()) {
    TABLE.lock().unwrap().clear();
    find_all();
    let text = table_text(TABLE.lock().unwrap().iter());
    std::fs::write(PATH, text).unwrap();
}

/// The stored result of a scenario; finds and keeps one that is missing.
pub(super) fn best(name: &str, params: &Params) -> Best {
    stored(name).unwrap_or_else(|| {
        let best = find(params);
        TABLE.lock().unwrap().insert(name.to_owned(), best);
        best
    })
}
