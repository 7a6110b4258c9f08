//! The width of a group, found by trying: how many connections carry requests follows what is measured.
//!
//! The search multiplies the width while that pays, stops where throughput stops to grow, and then compares a little more
//! and a little less now and then. Two things keep it from mistaking a busy machine for a slow server: what an answer costs
//! the client counts ([`Sums::cost_factor`]), and all lanes try at the same moments ([`later`]). Decision 0017 has the models
//! compared.

mod steady;

use super::measure::{Epoch, FAST, PLAIN_GAP, Pairs, STARVED_GAP, Sums};
use super::schedule::{After, BACK_OFF, Direction, HOME, HOME_SOON, MOST_BACK_OFF, MS, Phase, Schedule, later};
use super::sizing::{Bounds, Measured, Reading, Sizing};
use crate::metrics::AnswerCounter;

/// A gap from which a request costs the server more time than the client: about four times the client's own cost of a
/// request that has its connection for itself. Below it, sharing is what is cheap, and a wider width must earn more.
pub(super) const SLOW_GAP: f64 = 40.0;
/// A silence is a pause of the client, and no measurement, from this many nanoseconds on, if it is also ten times the
/// usual time between reads.
const PAUSE: u64 = 1_000_000;

/// From this many nanoseconds on, a silence is told from one that a slow request has caused. Shorter ones do no harm, and the
/// first gaps of a server say too little of what it takes usually.
const STALL: u64 = 4 * PAUSE;

/// So few requests get a connection each at once if they take the server long, [`PLAIN_GAP`], and all about as long: that many
/// connections cost little, and a search that goes step by step takes half a second with so few answers.
const FEW: usize = 16;

/// The round trip that is assumed until one is measured, in nanoseconds.
const USUAL_ROUND_TRIP: u64 = 100_000;
/// Most requests on a connection before anything is known of the server.
pub(super) const FIRST_DEPTH: usize = 16;
/// At least so many are put on a connection: the next is to be there when one is done.
const LEAST_DEPTH: f64 = 4.0;
/// The work put on a connection takes about so many nanoseconds and twice a round trip.
const COMMITTED: f64 = 1e6;

/// A few requests that were much slower than the others are expected again for this long: while each request has its
/// connection for itself, nothing shows them.
const UNEVEN_FOR: u64 = 256 * MS;
/// A client that was what is slow may still be so for this long.
const BOUND_FOR: u64 = 1024 * MS;
/// What is measured while the client is what is slow takes at least so long: some turns of a scheduler.
const LONG: u64 = 16 * MS;
/// A step of a search that begins anew takes at least so long.
const LEAST: u64 = MS;
/// A trial whose connections do not open, or that gets no answers, ends after this time.
const LONGEST_SETTLING: u64 = 50 * MS;
/// What was in flight on connections that are not used any more is waited for so long: it would pass for what those in use do.
const LONGEST_DRAINING: u64 = 1024 * MS;

