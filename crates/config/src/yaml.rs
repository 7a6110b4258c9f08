//! YAML, as far as configurations need it: text to a tree whose nodes know their lines.
//!
//! Anchors may be repeated and merged (`<<`); what they come to counts, so that no file grows beyond [`MAX_NODES`].

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use crate::problem::Problem;

/// Most bytes of a file.
pub const MAX_BYTES: usize = 1 << 20;
/// Most levels of mappings and lists within each other.
pub const MAX_DEPTH: usize = 16;
/// Most values, keys, mappings and lists, with those that aliases repeat.
pub const MAX_NODES: usize = 20_000;

/// A value, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
    /// How many nodes it has, itself included.
    weight: usize,
    /// How many levels it has, itself included.
    height: usize,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A text. `plain`: it was written without quotes, so that it may also be a number, a bool, or nothing.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Keys that are no scalars are errors.
    Mapping(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Node {
    /// Whether there is nothing: `null`, `~`, or no text.
    pub(crate) fn is_nothing(&self) -> bool {
        let Value::Scalar { text, plain: true } = &self.value else { return false };
        matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            _ if self.is_nothing() => "nothing".into(),
            Value::Scalar { text, .. } => format!("{:?}", text.chars().take(60).collect::<String>()),
            Value::List(_) => "a list".into(),
            Value::Mapping(_) => "a mapping".into(),
        }
    }
}

/// A mapping or a list that has begun.
struct Open {
    node: Node,
    anchor: usize,
    /// Of a mapping: the key whose value comes next.
    key: Option<Key>,
}

/// What has been read so far.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    /// What anchors name, by number.
    anchors: Vec<(usize, Node)>,
    nodes: usize,
    documents: usize,
}

