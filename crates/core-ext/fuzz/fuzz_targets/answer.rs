//! Answers to calls about one record, plain or compressed.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::answer(bytes);
});
