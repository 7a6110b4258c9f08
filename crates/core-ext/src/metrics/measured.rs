//! What the recorders of a node hold together.

use std::collections::BTreeMap;

use super::histogram::Histogram;
use super::recorder::Recorder;

/// By namespace and kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured(pub(crate) BTreeMap<(usize, usize), Requests>);

/// The requests of one kind in one namespace, in histograms as fine as they are filled.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    pub(crate) latency: Histogram,
    /// Only those that waited.
    waited: Histogram,
    pub(crate) bytes_sent: Histogram,
    pub(crate) bytes_received: Histogram,
    pub(crate) result_codes: BTreeMap<u8, u64>,
}

impl Measured {
    pub(super) fn add(&mut self, recorder: &Recorder) {
        for (namespace, kind, recorded) in recorder.all() {
            let requests = self.0.entry((namespace, kind)).or_insert_with(Requests::new);
            requests.latency.add_filled(&recorded.latency);
            requests.waited.add_filled(&recorded.waited);
            requests.bytes_sent.add_filled(&recorded.bytes_sent);
            requests.bytes_received.add_filled(&recorded.bytes_received);
            for (code, count) in recorded.result_codes() {
                *requests.result_codes.entry(code).or_default() += count;
            }
        }
    }
}

impl Requests {
    fn new() -> Self {
        let [latency, waited, bytes_sent, bytes_received] = std::array::from_fn(|_| Histogram::fine());
        Self { latency, waited, bytes_sent, bytes_received, result_codes: BTreeMap::new() }
    }

    /// How long they waited for a place on a connection: most did not.
    pub(crate) fn connection_aq(&self) -> Histogram {
        let mut all = self.waited.clone();
        all.add_zeros(self.latency.count().saturating_sub(self.waited.count()));
        all
    }
}
