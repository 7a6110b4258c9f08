//! Operations on lists, maps, bits and HLLs.

use super::values::{self, element, key};
use super::{Random, expressions};
use aerolane_wire::msgpack::{Reader, Writer};

/// An operation: its number, and a letter for each argument; those behind a bar may be left out.
///
/// `i` index or rank, `c` count, `v` value, `l` list of values, `k` key, `K` list of keys, `m` map, `w` return type,
/// `o` order, `f` write flags, `s` sort flags, `n` number.
type Shape = (u8, &'static str);

const LIST_MODIFY: [Shape; 22] = [
    (0, "o"),
    (1, "v|of"),
    (2, "l|of"),
    (3, "iv|f"),
    (4, "il|f"),
    (5, "i"),
    (6, "i|c"),
    (7, "i"),
    (8, "i|c"),
    (9, "iv|f"),
    (10, "ic"),
    (11, ""),
    (12, "i|nof"),
    (13, "s"),
    (32, "wi"),
    (34, "wi"),
    (35, "wv"),
    (36, "wl"),
    (37, "wi|c"),
    (38, "wv|v"),
    (39, "wi|c"),
    (40, "wvi|c"),
];

const LIST_READ: [Shape; 11] = [
    (16, ""),
    (17, "i"),
    (18, "i|c"),
    (19, "wi"),
    (21, "wi"),
    (22, "wv"),
    (23, "wl"),
    (24, "wi|c"),
    (25, "wv|v"),
    (26, "wi|c"),
    (27, "wvi|c"),
];

const MAP_MODIFY: [Shape; 22] = [
    (64, "o"),
    (65, "kv|o"),
    (66, "m|o"),
    (67, "kv|of"),
    (68, "m|of"),
    (69, "kv"),
    (70, "m"),
    (73, "k|no"),
    (74, "k|no"),
    (75, ""),
    (76, "wk"),
    (77, "wi"),
    (79, "wi"),
    (81, "wK"),
    (82, "wv"),
    (83, "wl"),
    (84, "wk|k"),
    (85, "wi|c"),
    (86, "wv|v"),
    (87, "wi|c"),
    (88, "wki|c"),
    (89, "wvi|c"),
];

const MAP_READ: [Shape; 13] = [
    (96, ""),
    (97, "wk"),
    (98, "wi"),
    (100, "wi"),
    (102, "wv"),
    (103, "wk|k"),
    (104, "wi|c"),
    (105, "wv|v"),
    (106, "wi|c"),
    (107, "wK"),
    (108, "wl"),
    (109, "wki|c"),
    (110, "wvi|c"),
];

/// What an operation is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Map,
}

/// The payload of an operation that modifies or reads.
pub(super) fn operation(random: &mut Random, kind: Kind, modify: bool) -> Vec<u8> {
    let mut out = Vec::new();
    // See `Random::persists`.
    let inside = !(modify && random.persists);
    if random.once_in(12) && inside {
        path(random, modify, &mut out);
        return out;
    }
    let mut inner = Vec::new();
    // Inside a context the collection is of either kind.
    let nested = random.once_in(4) && inside;
    let kind = match kind {
        kind if !nested || random.once_in(2) => kind,
        Kind::List => Kind::Map,
        Kind::Map => Kind::List,
    };
    plain(random, kind, modify, nested, &mut inner);
    if !nested {
        return inner;
    }
    let levels = 1 + random.below(2);
    let mut writer = Writer::new(&mut out);
    writer.list(3);
    writer.uint(0xff);
    writer.list(2 * levels);
    for _ in 0..levels {
        level(random, modify, &mut out);
    }
    out.extend_from_slice(&inner);
    out
}

fn plain(random: &mut Random, kind: Kind, modify: bool, nested: bool, out: &mut Vec<u8>) {
    let (number, shape) = *match (kind, modify) {
        (Kind::List, true) => random.pick(&LIST_MODIFY),
        (Kind::List, false) => random.pick(&LIST_READ),
        (Kind::Map, true) => random.pick(&MAP_MODIFY),
        (Kind::Map, false) => random.pick(&MAP_READ),
    };
    let (needed, optional) = shape.split_once('|').unwrap_or((shape, ""));
    let mut given: String = needed.to_owned() + &optional[..random.below(optional.len() + 1)];
    // Seldom too few or too many; of what replaces, the server looks at the map first.
    if random.once_in(60) && !matches!(number, 69 | 70) {
        if random.once_in(2) {
            given.pop();
        } else {
            given.push('i');
        }
    }
    let mut writer = Writer::new(out);
    writer.list(1 + given.len());
    writer.uint(u64::from(number));
    for letter in given.chars() {
        if letter == 'o' {
            // Only collections that are a whole bin may have a persisted index; no client asks for others.
            let order = order(random, kind);
            Writer::new(out).int(if nested { order & 3 } else { order });
        } else {
            argument(random, kind, letter, out);
        }
    }
}

