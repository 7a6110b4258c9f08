//! Damaged texts: the compiler may refuse them, but never panics, hangs or allocates beyond them.
//!
//! The damage is pseudo-random with a fixed seed, so that a failure comes again. The fuzz target in `fuzz/` makes the
//! same check with coverage, on nightly Rust.

#[path = "../fuzz/checks.rs"]
mod checks;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const TEXTS: &str = include_str!("texts.txt");
/// What damage is made of: parts of the language, and what is none.
const PARTS: [&str; 56] = [
    "$",
    "$.",
    ".",
    "..",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[?(",
    ")]",
    "*",
    "@",
    "@key",
    "#",
    "~",
    "!",
    ":",
    ":INT",
    ":local:",
    ",",
    "=",
    "==",
    "=~ /",
    "'",
    "\"",
    "\\",
    "/*",
    "%s",
    "?0",
    "${",
    "-",
    "9223372036854775808",
    "0x",
    "x'",
    "é",
    "\0",
    " and ",
    "when (",
    "&[?(",
    ":NO_FAIL",
    ":KEY_ORDERED",
    ".append(",
    ".modify(@",
    ".remove()",
    ".[($.i",
    "[1:-1]",
    "[-3:2]",
    "]:SORTED",
    "}:UNORDERED",
    ":PERSIST_INDEX",
    "/xw",
    "[#-2:]",
    "{0:1~k}",
    "{-2:}&[?(@ > 1)]",
];

fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    (random.next_u64() % bound.max(1) as u64) as usize
}

#[test]
fn damaged_texts_are_refused_or_compile() {
    let texts: Vec<&str> = TEXTS.lines().collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed_cafe);
    let (mut compiled, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = texts[round % texts.len()].as_bytes().to_vec();
        for _ in 0..below(&mut random, 4) {
            let at = below(&mut random, bytes.len() + 1);
            match below(&mut random, 4) {
                0 => {
                    let part = PARTS[below(&mut random, PARTS.len())];
                    bytes.splice(at..at, part.bytes());
                }
                1 => bytes.truncate(at),
                2 => {
                    let end = (at + below(&mut random, 8)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let other = texts[below(&mut random, texts.len())].as_bytes();
                    let from = below(&mut random, other.len());
                    bytes.splice(at..at, other[from..].iter().copied());
                }
            }
        }
        bytes.insert(0, below(&mut random, 4) as u8);
        if checks::text(&bytes) > 0 { compiled += 1 } else { refused += 1 }
    }
    assert!(compiled > 1_000 && refused > 1_000, "{compiled} compiled, {refused} refused");
}

#[test]
fn repetition_is_bounded() {
    for part in PARTS.iter().chain(&[
        "$.a",
        "$.a.b",
        "not ",
        "when (1 == 1 => ",
        "let (x = ",
        "[1,",
        "{a:",
        "$.a + ",
        "$.l.[(",
        "$.l.append(",
        "$.m.{@(",
    ]) {
        for times in [10, 200, 5_000, 70_000] {
            checks::text(format!("\0{}", part.repeat(times)).as_bytes());
        }
    }
}