/// Finds the width: multiplies it while that pays, stops where throughput stops to grow, then compares a little more and a
/// little less now and then.
#[derive(Debug)]
pub(super) struct Adaptive {
    bounds: Bounds,
    /// In use; follows `bounds.start` while it is not `found`.
    width: usize,
    /// A trial has shown that this width is better than the one to start with.
    found: bool,
    phase: Phase,
    /// Multiplying, as after the start and after each change of the server or the load.
    starting: bool,
    epoch: Epoch,
    /// All that the node answers, also to other lanes: more connections may only take from those.
    of_node: AnswerCounter,
    /// What the width before a trial gave.
    reference: Sums,
    reference_answers: u64,
    /// The reference stood on too few answers for a verdict; it takes longer now.
    doubtful: bool,
    /// The gap of late in microseconds; 0 while none was measured at this width.
    usual_gap: f64,
    /// The slow mean of the references at this width; none just after a change of width.
    base: Option<Sums>,
    /// The width that a trial is compared with.
    from: usize,
    /// The width of a trial that takes several pairs.
    to: usize,
    /// The trial goes to the width to start with, and has half the present one first.
    halfway: bool,
    direction: Direction,
    pairs: Pairs,
    up: Schedule,
    down: Schedule,
    /// When the width to start with is tried again.
    home: Schedule,
    /// From when on a change of the server or the load may begin the search again: ever later while it finds nothing.
    again: Schedule,
    /// The width when the search began.
    began_at: usize,
    /// This is not the first search.
    anew: bool,
    /// When a few requests were last seen to be much slower than the others ([`Epoch::is_uneven`]).
    uneven: Option<u64>,
    /// When requests were last seen to wait for a slow one on their connection ([`Epoch::is_held_up`]).
    held_up: Option<u64>,
    /// When the client was last what is slow ([`Sums::is_client_bound`]).
    client_bound: Option<u64>,
    /// The client was so shortly before the search began: only a longer look tells a change of the server from one of a
    /// scheduler.
    wary: bool,
    /// All answers so far.
    answers: u64,
    last_read: u64,
    /// Nanoseconds between the last two reads.
    silence: u64,
    /// Mean nanoseconds between two reads.
    interval: f64,
    /// How long a request alone takes, in nanoseconds; none while each has waited for others.
    round_trip: Option<u64>,
    /// The shortest mean gap since the search began, in microseconds: what a request takes while none waits for a processor.
    service: f64,
    /// What a request took, in microseconds, when a narrowing probe was rejected while each had its connection for itself.
    rejected: Option<f64>,
    /// Nanoseconds between two answers of a busy connection, of late; 0 while none came.
    gap: f64,
    depth: usize,
}

impl Adaptive {
    /// `answers`: those of the node to all lanes of the client.
    pub(super) fn new(answers: AnswerCounter) -> Self {
        let schedule = Schedule { back_off: BACK_OFF, ..Schedule::default() };
        Self {
            bounds: Bounds { least: 1, start: 1, max: 1 },
            width: 1,
            found: false,
            phase: Phase::Reference,
            starting: true,
            epoch: Epoch::default(),
            of_node: answers,
            reference: Sums::default(),
            usual_gap: 0.0,
            reference_answers: 0,
            doubtful: false,
            base: None,
            from: 1,
            to: 1,
            halfway: false,
            direction: Direction::Up,
            pairs: Pairs::default(),
            up: schedule,
            down: schedule,
            home: schedule,
            again: schedule,
            began_at: 1,
            anew: false,
            uneven: None,
            held_up: None,
            client_bound: None,
            wary: false,
            answers: 0,
            last_read: 0,
            silence: 0,
            interval: 0.0,
            round_trip: None,
            service: 0.0,
            rejected: None,
            gap: 0.0,
            depth: FIRST_DEPTH,
        }
    }

    /// The width in use: no more than there are requests.
    fn used(&self, requests: f64) -> usize {
        self.width.min((requests.ceil() as usize).max(1))
    }

    fn set_width(&mut self, width: usize, reading: &Reading, next: After) {
        let (before, width) = (self.width, width.clamp(1, self.bounds.max));
        self.width = width;
        self.found = width != self.bounds.start;
        // What is in flight is answered by then, also where other clients have most of the server.
        let drained = 2.0 * reading.in_flight as f64 * self.gap / before as f64;
        if width < before {
            // Fewer connections may have more to do each, also in a time as short as now.
            self.depth = self.depth.max(FIRST_DEPTH);
            self.gap = self.gap.min(COMMITTED / FIRST_DEPTH as f64);
        }
        // Widening: the new connections are to have answered. Narrowing: what was submitted before is to be answered.
        let (answers, longest) = match next {
            _ if width > before => ((width - before).max(8), LONGEST_SETTLING),
            After::Trial => (reading.in_flight, LONGEST_SETTLING),
            After::Reference => (reading.in_flight, LONGEST_SETTLING.max((drained as u64).min(LONGEST_DRAINING))),
        };
        let (answers, since) = (self.answers + answers as u64, reading.now);
        self.phase = Phase::Settling { next, answers, since, until: since + longest, stopped: None };
    }

