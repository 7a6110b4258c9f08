//! The secondary-index commands of the info protocol: definitions are kept, shown and removed as the server does it.

use aerolane_wire::msgpack;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use parking_lot::RwLock;

use crate::cdt;
use crate::clock::Now;
use crate::code;
use crate::command_line::{CommandLine, ParameterError, error};
use crate::exp::Expression;
use crate::index::{Definition as IndexDefinition, Index, Origin, Part, ValueKind};
use crate::store::{Namespace, Slot};
use std::ops::Deref;
use std::sync::Arc;

const MAX_INDEX_NAME: usize = 63;
const MAX_SET_NAME: usize = 63;
const MAX_BIN_NAME: usize = 15;
/// Most indexes of a namespace, as in the server.
const MAX_INDEXES: usize = 256;
const MAX_EXPRESSION: usize = 16 * 1024;
/// Up to this many records an index is built before the answer.
const BUILD_AT_ONCE: u64 = 20_000;
/// Stack of a thread that builds an index: nested values and expressions are walked.
const BUILD_STACK: usize = 8 * 1024 * 1024;
/// Bytes of an entry of an index, and of what an index of a set costs for a record.
const ENTRY_BYTES: u64 = 32;
const SET_ENTRY_BYTES: u64 = 16;

/// One index definition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition {
    namespace: String,
    name: String,
    set: Option<String>,
    /// What is indexed; `None` for an index of a whole set.
    on: Option<Indexed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Indexed {
    /// `None` if an expression is indexed.
    bin: Option<String>,
    /// As [`TypeNames::known`] gives it.
    value_type: &'static str,
    collection: String,
    /// Base64 text, as it came.
    context: Option<String>,
    /// Base64 text, as it came.
    expression: Option<String>,
}

/// A definition, and the index that it is of; indexes of whole sets have none, as a query of a set finds its records
/// without one.
#[derive(Debug)]
struct Row {
    definition: Definition,
    index: Option<Arc<Index>>,
}

impl Deref for Row {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        &self.definition
    }
}

/// What nodes call the types of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TypeNames {
    /// Before 8.2: `numeric` alone.
    #[default]
    Numeric,
    /// From 8.2 on: `integer`; `numeric` still creates the same.
    Integer,
}

impl TypeNames {
    /// The first build (major, minor) that says `integer`.
    const INTEGER_SINCE: (u16, u16) = (8, 2);

    /// The names that nodes of this build use. A build is four numbers.
    pub(crate) fn of(build: &str) -> Self {
        if super::release(build) >= Self::INTEGER_SINCE { Self::Integer } else { Self::Numeric }
    }

    /// The type that a command names, as definitions keep it: integers are `numeric` there.
    fn known(self, name: &str) -> Option<&'static str> {
        match name.to_ascii_lowercase().as_str() {
            "integer" if self == Self::Integer => Some("numeric"),
            "numeric" => Some("numeric"),
            "string" => Some("string"),
            "blob" => Some("blob"),
            "geo2dsphere" => Some("geo2dsphere"),
            _ => None,
        }
    }

    /// What a list of indexes says of a type that is kept.
    fn listed(self, kept: &str) -> &str {
        if self == Self::Integer && kept == "numeric" { "integer" } else { kept }
    }

    /// The names in the text of an error.
    fn choices(self) -> &'static str {
        match self {
            Self::Numeric => "'numeric', 'string', 'blob', 'geo2dsphere'",
            Self::Integer => "'integer', 'numeric', 'string', 'blob', 'geo2dsphere'",
        }
    }
}

/// The indexes of all namespaces of a cluster.
#[derive(Debug, Default)]
pub(crate) struct SecondaryIndexes {
    list: RwLock<Vec<Row>>,
    names: TypeNames,
}

impl SecondaryIndexes {
    pub(crate) fn new(names: TypeNames) -> Self {
        Self { list: RwLock::default(), names }
    }

    /// Whether an index with this name exists.
    pub(crate) fn exists(&self, namespace: &str, name: &str) -> bool {
        self.list.read().iter().any(|d| d.namespace == namespace && d.name == name)
    }

    /// How many definitions the namespace has (for a set: how many of that set).
    pub(crate) fn count(&self, namespace: &str, set: Option<&str>) -> usize {
        let of_set = |d: &&Row| set.is_none() || d.set.as_deref() == set;
        self.list.read().iter().filter(|d| d.namespace == namespace).filter(of_set).count()
    }

    /// The index with this name; indexes of whole sets are no use for that.
    pub(crate) fn by_name(&self, namespace: &str, name: &[u8]) -> Option<Arc<Index>> {
        let list = self.list.read();
        let found = list.iter().find(|d| d.namespace == namespace && d.name.as_bytes() == name);
        found.and_then(|row| row.index.clone())
    }

