//! The search once it has found a width: what begins it anew, and comparisons with a little more and a little less.

use super::{Adaptive, LONG, SLOW_GAP};
use crate::lane::measure::{CLIENT_BOUND, FAST, Pairs, Sums};
use crate::lane::schedule::{
    After, BACK_OFF, COARSE, Direction, HOME, MOST_BACK_OFF, MOST_BACK_OFF_ALONE, MOST_HOME, MS, Phase, Schedule, later,
};
use crate::lane::sizing::Reading;

/// Requests that take less than this share of what they took when a narrowing probe was rejected say so at once.
const QUICKER: f64 = 0.9;
/// Most pairs of reference and probe before a probe counts as rejected.
const MOST_PAIRS: u32 = 6;

impl Adaptive {
    pub(super) fn steady_reference(&mut self, reading: &Reading) {
        let Reading { now, requests, .. } = *reading;
        let crowded = 2 * requests >= 3 * self.width && self.width < self.bounds.max;
        if let Some(base) = self.base
            && crowded
            && self.epoch.answers >= 32
            && self.epoch.reads >= 8
        {
            let early = self.epoch.sums(now);
            let slower = early.cost >= CLIENT_BOUND
                && early.gap > 2.0 * base.gap
                && early.gap > SLOW_GAP
                && self.epoch.rate_of_all(now, self.of_node.of_all_lanes()) < 0.6 * base.rate;
            let more = early.requests > 2.0 * base.requests && early.gap < 1.5 * base.gap;
            // Requests pile up: whatever else was noise, this is not.
            let overrun = early.requests > 3.0 * base.most as f64 + 64.0;
            if overrun || ((slower || more) && now >= self.again.due) {
                return self.start(now);
            }
        }
        if now >= self.again.due && self.are_few(now) {
            let (reference, answers) = (self.sums(now), self.epoch.answers);
            self.start(now);
            (self.reference, self.reference_answers) = (reference, answers);
            return self.multiply(reading, true);
        }
        if now >= self.again.due && self.is_starved(requests) {
            return self.start(now);
        }
        if now >= self.again.due
            && crowded
            && self.epoch.gap_answers >= 16
            && self.epoch.gap() > SLOW_GAP.max(2.5 * self.usual_gap)
            && self.usual_gap > 0.0
        {
            return self.start(now);
        }
        if !self.is_long_enough(now) {
            return;
        }
        let latest = self.sums(now);
        if latest.is_client_bound() {
            self.client_bound = Some(now);
        }
        if latest.gap > 0.0 {
            let weight = if self.usual_gap > 0.0 { 0.3 } else { 1.0 };
            self.usual_gap += weight * (latest.gap - self.usual_gap);
        }
        self.note_service();
        // While a few requests are slow and each has a connection, how many are in flight only says at which nodes callers wait.
        let elsewhere = self.is_uneven(now) && self.base.is_some_and(|base| base.requests <= self.width as f64);
        let mut changed = false;
        if let Some(base) = &mut self.base {
            let waits = latest.wait > 1.3 * base.wait;
            let slower = waits && (latest.requests > 1.5 * base.requests || latest.gap > 1.5 * base.gap);
            // Without anything shared there is no gap.
            let faster = (latest.gap > 0.0 && latest.gap < 0.6 * base.gap)
                || latest.requests < 0.6 * base.requests
                || latest.wait < 0.6 * base.wait
                || latest.rate > 1.6 * base.rate;
            // Where a slow server has fewer requests and takes as long for each as before, the others are at other nodes: it
            // has not become another server.
            let quicker = latest.rate >= FAST || latest.wait < 0.6 * base.wait;
            let plainly = (!elsewhere && quicker && latest.requests < 0.6 * base.requests)
                || (latest.gap > 0.0 && latest.gap < 0.6 * base.gap && latest.rate > 1.6 * base.rate);
            if slower && crowded && now >= self.again.due {
                return self.start(now);
            }
            if faster {
                self.service = 0.0;
                if plainly {
                    // The server has changed: what was slow was the one before.
                    self.uneven = None;
                    self.held_up = None;
                    changed = true;
                    self.home = Schedule { due: now, back_off: 4 * HOME, streak: 0 };
                }
                *base = latest;
                self.up = Schedule { due: now, back_off: BACK_OFF, streak: 0 };
                self.down = Schedule { due: now, back_off: BACK_OFF, streak: 1 };
                self.direction = Direction::Down;
                self.pairs = Pairs::default();
            } else {
                base.follow(&latest, 0.2);
            }
        } else {
            self.base = Some(latest);
        }
        if latest.are_alone(self.width) && self.rejected.is_some_and(|rejected| latest.wait < QUICKER * rejected) {
            self.rejected = None;
            self.down = Schedule { due: now, back_off: BACK_OFF, streak: 0 };
            self.direction = Direction::Down;
        }
        self.reference = latest;
        self.reference_answers = self.epoch.answers;
        if self.pairs.count > 0 {
            let to = self.to;
            self.set_width(to, reading, After::Trial);
            return;
        }
        if !changed {
            self.note_uneven(now);
        }
        self.begin_probe(reading, &latest, changed);
    }

