//! Rows as encoded records.

use std::ops::Range;

use aerolane::Error;
use aerolane::raw::BlockOps;
use aerolane::writer::BlockWriter;
use aerolane_wire::WireError;
use aerolane_wire::particle::particle_type;
use aerolane_wire::proto::MAX_BODY_SIZE;
use pyo3::Python;

use super::super::key::{USER_KEY_HEADER, WrittenKey, make_user_key};
use super::plan::Plan;
use super::tally::{Key, Tally};
use crate::columns::{Part, Unfit};

/// The most rows that are encoded before they are handed over, and about how many bytes.
const ROWS: usize = 512;
const BYTES: usize = 1 << 20;
/// What a request has beside its operations, at most.
const BESIDE: usize = 1 << 16;

/// Encodes rows into blocks.
pub(super) struct Encoder {
    pub(super) blocks: BlockWriter<WrittenKey>,
    /// The user key of a row, as a field of a request.
    key: Vec<u8>,
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

impl Encoder {
    pub(super) const fn new(blocks: BlockWriter<WrittenKey>) -> Self {
        Self { blocks, key: Vec::new() }
    }

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
            self.key.extend_from_slice(&[0; USER_KEY_HEADER]);
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
            make_user_key(&mut self.key, kind);
            let value = &self.key[USER_KEY_HEADER..];
            let digest = plan.names.digest(kind, value);
            let written: Result<_, String> = self.blocks.push(number, &digest, &self.key, |ops| {
                let written = write_bins(plan, part, row, ops);
                bytes += ops.size();
                written
            });
            match written {
                Ok(0) => tally.skipped(),
                Ok(_) => {}
                Err(text) => tally.refused(number, Key::of(kind, value), &Error::invalid_argument(text)),
            }
            if bytes >= BYTES {
                return row + 1 - begin;
            }
        }
        rows.len()
    }
}

/// The operations of a row.
fn write_bins(plan: &Plan, part: &Part, row: usize, ops: &mut BlockOps<'_>) -> Result<(), String> {
    for (column, name) in &plan.bins {
        let column = &part.columns[*column];
        let written = ops.write(name.as_bytes(), |out| match column.encode(row, out).map_err(Why::Unfit)? {
            particle_type::NIL if !plan.delete_nulls => Err(Why::Null),
            kind => Ok(kind),
        });
        match written {
            Ok(()) | Err(Why::Null) => {}
            Err(Why::Unfit(unfit)) => return Err(format!("bin '{name}': {}", unfit.text())),
        }
        if ops.size() > MAX_BODY_SIZE - BESIDE {
            return Err(format!("the record has more than {} bytes", MAX_BODY_SIZE - BESIDE));
        }
    }
    Ok(())
}
