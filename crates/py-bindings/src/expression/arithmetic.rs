//! Numbers and bits of integers.

use super::part::{Exp, Exps, list};
use super::table::expressions;

const ADD: u8 = 20;
const SUB: u8 = 21;
const MUL: u8 = 22;
const DIV: u8 = 23;
const POW: u8 = 24;
const LOG: u8 = 25;
const MOD: u8 = 26;
const ABS: u8 = 27;
const FLOOR: u8 = 28;
const CEIL: u8 = 29;
const TO_INT: u8 = 30;
const TO_FLOAT: u8 = 31;
const INT_AND: u8 = 32;
const INT_OR: u8 = 33;
const INT_XOR: u8 = 34;
const INT_NOT: u8 = 35;
const LSHIFT: u8 = 36;
const RSHIFT: u8 = 37;
const ARSHIFT: u8 = 38;
const COUNT: u8 = 39;
const LSCAN: u8 = 40;
const RSCAN: u8 = 41;
const MIN: u8 = 50;
const MAX: u8 = 51;

expressions! {
    /// The sum of ints, or of floats.
    num_add(exps: Exps) = list(&[&ADD, &exps]);
    /// The first number less all others; of one number, its negative.
    num_sub(exps: Exps) = list(&[&SUB, &exps]);
    /// The product of ints, or of floats.
    num_mul(exps: Exps) = list(&[&MUL, &exps]);
    /// The first number divided by all others; of one number, its reciprocal.
    num_div(exps: Exps) = list(&[&DIV, &exps]);
    /// A float to the power of another one.
    num_pow(base: Exp, exponent: Exp) = list(&[&POW, &base, &exponent]);
    /// The logarithm of a float, to a base (a float).
    num_log(num: Exp, base: Exp) = list(&[&LOG, &num, &base]);
    /// The remainder of the division of two ints.
    num_mod(numerator: Exp, denominator: Exp) = list(&[&MOD, &numerator, &denominator]);
    /// A number without its sign.
    num_abs(value: Exp) = list(&[&ABS, &value]);
    /// The largest whole number that is not greater than a float; a float.
    num_floor(num: Exp) = list(&[&FLOOR, &num]);
    /// The smallest whole number that is not less than a float; a float.
    num_ceil(num: Exp) = list(&[&CEIL, &num]);
    /// A float as an int; the fraction is cut off.
    to_int(num: Exp) = list(&[&TO_INT, &num]);
    /// An int as a float.
    to_float(num: Exp) = list(&[&TO_FLOAT, &num]);
    /// The bitwise and of ints.
    int_and(exps: Exps) = list(&[&INT_AND, &exps]);
    /// The bitwise or of ints.
    int_or(exps: Exps) = list(&[&INT_OR, &exps]);
    /// The bitwise exclusive or of ints.
    int_xor(exps: Exps) = list(&[&INT_XOR, &exps]);
    /// An int with all bits inverted.
    int_not(exp: Exp) = list(&[&INT_NOT, &exp]);
    /// An int, shifted to the left by a number of bits.
    int_lshift(value: Exp, shift: Exp) = list(&[&LSHIFT, &value, &shift]);
    /// An int, shifted to the right by a number of bits; zeros are shifted in.
    int_rshift(value: Exp, shift: Exp) = list(&[&RSHIFT, &value, &shift]);
    /// An int, shifted to the right by a number of bits; the sign bit is copied.
    int_arshift(value: Exp, shift: Exp) = list(&[&ARSHIFT, &value, &shift]);
    /// How many bits of an int are set.
    int_count(exp: Exp) = list(&[&COUNT, &exp]);
    /// The position of the first bit of an int, counted from the highest bit, that equals `search` (a bool); -1 if
    /// there is none.
    int_lscan(value: Exp, search: Exp) = list(&[&LSCAN, &value, &search]);
    /// The position of the last bit of an int, searched from the lowest bit, that equals `search` (a bool); -1 if there
    /// is none.
    int_rscan(value: Exp, search: Exp) = list(&[&RSCAN, &value, &search]);
    /// The smallest of ints, or of floats.
    min(exps: Exps) = list(&[&MIN, &exps]);
    /// The largest of ints, or of floats.
    max(exps: Exps) = list(&[&MAX, &exps]);
}
