//! What a client's connections do and have done.

use std::fmt;
use std::time::Duration;

use super::asynchronous::Shared;
use crate::lane::NodeCounters;
use crate::metrics::LoopBusy;
use crate::topology::NodeId;

/// A snapshot of a client's connections, of all its clones and all clients made from it: `client.stats()`.
///
/// Shows what goes over our own connections; for calls that aerospike-core carries out, latencies and result codes, see
/// `client.metrics()`. Taking a
/// snapshot costs a lock per lane and thread, so once a second is fine, once per operation is not.
///
/// The `Display` form is a table, one line per node and one for the sum. Its columns "service" and "trip" are
/// [`service_time`](ConnectionStats::service_time) and [`round_trip`](ConnectionStats::round_trip).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStats {
    /// Every node seen since the client was made that has counts, by the order in which they were seen.
    pub nodes: Vec<NodeStats>,
    /// All nodes together.
    pub total: ConnectionStats,
    /// How often the program did not let its event loop run while requests were under way.
    pub loop_busy: LoopBusy,
    /// The version of the topology: grows when nodes or partitions move.
    pub topology_version: u64,
}

/// The connections to one node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStats {
    /// The server's name of the node.
    pub name: String,
    /// Where it listens, as `host:port`.
    pub host: String,
    /// Whether it is part of the cluster now.
    pub active: bool,
    /// Errors counted by its circuit breaker in the present window.
    pub errors: u32,
    /// Whether its circuit breaker is open: requests fail at once with `MaxErrorRate`.
    pub breaker_open: bool,
    /// The counts.
    pub connections: ConnectionStats,
}

/// Counts of connections and requests. The first ten (`open` to `round_trip`) are gauges, the others only grow.
///
/// `in_use`, `service_time` and `round_trip` show how the client adapts to the speed of the servers. They cover async code
/// and event loops; blocking calls are not measured. A lane updates them when answers arrive, so they keep their last values
/// while nothing is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConnectionStats {
    /// Open connections.
    pub open: u64,
    /// Open connections with nothing in flight.
    pub idle: u64,
    /// Open connections with requests in flight.
    pub busy: u64,
    /// Connections being opened.
    pub opening: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Requests that wait for a place.
    pub queued: u64,
    /// Requests in flight whose caller has given up.
    pub orphans: u64,
    /// Connections over which requests are spread. At most `open`: the others are spare, and are closed after
    /// `ClientPolicy::idle_timeout` without use (55 s where that is 0). 0 before the first answer.
    pub in_use: u64,
    /// How long the server works on one single-record request, during which the connection answers no other: the mean time
    /// between two answers of a connection on which several requests are in flight. `None` until that was measured.
    ///
    /// A sum is a mean, weighted by `in_use`.
    pub service_time: Option<Duration>,
    /// How long a single-record request takes when no other is in front of it on its connection, from its submission to its
    /// answer: network, service time, and waking the client up. `None` until that was measured.
    ///
    /// A sum is a mean, weighted by `in_use`.
    pub round_trip: Option<Duration>,
    /// Requests taken. A retry counts again.
    pub requests: u64,
    /// Answers handed out.
    pub answers: u64,
    /// Requests sent after the first one of their call.
    pub retries: u64,
    /// Requests whose deadline passed.
    pub timeouts: u64,
    /// Requests refused because everything was full.
    pub refused: u64,
    /// Answers that came after their caller had given up; they were dropped.
    pub late_answers: u64,
    /// Connections opened.
    pub opened: u64,
    /// Connections closed, for any reason.
    pub closed: u64,
    /// Attempts to open a connection that failed.
    pub open_failures: u64,
    /// Bytes of requests written.
    pub bytes_sent: u64,
    /// Bytes of answers read.
    pub bytes_received: u64,
}

