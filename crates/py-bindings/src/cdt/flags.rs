//! Settings that can be combined: enumerations of ints.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors;
use crate::policy::kinds::whole_number;

/// Flags as an argument: a member of one of the enumerations, members combined with `|`, an int, or None for none.
/// Raises `TypeError` for what is no int, `InvalidArgumentError` for one that is negative or larger than `MOST`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flags<const MOST: i64 = { u32::MAX as i64 }>(pub(crate) i64);

/// Flags that fit into a byte.
pub(crate) type ByteFlags = Flags<255>;

impl<'py, const MOST: i64> FromPyObject<'_, 'py> for Flags<MOST> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self::default());
        }
        whole_number(&value, "flags", 0, MOST).map(Self)
    }
}

/// An enumeration: its name, what it is, its members.
type Table = (&'static str, &'static str, &'static [(&'static str, i64)]);

/// Those whose flags are not just ints by other names: flags of a byte, for which `~` stays within it.
const OF_A_BYTE: &[&str] = &[
    "MapWriteFlags",
    "ListWriteFlags",
    "BitWriteFlags",
    "HLLWriteFlags",
    "StringWriteFlags",
    "StringRegexFlags",
    "ExpReadFlags",
    "ExpWriteFlags",
];

const MAP_WRITE_FLAGS: Table = (
    "MapWriteFlags",
    "What a map operation refuses. Combine with `|`.\n\n\
     CREATE_ONLY: refuses existing keys. UPDATE_ONLY: refuses new keys. NO_FAIL: a refused operation does nothing \
     instead of failing. PARTIAL: with NO_FAIL, the entries that are not refused are written.",
    &[("DEFAULT", 0), ("CREATE_ONLY", 1), ("UPDATE_ONLY", 2), ("NO_FAIL", 4), ("PARTIAL", 8)],
);

