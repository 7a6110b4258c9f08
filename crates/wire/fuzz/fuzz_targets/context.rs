//! Contexts of operations: what is taken apart can be put together, and is then taken apart alike.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::context(bytes);
});