fn argument(random: &mut Random, kind: Kind, letter: char, out: &mut Vec<u8>) {
    match letter {
        'i' => Writer::new(out).int(if random.once_in(25) { random.between(-200, 200) } else { random.between(-5, 6) }),
        'c' => Writer::new(out).int(random.between(-1, 5)),
        'v' => sought(random, out),
        // A list without elements ends the recorded server in some of these operations.
        'l' => values::some_list(random, out, 1),
        'k' => key(random, out),
        'K' => values::keys(random, out),
        'm' => values::map(random, out, 1),
        'w' => Writer::new(out).int(what(random, kind)),
        'f' => Writer::new(out).int(if random.once_in(2) { 0 } else { random.between(0, 15) }),
        's' => Writer::new(out).int(random.between(0, 4)),
        _ => {
            if random.once_in(5) {
                element(random, out, 1);
            } else {
                Writer::new(out).int(random.between(-3, 5));
            }
        }
    }
}

/// A value to look for, also the ends of all values.
fn sought(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(24) {
        0 => Writer::new(out).infinity(),
        1 => Writer::new(out).wildcard(),
        2 => {
            let mut writer = Writer::new(out);
            writer.list(2);
            writer.int(values::int(random));
            writer.wildcard();
        }
        _ => element(random, out, 2),
    }
}

fn what(random: &mut Random, kind: Kind) -> i64 {
    let plain: &[i64] = match kind {
        Kind::List => &[0, 1, 2, 3, 4, 5, 7, 7, 7, 13],
        Kind::Map => &[0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8, 13, 16, 17],
    };
    let inverted = if random.once_in(6) { 0x1_0000 } else { 0 };
    if random.once_in(50) { random.between(0, 20) } else { random.pick(plain) | inverted }
}

fn order(random: &mut Random, kind: Kind) -> i64 {
    match kind {
        Kind::List => *random.pick(&[0, 0, 1, 1, 0x11]),
        Kind::Map if random.persists => *random.pick(&[0, 1, 3, 0x10, 0x11, 0x13, 0x13, 2]),
        Kind::Map => *random.pick(&[0, 0, 1, 1, 3, 3, 2]),
    }
}

fn level(random: &mut Random, modify: bool, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    // With a negative index, what creates ends the recorded server.
    let create = modify && random.once_in(4);
    match random.below(8) {
        0 | 1 => {
            let (bits, index) = if create {
                (*random.pick(&[0x40, 0x80, 0xc0]), random.between(0, 5))
            } else {
                (0, random.between(-4, 4))
            };
            writer.uint(0x10 | bits);
            writer.int(index);
        }
        2 => {
            writer.uint(0x11);
            writer.int(random.between(-3, 3));
        }
        3 => {
            writer.uint(0x13);
            element(random, out, 1);
        }
        4 => {
            writer.uint(0x20);
            writer.int(random.between(-3, 3));
        }
        5 => {
            writer.uint(0x21);
            writer.int(random.between(-3, 3));
        }
        6 => {
            writer.uint(0x23);
            element(random, out, 1);
        }
        _ => {
            let bits = if create { *random.pick(&[0x40, 0x80, 0xc0]) } else { 0 };
            writer.uint(0x22 | bits);
            key(random, out);
        }
    }
}

/// An operation by path: levels by key or index, then all children, or those for which an expression is true.
fn path(random: &mut Random, modify: bool, out: &mut Vec<u8>) {
    let levels = 1 + random.below(2);
    let mut writer = Writer::new(out);
    writer.list(if modify { 4 } else { 3 });
    writer.uint(0xfe);
    writer.list(2 * levels);
    for _ in 0..levels {
        if random.once_in(4) {
            Writer::new(out).uint(0x22);
            key(random, out);
            continue;
        }
        Writer::new(out).uint(4);
        if random.once_in(2) {
            Writer::new(out).bool(true);
        } else {
            expressions::of_item(random, out);
        }
    }
    let no_fail = if random.once_in(2) { 0x10 } else { 0 };
    if modify {
        Writer::new(out).int(4 | no_fail);
        expressions::of_item_value(random, out);
    } else {
        Writer::new(out).int(random.between(0, 3) | no_fail);
    }
}

