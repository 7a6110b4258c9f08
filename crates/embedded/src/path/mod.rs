//! Path operations: selecting and changing nested values of a list or map by levels of a path, some of which choose by
//! expressions. Semantics follow the golden scenarios `ctx/select-by-path` and `ctx/modify-by-path`.
//!
//! A payload is the number of the operation, the path (a list of pairs: id and value of a level), flags, and, for a
//! change, the expression that gives the new values.
//!
//! Where it differs from the server, beyond what is recorded there: the server loses its place, and answers an error or
//! dies, behind a nested map or list that a level has looked into by index or rank, and dies of some changes around
//! nested ordered lists; here they are carried out. Of several errors in one payload, that of the outer level is told.

mod apply;
mod collection;
mod level;
mod select;

pub(crate) use apply::modify;
pub(crate) use collection::Collection;
pub(crate) use select::select;

use crate::code;
use aerolane_wire::msgpack::{Element, Reader};
use aerolane_wire::particle::particle_type;
use level::Level;

/// Most levels of a path.
const MAX_LEVELS: usize = 64;

/// Flags.
mod flag {
    /// The bits that say what is done.
    pub(super) const MODE: i64 = 0x0f;
    /// What cannot be chosen or computed is left out, or as it is.
    pub(super) const NO_FAIL: i64 = 0x10;
}

/// What is done with the values that a path finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Answers the bin with nothing but them.
    Tree,
    /// Answers them as a list: map keys, values, or both.
    Leaves { keys: bool, values: bool },
    /// Changes them.
    Apply,
}

/// A checked payload.
#[derive(Debug)]
struct Path<'a> {
    levels: Vec<Level<'a>>,
    mode: Mode,
    no_fail: bool,
    /// The expression of a change.
    change: &'a [u8],
}

impl<'a> Path<'a> {
    /// Checks a payload for a bin of this type. The error is a result code.
    fn parse(payload: &'a [u8], kind: u8) -> Result<Self, u8> {
        let bad = |_| code::PARAMETER;
        let mut reader = Reader::new(payload);
        let Element::List(header) = reader.read().map_err(bad)? else { return Err(code::PARAMETER) };
        reader.skip().map_err(bad)?;
        if !matches!(kind, particle_type::LIST | particle_type::MAP) {
            return Err(code::BIN_TYPE);
        }
        let levels = Level::read_all(&mut reader)?;
        let Element::Int(flags) = reader.read().map_err(bad)? else { return Err(code::PARAMETER) };
        let mode = match flags & flag::MODE {
            0 => Mode::Tree,
            1 => Mode::Leaves { keys: false, values: true },
            2 => Mode::Leaves { keys: true, values: false },
            3 => Mode::Leaves { keys: true, values: true },
            4 => Mode::Apply,
            _ => return Err(code::PARAMETER),
        };
        if header.len != if mode == Mode::Apply { 4 } else { 3 } {
            return Err(code::PARAMETER);
        }
        let change = if mode == Mode::Apply { reader.skip().map_err(bad)? } else { &[] };
        Ok(Self { levels, mode, no_fail: flags & flag::NO_FAIL != 0, change })
    }

    /// The level at this depth, and whether it is the last one.
    fn level(&self, depth: usize) -> (&Level<'a>, bool) {
        (&self.levels[depth], depth + 1 == self.levels.len())
    }
}
