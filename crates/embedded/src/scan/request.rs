//! What a query asks for.

use super::index_query::IndexQuery;
use super::plan;
use crate::cluster::{Node, PARTITIONS};
use crate::code;
use crate::exp::{Expression, compiled};
use crate::store::Namespace;
use crate::udf::{self, StreamCall};
use crate::value::{MAX_BIN_NAME, MAX_SET_NAME};
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{Message, field, info1, info2, info3, op};
use std::borrow::Cow;
use std::sync::Arc;

/// Values of the field that says what a function is for.
const UDF_AGGREGATE: u8 = 1;
const UDF_BACKGROUND: u8 = 2;

/// A checked query.
#[derive(Debug, Clone)]
pub(super) struct QueryRequest {
    pub(super) kind: Kind,
    pub(super) namespace: Arc<Namespace>,
    /// Only records of this set; `None`: of all.
    pub(super) set: Option<Vec<u8>>,
    /// Partitions to go through.
    pub(super) partitions: Vec<Wanted>,
    /// No partitions were named: of all of them those that the node is master of. Clients ask so for aggregations.
    pub(super) of_node: bool,
    /// The index to be used, and what is looked for.
    pub(super) index: Option<IndexQuery>,
    /// The function of a background job or an aggregation.
    pub(super) udf: Option<StreamCall>,
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

/// A partition, and the record to go on after.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) partition: u16,
    pub(super) after: Option<Resume>,
}

/// The last record that a client has had of a partition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resume {
    pub(super) digest: [u8; 20],
    /// Where it stands in the index; 0 without one.
    pub(super) place: i64,
}

/// Who waits for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The client, for records.
    Foreground,
    /// Nobody: operations are done on all records.
    Background,
    /// Nobody: a function is called on all records.
    BackgroundUdf,
    /// The client, for what a function makes of the records.
    Aggregation,
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
        let (kind, udf) = kind(message)?;
        let is_job = matches!(kind, Kind::Background | Kind::BackgroundUdf);
        // Jobs go through all partitions, and have no use for a list.
        let of_node = kind == Kind::Aggregation
            && message.field(field::PARTITIONS).is_none()
            && message.field(field::DIGESTS).is_none();
        let partitions = if is_job {
            Ok(Vec::new())
        } else if of_node {
            Ok((0..PARTITIONS as u16).map(|partition| Wanted { partition, after: None }).collect())
        } else {
            partitions(message)
        };
        if kind == Kind::Foreground && header.info3 & info3::PARTITION_DONE == 0 {
            return Err(code::UNSUPPORTED);
        }
        if let Err(code::PARAMETER) = partitions {
            return Err(code::PARAMETER);
        }
        let index = match IndexQuery::parse(node, &namespace.name, set, message) {
            Err(code::PARAMETER) => return Err(code::PARAMETER),
            index => index,
        };
        let (partitions, index) = (partitions?, index?);
        sized(message, field::SOCKET_TIMEOUT, 4)?;
        let rate = sized(message, field::RECORDS_PER_SECOND, 4)?.map_or(0, big_endian);
        let max_records = sized(message, field::MAX_RECORDS, 8)?.map(big_endian).filter(|max| *max > 0);
        let filter = match plan::filter(node, message)? {
            Some(condition) => Some(Cow::Owned(condition)),
            None => message.field(field::FILTER).map(compiled).transpose()?,
        };
        if let Some(filter) = &filter {
            Expression::parse_filter(filter)?;
        }
        let query = Self {
            kind,
            udf,
            partitions,
            of_node,
            index,
            namespace: Arc::clone(namespace),
            set: set.map(<[u8]>::to_vec),
            bins: Vec::new(),
            projection: message.ops().any(|o| o.kind != op::READ).then(|| body.to_vec()),
            no_bin_data: header.info1 & info1::NO_BIN_DATA != 0,
            filter: filter.map(Cow::into_owned),
            max_records,
            records_per_second: rate as u32,
            id: message.field(field::QUERY_ID).map_or(0, big_endian),
        };
        match kind {
            Kind::Background if header.n_ops == 0 => Err(code::PARAMETER),
            Kind::Background | Kind::BackgroundUdf | Kind::Aggregation => Ok(query),
            Kind::Foreground if header.info2 & info2::WRITE != 0 => Err(code::PARAMETER),
            Kind::Foreground => Ok(Self { bins: bins(message)?, ..query }),
        }
    }
}

/// What the message asks for, and the function it names. The kind of a job with a function stands in a field of its own.
fn kind(message: &Message<'_>) -> Result<(Kind, Option<StreamCall>), u8> {
    let header = &message.header;
    let (package, operation) = (message.field(field::UDF_PACKAGE), message.field(field::UDF_OPERATION));
    if package.is_none() && operation.is_none() {
        let job = header.info2 & info2::WRITE != 0 && header.info3 & info3::PARTITION_DONE == 0;
        return Ok((if job { Kind::Background } else { Kind::Foreground }, None));
    }
    let kind = match operation {
        Some([UDF_AGGREGATE, ..]) => Kind::Aggregation,
        Some([UDF_BACKGROUND, ..]) => Kind::BackgroundUdf,
        _ => return Err(code::PARAMETER),
    };
    let name = |kind: u8| message.field(kind).filter(|name| name.len() <= udf::MAX_NAME).ok_or(code::PARAMETER);
    let call = StreamCall {
        package: name(field::UDF_PACKAGE)?.to_vec(),
        function: name(field::UDF_FUNCTION)?.to_vec(),
        arguments: message.field(field::UDF_ARGUMENTS).ok_or(code::PARAMETER)?.to_vec(),
    };
    Ok((kind, Some(call)))
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
        list.push(Wanted { partition: u16::from_le_bytes([id[0], id[1]]), after: None });
    }
    // To go on in an index takes the place in it beside the digest, as a little-endian number.
    let digests = digests.as_chunks::<20>().0;
    let has_index = message.field(field::INDEX_RANGE).is_some();
    let places = message.field(field::BVALS).unwrap_or_default();
    if has_index && places.len() != digests.len() * 8 {
        return Err(code::PARAMETER);
    }
    for (at, digest) in digests.iter().enumerate() {
        let place = places.as_chunks::<8>().0.get(at).map_or(0, |place| i64::from_le_bytes(*place));
        list.push(Wanted { partition: partition_id(digest), after: Some(Resume { digest: *digest, place }) });
    }
    let mut seen = [false; PARTITIONS];
    for Wanted { partition, .. } in &list {
        match seen.get_mut(usize::from(*partition)) {
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
            op::EXP_READ | op::CDT_READ | op::BITS_READ | op::HLL_READ if operation.name.len() <= MAX_BIN_NAME => {}
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
