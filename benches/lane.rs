//! A lane without I/O: requests in, answers back, deadlines swept.

mod common;

fn main() {
    common::time_group("lane");
}
