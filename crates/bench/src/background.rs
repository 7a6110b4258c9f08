//! Tasks that read large records beside the workload (`--background-large 4:900000`).

use std::fmt;
use std::str::FromStr;

use aerospike_core::{Bin, Value};
use serde::{Deserialize, Serialize};

use crate::latency::LatencyFigures;
use crate::workload::{BIN, KeyKind, KeySpace};

/// What a record may have in all on a server with default settings.
const MOST_BYTES: usize = 1 << 20;
/// Large records per task: enough that each task reads another one every time.
const RECORDS_PER_TASK: u64 = 4;

/// How many tasks read records of which size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundLarge {
    /// Tasks, each of which makes its next call when the last one has ended.
    pub tasks: usize,
    /// Size of the one bin of each record.
    pub bytes: usize,
}

impl BackgroundLarge {
    /// The large records. They have a set of their own.
    #[must_use]
    pub fn space(self, small: &KeySpace) -> KeySpace {
        KeySpace {
            namespace: small.namespace.clone(),
            set: format!("{}_large", small.set),
            keys: self.tasks as u64 * RECORDS_PER_TASK,
            kind: KeyKind::Int,
        }
    }

    /// The bin of each of them.
    #[must_use]
    pub fn bin(self) -> Bin {
        Bin::new(BIN, Value::Blob(vec![b'x'; self.bytes]))
    }
}

impl fmt::Display for BackgroundLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.tasks, self.bytes)
    }
}

impl FromStr for BackgroundLarge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected <tasks>:<bytes>, 1 to 1000 tasks and 1 to {MOST_BYTES} bytes, as 4:900000");
        let (tasks, bytes) = text.split_once(':').ok_or_else(refuse)?;
        match (tasks.trim().parse(), bytes.trim().parse()) {
            (Ok(tasks @ 1..=1000), Ok(bytes @ 1..=MOST_BYTES)) => Ok(Self { tasks, bytes }),
            _ => Err(refuse()),
        }
    }
}

/// The figures of the large reads; those of the workload do not contain them, but for the CPU time per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackgroundFigures {
    /// Tasks.
    pub tasks: usize,
    /// Bytes per record.
    pub bytes: usize,
    /// Large records read per second.
    pub tps: f64,
    /// The same in megabytes (10^6) per second.
    pub megabytes_per_s: f64,
    /// Failed calls, timeouts included.
    pub errors: u64,
    /// Latency of the large reads.
    pub latency: LatencyFigures,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_it_shows() {
        let large: BackgroundLarge = "4:900000".parse().unwrap();
        assert_eq!(large, BackgroundLarge { tasks: 4, bytes: 900_000 });
        assert_eq!(large.to_string().parse(), Ok(large));
        for text in ["", "4", "0:5", "4:0", "4:9000000", "x:1", "1001:5", "-1:5"] {
            assert!(text.parse::<BackgroundLarge>().is_err(), "{text}");
        }
    }
}
