//! Our encoding and decoding, compared with aerospike-core 3.0.0 itself: a server in the test records what that client
//! sends, and gives it recorded answers of a real server.

mod answers;
mod bytes;
mod constructors;
mod names;
mod operations;
#[path = "../../../../tests/rust/common/patient.rs"]
mod patient;
mod server;
