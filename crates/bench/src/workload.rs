//! What the workers do: the mix of operations and the requests drawn from it.
//!
//! The notation is the one of the vendor's Python harness: `RU,50` is 50 % reads and 50 % updates of keys drawn
//! evenly from the key space, `RR,50` replaces instead of updating, `I` inserts the key space in order.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use aerospike_core::{Bin, Key, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::measure::CallKind;

/// The name of the one bin that every record has. Its value is the record's key id, as an integer.
pub const BIN: &str = "b0";

/// The mix of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Workload {
    /// Writes of the whole key space in order, again and again until the time is over.
    Insert,
    /// Reads and updates of random keys.
    ReadUpdate {
        /// Share of reads, 0 to 100.
        read_pct: u8,
    },
    /// Reads and replaces (all bins of the record are written anew) of random keys.
    ReadReplace {
        /// Share of reads, 0 to 100.
        read_pct: u8,
    },
    /// Operates on random keys with one list operation, which reads the first item of a list.
    ListGet,
}

/// Items of the lists of [`Workload::ListGet`].
const LIST_ITEMS: i64 = 8;

impl Workload {
    /// The bin of the record of one id.
    #[must_use]
    pub fn bin(self, id: u64) -> Bin {
        match self {
            Self::ListGet => Bin::new(BIN, Value::List((0..LIST_ITEMS).map(Value::Int).collect())),
            _ => KeySpace::bin(id),
        }
    }

    /// Share of reads in percent.
    #[must_use]
    pub fn read_pct(self) -> u8 {
        match self {
            Self::Insert => 0,
            Self::ListGet => 100,
            Self::ReadUpdate { read_pct } | Self::ReadReplace { read_pct } => read_pct,
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insert => f.write_str("I"),
            Self::ListGet => f.write_str("LG"),
            Self::ReadUpdate { read_pct } => write!(f, "RU,{read_pct}"),
            Self::ReadReplace { read_pct } => write!(f, "RR,{read_pct}"),
        }
    }
}

impl From<Workload> for String {
    fn from(workload: Workload) -> Self {
        workload.to_string()
    }
}

impl TryFrom<String> for Workload {
    type Error = WorkloadError;

    fn try_from(text: String) -> Result<Self, WorkloadError> {
        text.parse()
    }
}

/// Why a workload text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("workload `{text}`: {reason}; expected I, LG, RU,<read %>, RU,<read %>/<write %> or the same with RR")]
pub struct WorkloadError {
    text: String,
    reason: &'static str,
}

impl FromStr for Workload {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let refuse = |reason| WorkloadError { text: text.to_owned(), reason };
        let trimmed = text.trim();
        let (kind, share) = match trimmed.split_once(',') {
            None => (trimmed, None),
            Some((kind, share)) => (kind.trim(), Some(share.trim())),
        };
        match (kind.to_ascii_uppercase().as_str(), share) {
            ("I", None) => Ok(Self::Insert),
            ("LG", None) => Ok(Self::ListGet),
            ("I" | "LG", Some(_)) => Err(refuse("it takes no share of reads")),
            ("RU" | "RR", None) => Err(refuse("the share of reads is missing")),
            ("RU", Some(share)) => Ok(Self::ReadUpdate { read_pct: read_share(share).map_err(refuse)? }),
            ("RR", Some(share)) => Ok(Self::ReadReplace { read_pct: read_share(share).map_err(refuse)? }),
            _ => Err(refuse("unknown kind")),
        }
    }
}

/// Reads `R` or `R/W`, percentages.
fn read_share(text: &str) -> Result<u8, &'static str> {
    let percent = |part: &str| match part.trim().parse::<u8>() {
        Ok(value) if value <= 100 => Ok(value),
        _ => Err("a share is a whole number from 0 to 100"),
    };
    match text.split_once('/') {
        None => percent(text),
        Some((reads, writes)) => {
            let (reads, writes) = (percent(reads)?, percent(writes)?);
            if u16::from(reads) + u16::from(writes) == 100 {
                Ok(reads)
            } else {
                Err("reads and writes must add up to 100")
            }
        }
    }
}

