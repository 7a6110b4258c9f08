//! What holds for every text: it may be refused, but nothing panics, hangs or allocates beyond the input, and what
//! compiles is an expression.
//!
//! The fuzz target beside this file runs this check with coverage, `tests/mutations.rs` on damaged texts.

use aerolane_ael::select::{Collection, Hint, Index, IndexKind, select};
use aerolane_ael::{AelError, AelErrorKind, MAX_TEXT, Param, compile, compile_for, condition, context};
use aerolane_wire::msgpack::{Reader, validate};

/// Compiles a text, with as many parameters as its first byte says. Gives how many bytes came out of it.
pub(crate) fn text(bytes: &[u8]) -> usize {
    let Some((&first, rest)) = bytes.split_first() else { return 0 };
    let text = String::from_utf8_lossy(rest);
    let params = [
        Param::from(25),
        Param::from("it's \"%s\" ?0 $.a"),
        Param::list([Param::from(true), Param::from(1.5), Param::nil()].iter()),
    ];
    let params = &params[..usize::from(first) % (params.len() + 1)];
    if let Err(error) = context(&text, params) {
        place(&error, &text);
    }
    selection(&text, params);
    indexes(&text);
    match compile(&text, params) {
        Ok(compiled) => {
            let bytes = compiled.bytes();
            validate(bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
            let mut reader = Reader::new(bytes);
            reader.skip().unwrap_or_else(|error| panic!("{text}: {error}"));
            reader.finish().unwrap_or_else(|error| panic!("{text}: {error}"));
            let again = compile_for(&text, params, compiled.needs());
            assert_eq!(again.as_ref(), Ok(&compiled), "{text}");
            bytes.len()
        }
        Err(error) => {
            place(&error, &text);
            assert_ne!(error.kind(), AelErrorKind::Version, "no version was asked for: {error}");
            assert_eq!(text.len() > MAX_TEXT, error.message().starts_with("the text has"), "{error}");
            0
        }
    }
}

/// What a node lists as its indexes may be anything; of each there is what a query needs.
fn indexes(text: &str) {
    for listed in aerolane_ael::listed::read(text) {
        assert!(!listed.namespace.is_empty() && !listed.index.bin.is_empty(), "{text}");
    }
    let share = aerolane_ael::listed::selectivity(text);
    assert!(share.is_none_or(|share| share > 0.0 && share <= 1.0), "{text}");
}

/// An index is chosen for whatever filters, and nothing of it is lost: what no index answers is left as a whole.
fn selection(text: &str, params: &[Param]) {
    let index = |bin: &str, kind, collection| Index {
        name: None,
        bin: bin.to_owned(),
        kind,
        collection,
        context: Vec::new(),
        selectivity: None,
    };
    let indexes = [
        index("a", IndexKind::Numeric, Collection::Default),
        index("s", IndexKind::String, Collection::Default),
        index("l", IndexKind::Numeric, Collection::List),
        index("m", IndexKind::String, Collection::MapKeys),
    ];
    let whole = condition(text, params);
    match select(text, params, &indexes, Hint::default(), None) {
        Ok(found) => {
            assert!(!found.explain().is_empty());
            assert!(found.filter.is_some() || found.rest.as_ref() == whole.as_ref().ok(), "{text}");
        }
        Err(error) => assert_eq!(Some(error), whole.err(), "{text}"),
    }
}

/// The place of an error is in the text, and its excerpt shows it.
fn place(error: &AelError, text: &str) {
    assert!(error.offset() <= text.len() && text.is_char_boundary(error.offset()), "{error}");
    assert!(error.line() >= 1 && error.column() >= 1, "{error}");
    let (shown, carets) = error.excerpt().split_once('\n').unwrap_or_default();
    assert!(shown.chars().count() <= 80 && carets.trim_start().chars().all(|c| c == '^'), "{error}");
    assert!(carets.contains('^') && carets.chars().count() <= 81, "{error}");
}