impl ConnectionStats {
    pub(super) fn new(counters: &NodeCounters, retries: u64) -> Self {
        Self {
            open: counters.open,
            idle: counters.idle,
            busy: counters.open.saturating_sub(counters.idle),
            opening: counters.opening,
            in_flight: counters.in_flight,
            queued: counters.queued,
            orphans: counters.orphans,
            in_use: counters.in_use,
            service_time: known(counters.service),
            round_trip: known(counters.round_trip),
            requests: counters.requests,
            answers: counters.answers,
            retries,
            timeouts: counters.timeouts,
            refused: counters.refused,
            late_answers: counters.late_answers,
            opened: counters.opened,
            closed: counters.closed,
            open_failures: counters.open_failures,
            bytes_sent: counters.bytes_sent,
            bytes_received: counters.bytes_received,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.service_time = mean((self.service_time, self.in_use), (other.service_time, other.in_use));
        self.round_trip = mean((self.round_trip, self.in_use), (other.round_trip, other.in_use));
        let pairs = [
            (&mut self.open, other.open),
            (&mut self.idle, other.idle),
            (&mut self.busy, other.busy),
            (&mut self.opening, other.opening),
            (&mut self.in_flight, other.in_flight),
            (&mut self.queued, other.queued),
            (&mut self.orphans, other.orphans),
            (&mut self.in_use, other.in_use),
            (&mut self.requests, other.requests),
            (&mut self.answers, other.answers),
            (&mut self.retries, other.retries),
            (&mut self.timeouts, other.timeouts),
            (&mut self.refused, other.refused),
            (&mut self.late_answers, other.late_answers),
            (&mut self.opened, other.opened),
            (&mut self.closed, other.closed),
            (&mut self.open_failures, other.open_failures),
            (&mut self.bytes_sent, other.bytes_sent),
            (&mut self.bytes_received, other.bytes_received),
        ];
        for (sum, n) in pairs {
            *sum += n;
        }
    }
}

/// A mean in nanoseconds, of which 0 says that it is not known.
fn known(nanos: u64) -> Option<Duration> {
    (nanos > 0).then(|| Duration::from_nanos(nanos))
}

/// The weighted mean of what is known. What is known has a weight of at least 1.
fn mean((a, weight_a): (Option<Duration>, u64), (b, weight_b): (Option<Duration>, u64)) -> Option<Duration> {
    let (Some(time_a), Some(time_b)) = (a, b) else { return a.or(b) };
    let (weight_a, weight_b) = (weight_a.max(1) as f64, weight_b.max(1) as f64);
    Some((time_a.mul_f64(weight_a) + time_b.mul_f64(weight_b)).div_f64(weight_a + weight_b))
}

impl Shared {
    /// The counts of a node, over all lanes and pools.
    pub(super) fn counters(&self, id: NodeId) -> NodeCounters {
        let mut counters = self.lanes.counters(id);
        counters.add(&self.pools.counters(id));
        counters.add(&self.hosts.counters(id));
        counters
    }

    /// The snapshot for `stats()`.
    pub(super) fn stats(&self) -> ClientStats {
        let topology = self.cluster.topology();
        let mut total = ConnectionStats::default();
        let nodes = (0..topology.node_slots())
            .map(crate::topology::NodeId::from_index)
            .filter_map(|id| topology.node(id))
            .map(|node| {
                let id = node.id();
                let connections = ConnectionStats::new(&self.counters(id), node.breaker().retries());
                total.add(&connections);
                NodeStats {
                    name: node.name().to_owned(),
                    host: node.host().to_owned(),
                    active: topology.is_active(id),
                    errors: node.breaker().errors(),
                    breaker_open: node.breaker().is_open(),
                    connections,
                }
            })
            .collect();
        let loop_busy = self.cluster.metrics().busy_loops.counts();
        ClientStats { nodes, total, loop_busy, topology_version: topology.version() }
    }
}

impl fmt::Display for ClientStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.nodes.iter().map(|node| node.label().len()).max().unwrap_or(0).max("total".len());
        writeln!(
            f,
            "{:width$}  {:>5} {:>5} {:>5} {:>7} {:>6}  {:>8} {:>8}  {:>6} {:>6} {:>7}  {:>11} {:>8} {:>8}  {:>10} {:>10}",
            "node",
            "open",
            "idle",
            "busy",
            "opening",
            "in use",
            "service",
            "trip",
            "flight",
            "queued",
            "orphans",
            "requests",
            "retries",
            "timeouts",
            "sent",
            "received",
        )?;
        for node in &self.nodes {
            line(f, &node.label(), width, &node.connections)?;
        }
        line(f, "total", width, &self.total)?;
        let LoopBusy { count, total, longest } = self.loop_busy;
        if count > 0 {
            writeln!(f, "event loop busy: {count} times, {total:.1?} in all, {longest:.1?} at most")?;
        }
        Ok(())
    }
}

