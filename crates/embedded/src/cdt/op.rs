//! The bytes of an operation, taken apart.

use super::collection::Collection;
use super::number::{Number, list, map};
use crate::code;
use aerolane_wire::msgpack::{Element, Reader};

/// The number that says that a context and an operation follow.
const CONTEXT: u64 = 0xff;
/// Most levels of a context.
pub(super) const MAX_LEVELS: usize = 256;

/// One level of a context: where to go down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level<'a> {
    /// What the key is, and what is to be created.
    pub(super) kind: u32,
    /// Index, rank, key or value.
    pub(super) key: &'a [u8],
}

/// An operation.
#[derive(Debug)]
pub(super) struct Op<'a> {
    pub(super) number: Number,
    pub(super) args: Vec<&'a [u8]>,
    pub(super) levels: Vec<Level<'a>>,
}

impl<'a> Op<'a> {
    /// Takes an operation apart. What stands behind it is not looked at.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, u8> {
        // The old encoding: a number of 16 bits, and the list of arguments, if there are any.
        if let [0, low, rest @ ..] = bytes {
            let args = if rest.is_empty() { Vec::new() } else { elements(rest)? };
            return Ok(Self { number: Number(u64::from(*low)), args, levels: Vec::new() });
        }
        let op = Self::numbered(bytes)?;
        if op.number.0 == CONTEXT { op.inside_context() } else { Ok(op) }
    }

    /// A list of the number and the arguments.
    fn numbered(bytes: &'a [u8]) -> Result<Self, u8> {
        let mut args = elements(bytes)?;
        if args.is_empty() {
            return Err(code::PARAMETER);
        }
        let number = match Reader::new(args.remove(0)).read() {
            Ok(Element::Int(number)) => Number(number as u64),
            Ok(Element::Uint(number)) => Number(number),
            _ => return Err(code::PARAMETER),
        };
        Ok(Self { number, args, levels: Vec::new() })
    }

    fn inside_context(self) -> Result<Self, u8> {
        let &[context, op] = &self.args[..] else { return Err(code::PARAMETER) };
        let levels = levels(context)?;
        let op = Self::numbered(op)?;
        if op.number.0 == CONTEXT {
            return Err(code::PARAMETER);
        }
        Ok(Self { levels, ..op })
    }

    /// The collection that it is to work on.
    pub(super) fn collection<'v>(&self, kind: u8, value: &'v [u8]) -> Result<Collection<'v>, u8> {
        if kind != self.number.particle_type() {
            return Err(code::BIN_TYPE);
        }
        Collection::parse(value)
    }

    /// The argument at this place, which has to be there.
    pub(super) fn arg(&self, at: usize) -> Result<&'a [u8], u8> {
        self.args.get(at).copied().ok_or(code::PARAMETER)
    }

    /// Whether nothing is to be put: only the order is set, or the argument is an empty list or map.
    pub(super) fn puts_nothing(&self) -> bool {
        let items = match self.number.0 {
            list::SET_TYPE | map::SET_TYPE => return true,
            list::APPEND_ITEMS | map::PUT_ITEMS | map::ADD_ITEMS | map::REPLACE_ITEMS => 0,
            list::INSERT_ITEMS => 1,
            _ => return false,
        };
        self.args.get(items).is_some_and(|items| Collection::parse(items).is_ok_and(|items| items.len() == 0))
    }

    /// Checks that there are no more arguments than this.
    pub(super) fn at_most(&self, n: usize) -> Result<(), u8> {
        if self.args.len() > n { Err(code::PARAMETER) } else { Ok(()) }
    }
}

/// The elements of a list.
pub(super) fn elements(bytes: &[u8]) -> Result<Vec<&[u8]>, u8> {
    let mut reader = Reader::new(bytes);
    let Ok(Element::List(header)) = reader.read() else { return Err(code::PARAMETER) };
    (0..header.len).map(|_| reader.skip().map_err(|_| code::PARAMETER)).collect()
}

/// The levels of a context: a list of pairs of kind and key.
pub(super) fn levels(context: &[u8]) -> Result<Vec<Level<'_>>, u8> {
    let levels = elements(context)?;
    if levels.is_empty() || levels.len() % 2 != 0 || levels.len() > 2 * MAX_LEVELS {
        return Err(code::PARAMETER);
    }
    let levels = levels.chunks_exact(2).map(|level| {
        let kind = match Reader::new(level[0]).read() {
            Ok(Element::Int(kind)) => kind as u32,
            Ok(Element::Uint(kind)) => kind as u32,
            _ => return Err(code::PARAMETER),
        };
        Ok(Level { kind, key: level[1] })
    });
    levels.collect()
}