/// The payload of an operation on bits.
pub(super) fn bits(random: &mut Random, modify: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let number = if modify { random.below(13) } else { 50 + random.below(5) } as u8;
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    let mut push = |write: &dyn Fn(&mut Writer<'_>)| {
        let mut bytes = Vec::new();
        write(&mut Writer::new(&mut bytes));
        arguments.push(bytes);
    };
    let bit = random.between(-20, 40);
    let size = if random.once_in(8) { random.between(-1, 70) } else { random.between(1, 20) };
    let flags = if random.once_in(3) { random.between(0, 15) } else { 0 };
    let value = values::blob(random);
    match number {
        0 => {
            push(&|w| w.int(size % 9));
            push(&|w| w.int(flags & 7));
            let how = random.between(0, 7);
            push(&|w| w.int(how));
        }
        1 => {
            push(&|w| w.int(bit / 5));
            push(&|w| w.blob(&value));
            push(&|w| w.int(flags));
        }
        2 => {
            push(&|w| w.int(bit / 5));
            push(&|w| w.int(size / 4));
            push(&|w| w.int(flags));
        }
        3..=6 => {
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            push(&|w| w.blob(&value));
            push(&|w| w.int(flags));
        }
        7 => {
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            push(&|w| w.int(flags));
        }
        8 | 9 => {
            let shift = random.between(0, 40);
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            push(&|w| w.int(shift));
            // Shifting part of what was asked for by more than that ends the recorded server.
            push(&|w| w.int(flags & 7));
        }
        10 | 11 => {
            let (amount, overflow) = (values::int(random), random.between(0, 6));
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            push(&|w| w.int(amount));
            push(&|w| w.int(flags));
            push(&|w| w.int(overflow));
        }
        12 => {
            let value = values::int(random);
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            push(&|w| w.int(value));
            push(&|w| w.int(flags));
        }
        _ => {
            push(&|w| w.int(bit));
            push(&|w| w.int(size));
            let bit = random.once_in(2);
            match number {
                52 | 53 => push(&|w| w.bool(bit)),
                54 if bit => push(&|w| w.int(1)),
                _ => {}
            }
        }
    }
    if random.once_in(50) {
        arguments.pop();
    }
    let mut writer = Writer::new(&mut out);
    writer.list(1 + arguments.len());
    writer.uint(u64::from(number));
    for argument in &arguments {
        writer.raw(argument);
    }
    out
}

/// The payload of an operation on HLLs; `known` are some that exist.
pub(super) fn hll(random: &mut Random, modify: bool, known: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    let number = if modify { random.below(5) } else { 50 + random.below(6) };
    let index_bits = if random.once_in(10) { random.between(-1, 17) } else { random.between(4, 8) };
    let minhash_bits = *random.pick(&[-1, 0, 0, 4, 6, 51]);
    let flags = if random.once_in(3) { random.between(0, 15) } else { 0 };
    let mut hlls = Vec::new();
    let several = random.below(3).min(known.len());
    Writer::new(&mut hlls).list(several.max(1));
    for _ in 0..several {
        Writer::new(&mut hlls).hll(random.pick::<Vec<u8>>(known));
    }
    if several == 0 {
        Writer::new(&mut hlls).blob(b"no HLL");
    }
    let mut writer = Writer::new(&mut out);
    match number {
        0 => {
            writer.list(4);
            writer.int(0);
            writer.int(index_bits);
            writer.int(minhash_bits);
            writer.int(flags);
        }
        1 => {
            writer.list(5);
            writer.int(1);
            values::some_list(random, &mut out, 0);
            let mut writer = Writer::new(&mut out);
            writer.int(index_bits);
            writer.int(minhash_bits);
            writer.int(flags & 5);
        }
        2 => {
            writer.list(3);
            writer.int(2);
            writer.raw(&hlls);
            writer.int(flags);
        }
        4 => {
            writer.list(2);
            writer.int(4);
            writer.int(index_bits);
        }
        51..=54 => {
            writer.list(2);
            writer.int(number as i64);
            writer.raw(&hlls);
        }
        _ => {
            writer.list(1);
            writer.int(number as i64);
        }
    }
    debug_assert!(Reader::new(&out).read().is_ok());
    out
}
