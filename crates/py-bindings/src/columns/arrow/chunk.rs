//! Chunks of rows that are filled from answers, without Python.

use std::sync::Arc;
use std::time::SystemTime;

use aerolane::Error;
use aerolane_wire::WireError;
use aerolane_wire::digest::Digest;
use aerolane_wire::message::{MessageReader, field};
use aerolane_wire::msgpack::Reader;
use aerospike_core::CITRUSLEAF_EPOCH_UNIX_SECS;

use super::column::{Column, Filling};
use super::schema::{Bin, ColumnSource, Schema};
use super::value::Value;
use crate::key::{Key, hex};

/// A chunk ends when it has so many bytes. Offsets of 32 bits reach far beyond this and one more record.
pub(super) const CHUNK_BYTES: usize = 32 << 20;

/// Columns of some rows, complete.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(super) columns: Vec<Column>,
    pub(super) rows: usize,
}

/// Whose record it is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Identity<'a> {
    /// The user key: its particle type and bytes. Empty: not known.
    pub(crate) key: &'a [u8],
    pub(crate) digest: Option<&'a Digest>,
}

/// Why a record has no row.
#[derive(Debug)]
pub(crate) enum Unfit {
    Malformed(WireError),
    /// A value does not fit its column: which, of which record, and why.
    Misfit(String),
}

impl From<WireError> for Unfit {
    fn from(error: WireError) -> Self {
        Self::Malformed(error)
    }
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Malformed(error) => Self::bad_response(format!("a record is malformed: {error}")),
            Unfit::Misfit(text) => Self::invalid_argument(text),
        }
    }
}

/// Gathers rows into chunks.
#[derive(Debug)]
pub(crate) struct Builder {
    schema: Arc<Schema>,
    chunk: Chunk,
    /// Rows of a chunk, at most.
    limit: usize,
    bytes: usize,
    /// Bytes of a row without what is in texts and collections.
    row_bytes: usize,
    /// Some columns are not those of bins.
    beside: bool,
}

impl<'a> Identity<'a> {
    pub(crate) fn of(key: &'a Key) -> Self {
        Self { key: key.typed_user_key(), digest: Some(key.digest()) }
    }

    /// Of a record that says its own.
    pub(crate) fn read(reader: &mut MessageReader<'a>) -> Result<Self, WireError> {
        let mut identity = Self::default();
        while let Some(found) = reader.next_field()? {
            match found.kind {
                field::KEY => identity.key = found.value,
                field::DIGEST => identity.digest = found.value.try_into().ok(),
                _ => {}
            }
        }
        Ok(identity)
    }

    /// For messages.
    pub(super) fn text(&self) -> String {
        let mut none = Reader::new(&[]);
        let key = self.key.split_first();
        let key = key.and_then(|(kind, bytes)| Value::of_particle(*kind, bytes, &mut none).ok());
        let digest = || self.digest.map_or_else(String::new, |digest| format!(" with the digest {}", hex(digest)));
        match key {
            Some(Value::Int(key)) => format!("the record with the key {key}"),
            Some(Value::Text(key)) => format!("the record with the key {:?}", String::from_utf8_lossy(key)),
            _ => format!("the record{}", digest()),
        }
    }
}

impl Builder {
    /// Of chunks of at most `limit` rows.
    pub(crate) fn new(schema: Arc<Schema>, limit: usize) -> Self {
        let chunk = Chunk::new(&schema);
        let row_bytes = schema.bins.iter().map(|bin| bin.field.kind.cell_bytes()).sum();
        let beside = schema.bins.iter().any(|bin| bin.from != ColumnSource::Bin);
        Self { schema, chunk, limit, bytes: 0, row_bytes, beside }
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Whether the chunk is to be taken before more is pushed.
    pub(crate) fn is_full(&self) -> bool {
        self.chunk.rows >= self.limit || self.bytes >= CHUNK_BYTES
    }

    /// The rows since the last take, if there are any.
    pub(crate) fn take(&mut self) -> Option<Arc<Chunk>> {
        if self.chunk.rows == 0 {
            return None;
        }
        self.bytes = 0;
        Some(Arc::new(std::mem::replace(&mut self.chunk, Chunk::new(&self.schema))))
    }

    /// Appends a row without a record.
    pub(crate) fn push_missing(&mut self, identity: Identity<'_>) -> Result<(), Unfit> {
        let mut filling = self.schema.filling();
        let filled = self.chunk.fill_beside(&self.schema, identity, None, &mut filling);
        self.finish(filled, &filling)
    }

    /// Appends the record in a message. `identity`: that of the record, if its message does not say it.
    ///
    /// # Errors
    /// The message is malformed, or a value does not fit, where that is an error. No row is appended.
    pub(crate) fn push(&mut self, message: &[u8], identity: Option<Identity<'_>>) -> Result<(), Unfit> {
        let mut filling = self.schema.filling();
        let filled = self.chunk.fill(&self.schema, message, identity, self.beside, &mut filling);
        self.finish(filled, &filling)
    }

    /// Appends a row of values, one for each column: particle types and bytes.
    ///
    /// # Errors
    /// As of [`push`](Self::push).
    pub(crate) fn push_values<'a>(&mut self, values: impl Iterator<Item = (u8, &'a [u8])>) -> Result<(), Unfit> {
        let mut filling = self.schema.filling();
        let mut reader = Reader::new(&[]);
        let mut columns = self.chunk.columns.iter_mut().zip(&self.schema.bins);
        let filled = values.zip(&mut columns).try_for_each(|((kind, bytes), (column, bin))| {
            let value = Value::of_particle(kind, bytes, &mut reader)?;
            Ok(column.push(&bin.field, &value, &mut reader, &mut filling)?)
        });
        self.finish(filled, &filling)
    }

    /// Ends a row: columns that have no value in it have a null. What was appended of a record that failed is taken back.
    fn finish(&mut self, filled: Result<(), Unfit>, filling: &Filling) -> Result<(), Unfit> {
        let rows = self.chunk.rows;
        if filled.is_err() {
            self.chunk.columns.iter_mut().for_each(|column| column.truncate(rows));
            return filled;
        }
        self.chunk.rows += 1;
        self.chunk.columns.iter_mut().filter(|column| column.rows == rows).for_each(Column::push_null);
        self.bytes = self.bytes.saturating_add(self.row_bytes).saturating_add(filling.bytes);
        Ok(())
    }
}

