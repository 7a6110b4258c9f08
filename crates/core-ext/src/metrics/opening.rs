//! How the opening of connections went, whoever wanted them.

use std::time::Duration;

use super::LatencyUnit;
use super::histogram::{Filling, Histogram};
use crate::sync::Mutex;

/// Why a connection could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFailure {
    /// It took too long.
    Timeout,
    /// The TLS handshake failed.
    Tls,
    /// The node refused the credentials.
    Auth,
    /// Anything else.
    Other,
}

/// The connections to all nodes. Opening one takes a hundred microseconds and more, so a lock does not matter.
#[derive(Debug, Default)]
pub(crate) struct Openings(Mutex<Vec<Opening>>);

/// The connections to one node.
#[derive(Debug)]
struct Opening {
    failed: [u64; 4],
    /// How long the successful ones took. In both units: they are measured also while metrics are off, and none can be
    /// made of the other.
    micros: Filling,
    millis: Filling,
}

/// The figures of one node.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) successful: u64,
    pub(crate) timeouts: u64,
    pub(crate) tls: u64,
    pub(crate) auth: u64,
    pub(crate) other: u64,
    pub(crate) latency: Histogram,
}

impl Opened {
    pub(crate) const fn failed(&self) -> u64 {
        self.timeouts + self.tls + self.auth + self.other
    }
}

impl Openings {
    pub(crate) fn opened(&self, node: usize, elapsed: Duration) {
        let mut all = self.0.lock();
        let opening = of(&mut all, node);
        let micros = elapsed.as_micros() as u64;
        opening.micros.add(micros);
        opening.millis.add(micros / 1000);
    }

    pub(crate) fn failed(&self, node: usize, why: OpenFailure) {
        of(&mut self.0.lock(), node).failed[why as usize] += 1;
    }

    /// The figures of a node, in a unit; histograms as fine as they are filled.
    pub(crate) fn of(&self, node: usize, unit: LatencyUnit) -> Opened {
        let mut all = self.0.lock();
        let opening = of(&mut all, node);
        let mut latency = Histogram::fine();
        latency.add_filled(match unit {
            LatencyUnit::Microseconds => &opening.micros,
            LatencyUnit::Milliseconds => &opening.millis,
        });
        let [timeouts, tls, auth, other] = opening.failed;
        Opened { successful: latency.count(), timeouts, tls, auth, other, latency }
    }
}

fn of(all: &mut Vec<Opening>, node: usize) -> &mut Opening {
    if all.len() <= node {
        all.resize_with(node + 1, || Opening { failed: [0; 4], micros: Filling::new(), millis: Filling::new() });
    }
    &mut all[node]
}
