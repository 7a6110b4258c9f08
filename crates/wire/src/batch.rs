//! Batch-index requests: the value of the [`BATCH`](crate::message::field::BATCH) field.
//!
//! Layout (golden group `batch`, scenario by-hand): number of rows (4 bytes), flags (1 byte, see [`flags`]), then rows.
//! A row: index (4 bytes, given back in the answer), digest (20), row flags (1, see [`row_flags`]); unless it repeats
//! the row before it: info1 (or info1 to info3, with [`row_flags::INFO`]), info4, generation (2) and TTL (4) as far as
//! the flags announce them, number of fields (2), number of operations (2), fields, operations.

use crate::bytes::Cursor;
use crate::digest::{DIGEST_SIZE, Digest};
use crate::message::{Fields, Op, Ops, count, encode_field, encode_op, read_field, read_op, write_raw_op};
use crate::particle::Particle;
use crate::{WireError, WireErrorKind, WireResult};

/// Flags of the whole batch.
pub mod flags {
    /// Rows of in-memory namespaces may be executed by the thread that received the batch.
    pub const INLINE: u8 = 0x01;
    /// The same for rows of namespaces on storage devices.
    pub const INLINE_SSD: u8 = 0x02;
    /// Go on after errors of rows (other than "not found" and "filtered out", which never stop a batch).
    pub const RESPOND_ALL_KEYS: u8 = 0x04;
    /// Answer rows that fail, too; the final message then has the error.
    pub const REPORT_ERROR_RECORDS: u8 = 0x08;
}

/// Flags of a row.
pub mod row_flags {
    /// All but index and digest is as in the row before.
    pub const REPEAT: u8 = 0x01;
    /// info2 and info3 follow info1.
    pub const INFO: u8 = 0x02;
    /// A generation follows.
    pub const GENERATION: u8 = 0x04;
    /// A TTL follows.
    pub const TTL: u8 = 0x08;
    /// info4 follows (server 8.0 and later).
    pub const INFO4: u8 = 0x10;
}

/// The least that a row takes: index, digest, flags.
const MIN_ROW: usize = 4 + DIGEST_SIZE + 1;

/// What a row does: the counterpart of the message header.
///
/// `flags` say which of the words are on the wire; the others are neither written nor read (0 when decoded).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowHeader {
    /// [`row_flags`], without [`row_flags::REPEAT`].
    pub flags: u8,
    /// Read flags, see [`info1`](crate::message::info1). Always on the wire.
    pub info1: u8,
    /// Write flags, see [`info2`](crate::message::info2).
    pub info2: u8,
    /// More flags, see [`info3`](crate::message::info3).
    pub info3: u8,
    /// Transaction flags, see [`info4`](crate::message::info4).
    pub info4: u8,
    /// Generation; only its low 16 bits travel.
    pub generation: u16,
    /// TTL word as in a message header (in reads: the read-touch percentage).
    pub ttl: u32,
}

impl RowHeader {
    /// A row that reads, with the flags that the vendor's clients set: info bytes and TTL.
    #[must_use]
    pub const fn read(info1: u8, info3: u8, ttl: u32) -> Self {
        let flags = row_flags::INFO | row_flags::TTL;
        Self { flags, info1, info2: 0, info3, info4: 0, generation: 0, ttl }
    }

    /// A row that writes, deletes or applies a UDF, with the flags that the vendor's clients set: info bytes,
    /// generation and TTL.
    #[must_use]
    pub const fn write(info1: u8, info2: u8, info3: u8, generation: u16, ttl: u32) -> Self {
        let flags = row_flags::INFO | row_flags::GENERATION | row_flags::TTL;
        Self { flags, info1, info2, info3, info4: 0, generation, ttl }
    }

    /// The same with an info4 byte, which is written unless it is 0.
    #[must_use]
    pub const fn with_info4(mut self, info4: u8) -> Self {
        self.info4 = info4;
        if info4 != 0 {
            self.flags |= row_flags::INFO4;
        }
        self
    }

