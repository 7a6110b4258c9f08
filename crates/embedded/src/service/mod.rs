//! The service: plain threads that move bytes between sockets and [`dispatch`].
//!
//! A connection belongs to one thread and is served strictly in order. A thread reads big pieces, answers every whole
//! frame of a piece into one buffer, and writes that once.

mod dispatch;
mod request;

pub(crate) use request::{Answered, Producer, Request, Session, error_answer};
