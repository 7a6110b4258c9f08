//! HLL operations on bins.

use super::estimate;
use super::sketch::{Shape, Sketch};
use crate::code;
use crate::payload::Payload;
use crate::value::Value;
use aerolane_wire::msgpack::{Element, Writer};
use aerolane_wire::operation::hll::code as op;
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// Whether all elements may have been added: an operation of expressions only, as far as clients go.
const MAY_CONTAIN: u8 = 56;

/// Flags that say what may be done.
mod flag {
    pub(super) const CREATE_ONLY: u64 = 1;
    pub(super) const UPDATE_ONLY: u64 = 2;
    pub(super) const NO_FAIL: u64 = 4;
    pub(super) const ALLOW_FOLD: u64 = 8;
}

/// What a modifying operation has done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Modified {
    /// The new value; `None` if nothing changes.
    pub(crate) value: Option<Vec<u8>>,
    /// What it answers.
    pub(crate) answer: Option<Value<'static>>,
}

/// A bin has to be an HLL.
fn checked(kind: u8, value: &[u8]) -> Result<(), u8> {
    match kind {
        particle_type::HLL if super::is_sound(value) => Ok(()),
        particle_type::HLL => Err(code::UNKNOWN),
        _ => Err(code::BIN_TYPE),
    }
}

/// The elements of a list, each in its shortest msgpack form; collections are none.
fn elements(payload: &mut Payload<'_>) -> Result<Vec<Vec<u8>>, u8> {
    let n = payload.list()?;
    let mut elements = Vec::new();
    for _ in 0..n {
        let element = payload.element()?;
        if matches!(element, Element::List(_) | Element::Map(_)) {
            return Err(code::PARAMETER);
        }
        let mut bytes = Vec::new();
        Writer::new(&mut bytes).element(&element);
        elements.push(bytes);
    }
    Ok(elements)
}

/// The HLLs of a list, or a single one.
fn hlls<'a>(payload: &mut Payload<'a>) -> Result<Vec<&'a [u8]>, u8> {
    let checked = |value: &'a [u8]| Shape::of(value).map(|_| value).ok_or(code::PARAMETER);
    if !payload.list_is_next() {
        return Ok(vec![checked(payload.bytes()?)?]);
    }
    let n = payload.list()?;
    let value = |payload: &mut Payload<'a>| match payload.element()? {
        Element::Bytes([_, value @ ..]) => checked(value),
        _ => Err(code::PARAMETER),
    };
    (0..n).map(|_| value(payload)).collect()
}

/// Carries out a reading operation on a bin. The error is a result code.
pub(crate) fn read(payload: &[u8], kind: u8, value: &[u8]) -> Result<Value<'static>, u8> {
    let mut payload = Payload::open(payload)?;
    let arguments = match payload.number {
        op::GET_COUNT | op::DESCRIBE => 0,
        op::GET_UNION..=op::GET_SIMILARITY | MAY_CONTAIN => 1,
        _ => return Err(code::PARAMETER),
    };
    checked(kind, value)?;
    payload.takes(arguments..=arguments)?;
    let own = Sketch::parse(value).ok_or(code::UNKNOWN)?;
    match payload.number {
        op::GET_COUNT => Ok(Value::Int(estimate::count(&own) as i64)),
        op::DESCRIBE => {
            let mut list = Vec::new();
            let mut writer = Writer::new(&mut list);
            writer.list(2);
            writer.int(own.shape.index_bits.into());
            writer.int(own.shape.minhash_bits.into());
            Ok(Value::List(Cow::Owned(list)))
        }
        MAY_CONTAIN => {
            let elements = elements(&mut payload)?;
            Ok(Value::Int(elements.iter().all(|element| own.may_contain(element)).into()))
        }
        number => {
            let mut all = hlls(&mut payload)?;
            if matches!(number, op::GET_INTERSECT_COUNT | op::GET_SIMILARITY) && all.len() > 2 {
                comparable(&all, own.shape)?;
            }
            all.push(value);
            compare(number, &all)
        }
    }
}

