//! Operations that evaluate an expression.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::exp`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::operation::exp;
pub use aerospike_core::operations::exp::*;

use super::encoded::{Traits, raw};
use super::macros::constructors;

constructors! {
    exp, Traits::WHOLE_BIN, bin;

    write_exp(bin: bin, exp: expression, flags: ExpWriteFlags)
        |out| exp::write(out, raw(exp.bytes()?), flags.bits());
    read_exp(bin: bin, exp: expression, flags: ExpReadFlags)
        |out| exp::read(out, raw(exp.bytes()?), flags.bits());
}
