//! Expressions: of the type that is asked for, mostly.

use super::Random;
use super::collections::{self, Kind};
use super::values;
use aerolane_wire::msgpack::{Element, Reader, Writer};

/// Types, with their numbers in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Type {
    Bool = 1,
    Int = 2,
    Str = 3,
    List = 4,
    Map = 5,
    Blob = 6,
    Float = 7,
    Geo = 8,
    Hll = 9,
}

const TYPES: [Type; 9] =
    [Type::Bool, Type::Int, Type::Str, Type::List, Type::Map, Type::Blob, Type::Float, Type::Geo, Type::Hll];

/// Names of bins that have such values, and of one that never is there.
pub(super) fn bin_of(kind: Type) -> &'static str {
    match kind {
        Type::Bool => "t",
        Type::Int => "i",
        Type::Str => "s",
        Type::List => "l",
        Type::Map => "m",
        Type::Blob => "b",
        Type::Float => "f",
        Type::Geo => "g",
        Type::Hll => "h",
    }
}

/// What an expression may name beside bins.
#[derive(Debug, Clone, Default)]
struct Scope {
    variables: Vec<(String, Type)>,
    /// Whether there is an item of a path.
    item: bool,
}

/// An expression whose value is true or false.
pub(super) fn filter(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    node(random, Type::Bool, 3, &mut Scope::default(), &mut out);
    out
}

/// An expression of any type.
pub(super) fn any(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let kind = *random.pick(&TYPES);
    node(random, kind, 3, &mut Scope::default(), &mut out);
    out
}

/// An expression of this type.
pub(super) fn of(random: &mut Random, kind: Type) -> Vec<u8> {
    let mut out = Vec::new();
    node(random, kind, 2, &mut Scope::default(), &mut out);
    out
}

/// Whether an item of a path is to be taken.
pub(super) fn of_item(random: &mut Random, out: &mut Vec<u8>) {
    node(random, Type::Bool, 2, &mut Scope { item: true, ..Scope::default() }, out);
}

/// What becomes of an item of a path.
pub(super) fn of_item_value(random: &mut Random, out: &mut Vec<u8>) {
    if random.once_in(5) {
        let mut writer = Writer::new(out);
        writer.list(1);
        writer.int(100);
        return;
    }
    let kind = *random.pick(&[Type::Int, Type::Str, Type::Float, Type::Int]);
    node(random, kind, 2, &mut Scope { item: true, ..Scope::default() }, out);
}

fn node(random: &mut Random, kind: Type, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    // Seldom something of another type.
    let kind = if random.once_in(60) { *random.pick(&TYPES) } else { kind };
    if depth == 0 || random.once_in(3) {
        return leaf(random, kind, scope, out);
    }
    let depth = depth - 1;
    match random.below(14) {
        0 => return cond(random, kind, depth, scope, out),
        1 => return bind(random, kind, depth, scope, out),
        2 | 3 => return call(random, kind, depth, scope, out),
        _ => {}
    }
    match kind {
        Type::Bool => boolean(random, depth, scope, out),
        Type::Int | Type::Float => number(random, kind, depth, scope, out),
        Type::List if random.once_in(3) => {
            begin(out, 101 + random.between(0, 1), 1);
            node(random, Type::Map, depth, scope, out);
        }
        Type::List | Type::Map | Type::Blob | Type::Hll => call(random, kind, depth, scope, out),
        Type::Str | Type::Geo => leaf(random, kind, scope, out),
    }
}

fn begin(out: &mut Vec<u8>, number: i64, arguments: usize) {
    let mut writer = Writer::new(out);
    writer.list(1 + arguments);
    writer.int(number);
}

