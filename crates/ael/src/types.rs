//! Types of expressions, and what is known about those that the text leaves open.

use std::fmt;

use aerolane_wire::particle::particle_type;

/// The type of a value. The numbers are those of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// `true` or `false`.
    Bool = 1,
    /// A signed integer of 64 bits.
    Int = 2,
    /// Text.
    String = 3,
    /// A list.
    List = 4,
    /// A map.
    Map = 5,
    /// Bytes.
    Blob = 6,
    /// A floating-point number of 64 bits.
    Float = 7,
    /// GeoJSON.
    Geo = 8,
    /// A HyperLogLog.
    Hll = 9,
}

impl Type {
    /// All types, with the names that the language has for them.
    const NAMES: [(&'static str, Self); 9] = [
        ("INT", Self::Int),
        ("STRING", Self::String),
        ("FLOAT", Self::Float),
        ("BOOL", Self::Bool),
        ("BLOB", Self::Blob),
        ("LIST", Self::List),
        ("MAP", Self::Map),
        ("GEO", Self::Geo),
        ("HLL", Self::Hll),
    ];

    /// Returns the type of a name, such as `INT`.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Returns the number that a bin of this type has for its type.
    pub(crate) fn particle(self) -> i64 {
        i64::from(match self {
            Self::Bool => particle_type::BOOL,
            Self::Int => particle_type::INTEGER,
            Self::String => particle_type::STRING,
            Self::List => particle_type::LIST,
            Self::Map => particle_type::MAP,
            Self::Blob => particle_type::BLOB,
            Self::Float => particle_type::FLOAT,
            Self::Geo => particle_type::GEOJSON,
            Self::Hll => particle_type::HLL,
        })
    }

    /// Returns the name of the type, such as `INT`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a part of an expression: known, or a slot that the rest of the text may settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ty {
    Known(Type),
    Open(u32),
}

/// What an open type can still become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Any,
    /// A list or a map.
    Collection,
    /// What `+` adds: numbers, and strings, which it joins.
    Addable,
    Numeric,
}

impl Class {
    fn allows(self, kind: Type) -> bool {
        match self {
            Self::Any => true,
            Self::Collection => matches!(kind, Type::List | Type::Map),
            Self::Addable => matches!(kind, Type::Int | Type::Float | Type::String),
            Self::Numeric => matches!(kind, Type::Int | Type::Float),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Any => "any type",
            Self::Collection => "LIST or MAP",
            Self::Addable => "INT, FLOAT or STRING",
            Self::Numeric => "INT or FLOAT",
        }
    }

    /// What belongs to both; `None`: nothing does.
    fn narrower(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, class) | (class, Self::Any) => Some(class),
            (Self::Collection, Self::Collection) => Some(Self::Collection),
            (Self::Collection, _) | (_, Self::Collection) => None,
            (Self::Addable, Self::Addable) => Some(Self::Addable),
            _ => Some(Self::Numeric),
        }
    }
}

#[derive(Debug)]
enum Slot {
    Same(u32),
    Open(Class),
    Known(Type),
}

/// Two types that ought to be one.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) left: &'static str,
    pub(crate) right: &'static str,
}

/// The types that the text leaves open, and which of them are the same.
#[derive(Debug, Default)]
pub(crate) struct Types {
    slots: Vec<Slot>,
}

impl Types {
    pub(crate) fn open(&mut self, class: Class) -> Ty {
        self.slots.push(Slot::Open(class));
        Ty::Open(self.slots.len() as u32 - 1)
    }

    fn root(&self, mut at: u32) -> u32 {
        while let Slot::Same(next) = self.slots[at as usize] {
            at = next;
        }
        at
    }

    /// Returns the type, if it is known by now.
    pub(crate) fn known(&self, ty: Ty) -> Option<Type> {
        match ty {
            Ty::Known(kind) => Some(kind),
            Ty::Open(at) => match self.slots[self.root(at) as usize] {
                Slot::Known(kind) => Some(kind),
                _ => None,
            },
        }
    }

    fn class(&self, ty: Ty) -> Class {
        match ty {
            Ty::Open(at) => match self.slots[self.root(at) as usize] {
                Slot::Open(class) => class,
                _ => Class::Any,
            },
            Ty::Known(_) => Class::Any,
        }
    }

    fn describe(&self, ty: Ty) -> &'static str {
        self.known(ty).map_or_else(|| self.class(ty).name(), Type::name)
    }

    /// Makes two types one.
    pub(crate) fn unify(&mut self, left: Ty, right: Ty) -> Result<(), Mismatch> {
        let mismatch = Mismatch { left: self.describe(left), right: self.describe(right) };
        let Some(class) = self.class(left).narrower(self.class(right)) else { return Err(mismatch) };
        let kind = match (self.known(left), self.known(right)) {
            (Some(left), Some(right)) if left != right => return Err(mismatch),
            (left, right) => left.or(right),
        };
        if kind.is_some_and(|kind| !class.allows(kind)) {
            return Err(mismatch);
        }
        let slot = |ty: Ty| match ty {
            Ty::Open(at) => Some(self.root(at)),
            Ty::Known(_) => None,
        };
        let (first, second) = match (slot(left), slot(right)) {
            (Some(first), second) => (first, second),
            (None, Some(only)) => (only, None),
            (None, None) => return Ok(()),
        };
        self.slots[first as usize] = kind.map_or(Slot::Open(class), Slot::Known);
        if let Some(second) = second.filter(|second| *second != first) {
            self.slots[second as usize] = Slot::Same(first);
        }
        Ok(())
    }

    /// Narrows a type to a class.
    pub(crate) fn narrow(&mut self, ty: Ty, class: Class) -> Result<(), Mismatch> {
        let open = self.open(class);
        self.unify(ty, open)
    }
}