    fn measure(&mut self, now: u64, phase: Phase) {
        self.phase = phase;
        self.epoch = Epoch::at(now, self.of_node.of_all_lanes());
    }

    /// Multiplies again, from the present width.
    fn start(&mut self, now: u64) {
        self.starting = true;
        self.began_at = self.width;
        self.wary = self.client_bound.is_some_and(|at| now - at < BOUND_FOR);
        self.anew = true;
        self.service = 0.0;
        self.base = None;
        self.pairs = Pairs::default();
        self.measure(now, Phase::Reference);
    }

    /// How long a step of the search is measured at least.
    fn least_time(&self) -> u64 {
        if self.wary {
            LONG
        } else if self.anew {
            LEAST
        } else {
            0
        }
    }

    /// The search has ended at a width, with this gap (0: not measured there); `first` is what to compare it with first.
    fn be_steady(&mut self, now: u64, (width, gap): (usize, f64), first: Direction) {
        self.starting = false;
        // Where processors limit the rate, a gap is longer on more connections: that of another width is no measure.
        self.usual_gap = gap;
        self.doubtful = false;
        self.base = None;
        self.pairs = Pairs::default();
        self.direction = first;
        let Schedule { due, back_off, .. } = self.again;
        if 2 * width > 3 * self.began_at || 3 * width < 2 * self.began_at || !self.anew {
            self.again = Schedule { due: now, back_off: BACK_OFF, streak: 0 };
            let (wait, back_off) = if self.wary { (HOME_SOON, 2 * HOME_SOON) } else { (HOME, 4 * HOME) };
            self.home = Schedule { due: later(now, wait), back_off, streak: 0 };
            self.up = Schedule { due: later(now, 2 * BACK_OFF), back_off: 2 * BACK_OFF, streak: 0 };
            self.down = Schedule { due: later(now, BACK_OFF), back_off: BACK_OFF, streak: 0 };
        } else {
            // What began the search was noise.
            let back_off = if now > due + 4 * back_off { BACK_OFF } else { (2 * back_off).min(MOST_BACK_OFF) };
            self.again = Schedule { due: now + back_off, back_off, streak: 0 };
        }
        self.measure(now, Phase::Reference);
    }

    fn round_trip(&self) -> u64 {
        self.round_trip.unwrap_or(USUAL_ROUND_TRIP)
    }

    /// Notes the silence before a read. Says, if it was a pause of the client, how many answers lie ready: what came
    /// meanwhile comes all at once, and shows nothing of the server.
    fn pause(&mut self, reading: &Reading) -> Option<u64> {
        let silence = reading.now.saturating_sub(std::mem::replace(&mut self.last_read, reading.now));
        self.silence = silence;
        let usual = 10.0 * self.interval;
        let stalled = silence > STALL && self.brings_little(reading, silence);
        let paused = silence > PAUSE
            && self.interval > 0.0
            && silence as f64 > usual
            && self.gap > 0.0
            && silence as f64 > 4.0 * self.gap
            && !stalled;
        self.interval += (if paused { usual } else { silence as f64 } - self.interval) * 0.05;
        paused.then(|| {
            let ready = silence as f64 / self.gap * self.width as f64;
            (ready as u64).min(reading.requests as u64)
        })
    }

    /// Whether a connection brings few of the answers that it usually has after such a time. If the client was away, they are all
    /// there: a request was slow, and the others wait behind it.
    fn brings_little(&self, reading: &Reading, nanos: u64) -> bool {
        let came = (nanos as f64 / self.gap.max(1.0)).min(reading.in_flight as f64 / self.width as f64);
        4.0 * f64::from(reading.answers) < came
    }

    /// Follows the gap, and how much may be put on a connection.
    fn note_gap(&mut self, reading: &Reading) {
        let Some(gap) = reading.gap else { return };
        let answers = f64::from(reading.answers);
        let gap = gap as f64 / answers;
        let weight = if self.gap == 0.0 { 1.0 } else { (answers / 32.0).min(0.5) };
        self.gap += weight * (gap - self.gap);
        let depth = (COMMITTED + 2.0 * self.round_trip() as f64) / self.gap.max(1.0);
        self.depth = depth.clamp(LEAST_DEPTH, 1024.0) as usize;
    }

