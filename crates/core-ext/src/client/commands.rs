//! The single-record commands as values: what the async and the blocking side execute in the same way.

use std::sync::Arc;

use aerospike_core::metrics::CommandType;
use aerospike_core::{BasePolicy, Bin, Bins, Key, ReadPolicy, Record, Value, WritePolicy};

use crate::command::encode::WriteKind;
use crate::command::{decode, encode, operations_write};
use crate::error::Result;
use crate::operations::Operation;

/// A request about one record, and the meaning of its answer.
pub(crate) trait Command {
    type Output;

    fn base(&self) -> &BasePolicy;
    fn key(&self) -> &Key;
    /// What it is counted as.
    fn kind(&self) -> CommandType;
    /// Whether it can change the record: it goes to the master and can be in doubt.
    fn writes(&self) -> bool;
    /// Appends one whole frame.
    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()>;
    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<Self::Output>;
}

/// What every command here has: a policy with a base, and a key.
macro_rules! about_one_record {
    () => {
        fn base(&self) -> &BasePolicy {
            &self.policy.base_policy
        }

        fn key(&self) -> &Key {
            self.key
        }
    };
}

pub(crate) struct Get<'a> {
    pub(crate) policy: &'a ReadPolicy,
    pub(crate) key: &'a Key,
    pub(crate) bins: Bins,
}

impl Command for Get<'_> {
    type Output = Record;

    about_one_record!();

    fn kind(&self) -> CommandType {
        match self.bins {
            Bins::None => CommandType::GetHeader,
            _ => CommandType::Get,
        }
    }

    fn writes(&self) -> bool {
        false
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::read(self.base(), self.key, &self.bins, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<Record> {
        decode::record(body, decode::Want::get(self.base(), &self.bins), node)
    }
}

pub(crate) struct Exists<'a> {
    pub(crate) policy: &'a ReadPolicy,
    pub(crate) key: &'a Key,
}

impl Command for Exists<'_> {
    type Output = bool;

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Exists
    }

    fn writes(&self) -> bool {
        false
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::exists(self.policy, self.key, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<bool> {
        decode::exists(body, node)
    }
}

/// `put`, `add`, `append` and `prepend`.
pub(crate) struct Write<'a> {
    pub(crate) policy: &'a WritePolicy,
    pub(crate) key: &'a Key,
    pub(crate) bins: &'a [Bin],
    pub(crate) kind: WriteKind,
}

impl Command for Write<'_> {
    type Output = ();

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Put
    }

    fn writes(&self) -> bool {
        true
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::write(self.policy, self.key, self.bins, self.kind, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<()> {
        decode::write(body, node)
    }
}

pub(crate) struct Delete<'a> {
    pub(crate) policy: &'a WritePolicy,
    pub(crate) key: &'a Key,
}

impl Command for Delete<'_> {
    type Output = bool;

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Delete
    }

    fn writes(&self) -> bool {
        true
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::delete(self.policy, self.key, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<bool> {
        decode::delete(body, node)
    }
}

pub(crate) struct Touch<'a> {
    pub(crate) policy: &'a WritePolicy,
    pub(crate) key: &'a Key,
}

impl Command for Touch<'_> {
    type Output = ();

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Put
    }

    fn writes(&self) -> bool {
        true
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::touch(self.policy, self.key, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<()> {
        decode::write(body, node)
    }
}

/// Several operations on one record.
pub(crate) struct Operate<'a> {
    pub(crate) policy: &'a WritePolicy,
    pub(crate) key: &'a Key,
    pub(crate) operations: &'a [Operation],
}

impl Command for Operate<'_> {
    type Output = Record;

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Operate
    }

    fn writes(&self) -> bool {
        operations_write(self.operations)
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        encode::operate(self.policy, self.key, self.operations, timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<Record> {
        decode::record(body, decode::Want::OPERATE, node)
    }
}

/// A function of a UDF module, called on one record.
pub(crate) struct Apply<'a> {
    pub(crate) policy: &'a WritePolicy,
    pub(crate) key: &'a Key,
    pub(crate) package_name: &'a str,
    pub(crate) function_name: &'a str,
    pub(crate) args: &'a [Value],
}

impl Command for Apply<'_> {
    type Output = Option<Value>;

    about_one_record!();

    fn kind(&self) -> CommandType {
        CommandType::Udf
    }

    fn writes(&self) -> bool {
        true
    }

    fn encode(&self, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        let Self { policy, key, package_name, function_name, args } = *self;
        encode::apply(policy, key, (package_name, function_name, args), timeout_ms, out)
    }

    fn decode(&self, body: &[u8], node: &Arc<str>) -> Result<Option<Value>> {
        decode::applied(body, node)
    }
}
