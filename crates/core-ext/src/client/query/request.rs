//! What a query asks for, and its request to one node.

use aerolane_wire::message::{MessageWriter, field, info1, info2, info3};
use aerospike_core::metrics::CommandType;
use aerospike_core::{BasePolicy, QueryDuration, QueryPolicy, ResultCode};

use super::cursor::Cursor;
use crate::client::batch::RawOps;
use crate::command::encode::{filter_field, frame, read_header, too_big};
use crate::command::policy;
use crate::error::{Error, ErrorKind, Result};

/// What a query asks for, encoded by the caller.
#[derive(Debug, Clone)]
pub struct RawQuery {
    namespace: String,
    fields: Vec<u8>,
    field_count: u32,
    ops: RawOps,
    no_bins: bool,
    by_index: bool,
    function: bool,
    planned: bool,
}

impl RawQuery {
    /// All records of a namespace, with all bins.
    #[must_use]
    pub fn new(namespace: impl Into<String>) -> Self {
        let namespace = namespace.into();
        Self {
            namespace,
            fields: vec![],
            field_count: 0,
            ops: RawOps::default(),
            no_bins: false,
            by_index: false,
            function: false,
            planned: false,
        }
    }

    /// Adds a field that says which records (`SET`, `INDEX_RANGE` and their like; see [`field`]). The namespace, the
    /// filter of the policy and everything about partitions are not the caller's.
    #[must_use]
    pub fn field(mut self, kind: u8, value: &[u8]) -> Self {
        self.fields.extend_from_slice(&(value.len() as u32 + 1).to_be_bytes());
        self.fields.push(kind);
        self.fields.extend_from_slice(value);
        self.field_count += 1;
        self.by_index |= kind == field::INDEX_RANGE;
        self.function |= kind == field::UDF_FUNCTION;
        self.planned |= kind == field::QUERY_WHERE;
        self
    }

    /// The bins that are to come, as operations that read them, or operations whose results are to come. Without, all
    /// bins.
    #[must_use]
    pub fn ops(mut self, ops: RawOps) -> Self {
        self.ops = ops;
        self
    }

    /// Only keys, generations and expirations are to come. As `QueryPolicy::include_bin_data = false`.
    #[must_use]
    pub const fn without_bins(mut self) -> Self {
        self.no_bins = true;
        self
    }

    /// What it is counted as.
    pub(super) const fn kind(&self) -> CommandType {
        if self.by_index { CommandType::Query } else { CommandType::Scan }
    }

    /// Whether a function of a UDF module runs over the records. What comes are its results, which have no digest.
    #[must_use]
    pub const fn has_function(&self) -> bool {
        self.function
    }

    /// Whether its condition is text, which servers before 8.2 do not look at.
    pub(super) const fn is_planned(&self) -> bool {
        self.planned
    }

    /// An error of the query; one about a missing index says which index that is.
    pub(super) fn explain(&self, error: Error) -> Error {
        let is_missing = matches!(error.kind(), ErrorKind::Server { rc: ResultCode::IndexNotFound, detail: None });
        if !is_missing || error.has_message() {
            return error;
        }
        let text = |kind| self.field_value(kind).map(String::from_utf8_lossy);
        let message = match (text(field::INDEX_NAME), self.field_value(field::INDEX_RANGE)) {
            (Some(index), _) => format!("Index not found: namespace {} has no index {index:?}", self.namespace),
            (None, Some([_, length, bin @ ..])) => {
                let bin = String::from_utf8_lossy(&bin[..bin.len().min(usize::from(*length))]);
                let set = text(field::SET).unwrap_or_default();
                let dot = if set.is_empty() { "" } else { "." };
                format!(
                    "Index not found: no index of {}{dot}{set} on bin {bin:?} can answer the filter",
                    self.namespace
                )
            }
            _ => return error,
        };
        error.with_message(message)
    }