    /// As many connections as a throughput keeps busy, and a margin for their ups and downs.
    fn model(rate: f64, gap: f64) -> f64 {
        let busy = (rate * gap).max(0.5);
        (busy + 0.7 * busy.sqrt() + 0.5).ceil()
    }
}

/// The steps of the search.
impl Adaptive {
    /// Enough answers for a verdict on a steady width.
    fn is_long_enough(&self, now: u64) -> bool {
        let elapsed = now.saturating_sub(self.epoch.began);
        let answers = self.epoch.answers;
        if answers < 32 || elapsed <= 2 * MS {
            return false;
        }
        let least = if self.sums(now).is_client_bound() { LONG } else { 2 * MS };
        let least = least.max(self.epoch.representative());
        let whole = answers >= 128.max(4 * self.width as u64) && elapsed > least && self.epoch.reads >= 8;
        whole || (answers >= 512 && elapsed > (20 * MS).max(least)) || elapsed > 250 * MS
    }

    /// What the present epoch shows.
    fn sums(&self, now: u64) -> Sums {
        self.epoch.sums_of_all(now, self.of_node.of_all_lanes())
    }

    fn is_starved(&self, requests: usize) -> bool {
        requests >= 2 * self.width && self.width < self.bounds.max && self.epoch.is_starved(requests, self.width)
    }

    /// Whether processors limit the throughput, so far as the present epoch shows.
    fn is_fast(&self, now: u64) -> bool {
        self.epoch.rate_of_all(now, self.of_node.of_all_lanes()) >= FAST
    }

    /// Whether requests that take long, and about as long as each other, share connections although they are few.
    fn are_few(&self, now: u64) -> bool {
        let Epoch { gap_answers, .. } = self.epoch;
        let few = self.epoch.most <= FEW && self.width < FEW.min(self.bounds.max);
        few && gap_answers >= 8 && self.epoch.gap() >= PLAIN_GAP && self.epoch.is_even() && !self.is_fast(now)
    }

    fn start_reference(&mut self, reading: &Reading) {
        let Reading { now, requests, .. } = *reading;
        let Epoch { answers, reads, gap_answers, .. } = self.epoch;
        let gap = self.epoch.gap();
        let crowded = 2 * requests >= 3 * self.width && self.width < self.bounds.max;
        let starved = self.is_starved(requests);
        let fast = self.is_fast(now);
        let plain = !fast && !self.doubtful && gap_answers >= 8 && gap >= PLAIN_GAP;
        let slow = !fast && gap_answers >= 64 && gap >= SLOW_GAP;
        let enough = if crowded {
            answers >= 512 && now.saturating_sub(self.epoch.began) > 4 * MS
        } else {
            answers >= 40 && reads >= 3
        };
        if (!(starved || crowded && (plain || slow)) && !enough)
            || now.saturating_sub(self.epoch.began) < self.least_time()
        {
            return;
        }
        self.reference = self.sums(now);
        self.note_uneven(now);
        self.reference_answers = answers;
        self.note_service();
        // Those in front of the first ones were few: what the last ones will wait is what counts.
        let to_come = requests as f64 / self.width as f64 * gap;
        let expected = Sums { wait: self.reference.wait.max(to_come), ..self.reference };
        if crowded && expected.shared() > 0.1 && !self.is_merely_busy(&self.reference, now) {
            self.multiply(reading, self.are_few(now));
        } else {
            self.be_steady(now, (self.width, self.reference.gap), Direction::Down);
        }
    }

    /// Tries more connections; `few`: as many as the few requests may ever need ([`are_few`](Self::are_few)).
    fn multiply(&mut self, reading: &Reading, few: bool) {
        let Sums { gap, .. } = self.reference;
        let factor = if few || gap > STARVED_GAP {
            // Step by step it would take seconds with so few answers.
            usize::MAX
        } else if self.reference.rate < FAST {
            4
        } else {
            2
        };
        self.from = self.width;
        // How many of the few there are differs from moment to moment, and a connection opens when a request needs it.
        let most = if few { 2 * FEW } else { reading.requests };
        let wider = self.width.saturating_mul(factor).min(most.max(self.width + 1));
        self.set_width(wider, reading, After::Trial);
    }

