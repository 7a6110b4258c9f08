//! Keys, made for less.

use aerolane_wire::digest::digest;
use aerolane_wire::particle::particle_type;
use aerospike_core::{Key, Value};

use crate::error::Result;

/// The same key as `Key::new` makes, for about a quarter less: the digest of a short key is computed by
/// `aerolane-wire`, without a hasher's state (decision 0008).
///
/// `namespace` and `set` (empty: none) are taken over; `user_key` is an integer, a string or a blob.
///
/// # Errors
/// `InvalidArgument` for a user key of any other type, as from `Key::new`.
///
/// ```
/// use aerolane::{Key, Value, key};
///
/// # fn main() -> aerolane::Result<()> {
/// let alice = key("test", "users", Value::from("alice"))?;
/// assert_eq!(alice, Key::new("test", "users", Value::from("alice"))?);
/// # Ok(())
/// # }
/// ```
#[inline]
pub fn key(namespace: impl Into<String>, set: impl Into<String>, user_key: Value) -> Result<Key> {
    let set = set.into();
    let digest = match &user_key {
        Value::Int(number) => digest(set.as_bytes(), particle_type::INTEGER, &number.to_be_bytes()),
        Value::String(text) => digest(set.as_bytes(), particle_type::STRING, text.as_bytes()),
        Value::Blob(bytes) => digest(set.as_bytes(), particle_type::BLOB, bytes),
        _ => return Ok(Key::new(namespace, set, user_key)?),
    };
    Ok(Key::with_digest(namespace, set, Some(user_key), digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_one_that_aerospike_core_makes() {
        let long = "k".repeat(300);
        for set in ["", "s", "a-set-with-a-name-of-sixty-three-bytes-which-is-the-longest-one-"] {
            for user_key in [
                Value::Int(0),
                Value::Int(i64::MIN),
                Value::from(""),
                Value::from("alice"),
                Value::from(long.as_str()),
                Value::Blob(vec![0, 255, 7]),
            ] {
                assert_eq!(key("test", set, user_key.clone()).unwrap(), Key::new("test", set, user_key).unwrap());
            }
        }
    }

    #[test]
    fn other_types_are_refused_as_there() {
        for user_key in [Value::Nil, Value::from(1.5), Value::Bool(true), Value::List(Vec::new())] {
            let theirs = Key::new("test", "s", user_key.clone()).unwrap_err();
            let ours = key("test", "s", user_key).unwrap_err();
            assert!(matches!(ours.kind(), crate::ErrorKind::InvalidArgument), "{ours}");
            assert_eq!(ours.to_string(), crate::Error::from(theirs).to_string());
        }
    }
}
