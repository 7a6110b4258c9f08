//! Conditions of queries as text, and which index serves them: what servers know from 8.2 on.
//!
//! A client asks a node for the plan of a query, which is the index and the range to look for in it. Then it carries the
//! plan out on all nodes, with the same text for what the index does not answer. No such server was at hand: fields and
//! flags are those that aerospike-core 3.0.0 sends and reads, and codes of refusals are guesses. A node never says that no
//! record can match. A server of 8.1.2 answers the question with "unsupported", and does not look at conditions.

use crate::admin::{self, Access};
use crate::cluster::Node;
use crate::code;
use crate::command_line::CommandLine;
use crate::exp::Expression;
use crate::info;
use crate::request::Request;
use crate::value::MAX_SET_NAME;
use aerolane_ael::listed::{self, Listed};
use aerolane_ael::select::{self, Bounds, Collection, Hint};
use aerolane_ael::{Param, condition};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info3, query_where};
use aerolane_wire::msgpack::{Element, Reader};
use aerolane_wire::particle::particle_type;

/// The first release (major, minor) that knows such conditions.
const SINCE: (u16, u16) = (8, 2);
/// All flags that there are.
const FLAGS: u8 = query_where::EXPLAIN | query_where::REQUIRE_INDEX | query_where::HARD_HINT;

/// The condition of a query as text.
struct Where<'a> {
    flags: u8,
    text: &'a str,
}