/// The one document of a file; `None`: it is empty.
///
/// # Errors
/// The first thing in it that is no YAML, or beyond the limits.
pub(crate) fn tree(text: &str) -> Result<Option<Node>, Problem> {
    if text.len() > MAX_BYTES {
        return Err(Problem::new(1, "", format!("the file has {} bytes; the most are {MAX_BYTES}", text.len())));
    }
    let mut builder = Builder::default();
    // What is missing at the end of a file is said to be on the line after it.
    let last = text.lines().count().max(1);
    for event in Parser::new_from_str(text) {
        let (event, span) = event
            .map_err(|e| Problem::new(e.marker().line().clamp(1, last), "", format!("not valid YAML: {}", e.info())))?;
        builder.take(event, span)?;
    }
    Ok(builder.root.filter(|root| !root.is_nothing()))
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let line = span.start.line().max(1);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Problem::new(line, "", "the file has a second document: write one only"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let plain = match check_tag(line, tag.as_deref())? {
                    None => style == ScalarStyle::Plain,
                    Some(tag) => tag != "str",
                };
                let value = Value::Scalar { text: text.into_owned(), plain };
                self.add(Node { line, value, weight: 1, height: 1 }, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(line, tag.as_deref())?;
                self.begin(line, Value::List(Vec::new()), anchor)?;
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(line, tag.as_deref())?;
                self.begin(line, Value::Mapping(Vec::new()), anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    self.put(open.node, open.anchor)?;
                }
            }
            Event::Alias(anchor) => {
                let named = self.anchors.iter().rev().find(|(of, _)| *of == anchor);
                let text = "an alias within what it names, or of something that is not there";
                let mut node = named.map(|(_, node)| node.clone()).ok_or_else(|| Problem::new(line, "", text))?;
                node.line = line;
                self.add(node, 0)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, line: usize, value: Value, anchor: usize) -> Result<(), Problem> {
        // As a key it would have no end of its own.
        self.check_key(line, &value)?;
        self.count(line, 1, 1)?;
        self.open.push(Open { node: Node { line, value, weight: 1, height: 1 }, anchor, key: None });
        Ok(())
    }

    /// Takes a node that is whole.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        self.count(node.line, node.weight, node.height)?;
        self.put(node, anchor)
    }

    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        if anchor > 0 {
            // A copy takes room, too.
            self.count(node.line, node.weight, 0)?;
            self.anchors.push((anchor, node.clone()));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        let (weight, height) = (node.weight, node.height);
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Mapping(entries) => {
                if let Some(key) = open.key.take() {
                    entries.push((key, node));
                } else {
                    let Value::Scalar { text, .. } = node.value else { return Err(wrong_key(node.line)) };
                    open.key = Some(Key { text, line: node.line });
                }
            }
            Value::Scalar { .. } => {}
        }
        open.node.weight += weight;
        open.node.height = open.node.height.max(height + 1);
        Ok(())
    }

    fn check_key(&self, line: usize, value: &Value) -> Result<(), Problem> {
        let Some(open) = self.open.last() else { return Ok(()) };
        let is_key = matches!(open.node.value, Value::Mapping(_)) && open.key.is_none();
        if is_key && !matches!(value, Value::Scalar { .. }) { Err(wrong_key(line)) } else { Ok(()) }
    }

    /// Counts nodes, and the levels of them below what is open.
    fn count(&mut self, line: usize, nodes: usize, levels: usize) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err(Problem::new(line, "", format!("the file comes to more than {MAX_NODES} values")));
        }
        if self.open.len() + levels > MAX_DEPTH {
            return Err(Problem::new(line, "", format!("values are nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(())
    }
}

fn wrong_key(line: usize) -> Problem {
    Problem::new(line, "", "a key is a list or a mapping: keys are texts")
}

/// The name of a tag, which must be one of those that say what a value is anyway.
fn check_tag(line: usize, tag: Option<&Tag>) -> Result<Option<&str>, Problem> {
    let Some(tag) = tag else { return Ok(None) };
    let known = ["str", "int", "float", "bool", "null", "seq", "map"].contains(&tag.suffix.as_str());
    if known && tag.is_yaml_core_schema() {
        return Ok(Some(&tag.suffix));
    }
    Err(Problem::new(line, "", "a tag that is none of YAML's own: leave it out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree as text.
    fn show(node: &Node) -> String {
        match &node.value {
            Value::Scalar { text, plain: true } => text.clone(),
            Value::Scalar { text, .. } => format!("{text:?}"),
            Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
            Value::Mapping(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|(key, node)| format!("{}:{}", key.text, show(node))).collect();
                format!("{{{}}}", entries.join(" "))
            }
        }
    }

    #[test]
    fn trees() {
        let shown = |text| tree(text).unwrap().as_ref().map(show);
        assert_eq!(shown("a: 1\nb: {c: 'x', d: [1, \"2\"]}"), Some("{a:1 b:{c:\"x\" d:[1 \"2\"]}}".into()));
        assert_eq!(shown("a: &x {b: 1}\nc: *x\nd: *x"), Some("{a:{b:1} c:{b:1} d:{b:1}}".into()));
        assert_eq!(shown("a: !!str 5"), Some("{a:\"5\"}".into()));
        for nothing in ["", "\n# only a comment\n", "---", "~", "null"] {
            assert_eq!(shown(nothing), None, "{nothing:?}");
        }
        let root = tree("a:\n  b: 1\n  c:\n    d: 2\n").unwrap().unwrap();
        let Value::Mapping(entries) = &root.value else { panic!() };
        let Value::Mapping(inner) = &entries[0].1.value else { panic!() };
        assert_eq!(
            inner.iter().map(|(key, _)| (key.text.as_str(), key.line)).collect::<Vec<_>>(),
            [("b", 2), ("c", 3)]
        );
    }

    #[test]
    fn what_is_refused_says_where() {
        let refused = |text: &str| tree(text).map(|_| ()).unwrap_err();
        for (text, line, says) in [
            ("a: 1\nb: [1,\n", 2, "not valid YAML"),
            ("a: 1\n---\nb: 2\n", 2, "second document"),
            ("a: !!python/object:os.system x\n", 1, "a tag"),
            ("a: !mine x\n", 1, "a tag"),
            ("a: &x [*x]\n", 1, "alias"),
            ("a: *nothing\n", 1, ""),
            ("x: 1\n? [a, b]\n: 2\n", 2, "a key"),
        ] {
            let problem = refused(text);
            assert!(problem.message.contains(says), "{text:?}: {problem}");
            assert!((line..=line + 1).contains(&problem.line), "{text:?}: {problem}");
        }
        assert!(refused(&"# x\n".repeat(MAX_BYTES / 4 + 1)).message.contains("bytes"));
        assert!(refused(&"[".repeat(100)).message.contains("levels"));
        refused(&"[".repeat(100_000));
        assert!(refused(&"- ".repeat(500)).message.contains("levels"));
        assert!(refused(&"x\n: ".repeat(500)).message.len() > 5);
        assert!(refused(&format!("[{}]", "1,".repeat(MAX_NODES + 1))).message.contains("more than"));
    }

    #[test]
    fn aliases_do_not_grow_without_bound() {
        let list = |level: usize, items: usize| {
            let item = if level == 0 { "x".into() } else { format!("*a{}", level - 1) };
            format!("a{level}: &a{level} [{}]\n", vec![item; items].join(", "))
        };
        let wide: String = (0..10).map(|level| list(level, 10)).collect();
        assert!(tree(&wide).unwrap_err().message.contains("more than"));
        let deep: String = (0..30).map(|level| list(level, 1)).collect();
        assert!(tree(&deep).unwrap_err().message.contains("levels"));
    }
}
