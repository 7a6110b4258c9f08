//! Damaged files: the parser may refuse them, but never panics, hangs or grows beyond its limits.
//!
//! The damage is pseudo-random with a fixed seed, so that a failure comes again. The fuzz target in `fuzz/` makes the
//! same check with coverage, on nightly Rust.

#[path = "../fuzz/checks.rs"]
mod checks;

const WHOLE: &str = include_str!("whole.yaml");
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

/// Xorshift: enough to choose places.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

#[test]
fn damaged_files_are_refused_or_read() {
    let blocks: Vec<&str> = WHOLE.lines().collect();
    let mut random = Random(0x5eed_cafe);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let from = random.below(blocks.len());
        let to = from + random.below(blocks.len() - from) + 1;
        let mut bytes = blocks[from..to].join("\n").into_bytes();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() + 1);
            match random.below(4) {
                0 | 1 => {
                    let part = PARTS[random.below(PARTS.len())];
                    bytes.splice(at..at, part.bytes());
                }
                2 => bytes.truncate(at),
                _ => {
                    let end = at + random.below(bytes.len() - at + 1);
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
