//! What a query asks for.

use crate::cluster::{Node, PARTITIONS};
use crate::code;
use crate::exp::Expression;
use crate::record::{MAX_BIN_NAME, MAX_SET_NAME};
use crate::store::Namespace;
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{Message, field, info1, info2, info3, op};
use std::sync::Arc;

/// A checked query.
#[derive(Debug, Clone)]
pub(super) struct QueryRequest {
    pub(super) kind: Kind,
    pub(super) namespace: Arc<Namespace>,
    /// Only records of this set; `None`: of all.
    pub(super) set: Option<Vec<u8>>,
    /// Partitions to go through, each with the digest to go on after.
    pub(super) partitions: Vec<Wanted>,
    /// Only these bins; empty: all.
    pub(super) bins: Vec<Vec<u8>>,
    /// The message, if it asks for more than bins: its operations are done on each record.
    pub(super) projection: Option<Vec<u8>>,
    /// Headers only.
    pub(super) no_bin_data: bool,
    /// Only records that this filter expression lets pass. It was checked.
    pub(super) filter: Option<Vec<u8>>,
    /// Most records to answer.
    pub(super) max_records: Option<u64>,
    /// Most records per second; 0: no limit.
    pub(super) records_per_second: u32,
    /// The client's number for the query; 0 if there is none.
    pub(super) id: u64,
}

/// A partition, and the digest to go on after.
pub(super) type Wanted = (u16, Option<[u8; 20]>);

/// Who waits for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The client, for records.
    Foreground,
    /// Nobody: operations are done on all records.
    Background,
}

impl QueryRequest {
    /// Takes a message apart; the error is a result code.
    pub(super) fn parse(node: &Node, body: &[u8], message: &Message<'_>) -> Result<Self, u8> {
        let name = message.field(field::NAMESPACE).ok_or(code::NAMESPACE)?;
        let namespace = node.cluster.namespace(name).ok_or(code::NAMESPACE)?;
        let set = message.field(field::SET).filter(|set| !set.is_empty());
        if set.is_some_and(|set| set.len() > MAX_SET_NAME) {
            return Err(code::PARAMETER);
        }
        let header = &message.header;
        let unsupported = [field::INDEX_RANGE, field::INDEX_NAME, field::UDF_PACKAGE, field::UDF_OPERATION];
        if unsupported.iter().any(|kind| message.field(*kind).is_some()) {
            return Err(code::UNSUPPORTED);
        }
        sized(message, field::SOCKET_TIMEOUT, 4)?;
        let rate = sized(message, field::RECORDS_PER_SECOND, 4)?.map_or(0, big_endian);
        let max_records = sized(message, field::MAX_RECORDS, 8)?.map(big_endian).filter(|max| *max > 0);
        let filter = message.field(field::FILTER);
        if let Some(filter) = filter {
            Expression::parse_filter(filter)?;
        }
        let background = header.info2 & info2::WRITE != 0 && header.info3 & info3::PARTITION_DONE == 0;
        let query = Self {
            kind: if background { Kind::Background } else { Kind::Foreground },
            namespace: Arc::clone(namespace),
            set: set.map(<[u8]>::to_vec),
            partitions: Vec::new(),
            bins: Vec::new(),
            projection: message.ops().any(|o| o.kind == op::EXP_READ).then(|| body.to_vec()),
            no_bin_data: header.info1 & info1::NO_BIN_DATA != 0,
            filter: filter.map(<[u8]>::to_vec),
            max_records,
            records_per_second: rate as u32,
            id: message.field(field::QUERY_ID).map_or(0, big_endian),
        };
        if background {
            return if header.n_ops == 0 { Err(code::PARAMETER) } else { Ok(query) };
        }
        if header.info3 & info3::PARTITION_DONE == 0 {
            return Err(code::UNSUPPORTED);
        }
        if header.info2 & info2::WRITE != 0 {
            return Err(code::PARAMETER);
        }
        Ok(Self { partitions: partitions(message)?, bins: bins(message)?, ..query })
    }
}

/// The value of a field that must have `size` bytes.
fn sized<'a>(message: &Message<'a>, kind: u8, size: usize) -> Result<Option<&'a [u8]>, u8> {
    match message.field(kind) {
        Some(value) if value.len() != size => Err(code::PARAMETER),
        value => Ok(value),
    }
}

/// The last 8 bytes as a number.
fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// The partitions named by number (little-endian, a last odd byte is ignored), then those named by a digest.
fn partitions(message: &Message<'_>) -> Result<Vec<Wanted>, u8> {
    let (ids, digests) = (message.field(field::PARTITIONS), message.field(field::DIGESTS));
    if ids.is_none() && digests.is_none() {
        return Err(code::UNSUPPORTED);
    }
    let (ids, digests) = (ids.map(|v| v.chunks_exact(2)), digests.unwrap_or_default());
    if ids.as_ref().is_some_and(|ids| ids.len() == 0) || digests.len() % 20 != 0 {
        return Err(code::PARAMETER);
    }
    let mut list = Vec::new();
    for id in ids.into_iter().flatten() {
        list.push((u16::from_le_bytes([id[0], id[1]]), None));
    }
    for digest in digests.as_chunks::<20>().0 {
        list.push((partition_id(digest), Some(*digest)));
    }
    let mut seen = [false; PARTITIONS];
    for (pid, _) in &list {
        match seen.get_mut(usize::from(*pid)) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(code::PARAMETER),
        }
    }
    Ok(list)
}

/// The bins asked for, by operations or by the old list of names.
fn bins(message: &Message<'_>) -> Result<Vec<Vec<u8>>, u8> {
    let mut names = Vec::new();
    for operation in message.ops() {
        match operation.kind {
            op::READ => names.push(operation.name.to_vec()),
            op::EXP_READ if operation.name.len() <= MAX_BIN_NAME => {}
            op::CDT_READ | op::BITS_READ | op::HLL_READ => return Err(code::UNSUPPORTED),
            _ => return Err(code::PARAMETER),
        }
    }
    if let Some(list) = message.field(field::QUERY_BINS) {
        let (count, mut rest) = list.split_first().ok_or(code::PARAMETER)?;
        for _ in 0..*count {
            let (length, tail) = rest.split_first().ok_or(code::PARAMETER)?;
            let (name, tail) = tail.split_at_checked(usize::from(*length)).ok_or(code::PARAMETER)?;
            names.push(name.to_vec());
            rest = tail;
        }
    }
    if names.iter().any(|name| name.len() > MAX_BIN_NAME) {
        return Err(code::PARAMETER);
    }
    Ok(names)
}
