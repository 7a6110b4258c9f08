//! What servers from 8.2 on tell about a failure when the policy asks for it.

use aerospike_core::ExpressionTrace as CoreTrace;
use aerospike_core::server_error::{
    EXP_TRACE_LANG_AEL, EXP_TRACE_LANG_MSGPACK, EXP_TRACE_PHASE_BUILD, EXP_TRACE_PHASE_EVAL, sub_code,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// Where and why an expression failed on the server: `AerospikeError.exp_trace`. Request it with
/// `error_detail_verbosity = ErrorDetailVerbosity.EXPRESSION_TRACE`. Server 8.2 and later.
///
/// Any property may be None, since the server leaves out what does not fit into its answer.
#[pyclass(frozen, eq, module = "aerolane")]
#[derive(PartialEq, Eq)]
pub(super) struct ExpressionTrace(pub(super) CoreTrace);

/// The properties of a trace, as pickle takes them.
type Parts = (
    Option<u32>,
    Option<u32>,
    Option<String>,
    Option<u32>,
    Option<Vec<String>>,
    Option<String>,
    Option<u32>,
    Option<Vec<String>>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
);

#[pymethods]
impl ExpressionTrace {
    /// `phase`: the expression was being built.
    #[classattr]
    const PHASE_BUILD: u32 = EXP_TRACE_PHASE_BUILD;
    /// `phase`: the expression was being evaluated.
    #[classattr]
    const PHASE_EVAL: u32 = EXP_TRACE_PHASE_EVAL;
    /// `lang`: an expression as clients send it.
    #[classattr]
    const LANG_MSGPACK: u32 = EXP_TRACE_LANG_MSGPACK;
    /// `lang`: an expression as text.
    #[classattr]
    const LANG_AEL: u32 = EXP_TRACE_LANG_AEL;

    /// What failed: `PHASE_BUILD` or `PHASE_EVAL`.
    #[getter]
    fn phase(&self) -> Option<u32> {
        self.0.phase
    }

    /// The position of the failing element in the encoded expression, in bytes.
    #[getter]
    fn byte_offset(&self) -> Option<u32> {
        self.0.byte_offset
    }

    /// The name of the operator that failed.
    #[getter]
    fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The nesting depth of the failing element.
    #[getter]
    fn depth(&self) -> Option<u32> {
        self.0.depth
    }

    /// The operators from the outermost one to the one that failed; `"..."` stands for omitted ones.
    #[getter]
    fn path(&self) -> Option<Vec<String>> {
        self.0.path.clone()
    }

    /// The failing element as readable text.
    #[getter]
    fn snippet(&self) -> Option<&str> {
        self.0.snippet.as_deref()
    }

    /// The outcome of the evaluation. 1: it failed; 2: the expression was false; 3: a bin or a map key was missing.
    #[getter]
    fn outcome(&self) -> Option<u32> {
        self.0.outcome
    }

    /// If a comparison made the expression false: both of its sides, as text.
    #[getter]
    fn operands(&self) -> Option<Vec<String>> {
        self.0.operands.clone()
    }

    /// The language of the expression: `LANG_MSGPACK` or `LANG_AEL`.
    #[getter]
    fn lang(&self) -> Option<u32> {
        self.0.lang
    }

    /// The position of the failing part in an expression that was sent as text, in characters.
    #[getter]
    fn ael_offset(&self) -> Option<u32> {
        self.0.ael_offset
    }

    /// The length of that part in bytes.
    #[getter]
    fn ael_span(&self) -> Option<u32> {
        self.0.ael_span
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.0)
    }

    /// As pickle needs it.
    #[staticmethod]
    #[pyo3(signature = (parts, /))]
    fn _restore(parts: Parts) -> Self {
        let (phase, byte_offset, op, depth, path, snippet, outcome, operands, lang, ael_offset, ael_span) = parts;
        Self(CoreTrace { phase, byte_offset, op, depth, path, snippet, outcome, operands, lang, ael_offset, ael_span })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let trace = self.0.clone();
        let parts: Parts = (
            trace.phase,
            trace.byte_offset,
            trace.op,
            trace.depth,
            trace.path,
            trace.snippet,
            trace.outcome,
            trace.operands,
            trace.lang,
            trace.ael_offset,
            trace.ael_span,
        );
        Ok((py.get_type::<Self>().getattr("_restore")?, (parts,).into_bound_py_any(py)?))
    }
}

const VERBOSITY: &[(&str, u8)] = &[("NONE", 0), ("SUBCODE", 1), ("MESSAGE", 2), ("EXPRESSION_TRACE", 3)];

const VERBOSITY_DOC: &str = "\
How much detail the server reports about a failure: for the property `error_detail_verbosity` of policies.

