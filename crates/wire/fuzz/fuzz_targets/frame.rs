//! The incremental frame decoder: any chunking gives what whole input gives.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>)| {
    checks::frame(&input.1, usize::from(input.0) + 1);
});
