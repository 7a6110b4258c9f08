//! How the rate of records to a node follows what the node says.

use std::time::{Duration, Instant};

use super::rate::Bucket;

/// When all records of a round are throttled, the rate falls by this part; when some are, by their share of it.
const DECREASE: f64 = 0.5;
/// The rate does not fall below so many times what the node has taken in about the last second: a node that takes most of what
/// it is sent is not too slow for it.
const TAKEN: f64 = 1.2;
/// What is new of the rate in which a node takes records, for each round: it follows within about a second.
const SUSTAINED: f64 = 0.1;
/// A rate falls at most once in so long: what is in flight when it falls says nothing about the new rate.
const ROUND: Duration = Duration::from_millis(100);
/// Each round adds this part of the rate that was too high.
const INCREASE: f64 = 0.02;
/// A rate that has come to so many times the one that was too high is no limit any more.
const FREE_AT: f64 = 2.0;
/// A rate that did not help when it was lower is not lowered for so long: twice as long each time, up to the most.
const KEPT_FOR: Duration = Duration::from_secs(5);
const MOST_KEPT_FOR: Duration = Duration::from_secs(60);
/// The lowest rate that a node is throttled to, in records a second.
const LEAST: f64 = 10.0;

/// Shows whether a lower rate helps. A node that is too busy takes as much as before, and refuses less. One that refuses a part
/// for another reason takes less, too: a lower rate only costs.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// The limit before.
    limit: Option<f64>,
    since: Instant,
    /// Since then: records taken, and sent.
    counts: [u64; 2],
    /// The rates of these at first.
    first: Option<[f64; 2]>,
    /// When these were known.
    began: Instant,
}

impl Trial {
    /// The rates at first are those of so long.
    const FIRST: Duration = Duration::from_millis(300);
    /// Those to compare them with, of so long at a time.
    const NEXT: Duration = Duration::from_millis(500);
    /// The rate is low enough for a verdict when it is this part of the first.
    const LOWER: f64 = 0.8;
    /// A node that takes less than this part of what it is sent is not to be sent more, whatever the reason.
    const SICK: f64 = 0.1;
    /// This part of the limit is used at least, or it is not the limit that makes the rate what it is.
    const USED: f64 = 0.5;
    /// It begins anew after so long.
    const LONGEST: Duration = Duration::from_secs(10);

    const fn new(limit: Option<f64>, now: Instant) -> Self {
        Self { limit, since: now, counts: [0; 2], first: None, began: now }
    }

    /// Takes in an answer, at the present limit. The verdict, once there is one.
    fn answered(&mut self, taken: usize, throttled: usize, limit: Option<f64>, now: Instant) -> Option<Verdict> {
        self.counts[0] += taken as u64;
        self.counts[1] += (taken + throttled) as u64;
        let passed = now.saturating_duration_since(self.since);
        if passed < if self.first.is_none() { Self::FIRST } else { Self::NEXT } {
            return None;
        }
        let [taken, sent] = self.counts.map(|count| count as f64 / passed.as_secs_f64());
        (self.since, self.counts) = (now, [0; 2]);
        let Some([taken_first, sent_first]) = self.first else {
            (self.first, self.began) = (Some([taken, sent]), now);
            return None;
        };
        // Where less is sent than the limit allows, that says nothing about the limit.
        if limit.is_none_or(|limit| sent < Self::USED * limit) {
            return Some(Verdict::Open);
        }
        if sent < Self::LOWER * sent_first {
            // In proportion, or half of that.
            let lost = 0.5 * (1.0 - sent / sent_first);
            let is_futile = taken < taken_first * (1.0 - lost) && taken > Self::SICK * sent;
            return Some(if is_futile { Verdict::Futile } else { Verdict::Helps });
        }
        (now.saturating_duration_since(self.began) > Self::LONGEST).then_some(Verdict::Open)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Helps,
    Futile,
    /// It has taken too long, or the limit is not what makes the rate what it is.
    Open,
}

/// The rate of records to a node: none but the configured one while all is well; falls by up to a half when the node
/// says that it is too much, and comes back step by step (additive increase, multiplicative decrease).
#[derive(Debug)]
pub(super) struct Pace {
    configured: Option<f64>,
    limit: Option<f64>,
    /// The rate that was too high.
    too_high: f64,
    cut_at: Option<Instant>,
    raised_at: Instant,
    throttled: u64,
    /// Records that the node has taken and throttled in this round and in the last one, and when this one began.
    taken: [u64; 2],
    refused: [u64; 2],
    round: Instant,
    /// The rate of records that the node has taken in the last rounds, and in about the last second.
    measured: f64,
    sustained: f64,
    /// A round has ended: before, nothing is known of the rate.
    has_rate: bool,
    trial: Option<Trial>,
    /// A lower rate has not helped: until when it is not lowered again, and for how long it was not this time.
    kept_until: Option<Instant>,
    kept_for: Duration,
}

impl Pace {
    pub(super) const fn new(configured: Option<f64>, now: Instant) -> Self {
        Self {
            configured,
            limit: configured,
            too_high: 0.0,
            cut_at: None,
            raised_at: now,
            throttled: 0,
            taken: [0; 2],
            refused: [0; 2],
            round: now,
            measured: 0.0,
            sustained: 0.0,
            has_rate: false,
            trial: None,
            kept_until: None,
            kept_for: Duration::ZERO,
        }
    }

