//! Rows as encoded records.

use std::collections::VecDeque;
use std::ops::Range;

use aerolane::Error;
use aerolane::raw::{RawOps, RawShape};
use aerolane_wire::WireError;
use aerolane_wire::message::op;
use aerolane_wire::particle::particle_type;
use aerolane_wire::proto::MAX_BODY_SIZE;
use pyo3::Python;

use super::super::key::{TableKey, WrittenKey};
use super::plan::Plan;
use super::tally::{Key, Tally};
use crate::columns::{Part, Unfit};

/// The most rows that are encoded before they are handed over, and about how many bytes.
const ROWS: usize = 512;
const BYTES: usize = 1 << 20;
/// What a request has beside its operations, at most.
const BESIDE: usize = 1 << 16;

/// Records that were encoded, and memory for the next ones.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) records: VecDeque<(WrittenKey, RawShape)>,
    key: Vec<u8>,
    /// What the last record took.
    room: usize,
}

/// Why a value cannot be sent.
enum Why {
    Unfit(Unfit),
    Null,
}

impl From<WireError> for Why {
    fn from(error: WireError) -> Self {
        Self::Unfit(Unfit::Object(error.to_string()))
    }
}

impl Encoded {
    /// Encodes rows of a part, as many as are to be handed over together; gives how many these were. `first`: the number
    /// of the part's first row in the table.
    pub(super) fn encode(&mut self, plan: &Plan, part: &Part, from: usize, first: u64, tally: &Tally) -> usize {
        let rows = from..part.rows.min(from + ROWS);
        if plan.objects {
            // Once for many values.
            return Python::attach(|_| self.encode_rows(plan, part, rows, first, tally));
        }
        self.encode_rows(plan, part, rows, first, tally)
    }

    fn encode_rows(&mut self, plan: &Plan, part: &Part, rows: Range<usize>, first: u64, tally: &Tally) -> usize {
        let (begin, mut bytes) = (rows.start, 0);
        for row in rows.clone() {
            let number = first + row as u64;
            self.key.clear();
            let kind = match part.columns[plan.key].encode(row, &mut self.key) {
                Ok(kind @ (particle_type::INTEGER | particle_type::STRING | particle_type::BLOB)) => kind,
                Ok(particle_type::NIL) => {
                    tally.refused(number, Key::None, &Error::invalid_argument("the key is null"));
                    continue;
                }
                Ok(_) => {
                    let text = "a key is an int, a text or a blob";
                    tally.refused(number, Key::None, &Error::invalid_argument(text));
                    continue;
                }
                Err(unfit) => {
                    let text = format!("the key (column '{}'): {}", plan.key_name, unfit.text());
                    tally.refused(number, Key::None, &Error::invalid_argument(text));
                    continue;
                }
            };
            match self.record(plan, part, row) {
                Ok(ops) if ops.is_empty() => tally.skipped(),
                Ok(ops) => {
                    let shape = plan.template.with_ops(ops);
                    bytes += shape.size();
                    let key = TableKey::new(&plan.names, number, kind, &self.key);
                    self.records.push_back((WrittenKey::Row(key), shape));
                }
                Err(text) => tally.refused(number, Key::of(kind, &self.key), &Error::invalid_argument(text)),
            }
            if bytes >= BYTES {
                return row + 1 - begin;
            }
        }
        rows.len()
    }

    /// The operations of a row.
    fn record(&mut self, plan: &Plan, part: &Part, row: usize) -> Result<RawOps, String> {
        let mut ops = RawOps::in_buffer(Vec::with_capacity(self.room));
        for (column, name) in &plan.bins {
            let column = &part.columns[*column];
            let written = ops.push(op::WRITE, particle_type::NIL, name.as_bytes(), |out| {
                // In front of the value: size, kind, particle type, flags, length of the name, name.
                let place = out.len() - name.len() - 3;
                match column.encode(row, out).map_err(Why::Unfit)? {
                    particle_type::NIL if !plan.delete_nulls => Err(Why::Null),
                    kind => {
                        out[place] = kind;
                        Ok(())
                    }
                }
            });
            match written {
                Ok(()) | Err(Why::Null) => {}
                Err(Why::Unfit(unfit)) => return Err(format!("bin '{name}': {}", unfit.text())),
            }
            if ops.size() > MAX_BODY_SIZE - BESIDE {
                return Err(format!("the record has more than {} bytes", MAX_BODY_SIZE - BESIDE));
            }
        }
        self.room = ops.size();
        Ok(ops)
    }
}
