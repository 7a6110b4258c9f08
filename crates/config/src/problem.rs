//! What is wrong with a file, and where.

use std::fmt;

/// Something in a file that is not applied: where it is, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1 on.
    pub line: usize,
    /// The keys that lead there, with dots between them; empty for the file as a whole.
    pub key: String,
    /// Why, and what to do.
    pub message: String,
    /// It has its place elsewhere, which the message names: no mistake.
    pub harmless: bool,
}

impl Problem {
    pub(crate) fn new(line: usize, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { line, key: key.into(), message: message.into(), harmless: false }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "line {}: {}", self.line, self.message),
            key => write!(f, "line {}, {key}: {}", self.line, self.message),
        }
    }
}

impl std::error::Error for Problem {}
