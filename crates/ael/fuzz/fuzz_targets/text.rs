//! Texts of the expression language: what compiles is an expression, and what does not says where.
#![no_main]

#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::text(bytes);
});