/// More than two HLLs can be intersected with the bin's only by their min-hash bits.
fn comparable(values: &[&[u8]], own: Shape) -> Result<(), u8> {
    let mut minhash_bits = values.iter().filter_map(|value| Shape::of(value)).map(|shape| shape.minhash_bits);
    let first = minhash_bits.next().unwrap_or(0);
    if first == 0 || minhash_bits.any(|bits| bits != first) {
        return Err(code::PARAMETER);
    }
    if own.minhash_bits == first { Ok(()) } else { Err(code::NOT_APPLICABLE) }
}

fn compare(number: u8, all: &[&[u8]]) -> Result<Value<'static>, u8> {
    Ok(match number {
        op::GET_UNION => Value::Hll(Cow::Owned(estimate::union(all).ok_or(code::PARAMETER)?.encode())),
        op::GET_UNION_COUNT => Value::Int(estimate::union_count(all) as i64),
        op::GET_INTERSECT_COUNT => Value::Int(estimate::intersect_count(all) as i64),
        _ => Value::Float(estimate::similarity(all)),
    })
}

/// A checked modifying operation.
#[derive(Debug, Default)]
struct Modify<'a> {
    index_bits: Option<u8>,
    minhash_bits: Option<u8>,
    elements: Vec<Vec<u8>>,
    hlls: Vec<&'a [u8]>,
    flags: u64,
}

impl<'a> Modify<'a> {
    fn parse(payload: &mut Payload<'a>) -> Result<Self, u8> {
        let mut parsed = Self::default();
        let (arguments, allowed) = match payload.number {
            op::INIT => (0..=3, flag::CREATE_ONLY | flag::UPDATE_ONLY | flag::NO_FAIL),
            op::ADD => (1..=4, flag::CREATE_ONLY | flag::NO_FAIL),
            op::SET_UNION => (1..=2, flag::CREATE_ONLY | flag::UPDATE_ONLY | flag::NO_FAIL | flag::ALLOW_FOLD),
            op::REFRESH_COUNT => (0..=0, 0),
            _ => (1..=1, 0),
        };
        payload.takes(arguments)?;
        match payload.number {
            op::ADD => parsed.elements = elements(payload)?,
            op::SET_UNION => parsed.hlls = hlls(payload)?,
            _ => {}
        }
        if payload.number != op::SET_UNION && payload.has_more() {
            parsed.index_bits = bits(payload, Shape::index_bits_are_valid)?;
        }
        if matches!(payload.number, op::INIT | op::ADD) && payload.has_more() {
            parsed.minhash_bits = bits(payload, Shape::minhash_bits_are_valid)?;
            if let (Some(index_bits), Some(minhash_bits)) = (parsed.index_bits, parsed.minhash_bits)
                && !(Shape { index_bits, minhash_bits }).is_valid()
            {
                return Err(code::PARAMETER);
            }
        }
        if payload.has_more() {
            parsed.flags = payload.uint()?;
        }
        let create_and_update = flag::CREATE_ONLY | flag::UPDATE_ONLY;
        if parsed.flags & !allowed != 0 || parsed.flags & create_and_update == create_and_update {
            return Err(code::PARAMETER);
        }
        Ok(parsed)
    }

    /// The shape of a bin that is created.
    fn new_shape(&self) -> Result<Shape, u8> {
        let index_bits = self.index_bits.ok_or(code::NOT_APPLICABLE)?;
        Ok(Shape { index_bits, minhash_bits: self.minhash_bits.unwrap_or(0) })
    }

    fn init(&self, old: Option<&Sketch>) -> Result<Modified, u8> {
        let shape = match old {
            None => self.new_shape()?,
            Some(old) => Shape {
                index_bits: self.index_bits.unwrap_or(old.shape.index_bits),
                minhash_bits: self.minhash_bits.unwrap_or(old.shape.minhash_bits),
            },
        };
        if !shape.is_valid() {
            return Err(code::NOT_APPLICABLE);
        }
        Ok(Modified { value: Some(Sketch::new(shape).encode()), answer: None })
    }