    fn start_trial(&mut self, reading: &Reading) {
        let Reading { now, requests, .. } = *reading;
        let fast = self.reference.rate >= FAST;
        let need = match self.width {
            _ if fast => 512,
            width if width >= 4 * self.from => (width as u64).clamp(24, 96),
            _ => 40,
        };
        let answers = self.epoch.answers;
        let elapsed = now.saturating_sub(self.epoch.began);
        if answers < need
            || self.epoch.reads < 4
            || elapsed < LEAST.max(self.least_time())
            || (fast && elapsed < 4 * MS)
        {
            return;
        }
        let trial = self.sums(now);
        self.note_service();
        let factor = self.width as f64 / self.from as f64;
        // Connections that were busy and brought nothing wait for a slow request. Those of the reference did not, or it was too
        // short to show it: it could not have been faster than what each request takes now allows.
        let stuck = requests > 2 * self.width && (self.width as u64 * elapsed) as f64 > 1.3 * self.epoch.gap as f64;
        if !fast {
            self.note_uneven(now);
        }
        let uneven = !fast && (stuck || self.is_uneven(now));
        let most = if uneven && trial.gap > 0.0 { self.from as f64 / trial.gap.max(1.0) } else { f64::INFINITY };
        let mut gain = trial.gain(&self.reference, most);
        if uneven && trial.requests < 1.5 * self.width as f64 {
            // The callers wait elsewhere now, or come at a rate of their own: the time that a request takes says it all.
            gain = gain.max((self.reference.wait / trial.wait).min(factor));
        }
        let gain = gain / trial.cost_factor(&self.reference);
        // Half of what more connections could give at most. Less if most requests wait in front of the few connections from before.
        let starved = self.reference.gap > STARVED_GAP && gain >= 1.5;
        if starved || gain >= 1.0 + (factor - 1.0) / 2.0 {
            self.reference = trial;
            self.reference_answers = answers;
            self.doubtful = false;
            if 2 * requests >= 3 * self.width && self.width < self.bounds.max {
                self.multiply(reading, self.are_few(now));
            } else {
                self.be_steady(now, (self.width, trial.gap), Direction::Up);
            }
            return;
        }
        if (answers < 3 * need && elapsed < 20 * MS) || (uneven && elapsed < self.epoch.representative().max(20 * MS)) {
            // A burst or a pause spoils a short measurement.
            return;
        }
        let (from, width) = (self.from, self.width);
        // Where none of the few shares any more, the gap is that of before.
        let alone = trial.gap == 0.0 && trial.requests <= FEW as f64;
        let gap = if alone { self.reference.gap } else { trial.gap };
        let tail = Sums { gap, ..trial }.is_for_the_tail(width);
        let enough = match (fast, tail) {
            (true, _) => 1.25,
            (false, true) => 0.97,
            (false, false) => 1.15,
        };
        if self.reference_answers < 64 && !fast && !tail {
            // The first few answers of a slow server are the short ones: the rate that stands on them is too high.
            self.doubtful = true;
            self.set_width(from, reading, After::Reference);
        } else if gain < enough {
            self.be_steady(now, (from, self.reference.gap), Direction::Down);
            self.up = Schedule { due: later(now, 4 * BACK_OFF), back_off: 4 * BACK_OFF, streak: 0 };
            self.set_width(from, reading, After::Reference);
        } else {
            let knee = Self::model(trial.own, self.service).min(1.25 * gain * from as f64);
            // Requests that share a connection with a slow one wait for it, however few connections are busy.
            let knee = if uneven || tail { width } else { knee.clamp(from as f64, width as f64) as usize };
            self.be_steady(now, (knee, if knee == width { trial.gap } else { 0.0 }), Direction::Up);
            self.set_width(knee, reading, After::Reference);
        }
    }

