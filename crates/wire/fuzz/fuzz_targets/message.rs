//! Messages: what is read is written to the same bytes (but for the header-size byte), and all ways through a message come
//! to the same.
#![no_main]

#[allow(dead_code)] // Each target makes one of them.
#[path = "../checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    checks::message(bytes);
});
