//! Arguments of operations.

use super::op::Op;
use crate::code;
use crate::value::stored_element;
use aerolane_wire::msgpack::{Element, Reader, Writer};
use std::borrow::Cow;

impl<'a> Op<'a> {
    /// An integer. What is above `i64::MAX` wraps around, as it does in the server.
    pub(super) fn int(&self, at: usize) -> Result<i64, u8> {
        int(self.arg(at)?).ok_or(code::PARAMETER)
    }

    /// An integer that may be left out.
    pub(super) fn int_or(&self, at: usize, default: i64) -> Result<i64, u8> {
        if at < self.args.len() { self.int(at) } else { Ok(default) }
    }

    /// A number of elements: all that follow, if it is left out or negative.
    pub(super) fn count(&self, at: usize) -> Result<u64, u8> {
        Ok(self.int_or(at, -1)? as u64)
    }

    /// A value to be stored.
    pub(super) fn stored(&self, at: usize) -> Result<Cow<'a, [u8]>, u8> {
        stored(self.arg(at)?)
    }
}

/// An integer; `None` for all else.
pub(super) fn int(value: &[u8]) -> Option<i64> {
    match Reader::new(value).read() {
        Ok(Element::Int(value)) => Some(value),
        Ok(Element::Uint(value)) => Some(value as i64),
        _ => None,
    }
}

/// A value in the form in which it is stored.
pub(super) fn stored(value: &[u8]) -> Result<Cow<'_, [u8]>, u8> {
    stored_element(value).ok_or(code::PARAMETER)
}

/// A float as an integer, as x86 processors convert it for the server: what does not fit becomes the least one.
fn truncated(value: f64) -> i64 {
    // 2^63: the first that does not fit.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if (-BOUND..BOUND).contains(&value) { value as i64 } else { i64::MIN }
}

/// A number that can be added.
#[derive(Debug, Clone, Copy)]
pub(super) enum Addend {
    Int(i64),
    Float(f64),
}

impl Addend {
    /// A number; `None` for all else.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        match Reader::new(value).read() {
            Ok(Element::Int(value)) => Some(Self::Int(value)),
            Ok(Element::Uint(value)) => Some(Self::Int(value as i64)),
            Ok(Element::Float(value)) => Some(Self::Float(value)),
            Ok(Element::Float32(value)) => Some(Self::Float(f64::from(value))),
            _ => None,
        }
    }

    /// What is to be added: 1 if it is left out or nil; `None` for what is no number.
    pub(super) fn or_one(value: Option<&[u8]>) -> Option<Self> {
        match value.map(|value| (value, Reader::new(value).read())) {
            None | Some((_, Ok(Element::Nil))) => Some(Self::Int(1)),
            Some((value, _)) => Self::parse(value),
        }
    }

    /// The sum, of the type of the left side.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.wrapping_add(b)),
            (Self::Int(a), Self::Float(b)) => Self::Int(a.wrapping_add(truncated(b))),
            (Self::Float(a), Self::Int(b)) => Self::Float(a + b as f64),
            (Self::Float(a), Self::Float(b)) => Self::Float(a + b),
        }
    }

    /// The sum of nothing and this: no negative zero.
    pub(super) fn alone(self) -> Self {
        match self {
            Self::Int(value) => Self::Int(value),
            Self::Float(value) => Self::Float(0.0 + value),
        }
    }

    /// With the opposite sign.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Int(value) => Self::Int(value.wrapping_neg()),
            Self::Float(value) => Self::Float(-value),
        }
    }

    /// As an element of a collection.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9);
        match self {
            Self::Int(value) => Writer::new(&mut out).int(value),
            Self::Float(value) => Writer::new(&mut out).float(value),
        }
        out
    }
}