/// How a key id becomes a user key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// An integer, as the vendor's Rust harness does.
    Int,
    /// The decimal digits as a string, as the vendor's Python harness does.
    Str,
}

/// Whose function makes the keys of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMaker {
    /// `aerospike_core::Key::new`.
    AerospikeCore,
    /// `aerolane::key`, which gives the same key.
    Aerolane,
}

/// One call to the database.
#[derive(Debug)]
pub enum Request {
    /// Reads one record, all bins.
    Read(Cow<'static, Key>),
    /// Reads the first item of the list in the one bin of a record.
    ListGet(Cow<'static, Key>),
    /// Writes one record with one bin.
    Write(Cow<'static, Key>, Bin),
    /// Reads several records in one batch call.
    BatchRead(Vec<Key>),
    /// Writes several records in one batch call.
    BatchWrite(Vec<(Key, Bin)>),
    /// Reads or writes several records in one batch call, with rows that were built before the run.
    Prebuilt {
        /// Whether it reads.
        read: bool,
        /// Number of rows.
        rows: usize,
    },
}

impl Request {
    /// Whether it reads or writes.
    #[must_use]
    pub fn kind(&self) -> CallKind {
        match self {
            Self::Read(_) | Self::ListGet(_) | Self::BatchRead(_) | Self::Prebuilt { read: true, .. } => CallKind::Read,
            Self::Write(..) | Self::BatchWrite(_) | Self::Prebuilt { read: false, .. } => CallKind::Write,
        }
    }
}

/// The key space and its names; shared by all workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySpace {
    /// Namespace of every record.
    pub namespace: String,
    /// Set of every record.
    pub set: String,
    /// Number of keys; key ids run from 0 to `keys - 1`.
    pub keys: u64,
    /// Type of the user keys.
    pub kind: KeyKind,
}

impl KeySpace {
    /// Builds the key of one id: two names copied and one RIPEMD-160 digest, as a service would do per request.
    #[must_use]
    pub fn key(&self, id: u64) -> Key {
        self.key_of(id, KeyMaker::AerospikeCore)
    }

    /// [`key`](Self::key), made as the users of one client make it.
    ///
    /// # Panics
    /// Never: integers and strings are valid user keys.
    #[must_use]
    pub fn key_of(&self, id: u64, maker: KeyMaker) -> Key {
        let user_key = match self.kind {
            KeyKind::Int => Value::Int(id as i64),
            KeyKind::Str => Value::String(id.to_string()),
        };
        let (namespace, set) = (self.namespace.as_str(), self.set.as_str());
        let key = match maker {
            KeyMaker::AerospikeCore => Key::new(namespace, set, user_key).ok(),
            KeyMaker::Aerolane => aerolane::key(namespace, set, user_key).ok(),
        };
        key.expect("integers and strings are valid user keys")
    }

    /// All keys, in the order of their ids, for as long as the process lives.
    #[must_use]
    pub fn all_keys(&self) -> &'static [Key] {
        Vec::leak((0..self.keys).map(|id| self.key(id)).collect())
    }

    /// The bin that belongs to one id.
    #[must_use]
    pub fn bin(id: u64) -> Bin {
        Bin::new(BIN, Value::Int(id as i64))
    }
}

/// Draws requests. Each worker has its own, with its own random numbers.
#[derive(Debug)]
pub struct RequestSource {
    rng: Xoshiro256PlusPlus,
    workload: Workload,
    space: KeySpace,
    maker: KeyMaker,
    prebuilt: Option<&'static [Key]>,
    batch: usize,
    next_insert: u64,
    insert_stride: u64,
    /// What the requests of an open loop are drawn from, together with their numbers.
    seed: u64,
}

impl RequestSource {
    /// The source of worker `index` of `workers`. Equal seeds give equal sequences.
    #[must_use]
    pub fn new(workload: Workload, space: &KeySpace, batch: usize, seed: u64, index: usize, workers: usize) -> Self {
        Self {
            // seed_from_u64 runs the seed through SplitMix64, so neighbouring seeds give unrelated streams.
            rng: Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index as u64),
            workload,
            space: space.clone(),
            maker: KeyMaker::AerospikeCore,
            prebuilt: None,
            batch: batch.max(1),
            next_insert: index as u64 % space.keys.max(1),
            insert_stride: workers.max(1) as u64,
            seed: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }

