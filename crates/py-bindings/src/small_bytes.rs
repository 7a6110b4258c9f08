//! Short byte strings without an allocation of their own.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that stand inside the object that holds them, if there are at most `N`.
#[derive(Clone)]
pub(crate) enum SmallBytes<const N: usize> {
    Inline {
        len: u8,
        bytes: [u8; N],
    },
    /// Shared by clones.
    Heap(Arc<[u8]>),
    /// The same, in the memory that they came in.
    Whole(Arc<Vec<u8>>),
}

impl<const N: usize> SmallBytes<N> {
    const LEN_FITS: () = assert!(N <= u8::MAX as usize);

    /// The parts, one behind the other.
    #[inline]
    pub(crate) fn concat<const P: usize>(parts: [&[u8]; P]) -> Self {
        let () = Self::LEN_FITS;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if len > N {
            return Self::Heap(match &parts[..] {
                [one] => Arc::from(*one),
                parts => parts.concat().into(),
            });
        }
        let mut bytes = [0; N];
        let mut at = 0;
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        Self::Inline { len: len as u8, bytes }
    }
}

impl<const N: usize> From<Cow<'_, [u8]>> for SmallBytes<N> {
    #[inline]
    fn from(bytes: Cow<'_, [u8]>) -> Self {
        match bytes {
            Cow::Owned(bytes) if bytes.len() > N => Self::Whole(Arc::new(bytes)),
            bytes => Self::concat([&bytes]),
        }
    }
}

impl<const N: usize> Deref for SmallBytes<N> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Self::Heap(bytes) => bytes,
            Self::Whole(bytes) => bytes,
        }
    }
}