    /// The index that is defined so.
    pub(crate) fn by_definition(&self, namespace: &str, definition: &IndexDefinition) -> Option<Arc<Index>> {
        let list = self.list.read();
        let mut indexes = list.iter().filter(|d| d.namespace == namespace).filter_map(|row| row.index.as_ref());
        indexes.find(|index| index.definition == *definition).cloned()
    }

    /// `sindex-create`. `find` gives a namespace: an unknown one is "ok" and has no effect, as in the server, which hands
    /// the command to its metadata service. A large index goes on being built after the answer.
    pub(crate) fn create<'n>(
        &self,
        line: &CommandLine<'_>,
        find: impl Fn(&str) -> Option<&'n Arc<Namespace>>,
        now: Now,
    ) -> String {
        let definition = match parse_definition(line, self.names) {
            Ok(definition) => definition,
            Err(answer) => return answer,
        };
        let Some(namespace) = find(&definition.namespace) else {
            return "ok".to_owned();
        };
        let mut list = self.list.write();
        let same_name = list.iter().find(|d| d.namespace == definition.namespace && d.name == definition.name);
        match same_name {
            Some(old) if old.definition == definition => return "ok".to_owned(),
            Some(_) => return error(200, "'indexname' already exists with different definition"),
            None => {}
        }
        // The same definition under another name renames the index.
        let same =
            |d: &&mut Row| d.namespace == definition.namespace && d.set == definition.set && d.on == definition.on;
        if let Some(old) = list.iter_mut().find(same) {
            old.definition.name = definition.name;
            return "ok".to_owned();
        }
        if list.iter().filter(|d| d.namespace == definition.namespace).count() >= MAX_INDEXES {
            return error(206, "already at sindex definition limit");
        }
        let index = definition.index().map(|index| Arc::new(Index::new(index)));
        list.push(Row { definition, index: index.clone() });
        drop(list);
        if let Some(index) = index {
            build(namespace, &index, now);
        }
        "ok".to_owned()
    }

    /// `sindex-delete`. Removing what is not there is "ok"; the second text after a missing name is the server's own.
    pub(crate) fn delete<'n>(
        &self,
        line: &CommandLine<'_>,
        find: impl Fn(&str) -> Option<&'n Arc<Namespace>>,
    ) -> String {
        let name = match line.get_bounded("indexname", MAX_INDEX_NAME) {
            Ok(name) => Ok(name),
            Err(e) => Err(e.answer("indexname")),
        };
        let namespace = match line.namespace() {
            Ok(namespace) => namespace,
            Err(e) => return name.err().unwrap_or_default() + &error(20, &e.text("namespace")),
        };
        match name {
            Ok(name) => {
                let mut list = self.list.write();
                let place = list.iter().position(|d| d.namespace == namespace && d.name == name);
                let removed = place.map(|place| list.remove(place));
                drop(list);
                if let (Some(Row { index: Some(index), .. }), Some(namespace)) = (removed, find(namespace)) {
                    namespace.drop_index(&index);
                }
                "ok".to_owned()
            }
            Err(text) => text + "ok",
        }
    }

    /// `sindex-list`: value indexes first, set indexes behind them.
    pub(crate) fn list(&self, line: &CommandLine<'_>, known: impl Fn(&str) -> bool) -> String {
        let namespace = match line.namespace() {
            Ok(namespace) if !known(namespace) => {
                let text = error(20, "namespace not found on node");
                return format!("{text};{text}");
            }
            Ok(namespace) => Some(namespace),
            Err(_) => None,
        };
        let bad_flag = !matches!(line.get("b64"), Err(ParameterError::Missing) | Ok("true" | "false"));
        let list = self.list.read();
        let wanted = list.iter().filter(|d| namespace.is_none_or(|n| d.namespace == n));
        let (sets, values): (Vec<_>, Vec<_>) = wanted.partition(|d| d.on.is_none());
        let join = |list: Vec<&Row>| list.into_iter().map(|row| row.row(self.names)).collect::<Vec<_>>().join(";");
        let values = if bad_flag { error(4, "bad b64") } else { join(values) };
        // The server puts the separator even behind nothing (golden scenario `query/set-index`).
        if sets.is_empty() { values } else { format!("{values};{}", join(sets)) }
    }

    /// `sindex-exists`.
    pub(crate) fn exists_command(&self, line: &CommandLine<'_>, known: impl Fn(&str) -> bool) -> String {
        let name = line.get_bounded("indexname", MAX_INDEX_NAME);
        let missing = name.map_or_else(|e| e.answer("indexname"), |_| String::new());
        match line.namespace() {
            Err(e) => missing + &error(20, &e.text("namespace")),
            Ok(namespace) if !known(namespace) => missing + &error(20, "namespace not found on node"),
            Ok(namespace) => missing + &name.is_ok_and(|name| self.exists(namespace, name)).to_string(),
        }
    }

    /// `sindex-stat:...` and `sindex/<namespace>/<index>`; `sindex` alone is [`SecondaryIndexes::list`].
    pub(crate) fn stat<'n>(
        &self,
        node: Slot,
        line: &CommandLine<'_>,
        find: impl Fn(&str) -> Option<&'n Arc<Namespace>>,
    ) -> String {
        let known = |name: &str| find(name).is_some();
        let objects = |namespace: &str, set: &str| {
            let sets = &find(namespace)?.sets;
            sets.get(sets.find(set.as_bytes())?).map(|set| sets.held(node, set).0)
        };
        let mut path = line.path();
        if let Some(namespace) = path.next() {
            return if known(namespace) {
                self.statistics(node, namespace, path.next().unwrap_or_default(), |set| objects(namespace, set))
            } else {
                "ns_type=unknown".to_owned()
            };
        }
        let name = line.get_bounded("indexname", MAX_INDEX_NAME);
        let missing = name.map_or_else(|e| e.answer("indexname"), |_| String::new());
        match line.namespace() {
            Err(e) => missing + &error(20, &e.text("namespace")),
            Ok(namespace) if !known(namespace) => missing + &error(20, "namespace not found on node"),
            Ok(namespace) => {
                missing + &self.statistics(node, namespace, name.unwrap_or_default(), |set| objects(namespace, set))
            }
        }
    }

    fn statistics(&self, node: Slot, namespace: &str, name: &str, find: impl Fn(&str) -> Option<u64>) -> String {
        let list = self.list.read();
        match list.iter().find(|d| d.namespace == namespace && d.name == name) {
            None => error(201, "no index"),
            Some(row) => match &row.index {
                None => {
                    let entries = row.set.as_deref().and_then(find).unwrap_or(0);
                    format!("entries={entries};used_bytes={};load_pct=100", entries * SET_ENTRY_BYTES)
                }
                Some(index) => {
                    let (entries, loaded) = (index.entries(node), index.loaded());
                    let per = u8::from(entries > 0);
                    format!(
                        "entries={entries};used_bytes={};entries_per_bval={per};entries_per_rec={per};load_pct={loaded};\
                         load_time={};stat_gc_recs=0",
                        entries * ENTRY_BYTES,
                        index.load_ms(),
                    )
                }
            },
        }
    }
}

