//! The parameters of a simulated run: servers, network, client, load, and what changes during the run.
//! All times are in nanoseconds.

/// One microsecond.
pub(super) const US: u64 = 1_000;
/// One millisecond.
pub(super) const MS: u64 = 1_000_000;

/// How long a request occupies its connection beside the processor time that it needs: a read from an SSD, a write
/// that waits for its copy on another host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Service {
    /// Always the same time.
    Fixed(u64),
    /// Exponentially distributed with this mean.
    Exponential(u64),
    /// Exponential with mean `usual`; a share of `per_mille` takes exactly `slow` instead.
    Mixture { usual: u64, slow: u64, per_mille: u64 },
}

impl Service {
    /// The service time for 64 random bits. A request keeps its bits, so runs with different numbers of connections
    /// see nearly the same sequence of service times.
    pub(super) fn time(self, bits: u64) -> u64 {
        let unit = ((bits >> 32) as f64 + 0.5) / 4_294_967_296.0;
        match self {
            Self::Fixed(time) => time,
            Self::Exponential(mean) => exponential(mean, unit),
            Self::Mixture { slow, per_mille, .. } if bits % 1000 < per_mille => slow,
            Self::Mixture { usual, .. } => exponential(usual, unit),
        }
    }
}

/// The value of an exponential distribution for a number between 0 and 1.
pub(super) fn exponential(mean: u64, unit: f64) -> u64 {
    if mean == 0 { 0 } else { (-(mean as f64) * unit.ln()) as u64 }
}

/// One server node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerParams {
    /// Service threads: the most connections that are worked on at the same time. Others wait in FIFO order.
    pub(super) threads: usize,
    /// Processor cores.
    pub(super) cores: usize,
    /// The most requests that are in service (waiting for a disk or a copy) at the same time.
    pub(super) slots: usize,
    /// Processor time of a request before its service time.
    pub(super) cpu_before: u64,
    /// Processor time after the service time.
    pub(super) cpu_after: u64,
    /// Additional processor time when the connection was idle.
    pub(super) cpu_wake: u64,
    /// Service time of reads.
    pub(super) read: Service,
    /// Service time of writes.
    pub(super) write: Service,
    /// Pauses per second of a service thread, 1 to 5 ms each.
    pub(super) pauses: u64,
}

/// What the client's only thread spends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClientParams {
    /// Reading from a connection once.
    pub(super) read: u64,
    /// Handling one answer.
    pub(super) answer: u64,
    /// Writing to a connection once.
    pub(super) write: u64,
    /// Submitting one request.
    pub(super) request: u64,
    /// Opening a connection.
    pub(super) open: u64,
    /// How long opening takes beside that and a round trip: uniformly distributed between these.
    pub(super) open_latency: (u64, u64),
    /// Pauses per second of the thread, 1 to 5 ms each.
    pub(super) pauses: u64,
}

/// Where requests come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Load {
    /// So many callers, each of which submits its next request when it has its answer.
    Closed(usize),
    /// So many requests per second, with exponential gaps.
    Open(f64),
}

/// What changes during a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Service times (reads, writes) of a node.
    Service(usize, Service, Service),
    /// The number of callers of a closed loop.
    Callers(usize),
    /// The client's thread stands still for this long.
    Pause(u64),
}

/// Everything that a run is made from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Params {
    pub(super) servers: Vec<ServerParams>,
    pub(super) client: ClientParams,
    pub(super) load: Load,
    /// Writes among 100 requests.
    pub(super) write_percent: u64,
    /// Network latency, there and back.
    pub(super) rtt: u64,
    /// Mean of the additional, exponentially distributed latency each way.
    pub(super) jitter: u64,
    /// Whether the client's thread runs on the cores of the first server.
    pub(super) shared_cores: bool,
    /// When what changes, in order.
    pub(super) changes: Vec<(u64, Change)>,
    pub(super) seed: u64,
}

impl Params {
    /// One node with memory-speed defaults and a closed loop.
    pub(super) fn closed(service: Service, callers: usize) -> Self {
        Self {
            servers: vec![ServerParams {
                threads: 256,
                cores: 8,
                slots: 256,
                cpu_before: 3 * US,
                cpu_after: 0,
                cpu_wake: 2 * US,
                read: service,
                write: service,
                pauses: 0,
            }],
            client: ClientParams {
                read: 5 * US,
                answer: US,
                write: 4 * US,
                request: 700,
                open: 15 * US,
                open_latency: (200 * US, 400 * US),
                pauses: 0,
            },
            load: Load::Closed(callers),
            write_percent: 0,
            rtt: 0,
            jitter: 0,
            shared_cores: false,
            changes: Vec::new(),
            seed: 1,
        }
    }
}

impl Params {
    /// Callers of a closed loop; 0 in an open loop.
    pub(super) fn callers(&self) -> usize {
        match self.load {
            Load::Closed(callers) => callers,
            Load::Open(_) => 0,
        }
    }

    /// The time of the few slow requests of a mixture in microseconds, 0 without one.
    pub(super) fn slowest_service(&self) -> f64 {
        let services = self.servers.iter().flat_map(|server| [server.read, server.write]);
        let slow = services.map(|service| if let Service::Mixture { slow, .. } = service { slow } else { 0 });
        slow.max().unwrap_or(0) as f64 / 1e3
    }
}
