//! Steps on whole bins.

use aerolane_wire::message::op;
use aerolane_wire::particle::particle_type;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::builder::bin_target::BinTarget;
use crate::builder::chain::value_expression;
use crate::cdt::Flags;
use crate::operation::{BaseOperation, OperationKind, checked_name};
use crate::value::GeoJson;

/// Reads the bin.
pub(in crate::builder) fn get(name: &Bound<'_, PyString>) -> PyResult<BaseOperation> {
    Ok(BaseOperation::of(OperationKind::Read, op::READ, particle_type::NIL, checked_name(name)?, &[]))
}

/// Writes the bin.
pub(in crate::builder) fn set(name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<BaseOperation> {
    BaseOperation::with_value(op::WRITE, name, value)
}

/// A geometry, from a GeoJSON text.
pub(in crate::builder) fn geometry<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    text.py().get_type::<GeoJson>().call1((text,))
}

/// Removes the bin.
pub(in crate::builder) fn remove(name: &Bound<'_, PyString>) -> PyResult<BaseOperation> {
    set(name, &name.py().None().into_bound(name.py()))
}

/// Deletes the record.
pub(in crate::builder) fn delete_record() -> BaseOperation {
    BaseOperation::bare(OperationKind::Write, op::DELETE)
}

/// Renews when the record expires.
pub(in crate::builder) fn touch_record() -> BaseOperation {
    BaseOperation::bare(OperationKind::Write, op::TOUCH)
}

/// Bits of `ExpReadFlags` and `ExpWriteFlags`.
pub(in crate::builder) mod exp_flags {
    pub(in crate::builder) const CREATE_ONLY: i64 = 1;
    pub(in crate::builder) const UPDATE_ONLY: i64 = 2;
    pub(in crate::builder) const ALLOW_DELETE: i64 = 4;
    pub(in crate::builder) const POLICY_NO_FAIL: i64 = 8;
    pub(in crate::builder) const EVAL_NO_FAIL: i64 = 16;
}

/// Answers with what an expression evaluates to.
pub(in crate::builder) fn select(
    name: &BinTarget<'_, '_>,
    value: &Bound<'_, PyAny>,
    ignore_eval_failure: bool,
) -> PyResult<BaseOperation> {
    let flags = if ignore_eval_failure { exp_flags::EVAL_NO_FAIL } else { 0 };
    let exp = value_expression(value, name.oldest_server())?;
    crate::operation::exp::reading(name, &exp, Flags(flags))
}

/// Writes what an expression evaluates to.
pub(in crate::builder) fn write_from(
    name: &BinTarget<'_, '_>,
    value: &Bound<'_, PyAny>,
    base: i64,
    (ignore_op_failure, ignore_eval_failure, delete_if_null): (bool, bool, bool),
) -> PyResult<BaseOperation> {
    let bit = |set: bool, bit: i64| if set { bit } else { 0 };
    let flags = base
        | bit(ignore_op_failure, exp_flags::POLICY_NO_FAIL)
        | bit(ignore_eval_failure, exp_flags::EVAL_NO_FAIL)
        | bit(delete_if_null, exp_flags::ALLOW_DELETE);
    let exp = value_expression(value, name.oldest_server())?;
    crate::operation::exp::writing(name, &exp, Flags(flags))
}

macro_rules! scalar_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads the bin.
            get() = |name| scalar::get(name);
            /// Reads an int, float, bool or bytes bin as a str. Requires server 8.2 or later.
            read_as_string() = |name| string_op(name, |_out| op::TO_STRING);
            /// Evaluates an expression and returns its value under the name of this bin. With `ignore_eval_failure`, an
            /// expression that cannot be evaluated returns `None`.
            #[pyo3(signature = (expression, *, ignore_eval_failure=false))]
            select_from(expression: Bound<'py, PyAny>, ignore_eval_failure: bool)
                = |name| scalar::select(name, &expression, ignore_eval_failure);
        }
    };
}

macro_rules! scalar_writes {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Writes the bin. `None` removes it.
            set_to(value: Bound<'py, PyAny>) = |name| scalar::set(name, &value);
            /// Writes a GeoJSON geometry, given as text.
            set_to_geo_json(geo_json: Bound<'py, PyAny>) = |name| {
                scalar::set(name, &scalar::geometry(&geo_json)?)
            };
            /// Adds to an int or float bin. Creates the bin if it is missing.
            add(value: Bound<'py, PyAny>)
                = |name| BaseOperation::with_value(op::INCR, name, &value);
            /// Same as `add`. For code written for the first versions of the Aerospike SDK.
            increment_by(value: Bound<'py, PyAny>)
                = |name| BaseOperation::with_value(op::INCR, name, &value);
            /// Appends to a str or bytes bin. Creates the bin if it is missing.
            append(value: Bound<'py, PyAny>)
                = |name| BaseOperation::with_value(op::APPEND, name, &value);
            /// Prepends to a str or bytes bin. Creates the bin if it is missing.
            prepend(value: Bound<'py, PyAny>)
                = |name| BaseOperation::with_value(op::PREPEND, name, &value);
            /// Removes the bin.
            remove() = |name| scalar::remove(name);
            /// Writes the value of an expression if the bin does not exist.
            ///
            /// Two flags turn failures into no-ops: `ignore_op_failure` if the bin exists, `ignore_eval_failure` if the
            /// expression cannot be evaluated. With `delete_if_null`, an expression that evaluates to nil deletes the
            /// bin.
            #[pyo3(signature = (expression, *, ignore_op_failure=false, ignore_eval_failure=false, delete_if_null=false))]
            insert_from(
                expression: Bound<'py, PyAny>, ignore_op_failure: bool, ignore_eval_failure: bool,
                delete_if_null: bool
            ) = |name| scalar::write_from(
                name, &expression, exp_flags::CREATE_ONLY,
                (ignore_op_failure, ignore_eval_failure, delete_if_null));
            /// Writes the value of an expression if the bin exists. Takes the same flags as `insert_from`;
            /// `ignore_op_failure` is for a bin that does not exist.
            #[pyo3(signature = (expression, *, ignore_op_failure=false, ignore_eval_failure=false, delete_if_null=false))]
            update_from(
                expression: Bound<'py, PyAny>, ignore_op_failure: bool, ignore_eval_failure: bool,
                delete_if_null: bool
            ) = |name| scalar::write_from(
                name, &expression, exp_flags::UPDATE_ONLY,
                (ignore_op_failure, ignore_eval_failure, delete_if_null));
            /// Writes the value of an expression. Takes the same flags as `insert_from`.
            #[pyo3(signature = (expression, *, ignore_op_failure=false, ignore_eval_failure=false, delete_if_null=false))]
            upsert_from(
                expression: Bound<'py, PyAny>, ignore_op_failure: bool, ignore_eval_failure: bool,
                delete_if_null: bool
            ) = |name| scalar::write_from(
                name, &expression, 0, (ignore_op_failure, ignore_eval_failure, delete_if_null));
        }
    };
}

pub(in crate::builder) use {scalar_reads, scalar_writes};
