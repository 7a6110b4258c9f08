//! The bytes of filter expressions.
//!
//! aerospike-core 3.0.0 gives the bytes of an expression as base64 text only. A program has few filters and many calls,
//! so each thread keeps the bytes of the last few expressions that it has sent: to compare an expression with those
//! costs less than to make its text and to decode it, and allocates nothing.

use std::cell::RefCell;

use aerospike_core::expressions::Expression;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, Result};

/// How many expressions a thread keeps.
const KEPT: usize = 8;
/// Larger ones are not kept.
const MAX_KEPT_BYTES: usize = 4096;

#[derive(Default)]
struct Known {
    expressions: Vec<(Expression, Vec<u8>)>,
    /// The one to be forgotten next.
    oldest: usize,
}

thread_local! {
    static KNOWN: RefCell<Known> = const { RefCell::new(Known { expressions: Vec::new(), oldest: 0 }) };
}

/// Appends the bytes of an expression.
///
/// # Errors
/// The expression cannot be encoded; nothing is appended then.
pub fn expression(expression: &Expression, out: &mut Vec<u8>) -> Result<()> {
    KNOWN.with_borrow_mut(|known| {
        if let Some((_, bytes)) = known.expressions.iter().find(|(known, _)| known == expression) {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let start = out.len();
        let decoded = STANDARD.decode_vec(expression.base64()?, out);
        if let Err(e) = decoded {
            out.truncate(start);
            return Err(Error::client_error(format!("not a valid filter expression: the text is not base64: {e}")));
        }
        known.keep(expression, &out[start..]);
        Ok(())
    })
}

impl Known {
    fn keep(&mut self, expression: &Expression, bytes: &[u8]) {
        if bytes.len() > MAX_KEPT_BYTES {
            return;
        }
        let entry = (expression.clone(), bytes.to_vec());
        if self.expressions.len() < KEPT {
            self.expressions.push(entry);
        } else {
            self.expressions[self.oldest] = entry;
            self.oldest = (self.oldest + 1) % KEPT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerospike_core::expressions::{eq, from_packed_bytes, int_bin, int_val};

    fn bytes(of: &Expression) -> Vec<u8> {
        let mut out = vec![7];
        expression(of, &mut out).unwrap();
        assert_eq!(out[0], 7, "appended");
        out[1..].to_vec()
    }

    #[test]
    fn the_bytes_are_those_of_the_text_also_when_they_are_kept() {
        // More than are kept, twice, so that some are forgotten and made again.
        for round in 0..2 {
            for number in 0..3 * KEPT as i64 {
                let made = eq(int_bin("a"), int_val(number));
                let text = STANDARD.decode(made.base64().unwrap()).unwrap();
                assert_eq!(bytes(&made), text, "round {round}");
                assert_eq!(bytes(&made), text, "kept");
                assert_eq!(bytes(&from_packed_bytes(text.clone())), text);
            }
        }
        KNOWN.with_borrow(|known| assert_eq!(known.expressions.len(), KEPT));
    }

    #[test]
    fn large_ones_are_sent_and_not_kept() {
        let packed = from_packed_bytes(vec![0xc0; MAX_KEPT_BYTES + 1]);
        assert_eq!(bytes(&packed).len(), MAX_KEPT_BYTES + 1);
        KNOWN.with_borrow(|known| assert!(known.expressions.is_empty()));
    }
}