fn leaf(random: &mut Random, kind: Type, scope: &Scope, out: &mut Vec<u8>) {
    let known: Vec<&String> = scope.variables.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name).collect();
    if !known.is_empty() && random.once_in(2) {
        begin(out, 124, 1);
        Writer::new(out).bare(random.pick(&known).as_bytes());
        return;
    }
    if scope.item && random.once_in(2) {
        begin(out, 122, 2);
        let mut writer = Writer::new(out);
        writer.int(kind as i64);
        writer.int(if kind == Type::Int { random.between(0, 2) } else { random.between(0, 1) });
        return;
    }
    if random.once_in(40) {
        return begin(out, 0, 0);
    }
    if random.once_in(2) {
        begin(out, 81, 2);
        let name = if random.once_in(12) { "none" } else { bin_of(kind) };
        let name = if random.once_in(20) { bin_of(*random.pick(&TYPES)) } else { name };
        let mut writer = Writer::new(out);
        writer.int(kind as i64);
        writer.bare(name.as_bytes());
        return;
    }
    match kind {
        Type::Bool if random.once_in(3) => begin(out, *random.pick(&[71, 72]), 0),
        Type::Bool => Writer::new(out).bool(random.once_in(2)),
        Type::Int => match random.below(8) {
            0 => {
                begin(out, 82, 1);
                let name = bin_of(*random.pick(&TYPES));
                Writer::new(out).bare(name.as_bytes());
            }
            1 => {
                begin(out, 64, 1);
                Writer::new(out).int(random.between(1, 5));
            }
            2 if !random.expires => begin(out, *random.pick(&[68, 69]), 0),
            _ => Writer::new(out).int(values::int(random)),
        },
        Type::Float => Writer::new(out).float(values::float(random)),
        Type::Str if random.once_in(8) => begin(out, 70, 0),
        Type::Str if random.once_in(8) => {
            begin(out, 80, 1);
            Writer::new(out).int(3);
        }
        Type::Str => Writer::new(out).str(values::text(random)),
        Type::Blob => Writer::new(out).blob(&values::blob(random)),
        Type::List => {
            begin(out, 126, 1);
            values::list(random, out, 0);
        }
        Type::Map => values::sorted_map(random, out),
        Type::Geo => {
            let all = if random.once_in(2) { values::POINTS } else { values::REGIONS };
            Writer::new(out).geojson(random.pick(&all).as_bytes());
        }
        Type::Hll => {
            begin(out, 81, 2);
            let mut writer = Writer::new(out);
            writer.int(9);
            writer.bare(b"h");
        }
    }
}

fn boolean(random: &mut Random, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    match random.below(16) {
        0..=6 => {
            begin(out, random.between(1, 6), 2);
            let kind = *random.pick(&TYPES);
            node(random, kind, depth, scope, out);
            node(random, kind, depth, scope, out);
        }
        7..=9 => {
            let n = 2 + random.below(2);
            begin(out, *random.pick(&[16, 17, 19]), n);
            for _ in 0..n {
                node(random, Type::Bool, depth, scope, out);
            }
        }
        10 => {
            begin(out, 18, 1);
            node(random, Type::Bool, depth, scope, out);
        }
        11 | 12 => {
            begin(out, 9, 2);
            let kind = *random.pick(&TYPES);
            node(random, kind, depth, scope, out);
            node(random, Type::List, depth, scope, out);
        }
        13 | 14 => {
            begin(out, 7, 3);
            let mut writer = Writer::new(out);
            writer.int(random.between(0, 7));
            writer.bare(random.pick(&["a", "^a", "b$", "[a-b]", "a.*c", ".", "(a|b)", "a+", "^$"]).as_bytes());
            node(random, Type::Str, depth, scope, out);
        }
        _ => {
            begin(out, 8, 2);
            node(random, Type::Geo, depth, scope, out);
            node(random, Type::Geo, depth, scope, out);
        }
    }
}