/// Builds an index; a large one on a thread of its own.
fn build(namespace: &Arc<Namespace>, index: &Arc<Index>, now: Now) {
    if namespace.record_count() > BUILD_AT_ONCE {
        let (namespace, index) = (Arc::clone(namespace), Arc::clone(index));
        let builder = std::thread::Builder::new().name("aerolane-index".to_owned()).stack_size(BUILD_STACK);
        if builder.spawn(move || namespace.build_index(&index, now)).is_ok() {
            return;
        }
    }
    namespace.build_index(index, now);
}

impl Definition {
    /// What the index is about; `None` for an index of a whole set. The texts were checked.
    fn index(&self) -> Option<IndexDefinition> {
        let on = self.on.as_ref()?;
        let decode = |text: &String| BASE64.decode(text).unwrap_or_default();
        let origin = match (&on.bin, &on.expression) {
            (_, Some(expression)) => Origin::Expression(decode(expression)),
            (bin, None) => Origin::Bin {
                name: bin.clone().unwrap_or_default().into_bytes(),
                context: on.context.as_ref().map(decode),
            },
        };
        let part = match on.collection.as_str() {
            "list" => Part::ListElements,
            "mapkeys" => Part::MapKeys,
            "mapvalues" => Part::MapValues,
            _ => Part::Whole,
        };
        let kind = match on.value_type {
            "string" => ValueKind::String,
            "blob" => ValueKind::Blob,
            "geo2dsphere" => ValueKind::Geo,
            _ => ValueKind::Numeric,
        };
        let set = self.set.as_ref().map(|set| set.clone().into_bytes());
        Some(IndexDefinition { set, origin, part, kind })
    }

