//! A message read front to back, each byte once.

use super::{Field, MESSAGE_HEADER_SIZE, MessageHeader, OP_OVERHEAD, Op, read_field, read_op};
use crate::WireResult;
use crate::bytes::Cursor;

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
    header: MessageHeader,
    cursor: Cursor<'a>,
    fields_left: u16,
    ops_left: u16,
}

impl<'a> MessageReader<'a> {
    /// Reads the header.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> WireResult<Self> {
        let header = MessageHeader::decode(bytes)?;
        let mut cursor = Cursor::new(bytes);
        cursor.take(MESSAGE_HEADER_SIZE)?;
        Ok(Self { header, cursor, fields_left: header.n_fields, ops_left: header.n_ops })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &MessageHeader {
        &self.header
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
