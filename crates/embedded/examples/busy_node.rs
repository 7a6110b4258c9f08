//! What scripts of a second on all threads of a node do to the others: how long other nodes take to answer a write, and this
//! one an info request.
//!
//! `cargo run --release --example busy_node -p aerolane-embedded -- [rounds] [milliseconds]`, by default 10 rounds with intervals of
//! 500 ms. A round takes some 6 s.
//!
//! So that other programs on the machine do not decide the outcome, four loads take turns in short intervals, in every second round in
//! the opposite order:
//!
//! | load | compared with |
//! |---|---|
//! | none | |
//! | scripts on all threads of the node that wait for a second (service times) | none |
//! | threads outside the cluster that compute, as many as the node has for scripts | |
//! | scripts on all threads of the node that compute for a second | those threads |
//!
//! Threads that compute take processor time from everyone, wherever they run; the fourth load shows what it adds that they run on a
//! node. For each comparison the example prints the median over all rounds of the 99th percentiles, their quartiles, and the median
//! difference between the two loads of a round. A difference that is smaller than the distance between the quartiles of the load
//! compared with is within the spread.

use aerolane_embedded::conditions::Conditions;
use aerolane_embedded::{EmbeddedCluster, NodeInfo};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info2, op};
use aerolane_wire::particle::Particle;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Threads that a node has for scripts.
const THREADS: u8 = 4;
/// Scripts at a time: as many run as a node has threads, and the others wait.
const SCRIPTS: u8 = 2 * THREADS;
/// How long a load runs before it is measured.
const WARM_UP: Duration = Duration::from_millis(200);
/// An info request has to be answered within this time.
const INFO_LIMIT: Duration = Duration::from_millis(50);

/// Ended by the node after a second.
const MODULE: &str = "function forever(rec) while true do end end\nfunction short(rec) return 1 end\n";

/// A connection that asks one thing at a time.
struct Asked(TcpStream);

impl Asked {
    fn connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    fn ask(&mut self, request: &[u8]) -> std::io::Result<()> {
        self.0.write_all(request)?;
        let mut head = [0; 8];
        self.0.read_exact(&mut head)?;
        let size = u64::from_be_bytes(head) & 0xffff_ffff_ffff;
        self.0.read_exact(&mut vec![0; size as usize])
    }
}

fn info(command: &str) -> Vec<u8> {
    let size = command.len() as u64 + 1;
    [&(0x0201_u64 << 48 | size).to_be_bytes()[..], command.as_bytes(), b"\n"].concat()
}

fn message(pid: u16, n: u8, fill: impl FnOnce(&mut MessageWriter<'_>)) -> Vec<u8> {
    let mut digest = [n; 20];
    digest[..2].copy_from_slice(&pid.to_le_bytes());
    let mut out = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest);
    fill(&mut message);
    message.finish().expect("a small message");
    out
}

fn call(pid: u16, n: u8, function: &str) -> Vec<u8> {
    message(pid, n, |message| {
        message.field(field::UDF_PACKAGE, b"m");
        message.field(field::UDF_FUNCTION, function.as_bytes());
        message.field(field::UDF_ARGUMENTS, &[0x90]);
    })
}

/// Asks for an interval, one request after the other; says how long each took, ascending.
fn times(address: SocketAddr, request: &[u8], interval: Duration) -> std::io::Result<Vec<Duration>> {
    let mut asked = Asked::connect(address)?;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < interval {
        let sent = Instant::now();
        asked.ask(request)?;
        times.push(sent.elapsed());
        // Not as fast as it goes: that would take a core.
        std::thread::sleep(Duration::from_micros(200));
    }
    times.sort_unstable();
    Ok(times)
}

/// The value below which this share of ascending values lies.
fn at<T: Copy>(sorted: &[T], share: f64) -> T {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// What keeps the node, or the machine, busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    None,
    WaitingScripts,
    Threads,
    ComputingScripts,
}

impl Load {
    const ALL: [Self; 4] = [Self::None, Self::WaitingScripts, Self::Threads, Self::ComputingScripts];
}

/// What one interval has shown.
#[derive(Clone, Copy)]
struct Interval {
    /// Writes on the other node, 99th percentile, in microseconds.
    writes_p99: f64,
    /// Infos on this node.
    infos_p99: f64,
    /// The slowest of them.
    infos_most: Duration,
}

/// A cluster of two nodes, of which the first one is kept busy.
struct Scene {
    cluster: EmbeddedCluster,
    busy: NodeInfo,
    other: NodeInfo,
    interval: Duration,
}

impl Scene {
    fn new(interval: Duration) -> Result<Self, Box<dyn std::error::Error>> {
        let cluster = EmbeddedCluster::builder().nodes(2).service_threads(1).start()?;
        let nodes = cluster.nodes();
        let content = BASE64.encode(MODULE);
        let put = format!("udf-put:filename=m.lua;content={content};content-len={};udf-type=LUA;", content.len());
        Asked::connect(nodes[0].address)?.ask(&info(&put))?;
        Ok(Self { busy: nodes[0], other: nodes[1], cluster, interval })
    }

    /// A partition that a node is the master of.
    fn partition(&self, node: NodeInfo) -> u16 {
        (0..4096).find(|pid| self.cluster.master(*pid) == Some(node.id)).unwrap_or_default()
    }