    fn row(&self, names: TypeNames) -> String {
        let set = self.set.as_deref().unwrap_or("null");
        let head = format!("ns={}:indexname={}:set={set}", self.namespace, self.name);
        match &self.on {
            None => format!("{head}:indextype=set"),
            Some(on) => format!(
                "{head}:bin={}:type={}:indextype={}:context={}:exp={}:state=RW",
                on.bin.as_deref().unwrap_or("null"),
                names.listed(on.value_type),
                on.collection,
                on.context.as_deref().unwrap_or("null"),
                on.expression.as_deref().unwrap_or("null"),
            ),
        }
    }
}

/// Checks in the server's order (golden scenario `info/sindex`).
fn parse_definition(line: &CommandLine<'_>, names: TypeNames) -> Result<Definition, String> {
    let bad = |name: &'static str| move |e: ParameterError| e.answer(name);
    let name = line.get_bounded("indexname", MAX_INDEX_NAME).map_err(bad("indexname"))?;
    let namespace = line.namespace().map_err(|e| error(20, &e.text("namespace")))?;
    let set = line.optional("set", MAX_SET_NAME).map_err(bad("set"))?;
    let collection = line.optional("indextype", 32).map_err(bad("indextype"))?.unwrap_or("default").to_lowercase();
    let definition =
        |on| Definition { namespace: namespace.to_owned(), name: name.to_owned(), set: set.map(str::to_owned), on };
    if collection == "set" {
        for name in ["bin", "exp", "context", "type"] {
            if line.get(name) != Err(ParameterError::Missing) {
                return Err(error(4, &format!("{name} parameter is not supported for set index")));
            }
        }
        return if set.is_none() { Err(error(4, "missing 'set'")) } else { Ok(definition(None)) };
    }
    if !matches!(collection.as_str(), "default" | "list" | "mapkeys" | "mapvalues") {
        return Err(error(4, "bad 'indextype' - must be one of 'default', 'list', 'mapkeys', 'mapvalues'"));
    }
    let context = line.optional("context", MAX_EXPRESSION).map_err(bad("context"))?;
    let expression = line.optional("exp", MAX_EXPRESSION).map_err(bad("exp"))?;
    if context.is_some() && expression.is_some() {
        return Err(error(4, "both 'context' and 'exp' are specified"));
    }
    if let Some(text) = context {
        let bytes = BASE64.decode(text).map_err(|_| error(4, "'context' invalid base64"))?;
        if !cdt::is_context(&bytes) {
            return Err(error(4, "'context' invalid cdt context"));
        }
    }
    if let Some(text) = expression {
        let bytes = BASE64.decode(text).map_err(|_| error(4, "bad 'exp'"))?;
        msgpack::validate(&bytes).map_err(|_| error(4, "bad 'exp'"))?;
    }
    let (bin, value_type) = bin_and_type(line, expression.is_some(), names)?;
    if let (Some(text), "default") = (expression, collection.as_str()) {
        check_expression_type(text, value_type)?;
    }
    Ok(definition(Some(Indexed {
        bin: bin.map(str::to_owned),
        value_type,
        collection,
        context: context.map(str::to_owned),
        expression: expression.map(str::to_owned),
    })))
}

/// An indexed expression has to give values of the index's type. Expressions that this cluster cannot build pass.
fn check_expression_type(text: &str, value_type: &str) -> Result<(), String> {
    let bytes = BASE64.decode(text).map_err(|_| error(4, "bad 'exp'"))?;
    match Expression::parse(&bytes) {
        Err(code::PARAMETER) => Err(error(4, "bad 'exp'")),
        Err(_) => Ok(()),
        Ok(expression) => match expression.index_type() {
            Some(found) if found != value_type => {
                let text = format!("bad 'exp' - expression type '{found}' does not match expected type '{value_type}'");
                Err(error(4, &text))
            }
            _ => Ok(()),
        },
    }
}

