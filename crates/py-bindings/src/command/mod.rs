//! Commands, and how they are carried out: what all clients, batches, queries and transactions stand on.
//!
//! * [`executable`]: a command that is started in an event loop, or carried out on the calling thread
//! * [`single`]: the commands about one record

mod executable;
pub(crate) mod single;

pub(crate) use executable::{Control, Either, Executable, block_on, interrupted, timed, twins};