    /// Tries another width, if that is due and can pay; `changed`: the server has just become another one.
    fn begin_probe(&mut self, reading: &Reading, latest: &Sums, changed: bool) {
        let now = reading.now;
        for direction in [self.direction, self.direction.other()] {
            if let Some(width) = self.probe(direction, latest, now) {
                self.direction = direction;
                self.from = self.width;
                self.to = width;
                self.pairs = Pairs { began: now, ..Pairs::default() };
                let half = self.used(latest.requests) / 2;
                self.halfway = width == self.bounds.start && width < half && !changed;
                self.set_width(if self.halfway { half } else { width }, reading, After::Trial);
                return;
            }
        }
        self.measure(now, Phase::Reference);
    }

    /// The width to try in a direction, if that is due and can pay.
    fn probe(&mut self, direction: Direction, latest: &Sums, now: u64) -> Option<usize> {
        let used = self.used(latest.requests);
        match direction {
            Direction::Up => {
                let Schedule { due, streak, .. } = self.up;
                let shared = if latest.is_for_the_tail(self.width) { 0.005 } else { 0.06 };
                if now < due || latest.shared() < shared || latest.most <= self.width {
                    return None;
                }
                let factor = if streak > 0 {
                    2.0
                } else if self.up.back_off <= COARSE {
                    1.5
                } else {
                    1.25
                };
                let wider = if self.is_held_up(latest, now) {
                    // Whoever shares a connection with a slow request waits for it: half as many sharers are no answer.
                    latest.most
                } else {
                    (self.width as f64 * factor).ceil() as usize
                };
                let width = wider.min(self.bounds.max).min(latest.most);
                (width > self.width).then_some(width)
            }
            Direction::Down => {
                if self.is_held_up(latest, now) {
                    // Requests that share a connection wait for the slow ones: there is nothing to be gained.
                    return None;
                }
                let Schedule { due, streak, .. } = self.down;
                let start = self.bounds.start;
                // Also at rates that are not fast any more: a width that is much too wide has made them so.
                if now >= self.home.due && start < used && 3.0 * latest.client >= FAST {
                    // Put off here: a change of the load may end the trial without a verdict.
                    self.home.due = later(now, self.home.back_off);
                    self.home.back_off = (2 * self.home.back_off).min(MOST_HOME);
                    return Some(start);
                }
                if now < due || used <= 1 || (latest.rate < FAST && !latest.is_client_bound()) {
                    return None;
                }
                let knee = Self::model(latest.own, self.service);
                if self.service > 0.0 && (0.75..0.85).contains(&(knee / used as f64)) {
                    return Some(knee as usize);
                }
                let factor = if streak > 0 { 0.5 } else { 0.8 };
                Some(((used as f64 * factor) as usize).max(1))
            }
        }
    }

    /// Whether requests wait for a few slow ones on their connections.
    fn is_held_up(&self, latest: &Sums, now: u64) -> bool {
        self.is_uneven(now) && latest.rate < FAST && !self.is_merely_busy(latest, now)
    }

    /// Whether connections cost more than they may bring: processors limit the throughput, and a request takes less than
    /// its connection costs.
    fn must_earn_more(&self, latest: &Sums) -> bool {
        latest.rate >= FAST && self.service < SLOW_GAP
    }

    /// Whether requests pile up while fewer connections are tried.
    pub(super) fn is_piling_up(&self, requests: usize) -> bool {
        let Sums { requests: usual, most, .. } = self.reference;
        self.width < self.from && requests as f64 > 8.0 + (1.4 * most as f64).min(2.5 * usual)
    }

