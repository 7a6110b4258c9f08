//! Commands, and how they are carried out: what all front doors, batches, queries and transactions stand on.
//!
//! * [`twin`]: a command that is started in an event loop, or carried out on the calling thread
//! * [`single`]: the commands about one record

pub(crate) mod single;
mod twin;

pub(crate) use twin::{Control, Either, Twin, block_on, interrupted, timed, twins};
