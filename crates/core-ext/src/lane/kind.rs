//! Kinds of single-record requests, and how long each occupies a connection.
//!
//! A read from memory and a replicated write of the same node differ by fifty times. Where they share connections, the
//! fast ones wait for the slow ones. What a kind costs is estimated from the gaps between the answers of busy
//! connections; kinds that differ by an order of magnitude get connections apart.

use aerolane_wire::message::info2;
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE};

use super::measure::FAST;

/// Where the parts of a request of one frame lie. The header of a message has 22 bytes; the first field is the namespace.
const FRAME_TYPE: usize = 1;
const INFO2: usize = PROTO_HEADER_SIZE + 2;
const OPERATIONS: usize = PROTO_HEADER_SIZE + 20;
const FIRST_FIELD: usize = PROTO_HEADER_SIZE + 22;
const NAMESPACE_FIELD: u8 = 0;
const LONGEST_NAMESPACE: usize = 31;

/// Namespaces told apart; the requests to any further ones count as those to the last.
const NAMESPACES: usize = 4;
/// Kinds: reads and writes of each namespace.
pub(super) const KINDS: usize = 2 * NAMESPACES;

/// Whether a request runs a UDF: it takes long, and shares a connection with no others.
///
/// The server takes a write without operations that is no deletion for one.
#[must_use]
pub(crate) fn is_slow(request: &[u8]) -> bool {
    let Some(&bits) = request.get(INFO2).filter(|_| is_plain(request)) else { return false };
    bits & info2::WRITE != 0 && bits & info2::DELETE == 0 && request.get(OPERATIONS..OPERATIONS + 2) == Some(&[0, 0])
}

fn is_plain(request: &[u8]) -> bool {
    request.get(FRAME_TYPE) == Some(&(FrameType::Message as u8))
}

fn is_write(request: &[u8]) -> bool {
    // What is compressed is large, and so a write.
    !is_plain(request) || request.get(INFO2).is_some_and(|bits| bits & info2::WRITE != 0)
}

fn namespace(request: &[u8]) -> &[u8] {
    let Some(&[a, b, c, d, NAMESPACE_FIELD]) = request.get(FIRST_FIELD..FIRST_FIELD + 5).filter(|_| is_plain(request))
    else {
        return &[];
    };
    let start = FIRST_FIELD + 5;
    let len = (u32::from_be_bytes([a, b, c, d]) as usize).saturating_sub(1).min(LONGEST_NAMESPACE);
    request.get(start..start + len).unwrap_or_default()
}

/// How many answers of each kind a read brought.
pub(super) type Counts = [u16; KINDS];

/// What is known of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    /// Nanoseconds for which it occupies a connection.
    service: f64,
    /// Nanoseconds that one took which found its connection idle: a bound of `service`.
    alone: f64,
    /// Answers that `service` stands on, and those that `alone` stands on.
    samples: u32,
    alone_samples: u32,
    /// Answers since kinds were last compared.
    recent: u32,
}

impl Estimate {
    /// The same estimate, with what requests tell that had a connection to themselves. All kinds take the same time on the
    /// way, so the server works on a kind for at least as long as it takes longer than the quickest one (`least`). Times on the
    /// way vary: only a kind that takes several times as long counts.
    fn with_alone(self, least: f64) -> Self {
        let more = if self.is_alone_known() && self.alone >= TOGETHER * least { self.alone - least } else { 0.0 };
        Self { service: self.service.max(more), ..self }
    }

    const fn is_alone_known(&self) -> bool {
        self.alone_samples >= ENOUGH_ALONE
    }

    const fn is_known(&self) -> bool {
        self.samples >= ENOUGH || self.is_alone_known()
    }

    /// Nanoseconds that the answers took since kinds were last compared.
    fn recent_time(&self) -> f64 {
        f64::from(self.recent) * self.service
    }
}

