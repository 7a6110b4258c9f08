//! Writing in bulk, with every outcome known.
//!
//! [`Writer`] and [`SyncWriter`] take records one by one, gather them per node into batches, retry what is worth it, and
//! give each record an [`Outcome`]. [`RawWriter`] is what both stand on, and bindings to other languages.
//!
//! | file | what it does |
//! |---|---|
//! | `core` | which record goes when and where, and what an answer means for it; without I/O, in simulated time |
//! | `core/node` | what is kept for each node |
//! | `core/slots`, `core/youngest` | the records; the last one of each key |
//! | `core/blocks`, `core/open` | rows that need no slot; puts that become such rows |
//! | `retry` | classes of failures, pauses, the budget of retries |
//! | `rate`, `pace` | token buckets; the rate to a node that follows its answers |
//! | `arrivals`, `width` | how fast records come in; how many batches a node may have in flight |
//! | `driver`, `sender`, `room`, `lone` | senders, timer, room for records; a lone record that the wait for it sends |
//! | `outcome`, `row_outcomes`, `outcome_list`, `delivery` | what callers hear of a record, and of many |
//! | `tell`, `stream`, `owner_queue` | how they hear of it |
//! | `block`, `put` | rows of tables and puts, which are queued, sent and confirmed many at a time |
//! | `counts`, `figures`, `export`, `facade`, `otel` | what is counted, the names and kinds of it, and exporters |
//! | `shape`, `record`, `raw`, `front` | what a record does, records and puts of Rust callers, encoded ones, and the public writers |
//!
//! Decisions 0023, 0029 and 0030 say why it is so.

mod arrivals;
mod block;
mod core;
mod counts;
mod delivery;
mod driver;
mod export;
#[cfg(feature = "metrics")]
mod facade;
mod figures;
mod front;
mod lone;
mod options;
#[cfg(feature = "opentelemetry")]
mod otel;
mod outcome;
mod outcome_list;
mod owner_queue;
mod pace;
mod put;
mod rate;
mod raw;
mod record;
mod retry;
mod room;
mod row_outcomes;
mod sender;
pub mod shape;
mod stream;
mod tell;
mod width;

pub use block::{BlockOwner, BlockWriter};
pub use counts::{Progress, WriterMetrics, WriterNodeMetrics};
pub use delivery::{Delivery, WriteAttempt, Written};
pub use driver::WriterKey;
pub use export::{JsonLines, LatestMetrics, LogExporter};
pub use figures::{FIGURES, Figure, FigureKind, NODE_FIGURES};
pub use front::{SyncWriter, Writer};
pub use lone::LoneRecord;
pub use options::WriterOptions;
pub use outcome::Outcome;
pub use outcome_list::{NewOutcome, OutcomeList};
pub use put::{MakeKey, PutQueue, PutShapes};
pub use raw::RawWriter;
pub use record::RecordKey;
pub use retry::{CLASSES, RetryClass};
pub use stream::Outcomes;

#[cfg(test)]
mod tests;
