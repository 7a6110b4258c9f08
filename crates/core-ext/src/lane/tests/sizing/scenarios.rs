//! The scenarios: a set to tune with, and one held out that has other values and seeds.

use super::params::{Change, MS, Params, Service, US};

/// A run, or several parts of one that are divided by changes.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) params: Params,
    /// Open loop: the rate, in percent of what the best fixed number of connections achieves in the closed loop of
    /// `params`.
    pub(super) percent: Option<u32>,
}

/// The values of a grid of scenarios. Times in microseconds.
struct Grid {
    services: &'static [u64],
    callers: &'static [usize],
    threads: &'static [usize],
    cores: &'static [usize],
    rtts: &'static [u64],
    seed: u64,
}

const TUNING: Grid = Grid {
    services: &[0, 20, 50, 100, 200, 1000],
    callers: &[1, 8, 32, 128, 512, 5000],
    threads: &[4, 64, 256],
    cores: &[1, 2, 8],
    rtts: &[0, 300],
    seed: 1,
};

const HELD_OUT: Grid = Grid {
    services: &[10, 35, 70, 150, 400, 2000],
    callers: &[4, 16, 64, 200, 1500],
    threads: &[16, 128],
    cores: &[4],
    rtts: &[100, 1000],
    seed: 77,
};

/// The name and the parameters of a closed loop on one node.
fn closed(service: u64, fixed: bool, callers: usize, (threads, cores, rtt): (usize, usize, u64)) -> Scenario {
    let time = if fixed { Service::Fixed(service * US) } else { Service::Exponential(service * US) };
    let mut params = Params::closed(time, callers);
    let server = &mut params.servers[0];
    (server.threads, server.cores, params.rtt) = (threads, cores, rtt * US);
    let kind = if fixed && service > 0 { "(fixed)" } else { "" };
    let name = format!("S={service}us{kind},T={callers},threads={threads},cores={cores},rtt={rtt}");
    Scenario { name, params, percent: None }
}

impl Scenario {
    fn named(mut self, suffix: &str) -> Self {
        self.name.push_str(suffix);
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Params)) -> Self {
        change(&mut self.params);
        self
    }

    pub(super) fn seed(self, seed: u64) -> Self {
        self.with(|params| params.seed = seed)
    }

    /// With 20 pauses per second of the client's thread.
    fn client_pauses(self) -> Self {
        self.with(|params| params.client.pauses = 20).named(",pauses=client")
    }

    /// With 20 pauses per second of the client's thread and of a service thread.
    fn all_pauses(self) -> Self {
        let pauses = |params: &mut Params| {
            params.client.pauses = 20;
            params.servers.iter_mut().for_each(|server| server.pauses = 20);
        };
        self.with(pauses).named(",pauses=all")
    }

    fn open(mut self, percent: u32) -> Self {
        self.percent = Some(percent);
        self.named(&format!(",load={percent}%"))
    }
}

/// Every `step`-th scenario of a grid. A step without a common factor with the numbers of values takes them in all
/// combinations.
fn grid(values: &Grid, first: usize, step: usize) -> Vec<Scenario> {
    let mut all = Vec::new();
    for &service in values.services {
        for &callers in values.callers {
            for &threads in values.threads {
                for &cores in values.cores {
                    for &rtt in values.rtts {
                        // Without a connection to the other values.
                        let fixed = (all.len() as u32).wrapping_mul(0x9e37_79b1) >> 24 < 100;
                        all.push(closed(service, fixed, callers, (threads, cores, rtt)).seed(values.seed));
                    }
                }
            }
        }
    }
    all.into_iter().skip(first).step_by(step).collect()
}

/// Open loops at several shares of the best throughput of a closed loop.
fn open(
    services: &[u64],
    hardware: &[(usize, usize, u64)],
    callers: usize,
    percents: &[u32],
    seed: u64,
) -> Vec<Scenario> {
    let mut all = Vec::new();
    for &service in services {
        for &hardware in hardware {
            let base = closed(service, false, callers, hardware).seed(seed);
            all.extend(percents.iter().map(|&percent| base.clone().open(percent)));
        }
    }
    all
}

