//! What operations on lists and maps answer with.

/// Defines a class of combinable numbers.
macro_rules! return_type {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $member:ident = $value:literal,)* }) => {
        $(#[$meta])*
        #[pyo3::pyclass(frozen, eq, hash, from_py_object, module = "aerolane.native")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) struct $name(u32);

        impl $name {
            /// All that is not selected.
            const NOT: u32 = 0x1_0000;

            /// As requests say it.
            pub(crate) fn number(self) -> i64 {
                i64::from(self.0)
            }

            /// Without the bit for what is not selected.
            pub(crate) fn plain(self) -> u32 {
                self.0 & !Self::NOT
            }
        }

        #[pyo3::pymethods]
        #[allow(clippy::trivially_copy_pass_by_ref)] // Python calls methods by reference
        impl $name {
            $(
                $(#[$doc])*
                #[classattr]
                const $member: Self = Self($value);
            )*

            fn __or__(&self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            fn __and__(&self, other: Self) -> Self {
                Self(self.0 & other.0)
            }

            fn __int__(&self) -> u32 {
                self.0
            }

            fn __repr__(&self) -> String {
                let name = match self.plain() {
                    0 if self.0 != 0 => return concat!(stringify!($name), ".INVERTED").to_owned(),
                    $($value if $value < Self::NOT => stringify!($member),)*
                    other => return format!("<{} {other}>", stringify!($name)),
                };
                let inverted = if self.0 == self.plain() { "" } else { concat!(" | ", stringify!($name), ".INVERTED") };
                format!("{}.{name}{inverted}", stringify!($name))
            }

            fn __reduce__<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<(pyo3::Bound<'py, pyo3::PyAny>, (u32,))> {
                use pyo3::types::PyAnyMethods as _;
                Ok((py.get_type::<Self>().getattr("_of")?, (self.0,)))
            }

            #[staticmethod]
            fn _of(number: u32) -> Self {
                Self(number)
            }
        }
    };
}

return_type! {
    /// What a list operation returns for the items that it selects. Combine with `| INVERTED`.
    ListReturnType {
        /// Nothing.
        NONE = 0,
        /// Indexes, from the front.
        INDEX = 1,
        /// Indexes, from the end.
        REVERSE_INDEX = 2,
        /// Ranks: 0 is the smallest item.
        RANK = 3,
        /// Ranks, where 0 is the largest item.
        REVERSE_RANK = 4,
        /// How many there are.
        COUNT = 5,
        /// The items.
        VALUE = 7,
        /// Whether there is any.
        EXISTS = 13,
        /// Those that are *not* selected; combine it with another one.
        INVERTED = 0x1_0000,
    }
}

return_type! {
    /// What a map operation returns for the entries that it selects. Combine with `| INVERTED`.
    MapReturnType {
        /// Nothing.
        NONE = 0,
        /// Indexes in the order of keys.
        INDEX = 1,
        /// Indexes in the order of keys, from the end.
        REVERSE_INDEX = 2,
        /// Ranks: 0 is the smallest value.
        RANK = 3,
        /// Ranks, where 0 is the largest value.
        REVERSE_RANK = 4,
        /// How many there are.
        COUNT = 5,
        /// The keys.
        KEY = 6,
        /// The values.
        VALUE = 7,
        /// Keys and values.
        KEY_VALUE = 8,
        /// Whether there is any.
        EXISTS = 13,
        /// A dict.
        UNORDERED_MAP = 16,
        /// A `SortedMap`.
        ORDERED_MAP = 17,
        /// Those that are *not* selected; combine it with another one.
        INVERTED = 0x1_0000,
    }
}

pub(super) fn register(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
    use pyo3::types::PyModuleMethods as _;
    module.add_class::<ListReturnType>()?;
    module.add_class::<MapReturnType>()
}
