//! How constructors are defined.

/// Defines static methods of `FilterExpression`: `name(argument: Type, ..) = expression that makes it;`.
macro_rules! expressions {
    ($( $(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),* $(,)?) = $made:expr; )*) => {
        #[pyo3::pymethods]
        impl $crate::expression::FilterExpression {
            $(
                $(#[$meta])*
                #[staticmethod]
                fn $name($($arg: $type),*) -> pyo3::PyResult<Self> {
                    $made
                }
            )*
        }
    };
}
pub(super) use expressions;
