//! Answers to a batch: each row is answered at most once.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>)| {
    checks::batch(usize::from(input.0), &input.1);
});
