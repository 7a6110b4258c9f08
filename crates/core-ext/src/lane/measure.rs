//! What a search measures over a stretch of time: sums over answers, and comparisons of two such sums.

use super::sizing::Reading;
use crate::metrics::AnswerCounts;

/// From this rate on (answers per microsecond) processors are what counts, those of the client or of a server on the same
/// host: more connections cost each answer more of them, so they must show a plain gain over a longer time, and fewer may
/// do. Below, connections cost next to nothing.
pub(super) const FAST: f64 = 0.06;
/// What a read and the write that goes with it cost the client beside the work on an answer itself, in units of that work.
pub(super) const READ_COST: f64 = 3.0;
/// Below this cost, three and more answers come with a read: the client is what is slow, and the times that it measures are
/// those of a scheduler.
pub(super) const CLIENT_BOUND: f64 = 2.0;

/// With a gap this long, in microseconds, eight answers are evidence enough to widen.
pub(super) const PLAIN_GAP: f64 = 150.0;

/// A connection that brings answers so rarely, while a request is to wait so long for its own, in microseconds, has too small a
/// share of a server that others use with more connections.
pub(super) const STARVED_GAP: f64 = 2_000.0;
const STARVED: f64 = 40_000.0;

/// Nothing is measured for longer to see enough of the few slow requests, in nanoseconds.
const LONGEST: u64 = 50_000_000;

/// Sums over the answers of a stretch of time at one width.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Epoch {
    pub(super) began: u64,
    /// How many answers all lanes had had by then; none are counted in simulated runs of one lane.
    pub(super) before: Option<AnswerCounts>,
    pub(super) answers: u64,
    pub(super) reads: u32,
    /// Requests in flight and in line, times nanoseconds.
    pub(super) load: u64,
    /// The most requests in flight and in line.
    pub(super) most: usize,
    pub(super) gap: u64,
    pub(super) gap_answers: u64,
    /// The squares of the gaps, in microseconds.
    pub(super) gap_squares: f64,
    /// The part of that of gaps at whose end few of the connection's requests had been answered.
    held_squares: f64,
    pub(super) alone: u64,
    /// The squares of the times of requests alone, in microseconds.
    pub(super) alone_squares: f64,
    pub(super) alones: u32,
    /// Reads of one or two answers, and how late those were: see [`follow_late`](Self::follow_late).
    singles: u32,
    late: f64,
}

impl Epoch {
    pub(super) fn at(now: u64, of_all_lanes: Option<AnswerCounts>) -> Self {
        Self { began: now, before: of_all_lanes, ..Self::default() }
    }

    /// Takes in a reading, so many nanoseconds after the one before; `held`: few of the connection's requests have been answered
    /// in its gap.
    pub(super) fn add(&mut self, reading: &Reading, since: u64, held: bool) {
        self.answers += u64::from(reading.answers);
        self.reads += 1;
        self.load += reading.requests as u64 * since;
        self.most = self.most.max(reading.requests);
        if let Some(gap) = reading.gap {
            self.gap += gap;
            let square = (gap as f64 / 1e3).powi(2);
            self.gap_squares += square;
            self.held_squares += if held { square } else { 0.0 };
            self.gap_answers += u64::from(reading.answers);
        }
        if let Some(alone) = reading.alone {
            self.alone += alone;
            self.alone_squares += (alone as f64 / 1e3).powi(2);
            self.alones += 1;
        }
    }

    /// Goes on after a pause of the client that lasted from `from` to `to`, as if there had been none.
    pub(super) fn leave_out(&mut self, from: u64, to: u64, of_all_lanes: Option<AnswerCounts>) {
        if let (Some(before), Some(after)) = (&mut self.before, of_all_lanes) {
            // Nobody has counted how many of them came before the pause: the share of the time, at an even rate.
            let measured = from.saturating_sub(self.began) as f64 / (to - self.began).max(1) as f64;
            for (before, after) in [(&mut before.node, after.node), (&mut before.client, after.client)] {
                *before = after - (after.saturating_sub(*before) as f64 * measured) as u64;
            }
        }
        self.began += to - from;
    }

