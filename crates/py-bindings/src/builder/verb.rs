//! The verbs: what a session can do with records.

use aerospike_core::RecordExistsAction;

/// What one operation of a chain does with its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Reads.
    Query,
    Upsert,
    Insert,
    Update,
    Replace,
    ReplaceIfExists,
    Delete,
    Touch,
    Exists,
    /// Applies a function.
    Udf,
}

impl Verb {
    pub(crate) const ALL: [Self; 10] = [
        Self::Query,
        Self::Upsert,
        Self::Insert,
        Self::Update,
        Self::Replace,
        Self::ReplaceIfExists,
        Self::Delete,
        Self::Touch,
        Self::Exists,
        Self::Udf,
    ];

    /// The name of its method.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Upsert => "upsert",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::ReplaceIfExists => "replace_if_exists",
            Self::Delete => "delete",
            Self::Touch => "touch",
            Self::Exists => "exists",
            Self::Udf => "execute_udf",
        }
    }

    /// Whether it writes bins.
    pub(crate) const fn takes_bins(self) -> bool {
        matches!(self, Self::Upsert | Self::Insert | Self::Update | Self::Replace | Self::ReplaceIfExists)
    }

    /// Whether it can change a record.
    pub(crate) const fn writes(self) -> bool {
        !matches!(self, Self::Query | Self::Exists)
    }

    /// Whether it sets when the record expires.
    pub(crate) const fn sets_expiration(self) -> bool {
        self.takes_bins() || matches!(self, Self::Touch | Self::Udf)
    }

    /// Whether a missing record is a failure, and not just an answer.
    pub(crate) const fn needs_record(self) -> bool {
        matches!(self, Self::Update | Self::ReplaceIfExists)
    }

    /// What it asks of the record.
    pub(crate) const fn action(self) -> RecordExistsAction {
        match self {
            Self::Insert => RecordExistsAction::CreateOnly,
            Self::Update => RecordExistsAction::UpdateOnly,
            Self::Replace => RecordExistsAction::Replace,
            Self::ReplaceIfExists => RecordExistsAction::ReplaceOnly,
            _ => RecordExistsAction::Update,
        }
    }
}

/// Defines the methods that begin the next operation of a chain, one for each verb: in a class whose `begin` does so.
/// Its Python signature is that of all of them: `(keys, /, *more)`.
macro_rules! verbs {
    ($class:ident => $gives:ty) => {
        $crate::builder::verb::verbs! { @table plain $class => $gives }
    };
    // What may be named, too: `(keys=None, /, *more, **named)`. `begin_named` finds out what that is.
    (named $class:ident => $gives:ty) => {
        $crate::builder::verb::verbs! { @table named $class => $gives }
    };
    (@table $how:ident $class:ident => $gives:ty) => {
        $crate::builder::verb::verbs! { @ $how $class => $gives;
            /// Writes bins. Creates the record if it does not exist; other bins stay as they are.
            upsert: Upsert;
            /// Writes bins of a new record. Fails with `RecordExistsError` if the record exists.
            insert: Insert;
            /// Writes bins of an existing record; other bins stay as they are. Fails with `RecordNotFoundError` if the
            /// record does not exist.
            update: Update;
            /// Replaces all bins of the record. Creates the record if it does not exist.
            replace: Replace;
            /// Replaces all bins of an existing record. Fails with `RecordNotFoundError` if the record does not exist.
            replace_if_exists: ReplaceIfExists;
            /// Deletes records. The result for a record that does not exist has the code `KEY_NOT_FOUND_ERROR`.
            delete: Delete;
            /// Resets the time to live of records and increments their generation. The result for a record that does
            /// not exist has the code `KEY_NOT_FOUND_ERROR`.
            touch: Touch;
            /// Checks whether records exist. `as_bool()` of a result returns the answer.
            exists: Exists;
        }
    };
    (@ named $class:ident => $gives:ty; $( $(#[$doc:meta])* $name:ident: $verb:ident; )*) => {
        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[$doc])*
                ///
                /// Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may
                /// name what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
                #[pyo3(signature = (keys=None, /, *more_keys, **named))]
                fn $name<'py>(
                    slf: &pyo3::Bound<'py, Self>,
                    keys: Option<&pyo3::Bound<'py, pyo3::PyAny>>,
                    more_keys: &pyo3::Bound<'py, pyo3::types::PyTuple>,
                    named: Option<&pyo3::Bound<'py, pyo3::types::PyDict>>,
                ) -> pyo3::PyResult<$gives> {
                    let verb = $crate::builder::verb::Verb::$verb;
                    match (keys, named) {
                        (Some(keys), None) => Self::begin(slf, verb, keys, more_keys),
                        _ => Self::begin_named(slf, verb, keys, more_keys, named),
                    }
                }
            )*
        }
    };
    (@ plain $class:ident => $gives:ty; $( $(#[$doc:meta])* $name:ident: $verb:ident; )*) => {
        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[$doc])*
                ///
                /// Takes a `Key`, several of them, or a list of keys.
                #[pyo3(signature = (keys, /, *more_keys))]
                fn $name<'py>(
                    slf: &pyo3::Bound<'py, Self>,
                    keys: &pyo3::Bound<'py, pyo3::PyAny>,
                    more_keys: &pyo3::Bound<'py, pyo3::types::PyTuple>,
                ) -> pyo3::PyResult<$gives> {
                    Self::begin(slf, $crate::builder::verb::Verb::$verb, keys, more_keys)
                }
            )*
        }
    };
}
pub(crate) use verbs;
