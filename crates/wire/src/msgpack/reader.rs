//! Walks msgpack, element by element.

use super::{CMP_EXT, Element, Ext, ListHeader, MAX_DEPTH, MapHeader};
use crate::bytes::Cursor;
use crate::{WireError, WireErrorKind, WireResult};

/// How many levels are tracked without a heap allocation.
const INLINE_LEVELS: usize = 8;

/// Reads elements one after another; collections as a header followed by their elements.
///
/// Keeps account of what is still owed by open collections: all of them together never announce more elements than
/// there are bytes left, and they are never nested deeper than [`MAX_DEPTH`]. Stack use does not depend on the input.
///
/// ```
/// use aerolane_wire::msgpack::{Element, Reader};
///
/// let mut reader = Reader::new(&[0x92, 0x01, 0xa2, 0x03, b'a']);
/// let Element::List(header) = reader.read()? else { panic!() };
/// assert_eq!((header.len, header.flags()), (2, 0));
/// assert_eq!(reader.read()?, Element::Int(1));
/// assert_eq!(reader.read()?, Element::Bytes(b"\x03a"));
/// reader.finish()?;
/// # Ok::<(), aerolane_wire::WireError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Marker byte of the last element.
    form: u8,
    /// Elements that open collections still owe, all levels together.
    owed: usize,
    depth: usize,
    /// Elements that each level still owes (0 while the level's last element is a collection that is open itself).
    inline: [usize; INLINE_LEVELS],
    deep: Vec<usize>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), form: 0, owed: 0, depth: 0, inline: [0; INLINE_LEVELS], deep: Vec::new() }
    }

    /// How many bytes have been read.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.cursor.at()
    }

    /// How many collections the next element is inside of. 0: at a value's end (or its start).
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Whether all bytes have been read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cursor.is_empty()
    }

    /// The marker byte that the last element had, for [`Writer::element_as`](super::Writer::element_as).
    #[must_use]
    pub const fn form(&self) -> u8 {
        self.form
    }

    /// Checks that whole values were read and nothing is left over.
    pub fn finish(&self) -> WireResult<()> {
        if self.owed > 0 {
            return Err(WireError::truncated(self.owed.saturating_sub(self.cursor.remaining()).max(1), self.offset()));
        }
        match self.cursor.remaining() {
            0 => Ok(()),
            extra => Err(WireError::new(WireErrorKind::Trailing { extra }, self.offset())),
        }
    }

    /// The next element. At the end of the bytes that is an error; see [`Reader::is_empty`] and [`Reader::depth`].
    /// After an error the reader cannot be used on.
    #[inline]
    pub fn read(&mut self) -> WireResult<Element<'a>> {
        let at = self.cursor.at();
        let marker = self.cursor.u8()?;
        self.form = marker;
        let element = match marker {
            0x00..=0x7f => Element::Int(i64::from(marker)),
            0xe0..=0xff => Element::Int(i64::from(marker as i8)),
            0xa0..=0xbf => Element::Bytes(self.cursor.take(usize::from(marker & 0x1f))?),
            0x80..=0x8f => return self.map(usize::from(marker & 0x0f), at),
            0x90..=0x9f => return self.list(usize::from(marker & 0x0f), at),
            0xc0 => Element::Nil,
            0xc2 => Element::Bool(false),
            0xc3 => Element::Bool(true),
            0xca => Element::Float32(f32::from_bits(self.cursor.u32()?)),
            0xcb => Element::Float(f64::from_bits(self.cursor.u64()?)),
            0xcc => Element::Int(i64::from(self.cursor.u8()?)),
            0xcd => Element::Int(i64::from(self.cursor.u16()?)),
            0xce => Element::Int(i64::from(self.cursor.u32()?)),
            0xcf => {
                let value = self.cursor.u64()?;
                i64::try_from(value).map_or(Element::Uint(value), Element::Int)
            }
            0xd0 => Element::Int(i64::from(self.cursor.u8()? as i8)),
            0xd1 => Element::Int(i64::from(self.cursor.u16()? as i16)),
            0xd2 => Element::Int(i64::from(self.cursor.u32()? as i32)),
            0xd3 => Element::Int(self.cursor.u64()? as i64),
            0xc4 | 0xd9 => {
                let len = usize::from(self.cursor.u8()?);
                Element::Bytes(self.cursor.take(len)?)
            }
            0xc5 | 0xda => {
                let len = usize::from(self.cursor.u16()?);
                Element::Bytes(self.cursor.take(len)?)
            }
            0xc6 | 0xdb => {
                let len = self.cursor.u32()? as usize;
                Element::Bytes(self.cursor.take(len)?)
            }
            0xdc => {
                let len = usize::from(self.cursor.u16()?);
                return self.list(len, at);
            }
            0xdd => {
                let len = self.cursor.u32()? as usize;
                return self.list(len, at);
            }
            0xde => {
                let len = usize::from(self.cursor.u16()?);
                return self.map(len, at);
            }
            0xdf => {
                let len = self.cursor.u32()? as usize;
                return self.map(len, at);
            }
            0xc7..=0xc9 | 0xd4..=0xd8 => match ext_body(&mut self.cursor, marker)? {
                Ext { kind: CMP_EXT, data: [0] } => Element::Wildcard,
                Ext { kind: CMP_EXT, data: [1] } => Element::Infinity,
                ext => Element::Ext(ext),
            },
            0xc1 => return Err(WireError::invalid("0xc1 is no msgpack marker", at)),
        };
        self.count();
        self.close();
        Ok(element)
    }

    /// Reads one whole value, its elements included, and gives its bytes.
    pub fn skip(&mut self) -> WireResult<&'a [u8]> {
        let start = self.cursor;
        let target = self.owed.saturating_sub(1);
        loop {
            self.read()?;
            if self.owed <= target {
                break;
            }
        }
        let mut whole = start;
        whole.take(self.cursor.at() - start.at())
    }

    fn list(&mut self, announced: usize, at: usize) -> WireResult<Element<'a>> {
        let marker = if announced > 0 { self.marker()? } else { None };
        let len = announced - usize::from(marker.is_some());
        self.count();
        self.open(len, at)?;
        Ok(Element::List(ListHeader { len, marker }))
    }

    fn map(&mut self, announced: usize, at: usize) -> WireResult<Element<'a>> {
        let marker = if announced > 0 { self.marker()? } else { None };
        if marker.is_some() {
            let nil_at = self.cursor.at();
            if self.cursor.u8()? != 0xc0 {
                return Err(WireError::invalid("the value beside a map's order marker is not nil", nil_at));
            }
        }
        let len = announced - usize::from(marker.is_some());
        self.count();
        self.open(len.saturating_mul(2), at)?;
        Ok(Element::Map(MapHeader { len, marker }))
    }

    /// The order marker, if the next element is one: any ext but infinity and wildcard.
    #[inline]
    fn marker(&mut self) -> WireResult<Option<Ext<'a>>> {
        let mut ahead = self.cursor;
        match ahead.u8() {
            Ok(byte @ (0xc7..=0xc9 | 0xd4..=0xd8)) => {
                let ext = ext_body(&mut ahead, byte)?;
                if ext.kind == CMP_EXT {
                    return Ok(None);
                }
                self.cursor = ahead;
                Ok(Some(ext))
            }
            _ => Ok(None),
        }
    }

    /// One element of the innermost open collection has come.
    #[inline]
    fn count(&mut self) {
        if self.depth > 0 {
            self.owed -= 1;
            *self.level() -= 1;
        }
    }

    /// Closes the collections that are complete.
    #[inline]
    fn close(&mut self) {
        while self.depth > 0 && *self.level() == 0 {
            self.depth -= 1;
            self.deep.truncate(self.depth.saturating_sub(INLINE_LEVELS));
        }
    }

    /// Opens a collection that owes `children` elements.
    fn open(&mut self, children: usize, at: usize) -> WireResult<()> {
        if children == 0 {
            self.close();
            return Ok(());
        }
        let owed = self.owed.saturating_add(children);
        if owed > self.cursor.remaining() {
            return Err(WireError::truncated(owed - self.cursor.remaining(), at));
        }
        if self.depth == MAX_DEPTH {
            return Err(WireError::new(WireErrorKind::TooDeep, at));
        }
        self.owed = owed;
        if self.depth < INLINE_LEVELS {
            self.inline[self.depth] = children;
        } else {
            self.deep.push(children);
        }
        self.depth += 1;
        Ok(())
    }

    /// What the innermost open collection owes. Only for `depth > 0`.
    #[inline]
    fn level(&mut self) -> &mut usize {
        let index = self.depth - 1;
        if index < INLINE_LEVELS { &mut self.inline[index] } else { &mut self.deep[index - INLINE_LEVELS] }
    }
}

fn ext_body<'a>(cursor: &mut Cursor<'a>, marker: u8) -> WireResult<Ext<'a>> {
    let len = match marker {
        0xc7 => usize::from(cursor.u8()?),
        0xc8 => usize::from(cursor.u16()?),
        0xc9 => cursor.u32()? as usize,
        fixed => 1 << (fixed - 0xd4),
    };
    Ok(Ext { kind: cursor.u8()?, data: cursor.take(len)? })
}

/// Checks that `bytes` are exactly one well-formed value.
pub fn validate(bytes: &[u8]) -> WireResult<()> {
    let mut reader = Reader::new(bytes);
    reader.skip()?;
    reader.finish()
}
