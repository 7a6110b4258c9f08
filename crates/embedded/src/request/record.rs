//! One record's part of a request, and what comes of it.

use super::TxnPart;
use crate::code;
use aerolane_wire::message::{Field, Message, Ops, field, info2, info3, info4};
use std::time::Duration;

/// One record's part of a request: a whole single-record message, or one row of a batch.
#[derive(Debug, Clone)]
pub(crate) struct RecordRequest<'a> {
    /// Read flags.
    pub(crate) info1: u8,
    /// Write flags.
    pub(crate) info2: u8,
    /// More flags.
    pub(crate) info3: u8,
    /// Generation word.
    pub(crate) generation: u32,
    /// TTL word (reads: read-touch percentage).
    pub(crate) record_ttl: u32,
    /// Set name; `None` if there is no such field.
    pub(crate) set: Option<&'a [u8]>,
    /// Digest.
    pub(crate) digest: &'a [u8; 20],
    /// User key with its type byte in front, if the request carries one.
    pub(crate) key: Option<&'a [u8]>,
    /// Filter expression.
    pub(crate) filter: Option<&'a [u8]>,
    /// The operations.
    pub(crate) ops: Ops<'a>,
    /// How many operations there are.
    pub(crate) n_ops: u16,
    /// The function to be called instead of the operations.
    pub(crate) udf: Option<UdfCall<'a>>,
    /// What is said about a transaction. Only in namespaces that have them.
    pub(crate) txn: TxnPart,
}

/// The fields of a UDF call, as far as they came.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UdfCall<'a> {
    /// Module without `.lua`.
    pub(crate) package: Option<&'a [u8]>,
    /// Function of the module.
    pub(crate) function: Option<&'a [u8]>,
    /// Arguments: a msgpack list.
    pub(crate) arguments: Option<&'a [u8]>,
}

impl<'a> UdfCall<'a> {
    /// The slot for a field of this type, if it is one of the three.
    pub(crate) fn slot(&mut self, kind: u8) -> Option<&mut Option<&'a [u8]>> {
        match kind {
            field::UDF_PACKAGE => Some(&mut self.package),
            field::UDF_FUNCTION => Some(&mut self.function),
            field::UDF_ARGUMENTS => Some(&mut self.arguments),
            _ => None,
        }
    }

    /// The call, if any of its fields came.
    pub(crate) fn given(self) -> Option<Self> {
        (self.package.is_some() || self.function.is_some() || self.arguments.is_some()).then_some(self)
    }
}

/// The fields of a message that is about one record, taken apart in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordFields<'a> {
    pub(crate) namespace: Option<&'a [u8]>,
    pub(crate) set: Option<&'a [u8]>,
    pub(crate) digest: Option<&'a [u8]>,
    pub(crate) key: Option<&'a [u8]>,
    filter: Option<&'a [u8]>,
    udf: UdfCall<'a>,
    /// Whether there are fields of other types.
    others: bool,
}

impl<'a> RecordFields<'a> {
    /// Those of a message.
    #[inline]
    pub(crate) fn of(message: &Message<'a>) -> Self {
        let mut fields = Self::default();
        for Field { kind, value } in message.fields() {
            let slot = match kind {
                field::NAMESPACE => &mut fields.namespace,
                field::SET => &mut fields.set,
                field::DIGEST => &mut fields.digest,
                field::KEY => &mut fields.key,
                field::FILTER => &mut fields.filter,
                other => {
                    let Some(slot) = fields.udf.slot(other) else {
                        fields.others = true;
                        continue;
                    };
                    slot
                }
            };
            // Of two fields of one type the first counts.
            slot.get_or_insert(value);
        }
        fields
    }
}

/// What goes into the header of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RecordOutcome {
    /// Result code.
    pub(crate) code: u8,
    /// Generation word of the answer.
    pub(crate) generation: u32,
    /// Void time of the answer, seconds since 2010, 0 = never.
    pub(crate) void_time: u32,
    /// How many operations were appended.
    pub(crate) n_ops: u16,
    /// Fields of the answer.
    pub(crate) fields: AnswerFields,
    /// How long it takes until all replicas have what was written; zero if they have it. [`NEVER`] if the node that the request
    /// was forwarded to does not answer.
    pub(crate) lag: Duration,
}

