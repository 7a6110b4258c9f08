//! Operations that evaluate an expression.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::exp`], whose policy and flag types are
//! re-exported here.

use super::{Operation, forward};
use aerospike_core::expressions::Expression;
pub use aerospike_core::operations::exp::*;

forward! {
    exp;
    fn write_exp(bin: impl Into<String>, exp: Expression, flags: ExpWriteFlags);
    fn read_exp(name: impl Into<String>, exp: Expression, flags: ExpReadFlags);
}