    /// The value of a field that the caller has added.
    fn field_value(&self, wanted: u8) -> Option<&[u8]> {
        let mut rest = &self.fields[..];
        while let Some((size, after)) = rest.split_first_chunk() {
            let (body, after) = after.split_at_checked(u32::from_be_bytes(*size) as usize)?;
            match body.split_first() {
                Some((kind, value)) if *kind == wanted => return Some(value),
                _ => rest = after,
            }
        }
        None
    }

    /// Name of the namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Appends the frame for one node: its partitions, and how many records at most (0: no limit).
    pub(super) fn encode(
        &self,
        policy: &QueryPolicy,
        id: u64,
        cursor: &Cursor,
        (partitions, limit): (&[u16], u64),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let base = &policy.base_policy;
        let (mut flags1, mut flags2) = (info1::READ, 0);
        if self.no_bins || !policy.include_bin_data {
            flags1 |= info1::NO_BIN_DATA;
        }
        match policy.expected_duration {
            QueryDuration::Long => {}
            QueryDuration::Short => flags1 |= info1::SHORT_QUERY,
            QueryDuration::LongRelaxAp => flags2 |= info2::RELAX_AP_LONG_QUERY,
        }
        frame(out, base, |out| {
            let mut header = read_header(base, flags1, flags2, policy::server_timeout_ms(base));
            header.info3 |= info3::PARTITION_DONE;
            let mut writer = MessageWriter::frame(out, &header);
            self.common_fields(&mut writer, base, policy.records_per_second, id)?;
            self.partition_fields(&mut writer, cursor, partitions)?;
            if limit > 0 {
                writer.field(field::MAX_RECORDS, &limit.to_be_bytes());
            }
            self.common_ops(&mut writer);
            writer.finish().map_err(too_big)
        })
    }

    /// Which records, how fast, for how long, and the query's number.
    pub(super) fn common_fields(
        &self,
        writer: &mut MessageWriter<'_>,
        base: &BasePolicy,
        records_per_second: u32,
        id: u64,
    ) -> Result<()> {
        writer.field(field::NAMESPACE, self.namespace.as_bytes());
        writer.encoded_fields(&self.fields, self.field_count);
        filter_field(writer, base)?;
        if records_per_second > 0 {
            writer.field(field::RECORDS_PER_SECOND, &records_per_second.to_be_bytes());
        }
        let timeout_ms = policy::socket_timeout(base).map_or(0, |timeout| timeout.as_millis() as u32);
        writer.field(field::SOCKET_TIMEOUT, &timeout_ms.to_be_bytes());
        writer.field(field::QUERY_ID, &id.to_be_bytes());
        Ok(())
    }

    pub(super) fn common_ops(&self, writer: &mut MessageWriter<'_>) {
        self.ops.write(writer);
    }

    /// Partitions from their beginnings by number, those with a place by its digest. Both little-endian, with the index
    /// values (golden groups `scan` and `query`).
    fn partition_fields(&self, writer: &mut MessageWriter<'_>, cursor: &Cursor, partitions: &[u16]) -> Result<()> {
        let (mut whole, mut digests, mut index_values) = (Vec::new(), Vec::new(), Vec::new());
        for &partition in partitions {
            let place = cursor.place(partition);
            let place = place.ok_or_else(|| Error::invalid_argument("a partition outside of the cursor's range"))?;
            match place.last {
                None => whole.extend_from_slice(&partition.to_le_bytes()),
                Some(digest) => {
                    digests.extend_from_slice(&digest);
                    index_values.extend_from_slice(&place.index_value.to_le_bytes());
                }
            }
        }
        if !whole.is_empty() {
            writer.field(field::PARTITIONS, &whole);
        }
        if !digests.is_empty() {
            writer.field(field::DIGESTS, &digests);
            if self.by_index {
                writer.field(field::BVALS, &index_values);
            }
        }
        Ok(())
    }
}