    fn add(&self, old: Option<Sketch>) -> Result<Modified, u8> {
        let mut sketch = match old {
            Some(old) => old,
            None => Sketch::new(self.new_shape()?),
        };
        let added = self.elements.iter().filter(|element| sketch.add(element)).count();
        Ok(Modified { value: Some(sketch.encode()), answer: Some(Value::Int(added as i64)) })
    }

    fn union(self, old: Option<(&Sketch, &[u8])>) -> Result<Modified, u8> {
        let common = estimate::common_shape(&self.hlls).ok_or(code::PARAMETER)?;
        let mut all = self.hlls;
        if let Some((old, value)) = old {
            let loses_minhash = old.shape.minhash_bits != 0 && old.shape.minhash_bits != common.minhash_bits;
            let folds = old.shape.index_bits > common.index_bits || loses_minhash;
            if folds && self.flags & flag::ALLOW_FOLD == 0 {
                return Err(code::NOT_APPLICABLE);
            }
            all.push(value);
        }
        let union = estimate::union(&all).ok_or(code::PARAMETER)?;
        Ok(Modified { value: Some(union.encode()), answer: None })
    }

    fn fold(&self, old: &Sketch) -> Result<Modified, u8> {
        let index_bits = self.index_bits.unwrap_or(u8::MAX);
        if old.shape.minhash_bits > 0 || old.shape.index_bits < index_bits {
            return Err(code::NOT_APPLICABLE);
        }
        if old.shape.index_bits == index_bits {
            return Ok(Modified::default());
        }
        let mut folded = Sketch::new(Shape { index_bits, minhash_bits: 0 });
        folded.merge(old);
        Ok(Modified { value: Some(folded.encode()), answer: None })
    }
}

/// A number of bits; -1 is "not said".
fn bits(payload: &mut Payload<'_>, is_valid: fn(u8) -> bool) -> Result<Option<u8>, u8> {
    match payload.int()? {
        -1 => Ok(None),
        bits => u8::try_from(bits).ok().filter(|bits| is_valid(*bits)).map(Some).ok_or(code::PARAMETER),
    }
}

/// Carries out a modifying operation on a bin, `None` being one that is missing. The error is a result code.
pub(crate) fn modify(payload: &[u8], bin: Option<(u8, &[u8])>) -> Result<Modified, u8> {
    let mut payload = Payload::open(payload)?;
    if payload.number > op::FOLD {
        return Err(code::PARAMETER);
    }
    if let Some((kind, value)) = bin {
        checked(kind, value)?;
    }
    let parsed = Modify::parse(&mut payload)?;
    let policy_error = match bin {
        Some(_) if parsed.flags & flag::CREATE_ONLY != 0 => Some(code::BIN_EXISTS),
        None if parsed.flags & flag::UPDATE_ONLY != 0 => Some(code::BIN_NOT_FOUND),
        _ => None,
    };
    if let Some(error) = policy_error {
        return if parsed.flags & flag::NO_FAIL != 0 { Ok(Modified::default()) } else { Err(error) };
    }
    let old = bin.map(|(_, value)| Sketch::parse(value).ok_or(code::UNKNOWN).map(|old| (old, value))).transpose()?;
    match payload.number {
        op::INIT => parsed.init(old.as_ref().map(|(old, _)| old)),
        op::ADD => parsed.add(old.map(|(old, _)| old)),
        op::SET_UNION => parsed.union(old.as_ref().map(|(old, value)| (old, *value))),
        op::FOLD => parsed.fold(&old.ok_or(code::BIN_NOT_FOUND)?.0),
        _ => {
            let mut sketch = old.ok_or(code::BIN_NOT_FOUND)?.0;
            sketch.cached = estimate::count(&sketch);
            let answer = Some(Value::Int(sketch.cached as i64));
            Ok(Modified { value: Some(sketch.encode()), answer })
        }
    }
}
