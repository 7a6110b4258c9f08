//! Expressions that come as text.

use crate::code;
use aerolane_wire::msgpack::{Element, Reader};
use std::borrow::Cow;

/// The number of an expression that is text in the expression language.
const TEXT: i64 = 128;

/// The bytes of an expression, compiled if they are text (`[128, text]`, as a whole). The error is a result code.
pub(crate) fn compiled(bytes: &[u8]) -> Result<Cow<'_, [u8]>, u8> {
    let Some(text) = text(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let text = std::str::from_utf8(text).map_err(|_| code::PARAMETER)?;
    let compiled = aerolane_ael::compile(text, &[]).map_err(|_| code::PARAMETER)?;
    Ok(Cow::Owned(compiled.into_bytes().into_vec()))
}

fn text(bytes: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(bytes);
    let Ok(Element::List(header)) = reader.read() else { return None };
    (header.len == 2 && reader.read() == Ok(Element::Int(TEXT))).then_some(())?;
    let Ok(Element::Bytes(text)) = reader.read() else { return None };
    reader.finish().is_ok().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of the number and the text, as binary data.
    fn of(text: &str) -> Vec<u8> {
        [&[0x92, 0xcc, 0x80, 0xc4, text.len() as u8], text.as_bytes()].concat()
    }

    #[test]
    fn text_is_compiled_and_all_else_stays() {
        let plain = compiled(&of("$.a > 1")).unwrap().into_owned();
        assert_eq!(plain, aerolane_ael::compile("$.a > 1", &[]).unwrap().bytes());
        assert_eq!(compiled(&plain), Ok(Cow::Borrowed(&plain[..])));
        assert_eq!(compiled(b"\x92"), Ok(Cow::Borrowed(&b"\x92"[..])));
        for wrong in ["$.a >", "$.a > ?0", ""] {
            assert_eq!(compiled(&of(wrong)), Err(code::PARAMETER), "{wrong}");
        }
        assert_eq!(compiled(b"\x92\xcc\x80\xc4\x01\xff"), Err(code::PARAMETER));
    }
}