/// Several nodes, of which the last is slow. Service times in microseconds.
pub(super) fn nodes(count: usize, usual: u64, slow: u64, callers: usize, rtt: u64) -> Scenario {
    let mut scenario = closed(usual, false, callers, (64, 8, rtt));
    scenario.name = format!("nodes={count},S={usual}us,one-slow={slow}us,T={callers},rtt={rtt}");
    scenario.with(|params| {
        params.servers = vec![params.servers[0].clone(); count];
        let last = params.servers.last_mut().unwrap();
        (last.read, last.write) = (Service::Exponential(slow * US), Service::Exponential(slow * US));
    })
}

/// Reads from memory and writes that wait for a copy. Service times in microseconds.
pub(super) fn mixed(read: u64, write: u64, write_percent: u64, callers: usize, rtt: u64) -> Scenario {
    let mut scenario = closed(0, false, callers, (256, 8, rtt));
    scenario.name = format!("reads={read}us,writes={write_percent}%:{write}us,T={callers},rtt={rtt}");
    scenario.with(|params| {
        params.write_percent = write_percent;
        params.servers[0].read = Service::Fixed(read * US);
        params.servers[0].write = Service::Exponential(write * US);
    })
}

/// A few requests are much slower than the others. Service times in microseconds.
fn few_slow(usual: u64, per_mille: u64, slow: u64, callers: usize, rtt: u64) -> Scenario {
    let mut scenario = closed(usual, false, callers, (256, 8, rtt));
    scenario.name = format!("S={usual}us,slow={per_mille}/1000:{slow}us,T={callers},rtt={rtt}");
    let service = Service::Mixture { usual: usual * US, slow: slow * US, per_mille };
    scenario.with(|params| (params.servers[0].read, params.servers[0].write) = (service, service))
}

/// The same on several nodes: callers that are stuck at one of them call no other.
pub(super) fn few_slow_of_nodes(
    count: usize,
    usual: u64,
    per_mille: u64,
    slow: u64,
    callers: usize,
    rtt: u64,
) -> Scenario {
    let mut scenario = few_slow(usual, per_mille, slow, callers, rtt);
    scenario.name = format!("nodes={count},{}", scenario.name);
    scenario.with(|params| params.servers = vec![params.servers[0].clone(); count])
}

/// The client's thread runs on the cores of the server.
fn shared(service: u64, callers: usize, cores: usize) -> Scenario {
    closed(service, false, callers, (256, cores, 0)).with(|params| params.shared_cores = true).named(",shared-cores")
}

/// From `base` through the changes, one each 200 ms.
fn changing(name: &str, base: Scenario, changes: &[Change]) -> Scenario {
    let name = format!("change:{name}:{}", base.name);
    let at = (1..).map(|n| n * 200 * MS);
    let changes = at.zip(changes.iter().cloned()).collect();
    Scenario { name, ..base }.with(|params| params.changes = changes)
}

fn exponential(node: usize, service: u64) -> Change {
    Change::Service(node, Service::Exponential(service * US), Service::Exponential(service * US))
}

/// Each change and back again. Service times in microseconds.
fn changes(callers: usize, seed: u64, (memory, ssd, far): (u64, u64, u64)) -> Vec<Scenario> {
    let base = |service, callers| closed(service, false, callers, (256, 8, 0)).seed(seed);
    let few = Service::Mixture { usual: ssd * US, slow: 20 * MS, per_mille: 10 };
    vec![
        changing("memory-ssd-memory", base(memory, callers), &[exponential(0, ssd), exponential(0, memory)]),
        changing("memory-copy-memory", base(memory, callers), &[exponential(0, far), exponential(0, memory)]),
        changing("callers", base(ssd, 32), &[Change::Callers(512), Change::Callers(32)]),
        changing("callers", base(memory, 32), &[Change::Callers(512), Change::Callers(32)]),
        changing("burst", base(ssd, 32), &[Change::Callers(5000), Change::Callers(32)]),
        changing("burst", base(memory, 32), &[Change::Callers(5000), Change::Callers(32)]),
        changing(
            "one-node-slow",
            nodes(3, memory, memory, 4 * callers, 0).seed(seed),
            &[exponential(2, 5 * ssd), exponential(2, memory)],
        ),
        changing("few-slow", base(ssd, callers), &[Change::Service(0, few, few), exponential(0, ssd)]),
        changing("pause", base(ssd, callers), &[Change::Pause(100 * MS)]),
        changing("pause", base(memory, callers), &[Change::Pause(100 * MS)]),
    ]
}

