//! Msgpack: bounded, and what is read is written to the same bytes.
#![no_main]

use aerolane_wire::msgpack::{Element, MAX_DEPTH, Reader, Writer, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut reader, mut out, mut reserved) = (Reader::new(bytes), vec![], 0);
    let mut values = 0;
    let whole = loop {
        if reader.is_empty() && reader.depth() == 0 {
            break true;
        }
        let at = reader.offset();
        let Ok(element) = reader.read() else { break false };
        assert!(reader.depth() <= MAX_DEPTH);
        values += usize::from(reader.depth() == 0);
        let marker = match element {
            Element::List(header) => {
                reserved += header.len;
                header.marker
            }
            Element::Map(header) => {
                reserved += header.len;
                header.marker
            }
            _ => None,
        };
        assert!(reserved <= bytes.len());
        let start = out.len();
        Writer::new(&mut out).element_as(&element, reader.form()).expect("what was read can be written");
        // An order marker may stand in a longer form than ours, whatever the form of the header.
        let read = &bytes[at..reader.offset()];
        if marker.is_none_or(|m| {
            m.data.is_empty() && (read.ends_with(&[0xc7, 0, m.kind]) || read.ends_with(&[0xc7, 0, m.kind, 0xc0]))
        }) {
            assert_eq!(out[start..], *read);
        }
    };
    assert_eq!(whole && values == 1, validate(bytes).is_ok());
    let mut skipper = Reader::new(bytes);
    let mut skipped = 0;
    while let Ok(value) = skipper.skip() {
        assert!(validate(value).is_ok());
        skipped += 1;
    }
    assert_eq!(skipped, values);
});
