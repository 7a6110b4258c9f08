//! What of a secondary index a query asks for.

use crate::cdt;
use crate::cluster::Node;
use crate::code;
use crate::geo::Shape;
use crate::index::{Definition, Index, IndexLookup, Origin, Part, ValueKind};
use crate::value::MAX_BIN_NAME;
use aerolane_wire::message::{Message, field};
use aerolane_wire::particle::particle_type;
use std::sync::Arc;

/// Longest index name.
const MAX_INDEX_NAME: usize = 255;
/// Strings and blobs that can be looked for are shorter than this.
const MAX_BYTES: usize = 2048;
/// Geometries that can be looked for are shorter than this.
const MAX_GEOJSON: usize = 1024 * 1024;

/// An index, and what is looked for in it.
#[derive(Debug, Clone)]
pub(super) struct IndexQuery {
    pub(super) index: Arc<Index>,
    pub(super) sought: IndexLookup,
}

/// The range that a message names, before its index is found.
struct Range<'a> {
    bin: &'a [u8],
    kind: ValueKind,
    sought: IndexLookup,
}

impl IndexQuery {
    /// The query's index; `None` if it asks for no range. The error is a result code.
    pub(super) fn parse(
        node: &Node,
        namespace: &str,
        set: Option<&[u8]>,
        message: &Message<'_>,
    ) -> Result<Option<Self>, u8> {
        let Some(range) = message.field(field::INDEX_RANGE) else { return Ok(None) };
        let name = message.field(field::INDEX_NAME);
        let expression = message.field(field::INDEX_EXPRESSION);
        let range = Range::parse(range, name.is_some() || expression.is_some())?;
        let part = match message.field(field::INDEX_TYPE) {
            None | Some([0, ..]) => Some(Part::Whole),
            Some([1, ..]) => Some(Part::ListElements),
            Some([2, ..]) => Some(Part::MapKeys),
            Some([3, ..]) => Some(Part::MapValues),
            Some([]) => return Err(code::PARAMETER),
            Some(_) => None,
        };
        let context = message.field(field::INDEX_CONTEXT);
        if context.is_some_and(|context| !cdt::is_context(context)) {
            return Err(code::PARAMETER);
        }
        let indexes = &node.cluster.indexes;
        let index = if let Some(name) = name {
            if name.is_empty() || name.len() > MAX_INDEX_NAME {
                return Err(code::PARAMETER);
            }
            indexes.by_name(namespace, name)
        } else {
            let origin = match expression {
                Some(expression) => Origin::Expression(expression.to_vec()),
                None => Origin::Bin { name: range.bin.to_vec(), context: context.map(<[u8]>::to_vec) },
            };
            let set = set.map(<[u8]>::to_vec);
            part.and_then(|part| indexes.by_definition(namespace, &Definition { set, origin, part, kind: range.kind }))
        };
        let index = index.filter(|index| index.definition.kind == range.kind).ok_or(code::INDEX_NOT_FOUND)?;
        if !index.is_readable() {
            return Err(code::INDEX_NOT_READABLE);
        }
        Ok(Some(Self { index, sought: range.sought }))
    }
}

impl<'a> Range<'a> {
    /// A count of 1, a bin name behind its length, a particle type, and the two ends behind their lengths.
    fn parse(value: &'a [u8], named_otherwise: bool) -> Result<Self, u8> {
        let (&[count, name_len], rest) = value.split_first_chunk::<2>().ok_or(code::PARAMETER)?;
        let (bin, rest) = rest.split_at_checked(usize::from(name_len)).ok_or(code::PARAMETER)?;
        // The bin is named here, or the index by its name or expression; not both.
        if count != 1 || bin.len() > MAX_BIN_NAME || bin.is_empty() != named_otherwise {
            return Err(code::PARAMETER);
        }
        let (particle, rest) = rest.split_first().ok_or(code::PARAMETER)?;
        let (begin, rest) = sized(rest)?;
        let (end, _) = sized(rest)?;
        let (kind, sought) = match *particle {
            particle_type::INTEGER => {
                let number = |bytes: &[u8]| bytes.try_into().map(i64::from_be_bytes).map_err(|_| code::PARAMETER);
                let (begin, end) = (number(begin)?, number(end)?);
                if begin > end {
                    return Err(code::PARAMETER);
                }
                (ValueKind::Numeric, IndexLookup::Range(begin, end))
            }
            particle_type::STRING if begin.len() < MAX_BYTES => (ValueKind::String, IndexLookup::Bytes(begin.to_vec())),
            particle_type::BLOB if begin.len() < MAX_BYTES => (ValueKind::Blob, IndexLookup::Bytes(begin.to_vec())),
            particle_type::GEOJSON if begin.len() < MAX_GEOJSON => {
                let geometry = Shape::parse(begin).ok_or(code::PARAMETER)?;
                (ValueKind::Geo, IndexLookup::Geo(Arc::new(geometry)))
            }
            _ => return Err(code::PARAMETER),
        };
        Ok(Self { bin, kind, sought })
    }
}

/// Bytes behind their length, and what follows.
fn sized(bytes: &[u8]) -> Result<(&[u8], &[u8]), u8> {
    let (len, rest) = bytes.split_first_chunk::<4>().ok_or(code::PARAMETER)?;
    rest.split_at_checked(u32::from_be_bytes(*len) as usize).ok_or(code::PARAMETER)
}
