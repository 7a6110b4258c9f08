//! Types of columns: how they lie in memory, and what the C data interface calls them.

use std::ffi::{CStr, CString};

use super::abi::{ArrowSchema, NULLABLE};
use crate::columns::plain::Plain;

/// How deep types may be nested.
pub(super) const MAX_DEPTH: usize = 64;
/// The most fields of a struct.
const MAX_FIELDS: usize = 1 << 16;

/// A column, or what a nested column is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// For the column of a bin: the bin's name.
    pub(super) name: CString,
    pub(super) kind: Kind,
    /// The type in the C data interface; of a dictionary, that of its indices.
    pub(super) format: CString,
    /// Whether there may be nulls. There may, except in maps: entries and keys are never null.
    pub(super) nullable: bool,
}

/// How the values of a column lie in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// As a type without parts.
    Plain(Plain),
    /// Bytes of one size.
    Fixed(usize),
    /// Values of any type as JSON texts.
    Json,
    List {
        wide: bool,
        item: Box<Field>,
    },
    /// Lists with their sizes beside their offsets.
    ListViews {
        wide: bool,
        item: Box<Field>,
    },
    /// Lists of one size.
    FixedList {
        size: usize,
        item: Box<Field>,
    },
    Struct(Vec<Field>),
    /// Lists of entries: a struct of two fields.
    Map(Box<Field>),
    /// Ints of so many bytes: places in the values that a chunk has.
    Dictionary {
        size: u8,
        signed: bool,
        values: Box<Field>,
    },
}

const UNITS: [(&str, char); 4] = [("s", 's'), ("ms", 'm'), ("us", 'u'), ("ns", 'n')];

/// The types that columns can have, for messages.
pub(super) const KNOWN: &str = "bins become bool, int8 to int64, uint8 to uint64, float16 to float64, utf8, large_utf8, \
    string_view, binary, large_binary, binary_view, fixed_size_binary[n], date32, date64, time32, time64, timestamp, duration, null, \
    json, list<..>, large_list<..>, list_view<..>, fixed_size_list<..>[n], struct<..>, map<.., ..> or dictionary<..>";

impl Kind {
    /// Of a type without parts in the C data interface.
    fn of_format(format: &str) -> Option<Self> {
        match Plain::of_format(format) {
            Some(plain) => Some(Self::Plain(plain)),
            None => size_in(format.strip_prefix("w:")?).map(Self::Fixed),
        }
    }

    /// Whether values are single ones, as those of a dictionary have to be.
    const fn is_single(&self) -> bool {
        match self {
            Self::Plain(plain) => !matches!(plain, Plain::Null),
            Self::Fixed(_) => true,
            _ => false,
        }
    }

    /// The fields that a nested type is made of.
    pub(super) fn children(&self) -> &[Field] {
        match self {
            Self::List { item, .. } | Self::ListViews { item, .. } | Self::FixedList { item, .. } | Self::Map(item) => {
                std::slice::from_ref(item)
            }
            Self::Struct(fields) => fields,
            _ => &[],
        }
    }

    /// What a value takes beside its own bytes, a null included: offsets, bits and numbers, at most.
    pub(super) fn cell_bytes(&self) -> usize {
        const CELL: usize = 17;
        match self {
            Self::Fixed(size) => CELL + size,
            Self::FixedList { size, item } => CELL + size.saturating_mul(item.kind.cell_bytes()),
            Self::Struct(fields) => CELL + fields.iter().map(|field| field.kind.cell_bytes()).sum::<usize>(),
            _ => CELL,
        }
    }

    /// Whether values are texts.
    pub(super) const fn is_text(&self) -> bool {
        matches!(self, Self::Plain(Plain::Spans { text: true, .. } | Plain::Views { text: true }) | Self::Json)
    }
}

/// A size that memory can have: that of a value of one size.
fn size_in(text: &str) -> Option<usize> {
    /// The largest: that of a record.
    const MOST: usize = 128 << 20;
    text.parse().ok().filter(|size| (1..=MOST).contains(size))
}

