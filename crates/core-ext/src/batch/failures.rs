//! Which rows of a batch have failed: `failures()`, and one error for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aerospike_core::ResultCode;

use super::{BatchOperation, BatchRecord};
use crate::error::{Error, Result};

/// What every list of rows can say after a call: which of them have failed.
///
/// A batch call succeeds although rows of it fail. This makes it an error:
///
/// ```no_run
/// # use aerolane::*;
/// # async fn demo(client: &Client, rows: &mut [BatchOperation]) -> Result<()> {
/// client.batch(&BatchPolicy::write_default(), rows).await?;
/// rows.raise_for_failures()?;
/// # Ok(())
/// # }
/// ```
///
/// To leave missing records out, look at [`failures`](Self::failures):
///
/// ```
/// # use aerolane::*;
/// # let rows: Vec<BatchRecord> = Vec::new();
/// let failed = rows.failures().filter(|(_, row)| row.result_code() != Some(ResultCode::KeyNotFoundError));
/// # assert_eq!(failed.count(), 0);
/// ```
pub trait BatchFailures {
    /// The rows that did not succeed, each with its place: failed ones, and those without an outcome. A read of a missing
    /// record is a failure, too, as it is for `get`.
    fn failures(&self) -> impl Iterator<Item = (usize, &BatchRecord)>;

    /// How many rows there are.
    fn row_count(&self) -> usize;

    /// Fails if a row has failed.
    ///
    /// # Errors
    /// [`ErrorKind::BatchFailed`](crate::ErrorKind::BatchFailed) with copies of the rows that did not succeed; in doubt if
    /// one of them is.
    fn raise_for_failures(&self) -> Result<()> {
        let failed: Vec<_> = self.failures().map(|(row, record)| (row, record.clone())).collect();
        if failed.is_empty() { Ok(()) } else { Err(Error::batch_failed(self.row_count(), failed)) }
    }
}

impl BatchFailures for [BatchOperation] {
    fn failures(&self) -> impl Iterator<Item = (usize, &BatchRecord)> {
        failed(self.iter().map(BatchOperation::batch_record))
    }

    fn row_count(&self) -> usize {
        self.len()
    }
}

impl BatchFailures for [BatchRecord] {
    fn failures(&self) -> impl Iterator<Item = (usize, &BatchRecord)> {
        failed(self.iter())
    }

    fn row_count(&self) -> usize {
        self.len()
    }
}

fn failed<'a>(rows: impl Iterator<Item = &'a BatchRecord>) -> impl Iterator<Item = (usize, &'a BatchRecord)> {
    rows.enumerate().filter(|(_, row)| row.error().is_some() || row.is_pending())
}

/// Says how many rows have failed, with which codes, and what the first one said. A failure without an error: the row has
/// no outcome.
#[derive(Debug, Clone, Default)]
pub struct FailureSummary {
    failed: usize,
    in_doubt: usize,
    counts: BTreeMap<String, usize>,
    first: Option<(usize, String)>,
}

impl FailureSummary {
    /// Takes a failed row in; `code` is what to call its result code.
    pub fn add(&mut self, row: usize, code: Option<ResultCode>, error: Option<&Error>, in_doubt: bool) {
        self.failed += 1;
        self.in_doubt += usize::from(in_doubt);
        let name = match (code, error) {
            (Some(code), _) => format!("{code:?}"),
            (None, Some(error)) => error.kind().name().to_owned(),
            (None, None) => "no answer".to_owned(),
        };
        *self.counts.entry(name).or_default() += 1;
        if self.first.is_none() {
            let text = error.map_or_else(|| "the server left it out".to_owned(), ToString::to_string);
            self.first = Some((row, text));
        }
    }

    /// Whether no row has failed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.failed == 0
    }

    /// The error of a batch with so many rows, for callers that keep the failed rows themselves.
    #[must_use]
    pub fn error(&self, rows: usize) -> Error {
        Error::rows_failed(rows, Vec::new(), self)
    }

    /// Whether a failed row is in doubt.
    #[must_use]
    pub const fn is_in_doubt(&self) -> bool {
        self.in_doubt > 0
    }

    /// The text, of a batch with so many rows.
    #[must_use]
    pub fn text(&self, rows: usize) -> String {
        /// Codes that are listed.
        const LISTED: usize = 4;
        let mut text = format!("{} of {rows} rows of the batch failed", self.failed);
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (place, (name, count)) in counts.iter().take(LISTED).enumerate() {
            // Into a `String`, which cannot fail.
            let _ = write!(text, "{} {count} {name}", if place == 0 { ":" } else { "," });
        }
        if counts.len() > LISTED {
            text.push_str(", and others");
        }
        if self.in_doubt > 0 {
            let _ = write!(text, "; {} in doubt", self.in_doubt);
        }
        if let Some((row, first)) = &self.first {
            let _ = write!(text, "; the first is row {row}: {first}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use aerospike_core::{Key, Record};

    use super::*;
    use crate::error::ErrorKind;

    fn row(n: i64) -> BatchRecord {
        BatchRecord::new(crate::as_key!("test", "demo", n), true)
    }

    #[test]
    fn rows_without_success_are_failures() {
        let mut rows: Vec<_> = (0..4).map(row).collect();
        let done = Record::new(None::<Key>, aerospike_core::IndexMap::default(), None, 1, 0);
        rows[0].set_ok(done.clone());
        rows[2].set_error(Error::server_bare(ResultCode::KeyNotFoundError), None);
        rows[3].set_error(Error::timeout("no answer").force_in_doubt(true), None);
        assert_eq!(rows.failures().map(|(row, _)| row).collect::<Vec<_>>(), [1, 2, 3]);
        let error = rows.raise_for_failures().unwrap_err();
        assert!(error.in_doubt());
        let ErrorKind::BatchFailed { rows: 4, failed } = error.kind() else { panic!("{error:?}") };
        assert_eq!(failed.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
        let text = error.to_string();
        for part in ["3 of 4 rows", "1 KeyNotFoundError", "1 Timeout", "1 no answer", "1 in doubt", "row 1"] {
            assert!(text.contains(part), "{text}");
        }
        rows.truncate(1);
        rows.raise_for_failures().unwrap();
        assert_eq!(rows.failures().count(), 0);
    }
}
