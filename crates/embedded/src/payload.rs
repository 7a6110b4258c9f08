//! The payload of a bit or HLL operation: a msgpack list of the operation's number and its arguments.

use crate::code;
use aerolane_wire::msgpack::{Element, Reader};
use std::ops::RangeInclusive;

/// A payload whose number has been read; arguments are taken one after another.
///
/// Whatever is wrong with one is a parameter error.
#[derive(Debug)]
pub(crate) struct Payload<'a> {
    /// Number of the operation.
    pub(crate) number: u8,
    /// How many arguments have not been taken yet.
    left: usize,
    bytes: &'a [u8],
    reader: Reader<'a>,
}

impl<'a> Payload<'a> {
    /// Reads the number.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, u8> {
        let mut reader = Reader::new(bytes);
        let Ok(Element::List(header)) = reader.read() else { return Err(code::PARAMETER) };
        let left = header.len.checked_sub(1).ok_or(code::PARAMETER)?;
        let mut payload = Self { number: 0, left: left + 1, bytes, reader };
        payload.number = u8::try_from(payload.uint()?).map_err(|_| code::PARAMETER)?;
        Ok(payload)
    }

    /// Checks the number of arguments.
    pub(crate) fn takes(&self, arguments: RangeInclusive<usize>) -> Result<(), u8> {
        if arguments.contains(&self.left) { Ok(()) } else { Err(code::PARAMETER) }
    }

    /// Whether there are arguments left.
    pub(crate) fn has_more(&self) -> bool {
        self.left > 0
    }

    /// An element of an argument that is a list, or the argument itself.
    pub(crate) fn element(&mut self) -> Result<Element<'a>, u8> {
        self.reader.read().map_err(|_| code::PARAMETER)
    }

    fn argument(&mut self) -> Result<Element<'a>, u8> {
        self.left = self.left.checked_sub(1).ok_or(code::PARAMETER)?;
        self.element()
    }

    /// An integer.
    pub(crate) fn int(&mut self) -> Result<i64, u8> {
        self.uint().map(|value| value as i64)
    }

    /// The 64 bits of an integer.
    pub(crate) fn uint(&mut self) -> Result<u64, u8> {
        match self.argument()? {
            Element::Int(value) => Ok(value as u64),
            Element::Uint(value) => Ok(value),
            _ => Err(code::PARAMETER),
        }
    }

    /// A boolean.
    pub(crate) fn bool(&mut self) -> Result<bool, u8> {
        match self.argument()? {
            Element::Bool(value) => Ok(value),
            _ => Err(code::PARAMETER),
        }
    }

    /// A string or blob, without the byte that tells its type.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], u8> {
        match self.argument()? {
            Element::Bytes([_, value @ ..]) => Ok(value),
            _ => Err(code::PARAMETER),
        }
    }

    /// A list that is not empty; its elements are the caller's to take.
    pub(crate) fn list(&mut self) -> Result<usize, u8> {
        match self.argument()? {
            Element::List(header) if header.len > 0 => Ok(header.len),
            _ => Err(code::PARAMETER),
        }
    }

    /// Whether the next argument is a list.
    pub(crate) fn list_is_next(&self) -> bool {
        let mut ahead = Reader::new(&self.bytes[self.reader.offset()..]);
        matches!(ahead.read(), Ok(Element::List(_)))
    }
}