NONE (the default): the result code. SUBCODE: also a sub-code. MESSAGE: also a message. EXPRESSION_TRACE: also where in
an expression it failed. Server 8.2 and later; earlier ones only report the result code.";

const SUB_CODE_DOC: &str = "\
The values of `AerospikeError.sub_code`, as ints.

A sub-code is only meaningful together with the result code, since several result codes use the same numbers. The first
word of a name stands for the result code: PARAM for PARAMETER_ERROR, UNAVAIL for PARTITION_UNAVAILABLE, UNSUPP_FEAT for
UNSUPPORTED_FEATURE, BIN_NOT_FOUND for itself, BIN_NAME for BIN_NAME_TOO_LONG, FORBID for FAIL_FORBIDDEN, OPNOT for
OP_NOT_APPLICABLE, MRT_BLOCKED for itself. A server may send other values.";

macro_rules! sub_codes {
    ($($name:ident),* $(,)?) => {
        const SUB_CODES: &[(&str, u32)] = &[$((stringify!($name), sub_code::$name)),*];
    };
}

// The names are those that aerospike-core and its clients give them.
sub_codes! {
    NONE, PARAM_TTL_INVALID, PARAM_BITS_OFFSET_OUT_OF_RANGE, PARAM_BITS_SIZE_OUT_OF_RANGE,
    PARAM_BITS_RESIZE_EXCEEDED, PARAM_BIN_COUNT_TOO_LARGE, PARAM_STRING_OP_PARAMS_INVALID, PARAM_STRING_OP_INVALID,
    PARAM_STRING_CTX_MALFORMED, PARAM_STRING_INDEX_OUT_OF_BOUNDS, PARAM_STRING_REGEX_INVALID,
    PARAM_STRING_UTF8_INVALID, UNAVAIL_INITIAL_BALANCE_UNRESOLVED, UNAVAIL_REPLICA_UNAVAILABLE,
    UNAVAIL_NODE_SHUTTING_DOWN, UNSUPP_FEAT_MRT_REQUIRES_STRONG_CONSISTENCY, UNSUPP_FEAT_GENERIC,
    BIN_NOT_FOUND_HLL_CANNOT_CREATE_WITH_OP, BIN_NOT_FOUND_STRING_VALUE_NOT_FOUND, BIN_NAME_COUNT_TOO_LARGE,
    FORBID_XDR_FILTER_BLOCKED, FORBID_SET_COUNT_STOP_WRITES, FORBID_SET_SIZE_STOP_WRITES,
    FORBID_CLOCK_SKEW_STOP_WRITES, FORBID_REPLACE_CONFLICT_RESOLVING, FORBID_TRUNCATED, FORBID_DURABILITY_VIOLATION,
    OPNOT_CDT_INDEX_OUT_OF_BOUNDS, OPNOT_CDT_RANK_OUT_OF_BOUNDS, OPNOT_CDT_BOUNDED_LIST_OVERFLOW,
    OPNOT_HLL_INDEX_BITS_UNSET, OPNOT_HLL_CANNOT_REDUCE_INDEX_BITS, OPNOT_HLL_CANNOT_REDUCE_MINHASH_BITS,
    OPNOT_HLL_CANNOT_FOLD_MINHASH, OPNOT_HLL_FOLD_INDEX_BITS_TOO_LARGE, OPNOT_HLL_INTERSECT_MINHASH_MISMATCH,
    OPNOT_STRING_CONVERSION_FAILED, OPNOT_STRING_UTF8_INVALID, OPNOT_STRING_REGEX_LIMIT_EXCEEDED,
    OPNOT_STRING_B64_INVALID, MRT_BLOCKED_RECORD_LOCKED, MRT_BLOCKED_ID_MISMATCH,
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<ExpressionTrace>()?;
    let named = PyDict::new(py);
    named.set_item("module", "aerolane")?;
    let members: Vec<(&str, u8)> = VERBOSITY.to_vec();
    let class = py.import("enum")?.getattr("IntEnum")?.call(("ErrorDetailVerbosity", members), Some(&named))?;
    class.setattr("__doc__", VERBOSITY_DOC)?;
    module.add("ErrorDetailVerbosity", class)?;
    // No enumeration: several names have one number.
    let body = PyDict::new(py);
    body.set_item("__doc__", SUB_CODE_DOC)?;
    body.set_item("__module__", "aerolane")?;
    for (name, value) in SUB_CODES {
        body.set_item(name, value)?;
    }
    let class = py.get_type::<PyType>().call1(("SubCode", PyTuple::empty(py), body))?;
    module.add("SubCode", class)
}