    pub(super) fn steady_trial(&mut self, reading: &Reading) {
        let Reading { now, requests, .. } = *reading;
        if self.is_piling_up(requests) {
            return self.reject(reading);
        }
        let whole = self.is_long_enough(now);
        let home = self.direction == Direction::Down && (self.halfway || self.width == self.bounds.start);
        let late = home && self.epoch.follow_late(reading, self.width as f64 / self.reference.own);
        if late && now.saturating_sub(self.epoch.began) > MS {
            return self.reject(reading);
        }
        let shortest = if home && 3.0 * self.reference.client >= FAST { LONG } else { MS };
        let quarter = self.epoch.reads >= 8
            && self.epoch.answers >= 64.max(self.width as u64)
            && now.saturating_sub(self.epoch.began) > shortest.max(self.epoch.representative());
        if !whole && !quarter {
            return;
        }
        if std::mem::take(&mut self.halfway) {
            let to = self.to;
            return self.set_width(to, reading, After::Trial);
        }
        let trial = self.sums(now);
        if trial.is_client_bound() {
            self.client_bound = Some(now);
        }
        let cost = trial.cost_factor(&self.reference);
        let bad = cost * trial.wait > 1.25 * self.reference.wait && trial.requests < 1.3 * self.reference.requests;
        if !whole && !bad {
            return;
        }
        self.note_service();
        let reference = self.reference;
        let widest = self.width.max(self.from) as f64;
        // In a closed loop the rate and the wait say the same. In an open one equal rates say nothing, and the wait all; but
        // where a queue grows with time, only the rates can be compared.
        let rates = (reference.rate / trial.rate).ln();
        let own = (reference.own / trial.own).ln();
        let busy = trial.requests.min(reference.requests) > 1.5 * widest;
        let log = if busy && own.abs().max(rates.abs()) > 0.1 {
            -trial.gain(&reference, f64::INFINITY).ln()
        } else {
            let log = (trial.wait / reference.wait).ln();
            // Three standard deviations of what chance does to a rate.
            let noise = 3.0 * (1.0 / self.epoch.answers as f64 + 1.0 / self.reference_answers as f64).sqrt();
            // With a few slow requests, chance does far more.
            self.note_uneven(now);
            let noise = if self.is_uneven(now) { 0.5 } else { noise.max(0.05) };
            let load_changed = !busy && (own > noise || trial.requests > 1.3 * reference.requests);
            if load_changed { log.max(0.05) } else { log }
        };
        let (mean, error) = self.pairs.add(log + cost.ln(), if reference.is_client_bound() { 0.5 } else { 0.25 });
        let enough: f64 = match self.direction {
            Direction::Up if self.must_earn_more(&reference) => 0.85,
            Direction::Up if reference.is_for_the_tail(self.from) => 1.03,
            Direction::Up if 2 * self.to > 3 * self.from => 0.95,
            // A small step gains little.
            Direction::Up => 0.97,
            // Fewer connections are cheaper: they need not be better.
            Direction::Down => 1.0,
        };
        let enough = enough.ln();
        let last = self.pairs.count >= MOST_PAIRS;
        if mean + error < enough || (last && self.direction == Direction::Down && mean < 0.02) {
            self.accept(now);
        } else if mean - error > enough || bad || last {
            self.reject(reading);
        } else {
            let from = self.from;
            self.set_width(from, reading, After::Reference);
        }
    }

    fn accept(&mut self, now: u64) {
        let (taken, other) = match self.direction {
            Direction::Up => (&mut self.up, &mut self.down),
            Direction::Down => (&mut self.down, &mut self.up),
        };
        *taken = Schedule { due: now, back_off: BACK_OFF, streak: taken.streak + 1 };
        *other = Schedule { due: later(now, BACK_OFF), back_off: BACK_OFF, streak: 0 };
        self.base = None;
        self.usual_gap = 0.0;
        self.pairs = Pairs::default();
        self.measure(now, Phase::Reference);
    }

    pub(super) fn reject(&mut self, reading: &Reading) {
        let now = reading.now;
        let took = now.saturating_sub(self.pairs.began);
        let alone = self.direction == Direction::Down && self.reference.are_alone(self.from);
        // Short trials take a tenth of the time at most; those longer than a tenth of the longest wait take more. Where no
        // request waits for another, those of a trial are the slowest of all: a fiftieth then.
        let (times, most) = if alone { (50, MOST_BACK_OFF_ALONE) } else { (12, MOST_BACK_OFF) };
        if self.direction == Direction::Down {
            self.rejected = alone.then_some(self.reference.wait);
        }
        let schedule = match self.direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        };
        if schedule.streak > 0 {
            schedule.streak = 0;
            schedule.due = later(now, BACK_OFF / 2);
        } else {
            schedule.due = later(now, schedule.back_off.max((times * took).min(most)));
            schedule.back_off = (2 * schedule.back_off).min(most);
        }
        self.direction = self.direction.other();
        self.pairs = Pairs::default();
        let from = self.from;
        self.set_width(from, reading, After::Reference);
    }
}