    /// Microseconds between two answers of a busy connection.
    pub(super) fn gap(&self) -> f64 {
        if self.gap_answers == 0 { 0.0 } else { self.gap as f64 / 1e3 / self.gap_answers as f64 }
    }

    /// Whether the connections have too small a share of the server, with so many requests on so many of them.
    pub(super) fn is_starved(&self, requests: usize, width: usize) -> bool {
        let (gap, to_come) = (self.gap(), requests as f64 / width as f64 * self.gap());
        self.gap_answers >= 8 && gap > STARVED_GAP && to_come > STARVED
    }

    /// Follows how late answers are, compared with `usual` microseconds for each of a connection, as of a reading that has been
    /// added. Says whether the server plainly takes far longer: nearly all answers come one by one, and late. Where a
    /// processor was late, and not the server, several lie ready.
    pub(super) fn follow_late(&mut self, reading: &Reading, usual: f64) -> bool {
        /// So many times as long on average.
        const LATE: f64 = 1.5;
        /// A single one counts for no more than so many times: it may be one of a few slow requests.
        const MOST: f64 = 4.0;
        if let Some(gap) = reading.gap
            && (1..=2).contains(&reading.answers)
        {
            self.singles += 1;
            self.late += (gap as f64 / 1e3 / f64::from(reading.answers) / usual).min(MOST);
        }
        self.singles >= 8 && 4 * self.singles >= 3 * self.reads && self.late > LATE * f64::from(self.singles)
    }

    /// Nanoseconds until a busy connection brings its next answers, seen from any moment: long where few requests are much
    /// slower than the others.
    fn silence(&self) -> u64 {
        self.silence_of(self.gap_squares)
    }

    fn silence_of(&self, gap_squares: f64) -> u64 {
        if self.gap == 0 { 0 } else { (gap_squares * 1e6 / (2.0 * self.gap as f64)) as u64 }
    }

    /// Whether a few requests are much slower than the others: half the mean square of their times over the mean is more
    /// than four times the mean, of requests that share a connection or of those that have one each.
    pub(super) fn is_uneven(&self) -> bool {
        let alone = self.alone as f64 / 1e3;
        let shared = self.silence() as f64 > 4e3 * self.gap();
        shared || (self.alones >= 32 && self.alone_squares * f64::from(self.alones) > 8.0 * alone * alone)
    }

    /// Whether requests on a connection wait for a slow one. While a client that is busy is away, a connection is silent, too, but
    /// then nearly all of its requests have been answered.
    pub(super) fn is_held_up(&self) -> bool {
        self.silence_of(self.held_squares) as f64 > 4e3 * self.gap()
    }

    /// Whether requests take about as long as each other, or no less so than with an exponential distribution.
    pub(super) fn is_even(&self) -> bool {
        (self.silence() as f64) < 1.5e3 * self.gap()
    }

    /// From so many nanoseconds on, the few slow requests in it are no chance.
    pub(super) fn representative(&self) -> u64 {
        (4 * self.silence()).min(LONGEST)
    }

    /// Answers per microsecond of the node to all lanes of the client, which have had so many in all.
    pub(super) fn rate_of_all(&self, now: u64, of_all_lanes: Option<AnswerCounts>) -> f64 {
        self.rates_of_all(now, of_all_lanes)[0]
    }

    /// Answers per microsecond to all lanes: those of the node, and those of all nodes.
    fn rates_of_all(&self, now: u64, of_all_lanes: Option<AnswerCounts>) -> [f64; 2] {
        let [node, client] = match (self.before, of_all_lanes) {
            (Some(before), Some(after)) => [(before.node, after.node), (before.client, after.client)]
                .map(|(before, after)| after.saturating_sub(before).max(self.answers)),
            _ => [self.answers; 2],
        };
        let elapsed = (now.saturating_sub(self.began) as f64 / 1e3).max(0.1);
        [node, client].map(|answers| answers.max(1) as f64 / elapsed)
    }

