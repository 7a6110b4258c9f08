//! Appends msgpack to a buffer.

use super::{CMP_EXT, Element, Ext};
use crate::particle::particle_type;
use crate::{WireError, WireResult};

/// Appends elements to a buffer, each in its shortest encoding, as both recorded clients do.
///
/// Collections are written as a header and then their elements; the caller sees to it that the numbers agree. Lengths
/// are 32-bit words; what would overflow them cannot fit into a frame ([`MAX_BODY_SIZE`](crate::proto::MAX_BODY_SIZE)
/// is checked when the frame is closed).
#[derive(Debug)]
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> Writer<'b> {
    /// A writer that appends to `out`.
    #[inline]
    pub const fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    /// The buffer.
    #[inline]
    pub const fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Nil.
    #[inline]
    pub fn nil(&mut self) {
        self.out.push(0xc0);
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.out.push(if value { 0xc3 } else { 0xc2 });
    }

    /// A signed integer.
    #[inline]
    pub fn int(&mut self, value: i64) {
        if value >= 0 {
            self.uint(value as u64);
        } else if value >= -32 {
            self.out.push(value as u8);
        } else if let Ok(value) = i8::try_from(value) {
            self.out.extend_from_slice(&[0xd0, value as u8]);
        } else if let Ok(value) = i16::try_from(value) {
            self.word2(0xd1, value as u16);
        } else if let Ok(value) = i32::try_from(value) {
            self.word4(0xd2, value as u32);
        } else {
            self.word8(0xd3, value as u64);
        }
    }

    /// An unsigned integer.
    #[inline]
    pub fn uint(&mut self, value: u64) {
        if value < 0x80 {
            self.out.push(value as u8);
        } else if let Ok(value) = u8::try_from(value) {
            self.out.extend_from_slice(&[0xcc, value]);
        } else if let Ok(value) = u16::try_from(value) {
            self.word2(0xcd, value);
        } else if let Ok(value) = u32::try_from(value) {
            self.word4(0xce, value);
        } else {
            self.word8(0xcf, value);
        }
    }

    /// A double-precision float.
    #[inline]
    pub fn float(&mut self, value: f64) {
        self.word8(0xcb, value.to_bits());
    }

    /// A single-precision float.
    #[inline]
    pub fn float32(&mut self, value: f32) {
        self.word4(0xca, value.to_bits());
    }

    /// A string; need not be UTF-8.
    #[inline]
    pub fn str(&mut self, value: &[u8]) {
        self.tagged(particle_type::STRING, value);
    }

    /// A blob.
    #[inline]
    pub fn blob(&mut self, value: &[u8]) {
        self.tagged(particle_type::BLOB, value);
    }

    /// A HyperLogLog.
    #[inline]
    pub fn hll(&mut self, value: &[u8]) {
        self.tagged(particle_type::HLL, value);
    }

    /// GeoJSON text.
    #[inline]
    pub fn geojson(&mut self, text: &[u8]) {
        self.tagged(particle_type::GEOJSON, text);
    }

    /// A value of the str family with any particle type.
    #[inline]
    pub fn tagged(&mut self, tag: u8, value: &[u8]) {
        self.str_header(value.len() + 1);
        self.out.push(tag);
        self.out.extend_from_slice(value);
    }

    /// A payload of the str family as it is, without particle type: names inside expressions.
    #[inline]
    pub fn bare(&mut self, payload: &[u8]) {
        self.str_header(payload.len());
        self.out.extend_from_slice(payload);
    }

    /// Binary data without particle type: expressions inside contexts.
    pub fn bin(&mut self, payload: &[u8]) {
        match u8::try_from(payload.len()) {
            Ok(len) => self.out.extend_from_slice(&[0xc4, len]),
            Err(_) => self.sized(payload.len(), 0xc5, 0xc6),
        }
        self.out.extend_from_slice(payload);
    }

    /// Elements that are encoded already.
    #[inline]
    pub fn raw(&mut self, elements: &[u8]) {
        self.out.extend_from_slice(elements);
    }

    /// Header of an unordered list of `len` elements.
    #[inline]
    pub fn list(&mut self, len: usize) {
        if len < 16 {
            self.out.push(0x90 | len as u8);
        } else {
            self.sized(len, 0xdc, 0xdd);
        }
    }

    /// Header of a list with order flags; with [`order::UNORDERED`](super::order::UNORDERED) as [`Writer::list`].
    pub fn list_with_order(&mut self, flags: u8, len: usize) {
        self.list_with_marker((flags != 0).then_some(Ext { kind: flags, data: &[] }), len);
    }

    /// Header of a list of `len` elements behind an order marker.
    pub fn list_with_marker(&mut self, marker: Option<Ext<'_>>, len: usize) {
        self.list(len + usize::from(marker.is_some()));
        if let Some(marker) = marker {
            self.ext(marker);
        }
    }

    /// Header of an unordered map of `len` pairs.
    #[inline]
    pub fn map(&mut self, len: usize) {
        if len < 16 {
            self.out.push(0x80 | len as u8);
        } else {
            self.sized(len, 0xde, 0xdf);
        }
    }

    /// Header of a map with order flags; with [`order::UNORDERED`](super::order::UNORDERED) as [`Writer::map`].
    pub fn map_with_order(&mut self, flags: u8, len: usize) {
        self.map_with_marker((flags != 0).then_some(Ext { kind: flags, data: &[] }), len);
    }

    /// Header of a map of `len` pairs behind an order marker.
    pub fn map_with_marker(&mut self, marker: Option<Ext<'_>>, len: usize) {
        self.map(len + usize::from(marker.is_some()));
        if let Some(marker) = marker {
            self.ext(marker);
            self.nil();
        }
    }

    /// Larger than every other value.
    #[inline]
    pub fn infinity(&mut self) {
        self.out.extend_from_slice(&[0xd4, CMP_EXT, 1]);
    }

    /// Matches every value.
    #[inline]
    pub fn wildcard(&mut self) {
        self.out.extend_from_slice(&[0xd4, CMP_EXT, 0]);
    }

    /// Any ext.
    pub fn ext(&mut self, ext: Ext<'_>) {
        match ext.data.len() {
            1 => self.out.push(0xd4),
            2 => self.out.push(0xd5),
            4 => self.out.push(0xd6),
            8 => self.out.push(0xd7),
            16 => self.out.push(0xd8),
            len if len < 0x100 => self.out.extend_from_slice(&[0xc7, len as u8]),
            len => self.sized(len, 0xc8, 0xc9),
        }
        self.out.push(ext.kind);
        self.out.extend_from_slice(ext.data);
    }

    /// Any element, in its shortest encoding.
    pub fn element(&mut self, element: &Element<'_>) {
        match *element {
            Element::Nil => self.nil(),
            Element::Bool(value) => self.bool(value),
            Element::Int(value) => self.int(value),
            Element::Uint(value) => self.uint(value),
            Element::Float32(value) => self.float32(value),
            Element::Float(value) => self.float(value),
            Element::Bytes(payload) => self.bare(payload),
            Element::List(header) => self.list_with_marker(header.marker, header.len),
            Element::Map(header) => self.map_with_marker(header.marker, header.len),
            Element::Infinity => self.infinity(),
            Element::Wildcard => self.wildcard(),
            Element::Ext(ext) => self.ext(ext),
        }
    }

    /// Any element, in the encoding that starts with `form` (see [`Reader::form`](super::Reader::form)).
    ///
    /// For those who must reproduce what another client wrote. Fails if the element does not fit that encoding.
    pub fn element_as(&mut self, element: &Element<'_>, form: u8) -> WireResult<()> {
        let start = self.out.len();
        self.element(element);
        if self.out[start] == form {
            return Ok(());
        }
        self.out.truncate(start);
        let (len, rest): (usize, Ext<'_>) = match *element {
            Element::Int(value) => return self.int_as(value, form),
            Element::Uint(_) | Element::Nil | Element::Bool(_) | Element::Float32(_) | Element::Float(_) => {
                return Err(unfit(start));
            }
            Element::Bytes(payload) => {
                self.length_as(form, payload.len(), &[0xc4, 0xd9], &[0xc5, 0xda], &[0xc6, 0xdb])?;
                self.out.extend_from_slice(payload);
                return Ok(());
            }
            Element::List(header) => {
                self.length_as(form, header.len + usize::from(header.marker.is_some()), &[], &[0xdc], &[0xdd])?;
                if let Some(marker) = header.marker {
                    self.ext(marker);
                }
                return Ok(());
            }
            Element::Map(header) => {
                self.length_as(form, header.len + usize::from(header.marker.is_some()), &[], &[0xde], &[0xdf])?;
                if let Some(marker) = header.marker {
                    self.ext(marker);
                    self.nil();
                }
                return Ok(());
            }
            Element::Infinity => (1, Ext { kind: CMP_EXT, data: &[1] }),
            Element::Wildcard => (1, Ext { kind: CMP_EXT, data: &[0] }),
            Element::Ext(ext) => (ext.data.len(), ext),
        };
        self.length_as(form, len, &[0xc7], &[0xc8], &[0xc9])?;
        self.out.push(rest.kind);
        self.out.extend_from_slice(rest.data);
        Ok(())
    }

    fn int_as(&mut self, value: i64, form: u8) -> WireResult<()> {
        let (bytes, fits) = match form {
            0xcc => (1, u8::try_from(value).is_ok()),
            0xcd => (2, u16::try_from(value).is_ok()),
            0xce => (4, u32::try_from(value).is_ok()),
            0xcf => (8, value >= 0),
            0xd0 => (1, i8::try_from(value).is_ok()),
            0xd1 => (2, i16::try_from(value).is_ok()),
            0xd2 => (4, i32::try_from(value).is_ok()),
            0xd3 => (8, true),
            _ => (0, false),
        };
        if !fits {
            return Err(unfit(self.out.len()));
        }
        self.out.push(form);
        self.out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
        Ok(())
    }

    /// Writes `form` and a length of 1, 2 or 4 bytes, whichever list of markers `form` is in.
    fn length_as(&mut self, form: u8, len: usize, one: &[u8], two: &[u8], four: &[u8]) -> WireResult<()> {
        let bytes = [(one, 1), (two, 2), (four, 4)].into_iter().find(|(forms, _)| forms.contains(&form));
        match bytes {
            Some((_, bytes)) if (len as u64) >> (8 * bytes) == 0 => {
                self.out.push(form);
                self.out.extend_from_slice(&(len as u64).to_be_bytes()[8 - bytes..]);
                Ok(())
            }
            _ => Err(unfit(self.out.len())),
        }
    }

    #[inline]
    fn str_header(&mut self, len: usize) {
        if len < 32 {
            self.out.push(0xa0 | len as u8);
        } else if let Ok(len) = u8::try_from(len) {
            self.out.extend_from_slice(&[0xd9, len]);
        } else {
            self.sized(len, 0xda, 0xdb);
        }
    }

    /// A marker with a length of two bytes, or another one with four.
    fn sized(&mut self, len: usize, two: u8, four: u8) {
        match u16::try_from(len) {
            Ok(len) => self.word2(two, len),
            Err(_) => self.word4(four, len as u32),
        }
    }

    #[inline]
    fn word2(&mut self, marker: u8, value: u16) {
        let [a, b] = value.to_be_bytes();
        self.out.extend_from_slice(&[marker, a, b]);
    }

    #[inline]
    fn word4(&mut self, marker: u8, value: u32) {
        let [a, b, c, d] = value.to_be_bytes();
        self.out.extend_from_slice(&[marker, a, b, c, d]);
    }

    #[inline]
    fn word8(&mut self, marker: u8, value: u64) {
        let mut bytes = [marker; 9];
        bytes[1..].copy_from_slice(&value.to_be_bytes());
        self.out.extend_from_slice(&bytes);
    }
}

fn unfit(offset: usize) -> WireError {
    WireError::invalid("the element does not fit the encoding asked for", offset)
}
