//! Why a Python object cannot be sent, and the way to it inside the value.

use std::fmt::Write as _;

use aerolane_wire::WireError;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use crate::errors;

/// How much of the way to a value is told: a list that holds itself is refused only at the bound of the depth.
const MOST_STEPS: usize = 8;

/// Small, so that encoding without errors stays cheap.
pub(crate) struct Refused(Box<Inner>);

struct Inner {
    why: Why,
    /// Steps from the innermost collection outwards: `[3]`, `['x']`.
    path: Vec<String>,
}

enum Why {
    /// Not a type that can be sent.
    Type(String),
    /// A type that can be sent, but not with this value.
    Value(String),
    /// An integer beyond 64 bits.
    Range(String),
    /// The object's own code has raised it.
    Python(PyErr),
}

impl Refused {
    fn new(why: Why) -> Self {
        Self(Box::new(Inner { why, path: Vec::new() }))
    }

    #[cold]
    pub(crate) fn wrong_type(text: impl Into<String>) -> Self {
        Self::new(Why::Type(text.into()))
    }

    #[cold]
    pub(crate) fn value(text: impl Into<String>) -> Self {
        Self::new(Why::Value(text.into()))
    }

    #[cold]
    pub(crate) fn range(text: impl Into<String>) -> Self {
        Self::new(Why::Range(text.into()))
    }

    /// A collection of type `what` has another size than when it was begun.
    #[cold]
    pub(crate) fn changed(what: &str) -> Self {
        Self::value(format!("the {what} changed its size while it was being sent"))
    }

    /// The value was inside a collection, at this step.
    #[cold]
    pub(crate) fn inside(mut self, step: impl FnOnce() -> String) -> Self {
        self.0.path.push(step());
        self
    }

    /// The exception. `what` names the whole value: `bin 'a'`.
    #[cold]
    pub(crate) fn into_py(self, py: Python<'_>, what: &str) -> PyErr {
        let Inner { why, path } = *self.0;
        let mut place = what.to_owned();
        if !path.is_empty() {
            if !place.is_empty() {
                place.push_str(": ");
            }
            place.extend(path.iter().rev().take(MOST_STEPS).map(String::as_str));
            if path.len() > MOST_STEPS {
                let _ = write!(place, "… ({} more levels)", path.len() - MOST_STEPS);
            }
        }
        let full = |text: String| if place.is_empty() { text } else { format!("{place}: {text}") };
        match why {
            Why::Type(text) => PyTypeError::new_err(full(text)),
            Why::Value(text) => errors::invalid_argument(py, full(text)),
            Why::Range(text) => PyOverflowError::new_err(full(text)),
            Why::Python(error) => {
                if !place.is_empty() {
                    // A note that cannot be added is no reason to lose the error itself.
                    let _ = error.add_note(py, format!("while encoding {place}"));
                }
                error
            }
        }
    }
}

impl From<PyErr> for Refused {
    #[cold]
    fn from(error: PyErr) -> Self {
        Self::new(Why::Python(error))
    }
}

impl From<WireError> for Refused {
    #[cold]
    fn from(error: WireError) -> Self {
        Self::value(error.to_string())
    }
}