    /// Takes the keys from `keys` ([`KeySpace::all_keys`]) rather than building them; batches are drawn as
    /// [`Request::Prebuilt`].
    #[must_use]
    pub fn with_prebuilt(mut self, keys: Option<&'static [Key]>) -> Self {
        self.prebuilt = keys;
        self
    }

    /// Has the keys made by `maker`; without this, by aerospike-core.
    #[must_use]
    pub fn with_keys_by(mut self, maker: KeyMaker) -> Self {
        self.maker = maker;
        self
    }

    fn key(&self, id: u64) -> Cow<'static, Key> {
        match self.prebuilt {
            Some(keys) => Cow::Borrowed(&keys[id as usize]),
            None => Cow::Owned(self.space.key_of(id, self.maker)),
        }
    }

    /// A number from 0 to `below - 1` (multiply-shift: no division, bias below 2^-40 for our ranges).
    pub fn below(&mut self, below: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(below)) >> 64) as u64
    }

    fn next_id(&mut self) -> u64 {
        if self.workload == Workload::Insert {
            let id = self.next_insert;
            self.next_insert = (id + self.insert_stride) % self.space.keys.max(1);
            id
        } else {
            self.below(self.space.keys)
        }
    }

    /// Builds the request that has a certain number in an open loop. It does not depend on which worker asks.
    pub fn request(&mut self, number: u64) -> Request {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(number));
        self.next_insert = number % self.space.keys.max(1);
        self.next_request()
    }

    /// Draws and builds the next request.
    pub fn next_request(&mut self) -> Request {
        let read = match self.workload.read_pct() {
            0 => false,
            100 => true,
            share => self.below(100) < u64::from(share),
        };
        match (read, self.batch) {
            (true, 1) => {
                let id = self.next_id();
                let key = self.key(id);
                if self.workload == Workload::ListGet { Request::ListGet(key) } else { Request::Read(key) }
            }
            (false, 1) => {
                let id = self.next_id();
                Request::Write(self.key(id), KeySpace::bin(id))
            }
            (read, rows) if self.prebuilt.is_some() => Request::Prebuilt { read, rows },
            (true, batch) => Request::BatchRead(
                (0..batch)
                    .map(|_| {
                        let id = self.next_id();
                        self.space.key_of(id, self.maker)
                    })
                    .collect(),
            ),
            (false, batch) => Request::BatchWrite(
                (0..batch)
                    .map(|_| {
                        let id = self.next_id();
                        (self.space.key_of(id, self.maker), KeySpace::bin(id))
                    })
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(keys: u64) -> KeySpace {
        KeySpace { namespace: "test".into(), set: "s".into(), keys, kind: KeyKind::Int }
    }

    fn id_of(key: &Key) -> i64 {
        match key.user_key() {
            Some(Value::Int(id)) => *id,
            other => panic!("unexpected user key {other:?}"),
        }
    }

    #[test]
    fn parses_every_form() {
        assert_eq!("RU,50".parse(), Ok(Workload::ReadUpdate { read_pct: 50 }));
        assert_eq!(" ru , 7 ".parse(), Ok(Workload::ReadUpdate { read_pct: 7 }));
        assert_eq!("RU,0/100".parse(), Ok(Workload::ReadUpdate { read_pct: 0 }));
        assert_eq!("RR,80".parse(), Ok(Workload::ReadReplace { read_pct: 80 }));
        assert_eq!("I".parse(), Ok(Workload::Insert));
        assert_eq!("lg".parse(), Ok(Workload::ListGet));
    }

    #[test]
    fn refuses_with_a_reason() {
        for (text, reason) in [
            ("RU", "missing"),
            ("RU,101", "0 to 100"),
            ("RU,-1", "0 to 100"),
            ("RU,50/60", "add up"),
            ("RU,50,1,2", "0 to 100"),
            ("I,5", "no share"),
            ("LG,5", "no share"),
            ("RMU,50", "unknown kind"),
            ("", "unknown kind"),
        ] {
            let error = text.parse::<Workload>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn display_parses_back() {
        for text in ["I", "LG", "RU,0", "RU,100", "RR,33"] {
            assert_eq!(text.parse::<Workload>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn reads_and_writes_come_in_the_asked_share() {
        let mut source = RequestSource::new("RU,30".parse().unwrap(), &space(1000), 1, 7, 0, 1);
        let mut reads = 0;
        for _ in 0..10_000 {
            match source.next_request() {
                Request::Read(key) => {
                    reads += 1;
                    assert!((0..1000).contains(&id_of(&key)));
                }
                Request::Write(key, bin) => assert_eq!(bin.value, Value::Int(id_of(&key))),
                other => panic!("{other:?}"),
            }
        }
        assert!((2800..3200).contains(&reads), "{reads}");
    }

    #[test]
    fn workers_draw_different_keys_and_the_same_seed_the_same() {
        let draw = |seed, index| {
            let mut source = RequestSource::new("RU,100".parse().unwrap(), &space(1 << 40), 1, seed, index, 4);
            (0..8)
                .map(|_| match source.next_request() {
                    Request::Read(key) => id_of(&key),
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn a_numbered_request_is_the_same_for_every_worker() {
        let space = space(1 << 40);
        let mut sources = [0, 3].map(|index| RequestSource::new("RU,50".parse().unwrap(), &space, 1, 9, index, 4));
        let mut reads = 0;
        for number in (0..1000).rev() {
            let [one, other] = sources.each_mut().map(|source| source.request(number));
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            reads += usize::from(one.kind() == CallKind::Read);
        }
        assert!((420..580).contains(&reads), "{reads}");
        let mut inserts = RequestSource::new(Workload::Insert, &KeySpace { keys: 10, ..space.clone() }, 1, 1, 0, 4);
        let ids = [0, 1, 12].map(|number| match inserts.request(number) {
            Request::Write(key, _) => id_of(&key),
            other => panic!("{other:?}"),
        });
        assert_eq!(ids, [0, 1, 2]);
    }

    #[test]
    fn prebuilt_keys_are_the_same_keys() {
        let space = space(50);
        let source = |batch| RequestSource::new("RU,100".parse().unwrap(), &space, batch, 3, 0, 1);
        let (mut built, mut lent) = (source(1), source(1).with_prebuilt(Some(space.all_keys())));
        for _ in 0..20 {
            match (built.next_request(), lent.next_request()) {
                (Request::Read(built), Request::Read(lent @ Cow::Borrowed(_))) => assert_eq!(built, lent),
                other => panic!("{other:?}"),
            }
        }
        let batch = source(4).with_prebuilt(Some(space.all_keys())).next_request();
        assert!(matches!(batch, Request::Prebuilt { read: true, rows: 4 }));
    }

    #[test]
    fn list_reads_are_of_lists() {
        let workload = Workload::ListGet;
        assert!(matches!(workload.bin(7).value, Value::List(items) if items.len() == LIST_ITEMS as usize));
        let mut source = RequestSource::new(workload, &space(10), 1, 1, 0, 1);
        assert!(matches!(source.next_request(), Request::ListGet(key) if (0..10).contains(&id_of(&key))));
    }

    #[test]
    fn inserts_cover_the_key_space_once_per_round() {
        let mut seen = [0_u32; 10];
        for worker in 0..2 {
            let mut source = RequestSource::new(Workload::Insert, &space(10), 1, 1, worker, 2);
            for _ in 0..5 {
                match source.next_request() {
                    Request::Write(key, _) => seen[id_of(&key) as usize] += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(seen, [1; 10]);
    }

    #[test]
    fn batches_have_the_asked_size() {
        let mut source = RequestSource::new("RU,100".parse().unwrap(), &space(10), 128, 1, 0, 1);
        assert!(matches!(source.next_request(), Request::BatchRead(keys) if keys.len() == 128));
        let mut source = RequestSource::new("RU,0".parse().unwrap(), &space(10), 3, 1, 0, 1);
        assert!(matches!(source.next_request(), Request::BatchWrite(rows) if rows.len() == 3));
    }
}