impl Field {
    /// `None`: the name has a NUL.
    pub(super) fn new(name: &str, kind: Kind) -> Option<Self> {
        let format = match &kind {
            Kind::Plain(Plain::Null) => "n".to_owned(),
            Kind::Plain(Plain::Bool) => "b".to_owned(),
            Kind::Plain(Plain::Int { size, signed }) | Kind::Dictionary { size, signed, .. } => {
                let letters = match size {
                    1 => "cC",
                    2 => "sS",
                    4 => "iI",
                    _ => "lL",
                };
                letters[usize::from(!signed)..][..1].to_owned()
            }
            Kind::Plain(Plain::Float { size: 2 }) => "e".to_owned(),
            Kind::Plain(Plain::Float { size: 4 }) => "f".to_owned(),
            Kind::Plain(Plain::Float { .. }) => "g".to_owned(),
            Kind::Json => "u".to_owned(),
            Kind::Plain(Plain::Spans { text, wide }) => {
                ["z", "Z", "u", "U"][2 * usize::from(*text) + usize::from(*wide)].to_owned()
            }
            Kind::Plain(Plain::Views { text }) => if *text { "vu" } else { "vz" }.to_owned(),
            Kind::Fixed(size) => format!("w:{size}"),
            Kind::List { wide, .. } => if *wide { "+L" } else { "+l" }.to_owned(),
            Kind::ListViews { wide, .. } => if *wide { "+vL" } else { "+vl" }.to_owned(),
            Kind::FixedList { size, .. } => format!("+w:{size}"),
            Kind::Struct(_) => "+s".to_owned(),
            Kind::Map(_) => "+m".to_owned(),
        };
        Self::of(name, kind, &format)
    }

    fn of(name: &str, kind: Kind, format: &str) -> Option<Self> {
        Some(Self { name: CString::new(name).ok()?, kind, format: CString::new(format).ok()?, nullable: true })
    }

    /// Of a type without parts in the C data interface.
    pub(super) fn of_format(name: &str, format: &str) -> Option<Self> {
        Self::of(name, Kind::of_format(format)?, format)
    }

    /// A map of keys and values.
    pub(super) fn map(name: &str, key: Kind, value: Kind) -> Option<Self> {
        let pair = [Self::new("key", key)?, Self::new("value", value)?];
        Self::new(name, Self::entries("entries", pair)?)
    }

    /// The kind of a map, whose keys and entries are never null.
    fn entries(name: &str, [key, value]: [Self; 2]) -> Option<Kind> {
        let pair = Kind::Struct(vec![Self { nullable: false, ..key }, value]);
        Some(Kind::Map(Box::new(Self { nullable: false, ..Self::new(name, pair)? })))
    }

    /// Of a type by its name, which is that of pyarrow.
    pub(super) fn of_type(name: &str, text: &str) -> Option<Self> {
        Self::parse(name, text.trim(), 0)
    }

