//! A message read front to back, each byte once.

use std::ops::Range;

use super::{
    FIELD_OVERHEAD, Field, MESSAGE_HEADER_SIZE, MessageHeader, OP_OVERHEAD, Op, header_bytes, read_field, read_op,
};
use crate::bytes::Cursor;
use crate::{WireError, WireErrorKind, WireResult};

/// Reads the message at the front of some bytes: header, then fields, then operations.
///
/// [`Message`](super::Message) walks all of a message before anything of it can be looked at. This one checks each
/// field and operation as it hands it out, for those who go through a long answer once; so what came before an error
/// has been handed out already.
///
/// ```
/// use aerolane_wire::message::{MessageHeader, MessageReader, MessageWriter, op};
/// use aerolane_wire::particle::Particle;
///
/// let mut bytes = vec![];
/// let mut writer = MessageWriter::bare(&mut bytes, &MessageHeader::default());
/// writer.op(op::READ, b"a", Particle::Integer(7))?;
/// writer.finish()?;
///
/// let mut reader = MessageReader::new(&bytes)?;
/// assert_eq!(reader.next_op()?.map(|op| op.name), Some(&b"a"[..]));
/// assert_eq!(reader.next_op()?, None);
/// assert_eq!(reader.finish()?, bytes.len());
/// # Ok::<(), aerolane_wire::WireError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MessageReader<'a> {
    /// Taken apart where a part of it is asked for: a struct of many small words would be written and copied for each
    /// message, of which a reader looks at a few.
    header: &'a [u8; MESSAGE_HEADER_SIZE],
    cursor: Cursor<'a>,
    fields_left: u16,
    ops_left: u16,
}

impl<'a> MessageReader<'a> {
    /// Reads the header.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> WireResult<Self> {
        let header = header_bytes(bytes)?;
        let MessageHeader { n_fields, n_ops, .. } = MessageHeader::of(header);
        let cursor = Cursor::at_offset(bytes, MESSAGE_HEADER_SIZE);
        Ok(Self { header, cursor, fields_left: n_fields, ops_left: n_ops })
    }

    /// The header.
    #[must_use]
    #[inline]
    pub fn header(&self) -> MessageHeader {
        MessageHeader::of(self.header)
    }

    /// At most so many operations can be in the bytes that have not been read, whatever the header announces.
    #[must_use]
    #[inline]
    pub fn max_ops_left(&self) -> usize {
        usize::from(self.ops_left).min(self.cursor.remaining() / OP_OVERHEAD)
    }

    /// The next field; none behind the last one, and none once an operation has been read.
    #[inline]
    pub fn next_field(&mut self) -> WireResult<Option<Field<'a>>> {
        if self.fields_left == 0 {
            return Ok(None);
        }
        self.fields_left -= 1;
        read_field(&mut self.cursor).map(Some)
    }

    /// The next operation; fields that have not been read are passed over.
    #[inline]
    pub fn next_op(&mut self) -> WireResult<Option<Op<'a>>> {
        if self.fields_left > 0 {
            self.pass_fields()?;
        }
        if self.ops_left == 0 {
            return Ok(None);
        }
        self.ops_left -= 1;
        read_op(&mut self.cursor).map(Some)
    }

    /// Passes over what has not been read; says how many bytes the message has.
    #[inline]
    pub fn finish(mut self) -> WireResult<usize> {
        self.pass_fields()?;
        for _ in 0..self.ops_left {
            read_op(&mut self.cursor)?;
        }
        Ok(self.cursor.at())
    }

    fn pass_fields(&mut self) -> WireResult<()> {
        while self.next_field()?.is_some() {}
        Ok(())
    }
}

/// Passes over the message at the front of some bytes; says how many bytes it has, and its [`info3`](super::info3)
/// flags. For those who only look for the end of an answer: it costs a fraction of reading the message.
pub fn pass_message(bytes: &[u8]) -> WireResult<(usize, u8)> {
    pass_message_with(bytes, |_, _| {})
}

/// As [`pass_message`], and tells `field` the type of each field, and where in the message its value lies.
pub fn pass_message_with(bytes: &[u8], mut field: impl FnMut(u8, Range<usize>)) -> WireResult<(usize, u8)> {
    let header = header_bytes(bytes)?;
    let n_fields = u16::from_be_bytes([header[18], header[19]]);
    let n_ops = u16::from_be_bytes([header[20], header[21]]);
    let mut at = MESSAGE_HEADER_SIZE;
    for _ in 0..n_fields {
        // The size counts the type.
        let end = pass_sized(bytes, at, 1)?;
        field(bytes[at + 4], at + FIELD_OVERHEAD..end);
        at = end;
    }
    for _ in 0..n_ops {
        let name_len = usize::from(bytes.get(at + OP_OVERHEAD - 1).copied().unwrap_or(0));
        at = pass_sized(bytes, at, OP_OVERHEAD - 4 + name_len)?;
    }
    Ok((at, header[3]))
}

/// Where the item at `at`, which begins with its size and has at least `least` bytes behind that, ends.
#[inline]
fn pass_sized(bytes: &[u8], at: usize, least: usize) -> WireResult<usize> {
    let Some(size) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else {
        return Err(WireError::truncated(4 - (bytes.len() - at), at));
    };
    let size = u32::from_be_bytes(*size) as usize;
    if size < least {
        let kind = WireErrorKind::TooSmall { what: "size of a field or operation", value: size as u64 };
        return Err(WireError::new(kind, at));
    }
    let end = at + 4 + size;
    if end > bytes.len() {
        return Err(WireError::truncated(end - bytes.len(), at + 4));
    }
    Ok(end)
}