    /// Appends the flags and the words that they announce.
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        let flags = self.flags & !row_flags::REPEAT;
        if flags == row_flags::INFO | row_flags::TTL {
            let [a, b, c, d] = self.ttl.to_be_bytes();
            out.extend_from_slice(&[flags, self.info1, self.info2, self.info3, a, b, c, d]);
            return;
        }
        out.extend_from_slice(&[flags, self.info1]);
        if flags & row_flags::INFO != 0 {
            out.extend_from_slice(&[self.info2, self.info3]);
        }
        if flags & row_flags::INFO4 != 0 {
            out.push(self.info4);
        }
        if flags & row_flags::GENERATION != 0 {
            out.extend_from_slice(&self.generation.to_be_bytes());
        }
        if flags & row_flags::TTL != 0 {
            out.extend_from_slice(&self.ttl.to_be_bytes());
        }
    }

    fn decode(flags: u8, cursor: &mut Cursor<'_>) -> WireResult<Self> {
        let mut header = Self { flags, info1: cursor.u8()?, ..Self::default() };
        if flags & row_flags::INFO != 0 {
            (header.info2, header.info3) = (cursor.u8()?, cursor.u8()?);
        }
        if flags & row_flags::INFO4 != 0 {
            header.info4 = cursor.u8()?;
        }
        if flags & row_flags::GENERATION != 0 {
            header.generation = cursor.u16()?;
        }
        if flags & row_flags::TTL != 0 {
            header.ttl = cursor.u32()?;
        }
        Ok(header)
    }
}

/// Writes the value of a batch field in one pass.
///
/// [`BatchWriter::row`] sets the repeat flag by itself: what a row says beside its index and digest is compared, as
/// bytes, with what the last full row says. A caller who knows that a row is like the one before saves even that with
/// [`BatchWriter::repeat`]. If anything fails, truncate the buffer.
///
/// ```
/// use aerolane_wire::batch::{BatchRows, BatchWriter, RowHeader, flags};
/// use aerolane_wire::message::{field, info1};
///
/// let mut out = vec![];
/// let mut batch = BatchWriter::begin(&mut out, flags::INLINE | flags::RESPOND_ALL_KEYS);
/// for index in 0..3 {
///     let header = RowHeader::read(info1::READ | info1::GET_ALL, 0, 0);
///     batch.row(index, &[index as u8; 20], &header, |row| {
///         row.field(field::NAMESPACE, b"test");
///         row.field(field::SET, b"users");
///         Ok::<_, aerolane_wire::WireError>(())
///     })?;
/// }
/// assert_eq!(batch.rows(), 3);
/// batch.finish();
///
/// let rows: Vec<_> = BatchRows::decode(&out)?.collect::<Result<_, _>>()?;
/// assert!(!rows[0].repeat && rows[1].repeat && rows[2].repeat);
/// assert_eq!(rows[2].field(field::SET), Some(&b"users"[..]));
/// # Ok::<(), aerolane_wire::WireError>(())
/// ```
#[derive(Debug)]
pub struct BatchWriter<'b> {
    out: &'b mut Vec<u8>,
    start: usize,
    rows: u32,
    /// Where the flags byte of the last full row stands, and where that row ends.
    last_full: Option<(usize, usize)>,
}

impl<'b> BatchWriter<'b> {
    /// Starts the value, with [`flags`] for the whole batch.
    pub fn begin(out: &'b mut Vec<u8>, flags: u8) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0, 0, 0, 0, flags]);
        Self { out, start, rows: 0, last_full: None }
    }

    /// How many rows have been written.
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Appends a row; `write` appends its fields and operations. It shrinks to a repetition where it can.
    #[inline]
    pub fn row<E: From<WireError>>(
        &mut self,
        index: u32,
        digest: &Digest,
        header: &RowHeader,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = self.last_full;
        self.full_row(index, digest, header, write)?;
        if let (Some((old, old_end)), Some((new, new_end))) = (last, self.last_full)
            && self.out[old..old_end] == self.out[new..new_end]
        {
            self.out.truncate(new);
            self.out.push(row_flags::REPEAT);
            self.last_full = last;
        }
        Ok(())
    }

    /// Appends a row that is never turned into a repetition.
    pub fn full_row<E: From<WireError>>(
        &mut self,
        index: u32,
        digest: &Digest,
        header: &RowHeader,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.head(index, digest);
        let start = self.out.len();
        header.encode(self.out);
        let counts = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        let mut row = RowWriter { out: self.out, n_fields: 0, n_ops: 0 };
        write(&mut row)?;
        let (n_fields, n_ops) = (row.n_fields, row.n_ops);
        self.out[counts..counts + 2].copy_from_slice(&count("fields of a row", n_fields)?.to_be_bytes());
        self.out[counts + 2..counts + 4].copy_from_slice(&count("operations of a row", n_ops)?.to_be_bytes());
        self.last_full = Some((start, self.out.len()));
        Ok(())
    }