    /// [`sums`](Self::sums) with the rates of all lanes.
    pub(super) fn sums_of_all(&self, now: u64, of_all_lanes: Option<AnswerCounts>) -> Sums {
        let [rate, client] = self.rates_of_all(now, of_all_lanes);
        Sums { rate, client, ..self.sums(now) }
    }

    pub(super) fn sums(&self, now: u64) -> Sums {
        let elapsed = (now.saturating_sub(self.began) as f64 / 1e3).max(0.1);
        let answers = self.answers.max(1) as f64;
        let load = self.load as f64 / 1e3;
        // Single ones among many answers say little.
        let alones = if self.answers < 128 || self.alones >= 8 { self.alones } else { 0 };
        let alone = if alones == 0 { 0.0 } else { self.alone as f64 / 1e3 / f64::from(alones) };
        Sums {
            rate: answers / elapsed,
            own: answers / elapsed,
            client: answers / elapsed,
            // Little's law. The times of the answered ones would lag behind by the length of a queue.
            wait: (load / answers).max(0.1),
            gap: self.gap(),
            alone,
            requests: load / elapsed,
            most: self.most,
            cost: 1.0 + READ_COST * f64::from(self.reads) / answers,
        }
    }
}

/// The means of an epoch; times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    /// Answers per microsecond, to all lanes of the client if [`Epoch::sums_of_all`] made it.
    pub(super) rate: f64,
    /// Answers per microsecond to this lane.
    pub(super) own: f64,
    /// Answers per microsecond of all nodes to all lanes, if [`Epoch::sums_of_all`] made it: what the client's processors have to
    /// do.
    pub(super) client: f64,
    /// Time in the lane and at the server.
    pub(super) wait: f64,
    pub(super) gap: f64,
    pub(super) alone: f64,
    /// In flight and in line.
    pub(super) requests: f64,
    /// The most of them at a time.
    pub(super) most: usize,
    /// What an answer cost the client.
    pub(super) cost: f64,
}

impl Sums {
    /// Answers come several at a time, and fast: the client is what is slow.
    pub(super) fn is_client_bound(&self) -> bool {
        self.cost < CLIENT_BOUND && 3.0 * self.client >= FAST
    }

    /// The rate, divided by the one before, of which no more than `most` counts. Where processors limit the rate, it is that
    /// of all lanes: what one takes from another is no gain. A slow server has room for all lanes, and how much the others
    /// happen to send would only add noise: there it is that of this lane.
    pub(super) fn gain(&self, before: &Self, most: f64) -> f64 {
        if before.rate < FAST { self.own / before.own.min(most) } else { self.rate / before.rate.min(most) }
    }

    /// What an answer costs the client, compared with before. As a factor of the time that it takes: twice the cost must
    /// earn four times the throughput.
    pub(super) fn cost_factor(&self, before: &Self) -> f64 {
        (self.cost / before.cost).powi(2)
    }

    /// Whether the server takes so long for a request, and processors have so little to do, that connections for the few requests
    /// that share one of `width` cost next to nothing: what they bring is the tail of the latencies, which no rate shows.
    pub(super) fn is_for_the_tail(&self, width: usize) -> bool {
        let few = self.requests <= 1.2 * width as f64;
        few && self.rate < FAST && self.gap >= PLAIN_GAP && !self.is_client_bound()
    }

    /// Whether requests on so many connections had one each, more or less.
    pub(super) const fn are_alone(&self, width: usize) -> bool {
        self.requests < 2.0 * width as f64
    }

