//! Limits that are checked before anything is sent.

use aerospike_core::{Bins, Key};

use crate::error::{Error, Result};

/// Longest namespace name in bytes.
pub const MAX_NAMESPACE: usize = 31;
/// Longest set name in bytes (a server answers longer ones with a parameter error).
pub const MAX_SET: usize = 63;
/// Longest bin name in bytes.
pub const MAX_BIN: usize = 15;
/// Most bins or operations of one request: the count has 16 bits.
pub const MAX_OPS: usize = u16::MAX as usize;

/// The names in a key.
#[inline]
pub fn key(key: &Key) -> Result<()> {
    let (namespace, set) = (key.namespace().len(), key.set_name().len());
    if namespace == 0 || namespace > MAX_NAMESPACE || set > MAX_SET {
        return Err(bad_key(key));
    }
    Ok(())
}

#[cold]
fn bad_key(key: &Key) -> Error {
    let (namespace, set) = (key.namespace(), key.set_name());
    Error::invalid_argument(if namespace.is_empty() {
        "the namespace is empty".to_owned()
    } else if namespace.len() > MAX_NAMESPACE {
        format!("namespace '{}' has {} bytes, more than {MAX_NAMESPACE}", cut(namespace), namespace.len())
    } else {
        format!("set '{}' has {} bytes, more than {MAX_SET}", cut(set), set.len())
    })
}

/// One bin name.
#[inline]
pub fn bin_name(name: &str) -> Result<()> {
    if name.len() > MAX_BIN {
        return Err(long_bin_name(name));
    }
    Ok(())
}

#[cold]
fn long_bin_name(name: &str) -> Error {
    Error::invalid_argument(format!("bin name '{}' has {} bytes, more than {MAX_BIN}", cut(name), name.len()))
}

/// The names of a projection, and how many there are.
pub fn bins(bins: &Bins) -> Result<()> {
    let Bins::Some(names) = bins else { return Ok(()) };
    count(names.len(), "bins")?;
    names.iter().try_for_each(|name| bin_name(name))
}

/// A number of bins or operations.
#[inline]
pub fn count(n: usize, what: &str) -> Result<()> {
    if n > MAX_OPS {
        return Err(Error::invalid_argument(format!("{n} {what} in one request, more than {MAX_OPS}")));
    }
    Ok(())
}

/// The front of a name that may be very long.
pub(crate) fn cut(name: &str) -> &str {
    let end = name.char_indices().map(|(at, _)| at).nth(80).unwrap_or(name.len());
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerospike_core::Value;

    #[test]
    fn names_are_bounded_exactly() {
        let make = |ns: usize, set: usize| Key::new("n".repeat(ns), "s".repeat(set), Value::Int(1)).unwrap();
        assert!(key(&make(31, 63)).is_ok());
        assert!(key(&make(1, 0)).is_ok());
        for (ns, set, word) in [(0, 1, "empty"), (32, 1, "namespace"), (1, 64, "set")] {
            let text = key(&make(ns, set)).unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
        assert!(bin_name(&"b".repeat(15)).is_ok());
        assert!(bin_name(&"é".repeat(8)).is_err(), "16 bytes");
        assert!(bins(&Bins::Some(vec!["a".into(); 65_536])).is_err());
        assert!(bins(&Bins::Some(vec!["a".into(), "b".repeat(16)])).is_err());
        assert_eq!(cut(&"é".repeat(500)).chars().count(), 80);
    }
}