    fn parse(name: &str, text: &str, depth: usize) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        // All columns may have nulls.
        let text = text.strip_suffix(" not null").unwrap_or(text);
        let item = |text: &str| {
            let (name, text) = named(text).unwrap_or(("item", text));
            Self::parse(name, text, depth + 1).map(Box::new)
        };
        let Some((outer, rest)) = text.split_once('<') else {
            return match text {
                "json" => Self::new(name, Kind::Json),
                _ => Self::of_format(name, &format_of(text)?),
            };
        };
        let (inner, tail) = rest.rsplit_once('>')?;
        let kind = match (outer, tail) {
            ("list", "") => Kind::List { wide: false, item: item(inner)? },
            ("large_list", "") => Kind::List { wide: true, item: item(inner)? },
            ("list_view", "") => Kind::ListViews { wide: false, item: item(inner)? },
            ("large_list_view", "") => Kind::ListViews { wide: true, item: item(inner)? },
            ("fixed_size_list", tail) => {
                let size = size_in(tail.strip_prefix('[')?.strip_suffix(']')?)?;
                Kind::FixedList { size, item: item(inner)? }
            }
            ("struct", "") => {
                let parts = if inner.trim().is_empty() { Vec::new() } else { parts(inner)? };
                let field = |part: &str| {
                    let (name, text) = named(part)?;
                    Self::parse(name, text, depth + 1)
                };
                Kind::Struct(distinct(parts.into_iter().map(field).collect::<Option<_>>()?)?)
            }
            ("map", "") => {
                let [key, value] = <[&str; 2]>::try_from(parts(inner)?).ok()?;
                let pair = [Self::parse("key", key, depth + 1)?, Self::parse("value", value, depth + 1)?];
                Self::entries("entries", pair)?
            }
            ("dictionary", "") => {
                // Also as pyarrow writes it: `dictionary<values=string, indices=int32, ordered=0>`.
                let parts = parts(inner)?;
                let said = |name: &str| parts.iter().find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
                let values = said("values").or_else(|| parts.first().copied())?;
                let index = said("indices").unwrap_or("int32");
                let values = Self::parse("", values, depth + 1).filter(|values| values.kind.is_single())?;
                let Kind::Plain(Plain::Int { size, signed }) = Kind::of_format(&format_of(index)?)? else {
                    return None;
                };
                Kind::Dictionary { size, signed, values: Box::new(values) }
            }
            _ => return None,
        };
        Self::new(name, kind)
    }

    /// Of a schema of others.
    ///
    /// # Errors
    /// What it is, where no bin can become that.
    ///
    /// # Safety
    /// `schema` was not released.
    pub(super) unsafe fn of_schema(schema: &ArrowSchema, depth: usize) -> Result<Self, String> {
        // SAFETY: strings of a schema end with a NUL and live as long as it does.
        let (name, format) = unsafe { (string(schema.name), string(schema.format)) };
        let (name, format) = (name.unwrap_or(c"").to_str(), format.unwrap_or(c"").to_str());
        let (Ok(name), Ok(format)) = (name, format) else { return Err("of a type that is not UTF-8".to_owned()) };
        let unknown = || match format.split([':', ',']).next() {
            Some("d") => {
                "a decimal, which Aerospike does not have: read it as int64, float64 or utf8, and cast it".to_owned()
            }
            _ => format!("of the Arrow format {format:?}"),
        };
        if depth > MAX_DEPTH {
            return Err(format!("of types that are nested more than {MAX_DEPTH} deep"));
        }
        if !schema.dictionary.is_null() {
            // SAFETY: not null: owned by the schema.
            let values = unsafe { Self::of_schema(&*schema.dictionary, depth + 1) }?;
            return match Kind::of_format(format) {
                Some(Kind::Plain(Plain::Int { size, signed })) if values.kind.is_single() => {
                    Self::of(name, Kind::Dictionary { size, signed, values: Box::new(values) }, format)
                        .ok_or_else(unknown)
                }
                _ => Err(format!("{}, encoded by a dictionary of nested values", unknown())),
            };
        }
        let children = || {
            let count = usize::try_from(schema.n_children).ok().filter(|count| *count <= MAX_FIELDS);
            let count = count.filter(|count| *count == 0 || !schema.children.is_null()).ok_or_else(unknown)?;
            let child = |place| {
                // SAFETY: a schema has so many pointers to children, each of which it owns.
                let child = unsafe { (*schema.children.add(place)).as_ref() }.filter(|child| child.release.is_some());
                // SAFETY: as above.
                unsafe { Self::of_schema(child.ok_or_else(unknown)?, depth + 1) }
            };
            (0..count).map(child).collect::<Result<Vec<_>, _>>()
        };
        let only = || <[Self; 1]>::try_from(children()?).map(|[item]| Box::new(item)).map_err(|_| unknown());
        let kind = match format {
            "+l" => Kind::List { wide: false, item: only()? },
            "+L" => Kind::List { wide: true, item: only()? },
            "+vl" => Kind::ListViews { wide: false, item: only()? },
            "+vL" => Kind::ListViews { wide: true, item: only()? },
            "+s" => Kind::Struct(distinct(children()?).ok_or("a struct with two fields of one name")?),
            "+m" => {
                let entries = only()?;
                let name = entries.name.to_string_lossy();
                let Kind::Struct(pair) = entries.kind else { return Err(unknown()) };
                let pair = <[Self; 2]>::try_from(pair).map_err(|_| unknown())?;
                Self::entries(&name, pair).ok_or_else(unknown)?
            }
            _ => match format.strip_prefix("+w:").map(size_in) {
                Some(size) => Kind::FixedList { size: size.ok_or_else(unknown)?, item: only()? },
                None => Kind::of_format(format).ok_or_else(unknown)?,
            },
        };
        Self::of(name, kind, format).ok_or_else(unknown)
    }

    /// The name of the type, as pyarrow writes it.
    pub(super) fn type_name(&self) -> String {
        let item = |outer: &str, item: &Self| format!("{outer}<{}: {}>", item.name.to_string_lossy(), item.type_name());
        match &self.kind {
            Kind::Json => "json".to_owned(),
            Kind::Fixed(size) => format!("fixed_size_binary[{size}]"),
            Kind::List { wide, item: of } => item(if *wide { "large_list" } else { "list" }, of),
            Kind::ListViews { wide, item: of } => item(if *wide { "large_list_view" } else { "list_view" }, of),
            Kind::FixedList { size, item: of } => format!("{}[{size}]", item("fixed_size_list", of)),
            Kind::Struct(fields) => {
                let fields =
                    fields.iter().map(|field| format!("{}: {}", field.name.to_string_lossy(), field.type_name()));
                format!("struct<{}>", fields.collect::<Vec<_>>().join(", "))
            }
            Kind::Map(entries) => match entries.kind.children() {
                [key, value] => format!("map<{}, {}>", key.type_name(), value.type_name()),
                _ => "map".to_owned(),
            },
            Kind::Dictionary { values, .. } => format!("dictionary<{}>", values.type_name()),
            Kind::Plain(_) => name_of(&self.format.to_string_lossy()),
        }
    }

    pub(super) const fn flags(&self) -> i64 {
        if self.nullable { NULLABLE } else { 0 }
    }
}

