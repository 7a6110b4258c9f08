//! The secondary indexes of a cluster, as its nodes list them (info `sindex-list`), for [`select`](crate::select::select).

use aerolane_wire::msgpack::{Element, Reader};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::emit::Level;
use crate::select::{Collection, Index, IndexKind};

/// Most indexes of a list: servers have at most 256 for each namespace, of which there are at most 32.
const MOST: usize = 8192;
/// Most steps to what an index has inside a bin.
const MOST_LEVELS: usize = 64;

/// An index that a node has listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its namespace.
    pub namespace: String,
    /// The set whose records it has; `None`: those of no set in particular.
    pub set: Option<String>,
    /// Queries can use it: it has been built.
    pub readable: bool,
    /// What it has.
    pub index: Index,
}

/// Reads the answer to `sindex-list`. What serves no text (indexes on expressions and on sets) and what cannot be understood is
/// left out: a query does without it.
#[must_use]
pub fn read(answer: &str) -> Vec<Listed> {
    answer.split(';').filter_map(entry).take(MOST).collect()
}

/// The share of different values that the answer to `sindex-stat` of an index comes to, for
/// [`Index::selectivity`]; `None`: it says nothing of them.
#[must_use]
pub fn selectivity(answer: &str) -> Option<f64> {
    let per_value = answer.split(';').find_map(|pair| pair.strip_prefix("entries_per_bval="))?;
    let per_value: u64 = per_value.trim().parse().ok()?;
    (per_value > 0).then(|| 1.0 / per_value as f64)
}

fn entry(text: &str) -> Option<Listed> {
    let value = |name: &str| {
        let of =
            |pair: &'_ str| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
        text.trim().split(':').find_map(of).filter(|value| !value.is_empty())
    };
    // Nothing is written as `null`.
    let some = |name: &str| value(name).filter(|value| !value.eq_ignore_ascii_case("null"));
    if some("exp").is_some() {
        return None;
    }
    let kind = match some("type")?.to_ascii_lowercase().as_str() {
        "integer" | "numeric" | "int signed" => IndexKind::Numeric,
        "string" | "text" => IndexKind::String,
        "blob" => IndexKind::Blob,
        "geo2dsphere" | "geojson" => IndexKind::Geo,
        _ => return None,
    };
    let collection = match value("indextype").unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "default" | "none" => Collection::Default,
        "list" => Collection::List,
        "mapkeys" => Collection::MapKeys,
        "mapvalues" => Collection::MapValues,
        _ => return None,
    };
    let context = match some("context") {
        Some(context) => levels(&context)?,
        None => Vec::new(),
    };
    // A bin may be called `null`.
    let index = Index { name: value("indexname"), bin: value("bin")?, kind, collection, context, selectivity: None };
    let readable = value("state").is_some_and(|state| state.eq_ignore_ascii_case("RW"));
    Some(Listed { namespace: value("ns")?, set: some("set"), readable, index })
}

/// The steps of a context: base64 of a list of ids and values.
fn levels(context: &str) -> Option<Vec<Level>> {
    let bytes = STANDARD.decode(context).ok()?;
    let mut reader = Reader::new(&bytes);
    let Element::List(list) = reader.read().ok()? else { return None };
    let items = list.len;
    if items % 2 != 0 || items / 2 > MOST_LEVELS {
        return None;
    }
    let mut levels = Vec::with_capacity(items / 2);
    for _ in 0..items / 2 {
        let Element::Int(id) = reader.read().ok()? else { return None };
        levels.push(Level { id: u16::try_from(id).ok()?, value: reader.skip().ok()?.to_vec() });
    }
    reader.finish().ok()?;
    Some(levels)
}
