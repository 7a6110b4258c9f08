//! Damaged files: the parser may refuse them, but never panics, hangs or grows beyond its limits.
//!
//! The damage is pseudo-random with a fixed seed, so that a failure comes again. The fuzz target in `fuzz/` makes the
//! same check with coverage, on nightly Rust.

#[path = "../fuzz/checks.rs"]
mod checks;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const WHOLE: &str = include_str!("whole.yaml");
const CLIENT: &str = include_str!("client.yaml");
/// What damage is made of: parts of YAML, and what is none.
const PARTS: [&str; 30] = [
    ":",
    ": ",
    "- ",
    "? ",
    "&a ",
    "*a ",
    "*batch",
    "<<: ",
    "!!str ",
    "!x ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "'",
    "\"",
    "\\x",
    "|\n",
    ">-\n",
    "#",
    "---\n",
    "...\n",
    "%YAML 9\n",
    "\t",
    "\n",
    "  ",
    "é",
    "\0",
    "~",
];

fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    (random.next_u64() % bound.max(1) as u64) as usize
}

#[test]
fn damaged_files_are_refused_or_read() {
    damaged(WHOLE);
}

#[test]
fn damaged_files_of_clients_are_refused_or_read() {
    damaged(CLIENT);
}

fn damaged(whole: &str) {
    let blocks: Vec<&str> = whole.lines().collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed_cafe);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let from = below(&mut random, blocks.len());
        let to = from + below(&mut random, blocks.len() - from) + 1;
        let mut bytes = blocks[from..to].join("\n").into_bytes();
        for _ in 0..below(&mut random, 4) {
            let at = below(&mut random, bytes.len() + 1);
            match below(&mut random, 4) {
                0 | 1 => {
                    let part = PARTS[below(&mut random, PARTS.len())];
                    bytes.splice(at..at, part.bytes());
                }
                2 => bytes.truncate(at),
                _ => {
                    let end = at + below(&mut random, bytes.len() - at + 1);
                    bytes.drain(at..end);
                }
            }
        }
        match checks::file(&bytes) {
            Some(_) => read += 1,
            None => refused += 1,
        }
    }
    // Both happen, or the damage would show nothing.
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}