    /// The present limit in records a second.
    pub(super) const fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// How many throttling answers there were.
    pub(super) const fn throttled(&self) -> u64 {
        self.throttled
    }

    /// Takes in what the node answered: so many records taken, so many throttled. Whether the limit has changed.
    pub(super) fn answered(&mut self, taken: usize, throttled: usize, now: Instant) -> bool {
        let before = self.limit;
        self.taken[0] += taken as u64;
        self.refused[0] += throttled as u64;
        self.throttled += throttled as u64;
        let passed = now.saturating_duration_since(self.round);
        if passed >= ROUND {
            self.end_round(passed, now);
        }
        self.raise(now);
        let verdict = self.trial.as_mut().and_then(|trial| trial.answered(taken, throttled, before, now));
        if let Some(verdict) = verdict {
            self.judge(verdict, now);
        }
        let has_just_fallen = self.cut_at.is_some_and(|at| now.saturating_duration_since(at) < ROUND);
        let is_kept = self.kept_until.is_some_and(|until| now < until);
        if throttled > 0 && self.has_rate && !has_just_fallen && !is_kept {
            self.trial.get_or_insert_with(|| Trial::new(before, now));
            self.cut(now);
        }
        before != self.limit
    }

    /// A trial is over. Where the lower rate did not help, the limit is lifted to what it was before.
    fn judge(&mut self, verdict: Verdict, now: Instant) {
        let Some(trial) = self.trial.take() else { return };
        match verdict {
            Verdict::Open => {}
            Verdict::Helps => self.kept_for = Duration::ZERO,
            Verdict::Futile => {
                self.kept_for = (self.kept_for * 2).clamp(KEPT_FOR, MOST_KEPT_FOR);
                self.kept_until = Some(now + self.kept_for);
                // It may have risen further meanwhile.
                self.limit = self.limit.zip(trial.limit).map(|(now, before)| now.max(before)).or(self.configured);
                if self.limit == self.configured {
                    self.cut_at = None;
                }
            }
        }
    }

    fn end_round(&mut self, passed: Duration, now: Instant) {
        let rate = self.taken[0] as f64 / passed.as_secs_f64();
        let rounds = passed.as_secs_f64() / ROUND.as_secs_f64();
        let follow = |mean: f64, part: f64| {
            if mean > 0.0 { mean + (rate - mean) * (1.0 - (1.0 - part).powf(rounds)) } else { rate }
        };
        (self.measured, self.sustained) = (follow(self.measured, 0.5), follow(self.sustained, SUSTAINED));
        (self.taken, self.refused) = ([0, self.taken[0]], [0, self.refused[0]]);
        (self.round, self.has_rate) = (now, true);
    }

    fn cut(&mut self, now: Instant) {
        // After a pause the rate of the last rounds is none: what has been taken in a round that is not over counts, too.
        let passed = now.saturating_duration_since(self.round).max(ROUND).as_secs_f64();
        let seen = self.measured.max(self.taken[0] as f64 / passed);
        let rate = self.limit.map_or(seen, |limit| if seen > 0.0 { limit.min(seen * TAKEN) } else { limit });
        let (taken, refused) = (self.taken.iter().sum::<u64>(), self.refused.iter().sum::<u64>());
        let share = refused as f64 / (taken + refused).max(1) as f64;
        let fallen = rate * (1.0 - DECREASE * share);
        let least = (self.sustained * TAKEN).max(LEAST).min(self.limit.unwrap_or(f64::MAX));
        self.too_high = rate.max(least);
        self.limit = Some(fallen.max(least));
        (self.cut_at, self.raised_at) = (Some(now), now);
    }