/// Which record a message is about.
fn whose(message: &[u8], identity: Option<Identity<'_>>) -> String {
    let read = || MessageReader::new(message).and_then(|mut reader| Identity::read(&mut reader)).unwrap_or_default();
    identity.unwrap_or_else(read).text()
}

#[cold]
fn unknown_bin(message: &[u8], identity: Option<Identity<'_>>, name: &[u8]) -> Unfit {
    Unfit::Misfit(format!(
        "{} has a bin {:?}, which none of the records has that settled the columns: look at more of them \
         (infer_schema_length), or name the bins of the query",
        whose(message, identity),
        String::from_utf8_lossy(name)
    ))
}

/// The seconds until a moment, counted since 2010, as a record tells it; 1 at least.
fn seconds_left(expiration: u32) -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let expires = CITRUSLEAF_EPOCH_UNIX_SECS + u64::from(expiration);
    expires.saturating_sub(now).max(1).cast_signed()
}

impl Chunk {
    fn new(schema: &Schema) -> Self {
        Self { columns: schema.bins.iter().map(|bin| Column::new(&bin.field.kind)).collect(), rows: 0 }
    }

    /// Appends a record to the columns. `beside`: some are not those of bins.
    fn fill(
        &mut self,
        schema: &Schema,
        message: &[u8],
        identity: Option<Identity<'_>>,
        beside: bool,
        filling: &mut Filling,
    ) -> Result<(), Unfit> {
        let mut reader = MessageReader::new(message)?;
        let row = self.rows;
        if beside {
            let header = reader.header();
            let identity = match identity {
                Some(identity) => identity,
                None => Identity::read(&mut reader)?,
            };
            self.fill_beside(schema, identity, Some((header.generation, header.record_ttl)), filling)?;
        }
        let (bins, mut packed) = (&schema.bins, Reader::new(&[]));
        // Bins mostly come in the order in which they were asked for.
        let mut expected = 0;
        while let Some(op) = reader.next_op()? {
            let named = |bin: &Bin| bin.from == ColumnSource::Bin && bin.field.name.to_bytes() == op.name;
            let is = |place: &usize| bins.get(*place).is_some_and(named);
            let found = Some(expected).filter(is).or_else(|| (0..bins.len()).find(is));
            let Some(place) = found else {
                if schema.is_closed() {
                    return Err(unknown_bin(message, identity, op.name));
                }
                continue;
            };
            let column = &mut self.columns[place];
            if column.rows > row {
                // Of several results of a bin the last one counts, as in arrays.
                column.truncate(row);
            }
            let value = Value::of_bin(&op, &mut packed)?;
            column.push(&bins[place].field, &value, &mut packed, filling)?;
            if let Some(text) = &filling.misfit {
                let whose = whose(message, identity);
                return Err(Unfit::Misfit(format!("the bin {:?} of {whose}: {text}", bins[place].name())));
            }
            expected = place + 1;
        }
        Ok(())
    }

    /// Fills the columns of what a record has beside its bins: generation and expiration are those of its header.
    fn fill_beside(
        &mut self,
        schema: &Schema,
        identity: Identity<'_>,
        header: Option<(u32, u32)>,
        filling: &mut Filling,
    ) -> Result<(), Unfit> {
        let mut none = Reader::new(&[]);
        for (column, bin) in self.columns.iter_mut().zip(&schema.bins) {
            let value = match (bin.from, header) {
                (ColumnSource::Key, _) => match identity.key.split_first() {
                    Some((kind, bytes)) => Value::of_particle(*kind, bytes, &mut none)?,
                    None => continue,
                },
                (ColumnSource::Digest, _) => match identity.digest {
                    Some(digest) if bin.field.kind.is_text() => {
                        let digits = hex(digest);
                        column.push(&bin.field, &Value::Text(digits.as_bytes()), &mut Reader::new(&[]), filling)?;
                        continue;
                    }
                    Some(digest) => Value::Blob(digest),
                    None => continue,
                },
                (ColumnSource::Generation, Some((generation, _))) => Value::Int(i64::from(generation)),
                // 0: the record never expires.
                (ColumnSource::Ttl, Some((_, expiration @ 1..))) => Value::Int(seconds_left(expiration)),
                (ColumnSource::Expiration, Some((_, expiration @ 1..))) => {
                    Value::Int((CITRUSLEAF_EPOCH_UNIX_SECS + u64::from(expiration)).cast_signed())
                }
                _ => continue,
            };
            column.push(&bin.field, &value, &mut none, filling)?;
            if let Some(text) = &filling.misfit {
                return Err(Unfit::Misfit(format!("the column {:?} of {}: {text}", bin.name(), identity.text())));
            }
        }
        Ok(())
    }
}