impl<'a> Where<'a> {
    /// The condition of a message; `None` without one, and on nodes that know nothing of it. The error is a result code.
    fn parse(node: &Node, message: &Message<'a>) -> Result<Option<Self>, u8> {
        let Some(value) = message.field(field::QUERY_WHERE) else { return Ok(None) };
        if info::release(&node.cluster.build) < SINCE {
            return Ok(None);
        }
        let (flags, text) = value.split_first().ok_or(code::PARAMETER)?;
        if flags & !FLAGS != 0 {
            return Err(code::PARAMETER);
        }
        let text = std::str::from_utf8(text).map_err(|_| code::PARAMETER)?;
        Ok(Some(Self { flags: *flags, text }))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The filter expression that it comes to.
    fn compiled(&self) -> Result<Vec<u8>, u8> {
        let compiled = condition(self.text, &[]).map_err(|_| code::PARAMETER)?.into_bytes().into_vec();
        // Not all that the language has can be evaluated here.
        Expression::parse_filter(&compiled)?;
        Ok(compiled)
    }
}

/// The filter expression that the text of a query comes to, if it has one. The error is a result code.
pub(super) fn filter(node: &Node, message: &Message<'_>) -> Result<Option<Vec<u8>>, u8> {
    let Some(condition) = Where::parse(node, message)? else { return Ok(None) };
    // A condition is one or the other.
    if message.field(field::FILTER).is_some() {
        return Err(code::PARAMETER);
    }
    condition.compiled().map(Some)
}

/// Answers the question for a plan; `Ok(false)`: the message is none, and nothing was appended. The error is a result code.
pub(super) fn explain(request: &mut Request<'_>, message: &Message<'_>, out: &mut Vec<u8>) -> Result<bool, u8> {
    let Some(question) = Where::parse(request.node, message)?.filter(|question| question.has(query_where::EXPLAIN))
    else {
        return Ok(false);
    };
    question.compiled()?;
    let plan = plan(request, message, &question)?;
    let header = MessageHeader { info3: info3::LAST, ..MessageHeader::default() };
    let mut answer = MessageWriter::frame(out, &header);
    if let Some(Plan { name, collection, range }) = plan {
        answer.field(field::INDEX_NAME, name.as_bytes());
        let kind = match collection {
            Collection::Default => None,
            Collection::List => Some(1),
            Collection::MapKeys => Some(2),
            Collection::MapValues => Some(3),
        };
        if let Some(kind) = kind {
            answer.field(field::INDEX_TYPE, &[kind]);
        }
        answer.field(field::INDEX_RANGE, &range);
    }
    answer.finish().map_err(|_| code::PARAMETER)?;
    Ok(true)
}

/// How a query is to be carried out, if an index serves it.
struct Plan {
    name: String,
    collection: Collection,
    /// With the name of the bin.
    range: Vec<u8>,
}

fn plan(request: &mut Request<'_>, message: &Message<'_>, question: &Where<'_>) -> Result<Option<Plan>, u8> {
    let Request { node, now, .. } = *request;
    let name = message.field(field::NAMESPACE).ok_or(code::NAMESPACE)?;
    let namespace = node.cluster.namespace(name).ok_or(code::NAMESPACE)?;
    let set = message.field(field::SET).filter(|set| !set.is_empty());
    if set.is_some_and(|set| set.len() > MAX_SET_NAME) {
        return Err(code::PARAMETER);
    }
    let grants = admin::grants(node, request.session)?;
    admin::permit_data(grants.as_deref(), Access::Read, name, set.unwrap_or_default(), now)?;
    let hint = match message.field(field::INDEX_NAME).map(std::str::from_utf8) {
        Some(Err(_)) => return Err(code::PARAMETER),
        Some(Ok(name)) => Some(name),
        None => None,
    };
    let serves = |listed: &Listed| {
        // An index on one set does not have the records of others.
        listed.readable && listed.set.as_ref().is_none_or(|of| Some(of.as_bytes()) == set)
    };
    let line = format!("sindex-list:namespace={};b64=true", namespace.name);
    let listed = listed::read(&node.cluster.indexes.list(&CommandLine::parse(&line), |_| true));
    let indexes: Vec<select::Index> = listed.into_iter().filter(serves).map(|listed| listed.index).collect();
    let selection = select::select(question.text, &[], &indexes, Hint { index: hint, bin: None }, None);
    let chosen = selection.map_err(|_| code::PARAMETER)?.filter;
    let plan = chosen.and_then(|filter| {
        let index = &indexes[filter.index];
        let range = range(&index.bin, &filter.bounds)?;
        Some(Plan { name: index.name.clone()?, collection: index.collection, range })
    });
    let of_hint = plan.as_ref().is_some_and(|plan| Some(&*plan.name) == hint);
    let required = question.has(query_where::REQUIRE_INDEX) && plan.is_none();
    if required || (question.has(query_where::HARD_HINT) && !of_hint) {
        return Err(code::INDEX_NOT_FOUND);
    }
    Ok(plan)
}

/// What is looked for in an index: one range, the name of the bin, the type, and both ends behind their lengths.
fn range(bin: &str, bounds: &Bounds) -> Option<Vec<u8>> {
    let (particle, begin, end) = match bounds {
        Bounds::Range(begin, end) => (particle_type::INTEGER, begin.to_be_bytes().to_vec(), end.to_be_bytes().to_vec()),
        Bounds::Equal(value) => {
            let (particle, bytes) = sought(value)?;
            (particle, bytes.clone(), bytes)
        }
        Bounds::WithinRegion(shape) | Bounds::AroundPoint(shape) => {
            (particle_type::GEOJSON, shape.as_bytes().to_vec(), shape.as_bytes().to_vec())
        }
    };
    let mut range = vec![1, u8::try_from(bin.len()).ok()?];
    range.extend_from_slice(bin.as_bytes());
    range.push(particle);
    for bound in [begin, end] {
        range.extend_from_slice(&u32::try_from(bound.len()).ok()?.to_be_bytes());
        range.extend_from_slice(&bound);
    }
    Some(range)
}

/// A value that is looked for, as bins have it.
fn sought(value: &Param) -> Option<(u8, Vec<u8>)> {
    if let Some(number) = value.as_int() {
        return Some((particle_type::INTEGER, number.to_be_bytes().to_vec()));
    }
    let mut reader = Reader::new(value.bytes());
    let Ok(Element::Bytes(bytes)) = reader.read() else { return None };
    let (particle, bytes) = bytes.split_first()?;
    Some((*particle, bytes.to_vec()))
}