    /// Appends a row that does what the row before it does. Fails if there is none.
    #[inline]
    pub fn repeat(&mut self, index: u32, digest: &Digest) -> WireResult<()> {
        if self.last_full.is_none() {
            return Err(WireError::invalid("the first row of a batch cannot be a repetition", 0));
        }
        let [a, b, c, d] = index.to_be_bytes();
        let mut row = [0; MIN_ROW];
        row[..4].copy_from_slice(&[a, b, c, d]);
        row[4..24].copy_from_slice(digest);
        row[24] = row_flags::REPEAT;
        self.out.extend_from_slice(&row);
        self.rows += 1;
        Ok(())
    }

    /// Fills in the number of rows.
    pub fn finish(self) {
        self.out[self.start..self.start + 4].copy_from_slice(&self.rows.to_be_bytes());
    }

    #[inline]
    fn head(&mut self, index: u32, digest: &Digest) {
        self.out.extend_from_slice(&index.to_be_bytes());
        self.out.extend_from_slice(digest);
        self.rows += 1;
    }
}

/// Appends the fields, then the operations of one row.
#[derive(Debug)]
pub struct RowWriter<'b> {
    out: &'b mut Vec<u8>,
    n_fields: u32,
    n_ops: u32,
}

impl RowWriter<'_> {
    /// Appends a field.
    #[inline]
    pub fn field(&mut self, kind: u8, value: &[u8]) {
        encode_field(self.out, kind, value);
        self.n_fields += 1;
    }

    /// Appends `count` fields that stand in `fields` as they are to be sent (size, type, value).
    #[inline]
    pub fn encoded_fields(&mut self, fields: &[u8], count: u32) {
        self.out.extend_from_slice(fields);
        self.n_fields += count;
    }

    /// Appends `count` operations that stand in `ops` as [`encode_op`] has written them.
    #[inline]
    pub fn encoded_ops(&mut self, ops: &[u8], count: u32) {
        self.out.extend_from_slice(ops);
        self.n_ops += count;
    }

    /// Appends an operation. Fails if the bin name has more than 255 bytes.
    #[inline]
    pub fn op(&mut self, kind: u8, name: &[u8], value: Particle<'_>) -> WireResult<()> {
        self.op_with(kind, value.particle_type(), name, |out| {
            value.encode(out);
            Ok(())
        })
    }

    /// Appends an operation whose value `write` appends. Fails as [`RowWriter::op`] does, or with `write`'s error.
    #[inline]
    pub fn op_with<E: From<WireError>>(
        &mut self,
        kind: u8,
        particle_type: u8,
        name: &[u8],
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.n_ops += 1;
        encode_op(self.out, kind, particle_type, name, write)
    }

    /// Appends an operation as it was received.
    pub fn raw_op(&mut self, op: &Op<'_>) -> WireResult<()> {
        self.n_ops += 1;
        write_raw_op(self.out, op)
    }
}

/// One row as received; of a repetition, with what it repeats.
#[derive(Debug, Clone)]
pub struct BatchRow<'a> {
    /// The index, any number; the answer gives it back.
    pub index: u32,
    /// The digest. (A digest field in the row would override it in the server.)
    pub digest: &'a Digest,
    /// Whether this row repeats the one before.
    pub repeat: bool,
    /// What to do.
    pub header: RowHeader,
    body: Body<'a>,
}

/// Checked fields and operations of a full row.
#[derive(Debug, Clone, Copy)]
struct Body<'a> {
    fields: &'a [u8],
    ops: &'a [u8],
    n_ops: u16,
}

impl<'a> BatchRow<'a> {
    /// The fields in order.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields::checked(self.body.fields)
    }

    /// The first field of this type.
    #[must_use]
    pub fn field(&self, kind: u8) -> Option<&'a [u8]> {
        self.fields().find(|f| f.kind == kind).map(|f| f.value)
    }

    /// The operations in order.
    #[must_use]
    pub fn ops(&self) -> Ops<'a> {
        Ops::checked(self.body.ops)
    }

    /// How many operations there are.
    #[must_use]
    pub const fn n_ops(&self) -> u16 {
        self.body.n_ops
    }
}