    fn raise(&mut self, now: Instant) {
        let (Some(limit), Some(_)) = (self.limit, self.cut_at) else { return };
        let rounds = now.saturating_duration_since(self.raised_at).as_secs_f64() / ROUND.as_secs_f64();
        if rounds < 1.0 {
            return;
        }
        self.raised_at = now;
        let raised = limit + (self.too_high * INCREASE).max(1.0) * rounds;
        let free = self.configured.unwrap_or(self.too_high * FREE_AT);
        if raised >= free {
            (self.limit, self.cut_at, self.trial) = (self.configured, None, None);
        } else {
            self.limit = Some(raised);
        }
    }

    /// Applies the present limit to the bucket of the node.
    pub(super) fn apply(&self, bucket: &mut Bucket, now: Instant) {
        bucket.set_rate(self.limit, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::retry::Jitter;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_rate_falls_once_a_round_and_comes_back_step_by_step() {
        let start = Instant::now();
        let mut pace = Pace::new(None, start);
        let mut now = start;
        pace.answered(0, 5, now);
        assert_eq!(pace.limit(), None, "there is no rate yet");
        for _ in 0..20 {
            now += Duration::from_millis(50);
            assert!(!pace.answered(500, 0, now));
        }
        assert_eq!(pace.limit(), None);
        pace.answered(0, 500, now);
        let limit = pace.limit().unwrap();
        assert!((11_900.0..12_100.0).contains(&limit), "{limit}: more than the 10,000 that the node has taken");
        pace.answered(0, 500, now + Duration::from_millis(10));
        assert_eq!(pace.limit(), Some(limit), "not twice in a round");
        assert_eq!(pace.throttled(), 1005);
        for _ in 0..20 {
            now += Duration::from_millis(100);
            pace.answered(0, 500, now);
        }
        let fallen = pace.limit().unwrap();
        assert!((500.0..2_000.0).contains(&fallen), "{fallen}");
        let mut last = fallen;
        for _ in 0..10 {
            now += Duration::from_millis(200);
            pace.answered(10, 0, now);
            let raised = pace.limit().unwrap();
            assert!(raised >= last);
            last = raised;
        }
        assert!(last > fallen);
        for _ in 0..1000 {
            now += Duration::from_millis(200);
            pace.answered(10, 0, now);
        }
        assert_eq!(pace.limit(), None, "free again");
        assert!(pace.trial.is_none());
    }

    /// Sends requests of 20 records, at the limit or else as the caller has them, for so many seconds. `takes`: whether the node
    /// takes the request, as of so many ms after the start. The records taken in each second, and the limits at the ends.
    fn sent(offered: f64, seconds: u64, mut takes: impl FnMut(u64) -> bool) -> Vec<(u64, Option<f64>)> {
        let start = Instant::now();
        let (mut pace, mut due) = (Pace::new(None, start), 0.0);
        let mut of_second = |second: u64| {
            let mut rows = 0;
            for ms in second * 1000..(second + 1) * 1000 {
                due += pace.limit().map_or(offered, |limit| limit.min(offered)) / 1000.0;
                while due >= 20.0 {
                    due -= 20.0;
                    let is_taken = takes(ms);
                    rows += if is_taken { 20 } else { 0 };
                    let counts = if is_taken { (20, 0) } else { (0, 20) };
                    pace.answered(counts.0, counts.1, start + Duration::from_millis(ms));
                }
            }
            (rows, pace.limit())
        };
        (0..seconds).map(&mut of_second).collect()
    }

    #[test]
    fn a_node_that_refuses_some_requests_keeps_its_rate() {
        for every in [10, 30, 100] {
            let mut count = 0;
            let taken = sent(100_000.0, 60, |_| {
                count += 1;
                count % every != 0
            });
            assert!(taken.iter().all(|(taken, _)| *taken > 75_000), "one of {every}: {taken:?}");
        }
    }

    #[test]
    fn a_node_that_refuses_many_requests_keeps_its_rate_once_a_lower_one_has_not_helped() {
        for part in [0.15, 0.3, 0.5, 0.8] {
            let mut random = Jitter::new(5);
            let taken = sent(100_000.0, 120, |_| random.part_of(SECOND).as_secs_f64() > part);
            let (all, possible) = (taken.iter().map(|(taken, _)| *taken as f64).sum::<f64>(), 12e6 * (1.0 - part));
            assert!(all > 0.9 * possible, "{part}: {all} of {possible}, {taken:?}");
        }
    }

    #[test]
    fn a_node_that_takes_next_to_nothing_is_sent_less_and_less() {
        let mut random = Jitter::new(5);
        let taken = sent(100_000.0, 60, |_| random.part_of(SECOND).as_secs_f64() > 0.95);
        let limits: Vec<_> = taken.iter().map(|(_, limit)| limit.unwrap_or(f64::MAX) as u64).collect();
        assert!(limits[20..].iter().all(|limit| *limit < 10_000), "{limits:?}");
    }

    #[test]
    fn a_pause_of_the_program_is_no_verdict() {
        let start = Instant::now();
        let tried = |sent: usize, limit| {
            let mut trial = Trial::new(None, start);
            assert_eq!(trial.answered(21_000, 9_000, None, start + Trial::FIRST), None);
            let next = start + Trial::FIRST + Trial::NEXT;
            trial.answered(sent * 7 / 10, sent * 3 / 10, Some(limit), next)
        };
        assert_eq!(tried(35_000, 70_000.0), Some(Verdict::Futile), "less is taken, as less is sent");
        assert_eq!(tried(35_000, 100_000.0), Some(Verdict::Futile));
        assert_eq!(tried(500, 70_000.0), Some(Verdict::Open));
        let mut trial = Trial::new(None, start);
        trial.answered(21_000, 9_000, None, start + Trial::FIRST);
        let next = start + Trial::FIRST + Trial::NEXT;
        assert_eq!(trial.answered(34_000, 1_000, Some(70_000.0), next), Some(Verdict::Helps), "nearly as much");
    }

    #[test]
    fn a_node_that_is_too_slow_gets_about_what_it_takes() {
        for capacity in [1_000, 10_000, 50_000] {
            let (mut left, mut at) = (0.0, 0);
            let taken = sent(100_000.0, 60, |ms| {
                left = (left + (ms - at) as f64 * f64::from(capacity) / 1000.0).min(f64::from(capacity) / 10.0);
                at = ms;
                let takes = left >= 20.0;
                left -= if takes { 20.0 } else { 0.0 };
                takes
            });
            for (taken, limit) in &taken[10..] {
                assert!(*taken as f64 > 0.8 * f64::from(capacity), "{capacity}: {taken}");
                assert!(limit.unwrap() < 1.5 * f64::from(capacity), "{capacity}: {limit:?}");
            }
        }
    }

    #[test]
    fn a_node_that_takes_nothing_is_hardly_sent_anything() {
        let taken = sent(100_000.0, 30, |ms| ms < 2000);
        assert_eq!(taken[1], (100_000, None));
        assert!(taken[3].1.unwrap() < 50_000.0, "{taken:?}");
        assert!(taken[15].1.unwrap() < 1000.0, "{taken:?}");
    }

    #[test]
    fn a_burst_after_a_pause_is_not_cut_to_the_rate_of_the_pause() {
        let start = Instant::now();
        let mut pace = Pace::new(None, start);
        pace.answered(500, 0, start + SECOND);
        let mut now = start + 60 * SECOND;
        for _ in 0..10 {
            now += Duration::from_millis(5);
            pace.answered(500, 0, now);
        }
        pace.answered(0, 500, now);
        assert!(pace.limit().unwrap() > 30_000.0, "{:?}", pace.limit());
    }

    #[test]
    fn a_configured_rate_is_the_ceiling() {
        let start = Instant::now();
        let mut pace = Pace::new(Some(200.0), start);
        pace.answered(30, 1, start + SECOND);
        assert!(pace.limit().unwrap() < 200.0);
        let mut now = start + SECOND;
        for _ in 0..10_000 {
            now += Duration::from_millis(100);
            pace.answered(1, 0, now);
        }
        assert_eq!(pace.limit(), Some(200.0));
        // Also where it is very low.
        let mut pace = Pace::new(Some(5.0), start);
        pace.answered(5, 0, start + SECOND);
        pace.answered(0, 1, start + 2 * SECOND);
        assert!(pace.limit().is_some_and(|limit| limit <= 5.0), "{:?}", pace.limit());
    }
}