fn number(random: &mut Random, kind: Type, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    let int = kind == Type::Int;
    match random.below(10) {
        0..=3 => {
            let n = 1 + random.below(3);
            begin(out, *random.pick(&[20, 21, 22, 23, 50, 51]), n);
            for _ in 0..n {
                node(random, kind, depth, scope, out);
            }
        }
        4 if int => {
            begin(out, *random.pick(&[26, 36, 37, 38]), 2);
            node(random, kind, depth, scope, out);
            node(random, kind, depth, scope, out);
        }
        5 if int => {
            let n = 1 + random.below(3);
            begin(out, random.between(32, 34), n);
            for _ in 0..n {
                node(random, kind, depth, scope, out);
            }
        }
        6 if int => {
            begin(out, random.between(40, 41), 2);
            node(random, kind, depth, scope, out);
            node(random, Type::Bool, depth, scope, out);
        }
        7 if int => {
            begin(out, 30, 1);
            node(random, Type::Float, depth, scope, out);
        }
        8 if int => {
            begin(out, *random.pick(&[27, 35, 39]), 1);
            node(random, kind, depth, scope, out);
        }
        4 | 5 => {
            begin(out, *random.pick(&[24, 25]), 2);
            node(random, kind, depth, scope, out);
            node(random, kind, depth, scope, out);
        }
        6 | 7 => {
            begin(out, random.between(27, 29), 1);
            node(random, kind, depth, scope, out);
        }
        8 => {
            begin(out, 31, 1);
            node(random, Type::Int, depth, scope, out);
        }
        _ => call(random, kind, depth, scope, out),
    }
}

fn cond(random: &mut Random, kind: Type, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    let cases = 1 + random.below(2);
    begin(out, 123, 2 * cases + 1);
    for _ in 0..cases {
        node(random, Type::Bool, depth, scope, out);
        node(random, kind, depth, scope, out);
    }
    node(random, kind, depth, scope, out);
}

fn bind(random: &mut Random, kind: Type, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    let outer = scope.variables.len();
    let n = 1 + random.below(2);
    begin(out, 125, 2 * n + 1);
    for _ in 0..n {
        let name = format!("v{}", scope.variables.len());
        Writer::new(out).bare(name.as_bytes());
        let of = if random.once_in(2) { kind } else { *random.pick(&TYPES) };
        node(random, of, depth, scope, out);
        scope.variables.push((name, of));
    }
    node(random, kind, depth, scope, out);
    scope.variables.truncate(outer);
}

/// A call of an operation on a list, map, blob or HLL. Lists in the payload are quoted, as they would be expressions.
fn call(random: &mut Random, kind: Type, depth: usize, scope: &mut Scope, out: &mut Vec<u8>) {
    let (system, subject, modify) = match kind {
        Type::List => (0, Type::List, true),
        Type::Map => (0, Type::Map, true),
        Type::Blob => (1, Type::Blob, true),
        Type::Hll => (2, Type::Hll, true),
        Type::Int if random.once_in(4) => (1, Type::Blob, false),
        Type::Int if random.once_in(4) => (2, Type::Hll, false),
        Type::Float if random.once_in(2) => (2, Type::Hll, false),
        _ if random.once_in(2) => (0, Type::List, false),
        _ => (0, Type::Map, false),
    };
    let payload = match (system, subject) {
        (0, Type::List) => collections::operation(random, Kind::List, modify),
        (0, _) => collections::operation(random, Kind::Map, modify),
        (1, _) => collections::bits(random, modify),
        _ => collections::hll(random, modify, &[]),
    };
    begin(out, 127, 4);
    let mut writer = Writer::new(out);
    writer.int(kind as i64);
    writer.int(system | if modify { 0x40 } else { 0 });
    quote(&payload, out);
    node(random, subject, depth, scope, out);
}

/// The payload with its arguments that are lists quoted; paths and contexts are taken as they are.
fn quote(payload: &[u8], out: &mut Vec<u8>) {
    let mut reader = Reader::new(payload);
    let Ok(Element::List(header)) = reader.read() else { unreachable!("payloads are lists") };
    let first = reader.skip().unwrap_or_default();
    Writer::new(out).list(header.len);
    out.extend_from_slice(first);
    match Reader::new(first).read() {
        Ok(Element::Int(0xfe)) => out.extend_from_slice(&payload[reader.offset()..]),
        Ok(Element::Int(0xff)) => {
            out.extend_from_slice(reader.skip().unwrap_or_default());
            quote(reader.skip().unwrap_or_default(), out);
        }
        _ => {
            for _ in 1..header.len {
                let argument = reader.skip().unwrap_or_default();
                if matches!(Reader::new(argument).read(), Ok(Element::List(_))) {
                    begin(out, 126, 1);
                }
                out.extend_from_slice(argument);
            }
        }
    }
}
