//! Values: few different ones, so that they meet again.

use super::Random;
use aerolane_wire::msgpack::Writer;
use aerolane_wire::particle::particle_type;

const TEXTS: [&str; 8] = ["", "a", "b", "c", "ab", "abc", "B", "\u{e9}"];
const BLOBS: [&[u8]; 6] = [b"", b"a", b"\x00", b"\x00\x01", b"\xff\xff", b"abc"];
const FLOATS: [f64; 11] = [0.0, -0.0, 1.0, 1.5, -2.25, 3.0, 1e300, -1e300, f64::INFINITY, 2.0, f64::NAN];
pub(super) const POINTS: [&str; 4] = [
    r#"{"type":"Point","coordinates":[0.5,0.5]}"#,
    r#"{"type":"Point","coordinates":[10,10]}"#,
    r#"{"type":"Point","coordinates":[-122.1,37.4]}"#,
    r#"{"type":"Point","coordinates":[0,0]}"#,
];
pub(super) const REGIONS: [&str; 4] = [
    r#"{"type":"Polygon","coordinates":[[[0.21,0.13],[1.1,0.17],[1.3,1.2],[0.1,1.15],[0.21,0.13]]]}"#,
    r#"{"type":"AeroCircle","coordinates":[[0.5,0.5],100000]}"#,
    r#"{"type":"Polygon","coordinates":[[[-123,37],[-122,37],[-122,38],[-123,38],[-123,37]]]}"#,
    r#"{"type":"AeroCircle","coordinates":[[10,10],5]}"#,
];

/// One msgpack element.
pub(super) fn element(random: &mut Random, out: &mut Vec<u8>, depth: usize) {
    let roll = random.below(if depth > 0 { 30 } else { 24 });
    let mut writer = Writer::new(out);
    match roll {
        0..=9 => writer.int(int(random)),
        10..=13 => writer.str(random.pick(&TEXTS).as_bytes()),
        14 | 15 => writer.blob(random.pick::<&[u8]>(&BLOBS)),
        16..=18 => writer.float(*random.pick(&FLOATS)),
        19 | 20 => writer.bool(random.once_in(2)),
        21 => writer.nil(),
        22 => writer.geojson(random.pick(&POINTS).as_bytes()),
        23 => writer.uint(u64::MAX - random.below(3) as u64),
        24..=26 => list(random, out, depth - 1),
        _ => map(random, out, depth - 1),
    }
}

/// A list.
pub(super) fn list(random: &mut Random, out: &mut Vec<u8>, depth: usize) {
    let len = random.below(6);
    list_of(random, out, depth, len);
}

/// A list that is not empty.
pub(super) fn some_list(random: &mut Random, out: &mut Vec<u8>, depth: usize) {
    let len = 1 + random.below(4);
    list_of(random, out, depth, len);
}

fn list_of(random: &mut Random, out: &mut Vec<u8>, depth: usize, len: usize) {
    Writer::new(out).list(len);
    // Lists of one kind are what queries and sums want.
    let numbers = random.once_in(3);
    for _ in 0..len {
        if numbers { Writer::new(out).int(int(random)) } else { element(random, out, depth) }
    }
}

/// A map.
pub(super) fn map(random: &mut Random, out: &mut Vec<u8>, depth: usize) {
    let keys = distinct_keys(random);
    map_of(random, out, depth, &keys);
}

/// A map without blobs for keys: scripts cannot name them.
pub(super) fn map_of_scripts(random: &mut Random, out: &mut Vec<u8>) {
    let mut keys = distinct_keys(random);
    keys.retain(|key| !matches!(key, Key::Blob(_)));
    map_of(random, out, 1, &keys);
}

/// A map whose keys are in the server's order: constants of expressions are stored as they come.
pub(super) fn sorted_map(random: &mut Random, out: &mut Vec<u8>) {
    let mut keys = distinct_keys(random);
    keys.sort_unstable();
    map_of(random, out, 0, &keys);
}

fn map_of(random: &mut Random, out: &mut Vec<u8>, depth: usize, keys: &[Key]) {
    Writer::new(out).map(keys.len());
    for key in keys {
        key.write(out);
        element(random, out, depth);
    }
}

/// A key, in the server's order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Int(i64),
    Text(&'static str),
    Blob(&'static [u8]),
}

impl Key {
    fn any(random: &mut Random) -> Self {
        match random.below(19) {
            0..=8 => Self::Int(random.between(-1, 4)),
            9..=16 => Self::Text(random.pick::<&str>(&TEXTS)),
            _ => Self::Blob(random.pick::<&[u8]>(&BLOBS)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        match self {
            Self::Int(key) => writer.int(*key),
            Self::Text(key) => writer.str(key.as_bytes()),
            Self::Blob(key) => writer.blob(key),
        }
    }
}

fn distinct_keys(random: &mut Random) -> Vec<Key> {
    let mut keys = Vec::new();
    for _ in 0..random.below(6) {
        let key = Key::any(random);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// A key of a map; seldom something that cannot be one.
pub(super) fn key(random: &mut Random, out: &mut Vec<u8>) {
    if random.once_in(20) { element(random, out, 1) } else { Key::any(random).write(out) }
}

/// A list of keys that is not empty.
pub(super) fn keys(random: &mut Random, out: &mut Vec<u8>) {
    let len = 1 + random.below(4);
    Writer::new(out).list(len);
    for _ in 0..len {
        key(random, out);
    }
}

/// A number, mostly a small one. Never the smallest: divided by -1 it ends the recorded server.
pub(super) fn int(random: &mut Random) -> i64 {
    match random.below(20) {
        0 => *random.pick(&[i64::MAX, i64::MIN + 1, 1 << 31, -(1 << 31), 255, 256, 65_535, -129, 1_000_000]),
        _ => random.between(-3, 9),
    }
}

pub(super) fn text(random: &mut Random) -> &'static [u8] {
    random.pick(&TEXTS).as_bytes()
}

pub(super) fn blob(random: &mut Random) -> Vec<u8> {
    let len = random.below(6);
    (0..len).map(|_| random.below(256) as u8).collect()
}

pub(super) fn float(random: &mut Random) -> f64 {
    *random.pick(&FLOATS)
}

/// The value of a bin: particle type and bytes.
pub(super) fn particle(random: &mut Random, kind: u8) -> Vec<u8> {
    let mut out = Vec::new();
    match kind {
        particle_type::INTEGER => out.extend_from_slice(&int(random).to_be_bytes()),
        particle_type::FLOAT => out.extend_from_slice(&float(random).to_be_bytes()),
        particle_type::STRING => out.extend_from_slice(text(random)),
        particle_type::BLOB => out = blob(random),
        particle_type::BOOL => out.push(random.below(2) as u8),
        particle_type::LIST => list(random, &mut out, 2),
        // Seldom with a key twice, which is an error.
        particle_type::MAP if random.once_in(40) => {
            let key = Key::any(random);
            map_of(random, &mut out, 0, &[key.clone(), key]);
        }
        particle_type::MAP => map(random, &mut out, 2),
        _ => {
            let text = if random.once_in(3) { *random.pick(&REGIONS) } else { *random.pick(&POINTS) };
            out.extend_from_slice(&[0, 0, 0]);
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}
