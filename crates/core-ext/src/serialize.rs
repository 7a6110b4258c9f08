//! `Serialize` for types of ours: the feature `serialization`. Values, keys and records are aerospike-core's, which has it.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::batch::BatchRecord;
use crate::error::{Error, ErrorKind};

/// As aerospike-core's error: `kind` (the name of the variant), `result_code`, `message` (without node and the rest),
/// `node`, `iteration`, `in_doubt`, `server_error_detail`, `sub_errors` (earlier attempts) and `source` (the cause), the
/// last two in the same form. In addition, `phase` says how far the last attempt got.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Of this error, not of its causes: these follow in `source`.
        let detail = match self.kind() {
            ErrorKind::Server { detail, .. } => detail.as_deref(),
            _ => None,
        };
        let mut fields = serializer.serialize_struct("Error", 10)?;
        fields.serialize_field("kind", self.kind().name())?;
        fields.serialize_field("result_code", &self.result_code())?;
        fields.serialize_field("message", &self.base_message())?;
        fields.serialize_field("node", &self.node())?;
        fields.serialize_field("iteration", &self.iteration())?;
        fields.serialize_field("phase", &format_args!("{}", self.phase()))?;
        fields.serialize_field("in_doubt", &self.in_doubt())?;
        fields.serialize_field("server_error_detail", &detail)?;
        fields.serialize_field("sub_errors", self.sub_errors())?;
        fields.serialize_field("source", &self.cause())?;
        fields.end()
    }
}

/// As aerospike-core's row: `key`, `record`, `error`, `has_write`.
impl Serialize for BatchRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("BatchRecord", 4)?;
        fields.serialize_field("key", &self.key)?;
        fields.serialize_field("record", &self.record)?;
        fields.serialize_field("error", &self.error())?;
        fields.serialize_field("has_write", &self.has_write())?;
        fields.end()
    }
}