impl NodeStats {
    fn label(&self) -> String {
        let note = match (self.active, self.breaker_open) {
            (false, _) => " (gone)",
            (true, true) => " (breaker open)",
            (true, false) => "",
        };
        format!("{} {}{note}", self.name, self.host)
    }
}

fn line(f: &mut fmt::Formatter<'_>, label: &str, width: usize, c: &ConnectionStats) -> fmt::Result {
    writeln!(
        f,
        "{label:width$}  {:>5} {:>5} {:>5} {:>7} {:>6}  {:>8} {:>8}  {:>6} {:>6} {:>7}  {:>11} {:>8} {:>8}  {:>10} {:>10}",
        c.open,
        c.idle,
        c.busy,
        c.opening,
        c.in_use,
        time(c.service_time),
        time(c.round_trip),
        c.in_flight,
        c.queued,
        c.orphans,
        c.requests,
        c.retries,
        c.timeouts,
        bytes(c.bytes_sent),
        bytes(c.bytes_received),
    )
}

/// A time for people.
fn time(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1?}"))
}

/// A number of bytes for people.
fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut size = n as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lines_up_and_sums() {
        let counters = NodeCounters {
            open: 3,
            idle: 1,
            in_flight: 2,
            in_use: 2,
            service: 2_345_678,
            requests: 1234,
            bytes_sent: 5 << 20,
            ..Default::default()
        };
        let connections = ConnectionStats::new(&counters, 7);
        assert_eq!((connections.busy, connections.retries), (2, 7));
        let node = |name: &str, active| NodeStats {
            name: name.into(),
            host: "127.0.0.1:3000".into(),
            active,
            errors: 0,
            breaker_open: false,
            connections,
        };
        let mut total = connections;
        total.add(&connections);
        assert_eq!((total.requests, total.open, total.retries), (2468, 6, 14));
        assert_eq!((total.in_use, total.round_trip), (4, None));
        let stats = ClientStats {
            nodes: vec![node("A1", true), node("B2", false)],
            total,
            loop_busy: LoopBusy::default(),
            topology_version: 1,
        };
        let text = stats.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
        assert!(
            lines[2].contains("(gone)") && lines[3].starts_with("total") && lines[3].contains("10.0 MiB"),
            "{text}"
        );
        assert!(lines.iter().skip(1).all(|line| line.contains(" 2.3ms        -  ")), "{text}");
    }

    #[test]
    fn sums_have_the_means_of_the_connections_in_use() {
        let of = |in_use, service, round_trip| {
            ConnectionStats::new(&NodeCounters { in_use, service, round_trip, ..Default::default() }, 0)
        };
        let sum = |parts: &[ConnectionStats]| {
            let mut total = ConnectionStats::default();
            for part in parts {
                total.add(part);
            }
            (total.in_use, total.service_time, total.round_trip)
        };
        let micros = |n| Some(Duration::from_micros(n));
        assert_eq!(sum(&[of(0, 0, 0), of(0, 0, 0)]), (0, None, None));
        assert_eq!(
            sum(&[of(1, 0, 80_000), of(3, 20_000, 0)]),
            (4, micros(20), micros(80)),
            "what is not known has no weight"
        );
        assert_eq!(sum(&[of(1, 100_000, 300_000), of(3, 20_000, 100_000)]), (4, micros(40), micros(150)));
        assert_eq!(sum(&[of(3, 20_000, 100_000), of(1, 100_000, 300_000)]), (4, micros(40), micros(150)));
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(
            [0, 1023, 1024, 1536, u64::MAX].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "16777216.0 TiB"]
        );
    }
}