/// A string of a schema.
///
/// # Safety
/// Null, or a C string that lives for `'a`.
pub(super) unsafe fn string<'a>(start: *const std::ffi::c_char) -> Option<&'a CStr> {
    // SAFETY: promised by the caller.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) })
}

/// The fields of a struct, if each has a name of its own.
fn distinct(fields: Vec<Field>) -> Option<Vec<Field>> {
    let mut names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1]).then_some(fields)
}

/// A name before a colon, outside of what is nested, and what follows.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    (!name.contains(['<', '['])).then(|| (name.trim(), rest.trim()))
}

/// Parts between commas, outside of what is nested. `None`: brackets do not match.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' => depth += 1,
            b'>' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    (depth == 0 && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Types without parts: their names, and what the C data interface calls them. The first name of each is used in messages.
const NAMES: [(&str, &str); 28] = [
    ("null", "n"),
    ("bool", "b"),
    ("int8", "c"),
    ("uint8", "C"),
    ("int16", "s"),
    ("uint16", "S"),
    ("int32", "i"),
    ("uint32", "I"),
    ("int64", "l"),
    ("uint64", "L"),
    ("float16", "e"),
    ("halffloat", "e"),
    ("float32", "f"),
    ("float", "f"),
    ("float64", "g"),
    ("double", "g"),
    ("utf8", "u"),
    ("string", "u"),
    ("large_utf8", "U"),
    ("large_string", "U"),
    ("string_view", "vu"),
    ("binary", "z"),
    ("large_binary", "Z"),
    ("binary_view", "vz"),
    ("date32", "tdD"),
    ("date32[day]", "tdD"),
    ("date64", "tdm"),
    ("date64[ms]", "tdm"),
];

/// The type in the C data interface of a type without parts by its name.
fn format_of(name: &str) -> Option<String> {
    if let Some((_, format)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*format).to_owned());
    }
    let (of, within) = name.strip_suffix(']')?.split_once('[')?;
    if of == "fixed_size_binary" {
        return Some(format!("w:{}", size_in(within)?));
    }
    let (unit, zone) = within.split_once(", tz=").unwrap_or((within, ""));
    let letter = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    match (of, letter) {
        ("timestamp", _) => Some(format!("ts{letter}:{zone}")),
        ("duration", _) if zone.is_empty() => Some(format!("tD{letter}")),
        ("time32", 's' | 'm') | ("time64", 'u' | 'n') if zone.is_empty() => Some(format!("tt{letter}")),
        _ => None,
    }
}

/// The name of a type without parts.
fn name_of(format: &str) -> String {
    if let Some((name, _)) = NAMES.iter().find(|(_, known)| *known == format) {
        return (*name).to_owned();
    }
    let unit = |at: usize| {
        let letter = format.chars().nth(at);
        UNITS.iter().find(|(_, unit)| Some(*unit) == letter).map_or("", |(name, _)| name)
    };
    match format.get(..2) {
        Some("ts") => match format.get(4..).unwrap_or_default() {
            "" => format!("timestamp[{}]", unit(2)),
            zone => format!("timestamp[{}, tz={zone}]", unit(2)),
        },
        Some("tt") => format!("time{}[{}]", if matches!(unit(2), "s" | "ms") { 32 } else { 64 }, unit(2)),
        Some("tD") => format!("duration[{}]", unit(2)),
        _ => format.to_owned(),
    }
}
