//! Arithmetic and bit operations on numbers.

use crate::value::{Type, Value};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Log,
    Mod,
    Abs,
    Floor,
    Ceil,
    ToInt,
    ToFloat,
    And,
    Or,
    Xor,
    Not,
    ShiftLeft,
    ShiftRight,
    SignedShiftRight,
    Count,
    Min,
    Max,
}

use Arithmetic as A;

impl Arithmetic {
    pub(super) const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            20 => A::Add,
            21 => A::Sub,
            22 => A::Mul,
            23 => A::Div,
            24 => A::Pow,
            25 => A::Log,
            26 => A::Mod,
            27 => A::Abs,
            28 => A::Floor,
            29 => A::Ceil,
            30 => A::ToInt,
            31 => A::ToFloat,
            32 => A::And,
            33 => A::Or,
            34 => A::Xor,
            35 => A::Not,
            36 => A::ShiftLeft,
            37 => A::ShiftRight,
            38 => A::SignedShiftRight,
            39 => A::Count,
            50 => A::Min,
            51 => A::Max,
            _ => return None,
        })
    }

    /// Whether it takes that many arguments.
    pub(super) const fn takes(self, n: usize) -> bool {
        match self {
            A::Add | A::Sub | A::Mul | A::Div | A::And | A::Or | A::Xor | A::Min | A::Max => n >= 1,
            A::Pow | A::Log | A::Mod | A::ShiftLeft | A::ShiftRight | A::SignedShiftRight => n == 2,
            _ => n == 1,
        }
    }

    /// The type of the result for arguments of one type; `None` if they cannot be of that type.
    pub(super) fn result(self, arguments: Type) -> Option<Type> {
        let (takes, gives) = match self {
            A::Add | A::Sub | A::Mul | A::Div | A::Abs | A::Min | A::Max => match arguments {
                Type::Int | Type::Float => (arguments, arguments),
                _ => return None,
            },
            A::Pow | A::Log | A::Floor | A::Ceil => (Type::Float, Type::Float),
            A::ToInt => (Type::Float, Type::Int),
            A::ToFloat => (Type::Int, Type::Float),
            _ => (Type::Int, Type::Int),
        };
        (arguments == takes).then_some(gives)
    }

    /// The value; `None` is "unknown".
    pub(super) fn compute(self, arguments: &[Value<'_>]) -> Option<Value<'static>> {
        let ints: Option<Vec<i64>> =
            arguments.iter().map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect();
        if let Some(ints) = ints {
            return self.on_ints(&ints);
        }
        let floats: Option<Vec<f64>> =
            arguments.iter().map(|v| if let Value::Float(v) = v { Some(*v) } else { None }).collect();
        self.on_floats(&floats?)
    }

    fn on_ints(self, v: &[i64]) -> Option<Value<'static>> {
        let (first, rest) = v.split_first()?;
        let second = rest.first().copied();
        let fold = |f: fn(i64, i64) -> i64| rest.iter().fold(*first, |a, b| f(a, *b));
        // The machine's shifts: only the lowest six bits of the distance count.
        let shift = || second.map(|by| by as u32 & 63);
        Some(Value::Int(match self {
            A::Add => fold(i64::wrapping_add),
            A::Mul => fold(i64::wrapping_mul),
            A::Sub if rest.is_empty() => first.wrapping_neg(),
            A::Sub => fold(i64::wrapping_sub),
            A::Div if rest.is_empty() => checked_div(1, *first)?,
            // By the product of the others.
            A::Div => checked_div(*first, rest.iter().fold(1, |a: i64, b| a.wrapping_mul(*b)))?,
            A::Mod if second? == 0 => return None,
            A::Mod => first.wrapping_rem(second?),
            A::Abs => first.wrapping_abs(),
            A::ToFloat => return Some(Value::Float(*first as f64)),
            A::And => fold(|a, b| a & b),
            A::Or => fold(|a, b| a | b),
            A::Xor => fold(|a, b| a ^ b),
            A::Not => !first,
            A::ShiftLeft => first << shift()?,
            A::ShiftRight => (*first as u64 >> shift()?) as i64,
            A::SignedShiftRight => first >> shift()?,
            A::Count => i64::from(first.count_ones()),
            A::Min => fold(i64::min),
            A::Max => fold(i64::max),
            _ => return None,
        }))
    }

    fn on_floats(self, v: &[f64]) -> Option<Value<'static>> {
        let (first, rest) = v.split_first()?;
        let second = rest.first().copied();
        let fold = |f: fn(f64, f64) -> f64| rest.iter().fold(*first, |a, b| f(a, *b));
        Some(Value::Float(match self {
            A::Add => fold(|a, b| a + b),
            A::Mul => fold(|a, b| a * b),
            A::Sub if rest.is_empty() => 0.0 - first,
            A::Sub => fold(|a, b| a - b),
            A::Div if rest.is_empty() => 1.0 / first,
            A::Div => first / rest.iter().product::<f64>(),
            A::Pow => first.powf(second?),
            A::Log => first.ln() / second?.ln(),
            A::Abs => first.abs(),
            A::Floor => first.floor(),
            A::Ceil => first.ceil(),
            A::ToInt => return Some(Value::Int(to_int(*first))),
            // What is no number is kept if it is the first, and passed over otherwise.
            A::Min => fold(|a, b| if b < a { b } else { a }),
            A::Max => fold(|a, b| if b > a { b } else { a }),
            _ => return None,
        }))
    }
}

/// As the recorded server's machine converts: what does not fit becomes the smallest integer.
fn to_int(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// Division towards zero; by 0 it is unknown. (The recorded server dies of the smallest integer by -1.)
fn checked_div(a: i64, b: i64) -> Option<i64> {
    if b == 0 { None } else { Some(a.wrapping_div(b)) }
}

/// Position (from the left, or from the right) of the first bit that is set, or not; -1 if there is none.
pub(super) fn scan(value: i64, wanted: bool, from_left: bool) -> i64 {
    let bits = if wanted { value } else { !value };
    if bits == 0 {
        return -1;
    }
    i64::from(if from_left { bits.leading_zeros() } else { 63 - bits.trailing_zeros() })
}
