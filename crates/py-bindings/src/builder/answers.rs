//! The rows of a batch that was carried out, each looked at when it is asked for.

use aerolane::raw::{RawOutcome, RawOutcomes};

use super::execute::Part;
use super::on_error::{Judge, Verdict};
use super::result::{Outcome, Row};
use crate::batch::rows::{RowKey, Rows};
use crate::record::Body;

/// Results of a chain that was one batch.
pub(super) struct Answers {
    rows: RawOutcomes<RowKey>,
    /// The operations of the chain, the one whose rows are next first.
    parts: std::vec::IntoIter<Part>,
    part: Option<Part>,
    index: i32,
    judge: Judge,
}

impl Answers {
    /// `judge` raises nothing and tells nobody: failures are results.
    pub(super) fn new(rows: Rows, parts: Vec<Part>, judge: Judge) -> Self {
        Self { rows: rows.into_outcomes(), parts: parts.into_iter(), part: None, index: 0, judge }
    }

    /// How many rows have not been looked at.
    pub(super) fn left(&self) -> usize {
        self.rows.len()
    }

    /// What is made of the next result that the caller sees; `hidden`: where those before go that he does not.
    #[inline]
    pub(super) fn next<R>(&mut self, hidden: &mut Vec<Row>, made: impl Fn(Row) -> R) -> Option<R> {
        loop {
            let part = loop {
                match &mut self.part {
                    Some(part) if part.rows > 0 => break part,
                    part => *part = Some(self.parts.next()?),
                }
            };
            part.rows -= 1;
            let (verb, operate, index) = (part.verb, part.operate, self.index);
            self.index += 1;
            let judge = &self.judge;
            let result = self.rows.next(|key, outcome| {
                // Most rows: made where it stands.
                if let (RawOutcome::Answered(body), Some(operate)) = (&outcome, operate) {
                    let outcome = Outcome::Answered { body: Body::concat([body]), operate };
                    return Some(made(Row { key: Some(key.key), index, outcome }));
                }
                let row = Row { key: Some(key.key), index, outcome: Outcome::of(&outcome, verb, operate) };
                if judge.verdict(verb, &row.outcome) == Verdict::LeaveOut {
                    hidden.push(row);
                    return None;
                }
                Some(made(row))
            })?;
            if result.is_some() {
                return result;
            }
        }
    }
}
