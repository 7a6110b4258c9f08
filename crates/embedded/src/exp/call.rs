//! Calls of list, map, bit and HLL operations inside expressions.
//!
//! A call names the type of its result, a system, a payload as an operation on a bin has it, and the value that it
//! works on. Lists in the payload are expressions, whose values take their place; everything else is taken as it is,
//! contexts and paths too.

use super::build::{Builder, Node};
use super::eval::Evaluation;
use super::work::step;
use crate::value::{Type, Value, stored_list, stored_map};
use crate::{bits, cdt, code, hll};
use aerolane_wire::msgpack::Element;
use aerolane_wire::operation::path::PATH;
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// The first element of a payload that works on a nested value: it is followed by the context and the operation.
const CONTEXT: i64 = 0xff;
/// Bit in the system's number: the operation modifies, and its result is the value that it has made.
const MODIFIES: i64 = 0x40;
/// No value that a call makes is larger, in bytes: no record is.
const MAX_VALUE: usize = 8 * 1024 * 1024;

/// What carries out the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    /// Lists and maps.
    Collection,
    Bits,
    Hll,
}

/// A piece of a payload.
#[derive(Debug)]
enum Part<'a> {
    Raw(&'a [u8]),
    Argument(Node<'a>),
}

/// A checked call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    system: System,
    modifies: bool,
    kind: Type,
    payload: Vec<Part<'a>>,
    subject: Node<'a>,
}

impl Call<'_> {
    /// The type that it has for what it stands in: a call on nil counts as nil.
    pub(super) fn kind(&self) -> Type {
        if self.subject.kind() == Type::Nil { Type::Nil } else { self.kind }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn call(&mut self, n: usize) -> Result<Node<'a>, u8> {
        if n != 4 {
            return Err(code::PARAMETER);
        }
        let kind = self.named_type()?;
        let Element::Int(number) = self.scalar()? else { return Err(code::PARAMETER) };
        let payload = self.payload()?;
        let subject = self.node()?;
        let system = match number & !MODIFIES {
            0 => System::Collection,
            1 => System::Bits,
            2 => System::Hll,
            _ => return Err(code::PARAMETER),
        };
        let fits = match (system, subject.kind()) {
            (_, Type::Nil) => true,
            (System::Collection, kind) => matches!(kind, Type::List | Type::Map),
            (System::Bits, kind) => kind == Type::Blob,
            (System::Hll, kind) => kind == Type::Hll,
        };
        if !fits {
            return Err(code::PARAMETER);
        }
        Ok(Node::Call(Box::new(Call { system, modifies: number & MODIFIES != 0, kind, payload, subject })))
    }

    fn payload(&mut self) -> Result<Vec<Part<'a>>, u8> {
        let start = self.reader.offset();
        let mut len = self.list()?;
        let Element::Int(number) = self.scalar()? else { return Err(code::PARAMETER) };
        if number == i64::from(PATH) {
            for _ in 1..len {
                self.reader.skip().map_err(|_| code::PARAMETER)?;
            }
            return Ok(vec![Part::Raw(&self.bytes[start..self.reader.offset()])]);
        }
        if number == CONTEXT {
            if len != 3 {
                return Err(code::PARAMETER);
            }
            self.reader.skip().map_err(|_| code::PARAMETER)?;
            len = self.list()?;
            let Element::Int(_) = self.scalar()? else { return Err(code::PARAMETER) };
        }
        let mut parts = Vec::new();
        let mut raw = start;
        for _ in 1..len {
            let here = self.reader.offset();
            match self.scalar()? {
                Element::List(header) => {
                    parts.push(Part::Raw(&self.bytes[raw..here]));
                    parts.push(Part::Argument(self.list_node(&header)?));
                    raw = self.reader.offset();
                }
                Element::Map(header) => {
                    for _ in 0..header.len * 2 {
                        self.reader.skip().map_err(|_| code::PARAMETER)?;
                    }
                }
                _ => {}
            }
        }
        parts.push(Part::Raw(&self.bytes[raw..self.reader.offset()]));
        Ok(parts)
    }

    /// A list that is not empty, without order: its length.
    fn list(&mut self) -> Result<usize, u8> {
        match self.scalar()? {
            Element::List(header) if header.marker.is_none() && header.len > 0 => Ok(header.len),
            _ => Err(code::PARAMETER),
        }
    }
}

impl<'v> Evaluation<'v> {
    pub(super) fn call(&mut self, call: &'v Call<'_>) -> Option<Value<'v>> {
        let mut payload = Vec::new();
        for part in &call.payload {
            match part {
                Part::Raw(bytes) => payload.extend_from_slice(bytes),
                Part::Argument(node) => self.node(node)?.write(&mut payload)?,
            }
        }
        let subject = self.node(&call.subject)?;
        // The payload is taken apart, with the paths and expressions in it, each time.
        step(8 * payload.len() + subject.len())?;
        let particle = match &subject {
            Value::Nil => None,
            // Constants come in any order.
            Value::List(list) => Some((particle_type::LIST, stored_list(list)?.into_owned())),
            Value::Map(map) => Some((particle_type::MAP, stored_map(map)?.into_owned())),
            scalar => Some(scalar.to_particle()),
        };
        let bin = particle.as_ref().map(|(kind, value)| (*kind, &value[..]));
        let result = if call.modifies {
            match modify(call.system, &payload, bin).ok()? {
                Some((kind, value)) => Value::from_bin(kind, &value)?.into_owned(),
                None => subject,
            }
        } else {
            let (kind, value) = bin?;
            read(call.system, &payload, kind, value).ok()?
        };
        (result.kind() == call.kind).then_some(result)
    }
}

fn read(system: System, payload: &[u8], kind: u8, value: &[u8]) -> Result<Value<'static>, u8> {
    match system {
        System::Bits => bits::read(payload, kind, value),
        System::Hll => hll::read(payload, kind, value),
        System::Collection => match cdt::read(payload, Some((kind, value)))? {
            Some((kind, value)) => Value::from_bin(kind, &value).map(Value::into_owned).ok_or(code::UNKNOWN),
            None => Ok(Value::Nil),
        },
    }
}

/// Gives the new value, `None` if it stays as it is.
fn modify(system: System, payload: &[u8], bin: Option<(u8, &[u8])>) -> Result<Option<(u8, Vec<u8>)>, u8> {
    match system {
        System::Bits => Ok(bits::modify(payload, bin, MAX_VALUE)?.map(|value| (particle_type::BLOB, value))),
        System::Hll => Ok(hll::modify(payload, bin)?.value.map(|value| (particle_type::HLL, value))),
        System::Collection => Ok(cdt::modify(payload, bin, MAX_VALUE)?.value),
    }
}

impl<'a> Value<'a> {
    /// The same value without what it borrows.
    fn into_owned(self) -> Value<'static> {
        let own = |bytes: Cow<'a, [u8]>| Cow::Owned(bytes.into_owned());
        match self {
            Self::Nil => Value::Nil,
            Self::Bool(v) => Value::Bool(v),
            Self::Int(v) => Value::Int(v),
            Self::Float(v) => Value::Float(v),
            Self::Str(v) => Value::Str(own(v)),
            Self::Blob(v) => Value::Blob(own(v)),
            Self::List(v) => Value::List(own(v)),
            Self::Map(v) => Value::Map(own(v)),
            Self::Geo(v) => Value::Geo(own(v)),
            Self::Hll(v) => Value::Hll(own(v)),
            Self::Remove => Value::Remove,
        }
    }
}
