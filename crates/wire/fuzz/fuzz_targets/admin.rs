//! Admin messages: what is read is written to the same bytes, but for the unused ones of the header.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::admin(bytes);
});
