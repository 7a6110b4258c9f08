//! The wire codec: encode, decode, digest. No I/O.

mod common;

fn main() {
    common::time_group("wire");
}
