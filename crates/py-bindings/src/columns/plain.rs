//! Types of columns that have no parts, by the names that Arrow's C data interface has for them.

/// How values of such a type lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// Nothing but nulls.
    Null,
    Bool,
    /// Ints, and times, of so many bytes.
    Int {
        size: u8,
        signed: bool,
    },
    /// Floats of so many bytes.
    Float {
        size: u8,
    },
    /// Texts or bytes one behind the other, with offsets of 32 or (`wide`) 64 bits.
    Spans {
        text: bool,
        wide: bool,
    },
    /// Texts or bytes that views point to.
    Views {
        text: bool,
    },
}

impl Plain {
    /// `None`: a type with parts or parameters, or one that is not known.
    pub(super) fn of_format(format: &str) -> Option<Self> {
        let int = |size, signed| Self::Int { size, signed };
        Some(match format {
            "n" => Self::Null,
            "b" => Self::Bool,
            "c" => int(1, true),
            "C" => int(1, false),
            "s" => int(2, true),
            "S" => int(2, false),
            "i" | "tdD" | "tts" | "ttm" => int(4, true),
            "I" => int(4, false),
            "l" | "tdm" | "ttu" | "ttn" | "tDs" | "tDm" | "tDu" | "tDn" => int(8, true),
            "L" => int(8, false),
            "e" => Self::Float { size: 2 },
            "f" => Self::Float { size: 4 },
            "g" => Self::Float { size: 8 },
            "u" => Self::Spans { text: true, wide: false },
            "U" => Self::Spans { text: true, wide: true },
            "z" => Self::Spans { text: false, wide: false },
            "Z" => Self::Spans { text: false, wide: true },
            "vu" => Self::Views { text: true },
            "vz" => Self::Views { text: false },
            // Timestamps, whose time zone follows.
            _ if ["tss:", "tsm:", "tsu:", "tsn:"].iter().any(|unit| format.starts_with(unit)) => int(8, true),
            _ => return None,
        })
    }
}