    /// Asks both nodes for an interval.
    fn interval(&self) -> std::io::Result<Interval> {
        let write = message(self.partition(self.other), 1, |message| {
            message.op(op::WRITE, b"i", Particle::Integer(1)).expect("a short name");
        });
        std::thread::scope(|scope| {
            let infos = scope.spawn(|| times(self.busy.address, &info("status"), self.interval));
            let writes = times(self.other.address, &write, self.interval)?;
            let infos = infos.join().expect("no panic")?;
            let p99 = |times: &[Duration]| at(times, 0.99).as_secs_f64() * 1e6;
            Ok(Interval { writes_p99: p99(&writes), infos_p99: p99(&infos), infos_most: at(&infos, 1.0) })
        })
    }

    /// An interval under a load, and how many scripts have ended by the time that the load is gone.
    fn under(&self, load: Load) -> Result<(Interval, u64), Box<dyn std::error::Error>> {
        let conditions = if load == Load::WaitingScripts { "service-time=udf=1s".parse()? } else { Conditions::new() };
        self.cluster.set_conditions(Some(self.busy.id), &conditions)?;
        let (stop, calls, pid) = (AtomicBool::new(false), AtomicU64::new(0), self.partition(self.busy));
        let call_until_stopped = |n: u8, function: &str| -> std::io::Result<()> {
            let mut asked = Asked::connect(self.busy.address)?;
            while !stop.load(Ordering::Relaxed) {
                asked.ask(&call(pid, n, function))?;
                calls.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let spin_until_stopped = || {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let interval = std::thread::scope(|scope| {
            let call_until_stopped = &call_until_stopped;
            for n in 0..SCRIPTS {
                match load {
                    Load::WaitingScripts => drop(scope.spawn(move || call_until_stopped(n, "short"))),
                    Load::ComputingScripts => drop(scope.spawn(move || call_until_stopped(n, "forever"))),
                    Load::Threads if n < THREADS => drop(scope.spawn(spin_until_stopped)),
                    Load::Threads | Load::None => {}
                }
            }
            std::thread::sleep(WARM_UP);
            let interval = self.interval();
            stop.store(true, Ordering::Relaxed);
            interval
        })?;
        Ok((interval, calls.load(Ordering::Relaxed)))
    }
}

/// Prints whether one load differs from another one in a figure of its intervals.
fn compare(what: &str, baseline: &[f64], loaded: &[f64]) {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let differences: Vec<f64> = loaded.iter().zip(baseline).map(|(loaded, baseline)| loaded - baseline).collect();
    let (baseline, loaded, differences) = (sorted(baseline), sorted(loaded), sorted(&differences));
    let shown = |v: &[f64]| format!("{:.0} µs ({:.0} to {:.0})", at(v, 0.5), at(v, 0.25), at(v, 0.75));
    let spread = at(&baseline, 0.75) - at(&baseline, 0.25);
    let verdict = if at(&differences, 0.5) > spread { "BEYOND the spread" } else { "within the spread" };
    println!(
        "  {what}: {} without, {} with; difference {}, {verdict} of {spread:.0} µs",
        shown(&baseline),
        shown(&loaded),
        shown(&differences),
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().as_deref().unwrap_or("10").parse()?;
    let interval: u64 = arguments.next().as_deref().unwrap_or("500").parse()?;
    let scene = Scene::new(Duration::from_millis(interval))?;
    let cores = std::thread::available_parallelism()?;
    println!(
        "{} rounds of intervals of {interval} ms, {cores} cores; 99th percentiles: median (quartiles)",
        rounds.max(1)
    );
    let mut found: [Vec<Interval>; 4] = Default::default();
    let mut ended = [0; 4];
    for round in 0..rounds.max(1) {
        let mut order = Load::ALL;
        if round % 2 == 1 {
            order.reverse();
        }
        for load in order {
            let (interval, calls) = scene.under(load)?;
            found[load as usize].push(interval);
            ended[load as usize] += calls;
        }
    }
    for (title, baseline, loaded) in [
        ("scripts that wait, beside no load", Load::None, Load::WaitingScripts),
        (
            "scripts that compute, beside threads outside the cluster that compute",
            Load::Threads,
            Load::ComputingScripts,
        ),
    ] {
        println!("{title} ({} scripts ended):", ended[loaded as usize]);
        let (baseline, loaded) = (&found[baseline as usize], &found[loaded as usize]);
        let figures = |intervals: &[Interval], figure: fn(&Interval) -> f64| -> Vec<f64> {
            intervals.iter().map(figure).collect()
        };
        for (what, figure) in [
            ("writes on the other node", (|i| i.writes_p99) as fn(&Interval) -> f64),
            ("infos on this node", |i| i.infos_p99),
        ] {
            compare(what, &figures(baseline, figure), &figures(loaded, figure));
        }
        let most = loaded.iter().map(|i| i.infos_most).max().unwrap_or_default();
        let all = if most <= INFO_LIMIT { "all" } else { "NOT all" };
        println!("  slowest info on this node: {most:.1?}; {all} within {INFO_LIMIT:?}");
    }
    Ok(())
}