    /// The part of its time that a request waited for others on its connection: a bound of what more connections can gain.
    pub(super) fn shared(&self) -> f64 {
        if self.alone > 0.0 { (1.0 - self.alone / self.wait).max(0.0) } else { 1.0 }
    }

    pub(super) fn follow(&mut self, latest: &Self, weight: f64) {
        let gap = if latest.gap > 0.0 { latest.gap } else { self.gap };
        let pairs = [
            (&mut self.rate, latest.rate),
            (&mut self.own, latest.own),
            (&mut self.client, latest.client),
            (&mut self.wait, latest.wait),
            (&mut self.gap, gap),
            (&mut self.alone, latest.alone),
            (&mut self.requests, latest.requests),
            (&mut self.cost, latest.cost),
        ];
        for (mean, value) in pairs {
            *mean += weight * (value - *mean);
        }
        self.most = latest.most;
    }
}

/// Reference and probe in turn, until their ratio is certain enough.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pairs {
    pub(super) count: u32,
    pub(super) sum: f64,
    pub(super) squares: f64,
    pub(super) began: u64,
}

impl Pairs {
    /// Takes the logarithm of one more ratio; the mean and its standard error.
    ///
    /// `one`: what one pair alone may be off.
    pub(super) fn add(&mut self, log: f64, one: f64) -> (f64, f64) {
        self.count += 1;
        self.sum += log;
        self.squares += log * log;
        let n = f64::from(self.count);
        let mean = self.sum / n;
        let error = if self.count < 3 {
            one / n.sqrt()
        } else {
            ((self.squares / n - mean * mean).max(0.0) / (n - 1.0)).sqrt().max(0.02)
        };
        (mean, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epoch of one connection that stays busy, with these gaps in microseconds.
    fn epoch(gaps: impl IntoIterator<Item = u64>) -> Epoch {
        let mut epoch = Epoch::default();
        for gap in gaps {
            let reading = Reading { gap: Some(1000 * gap), answers: 1, ..Reading::new(0, 7, 7) };
            epoch.add(&reading, 1000 * gap, false);
        }
        epoch
    }

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn few_slow_requests_take_a_longer_look() {
        let even = epoch([80; 100]);
        assert!(even.is_even() && !even.is_uneven());
        assert_eq!(even.representative(), 160_000);
        let uneven = epoch([80; 99].into_iter().chain([20_000]));
        assert!(uneven.is_uneven() && !uneven.is_even());
        // Of a few answers a slow one does not make them uneven yet, but they are not even.
        let few = epoch([80, 80, 80, 80, 80, 80, 80, 20_000]);
        assert!(!few.is_uneven() && !few.is_even());
        assert!((20_000_000..=LONGEST).contains(&uneven.representative()), "{}", uneven.representative());
        assert_eq!(epoch([80, 400_000]).representative(), LONGEST);
        assert!(!Epoch::default().is_uneven());
    }

    #[test]
    fn few_slow_requests_show_where_each_has_a_connection_too() {
        let epoch = |times: &[u64]| {
            let mut epoch = Epoch::default();
            for time in times {
                epoch.add(
                    &Reading { alone: Some(1000 * time), answers: 1, ..Reading::new(0, 7, 7) },
                    1000 * time,
                    false,
                );
            }
            epoch
        };
        let mut times = [80; 100];
        assert!(!epoch(&times).is_uneven());
        times[50] = 20_000;
        assert!(epoch(&times).is_uneven());
        // A few say nothing.
        assert!(!epoch(&times[40..60]).is_uneven());
    }

    #[test]
    fn late_is_the_server_and_not_a_processor() {
        let reads_until_late = |readings: &[(u64, u32)]| {
            let mut epoch = Epoch::default();
            readings.iter().position(|&(gap, answers)| {
                let reading = Reading { gap: Some(1000 * gap), answers, ..Reading::new(0, 7, 7) };
                epoch.add(&reading, 1000 * gap, false);
                epoch.follow_late(&reading, 100.0)
            })
        };
        assert_eq!(reads_until_late(&[(200, 1); 20]), Some(7));
        assert_eq!(reads_until_late(&[(400, 2); 20]), Some(7));
        assert_eq!(reads_until_late(&[(120, 1); 20]), None);
        // Whoever waits for a processor finds several answers then.
        assert_eq!(reads_until_late(&[(4000, 16); 20]), None);
        // One slow request, or one turn of a scheduler, is not the usual.
        let mut readings = [(50, 1); 20];
        readings[3] = (20_000, 1);
        assert_eq!(reads_until_late(&readings), None);
        assert_eq!(reads_until_late(&[[(200, 1); 3], [(50, 9); 3]].concat().repeat(4)), None);
    }

    #[test]
    fn a_pause_of_the_client_changes_no_rate() {
        let mut epoch = Epoch { answers: 100, ..Epoch::at(1_000_000, Some(AnswerCounts { node: 5000, client: 9000 })) };
        // Two milliseconds with 400 answers of the node and 1,000 of all to all lanes, and as long a pause, in which as many came.
        let after = Some(AnswerCounts { node: 5800, client: 11_000 });
        epoch.leave_out(3_000_000, 5_000_000, after);
        let sums = epoch.sums_of_all(5_000_000, after);
        assert!(is_near(sums.own, 0.05) && is_near(sums.rate, 0.2) && is_near(sums.client, 0.5), "{sums:?}");
        // Where nobody counts those to all lanes, there are only its own.
        let mut alone = Epoch { answers: 100, ..Epoch::at(1_000_000, None) };
        alone.leave_out(3_000_000, 5_000_000, None);
        assert!(is_near(alone.sums_of_all(5_000_000, None).rate, 0.05));
    }

    #[test]
    fn where_processors_limit_the_rate_what_is_taken_from_another_lane_is_no_gain() {
        let gain = |[own, rate]: [f64; 2], [own_before, rate_before]: [f64; 2], most| {
            let before = Sums { rate: rate_before, own: own_before, ..Sums::default() };
            Sums { rate, own, ..Sums::default() }.gain(&before, most)
        };
        assert!(is_near(gain([0.2, 0.2], [0.1, 0.2], f64::INFINITY), 1.0));
        // A slow server has room for all.
        assert!(is_near(gain([0.02, 0.02], [0.01, 0.02], f64::INFINITY), 2.0));
        // What was measured before is more than possible.
        assert!(is_near(gain([0.02, 0.02], [0.04, 0.04], 0.01), 2.0));
    }

    #[test]
    fn the_most_requests_are_those_of_one_moment() {
        let mut epoch = epoch([80; 10]);
        epoch.add(&Reading { answers: 1, ..Reading::new(0, 30, 30) }, 80_000, false);
        epoch.add(&Reading { answers: 1, ..Reading::new(0, 9, 9) }, 80_000, false);
        let sums = epoch.sums(960_000);
        assert_eq!(sums.most, 30);
        assert!((sums.requests - 109.0 / 12.0).abs() < 0.01, "{}", sums.requests);
    }

    /// A server on the client's own processors: twice as many connections bring a little more throughput, but answers come one
    /// by one.
    #[test]
    fn more_throughput_at_the_price_of_more_processor_time_is_no_gain() {
        let epoch = |answers: u64, reads: u32| Epoch { answers, reads, load: 64 * 10_000_000, ..Epoch::at(0, None) };
        let shared = epoch(1000, 100).sums(10_000_000);
        let spread = epoch(1300, 1300).sums(10_000_000);
        assert!(spread.rate / shared.rate / spread.cost_factor(&shared) < 0.2);
        // A slow one answers one by one in any case.
        let (few, many) = (epoch(100, 100).sums(10_000_000), epoch(400, 380).sums(10_000_000));
        assert!(many.rate / few.rate / many.cost_factor(&few) > 3.9);
    }
}