/// The bin and the type, from `bin=` and `type=` or from the old `indexdata=bin,type`.
fn bin_and_type<'a>(
    line: &CommandLine<'a>,
    has_expression: bool,
    names: TypeNames,
) -> Result<(Option<&'a str>, &'static str), String> {
    let bin = line.optional("bin", MAX_BIN_NAME).map_err(|e| e.answer("bin"))?;
    let data = line.optional("indexdata", 128).map_err(|e| e.answer("indexdata"))?;
    let value_type = line.optional("type", 32).map_err(|e| e.answer("type"))?;
    if bin.is_some() && has_expression {
        return Err(error(4, "both 'bin' and 'exp' are specified"));
    }
    let known = |name: &str, parameter: &str| {
        names.known(name).ok_or_else(|| error(4, &format!("bad {parameter} - must be one of {}", names.choices())))
    };
    if let Some(value_type) = value_type {
        if bin.is_none() && !has_expression {
            return Err(error(4, "both 'bin' and 'exp' are missing"));
        }
        return Ok((bin, known(value_type, "'type'")?));
    }
    let Some(data) = data else {
        return Err(error(4, "both 'indexdata' and 'type' are missing"));
    };
    let Some((bin, value_type)) = data.split_once(',') else {
        return Err(error(4, "'indexdata' missing bin type"));
    };
    if bin.is_empty() {
        return Err(error(4, "'indexdata' missing bin name"));
    }
    if bin.len() > MAX_BIN_NAME {
        return Err(error(4, "'indexdata' bin name too long"));
    }
    Ok((Some(bin), known(value_type, "'indexdata' bin type")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(indexes: &SecondaryIndexes, text: &str) -> String {
        let namespace = Arc::new(Namespace::new("test"));
        indexes.create(
            &CommandLine::parse(&format!("sindex-create:{text}")),
            |ns| (ns == "test").then_some(&namespace),
            Now::read(),
        )
    }

    #[test]
    fn an_index_is_created_once_renamed_and_removed() {
        let indexes = SecondaryIndexes::default();
        assert_eq!(create(&indexes, "ns=test;set=q;indexname=i1;bin=n;type=numeric"), "ok");
        assert_eq!(create(&indexes, "ns=test;set=q;indexname=i1;bin=n;type=NUMERIC"), "ok");
        assert!(create(&indexes, "ns=test;set=q;indexname=i1;bin=o;type=numeric").starts_with("ERROR:200:"));
        assert_eq!(create(&indexes, "ns=test;set=q;indexname=other;bin=n;type=numeric"), "ok");
        assert!(!indexes.exists("test", "i1") && indexes.exists("test", "other"));
        assert_eq!(indexes.delete(&CommandLine::parse("sindex-delete:ns=test;indexname=other"), |_| None), "ok");
        assert_eq!(indexes.count("test", None), 0);
    }

    #[test]
    fn integers_have_their_name_from_8_2_on() {
        for (build, names) in [
            ("5.7.0.9", TypeNames::Numeric),
            ("8.1.2.0", TypeNames::Numeric),
            ("8.2.0.0", TypeNames::Integer),
            ("8.10.0.0", TypeNames::Integer),
            ("9.0.0.0", TypeNames::Integer),
        ] {
            assert_eq!(TypeNames::of(build), names, "{build}");
        }
        let list = CommandLine::parse("sindex-list:");
        let old = SecondaryIndexes::default();
        for text in ["bin=n;type=integer", "indexdata=n,integer"] {
            let answer = create(&old, &format!("ns=test;indexname=i;{text}"));
            assert!(answer.ends_with("must be one of 'numeric', 'string', 'blob', 'geo2dsphere'"), "{answer}");
        }
        assert_eq!(create(&old, "ns=test;indexname=i;bin=n;type=numeric"), "ok");
        assert!(old.list(&list, |_| true).contains(":type=numeric:"));

        let new = SecondaryIndexes::new(TypeNames::Integer);
        assert_eq!(create(&new, "ns=test;indexname=i;bin=n;type=INTEGER"), "ok");
        // The same definition by its old name, and in the old form.
        assert_eq!(create(&new, "ns=test;indexname=i;bin=n;type=numeric"), "ok");
        assert_eq!(create(&new, "ns=test;indexname=i;indexdata=n,integer"), "ok");
        assert_eq!(new.count("test", None), 1);
        assert!(new.list(&list, |_| true).contains(":type=integer:"));
        let answer = create(&new, "ns=test;indexname=j;bin=n;type=float");
        assert!(answer.contains("'integer', 'numeric'"), "{answer}");
    }

    #[test]
    fn definitions_are_bounded_and_checked() {
        let indexes = SecondaryIndexes::default();
        let long = "x".repeat(64);
        for (text, end) in [
            (format!("ns=test;indexname={long};bin=a;type=numeric"), "'indexname' value too long"),
            ("ns=test;indexname=i;bin=a".to_owned(), "both 'indexdata' and 'type' are missing"),
            ("ns=test;indexname=i;bin=a;type=numeric;context=@@".to_owned(), "'context' invalid base64"),
            ("ns=test;indexname=i;bin=a;type=numeric;context=wQ==".to_owned(), "'context' invalid cdt context"),
        ] {
            assert!(create(&indexes, &text).ends_with(end), "{text}");
        }
        for i in 0..MAX_INDEXES {
            assert_eq!(create(&indexes, &format!("ns=test;indexname=i{i};bin=b{i};type=numeric")), "ok");
        }
        assert!(create(&indexes, "ns=test;indexname=z;bin=z;type=numeric").starts_with("ERROR:206:"));
    }
}
