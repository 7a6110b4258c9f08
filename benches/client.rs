//! Requests from policies, keys and bins; records from answers. No I/O.

mod common;

fn main() {
    common::time_group("client");
}