    fn note_service(&mut self) {
        if self.epoch.alones > 0 {
            self.round_trip = Some(self.epoch.alone / u64::from(self.epoch.alones));
        }
        let gap = self.epoch.gap();
        // Of an uneven service time the shortest mean is that of a time without slow requests.
        if self.epoch.gap_answers >= 8 && (self.service == 0.0 || gap < self.service || self.epoch.is_uneven()) {
            self.service = gap;
        }
    }

    /// Remembers whether a few requests of this epoch are much slower than the others.
    fn note_uneven(&mut self, now: u64) {
        if self.epoch.is_uneven() {
            self.uneven = Some(now);
        }
        if self.epoch.is_held_up() {
            self.held_up = Some(now);
        }
    }

    /// Whether a few requests are much slower than the others, of late.
    fn is_uneven(&self, now: u64) -> bool {
        self.uneven.is_some_and(|at| now.saturating_sub(at) < UNEVEN_FOR)
    }

    /// Whether the client is what is slow, and requests do not wait for slow ones, of late.
    fn is_merely_busy(&self, latest: &Sums, now: u64) -> bool {
        latest.is_client_bound() && self.held_up.is_none_or(|at| now.saturating_sub(at) >= UNEVEN_FOR)
    }
}

impl Sizing for Adaptive {
    fn width(&self, Bounds { least, start, .. }: Bounds) -> usize {
        if self.found { self.width.max(least) } else { start }
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn read(&mut self, reading: &Reading, bounds: Bounds) {
        self.bounds = bounds;
        self.width = self.width(bounds).clamp(1, bounds.max);
        let now = reading.now;
        let paused = self.pause(reading);
        self.answers += u64::from(reading.answers);
        if let Some(ready) = paused {
            let measuring_until = (self.epoch.began > 0).then(|| now - self.silence);
            let (next, stopped) = match self.phase {
                Phase::Reference => (After::Reference, measuring_until),
                Phase::Trial => (After::Trial, measuring_until),
                Phase::Settling { next, stopped, .. } => (next, stopped),
            };
            let (answers, until) = (self.answers + ready, now + LONGEST_SETTLING);
            self.phase = Phase::Settling { next, answers, since: now, until, stopped };
            return;
        }
        // Compared with the gaps before this one.
        let held = reading.gap.is_some_and(|gap| self.brings_little(reading, gap));
        self.note_gap(reading);
        if let Phase::Settling { next, answers, since, until, stopped } = self.phase {
            let opened = reading.usable >= self.width.min(reading.requests);
            let settled = self.answers >= answers && now >= since + self.round_trip() && opened;
            let late = now > until;
            if next == After::Trial && !self.starting && self.is_piling_up(reading.requests) {
                return self.reject(reading);
            }
            if late && next == After::Trial && self.width < self.from {
                // What is still in flight on the other connections would pass for what these few do.
                return self.reject(reading);
            }
            if settled || late {
                let phase = if next == After::Trial { Phase::Trial } else { Phase::Reference };
                match stopped {
                    // A client that pauses often would never measure for long enough, if each pause began anew.
                    Some(at) => {
                        self.phase = phase;
                        self.epoch.leave_out(at, now, self.of_node.of_all_lanes());
                    }
                    None => self.measure(now, phase),
                }
            }
            return;
        }
        if self.epoch.began == 0 {
            self.epoch = Epoch::at(now, self.of_node.of_all_lanes());
            return;
        }
        self.epoch.add(reading, self.silence, held);
        match (self.phase, self.starting) {
            (Phase::Reference, true) => self.start_reference(reading),
            (Phase::Trial, true) => self.start_trial(reading),
            (Phase::Reference, false) => self.steady_reference(reading),
            (Phase::Trial, false) => self.steady_trial(reading),
            (Phase::Settling { .. }, _) => {}
        }
    }

    fn measured(&self) -> Measured {
        // While each request has its connection for itself there is no gap, and while each waits for others none is alone:
        // what was measured last stays.
        Measured { service: self.gap / 1e3, round_trip: self.round_trip.unwrap_or_default() as f64 / 1e3 }
    }
}
