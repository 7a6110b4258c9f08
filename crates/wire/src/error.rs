//! The one error type of everything that parses or builds wire bytes.

use std::fmt;

/// What is wrong with the bytes, or with what was asked to be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The input ends before the item does. `needed` more bytes would be wanted.
    Truncated {
        /// How many bytes are missing at least.
        needed: usize,
    },
    /// The proto version byte is not one that this frame type may have.
    Version(u8),
    /// The frame type byte is unknown.
    FrameType(u8),
    /// A length, size or count from outside is above its bound.
    TooLarge {
        /// What is too large (for the message).
        what: &'static str,
        /// The value found.
        value: u64,
        /// The largest that is taken.
        limit: u64,
    },
    /// A size word is below what the item needs at least.
    TooSmall {
        /// What is too small (for the message).
        what: &'static str,
        /// The value found.
        value: u64,
    },
    /// Bytes are left over after the last item.
    Trailing {
        /// How many.
        extra: usize,
    },
    /// A value is malformed in another way; the text says which.
    Invalid(&'static str),
    /// Collections are nested deeper than [`MAX_DEPTH`](crate::msgpack::MAX_DEPTH).
    TooDeep,
}

/// A malformed item and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong.
    pub kind: WireErrorKind,
    /// Offset in bytes from the start of the slice that was given to the decoder
    /// (for encoders: the length of what had been written for this item).
    pub offset: usize,
}

/// Shorthand for results of this crate.
pub type WireResult<T> = Result<T, WireError>;

impl WireError {
    /// An error at an offset.
    #[must_use]
    pub const fn new(kind: WireErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The input ends `needed` bytes too early.
    #[must_use]
    pub const fn truncated(needed: usize, offset: usize) -> Self {
        Self::new(WireErrorKind::Truncated { needed }, offset)
    }

    /// A malformed value, described by `what`.
    #[must_use]
    pub const fn invalid(what: &'static str, offset: usize) -> Self {
        Self::new(WireErrorKind::Invalid(what), offset)
    }

    /// The same error, seen from a slice that starts `base` bytes earlier.
    #[must_use]
    pub const fn shifted(self, base: usize) -> Self {
        Self { kind: self.kind, offset: self.offset + base }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            WireErrorKind::Truncated { needed } => write!(f, "{needed} more bytes expected")?,
            WireErrorKind::Version(v) => write!(f, "unknown protocol version {v}")?,
            WireErrorKind::FrameType(t) => write!(f, "unknown frame type {t}")?,
            WireErrorKind::TooLarge { what, value, limit } => {
                write!(f, "{what} is {value}, more than {limit}")?;
            }
            WireErrorKind::TooSmall { what, value } => write!(f, "{what} is only {value}")?,
            WireErrorKind::Trailing { extra } => write!(f, "{extra} bytes left over")?,
            WireErrorKind::Invalid(what) => f.write_str(what)?,
            WireErrorKind::TooDeep => f.write_str("collections are nested too deeply")?,
        }
        write!(f, " (at byte {})", self.offset)
    }
}

impl std::error::Error for WireError {}