const TABLES: &[Table] = &[
    (
        "ListWriteFlags",
        "What a list operation refuses. Combine with `|`.\n\n\
         ADD_UNIQUE: refuses items that the list already has. INSERT_BOUNDED: refuses indexes beyond the end. NO_FAIL: \
         a refused operation does nothing instead of failing. PARTIAL: with NO_FAIL, the items that are not refused are \
         written.",
        &[("DEFAULT", 0), ("ADD_UNIQUE", 1), ("INSERT_BOUNDED", 2), ("NO_FAIL", 4), ("PARTIAL", 8)],
    ),
    (
        "BitWriteFlags",
        "What a bit operation refuses. Combine with `|`.\n\n\
         CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing \
         instead of failing. PARTIAL: bits outside of the blob are ignored.",
        &[("DEFAULT", 0), ("CREATE_ONLY", 1), ("UPDATE_ONLY", 2), ("NO_FAIL", 4), ("PARTIAL", 8)],
    ),
    (
        "HLLWriteFlags",
        "What an HLL operation refuses. Combine with `|`.\n\n\
         CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing \
         instead of failing. ALLOW_FOLD: the result may have fewer index bits than the bin.",
        &[("DEFAULT", 0), ("CREATE_ONLY", 1), ("UPDATE_ONLY", 2), ("NO_FAIL", 4), ("ALLOW_FOLD", 8)],
    ),
    (
        "StringWriteFlags",
        "What a string operation refuses. Combine with `|`. Server 8.2 and later.\n\n\
         CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing \
         instead of failing.",
        &[("DEFAULT", 0), ("CREATE_ONLY", 1), ("UPDATE_ONLY", 2), ("NO_FAIL", 4)],
    ),
    (
        "StringRegexFlags",
        "How string operations interpret a regular expression. Combine with `|`. Server 8.2 and later.\n\n\
         CASE_INSENSITIVE. MULTILINE: `^` and `$` match at each line. DOTALL: `.` matches the end of a line, too. \
         UNIX_LINES: only `\\n` ends a line. GLOBAL: regex_replace replaces all matches, not only the first.",
        &[("DEFAULT", 0), ("CASE_INSENSITIVE", 1), ("MULTILINE", 2), ("DOTALL", 4), ("UNIX_LINES", 8), ("GLOBAL", 16)],
    ),
    (
        "RegexFlag",
        "How `FilterExpression.regex_compare` interprets its regular expression (POSIX). Combine with `|`.\n\n\
         EXTENDED: the extended syntax. ICASE: ignores case. NOSUB: does not report positions. NEWLINE: `.` does \
         not match the end of a line.",
        &[("NONE", 0), ("EXTENDED", 1), ("ICASE", 2), ("NOSUB", 4), ("NEWLINE", 8)],
    ),
    (
        "ExpReadFlags",
        "How `ExpOperation.read` treats failures. EVAL_NO_FAIL: an expression that cannot be evaluated returns None.",
        &[("DEFAULT", 0), ("EVAL_NO_FAIL", 16)],
    ),
    (
        "ExpWriteFlags",
        "What `ExpOperation.write` refuses. Combine with `|`.\n\n\
         CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. ALLOW_DELETE: a result of nil deletes the \
         bin. POLICY_NO_FAIL: a refused operation does nothing instead of failing. EVAL_NO_FAIL: the same for an \
         expression that cannot be evaluated.",
        &[
            ("DEFAULT", 0),
            ("CREATE_ONLY", 1),
            ("UPDATE_ONLY", 2),
            ("ALLOW_DELETE", 4),
            ("POLICY_NO_FAIL", 8),
            ("EVAL_NO_FAIL", 16),
        ],
    ),
    (
        "SelectFlags",
        "What a path returns. Server 8.1.1 and later.\n\n\
         MATCHING_TREE: the collection, reduced to the matching elements. VALUE (also LIST_VALUE, MAP_VALUE): a list of the \
         values. MAP_KEY: a list of the keys. MAP_KEY_VALUE: keys and values. NO_FAIL (combine with `|`): leaves out \
         elements whose type does not fit the path.",
        &[
            ("MATCHING_TREE", 0),
            ("VALUE", 1),
            ("LIST_VALUE", 1),
            ("MAP_VALUE", 1),
            ("MAP_KEY", 2),
            ("MAP_KEY_VALUE", 3),
            ("NO_FAIL", 16),
        ],
    ),
    (
        "QueryWhereFlags",
        "What `Client.query_explain` asks for. Combine with `|`. Server 8.2 and later.\n\n\
         EXPLAIN: which index fits the condition; always required. REQUIRE_INDEX: an error if no secondary index fits. \
         HARD_HINT: an error if the index of the hint does not fit. ENC_VARINT: reserved, not accepted.",
        &[("ENC_VARINT", 1), ("EXPLAIN", 2), ("REQUIRE_INDEX", 4), ("HARD_HINT", 8)],
    ),
    (
        "ModifyFlags",
        "How a path modifies elements. NO_FAIL: elements whose type does not fit the path are left unchanged. Server \
         8.1.1 and later.",
        &[("DEFAULT", 0), ("NO_FAIL", 16)],
    ),
];

/// The enumeration of map write flags.
pub(super) fn map_write_flags(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || make(py, &MAP_WRITE_FLAGS).map(Bound::unbind))?;
    Ok(class.bind(py).clone())
}

fn make<'py>(py: Python<'py>, (name, doc, members): &Table) -> PyResult<Bound<'py, PyAny>> {
    let members: Vec<(&str, Bound<'_, PyAny>)> =
        members.iter().map(|(name, value)| Ok((*name, value.into_bound_py_any(py)?))).collect::<PyResult<_>>()?;
    errors::make_flags(py, name, doc, members, OF_A_BYTE.contains(name))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add(MAP_WRITE_FLAGS.0, map_write_flags(py)?)?;
    TABLES.iter().try_for_each(|table| module.add(table.0, make(py, table)?))
}