/// Other clients come, with many connections each, and take most of a server that is fast: a connection brings an answer when
/// it is its turn. Not in the sets: what is to be found here is where a search may take how long, and no number.
pub(super) fn crowd(callers: usize, turn: u64, seed: u64) -> Scenario {
    let base = closed(0, false, callers, (1024, 8, 0)).seed(seed);
    let turn = Service::Fixed(turn * US);
    // The others divide one time into parts of 200 ms.
    let stays = Change::Callers(callers);
    changing("crowd", base, &[Change::Service(0, turn, turn), stays.clone(), stays.clone(), stays.clone(), stays])
}

/// The scenarios to tune with.
pub(super) fn tuning() -> Vec<Scenario> {
    let mut all = grid(&TUNING, 0, 5);
    all.extend(grid(&TUNING, 2, 17).into_iter().map(Scenario::client_pauses));
    all.extend(grid(&TUNING, 7, 23).into_iter().map(Scenario::all_pauses));
    let hardware = [(256, 1, 0), (256, 8, 0), (256, 8, 300)];
    all.extend(open(&[0, 100, 1000], &hardware, 512, &[10, 30, 60, 80], 2));
    all.extend(open(&[100], &hardware[1..], 512, &[30, 80], 2).into_iter().map(Scenario::client_pauses));
    for callers in [32, 128, 512] {
        all.push(nodes(3, 0, 500, callers, 0));
        all.push(nodes(3, 100, 1000, callers, 300));
        for rtt in [0, 300] {
            all.push(mixed(5, 300, 50, callers, rtt));
            all.push(mixed(5, 300, 10, callers, rtt));
        }
        all.push(few_slow(80, 10, 20_000, callers, 0));
        all.push(few_slow(80, 10, 20_000, callers, 300).client_pauses());
        all.push(few_slow_of_nodes(3, 50, 10, 20_000, callers, 0));
        all.extend([0, 50, 100].map(|service| shared(service, callers, 2)));
    }
    all.extend([0, 50, 100].map(|service| shared(service, 8, 2)));
    all.extend([30, 60].map(|percent| mixed(5, 300, 10, 512, 0).open(percent)));
    all.extend([0, 100].map(|service| jittery(closed(service, false, 128, (256, 8, 300)))));
    all.extend(changes(128, 3, (0, 100, 1000)));
    all
}

/// With network latency that varies.
fn jittery(scenario: Scenario) -> Scenario {
    scenario.with(|params| params.jitter = 50 * US).named(",jitter=50us")
}

/// The scenarios that the constants were not tuned with: other values, other seeds, and servers with other costs.
pub(super) fn held_out() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = [0, 1, 2, 4].into_iter().flat_map(|first| grid(&HELD_OUT, first, 7)).collect();
    all.extend([3, 5].into_iter().flat_map(|first| grid(&HELD_OUT, first, 7)).map(Scenario::client_pauses));
    all.extend(open(&[10, 70, 400], &[(128, 4, 100)], 200, &[20, 50, 75], 78));
    for callers in [16, 64, 200] {
        all.push(nodes(5, 30, 800, callers, 100).seed(79));
        all.push(mixed(10, 500, 30, callers, 100).seed(79));
        all.push(mixed(10, 200, 5, callers, 0).seed(79).client_pauses());
        all.push(few_slow(150, 5, 30_000, callers, 100).seed(79));
        all.extend([10, 70].map(|service| shared(service, callers, 4).seed(79)));
    }
    all.push(jittery(closed(70, false, 64, (128, 4, 1000)).seed(79)));
    all.extend(changes(64, 80, (10, 150, 700)));
    for scenario in &mut all {
        scenario.name.insert_str(0, "held-out:");
        for server in &mut scenario.params.servers {
            (server.cpu_before, server.cpu_after, server.cpu_wake) = (4_500, 2_500, 1_500);
        }
    }
    all
}