/// The kinds of requests to one node.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    names: Vec<Box<[u8]>>,
    estimates: [Estimate; KINDS],
    /// Bit for bit: kinds that are kept apart from the fast ones, and those that the last comparison would.
    slow: u8,
    candidates: u8,
    /// Answers since kinds were last compared, the reads that brought them, and when that was, in nanoseconds.
    recent: u32,
    reads: u32,
    compared: u64,
}

/// Kinds are compared after so many answers.
const COMPARE_EVERY: u32 = 512;
/// From so many answers with a read on, the times between reads are those of a scheduler, and nearly all reads bring about as many
/// of each kind: a difference between the kinds is then chance.
const CROWD: u32 = 8;
/// An estimate stands on at least so many answers: of gaps, which several kinds share, and of requests that were alone.
const ENOUGH: u32 = 64;
const ENOUGH_ALONE: u32 = 16;
/// The shortest of so many requests that were alone is where their mean begins: the first ones may have waited for more than
/// the server.
const FIRST_ALONE: u32 = 4;
/// A kind counts if it has this fraction (1/`RARE`) of the answers, or of the time that they all took: a kind that is rare but
/// slow holds up many others.
const RARE: u32 = 50;
/// How much of the error of a prediction goes into the estimates.
const WEIGHT: f64 = 0.05;
/// A silence counts as so many times what was predicted at most, and this much (nanoseconds): a pause of a processor
/// says nothing of the kind of request that happens to be next.
const OUTLIER: f64 = 4.0;
const SLACK: f64 = 20_000.0;
/// Kinds that differ by this factor go apart, and come together again below the other one.
const APART: f64 = 8.0;
const TOGETHER: f64 = 3.0;
/// Nothing goes apart for less than this, in nanoseconds: sharing saves the client as much.
const WORTH: f64 = 40_000.0;

impl Kinds {
    /// The kind of a request. Below [`KINDS`].
    pub(super) fn of(&mut self, request: &[u8]) -> u8 {
        let name = namespace(request);
        let known = self.names.iter().position(|known| **known == *name);
        let namespace = known.unwrap_or_else(|| {
            if self.names.len() < NAMESPACES {
                self.names.push(name.into());
            }
            self.names.len() - 1
        });
        (2 * namespace + usize::from(is_write(request))) as u8
    }

    /// Whether requests of this kind go apart.
    pub(super) const fn is_slow(&self, kind: u8) -> bool {
        self.slow & 1 << kind != 0
    }

    /// Whether requests of any kind do.
    pub(super) const fn has_slow(&self) -> bool {
        self.slow != 0
    }

    /// Takes in how many answers of each kind came in so many nanoseconds, in which the connection was busy (`gap`), or at
    /// most in which it was (otherwise). `now` in nanoseconds.
    pub(super) fn learn(&mut self, counts: &Counts, (nanos, gap): (u64, bool), now: u64) {
        self.reads += 1;
        if gap {
            self.learn_gap(counts, nanos);
        } else {
            self.learn_bound(counts, nanos as f64);
        }
        if self.recent >= COMPARE_EVERY {
            self.compare(self.came_in_crowds(now));
            (self.recent, self.reads, self.compared) = (0, 0, now);
        }
    }

    /// Whether answers came in crowds, and fast, since kinds were last compared: when they came was up to a scheduler.
    fn came_in_crowds(&self, now: u64) -> bool {
        let elapsed = now.saturating_sub(self.compared) as f64 / 1e3;
        self.recent >= CROWD * self.reads && 3.0 * f64::from(self.recent) >= FAST * elapsed
    }

    fn learn_gap(&mut self, counts: &Counts, nanos: u64) {
        let counted = || counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        let predicted: f64 = counted().map(|(kind, &count)| f64::from(count) * self.estimates[kind].service).sum();
        let norm: f64 = counted().map(|(_, &count)| f64::from(count).powi(2)).sum();
        let error = (nanos as f64).min(OUTLIER * (predicted + SLACK)) - predicted;
        for (kind, &count) in counted() {
            let estimate = &mut self.estimates[kind];
            estimate.recent += u32::from(count);
            self.recent += u32::from(count);
            estimate.samples = estimate.samples.saturating_add(u32::from(count));
            // The least change that explains a part of the error.
            estimate.service = (estimate.service + WEIGHT * error * f64::from(count) / norm).max(0.0);
        }
    }

