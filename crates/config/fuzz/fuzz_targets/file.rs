//! Configuration files: what can be read, and what cannot says where.
#![no_main]

#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::file(bytes);
});