/// The lag of what never comes.
const NEVER: Duration = Duration::MAX;

/// Fields of an answer, all of them about transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AnswerFields {
    /// Version of the record.
    pub(crate) version: Option<u64>,
    /// When the transaction has to be over, in seconds since 2010.
    pub(crate) deadline: Option<u32>,
}

impl AnswerFields {
    /// No fields.
    pub(crate) const NONE: Self = Self { version: None, deadline: None };
}

/// `Err` for results other than OK; what was appended for them is taken back.
pub(crate) type Outcome = Result<RecordOutcome, RecordOutcome>;

impl RecordOutcome {
    /// An error that was found before the record was looked at.
    pub(crate) const fn error(code: u8) -> Self {
        Self { code, generation: 0, void_time: 0, n_ops: 0, fields: AnswerFields::NONE, lag: Duration::ZERO }
    }

    /// An error because no copy of the record can be reached.
    pub(crate) fn unreached(code: u8) -> Self {
        let lag = if code == code::TIMEOUT { NEVER } else { Duration::ZERO };
        Self { lag, ..Self::error(code) }
    }

    /// How long the answer to a request with these flags waits, and whether that is too long: then it says "timeout". The client
    /// wants to know a write on all nodes, for which a server waits no longer than `patience`.
    pub(crate) fn wait(&self, info2: u8, info3: u8, patience: Duration) -> Option<(Duration, bool)> {
        let on_replicas = info2 & info2::WRITE != 0 && info3 & info3::COMMIT_MASTER == 0;
        if self.lag.is_zero() || !on_replicas && self.lag != NEVER {
            return None;
        }
        Some((self.lag.min(patience), self.lag > patience))
    }

    /// The same metadata with an error.
    pub(crate) const fn with(self, code: u8) -> Self {
        Self { code, n_ops: 0, ..self }
    }
}

impl<'a> RecordRequest<'a> {
    /// Takes a single-record message with these fields apart; `transactions`: whether the namespace has them. The error is a
    /// result code.
    #[inline]
    pub(crate) fn from_message(
        message: &Message<'a>,
        fields: &RecordFields<'a>,
        transactions: bool,
    ) -> Result<Self, u8> {
        let header = &message.header;
        let RecordFields { set, digest, key, filter, udf, .. } = *fields;
        let mut txn = TxnPart::default();
        if fields.others {
            for field in message.fields() {
                if transactions {
                    txn.take(field.kind, field.value)?;
                } else if let Some(code) = field_error(field.kind) {
                    return Err(code);
                }
            }
        }
        if transactions {
            txn.info4 = header.info4;
        } else if header.info4 & info4::TXN_VERIFY_READ != 0 {
            return Err(code::ENTERPRISE_ONLY);
        }
        // An empty key is as none: with it the digest alone is not enough (golden scenario `record/send-key`).
        if key.is_some_and(<[u8]>::is_empty) {
            return Err(code::UNSUPPORTED);
        }
        let Some(digest) = digest.and_then(|d| <&[u8; 20]>::try_from(d).ok()) else {
            return Err(code::PARAMETER);
        };
        Ok(Self {
            info1: header.info1,
            info2: header.info2,
            info3: header.info3,
            generation: header.generation,
            record_ttl: header.record_ttl,
            set,
            digest,
            key,
            filter,
            ops: message.ops(),
            n_ops: header.n_ops,
            udf: udf.given(),
            txn,
        })
    }
}

/// The result code that a field causes by its mere presence in a request to a namespace without transactions.
pub(crate) const fn field_error(kind: u8) -> Option<u8> {
    match kind {
        field::MRT_ID => Some(code::ENTERPRISE_ONLY),
        _ => None,
    }
}