    /// Takes in how long the first of these answers took, which found its connection idle. Single times vary: only their mean
    /// bounds the estimate.
    fn learn_bound(&mut self, counts: &Counts, nanos: f64) {
        let answers = counts.iter().map(|&count| u32::from(count)).sum::<u32>();
        for (estimate, &count) in self.estimates.iter_mut().zip(counts).filter(|(_, count)| **count > 0) {
            estimate.recent += u32::from(count);
            if answers == 1 {
                let (alone, before) = (estimate.alone, estimate.alone_samples);
                estimate.alone_samples = before.saturating_add(1);
                estimate.alone = match before {
                    0 => nanos,
                    1..FIRST_ALONE => nanos.min(alone),
                    _ => alone + WEIGHT * (nanos.min(OUTLIER * (alone + SLACK)) - alone),
                };
                estimate.service = estimate.service.min(estimate.alone);
            }
        }
        self.recent += answers;
    }

    /// `crowds`: how long the answers took is up to a scheduler, which knows nothing of kinds. None goes apart for that.
    fn compare(&mut self, crowds: bool) {
        let recent = self.recent;
        // Kinds that count, each with its time; nothing is allocated here.
        let alone = self.estimates.iter().filter(|e| e.is_alone_known()).map(|e| e.alone);
        let least_alone = alone.fold(f64::INFINITY, f64::min);
        let estimates = self.estimates.map(|e| e.with_alone(least_alone));
        let time = estimates.iter().map(Estimate::recent_time).sum::<f64>();
        let known = || {
            let is_frequent =
                move |e: &Estimate| e.recent * RARE >= recent || e.recent_time() * f64::from(RARE) >= time;
            let counts = move |e: &Estimate| e.is_known() && e.recent > 0 && is_frequent(e);
            let all = estimates.iter().enumerate();
            all.filter(move |(_, e)| counts(e)).map(|(kind, e)| (kind, e.service.max(1000.0)))
        };
        self.estimates.iter_mut().for_each(|e| e.recent = 0);
        let least = known().map(|k| k.1).fold(f64::INFINITY, f64::min);
        let most = known().map(|k| k.1).fold(0.0, f64::max);
        let count = known().count();
        if count < 2 || most < TOGETHER * least {
            if count >= 2 {
                self.slow = 0;
            }
            self.candidates = 0;
        } else if most >= APART * least && most >= WORTH && !crowds {
            let border = (least * most).sqrt();
            let candidates = known().filter(|k| k.1 > border).fold(0, |slow, k| slow | 1 << k.0);
            // Twice in a row, to be no chance.
            if candidates == self.candidates {
                self.slow = candidates;
            }
            self.candidates = candidates;
        } else {
            self.candidates = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use aerolane_wire::message::{MessageHeader, MessageWriter, field};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    fn request(namespace: &str, info2: u8) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = MessageWriter::frame(&mut out, &MessageHeader { info2, ..MessageHeader::default() });
        writer.field(field::NAMESPACE, namespace.as_bytes());
        writer.finish().unwrap();
        out
    }

    #[test]
    fn kinds_are_told_by_namespace_and_by_what_they_do() {
        let mut kinds = Kinds::default();
        let (a, b) = (kinds.of(&request("a", 0)), kinds.of(&request("a", info2::WRITE)));
        let (c, d) = (kinds.of(&request("bb", 0)), kinds.of(&request("bb", info2::WRITE | info2::DELETE)));
        assert_eq!([a, b, c, d], [0, 1, 2, 3]);
        assert_eq!(kinds.of(&request("a", 0)), 0);
        for name in ["c", "d", "e", "f", ""] {
            assert!(usize::from(kinds.of(&request(name, info2::WRITE))) < KINDS);
        }
    }

    /// Damaged and short requests are not this module's affair, but they must not stop it.
    #[test]
    fn any_bytes_have_a_kind() {
        let whole = request("test", info2::WRITE);
        let mut kinds = Kinds::default();
        for end in 0..whole.len() {
            let _ = (kinds.of(&whole[..end]), is_slow(&whole[..end]));
        }
        let mut wrong = whole;
        wrong[FIRST_FIELD..FIRST_FIELD + 4].fill(0xff);
        let _ = (kinds.of(&wrong), is_slow(&wrong));
    }

    #[test]
    fn a_write_without_operations_is_a_udf() {
        assert!(is_slow(&request("test", info2::WRITE)));
        assert!(!is_slow(&request("test", 0)));
        assert!(!is_slow(&request("test", info2::WRITE | info2::DELETE)));
    }

    /// Kinds of one connection, and the time that its readings add up to.
    #[derive(Debug, Default)]
    struct Timed {
        kinds: Kinds,
        now: u64,
    }

    impl std::ops::Deref for Timed {
        type Target = Kinds;

        fn deref(&self) -> &Kinds {
            &self.kinds
        }
    }

    impl Timed {
        fn learn(&mut self, counts: &Counts, nanos: u64, gap: bool) {
            self.now += nanos;
            self.kinds.learn(counts, (nanos, gap), self.now);
        }
    }

    fn mixed(kinds: &mut Timed, rng: &mut Xoshiro256PlusPlus, services: [u64; 2], reads: u32) {
        for _ in 0..reads {
            let mut counts = Counts::default();
            let mut nanos = 0;
            for _ in 0..=rng.next_u64() % 5 {
                let kind = (rng.next_u64() % 2) as usize;
                counts[kind] += 1;
                nanos += services[kind] / 2 + rng.next_u64() % services[kind];
            }
            kinds.learn(&counts, nanos, true);
        }
    }

    /// Where the client is what is slow, many answers come with a read. When a read comes is up to a scheduler.
    #[test]
    fn what_a_scheduler_does_to_answers_tells_nothing_of_a_kind() {
        let read = |kinds: &mut Timed, rng: &mut Xoshiro256PlusPlus, answers: u16| {
            // It happens to be late for those of the second kind.
            let kind = (rng.next_u64() % 2) as usize;
            let mut counts = Counts::default();
            counts[kind] = answers;
            kinds.learn(&counts, u64::from(answers) * [2_000, 45_000][kind], true);
        };
        let (mut kinds, mut rng) = (Timed::default(), Xoshiro256PlusPlus::seed_from_u64(8));
        for _ in 0..1000 {
            read(&mut kinds, &mut rng, 20);
        }
        assert!(kinds.slow == 0, "{kinds:?}");
        // Answers that come one by one do, and kinds that have gone apart come together at any time.
        for _ in 0..5000 {
            read(&mut kinds, &mut rng, 1);
        }
        assert!(kinds.is_slow(1), "{kinds:?}");
        for n in 0..1000 {
            let reads = 5 + n % 11;
            kinds.learn(&[reads, 20 - reads, 0, 0, 0, 0, 0, 0], 100_000, true);
        }
        assert!(kinds.slow == 0, "{kinds:?}");
    }

    /// With few requests, none waits for another: only times of requests alone come in, the short ones of which would pass for
    /// the service time.
    #[test]
    fn kinds_stay_apart_while_each_request_is_alone() {
        let (mut kinds, mut rng) = (Timed::default(), Xoshiro256PlusPlus::seed_from_u64(3));
        mixed(&mut kinds, &mut rng, [5_000, 300_000], 4000);
        let mut alone = |kinds: &mut Timed, write: f64| {
            for _ in 0..4000 {
                let kind = (rng.next_u64() % 2) as usize;
                let nanos = if kind == 0 { 5_000 } else { exponential(&mut rng, write) };
                learn_one(kinds, kind, nanos, false);
            }
        };
        alone(&mut kinds, 300_000.0);
        assert!(!kinds.is_slow(0) && kinds.is_slow(1), "{kinds:?}");
        // Writes that have become fast show so, alone or not.
        alone(&mut kinds, 8_000.0);
        assert!(kinds.slow == 0, "{kinds:?}");
    }

    /// Takes in a request of a kind that was answered by itself.
    fn learn_one(kinds: &mut Timed, kind: usize, nanos: u64, gap: bool) {
        let mut counts = Counts::default();
        counts[kind] = 1;
        kinds.learn(&counts, nanos, gap);
    }

    /// An exponentially distributed time.
    fn exponential(rng: &mut Xoshiro256PlusPlus, mean: f64) -> u64 {
        let unit = ((rng.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0;
        (-mean * unit.ln()) as u64
    }

    /// Requests that each had a connection to itself: reads of 50 µs and writes, with 100 µs on the way on average.
    fn alone(kinds: &mut Timed, rng: &mut Xoshiro256PlusPlus, write: u64, write_percent: u64, requests: u32) {
        for _ in 0..requests {
            let kind = usize::from(rng.next_u64() % 100 < write_percent);
            let time = [50_000, write][kind] + exponential(rng, 100_000.0);
            learn_one(kinds, kind, time, false);
        }
    }

    /// One write in a hundred that takes 20 ms takes four times as long as all the reads.
    #[test]
    fn a_rare_kind_goes_apart_if_it_is_slow() {
        for (write, slow) in [(20_000_000, true), (60_000, false)] {
            let mut kinds = Timed::default();
            for n in 0..10_000 {
                let kind = usize::from(n % 100 == 0);
                learn_one(&mut kinds, kind, [50_000, write][kind], true);
            }
            assert_eq!((kinds.is_slow(0), kinds.is_slow(1)), (false, slow), "{write} ns: {kinds:?}");
        }
    }

    /// With a connection for each request there are no gaps. How long requests are on the way tells the kinds apart.
    #[test]
    fn requests_that_were_always_alone_show_which_kind_is_slow() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        let cases = [(20_000_000, 1, true), (1_000_000, 50, true), (50_000, 1, false), (150_000, 50, false)];
        for (write, percent, slow) in cases {
            let mut kinds = Timed::default();
            for _ in 0..20 {
                alone(&mut kinds, &mut rng, write, percent, 200);
                assert!(slow || kinds.slow == 0, "{write} ns, {percent} %: {kinds:?}");
            }
            assert_eq!((kinds.is_slow(0), kinds.is_slow(1)), (false, slow), "{write} ns, {percent} %: {kinds:?}");
        }
    }

    /// The first requests pay for what is not the server's work, such as pages that are touched for the first time.
    #[test]
    fn a_slow_start_tells_nothing_of_a_kind() {
        let (mut kinds, mut rng) = (Timed::default(), Xoshiro256PlusPlus::seed_from_u64(7));
        alone(&mut kinds, &mut rng, 50_000, 0, 1000);
        for _ in 0..3 {
            learn_one(&mut kinds, 1, 30_000_000, false);
        }
        for _ in 0..20 {
            alone(&mut kinds, &mut rng, 50_000, 2, 512);
            assert!(kinds.slow == 0, "{kinds:?}");
        }
    }

    #[test]
    fn kinds_go_apart_and_come_together() {
        let (mut kinds, mut rng) = (Timed::default(), Xoshiro256PlusPlus::seed_from_u64(1));
        mixed(&mut kinds, &mut rng, [5_000, 5_500], 4000);
        assert!(kinds.slow == 0, "{kinds:?}");
        mixed(&mut kinds, &mut rng, [5_000, 300_000], 4000);
        assert!(!kinds.is_slow(0) && kinds.is_slow(1), "{kinds:?}");
        assert!((200_000.0..400_000.0).contains(&kinds.estimates[1].service), "{kinds:?}");
        mixed(&mut kinds, &mut rng, [5_000, 7_000], 4000);
        assert!(kinds.slow == 0, "{kinds:?}");
        mixed(&mut kinds, &mut rng, [300_000, 400_000], 4000);
        assert!(kinds.slow == 0, "slow, but alike: {kinds:?}");
    }
}