/// Iterator over the rows of a received batch field. Every length is checked as it goes; after an error it ends.
///
/// As the server, it takes a batch with bytes left over after the last row; see [`BatchRows::rest`].
#[derive(Debug, Clone)]
pub struct BatchRows<'a> {
    /// [`flags`] of the whole batch.
    pub flags: u8,
    /// Rows that the batch announces; a bound for what the iterator yields.
    pub count: u32,
    cursor: Cursor<'a>,
    left: u32,
    template: Option<(RowHeader, Body<'a>)>,
    /// Where the row begins that `template` is from.
    template_at: usize,
    value: &'a [u8],
}

/// Where a reader of rows stands: [`BatchRows::resume`] goes on there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchMark {
    at: usize,
    left: u32,
    template_at: usize,
}

impl<'a> BatchRows<'a> {
    /// Reads the head of a batch field. The number of rows is checked against the bytes that are there.
    pub fn decode(value: &'a [u8]) -> WireResult<Self> {
        let mut cursor = Cursor::new(value);
        let (count, flags) = (cursor.u32()?, cursor.u8()?);
        let limit = cursor.remaining() / MIN_ROW;
        if count as usize > limit {
            let kind = WireErrorKind::TooLarge { what: "number of rows", value: count.into(), limit: limit as u64 };
            return Err(WireError::new(kind, 0));
        }
        let template_at = cursor.at();
        Ok(Self { flags, count, cursor, left: count, template: None, template_at, value })
    }

    /// Where this reader stands.
    #[must_use]
    pub fn mark(&self) -> BatchMark {
        BatchMark { at: self.cursor.at(), left: self.left, template_at: self.template_at }
    }

    /// Goes on behind the rows that another reader of the same value has read before it gave this mark, without reading them
    /// again. A mark of another value leads to errors or to other rows.
    pub fn resume(value: &'a [u8], mark: &BatchMark) -> WireResult<Self> {
        let mut rows = Self::decode(value)?;
        if mark.at > value.len() || mark.template_at > mark.at || mark.left > rows.count {
            return Err(WireError::invalid("a mark of another batch", 0));
        }
        if mark.left < rows.count {
            rows.cursor = Cursor::at_offset(value, mark.template_at);
            rows.row()?;
        }
        (rows.cursor, rows.left) = (Cursor::at_offset(value, mark.at), mark.left);
        Ok(rows)
    }

    /// Bytes behind what has been read so far; after the last row, what is left over.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.value[self.cursor.at()..]
    }

    fn row(&mut self) -> WireResult<BatchRow<'a>> {
        let at = self.cursor.at();
        let index = self.cursor.u32()?;
        let digest_at = self.cursor.at();
        let Some(digest) = self.cursor.take(DIGEST_SIZE)?.first_chunk() else {
            return Err(WireError::truncated(1, digest_at));
        };
        let flags = self.cursor.u8()?;
        if flags & row_flags::REPEAT != 0 {
            let Some((header, body)) = self.template else {
                return Err(WireError::invalid("the first row of a batch cannot be a repetition", at));
            };
            return Ok(BatchRow { index, digest, repeat: true, header, body });
        }
        let header = RowHeader::decode(flags, &mut self.cursor)?;
        let (n_fields, n_ops) = (self.cursor.u16()?, self.cursor.u16()?);
        let fields_at = self.cursor.at();
        for _ in 0..n_fields {
            read_field(&mut self.cursor)?;
        }
        let ops_at = self.cursor.at();
        for _ in 0..n_ops {
            read_op(&mut self.cursor)?;
        }
        let end = self.cursor.at();
        let body = Body { fields: &self.value[fields_at..ops_at], ops: &self.value[ops_at..end], n_ops };
        (self.template, self.template_at) = (Some((header, body)), at);
        Ok(BatchRow { index, digest, repeat: false, header, body })
    }
}

impl<'a> Iterator for BatchRows<'a> {
    type Item = WireResult<BatchRow<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let row = self.row();
        if row.is_err() {
            self.left = 0;
        }
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left as usize))
    }
}
